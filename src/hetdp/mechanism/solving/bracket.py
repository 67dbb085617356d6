"""Closing in on the smallest multiple that is enough, in few designs: each may take a second."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from hetdp.mechanism.mechanism import Mechanism

PRECISION = 1e-6
FURTHER_DOWN = 8.0
FLOATS = 8.0  # so many floats lie between the two ends, at least; nearer ones would only compare roundings


class Attempt(NamedTuple):
    """What one multiple comes to.

    Attributes:
        multiple: of every ε.
        mechanism: the objective's mechanism; None if no private one has the given values.
        error: its error, where it counts.
        least: what the error of the objective's best mechanism is at least: under average, smaller by the proved gap.
        enough: whether the error is small enough.
    """

    multiple: float
    mechanism: Mechanism | None
    error: float
    least: float
    enough: bool


def narrowed(
    attempt: Callable[[float], Attempt], low: Attempt, high: Attempt, allowed: float
) -> tuple[Attempt, Attempt]:
    """A multiple that is not enough and one that is, as near to each other as wanted.

    The log-odds of a wrong answer fall nearly in proportion to ε. So a straight line through both ends leads next to
    the right place (the Illinois method), and a look just beside it ends the search. Where that stalls, the middle is
    taken.
    """
    ends, heights = [low, high], [_height(low.error, allowed), _height(high.error, allowed)]
    moved, widths = -1, (math.inf, math.inf)
    while (width := ends[1].multiple - ends[0].multiple) > (room := _room(ends[1].multiple)):
        stalled = width > 0.5 * widths[0]
        found = attempt(ends[0].multiple + _step(width, heights, stalled, margin=0.9 * room))
        end = int(found.enough)
        if end == moved:
            heights[1 - end] *= 0.5  # the other end has been too far away twice
        ends[end], heights[end], moved = found, _height(found.error, allowed), end
        widths = widths[1], width
    return ends[0], ends[1]


def shown_too_small(
    attempt: Callable[[float], Attempt], low: Attempt, high: Attempt, is_met: Callable[[float], bool]
) -> Attempt:
    """A multiple of which it is proved that it is not enough, from one that is only found not to be."""
    width = high.multiple - low.multiple
    while is_met(low.least) and low.multiple > 0.0:
        width *= FURTHER_DOWN
        low = attempt(max(high.multiple - width, 0.0))
    return low


def _step(width: float, heights: list[float], stalled: bool, margin: float) -> float:
    """How far from the lower end to look next, and not nearer to an end than a look there is worth."""
    if stalled or width <= 2.0 * margin or not all(map(math.isfinite, heights)) or heights[0] <= heights[1]:
        return 0.5 * width
    return min(max(width * heights[0] / (heights[0] - heights[1]), margin), width - margin)


def _room(multiple: float) -> float:
    return max(PRECISION * min(1.0, multiple), FLOATS * math.ulp(multiple))


def _height(error: float, allowed: float) -> float:
    """By how much the log-odds of an error are above those of the error that is allowed."""
    return _log_odds(error) - _log_odds(allowed)


def _log_odds(error: float) -> float:
    if not 0.0 < error < 1.0:
        return math.inf if error else -math.inf
    return math.log(error) - math.log1p(-error)
