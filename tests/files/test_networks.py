"""NetworkX graphs are read unchanged: no ε is dropped, summed or assumed, in either direction."""

from __future__ import annotations

import math

import networkx
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import hetdp
from hetdp.files.networks import from_networkx
from hetdp.text import format_type
from tests.files.graphs import EPSILON, PAIRS, edges_of, error_message, graph_from_pairs, networkx_graph
from tests.loops import for_each

RULE = "every edge must state its ε; there is no default."


@given(PAIRS)
def test_a_networkx_graph_is_read_unchanged(pairs):
    graph = networkx.Graph()
    graph.add_nodes_from(range(10))
    graph.add_weighted_edges_from([(u, v, e) for (u, v), e in pairs.items()], weight="epsilon")
    assert edges_of(from_networkx(graph)) == edges_of(graph_from_pairs(pairs))


def test_nodes_are_datasets_in_their_order_and_isolated_ones_are_kept():
    graph = networkx_graph(("c", "a", {"epsilon": 1}), nodes=["z", "c", "b", "a"])
    used = from_networkx(graph)
    assert list(used.datasets) == ["z", "c", "b", "a"]
    assert edges_of(used) == [[1], [3], [1.0]]


def test_any_hashable_node_is_a_label():
    nodes = [(0, 1), frozenset({2}), "x", 7]
    graph = networkx_graph((nodes[0], nodes[1], {"epsilon": 0.5}), nodes=nodes)
    assert list(from_networkx(graph).datasets) == nodes


def test_the_attribute_with_epsilon_may_have_any_name():
    graph = networkx_graph(("a", "b", {"privacy": 0.25, "epsilon": 9.0}))
    assert edges_of(from_networkx(graph, epsilon="privacy"))[2] == [0.25]


def test_an_edge_with_epsilon_zero_is_kept():
    graph = networkx_graph(("a", "b", {"epsilon": 0}), ("b", "c", {"epsilon": 0.0}))
    assert edges_of(from_networkx(graph))[2] == [0.0, 0.0]


def test_self_loops_of_networkx_are_dropped():
    graph = networkx_graph(("a", "a", {"epsilon": 1.0}), ("a", "b", {"epsilon": 2.0}))
    assert from_networkx(graph).edge_count == 1


def test_a_missing_attribute_is_never_taken_for_1():
    graph = networkx_graph(("a", "b", {"epsilon": 0.5}), ("b", "c", {}))
    assert networkx.to_scipy_sparse_array(graph, weight="epsilon")[1, 2] == 1.0  # the trap
    text = error_message(from_networkx, graph)
    assert text == f"NetworkX graph: edge 1 ('b', 'c'): no attribute 'epsilon'; {RULE}"


def test_a_missing_attribute_names_those_that_are_there():
    graph = networkx_graph(("a", "b", {"eps": 0.5, "weight": 2}))
    text = error_message(from_networkx, graph)
    assert text == (
        f"NetworkX graph: edge 0 ('a', 'b'): no attribute 'epsilon'; {RULE}"
        " Hint: it has 'eps', 'weight'; epsilon= names the attribute to read"
    )


def test_every_edge_without_the_attribute_is_counted():
    with pytest.raises(hetdp.InputError) as caught:
        from_networkx(networkx.path_graph(1502))
    assert (caught.value.total, len(caught.value.faults)) == (1501, 1000)
    assert str(caught.value).splitlines()[0] == "NetworkX graph: 1,501 faults"


@for_each(
    ("value", "fault"),
    [
        (None, "missing ε"),
        (math.nan, "missing ε"),
        (-0.5, "negative ε -0.5"),
        ("0.5", "non-numeric ε '0.5'"),
        (True, "non-numeric ε True"),
        ([0.5], "non-numeric ε [0.5]"),
    ],
)
def test_a_wrong_attribute_names_the_ends_of_its_edge(value, fault):
    graph = networkx_graph(("a", "b", {"epsilon": 1.0}), ("b", "c", {"epsilon": value}))
    assert error_message(from_networkx, graph) == f"NetworkX graph: edge 1 ('b', 'c'): {fault}; ε is a number ≥ 0."


def test_all_faults_of_a_networkx_graph_are_listed_together():
    faulty = [
        ("b", "c", {"epsilon": "x"}),
        ("c", "d", {"epsilon": -1}),
        ("d", "e", {"epsilon": 1.0}),
        ("d", "e", {"epsilon": 2}),
    ]
    with pytest.raises(hetdp.InputError) as caught:
        from_networkx(networkx_graph(("a", "b", {}), *faulty, kind=networkx.MultiGraph))
    assert [f"{fault.where}: {fault.what} {fault.value}" for fault in caught.value.faults] == [
        "edge 0 ('a', 'b'): no attribute 'epsilon'",
        "edge 1 ('b', 'c'): non-numeric ε 'x'",
        "edge 2 ('c', 'd'): negative ε -1.0",
        "edge 4 ('d', 'e'): contradictory duplicate edge, ε 2.0 here, 1.0 at edge 3",
    ]


def test_a_missing_attribute_of_a_parallel_edge_contradicts_nothing():
    graph = networkx_graph(("a", "b", {}), ("a", "b", {"epsilon": 2.0}), kind=networkx.MultiGraph)
    assert error_message(from_networkx, graph) == f"NetworkX graph: edge 0 ('a', 'b'): no attribute 'epsilon'; {RULE}"


def test_a_node_that_is_not_a_number_is_refused():
    graph = networkx_graph(("a", math.nan, {"epsilon": 1.0}))
    assert "missing label nan" in error_message(from_networkx, graph)


def test_parallel_edges_that_agree_are_one_edge():
    graph = networkx_graph(*[("a", "b", {"epsilon": 0.7})] * 3, kind=networkx.MultiGraph)
    assert networkx.to_scipy_sparse_array(graph, weight="epsilon")[0, 1] == pytest.approx(2.1)  # the trap
    assert edges_of(from_networkx(graph)) == [[0], [1], [0.7]]


def test_parallel_edges_that_contradict_each_other_are_refused_or_the_most_private_one_is_kept():
    graph = networkx_graph(("a", "b", {"epsilon": 0.7}), ("b", "a", {"epsilon": 0.2}), kind=networkx.MultiGraph)
    assert "contradictory duplicate edge, ε 0.2 here, 0.7 at edge 0" in error_message(from_networkx, graph)
    assert edges_of(from_networkx(graph, duplicates="min"))[2] == [0.2]
    assert "unknown duplicates='sum'" in error_message(from_networkx, graph, duplicates="sum", error=hetdp.UsageError)


ONE_WAY = st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.tuples(EPSILON, st.floats(0.0, 1.0)))


@pytest.mark.parametrize("kind", [networkx.DiGraph, networkx.MultiDiGraph])
@given(ONE_WAY)
def test_an_edge_of_a_directed_graph_holds_from_its_source_to_its_target_only(kind, ways):
    graph = kind()
    graph.add_nodes_from(range(6))
    graph.add_edges_from([(u, v, {"epsilon": epsilon, "delta": delta}) for (u, v), (epsilon, delta) in ways.items()])
    pairs = sorted({(min(ends), max(ends)) for ends in ways if ends[0] != ends[1]})
    forth, back = ([ways.get(ends[::step], (math.inf, 1.0)) for ends in pairs] for step in (1, -1))
    source, target = ([pair[end] for pair in pairs] for end in (0, 1))
    epsilons = {"epsilon": [way[0] for way in forth], "epsilon_back": [way[0] for way in back]}
    deltas = {"delta": [way[1] for way in forth], "delta_back": [way[1] for way in back]}
    for options, columns in (({}, epsilons), ({"delta": "delta"}, epsilons | deltas)):
        used = from_networkx(graph, **options)
        expected = hetdp.DatasetGraph.from_edges(source, target, datasets=range(6), **columns)
        assert used.parameter_names == expected.parameter_names
        assert edges_of(used) == edges_of(expected)
        assert [x.tolist() for x in used.parameters] == [x.tolist() for x in expected.parameters]


def test_a_direction_without_an_edge_is_not_constrained():
    graph = networkx_graph(("b", "a", {"epsilon": 0.7, "d": 0.1}), nodes="ab", kind=networkx.DiGraph)
    used = from_networkx(graph, delta="d")
    assert used.parameter_names == ("epsilon", "epsilon_back", "delta", "delta_back")
    assert edges_of(used) == [[0], [1], [math.inf], [0.7], [1.0], [0.1]]  # seen from a
    promised = {"epsilon": 0.7, "epsilon_back": math.inf, "delta": 0.1, "delta_back": 1.0}
    assert used.edges_between(1, 0) == [(promised, None)]


def test_parallel_edges_of_one_direction_agree_or_the_most_private_one_is_kept():
    listed = [("a", "b", 0.7, 0.1), ("b", "a", 0.9, 0.3), ("a", "b", 0.2, 0.2), ("a", "a", 1, 0), ("a", "a", 2, 0)]
    edges = [(u, v, {"epsilon": epsilon, "delta": delta}) for u, v, epsilon, delta in listed]
    graph = networkx_graph(*edges, kind=networkx.MultiDiGraph)
    with pytest.raises(hetdp.InputError) as caught:
        from_networkx(graph, delta="delta")
    text = "edge 1 ('a', 'b'): contradictory parallel edge, {0} {1} here, {2} at edge 0;"
    text += " parallel edges of one class and direction have one {0}. "
    hint = "Hint: edges about different people have different classes; "
    hint += "duplicates='min' keeps the smallest {0} of a class"
    found = [str(fault) for fault in caught.value.faults]
    assert found == [(text + hint).format(*said) for said in (("ε", 0.2, 0.7), ("δ", 0.2, 0.1))]
    assert edges_of(from_networkx(graph, duplicates="min", delta="delta"))[2:] == [[0.2], [0.9], [0.1], [0.3]]
    assert "unknown duplicates='sum'" in error_message(from_networkx, graph, duplicates="sum", error=hetdp.UsageError)


def test_a_value_that_is_not_a_number_contradicts_no_parallel_edge():
    values = ["x", 0.5, None, 0.5]
    graph = networkx_graph(*[("a", "b", {"epsilon": value}) for value in values], kind=networkx.MultiDiGraph)
    with pytest.raises(hetdp.InputError) as caught:
        from_networkx(graph)
    assert [fault.what for fault in caught.value.faults] == ["non-numeric ε", "missing ε"]


@pytest.mark.parametrize("kind", [networkx.Graph, networkx.MultiGraph])
def test_delta_of_an_undirected_graph_holds_in_both_directions(kind):
    graph = networkx_graph(("a", "b", {"epsilon": 0.5, "d": 1e-10}), kind=kind)
    assert edges_of(from_networkx(graph, delta="d")) == [[0], [1], [0.5], [0.5], [1e-10], [1e-10]]


def test_mu_takes_the_place_of_epsilon():
    graph = networkx_graph(("a", "b", {"m": 0.1, "epsilon": 9.0}), ("b", "c", {"m": math.inf}))
    used = from_networkx(graph, mu="m")
    assert (used.parameter_names, edges_of(used)[2]) == (("mu",), [0.1, math.inf])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mu": "m", "delta": "d"}, "edges with delta and mu; edges have epsilon, "),
        ({"mu": "m", "epsilon": "e"}, "edges with epsilon and mu; edges have epsilon, "),
        (
            {"mu": 0.5},
            "mu=0.5 is not an attribute; mu names the edge attribute with μ. Hint: networkx.set_edge_attributes",
        ),
        ({"delta": 0.5}, "delta=0.5 is not an attribute; delta names the edge attribute with δ."),
    ],
)
def test_attributes_that_do_not_go_together_are_refused(options, said):
    assert error_message(from_networkx, networkx.path_graph(3), error=hetdp.UsageError, **options).startswith(said)


def test_mu_has_no_direction():
    graph = networkx_graph(("a", "b", {"m": 1.0}), kind=networkx.DiGraph)
    assert error_message(from_networkx, graph, mu="m", error=hetdp.UsageError) == (
        "DiGraph is directed; μ holds in both directions. Hint: a Graph or a MultiGraph can have μ"
    )


@for_each(
    ("name", "letter", "value", "fault"),
    [
        ("delta", "δ", 1.5, "δ above 1: 1.5; δ is a number from 0 to 1."),
        ("delta", "δ", -0.5, "negative δ -0.5; δ is a number from 0 to 1."),
        ("delta", "δ", "0", "non-numeric δ '0'; δ is a number from 0 to 1."),
        ("mu", "μ", math.nan, "missing μ; μ is a number ≥ 0."),
        ("mu", "μ", -1, "negative μ -1.0; μ is a number ≥ 0."),
    ],
)
@for_each("absent", [True, False])
def test_faults_of_delta_and_mu_are_named_like_those_of_epsilon(name, letter, value, fault, absent):
    stated = {} if absent else {name: value}
    graph = networkx_graph(("a", "b", {"epsilon": 1.0, name: 0.5}), ("b", "c", {"epsilon": 1.0} | stated))
    if absent:
        fault = (
            f"no attribute '{name}'; every edge must state its {letter}; there is no default."
            f" Hint: it has 'epsilon'; {name}= names the attribute to read"
        )
    assert error_message(from_networkx, graph, **{name: name}) == f"NetworkX graph: edge 1 ('b', 'c'): {fault}"


def test_a_directed_graph_without_edges_is_a_graph():
    graph = networkx_graph(nodes="ab", kind=networkx.DiGraph)
    assert from_networkx(graph).parameter_names == ("epsilon", "epsilon_back")
    assert len(from_networkx(graph, delta="d").parameter_names) == 4


@pytest.mark.parametrize(("back", "agrees"), [(0.7, True), (0.5, False)])
def test_a_multigraph_with_both_directions_of_every_edge_is_read_if_they_agree(back, agrees):
    directed = networkx_graph(("a", "b", {"epsilon": 0.7}), ("b", "a", {"epsilon": back}), kind=networkx.DiGraph)
    graph = networkx.MultiGraph()
    graph.add_edges_from(directed.edges(data=True))
    if agrees:
        assert edges_of(from_networkx(graph))[2] == [0.7]
    else:
        assert "contradictory duplicate edge" in error_message(from_networkx, graph)


@pytest.mark.parametrize(
    "wrong", [{"a": ["b"]}, [("a", "b")], None, scipy.sparse.coo_array((2, 2))], ids=lambda x: type(x).__name__
)
def test_arguments_that_are_not_networkx_graphs_are_refused(wrong):
    text = error_message(from_networkx, wrong, error=hetdp.UsageError)
    assert text == f"expected a NetworkX graph, got {format_type(wrong)}; from_networkx reads graphs of NetworkX."


def test_a_number_in_place_of_the_attribute_is_refused():
    assert error_message(from_networkx, networkx.path_graph(3), epsilon=0.5, error=hetdp.UsageError) == (
        "epsilon=0.5 is not an attribute; epsilon names the edge attribute with ε."
        " Hint: networkx.set_edge_attributes(graph, value, 'epsilon') gives every edge the same ε"
    )


def test_json_read_with_a_renamed_key_has_no_edges_and_the_graph_says_so():
    written = networkx.node_link_data(networkx_graph(("a", "b", {"epsilon": 0.7})), edges="links")
    read = networkx.node_link_graph({**written, "edges": []}, edges="edges")
    assert repr(from_networkx(read)) == "DatasetGraph(2 datasets, 0 edges)"  # legal, so the counts must be looked at
    right = networkx.node_link_graph(written, edges="links")
    assert repr(from_networkx(right)) == "DatasetGraph(2 datasets, 1 edge)"


def test_json_in_which_epsilon_was_renamed_is_refused():
    read = networkx.node_link_graph(
        {"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b", "eps": 0.7}]}, edges="edges"
    )
    assert "no attribute 'epsilon'" in error_message(from_networkx, read)


def test_a_graph_without_nodes_is_a_graph():
    assert from_networkx(networkx.Graph()).size == 0
