"""The exact bound along a path of Laplace coordinates, with an ε, or an ε and a δ, for each direction of each edge.

Each step is bounded from the definition of privacy, in ball arithmetic, with p and 1 − p side by side so that neither
tail is lost.
"""

from __future__ import annotations

import math

from flint import arb

from hetdp.certificate.rule import Steps

Tails = tuple[arb, arb]  # twice p and twice 1 − p


def path_is_below(first: float, steps: Steps, last: float) -> bool | None:
    """Whether a path allows less than z = `last` at its end; None where the balls do not decide."""
    bound = tails_of(first)
    for step in steps:
        bound = _bound(bound, step)
    given = tails_of(last)
    if bound[0] < given[0] or bound[1] > given[1]:
        return True
    return False if bound[0] >= given[0] or bound[1] <= given[1] else None


def tails_of(z: float) -> Tails:
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
