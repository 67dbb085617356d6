"""`hetdp ledger`: creates a ledger, declares data, and shows what was spent and what may be."""

from __future__ import annotations

import click

from hetdp.cli.options import OUTPUT_OPTIONS, PATH, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hetdp.cli.output import Output

    Report = tuple[dict[str, Any], list[str]]

ACTIONS = {  # with the options that each takes
    "init": ("source", "cap", "class_cap", "currency", "unit", "relation"),
    "declare": ("source", "cap", "class_cap", "currency", "unit", "relation"),
    "status": ("source",),
    "history": (),
    "person": ("source", "id", "id_from"),
    "verify": ("records",),
    "export": ("output",),
    "record": ("source", "charge", "people", "person", "epsilon", "group", "unit", "relation", "note"),
}
EXAMPLES = """
hetdp ledger init school.ledger --source survey --cap 1                      create one; nobody may lose more than ε = 1
hetdp ledger status school.ledger                                            what may be spent, and what has been
hetdp ledger history school.ledger                                           all entries
hetdp ledger verify school.ledger                                            check everything again, and look up RECORDs
hetdp ledger export school.ledger -o ledger.jsonl                            lines of JSON that anyone can check
hetdp ledger init grades.ledger --source grades --cap 1 --class-cap staff=2  classes may have their own caps
hetdp ledger declare grades.ledger --source sports --cap 1                   other data in the same ledger
hetdp ledger declare grades.ledger --source grades --unit person --relation replace-one    what its privacy is about
hetdp ledger record grades.ledger --source grades --charge pupils=0.1 --note "told the press"
hetdp ledger record survey.ledger --source people --people survey.csv --person id --epsilon eps --note "told the press"
hetdp ledger person survey.ledger --id 2                                     one person's account, for that person
"""
ABOUT = """
A ledger is an SQLite file, or a PostgreSQL database given as postgresql://USER@HOST/DATABASE. It lists sources of data
by name and, for each class or person, what may be spent and what has been spent. Amounts are ε, ε:δ or μ, by the
currency of the source. declare adds another source; record enters what was spent outside hetdp; person shows what was
spent on one person, by which questions, and what is left; it names nobody else. The first charge of a
source fixes whether classes or people pay and, unless they were declared, the unit and the relation that its losses are
about; later charges about another unit or relation are refused. Entries are chained by hashes, so that a change is
detected. The records of releases reveal a ledger that was restored from a backup.
"""
UNCOMPARED_NOTE = "not checked: the rest of the records; `hetdp record verify RECORD --ledger LEDGER` compares it"
ACTION_KEY = "hetdp.ledger.action"
ACTION = click.Argument(["action"], type=click.Choice(list(ACTIONS)), metavar="ACTION")
LEDGER = click.Argument(["ledger"], metavar="LEDGER")
RECORDS = click.Argument(["records"], nargs=-1, type=PATH, metavar="[RECORD]...")
OPTIONS = [
    click.Option(["--source"], metavar="NAME", help="The name of the data; status shows only this source."),
    click.Option(
        ["--id"], metavar="ID", help="For person: the id, exactly; other users of this machine may see it here."
    ),
    click.Option(["--id-from"], type=PATH, metavar="FILE", help="A file with the id; - is standard input."),
    click.Option(["--cap"], metavar="AMOUNT", help="What each account may spend; inf means no limit."),
    click.Option(["--class-cap"], metavar="CLASS=AMOUNT,…", multiple=True, help="Other caps for some classes."),
    click.Option(
        ["--currency"],
        metavar="NAME",
        help="What is counted, and how it adds up: epsilon (default), or the currency of another notion of privacy.",
    ),
    click.Option(["--unit"], metavar="WORDS", help="Whose data changes between neighbours: person, household, …"),
    click.Option(
        ["--relation"],
        metavar="WORDS",
        help="How it changes: replace-one (an answer changes), add-remove (one joins or leaves), or other words.",
    ),
    click.Option(["--charge"], metavar="CLASS=AMOUNT,…", multiple=True, help="For record: the classes that paid."),
    click.Option(["--people"], type=PATH, metavar="TABLE", help="For record: a table of those who paid."),
    click.Option(["--person"], metavar="COLUMN", help="With --people: the column that identifies them."),
    click.Option(["--epsilon"], metavar="COLUMN|NUMBER", help="With --people: the ε that each paid."),
    click.Option(["--group"], metavar="COLUMN", help="With --people: the column of their classes, if caps differ."),
    click.Option(["--note"], metavar="TEXT", help="For record: where it was spent, and for what."),
    click.Option(
        ["-o", "--output"], type=PATH, metavar="FILE", help="For export: a .jsonl file instead of standard output."
    ),
]


def ledger(out: Output, action: str, ledger: str, as_json: bool, **given: Any) -> None:
    """Runs one action on a ledger."""
    from hetdp.cli import shapes
    from hetdp.errors import UsageError

    given = {name: value for name, value in given.items() if value not in (None, ())}
    for name in given:
        if name not in ACTIONS[action]:
            option = "RECORD" if name == "records" else f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is not for hetdp ledger {action}", f"it takes {_options_of(action)}")
    actions: dict[str, Callable[..., Report]] = {
        "init": _init,
        "declare": _declare,
        "status": _status,
        "history": _history,
        "person": _person,
        "verify": _verify,
        "export": _export,
        "record": _record,
    }
    facts, lines = actions[action](ledger, **given)
    if as_json:
        out.emit_document(shapes.document("ledger", action=action, **facts))
    else:
        out.emit(lines)


def _options_of(action: str) -> str:
    words = [f"--{name.replace('_', '-')}" for name in ACTIONS[action] if name != "records"]
    words += ["RECORDs"] * ("records" in ACTIONS[action])
    return f"{', '.join(words)} and nothing else" if words else "nothing but the ledger"


def _open_ledger(address: str) -> Any:
    from hetdp.interrupts import delay_interrupts

    with delay_interrupts():
        from hetdp.releases.ledger.ledger import Ledger
    return Ledger(address)


def _init(address: str, **given: Any) -> Report:
    from hetdp.interrupts import delay_interrupts

    terms = _terms(**given)
    with delay_interrupts():
        from hetdp.releases.ledger.ledger import Ledger
    created = Ledger.create(address, **terms)
    return _report_entry(created.history()[-1], f"made the ledger {created.place}")


def _declare(address: str, **given: Any) -> Report:
    terms = _terms(**given)
    entry = _open_ledger(address).declare(terms.pop("source"), **terms)
    return _report_entry(entry, f"{'stated about' if entry.kind == 'state' else 'declared'} {given['source']!r}")


def _terms(
    source: str | None = None,
    cap: str | None = None,
    class_cap: tuple[str, ...] = (),
    currency: str = "epsilon",
    unit: str | None = None,
    relation: str | None = None,
) -> dict[str, Any]:
    from hetdp.cli.ledger_reports import parse_amount
    from hetdp.errors import UsageError
    from hetdp.people.names import parse_pairs

    if source is None:
        raise UsageError("--source is missing", "it names the data that will be asked about")
    caps = parse_pairs("--class-cap", class_cap, "CLASS=AMOUNT", "each class has one cap")
    return {
        "source": source,
        "cap": parse_amount("--cap", cap, currency),
        "caps": {name: parse_amount("--class-cap", value, currency, name) for name, value in caps.items()},
        "currency": currency,
        "unit": unit,
        "relation": relation,
    }


def _report_entry(entry: Any, words: str) -> Report:
    from hetdp.cli.ledger_reports import entry_shape

    return {"entry": entry_shape(entry)}, [f"{words}: entry {entry.number}, {entry.hash}"]


def _status(address: str, source: str | None = None) -> Report:
    from dataclasses import asdict

    from hetdp.cli.ledger_reports import status_lines

    found = _open_ledger(address)
    listed = found.status(source)
    lines = [f"ledger {found.id}", *(line for one in listed for line in status_lines(one))]
    return {"ledger": found.id, "sources": [asdict(one) for one in listed]}, lines


def _history(address: str) -> Report:
    from hetdp.cli.ledger_reports import entry_line, entry_shape
    from hetdp.releases.ledger.ledger import core_of

    found = _open_ledger(address)
    entries = found.history()
    paid = core_of(found).largest_payments(entries)
    return {"entries": [entry_shape(entry) for entry in entries]}, [entry_line(entry, paid) for entry in entries]


def _person(address: str, source: str | None = None, id: str | None = None, id_from: str | None = None) -> Report:
    from dataclasses import asdict

    from hetdp.cli.ledger_reports import person_lines
    from hetdp.cli.reading import read_private_line
    from hetdp.errors import UsageError

    if (id is None) == (id_from is None):
        raise UsageError("no id" if id is None else "two ids", "--id or --id-from names the person who asks")
    person = read_private_line(id_from, "--id-from", "id") if id is None and id_from is not None else id
    account = _open_ledger(address).person(person, source)
    return {"person": asdict(account)}, list(person_lines(account))


def _verify(address: str, records: tuple[str, ...] = ()) -> Report:
    from dataclasses import asdict

    from hetdp.cli.ledger_reports import read_receipt
    from hetdp.text import pluralize

    ledger = _open_ledger(address)
    found = ledger.verify([read_receipt(path, ledger.id) for path in records])
    accounts = f"{pluralize(found.classes, 'class account')} and {found.people:,} of people"
    lines = [f"entries 1 … {found.entry} are chained and add up to the balances of {accounts}"]
    lines.append(f"entry {found.entry}, {found.hash}")
    if found.records:
        lines.append(f"{pluralize(found.records, 'record')} looked up; every entry that they name was found")
        lines.append(UNCOMPARED_NOTE)
    return {"verified": asdict(found)}, lines


def _export(address: str, output: str | None = None) -> Report:
    from pathlib import Path

    from hetdp.cli.reading import STANDARD
    from hetdp.cli.writing import require_place
    from hetdp.files.formats.writing import whole_file

    lines = _open_ledger(address).export()
    if output is None or output == STANDARD:
        listed = list(lines)
        return {"lines": listed}, listed
    require_place("-o", output, False, (".jsonl",), (address,))
    count = 0
    with whole_file(Path(output), private=True) as draft, draft.open("w", encoding="ascii") as file:
        for line in lines:
            file.write(f"{line}\n")
            count += 1
    return {"output": output, "count": count}, [f"wrote {output}: {count:,} lines"]


def _record(address: str, **given: Any) -> Report:
    from hetdp.cli.ledger_reports import record_external_spend

    return record_external_spend(lambda: _open_ledger(address), _report_entry, **given)


class Actions(Verb):
    """A verb with several actions; the help of an action shows its own examples and options only."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remembers the action that was typed: help is shown before the arguments are parsed."""
        ctx.meta[ACTION_KEY] = next((word for word in args if not word.startswith("-")), None)
        return super().parse_args(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        """The help of the action that was typed, or of all actions."""
        action = ctx.meta.get(ACTION_KEY)
        if action not in ACTIONS:
            return super().get_help(ctx)
        examples = [line for line in EXAMPLES.splitlines() if line.startswith(f"hetdp ledger {action} ")]
        params = [LEDGER, *(one for one in (RECORDS, *OPTIONS) if one.name in ACTIONS[action]), *OUTPUT_OPTIONS]
        one = Verb("ledger", ledger, "\n".join(examples), ABOUT, params)
        return one.get_help(click.Context(one, ctx.parent, f"ledger {action}", terminal_width=ctx.terminal_width))


command = Actions(
    "ledger",
    ledger,
    EXAMPLES,
    ABOUT,
    [ACTION, LEDGER, RECORDS, *OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "writing"),
)
