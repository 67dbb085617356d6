"""Where one person, or one of a group, decides: the datasets that one change of a class takes to the other answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hetdp.mechanism.solving.scaling import free_ways, written_edges
from hetdp.problem.classes import NONE, classes_of
from hetdp.problem.findings import Findings
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Indices

Deciders = Mapping[Any, Indices]


def deciders_of(problem: Problem) -> Deciders:
    """For each class of edges the datasets at which it decides, in graph order; nothing if edges have no classes.

    Edges without a constraint do not count, as they make no boundary; nor do edges without a class.
    """
    graph, answers, found = problem.graph, problem.answers, dict[Any, Indices]()
    if isinstance(graph, ProductSpace):
        for at, axis in enumerate(graph.axes):
            decides = np.zeros(graph.size, dtype=np.bool_)
            for source, target, _ in graph.blocks_along(at):
                decides[source[answers[source] != answers[target]]] = True
            found[axis.name] = np.flatnonzero(decides)
        return found
    classes = classes_of(graph.edge_classes(), Findings("edges"))
    if classes is None:
        return found
    source, target, columns = written_edges(graph)
    across = (answers[source] != answers[target]) & ~np.all(list(free_ways(columns)), axis=0)
    edges = np.flatnonzero(across & (classes.numbers != NONE))
    edges = edges[np.argsort(classes.numbers[edges], kind="stable")]
    ends = np.searchsorted(classes.numbers[edges], np.arange(len(classes.names) + 1))
    for name, first, last in zip(classes.names, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        datasets = np.unique(np.concatenate([source[edges[first:last]], target[edges[first:last]]]))
        found[name] = datasets[problem.boundary_mask[datasets]]
    return found
