"""`hetdp audit`: compares many draws with what is promised."""

from __future__ import annotations

from typing import Literal

import click

from hetdp.cli.options import INPUT_OPTIONS, OUTPUT_OPTIONS, PROBLEM, Verb
from hetdp.cli.verify import MECHANISM

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.problem.problem import Problem
    from hetdp.releases.audit import Audit

EXAMPLES = """
hetdp audit poll.json mechanism.csv                       the ten edges where a violation would show most
hetdp audit poll.json mechanism.csv --draws 1000000       sharper bounds
hetdp audit poll.json mechanism.csv --edges 50 --json     more edges, and every number
"""
ABOUT = """
Draws many answers at both ends of some edges of PROBLEM, exactly as a release would, discards them, and bounds the
privacy loss that they show. This tests the mechanism and the draw from outside. Exit code 5 if the draws contradict a
promise, and 0 if not, which proves nothing (hetdp verify does). No personal data is read, and nothing is spent. The
plans of hetdp ask cannot be audited this way: they have too many datasets to list, and are proved by a theorem.
"""
LARGEST_PLAN = 1 << 24  # bytes; a larger file is a problem
DRAWS = click.Option(
    ["--draws"], type=int, default=100_000, show_default=True, metavar="N", help="Answers drawn at each dataset."
)
CONFIDENCE = click.Option(
    ["--confidence"],
    type=float,
    default=0.999999,
    show_default=True,
    metavar="C",
    help="The probability with which all bounds hold together, at least.",
)
EDGES = click.Option(
    ["--edges"],
    type=int,
    default=10,
    show_default=True,
    metavar="N",
    help="How many edges to test: those where a violation would show most.",
)


def audit(
    out: Output,
    problem: str,
    mechanism: str,
    draws: int,
    confidence: float,
    edges: int,
    duplicates: Literal["error", "min"],
    positive: str | None,
    as_json: bool,
) -> int:
    """Draws many answers and compares them with what is promised."""
    from hetdp.cli.reading import read_without_pins, require_input
    from hetdp.cli.verify import say_claim_notes
    from hetdp.errors import VerificationError
    from hetdp.files.mechanisms import read_claim
    from hetdp.releases.audit import audit as drawn

    require_input(problem, mechanism)
    _refuse_plan(problem)
    asked = read_without_pins(out, problem, duplicates, positive)
    claim = read_claim(mechanism, asked)
    say_claim_notes(out, mechanism, claim)
    found = drawn(asked, claim.mechanism, draws=draws, confidence=confidence, edges=edges)
    if as_json:
        out.emit_document(shape(asked, found, claim.made_for_another))
    else:
        out.emit([str(found)])
    return VerificationError.exit_code if found.contradictions else 0


def _refuse_plan(path: str) -> None:
    """Refuses the plan of a table and says what to do instead; other faults are left to the readers."""
    from pathlib import Path

    from hetdp.cli.reading import STANDARD
    from hetdp.errors import HetdpError, UsageError
    from hetdp.files.formats.json_files import read_json

    place = Path(path)
    if (
        path == STANDARD
        or place.suffix.lower() != ".json"
        or not place.is_file()
        or place.stat().st_size > LARGEST_PLAN
    ):
        return
    try:
        kind = read_json(place, path).get("kind")
    except (HetdpError, OSError):
        return
    if kind == "plan":
        rule = "an audit draws at the datasets of a problem, and those of a table are too many to list"
        raise UsageError(
            f"{path!r} is the plan of a table", rule, "hetdp record verify RECORD --plan --ledger checks one"
        )


def shape(problem: Problem, found: Audit, foreign: bool) -> dict[str, Any]:
    """The result of the audit, as JSON."""
    from hetdp.cli import shapes

    edges = [
        {"class" if name == "edge_class" else name: value for name, value in edge._asdict().items()}
        | {name: shapes.number(getattr(edge, name)) for name in ("promised", "delta", "observed", "at_least")}
        | {"contradicted": edge.contradicted}
        for edge in found.edges
    ]
    return shapes.document(
        "audit",
        counts=shapes.counts(problem),
        made_for_another=foreign,
        message=str(found),
        contradicted=bool(found.contradictions),
        draws=found.draws,
        datasets=found.datasets,
        confidence=found.confidence,
        edges=edges,
    )


command = Verb(
    "audit",
    audit,
    EXAMPLES,
    ABOUT,
    [PROBLEM, MECHANISM, DRAWS, CONFIDENCE, EDGES, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "drawing"),
)
