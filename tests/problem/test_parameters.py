"""The parameters of edges: separate for each direction, as written, and the least where an edge is listed twice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hetdp
from hetdp.problem.parameters import KINDS, describe_parameters
from tests.loops import for_each
from tests.problem.kinds import FREE, VALUES, ListedEdge, edges_of_kind, graph_of, reverse_parameters, reverse_some

SIZE = 5
KIND = st.sampled_from(KINDS)
EDGES_OF_A_KIND = KIND.flatmap(lambda kind: st.tuples(st.just(kind), edges_of_kind(kind, SIZE, max_size=12)))


def least_parameters(listed: list[ListedEdge]) -> dict[tuple[int, int], dict[str, float]]:
    """The least of each parameter for each direction of each pair, by the plain definition."""
    least: dict[tuple[int, int], dict[str, float]] = {}
    for u, v, values in listed:
        for ends, seen in (((u, v), values), ((v, u), reverse_parameters(values))):
            if u != v:
                old = least.setdefault(ends, dict(seen))
                least[ends] = {name: min(old[name], seen[name]) for name in seen}
    return least


def arcs_of(graph: hetdp.DatasetGraph) -> Iterator[tuple[tuple[int, int], dict[str, float]]]:
    for block in graph.edge_blocks():
        columns = (column.tolist() for column in (block.source, block.target, *block.parameters))
        for u, v, *values in zip(*columns, strict=True):
            yield (u, v), dict(zip(graph.parameter_names, values, strict=True))


def edges_by_pair(graph: hetdp.DatasetGraph) -> dict[tuple[int, int], dict[str, float]]:
    rows = zip(*(column.tolist() for column in graph.edges()), strict=True)
    return {(u, v): dict(zip(graph.parameter_names, values, strict=True)) for u, v, *values in rows}


def is_free(values: dict[str, float]) -> bool:
    """Whether an edge promises nothing from its source."""
    return any(values.get(name) == limit for name, limit in FREE.items())


@given(EDGES_OF_A_KIND)
def test_an_edge_listed_twice_keeps_the_least_of_each_column_and_direction(state):
    kind, listed = state
    expected = {ends: values for ends, values in least_parameters(listed).items() if ends[0] < ends[1]}
    assert edges_by_pair(graph_of(kind, listed, SIZE, "min")) == expected


@given(EDGES_OF_A_KIND)
def test_an_edge_has_arcs_both_ways_unless_it_constrains_in_neither_direction(state):
    kind, listed = state
    graph = graph_of(kind, listed, SIZE, "min")
    expected = least_parameters(listed)
    arcs = dict(arcs_of(graph))
    constrains = {ends for ends, values in expected.items() if not is_free(values)}  # in this direction
    assert arcs.keys() == constrains | {ends[::-1] for ends in constrains}
    assert graph.arc_count == len(arcs)
    for (u, v), values in arcs.items():
        assert arcs[v, u] == reverse_parameters(values)
        assert graph.edges_between(u, v)[0].parameters == expected[u, v]
        for name, x in values.items():  # the largest float not above the decimal, or the one below it
            decimal = expected[u, v][name]
            assert x == decimal or (x == math.nextafter(decimal, 0) and Fraction(x) <= Fraction(repr(decimal)))
            assert math.isinf(x) or Fraction(x) <= Fraction(repr(decimal))


@for_each(
    ("columns", "constrains"),
    [
        ({"epsilon": math.inf}, False),
        ({"epsilon": 1e308}, True),
        ({"epsilon": math.inf, "epsilon_back": 1.0}, True),
        ({"epsilon": 1.0, "epsilon_back": math.inf}, True),
        ({"epsilon": math.inf, "epsilon_back": math.inf}, False),
        ({"epsilon": 0.0, "delta": 1.0}, False),
        ({"epsilon": 0.0, "delta": 0.5}, True),
        ({"epsilon": 0.0, "delta": math.nextafter(1.0, 0.0)}, True),
        ({"epsilon": 0.0, "delta": 1.0, "delta_back": 0.5}, True),
        ({"epsilon": math.inf, "epsilon_back": 0.0, "delta": 0.0, "delta_back": 1.0}, False),
        ({"epsilon": math.inf, "delta": 0.0}, False),
        ({"mu": 1.0}, True),
        ({"mu": math.inf}, False),
    ],
)
def test_an_edge_constrains_unless_epsilon_is_infinite_or_delta_is_1_both_ways(columns: dict[str, Any], constrains):
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], **columns)
    assert (graph.arc_count, graph.edge_count) == (2 * constrains, 1)
    assert hetdp.Problem(graph, [1, 2]).boundary == (["a", "b"] if constrains else [])
    written = edges_by_pair(graph)[0, 1]
    assert {name: written[name] for name in columns} == columns


@given(EDGES_OF_A_KIND, st.lists(st.booleans(), min_size=12, max_size=12), st.randoms())
def test_neither_the_order_of_the_edges_nor_of_their_ends_matters(state, turn, random):
    kind, listed = state
    graph = graph_of(kind, listed, SIZE, "min")
    other = reverse_some(listed, turn)
    random.shuffle(other)
    again = graph_of(kind, other, SIZE, "min")
    identities = {hetdp.Problem(made, [1, 2, 1, 2, 1]).identity for made in (graph, again)}
    assert len(identities) == 1
    assert edges_by_pair(again) == edges_by_pair(graph)


@given(EDGES_OF_A_KIND)
def test_a_graph_made_of_its_own_edges_is_the_same_graph(state):
    kind, listed = state
    graph = graph_of(kind, listed, SIZE, "min")
    source, target, *values = graph.edges()
    columns = dict(zip(kind, values, strict=True))
    again = hetdp.DatasetGraph.from_edges(source, target, datasets=range(SIZE), **columns)
    assert [x.tolist() for x in again.edges()] == [x.tolist() for x in graph.edges()]
    assert [x.tobytes() for x in again.parameters] == [x.tobytes() for x in graph.parameters]


@given(EDGES_OF_A_KIND)
def test_an_edge_listed_twice_is_refused_exactly_if_something_differs(state):
    kind, listed = state
    first: dict[tuple[int, int], dict[str, float]] = {}
    differ = False
    for u, v, values in listed:
        seen = values if u < v else reverse_parameters(values)
        differ |= u != v and first.setdefault((min(u, v), max(u, v)), seen) != seen
    if differ:
        with pytest.raises(hetdp.InputError, match="contradictory duplicate edge"):
            graph_of(kind, listed, SIZE)
    else:
        assert edges_by_pair(graph_of(kind, listed, SIZE)) == edges_by_pair(graph_of(kind, listed, SIZE, "min"))


@example([(0, 1, {"epsilon": 0.1, "epsilon_back": 1.0}), (0, 1, {"epsilon": 1.0, "epsilon_back": 0.1})], ["x", "y"])
@given(edges_of_kind(KINDS[1], 3, max_size=8), st.lists(st.sampled_from(["x", "y", None]), min_size=8, max_size=8))
def test_the_class_of_an_edge_does_not_depend_on_its_direction(listed, names):
    classes = names[: len(listed)]
    graph = graph_of(KINDS[1], listed, 3, "min", classes=classes)
    if graph._classes is None:
        assert not any(classes)
        return
    arcs = [(*ends, name) for (ends, _), name in zip(arcs_of(graph), graph._classes[0].by_name(), strict=True)]
    assert sorted(map(repr, arcs)) == sorted(repr((v, u, name)) for u, v, name in arcs)
    assert len({*arcs}) == len(arcs)  # one edge for each pair and class


@pytest.mark.parametrize("nothing", [None, math.nan, np.float64("nan")])
def test_a_missing_value_back_means_the_value_forth(nothing):
    graph = hetdp.DatasetGraph.from_edges(
        ["a", "c"], ["b", "b"], [0.1, 0.2], epsilon_back=[nothing, 0.3], delta=[1e-10, 0.5], delta_back=[0.25, nothing]
    )
    assert [x.tolist() for x in graph.edges()[2:]] == [[0.1, 0.3], [0.1, 0.2], [1e-10, 0.5], [0.25, 0.5]]


def test_a_masked_value_back_is_missing():
    back = np.ma.MaskedArray([9.0, 0.3], [True, False])
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.1, 0.2], epsilon_back=back)
    assert [x.tolist() for x in graph.edges()[2:]] == [[0.1, 0.2], [0.1, 0.3]]


@pytest.mark.parametrize("one", [0.5, np.float32(0.5), np.array(0.5), Fraction(1, 2)])
def test_one_number_applies_to_all_edges_in_every_column(one):
    for kind in KINDS:
        graph = hetdp.DatasetGraph.from_edges("ab", "bc", **dict.fromkeys(kind, one))
        assert [x.tolist() for x in graph.edges()[2:]] == [[0.5, 0.5]] * len(kind)


@for_each("kind", KINDS)
@for_each("values", [(), 0.5])
def test_a_graph_without_edges_has_all_columns(kind, values):
    graph = hetdp.DatasetGraph.from_edges([], [], datasets=["a"], **dict.fromkeys(kind, values))
    problem = hetdp.Problem(graph, [1])
    assert (graph.parameter_names, problem.notion.parameters) == (kind, kind)
    assert [x.tolist() for x in graph.edges()] == [[]] * (2 + len(kind))


@for_each(
    ("columns", "notion"),
    [
        ({"epsilon": 1}, "pure"),
        ({"epsilon": 1, "epsilon_back": 2}, "directed"),
        ({"epsilon": 1, "delta": 0.5}, "approximate"),
        ({"epsilon": 1, "epsilon_back": 2, "delta": 0.5, "delta_back": 0}, "approximate"),
        ({"mu": 1}, "gaussian"),
    ],
)
def test_the_columns_determine_the_notion(columns: dict[str, Any], notion):
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], **columns)
    assert hetdp.Problem(graph, [1, 2]).notion.name == notion
    assert hetdp.Problem(graph, [1, 2], notion=notion).notion.name == notion


def test_bounded_range_has_to_be_asked_for_and_is_another_problem():
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
    pure, asked = (hetdp.Problem(graph, [1, 2], notion=notion) for notion in (None, "bounded-range"))
    assert (pure.notion.name, asked.notion.name) == ("pure", "bounded-range")
    assert pure.identity != asked.identity


@given(st.data(), KIND)
def test_the_description_of_an_edge_has_all_its_parameters(data, kind):
    values = [data.draw(VALUES[name]) for name in kind]
    text = describe_parameters(kind, values)
    assert all(f"= {x:g}" in text for x in values)
    assert text.count("=") == len(kind) - sum(values[at] == values[at + 1] for at in range(0, len(kind) - 1, 2))
