"""Sizes and texts of the network: how large datasets are, their labels, the labels of a path, distances and legend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hetdp.plots.canvas import (
    SMALL,
    add_colour_bar,
    add_legend_below,
    answer_names,
    disable_math,
    drawable_text,
    label_axes,
    size_in_points,
    style_axes,
    two_digits,
)
from hetdp.plots.colours import HALF, INK, PAPER, SOFT, TWO, text_colour_on
from hetdp.plots.colours import ONE as BLUE
from hetdp.plots.network import EDGE_BEND, LARGEST_DIAMETER
from hetdp.problem.parameters import describe_parameters
from hetdp.problem.space import Floats
from hetdp.problem.spelling import spell_label
from hetdp.text import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hetdp.plots.layout import Layout
    from hetdp.plots.network import Network


MOST_NAMES = 60
CHARACTER_WIDTH = 0.58  # the width of a character divided by its size
SMALLEST_DIAMETER = 2.6  # points: the diameter of a dataset


def size_of_picture(layout: Layout) -> tuple[float, float]:
    """The preferred width and height in inches."""
    return min(max(2.4 + 0.8 * columns_of(layout), 4.2), 6.6), min(max(1.5 + 0.62 * layout.tallest, 2.5), 4.8)


def diameter(axes: Axes, layout: Layout) -> float:
    """The largest diameter at which datasets do not touch."""
    width, height = size_in_points(axes)
    across = 0.85 * width / columns_of(layout) * (1.0 if layout.lanes == 1 else 0.8 / layout.lanes)
    return float(np.clip(0.62 * min(across, 0.9 * height / layout.tallest), SMALLEST_DIAMETER, LARGEST_DIAMETER))


class OccupiedSpace:
    """The places that texts occupy, so that none is written over another."""

    def __init__(self, axes: Axes, layout: Layout) -> None:
        width, height = size_in_points(axes)
        self.unit = np.array([width / columns_of(layout), height / (1.0 + 1.0 / max(layout.tallest, 2))])
        self.taken = np.zeros((0, 4))

    def takes(self, across: float, up: float, above: float, words: str) -> bool:
        """True if a text fits whose middle is some points above a place; then its place is occupied."""
        lines = words.split("\n")
        half = 0.5 * CHARACTER_WIDTH * SMALL * max(map(len, lines)) + 1.5, 0.6 * SMALL * len(lines)
        middle = np.array([across, up]) * self.unit + (0.0, above)
        box = np.concatenate([middle - half, middle + half])
        if ((box[:2] < self.taken[:, 2:]) & (self.taken[:, :2] < box[2:])).all(axis=1).any():
            return False
        self.taken = np.vstack([self.taken, box])
        return True


def columns_of(layout: Layout) -> float:
    """The number of columns, which determines the width of the picture."""
    return float(np.ptp(layout.across)) + 1.0 if len(layout.across) else 1.0


def add_names(axes: Axes, shown: Network, size: float) -> bool:
    """Adds labels and p, inside a dataset if there is room, else below; for many datasets, only along the path.

    Returns:
        whether every step of the path has its ε written at it
    """
    few = len(shown.p) <= MOST_NAMES and size >= 9.0
    path = dict.fromkeys([*shown.chain[[-1, 0]].tolist(), *shown.chain.tolist()]) if len(shown.chain) else {}
    chosen = range(len(shown.p)) if few else path
    width, _ = size_in_points(axes)
    room, columns = OccupiedSpace(axes, shown.layout), columns_of(shown.layout)
    longest = max(3, int(0.9 * width / columns / (CHARACTER_WIDTH * SMALL)))
    for at in chosen:
        label = drawable_text(spell_label(shown.problem.graph.label(at), shown.problem.labels), min(longest, 24))
        value = shown.bounds.get(at, "") if shown.bare else two_digits(float(shown.p[at]))
        place = (shown.layout.across[at], shown.layout.up[at])
        if CHARACTER_WIDTH * SMALL * max(len(label), len(value)) <= 0.92 * size and size >= (20 if value else 11):
            style = {"color": text_colour_on(shown.p[at]), "va": "center", "linespacing": 1.05}
            text = axes.annotate(_lines(label, value), place, ha="center", fontsize=SMALL, zorder=6, **style)
        elif few or room.takes(*place, -size / 2 - 3.5 - SMALL, _lines(label, value)):
            text = axes.annotate(
                _lines(label, value),
                place,
                (0.0, -size / 2 - (6.0 if shown.ringed[at] else 3.5)),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=SMALL - 0.5,
                color=INK,
                zorder=6,
                bbox={"boxstyle": "square,pad=0.08", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.75},
            )
        else:
            continue
        disable_math(text)
    return _add_steps(axes, shown, room)


def _lines(label: str, value: str) -> str:
    return f"{label}\n{value}" if value else label


def _add_steps(axes: Axes, shown: Network, room: OccupiedSpace) -> bool:
    """Adds the ε of each step of the path if there is room; true if there was room for all."""
    layout, everywhere = shown.layout, True
    for start, end, edge in zip(shown.chain[:-1].tolist(), shown.chain[1:].tolist(), shown.steps, strict=True):
        words = describe_parameters(tuple(edge), edge.values()).replace(", ", "\n")
        bent = 0.0 if layout.levels[start] != layout.levels[end] else EDGE_BEND * abs(layout.up[start] - layout.up[end])
        place = (
            (layout.across[start] + layout.across[end]) / 2.0 + bent * float(np.sign(layout.levels[start])),
            (layout.up[start] + layout.up[end]) / 2.0,
        )
        if not room.takes(*place, 3.5 + SMALL / 2, words):
            everywhere = False
            continue
        disable_math(
            axes.annotate(
                words,
                place,
                (0.0, 3.5),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=SMALL - 0.5,
                color=INK,
                zorder=7,
                bbox={"boxstyle": "round,pad=0.1", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.8},
            )
        )
    return everywhere


MOST_WIDTHS = 3  # different ε in the legend; of more, only the smallest and the largest


def add_legend(axes: Axes, shown: Network, size: float, key: bool, steps_named: bool) -> None:
    """Sets the axes and adds the legend; it lists the steps of the path that could not be labelled."""
    _add_distances(axes, shown)
    if key:
        if not shown.bare:
            add_colour_bar(axes, shown.problem.about)
        handles, words = _legend_entries(shown, size, steps_named)
        add_legend_below(axes, handles, words, columns=len(words) if len(words) <= 4 else -(-len(words) // 2))


def _add_distances(axes: Axes, shown: Network) -> None:
    layout = shown.layout
    style_axes(axes)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    levels = np.unique(layout.levels)
    far = max(1, -(-len(levels) // 15))
    ticks = [level for level in levels.tolist() if (far == 1 and abs(level) == 1) or level % far == 0]
    words = ["no path" if layout.nowhere and abs(level) == layout.nowhere else str(abs(level)) for level in ticks]
    axes.set_xticks([level - 0.5 * np.sign(level) for level in ticks], words)
    both = levels.min(initial=0) < 0 < levels.max(initial=0)
    if both:
        axes.axvline(0.0, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)
    label_axes(axes, f"steps to the other answer{_sides(shown) if both else ''}")
    room = 0.55 if len(shown.p) > 1 else 1.0
    axes.set_xlim(layout.across.min(initial=0.0) - room, layout.across.max(initial=0.0) + room)
    room = max(0.5 / max(layout.tallest, 2), 0.03)
    axes.set_ylim(-0.5 - room, 0.5 + room)


def _sides(shown: Network) -> str:
    one, two = answer_names(shown.problem.about)
    return f"  (left: {two}, right: {one})"


def _legend_entries(shown: Network, size: float, steps_named: bool) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    from hetdp.plots.network import line_width

    def mark(shape: str, colour: str, **more: Any) -> Line2D:
        return Line2D([], [], linestyle="none", marker=shape, color=colour, markeredgecolor=INK, markersize=6, **more)

    one, two = answer_names(shown.problem.about)
    rows: list[tuple[Any, str]] = []
    for answer, shape, colour, words in ((2, "s", TWO, two), (1, "o", BLUE, one)):
        if (shown.problem.answers == answer).any():
            rows.append((mark(shape, colour if shown.bare else HALF, markeredgewidth=0.7), f"true answer: {words}"))
    if shown.ringed.any():
        ring = Line2D([], [], linestyle="none", marker="o", color="white", markeredgecolor=INK, markeredgewidth=1.3)
        rows.append((ring, "on the boundary" if shown.bare else "value given or chosen"))
    letter = shown.problem.notion.main.letter
    chosen, left_out = _widths(shown.epsilon, shown.widths)
    for value, width in chosen:
        style = (0, (1.0, 2.0)) if np.isinf(value) else "-"
        line = Line2D([], [], color=SOFT, linewidth=max(0.4, width * line_width(size)), linestyle=style)
        rank = "" if not left_out else ", smallest" if value == chosen[0][0] else ", largest"
        rows.append((line, f"{letter} = {'∞' if np.isinf(value) else f'{value:g}'}{rank}"))
    rows += [(Line2D([], [], linestyle="none"), words) for words in shown.beside]
    if shown.alone:
        frame = {"markersize": 7, "color": "none", "markeredgecolor": INK, "markeredgewidth": 1.8}
        rows.append((Line2D([], [], linestyle="none", marker="D", **frame), shown.alone))
    if len(shown.chain) > 1:
        ends = (shown.problem.graph.label(int(shown.chain[at])) for at in (0, -1))
        first, last = (drawable_text(spell_label(end, shown.problem.labels)) for end in ends)
        words = f"bounds from {first}" if shown.bare else f"path that binds {last}"
        rows.append((Line2D([], [], color=INK, linewidth=1.8), words + ("" if steps_named else _steps(shown, letter))))
        if shown.origin and not shown.bare:
            rows.append((Line2D([], [], linestyle="none"), f"{first} is {shown.origin}"))
    return [handle for handle, _ in rows], [words for _, words in rows]


def _steps(shown: Network, letter: str) -> str:
    """The length of the path and its ε, if they cannot all be written at its steps."""
    found = [next(iter(edge.values())) for edge in shown.steps]
    values = f"{min(found):g}" if min(found) == max(found) else f"{min(found):g} … {max(found):g}"
    return f" ({pluralize(len(found), 'step')}, {letter} = {values})"


def _widths(epsilon: Floats, widths: Floats) -> tuple[list[tuple[float, float]], bool]:
    """Some of the ε with their line widths, the smallest first; and whether there are more."""
    values, first = np.unique(epsilon, return_index=True)
    rows = list(zip(values.tolist(), widths[first].tolist(), strict=True))
    return (rows, False) if len(rows) <= MOST_WIDTHS else ([rows[0], rows[-1]], True)
