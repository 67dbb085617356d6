"""`hetdp check`: can the given values be private together?"""

from __future__ import annotations

import click

from hetdp.cli.options import ENGINE, INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, PINS, PROBLEM, Verb
from hetdp.cli.partitioned import CLUSTER, check_parts, is_parted, parted
from hetdp.errors import UsageError

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName
    from hetdp.mechanism.compatibility import Verdict
    from hetdp.problem.problem import Problem

EXAMPLES = """
hetdp check poll.json                           yes, or why not and what would do
hetdp check poll.json --pins wishes.csv         other values for the same problem
hetdp check poll.json --repair repaired.json    writes a problem that does extend
"""
ABOUT = """
Decides whether a private mechanism with the given values exists (exit code 0) or not (exit code 4). If not, it shows
two datasets that contradict each other, the path between them, and values that work instead.
"""
REPAIR = click.Option(
    ["--repair"],
    type=PATH,
    metavar="FILE",
    help="If the values contradict each other, write the problem with values that do not.",
)


def check(
    out: Output,
    problem: str,
    pins: str | None,
    repair: str | None,
    engine: EngineName,
    duplicates: str,
    positive: str | None,
    as_json: bool,
    **where: Any,
) -> int:
    """Decides whether the pins of a problem can be extended."""
    if is_parted(engine, where):
        if repair is not None:
            rule = "a partitioned problem has a witness, but no repair"
            raise UsageError("--repair beside --engine dask", rule, "leave it out")
        with parted(out, problem, pins, duplicates, positive, where) as (parts, values):
            return check_parts(out, parts, values, as_json)
    from hetdp.cli import shapes
    from hetdp.cli.reading import read_with_pins
    from hetdp.cli.writing import require_place, say_pin_notes
    from hetdp.errors import NoExtensionError
    from hetdp.mechanism.compatibility import check as judge

    require_place("--repair", repair, as_json, suffixes=(".json", ""), inputs=(problem, pins))
    asked, given = read_with_pins(out, problem, pins, duplicates, positive)
    verdict = judge(asked, given, engine)
    free = int((asked.boundary_mask & (given.z != given.z)).sum())
    say_pin_notes(out, free, int(asked.boundary_mask.sum()), verdict)
    _write_repair(out, asked, verdict, repair)
    if as_json:
        counts = shapes.counts(asked, given)
        out.emit_document(shapes.document("check", counts=counts, **shapes.verdict(verdict)))
    else:
        _tell(out, verdict, aside=repair == "-")
    return 0 if verdict.compatible else NoExtensionError.exit_code


def _tell(out: Output, verdict: Verdict, aside: bool) -> None:
    """The verdict in words; if the repaired problem is what standard output is for, aside."""
    from hetdp.cli.writing import refusal_lines

    if verdict.witness is None or verdict.repair is None:
        lines = [str(verdict)]
    else:
        lines = list(refusal_lines(verdict.witness, verdict.repair))
    if aside:
        out.say("\n".join(lines))
    else:
        out.emit(lines)


def _write_repair(out: Output, asked: Problem, verdict: Verdict, path: str | None) -> None:
    from hetdp.cli.writing import write

    if path is None:
        return
    if verdict.repair is None:
        out.say(f"there is nothing to repair, so {path} was not written")
    else:
        write(out, asked, path, partial=verdict.repair.pins)


command = Verb(
    "check",
    check,
    EXAMPLES,
    ABOUT,
    [PROBLEM, PINS, REPAIR, ENGINE, *CLUSTER, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "loading", "searching", "writing"),
)
