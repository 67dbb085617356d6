"""Mechanisms of the studio: edges, objectives and engines."""

from __future__ import annotations

import threading

import hetdp
from hetdp.studio import answers
from hetdp.studio.answers import GIVEN, list_edges
from tests.studio.sessions import path_of


def test_an_edge_is_found_by_both_ends_and_its_class():
    graph = hetdp.DatasetGraph.from_edges([0, 0, 1], [1, 1, 2], [1.0, 0.5, 2.0], classes=["b", "a", "a"])
    listed = list_edges(hetdp.Problem(graph, [1, 1, 2]))
    assert [listed.number(*ends, "a") for ends in ((0, 1), (1, 0), (2, 1), (0, 2))] == [0, 0, 2, -1]
    assert (listed.number(0, 1, "b"), listed.number(0, 1, "c"), listed.number(0, 1)) == (1, -1, -1)
    assert listed.columns["epsilon"].tolist() == [0.5, 1.0, 2.0]
    assert listed.parallel().tolist() == [True, True, False]
    assert list_edges(hetdp.Problem(hetdp.DatasetGraph.from_edges([], [], [], datasets=[0]), [1])).parallel().size == 0


def test_objectives_that_take_long_are_not_offered(monkeypatch):
    problem = path_of(6)
    monkeypatch.setattr(answers, "MOST_DATASETS_AVERAGE", 6)
    assert answers.list_objectives(problem) == ["fair", "balanced", "average", GIVEN]
    monkeypatch.setattr(answers, "MOST_DATASETS_AVERAGE", 5)
    assert answers.list_objectives(problem) == ["fair", "balanced", GIVEN]
    assert "weighted-vote" in answers.list_objectives(hetdp.spaces.votes(3, hetdp.questions.majority(), 1.0))


def test_a_problem_opens_with_its_given_values_if_they_cover_the_boundary(monkeypatch):
    problem = path_of(6)
    assert answers.first_objective(problem, {2: ("p", 0.6), 3: ("p", 0.4)}) == GIVEN
    assert answers.first_objective(problem, {2: ("p", 0.6)}) == "fair"
    alike = hetdp.Problem(problem.graph, [1] * 6)  # without a boundary
    assert (answers.first_objective(alike, {}), answers.first_objective(alike, {0: ("p", 1.0)})) == ("fair", GIVEN)
    monkeypatch.setattr(answers, "MOST_DATASETS_FAIR", 6)
    assert answers.first_objective(problem, {}) == "fair"
    monkeypatch.setattr(answers, "MOST_DATASETS_FAIR", 5)
    assert answers.first_objective(problem, {}) == "balanced"


def test_missing_values_are_counted_with_the_right_verb():
    assert answers.solve(path_of(4), {1: ("p", 0.6)}, GIVEN).reason == (
        "1 dataset on the boundary has no given value yet."
    )
    assert answers.solve(path_of(4), {}, GIVEN).reason == "2 datasets on the boundary have no given value yet."


def test_the_compiled_search_is_used_for_graphs_from_sixty_datasets_on_once_it_is_loaded(monkeypatch):
    begun: list[int] = []
    monkeypatch.setattr(answers, "load_in_background", lambda: begun.append(1))
    monkeypatch.setattr(answers, "_ready", threading.Event())
    assert (answers.choose_engine(path_of(60)), len(begun)) == ("auto", 1)
    answers._ready.set()
    assert answers.choose_engine(path_of(60)) == "cpu"
    assert answers.choose_engine(path_of(59)) == "auto"
    assert answers.choose_engine(hetdp.spaces.votes(6, hetdp.questions.majority(), 1.0)) == "auto"
    assert len(begun) == 1
