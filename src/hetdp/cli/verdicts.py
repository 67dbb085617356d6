"""A verdict in words: why pins cannot stand together, step by step, and pins that could."""

from __future__ import annotations

from itertools import islice

from hetdp.text import round_up

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hetdp.cli.output import Voice
    from hetdp.mechanism.coin import CoinComparison
    from hetdp.mechanism.compatibility import Repair, Verdict, Witness

SHOWN_PINS = 20


def refusal_lines(witness: Witness, repair: Repair | None) -> Iterator[str]:
    """Everything people need to know about pins that do not extend."""
    from hetdp.mechanism.digits import in_digits

    path, pinned = witness.path, in_digits(witness.value, witness.complement)
    yield f"no private extension exists: {witness}"
    yield ""
    yield "Step by step:"
    yield from (f"  {line}" for line in str(path).splitlines())
    yield f"  but p({path.names[-1]}) is pinned at {pinned}"
    if repair is None:
        return
    yield ""
    yield "These values do extend (p, one for each pin):"
    yield from (f"  {line}" for line in _pin_lines(repair))


def _pin_lines(repair: Repair) -> Iterator[str]:
    from hetdp.mechanism.digits import in_digits
    from hetdp.problem.spelling import spell_label

    found = repair.probabilities
    rows = [
        (spell_label(label, repair.labels), in_digits(p, 1.0 - p)) for label, p in islice(found.items(), SHOWN_PINS)
    ]
    width = max(len(name) for name, _ in rows)
    yield from (f"{name:<{width}}  {p}" for name, p in rows)
    if len(found) > SHOWN_PINS:
        yield f"and {len(found) - SHOWN_PINS} more"


def say_of_pins(voice: Voice, free: int, boundary: int, verdict: Verdict) -> None:
    """What `extend` would miss: values of the boundary, or a rounding of those that are given."""
    if free:
        voice.say(f"boundary datasets without a value: {free} of {boundary}; extend needs them all")
    if verdict.compatible and verdict.moved > 0.0:
        voice.say(
            f"the given values miss by a rounding; extend moves them by at most {round_up(verdict.moved, 2):.1e} in z"
        )


def say_accuracy(voice: Voice, coin: CoinComparison, hint: str = "") -> None:
    """Says how the worst-off dataset is answered, and where a coin would do better.

    Args:
        voice: what is spoken with.
        coin: how the mechanism compares with a coin.
        hint: what can be done where a coin would do better; it is no help where values were given.
    """
    from hetdp.mechanism.digits import right_digits

    if coin.datasets and hint:
        voice.say(f"worst accuracy {right_digits(coin.error, right=coin.right)}, at {coin.name}")
    if coin.worse or coin.even:
        voice.say(f"{coin}{f'; {hint}' if coin.worse > coin.given and hint else ''}")
