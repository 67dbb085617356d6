"""`hetdp extend`: the most accurate private mechanism with the given values."""

from __future__ import annotations

import click

from hetdp.cli.options import ENGINE, INPUT_OPTIONS, OUTPUT_OPTIONS, PINS, PROBLEM, Verb
from hetdp.cli.partitioned import CLUSTER, deliver_parts, is_parted, parted, pinned_count, require_folder
from hetdp.cli.writing import OUTPUT, SUFFIXES, deliver
from hetdp.errors import UsageError

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName

EXAMPLES = """
hetdp extend poll.json                        a table for reading
hetdp extend poll.json -o mechanism.csv       a file: .csv, .parquet or .json
hetdp extend poll.json --pins wishes.csv      other values for the same problem
hetdp extend - -o - < poll.json               JSON in, JSON out
hetdp extend folder --engine dask -o result   a folder of Parquet files, by workers, to a folder
"""
ABOUT = """
Given values at the boundary, finds the one private mechanism that is the most accurate at every dataset at once, and
proves it. p is the probability of answer 1, error that of the wrong answer; binding is the neighbour that keeps a
dataset from being answered better. If no such mechanism exists, it says why (exit code 4).
"""
NO_VERIFY = click.Option(
    ["--no-verify"],
    is_flag=True,
    help="Do not prove that no better mechanism exists. That it is private is checked all the same, and a file always"
    " has its whole proof; so it is refused with --engine dask, which always writes one.",
)


def extend(
    out: Output,
    problem: str,
    pins: str | None,
    output: str | None,
    engine: EngineName,
    no_verify: bool,
    duplicates: str,
    positive: str | None,
    as_json: bool,
    **where: Any,
) -> None:
    """Extends the pins of a problem to all its datasets."""
    if is_parted(engine, where):
        if no_verify:
            rule = "workers write the mechanism to a folder, and what is written always has its whole proof"
            raise UsageError("--no-verify beside --engine dask", rule, "leave it out")
        _extend_parts(out, problem, pins, output, duplicates, positive, as_json, where)
        return
    from hetdp.cli.reading import read_with_pins
    from hetdp.cli.writing import require_place
    from hetdp.mechanism.extension import extend as grow

    require_place("-o", output, as_json, suffixes=SUFFIXES, inputs=(problem, pins))
    asked, given = read_with_pins(out, problem, pins, duplicates, positive)
    mechanism = grow(asked, given, engine, verify=output is not None or not no_verify)
    deliver(out, "extend", asked, given, mechanism, output, as_json)


def _extend_parts(
    out: Output,
    path: str,
    pins: str | None,
    output: str | None,
    duplicates: str,
    positive: str | None,
    as_json: bool,
    where: dict[str, Any],
) -> None:
    from hetdp.partitioned.extension import extend_parts

    folder = require_folder(output, as_json, (path, pins, where["work"]))
    with parted(out, path, pins, duplicates, positive, where) as (problem, given):
        deliver_parts(out, "extend", extend_parts(problem, given), pinned_count(given), folder, as_json)


command = Verb(
    "extend",
    extend,
    EXAMPLES,
    ABOUT,
    [PROBLEM, PINS, OUTPUT, ENGINE, *CLUSTER, NO_VERIFY, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "loading", "searching", "proving", "writing"),
)
