"""Parallel edges in files, data frames and NetworkX graphs: no class is lost."""

from __future__ import annotations

from typing import Any

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from tests.problem.multigraphs import CLASSES, Multigraph, multigraphs

FORMS = ("problem.json", "csv", "parquet")


def listed_edges(graph: Any) -> list:
    """The edges in sorted order: labels of the ends, parameters and class."""
    source, target, *columns = graph.edges()
    labels = ([graph.label(int(at)) for at in ends] for ends in (source, target))
    classes = graph.edge_classes() or [None] * len(source)
    return sorted(zip(*labels, *(column.tolist() for column in columns), classes, strict=True), key=repr)


def save_as(problem: hetdp.Problem, folder, form: str):
    path = folder / form
    hetdp.save(problem, path, tables="csv" if form == "csv" else "parquet")
    return path


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20)
@given(drawn=multigraphs())
def test_a_saved_problem_is_read_again_with_every_class(form, drawn: Multigraph, tmp_path_factory):
    named = CLASSES if form == "problem.json" else ("Ann", "Bob", "3", None)
    kinds = dict(zip(CLASSES, named, strict=True))
    drawn = drawn._replace(rows=[row._replace(edge_class=kinds[row.edge_class]) for row in drawn.rows])
    problem = drawn.problem()
    again, _ = hetdp.read_problem(save_as(problem, tmp_path_factory.mktemp("saved"), form))
    assert again.identity == problem.identity
    assert listed_edges(again.graph) == listed_edges(problem.graph)
    path = tmp_path_factory.mktemp("mechanism") / "mechanism.json"
    hetdp.save(hetdp.design(problem), path)
    assert hetdp.verify(again, hetdp.read_mechanism(path, again)).private


@given(multigraphs(), st.sampled_from(["error", "min"]))
def test_a_table_has_a_column_of_classes(drawn: Multigraph, duplicates):
    problem = drawn.problem()
    columns: dict = {"source": [row.source for row in drawn.rows], "target": [row.target for row in drawn.rows]}
    for at, name in enumerate(problem.notion.parameters):
        columns[name] = [row.parameters[at] for row in drawn.rows]
    columns["class"] = [row.edge_class for row in drawn.rows]
    graph = hetdp.from_table(columns, datasets=range(drawn.size), duplicates=duplicates)
    assert listed_edges(graph) == listed_edges(problem.graph)


def test_a_table_names_its_column_of_classes_or_leaves_it_out():
    table = {"source": "aa", "target": "bb", "epsilon": [1.0, 1.0], "who": ["Ann", "Bob"]}
    assert hetdp.from_table(table, classes="who").edge_classes() == ["Ann", "Bob"]
    assert hetdp.from_table(table).edge_classes() is None
    named = {"class": table.pop("who"), **table}
    assert hetdp.from_table(named, classes=None).edge_count == 1
    with pytest.raises(hetdp.InputError, match="no column"):
        hetdp.from_table(table, classes="who")


def test_data_frames_of_any_library_have_classes():
    import duckdb
    import pandas
    import polars
    import pyarrow

    columns = {
        "source": ["a", "a", "a"],
        "target": ["b"] * 3,
        "epsilon": [0.5, 1.0, 2.0],
        "class": ["Ann", None, "Bob"],
    }
    table = pyarrow.table(columns)
    for frame in (pandas.DataFrame(columns), polars.DataFrame(columns), table, duckdb.from_arrow(table)):
        assert listed_edges(hetdp.from_table(frame)) == [
            ("a", "b", 0.5, "Ann"),
            ("a", "b", 1.0, None),
            ("a", "b", 2.0, "Bob"),
        ]


@pytest.mark.parametrize("kind", [networkx.MultiGraph, networkx.MultiDiGraph])
def test_a_multigraph_has_an_attribute_for_classes(kind):
    graph = kind()
    graph.add_edge("a", "b", epsilon=0.5, **{"class": "Ann"})
    graph.add_edge("a", "b", epsilon=1.0, **{"class": "Bob"})
    graph.add_edge("b", "a", epsilon=2.0)
    found = hetdp.from_networkx(graph)
    assert found.edge_count == 3
    assert set(found.edge_classes()) == {"Ann", "Bob", None}
    used = {edge.edge_class: edge.parameters for edge in found.edges_between(0, 1)}
    if kind is networkx.MultiGraph:
        assert used == {"Ann": {"epsilon": 0.5}, "Bob": {"epsilon": 1.0}, None: {"epsilon": 2.0}}
    else:
        assert used["Ann"] == {"epsilon": 0.5, "epsilon_back": float("inf")}
        assert used[None] == {"epsilon": float("inf"), "epsilon_back": 2.0}
    for options in ({}, {"duplicates": "min"}):
        graph.add_edge("a", "b", epsilon=0.25, **{"class": "Bob"})
        if options:
            assert {one.edge_class for one in hetdp.from_networkx(graph, **options).edges_between(0, 1)} == {*used}
        else:
            with pytest.raises(hetdp.InputError, match=r"contradictory .* edge, ε.* 0.25 here, 1.0"):
                hetdp.from_networkx(graph)


def test_both_directions_of_one_class_are_one_edge():
    graph = networkx.DiGraph()
    graph.add_edge("a", "b", epsilon=0.5, who="Ann")
    graph.add_edge("b", "a", epsilon=1.0, who="Ann")
    found = hetdp.from_networkx(graph, classes="who")
    assert found.edges_between(0, 1) == [({"epsilon": 0.5, "epsilon_back": 1.0}, "Ann")]
    with pytest.raises(hetdp.UsageError, match="is not an attribute"):
        hetdp.from_networkx(graph, classes=3)


def test_a_missing_value_in_a_data_frame_means_no_class():
    graph = hetdp.DatasetGraph.from_edges("ab", "bc", 1.0, classes=[float("nan"), "Ann"])
    assert graph.edge_classes() == [None, "Ann"]
