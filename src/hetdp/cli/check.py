"""`hetdp check`: can the given values be private together?"""

from __future__ import annotations

from typing import Literal

import click

from hetdp.cli.options import CLUSTER, ENGINE, INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, PINS, PROBLEM, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName
    from hetdp.mechanism.compatibility import Verdict
    from hetdp.problem.problem import Problem

EXAMPLES = """
hetdp check poll.json                           yes, or why not and which values work
hetdp check poll.json --pins pins.csv           other values for the same problem
hetdp check poll.json --repair repaired.json    write a problem with values that work
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
    duplicates: Literal["error", "min"],
    positive: str | None,
    as_json: bool,
    **cluster: Any,
) -> int:
    """Decides whether the pins of a problem can be extended."""
    from hetdp.cli import shapes
    from hetdp.cli.reading import source_of
    from hetdp.cli.writing import refusal_lines, require_place, say_pin_notes
    from hetdp.errors import NoExtensionError
    from hetdp.mechanism.compatibility import check as judge
    from hetdp.mechanism.compatibility import free_boundary

    source = source_of(engine, cluster)
    if repair is not None:
        source.refuse_option("--repair", "a partitioned problem has a witness, but no repair")
    require_place("--repair", repair, as_json, suffixes=(".json", ""), inputs=(problem, pins))
    with source.open(out, problem, duplicates, positive, pins) as (asked, given):
        verdict = judge(asked, given, engine)
        boundary = free_boundary(asked, given)
        say_pin_notes(out, boundary.free, boundary.size, verdict)
        _write_repair(out, asked, verdict, repair)
        counts = shapes.counts(asked, given.count)
    lines = [str(verdict)] if verdict.witness is None else list(refusal_lines(verdict.witness, verdict.repair))
    if as_json:
        out.emit_document(shapes.document("check", counts=counts, **shapes.verdict(verdict)))
    elif repair == "-":  # then standard output is for the repaired problem
        out.say("\n".join(lines))
    else:
        out.emit(lines)
    return 0 if verdict.compatible else NoExtensionError.exit_code


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
