"""The tables of accuracy: comparisons with baselines in words, as plain text, LaTeX, CSV and columns."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from hetdp.mechanism.accuracy.measures import NOWHERE, Method
from hetdp.mechanism.formatting import LEAST, accuracy_of, format_accuracy
from hetdp.problem.space import Floats, Mask
from hetdp.text import escape_unprintable, pluralize, round_up

EQUAL_ERRORS = 1e-9  # relative; errors that differ by less are equal
TIES, BEATS = "ties", "beats"
MOST_LISTED = 6  # most distances that are listed one by one


class Comparison(NamedTuple):
    """A baseline that ties with a mechanism, or beats it, on some measures.

    Attributes:
        baseline: its name.
        outcome: "ties" or "beats".
        method: the name of the mechanism.
        measures: "worst", "mean", both, or neither.
        distances: the distances at which it ties in both worst and mean error, or wins in one without losing in the
            other.
        everywhere: True if these are all distances. (Datasets without a path to the other answer are not compared, nor
            errors that are both too small for a float.)
    """

    baseline: str
    outcome: str
    method: str
    measures: tuple[str, ...]
    distances: tuple[int, ...]
    everywhere: bool

    def __str__(self) -> str:
        """One line, such as ``geometric then threshold ties fair: worst, mean, every distance``."""
        places = list(self.measures)
        if self.everywhere and self.distances:
            places.append("every distance")
        elif self.distances:
            named = ", ".join(map(str, self.distances[:MOST_LISTED]))
            more = len(self.distances) - MOST_LISTED
            word = "distance" if len(self.distances) == 1 else "distances"
            places.append(f"{word} {named}" + (f" and {more:,} more" if more > 0 else ""))
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
    counted = (method.levels.distances != NOWHERE) & ~vanished
    worst_ties, worst_wins = _compare_errors(baseline.worst_errors, method.worst_errors)
    mean_ties, mean_wins = _compare_errors(baseline.mean_errors, method.mean_errors)
    no_mean = np.isnan(method.mean_errors)
    here_ties = worst_ties & (mean_ties | no_mean)
    here_wins = (worst_wins & (mean_wins | mean_ties | no_mean)) | (mean_wins & worst_ties)
    for outcome, overall, here in ((TIES, ties, here_ties), (BEATS, wins, here_wins)):
        measures = tuple(name for name, holds in zip(("worst", "mean"), overall, strict=True) if holds)
        distances = tuple(method.levels.distances[here & counted].tolist())
        if measures or distances:
            everywhere = len(distances) == int(np.count_nonzero(counted))
            yield Comparison(baseline.name, outcome, method.name, measures, distances, everywhere)


def _overall(method: Method) -> Floats:
    return np.array([method.worst_error, method.mean_error])


def _compare_errors(errors: Floats, others: Floats) -> tuple[Mask, Mask]:
    """Masks of the errors that are equal to others, and of those that are smaller."""
    margin = EQUAL_ERRORS * np.fmax(errors, others)
    ties = np.abs(errors - others) <= margin
    return ties, (errors < others) & ~ties


# Tables ---------------------------------------------------------------------------------------------------------------


MOST_COLUMNS = 5  # most distances and classes in a printed table; the long table has all distances
LONGEST_NAME = 40  # most characters of a name
NO_VALUE = "-"
SMALLEST_GAP = 1e-9  # smaller gaps are not mentioned
COLUMNS = (
    "method",
    "baseline",
    "distance",
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


def text_lines(methods: Sequence[Method], comparisons: Sequence[Comparison], prior: str) -> Iterator[str]:
    """The table in aligned columns, followed by remarks."""
    rows = _rows(methods, prior)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
    hidden = int(np.count_nonzero(methods[0].levels.distances != NOWHERE)) - MOST_COLUMNS
    if hidden > 0:
        yield f"({pluralize(hidden, 'more distance')}, only in the long table: as columns, CSV or JSON)"
    unnamed = len(methods[0].levels.deciders) - len(_classes(methods[0]))
    if unnamed > 0:
        yield f"({unnamed:,} classes, and how accurate it is where one of them decides, only in JSON)"
    yield from (escape_unprintable(words) for words in _remarks(methods, comparisons))


def latex_lines(methods: Sequence[Method], comparisons: Sequence[Comparison], prior: str) -> Iterator[str]:
    """The table as a LaTeX tabular that needs no package, followed by remarks."""
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


def _remarks(methods: Sequence[Method], comparisons: Sequence[Comparison]) -> Iterator[str]:
    """The remarks below the table: gaps, datasets where a coin does better, and comparisons with baselines."""
    for method in methods:
        gap = method.mechanism.objective_gap
        if gap is not None and gap > SMALLEST_GAP:
            most = round_up(gap, 2)
            yield f"{method.name}: some private mechanism may have a mean accuracy larger by up to {most:.1e}"
    for method in methods:
        if not method.baseline and str(method.mechanism.against_coin):
            yield f"{method.name}: {method.mechanism.against_coin}"
    if comparisons and all(method.worst_error == 0.0 for method in methods):
        yield "every method is always right"
    else:
        yield from map(str, comparisons)


def _rows(methods: Sequence[Method], prior: str) -> list[list[str]]:
    """The header, the numbers of datasets, and one row per method."""
    levels = methods[0].levels
    near = np.flatnonzero(levels.distances != NOWHERE)[:MOST_COLUMNS]
    shown = [*near.tolist(), *np.flatnonzero(levels.distances == NOWHERE).tolist()]
    titles = ["no path" if levels.distances[at] == NOWHERE else f"distance {levels.distances[at]}" for at in shown]
    classes = _classes(methods[0])
    titles += [_in_one_line(f"{_field_text(name)} decides") for name in classes]
    header = ["accuracy", "worst", "where", f"mean ({prior})", *titles]
    counts = ["datasets", "", "", f"{len(levels.order):,}", *(f"{levels.counts[at]:,}" for at in shown)]
    counts += [f"{len(levels.deciders[name]):,}" for name in classes]
    return [header, counts, *(_row(method, shown) for method in methods)]


def _row(method: Method, shown: Sequence[int]) -> list[str]:
    errors: list[float | None] = [method.worst_error, method.mean_error]
    errors += [float(method.mean_errors[at]) for at in shown]
    errors += [one.mean_error for one in method.by_class] if _classes(method) else []
    worst, *means = (NO_VALUE if error is None or error != error else format_accuracy(error) for error in errors)
    return [_in_one_line(method.name), worst, _in_one_line(_field_text(method.worst_at) or NO_VALUE), *means]


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
    """One row for each method over all datasets, and one for each of its distances, as columns."""
    rows = [row for method in methods for row in _long_rows(method)]
    return {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}


def _long_rows(method: Method) -> Iterator[tuple[Any, ...]]:
    worst, where, mean = (
        _accuracy_and_error(method.worst_error),
        method.worst_at,
        _accuracy_and_error(method.mean_error),
    )
    yield method.name, method.baseline, "all", len(method.levels.order), *worst, where, *mean
    for level in method.by_distance:
        distance = "none" if level.distance is None else str(level.distance)
        worst, mean = _accuracy_and_error(level.worst_error), _accuracy_and_error(level.mean_error)
        yield method.name, method.baseline, distance, level.datasets, *worst, None, *mean


def _accuracy_and_error(error: float | None) -> tuple[float | None, float | None]:
    """An accuracy and its error."""
    return (None, None) if error is None else (accuracy_of(error), error)


def csv_text(methods: Sequence[Method]) -> str:
    """The long table as CSV; numbers have enough digits to be read back exactly."""
    columns = long_columns(methods)
    columns["worst_at"] = [_field_text(label) for label in columns["worst_at"]]
    columns["baseline"] = ["yes" if baseline else "no" for baseline in columns["baseline"]]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _field_text(label: Any) -> str | None:
    """A label in one field: text unchanged, everything else as JSON."""
    return label if label is None or isinstance(label, str) else json.dumps(label, ensure_ascii=False, default=str)
