"""How accurate the answer about a population is, by its margin: how many people must change before the answer does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hetdp.errors import UsageError
from hetdp.plots.canvas import named
from hetdp.plots.curves import Curve, draw_curves, merged

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 60  # margins of a curve
FEW = 14  # margins at which baselines are computed, which takes longer
NEARLY = 1e-4  # the error from which on a curve is not followed
OURS = "balanced"  # among the baselines of a population, what is no baseline


def curves_by_margin(given: Mapping[str, Any], baselines: bool) -> list[Curve]:
    """The worst accuracy over all tables of each margin.

    Args:
        given: by name, mechanisms of populations, or promises made with them.
        baselines: whether to show what else could be done for the first of them, too, where that is known.

    Raises:
        UsageError: there is nothing to show.
    """
    found = []
    for name, each in given.items():
        mechanism = getattr(each, "mechanism", each)
        margins = margins_of(mechanism)
        accuracy = np.array([mechanism.accuracy(margin) for margin in margins.tolist()])
        found.append(Curve((name,), False, margins.astype(np.float64), accuracy))
    if not found or not any(len(curve.across) for curve in found):
        raise UsageError("no margins", "a picture by margin needs a question whose answer can be changed")
    first = next(iter(given.values()))
    if baselines:
        shown = {getattr(each, "mechanism", each).objective for each in given.values()}
        found += _baselines(getattr(first, "mechanism", first), shown | {OURS})
    return merged(found)


def margins_of(mechanism: Any) -> Any:
    """Whole numbers from 1 on, closer where they are small, until the answer is nearly always right.

    >>> import hetdp
    >>> margins_of(hetdp.spaces.population(hetdp.questions.majority(), 1, size=21).design()).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    """
    farthest = mechanism.population.farthest()
    if farthest < 1:
        return np.zeros(0, dtype=np.int64)
    last = 1
    while last < farthest and 1.0 - mechanism.accuracy(last) > NEARLY:
        last = min(farthest, 2 * last)
    return np.unique(np.round(np.geomspace(1, last, POINTS)).astype(np.int64))


def _baselines(mechanism: Any, known: set[str]) -> list[Curve]:
    """What `Population.baselines` knows, at a few margins; nothing for questions that are no counts."""
    margins = margins_of(mechanism)
    margins = margins[np.unique(np.linspace(0, len(margins) - 1, FEW).round().astype(np.int64))]
    try:
        rows = [mechanism.population.baselines(margin) for margin in margins.tolist()]
    except UsageError:
        return []
    names = [name for name in rows[0] if name not in known]
    across = margins.astype(np.float64)
    return [Curve((name,), True, across, np.array([row[name] for row in rows])) for name in names]


def draw_by_margin(axes: Axes, curves: list[Curve], key: bool) -> None:
    """Draws them."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    draw_curves(axes, curves, key)
    if max(float(curve.across.max(initial=1.0)) for curve in curves) > 12:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda margin, _: f"{margin:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(which="minor", axis="x", visible=False)
    named(axes, "people who must change before the answer does", "right answer, at least")
