"""Where the columns of a summary stand: by distance, far ones closer together, those without one aside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hetdp.plots.shades import answer_words
from hetdp.problem.space import Floats

if TYPE_CHECKING:
    from hetdp.plots.summary import Summary

MOST_PLACES = 200  # on each side of the boundary; of more distances, far ones share a place
EVEN = 60  # the largest distance up to which all steps are equally long
BROAD = 30  # distances on both sides together, up to which there is room for a 1 on each side of the boundary
BEND = 3.0  # else, from here on, they grow by powers of ten
ASIDE = 0.22  # the room of the datasets without a distance, beside that of all others
NO_PATH = "no path"
CLOSER = "far ones closer together, by powers of ten"


def shared(steps: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Each distance by the number of its place, and how many distances the broadest place has; near ones share none.

    >>> shared(np.arange(4))
    (array([0, 1, 2, 3]), 1)
    """
    far = int(steps.max(initial=1))
    if far <= MOST_PLACES:
        return steps, 1
    starts = np.unique(np.rint(np.geomspace(1, far + 1, MOST_PLACES)).astype(np.int64))
    sizes = np.diff(starts)
    middles = np.concatenate([[0], starts[:-1] + (sizes - 1) // 2])
    return middles[np.searchsorted(starts[:-1], steps, side="right")], int(sizes.max())


def far_of(shown: Summary) -> int:
    """The largest distance; 0 if there is none."""
    return int(np.abs(shown.levels).max(initial=0))


def is_even(shown: Summary) -> bool:
    """Whether all steps are equally long."""
    return far_of(shown) <= EVEN


def place(distance: Any, even: bool) -> Floats:
    """How far from the boundary a distance is drawn, or each of several."""
    x = np.asarray(distance, dtype=np.float64) - 0.5
    return x if even else np.where(x <= BEND, x, BEND * (1.0 + np.log(np.maximum(x, BEND) / BEND)))


def places_of(shown: Summary) -> Floats:
    """Where each column stands: answer 2 left of 0, answer 1 right of it, those without a path outside."""
    side = np.where(shown.answers == 1, 1.0, -1.0)
    out = place(far_of(shown), is_even(shown)) if far_of(shown) else 0.0
    where = place(np.abs(shown.levels), is_even(shown))
    return np.asarray(side * np.where(shown.levels == 0, out + room_aside(shown), where))


def room_aside(shown: Summary) -> float:
    """How broad the room of the datasets without a path is."""
    return max(1.0, ASIDE * float(place(far_of(shown), is_even(shown))))


def marks_of(shown: Summary) -> list[tuple[float, str]]:
    """Places with the words below them, from left to right: round distances, and what has none."""
    even, levels = is_even(shown), shown.levels
    if even:
        marks = [(at, steps_at(at)) for at in ticks_of(levels)] if levels.any() else []
    else:
        decades = [10**power for power in range(len(str(far_of(shown))))]
        few = len(decades) < 4
        chosen = sorted(decades + [3 * ten for ten in decades]) if few else decades[1 :: 1 if len(decades) < 6 else 2]
        marks = [
            (side * float(place(steps, even)), f"{steps:,}")
            for side, far in ((-1, int(-levels.min(initial=0))), (1, int(levels.max(initial=0))))
            for steps in chosen
            if steps <= far
        ]
    names = {1: NO_PATH, 2: NO_PATH}
    if not shown.followed:
        names[1], names[2] = (f"truly {word}" for word in answer_words(shown.problem.about))
    lost = zip(places_of(shown).tolist(), levels.tolist(), shown.answers.tolist(), strict=True)
    return sorted(marks + [(at, names[answer]) for at, level, answer in lost if level == 0])


def ticks_of(levels: NDArray[np.int64]) -> list[float]:
    """At most about a dozen distances, in round steps; beside the boundary also 1, where there is room.

    A side too short for any round step has its farthest distance.

    >>> [steps_at(place) for place in ticks_of(np.arange(-3, 24))]
    ['3', '1', '1', '5', '10', '15', '20']
    >>> [steps_at(place) for place in ticks_of(np.arange(-50, 51))]
    ['50', '40', '30', '20', '10', '10', '20', '30', '40', '50']
    """
    far = int(np.abs(levels).max(initial=1))
    power = 10 ** (len(str(far)) - 1)
    gap = next(gap for gap in (power // 10, power // 5, power // 2, power, 2 * power, 5 * power) if 6 * gap >= far)
    ends = {-1: int(-levels.min(initial=0)), 1: int(levels.max(initial=0))}
    found = set()
    for sign, end in ends.items():
        chosen = {*range(gap, end + 1, gap)} or {end}
        chosen |= {1} if sum(ends.values()) <= BROAD else set()
        found |= {sign * (level - 0.5) for level in chosen if 0 < level <= end}
    return sorted(found)


def steps_at(place: float, _: object = None) -> str:
    """The number of steps that a place stands for."""
    return f"{abs(place) + 0.5:,.0f}"
