"""`hetdp boundary`: the datasets that need a value."""

from __future__ import annotations

from typing import Literal

from hetdp.cli.options import INPUT_OPTIONS, OUTPUT_OPTIONS, PROBLEM, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from hetdp.cli.output import Output

EXAMPLES = """
hetdp boundary poll.json              one dataset per line
hetdp boundary poll.json --json       the same as JSON
hetdp boundary folder | wc -l         how many there are
"""
ABOUT = """
Lists the boundary: the datasets that have a neighbour with the other true answer. Each of them needs a value before
hetdp extend can compute the rest.
"""


def boundary(
    out: Output, problem: str, duplicates: Literal["error", "min"], positive: str | None, as_json: bool
) -> None:
    """Lists the boundary of a problem."""
    from hetdp.cli import shapes
    from hetdp.cli.reading import read_without_pins
    from hetdp.problem.spelling import spell_label

    asked = read_without_pins(out, problem, duplicates, positive)
    labels = asked.boundary
    if as_json:
        out.emit_document(shapes.document("boundary", counts=shapes.counts(asked), boundary=labels))
    else:
        out.emit(spell_label(label, asked.labels) for label in labels)


command = Verb(
    "boundary",
    boundary,
    EXAMPLES,
    ABOUT,
    [PROBLEM, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building"),
)
