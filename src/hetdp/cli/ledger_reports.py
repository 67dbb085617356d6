"""The texts that `hetdp ledger` prints, such as balances and receipts; and the action that records a spend."""

from __future__ import annotations

import json

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from hetdp.releases.ledger.chain import Entry
    from hetdp.releases.ledger.status import Group, PersonAccount, Status

    Report = tuple[dict[str, Any], list[str]]


DIGITS = 12  # of a digest, for people
SHOWN = 10  # answers of one entry
LONGEST = 40  # characters of what a file says of itself
LONGEST_QUESTION = 100  # characters of a question, on a line
PERSON_NOTE = "A ledger holds nobody's own answer, only what was published and what each account paid."


def status_lines(one: Status) -> Iterator[str]:
    """The balances of one source."""
    yield f"{_quote(one.source)}: {one.currency}, every account may spend {_cap(one, one)}; {about(one)}"
    for each in one.classes:
        more = "" if each.cap_delta is None else f", δ {each.spent_delta} of {each.cap_delta}"
        left = "" if each.left_delta is None else f", δ {each.left_delta}"
        yield f"  {_quote(each.name)}: spent {one.unit} {each.spent} of {each.cap}{more}; {each.left}{left} left"
    if one.people:
        named = "" if one.named is None else f", identified by {_quote(one.named)}"
        yield f"  {one.people:,} people{named}: {_spending_words(one, one)}"
    for group in one.by_cap if len(one.by_cap) > 1 else ():
        names = f", as in {', '.join(map(_quote, group.classes))}" if group.classes else ""
        yield f"    {group.people:,} of them may spend {_cap(one, group)}{names}: {_spending_words(one, group)}"


def about(one: Status) -> str:
    """The privacy unit and the neighbour relation of a source, in words."""
    unit, relation = ("not stated" if words is None else _quote(words) for words in (one.privacy_unit, one.relation))
    return "unit and relation not stated" if unit == relation else f"unit {unit}, relation {relation}"


def _cap(one: Status, of: Status | Group) -> str:
    return f"{one.unit} {of.cap}" + ("" if of.cap_delta is None else f", δ {of.cap_delta}")


def _spending_words(one: Status, of: Status | Group) -> str:
    spent = f"spent at most {one.unit} {of.most_spent} each, at least {of.least_left} left"
    return f"{spent}; {of.exhausted:,} have nothing left"


def _quote(name: str) -> str:
    """A name in quotes, so that its ends are visible."""
    from hetdp.text import escape_unprintable

    return f"'{escape_unprintable(name)}'"


def entry_line(entry: Entry, paid: dict[str, str]) -> str:
    """One entry, for people.

    Args:
        entry: the entry.
        paid: for each charge, the largest amount that anybody pays.
    """
    from hetdp.text import escape_unprintable, pluralize

    words = [
        f"{entry.number}",
        escape_unprintable(entry.time),
        entry.kind,
        _quote(entry.source) if entry.source else "",
    ]
    words += [f"version {_quote(entry.version)}"] * bool(entry.version)
    if entry.request:
        digits = escape_unprintable(entry.request).removeprefix("sha256:")[:DIGITS]
        words.append(
            f"question {_quote(_shorten(entry.question))} ({digits})" if entry.question else f"question {digits}"
        )
    if entry.charge:
        words.append(f"{pluralize(entry.accounts, 'account')}, at most {paid[entry.charge]} each")
    words += [_answers(entry)] * bool(entry.answers)
    note, neighbours = entry.facts.get("note"), entry.facts.get("neighbours")
    words += [_quote(note)] if isinstance(note, str) else []
    if entry.kind in ("declare", "state") and isinstance(neighbours, dict):
        words += [
            f"{escape_unprintable(str(key))} {_quote(str(stated))}" for key, stated in sorted(neighbours.items())[::-1]
        ]
    return "  ".join(filter(None, words))


def _answers(entry: Entry) -> str:
    """The answers, by the names that the release used."""
    return f"{'answers' if len(entry.answers) > 1 else 'answer'} {_list_answers(entry.published)}"


def _list_answers(answers: Sequence[str]) -> str:
    from hetdp.text import escape_unprintable

    return ", ".join([*map(escape_unprintable, answers[:SHOWN]), *["…"] * (len(answers) > SHOWN)])


def _shorten(question: str) -> str:
    """A question on a line of its own: at most so many characters."""
    return question if len(question) <= LONGEST_QUESTION else f"{question[: LONGEST_QUESTION - 1]}…"


def person_lines(one: PersonAccount) -> Iterator[str]:
    """The account of one person, in words for that person."""
    from hetdp.text import escape_unprintable

    named = "" if one.named is None else f", identified by {_quote(one.named)}"
    spent = f"{_amount(one.unit, one.spent, one.spent_delta)} of {_amount(one.unit, one.cap, one.cap_delta)} spent"
    yield f"{_quote(one.source)}{named}: {spent}, {_amount(one.unit, one.left, one.left_delta)} left"
    yield from [f"  {one.meaning}"] if one.meaning else []
    for each in one.charges:
        when = f"  entry {each.entry:,}, {escape_unprintable(each.time[:10])}"
        paid = f"{when}: {_amount(one.unit, each.spent, each.spent_delta)}"
        if each.kind == "record":
            yield f"{paid}, spent elsewhere: {_quote(each.note)}"
            continue
        yield f"{paid} for {_quote(_shorten(each.question))}, version {_quote(each.version)}"
        several = ", one answer for each area" if len(each.published) > 1 else ""
        yield f"    published about everybody{several}: {_list_answers(each.published)}"
    yield PERSON_NOTE


def _amount(unit: str, first: str, second: str | None) -> str:
    return f"{unit} {first}" + ("" if second is None else f", δ {second}")


def entry_shape(entry: Entry) -> dict[str, Any]:
    """An entry as it is hashed, with its hash."""
    document: dict[str, Any] = json.loads(entry.body)
    return {"hash": entry.hash} | document


def read_receipt(path: str, ledger: str) -> dict[str, Any]:
    """The receipt from a record, or from a file of its own.

    Args:
        path: the file.
        ledger: the id of the ledger.

    Raises:
        UsageError: it is something else, or of another ledger.
    """
    from pathlib import Path

    from hetdp.documents import parse_json, read_text
    from hetdp.errors import UsageError
    from hetdp.text import escape_unprintable, format_value

    rule = "with a ledger, the entries of its records are looked up"
    found = parse_json(read_text(Path(path), repr(path), rule), path)
    if not isinstance(found, dict):
        raise UsageError(f"{path!r} is not a record: it holds no JSON object", rule)
    inner = found.get("ledger")
    receipt = inner if isinstance(inner, dict) else found
    kinds = {"ledger": str, "entry": int, "hash": str}
    if any(type(receipt.get(key)) is not kind for key, kind in kinds.items()):
        kind = found.get("kind")
        what = f"a {escape_unprintable(kind)[:LONGEST]}" if isinstance(kind, str) and kind else "something else"
        hint = "hetdp record verify RECORD --plan compares a record with a plan" if kind == "plan" else ""
        raise UsageError(f"{path!r} is not a record: it is {what}", rule, hint)
    if receipt["ledger"] != ledger:
        raise UsageError(
            f"{path!r} is a record of another ledger",
            f"{rule}; this is {ledger}, that {format_value(receipt['ledger'])}",
        )
    return receipt


def parse_amount(option: str, text: Any, currency: str, name: str | None = None) -> Any:
    """The amount that was typed: ε or μ as text, or ε:δ as a pair.

    Args:
        option: the option, for messages.
        text: what was typed; None if nothing was.
        currency: the currency of the source.
        name: the class that it is for.

    Raises:
        UsageError: there is no δ where it is counted.
    """
    from hetdp.errors import UsageError
    from hetdp.releases.ledger.amounts import currency_of
    from hetdp.text import format_value

    if text is None or text == "inf":
        return text
    if not currency_of(currency).has_delta:
        _require_amounts(option, text, [text], name)
        return text
    pair = tuple(text.split(":"))
    if len(pair) != 2:
        example = "1:1e-6" if name is None else f"{name}=0.1:1e-7"
        rule = f"in {currency}, an amount is ε:δ"
        raise UsageError(f"{option} without δ: {format_value(text)}", rule, f"{option} {example}")
    _require_amounts(option, text, pair, name)
    return pair


def _require_amounts(option: str, text: str, parts: Iterable[str], name: str | None) -> None:
    """Refuses what is not an amount, by the option that gives it."""
    from hetdp.errors import UsageError
    from hetdp.releases.ledger.amounts import units_spent

    try:
        for part in parts:
            units_spent(part, 1)
    except UsageError as refusal:
        raise UsageError(f"{option} {text if name is None else f'{name}={text}'}", refusal.rule) from None


def record_external_spend(
    open_ledger: Callable[[], Any],
    report: Callable[[Any, str], Report],
    source: str | None = None,
    charge: tuple[str, ...] = (),
    note: str | None = None,
    unit: str | None = None,
    relation: str | None = None,
    **paid: str,
) -> Report:
    """Records a spend that was made outside hetdp; reports what the first charge of a source fixes.

    Args:
        open_ledger: opens the ledger.
        report: describes the entry that was written.
        source: the data.
        charge: classes with their amounts, as typed.
        note: where, and for what.
        unit: whose data changes between neighbours; by default what the source has.
        relation: how it changes, likewise.
        paid: instead of `charge`, the table of people and its columns.

    Raises:
        UsageError: the options do not describe one spend.
    """
    from contextlib import suppress

    from hetdp.errors import InterruptedSpend, LedgerError, UsageError
    from hetdp.releases.ledger.database import RECORDING

    if source is None or note is None or bool(charge) == ("people" in paid):
        rule = "record takes --source, --note, and who paid: --charge, or --people with --person and --epsilon"
        raise UsageError("the options do not describe one spend", rule)
    if charge and paid:
        raise UsageError(f"--{next(iter(paid))} together with --charge", "it belongs to --people")
    ledger = open_ledger()
    (before,) = ledger.status(source)
    charged = _class_charge(charge, before.currency) if charge else _people_charge(before.currency, **paid)
    entry = ledger.record(source, charged, note, unit=unit, relation=relation)
    try:
        document, lines = report(entry, "recorded")
        with suppress(LedgerError):  # it is recorded, whatever happens to the ledger from now on
            lines += _first_charge_lines(before, ledger.status(source)[0])
    except KeyboardInterrupt:
        raise InterruptedSpend(RECORDING.done) from None
    return document, lines


def _first_charge_lines(before: Status, after: Status) -> list[str]:
    """The lines about what the first charge of a source has fixed; empty if this charge was not the first."""
    old, new = map(_payers, (before, after))
    fixed = f"this was the first charge of {before.source!r}: from now on {new}"
    return [] if old or not new else [f"{fixed}; its losses are about {about(after)}"]


def _payers(one: Status) -> str:
    if one.people:
        return f"its people pay one by one, identified by {one.named!r}, and classes cannot be charged"
    is_charged = any((each.spent, each.spent_delta or "0") != ("0", "0") for each in one.classes)
    return "its classes pay, and people cannot be charged one by one" if is_charged else ""


def _people_charge(currency: str, people: str, **columns: str) -> Any:
    from hetdp.interrupts import delay_interrupts

    with delay_interrupts():
        from hetdp.tables.release import read_charge
    return read_charge(
        people, currency, person=columns.get("person"), epsilon=columns.get("epsilon"), group=columns.get("group")
    )


def _class_charge(charge: tuple[str, ...], currency: str) -> Any:
    from hetdp.people.names import parse_pairs
    from hetdp.releases.ledger.amounts import currency_of
    from hetdp.releases.ledger.charge import Charge

    given = parse_pairs("--charge", charge, "CLASS=AMOUNT", "each class has one amount")
    amounts: dict[str, Any] = {name: parse_amount("--charge", value, currency, name) for name, value in given.items()}
    if currency_of(currency).has_delta:
        pairs_of = {name: (pair, pair) if isinstance(pair, str) else pair for name, pair in amounts.items()}
        first, second = ({name: pair[at] for name, pair in pairs_of.items()} for at in (0, 1))
        return Charge.to_classes(currency, first, second)
    return Charge.to_classes(currency, amounts)
