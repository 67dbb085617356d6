"""Graphs that papers use: hypercubes, paths, grids, and privacy by distance."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetdp
from hetdp.problem import constructors
from hetdp.spaces import grid, hypercube, metric, path
from tests.loops import for_each


def edge_set(graph):
    source, target, epsilon = graph.edges()
    ends = zip(source.tolist(), target.tolist(), epsilon.tolist(), strict=True)
    return {(frozenset((graph.label(one), graph.label(other))), value) for one, other, value in ends}


def test_a_hypercube_joins_the_texts_that_differ_in_one_place():
    graph = hypercube(4, 0.5, values="12")
    votes = ["".join(each) for each in product("12", repeat=4)]
    assert list(graph.datasets) == votes
    near = [pair for pair in combinations(votes, 2) if sum(a != b for a, b in zip(*pair, strict=True)) == 1]
    assert edge_set(graph) == {(frozenset(pair), 0.5) for pair in near}


def test_a_hypercube_of_tuples_keeps_the_values_and_may_have_several():
    graph = hypercube(2, [0.1, 1.0], values=(1, 2, 3), labels="tuples")
    assert graph.datasets[1] == (1, 2)
    assert graph.edge_count == 18  # 3 lines of 3 pairs along each of 2 coordinates
    assert dict(edge_set(graph))[frozenset({(1, 1), (3, 1)})] == 0.1
    assert dict(edge_set(graph))[frozenset({(1, 1), (1, 3)})] == 1.0
    assert hypercube(2, 1.0, values=("yes", "no")).datasets[1] == "yes,no"
    assert list(hypercube(0, 1.0).datasets) == [""]


def test_a_hypercube_of_voters_is_the_problem_of_their_votes():
    people = hetdp.spaces.votes(["Ann", "Bob", "Cyd"], hetdp.questions.majority(), 0.5)
    graph = hypercube(3, 0.5, values=["yes", "no"], labels="tuples")
    problem = hetdp.Problem(graph, lambda votes: 1 if votes.count("yes") > 1 else 2)
    assert dict(hetdp.design(problem)) == dict(hetdp.design(people))


def test_epsilon_of_an_edge_may_depend_on_its_two_ends():
    graph = hypercube(3, lambda one, other: 0.2 if {one, other} == {"000", "001"} else 1.0)
    assert dict(edge_set(graph))[frozenset({"000", "001"})] == 0.2
    assert sorted(graph.edges()[2])[:2] == [0.2, 1.0]


def test_a_function_that_fails_names_the_datasets():
    with pytest.raises(ZeroDivisionError) as refusal:
        path(3, lambda one, other: 1 / one)
    assert refusal.value.__notes__ == ["raised by epsilon at the datasets 0 and 1"]


def test_a_path_has_its_labels_in_order_and_an_epsilon_for_each_step():
    assert edge_set(path(["a", "b", "c"], [0.1, 1])) == {(frozenset("ab"), 0.1), (frozenset("bc"), 1.0)}
    assert path(1, []).edge_count == path(0, 1.0).edge_count == 0
    assert list(path(3, 1.0).datasets) == [0, 1, 2]


@for_each("shape", [(3, 4), (2, 3, 2), (5,), (0, 3), ()])
def test_a_grid_is_that_of_networkx(shape):
    graph = grid(shape, 0.5)
    theirs = networkx.grid_graph(shape[::-1]) if shape else networkx.empty_graph([()])
    wrap = (lambda one: one if isinstance(one, tuple) else (one,)) if len(shape) == 1 else (lambda one: one)
    assert {ends for ends, _ in edge_set(graph)} == {frozenset(map(wrap, edge)) for edge in theirs.edges}
    assert graph.size == math.prod(shape)


def test_a_grid_may_have_an_epsilon_for_each_axis():
    found = dict(edge_set(grid((2, 2), [0.1, 1.0])))
    assert found[frozenset({(0, 0), (1, 0)})] == 0.1
    assert found[frozenset({(0, 0), (0, 1)})] == 1.0


def test_distances_along_a_grid_need_only_its_edges_and_give_its_mechanism():
    points = list(product(range(4), repeat=2))
    by_steps = metric(points, lambda u, v: abs(u[0] - v[0]) + abs(u[1] - v[1]), 0.1)
    assert edge_set(by_steps) == edge_set(grid((4, 4), 0.1))
    everything = metric(points, lambda u, v: abs(u[0] - v[0]) + abs(u[1] - v[1]), 0.1, pairs="all")
    assert everything.edge_count == 120
    query = {point: 1 if sum(point) > 2 else 2 for point in points}
    few, all_ = (hetdp.design(hetdp.Problem(graph, query)) for graph in (by_steps, everything))
    assert few.coordinates == pytest.approx(all_.coordinates, rel=1e-14)


lengths = st.one_of(
    st.integers(0, 5), st.floats(0, 4), st.decimals(0, 3, places=2), st.fractions(0, 3, max_denominator=7)
)


@given(st.lists(lengths, min_size=15, max_size=15), st.sampled_from([1, 0.1, 0.3, Fraction(1, 3), Decimal("0.7")]))
def test_every_pair_that_is_left_out_is_implied_by_the_rest_in_exact_arithmetic(given_lengths, scale):
    pairs = dict(zip(combinations(range(6), 2), given_lengths, strict=True))
    graph = metric(range(6), lambda u, v: pairs[u, v], scale)
    used = [[Fraction(0) if u == v else None for v in range(6)] for u in range(6)]
    for u in range(6):
        targets, (epsilon,) = graph.neighbours(u)
        for v, value in zip(targets.tolist(), epsilon.tolist(), strict=True):
            used[u][v] = Fraction(value)
    for w, u, v in product(range(6), repeat=3):  # shortest paths, exactly
        if used[u][w] is not None and used[w][v] is not None:
            through = used[u][w] + used[w][v]
            used[u][v] = through if used[u][v] is None else min(used[u][v], through)
    exact = {pair: Fraction(repr(x)) if isinstance(x, float) else Fraction(x) for pair, x in pairs.items()}
    factor = Fraction(repr(scale)) if isinstance(scale, float) else Fraction(scale)
    assert all(used[u][v] is not None and used[u][v] <= factor * exact[u, v] for u, v in pairs)


def test_pairs_of_distance_zero_stay_and_infinite_ones_are_left_out():
    graph = metric("abc", [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert edge_set(graph) == {(frozenset("ab"), 0.0), (frozenset("ac"), 1.0), (frozenset("bc"), 1.0)}
    apart = [[0, math.inf], [math.inf, 0]]
    assert metric("ab", apart).edge_count == 0
    assert metric("ab", apart, pairs="all").edge_count == 1


def test_products_are_exact_and_those_that_are_no_floats_are_rounded_down():
    assert metric([0, 3], lambda u, v: v - u, 0.1).edges()[2].tolist() == [0.3]
    third = metric([0, 1], lambda u, v: 1, Fraction(1, 3)).edges()[2]
    assert Fraction(repr(float(third[0]))) < Fraction(1, 3)
    assert np.isfinite(metric([0, 1], lambda u, v: 1e308, 1e308).epsilon).all()


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: hypercube(-1, 1.0), "n=-1"),
        (lambda: hypercube(True, 1.0), "n=True"),
        (lambda: hypercube(2, 1.0, values="00"), "several different values"),
        (lambda: hypercube(2, 1.0, values=["a,", "bb"]), "labels='tuples' allows any value"),
        (lambda: hypercube(2, 1.0, labels="text "), "labels are 'text' or 'tuples'"),  # type: ignore[arg-type]
        (lambda: hypercube(40, 1.0), r"at most 8,388,608 are made here. Hint: hetdp.spaces.votes stores no edges"),
        (lambda: hypercube(3, "half"), "epsilon='half'; ε is one number for all edges, one for each coordinate"),
        (lambda: hypercube(3, [1.0, 2.0]), "wrong number of ε: 2 for 3 coordinates"),
        (
            lambda: grid((2, 2), [1.0]),
            "wrong number of ε: 1 for 2 axes; ε is one number for all edges, one for each ax",
        ),
        (lambda: grid((10**5, 10**5), 1.0), "at most 8,388,608"),
        (lambda: grid(3, 1.0), "shape=3"),  # type: ignore[arg-type]
        (lambda: grid((2, 0.5), 1.0), r"shape\[1\]=0.5"),  # type: ignore[arg-type]
        (lambda: path("abc", 1.0), "datasets='abc'"),
        (lambda: path(["a", "a"], 1.0), "duplicate"),
        (lambda: path(2, -1.0), "negative ε"),
        (lambda: metric("ab", lambda u, v: -1), "not a distance: .*'?-1'?; a distance is a number ≥ 0"),
        (lambda: metric("ab", lambda u, v: math.nan), "not a distance"),
        (lambda: metric("ab", lambda u, v: "1"), "not a distance"),
        (lambda: metric("ab", [[0, 1], [2, 0]]), "not symmetric"),
        (lambda: metric("ab", [[0, 1, 1], [1, 0, 1]]), "a symmetric matrix with a row for each dataset"),
        (lambda: metric("ab", math.dist, -1.0), "scale=-1.0; a scale is a finite number ≥ 0"),
        (lambda: metric("ab", math.dist, pairs="some"), "pairs are 'needed' or 'all'"),  # type: ignore[arg-type]
        (lambda: metric(range(10**4), math.dist), "49,995,000 edges"),
    ],
)
def test_arguments_that_make_no_graph_are_refused_by_name(make, what):
    with pytest.raises(hetdp.HetdpError, match=what):
        make()


def test_the_limit_is_on_edges(monkeypatch):
    monkeypatch.setattr(constructors, "MOST_EDGES", 12)
    assert hypercube(3, 1.0).edge_count == 12
    with pytest.raises(hetdp.UsageError, match="24 edges"):
        grid((4, 4), 1.0)
