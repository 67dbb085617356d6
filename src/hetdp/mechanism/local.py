"""The steps of `check`, `extend` and `design` on arrays in this process, with an engine of the registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import Certificate
from hetdp.engines.contract import Engine, Growth, Role, Roles
from hetdp.engines.registry import EngineName, engine_for
from hetdp.errors import UsageError
from hetdp.mechanism.balanced import balanced_with
from hetdp.mechanism.explanation import BindingPath, binding_path
from hetdp.mechanism.mechanism import LocalMechanism, sealed
from hetdp.mechanism.repair import Repair
from hetdp.mechanism.steps import NEAR_MISS, Bound, Closure, FreeBoundary, RemoteProblem, Steps, drops
from hetdp.problem.faults import LISTED
from hetdp.problem.labels import Labels
from hetdp.problem.partial import pins_of
from hetdp.problem.problem import Problem, require_problem
from hetdp.problem.product import ProductSpace, as_graph
from hetdp.problem.space import Floats
from hetdp.theory.notion import Notion


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

    def fallen(self, given: Floats) -> Iterator[int]:
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
        return pins_of(partial, self.problem)

    def has_pins(self, pins: Floats) -> bool:
        """True if any value is given."""
        return not np.isnan(pins).all()

    def free_boundary(self, pins: Floats) -> FreeBoundary:
        """The boundary datasets without a value."""
        boundary = self.problem.boundary_mask
        free = np.flatnonzero(boundary & np.isnan(pins))
        return FreeBoundary(free[:LISTED].tolist(), len(free), int(np.count_nonzero(boundary)))

    def search(self, pins: Floats) -> tuple[LocalMechanism, float]:
        """The extension by one search over both answers."""
        ones, pinned = self.problem.answers == 1, ~np.isnan(pins)
        start, roles = search_from(self.problem, pins)
        growth = self._engine.grow(self.problem.graph, self.notion, start, roles)
        z = np.where(pinned, pins, np.where(ones, growth.labels, -growth.labels)) + 0.0  # turns −0.0 into 0.0
        mechanism = LocalMechanism(self.problem, z, pinned, np.where(pinned, -1, growth.links))
        return mechanism, float(np.max(drops(start, growth.labels)[pinned], initial=0.0))

    def grow(self, pins: Floats, sign: float = 1.0) -> LocalClosure:
        """The growth from all pins over all edges."""
        start = np.where(np.isnan(pins), np.inf, sign * pins)
        return LocalClosure(self.problem, self._engine.grow(self.problem.graph, self.notion, start), sign)

    def distance(self, given: Floats, pins: Floats) -> float:
        """The largest distance by which a pin was moved."""
        return float(np.max(np.maximum(drops(given, pins), drops(-given, -pins)), initial=0.0))

    def attach(self, mechanism: LocalMechanism, certificate: Certificate) -> LocalMechanism:
        """The mechanism with its certificate."""
        return replace(mechanism, certificate=certificate)

    def finish(self, mechanism: LocalMechanism, moved: float) -> LocalMechanism:
        """The mechanism with the distance that its pins were moved, marked as proved."""
        return sealed(replace(mechanism, moved=moved))

    def repair(self, pins: Floats) -> Repair:
        """Values near incompatible pins that can be extended."""
        return Repair(self.problem, pins, self._engine)

    def require_objective(self, objective: str, prior: Any, max_error: Any) -> None:
        """Refuses a prior without an average; all objectives are offered."""
        if prior is not None and objective != "average":
            rule = "a prior is what the objective average is about"
            raise UsageError(f"a prior, with the objective {objective}", rule)

    def choose(self, objective: str, given: Floats | None) -> Floats:
        """The pins that an objective chooses for the boundary, together with the given ones."""
        pins = np.full(self.problem.graph.size, np.nan) if given is None else given
        z = self.fair(pins) if objective == "fair" else self.balanced(pins)
        return np.where(np.isnan(pins), np.where(self.problem.boundary_mask, z, np.nan), pins)

    def credit(self, mechanism: LocalMechanism, objective: str, given: Floats | None) -> LocalMechanism:
        """The mechanism, with the objective that chose its values."""
        was_given = np.zeros_like(mechanism.pinned) if given is None else ~np.isnan(given)
        return sealed(replace(mechanism, objective=objective, given=was_given))

    def balanced(self, pins: Floats) -> Floats:
        """z of the balanced mechanism with these pins, which are compatible, at every dataset."""
        return balanced_with(self.problem, pins, self._name)

    def fair(self, pins: Floats) -> Floats:
        """z of the fair mechanism with these pins, which are compatible, at every dataset."""
        problem = self.problem
        graph = as_graph(problem.graph) if isinstance(problem.graph, ProductSpace) else problem.graph
        chosen = engine_for(self._name, graph, problem.notion, "settle")
        progress.report_stage("searching for the fair values")
        ones = problem.answers == 1
        signed = np.where(ones, pins, -pins) if self.has_pins(pins) else None
        labels = chosen.settle(graph, problem.notion, problem.answers, signed).labels
        return np.where(ones, labels, -labels) + 0.0


def search_from(problem: Problem, pins: Floats) -> tuple[Floats, Roles]:
    """Start labels, signed so that larger is better, and roles for one search over both answers."""
    ones, pinned = problem.answers == 1, ~np.isnan(pins)
    roles = np.where(pinned, Role.PINNED, np.where(ones, Role.FREE_1, Role.FREE_2)).astype(np.uint8)
    return np.where(pinned, np.where(ones, pins, -pins), np.inf), roles
