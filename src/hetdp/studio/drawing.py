"""The graph as cytoscape draws it: elements, and where they stand. Labels are data, never names of anything."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import printable
from hetdp.mechanism.accuracy.distance import steps_to_the_other_answer
from hetdp.mechanism.explanation import BindingPath
from hetdp.plots.colours import DARK, SHADES
from hetdp.plots.layout import Layout, layered
from hetdp.plots.network import widths_of
from hetdp.problem.notebook import label
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.studio.edits import Ends
from hetdp.studio.lit import lit_path
from hetdp.studio.state import Session

MOST_DATASETS, MOST_EDGES = 1_200, 6_000  # that a browser still moves smoothly
AROUND = 60  # datasets of a neighbourhood
SHAPE = 1.4  # how much broader a picture is than high
LONGEST = 18
NAMED = 260  # datasets, up to which each has its name beside it

Element = dict[str, Any]
Places = tuple[Floats, Floats]


def is_drawable(session: Session) -> bool:
    """Whether the whole graph can be drawn."""
    graph = session.sheet.problem.graph
    return graph.size <= MOST_DATASETS and graph.arc_count <= 2 * MOST_EDGES


def colours(p: Floats) -> list[str]:
    """The colour of each p, between those of the two answers."""
    at = [place for place, _ in SHADES]
    parts = np.array([[int(code[i : i + 2], 16) for i in (1, 3, 5)] for _, code in SHADES], dtype=float)
    mixed = np.stack([np.interp(p, at, parts[:, part]) for part in range(3)], axis=1).round().astype(int)
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in mixed.tolist()]


def inks(codes: list[str]) -> list[str]:
    """What can be read on each colour."""
    found = []
    for code in codes:
        red, green, blue = (int(code[i : i + 2], 16) / 255 for i in (1, 3, 5))
        found.append("#ffffff" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < DARK else "#1a1a1a")
    return found


def short(name: Any, longest: int = LONGEST) -> str:
    r"""A label on one line, cut in the middle if it is long.

    >>> short("a" * 30), short("a\nb")
    ('aaaaaaaaa…aaaaaaaa', 'a?b')
    """
    text = printable(label(name))
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]}…{text[len(text) - longest + longest // 2 + 1 :]}"


def answer_words(problem: Problem) -> tuple[str, str]:
    """What answers 1 and 2 are called."""
    one, two = (printable(problem.about.get(key) or key.replace("_", " "))[:40] for key in ("answer_1", "answer_2"))
    return one, two


def places_of(problem: Problem, ends: Ends) -> Places:
    """Where each dataset stands, in points: answer 2 on the left, answer 1 on the right, the boundary in the middle."""
    return _stretched(layered(ends.source, ends.target, steps_to_the_other_answer(problem), problem.answers))


def _stretched(spread: Layout) -> Places:
    """A layout in points, about as broad and as high as a screen."""
    columns = float(np.ptp(spread.across)) + 1.0 if len(spread.across) else 1.0
    wide = max(860.0, columns * 88.0 * max(1.0, 0.5 * spread.lanes))
    down = max(0.6 * wide, 66.0 * spread.tallest) if spread.tallest > 1 else 1.0
    return spread.across * (max(wide, SHAPE * down) / columns), -spread.up * down


def around(session: Session, dataset: int) -> NDArray[np.int64]:
    """The datasets nearest to one, by steps, as many as can be drawn."""
    graph, seen, queue = session.sheet.problem.graph, {dataset}, [dataset]
    for here in queue:
        for there in sorted(graph.neighbours(here)[0].tolist()):
            if there not in seen and len(seen) < AROUND:
                seen.add(there)
                queue.append(there)
        if len(seen) >= AROUND:
            break
    return np.array(sorted(seen), dtype=np.int64)


class Picture:
    """Elements of the whole graph or of a part of it. Where datasets stand is computed once for each opening."""

    def __init__(self) -> None:
        self.drawn = 0  # how many layouts there were
        self._key: Any = None
        self._centre = (-1, 0)  # the opening, and the dataset in the middle of a neighbourhood
        self._places: Places = (np.zeros(0), np.zeros(0))

    def elements(self, session: Session, lit: int | None = None) -> list[Element]:
        """Everything that is drawn now.

        Args:
            session: what is on the table.
            lit: how many steps of the path are lit; by default all.
        """
        sheet, ends = session.sheet, session.ends
        if ends is None:
            return []
        if is_drawable(session):
            chosen = np.arange(sheet.problem.graph.size)
            edges = np.arange(len(ends.source))
        else:
            chosen = self._around(session, ends)
            inside = np.isin(ends.source, chosen) & np.isin(ends.target, chosen)
            edges = np.flatnonzero(inside)
        places = self._where(session, chosen, edges)
        path, steps = lit_path(session)
        path = path[: (len(path) if lit is None else lit + 1)]
        return [*_datasets(session, chosen, places, path, steps), *_edges(session, chosen, places, edges, path)]

    def _around(self, session: Session, ends: Ends) -> NDArray[np.int64]:
        """The neighbourhood of what is chosen; it stays where it is while an edge inside it is looked at."""
        kind, number = session.selection
        if self._centre[0] != session.sheet.drawn:
            self._centre = (session.sheet.drawn, _first(session))
        if kind == "dataset":
            self._centre = (session.sheet.drawn, number)
        chosen = around(session, self._centre[1])
        if kind == "edge" and not np.isin([ends.source[number], ends.target[number]], chosen).all():
            self._centre = (session.sheet.drawn, int(ends.source[number]))
            return around(session, self._centre[1])
        return chosen

    def _where(self, session: Session, chosen: NDArray[np.int64], edges: NDArray[np.int64]) -> Places:
        ends, problem = session.ends, session.sheet.problem
        assert ends is not None
        key = (session.sheet.drawn, len(chosen), int(chosen[0]) if len(chosen) else 0, int(chosen.sum()))
        if key != self._key:
            if len(chosen) == problem.graph.size:
                self._places = places_of(problem, ends)
            else:
                at = np.full(problem.graph.size, -1)
                at[chosen] = np.arange(len(chosen))
                steps = steps_to_the_other_answer(problem)[chosen]
                spread = layered(at[ends.source[edges]], at[ends.target[edges]], steps, problem.answers[chosen])
                self._places = _stretched(spread)
            self._key, self.drawn = key, self.drawn + 1
        return self._places


def _first(session: Session) -> int:
    """Where one begins to look: a dataset on the boundary."""
    boundary = session.sheet.problem.boundary_mask.nonzero()[0]
    return int(boundary[len(boundary) // 2]) if len(boundary) else 0


def _datasets(
    session: Session, chosen: NDArray[np.int64], places: Places, path: list[int], steps: BindingPath | None
) -> list[Element]:
    problem, mechanism = session.sheet.problem, session.answer.mechanism
    p = np.where(problem.answers[chosen] == 1, 1.0, 0.0) if mechanism is None else mechanism.probabilities[chosen]
    codes = colours(p)
    bounds = {} if steps is None else dict(zip(path, steps.bounds, strict=False))
    number = session.selection.number if session.selection.kind == "dataset" else -1
    tell = len(chosen) <= NAMED
    found = []
    rows = zip(chosen.tolist(), p.tolist(), codes, inks(codes), *(axis.tolist() for axis in places), strict=True)
    for index, value, colour, ink, across, down in rows:
        kinds = ["one" if problem.answers[index] == 1 else "two"]
        kinds += ["pinned"] * (index in session.sheet.pins) + ["chosen"] * (index == number)
        kinds += ["bare"] * (mechanism is None)
        name = short(problem.graph.label(index))
        text = name if tell or index in bounds or index == number else ""
        if index in bounds:
            kinds += ["lit", f"step{min(path.index(index), 12)}"]
            text = f"{name}\n{_bound(session, index, path, bounds[index]) if mechanism is None else f'{value:.3g}'}"
        elif tell and mechanism is not None:
            text = f"{name}\n{value:.3g}"
        data = {"id": f"n{session.sheet.drawn}-{index}", "label": text, "colour": colour, "ink": ink, "at": index}
        found.append({"data": data, "position": {"x": across, "y": down}, "classes": " ".join(kinds)})
    return found


def _bent(chosen: NDArray[np.int64], places: Places, source: Indices, target: Indices) -> Mask:
    """Which edges have to bend: those within a column, around the datasets between their ends."""
    across, down = (axis.round(6) for axis in places)
    order = np.lexsort((down, across))
    row = np.empty(len(chosen), dtype=np.int64)
    row[order] = np.arange(len(chosen))
    one, other = np.searchsorted(chosen, source), np.searchsorted(chosen, target)
    return np.asarray((across[one] == across[other]) & (np.abs(row[one] - row[other]) > 1))


def _bound(session: Session, index: int, path: list[int], bound: float) -> str:
    """What a dataset on a witness's path is told: its value, the bound on it, or both."""
    if index == path[0]:
        return f"p = {bound:.3g}"
    witness = session.answer.witness
    pinned = f", but {witness.value:.3g}" if witness is not None and index in session.sheet.pins else ""
    return f"p ≤ {bound:.3g}{pinned}"


def _edges(
    session: Session, chosen: NDArray[np.int64], places: Places, edges: NDArray[np.int64], path: list[int]
) -> list[Element]:
    ends, drawn = session.ends, session.sheet.drawn
    assert ends is not None
    bent = _bent(chosen, places, ends.source[edges], ends.target[edges])
    strengths = [values for name, values in ends.columns.items() if "delta" not in name]
    epsilon = np.minimum.reduce(strengths)
    widths = (widths_of(epsilon)[edges] * 1.3).round(2)
    number = session.selection.number if session.selection.kind == "edge" else -1
    pairs = {frozenset(pair): at for at, pair in enumerate(pairwise(path), 1)}
    known, counts = np.unique(epsilon[edges], return_counts=True)
    usual = known[counts.argmax()] if len(known) else np.nan  # said in the key, not on every edge
    tell = len(edges) <= 150
    found = []
    columns = (edges, ends.source[edges], ends.target[edges], widths, epsilon[edges], bent)
    for at, source, target, width, value, bends in zip(*(column.tolist() for column in columns), strict=True):
        kinds = ["free"] * (value == np.inf) + ["chosen"] * (at == number)
        kinds += ["within"] * bends
        step = pairs.get(frozenset((source, target)))
        kinds += [] if step is None else ["lit", f"step{min(step, 12)}"]
        text = (
            f"ε {value:g}"
            if ((tell and value != usual) or step is not None or at == number) and "mu" not in ends.columns
            else ""
        )
        data = {
            "id": f"e{drawn}-{at}",
            "source": f"n{drawn}-{source}",
            "target": f"n{drawn}-{target}",
            "width": width,
            "lit": max(width, 3.5),
            "label": text,
            "at": at,
        }
        found.append({"data": data, "classes": " ".join(kinds)})
    return found
