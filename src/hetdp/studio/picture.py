"""The network as cytoscape draws it: the elements of datasets and edges, and which of them have changed.

A page is sent only the elements that have changed since the version that it shows. What an element depends on is
collected in an `Appearance`, so that two of them can be compared. Labels are data and are never interpreted.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.mechanism.accuracy.measures import steps_to_the_other_answer
from hetdp.mechanism.formatting import format_compact
from hetdp.numbers import format_short
from hetdp.plots.layout import layered_layout
from hetdp.plots.network import WidthScale, edge_widths, width_scale
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.studio.answers import EdgeList
from hetdp.studio.binding import HighlightedPath, highlighted_path
from hetdp.studio.drawing import (
    MOST_NAMED,
    NO_VALUE,
    THEMES,
    colours_of,
    compared_probabilities,
    find_bent_edges,
    find_majority,
    find_neighbourhood,
    first_dataset,
    is_drawable,
    positions_of,
    probabilities_of,
    scale_to_points,
    shorten_label,
    smallest_epsilons,
    wrap_label,
)
from hetdp.studio.session import Session

MOST_LABELLED_EDGES = 150  # up to which edges are labelled with their ε, unless it is that of most edges
LONGEST_PERSON = 8  # characters of the class of an edge that is shown beside its ε
LEAST_LENGTH = 120.0  # points of an edge from which on that name leaves the line visible
LAST_STEP = 12  # of the steps of a path that are highlighted one after the other

Element = dict[str, Any]


class Frame(NamedTuple):
    """The datasets and edges that are drawn, and their positions. It stays the same while numbers are edited."""

    key: tuple[int, int, bytes]  # the opening, the list of edges, and the datasets
    chosen: Indices
    across: Floats
    down: Floats
    edges: Indices
    bent: Mask
    parallel: Mask


class Appearance(NamedTuple):
    """Everything that the elements of a frame depend on: equal appearances have equal elements."""

    p: Floats
    compared: Floats | None  # p of what the mechanism is compared with, if the picture shows it
    bare: bool  # no mechanism: p is what was given, or NONE
    pins: Mapping[int, Any]
    repaired: Mapping[int, Any]
    dataset: int  # the selected one, or −1
    edge: int
    path: HighlightedPath
    epsilon: Floats
    widths: Floats
    usual: float | None  # the ε of more than half of all edges, shown in the legend and not on each edge


def appearance_of(session: Session, edge_list: EdgeList, frame: Frame, highlighted: int | None) -> Appearance:
    """The appearance of a frame; `highlighted` steps of the path are highlighted, by default all."""
    mechanism = session.answer.mechanism
    kind, number = session.selection
    p = probabilities_of(session)[frame.chosen]
    compared = compared_probabilities(session)
    every = smallest_epsilons(edge_list)
    epsilon = every[frame.edges]
    return Appearance(
        p,
        None if compared is None else compared[frame.chosen],
        mechanism is None,
        session.document.pins,
        session.document.repaired,
        number if kind == "dataset" else -1,
        number if kind == "edge" else -1,
        highlighted_path(session).until(highlighted),
        epsilon,
        (edge_widths(every, _scale_of(session, every))[frame.edges] * 1.3).round(2),
        find_majority(every),
    )


def _scale_of(session: Session, epsilon: Floats) -> WidthScale:
    """The scale of widths, which stays that of the problem as it was first drawn: only changed edges look changed."""
    known: tuple[int, WidthScale] | None = session.cache.get("widths")
    if known is None or known[0] != session.document.opening:
        known = session.cache["widths"] = (session.document.opening, width_scale(epsilon))
    return known[1]


def find_changes(frame: Frame, edge_list: EdgeList, before: Appearance, now: Appearance) -> tuple[Indices, Indices]:
    """The rows of datasets and of edges whose elements may differ between two appearances."""
    touched = [*before.path.datasets, *now.path.datasets, before.dataset, now.dataset]
    touched += set(before.pins) ^ set(now.pins) if before.pins is not now.pins else ()
    touched += set(before.repaired) ^ set(now.repaired)
    datasets = (before.p != now.p) | differs(before.compared, now.compared) | np.isin(frame.chosen, touched)
    edges = (before.epsilon != now.epsilon) | (before.widths != now.widths)
    edges |= np.isin(frame.edges, [before.edge, now.edge])
    for path in (before.path.datasets, now.path.datasets):
        if path:
            edges |= np.isin(edge_list.source[frame.edges], path) & np.isin(edge_list.target[frame.edges], path)
    if before.usual != now.usual and len(frame.edges) <= MOST_LABELLED_EDGES:
        edges[:] = True
    return np.flatnonzero(datasets), np.flatnonzero(edges)


def differs(before: Floats | None, now: Floats | None) -> Any:
    """Where two values differ, of which either may be missing."""
    if before is None or now is None:
        return before is not now
    return before != now


def dataset_elements(session: Session, frame: Frame, appearance: Appearance, rows: Indices) -> list[Element]:
    """The elements of some datasets, by their rows in the frame."""
    problem, drawn = session.document.problem, session.document.opening
    path = {index: step for step, index in enumerate(appearance.path.datasets)}
    with_names = len(frame.chosen) <= MOST_NAMED
    chosen, p = frame.chosen[rows], appearance.p[rows]
    shades = {theme: colours_of(p, theme) for theme in THEMES}  # each page chooses
    truths = problem.answers[chosen].tolist()
    places = (axis[rows].tolist() for axis in (frame.across, frame.down))
    found = []
    compared = [None] * len(rows) if appearance.compared is None else appearance.compared[rows].tolist()
    for index, truth, value, before, light, dark, across, down in zip(
        chosen.tolist(), truths, p.tolist(), compared, *shades.values(), *places, strict=True
    ):
        kinds = ["one" if truth == 1 else "two"]
        kinds += (
            ["pinned"] * (index in appearance.pins)
            + ["selected"] * (index == appearance.dataset)
            + ["moved"] * (index in appearance.repaired)
            + ["bare"] * (value == NO_VALUE)
        )
        text = ""
        if with_names or index in path or index == appearance.dataset:
            text = wrap_label(problem.graph.label(index), problem.labels)
        if index in path:
            kinds += ["highlighted", f"step{min(path[index], LAST_STEP)}"]
            text += f"\n{_bound(session, index, path[index]) if appearance.bare else value_words(value, before)}"
        elif (with_names or text) and value != NO_VALUE:
            text += f"\n{value_words(value, before)}"
        data = {
            "id": f"n{drawn}-{index}",
            "label": text,
            "light": light,
            "dark": dark,
            "at": index,
            "x": across,
            "y": down,
        }
        found.append({"data": data, "position": {"x": across, "y": down}, "classes": " ".join(kinds)})
    return found


def value_words(value: float, before: float | None = None) -> str:
    r"""p, and what it is compared with, if the picture shows that.

    >>> value_words(0.25), value_words(0.25, 0.5), value_words(0.25, 0.25)
    ('0.25', '0.5\n→ 0.25', '0.25')
    """
    words, other = format_compact(value), "" if before is None else format_compact(before)
    return f"{other}\n→ {words}" if other and other != words else words


def _bound(session: Session, index: int, step: int) -> str:
    """The text below a dataset on the path of a witness: its value, the bound on it, or both."""
    witness = session.answer.witness
    assert witness is not None  # without a mechanism, no other path is highlighted
    bound = format_compact(witness.path.bounds[step])
    if step == 0:
        return f"p = {bound}"
    pinned = f",\nbut {format_compact(witness.value)}" if index in session.document.pins else ""
    return f"p ≤ {bound}{pinned}"


def edge_elements(
    session: Session, edge_list: EdgeList, frame: Frame, appearance: Appearance, rows: Indices
) -> list[Element]:
    """The elements of some edges, by their rows in the frame."""
    drawn, numbers = session.document.opening, frame.edges[rows]
    pairs = {frozenset(pair): at for at, pair in enumerate(pairwise(appearance.path.datasets), 1)}
    few, has_epsilon = len(frame.edges) <= MOST_LABELLED_EDGES, "mu" not in edge_list.columns
    relisted = f".{session.relisted}" if session.relisted else ""  # cytoscape keeps the ends of an id
    columns = (
        numbers,
        edge_list.source[numbers],
        edge_list.target[numbers],
        appearance.widths[rows],
        appearance.epsilon[rows],
        frame.bent[rows],
        frame.parallel[rows],
        _lengths(frame, edge_list.source[numbers], edge_list.target[numbers]),
    )
    found = []
    for at, source, target, width, value, bends, parallel, length in zip(*(x.tolist() for x in columns), strict=True):
        kinds = ["free"] * (value == np.inf) + ["selected"] * (at == appearance.edge)
        kinds += ["parallel"] if parallel else ["within"] * bends
        step = pairs.get(frozenset((source, target))) if pairs else None
        if step is not None and parallel and appearance.path.classes[step - 1] != edge_list.classes[at]:
            step = None  # the path uses a parallel edge
        kinds += [] if step is None else ["highlighted", f"step{min(step, LAST_STEP)}"]
        kinds += ["loose"] * (step == 1 and appearance.path.is_loose)
        labelled = has_epsilon and ((few and value != appearance.usual) or step is not None or at == appearance.edge)
        data = {
            "id": f"e{drawn}{relisted}-{at}",
            "source": f"n{drawn}-{source}",
            "target": f"n{drawn}-{target}",
            "width": width,
            "highlighted": max(width, 3.5),
            "label": f"{_person(edge_list.classes[at], length)}ε {format_short(value)}" if labelled else "",
            "at": at,
        }
        found.append({"data": data, "classes": " ".join(kinds)})
    return found


def _lengths(frame: Frame, source: Indices, target: Indices) -> Floats:
    """The lengths of edges, in points."""
    one, other = np.searchsorted(frame.chosen, source), np.searchsorted(frame.chosen, target)
    return np.hypot(frame.across[one] - frame.across[other], frame.down[one] - frame.down[other])


def _person(edge_class: Any, length: float) -> str:
    """The person or group of an edge before its ε, if the name is short and the edge is not."""
    is_name = isinstance(edge_class, str) and len(edge_class) <= LONGEST_PERSON and not edge_class.isdecimal()
    return f"{shorten_label(edge_class)} " if is_name and length >= LEAST_LENGTH else ""


class Picture:
    """The elements of a whole graph, or of a neighbourhood in it. Each records the version of its last change.

    Attributes:
        frame_number: counts the frames; another frame needs another layout.
        version: counts the updates.
        elements: the elements, datasets before edges.
    """

    def __init__(self) -> None:
        self.frame_number = self.version = 0
        self.elements: list[Element] = []
        self._changed = np.zeros(0, dtype=np.int64)  # the version of each element's last change
        self._frame: Frame | None = None
        self._appearance: Appearance | None = None
        self._centre = (-1, 0)  # the opening, and the dataset at the centre of a neighbourhood

    @property
    def datasets(self) -> int:
        """The number of datasets that are drawn."""
        return 0 if self._frame is None else len(self._frame.chosen)

    def update(self, session: Session, highlighted: int | None = None) -> list[Element]:
        """Draws the current document.

        Args:
            session: the session.
            highlighted: how many steps of the path are highlighted; by default all.
        """
        if session.edge_list is None:
            self.elements, self._changed, self._frame = [], np.zeros(0, dtype=np.int64), None
            return self.elements
        frame = self._frame_for(session, session.edge_list)
        appearance = appearance_of(session, session.edge_list, frame, highlighted)
        if frame is self._frame and self._appearance is not None and appearance.bare == self._appearance.bare:
            datasets, edges = find_changes(frame, session.edge_list, self._appearance, appearance)
        else:
            self.frame_number += frame is not self._frame
            datasets, edges = np.arange(len(frame.chosen)), np.arange(len(frame.edges))
            self.elements = [{}] * (len(datasets) + len(edges))
            self._changed = np.zeros(len(self.elements), dtype=np.int64)
        self.version += 1
        for at, element in zip(datasets.tolist(), dataset_elements(session, frame, appearance, datasets), strict=True):
            self.elements[at] = element
        for at, element in zip(
            edges.tolist(), edge_elements(session, session.edge_list, frame, appearance, edges), strict=True
        ):
            self.elements[len(frame.chosen) + at] = element
        self._changed[datasets] = self._changed[len(frame.chosen) + edges] = self.version
        self._frame, self._appearance = frame, appearance
        return self.elements

    def changes_since(self, version: int) -> list[int]:
        """The positions of the elements that have changed since a version of the same frame."""
        return np.flatnonzero(self._changed > version).tolist()

    def _frame_for(self, session: Session, edge_list: EdgeList) -> Frame:
        """The frame of the current document: the existing one, if it still fits."""
        problem = session.document.problem
        chosen = np.arange(problem.graph.size) if is_drawable(session) else self._neighbourhood(session, edge_list)
        key = (session.document.opening, session.relisted, chosen.tobytes())
        if self._frame is not None and self._frame.key == key:
            return self._frame
        if len(chosen) == problem.graph.size:
            edges, places = np.arange(len(edge_list.source)), positions_of(problem, edge_list)
        else:
            edges = np.flatnonzero(np.isin(edge_list.source, chosen) & np.isin(edge_list.target, chosen))
            at = np.full(problem.graph.size, -1)
            at[chosen] = np.arange(len(chosen))
            steps = steps_to_the_other_answer(problem)[chosen]
            places = scale_to_points(
                layered_layout(at[edge_list.source[edges]], at[edge_list.target[edges]], steps, problem.answers[chosen])
            )
        bends = find_bent_edges(chosen, places, edge_list.source[edges], edge_list.target[edges])
        return Frame(key, chosen, *places, edges, bends, edge_list.parallel()[edges])

    def _neighbourhood(self, session: Session, edge_list: EdgeList) -> NDArray[np.int64]:
        """The neighbourhood of the selection. It stays while an edge inside it is selected."""
        kind, number = session.selection
        if self._centre[0] != session.document.opening:
            self._centre = (session.document.opening, first_dataset(session))
        if kind == "dataset":
            self._centre = (session.document.opening, number)
        chosen = find_neighbourhood(session, self._centre[1])
        if kind == "edge" and not np.isin([edge_list.source[number], edge_list.target[number]], chosen).all():
            self._centre = (session.document.opening, int(edge_list.source[number]))
            return find_neighbourhood(session, self._centre[1])
        return chosen
