"""The classes of edges, which say whose data an edge is about."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hetdp
from hetdp.errors import FaultCollector
from hetdp.problem.classes import NONE, Classes, classes_of, join_classes, names_from_bytes, names_to_bytes


def classes_by_edge(graph: hetdp.DatasetGraph) -> dict:
    source, target, _ = graph.edges()
    pairs = [(graph.label(int(a)), graph.label(int(b))) for a, b in zip(source, target, strict=True)]
    return dict(zip(pairs, graph.edge_classes() or [], strict=True))


def test_classes_follow_their_edges_through_sorting_and_unconstrained_edges():
    graph = hetdp.DatasetGraph.from_edges(
        ["c", "b", "a", "d"], ["d", "a", "c", "a"], [1.0, 0.5, math.inf, 2.0], classes=["ann", None, "bob", "ann"]
    )
    known = classes_by_edge(graph)
    assert {frozenset(pair): name for pair, name in known.items()} == {
        frozenset("cd"): "ann",
        frozenset("ab"): None,
        frozenset("ac"): "bob",
        frozenset("ad"): "ann",
    }


def test_edges_have_no_classes_by_default():
    assert hetdp.DatasetGraph.from_edges([0], [1], 1.0).edge_classes() is None


def test_classes_may_be_an_array():
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0, classes=np.array([7, 8]))
    assert graph.edge_classes() == [7, 8]


def test_missing_values_of_data_frames_mean_no_class():
    pandas = pytest.importorskip("pandas")
    nothing = [pandas.NA, pandas.NaT, math.nan, np.float32("nan"), None, ""]
    graph = hetdp.DatasetGraph.from_edges("aaaaaaa", "bbbbbbb", 1.0, classes=[*nothing, "ann"])
    assert graph.edge_classes() == [None, "ann"]
    column = pandas.array(["ann", None], dtype="string")
    assert hetdp.DatasetGraph.from_edges("aa", "bb", 1.0, classes=column).edge_classes() == [None, "ann"]


@pytest.mark.parametrize("wrong", [["ann"], ("ann", ["bob"])])
def test_a_class_with_a_list_in_it_is_refused(wrong):
    with pytest.raises(hetdp.InputError, match="a class is text, a number, or a tuple of these"):
        hetdp.DatasetGraph.from_edges("ab", "bc", 1.0, classes=["cid", wrong])


def test_the_smallest_epsilon_of_a_class_is_kept_and_no_class_is_lost():
    graph = hetdp.DatasetGraph.from_edges(
        [0, 1, 0, 1], [1, 0, 1, 0], [1.0, 0.5, 0.5, 0.2], duplicates="min", classes=["ann", "bob", "cid", "ann"]
    )
    assert graph.edge_classes() == ["ann", "bob", "cid"]
    assert graph.edges()[2].tolist() == [0.2, 0.5, 0.5]


def test_a_column_of_classes_of_another_length_is_refused():
    with pytest.raises(
        hetdp.InputError, match="source, target, epsilon, classes: columns of different lengths 2, 2, 2, 1"
    ):
        hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0, classes=["ann"])


def random_multigraph(rng: np.random.Generator, pairs: int, kind: str):
    """A large graph in which every pair has an edge for each of some classes, listed in any order and direction."""
    size = pairs // 3
    low, high = np.unique(np.sort(rng.integers(0, size, (pairs, 2)), axis=1), axis=0).T
    low, high = low[low < high], high[low < high]
    which = np.repeat(np.arange(len(low)), rng.integers(1, 4, len(low)))
    place = np.arange(len(which)) - np.searchsorted(which, which)
    order = rng.permutation(len(which))
    which, place = which[order], place[order]
    turned = rng.random(len(which)) < 0.5
    source, target = np.where(turned, high[which], low[which]), np.where(turned, low[which], high[which])
    columns = {"epsilon": rng.choice([0.1, 0.5, 1.0, 2.0, math.inf], len(which))}
    if kind == "directed":
        columns["epsilon_back"] = rng.choice([0.1, 0.5, 1.0], len(which))
    classes = np.array(["Ann", "Bob", None], dtype=object)[place].tolist()
    return size, source, target, columns, classes


@pytest.mark.parametrize("kind", ["pure", "directed"])
def test_a_large_graph_keeps_every_class_of_every_pair(kind):
    size, source, target, columns, classes = random_multigraph(np.random.default_rng(5), 40_000, kind)
    graph = hetdp.DatasetGraph.from_edges(source, target, datasets=range(size), classes=classes, **columns)
    assert graph.arc_count > 40_000
    assert graph.edge_count == len(source)
    expected, places = set(), (0, 1) if kind == "pure" else (1, 0)
    values = list(zip(*(column.tolist() for column in columns.values()), strict=True))
    for u, v, name, edge in zip(source.tolist(), target.tolist(), classes, values, strict=True):
        seen = edge if u < v or kind == "pure" else tuple(edge[at] for at in places)
        expected.add((min(u, v), max(u, v), name, seen))
    found = zip(*(column.tolist() for column in graph.edges()), graph.edge_classes(), strict=True)
    assert {(u, v, name, tuple(edge)) for u, v, *edge, name in found} == expected
    least = {name: np.array(column) for name, column in columns.items()}
    once = hetdp.DatasetGraph.from_edges(source, target, datasets=range(size), duplicates="min", **least)
    answers = np.where(np.arange(size) < size // 2, 1, 2)
    here, there = (hetdp.design(hetdp.Problem(one, answers), engine="cpu") for one in (graph, once))
    assert here.coordinates.tobytes() == there.coordinates.tobytes()
    proof, other = here.certificate, there.certificate
    assert (proof.private, proof.optimal, proof.edges) == (True, True, graph.arc_count // 2)
    assert (proof.slack, proof.gap) == (other.slack, other.gap)


def test_a_block_never_splits_parallel_edges(monkeypatch):
    from hetdp.problem import space

    size, source, target, columns, classes = random_multigraph(np.random.default_rng(7), 300, "pure")
    graph = hetdp.DatasetGraph.from_edges(source, target, datasets=range(size), classes=classes, **columns)
    whole = [np.concatenate([block[side] for block in graph.edge_blocks()]).tolist() for side in (0, 1)]
    for length in (1, 2, 3, 7):
        monkeypatch.setattr(space, "BLOCK", length)
        blocks = list(graph.edge_blocks())
        assert [np.concatenate([block[side] for block in blocks]).tolist() for side in (0, 1)] == whole
        pairs = [{*zip(block.source.tolist(), block.target.tolist(), strict=True)} for block in blocks]
        assert sum(map(len, pairs)) == len(set().union(*pairs))
        assert all(len(block.source) < length + 3 for block in blocks)
    problem = hetdp.Problem(graph, np.where(np.arange(size) < size // 2, 1, 2))
    assert hetdp.design(problem).certificate.optimal


def test_the_rank_of_a_class_does_not_depend_on_the_order_of_the_edges():
    """By text, then by type; an edge without a class comes first."""
    names, numbers = ("b", 2, "2", "a"), np.array([0, 1, 2, 3, NONE], dtype=np.int32)
    assert Classes(names, numbers).ranks().tolist() == [4, 1, 2, 3, 0]
    assert Classes(names[::-1], np.array([3, 2, 1, 0, NONE], dtype=np.int32)).ranks().tolist() == [4, 1, 2, 3, 0]
    assert Classes(names, numbers).by_name() == ["b", 2, "2", "a", None]
    assert Classes(names, numbers).take([4, 1]).by_name() == [None, 2]


def test_a_column_of_nothing_has_no_classes():
    collector = FaultCollector("edges")
    assert classes_of(None, collector) is None
    assert classes_of([None, "", math.nan], collector) is None
    found = classes_of([], collector)
    assert found is not None
    assert (found.names, found.numbers.tolist()) == ((), [])
    mixed = classes_of(["x", None, np.str_("x"), np.int64(3), 3, ""], collector)
    assert mixed is not None
    assert (mixed.names, mixed.numbers.tolist()) == (("x", 3), [0, NONE, 0, 1, 1, NONE])
    assert [type(name) for name in mixed.names] == [str, int]


def test_classes_of_several_lists_are_joined_by_name():
    parts = [
        Classes(("a", "b"), np.array([1, 0, NONE], dtype=np.int32)),
        Classes(("c", "b"), np.array([0, 1, NONE], dtype=np.int32)),
    ]
    joined = join_classes(parts)
    assert joined is not None
    assert (joined.names, joined.by_name()) == (("a", "b", "c"), ["b", "a", None, "c", "b", None])
    assert join_classes([]) is None
    assert join_classes([Classes((), np.array([NONE], dtype=np.int32))]) is None


def test_names_of_classes_come_back_from_bytes():
    names = ("Ann", 3, 0.5, ("a", (1, "b")))
    assert names_from_bytes(names_to_bytes(names)) == names
    assert names_from_bytes(names_to_bytes(())) == ()
