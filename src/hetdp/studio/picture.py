"""The picture of a graph. Only what has changed is made anew, and a page is sent only what it lacks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hetdp.mechanism.accuracy.distance import steps_to_the_other_answer
from hetdp.plots.layout import layered
from hetdp.studio.drawing import around, bent, first_of, is_drawable, places_of, stretched
from hetdp.studio.edits import Ends
from hetdp.studio.elements import Element, Frame, Look, dataset_elements, differing, edge_elements, look_of
from hetdp.studio.state import Session


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
