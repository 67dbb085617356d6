"""Accuracy as curves: ours in colour and in front, baselines in grey; those that coincide are drawn once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hetdp.plots.canvas import SMALL, calm, plain, readable
from hetdp.plots.colours import DASHES, INK, LINES, MARKS
from hetdp.problem.space import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAME = 1e-9  # in accuracy: what cannot be told apart by looking
GREYS = ("#55595e", "#7d8288", "#9aa0a6")
MOST_MARKS = 25
MOST_NAMES = 3
SIZE = (5.6, 3.3)


class Curve(NamedTuple):
    """One line of the picture.

    Attributes:
        names: what it shows; several if they coincide.
        baseline: whether it is there for comparison only.
        across: distances or margins.
        accuracy: the probability of the right answer at each.
    """

    names: tuple[str, ...]
    baseline: bool
    across: Floats
    accuracy: Floats

    @property
    def words(self) -> str:
        """The names in one line."""
        shown = [readable(name, 30) for name in self.names[:MOST_NAMES]]
        more = len(self.names) - len(shown)
        return " / ".join(shown) + (f" and {more} more" if more else "")


def merged(curves: Iterable[Curve]) -> list[Curve]:
    """The same curves, those of one kind that coincide as one.

    >>> x, y = np.array([1.0, 2.0]), np.array([0.6, 0.8])
    >>> [curve.names for curve in merged([Curve(("a",), False, x, y), Curve(("b",), False, x, y + 1e-12)])]
    [('a', 'b')]
    """
    found: list[Curve] = []
    for curve in curves:
        for at, other in enumerate(found):
            if other.baseline == curve.baseline and _coincide(other, curve):
                found[at] = other._replace(names=other.names + curve.names)
                break
        else:
            found.append(curve)
    return found


def _coincide(one: Curve, other: Curve) -> bool:
    return np.array_equal(one.across, other.across) and bool(
        np.allclose(one.accuracy, other.accuracy, rtol=0.0, atol=SAME, equal_nan=True)
    )


def draw_curves(axes: Axes, curves: list[Curve], key: bool) -> None:
    """Draws them, with their names beside the picture."""
    from matplotlib.ticker import PercentFormatter

    calm(axes, grid="both")
    ours = [curve for curve in curves if not curve.baseline]
    others = [curve for curve in curves if curve.baseline]
    drawn = [(curve, _line(axes, curve, at)) for at, curve in enumerate(ours)]
    drawn += [(curve, _line(axes, curve, at)) for at, curve in enumerate(others)]
    lowest = min(
        (float(np.nanmin(curve.accuracy)) for curve in curves if np.isfinite(curve.accuracy).any()), default=0.5
    )
    axes.set_ylim(min(0.48, lowest - 0.02), 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    if key and drawn:
        middle = float(np.median(np.concatenate([curve.across for curve in curves])))
        drawn.sort(key=lambda pair: -_height(pair[0], middle))  # as the curves are
        legend = axes.legend(
            [line for _, line in drawn],
            ["-"] * len(drawn),
            loc="center left",
            bbox_to_anchor=(1.01, 0.5),
            frameon=False,
            fontsize=SMALL,
            handlelength=2.6,
            labelspacing=0.7,
        )
        for text, (curve, _) in zip(legend.get_texts(), drawn, strict=True):
            plain(text)
            text.set(text=curve.words.replace(" / ", " /\n") if len(curve.words) > 26 else curve.words, color=INK)


def _height(curve: Curve, middle: float) -> float:
    return float(np.interp(middle, curve.across, curve.accuracy)) if len(curve.across) else 0.0


def _line(axes: Axes, curve: Curve, at: int) -> Any:
    if curve.baseline:
        style = {"color": GREYS[at % len(GREYS)], "linewidth": 0.9, "zorder": 2, "markersize": 3.2}
        style |= {"linestyle": DASHES[(at + 1) % len(DASHES)], "marker": MARKS[(at + 1) % len(MARKS)]}
        style |= {"markerfacecolor": "white", "markeredgewidth": 0.8}
    else:
        style = {"color": LINES[at % len(LINES)], "linewidth": 1.7, "zorder": 3, "markersize": 4.2}
        style |= {"linestyle": DASHES[at % len(DASHES)], "marker": MARKS[at % len(MARKS)], "markeredgewidth": 0.0}
    gap = max(1, -(-len(curve.across) // MOST_MARKS))
    return axes.plot(curve.across, curve.accuracy, markevery=gap, **style)[0]
