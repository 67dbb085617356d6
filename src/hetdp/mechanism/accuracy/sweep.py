"""sweep: the accuracy of objectives and baselines while every ε of a problem grows together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hetdp.engines.registry import EngineName
from hetdp.errors import UsageError
from hetdp.mechanism.accuracy.report import accuracy
from hetdp.mechanism.design import ObjectiveName
from hetdp.mechanism.formatting import format_accuracy
from hetdp.problem.decimals import exact_amount, multiply_down
from hetdp.problem.problem import Problem, require_problem
from hetdp.problem.product import ProductSpace
from hetdp.text import did_you_mean, format_value, html_table

SCALES_RULE = "scales are one or more finite numbers ≥ 0; every ε is multiplied by each of them"
NO_VALUE = "-"
DIGITS = 4


class SweepRow(NamedTuple):
    """The accuracy of one method at one scale.

    Attributes:
        scale: the number by which every ε (or μ) is multiplied.
        least: the least finite ε of the scaled problem; None if no edge constrains.
        largest: the largest finite ε.
        method: the name of the objective or baseline.
        baseline: True if it is shown for comparison only.
        worst_accuracy: the accuracy at the dataset with the least accurate answer.
        worst_error: 1 − worst_accuracy, without its rounding.
        mean_accuracy: the mean accuracy under the prior.
        mean_error: 1 − mean_accuracy, without its rounding.
    """

    scale: float
    least: float | None
    largest: float | None
    method: str
    baseline: bool
    worst_accuracy: float
    worst_error: float
    mean_accuracy: float
    mean_error: float


@dataclass(frozen=True, eq=False)
class Sweep:
    """The accuracy of methods at several scales of ε; ``str`` of it is a table.

    ``result["fair"]`` has the rows of one method, and `hetdp.plot` draws the curves.

    Attributes:
        rows: one `SweepRow` for each scale and method, in the order of the scales.
        prior: the prior of the means: "uniform", "weight" (the problem's own weights) or "given".
        letter: the letter of what is scaled: ε, or μ.
    """

    rows: tuple[SweepRow, ...]
    prior: str
    letter: str

    @property
    def scales(self) -> list[float]:
        """The scales, in increasing order."""
        return list(dict.fromkeys(row.scale for row in self.rows))

    @property
    def methods(self) -> list[str]:
        """The names of the methods: objectives first, then baselines."""
        found = dict.fromkeys((row.baseline, row.method) for row in self.rows)
        return [name for _, name in sorted(found, key=lambda pair: pair[0])]

    def __getitem__(self, name: str) -> list[SweepRow]:
        """The rows of one method, by increasing scale."""
        found = [row for row in self.rows if row.method == name]
        if not found:
            rule = f"the methods are {', '.join(map(repr, self.methods))}"
            raise UsageError(f"there is no method {format_value(name)}", rule, did_you_mean(name, self.methods))
        return found

    def columns(self) -> dict[str, list[Any]]:
        """The rows in columns ready for any data frame.

        The columns are `scale`, `least_epsilon` and `largest_epsilon` (of the edges with a finite ε, after scaling; μ
        for the notion gaussian), `method`, `baseline`, `worst_accuracy`, `worst_error`, `mean_accuracy` and
        `mean_error`.
        """
        names = [{"least": "least_epsilon", "largest": "largest_epsilon"}.get(name, name) for name in SweepRow._fields]
        return {name: [row[at] for row in self.rows] for at, name in enumerate(names)}

    def __str__(self) -> str:
        return "\n".join(line for measure in ("mean", "worst") for line in _lines(*self._table(measure)))

    def __repr__(self) -> str:
        first, last = self.scales[0], self.scales[-1]
        return f"Sweep({len(self.scales)} scales from {first:g} to {last:g}, {len(self.methods)} methods)"

    def _repr_html_(self) -> str:
        """For notebooks: the mean accuracy by method and scale."""
        header, rows = self._table("mean")
        return html_table(f"Accuracy while every {self.letter} is scaled", header, rows)

    def _table(self, measure: str) -> tuple[list[str], list[list[str]]]:
        """One row for each method and one column for each scale, of the mean or the worst accuracy."""
        errors = {
            (row.scale, row.method): row.mean_error if measure == "mean" else row.worst_error for row in self.rows
        }
        title = f"mean ({self.prior})" if measure == "mean" else "worst"

        def cell(scale: float, method: str) -> str:
            error = errors.get((scale, method))
            return NO_VALUE if error is None else format_accuracy(error, DIGITS)

        header = [title, *(f"{scale:g}" for scale in self.scales)]
        return header, [[name, *(cell(scale, name) for scale in self.scales)] for name in self.methods]


def _lines(header: list[str], rows: list[list[str]]) -> Iterator[str]:
    """A table in aligned columns."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in [header, *rows]:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def sweep(
    problem: Problem,
    scales: Iterable[Any],
    objectives: ObjectiveName | Iterable[ObjectiveName] | None = None,
    baselines: bool = True,
    prior: Any = None,
    engine: EngineName = "auto",
) -> Sweep:
    """Measures objectives and baselines on a problem while all of its ε grow together.

    At each scale, the mechanisms are those of `accuracy` on ``problem.scaled(scale)``, each proved private there.

    Args:
        problem: datasets, ε and query.
        scales: the numbers by which every ε (or μ) is multiplied.
        objectives: the objectives to measure, one name or several; by default as in `accuracy`.
        baselines: whether to measure baselines on the same problems, too.
        prior: how much each dataset counts in a mean, as in `accuracy`.
        engine: "auto", "cpu" or "reference"; all give the same bits.

    Raises:
        UsageError: a scale is not a finite number ≥ 0, or there is none.

    >>> import hetdp
    >>> problem = hetdp.Problem(hetdp.spaces.path(5, [1, 0.5, 1, 1]), [2, 2, 1, 1, 1])
    >>> result = hetdp.sweep(problem, [0.5, 1, 2], "fair", baselines=False)
    >>> print(result)
    mean (uniform)  0.5     1       2
    fair            0.6864  0.7832  0.8768
    worst  0.5     1       2
    fair   0.5621  0.6224  0.731
    >>> result.columns()["least_epsilon"]
    [0.25, 0.5, 1.0]
    """
    require_problem(problem)
    if isinstance(scales, str) or not isinstance(scales, Iterable):
        raise UsageError(f"scales={format_value(scales)}", SCALES_RULE)
    listed = list(scales)
    wrong = [scale for scale in listed if exact_amount(scale) in (None, math.inf)]
    if wrong or not listed:
        raise UsageError(f"scales with {format_value(wrong[0])}" if wrong else "no scales", SCALES_RULE)
    ends, prior_name = _finite_ends(problem), ""
    rows: list[SweepRow] = []
    for scale in sorted(set(listed)):
        report = accuracy(problem.scaled(scale), prior=prior, baselines=baselines, objectives=objectives, engine=engine)
        least, largest = (None, None) if ends is None else multiply_down(ends, scale).tolist()
        prior_name = report.prior
        rows += [
            SweepRow(
                float(scale),
                least,
                largest,
                method.name,
                method.baseline,
                method.worst_accuracy,
                method.worst_error,
                method.mean_accuracy,
                method.mean_error,
            )
            for method in report.methods
        ]
    return Sweep(tuple(rows), prior_name, problem.notion.main.letter)


def _finite_ends(problem: Problem) -> Any:
    """The least and the largest finite ε, as written; None if no edge constrains."""
    if isinstance(problem.graph, ProductSpace):
        written = np.concatenate([np.empty(0), *(axis.written.ravel() for axis in problem.graph.axes)])
    else:
        written = problem.graph.edges()[2]
    finite = written[np.isfinite(written)]
    return np.array([finite.min(), finite.max()]) if len(finite) else None
