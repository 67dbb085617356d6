"""The steps of `check`, `extend` and `design` on arrays in this process, with an engine of the registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.certificate.certificate import Certificate, sees_violation
from hetdp.engines.contract import Engine, Growth, Role, Roles
from hetdp.engines.registry import EngineName, engine_for, require_local
from hetdp.errors import MOST_LISTED, UsageError
from hetdp.mechanism.balanced import balanced_with_pins
from hetdp.mechanism.explanation import BindingPath, binding_path
from hetdp.mechanism.mechanism import LocalMechanism, seal
from hetdp.mechanism.repair import Repair
from hetdp.mechanism.steps import NEAR_MISS, Bound, Closure, FreeBoundary, RemoteProblem, Search, Steps, distance, drops
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.labels import Labels
from hetdp.problem.partial import pins_of
from hetdp.problem.problem import Problem, require_problem
from hetdp.problem.product import ProductSpace, as_graph
from hetdp.problem.space import Floats
from hetdp.theory.notion import Notion
from hetdp.threads import run_in_threads

FEWEST_SAMPLED_ARCS = 1 << 20  # arcs; with fewer, going on from a search that did not fit takes no longer than a look
MOST_SAMPLED_PINS = 1 << 10  # pins; if less than a hundredth of all pins miss, little has to be searched again


def steps_of(problem: Problem | RemoteProblem, engine: EngineName) -> Steps[Any, Any]:
    """The steps of the verbs on a problem: those of a remote problem, or steps on arrays in this process."""
    if isinstance(problem, RemoteProblem):
        return problem.steps(engine)
    require_problem(problem)
    return LocalSteps(problem, engine)


class LocalClosure(Closure[Floats]):
    """A growth from all pins, with its labels in arrays."""

    def __init__(self, problem: Problem, growth: Growth, sign: float) -> None:
        self._problem, self._growth, self._sign = problem, growth, sign

    def largest_drop(self, given: Floats) -> float:
        """The largest distance by which it lowered a given value."""
        return float(np.max(drops(given, self._growth.labels), initial=0.0))

    def fallen_datasets(self, given: Floats) -> Iterator[int]:
        """Iterates over the datasets whose given value it lowered, largest drop first."""
        moves = drops(given, self._growth.labels)
        fallen = np.flatnonzero(moves > NEAR_MISS)
        yield from fallen[np.argsort(-moves[fallen], kind="stable")].tolist()

    def chain_to(self, dataset: int, given: Floats) -> Sequence[Bound]:
        """The chain of bounds that led to the value of a dataset."""
        chain, labels = [dataset], self._growth.labels
        while (link := int(self._growth.links[chain[-1]])) >= 0:
            chain.append(link)
        return [Bound(at, float(labels[at]), float(given[at])) for at in reversed(chain)]

    def path_along(self, chain: Sequence[Bound]) -> BindingPath:
        """A chain as a `BindingPath` with labels."""
        z = np.array([bound.z for bound in chain])
        return binding_path(self._problem, [bound.number for bound in chain], z, upper=True)

    def close(self, pins: Floats) -> Floats:
        """The pins, moved to the labels of the growth."""
        return np.where(np.isnan(pins), np.nan, self._sign * self._growth.labels)


class LocalSteps(Steps[Floats, LocalMechanism]):
    """The steps on arrays. Pins are z in graph order, NaN for free datasets.

    Args:
        problem: the problem.
        engine: the name of the engine that searches.
    """

    def __init__(self, problem: Problem, engine: EngineName) -> None:
        self.problem: Problem = problem
        self._name = engine

    @property
    def notion(self) -> Notion:
        """The notion of privacy."""
        return self.problem.notion

    @property
    def labels(self) -> Labels:
        """The labels of the datasets."""
        return self.problem.labels

    def labels_at(self, numbers: Sequence[int]) -> list[Any]:
        """The labels of some datasets."""
        return [self.problem.graph.label(number) for number in numbers]

    @property
    def _engine(self) -> Engine:
        return engine_for(self._name, self.problem.graph, self.notion, "grow")

    def read_pins(self, partial: Any) -> Floats:
        """The values as z in graph order."""
        require_local(self.problem.graph)
        return pins_of(partial, self.problem)

    def has_pins(self, pins: Floats) -> bool:
        """True if any value is given."""
        return not np.isnan(pins).all()

    def free_boundary(self, pins: Floats) -> FreeBoundary:
        """The boundary datasets without a value."""
        boundary = self.problem.boundary_mask
        free = np.flatnonzero(boundary & np.isnan(pins))
        return FreeBoundary(free[:MOST_LISTED].tolist(), len(free), int(np.count_nonzero(boundary)))

    def search(self, pins: Floats) -> Search[LocalMechanism]:
        """The extension by one search over both answers."""
        start, roles = search_from(self.problem, pins)
        growth = self._engine.grow(self.problem.graph, self.notion, start, roles)
        z, links, pinned = growth.labels * signs_of(self.problem), growth.links, ~np.isnan(pins)
        z += 0.0  # turns −0.0 into 0.0
        lowered, fell = pinned & (growth.labels < start), 0.0
        if lowered.any():  # a rounding, or a contradiction
            fell = float(np.max(start[lowered] - growth.labels[lowered]))
            z[lowered] = pins[lowered]
            links = np.where(lowered, -1, links)
        mechanism = LocalMechanism(self.problem, z, pinned, links)
        return Search(mechanism, fell, growth.labels if fell > 0.0 else None)

    def sees_violation(self, pins: Floats, search: Search[LocalMechanism] | None = None) -> bool:
        """True if an edge of a pin is violated; looks at some pins of a large graph, or at those a search lowered."""
        if search is not None and search.labels is not None:
            lowered = ~np.isnan(pins) & (search.labels < np.where(self.problem.answers == 1, pins, -pins))
            return sees_violation(self.problem, search.mechanism.coordinates, np.flatnonzero(lowered))
        if self.problem.graph.arc_count < FEWEST_SAMPLED_ARCS:
            return False
        datasets = np.flatnonzero(~np.isnan(pins))
        return sees_violation(self.problem, pins, datasets[:: 1 + len(datasets) // MOST_SAMPLED_PINS])

    def close(self, given: Floats, search: Search[LocalMechanism] | None) -> tuple[LocalMechanism, float]:
        """The extension from pins that are no better than given, by one growth for each answer."""
        problem, engine = self.problem, self._engine
        ones, pinned = problem.answers == 1, ~np.isnan(given)
        begun = search_from(problem, given)[0]
        if search is not None:
            z = search.mechanism.coordinates
            begun = np.where(ones, z, -z) if search.labels is None else search.labels
        grown: dict[Role, Growth] = {}

        def grow(answer: Role) -> None:
            own = problem.answers == answer
            start = np.where(own, begun, others_at(answer, given))
            roles = np.where(own, answer, Role.PINNED).astype(np.uint8)
            active = None if search is None else pinned
            grown[answer] = engine.grow(problem.graph, problem.notion, start, roles, active)

        size = (
            problem.graph.arc_count if isinstance(problem.graph, DatasetGraph) else 0
        )  # other engines use all threads
        run_in_threads(grow, (Role.FREE_1, Role.FREE_2), size)
        first, second = grown[Role.FREE_1], grown[Role.FREE_2]
        links = np.where(ones, first.links, second.links)
        if search is not None:
            links = np.where(links < 0, search.mechanism.links, links)
        z = np.where(ones, first.labels, -second.labels) + 0.0
        mechanism = LocalMechanism(problem, z, pinned, np.where(pinned, -1, links))
        return mechanism, distance(given, np.where(pinned, z, np.nan))

    def grow(self, pins: Floats, sign: float = 1.0) -> LocalClosure:
        """The growth from all pins over all edges."""
        start = np.where(np.isnan(pins), np.inf, sign * pins)
        return LocalClosure(self.problem, self._engine.grow(self.problem.graph, self.notion, start), sign)

    def distance(self, given: Floats, pins: Floats) -> float:
        """The largest distance by which a pin was moved."""
        return distance(given, pins)

    def attach(self, mechanism: LocalMechanism, certificate: Certificate) -> LocalMechanism:
        """The mechanism with its certificate."""
        return replace(mechanism, certificate=certificate)

    def finish(self, mechanism: LocalMechanism, moved: float) -> LocalMechanism:
        """The mechanism with the distance that its pins were moved, marked as proved."""
        return seal(replace(mechanism, moved=moved))

    def repair(self, pins: Floats) -> Repair:
        """Values near incompatible pins that can be extended."""
        return Repair(self.problem, pins, self._engine)

    def require_objective(self, objective: str, prior: Any, max_error: Any) -> None:
        """Refuses a prior without an average; all objectives are offered."""
        if prior is not None and objective != "average":
            rule = "only the objective average has a prior"
            raise UsageError(f"prior= together with objective={objective!r}", rule)

    def choose(self, objective: str, given: Floats | None) -> Floats:
        """The pins that an objective chooses for the boundary, together with the given ones."""
        pins = np.full(self.problem.graph.size, np.nan) if given is None else given
        z = self.fair(pins) if objective == "fair" else self.balanced_coordinates(pins)
        return np.where(np.isnan(pins), np.where(self.problem.boundary_mask, z, np.nan), pins)

    def credit(self, mechanism: LocalMechanism, objective: str, given: Floats | None) -> LocalMechanism:
        """The mechanism, with the objective that chose its values."""
        was_given = np.zeros_like(mechanism.pinned) if given is None else ~np.isnan(given)
        return seal(replace(mechanism, objective=objective, given=was_given))

    def balanced_coordinates(self, pins: Floats) -> Floats:
        """z of the balanced mechanism with these pins, which are compatible, at every dataset."""
        return balanced_with_pins(self.problem, pins, self._name)

    def fair(self, pins: Floats) -> Floats:
        """z of the fair mechanism with these pins, which are compatible, at every dataset."""
        problem = self.problem
        graph = as_graph(problem.graph) if isinstance(problem.graph, ProductSpace) else problem.graph
        chosen = engine_for(self._name, graph, problem.notion, "settle")
        ones = problem.answers == 1
        signed = np.where(ones, pins, -pins) if self.has_pins(pins) else None
        labels = chosen.settle(graph, problem.notion, problem.answers, signed).labels
        return np.where(ones, labels, -labels) + 0.0


def others_at(answer: Role, given: Floats) -> Floats:
    """Start labels of the other answer in the growth that closes one: the given z bounds answer 1, nothing answer 2."""
    return np.where(np.isnan(given) | (answer != Role.FREE_1), np.inf, given)


def search_from(problem: Problem, pins: Floats) -> tuple[Floats, Roles]:
    """Start labels, signed so that larger is better, and roles for one search over both answers."""
    roles = problem.answers.astype(np.uint8) * np.isnan(pins)  # PINNED is 0, FREE_1 is 1 and FREE_2 is 2
    return np.fmin(pins * signs_of(problem), np.inf), roles  # +∞ where a dataset is free


def signs_of(problem: Problem) -> NDArray[np.int8]:
    """1 where the answer is 1 and −1 where it is 2: times z, larger is better."""
    return 3 - 2 * problem.answers
