"""`hetdp verify`: is a mechanism private, exactly?"""

from __future__ import annotations

import click

from hetdp.cli.options import PATH, PROBLEM, READING, SPEAKING, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from hetdp.cli.voice import Voice

EXAMPLES = """
hetdp verify poll.json mechanism.csv             prove it, or name the worst edge
hetdp verify poll.json mechanism.csv --json      the whole certificate
"""
ABOUT = """
Checks every edge of PROBLEM in exact arithmetic, by code that knows nothing of the search, and whether the mechanism is
the most accurate one with its given values. Exit code 0 if it is private, 5 if not.
"""
MECHANISM = click.Argument(["mechanism"], type=PATH, metavar="MECHANISM")


def verify(voice: Voice, problem: str, mechanism: str, duplicates: str, positive: str | None, as_json: bool) -> int:
    """Proves a mechanism private, or refutes it."""
    from hetdp import progress
    from hetdp.certificate.certificate import verify as prove
    from hetdp.cli import shapes
    from hetdp.cli.reading import read, require_input
    from hetdp.errors import VerificationError
    from hetdp.files.mechanisms import load_claim

    require_input(problem, mechanism)
    asked = read(voice, problem, duplicates, positive)
    claimed, foreign = load_claim(mechanism, asked)
    if foreign:
        voice.say(f"{mechanism} says that it was made for another problem; it is judged on this one")
    progress.stage("proving every edge")
    certificate = prove(asked, claimed)
    if as_json:
        voice.emit_document(shapes.verified(asked, certificate, foreign))
    else:
        voice.emit([str(certificate)])
    return 0 if certificate.private else VerificationError.exit_code


command = Verb(
    "verify",
    verify,
    EXAMPLES,
    ABOUT,
    [PROBLEM, MECHANISM, *READING, *SPEAKING],
    stages=("reading", "building", "proving"),
)
