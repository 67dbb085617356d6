"""`hetdp verify`: is a mechanism private, exactly?"""

from __future__ import annotations

import click

from hetdp.cli.options import INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, PROBLEM, Verb
from hetdp.cli.partitioned import CLUSTER, HOW, is_parted, parted, verify_parts

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName
    from hetdp.files.mechanisms import LoadedClaim
    from hetdp.mechanism.mechanism import LocalMechanism
    from hetdp.partitioned.mechanism_files import LoadedParts
    from hetdp.problem.partial import PartialMechanism

EXAMPLES = """
hetdp verify poll.json mechanism.csv             prove it, or name the worst edge
hetdp verify poll.json mechanism.csv --json      the whole certificate
"""
ABOUT = """
Checks every edge of PROBLEM in exact arithmetic, by code that knows nothing of the search, and whether the mechanism is
the most accurate one with its given values. Exit code 0 if it is private, 5 if not.
"""
MECHANISM = click.Argument(["mechanism"], type=PATH, metavar="MECHANISM")


def verify(
    out: Output,
    problem: str,
    mechanism: str,
    engine: EngineName,
    duplicates: str,
    positive: str | None,
    as_json: bool,
    **where: Any,
) -> int:
    """Proves a mechanism private, or refutes it."""
    if is_parted(engine, where):
        from hetdp.partitioned.mechanism_files import open_parts

        open_parts(mechanism)  # or a refusal, before anything takes long
        with parted(out, problem, None, duplicates, positive, where) as (parts, _):
            return verify_parts(out, parts, mechanism, as_json)
    from dataclasses import replace

    from hetdp import progress
    from hetdp.certificate.certificate import ROUNDED
    from hetdp.certificate.certificate import verify as prove
    from hetdp.cli import shapes
    from hetdp.cli.reading import read_with_pins, require_input
    from hetdp.cli.writing import say_accuracy
    from hetdp.errors import VerificationError
    from hetdp.files.mechanisms import read_claim

    require_input(problem, mechanism)
    asked, given = read_with_pins(out, problem, None, duplicates, positive)
    claim = read_claim(mechanism, asked)
    differing = differing_pins(given, claim.mechanism)
    say_claim_notes(out, mechanism, claim, differing)
    progress.report_stage("proving every edge")
    certificate = prove(asked, claim.mechanism)
    if claim.column != "z":
        certificate = replace(certificate, method=ROUNDED)
    if as_json:
        out.emit_document(shapes.verified(asked, claim.mechanism, certificate, claim.made_for_another, differing))
    else:
        out.emit([str(certificate)])
    say_accuracy(out, claim.mechanism.against_coin)
    return 0 if certificate.private else VerificationError.exit_code


def differing_pins(given: PartialMechanism, mechanism: LocalMechanism) -> int:
    """How many datasets a problem pins at another value than the mechanism has; a rounding is none."""
    import numpy as np

    from hetdp.mechanism.compatibility import NEAR_MISS

    pinned = ~np.isnan(given.z)
    same = np.isclose(given.z[pinned], mechanism.coordinates[pinned], rtol=0.0, atol=NEAR_MISS)
    return int(np.count_nonzero(~same))


def say_claim_notes(out: Output, name: str, claim: LoadedClaim | LoadedParts, differing: int = 0) -> None:
    """What a reader should know of a mechanism file before its values are judged."""
    from hetdp.text import pluralize

    if claim.made_for_another:
        out.say(f"{name} says that it was made for another problem; it is judged on this one")
    if claim.column != "z":
        out.say(f"the values of {name} are those of its column {claim.column}, rounded; a column z would be exact")
    if differing:
        out.say(f"its values differ from the problem's own at {pluralize(differing, 'dataset')}")


command = Verb(
    "verify",
    verify,
    EXAMPLES,
    ABOUT,
    [PROBLEM, MECHANISM, HOW, *CLUSTER, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "proving"),
)
