"""Proof that two given values cannot both stand: the exact bound along a path from the one lies below the other.

Each step is bounded from the definition of privacy, in ball arithmetic, with p and 1 − p side by side so that neither
tail is lost. A path on which the balls do not decide proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from flint import arb, ctx

from hetdp.certificate.enclosure import FINER, FIRST_PRECISION, precision
from hetdp.certificate.rules import HALVED

Tails = tuple[arb, arb]  # twice p and twice 1 − p


def contradicts(notion: str, first: float, steps: Iterable[Mapping[str, float]], last: float) -> bool:
    """Whether z = `first` at the start of a path allows less than z = `last` at its end, in exact arithmetic.

    Args:
        notion: the name of the notion of privacy.
        first: z of the first dataset.
        steps: what each edge of the path promises, by the names of the parameters, seen from its start.
        last: z that is given at the last dataset.
    """
    edges = [dict(step) for step in steps]
    is_below = _sum_is_below if HALVED.get(notion) is False else _is_below
    with precision():
        for bits in (FIRST_PRECISION, *FINER):
            ctx.prec = bits
            decided = is_below(first, edges, last)
            if decided is not None:
                return decided
    return False


def _sum_is_below(first: float, steps: list[dict[str, float]], last: float) -> bool | None:
    """For notions that add to z."""
    shifts = [next(iter(step.values())) for step in steps]
    if math.inf in shifts or math.inf in (first, -last):
        return False
    if -math.inf in (first, -last):
        return True
    room = sum(map(arb, shifts), arb(first)) - arb(last)
    return True if room < 0 else False if room >= 0 else None


def _is_below(first: float, steps: list[dict[str, float]], last: float) -> bool | None:
    """For those with an ε, or an ε and a δ for each direction."""
    bound = _tails(first)
    for step in steps:
        bound = _bound(bound, step)
    given = _tails(last)
    if bound[0] < given[0] or bound[1] > given[1]:
        return True
    return False if bound[0] >= given[0] or bound[1] <= given[1] else None


def _tails(z: float) -> Tails:
    """Twice p, and twice 1 − p, of a Laplace coordinate."""
    if math.isinf(z):
        return (arb(2), arb(0)) if z > 0.0 else (arb(0), arb(2))
    tail = arb(-abs(z)).exp()
    return (tail, 2 - tail) if z <= 0.0 else (2 - tail, tail)


def _bound(source: Tails, step: dict[str, float]) -> Tails:
    """The largest p over an edge, with the ε and δ from its start and those back to it."""
    epsilon = step["epsilon"]
    back, delta = step.get("epsilon_back", epsilon), step.get("delta", 0.0)
    delta_back = step.get("delta_back", delta)
    ones, twos = source
    most, least = arb(2), arb(0)
    if back < math.inf and delta_back < 1.0:  # p at the end is at most e^back · p + δ back
        factor, share = arb(back).exp(), 2 * arb(delta_back)
        rest = _sharper(2 - share - factor * ones, factor * twos - 2 * (factor - 1) - share)
        most, least = most.min(factor * ones + share), least.max(rest)
    if epsilon < math.inf and delta < 1.0:  # 1 − p at the start is at most e^ε · (1 − p at the end) + δ
        factor, share = (-arb(epsilon)).exp(), 2 * arb(delta)
        rest = factor * _sharper(twos - share, 2 - ones - share)
        most = most.min(_sharper(2 - rest, 2 * (1 - factor) + factor * (ones + share)))
        least = least.max(rest)
    return most, least


def _sharper(one: arb, other: arb) -> arb:
    """Of two enclosures of the same number the narrower one."""
    return one if one.rad() <= other.rad() else other
