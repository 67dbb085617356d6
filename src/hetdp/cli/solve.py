"""`hetdp solve`: the smallest number by which all ε must be multiplied to reach an accuracy."""

from __future__ import annotations

from typing import Literal

import click

from hetdp.cli.design import OBJECTIVE
from hetdp.cli.options import ENGINE_HERE, INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, PRIOR, PROBLEM, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName
    from hetdp.mechanism.design import ObjectiveName

EXAMPLES = """
hetdp solve poll.json 0.9                     accuracy 0.9 at every dataset
hetdp solve poll.json 90% --at mean           in the mean
hetdp solve poll.json 0.9 --at 111 --at 122   at some datasets
hetdp solve poll.json 0.9 -o scaled.json      write the problem with every ε multiplied
"""
ABOUT = """
Finds the smallest number by which every ε of PROBLEM must be multiplied so that the mechanism of hetdp design has the
accuracy TARGET, and proves that a number smaller by a millionth is not enough. Only the proportions of the ε matter.
Values given in PROBLEM are ignored, unless --pins names a table of them. For a table of people: hetdp ask --want.
"""
WORDS = ("worst", "mean")
TARGET = click.Argument(["target"], metavar="TARGET")
AT = click.Option(
    ["--at"],
    multiple=True,
    metavar="worst|mean|DATASET",
    help="Where the accuracy is reached: at every dataset, in the mean, or at one dataset or several (repeat the"
    " option). Default: worst.",
)
PINS = click.Option(
    ["--pins"], type=PATH, metavar="FILE", help="Keep the values of this table (dataset, and p, z or error)."
)
OUTPUT = click.Option(
    ["-o", "--output"],
    type=PATH,
    metavar="FILE",
    help="Write the problem with every ε multiplied to a .json file or a folder of tables; - writes JSON to standard"
    " output.",
)


def solve(
    out: Output,
    problem: str,
    target: str,
    at: tuple[str, ...],
    objective: ObjectiveName,
    prior: str | None,
    pins: str | None,
    output: str | None,
    engine: EngineName,
    duplicates: Literal["error", "min"],
    positive: str | None,
    as_json: bool,
) -> None:
    """Finds the multiple of all ε that an accuracy takes."""
    from hetdp.cli import shapes
    from hetdp.cli.reading import STANDARD, read_with_pins, require_input
    from hetdp.cli.writing import require_place, write
    from hetdp.mechanism.solve import solve_epsilon

    require_place("-o", output, as_json, (".json", ""), (problem, pins))
    require_input(problem, pins)
    wanted = _accuracy(target)
    asked, given = read_with_pins(out, problem, pins, duplicates, positive)
    if pins is None and (given.z == given.z).any():
        out.say("the values given in the problem are ignored; use --pins to keep values")
    kept = None if pins is None else given
    found = solve_epsilon(asked, wanted, _places(asked, at), objective, kept, prior, engine)
    if output is not None:
        write(out, found.problem, output)
    if as_json:
        out.emit_document(shapes.solved(asked, found, output))
    elif output == STANDARD:
        out.say(str(found))
    else:
        out.emit([str(found)])


def _accuracy(text: str) -> float:
    """An accuracy as typed, such as 0.9 or 90%."""
    from hetdp.errors import Fault, HetdpError, InputError
    from hetdp.numbers import parse_exact

    try:
        wanted = parse_exact(text, "TARGET")
    except HetdpError:
        wanted = None
    if wanted is None or not 0 <= wanted <= 1:
        rule = "an accuracy is a number from 0 to 1, such as 0.9 or 90%"
        raise InputError("TARGET", [Fault("not an accuracy:", "TARGET", text, rule)])
    return float(wanted)


def _places(asked: Any, at: tuple[str, ...]) -> Any:
    """Where the accuracy is measured; a word that names no dataset is refused."""
    from hetdp.cli.reading import find_labels
    from hetdp.errors import UsageError

    if not at:
        return "worst"
    if len(at) == 1 and at[0] in WORDS:
        return at[0]
    for word in WORDS:
        if word in at and asked.labels.indices([word])[0] < 0:
            rule = "the accuracy is measured at every dataset (worst), in the mean, or at the datasets that are named"
            raise UsageError(f"--at {word} together with another --at", rule)
    return find_labels(asked.labels, at)


command = Verb(
    "solve",
    solve,
    EXAMPLES,
    ABOUT,
    [PROBLEM, TARGET, AT, OBJECTIVE, PRIOR, PINS, OUTPUT, ENGINE_HERE, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "loading", "searching", "proving", "writing"),
)
