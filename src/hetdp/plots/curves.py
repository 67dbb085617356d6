"""Accuracy as curves, by distance to the other answer or by the margin of a population.

Mechanisms are drawn in colour, baselines in grey; curves that coincide are drawn once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hetdp.errors import UsageError
from hetdp.mechanism.accuracy.measures import NOWHERE
from hetdp.plots.canvas import (
    SMALL,
    add_legend_below,
    add_text_legend,
    count_ticks,
    distinct_texts,
    fit_height,
    label_axes,
    size_in_points,
    style_axes,
    wrap_text,
    write_message,
)
from hetdp.plots.colours import DASHES, LINES, MARKS
from hetdp.problem.space import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


INVISIBLE_DIFFERENCE = 1e-9  # a difference in accuracy that cannot be seen
GREYS = ("#55595e", "#7d8288", "#9aa0a6")
MOST_MARKS = 25
MOST_NAMES = 3
NARROW = 216.0  # points: of narrower axes, the names stand below the picture
WIDEST_NAME = 118.0  # points: a longer name has several lines


def size_of_curves(width: float | None = None) -> tuple[float, float]:
    """The preferred width and height in inches."""
    return (5.6, 3.3) if width is None else (width, min(max(0.55 * width, 2.7), 3.8))


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


def merge_equal(curves: Iterable[Curve]) -> list[Curve]:
    """Merges curves of the same kind that coincide.

    >>> x, y = np.array([1.0, 2.0]), np.array([0.6, 0.8])
    >>> [curve.names for curve in merge_equal([Curve(("a",), False, x, y), Curve(("b",), False, x, y + 1e-12)])]
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
        np.allclose(one.accuracy, other.accuracy, rtol=0.0, atol=INVISIBLE_DIFFERENCE, equal_nan=True)
    )


def draw_curves(axes: Axes, curves: list[Curve], key: bool) -> tuple[list[Any], list[str]]:
    """Draws curves; returns their lines and legend texts, from the highest curve to the lowest."""
    from matplotlib.ticker import PercentFormatter

    style_axes(axes, grid="both")
    ours = [curve for curve in curves if not curve.baseline]
    others = [curve for curve in curves if curve.baseline]
    drawn = [(curve, _line(axes, curve, at)) for at, curve in enumerate(ours)]
    drawn += [(curve, _line(axes, curve, at)) for at, curve in enumerate(others)]
    lowest = min(
        (float(np.nanmin(curve.accuracy)) for curve in curves if np.isfinite(curve.accuracy).any()), default=0.5
    )
    axes.set_ylim(min(0.48, lowest - 0.02), 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    if not key or not drawn:
        return [], []
    middle = float(np.median(np.concatenate([curve.across for curve in curves])))
    drawn.sort(key=lambda pair: -_height(pair[0], middle))
    return [line for _, line in drawn], words_of([curve for curve, _ in drawn])


def add_names(axes: Axes, lines: list[Any], words: list[str]) -> None:
    """Adds the names of curves, beside the picture if it is wide enough, else below."""
    if not lines:
        return
    if size_in_points(axes)[0] < NARROW:
        add_legend_below(axes, lines, words)
        return
    wrapped = [wrap_text(word, WIDEST_NAME, SMALL) for word in words]
    add_text_legend(
        axes, lines, wrapped, loc="center left", bbox_to_anchor=(1.01, 0.5), handlelength=2.6, labelspacing=0.7
    )


def _height_for(axes: Axes) -> float:
    """The height of axes that suits their width, in points."""
    return float(np.clip(0.6 * size_in_points(axes)[0], 130.0, 215.0))


def words_of(curves: list[Curve]) -> list[str]:
    """The names of each curve on one line.

    >>> at = np.array([1.0])
    >>> words_of([Curve(("a", "b"), False, at, at), Curve(tuple("cdefg"), False, at, at)])
    ['a / b', 'c / d / e and 2 more']
    """
    shown = [curve.names[:MOST_NAMES] for curve in curves]
    texts = iter(distinct_texts([name for names in shown for name in names], 30))
    more = [len(curve.names) - len(names) for curve, names in zip(curves, shown, strict=True)]
    joined = [" / ".join(next(texts) for _ in names) for names in shown]
    return [words + (f" and {left} more" if left else "") for words, left in zip(joined, more, strict=True)]


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


NO_PATH = "no dataset has a path to the other answer,\nso there is no distance to plot accuracy against"


def curves_by_distance(report: Any) -> list[Curve]:
    """The mean accuracy at each distance, of every method of an accuracy report.

    Args:
        report: what `hetdp.accuracy` returns. Datasets from which no path leads to the other answer are left out.
    """
    found = []
    for method in report.methods:
        near = method.levels.steps != NOWHERE
        if not near.any():
            continue
        distances = method.levels.steps[near].astype(np.float64)
        found.append(Curve((method.name,), method.baseline, distances, 1.0 - method.mean_errors[near]))
    return merge_equal(found)


def draw_by_distance(axes: Axes, curves: list[Curve], prior: str, key: bool, alone: bool) -> None:
    """Draws the curves and labels the axes."""
    from matplotlib.ticker import MaxNLocator

    named = draw_curves(axes, curves, key)
    if curves:
        most = max(float(curve.across.max()) for curve in curves)
        axes.xaxis.set_major_locator(MaxNLocator(count_ticks(axes, most), integer=True))
    else:
        axes.set_xticks([])
        write_message(axes, NO_PATH)
    label_axes(axes, "steps to the other answer", f"right answer (mean{prior_words(prior)})")
    add_names(axes, *named)
    if alone:
        fit_height(axes, _height_for(axes))


def prior_words(prior: str) -> str:
    """The words after "mean" about a prior that is not uniform."""
    return {"uniform": "", "weight": ", weighted"}.get(prior, ", under the given prior")


def curves_by_scale(sweep: Any, measure: str) -> tuple[list[Curve], str]:
    """The accuracy of every method of a sweep, and the name of the axis: ε where all edges have the same, or the scale.

    Args:
        sweep: what `hetdp.sweep` returns.
        measure: "mean" or "worst".
    """
    alike = all(row.least is not None and row.least == row.largest for row in sweep.rows)
    found = []
    for name in sweep.methods:
        rows = sweep[name]
        across = np.array([row.least if alike else row.scale for row in rows], dtype=np.float64)
        errors = np.array([row.mean_error if measure == "mean" else row.worst_error for row in rows])
        found.append(Curve((name,), rows[0].baseline, across, 1.0 - errors))
    return merge_equal(found), sweep.letter if alike else f"scale: every {sweep.letter} is multiplied by it"


WIDE_RANGE = 20.0  # the ratio of the largest to the least scale from which on the axis is logarithmic


def draw_by_scale(axes: Axes, curves: list[Curve], across: str, up: str, key: bool, alone: bool) -> None:
    """Draws the curves and labels the axes."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    named = draw_curves(axes, curves, key)
    least, most = (float(end(curves[0].across)) for end in (np.min, np.max))
    if least > 0.0 and most / least > WIDE_RANGE:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda scale, _: f"{scale:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(which="minor", axis="x", visible=False)
    label_axes(axes, across, up)
    add_names(axes, *named)
    if alone:
        fit_height(axes, _height_for(axes))


CURVE_POINTS = 60  # margins at which a curve is computed
BASELINE_POINTS = 14  # margins at which baselines are computed, which is slow
LAST_ERROR = 1e-4  # the error at which a curve ends
OUR_OBJECTIVE = "balanced"  # listed among the baselines of a population, but not a baseline


def mechanism_of(value: Any) -> Any:
    """The mechanism of a promise, or the value itself."""
    from hetdp.tables.promise import Promise

    return value.mechanism if isinstance(value, Promise) else value


def has_margins(value: Any) -> bool:
    """True for a mechanism of a population or of tallies, or a promise made with one."""
    from hetdp.people.populations.mechanism import PopulationMechanism
    from hetdp.people.products.tallied import TalliedMechanism

    return isinstance(mechanism_of(value), PopulationMechanism | TalliedMechanism)


def curves_by_margin(given: Mapping[str, Any], baselines: bool) -> list[Curve]:
    """The worst-case accuracy at each margin, over all tables with that margin.

    Args:
        given: by name, mechanisms of populations or tallies, or promises made with them.
        baselines: whether to show the baselines of the first mechanism, too, where they are known.

    Raises:
        UsageError: there is nothing to show.
    """
    from hetdp.people.populations.mechanism import PopulationMechanism

    found = []
    for name, each in given.items():
        mechanism = mechanism_of(each)
        if isinstance(mechanism, PopulationMechanism):
            across = margins_to_show(mechanism).tolist()
            accuracy = [mechanism.accuracy(margin) for margin in across]
        else:
            rows = mechanism.accuracy_by_margin()
            across, accuracy = [row.margin for row in rows], [row.accuracy for row in rows]
        found.append(Curve((name,), False, np.array(across, dtype=np.float64), np.array(accuracy)))
    if not found or not any(len(curve.across) for curve in found):
        raise UsageError("no margins", "a picture by margin needs a question whose answer can be changed")
    mechanisms = [mechanism_of(each) for each in given.values()]
    if baselines and isinstance(mechanisms[0], PopulationMechanism):
        shown = {each.objective for each in mechanisms if isinstance(each, PopulationMechanism)}
        found += _baselines(mechanisms[0], shown | {OUR_OBJECTIVE})
    return merge_equal(found)


def margins_to_show(mechanism: Any) -> Any:
    """Whole numbers from 1 on, closer where they are small, until the answer is nearly always right.

    >>> import hetdp
    >>> margins_to_show(hetdp.spaces.population(hetdp.questions.majority(), 1, size=21).design()).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    """
    farthest = mechanism.population.farthest()
    if farthest < 1:
        return np.zeros(0, dtype=np.int64)
    last = 1
    while last < farthest and 1.0 - mechanism.accuracy(last) > LAST_ERROR:
        last = min(farthest, 2 * last)
    return np.unique(np.round(np.geomspace(1, last, CURVE_POINTS)).astype(np.int64))


def _baselines(mechanism: Any, known: set[str]) -> list[Curve]:
    """The baselines of a population at a few margins; none for questions that are not counts."""
    margins = margins_to_show(mechanism)
    margins = margins[np.unique(np.linspace(0, len(margins) - 1, BASELINE_POINTS).round().astype(np.int64))]
    try:
        rows = [mechanism.population.baselines(margin) for margin in margins.tolist()]
    except UsageError:
        return []
    names = [name for name in rows[0] if name not in known]
    across = margins.astype(np.float64)
    return [Curve((name,), True, across, np.array([row[name] for row in rows])) for name in names]


def draw_by_margin(axes: Axes, curves: list[Curve], key: bool, alone: bool) -> None:
    """Draws the curves and labels the axes."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    named = draw_curves(axes, curves, key)
    if max(float(curve.across.max(initial=1.0)) for curve in curves) > 12:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda margin, _: f"{margin:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(which="minor", axis="x", visible=False)
    label_axes(axes, "margin: people who must change to flip the answer", "right answer, at least")
    add_names(axes, *named)
    if alone:
        fit_height(axes, _height_for(axes))
