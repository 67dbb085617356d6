"""Problems and results become graphs and data frames of other libraries, and problems come back the same."""

from __future__ import annotations

import math
import sys

import networkx
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.files import frames
from tests.loops import for_each
from tests.partitioned.inline import read_inline

INF = math.inf
FRAMES = [hetdp.to_pandas, hetdp.to_polars, hetdp.to_arrow]
LABELS = ["a", (1, ("x", 2)), 7, 0.5]
VOTES = hetdp.spaces.votes(["Ann", "Bob", "Cyd"], hetdp.questions.majority(), {"Ann": 0.1, "Bob": 0.3, "Cyd": 0.7})
NOTIONS = {
    "pure": {"epsilon": [0.1, 0, INF, 0.3]},
    "bounded-range": {"epsilon": [0.1, 0, INF, 0.3]},
    "renyi": {"epsilon": [0.1, 0, INF, 0.3]},
    "directed": {"epsilon": [0.1, 0, INF, INF], "epsilon_back": [INF, 2, INF, 0]},
    "approximate": {
        "epsilon": [0.1, INF, 0, 1],
        "epsilon_back": [INF, 2, INF, 0],
        "delta": [0, 0.1, 1, 1e-9],
        "delta_back": [1, 0.2, 1, 0],
    },
    "gaussian": {"mu": [0.1, 0, INF, 0.3]},
}


def problem_of(notion, labels=LABELS, classes=None, **words):
    ends = [labels[at] for at in (0, 1, 3, 0)], [labels[at] for at in (1, 2, 2, 2)]
    graph = hetdp.DatasetGraph.from_edges(*ends, datasets=labels, classes=classes, **NOTIONS[notion])
    alpha = {"alpha": 2.5} if notion == "renyi" else {}
    return hetdp.Problem(graph, [1, 1, 2, 2], notion=notion, **alpha, **words)


def parallel_problem(notion):
    columns = {name: [*values[:1], *values] for name, values in NOTIONS[notion].items()}
    first = next(iter(columns))
    columns[first] = [0.7, *columns[first][1:]]
    graph = hetdp.DatasetGraph.from_edges(
        "aaeba", "bbdcc", datasets="abcde", classes=["x", None, 3, "x", ("y", 1)], **columns
    )
    return hetdp.Problem(graph, [1, 2, 2, 1, 1], notion=notion, **({"alpha": 2} if notion == "renyi" else {}))


def facts(problem):
    graph = problem.graph
    classes = graph.edge_classes()
    edges = zip(*(column.tolist() for column in graph.edges()), classes or [None] * graph.edge_count, strict=True)
    weights = None if problem.weights is None else problem.weights.tolist()
    listed = sorted(edges, key=repr)
    return list(graph.labels.names), problem.answers.tolist(), problem.notion.key, listed, weights, dict(problem.about)


@for_each("notion", NOTIONS)
def test_a_problem_comes_back_from_networkx_the_same(notion):
    words = {"weights": [1, 0, 2.5, 1], "about": {"title": "A poll", "answer_1": "yes"}}
    plain, rich = problem_of(notion), problem_of(notion, classes=["a", None, 3, "a"], **words)
    for problem in (plain, rich, parallel_problem(notion)):
        again = hetdp.from_networkx(hetdp.to_networkx(problem), query="query")
        assert facts(again) == facts(problem)
        assert again.identity == problem.identity


def test_the_kind_of_graph_follows_from_the_problem():
    kinds = [
        (problem_of, networkx.Graph, networkx.DiGraph),
        (parallel_problem, networkx.MultiGraph, networkx.MultiDiGraph),
    ]
    for make, both, one_way in kinds:
        assert type(hetdp.to_networkx(make("gaussian"))) is both
        assert type(hetdp.to_networkx(make("directed"))) is one_way


def test_labels_of_any_hashable_type_stay_the_same_objects():
    labels = [frozenset({1}), ("a", None), object(), b"x"]
    problem = problem_of("pure", labels)
    for again in (
        hetdp.from_networkx(hetdp.to_networkx(problem), query="query"),
        hetdp.Problem(hetdp.from_table(hetdp.to_pandas(problem), datasets=labels), [1, 1, 2, 2]),
    ):
        assert facts(again) == facts(problem)
    for function in FRAMES[1:]:
        with pytest.raises(hetdp.UsageError, match="cannot be saved; a label is text"):
            function(problem)


def test_a_space_of_people_comes_back_as_the_same_problem_with_stored_edges():
    graph = hetdp.to_networkx(VOTES)
    again = hetdp.from_networkx(graph, query="query")
    assert again.identity == VOTES.identity
    assert {edge["class"] for _, _, edge in graph.edges(data=True)} == {"Ann", "Bob", "Cyd"}
    assert {edge["epsilon"] for _, _, edge in graph.edges(data=True)} == {0.1, 0.3, 0.7}


def test_a_mechanism_is_a_graph_with_its_values_at_the_nodes():
    mechanism = hetdp.design(VOTES)
    graph = hetdp.to_networkx(mechanism)
    assert {label: node["p"] for label, node in graph.nodes(data=True)} == dict(mechanism)
    assert {node["pinned"] for _, node in graph.nodes(data=True)} <= {True, False}
    assert hetdp.from_networkx(graph, query="query").identity == VOTES.identity


def test_the_answers_of_somebody_elses_graph_are_read_with_it():
    graph = networkx.path_graph(3)
    networkx.set_edge_attributes(graph, 0.5, "epsilon")
    networkx.set_node_attributes(graph, {0: True, 1: False, 2: False}, "won")
    problem = hetdp.from_networkx(graph, query="won")
    assert (problem.answers.tolist(), problem.notion.key, problem.weights) == ([1, 2, 2], "pure", None)


@for_each(
    ("changed", "message"),
    [
        (lambda graph: graph.add_node("z"), "node 'z': no attribute 'query'; query= names a node attribute"),
        (lambda graph: graph.nodes["a"].update(weight=1), "no attribute 'weight'; every node has it, or none"),
        (lambda graph: graph.graph.update(notion="purest"), "unknown notion 'purest'"),
        (lambda graph: graph.graph.update(notion="directed"), "the notion 'directed' on edges with epsilon"),
        (lambda graph: graph.graph.update(about={"titel": "x"}), "unknown key 'titel' in about="),
    ],
)
def test_attributes_that_are_missing_or_wrong_are_refused(changed, message):
    graph = hetdp.to_networkx(problem_of("pure"))
    changed(graph)
    with pytest.raises(hetdp.HetdpError) as caught:
        hetdp.from_networkx(graph, query="query")
    assert message in str(caught.value)


def test_the_name_of_the_query_is_a_text():
    with pytest.raises(hetdp.UsageError, match="query=3 is not an attribute; query names the node attribute with"):
        hetdp.from_networkx(networkx.Graph(), query=3)


@for_each("function", FRAMES)
@for_each("notion", ["pure", "directed", "approximate", "gaussian"])
def test_a_problem_comes_back_from_its_two_tables(function, notion):
    problem = problem_of(notion, ["a", "b", "c", "d"], ["x", None, "y", "x"], weights=[1, 0, 2.5, 1])
    datasets = function(problem, "datasets")
    graph = hetdp.from_table(function(problem, "edges"), datasets=datasets)
    by_label = datasets.set_index("dataset") if function is hetdp.to_pandas else datasets
    again = hetdp.Problem(graph, by_label["query"], weights=by_label["weight"])
    assert facts(again) == facts(problem)
    assert [bool(value) for value in list_of(datasets["boundary"])] == problem.boundary_mask.tolist()


def list_of(column):
    return column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()


@pytest.mark.parametrize("function", FRAMES)
def test_results_have_the_rows_of_their_columns(function):
    problem = problem_of("pure", ["a", "b", "c", "d"])
    mechanism = hetdp.design(problem)
    for result in (mechanism, hetdp.accuracy(mechanism), hetdp.sweep(problem, [0.5, 2], "fair")):
        frame, columns = function(result), result.columns()
        assert list(getattr(frame, "column_names", frame.columns)) == list(columns)
        for name, values in columns.items():
            expected = [value.item() if hasattr(value, "item") else value for value in values]
            found = list_of(frame[name])
            assert [None if one is None or one != one else one for one in found] == expected, name  # pandas has NaN
    odds = hetdp.odds(mechanism)
    assert list_of(function(odds)["loss"]) == [one.loss for one in odds.by_class.values()]


def test_a_frame_of_polars_or_arrow_has_labels_of_several_types_as_json():
    for function in FRAMES[1:]:
        assert list_of(function(problem_of("pure"), "datasets")["dataset"]) == ['"a"', '[1, ["x", 2]]', "7", "0.5"]
        numbers = hetdp.Problem(hetdp.DatasetGraph.from_edges([0.5, 1.5], [1.5, 2.5], 1), [1, 1, 2])
        assert list_of(function(numbers)["source"]) == [0.5, 1.5]


def test_each_function_returns_the_frame_of_its_library():
    kinds = [pandas.DataFrame, polars.DataFrame, pyarrow.Table]
    assert [type(function(VOTES)) for function in FRAMES] == kinds


@pytest.mark.parametrize(
    ("module", "name", "function"),
    [
        ("networkx", "NetworkX", hetdp.to_networkx),
        ("pandas", "pandas", hetdp.to_pandas),
        ("polars", "Polars", hetdp.to_polars),
        ("pyarrow", "PyArrow", hetdp.to_arrow),
    ],
)
def test_a_library_that_is_missing_is_named_with_the_command_that_installs_it(module, name, function, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(hetdp.UsageError) as caught:
        function(VOTES)
    assert str(caught.value) == f"{name} is not installed; {function.__name__} needs it. Hint: pip install {module}"


def test_wrong_arguments_are_refused():
    mechanism = hetdp.design(VOTES)
    for arguments, message in [
        (
            (VOTES, "edge"),
            "table='edge'; the tables of a problem are 'edges' and 'datasets'. Hint: did you mean 'edges'?",
        ),
        ((mechanism, "edges"), "table='edges' for a Mechanism; only a Problem has several tables"),
        ((3,), "expected a Problem, got an int; to_pandas takes a Problem, a Mechanism, an Accuracy, a Sweep or Odds"),
    ]:
        with pytest.raises(hetdp.UsageError) as caught:
            hetdp.to_pandas(*arguments)
        assert message in str(caught.value)
    with pytest.raises(hetdp.UsageError, match="expected a Problem, got an Accuracy; to_networkx makes a graph of"):
        hetdp.to_networkx(hetdp.accuracy(mechanism, baselines=False))


def test_spaces_too_large_for_a_frame_are_refused_with_the_reader_of_blocks(monkeypatch):
    mechanism = hetdp.design(VOTES)
    monkeypatch.setattr(frames, "MOST_ROWS", 7)
    for what, table, hint in [
        (mechanism, None, "m.blocks() gives its values in blocks"),
        (VOTES, "edges", "graph.edge_blocks() gives the edges in blocks of arrays"),
        (VOTES, "datasets", "problem.answers and problem.weights are arrays"),
    ]:
        with pytest.raises(hetdp.UsageError, match="it has at most 7") as caught:
            hetdp.to_pandas(what, table)
        assert hint in str(caught.value)
    large = hetdp.spaces.votes([f"p{at}" for at in range(23)], hetdp.questions.majority(), 1)
    for function in (hetdp.to_networkx, *FRAMES):
        with pytest.raises(hetdp.UsageError, match="edges to be stored"):
            function(large)


def test_a_partitioned_problem_and_its_mechanism_name_their_blocks(tmp_path):
    hetdp.save(problem_of("pure", ["a", "b", "c", "d"]), tmp_path / "problem")
    problem = read_inline(tmp_path / "problem", tmp_path / "work").problem
    mechanism = hetdp.design(problem, "balanced")
    for function in (hetdp.to_networkx, *FRAMES):
        for what in (problem, mechanism):
            with pytest.raises(hetdp.UsageError, match=r"must be in this process.*blocks\(\)"):
                function(what)


@given(st.data())
@settings(deadline=None)
def test_random_multigraphs_come_back_the_same(data):
    pairs = st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda ends: ends[0] != ends[1])
    epsilon = st.sampled_from([0.0, 0.1, 1.5, INF])
    kinds = st.sampled_from(["x", "y", None, 3])
    rows = data.draw(st.lists(st.tuples(pairs, epsilon, epsilon, kinds), max_size=8))
    merged = {(min(ends), max(ends), kind): (ends, one, two, kind) for ends, one, two, kind in rows}
    ends, one, two, kind = zip(*merged.values(), strict=True) if merged else ((), (), (), ())
    columns = {"epsilon": list(one)}
    if data.draw(st.booleans()):
        columns["epsilon_back"] = list(two)
    labels = [f"d{at}" for at in range(5)]
    named = [[labels[end[at]] for end in ends] for at in (0, 1)]
    graph = hetdp.DatasetGraph.from_edges(*named, datasets=labels, classes=list(kind), **columns)
    problem = hetdp.Problem(graph, [1, 2, 1, 2, 1])
    again = hetdp.from_networkx(hetdp.to_networkx(problem), query="query")
    assert facts(again) == facts(problem)
    assert again.identity == problem.identity
