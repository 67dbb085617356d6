"""Large graphs are built by compiled code and small ones without; either way the same edges make the same bits."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetdp
from hetdp.problem import decimals, graph
from hetdp.problem import edges as arcs
from hetdp.problem import edges as rows
from hetdp.problem import labels as lookup
from hetdp.problem.parameters import KINDS
from hetdp.problem.space import SMALL_SPACE
from tests.loops import for_each
from tests.problem.kinds import edges_of_kind, graph_of

EPSILON = st.one_of(st.sampled_from([0.0, -0.0, math.inf, 0.1, 0.3, 1e-12, 1e3]), st.floats(0.0, 1e6))
EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), EPSILON), max_size=40)
CONTRADICTORY = [(0, 1, 0.5), (2, 2, 1.0), (1, 0, 0.7)]


def graph_or_message(build: Callable[[], hetdp.DatasetGraph]) -> list[Any]:
    """The content of a graph, or the message of the error."""
    try:
        graph = build()
    except hetdp.InputError as refusal:
        return [str(refusal)]
    free = graph._free
    arrays = (
        *(graph.indptr, graph.targets, *graph.parameters, *graph._lowered),
        *(free.source, free.target, *free.marks),
    )
    return [(array.dtype, array.tobytes()) for array in arrays] + [list(graph.datasets), graph.edge_classes()]


def build_plain_and_compiled(build: Callable[[], hetdp.DatasetGraph]) -> tuple[list[Any], list[Any]]:
    """The result of plain NumPy, and that of compiled code, in buckets of a few arcs.

    NumPy builds small graphs, and large ones until the compiled code is ready; that makes no difference either.
    """
    results = []
    for small, is_compiled in ((sys.maxsize, True), (-1, False), (-1, True)):
        with pytest.MonkeyPatch.context() as patch:
            for module in (arcs, decimals, graph, lookup):
                patch.setattr(module, "SMALL_SPACE", small)
            for module in (arcs, decimals, lookup):
                patch.setattr(module, "uses_compiled", lambda *_, answer=is_compiled: answer)
            patch.setattr(rows, "BUCKET", 4)
            results.append(graph_or_message(build))
    assert results[0] == results[1]
    return results[0], results[2]


@given(EDGES, st.sampled_from(["error", "min"]), st.booleans())
def test_compiled_and_plain_building_give_the_same_graph_or_the_same_refusal(edges, duplicates, has_classes):
    source, target, epsilon = ([edge[part] for edge in edges] for part in range(3))
    classes = [("ann", "bob", None)[(u + v) % 3] for u, v, _ in edges] if has_classes else None

    def build() -> hetdp.DatasetGraph:
        return hetdp.DatasetGraph.from_edges(source, target, epsilon, range(10), duplicates, classes)

    plain, compiled = build_plain_and_compiled(build)
    assert plain == compiled


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@given(st.data(), st.sampled_from(["error", "min"]), st.booleans())
def test_compiled_and_plain_building_agree_on_every_kind_of_edge(kind, data, duplicates, has_classes):
    listed = data.draw(edges_of_kind(kind, 6, max_size=15))
    classes = [("ann", "bob", None)[(u + v) % 3] for u, v, _ in listed] if has_classes else None
    plain, compiled = build_plain_and_compiled(lambda: graph_of(kind, listed, 6, duplicates, classes))
    assert plain == compiled


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_a_large_graph_of_every_kind_is_the_small_one_in_many_copies(kind):
    rng = np.random.default_rng(7)
    source, target = rng.integers(0, 40, (2, 60))
    columns = {name: rng.choice([0.0, 0.1, 1e-10, 0.7, 1.0, 1.0 if "delta" in name else np.inf], 60) for name in kind}
    small = hetdp.DatasetGraph.from_edges(source, target, datasets=range(40), duplicates="min", **columns)
    copies = np.repeat(np.arange(SMALL_SPACE // 60), 60)
    ends = [np.tile(end, SMALL_SPACE // 60) + 40 * copies for end in (source, target)]
    tiled = {name: np.tile(column, SMALL_SPACE // 60) for name, column in columns.items()}
    large = hetdp.DatasetGraph.from_edges(*ends, datasets=range(40 * (SMALL_SPACE // 60)), duplicates="min", **tiled)
    assert large.arc_count == small.arc_count * (SMALL_SPACE // 60)
    for one, many in zip(small.parameters, large.parameters, strict=True):
        assert np.tile(one, SMALL_SPACE // 60).tobytes() == many.tobytes()
    written = [np.sort(column) for column in large.edges()[2:]]
    for one, many in zip(small.edges()[2:], written, strict=True):
        assert np.repeat(np.sort(one), SMALL_SPACE // 60).tobytes() == many.tobytes()


@for_each("faulty", [math.nan, -1.0, "0.5"])
@for_each("stranger", [0, 99])
def test_compiled_and_plain_building_find_the_same_faults(faulty, stranger):
    edges = [*CONTRADICTORY, (stranger, 3, 1.0), (3, 4, faulty), (4, 3, 0.5)]
    columns = [[edge[part] for edge in edges] for part in range(3)]
    plain, compiled = build_plain_and_compiled(lambda: hetdp.DatasetGraph.from_edges(*columns, datasets=range(10)))
    assert plain == compiled
    assert "contradictory duplicate edge" in plain[0]


@given(EDGES, st.integers(-5, 5), st.sampled_from([1, 3, 10**12]))
def test_labels_of_any_distance_give_the_same_graph_compiled_and_plain(edges, shift, step):
    source, target, epsilon = (np.array([edge[part] for edge in edges], dtype=float) for part in range(3))
    ends = [(end.astype(np.int64) + shift) * step for end in (source, target)]
    plain, compiled = build_plain_and_compiled(lambda: hetdp.DatasetGraph.from_edges(*ends, epsilon, duplicates="min"))
    assert plain == compiled


def star(count: int, rng: np.random.Generator) -> tuple[Any, Any]:
    return np.full(count, count // 2), rng.permutation(count)


def path(count: int, rng: np.random.Generator) -> tuple[Any, Any]:
    steps = rng.permutation(count)
    return steps, steps + 1


def complete(count: int, rng: np.random.Generator) -> tuple[Any, Any]:
    source, target = np.triu_indices(math.isqrt(2 * count), 1)
    order = rng.permutation(len(source))
    return target[order], source[order]


def sparse_star(count: int, rng: np.random.Generator) -> tuple[Any, Any]:
    return np.full(count, 3), rng.choice(10**6, count, replace=False)


def clusters(count: int, rng: np.random.Generator) -> tuple[Any, Any]:
    source = rng.integers(0, count // 8 + 1, count)
    return source, 10**6 - source % 5 - rng.integers(0, 20, count)


def one_pair(count: int, rng: np.random.Generator) -> tuple[Any, Any]:
    ends = rng.integers(0, 2, count)
    return ends, 1 - ends


@pytest.mark.parametrize("number", [np.int32, np.int64])
@pytest.mark.parametrize("count", [1, 300, 12_000])
@pytest.mark.parametrize("small", [-1, sys.maxsize], ids=["compiled", "plain"])
@pytest.mark.parametrize("shape", [star, path, complete, sparse_star, clusters, one_pair])
def test_rows_of_every_shape_come_out_in_order(shape, small, count, number, monkeypatch):
    monkeypatch.setattr(rows, "SMALL_SPACE", small)
    rng = np.random.default_rng(count)
    source, target = (end.astype(number) for end in shape(count, rng))
    size = int(max(source.max(initial=0), target.max(initial=0))) + 1
    edges = np.arange(len(source), dtype=np.uint64)
    found = rows.group_by_source(source, target, edges, size)
    proper = np.flatnonzero(source != target)
    ends = [np.concatenate([one[proper], other[proper]]) for one, other in ((source, target), (target, source))]
    order = np.lexsort((ends[1], ends[0]))
    assert found.targets.dtype == number
    assert np.array_equal(found.targets, ends[1][order])
    assert np.array_equal(found.loads, np.concatenate([edges[proper], edges[proper]])[order])
    assert np.array_equal(np.diff(found.indptr), np.bincount(ends[0], minlength=size))
    pairs = ends[0].astype(np.int64) * size + ends[1]
    assert found.repeated == len(pairs) - len(np.unique(pairs))


def test_more_threads_than_cores_change_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    source, target = (rng.integers(0, 500, 20_000).astype(np.int32) for _ in range(2))
    edges = np.arange(20_000, dtype=np.uint64)
    before = rows.group_by_source(source, target, edges, 500)
    monkeypatch.setattr(rows, "CORES", 7)
    after = rows.group_by_source(source, target, edges, 500)
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


def test_a_contradiction_in_a_large_graph_is_named_like_one_in_a_small_graph():
    steps = np.arange(SMALL_SPACE)
    source, target = np.append(steps, 8), np.append(steps + 1, 7)
    with pytest.raises(hetdp.InputError) as refusal:
        hetdp.DatasetGraph.from_edges(source, target, np.append(np.full(SMALL_SPACE, 0.5), 0.7))
    assert str(refusal.value) == (
        f"edges: edge {SMALL_SPACE} (8, 7): contradictory duplicate edge, ε 0.7 here, 0.5 at edge 7;"
        " a pair of neighbours has one ε for each class. Hint: edges about different people have different classes;"
        " duplicates='min' keeps the smallest ε of a class"
    )


def test_a_large_graph_keeps_classes_unconstrained_edges_and_what_was_written():
    count = SMALL_SPACE
    steps = np.arange(count)
    epsilon = np.where(steps % 3 == 0, math.inf, np.round(steps / count, 3) + 0.1)
    names = [("ann", "bob", None)[step % 3] for step in steps.tolist()]
    graph = hetdp.DatasetGraph.from_edges(steps + 1, steps, epsilon, classes=names)
    source, target, written = graph.edges()
    order, classes = np.argsort(source), graph.edge_classes() or []
    assert source[order].tolist() == steps.tolist()
    assert target[order].tolist() == (steps + 1).tolist()
    assert written[order].tolist() == epsilon.tolist()
    assert [classes[at] for at in order.tolist()] == names


def test_columns_that_cannot_be_written_to_or_have_gaps_between_them_are_columns():
    count = SMALL_SPACE
    table = np.zeros((count, 2), dtype=np.int32)
    table[:, 0], table[:, 1] = np.arange(count), np.arange(count) + 1
    epsilon = np.repeat(np.linspace(0.1, 1, count), 2)[::2]
    expected = hetdp.DatasetGraph.from_edges(table[:, 0].copy(), table[:, 1].copy(), epsilon.copy())
    table.flags.writeable = epsilon.flags.writeable = False
    graph = hetdp.DatasetGraph.from_edges(table[:, 0], table[:, 1], epsilon)
    assert np.array_equal(graph.targets, expected.targets)
    assert np.array_equal(graph.epsilon, expected.epsilon)


def test_a_small_graph_is_built_without_the_compiler():
    code = (
        "import sys, numpy as np, hetdp\n"
        "from hetdp.problem.space import SMALL_SPACE\n"
        "steps = np.arange(SMALL_SPACE // 2)\n"
        "graph = hetdp.DatasetGraph.from_edges(steps * 1000, steps * 1000 + 1000, 0.1)\n"
        "assert graph.arc_count == SMALL_SPACE and 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
