"""The boundary: the datasets with a neighbour of the other answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetdp.interrupts import load_whole
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.query import Answers
from hetdp.problem.space import SMALL, Mask


def boundary_of(graph: DatasetGraph, answers: Answers) -> Mask:
    """Which datasets are on the boundary; edges without a constraint do not count.

    Paper: Definition 3 (boundary set).
    """
    mask = np.zeros(graph.size, dtype=np.bool_)
    if graph.arc_count > SMALL:
        load_whole("hetdp.problem.building.compiled").mark_boundary(graph.indptr, graph.targets, answers, mask)
    else:
        mark_boundary(graph.indptr.tolist(), graph.targets.tolist(), answers.tolist(), mask)
    mask.flags.writeable = False
    return mask


def mark_boundary(indptr: Any, targets: Any, answers: Any, mask: Any) -> None:
    """Marks each dataset that has such a neighbour; plain Python, and compiled for large graphs."""
    for dataset in range(len(indptr) - 1):
        for arc in range(indptr[dataset], indptr[dataset + 1]):
            if answers[targets[arc]] != answers[dataset]:
                mask[dataset] = True
                break
