"""What a growth says of itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hetdp
from hetdp.engines.registry import engine_for
from hetdp.problem.space import Space
from hetdp.theory.pure import PURE


@pytest.mark.parametrize("name", ["reference", "cpu"])
def test_what_changed_is_where_a_label_fell(name: str):
    graph = hetdp.DatasetGraph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 0.5, 0.0], datasets=range(5))
    start = np.array([0.0, 0.5, 5.0, math.inf, math.inf])
    growth = engine_for(name, graph, PURE, "grow").grow(graph, PURE, start)
    assert growth.labels.tolist() == [0.0, 0.5, 1.0, 1.0, math.inf]
    assert growth.changed.tolist() == (growth.labels < start).tolist() == [False, False, True, True, False]


def test_a_dataset_graph_is_a_space():
    assert isinstance(hetdp.DatasetGraph.from_edges([0], [1], 1.0), Space)
