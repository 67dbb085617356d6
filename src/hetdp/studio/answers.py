"""A problem with one number of one edge changed; everything else stays, the numbers of the edges included."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hetdp.engines.registry import EngineName
from hetdp.errors import HetdpError, NoExtensionError
from hetdp.mechanism.compatibility import Repair, Witness
from hetdp.mechanism.design import design, require_objective
from hetdp.mechanism.extension import extend
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.mechanism.vote import WEIGHTED_VOTE, people_of
from hetdp.problem.classes import classes_of
from hetdp.problem.faults import FaultCollector
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.text import pluralize


class Ends(NamedTuple):
    """All edges of a problem, each once: both ends, what it carries as written, and its place among the graph's edges.

    They are in the order of their ends, then of their classes, whatever they carry: a graph lists those with ε = ∞
    last, and parallel ones by their ε.
    """

    source: Indices
    target: Indices
    columns: dict[str, Floats]
    places: Indices
    classes: list[Any]

    def number(self, one: int, other: int, edge_class: Any = None) -> int:
        """The number of the edge of a class between two datasets; −1 if there is none."""
        low, high = min(one, other), max(one, other)
        found = np.flatnonzero((self.source == low) & (self.target == high)).tolist()
        return next((at for at in found if self.classes[at] == edge_class), -1)

    def parallel(self) -> Mask:
        """Which edges are not the only ones between their ends."""
        same = (self.source[1:] == self.source[:-1]) & (self.target[1:] == self.target[:-1])
        return np.asarray(np.append(same, False) | np.append(False, same))[: len(self.source)]


def ends_of(problem: Problem) -> Ends:
    """The edges of a problem; source is the end that comes first in graph order."""
    source, target, *values = problem.graph.edges()
    columns = dict(zip(problem.graph.parameter_names, values, strict=True))
    classes = classes_of(problem.graph.edge_classes(), FaultCollector("edges"))
    ranks = np.zeros(len(source)) if classes is None else classes.ranks()
    names = [None] * len(source) if classes is None else classes.by_name()
    places = np.lexsort((ranks, target, source))
    ordered = {name: values[places] for name, values in columns.items()}
    return Ends(source[places], target[places], ordered, places, [names[place] for place in places.tolist()])


# What a sheet leads to: a mechanism with its proof, or the reason why there is none.


GIVEN = "extension"  # only the given values, and nothing chosen
MOST_FAIR = 200_000  # datasets, in the first answer to a problem
MOST_AVERAGE = 3_000
COMPILED_FROM = 60  # datasets: beyond, the compiled search is worth loading

Pins = Mapping[int, tuple[str, float]]  # by dataset: whether p, z or error is given, and the number


@dataclass(frozen=True, eq=False)
class Answer:
    """What a sheet leads to; either a mechanism, or words that say why there is none.

    Attributes:
        mechanism: the best private mechanism.
        why_not: if there is none, the reason, in words.
        witness: if the given values contradict each other, the path between them.
        repair: and values that do not.
        unpinned: whether some boundary dataset has no value, though only given values are wanted.
    """

    mechanism: LocalMechanism | None = None
    why_not: str = ""
    witness: Witness | None = None
    repair: Repair | None = None
    unpinned: bool = False


def partial_of(problem: Problem, pins: Pins) -> PartialMechanism:
    """The given values, each as it was given."""
    kinds: dict[str, dict[Any, float]] = {"p": {}, "z": {}, "error": {}}
    for index, (kind, value) in pins.items():
        kinds[kind][problem.graph.label(index)] = value
    return PartialMechanism(**{kind: values or None for kind, values in kinds.items()})


def answer(problem: Problem, pins: Pins, objective: str) -> Answer:
    """Solves a problem; a refusal is an answer, too."""
    engine = engine_of(problem)
    try:
        if objective == GIVEN:
            missing = sum(1 for index in problem.boundary_mask.nonzero()[0].tolist() if index not in pins)
            if missing:
                have = "has" if missing == 1 else "have"
                words = f"{pluralize(missing, 'dataset')} on the boundary {have} no value yet."
                return Answer(why_not=words, unpinned=True)
            return Answer(extend(problem, partial_of(problem, pins), engine))
        partial = partial_of(problem, pins) if pins else None
        return Answer(design(problem, require_objective(objective), partial, engine=engine))
    except NoExtensionError as refusal:
        return Answer(why_not=str(refusal.witness), witness=refusal.witness, repair=refusal.repair)
    except HetdpError as refusal:
        return Answer(why_not=str(refusal))


def objectives_for(problem: Problem) -> list[str]:
    """What can be asked for on this problem, without waiting for minutes."""
    found = ["fair", "balanced"]
    if problem.graph.size <= MOST_AVERAGE:
        found.append("average")
    try:
        people_of(problem)
        found.append(WEIGHTED_VOTE)
    except HetdpError:
        pass
    return [*found, GIVEN]


def first_objective(problem: Problem, pins: Pins) -> str:
    """What a problem is answered by when it is opened: its own values, if it has them."""
    if pins and all(index in pins for index in problem.boundary_mask.nonzero()[0].tolist()):
        return GIVEN
    return "fair" if problem.graph.size <= MOST_FAIR else "balanced"


_ready = threading.Event()
_starting = threading.Lock()


def engine_of(problem: Problem) -> EngineName:
    """The engine for a problem: the compiled one where that is sooner, once it is loaded, which happens meanwhile."""
    if not isinstance(problem.graph, DatasetGraph) or problem.graph.size < COMPILED_FROM:
        return "auto"
    if _ready.is_set():
        return "cpu"
    load_meanwhile()
    return "auto"


def load_meanwhile() -> None:
    """Loads the compiled search in the background, once."""
    if _starting.acquire(blocking=False):
        threading.Thread(target=warm, daemon=True).start()


def warm() -> None:
    """Loads the compiled search, and says that it is there."""
    graph = DatasetGraph.from_edges(["a"], ["b"], 1.0)
    problem = Problem(graph, [1, 2])
    extend(problem, {"a": 0.6, "b": 0.4}, "cpu")
    design(problem, "fair", engine="cpu")
    _ready.set()
