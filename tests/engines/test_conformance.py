"""Every engine finds the fixed point of the contract, bit for bit, with links that prove it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

import hetdp
from hetdp.engines.contract import Role
from hetdp.engines.cpu import engine as cpu_engine
from hetdp.theory.pure import step
from tests.engines import growths
from tests.engines.growths import (
    ENGINE,
    SHAPES,
    SIZES,
    Search,
    assert_links_prove,
    bits,
    fixed_point,
    random_search,
    run_grow,
    searches,
)
from tests.loops import for_each

SHAPE = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
EPSILONS = pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: sizes.__name__)


@ENGINE
@given(search=searches())
def test_any_small_search_ends_at_the_fixed_point(engine, search):
    before = bits(search.labels)
    growth = run_grow(engine, search)
    assert bits(growth.labels) == bits(fixed_point(search))
    assert_links_prove(search, growth)
    assert bits(search.labels) == before


@ENGINE
@SHAPE
@EPSILONS
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_graphs_of_every_shape_and_size_of_epsilon_give_the_same_bits(engine, shape, sizes, seed):
    search = random_search(seed, shape, sizes)
    growth = run_grow(engine, search)
    assert bits(growth.labels) == bits(run_grow("reference", search).labels)
    assert_links_prove(search, growth)


@ENGINE
@SHAPE
def test_the_fixed_point_is_the_obvious_one_on_larger_graphs_too(engine, shape):
    for sizes in SIZES:
        search = random_search(5, shape, sizes, size=25)
        assert bits(run_grow(engine, search).labels) == bits(fixed_point(search))


@ENGINE
@SHAPE
@EPSILONS
def test_a_search_resumed_after_some_labels_fell_ends_where_a_new_one_does(engine, shape, sizes):
    search = random_search(7, shape, sizes, size=60)
    rng = np.random.default_rng(8)
    first = run_grow(engine, search).labels
    fell = rng.random(len(first)) < 0.1
    lowered = np.where(fell, np.minimum(first, rng.normal(-1, 2, len(first))), first)
    resumed = run_grow(engine, Search(search.graph, lowered, None, fell))
    anew = run_grow(engine, Search(search.graph, np.minimum(search.labels, lowered)))
    assert bits(resumed.labels) == bits(anew.labels)
    assert_links_prove(Search(search.graph, lowered), resumed)


@ENGINE
@given(search=searches())
@settings(max_examples=50)
def test_resuming_with_nothing_new_changes_nothing(engine, search):
    first = run_grow(engine, search)
    again = run_grow(engine, Search(search.graph, first.labels, search.roles, np.zeros(search.graph.size, np.bool_)))
    assert bits(again.labels) == bits(first.labels)
    assert (again.links == -1).all()


@ENGINE
@given(search=searches())
@settings(max_examples=50)
def test_growing_from_a_fixed_point_changes_nothing(engine, search):
    first = run_grow(engine, search)
    again = run_grow(engine, Search(search.graph, first.labels, search.roles))
    assert bits(again.labels) == bits(first.labels)


@ENGINE
def test_edges_between_two_pinned_datasets_take_no_part(engine):
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], [0.5, 0.5])
    roles = np.array([Role.PINNED, Role.PINNED, Role.FREE_1], dtype=np.uint8)
    growth = run_grow(engine, Search(graph, np.array([0.0, 9.0, math.inf]), roles))
    assert growth.labels.tolist() == [0.0, 9.0, 9.5]
    assert growth.links.tolist() == [-1, -1, 1]


@ENGINE
def test_a_pinned_dataset_can_be_lowered_by_a_free_one(engine):
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], [0.5, 0.5])
    roles = np.array([Role.PINNED, Role.FREE_1, Role.PINNED], dtype=np.uint8)
    growth = run_grow(engine, Search(graph, np.array([0.0, math.inf, 9.0]), roles))
    assert growth.labels.tolist() == [0.0, 0.5, 1.0]


@ENGINE
def test_certain_labels_spread_unchanged_and_unreached_ones_stay_infinite(engine):
    graph = hetdp.DatasetGraph.from_edges([0, 1, 3], [1, 2, 4], [1e3, 0.0, 1.0], datasets=range(6))
    growth = run_grow(engine, Search(graph, np.array([-math.inf, 5.0, 7.0, math.inf, math.inf, math.inf])))
    assert growth.labels.tolist() == [-math.inf] * 3 + [math.inf] * 3
    assert growth.links.tolist() == [-1, 0, 1, -1, -1, -1]


@ENGINE
def test_an_empty_search_returns_at_once(engine):
    empty = hetdp.DatasetGraph.from_edges([], [], [])
    assert run_grow(engine, Search(empty, np.zeros(0))).labels.tolist() == []
    alone = hetdp.DatasetGraph.from_edges([], [], [], datasets=["x"])
    assert run_grow(engine, Search(alone, np.array([-0.0]))).labels.tolist() == [0.0]
    far = hetdp.DatasetGraph.from_edges([0], [1], [math.inf])
    assert run_grow(engine, Search(far, np.array([0.0, math.inf]))).labels.tolist() == [0.0, math.inf]


@ENGINE
def test_ties_leave_links_without_a_cycle(engine):
    """A clique of ε = 0, in which any dataset could be linked to any other."""
    size = 40
    source, target = np.triu_indices(size, 1)
    graph = hetdp.DatasetGraph.from_edges(source, target, 0.0)
    search = Search(graph, np.where(np.arange(size) == 17, 0.25, math.inf))
    growth = run_grow(engine, search)
    assert growth.labels.tolist() == [0.25] * size
    assert_links_prove(search, growth)


@pytest.mark.parametrize("seed", range(5))
def test_starts_find_their_answer_in_any_number_of_tasks(seed: int, monkeypatch: pytest.MonkeyPatch):
    """Free datasets 0 to 19 have answer 1, 20 to 39 answer 2, and each pin has neighbours of one of them or of none."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, 40)  # of the pins
    pins, free = np.repeat(np.arange(40, 80), 3), rng.integers(0, 20, 120)
    targets = np.where(np.repeat(group, 3) == 0, 40, free + 20 * (np.repeat(group, 3) == 2))
    graph = hetdp.DatasetGraph.from_edges(pins, targets, 0.5, datasets=range(80), duplicates="min")
    flags = np.repeat(np.array([Role.FREE_1, Role.FREE_2, Role.PINNED], dtype=np.uint8), [20, 20, 40])
    starts = np.arange(40, 80, dtype=graph.targets.dtype)
    monkeypatch.setattr(cpu_engine, "FEWEST_PER_THREAD", 0)
    for tasks, warmed in ((40, 0), (7, 1 << 20), (1, 1 << 20)):
        monkeypatch.setattr(cpu_engine, "STARTS_PER_TASK", -(-40 // tasks))
        monkeypatch.setattr(cpu_engine, "MOST_WARMED", warmed)
        found = [group.tolist() for group in cpu_engine.split_by_answer(graph, flags, starts)]
        assert found == [starts[group == 1].tolist(), starts[group == 2].tolist()]


@ENGINE
def test_no_label_is_minus_zero(engine):
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], [0.0, 0.5])
    labels = run_grow(engine, Search(graph, np.array([-0.0, math.inf, -0.5]))).labels
    assert not np.signbit(labels[:2]).any()


def bits_of_both(search: Search) -> tuple[list[int], list[int]]:
    return bits(run_grow("cpu", search).labels), bits(run_grow("reference", search).labels)


@for_each("sizes", SIZES)
def test_graphs_too_large_for_the_front_of_the_queue_give_the_same_bits(sizes):
    """Thousands of labels at a time, so that heaps spill and buckets are split."""
    for shape in (growths.star, growths.sparse, growths.tree):
        one, other = bits_of_both(random_search(9, shape, sizes, size=2500))
        assert one == other


@pytest.mark.jit_only
@pytest.mark.parametrize("sizes", [growths.every_size, growths.odd, growths.heavy_tails], ids=lambda f: f.__name__)
@SHAPE
def test_large_graphs_give_the_same_bits(shape, sizes):
    for seed in (11, 12):
        one, other = bits_of_both(random_search(seed, shape, sizes, size=12_000))
        assert one == other


@pytest.mark.jit_only
@pytest.mark.parametrize("kind", ["path", "star", "comb"])
def test_half_a_million_datasets_in_a_row_or_around_one_are_searched_without_recursion(kind):
    size = 500_000
    rng = np.random.default_rng(13)
    numbers = np.arange(1, size)
    source = {"path": numbers - 1, "star": np.zeros(size - 1, np.int64), "comb": numbers - 1 - (numbers % 2)}[kind]
    epsilon = 10.0 ** rng.uniform(-6, 1, size - 1)
    graph = hetdp.DatasetGraph.from_edges(np.maximum(source, 0), numbers, epsilon)
    labels = np.where(np.arange(size) == 0, -700.0, math.inf)
    growth = run_grow("cpu", Search(graph, labels))
    assert np.isfinite(growth.labels).all()
    assert (growth.links[1:] == np.maximum(source, 0)).all()
    for dataset in range(1, size, 997):
        parent = int(growth.links[dataset])
        targets, (row,) = graph.neighbours(dataset)
        assert growth.labels[dataset] == step(float(growth.labels[parent]), float(row[targets == parent][0]))
