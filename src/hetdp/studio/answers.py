"""The answer to a document: the best private mechanism with its proof, or the reason why there is none.

Also here: the list of a problem's edges in a stable order, by which the page refers to them, and which engine and
objectives suit a problem on an interactive page.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hetdp.engines.registry import EngineName
from hetdp.errors import FaultCollector, HetdpError, NoExtensionError
from hetdp.mechanism.compatibility import Witness
from hetdp.mechanism.design import design_local, require_objective
from hetdp.mechanism.extension import extend
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.mechanism.repair import Repair
from hetdp.mechanism.vote import WEIGHTED_VOTE, require_people
from hetdp.problem.classes import classes_of
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.text import pluralize


class EdgeList(NamedTuple):
    """All edges of a problem, each once, sorted by their ends and classes.

    The order does not depend on the parameters, unlike that of `graph.edges()`, which lists edges with ε = ∞ last and
    parallel edges by their ε.

    Attributes:
        source: the end that comes first in graph order.
        target: the other end.
        columns: the parameters as written, by name.
        places: the position of each edge in `graph.edges()`.
        classes: the class of each edge, or None.
    """

    source: Indices
    target: Indices
    columns: dict[str, Floats]
    places: Indices
    classes: list[Any]

    def number(self, one: int, other: int, edge_class: Any = None) -> int:
        """The position of the edge of a class between two datasets; −1 if there is none."""
        low, high = min(one, other), max(one, other)
        found = np.flatnonzero((self.source == low) & (self.target == high)).tolist()
        return next((at for at in found if self.classes[at] == edge_class), -1)

    def has_same_edges(self, other: EdgeList) -> bool:
        """True if both list the same edges, whatever their parameters."""
        ends = np.array_equal(self.source, other.source) and np.array_equal(self.target, other.target)
        return ends and self.classes == other.classes

    def parallel(self) -> Mask:
        """True for edges that share both ends with another edge."""
        same = (self.source[1:] == self.source[:-1]) & (self.target[1:] == self.target[:-1])
        return np.asarray(np.append(same, False) | np.append(False, same))[: len(self.source)]


def list_edges(problem: Problem) -> EdgeList:
    """Lists the edges of a problem."""
    source, target, *values = problem.graph.edges()
    columns = dict(zip(problem.graph.parameter_names, values, strict=True))
    classes = classes_of(problem.graph.edge_classes(), FaultCollector("edges"))
    ranks = np.zeros(len(source)) if classes is None else classes.ranks()
    names = [None] * len(source) if classes is None else classes.by_name()
    places = np.lexsort((ranks, target, source))
    ordered = {name: values[places] for name, values in columns.items()}
    return EdgeList(source[places], target[places], ordered, places, [names[place] for place in places.tolist()])


GIVEN = "extension"  # the given values are extended, and no objective chooses any
MOST_DATASETS_FAIR = 200_000  # datasets for which the first answer to a problem is fair
MOST_DATASETS_AVERAGE = 3_000
COMPILED_FROM = 60  # datasets from which on the compiled search is faster

Pins = Mapping[int, tuple[str, float]]  # by dataset: "p", "z" or "error", and the number


@dataclass(frozen=True, eq=False)
class Answer:
    """A mechanism, or the reason why there is none.

    Attributes:
        mechanism: the best private mechanism; None if there is none.
        reason: why there is none.
        witness: if the given values contradict each other, the path between two of them.
        repair: in that case, nearby values that do not contradict each other.
        lacks_pins: true if only given values are used and a dataset on the boundary has none.
    """

    mechanism: LocalMechanism | None = None
    reason: str = ""
    witness: Witness | None = None
    repair: Repair | None = None
    lacks_pins: bool = False


def partial_of(problem: Problem, pins: Pins) -> PartialMechanism:
    """The given values as a partial mechanism."""
    kinds: dict[str, dict[Any, float]] = {"p": {}, "z": {}, "error": {}}
    for index, (kind, value) in pins.items():
        kinds[kind][problem.graph.label(index)] = value
    return PartialMechanism(**{kind: values or None for kind, values in kinds.items()})


def solve(problem: Problem, pins: Pins, objective: str) -> Answer:
    """Solves a problem. If it has no solution, the answer says why."""
    engine = choose_engine(problem)
    try:
        if objective == GIVEN:
            missing = sum(1 for index in problem.boundary_mask.nonzero()[0].tolist() if index not in pins)
            if missing:
                have = "has" if missing == 1 else "have"
                words = f"{pluralize(missing, 'dataset')} on the boundary {have} no given value yet."
                return Answer(reason=words, lacks_pins=True)
            return Answer(extend(problem, partial_of(problem, pins), engine))
        partial = partial_of(problem, pins) if pins else None
        return Answer(design_local(problem, require_objective(objective), partial=partial, engine=engine))
    except NoExtensionError as refusal:
        return Answer(reason=str(refusal.witness), witness=refusal.witness, repair=refusal.repair)
    except HetdpError as refusal:
        return Answer(reason=str(refusal))


def list_objectives(problem: Problem) -> list[str]:
    """The objectives that suit a problem and are computed within seconds."""
    found = ["fair", "balanced"]
    if problem.graph.size <= MOST_DATASETS_AVERAGE:
        found.append("average")
    try:
        require_people(problem)
        found.append(WEIGHTED_VOTE)
    except HetdpError:
        pass
    return [*found, GIVEN]


def first_objective(problem: Problem, pins: Pins) -> str:
    """The objective of a problem that was just opened: its given values, if they cover the boundary."""
    if pins and all(index in pins for index in problem.boundary_mask.nonzero()[0].tolist()):
        return GIVEN
    return "fair" if problem.graph.size <= MOST_DATASETS_FAIR else "balanced"


_ready = threading.Event()
_starting = threading.Lock()


def choose_engine(problem: Problem) -> EngineName:
    """The engine for a problem: the compiled one where it is faster, as soon as it has been loaded."""
    if not isinstance(problem.graph, DatasetGraph) or problem.graph.size < COMPILED_FROM:
        return "auto"
    if _ready.is_set():
        return "cpu"
    load_in_background()
    return "auto"


def load_in_background() -> None:
    """Loads the compiled search in a background thread, once."""
    if _starting.acquire(blocking=False):
        threading.Thread(target=load_compiled_search, daemon=True).start()


def load_compiled_search() -> None:
    """Loads the compiled search, and records that it is loaded."""
    graph = DatasetGraph.from_edges(["a"], ["b"], 1.0)
    problem = Problem(graph, [1, 2])
    extend(problem, {"a": 0.6, "b": 0.4}, "cpu")
    design_local(problem, "fair", engine="cpu")
    _ready.set()
