"""induced_bounds: what p at one dataset allows at all others."""

from __future__ import annotations

import pytest

import hetdp
from tests.mechanism.problems import ENGINES
from tests.oracle import literal, paths
from tests.oracle.random_problems import compatible_problems
from tests.paper.library import graph_of


@pytest.mark.parametrize("engine", ENGINES)
def test_the_bounds_are_those_of_all_simple_paths_and_of_the_literal_algorithm(engine):
    for i, small in enumerate(compatible_problems(seed=71, count=80, max_size=6)):
        alpha = [0.0, 1e-9, 0.2, 0.5, 0.77, 1.0][i % 6]
        for dataset in small.datasets:
            found = hetdp.induced_bounds(graph_of(small), dataset, alpha, engine=engine).tolist()
            by_label = dict(zip(small.datasets, found, strict=True))
            assert by_label == pytest.approx(paths.induced_bounds(small, dataset, alpha), abs=1e-12)
            assert by_label == pytest.approx(literal.algorithm_1(small, dataset, alpha), abs=1e-12)


def test_without_a_path_there_is_no_bound():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.5, float("inf")])
    assert hetdp.induced_bounds(graph, "a", 0.1)[2] == 1.0


@pytest.mark.parametrize("alpha", [float("nan"), -0.1, 1.1])
def test_an_impossible_alpha_is_refused(alpha):
    with pytest.raises(hetdp.InputError, match="alpha: out of range"):
        hetdp.induced_bounds(hetdp.DatasetGraph.from_edges([0], [1], 1.0), 0, alpha)


def test_an_unknown_notion_or_engine_is_refused():
    graph = hetdp.DatasetGraph.from_edges([0], [1], 1.0)
    with pytest.raises(hetdp.UsageError, match="unknown notion"):
        hetdp.induced_bounds(graph, 0, 0.5, notion="other")
    with pytest.raises(hetdp.UsageError, match="unknown engine"):
        hetdp.induced_bounds(graph, 0, 0.5, engine="other")


def test_a_notion_with_settings_is_taken_from_a_problem():
    graph = hetdp.DatasetGraph.from_edges("ab", "bc", 1.0)
    notion = hetdp.Problem(graph, [1, 1, 2], "renyi", alpha=2).notion
    assert hetdp.induced_bounds(graph, "a", 0.1, notion)[1] > hetdp.induced_bounds(graph, "a", 0.1)[1]
    with pytest.raises(hetdp.UsageError, match=r"notion='renyi' by its name alone; .* notion=problem.notion"):
        hetdp.induced_bounds(graph, "a", 0.1, notion="renyi")
