"""Measures of a mechanism: worst and mean error over all datasets, by steps to the other answer, and by class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.engines.registry import EngineName, engine_for
from hetdp.errors import FaultCollector
from hetdp.mechanism.formatting import accuracy_of
from hetdp.mechanism.mechanism import LocalMechanism, Mechanism
from hetdp.mechanism.scaling import edges_as_written, unconstrained_directions
from hetdp.problem.classes import NONE, classes_of
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices
from hetdp.theory.pure import PURE

Steps = NDArray[np.int64]
NOWHERE = 0  # the number of steps of a dataset without a path to the other answer


def steps_to_the_other_answer(problem: Problem, engine: EngineName = "auto") -> Steps:
    """The smallest number of edges from each dataset to the other answer: 1 on the boundary, 0 if there is no path.

    It takes one search from the boundary with ε = 1 on every edge; sums of ones are exact.
    """
    if not problem.boundary_mask.any():
        return np.full(problem.graph.size, NOWHERE, dtype=np.int64)
    graph = with_one_epsilon(problem.graph, 1.0)
    start = np.where(problem.boundary_mask, 1.0, np.inf)
    labels = engine_for(engine, graph, PURE, "grow").grow(graph, PURE, start).labels
    return np.where(np.isinf(labels), NOWHERE, labels).astype(np.int64)


def with_one_epsilon(graph: DatasetGraph | ProductSpace, epsilon: float) -> DatasetGraph:
    """A graph with the same datasets, numbered, and the same edges, with one ε for all of them."""
    nothing = np.zeros(0, dtype=np.int64)
    source, target = [nothing], [nothing]
    for block in graph.edge_blocks():
        once = block.source < block.target
        source.append(block.source[once])
        target.append(block.target[once])
    return DatasetGraph.from_edges(np.concatenate(source), np.concatenate(target), epsilon, datasets=range(graph.size))


def is_threshold(problem: Problem, steps: Steps) -> bool:
    """True if every edge changes the signed number of steps to the other answer by exactly one, as for a count.

    The query is then a threshold along the graph: each dataset is on one level, and every edge joins two neighbouring
    levels. Components of the graph without a boundary are ignored.
    """
    level = np.where(problem.answers == 1, steps, 1 - steps)
    return all(
        bool(((np.abs(level[block.source] - level[block.target]) == 1) | (steps[block.source] == NOWHERE)).all())
        for block in problem.graph.edge_blocks()
    )


# Datasets where one change of a class leads to the other answer -------------------------------------------------------


Deciders = Mapping[Any, Indices]


def deciders_of(problem: Problem) -> Deciders:
    """For each class of edges the datasets at which it decides, in graph order; empty if edges have no classes.

    Edges without a constraint do not count, since they make no boundary; nor do edges without a class.
    """
    graph, answers, found = problem.graph, problem.answers, dict[Any, Indices]()
    if isinstance(graph, ProductSpace):
        for at, axis in enumerate(graph.axes):
            decides = np.zeros(graph.size, dtype=np.bool_)
            for source, target, _ in graph.blocks_along(at):
                decides[source[answers[source] != answers[target]]] = True
            found[axis.name] = np.flatnonzero(decides)
        return found
    classes = classes_of(graph.edge_classes(), FaultCollector("edges"))
    if classes is None:
        return found
    source, target, columns = edges_as_written(graph)
    across = (answers[source] != answers[target]) & ~np.all(list(unconstrained_directions(columns)), axis=0)
    edges = np.flatnonzero(across & (classes.numbers != NONE))
    edges = edges[np.argsort(classes.numbers[edges], kind="stable")]
    ends = np.searchsorted(classes.numbers[edges], np.arange(len(classes.names) + 1))
    for name, first, last in zip(classes.names, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        datasets = np.unique(np.concatenate([source[edges[first:last]], target[edges[first:last]]]))
        found[name] = datasets[problem.boundary_mask[datasets]]
    return found


# Measures of a mechanism ----------------------------------------------------------------------------------------------


class AtSteps(NamedTuple):
    """The accuracy of a method at the datasets that are so many steps from the other answer.

    Attributes:
        steps: the smallest number of edges to a dataset of the other answer; None if there is no path.
        datasets: number of datasets.
        worst_error: the largest error among them.
        mean_error: their mean error under the prior; None if the prior gives them no weight.
    """

    steps: int | None
    datasets: int
    worst_error: float
    mean_error: float | None


class WhereDeciding(NamedTuple):
    """The accuracy of a method at the datasets where one change of a class of edges leads to the other answer.

    Attributes:
        edge_class: the class: a person, or a group.
        datasets: number of such datasets.
        worst_error: the largest error among them; None if there are none.
        mean_error: their mean error under the prior; None if the prior gives them no weight.
    """

    edge_class: Any
    datasets: int
    worst_error: float | None
    mean_error: float | None


@dataclass(frozen=True, eq=False)
class Levels:
    """The datasets by steps to the other answer, nearest first; those without a path to the other answer come last.

    Attributes:
        order: the datasets, level by level.
        starts: start of each level in `order`.
        steps: number of steps of each level; 0 for datasets without a path.
        counts: number of datasets of each level.
        weights: the prior, in graph order.
        deciders: for each class of edges the datasets at which one change of it decides.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    steps: Steps
    counts: NDArray[np.int64]
    weights: Floats
    deciders: Deciders = field(default_factory=dict)

    @classmethod
    def of(cls, steps: Steps, weights: Floats, deciders: Deciders | None = None) -> Levels:
        """The levels of a problem with a prior."""
        last = np.where(steps == NOWHERE, np.iinfo(np.int64).max, steps)
        order = np.argsort(last, kind="stable")
        _, starts, counts = np.unique(last[order], return_index=True, return_counts=True)
        return cls(order, starts, steps[order[starts]], counts, weights, deciders or {})

    @cached_property
    def totals(self) -> Floats:
        """The weight of each level."""
        return self.sums(self.weights)

    def sums(self, values: Floats) -> Floats:
        """The sum over each level, rounded once."""
        ordered = values[self.order].tolist()
        ends = [*self.starts[1:].tolist(), len(ordered)]
        pieces = zip(self.starts.tolist(), ends, strict=False)
        return np.array([math.fsum(ordered[start:end]) for start, end in pieces], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Method:
    """The accuracy of one mechanism, which is one row of the table.

    Attributes:
        name: its name.
        baseline: True if it is shown for comparison only.
        mechanism: the mechanism itself; its certificate proves that it is private.
        worst_error: the largest error.
        worst_at: the label of the first dataset with that error; None if there are no datasets.
        mean_error: the mean error under the prior.
        worst_errors: the largest error at each number of steps.
        mean_errors: the mean error at each number of steps under the prior; NaN if the prior gives it no weight.
        levels: the datasets by steps.
    """

    name: str
    baseline: bool
    mechanism: Mechanism = field(repr=False)
    worst_error: float
    worst_at: Any
    mean_error: float
    worst_errors: Floats = field(repr=False)
    mean_errors: Floats = field(repr=False)
    levels: Levels = field(repr=False)

    @property
    def worst_accuracy(self) -> float:
        """1 − worst_error, rounded for reading."""
        return accuracy_of(self.worst_error)

    @property
    def mean_accuracy(self) -> float:
        """1 − mean_error, rounded for reading."""
        return accuracy_of(self.mean_error)

    @property
    def by_steps(self) -> list[AtSteps]:
        """The accuracy at each number of steps to the other answer, nearest first."""
        columns = (self.levels.steps, self.levels.counts, self.worst_errors, self.mean_errors)
        return [
            AtSteps(None if steps == NOWHERE else steps, count, worst, None if math.isnan(mean) else mean)
            for steps, count, worst, mean in zip(*(column.tolist() for column in columns), strict=True)
        ]

    @property
    def by_class(self) -> list[WhereDeciding]:
        """The accuracy where one change of each class decides; empty if edges have no classes."""
        return [self._where_deciding(name, datasets) for name, datasets in self.levels.deciders.items()]

    def _where_deciding(self, name: Any, datasets: Indices) -> WhereDeciding:
        errors, weights = self.mechanism.errors[datasets], self.levels.weights[datasets]
        total = math.fsum(weights.tolist())
        mean = math.fsum((errors * weights).tolist()) / total if total else None
        return WhereDeciding(name, len(datasets), float(errors.max()) if len(datasets) else None, mean)


def measure(problem: Problem, name: str, baseline: bool, mechanism: LocalMechanism, levels: Levels) -> Method:
    """Measures a mechanism."""
    errors = mechanism.errors
    weighted = errors * levels.weights
    worst = int(np.argmax(errors)) if len(errors) else None
    with np.errstate(invalid="ignore"):
        means = np.where(levels.totals > 0.0, levels.sums(weighted) / levels.totals, np.nan)
    return Method(
        name=name,
        baseline=baseline,
        mechanism=mechanism,
        worst_error=0.0 if worst is None else float(errors[worst]),
        worst_at=None if worst is None else problem.labels.names[worst],
        mean_error=math.fsum(weighted.tolist()) / math.fsum(levels.weights.tolist()) if len(errors) else 0.0,
        worst_errors=np.maximum.reduceat(errors[levels.order], levels.starts) if len(errors) else np.zeros(0),
        mean_errors=means,
        levels=levels,
    )
