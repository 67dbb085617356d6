"""The views that suit a document, and the two charts: a map of tallies, and a summary by distance.

Charts are Plotly figures as plain dictionaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from hetdp.mechanism.formatting import format_compact
from hetdp.plots.summary import LOGARITHMIC_NOTE, is_even, positions_of, summary, tick_labels, x_label
from hetdp.plots.tallies import UNNAMED, CountAxes, Grid, by_counts, slice_of
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.studio.binding import HighlightedPath, highlighted_path
from hetdp.studio.drawing import (
    INKS,
    NO_VALUE,
    SHADES,
    answer_names,
    compared_probabilities,
    is_drawable,
    probabilities_of,
)
from hetdp.studio.session import Session
from hetdp.text import escape_unprintable, pluralize

PATH, COMPARED = "path", "compared"  # names of traces
NETWORK, MAP, SUMMARY, AROUND = "network", "map", "summary", "around"
CHARTS = (MAP, SUMMARY)
VIEW_NAMES = {NETWORK: "Network", MAP: "Map", SUMMARY: "Summary", AROUND: "Neighbourhood"}
MOST_CELLS = 240  # along each side of a map; of a larger one, some rows and columns are left out
MOST_BORDERS = 30_000  # points of the line between the answers; a longer one is not drawn
MOST_VOTERS = 8  # whose names are shown
MOST_PROBED = 300_000  # datasets up to which labels are examined for a map


def views_of(session: Session) -> list[str]:
    """The views that suit the document, the best one first: of two counts, the map."""
    problem, cells = session.document.problem, cells_of(session)
    has_map = cells is not None
    if cells is not None and not cells.fixed and min(cells.datasets.shape) > 1:
        return [MAP, *([NETWORK] if is_drawable(session) else []), SUMMARY, *_around(session)]
    if is_drawable(session):
        return [NETWORK, *([MAP] if has_map and problem.graph.size > 12 else []), SUMMARY]
    return [*([MAP] if has_map else []), SUMMARY, *_around(session)]


def _around(session: Session) -> list[str]:
    """The view of a neighbourhood, where the whole network cannot be drawn."""
    return [AROUND] if session.edge_list is not None and not is_drawable(session) else []


class Cells:
    """The cells of a map, at most MOST_CELLS along each side, and the dataset of each."""

    def __init__(self, grid: Grid, counted: CountAxes) -> None:
        self.rows = _thin_out(grid.shape[0])
        self.columns = _thin_out(grid.shape[1])
        self.names, self.fixed = grid.names, grid.fixed
        self.datasets = grid.order.reshape(grid.shape)[np.ix_(self.rows, self.columns)]
        self.counts_words = self._counts_words(counted)

    def _counts_words(self, counted: CountAxes) -> str:
        """All counts of a cell by name, in the order of the labels, as a template of Plotly."""
        corner, right, top = (np.argwhere(counted.cells == self.datasets[at])[0] for at in ((0, 0), (0, -1), (-1, 0)))
        words = []
        for axis, name in enumerate(counted.names):
            count = "%{x}" if corner[axis] != right[axis] else "%{y}" if corner[axis] != top[axis] else corner[axis]
            words.append(f"{_escape(name)} {count}")
        return ", ".join(words)

    def dataset(self, across: float, up: float) -> int:
        """The dataset of the cell nearest to two counts."""
        row = int(np.abs(self.rows - up).argmin())
        column = int(np.abs(self.columns - across).argmin())
        return int(self.datasets[row, column])

    def next_to(self, dataset: int, across: int, up: int) -> int:
        """The dataset of the cell a number of cells away; at the edge of the map, the last one."""
        row, column = np.nonzero(self.datasets == dataset)
        if not len(row):
            return dataset
        there = np.clip([row[0] + up, column[0] + across], 0, np.array(self.datasets.shape) - 1)
        return int(self.datasets[there[0], there[1]])

    def place(self, dataset: int) -> tuple[int, int] | None:
        """The two counts of a dataset, if its cell is shown."""
        row, column = np.nonzero(self.datasets == dataset)
        return (int(self.columns[column[0]]), int(self.rows[row[0]])) if len(row) else None


def counts_of(session: Session) -> CountAxes | None:
    """The datasets of the document by their counts; None if they are not tallies."""
    memo, problem = session.cache, session.document.problem
    if memo.get("opening") != session.document.opening:
        quick = isinstance(problem.graph, ProductSpace) or problem.graph.size <= MOST_PROBED
        memo |= {"opening": session.document.opening, "counted": by_counts(problem) if quick else None, "cells": None}
    found: CountAxes | None = memo["counted"]
    return found


def voters_of(problem: Problem) -> list[str]:
    """The names of the people whose votes a dataset is, in the order of its label; empty without names, or of many.

    >>> from hetdp.studio.gallery import GALLERY
    >>> [voters_of(GALLERY[key].make().problem) for key in ("three-voters", "school")]
    [['Ann', 'Bob', 'Cyd'], []]
    """
    graph = problem.graph
    if not isinstance(graph, ProductSpace) or len(graph.axes) > MOST_VOTERS:
        return []
    if any(axis.shape == "count" or not isinstance(axis.name, str) for axis in graph.axes):
        return []
    names = [axis.name for axis in graph.axes]
    return [] if all(name.isdecimal() for name in names) else names


def counts_in_words(session: Session, dataset: int) -> str:
    """The counts of a dataset by name, or the votes of its people, in the order of its label; empty without names.

    >>> from hetdp.studio.gallery import GALLERY
    >>> session = Session(GALLERY["council"].make())
    >>> counts_in_words(session, session.document.problem.graph.index("5,9"))
    'permanent 5, elected 9'
    """
    counted, people = counts_of(session), voters_of(session.document.problem)
    if people:
        votes: Any = session.document.problem.graph.label(dataset)  # a tuple, one for each
        return ", ".join(f"{name} {vote}" for name, vote in zip(people, votes, strict=True))
    if counted is None or all(name.startswith(UNNAMED) for name in counted.names):
        return ""
    here = np.argwhere(counted.cells == dataset)[0].tolist()
    return ", ".join(f"{name} {count}" for name, count in zip(counted.names, here, strict=True))


def cells_of(session: Session) -> Cells | None:
    """The map of the document, or None. With three or more counts, the slice through the selected dataset."""
    counted, memo = counts_of(session), session.cache
    if counted is None:
        return None
    through = session.selection.number if session.selection.kind == "dataset" else None
    found: Cells | None = memo["cells"]
    if found is None or (found.fixed and through is not None and not (found.datasets == through).any()):
        found = memo["cells"] = Cells(slice_of(session.document.problem, counted, None, through), counted)
    return found


def map_figure(session: Session, cells: Cells, theme: str, highlighted: int | None = None) -> dict[str, Any]:
    """p as colour over one or two counts, with a line where the answer changes, the path, and the selection.

    Args:
        session: the session.
        cells: the cells.
        theme: "light" or "dark".
        highlighted: how many steps of the path are drawn; by default all.
    """
    p, answers = probabilities_of(session)[cells.datasets], session.document.problem.answers[cells.datasets]
    ink = INKS[theme]
    up, across = (_escape(name) or "count" for name in cells.names)
    traces: list[dict[str, Any]] = [
        {
            "type": "heatmap",
            "x": cells.columns.tolist(),
            "y": cells.rows.tolist(),
            "z": [[None if value == NO_VALUE else value for value in row] for row in p.tolist()],
            "zmin": 0.0,
            "zmax": 1.0,
            "colorscale": SHADES[theme],
            "showscale": False,
            "text": _cell_words(session, cells, p),
            "hovertemplate": f"{cells.counts_words}<br>%{{text}}<extra></extra>",
        }
    ]
    across_line, up_line = _borders(cells, answers)
    if across_line:
        traces += [  # black with a white edge, so that it is seen on every colour, in light and dark
            {
                "type": "scatter",
                "x": across_line,
                "y": up_line,
                "mode": "lines",
                "line": {"color": colour, "width": width},
                "hoverinfo": "skip",
            }
            for colour, width in (("#ffffff", 5), ("#111111", 2))
        ]
    path = highlighted_path(session).until(highlighted)
    places = [place for dataset in path.datasets if (place := cells.place(dataset)) is not None]
    if len(places) == len(path.datasets):  # all of its cells are shown
        traces += _path_traces(path, [x for x, _ in places], [y for _, y in places], ink)
    place = cells.place(session.selection.number) if session.selection.kind == "dataset" else None
    if place is not None:
        traces.append(_ring(*place))
    where = f"{MAP} {session.document.opening} {sorted(cells.fixed.items())}"
    layout = _layout(ink, across, up if len(cells.rows) > 1 else "", where)
    for axis, at in (("xaxis", cells.columns), ("yaxis", cells.rows)):
        layout[axis] |= {"range": [at[0] - 0.5, at[-1] + 0.5], "showgrid": False}
        layout[axis] |= {"dtick": 1} if len(at) <= 12 else {}  # counts are whole
    return {"data": traces, "layout": layout}


def _cell_words(session: Session, cells: Cells, p: Any) -> list[list[str]]:
    """p of each cell in words, and p of what the mechanism is compared with."""
    compared, reference = compared_probabilities(session), session.reference()
    if compared is None or reference is None:
        return [[f"p = {format_compact(x, 4)}" if x != NO_VALUE else "no value" for x in row] for row in p.tolist()]
    return [
        [f"p = {format_compact(x, 4)}<br>{reference.name}: {format_compact(y, 4)}" for x, y in zip(*both, strict=True)]
        for both in zip(p.tolist(), compared[cells.datasets].tolist(), strict=True)
    ]


def _path_traces(
    path: HighlightedPath, x: Sequence[float], y: Sequence[float], ink: dict[str, str]
) -> list[dict[str, Any]]:
    """The path as a line with marks, with a white edge; an edge across that leaves room is dashed.

    studio.js lets it appear step by step, once for each `meta`.
    """
    if len(x) < 2:
        return []
    known = " ".join(map(str, path.datasets))
    parts = [(x[:2], y[:2], "dash"), (x[1:], y[1:], "solid")] if path.is_loose else [(x, y, "solid")]
    return [
        {
            "type": "scatter",
            "x": across,
            "y": up,
            "mode": "lines+markers",
            "name": PATH,
            "meta": known,
            "line": {"color": colour, "width": width, "dash": dash, "shape": "linear"},
            "marker": {"color": colour, "size": 2 * width + 2},
            "hoverinfo": "skip",
        }
        for across, up, dash in parts
        for colour, width in ((ink["paper"], 6), (ink["accent"], 3))
    ]


def _ring(x: float, y: float) -> dict[str, Any]:
    """The ring around the selected dataset, which is seen on every colour."""
    ring = {"symbol": "circle-open", "size": [21, 16], "color": ["#ffffff", "#111111"], "line": {"width": 3}}
    return {"type": "scatter", "x": [x] * 2, "y": [y] * 2, "mode": "markers", "marker": ring, "hoverinfo": "skip"}


def _borders(cells: Cells, answers: Any) -> tuple[list[Any], list[Any]]:
    """The lines between cells with different answers, separated by None."""
    sides = [
        np.concatenate([[at[0] - 0.5], (at[:-1] + at[1:]) / 2, [at[-1] + 0.5]]) for at in (cells.rows, cells.columns)
    ]
    rows, columns = sides
    x: list[Any] = []
    y: list[Any] = []
    for row, column in zip(*np.nonzero(answers[:, :-1] != answers[:, 1:]), strict=True):
        x += [columns[column + 1], columns[column + 1], None]
        y += [rows[row], rows[row + 1], None]
    for row, column in zip(*np.nonzero(answers[:-1] != answers[1:]), strict=True):
        x += [columns[column], columns[column + 1], None]
        y += [rows[row + 1], rows[row + 1], None]
    return (x, y) if len(x) <= MOST_BORDERS else ([], [])


def dataset_near(session: Session, across: float, up: float) -> int | None:
    """The dataset nearest to a place of the summary: in the nearest column, the one with the nearest p."""
    if session.answer.mechanism is None or not session.document.problem.graph.size:
        return None
    p = probabilities_of(session)
    found = summary(session.document.problem, p)
    members = found.members(int(np.abs(positions_of(found) - across).argmin()))
    return int(members[np.abs(p[members] - up).argmin()])


MOST_LARGE_DOTS = 30  # medians; more of them would touch each other
HALF_SHARE = 0.4  # of the width of a bar: the width of that of the middle half
BAR_SHARE = 0.8  # of the least distance between two bars: the width of a bar
LEAST_BAR = 1e-6  # a lower bar is not drawn: the page shows no smaller difference, and each bar takes time


def summary_figure(session: Session, theme: str, highlighted: int | None = None) -> dict[str, Any]:
    """The range of p at each distance to the other answer, the path, and the selection.

    Args:
        session: the session.
        theme: "light" or "dark".
        highlighted: how many steps of the path are drawn; by default all.
    """
    problem = session.document.problem
    ink = INKS[theme]
    if session.answer.mechanism is None:
        return _empty(ink)
    p = probabilities_of(session)
    found = summary(problem, p)
    one, two = (_escape(word) for word in answer_names(problem))
    across = positions_of(found).tolist()
    low, quarter, middle, upper, high = found.quantiles.T.tolist()
    counts = [
        f"{pluralize(count, 'dataset')}<br>{_spread(*values)}"
        for count, values in zip(found.counts.tolist(), found.quantiles.tolist(), strict=True)
    ]
    bars = [
        ("all datasets", low, high, f"{ink['edge']}40", 1.0),
        ("middle half", quarter, upper, ink["edge"], HALF_SHARE),  # narrower, so that the median stands out
    ]
    width = BAR_SHARE * float(np.diff(np.unique(across)).min(initial=1.0))
    traces: list[dict[str, Any]] = []
    for name, base, top, fill, share in bars:
        seen = [at for at, (a, b) in enumerate(zip(base, top, strict=True)) if b - a > LEAST_BAR]
        traces.append(
            {
                "type": "bar",
                "x": [across[at] for at in seen],
                "y": [top[at] - base[at] for at in seen],
                "base": [base[at] for at in seen],
                "width": width * share,
                "name": name,
                "marker": {"color": fill, "line": {"color": ink["edge"], "width": 1}},
                "hoverinfo": "skip",
            }
        )
    dots = {
        "color": middle,
        "colorscale": SHADES[theme],
        "cmin": 0,
        "cmax": 1,
        "size": 15 if len(across) <= MOST_LARGE_DOTS else 10,
    }
    traces.append(
        {
            "type": "scatter",
            "x": across,
            "y": middle,
            "text": counts,
            "mode": "markers",
            "name": "median",
            "marker": dots | {"line": {"color": ink["ink"], "width": 2}},
            "hovertemplate": "%{text}<extra></extra>",
        }
    )
    compared = compared_probabilities(session)
    if compared is not None:
        other = {"color": ink["ink"], "symbol": "diamond-open", "size": 20, "line": {"width": 1.5}}
        traces.append(
            {
                "type": "scatter",
                "x": across,
                "y": summary(problem, compared).quantiles[:, 2].tolist(),
                "mode": "markers",
                "name": COMPARED,
                "marker": other,
                "hoverinfo": "skip",
            }
        )
    path = highlighted_path(session).until(highlighted)
    columns = positions_of(found)[found.columns_of(path.datasets)].tolist()
    traces += _path_traces(path, columns, p[path.datasets].tolist(), ink)
    if session.selection.kind == "dataset":
        here = session.selection.number
        traces.append(_ring(float(positions_of(found)[found.columns_of([here])][0]), float(p[here])))
    words = x_label(found, one, two) + ("" if is_even(found) else f"; {LOGARITHMIC_NOTE}")
    layout = _layout(ink, words, f"probability of “{one}”", f"{SUMMARY} {session.document.opening}")
    layout["barmode"] = "overlay"
    layout["yaxis"] |= {"range": [-0.03, 1.03]}
    if found.levels.any():
        line = {"color": ink["ink"], "width": 1, "dash": "dash"}
        layout["shapes"] = [{"type": "line", "yref": "paper", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "line": line}]
    marks = tick_labels(found)
    layout["xaxis"] |= {
        "range": [min(across, default=0.0) - 0.6, max(across, default=0.0) + 0.6],
        "tickangle": 0,
        "tickvals": [at for at, _ in marks],
        "ticktext": [_escape(word) for _, word in marks],
    }
    return {"data": traces, "layout": layout}


def _spread(low: float, quarter: float, middle: float, upper: float, high: float) -> str:
    """The range of p at one distance, for the text beside the pointer."""
    ends = [format_compact(value, 4) for value in (low, quarter, middle, upper, high)]
    if high - low <= LEAST_BAR:
        return f"p = {ends[2]}"
    half = f"{ends[1]} to {ends[3]}" if upper - quarter > LEAST_BAR else f"all {ends[2]}"
    return f"p from {ends[0]} to {ends[4]}<br>median {ends[2]}; middle half {half}"


def _empty(ink: dict[str, str]) -> dict[str, Any]:
    """An empty chart with a message."""
    layout = _layout(ink, "", "", "nothing")
    for axis in ("xaxis", "yaxis"):
        layout[axis] |= {"visible": False, "range": [0, 1]}
    words = {"text": "There is no mechanism.", "x": 0.5, "y": 0.5, "showarrow": False}
    return {"data": [], "layout": layout | {"annotations": [words]}}


def _layout(ink: dict[str, str], across: str, up: str, again: str) -> dict[str, Any]:
    axis = {"color": ink["ink"], "gridcolor": ink["edge"] + "44", "zeroline": False}
    return {
        "paper_bgcolor": ink["paper"],
        "plot_bgcolor": ink["paper"],
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": ink["ink"]},
        "margin": {"l": 64, "r": 24, "t": 16, "b": 60},
        "showlegend": False,
        "xaxis": {**axis, "title": {"text": across, "standoff": 10, "font": {"size": 12}}},
        "yaxis": {**axis, "title": {"text": up, "font": {"size": 12}}},
        "uirevision": again,  # a zoomed view stays zoomed as long as it shows the same
    }


def _thin_out(count: int) -> Any:
    return np.unique(np.linspace(0, count - 1, min(count, MOST_CELLS)).round().astype(np.int64))


def _escape(name: str) -> str:
    """A text in which Plotly finds no tags."""
    return escape(escape_unprintable(name)[:60], quote=False)
