"""`hetdp ask`: asks a table of people a yes/no question, without a graph."""

from __future__ import annotations

import click

from hetdp.cli.options import CLUSTER, DASK, OUTPUT_OPTIONS, PATH, Verb
from hetdp.cli.release import LEDGER, PAYMENT_OPTIONS, price_code, publish_release, require_places

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName
    from hetdp.tables.ask import AskResult

EXAMPLES = """
hetdp ask survey.csv --count "vote = 'yes'" --at-least 50% --epsilon eps --person id --dry-run     what is promised
hetdp ask survey.csv --count "vote = 'yes'" --at-least 50% --epsilon eps --person id --simulate    a trial answer
hetdp ask survey.csv --count "vote = 'yes'" --more-than 2/3 --epsilon 1 --person id --plan plan.json --dry-run
hetdp ask survey.csv --plan plan.json --simulate                                                   exactly that plan
hetdp ask survey.csv --plan plan.json --dry-run --ledger survey.ledger                             what it would cost
hetdp ask survey.csv --count "vote = 'yes'" --at-least 50% --epsilon eps --person id --ledger survey.ledger
hetdp ask people --count "vote = 'yes'" --at-least 50% --epsilon eps --person id --simulate        a folder of files
hetdp ask survey.csv --count "vote = 'yes'" --at-least 50% --person id --want 95% --at-share 55%   which ε that takes
hetdp ask survey.csv --count "vote = 'yes'" --question veto.toml --epsilon eps --person id --group role --dry-run
hetdp ask survey.csv --questions questions.toml --epsilon eps --person id --dry-run                several in one plan
"""
ABOUT = """
Reads the public columns (who is in the table, and with which ε), chooses a private mechanism by --design, states what
it promises, and writes the plan. Only then does it read the counted columns, once. Neighbouring tables differ in one
person's answer; the number of people and their ε are public. A row is yes if --count holds, no if it does not, and
blank if a missing value leaves it unknown. TABLE is a .csv, .xlsx, .parquet, .arrow or .sqlite file with one row for
each person, or a folder of files, all .parquet or all .csv, that form one table. With --engine dask, workers read the
folder; all numbers stay the same. With --ledger the answer is released: each person is charged the largest loss that
the mechanism can cause them, at most their ε, and the answer is shown as soon as the charge is durable. The same
question asked again, however it is worded, returns the same answer and costs nothing. --dry-run --ledger shows the
price first, and exits with code 6 if somebody's budget does not suffice. --questions asks several questions with one
plan: all of them are answered, or none, and each person pays the sum.
"""
TABLE = click.Argument(["table"], type=PATH, metavar="TABLE")
OPTIONS = [
    click.Option(
        ["--count"],
        metavar="WHAT",
        help="Which rows are yes, such as \"vote = 'yes'\"; others are no, or blank if a value is missing.",
    ),
    click.Option(
        ["--at-least"],
        metavar="K|SHARE",
        help="The answer is yes if at least this many rows are: 1 is one person; 50%, 2/3 and 0.5 are shares, and"
        " 100% is everyone.",
    ),
    click.Option(
        ["--more-than"],
        metavar="K|SHARE",
        help="Like --at-least, but exactly this many counts as no. Its no means: at most this many.",
    ),
    click.Option(
        ["--at-least-by"],
        metavar="AREA=K,…",
        multiple=True,
        help="Instead of --at-least: one number or share for each area of --by; as JSON if a name contains a comma.",
    ),
    click.Option(
        ["--more-than-by"],
        metavar="AREA=K,…",
        multiple=True,
        help="Like --at-least-by, but exactly this many counts as no.",
    ),
    click.Option(
        ["--of"],
        type=click.Choice(["all", "respondents"]),
        help="Whether a share is of all rows, or of respondents, which excludes blank rows. Default: all.",
    ),
    click.Option(
        ["--question"],
        type=PATH,
        metavar="FILE",
        help="Any other question about yes, no, blank and the groups of --group, as a .json or .toml file.",
    ),
    click.Option(
        ["--exact-text"],
        is_flag=True,
        help="Compare text in --count exactly. Default: ignore case and surrounding spaces.",
    ),
    click.Option(["--epsilon"], metavar="COLUMN|NUMBER", help="Everybody's ε: a column, or one number."),
    click.Option(
        ["--epsilon-by"],
        metavar="GROUP=ε,…",
        multiple=True,
        help="Instead of --epsilon: one ε for each level of --level, or group of --group; as JSON if a name contains a"
        " comma.",
    ),
    click.Option(
        ["--deciding-epsilon"],
        metavar="COLUMN|NUMBER",
        help="ε where the answer depends on one person, unless that person's own ε is smaller.",
    ),
    click.Option(
        ["--deciding-epsilon-by"],
        metavar="GROUP=ε,…",
        multiple=True,
        help="Instead of --deciding-epsilon: one ε for each level of --level, or group of --group; others keep their"
        " own.",
    ),
    click.Option(["--person"], metavar="COLUMN", help="The column that identifies people; nobody may appear twice."),
    click.Option(
        ["--group"],
        metavar="COLUMN",
        help="The column of groups, which --question may name, for the report and, without --level, for --epsilon-by.",
    ),
    click.Option(
        ["--level"],
        metavar="COLUMN",
        help="The column of levels of protection: --epsilon-by and --deciding-epsilon-by name levels then, not groups.",
    ),
    click.Option(["--by"], metavar="COLUMN", help="One answer for each area in this column."),
    click.Option(
        ["--design"],
        type=click.Choice(["balanced", "weighted-vote", "fair"]),
        help="How the mechanism is chosen. Default: balanced. fair needs memory for every tally of people who are"
        " alike.",
    ),
    click.Option(["--title"], metavar="TEXT", help="The question in your own words, for the page and the record."),
    click.Option(["--yes"], metavar="TEXT", help="Your words for the answer yes, such as 'They may move'."),
    click.Option(["--no"], metavar="TEXT", help="Your words for the answer no."),
    click.Option(
        ["--questions"],
        type=PATH,
        metavar="FILE",
        help="Several questions, released together or not at all: a .toml or .json file. The other options hold for"
        " each question that does not say otherwise; --title is that of all of them.",
    ),
    click.Option(
        ["--table", "sheet"], metavar="NAME", help="The sheet of an Excel file, or the table of an SQLite file."
    ),
    click.Option(
        ["--encoding"], metavar="NAME", help="The encoding of a CSV file, such as cp1252 (Latin-1). Default: utf-8."
    ),
    click.Option(
        ["--delimiter"],
        metavar="CHARACTER",
        help="What separates the columns of a CSV file: ',', ';', tab or '|'. Default: found in its header row.",
    ),
    click.Option(
        ["--plan"],
        type=PATH,
        metavar="FILE",
        help="Carry out exactly this plan, a .json file; --dry-run and --simulate write it if it does not exist.",
    ),
    click.Option(
        ["--dry-run"],
        is_flag=True,
        help="Show the promise and, with --ledger, the price; the counted columns are not read.",
    ),
    click.Option(
        ["target", "--want"],
        metavar="ACCURACY",
        help="Say which ε it takes to be right this often, such as 95%, at --at-share. Counted columns are not read.",
    ),
    click.Option(
        ["at", "--at-share"],
        metavar="SHARE",
        help="The true share of yes at which --want holds, such as 55%, whoever these people are. Without --want: say"
        " how often the answer is right there.",
    ),
    click.Option(["--simulate"], is_flag=True, help="Draw a trial answer, which is not a release."),
    click.Option(["--seed"], type=click.IntRange(min=0), metavar="N", help="The seed of --simulate. Default: 0."),
    LEDGER,
    *PAYMENT_OPTIONS,
    click.Option(
        ["--engine"],
        type=click.Choice(["auto", DASK]),
        default="auto",
        show_default=True,
        help="What reads TABLE. dask: workers, which read the files of a folder in parallel.",
    ),
    *CLUSTER[:4],
    click.Option(["--curator"], is_flag=True, help="Let messages name rows and values; do not share such messages."),
]
PAIRS = (  # options that may be repeated: name, what one of their pairs looks like, and its rule
    ("epsilon_by", "GROUP=ε", "each group has one ε"),
    ("deciding_epsilon_by", "GROUP=ε", "each group has one ε"),
    ("at_least_by", "AREA=K", "each area has one threshold"),
    ("more_than_by", "AREA=K", "each area has one threshold"),
)


def ask(
    out: Output,
    table: str,
    plan: str | None,
    dry_run: bool,
    simulate: bool,
    output: str | None,
    html: str | None,
    engine: EngineName,
    target: str | None,
    at: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Asks a table of people a yes/no question."""
    from hetdp.cli import shapes
    from hetdp.tables.ask import Payment
    from hetdp.tables.ask import ask as ask_table

    require_places(output, html, as_json, (table, plan, given["ledger"], *given["after"]))
    where = {name: given.pop(name) for name in ("cluster", "workers", "memory", "work")}
    terms: dict[str, Any] = {name: given.pop(name) for name in ("ledger", "source", "version", "after")}
    terms = {"record": output, "html": html} | {name: value for name, value in terms.items() if value is not None}
    terms.setdefault("ledger", None)
    payment = Payment(**terms) if any(value not in (None, ()) for value in terms.values()) else None
    workers = _workers(engine, where)
    arguments: dict[str, Any] = {"payment": payment, "workers": workers, **given}
    arguments |= _parse_all_pairs(given)
    if target is not None or at is not None:
        return _show_accuracy(out, table, arguments, plan, simulate, target, at, as_json)
    promised_before: list[AskResult] = []

    def announce(promised: AskResult) -> None:
        promised_before.append(promised)
        shown = [promised.read, promised.promise] if as_json or not dry_run else []
        for line in (*shown, promised.plan_file, *(() if dry_run else promised.similar)):
            if line:
                out.say(line)

    def run() -> AskResult:
        return ask_table(table, plan=plan, dry_run=dry_run, simulate=simulate, announce=announce, **arguments)

    if payment is not None and not dry_run and not simulate:

        def shape(*found: Any) -> Any:
            return shapes.ask_release(promised_before[0], plan, *found)

        def make_release() -> Any:
            return run().release

        return publish_release(out, shape, make_release, output, html, as_json)
    asked = run()
    if as_json:
        out.emit_document(shapes.ask(asked, plan))
    else:
        out.emit([str(asked)] if dry_run else map(str, asked.simulated))
    return 0 if asked.price is None else price_code(asked.price)


def _parse_all_pairs(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments that give each group or area a number; None for those that are not given."""
    from hetdp.people.names import parse_pairs

    options = {name: f"--{name.replace('_', '-')}" for name, _, _ in PAIRS}
    return {
        name: parse_pairs(options[name], given[name], form, rule) if given[name] else None for name, form, rule in PAIRS
    }


def _show_accuracy(
    out: Output,
    table: str,
    arguments: dict[str, Any],
    plan: str | None,
    simulate: bool,
    target: str | None,
    at: str | None,
    as_json: bool,
) -> int:
    """Shows what --want and --at-share ask for."""
    if target is None:
        return _show_at_share(out, table, arguments | {"plan": plan, "simulate": simulate}, str(at), as_json)
    _require_want(at, {"plan=": plan, "simulate=True": simulate, "a ledger": arguments["payment"]})
    return _show_needed(out, table, arguments, target, at, as_json)


def _require_want(at: str | None, others: dict[str, Any]) -> None:
    """Refuses --want without --at-share, and options that would use an ε before somebody has chosen it."""
    from hetdp.errors import UsageError

    if at is None:
        rule = "target= says how often the answer must be right, and at= at which true share"
        raise UsageError("target= without at=", rule, "target='95%' at='55%'")
    for what, given in others.items():
        if given:
            rule = "target= only says which ε it takes; you decide whether to promise it"
            raise UsageError(f"{what} together with target=", rule, "leave target= out, and give that ε to epsilon=")


def _show_needed(
    out: Output, table: str, arguments: dict[str, Any], target: str | None, at: str | None, as_json: bool
) -> int:
    """Shows which ε a wanted accuracy takes. Without any ε, everybody has the same."""
    from hetdp.cli import shapes
    from hetdp.tables.ask import ask as ask_table

    roles = ("epsilon", "epsilon_by", "deciding_epsilon", "deciding_epsilon_by")
    if all(arguments[role] is None for role in roles):
        arguments = arguments | {"epsilon": "1"}  # of any size, since all ε are multiplied
    asked = ask_table(table, dry_run=True, **arguments)
    solved = asked.solve_epsilon(target, at)
    if as_json:
        out.emit_document(shapes.needed_epsilon(asked, solved))
    else:
        out.emit([asked.read, str(solved)])
    return 0


def _show_at_share(out: Output, table: str, arguments: dict[str, Any], at: str, as_json: bool) -> int:
    """Shows how often the answers are right at a true share."""
    from hetdp.cli import shapes
    from hetdp.errors import UsageError
    from hetdp.tables.ask import ask as ask_table

    for what, given in (("simulate=True", arguments.pop("simulate")), ("a ledger", arguments["payment"])):
        if given:
            rule = "at= only says how often the answer is right there; no answer is drawn"
            raise UsageError(f"{what} together with at=", rule, "leave at= out")
    asked = ask_table(table, dry_run=True, **arguments)
    if as_json:
        out.emit_document(shapes.at_share(asked, at))
    else:
        several = len(asked.questions) > 1
        lines = [
            f"question {number}: {one.share_words(at)}" if several else one.share_words(at)
            for number, question in enumerate(asked.questions, 1)
            for one in question.promises
        ]
        out.emit([asked.read, *([asked.plan_file] if asked.plan_file else []), *lines])
    return 0


def _workers(engine: EngineName, where: dict[str, Any]) -> Any:
    """The workers that read the table; None for this process."""
    from hetdp.cli.reading import needs_workers

    if not needs_workers(engine, where):
        return None
    from hetdp.partitioned.tables import Workers

    return Workers(where["cluster"], where["workers"], where["memory"], where["work"])


command = Verb(
    "ask",
    ask,
    EXAMPLES,
    ABOUT,
    [TABLE, *OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "designing", "reading", "writing"),
)
