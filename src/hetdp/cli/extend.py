"""`hetdp extend`: the most accurate private mechanism with the given values."""

from __future__ import annotations

from typing import Literal

import click

from hetdp.cli.options import CLUSTER, ENGINE, INPUT_OPTIONS, OUTPUT_OPTIONS, PINS, PROBLEM, Verb
from hetdp.cli.writing import OUTPUT, deliver

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName

EXAMPLES = """
hetdp extend poll.json                        print a table
hetdp extend poll.json -o mechanism.csv       write a file
hetdp extend poll.json --pins pins.csv        other values for the same problem
hetdp extend - -o - < poll.json               JSON in, JSON out
hetdp extend folder --engine dask -o result   a folder of Parquet files, by workers, to a folder
"""
ABOUT = """
Given values at the boundary, finds the one private mechanism that is the most accurate at every dataset at once, and
proves it. p is the probability of answer 1, error is the probability of the wrong answer, and binding is the neighbour
that prevents a more accurate answer. If no such mechanism exists, the message says why (exit code 4).
"""
NO_VERIFY = click.Option(
    ["--no-verify"],
    is_flag=True,
    help="Do not prove that no better mechanism exists. Privacy is still checked. Files always contain the whole"
    " proof, so this cannot be combined with --engine dask, which always writes one.",
)


def extend(
    out: Output,
    problem: str,
    pins: str | None,
    output: str | None,
    engine: EngineName,
    no_verify: bool,
    duplicates: Literal["error", "min"],
    positive: str | None,
    as_json: bool,
    **cluster: Any,
) -> None:
    """Extends the pins of a problem to all its datasets."""
    from hetdp.cli.reading import source_of
    from hetdp.mechanism.extension import extend as extend_pins

    source = source_of(engine, cluster)
    if no_verify:
        rule = "workers write the mechanism to a folder, and a written mechanism always has its whole proof"
        source.refuse_option("--no-verify", rule)
    source.require_output(output, as_json, (problem, pins))
    with source.open(out, problem, duplicates, positive, pins) as (asked, given):
        mechanism = extend_pins(asked, given, engine, verify=output is not None or not no_verify)
        deliver(out, "extend", asked, given.count, mechanism, output, as_json)


command = Verb(
    "extend",
    extend,
    EXAMPLES,
    ABOUT,
    [PROBLEM, PINS, OUTPUT, ENGINE, *CLUSTER, NO_VERIFY, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "loading", "searching", "proving", "writing"),
)
