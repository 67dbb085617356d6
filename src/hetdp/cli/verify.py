"""`hetdp verify`: proves a mechanism private in exact arithmetic, or refutes it."""

from __future__ import annotations

from typing import Literal

import click

from hetdp.cli.options import CLUSTER, HOW, INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, PROBLEM, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName
    from hetdp.mechanism.mechanism import LoadedClaim

EXAMPLES = """
hetdp verify poll.json mechanism.csv             prove it, or name the worst edge
hetdp verify poll.json mechanism.csv --json      the whole certificate
"""
ABOUT = """
Checks every edge of PROBLEM in exact arithmetic, with code that is independent of the search, and checks whether the
mechanism is the most accurate one with its given values. Exit code 0 if it is private, 5 if not.
"""
MECHANISM = click.Argument(["mechanism"], type=PATH, metavar="MECHANISM")


def verify(
    out: Output,
    problem: str,
    mechanism: str,
    engine: EngineName,
    duplicates: Literal["error", "min"],
    positive: str | None,
    as_json: bool,
    **cluster: Any,
) -> int:
    """Proves a mechanism private, or refutes it."""
    from dataclasses import replace

    from hetdp import progress
    from hetdp.certificate.certificate import EVERY_EDGE_ROUNDED
    from hetdp.certificate.certificate import verify as prove
    from hetdp.cli import shapes
    from hetdp.cli.reading import require_input, source_of
    from hetdp.cli.writing import say_accuracy
    from hetdp.errors import VerificationError
    from hetdp.files.mechanisms import read_claim

    source = source_of(engine, cluster)
    require_input(problem, mechanism)
    source.require_mechanism(mechanism)
    with source.open(out, problem, duplicates, positive) as (asked, given):
        claim = read_claim(mechanism, asked, given)
        say_claim_notes(out, mechanism, claim)
        progress.report_stage("proving every edge")
        certificate = prove(asked, claim.mechanism)
        if claim.column != "z":
            certificate = replace(certificate, method=EVERY_EDGE_ROUNDED)
        if as_json:
            out.emit_document(shapes.verification(asked, claim, certificate))
        else:
            out.emit([str(certificate)])
        say_accuracy(out, claim.mechanism.against_coin)
    return 0 if certificate.private else VerificationError.exit_code


def say_claim_notes(out: Output, name: str, claim: LoadedClaim[Any]) -> None:
    """Says what a reader should know about a mechanism file before its values are judged."""
    from hetdp.text import pluralize

    if claim.made_for_another:
        out.say(f"{name} was made for another problem; it is verified on this one")
    if claim.column != "z":
        out.say(f"{name} has no column z, so its values are those of the rounded column {claim.column}")
    if claim.differing:
        out.say(f"its values differ from the problem's own at {pluralize(claim.differing, 'dataset')}")


command = Verb(
    "verify",
    verify,
    EXAMPLES,
    ABOUT,
    [PROBLEM, MECHANISM, HOW, *CLUSTER, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "proving"),
)
