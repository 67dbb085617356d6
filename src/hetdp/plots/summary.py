"""The summary: the range of p at each distance to the other answer, for problems with too many datasets to draw.

Far distances are drawn closer together, and datasets without a path to the other answer stand at the side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hetdp.mechanism.accuracy.measures import NOWHERE, steps_to_the_other_answer
from hetdp.plots.canvas import (
    BOUNDARY,
    SMALL,
    USUAL,
    add_legend_below,
    answer_names,
    disable_math,
    fit_height,
    label_axes,
    lay_out,
    published_words,
    size_in_points,
    style_axes,
    text_size,
)
from hetdp.plots.colours import INK, ONE, PAPER, SOFT, TWO, colour_map
from hetdp.problem.problem import Problem
from hetdp.problem.product import MOST_ARCS
from hetdp.problem.space import Floats, Mask
from hetdp.text import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_PLACES = 200  # on each side of the boundary; if there are more distances, far ones share a place
EVEN_UP_TO = 60  # the largest distance up to which all steps are equally long
TICK_AT_ONE_UP_TO = 30  # distances on both sides up to which there is room for a tick at 1 on each side
LINEAR_UP_TO = 3.0  # otherwise, distances beyond this are on a logarithmic scale
SIDE_COLUMN_WIDTH = 0.22  # the width of the column without a distance, relative to all others
NO_PATH = "no path"
LOGARITHMIC_NOTE = "far distances on a logarithmic scale"


def merge_far(steps: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """The place of each distance, and the number of distances in the widest place. Near distances have a place each.

    >>> merge_far(np.arange(4))
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
    """True if all steps are drawn equally long."""
    return far_of(shown) <= EVEN_UP_TO


def position_of(distance: Any, even: bool) -> Floats:
    """The position of one or several distances, measured from the boundary."""
    x = np.asarray(distance, dtype=np.float64) - 0.5
    return (
        x
        if even
        else np.where(x <= LINEAR_UP_TO, x, LINEAR_UP_TO * (1.0 + np.log(np.maximum(x, LINEAR_UP_TO) / LINEAR_UP_TO)))
    )


def positions_of(shown: Summary) -> Floats:
    """The position of each column: answer 2 left of 0, answer 1 right of it, those without a path outside."""
    side = np.where(shown.answers == 1, 1.0, -1.0)
    out = position_of(far_of(shown), is_even(shown)) if far_of(shown) else 0.0
    where = position_of(np.abs(shown.levels), is_even(shown))
    return np.asarray(side * np.where(shown.levels == 0, out + room_aside(shown), where))


def room_aside(shown: Summary) -> float:
    """The width of the column of datasets without a path."""
    return max(1.0, SIDE_COLUMN_WIDTH * float(position_of(far_of(shown), is_even(shown))))


def tick_labels(shown: Summary) -> list[tuple[float, str]]:
    """Tick positions and labels, from left to right: round distances, and the columns without a path."""
    even, levels = is_even(shown), shown.levels
    if even:
        marks = [(at, steps_at(at)) for at in ticks_of(levels)] if levels.any() else []
    else:
        decades = [10**power for power in range(len(str(far_of(shown))))]
        few = len(decades) < 4
        chosen = sorted(decades + [3 * ten for ten in decades]) if few else decades[1 :: 1 if len(decades) < 6 else 2]
        marks = [
            (side * float(position_of(steps, even)), f"{steps:,}")
            for side, far in ((-1, int(-levels.min(initial=0))), (1, int(levels.max(initial=0))))
            for steps in chosen
            if steps <= far
        ]
    names = {1: NO_PATH, 2: NO_PATH}
    if not shown.followed:
        names[1], names[2] = (f"true answer:\n{word}" for word in answer_names(shown.problem.about))
    lost = zip(positions_of(shown).tolist(), levels.tolist(), shown.answers.tolist(), strict=True)
    return sorted(marks + [(at, names[answer]) for at, level, answer in lost if level == 0])


def ticks_of(levels: NDArray[np.int64]) -> list[float]:
    """About a dozen distances in round steps, and 1 on each side of the boundary if there is room.

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
        chosen |= {1} if sum(ends.values()) <= TICK_AT_ONE_UP_TO else set()
        found |= {sign * (level - 0.5) for level in chosen if 0 < level <= end}
    return sorted(found)


def steps_at(place: float, _: object = None) -> str:
    """The number of steps at a position."""
    return f"{abs(place) + 0.5:,.0f}"


def size_of_summary(width: float | None = None) -> tuple[float, float]:
    """The preferred width and height in inches."""
    return (5.6, 3.8) if width is None else (width, min(max(0.62 * width, 3.2), 4.2))


@dataclass(frozen=True, eq=False)
class Summary:
    """The data of the picture.

    Attributes:
        problem: the problem.
        levels: the distances that occur, negative for answer 2, from left to right; 0 where no path leads to the other
            answer, once for each answer, and 0 for all where there are too many edges to follow.
        answers: the true answer at each of them.
        share: how many far distances share one place, which has the number of their middle; 1 if each has its own.
        counts: how many datasets each has.
        followed: whether distances are known; they are left out where there are too many edges to follow.
        quantiles: at each distance the least p, the quarter, the middle, three quarters, and the largest.
        bare: whether there is no mechanism: p is 1 or 0, by the true answer, and nothing is published.
        ringed: whether any dataset at this distance has a value that was given or chosen; without a mechanism, whether
            it is on the boundary.
        groups: for each dataset a number that is the same for those at the same distance, in the order of `levels`.
    """

    problem: Problem
    levels: NDArray[np.int64]
    answers: NDArray[np.int64]
    share: int
    followed: bool
    counts: NDArray[np.int64]
    quantiles: Floats
    bare: bool = False
    ringed: Mask | None = None
    groups: NDArray[np.int64] | None = None

    def columns_of(self, datasets: Sequence[int]) -> NDArray[np.int64]:
        """The places in `levels` of some datasets."""
        assert self.groups is not None
        return np.searchsorted(np.unique(self.groups), self.groups[np.array(datasets, dtype=np.int64)])

    def members(self, column: int) -> NDArray[np.int64]:
        """The datasets at a distance, by its place in `levels`."""
        assert self.groups is not None
        return np.flatnonzero(self.groups == np.unique(self.groups)[column])


def summary(problem: Problem, p: Floats, bare: bool = False, pinned: Mask | None = None) -> Summary:
    """Collects the data of the picture."""
    followed = problem.graph.arc_count <= MOST_ARCS
    steps = steps_to_the_other_answer(problem) if followed else np.full(problem.graph.size, NOWHERE)
    middle, share = merge_far(steps)
    columns = np.where(problem.answers == 1, 2 * middle + 1, -2 * middle)  # no path: 0 and 1
    order = np.lexsort((p, columns))
    found, starts, counts = np.unique(columns[order], return_index=True, return_counts=True)
    last = counts - 1
    places = np.stack([0 * last, last // 4, last // 2, last - last // 4, last], axis=1)  # the same for p and for 1 − p
    places += starts[:, None]
    quantiles = p[order][places]
    quantiles[:, 2] = (quantiles[:, 2] + p[order][starts + counts // 2]) / 2.0  # the mean of the two middle ones
    ringed = None if pinned is None else np.logical_or.reduceat(pinned[order], starts) if len(starts) else pinned
    answers = np.where(found % 2, 1, 2)
    return Summary(problem, found // 2, answers, share, followed, counts, quantiles, bare, ringed, columns)


def draw_summary(axes: Axes, shown: Summary, key: bool, alone: bool) -> None:
    """Draws bands of p by distance, and below them the number of datasets at each."""
    from matplotlib.ticker import NullLocator

    below = axes.inset_axes((0.0, -0.32, 1.0, 0.16), sharex=axes)
    _draw_bands(axes, below, shown)
    style_axes(axes, grid="y")
    style_axes(below, grid="y")
    if shown.levels.any():
        axes.axvline(0.0, **BOUNDARY)
    else:
        axes.set_xlim(-2.0, 2.0)
    axes.set_ylim(-0.06, 1.06)
    axes.tick_params(labelbottom=False)
    most = int(shown.counts.max(initial=1))
    power = 10 ** (len(str(most)) - 1)
    below.set_yscale("log")
    below.set_ylim(0.5, 1.6 * most)
    ticks = sorted({1, power})
    below.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
    below.yaxis.set_minor_locator(NullLocator())
    one, two = answer_names(shown.problem.about)
    closer = "" if is_even(shown) else f"\n{LOGARITHMIC_NOTE}"
    size = pluralize(shown.problem.graph.size, "dataset")
    label_axes(below, f"{x_label(shown, one, two)}{closer}\n{size}", "")
    disable_math(below.set_ylabel("datasets" if shown.share == 1 else "datasets\nper line", fontsize=USUAL, color=INK))
    if shown.bare:
        axes.set_yticks([0.0, 1.0], [two, one])
        disable_math(*axes.get_yticklabels())
    label_axes(axes, "", "the true answer\n(no mechanism)" if shown.bare else published_words(shown.problem.about))
    lay_out(axes)
    marks = spaced_ticks(tick_labels(shown), axes.get_xlim(), size_in_points(axes)[0])
    below.set_xticks([at for at, _ in marks], [word for _, word in marks])
    disable_math(*below.get_xticklabels())
    if key:
        add_legend_below(axes, *_legend_entries(shown, one, two))
    if alone:
        fit_height(axes, float(np.clip(0.5 * size_in_points(axes)[0], 125.0, 200.0)))


MARK = {1: "o", 2: "s"}  # of an answer, as in the network


def _draw_bands(axes: Axes, below: Axes, shown: Summary) -> None:
    places, lost = positions_of(shown), shown.levels == 0
    line = float(np.clip(170 / max(len(shown.levels), 1), 0.5, 7))
    lay_out(axes)
    span = float(np.ptp(places)) if len(places) else 0.0
    pitch = size_in_points(axes)[0] * float(np.diff(np.sort(places)).min(initial=1.0)) / (1.2 * span or 1.0)
    size = float(np.clip(0.55 * pitch, 2.0, 4.5))
    for answer, colour in ((2, TWO), (1, ONE)):
        for chosen in (lost & (shown.answers == answer), ~lost & (shown.answers == answer)):
            if not chosen.any():
                continue
            across, values = places[chosen], shown.quantiles[chosen]
            bands, along = values, across
            if len(across) == 1:  # a band needs some width
                bands, along = values[[0, 0]], across + np.array([-0.3, 0.3]) * room_aside(shown)
            if not shown.bare:
                axes.fill_between(along, bands[:, 0], bands[:, 4], color=colour, alpha=ALL_SHADE, linewidth=0)
                axes.fill_between(along, bands[:, 1], bands[:, 3], color=colour, alpha=HALF_SHADE, linewidth=0)
                axes.vlines(across, values[:, 0], values[:, 4], color=colour, linewidth=0.8, alpha=0.5)
            axes.plot(across, values[:, 2], color=colour, linewidth=1.1)
            ringed = np.zeros(len(across), dtype=bool) if shown.ringed is None else shown.ringed[chosen]
            marked = ringed | (pitch >= LEAST_PITCH)
            dots: dict[str, Any] = {"cmap": colour_map(), "vmin": 0.0, "vmax": 1.0, "marker": MARK[answer]}
            rims = {"facecolors": PAPER, "edgecolors": INK, "linewidths": 0.25 * size, "marker": MARK[answer]}
            axes.scatter(across[ringed], values[ringed, 2], s=(1.6 * size) ** 2, zorder=3, **rims)
            middle = values[marked, 2]
            axes.scatter(
                across[marked], middle, s=size**2, zorder=4, c=middle, edgecolors=INK, linewidths=0.12 * size, **dots
            )
            below.vlines(across, 0.5, shown.counts[chosen], color=colour, linewidth=line)


LEAST_PITCH = 4.0  # points: the distance of columns from which on each has a mark
ALL_SHADE, HALF_SHADE = 0.16, 0.38  # how opaque the bands are


def spaced_ticks(marks: list[tuple[float, str]], limits: tuple[float, float], width: float) -> list[tuple[float, str]]:
    """The ticks whose labels do not touch on an axis of a width in points; the nearest to 0, and those in words, stay.

    >>> spaced_ticks([(1.0, "1"), (2.0, "2"), (9.0, "no path")], (0.0, 10.0), 40.0)
    [(1.0, '1'), (9.0, 'no path')]
    """
    scale = width / (limits[1] - limits[0])
    kept: list[tuple[float, str]] = []
    for at, word in sorted(marks, key=lambda mark: (mark[1][:1].isdigit(), abs(mark[0]), mark[0])):
        half = text_size(word, SMALL)[0] / 2.0
        if all(abs(at - other) * scale > half + text_size(text, SMALL)[0] / 2.0 + 3.0 for other, text in kept):
            kept.append((at, word))
    return sorted(kept)


def x_label(shown: Summary, one: str, two: str) -> str:
    """The label of the horizontal axis."""
    if not shown.followed:
        return f"all datasets together ({shown.problem.graph.edge_count:,} edges are too many to count steps)"
    return f"steps to the other answer  (left: {two}, right: {one})"


def _legend_entries(shown: Summary, one: str, two: str) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    rows: list[tuple[Any, str]] = []
    what = "true answer" if shown.bare else "median, true answer"
    for answer, colour, name in ((2, TWO, two), (1, ONE, one)):
        if (shown.answers == answer).any():
            rim: dict[str, Any] = {"markeredgecolor": INK, "markeredgewidth": 0.6, "markersize": 4.5}
            rows.append((Line2D([], [], color=colour, marker=MARK[answer], linewidth=1.1, **rim), f"{what}: {name}"))
    if not shown.bare:
        rows.append((Patch(color=SOFT, alpha=1.0 - (1.0 - ALL_SHADE) * (1.0 - HALF_SHADE), linewidth=0), "middle half"))
        rows.append((Patch(color=SOFT, alpha=ALL_SHADE, linewidth=0), "all datasets"))
    if shown.levels.any():
        rows.append((Line2D([], [], **BOUNDARY), "boundary"))
    if shown.ringed is not None and shown.ringed.any():
        ring = {"linestyle": "none", "marker": "o", "color": PAPER, "markeredgecolor": INK, "markeredgewidth": 1.2}
        words = "on the boundary" if shown.bare else "some values given or chosen"
        rows.append((Line2D([], [], markersize=6.5, **ring), words))
    return [handle for handle, _ in rows], [words for _, words in rows]
