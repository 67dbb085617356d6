"""DatasetGraph: what goes in comes out again, once, in both directions and in any order."""

from __future__ import annotations

import math
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetdp
from hetdp.problem import space as space_module
from hetdp.problem.space import Space

EPSILON = st.one_of(st.sampled_from([0.0, math.inf, 0.1, 0.3, 1e-12, 1e3]), st.floats(0.0, 1e6))
PAIRS = st.dictionaries(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda p: (min(p), max(p))), EPSILON)


def arcs_of(graph: hetdp.DatasetGraph) -> list[tuple[int, int, float]]:
    blocks = [
        zip(b.source.tolist(), b.target.tolist(), b.parameters[0].tolist(), strict=True) for b in graph.edge_blocks()
    ]
    return [arc for block in blocks for arc in block]


def graph_of(pairs: dict[tuple[int, int], float]) -> hetdp.DatasetGraph:
    ends = list(pairs)
    return hetdp.DatasetGraph.from_edges([u for u, _ in ends], [v for _, v in ends], list(pairs.values()), range(10))


@given(PAIRS)
def test_edges_come_back_once_and_as_they_were_written(pairs):
    source, target, epsilon = graph_of(pairs).edges()
    found = {(u, v): e for u, v, e in zip(source.tolist(), target.tolist(), epsilon.tolist(), strict=True)}
    assert found == {(u, v): e for (u, v), e in pairs.items() if u != v}
    assert len(source) == len(found)


@given(PAIRS)
def test_a_graph_made_of_its_own_edges_is_the_same_graph(pairs):
    graph = graph_of(pairs)
    again = hetdp.DatasetGraph.from_edges(*graph.edges(), datasets=range(10))
    assert again.indptr.tolist() == graph.indptr.tolist()
    assert again.targets.tolist() == graph.targets.tolist()
    assert again.epsilon.tolist() == graph.epsilon.tolist()
    assert again.edge_count == graph.edge_count


@given(PAIRS, st.integers(1, 7))
def test_the_blocks_hold_each_constraining_edge_once_in_each_direction(pairs, size):
    graph = graph_of(pairs)
    whole = arcs_of(graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space_module, "BLOCK", size)
        assert max((len(block.source) for block in graph.edge_blocks()), default=0) <= size
        assert arcs_of(graph) == whole
    assert len(whole) == graph.arc_count
    finite = [(u, v) for (u, v), epsilon in pairs.items() if u != v and epsilon < math.inf]
    assert sorted((u, v) for u, v, _ in whole) == sorted(finite + [(v, u) for u, v in finite])
    rows = [(u, v, e) for u in range(10) for v, e in zip(*(column.tolist() for column in row(graph, u)), strict=True)]
    assert rows == whole


def row(graph: hetdp.DatasetGraph, index: int):
    targets, (epsilon,) = graph.neighbours(index)
    return targets, epsilon


def test_a_hub_with_more_neighbours_than_a_block_holds_is_cut_without_loss():
    spokes = space_module.BLOCK + 5000
    graph = hetdp.DatasetGraph.from_edges(np.zeros(spokes, np.int64), np.arange(1, spokes + 1), 0.5)
    blocks = list(graph.edge_blocks())
    assert len(blocks) == 3
    source, target = (np.concatenate([b[side] for b in blocks]).astype(np.int64) for side in (0, 1))
    assert len(source) == graph.arc_count == 2 * spokes
    assert np.array_equal(np.sort(source * (spokes + 1) + target), np.unique(source * (spokes + 1) + target))
    assert np.array_equal(source, np.repeat([0, *range(1, spokes + 1)], [spokes] + [1] * spokes))


def test_a_million_arcs_are_built_without_python_calls_for_each():
    rng = np.random.default_rng(1)
    source = np.repeat(np.arange(100_000), 5)
    target = (source + rng.integers(1, 50_000, len(source))) % 100_000
    hetdp.DatasetGraph.from_edges(source, target, 1.0)  # the compiler itself is written in Python
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        graph = hetdp.DatasetGraph.from_edges(source, target, rng.uniform(0.05, 2, len(source)), duplicates="min")
    finally:
        sys.setprofile(None)
    assert graph.arc_count > 900_000
    assert calls < 20_000


def test_self_loops_are_dropped():
    graph = hetdp.DatasetGraph.from_edges(["a", "a", "b"], ["a", "b", "b"], [1.0, 0.5, math.inf])
    assert (graph.size, graph.edge_count) == (2, 1)


def test_a_dataset_with_nothing_but_a_self_loop_is_still_a_dataset():
    graph = hetdp.DatasetGraph.from_edges([3], [3], [1.0])
    assert (list(graph.datasets), graph.edge_count) == ([3], 0)


def test_infinite_epsilon_is_kept_as_an_edge_but_constrains_nothing():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [math.inf, 1.0])
    assert (graph.edge_count, graph.arc_count) == (2, 2)
    assert hetdp.Problem(graph, [1, 2, 2]).boundary == []
    assert graph.neighbours(0)[0].tolist() == []


def test_epsilon_zero_is_an_edge():
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], [0.0])
    assert (graph.arc_count, graph.epsilon.tolist()) == (2, [0.0, 0.0])


def test_repeated_edges_that_agree_are_one_edge():
    graph = hetdp.DatasetGraph.from_edges(["a", "b", "a"], ["b", "a", "b"], [0.7, 0.7, 0.7])
    assert (graph.edge_count, graph.edges()[2].tolist()) == (1, [0.7])


@pytest.mark.parametrize("order", [[0.9, 0.2, 0.5], [0.2, 0.5, 0.9], [math.inf, 0.2, 0.2], [0.2, 0.0, 0.0]])
def test_duplicates_min_keeps_the_smallest_epsilon(order):
    graph = hetdp.DatasetGraph.from_edges(["a", "b", "a"], ["b", "a", "b"], order, duplicates="min")
    assert (graph.edge_count, graph.edges()[2].tolist()) == (1, [min(order)])


def test_epsilon_is_used_floored_and_shown_as_written():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.1, 0.5])
    assert graph.epsilon.tolist() == [math.nextafter(0.1, 0), math.nextafter(0.1, 0), 0.5, 0.5]
    assert [graph.edges_between(*ends)[0].parameters for ends in ((0, 1), (1, 0), (2, 1))] == [
        {"epsilon": e} for e in (0.1, 0.1, 0.5)
    ]


def test_minus_zero_is_zero():
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], [-0.0])
    assert [math.copysign(1.0, epsilon) for epsilon in (*graph.epsilon, *graph.edges()[2])] == [1.0, 1.0, 1.0]


def test_the_order_of_the_edges_does_not_matter():
    rng = np.random.default_rng(2)
    source, target = np.arange(50), (np.arange(50) * 7 + 3) % 53 + 50
    epsilon = rng.uniform(0, 2, 50)
    graph = hetdp.DatasetGraph.from_edges(source, target, epsilon)
    shuffled = rng.permutation(50)
    turned = hetdp.DatasetGraph.from_edges(target[shuffled], source[shuffled], epsilon[shuffled])
    assert turned.targets.tolist() == graph.targets.tolist()
    assert turned.epsilon.tolist() == graph.epsilon.tolist()


def test_the_empty_graph_and_the_single_dataset_are_graphs():
    empty = hetdp.DatasetGraph.from_edges([], [], [])
    assert (empty.size, empty.edge_count, list(empty.edge_blocks()), list(empty.datasets)) == (0, 0, [], [])
    single = hetdp.DatasetGraph.from_edges([], [], 1.0, datasets=["only"])
    assert (single.size, single.edge_count, list(single.edge_blocks()), list(single.datasets)) == (1, 0, [], ["only"])
    for graph, answers in ((empty, []), (single, [2])):
        for engine in ("reference", "cpu"):
            mechanism = hetdp.extend(hetdp.Problem(graph, answers), {}, engine=engine)
            assert mechanism.coordinates.tolist() == [-math.inf] * graph.size
            assert mechanism.certificate is not None
            assert mechanism.certificate.optimal


def test_a_graph_is_a_space_and_does_not_change():
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
    assert isinstance(graph, Space)
    for array in (graph.indptr, graph.targets, graph.epsilon):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_changing_the_given_arrays_afterwards_changes_nothing():
    source, target, epsilon = np.array([0, 1]), np.array([1, 2]), np.array([0.5, 1.0])
    graph = hetdp.DatasetGraph.from_edges(source, target, epsilon)
    source[:], target[:], epsilon[:] = 0, 0, 9.0
    assert [column.tolist() for column in graph.edges()] == [[0, 1], [1, 2], [0.5, 1.0]]


def test_the_repr_of_a_graph_shows_its_size():
    assert repr(hetdp.DatasetGraph.from_edges("ab", "bc", [1.0, math.inf])) == "DatasetGraph(3 datasets, 2 edges)"


@pytest.mark.parametrize("shape", ["source", "epsilon"])
def test_two_dimensional_columns_are_refused(shape):
    columns = {"source": np.array([0, 1]), "target": np.array([1, 2]), "epsilon": np.array([1.0, 1.0])}
    columns[shape] = np.stack([columns[shape], columns[shape]], axis=1)
    with pytest.raises(hetdp.InputError):
        hetdp.DatasetGraph.from_edges(**columns)


def test_a_class_that_cannot_be_looked_up_is_refused():
    with pytest.raises(hetdp.InputError, match="not a class:"):
        hetdp.DatasetGraph.from_edges([0], [1], 1.0, classes=[["a"]])


@pytest.mark.parametrize("about", ["words", {"change": 3}, {1: "a"}])
def test_a_description_that_is_not_a_mapping_of_texts_is_refused(about):
    with pytest.raises(hetdp.UsageError, match="a mapping from texts to texts"):
        hetdp.Problem(hetdp.DatasetGraph.from_edges([0], [1], 1.0), [1, 2], about=about)


def test_a_misspelt_key_of_a_description_is_refused():
    graph = hetdp.DatasetGraph.from_edges([0], [1], 1.0)
    with pytest.raises(hetdp.UsageError, match=r"unknown key 'titel' in about=; .* Hint: did you mean 'title'\?"):
        hetdp.Problem(graph, [1, 2], about={"titel": "x"})


def test_every_edge_of_a_long_row_is_shown_as_written():
    written = [0.1, 0.3, 0.5, 0.7, 1.0, 0.2, 0.6, 0.9, 0.1, 0.8, 0.25, 0.4, 1.1, 0.3, 2.0, 1.3, 0.7, 0.1]
    graph = hetdp.DatasetGraph.from_edges([0] * len(written), range(1, len(written) + 1), written)
    for at, epsilon in enumerate(written, start=1):
        assert graph.edges_between(0, at)[0].parameters == {"epsilon": epsilon}
        assert graph.edges_between(at, 0)[0].parameters == {"epsilon": epsilon}
    assert graph.edges_between(1, 2) == []


def test_arcs_without_a_constraint_are_counted_by_dataset():
    inf = math.inf
    graph = hetdp.DatasetGraph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], [inf, 1.0, inf, inf])
    assert [graph.free_arcs(at, at + 1) for at in range(4)] == [1, 2, 2, 1]
    assert (graph.free_arcs(0, 4), graph.free_arcs(1, 3), graph.free_arcs(2, 2)) == (6, 4, 0)
    assert (graph.arc_count, graph.edge_count) == (2, 4)
    assert "|without a constraint||3|" in re.sub("<[^>]*>", "|", graph._repr_html_())
    assert "without a constraint" not in hetdp.DatasetGraph.from_edges([0], [1], 1.0)._repr_html_()


def test_epsilon_is_refused_on_edges_that_have_none():
    gaussian = hetdp.DatasetGraph.from_edges([0], [1], mu=1.0)
    with pytest.raises(hetdp.UsageError, match="edges without ε"):
        _ = gaussian.epsilon
    directed = hetdp.DatasetGraph.from_edges([0], [1], 1.0, epsilon_back=0.5)
    assert directed.epsilon.tolist() == [1.0, 0.5]
    assert directed.parameters[1].tolist() == [0.5, 1.0]


def test_arrays_of_a_graph_cannot_be_written_to():
    graph = hetdp.DatasetGraph.from_edges([0], [1], 0.1)
    for array in (graph.indptr, graph.targets, *graph.parameters, *(column for column, _ in graph.stored_columns())):
        assert not array.flags.writeable


def test_a_graph_knows_whether_edges_are_parallel():
    def parallel(classes):
        return hetdp.DatasetGraph.from_edges(["a", "a"], ["b", "b"], [0.5, 0.5], classes=classes).is_parallel

    assert parallel(["x", "y"])
    assert not parallel(["x", "x"])
    assert not parallel(None)
