"""`hetdp ask`: a table of people and a yes/no question, no graph in sight."""

from __future__ import annotations

import click

from hetdp.cli.options import PATH, SPEAKING, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.voice import Voice
    from hetdp.spaces.table.asking import Prepared
    from hetdp.spaces.table.plan import Plan
    from hetdp.spaces.table.wish import Wish

EXAMPLES = """
hetdp ask survey.csv --count "vote = 'yes'" --at-least 50% --epsilon eps --person id --dry-run     what is promised
hetdp ask survey.csv --count "vote = 'yes'" --at-least 50% --epsilon eps --person id --simulate    an answer, to try
hetdp ask survey.csv --count "vote = 'yes'" --more-than 2/3 --epsilon 1 --person id --plan plan.json --dry-run
hetdp ask survey.csv --plan plan.json --simulate                                                   exactly that plan
"""
ABOUT = """
Reads what is public (who is there, with which ε), fixes the most accurate private mechanism, says what it promises, and
writes the plan; only then are the counted columns read, once. Neighbouring tables differ in one person's answer; the
number of people and their ε are public. A row whose counted column is empty is not counted. TABLE is a .csv, .parquet,
.arrow or .sqlite file with one row for each person. The exact release is not there yet, so --dry-run or --simulate must
be given.
"""
TABLE = click.Argument(["table"], type=PATH, metavar="TABLE")
OPTIONS = [
    click.Option(["--count"], metavar="WHAT", help="Which rows count as yes, such as \"vote = 'yes'\"."),
    click.Option(["--at-least"], metavar="K|SHARE", help="The answer is yes if so many do: a number, or 50% or 2/3."),
    click.Option(["--more-than"], metavar="K|SHARE", help="The same, but exactly that counts as no."),
    click.Option(
        ["--of"],
        type=click.Choice(["all", "respondents"]),
        help="A share of all rows, or only of those whose counted column is not empty. Default: all.",
    ),
    click.Option(["--epsilon"], metavar="COLUMN|NUMBER", help="Everybody's ε: a column, or one number."),
    click.Option(
        ["--epsilon-by"],
        metavar="GROUP=ε,…",
        multiple=True,
        help="One ε for each group of --group, instead; also as JSON, where names have a comma in them.",
    ),
    click.Option(["--deciding-epsilon"], metavar="NUMBER", help="ε where the answer depends on one person."),
    click.Option(["--person"], metavar="COLUMN", help="The column that tells people apart: nobody is there twice."),
    click.Option(["--group"], metavar="COLUMN", help="The column of groups, for --epsilon-by and for the report."),
    click.Option(["--by"], metavar="COLUMN", help="One answer for each area in this column."),
    click.Option(
        ["--design"],
        type=click.Choice(["balanced", "weighted-vote", "fair"]),
        help="How the mechanism is chosen. Default: balanced. (fair is not offered for tables yet.)",
    ),
    click.Option(["--table", "sheet"], metavar="NAME", help="The table within an SQLite file that holds several."),
    click.Option(
        ["--plan"],
        type=PATH,
        metavar="FILE",
        help="Write the plan to this .json file; if it is there already, carry out that plan, or refuse.",
    ),
    click.Option(["--dry-run"], is_flag=True, help="Say what would be promised; the counted columns are not read."),
    click.Option(["--simulate"], is_flag=True, help="Draw an answer to try things out; it is no release."),
    click.Option(["--seed"], type=click.IntRange(min=0), metavar="N", help="For --simulate. Default: 0."),
    click.Option(["--curator"], is_flag=True, help="Let messages name rows and values; they are then not for others."),
]


def ask(
    voice: Voice,
    table: str,
    sheet: str | None,
    plan: str | None,
    dry_run: bool,
    simulate: bool,
    seed: int | None,
    curator: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Asks a table of people a yes/no question."""
    from hetdp.cli import shapes
    from hetdp.cli.promises import answer_lines, promise_lines
    from hetdp.spaces.table.asking import prepare
    from hetdp.spaces.table.simulation import simulated
    from hetdp.spaces.table.sources import opened

    _require_one_way(dry_run, simulate, seed)
    approved = _approved(plan, table)
    wanted = _wish(given, approved)
    with opened(table, sheet, curator) as source:
        prepared = prepare(source, wanted, sheet, curator)
        if approved is not None and plan is not None:
            prepared.plan.require_same(approved, plan)
        lines = promise_lines(prepared)
        if as_json or simulate:
            voice.say("\n".join(lines))
        _keep(voice, prepared, approved, plan)
        answers = None if dry_run else simulated(prepared.coordinates(), seed or 0)
    if as_json:
        voice.emit_document(shapes.ask(prepared, plan, None if dry_run else (seed or 0), answers))
    else:
        voice.emit(lines if answers is None else answer_lines(prepared, answers, seed or 0))


def _require_one_way(dry_run: bool, simulate: bool, seed: int | None) -> None:
    from hetdp.errors import UsageError

    if dry_run and simulate:
        raise UsageError("--dry-run beside --simulate", "the one reads no answers, the other does", "leave one out")
    if not (dry_run or simulate):
        rule = "the exact release is not there yet, and nothing less is offered in its place"
        raise UsageError("nothing can be released", rule, "--dry-run says what is promised, --simulate tries it out")
    if seed is not None and not simulate:
        raise UsageError("--seed without --simulate", "only a simulation has a seed; a release never will")


def _approved(path: str | None, table: str) -> Plan | None:
    """The plan that was made before, if the file is there; else the place for one is looked at."""
    from pathlib import Path

    from hetdp.cli.reading import STANDARD
    from hetdp.cli.writing import require_place
    from hetdp.errors import UsageError
    from hetdp.spaces.table.plan import read_plan

    if path is None:
        return None
    if path == STANDARD:
        raise UsageError("--plan -", "a plan is kept in a file, so that it can be approved", "name a .json file")
    require_place("--plan", path, False, (".json",), (table,))
    return read_plan(Path(path)) if Path(path).exists() else None


def _wish(given: dict[str, Any], approved: Plan | None) -> Wish:
    """What is asked for: by options, or by the plan if there are none."""
    from hetdp.cli.pairs import pairs
    from hetdp.errors import UsageError
    from hetdp.spaces.table.wish import wish

    given["epsilon_by"] = by = given["epsilon_by"] or None
    if approved is not None and all(value is None for value in given.values()):
        return approved.wish
    if given["count"] is None:
        raise UsageError("nothing is counted", "--count says which rows are a yes", "--count \"vote = 'yes'\"")
    return wish(
        given["count"],
        at_least=given["at_least"],
        more_than=given["more_than"],
        of=given["of"] or "all",
        epsilon=given["epsilon"],
        by_group=None if by is None else pairs("--epsilon-by", by, "GROUP=ε", "each group has one ε"),
        deciding=given["deciding_epsilon"],
        person=given["person"],
        group=given["group"],
        area=given["by"],
        objective=given["design"] or "balanced",
    )


def _keep(voice: Voice, prepared: Prepared, approved: Plan | None, path: str | None) -> None:
    """Writes the plan, unless it is there already, before any answer is read."""
    from pathlib import Path

    from hetdp.files.formats.json_form import write_json
    from hetdp.files.formats.writing import whole_file

    if path is None:
        return
    if approved is not None:
        voice.say(f"this is exactly the plan in {path}, sha256 {approved.digest}")
        return
    with whole_file(Path(path), private=True) as draft, draft.open("w", encoding="utf-8") as file:
        write_json(file, prepared.plan.document())
    voice.say(f"wrote {path}, sha256 {prepared.plan.digest}")


command = Verb(
    "ask",
    ask,
    EXAMPLES,
    ABOUT,
    [TABLE, *OPTIONS, *SPEAKING],
    stages=("reading", "designing", "reading", "writing"),
)
