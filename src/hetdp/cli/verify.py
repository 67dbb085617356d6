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
mechanism is the most accurate one with its given values; if it is not, it names the dataset that lacks most. MECHANISM
may be a table from elsewhere, with columns dataset and p: its pinned values are those marked in a column pinned (yes or
no), or those that PROBLEM gives; without either, nothing can be shown optimal. Exit code 0 if it is private, 5 if not.
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
    from hetdp.certificate.rule import NOTHING_GIVEN
    from hetdp.cli import shapes
    from hetdp.cli.reading import require_input, source_of
    from hetdp.cli.writing import say_accuracy
    from hetdp.errors import VerificationError
    from hetdp.files.mechanisms import read_claim
    from hetdp.mechanism.verification import verify_with_pins

    source = source_of(engine, cluster)
    require_input(problem, mechanism)
    source.require_mechanism(mechanism)
    with source.open(out, problem, duplicates, positive) as (asked, given):
        claim = read_claim(mechanism, asked, given)
        say_claim_notes(out, mechanism, claim)
        progress.report_stage("proving every edge")
        pinned = pins_of_foreign_table(out, asked, claim.mechanism, given)
        if pinned is None:
            certificate = prove(asked, claim.mechanism)
        else:
            certificate = verify_with_pins(asked, claim.mechanism.coordinates, pinned)
        if claim.column != "z":
            certificate = replace(certificate, method=EVERY_EDGE_ROUNDED)
        if as_json:
            out.emit_document(shapes.verification(asked, claim, certificate))
        else:
            out.emit([str(certificate)])
        if certificate.shortfall == NOTHING_GIVEN:
            out.say("a column pinned (yes or no) says which values were given; the others can then be shown optimal")
        say_accuracy(out, claim.mechanism.against_coin)
    return 0 if certificate.private else VerificationError.exit_code


def pins_of_foreign_table(out: Output, problem: Any, mechanism: Any, given: Any) -> Any:
    """The pinned datasets of a table from elsewhere, which has no links; None for mechanisms of hetdp.

    If the table does not say which values are pinned, they are those that the problem gives.
    """
    import numpy as np

    from hetdp.mechanism.mechanism import LocalMechanism

    if not isinstance(mechanism, LocalMechanism) or mechanism.pinned.all() or (mechanism.links >= 0).any():
        return None
    if mechanism.pinned.any():
        return mechanism.pinned
    known = None if given is None else ~np.isnan(given.z)
    if known is None or not known.any():
        return None
    out.say("its pinned values are taken to be those of the datasets that the problem gives values to")
    return known


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
