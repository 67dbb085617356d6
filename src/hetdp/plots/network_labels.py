"""The texts around a network and on it: the axis of distances, the legend, the labels of datasets and of a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hetdp.plots.arrangement import FRAME, SPACING
from hetdp.plots.canvas import (
    BOUNDARY,
    SMALL,
    add_colour_bar,
    add_legend_below,
    answer_names,
    disable_math,
    distinct_texts,
    label_axes,
    size_in_points,
    style_axes,
    text_size,
)
from hetdp.plots.colours import HALF, INK, PAPER, SOFT, TWO, text_colour_on
from hetdp.plots.colours import ONE as BLUE
from hetdp.problem.space import Floats
from hetdp.text import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hetdp.plots.arrangement import Arrangement
    from hetdp.plots.layout import Layout
    from hetdp.plots.network import Network


def size_of_picture(layout: Layout, width: float | None = None) -> tuple[float, float]:
    """The width in inches, by default one that suits the columns, and a height to begin with."""
    usual = 5.6 if layout.given else min(max(2.4 + 0.8 * columns_of(layout), 4.2), 6.6)
    return width or usual, 3.6


def columns_of(layout: Layout) -> float:
    """The number of columns, which determines the width of the picture."""
    return float(np.ptp(layout.across)) + 1.0 if len(layout.across) else 1.0


def add_notes(axes: Axes, shown: Network, arranged: Arrangement) -> None:
    """Writes the labels of datasets, and at each step of a path what it promises."""
    for note in [*arranged.names, *filter(None, arranged.steps)]:
        style: dict[str, Any] = {"fontsize": note.points, "color": INK, "linespacing": SPACING}
        if note.inside >= 0:
            style["color"] = text_colour_on(shown.p[note.inside])
        else:
            style["bbox"] = {"boxstyle": "square,pad=0.05", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.75}
        place = (note.x, note.y), (note.right, note.above)
        text = axes.annotate(note.text, *place, textcoords="offset points", ha="center", va="center", **style, zorder=6)
        disable_math(text)


TICK_GAP = 6.0  # points between the labels of two distances


def add_distances(axes: Axes, shown: Network) -> None:
    """Labels the columns with their distances, as many as there is room for, and draws the boundary."""
    style_axes(axes)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    layout = shown.layout
    if layout.given:
        axes.spines["bottom"].set_visible(False)
        axes.set_xticks([])
        return
    levels = np.unique(layout.levels)
    pitch = size_in_points(axes)[0] / columns_of(layout)
    words = {level: _distance_words(layout, level) for level in levels.tolist()}
    widest = max((text_size(word, SMALL)[0] for word in words.values()), default=0.0)
    gap = max(1, int(-(-(widest + TICK_GAP) // pitch)))
    ticks = [level for level in words if (gap == 1 and abs(level) == 1) or level % gap == 0]
    axes.set_xticks([level - 0.5 * np.sign(level) for level in ticks], [words[level] for level in ticks])
    if is_divided(shown):
        axes.axvline(0.0, **BOUNDARY, zorder=0)
    sides = "(left: {1}, right: {0})".format(*answer_names(shown.problem.about)) if is_divided(shown) else ""
    label_axes(axes, f"steps to the other answer  {sides}".rstrip())


def is_divided(shown: Network) -> bool:
    """True if the boundary is drawn: there are both answers, in columns by distance."""
    levels = shown.layout.levels
    return not shown.layout.given and bool(levels.min(initial=0) < 0 < levels.max(initial=0))


def _distance_words(layout: Layout, level: int) -> str:
    return "no\npath" if layout.nowhere and abs(level) == layout.nowhere else str(abs(level))


MOST_WIDTHS = 3  # different ε in the legend; of more, only the smallest and the largest


def add_legend(axes: Axes, shown: Network, key: bool) -> None:
    """Adds the legend, with lines as thick as for the largest datasets."""
    if key:
        if not shown.bare:
            add_colour_bar(axes, shown.problem.about)
        add_legend_below(axes, *_legend_entries(shown))


def thin_legend(axes: Axes, factor: float) -> None:
    """Draws the edges in the legend as thin as those in the picture."""
    legend = axes.get_legend()
    for line in [] if legend is None else legend.get_lines():
        if line.get_color() == SOFT:
            line.set_linewidth(max(0.4, line.get_linewidth() * factor))


def _legend_entries(shown: Network) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    def mark(shape: str, colour: str, **more: Any) -> Line2D:
        return Line2D([], [], linestyle="none", marker=shape, color=colour, markeredgecolor=INK, markersize=6, **more)

    one, two = answer_names(shown.problem.about)
    rows: list[tuple[Any, str]] = []
    for answer, shape, colour, words in ((2, "s", TWO, two), (1, "o", BLUE, one)):
        if (shown.problem.answers == answer).any():
            rows.append((mark(shape, colour if shown.bare else HALF, markeredgewidth=0.7), f"true answer: {words}"))
    if is_divided(shown):
        rows.append((Line2D([], [], **BOUNDARY), "boundary"))
    if shown.ringed.any():
        ring = Line2D([], [], linestyle="none", marker="o", color="white", markeredgecolor=INK, markeredgewidth=1.3)
        rows.append((ring, "on the boundary" if shown.bare else "value given or chosen"))
    letter = shown.problem.notion.main.letter
    chosen, left_out = _widths(shown.epsilon, shown.widths)
    for value, width in chosen:
        style = (0, (1.0, 2.0)) if np.isinf(value) else "-"
        line = Line2D([], [], color=SOFT, linewidth=width, linestyle=style)
        rank = "" if not left_out else ", smallest" if value == chosen[0][0] else ", largest"
        rows.append((line, f"{letter} = {'∞' if np.isinf(value) else f'{value:g}'}{rank}"))
    rows += [(Line2D([], [], linestyle="none"), words) for words in shown.beside]
    if shown.alone:
        frame = {"markersize": FRAME, "color": "none", "markeredgecolor": INK, "markeredgewidth": 2.0}
        at = "o" if shown.problem.answers[shown.chain[0]] == 1 else "s"
        rows.append((Line2D([], [], linestyle="none", marker=at, **frame), shown.alone))
    if len(shown.chain) > 1:
        first, last = distinct_texts([shown.labels[at] for at in shown.chain[[0, -1]].tolist()])
        words = f"bounds from {first}" if shown.bare else f"path that binds {last}"
        rows.append((Line2D([], [], color=INK, linewidth=1.8), words + _steps(shown, letter)))
        if shown.origin and not shown.bare:
            rows.append((Line2D([], [], linestyle="none"), f"{first} is {shown.origin}"))
    return [handle for handle, _ in rows], [words for _, words in rows]


def _steps(shown: Network, letter: str) -> str:
    """The length of the path and its ε, since they cannot always be written at its steps."""
    found = [next(iter(edge.values())) for edge in shown.steps]
    values = f"{min(found):g}" if min(found) == max(found) else f"{min(found):g} … {max(found):g}"
    return f" ({pluralize(len(found), 'step')}, {letter} = {values})"


def _widths(epsilon: Floats, widths: Floats) -> tuple[list[tuple[float, float]], bool]:
    """Some of the ε with their line widths, the smallest first; and whether there are more."""
    values, first = np.unique(epsilon, return_index=True)
    rows = list(zip(values.tolist(), widths[first].tolist(), strict=True))
    return (rows, False) if len(rows) <= MOST_WIDTHS else ([rows[0], rows[-1]], True)
