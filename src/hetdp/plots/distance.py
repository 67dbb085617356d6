"""How accurate mechanisms are, by the number of steps to the other answer, beside what else could be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hetdp.mechanism.accuracy.distance import NOWHERE
from hetdp.plots.canvas import instead, named
from hetdp.plots.curves import Curve, draw_curves, merged

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NO_PATH = "from no dataset does a path lead to the other answer,\nso that there is no distance to show accuracy by"


def curves_by_distance(report: Any) -> list[Curve]:
    """The mean accuracy at each distance, of every method of an accuracy report.

    Args:
        report: what `hetdp.accuracy` returns. Datasets from which no path leads to the other answer are left out.
    """
    found = []
    for method in report.methods:
        near = method.levels.distances != NOWHERE
        if not near.any():
            continue
        distances = method.levels.distances[near].astype(np.float64)
        found.append(Curve((method.name,), method.baseline, distances, 1.0 - method.mean_errors[near]))
    return merged(found)


def draw_by_distance(axes: Axes, curves: list[Curve], prior: str, key: bool) -> None:
    """Draws them."""
    from matplotlib.ticker import MaxNLocator

    draw_curves(axes, curves, key)
    if curves:
        axes.xaxis.set_major_locator(MaxNLocator(12, integer=True))
    else:
        axes.set_xticks([])
        instead(axes, NO_PATH)
    under = {"uniform": "", "weight": ", weighted"}.get(prior, ", under the given prior")
    named(axes, "steps to the other answer", f"right answer (mean{under})")
