"""What stands around the graph: distances below it, colours beside it, and what rings and widths mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hetdp.errors import counted
from hetdp.plots.canvas import calm, key_below, named, readable
from hetdp.plots.colours import HALF, INK, SOFT, TWO
from hetdp.plots.colours import ONE as BLUE
from hetdp.plots.shades import add_scale, answer_words
from hetdp.problem.space import Floats
from hetdp.problem.spelling import spelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hetdp.plots.network import Network

MOST_WIDTHS = 3  # different ε in the key; of more, the least and the largest


def add_key(axes: Axes, shown: Network, size: float, key: bool, steps_named: bool) -> None:
    """Sets the axes, and adds the key if one is wanted; it says what could not be written at the steps of a path."""
    _add_distances(axes, shown)
    if key:
        if not shown.bare:
            add_scale(axes, shown.problem.about)
        handles, words = _explained(shown, size, steps_named)
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


def _explained(shown: Network, size: float, steps_named: bool) -> tuple[list[Any], list[str]]:
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
    chosen, left_out = _widths(shown.epsilon, shown.widths)
    for value, width in chosen:
        style = (0, (1.0, 2.0)) if np.isinf(value) else "-"
        line = Line2D([], [], color=SOFT, linewidth=max(0.4, width * thinned(size)), linestyle=style)
        rank = "" if not left_out else ", the least" if value == chosen[0][0] else ", the largest"
        rows.append((line, f"{letter} = {'∞' if np.isinf(value) else f'{value:g}'}{rank}"))
    rows += [(Line2D([], [], linestyle="none"), words) for words in shown.beside]
    if shown.alone:
        frame = {"markersize": 7, "color": "none", "markeredgecolor": INK, "markeredgewidth": 1.8}
        rows.append((Line2D([], [], linestyle="none", marker="D", **frame), shown.alone))
    if len(shown.chain) > 1:
        ends = (shown.problem.graph.label(int(shown.chain[at])) for at in (0, -1))
        first, last = (readable(spelled(end, shown.problem.labels)) for end in ends)
        words = f"what {first} allows" if shown.bare else f"what binds {last}"
        rows.append((Line2D([], [], color=INK, linewidth=1.8), words + ("" if steps_named else _steps(shown, letter))))
        if shown.origin and not shown.bare:
            rows.append((Line2D([], [], linestyle="none"), f"{first} is {shown.origin}"))
    return [handle for handle, _ in rows], [words for _, words in rows]


def _steps(shown: Network, letter: str) -> str:
    """How long the path is, and its ε, where they cannot all be written at its steps."""
    found = [next(iter(edge.values())) for edge in shown.steps]
    values = f"{min(found):g}" if min(found) == max(found) else f"{min(found):g} … {max(found):g}"
    return f" ({counted(len(found), 'step')}, {letter} = {values})"


def _widths(epsilon: Floats, widths: Floats) -> tuple[list[tuple[float, float]], bool]:
    """Some ε that occur, the smallest first, with their widths; and whether there are more."""
    values, first = np.unique(epsilon, return_index=True)
    rows = list(zip(values.tolist(), widths[first].tolist(), strict=True))
    return (rows, False) if len(rows) <= MOST_WIDTHS else ([rows[0], rows[-1]], True)
