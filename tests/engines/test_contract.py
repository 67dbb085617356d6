"""The result type `Growth`."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hetdp
from hetdp.engines.contract import Demands, demands
from hetdp.engines.registry import engine_for
from hetdp.problem.space import Space
from hetdp.theory.pure import PURE


@pytest.mark.parametrize("name", ["reference", "cpu"])
def test_changed_marks_the_datasets_whose_label_fell(name: str):
    graph = hetdp.DatasetGraph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 0.5, 0.0], datasets=range(5))
    start = np.array([0.0, 0.5, 5.0, math.inf, math.inf])
    growth = engine_for(name, graph, PURE, "grow").grow(graph, PURE, start)
    assert growth.labels.tolist() == [0.0, 0.5, 1.0, 1.0, math.inf]
    assert growth.changed.tolist() == (growth.labels < start).tolist() == [False, False, True, True, False]


def test_a_dataset_graph_is_a_space():
    assert isinstance(hetdp.DatasetGraph.from_edges([0], [1], 1.0), Space)


def test_labels_that_rounding_left_below_what_pins_demand_are_raised():
    roles, links = np.array([1, 2], dtype=np.uint8), np.array([-1, -1])
    bound = Demands(roles, np.array([2.0, 2.0]), np.array([0.5, -math.inf]), links)
    assert bound.finish(np.array([0.25, 0.25]), links).labels.tolist() == [0.5, 0.25]
    free = Demands(roles, np.array([2.0, 2.0]), None, links)
    assert free.finish(np.array([0.25, 0.25]), links).labels.tolist() == [0.25, 0.25]


def test_pins_bound_free_datasets_from_both_sides():
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], [1.0, 0.5])
    engine, answers = engine_for("reference", graph, PURE, "grow"), np.array([1, 1, 2])
    found = demands(engine, graph, PURE, answers, np.array([3.0, math.nan, math.nan]))
    assert found.roles.tolist() == [0, 1, 2]
    assert found.most.tolist() == [3.0, 4.0, -1.5]
    assert found.least.tolist() == [-math.inf, 2.0, -4.5]
    assert found.links.tolist() == [-1, 0, 1]
    for nothing in (None, np.full(3, math.nan)):
        open_ = demands(engine, graph, PURE, answers, nothing)
        assert (open_.most.tolist(), open_.least, open_.links.tolist()) == ([math.inf] * 3, None, [-1] * 3)
        assert open_.roles.tolist() == [1, 1, 2]


def test_a_search_that_resumes_passes_on_only_what_is_new():
    graph = hetdp.DatasetGraph.from_edges([0, 2], [1, 3], 1.0)
    start, active = np.array([0.0, 9.0, 0.0, 9.0]), np.array([False, False, True, False])
    engine = engine_for("reference", graph, PURE, "grow")
    assert engine.grow(graph, PURE, start, None, active).labels.tolist() == [0.0, 9.0, 0.0, 1.0]
    assert start.tolist() == [0.0, 9.0, 0.0, 9.0]
