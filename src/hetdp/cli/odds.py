"""`hetdp odds`: what a change in the data does to the published answer, in numbers of runs."""

from __future__ import annotations

from typing import Literal

import click

from hetdp.cli.options import ENGINE_HERE, INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, PROBLEM, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName

EXAMPLES = """
hetdp odds poll.json mechanism.csv       the odds of a saved mechanism, one sentence for each class of edges
hetdp odds poll.json                     those of the mechanism that hetdp design finds
"""
ABOUT = """
States how often an answer is published if a person does one thing, and how often if they do another, computed from the
mechanism's own values at both ends of every edge. Without MECHANISM, the mechanism is computed first, as hetdp design
does. A mechanism that is not private is refused.
"""
MECHANISM = click.Argument(["mechanism"], type=PATH, metavar="[MECHANISM]", required=False)


def odds(
    out: Output,
    problem: str,
    mechanism: str | None,
    engine: EngineName,
    duplicates: Literal["error", "min"],
    positive: str | None,
    as_json: bool,
) -> None:
    """States the odds of a mechanism."""
    from hetdp.cli import shapes
    from hetdp.cli.reading import read_with_pins, require_input
    from hetdp.cli.verify import say_claim_notes
    from hetdp.cli.writing import say_accuracy
    from hetdp.files.mechanisms import read_claim
    from hetdp.mechanism.design import design
    from hetdp.mechanism.odds import Odds, edge_odds

    require_input(problem, mechanism)
    asked, given = read_with_pins(out, problem, None, duplicates, positive)
    if mechanism is None:
        found = design(asked, partial=given, engine=engine)
    else:
        claim = read_claim(mechanism, asked)
        say_claim_notes(out, mechanism, claim)
        found = claim.mechanism
    by_class = edge_odds(asked, found)
    if as_json:
        listed = [shapes.odds(one) for one in by_class.values()]
        out.emit_document(shapes.document("odds", counts=shapes.counts(asked), odds=listed))
    else:
        out.emit([str(Odds(by_class))])
    say_accuracy(out, found.against_coin)


command = Verb(
    "odds",
    odds,
    EXAMPLES,
    ABOUT,
    [PROBLEM, MECHANISM, ENGINE_HERE, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "loading", "searching", "proving"),
)
