"""A map of tallies: p as colour over two counts, with a line where the answer changes; one count is a row of dots.

Problems are recognised as tallies if their datasets are counts that fill a line, a rectangle or a box, and neighbours
differ by one in one count. Of three or more counts, the map shows a slice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress
from math import prod
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError
from hetdp.plots.canvas import (
    LEAST_HEIGHT,
    SMALL,
    add_colour_bar,
    add_legend_below,
    answer_names,
    count_ticks,
    drawable_text,
    fit_height,
    label_axes,
    lay_out,
    published_words,
    size_in_points,
    style_axes,
    text_size,
    two_digits,
)
from hetdp.plots.colours import INK, PAPER, colour_map, text_colour_on
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Mask
from hetdp.text import did_you_mean, format_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_CELLS = 4_000_000
MOST_LABELS = 1 << 17  # the largest number of datasets whose labels are examined
UNNAMED = "coordinate "  # and its number
LEAST_SLICE = 3  # cells along each side of a slice that is worth drawing
COUNTS = re.compile(r"\d{1,6}(,\d{1,6}){1,9}", re.ASCII)


class Grid(NamedTuple):
    """A rectangle of datasets.

    Attributes:
        shape: how many rows and columns there are; one row if there is one count only.
        order: the dataset of each cell, row by row.
        names: the names of the counts of rows and of columns.
        fixed: with three or more counts, those that are the same in all cells, by name.
    """

    shape: tuple[int, int]
    order: NDArray[np.int64]
    names: tuple[str, str]
    fixed: Mapping[str, int]

    def of(self, values: Any) -> Any:
        """Arranges values of datasets: rows from bottom to top, columns from left to right."""
        return np.asarray(values)[self.order].reshape(self.shape)


class CountAxes(NamedTuple):
    """The names of the counts, and an array with one axis for each count that holds the datasets.

    Counts without a name of their own, such as the entries of a label, are called coordinate 1, coordinate 2, ….
    """

    names: tuple[str, ...]
    cells: NDArray[np.int64]


def grid_of(problem: Problem, at: Mapping[str, int] | None = None) -> Grid | None:
    """The rectangle of a problem of tallies, a slice if there are more than two counts; None for other problems.

    >>> import hetdp
    >>> problem = hetdp.spaces.tallies({"pupils": 3, "staff": 1}, hetdp.questions.majority(), 1)
    >>> grid_of(problem).shape, grid_of(problem).names
    ((2, 4), ('staff', 'pupils'))
    """
    found = by_counts(problem)
    return None if found is None else slice_of(problem, found, at)


def by_counts(problem: Problem) -> CountAxes | None:
    """The datasets of a problem by their counts; None if they are not tallies."""
    graph = problem.graph
    if not 0 < graph.size <= MOST_CELLS:
        return None
    if isinstance(graph, ProductSpace):
        if any(axis.shape != "count" for axis in graph.axes):
            return None
        names, shape = tuple(str(axis.name) for axis in graph.axes), graph.shape
        cells = np.arange(graph.size)
    else:
        counts = _counts(graph.datasets) if graph.size <= MOST_LABELS else None
        if counts is None or not _steps_by_one(problem, counts):
            return None
        names, shape = _names(problem, counts), tuple((counts.max(axis=0) + 1).tolist())
        cells = np.empty(graph.size, dtype=np.int64)
        cells[np.ravel_multi_index(tuple(counts.T), shape)] = np.arange(graph.size)
    if len(shape) > 2 and sorted(shape)[-2] < LEAST_SLICE:
        return None
    return CountAxes(names, cells.reshape(shape))


def slice_of(
    problem: Problem, found: CountAxes, at: Mapping[str, int] | None = None, through: int | None = None
) -> Grid:
    """A rectangle of two counts; the larger one is horizontal, and of equal ones the first.

    Args:
        problem: the problem.
        found: its datasets by counts.
        at: fixed counts, by name. The two largest of the others are shown, and the rest is as at `through`.
        through: a dataset; by default one in the middle of the boundary, so that both answers are visible.

    Raises:
        UsageError: a name or count is wrong, or fewer than two counts are left.
    """
    names, cells = found
    if len(names) == 1:
        return Grid((1, cells.size), cells, ("", names[0]), {})
    fixed = _fixed_counts(names, cells.shape, at or {})
    free = sorted((axis for axis in range(len(names)) if axis not in fixed), key=lambda axis: -cells.shape[axis])
    if len(free) > 2:
        if through is None:
            boundary = problem.boundary_mask.nonzero()[0]
            through = int(boundary[len(boundary) // 2]) if len(boundary) else 0
        here = np.argwhere(cells == through)[0]
        fixed |= {axis: int(here[axis]) for axis in free[2:]}
    one, other = sorted(free[:2])
    flat = cells[tuple(fixed.get(axis, slice(None)) for axis in range(len(names)))]
    if flat.shape[0] >= flat.shape[1]:
        flat, one, other = flat.T, other, one
    fixed_counts = {names[axis]: count for axis, count in sorted(fixed.items())}
    return Grid((flat.shape[0], flat.shape[1]), flat.ravel(), (names[one], names[other]), fixed_counts)


def _fixed_counts(names: tuple[str, ...], shape: tuple[int, ...], at: Mapping[str, Any]) -> dict[int, int]:
    """The fixed counts, by the number of their axis."""
    fixed: dict[int, int] = {}
    for name, count in at.items():
        if name not in names:
            rule = f"there are {', '.join(names)}"
            raise UsageError(f"there is no count of {format_value(name)}", rule, did_you_mean(name, names))
        axis = names.index(name)
        if isinstance(count, bool) or not isinstance(count, Integral) or not 0 <= int(count) < shape[axis]:
            raise UsageError(
                f"{name} = {format_value(count)}", f"it must be a whole number from 0 to {shape[axis] - 1}"
            )
        fixed[axis] = int(count)
    if at and len(names) - len(fixed) < 2:
        raise UsageError(f"{len(fixed)} of {len(names)} counts are fixed", "a map shows two counts: leave two out")
    return fixed


def _counts(labels: Any) -> NDArray[np.int64] | None:
    """Labels such as (3, 2) or "3,2" as counts, if they fill a box; None otherwise."""
    found: list[list[int]] = []
    for label in labels:
        if isinstance(label, str):
            row: Any = label.split(",") if COUNTS.fullmatch(label) else None
        else:
            row = label if isinstance(label, tuple) and len(label) > 1 and {*map(type, label)} == {int} else None
        if row is None or not all(0 <= int(count) <= MOST_CELLS for count in row):
            return None
        found.append([int(count) for count in row])
        if len(found[-1]) != len(found[0]):
            return None
    counts = np.array(found, dtype=np.int64)
    shape = tuple((counts.max(axis=0) + 1).tolist())
    if prod(shape) != len(counts):
        return None
    return counts if len(np.unique(np.ravel_multi_index(tuple(counts.T), shape))) == len(counts) else None


def _steps_by_one(problem: Problem, counts: NDArray[np.int64]) -> bool:
    """True if neighbours differ by one in one count."""
    source, target, *_ = problem.graph.edges()
    return bool((np.abs(counts[source] - counts[target]).sum(axis=1) == 1).all())


def _names(problem: Problem, counts: NDArray[np.int64]) -> tuple[str, ...]:
    """The class of the edges along each axis, if they all have the same, or else the number of the coordinate."""
    classes, found = problem.graph.edge_classes(), [f"{UNNAMED}{way + 1}" for way in range(counts.shape[1])]
    if classes is not None:
        source, target, *_ = problem.graph.edges()
        for way in range(counts.shape[1]):
            kinds = set(compress(classes, (counts[source, way] != counts[target, way]).tolist()))
            if len(kinds) == 1 and None not in kinds:
                found[way] = str(kinds.pop())
    return tuple(found)


LARGEST_ASPECT = 4.0  # cells are square unless one count is this many times as large as the other
MOST_FRAMED_CELLS = 400  # up to which cells are drawn with lines between them
FRAME_CORNERS = 0.36 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)])  # within a cell
MOST_MARKED, MOST_MARKED_SHARE = 20_000, 0.2  # given values that are marked where cells have no frames


@dataclass(frozen=True, eq=False)
class Tallies:
    """The data of the picture, as rectangles of cells: rows from bottom to top, columns from left to right.

    Attributes:
        problem: the problem.
        p: the probability of answer 1.
        answers: the true answers.
        pinned: which values were given or chosen.
        names: what rows and columns count.
        boundary: the pieces of the line between cells with different answers: piece, end, direction.
        fixed: with more than two counts, those that all cells share, by name.
        bare: whether p are true answers only.
    """

    problem: Problem
    p: Floats
    answers: Any
    pinned: Mask
    names: tuple[str, str]
    boundary: Floats
    fixed: Mapping[str, int]
    bare: bool

    @property
    def marks_given(self) -> bool:
        """True if given values are marked: there are some, and not so many that they would hide the colours."""
        count = int(np.count_nonzero(self.pinned))
        if self.p.size <= MOST_FRAMED_CELLS or not count:
            return count > 0
        few = count <= min(MOST_MARKED, MOST_MARKED_SHARE * self.p.size)
        return few and not self.bare and len(self.p) > 1  # otherwise the line marks the boundary

    def size(self, width: float | None = None) -> tuple[float, float]:
        """The preferred width and height in inches."""
        rows, columns = self.p.shape
        if rows == 1:
            return width or 5.0, 2.6
        across = min(max(0.42 * columns, 2.6), 5.2) if width is None else width - 1.3
        tall = across * rows / columns if columns <= LARGEST_ASPECT * rows else across / 2.0
        return across + 1.3, min(max(tall, 1.2), 5.0) + 0.9


def tallies(problem: Problem, grid: Grid, p: Floats, pinned: Mask, bare: bool) -> Tallies:
    """Collects the data of the picture."""
    answers = grid.of(problem.answers)
    cells = grid.of(p), answers, grid.of(pinned)
    return Tallies(problem, *cells, grid.names, boundary_line(answers), grid.fixed, bare)


def boundary_line(answers: Any) -> Floats:
    """The sides of cells between different answers.

    >>> boundary_line(np.array([[1, 2]])).tolist()
    [[[0.5, -0.5], [0.5, 0.5]]]
    """
    row, column = np.nonzero(answers[:, 1:] != answers[:, :-1])
    upright = np.stack([[column + 0.5, row - 0.5], [column + 0.5, row + 0.5]])
    row, column = np.nonzero(answers[1:] != answers[:-1])
    level = np.stack([[column - 0.5, row + 0.5], [column + 0.5, row + 0.5]])
    return np.concatenate([upright, level], axis=2).transpose(2, 0, 1).astype(np.float64)


def draw_tallies(axes: Axes, shown: Tallies, key: bool, alone: bool) -> None:
    """Draws a map, or dots along a line if there is only one count."""
    if shown.p.shape[0] == 1:
        _draw_dots(axes, shown)
        if key:
            add_legend_below(axes, *_legend_entries(shown, False))
        if alone:
            fit_height(axes, LEAST_HEIGHT + 20.0)
        return
    _draw_map(axes, shown)
    if key:
        if not shown.bare:
            add_colour_bar(axes, shown.problem.about)
        add_legend_below(axes, *_legend_entries(shown, False))
    _fit(axes, shown, alone)
    if not _add_cells(axes, shown):  # without numbers, the answers could not be told apart in shades of grey
        _hatch(axes, shown)
        if key:
            add_legend_below(axes, *_legend_entries(shown, True))
            _fit(axes, shown, alone)


def _fit(axes: Axes, shown: Tallies, alone: bool) -> None:
    """Makes a figure as tall as its only map needs."""
    lay_out(axes)
    if not alone:
        return
    figure: Any = axes.get_figure(root=True)
    rows, columns = shown.p.shape
    width = axes.get_position(original=True).width * 72.0 * figure.get_figwidth()
    height = width * (rows / columns if _is_square(shown) else 0.5)
    if height <= MOST_HEIGHT:  # cells become square by the height, or at least as tall as the labels need
        axes.set_aspect("auto")
    fit_height(axes, float(np.clip(height, LEAST_HEIGHT, MOST_HEIGHT)))


def _is_square(shown: Tallies) -> bool:
    """True if cells are drawn as squares."""
    rows, columns = shown.p.shape
    return bool(columns <= LARGEST_ASPECT * rows)


MOST_HEIGHT = 340.0  # points


def _hatch(axes: Axes, shown: Tallies) -> None:
    """Hatches the cells whose true answer is 2."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners, codes = [], []
    for row, answers in enumerate(shown.answers == 2):
        ends = np.flatnonzero(np.diff(np.concatenate([[0], answers.astype(np.int8), [0]])))
        for left, right in ends.reshape(-1, 2) - 0.5:
            corners += [(left, row - 0.5), (right, row - 0.5), (right, row + 0.5), (left, row + 0.5), (left, row - 0.5)]
            codes += [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    if corners:
        axes.add_patch(PathPatch(Path(corners, codes), **HATCHED))


HATCHED: dict[str, Any] = {"facecolor": "none", "edgecolor": INK, "hatch": "///", "linewidth": 0.0, "alpha": 0.55}


def _draw_map(axes: Axes, shown: Tallies) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.ticker import MaxNLocator

    rows, columns = shown.p.shape
    aspect: Any = "equal" if _is_square(shown) else "auto"
    colours: Any = {"cmap": colour_map(), "vmin": 0.0, "vmax": 1.0}
    if shown.p.size <= MOST_FRAMED_CELLS:
        sides = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
        axes.pcolormesh(*sides, shown.p, edgecolors=PAPER, linewidth=0.7, **colours)
        axes.set_aspect(aspect)
    else:
        axes.imshow(shown.p, aspect=aspect, origin="lower", interpolation="none", **colours)
    heavy = 2.2 if columns <= 60 else 1.2
    axes.add_collection(LineCollection(list(shown.boundary), colors=INK, linewidths=heavy, capstyle="projecting"))
    style_axes(axes)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
    axes.xaxis.set_major_locator(MaxNLocator(count_ticks(axes, columns), integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(8, integer=True))
    up, across = map(drawable_text, shown.names)
    fixed_words = ", ".join(f"{drawable_text(name)} = {count:,}" for name, count in shown.fixed.items())
    label_axes(
        axes, _axis_label(shown, across) + (f", where {fixed_words}" if fixed_words else ""), _axis_label(shown, up)
    )


def _axis_label(shown: Tallies, name: str) -> str:
    if name.startswith(UNNAMED):
        return name
    space = shown.problem.graph
    value = f" “{drawable_text(space.axes[0].values[0])}”" if isinstance(space, ProductSpace) else ""
    return f"{name} (how many{value})"


def _add_cells(axes: Axes, shown: Tallies) -> bool:
    """Marks cells with a given value and writes p, where there is room; returns whether p are written."""
    from matplotlib.collections import LineCollection

    rows, columns = shown.p.shape
    width, height = (size / count for size, count in zip(size_in_points(axes), (columns, rows), strict=True))
    framed = np.argwhere(shown.pinned) if shown.marks_given else np.empty((0, 2), dtype=np.int64)
    if min(width, height) < LEAST_CELL:
        side = max(0.5 * min(width, height), LEAST_MARK)
        style: Any = {"marker": "s", "facecolors": PAPER, "edgecolors": INK, "linewidths": 0.4, "rasterized": True}
        axes.scatter(framed[:, 1], framed[:, 0], s=side * side, zorder=3, **style)
        return False
    inks = [text_colour_on(float(shown.p[row, column])) for row, column in framed]
    axes.add_collection(
        LineCollection(list(framed[:, None, ::-1] + FRAME_CORNERS), colors=inks, linewidths=0.8, alpha=0.85)
    )
    if shown.bare:
        return False
    texts = {cell: two_digits(float(p)) for cell, p in np.ndenumerate(shown.p)}
    for points in (SMALL - 0.5, 6.0):
        if max(text_size(text, points)[0] for text in set(texts.values())) + 3.0 <= width and points + 2.0 <= height:
            for (row, column), text in texts.items():
                colour = text_colour_on(float(shown.p[row, column]))
                axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=points)
            return True
    return False


LEAST_CELL = 8.0  # points: the size of a cell that can be framed
LEAST_MARK = 1.6  # points: the size of the mark in a smaller cell


def _draw_dots(axes: Axes, shown: Tallies) -> None:
    from matplotlib.ticker import MaxNLocator

    p, counts = shown.p[0], np.arange(shown.p.shape[1])
    size = float(np.clip(900.0 / len(p), 2.0, 30.0))
    style_axes(axes, grid="y")
    for place in shown.boundary[:, 0, 0].tolist():
        axes.axvline(place, color=INK, linewidth=1.2)
    rims = np.where(shown.pinned[0], 1.3, 0.4)
    colours: Any = {"cmap": colour_map(), "vmin": 0.0, "vmax": 1.0, "edgecolors": INK}
    for answer, mark in MARKS.items():
        chosen = shown.answers[0] == answer
        lines = rims[chosen] * min(1.0, size / 20.0)
        axes.scatter(counts[chosen], p[chosen], s=size, c=p[chosen], marker=mark, linewidths=lines, zorder=3, **colours)
    axes.xaxis.set_major_locator(MaxNLocator(count_ticks(axes, len(p)), integer=True))
    axes.set_ylim(-0.04, 1.04)
    name = drawable_text(shown.names[1] or "dataset")
    label_axes(axes, _axis_label(shown, name), published_words(shown.problem.about))


MARKS = {2: "s", 1: "o"}  # by true answer, as in the network


def _legend_entries(shown: Tallies, hatched: bool) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    words = []
    is_map, names = shown.p.shape[0] > 1, dict(zip((1, 2), answer_names(shown.problem.about), strict=True))
    for answer, mark in MARKS.items():
        if (hatched or not is_map) and (shown.answers == answer).any():
            p = (1.0 if answer == 1 else 0.0) if shown.bare else 0.5
            colour = colour_map()(p)
            if is_map:
                handles.append(
                    Patch(**(HATCHED if answer == 2 else {"edgecolor": INK, "linewidth": 0.4}) | {"facecolor": colour})
                )
            else:
                rim = {"markeredgecolor": INK, "markeredgewidth": 0.5, "markersize": 5}
                handles.append(Line2D([], [], linestyle="none", marker=mark, color=colour, **rim))
            words.append(f"true answer: {names[answer]}")
    if len(shown.boundary):
        handles.append(Line2D([], [], color=INK, linewidth=2.0))
        words.append("boundary: the true answer changes")
    if shown.marks_given:
        mark = "s" if is_map else "o"
        rim = {"markeredgecolor": INK, "markeredgewidth": 1.0, "markersize": 6}
        handles.append(Line2D([], [], linestyle="none", marker=mark, color="none", **rim))
        words.append("on the boundary" if shown.bare else "value given or chosen")
    return handles, words
