"""What stands around the graph: distances below it, colours beside it, and what rings and widths mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hetdp.plots.canvas import calm, key_below, named, readable
from hetdp.plots.colours import HALF, INK, SOFT, TWO
from hetdp.plots.colours import ONE as BLUE
from hetdp.plots.shades import add_scale, answer_words
from hetdp.problem.space import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hetdp.plots.network import Network

MOST_WIDTHS = 3  # different ε in the key; of more, the least and the largest


def add_key(axes: Axes, shown: Network, size: float, key: bool) -> None:
    """Sets the axes, and adds the key if one is wanted."""
    _add_distances(axes, shown)
    if key:
        if not shown.bare:
            add_scale(axes, shown.problem.about)
        handles, words = _explained(shown, size)
        key_below(axes, handles, words, columns=len(words) if len(words) <= 4 else -(-len(words) // 2))


def _add_distances(axes: Axes, shown: Network) -> None:
    layout = shown.layout
    calm(axes)
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
    named(axes, f"steps to the other answer{_sides(shown) if both else ''}")
    room = 0.55 if len(shown.p) > 1 else 1.0
    axes.set_xlim(layout.across.min(initial=0.0) - room, layout.across.max(initial=0.0) + room)
    room = max(0.5 / max(layout.tallest, 2), 0.03)
    axes.set_ylim(-0.5 - room, 0.5 + room)


def _sides(shown: Network) -> str:
    one, two = answer_words(shown.problem.about)
    return f"  (left: {two}, right: {one})"


def _explained(shown: Network, size: float) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    from hetdp.plots.network import thinned

    def mark(shape: str, colour: str, **more: Any) -> Line2D:
        return Line2D([], [], linestyle="none", marker=shape, color=colour, markeredgecolor=INK, markersize=6, **more)

    one, two = answer_words(shown.problem.about)
    rows: list[tuple[Any, str]] = []
    for answer, shape, colour, words in ((2, "s", TWO, two), (1, "o", BLUE, one)):
        if (shown.problem.answers == answer).any():
            rows.append((mark(shape, colour if shown.bare else HALF, markeredgewidth=0.7), f"truly {words}"))
    if shown.ringed.any():
        ring = Line2D([], [], linestyle="none", marker="o", color="white", markeredgecolor=INK, markeredgewidth=1.3)
        rows.append((ring, "on the boundary" if shown.bare else "value given or chosen"))
    letter = "μ" if shown.problem.graph.parameter_names[0] == "mu" else "ε"
    for value, width in _widths(shown.epsilon, shown.widths):
        style = (0, (1.0, 2.0)) if np.isinf(value) else "-"
        line = Line2D([], [], color=SOFT, linewidth=max(0.4, width * thinned(size)), linestyle=style)
        rows.append((line, f"{letter} = {'∞' if np.isinf(value) else f'{value:g}'}"))
    if len(shown.chain) > 1:
        first, last = (readable(shown.problem.graph.label(int(shown.chain[at]))) for at in (0, -1))
        words = f"what {first} allows" if shown.bare else f"what binds {last}"
        rows.append((Line2D([], [], color=INK, linewidth=1.8), words))
    return [handle for handle, _ in rows], [words for _, words in rows]


def _widths(epsilon: Floats, widths: Floats) -> list[tuple[float, float]]:
    """Some ε that occur, the smallest first, with their widths."""
    values, first = np.unique(epsilon, return_index=True)
    rows = list(zip(values.tolist(), widths[first].tolist(), strict=True))
    return rows if len(rows) <= MOST_WIDTHS else [rows[0], rows[-1]]
