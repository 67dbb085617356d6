"""The tables of accuracy: comparisons with baselines in words, as plain text, LaTeX, CSV and columns."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from hetdp.mechanism.accuracy.measures import NOWHERE, Levels, Method
from hetdp.mechanism.formatting import LEAST, accuracy_of, format_accuracy
from hetdp.problem.space import Floats, Mask
from hetdp.text import escape_unprintable, pluralize, round_up

EQUAL_ERRORS = 1e-9  # relative; errors that differ by less are equal
TIES, BEATS = "ties", "beats"
MOST_LISTED = 6  # most numbers of steps that are listed one by one


class Comparison(NamedTuple):
    """A baseline that ties with a mechanism, or beats it, on some measures.

    Attributes:
        baseline: its name.
        outcome: "ties" or "beats".
        method: the name of the mechanism.
        measures: "worst", "mean", both, or neither.
        steps: the numbers of steps to the other answer at which it ties in both worst and mean error, or wins in one
            without losing in the other.
        everywhere: True if these are all numbers of steps. (Datasets without a path to the other answer are not
            compared, nor errors that are both too small for a float.)
    """

    baseline: str
    outcome: str
    method: str
    measures: tuple[str, ...]
    steps: tuple[int, ...]
    everywhere: bool

    def __str__(self) -> str:
        """One line, such as ``geometric noise ties fair: worst, mean, any number of steps``."""
        places = list(self.measures)
        if self.everywhere and self.steps:
            places.append("any number of steps")
        elif self.steps:
            named = ", ".join(map(str, self.steps[:MOST_LISTED]))
            more = len(self.steps) - MOST_LISTED
            word = "step" if self.steps == (1,) else "steps"
            places.append(f"{named}{f' and {more:,} more' if more > 0 else ''} {word}")
        return f"{self.baseline} {self.outcome} {self.method}: {', '.join(places)}"


def compare(methods: list[Method]) -> Iterator[Comparison]:
    """All ties and wins of baselines, mechanism by mechanism."""
    for method in methods:
        for baseline in methods:
            if baseline.baseline and not method.baseline:
                yield from _outcomes(baseline, method)


def _outcomes(baseline: Method, method: Method) -> Iterator[Comparison]:
    ties, wins = _compare_errors(_overall(baseline), _overall(method))
    vanished = np.maximum(baseline.worst_errors, method.worst_errors) <= LEAST  # too small for a float; both may differ
    counted = (method.levels.steps != NOWHERE) & ~vanished
    worst_ties, worst_wins = _compare_errors(baseline.worst_errors, method.worst_errors)
    mean_ties, mean_wins = _compare_errors(baseline.mean_errors, method.mean_errors)
    no_mean = np.isnan(method.mean_errors)
    here_ties = worst_ties & (mean_ties | no_mean)
    here_wins = (worst_wins & (mean_wins | mean_ties | no_mean)) | (mean_wins & worst_ties)
    for outcome, overall, here in ((TIES, ties, here_ties), (BEATS, wins, here_wins)):
        measures = tuple(name for name, holds in zip(("worst", "mean"), overall, strict=True) if holds)
        steps = tuple(method.levels.steps[here & counted].tolist())
        if measures or steps:
            everywhere = len(steps) == int(np.count_nonzero(counted))
            yield Comparison(baseline.name, outcome, method.name, measures, steps, everywhere)


def _overall(method: Method) -> Floats:
    return np.array([method.worst_error, method.mean_error])


def _compare_errors(errors: Floats, others: Floats) -> tuple[Mask, Mask]:
    """Masks of the errors that are equal to others, and of those that are smaller."""
    margin = EQUAL_ERRORS * np.fmax(errors, others)
    ties = np.abs(errors - others) <= margin
    return ties, (errors < others) & ~ties


# Tables ---------------------------------------------------------------------------------------------------------------


MOST_COLUMNS = 5  # the largest number of columns by steps, and by class; the long table has all numbers of steps
LONGEST_NAME = 40  # most characters of a name
NO_VALUE = "-"
SMALLEST_GAP = 1e-9  # smaller gaps are not mentioned
COLUMNS = (
    "method",
    "baseline",
    "steps",
    "datasets",
    "worst_accuracy",
    "worst_error",
    "worst_at",
    "mean_accuracy",
    "mean_error",
)
ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
    "μ": r"$\mu$",
    "−": "$-$",
    **{character: f"\\{character}" for character in "{}$&#_%"},
    **{character: f"{{{character}}}" for character in "[]*"},
}


def spell_for_python(label: Any) -> str:
    """A label in a table in Python: text unchanged, everything else as Python writes it, and nothing for None."""
    return "" if label is None else label if isinstance(label, str) else repr(label)


def spell_for_shell(label: Any) -> str:
    """A label in a file, or in a table in the shell: text unchanged, everything else as JSON, and nothing for None."""
    if label is None:
        return ""
    return label if isinstance(label, str) else json.dumps(label, ensure_ascii=False, default=str)


def text_lines(
    methods: Sequence[Method],
    comparisons: Sequence[Comparison],
    prior: str,
    spell: Callable[[Any], str] = spell_for_python,
) -> Iterator[str]:
    """The table in aligned columns, and at most one remark below it."""
    rows = _rows(methods, prior, spell)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
    yield from (escape_unprintable(words) for words in _remarks(methods, comparisons))


def table_rows(methods: Sequence[Method], comparisons: Sequence[Comparison], prior: str) -> tuple[list[list[str]], str]:
    """The header and the rows of the table, and the remark below it, which may be empty."""
    return _rows(methods, prior), "".join(_remarks(methods, comparisons))


def latex_lines(methods: Sequence[Method], comparisons: Sequence[Comparison], prior: str) -> Iterator[str]:
    """The table as a LaTeX tabular that needs no package, with at most one remark below it."""
    rows = _rows(methods, prior)
    width = len(rows[0])
    yield rf"\begin{{tabular}}{{l{'r' * (width - 1)}}}"
    yield r"\hline"
    for at, row in enumerate(rows):
        yield " & ".join(map(_escape, row)) + r" \\"
        if at == 0:
            yield r"\hline"
    yield r"\hline"
    for words in _remarks(methods, comparisons):
        yield rf"\multicolumn{{{width}}}{{l}}{{{_escape(escape_unprintable(words))}}} \\"
    yield r"\end{tabular}"


def _remarks(methods: Sequence[Method], comparisons: Sequence[Comparison]) -> list[str]:
    """The remark below the table, if there is one: what its numbers do not make obvious.

    It names datasets where a coin would do better, gaps, and baselines that beat a mechanism or are as good.
    """
    if methods and comparisons and all(method.worst_error == 0.0 for method in methods):
        return ["every method is always right"]
    parts = [
        f"{method.name}: {method.mechanism.against_coin.short()}"
        for method in methods
        if not method.baseline and method.mechanism.against_coin.short()
    ]
    for method in methods:
        gap = method.mechanism.objective_gap
        if gap is not None and gap > SMALLEST_GAP:
            most = round_up(gap, 2)
            parts.append(f"{method.name}: some private mechanism may have a mean accuracy larger by up to {most:.1e}")
    parts += _summaries(methods, comparisons)
    return ["; ".join(parts)] if parts else []


def _summaries(methods: Sequence[Method], comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Baselines that beat all mechanisms in worst or mean, and those that tie with some in both."""
    ours = [method.name for method in methods if not method.baseline]
    for measure in ("worst", "mean"):
        pairs = {(one.baseline, one.method) for one in comparisons if one.outcome == BEATS and measure in one.measures}
        best = [one.name for one in methods if one.baseline and all((one.name, name) in pairs for name in ours)]
        if best:
            yield f"{_join_names(best)} {'beats' if len(best) == 1 else 'beat'} {_join_names(ours)} in {measure}"
    alike: dict[tuple[str, ...], list[str]] = {}
    for method in methods:
        ties = [one for one in comparisons if one.outcome == TIES and one.baseline == method.name]
        tied = tuple(one.method for one in ties if one.measures == ("worst", "mean"))
        if tied:
            alike.setdefault(tied, []).append(method.name)
    for tied, names in alike.items():
        yield f"{_join_names(names)} {'ties' if len(names) == 1 else 'tie'} {_join_names(tied)} in worst and mean"


def _join_names(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> _join_names(["a"]), _join_names(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


class _Column(NamedTuple):
    """A column of means by steps: its title, its levels, and how many datasets they have."""

    title: str
    levels: list[int]
    datasets: int


def _columns_by_steps(levels: Levels) -> list[_Column]:
    """One column for each of the nearest numbers of steps, one for all others, and one where no path leads there."""
    near = np.flatnonzero(levels.steps != NOWHERE).tolist()
    groups = [[at] for at in near] if len(near) <= MOST_COLUMNS else [*([at] for at in near[: MOST_COLUMNS - 1])]
    titles = [pluralize(int(levels.steps[at]), "step") for (at,) in groups]
    if len(near) > MOST_COLUMNS:
        groups.append(near[MOST_COLUMNS - 1 :])
        titles.append(f"≥ {int(levels.steps[near[MOST_COLUMNS - 1]])} steps")
    for at in np.flatnonzero(levels.steps == NOWHERE).tolist():
        groups.append([at])
        titles.append("no path")
    return [_Column(title, group, int(levels.counts[group].sum())) for title, group in zip(titles, groups, strict=True)]


def _mean_error(method: Method, levels: list[int]) -> float | None:
    """The mean error of several levels under the prior; None if it gives them no weight."""
    if len(levels) == 1:
        return float(method.mean_errors[levels[0]])
    weights = method.levels.totals[levels]
    counted = weights > 0.0
    total = math.fsum(weights.tolist())
    return math.fsum((method.mean_errors[levels][counted] * weights[counted]).tolist()) / total if total else None


def _rows(methods: Sequence[Method], prior: str, spell: Callable[[Any], str] = spell_for_python) -> list[list[str]]:
    """The header, the numbers of datasets, and one row per method."""
    levels = methods[0].levels
    shown, classes = _columns_by_steps(levels), _classes(methods[0])
    titles = [column.title for column in shown]
    titles += [_in_one_line(f"{spell(name)} decides") for name in classes]
    header = ["accuracy", "worst", "where", f"mean ({prior})", *titles]
    counts = ["datasets", "", "", f"{len(levels.order):,}", *(f"{column.datasets:,}" for column in shown)]
    counts += [f"{len(levels.deciders[name]):,}" for name in classes]
    return [header, counts, *(_row(method, shown, spell) for method in methods)]


def _row(method: Method, shown: Sequence[_Column], spell: Callable[[Any], str]) -> list[str]:
    errors: list[float | None] = [method.worst_error, method.mean_error]
    errors += [_mean_error(method, column.levels) for column in shown]
    errors += [one.mean_error for one in method.by_class] if _classes(method) else []
    worst, *means = (NO_VALUE if error is None or error != error else format_accuracy(error) for error in errors)
    return [_in_one_line(method.name), worst, _in_one_line(spell(method.worst_at) or NO_VALUE), *means]


def _classes(method: Method) -> list[Any]:
    """The classes that get a column: all if they are few, otherwise none."""
    names = list(method.levels.deciders)
    return names if len(names) <= MOST_COLUMNS else []


def _in_one_line(text: str) -> str:
    """A name that fits into a cell."""
    text = escape_unprintable(text)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def _escape(text: str) -> str:
    r"""Text escaped for LaTeX; brackets, which could be read as an argument of ``\\``, are put in braces.

    >>> print(_escape("a_b & [50%]"))
    a\_b \& {[}50\%{]}
    """
    return "".join(ESCAPES.get(character, character) for character in text)


def long_columns(methods: Sequence[Method]) -> dict[str, list[Any]]:
    """One row for each method over all datasets, and one for each number of steps, as columns."""
    rows = [row for method in methods for row in _long_rows(method)]
    return {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}


def _long_rows(method: Method) -> Iterator[tuple[Any, ...]]:
    worst, where, mean = (
        _accuracy_and_error(method.worst_error),
        method.worst_at,
        _accuracy_and_error(method.mean_error),
    )
    yield method.name, method.baseline, "all", len(method.levels.order), *worst, where, *mean
    for level in method.by_steps:
        steps = "none" if level.steps is None else str(level.steps)
        worst, mean = _accuracy_and_error(level.worst_error), _accuracy_and_error(level.mean_error)
        yield method.name, method.baseline, steps, level.datasets, *worst, None, *mean


def _accuracy_and_error(error: float | None) -> tuple[float | None, float | None]:
    """An accuracy and its error."""
    return (None, None) if error is None else (accuracy_of(error), error)


def csv_text(methods: Sequence[Method]) -> str:
    """The long table as CSV; numbers have enough digits to be read back exactly."""
    columns = long_columns(methods)
    columns["worst_at"] = [spell_for_shell(label) for label in columns["worst_at"]]
    columns["baseline"] = ["yes" if baseline else "no" for baseline in columns["baseline"]]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
