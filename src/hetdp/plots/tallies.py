"""Tallies as a map: a cell for each pair of counts, the colour is p, and a line runs where the answer changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hetdp.plots.canvas import SMALL, calm, key_below, named, readable, size_in_points
from hetdp.plots.colours import INK, PAPER, ink_on, scale
from hetdp.plots.grid import Grid
from hetdp.plots.shades import add_scale, answer_words, hundredths
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SQUARE = 4.0  # cells are squares unless one count is so many times as large as the other
MOST_CELLS = 400  # that are drawn one by one, with lines between them
FRAME = 0.36 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)])  # within a cell
NAMELESS = ("second count", "first count")


@dataclass(frozen=True, eq=False)
class Tallies:
    """What the picture shows, each as a rectangle of cells: rows from bottom to top, columns from left to right.

    Attributes:
        problem: the problem.
        p: the probability of answer 1.
        answers: the true answers.
        pinned: which values were given or chosen.
        names: what rows and columns count.
        boundary: the pieces of the line between cells with different answers: piece, end, direction.
        fixed: where there are more than two counts, those that all cells share, by name.
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
    def size(self) -> tuple[float, float]:
        """How many inches the picture likes to be wide and high."""
        rows, columns = self.p.shape
        if rows == 1:
            return 5.0, 2.6
        across = min(max(0.42 * columns, 2.6), 5.2)
        tall = across * rows / columns if columns <= SQUARE * rows else across / 2.0
        return across + 1.3, min(max(tall, 1.2), 5.0) + 0.9


def tallies(problem: Problem, grid: Grid, p: Floats, pinned: Mask, bare: bool) -> Tallies:
    """Gathers what the picture shows."""
    answers = grid.of(problem.answers)
    cells = grid.of(p), answers, grid.of(pinned)
    return Tallies(problem, *cells, grid.names, boundary_line(answers), grid.fixed, bare)


def boundary_line(answers: Any) -> Floats:
    """The sides of cells across which the answer changes.

    >>> boundary_line(np.array([[1, 2]])).tolist()
    [[[0.5, -0.5], [0.5, 0.5]]]
    """
    row, column = np.nonzero(answers[:, 1:] != answers[:, :-1])
    upright = np.stack([[column + 0.5, row - 0.5], [column + 0.5, row + 0.5]])
    row, column = np.nonzero(answers[1:] != answers[:-1])
    level = np.stack([[column - 0.5, row + 0.5], [column + 0.5, row + 0.5]])
    return np.concatenate([upright, level], axis=2).transpose(2, 0, 1).astype(np.float64)


def draw_tallies(axes: Axes, shown: Tallies, key: bool) -> None:
    """Draws it: as a map, or as dots over a line of counts where there is one count only."""
    if shown.p.shape[0] == 1:
        _draw_dots(axes, shown)
    else:
        _draw_map(axes, shown)
    if key:
        if shown.p.shape[0] > 1 and not shown.bare:
            add_scale(axes, shown.problem.about)
        key_below(axes, *_explained(shown))


def _draw_map(axes: Axes, shown: Tallies) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.ticker import MaxNLocator

    rows, columns = shown.p.shape
    aspect: Any = "equal" if columns <= SQUARE * rows else "auto"
    colours: Any = {"cmap": scale(), "vmin": 0.0, "vmax": 1.0}
    if shown.p.size <= MOST_CELLS:
        sides = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
        axes.pcolormesh(*sides, shown.p, edgecolors=PAPER, linewidth=0.7, **colours)
        axes.set_aspect(aspect)
    else:
        axes.imshow(shown.p, aspect=aspect, origin="lower", interpolation="none", **colours)
    heavy = 2.2 if columns <= 60 else 1.2
    axes.add_collection(LineCollection(list(shown.boundary), colors=INK, linewidths=heavy, capstyle="projecting"))
    calm(axes)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
    axes.xaxis.set_major_locator(MaxNLocator(12, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(8, integer=True))
    up, across = (readable(name or other) for name, other in zip(shown.names, NAMELESS, strict=True))
    said = ", ".join(f"{readable(name)} = {count:,}" for name, count in shown.fixed.items())
    named(axes, _counted(shown, across) + (f", where {said}" if said else ""), _counted(shown, up))
    _add_cells(axes, shown)


def _counted(shown: Tallies, name: str) -> str:
    if name in NAMELESS:
        return name
    space = shown.problem.graph
    value = f" “{readable(space.axes[0].values[0])}”" if isinstance(space, ProductSpace) else ""
    return f"{name} (how many{value})"


def _add_cells(axes: Axes, shown: Tallies) -> None:
    """p in each cell, and a frame around those with a given value; if there is room."""
    from matplotlib.collections import LineCollection

    rows, columns = shown.p.shape
    width, height = size_in_points(axes)
    if width / columns < 15.0 or height / rows < 9.0:
        return
    framed = np.argwhere(shown.pinned)
    inks = [ink_on(float(shown.p[row, column])) for row, column in framed]
    axes.add_collection(LineCollection(list(framed[:, None, ::-1] + FRAME), colors=inks, linewidths=0.8, alpha=0.85))
    if not shown.bare and width / columns >= 18.0:
        for (row, column), p in np.ndenumerate(shown.p):
            style = {"color": ink_on(p), "fontsize": SMALL - 0.5}
            axes.text(column, row, hundredths(float(p)), ha="center", va="center", **style)


def _draw_dots(axes: Axes, shown: Tallies) -> None:
    from matplotlib.ticker import MaxNLocator

    p, counts = shown.p[0], np.arange(shown.p.shape[1])
    size = float(np.clip(900.0 / len(p), 2.0, 30.0))
    calm(axes, grid="y")
    for place in shown.boundary[:, 0, 0].tolist():
        axes.axvline(place, color=INK, linewidth=1.2)
    rims = np.where(shown.pinned[0], 1.3, 0.4)
    colours: Any = {"c": p, "cmap": scale(), "vmin": 0.0, "vmax": 1.0, "edgecolors": INK}
    axes.scatter(counts, p, s=size, linewidths=rims * min(1.0, size / 20.0), zorder=3, **colours)
    axes.xaxis.set_major_locator(MaxNLocator(12, integer=True))
    axes.set_ylim(-0.04, 1.04)
    name = readable(shown.names[1] or "dataset")
    named(axes, _counted(shown, name), f"probability that\n“{answer_words(shown.problem.about)[0]}” is published")


def _explained(shown: Tallies) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    handles: list[Any] = []
    words = []
    if len(shown.boundary):
        handles.append(Line2D([], [], color=INK, linewidth=2.0))
        words.append("where the true answer changes")
    if shown.pinned.any() and shown.p.size <= MOST_CELLS:
        mark = "s" if shown.p.shape[0] > 1 else "o"
        rim = {"markeredgecolor": INK, "markeredgewidth": 1.0, "markersize": 6}
        handles.append(Line2D([], [], linestyle="none", marker=mark, color="none", **rim))
        words.append("on the boundary" if shown.bare else "value given or chosen")
    return handles, words
