"""Arcs with the number of their edge: both directions, in order, and one of each run of repeats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetdp.problem.decimals import marks_of
from hetdp.problem.edges import arcs_of, find_repeats, find_unconstrained, merge_repeats
from hetdp.problem.parameters import Parameters
from hetdp.problem.space import SMALL_SPACE

EPSILON = st.sampled_from([0.0, 0.1, 0.3, 2.0, math.inf])
EDGES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), EPSILON), max_size=30)


def build_arcs(edges, usable=None):
    source, target, epsilon = (np.array([edge[part] for edge in edges], dtype=float) for part in range(3))
    return arcs_of(source.astype(np.int32), target.astype(np.int32), pure(epsilon), usable)


def pure(epsilon):
    return Parameters(("epsilon",), (epsilon,))


@given(EDGES)
def test_every_edge_but_a_self_loop_becomes_two_arcs_in_order(edges):
    arcs = build_arcs(edges)
    proper = [(edge, *ends) for edge, ends in enumerate(edges) if ends[0] != ends[1]]
    expected = [(u, v, e, edge) for edge, u, v, e in proper] + [(v, u, e, edge) for edge, u, v, e in proper]
    found = (arcs.source, arcs.target, arcs.columns[0], arcs.edge)
    assert list(zip(*(part.tolist() for part in found), strict=True)) == sorted(expected, key=lambda arc: arc[:2])


def test_edges_that_cannot_be_used_become_no_arcs_and_the_others_keep_their_positions():
    arcs = build_arcs([(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)], usable=np.array([True, False, True]))
    assert arcs.edge.tolist() == [0, 0, 2, 2]


@given(EDGES)
def test_the_smallest_epsilon_of_repeated_edges_is_kept(edges):
    arcs = build_arcs(edges)
    best: dict = {}
    for u, v, epsilon in edges:
        for ends in {(u, v), (v, u)} if u != v else ():
            best[ends] = min(best.get(ends, math.inf), epsilon)
    merged = merge_repeats(arcs, find_repeats(arcs))
    found = zip(merged.source.tolist(), merged.target.tolist(), merged.columns[0].tolist(), strict=True)
    assert list(found) == [(*ends, best[ends]) for ends in sorted(best)]


@given(EDGES)
def test_arcs_of_infinite_epsilon_constrain_nothing(edges):
    arcs = build_arcs(edges)
    arcs = merge_repeats(arcs, find_repeats(arcs))
    free = find_unconstrained(("epsilon",), (marks_of(arcs.columns[0]),))
    assert free.tolist() == np.flatnonzero(np.isinf(arcs.columns[0])).tolist()


@pytest.mark.parametrize("count", [SMALL_SPACE // 2, SMALL_SPACE])
def test_a_large_graph_records_the_edges_of_its_arcs_like_a_small_one(count):
    rng = np.random.default_rng(count)
    source, target = (rng.integers(0, 300, count).astype(np.int32) for _ in range(2))
    epsilon = rng.uniform(0, 2, count)
    arcs = arcs_of(source, target, pure(epsilon))
    assert np.array_equal(epsilon[arcs.edge], arcs.columns[0])
    assert np.array_equal(source[arcs.edge] + target[arcs.edge], arcs.source + arcs.target)
    keys = arcs.source.astype(np.int64) * 300 + arcs.target
    assert (np.diff(keys) >= 0).all()
    proper = np.flatnonzero(source != target)
    assert np.array_equal(np.sort(arcs.edge), np.repeat(proper, 2))
