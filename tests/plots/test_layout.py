"""The layout of datasets: by distance, near their neighbours, and always the same."""

from __future__ import annotations

import numpy as np
import pytest

from hetdp.mechanism.accuracy.measures import steps_to_the_other_answer
from hetdp.plots.layout import TALLEST_COLUMN, layered_layout
from tests.mechanism.tallies import random_problem, steps_one_by_one
from tests.plots.shown import line, voters


def layout_of(problem):
    source, target, *_ = problem.graph.edges()
    return layered_layout(source, target, steps_to_the_other_answer(problem), problem.answers)


def test_three_voters_have_four_columns():
    layout = layout_of(voters())
    assert dict(zip(voters().graph.datasets, layout.across.tolist(), strict=True)) == {
        "111": 1.5,
        "112": 0.5,
        "121": 0.5,
        "211": 0.5,
        "222": -1.5,
        "122": -0.5,
        "212": -0.5,
        "221": -0.5,
    }
    assert sorted(layout.up[layout.across == 0.5].tolist()) == [-0.5, 0.0, 0.5]
    assert (layout.lanes, layout.tallest, layout.nowhere) == (1, 3, 0)


@pytest.mark.parametrize("seed", range(20))
def test_columns_are_distances_and_no_two_datasets_share_a_place(seed):
    problem = random_problem(seed)
    layout, steps = layout_of(problem), steps_one_by_one(problem)
    for level, answer, far in zip(layout.levels.tolist(), problem.answers.tolist(), steps, strict=True):
        assert abs(level) == (layout.nowhere if far is None else far)
        assert (level > 0) == (answer == 1)
    assert len({*zip(layout.across.tolist(), layout.up.tolist(), strict=True)}) == problem.graph.size
    assert np.abs(layout.up).max() <= 0.5


def test_every_edge_joins_columns_side_by_side_or_stays_within_one():
    for seed in range(20):
        problem = random_problem(seed)
        layout, (source, target, epsilon) = layout_of(problem), problem.graph.edges()
        there = np.isfinite(epsilon) & (np.abs(layout.levels[source]) != layout.nowhere)
        assert (np.abs(np.abs(layout.across[source]) - np.abs(layout.across[target]))[there] <= 1).all()


def test_a_path_is_a_straight_line():
    layout = layout_of(line(8))
    assert layout.up.tolist() == [0.0] * 8
    assert layout.across.tolist() == [-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5]


def test_a_ladder_has_no_crossings():
    rungs = 6
    source = np.array([2 * at for at in range(rungs)] + list(range(2 * rungs - 2)))
    target = np.array([2 * at + 1 for at in range(rungs)] + list(range(2, 2 * rungs)))
    shuffled = np.random.default_rng(5).permutation(2 * rungs)
    steps = np.empty(2 * rungs, dtype=np.int64)
    steps[shuffled] = np.arange(2 * rungs) // 2 + 1
    layout = layered_layout(shuffled[source], shuffled[target], steps, np.ones(2 * rungs, dtype=np.int8))
    sides = np.sign(layout.up[shuffled]).reshape(rungs, 2)
    assert (sides == sides[0]).all()
    assert sides[0].tolist() in ([1.0, -1.0], [-1.0, 1.0])


def test_the_same_graph_always_looks_the_same():
    one, other = layout_of(random_problem(3)), layout_of(random_problem(3))
    assert (one.across == other.across).all()
    assert (one.up == other.up).all()


def test_a_column_that_is_too_tall_is_split():
    size = 40 * TALLEST_COLUMN
    nothing = np.zeros(0, dtype=np.int64)
    layout = layered_layout(nothing, nothing, np.ones(size, dtype=np.int64), np.ones(size, dtype=np.int8))
    assert layout.lanes > 5
    assert layout.lanes < layout.tallest < 2 * layout.lanes, "about as wide as tall"
    assert layout.lanes * layout.tallest >= size
    assert np.abs(layout.across - 0.5).max() < 0.5
    assert len({*zip(layout.across.tolist(), layout.up.tolist(), strict=True)}) == size
