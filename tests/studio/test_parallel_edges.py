"""Parallel edges on the page: each can be chosen and moved by itself, and keeps its number while it moves."""

from __future__ import annotations

import pytest

import hetdp
from hetdp.studio import export
from hetdp.studio.panels import dataset_details, describe_selection, edge_summary
from hetdp.studio.picture import Picture
from hetdp.studio.session import Session, new_document


@pytest.fixture
def session():
    graph = hetdp.DatasetGraph.from_edges("aaab", "bbbc", [0.5, 2.0, 1.0, 1.0], classes=["Ann", "Bob", None, "Ann"])
    problem = hetdp.Problem(graph, [1, 1, 2])
    return Session(new_document("three", problem, hetdp.PartialMechanism(p={"b": 0.6, "c": 0.4})))


def test_every_edge_keeps_its_number_while_its_epsilon_moves(session):
    bob = session.edge_list.number(0, 1, "Bob")
    for value in (0.1, 0.7, 3.0, float("inf"), 0.2):
        session.set_parameter(bob, "epsilon", value)
        assert session.notice == ""
        assert session.edge_list.number(0, 1, "Bob") == bob
        assert session.edge_list.columns["epsilon"][bob] == value
        others = [session.edge_list.number(0, 1, name) for name in ("Ann", None)]
        assert session.edge_list.columns["epsilon"][others].tolist() == [0.5, 1.0]
    session.select("edge", bob)
    assert describe_selection(session) == "Edge between a and b, class Bob: ε = 0.2."
    assert "Bob" in str(edge_summary(session))
    session.select("edge", session.edge_list.number(0, 1))
    assert describe_selection(session) == "Edge between a and b, without a class: ε = 1."


def test_elements_have_their_own_ids_and_only_the_binding_edge_is_highlighted(session):
    session.select("dataset", 0)
    elements = Picture().update(session)
    ids = [one["data"]["id"] for one in elements]
    assert len({*ids}) == len(ids) == 3 + 4
    edges = {one["data"]["at"]: one["classes"].split() for one in elements if "source" in one["data"]}
    ann, bob, none = (session.edge_list.number(0, 1, name) for name in ("Ann", "Bob", None))
    assert [("highlighted" in edges[at], "parallel" in edges[at]) for at in (ann, bob, none)] == [
        (True, True),
        (False, True),
        (False, True),
    ]
    assert "parallel" not in edges[session.edge_list.number(1, 2, "Ann")]


def test_a_neighbour_is_listed_once_with_a_button_for_every_edge(session):
    session.select("dataset", 1)
    parts = [part for part in _parts(dataset_details(session)) if hasattr(part, "to_plotly_json")]
    given = [part.to_plotly_json()["props"] for part in parts]
    actions = [(one["data-action"], one["data-at"]) for one in given if "data-action" in one]
    assert len(actions) == len({*actions})
    assert sum(action == "edge" for action, _ in actions) == 4


def _parts(parts):
    for part in parts if isinstance(parts, list) else [parts]:
        yield part
        children = getattr(part, "children", None)
        if isinstance(children, list) or hasattr(children, "children"):
            yield from _parts(children)


def test_exported_files_contain_every_class(session, tmp_path):
    path = tmp_path / export.PROBLEM
    path.write_text(export.problem_text(session), encoding="utf-8")
    assert hetdp.read_problem(path).problem.identity == session.document.problem.identity
    assert hetdp.read_problem(path).problem.graph.edge_classes() == session.document.problem.graph.edge_classes()
