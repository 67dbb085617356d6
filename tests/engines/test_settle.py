"""What every engine promises of the fair search: leximin, private in exact arithmetic, the same bits everywhere."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import hetdp
from hetdp.engines.contract import demands
from hetdp.engines.reference.engine import ReferenceEngine
from hetdp.mechanism.balanced import balanced_pins
from hetdp.theory.coordinate import LAPLACE
from hetdp.theory.pure import PURE, meet, step
from tests.engines import growths
from tests.engines.fairness import (
    FairSearch,
    assert_links_prove,
    is_private,
    mechanism_of,
    random_fair_search,
    run_settle,
    small_fair_searches,
    with_pins,
)
from tests.engines.growths import ENGINE, SHAPES, SIZES, graph_from
from tests.loops import for_each
from tests.oracle.leximin import fair, fair_problems, has_odd_epsilon
from tests.oracle.random_problems import SmallProblem

SHAPE = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
EPSILONS = pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: sizes.__name__)
SMALL_PROBLEMS = list(fair_problems(seed=31, count=500))


def fair_search_of(problem: SmallProblem) -> FairSearch:
    """A small problem of the oracles."""
    edges = problem.edges
    source, target = (np.array([edge[i] for edge in edges], dtype=np.int64) for i in (0, 1))
    epsilon = np.array([edge[2] for edge in edges], dtype=np.float64)
    answers = np.array(list(problem.answers.values()))
    z = LAPLACE.from_probability(np.array([problem.pins.get(v, 0.5) for v in problem.answers]))
    pins = np.where([v in problem.pins for v in problem.answers], np.where(answers == 1, z, -z), np.nan)
    return FairSearch(graph_from(source, target, epsilon, len(answers)), answers, pins)


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    return one.dtype == other.dtype == np.float64 and one.tobytes() == other.tobytes()


@pytest.fixture(scope="module")
def leximin() -> list[np.ndarray]:
    return [
        np.array([errors[v] for v in problem.answers])
        for problem, errors in zip(SMALL_PROBLEMS, fair(SMALL_PROBLEMS), strict=True)
    ]


@ENGINE
def test_the_fair_search_finds_what_a_sequence_of_linear_programs_finds(engine, leximin):
    for problem, errors in zip(SMALL_PROBLEMS, leximin, strict=True):
        search = fair_search_of(problem)
        found = mechanism_of(search, run_settle(engine, search).labels).errors
        assert np.abs(found - errors).max() < 1e-9
    assert any(has_odd_epsilon(problem) for problem in SMALL_PROBLEMS)
    assert sum(len(problem.components()) > 1 for problem in SMALL_PROBLEMS) > 50
    assert sum(bool(problem.boundary - problem.pins.keys() and problem.pins) for problem in SMALL_PROBLEMS) > 80


@ENGINE
def test_an_epsilon_for_each_direction_is_taken_from_the_right_end(engine):
    """A graph on which the fair search goes wrong if one ε of an edge across the answers is taken for the other."""
    source, target, back = [0, 0, 1, 4], [2, 5, 3, 5], [3.0, 0.5, 1.0, 1.0]
    graph = hetdp.DatasetGraph.from_edges(source, target, [0.1, 1.0, 1.0, 3.0], epsilon_back=back, datasets=range(6))
    found = hetdp.design(hetdp.Problem(graph, [2, 1, 1, 2, 2, 1], "directed"), engine=engine).coordinates
    near, far = (math.log((1.0 + math.exp(epsilon)) / 2.0) for epsilon in (0.1, 1.0))
    assert found.tolist() == pytest.approx([-near, far, near, -far, -far, far], rel=1e-12)


@ENGINE
def test_pins_are_kept_and_the_result_is_private(engine):
    for problem in SMALL_PROBLEMS:
        search = fair_search_of(problem)
        labels = run_settle(engine, search).labels
        assert search.pins is not None
        assert same_bits(labels[search.pinned], search.pins[search.pinned] + 0.0)
        assert is_private(search, labels)


@ENGINE
@SHAPE
@EPSILONS
@pytest.mark.parametrize("seed", [1, 2])
def test_graphs_of_every_shape_and_size_of_epsilon_give_the_same_bits_and_are_private(engine, shape, sizes, seed):
    search = random_fair_search(seed, shape, sizes)
    growth = run_settle(engine, search)
    assert same_bits(growth.labels, run_settle("reference", search).labels)
    assert_links_prove(search, growth)
    assert is_private(search, growth.labels)


@SHAPE
@EPSILONS
def test_pins_anywhere_give_the_same_bits_and_are_private_unless_they_miss_by_a_rounding(shape, sizes):
    for seed in (3, 4, 15):
        search = with_pins(random_fair_search(seed, shape, sizes, size=50), seed)
        one, other = run_settle("cpu", search), run_settle("reference", search)
        assert same_bits(one.labels, other.labels)
        assert (one.links[search.pinned] == -1).all()
        assert (other.links[search.pinned] == -1).all()
        demanded = demands(ReferenceEngine(), search.graph, PURE, search.answers, search.pins)
        assert is_private(search, one.labels) or (demanded.least is not None and (demanded.least > demanded.most).any())


@ENGINE
@given(search=small_fair_searches())
def test_any_small_fair_search_is_private_and_links_prove_it(engine, search):
    growth = run_settle(engine, search)
    assert same_bits(growth.labels, run_settle("reference", search).labels)
    assert_links_prove(search, growth)
    assert is_private(search, growth.labels)


@ENGINE
@given(search=small_fair_searches())
@settings(max_examples=50)
def test_no_dataset_is_worse_than_under_the_balanced_mechanism(engine, search):
    problem = hetdp.Problem(search.graph, search.answers)
    balanced = hetdp.extend(problem, balanced_pins(problem, "reference"), "reference")
    worse = np.where(search.answers == 1, balanced.coordinates, -balanced.coordinates)
    labels = run_settle(engine, search).labels
    assert (labels >= worse * (1.0 - 1e-13) - 1e-320).all()


@ENGINE
@given(search=small_fair_searches())
@settings(max_examples=50)
def test_extending_its_own_boundary_changes_nothing(engine, search):
    problem = hetdp.Problem(search.graph, search.answers)
    mechanism = mechanism_of(search, run_settle(engine, search).labels)
    boundary = np.where(problem.boundary_mask, mechanism.coordinates, np.nan)
    extended = hetdp.extend(problem, hetdp.PartialMechanism(z=boundary), "reference")
    assert extended.moved == 0.0
    assert same_bits(extended.coordinates, mechanism.coordinates)


@ENGINE
@SHAPE
@pytest.mark.parametrize("pinned", [False, True])
def test_swapping_the_answers_and_renaming_datasets_change_no_label(engine, shape, pinned):
    for sizes in SIZES:
        search = random_fair_search(5, shape, sizes, size=40)
        search = with_pins(search, 5) if pinned else search
        labels = run_settle(engine, search).labels
        assert same_bits(labels, run_settle(engine, replace(search, answers=3 - search.answers)).labels)
        order = np.random.default_rng(6).permutation(search.graph.size)  # order[new] = old
        source, target, epsilon = search.graph.edges()
        new = np.argsort(order)
        renamed = FairSearch(
            graph_from(new[source], new[target], epsilon, len(order)),
            search.answers[order],
            None if search.pins is None else search.pins[order],
        )
        assert same_bits(labels[order], run_settle(engine, renamed).labels)


@ENGINE
def test_two_neighbours_meet_and_are_each_others_links(engine):
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], [1.0, 0.5])
    growth = run_settle(engine, FairSearch(graph, np.array([1, 2, 2])))
    assert growth.labels.tolist() == [meet(1.0), meet(1.0), step(meet(1.0), 0.5)]
    assert growth.links.tolist() == [1, 0, 1]


@ENGINE
def test_a_dataset_next_to_a_worse_one_of_the_other_answer_gains_from_it(engine):
    """0 and 1 meet at ε = 0.1; 2 is better off than if it met 1 at ε = 1."""
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], [0.1, 1.0])
    growth = run_settle(engine, FairSearch(graph, np.array([1, 2, 1])))
    errors = 0.5 * np.exp(-growth.labels)
    assert errors == pytest.approx([1 / (1 + math.exp(0.1))] * 2 + [(1 - errors[0]) * math.exp(-1.0)], abs=1e-15)
    assert errors[2] < 1 / (1 + math.e)
    assert growth.links.tolist() == [1, 0, 1]


@ENGINE
def test_an_accurate_pin_makes_datasets_across_the_boundary_inaccurate(engine):
    """0 is pinned next to certainty, so 1 must be good, so 2 cannot be: not even though 1 and 2 would rather meet."""
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], [1.0, 0.5])
    search = FairSearch(graph, np.array([1, 1, 2]), np.array([10.0, math.nan, math.nan]))
    growth = run_settle(engine, search)
    assert growth.labels.tolist() == [10.0, 9.0, -8.5]
    assert is_private(search, growth.labels)


@ENGINE
def test_certain_pins_make_their_component_certain(engine):
    graph = hetdp.DatasetGraph.from_edges([0, 1, 3], [1, 2, 4], [1.0, 0.5, 2.0], datasets=range(5))
    for certain in (math.inf, -math.inf):
        search = FairSearch(graph, np.array([1, 1, 2, 1, 2]), np.array([certain] + [math.nan] * 4))
        growth = run_settle(engine, search)
        assert growth.labels.tolist() == [certain, certain, -certain, meet(2.0), meet(2.0)]


@ENGINE
def test_a_dataset_that_reaches_neither_the_other_answer_nor_a_pin_is_answered_exactly(engine):
    graph = hetdp.DatasetGraph.from_edges([0, 2, 4], [1, 3, 5], [1.0, math.inf, 0.0], datasets=range(7))
    growth = run_settle(engine, FairSearch(graph, np.array([1, 1, 1, 2, 2, 2, 1])))
    assert growth.labels.tolist() == [math.inf] * 7
    assert growth.links.tolist() == [-1] * 7


@ENGINE
def test_an_empty_search_returns_at_once(engine):
    empty = hetdp.DatasetGraph.from_edges([], [], [])
    assert run_settle(engine, FairSearch(empty, np.zeros(0, np.int64))).labels.tolist() == []
    graph = hetdp.DatasetGraph.from_edges([0], [1], 1.0)
    pins = np.array([-0.0, 0.25])
    growth = run_settle(engine, FairSearch(graph, np.array([1, 2]), pins))
    assert growth.labels.tolist() == [0.0, 0.25]
    assert not np.signbit(growth.labels).any()
    assert np.signbit(pins[0])


@for_each("sizes", SIZES)
def test_graphs_too_large_for_the_front_of_the_queue_give_the_same_bits(sizes):
    for shape in (growths.star, growths.sparse):
        search = random_fair_search(9, shape, sizes, size=2000)
        assert same_bits(run_settle("cpu", search).labels, run_settle("reference", search).labels)


@pytest.mark.jit_only
@SHAPE
def test_large_graphs_give_the_same_bits_and_are_private(shape):
    for sizes in (growths.every_size, growths.nearly_equal):
        for kind in (0, 1):
            search = random_fair_search(11, shape, sizes, size=8000)
            halves = np.where(np.arange(search.graph.size) % 997 < 400, 1, 2)
            search = replace(search, answers=halves) if kind else search
            growth = run_settle("cpu", search)
            assert same_bits(growth.labels, run_settle("reference", search).labels)
            assert is_private(search, growth.labels)
