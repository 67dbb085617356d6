"""The path that is lit in the picture: what binds the chosen dataset, or why values contradict each other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.mechanism.accuracy.measures import steps_to_the_other_answer
from hetdp.mechanism.explanation import BindingPath
from hetdp.mechanism.formatting import format_compact
from hetdp.numbers import format_short
from hetdp.plots.layout import layered
from hetdp.plots.network import widths_of
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.studio.answers import Ends
from hetdp.studio.drawing import (
    NAMED,
    NONE,
    around,
    bent,
    beside,
    colours,
    first_of,
    inks,
    is_drawable,
    places_of,
    smallest_of,
    stretched,
    usual_of,
    values_of,
)
from hetdp.studio.session import Session


def lit_path(session: Session) -> tuple[list[int], BindingPath | None]:
    """The path that is lit: the witness if there is one, else what binds the chosen dataset."""
    found, path = session.answer, None
    if found.witness is not None:
        path = found.witness.path
    elif found.mechanism is not None and session.selection.kind == "dataset":
        path = explained(session)
    if path is None:
        return [], None
    return [session.sheet.problem.graph.index(name) for name in path.datasets], path


def explained(session: Session) -> BindingPath | None:
    """Why the chosen dataset is not answered better; None where that has no explanation by a path."""
    found = session.answer.mechanism
    if found is None or session.selection.kind != "dataset" or found.objective == "weighted-vote":
        return None
    path: BindingPath | None
    mechanism, number, path = session.memo.get("explained", (None, -1, None))
    if mechanism is not found or number != session.selection.number:
        number = session.selection.number
        path = found.explain(session.sheet.problem.graph.label(number))
        session.memo["explained"] = (found, number, path)  # the words and the picture both need it
    return path


# Datasets and edges as cytoscape draws them, and what they depend on. Labels are data, never names of anything.


TOLD = 150  # edges, up to which an ε that is not the usual one stands beside each
LAST_STEP = 12  # of a path that lights up one after the other

Element = dict[str, Any]


class Frame(NamedTuple):
    """What stays while numbers are moved: which datasets and edges are drawn, and where."""

    key: tuple[int, bytes]  # the opening, and the datasets
    chosen: Indices
    across: Floats
    down: Floats
    edges: Indices
    bent: Mask
    parallel: Mask


class Look(NamedTuple):
    """What the elements are made of; where two looks are alike, so are their elements."""

    p: Floats
    bare: bool  # no mechanism: p is what was given, or NONE
    pins: Mapping[int, Any]
    dataset: int  # the chosen one; -1 if none is
    edge: int
    path: list[int]
    steps: BindingPath | None
    epsilon: Floats
    widths: Floats
    usual: float | None  # the ε of more than half of all edges, said in the key and not on each of them


def look_of(session: Session, ends: Ends, frame: Frame, lit: int | None) -> Look:
    """What is on the table, as far as it is seen; `lit` steps of a path are lit, by default all."""
    mechanism = session.answer.mechanism
    kind, number = session.selection
    p = values_of(session)[frame.chosen]
    path, steps = lit_path(session)
    every = smallest_of(ends)
    epsilon = every[frame.edges]
    return Look(
        p,
        mechanism is None,
        session.sheet.pins,
        number if kind == "dataset" else -1,
        number if kind == "edge" else -1,
        path[: (len(path) if lit is None else lit + 1)],
        steps,
        epsilon,
        (widths_of(every)[frame.edges] * 1.3).round(2),
        usual_of(every),
    )


def differing(frame: Frame, ends: Ends, before: Look, now: Look) -> tuple[Indices, Indices]:
    """The places of datasets and of edges whose elements may not be the same in two looks."""
    touched = [*before.path, *now.path, before.dataset, now.dataset]
    touched += set(before.pins) ^ set(now.pins) if before.pins is not now.pins else ()
    datasets = (before.p != now.p) | np.isin(frame.chosen, touched)
    edges = (before.epsilon != now.epsilon) | (before.widths != now.widths)
    edges |= np.isin(frame.edges, [before.edge, now.edge])
    for path in (before.path, now.path):
        if path:
            edges |= np.isin(ends.source[frame.edges], path) & np.isin(ends.target[frame.edges], path)
    if before.usual != now.usual and len(frame.edges) <= TOLD:
        edges[:] = True
    return np.flatnonzero(datasets), np.flatnonzero(edges)


def dataset_elements(session: Session, frame: Frame, look: Look, rows: Indices) -> list[Element]:
    """The elements of some datasets, by their places in the frame."""
    problem, drawn = session.sheet.problem, session.sheet.drawn
    bounds = {} if look.steps is None else dict(zip(look.path, look.steps.bounds, strict=False))
    tell = len(frame.chosen) <= NAMED
    chosen, p = frame.chosen[rows], look.p[rows]
    codes = colours(p)
    truths = problem.answers[chosen].tolist()
    places = (axis[rows].tolist() for axis in (frame.across, frame.down))
    found = []
    for index, truth, value, colour, ink, across, down in zip(
        chosen.tolist(), truths, p.tolist(), codes, inks(codes), *places, strict=True
    ):
        kinds = ["one" if truth == 1 else "two"]
        kinds += ["pinned"] * (index in look.pins) + ["chosen"] * (index == look.dataset) + ["bare"] * look.bare
        text = ""
        if tell or index in bounds or index == look.dataset:
            text = beside(problem.graph.label(index), problem.labels)
        if index in bounds:
            kinds += ["lit", f"step{min(look.path.index(index), LAST_STEP)}"]
            text += f"\n{_bound(session, index, look.path, bounds[index]) if look.bare else format_compact(value)}"
        elif tell and value != NONE:
            text += f"\n{format_compact(value)}"
        data = {"id": f"n{drawn}-{index}", "label": text, "colour": colour, "ink": ink, "at": index}
        found.append({"data": data, "position": {"x": across, "y": down}, "classes": " ".join(kinds)})
    return found


def _bound(session: Session, index: int, path: list[int], bound: float) -> str:
    """What a dataset on a witness's path is told: its value, the bound on it, or both."""
    if index == path[0]:
        return f"p = {format_compact(bound)}"
    witness = session.answer.witness
    pinned = f",\nbut {format_compact(witness.value)}" if witness is not None and index in session.sheet.pins else ""
    return f"p ≤ {format_compact(bound)}{pinned}"


def edge_elements(session: Session, ends: Ends, frame: Frame, look: Look, rows: Indices) -> list[Element]:
    """The elements of some edges, by their places in the frame."""
    drawn, numbers = session.sheet.drawn, frame.edges[rows]
    pairs = {frozenset(pair): at for at, pair in enumerate(pairwise(look.path), 1)}
    tell, named = len(frame.edges) <= TOLD, "mu" not in ends.columns
    columns = (
        numbers,
        ends.source[numbers],
        ends.target[numbers],
        look.widths[rows],
        look.epsilon[rows],
        frame.bent[rows],
        frame.parallel[rows],
    )
    found = []
    for at, source, target, width, value, bends, parallel in zip(*(x.tolist() for x in columns), strict=True):
        kinds = ["free"] * (value == np.inf) + ["chosen"] * (at == look.edge)
        kinds += ["parallel"] if parallel else ["within"] * bends
        step = pairs.get(frozenset((source, target))) if pairs else None
        if (
            step is not None
            and parallel
            and look.steps is not None
            and look.steps.classes[step - 1] != ends.classes[at]
        ):
            step = None  # another edge between the same two binds
        kinds += [] if step is None else ["lit", f"step{min(step, LAST_STEP)}"]
        told = named and ((tell and value != look.usual) or step is not None or at == look.edge)
        data = {
            "id": f"e{drawn}-{at}",
            "source": f"n{drawn}-{source}",
            "target": f"n{drawn}-{target}",
            "width": width,
            "lit": max(width, 3.5),
            "label": f"ε {format_short(value)}" if told else "",
            "at": at,
        }
        found.append({"data": data, "classes": " ".join(kinds)})
    return found


# The picture of a graph. Only what has changed is made anew, and a page is sent only what it lacks.


class Picture:
    """Elements of the whole graph, or of a part of it, numbered by changes so that a page is sent what it lacks.

    Attributes:
        drawn: how many frames there were; another frame needs another layout.
        version: how many changes there were.
        elements: what is drawn, datasets before edges.
    """

    def __init__(self) -> None:
        self.drawn = self.version = 0
        self.elements: list[Element] = []
        self._changed = np.zeros(0, dtype=np.int64)  # the version of each element's last change
        self._frame: Frame | None = None
        self._look: Look | None = None
        self._centre = (-1, 0)  # the opening, and the dataset in the middle of a neighbourhood

    @property
    def datasets(self) -> int:
        """How many datasets are drawn."""
        return 0 if self._frame is None else len(self._frame.chosen)

    def update(self, session: Session, lit: int | None = None) -> list[Element]:
        """Draws what is on the table now.

        Args:
            session: what is on the table.
            lit: how many steps of the path are lit; by default all.
        """
        if session.ends is None:
            self.elements, self._changed, self._frame = [], np.zeros(0, dtype=np.int64), None
            return self.elements
        frame = self._framed(session, session.ends)
        look = look_of(session, session.ends, frame, lit)
        if frame is self._frame and self._look is not None and look.bare == self._look.bare:
            datasets, edges = differing(frame, session.ends, self._look, look)
        else:
            self.drawn += frame is not self._frame
            datasets, edges = np.arange(len(frame.chosen)), np.arange(len(frame.edges))
            self.elements = [{}] * (len(datasets) + len(edges))
            self._changed = np.zeros(len(self.elements), dtype=np.int64)
        self.version += 1
        for at, element in zip(datasets.tolist(), dataset_elements(session, frame, look, datasets), strict=True):
            self.elements[at] = element
        for at, element in zip(edges.tolist(), edge_elements(session, session.ends, frame, look, edges), strict=True):
            self.elements[len(frame.chosen) + at] = element
        self._changed[datasets] = self._changed[len(frame.chosen) + edges] = self.version
        self._frame, self._look = frame, look
        return self.elements

    def since(self, version: int) -> list[int]:
        """The places of the elements that have changed since a version of the same frame."""
        return np.flatnonzero(self._changed > version).tolist()

    def _framed(self, session: Session, ends: Ends) -> Frame:
        """The frame of what is on the table: the one there is, as long as it holds."""
        problem = session.sheet.problem
        chosen = np.arange(problem.graph.size) if is_drawable(session) else self._around(session, ends)
        key = (session.sheet.drawn, chosen.tobytes())
        if self._frame is not None and self._frame.key == key:
            return self._frame
        if len(chosen) == problem.graph.size:
            edges, places = np.arange(len(ends.source)), places_of(problem, ends)
        else:
            edges = np.flatnonzero(np.isin(ends.source, chosen) & np.isin(ends.target, chosen))
            at = np.full(problem.graph.size, -1)
            at[chosen] = np.arange(len(chosen))
            steps = steps_to_the_other_answer(problem)[chosen]
            places = stretched(layered(at[ends.source[edges]], at[ends.target[edges]], steps, problem.answers[chosen]))
        bends = bent(chosen, places, ends.source[edges], ends.target[edges])
        return Frame(key, chosen, *places, edges, bends, ends.parallel()[edges])

    def _around(self, session: Session, ends: Ends) -> NDArray[np.int64]:
        """The neighbourhood of what is chosen; it stays where it is while an edge inside it is looked at."""
        kind, number = session.selection
        if self._centre[0] != session.sheet.drawn:
            self._centre = (session.sheet.drawn, first_of(session))
        if kind == "dataset":
            self._centre = (session.sheet.drawn, number)
        chosen = around(session, self._centre[1])
        if kind == "edge" and not np.isin([ends.source[number], ends.target[number]], chosen).all():
            self._centre = (session.sheet.drawn, int(ends.source[number]))
            return around(session, self._centre[1])
        return chosen
