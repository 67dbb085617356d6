"""How large datasets are drawn, and what is written into them or beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hetdp.plots.canvas import SMALL, plain, readable, size_in_points
from hetdp.plots.colours import INK, PAPER, ink_on
from hetdp.plots.network import BEND, LARGEST
from hetdp.plots.shades import hundredths
from hetdp.problem.parameters import in_words
from hetdp.problem.spelling import spelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hetdp.plots.layout import Layout
    from hetdp.plots.network import Network

MOST_NAMES = 60
BROAD = 0.58  # how broad a character is, beside its size
SMALLEST = 2.6  # points: a dataset


def size_of_picture(layout: Layout) -> tuple[float, float]:
    """How many inches it likes to be wide and high."""
    return min(max(2.4 + 0.8 * columns_of(layout), 4.2), 6.6), min(max(1.5 + 0.62 * layout.tallest, 2.5), 4.8)


def diameter(axes: Axes, layout: Layout) -> float:
    """How large a dataset can be without touching the next one."""
    width, height = size_in_points(axes)
    across = 0.85 * width / columns_of(layout) * (1.0 if layout.lanes == 1 else 0.8 / layout.lanes)
    return float(np.clip(0.62 * min(across, 0.9 * height / layout.tallest), SMALLEST, LARGEST))


class Room:
    """Where words stand already, so that none are written over others."""

    def __init__(self, axes: Axes, layout: Layout) -> None:
        width, height = size_in_points(axes)
        self.unit = np.array([width / columns_of(layout), height / (1.0 + 1.0 / max(layout.tallest, 2))])
        self.taken = np.zeros((0, 4))

    def takes(self, across: float, up: float, above: float, words: str) -> bool:
        """Whether words fit whose middle is so many points above a place; if they do, their place is taken."""
        lines = words.split("\n")
        half = 0.5 * BROAD * SMALL * max(map(len, lines)) + 1.5, 0.6 * SMALL * len(lines)
        middle = np.array([across, up]) * self.unit + (0.0, above)
        box = np.concatenate([middle - half, middle + half])
        if ((box[:2] < self.taken[:, 2:]) & (self.taken[:, :2] < box[2:])).all(axis=1).any():
            return False
        self.taken = np.vstack([self.taken, box])
        return True


def columns_of(layout: Layout) -> float:
    """How many columns there are, as the breadth of the picture counts them."""
    return float(np.ptp(layout.across)) + 1.0 if len(layout.across) else 1.0


def add_names(axes: Axes, shown: Network, size: float) -> bool:
    """Labels and p: within the dataset if there is room, else below; of many datasets only those of the path.

    Returns:
        whether every step of the path has its ε written at it
    """
    few = len(shown.p) <= MOST_NAMES and size >= 9.0
    path = dict.fromkeys([*shown.chain[[-1, 0]].tolist(), *shown.chain.tolist()]) if len(shown.chain) else {}
    chosen = range(len(shown.p)) if few else path
    width, _ = size_in_points(axes)
    room, columns = Room(axes, shown.layout), columns_of(shown.layout)
    longest = max(3, int(0.9 * width / columns / (BROAD * SMALL)))
    for at in chosen:
        label = readable(spelled(shown.problem.graph.label(at), shown.problem.labels), min(longest, 24))
        value = shown.bounds.get(at, "") if shown.bare else hundredths(float(shown.p[at]))
        place = (shown.layout.across[at], shown.layout.up[at])
        if BROAD * SMALL * max(len(label), len(value)) <= 0.92 * size and size >= (20 if value else 11):
            style = {"color": ink_on(shown.p[at]), "va": "center", "linespacing": 1.05}
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
        plain(text)
    return _add_steps(axes, shown, room)


def _lines(label: str, value: str) -> str:
    return f"{label}\n{value}" if value else label


def _add_steps(axes: Axes, shown: Network, room: Room) -> bool:
    """The ε of each step of the path, in its middle, if there is room; whether there was for all of them."""
    layout, everywhere = shown.layout, True
    for start, end, edge in zip(shown.chain[:-1].tolist(), shown.chain[1:].tolist(), shown.steps, strict=True):
        words = in_words(tuple(edge), edge.values()).replace(", ", "\n")
        bent = 0.0 if layout.levels[start] != layout.levels[end] else BEND * abs(layout.up[start] - layout.up[end])
        place = (
            (layout.across[start] + layout.across[end]) / 2.0 + bent * float(np.sign(layout.levels[start])),
            (layout.up[start] + layout.up[end]) / 2.0,
        )
        if not room.takes(*place, 3.5 + SMALL / 2, words):
            everywhere = False
            continue
        plain(
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
