"""The page warns about every mechanism that is worse than a coin at some dataset."""

from __future__ import annotations

import pytest

import hetdp
from hetdp.studio import panels
from hetdp.studio.answers import GIVEN
from hetdp.studio.callbacks import _compare
from hetdp.studio.session import Session, new_document
from tests.studio.test_panels import texts


def session_of(p: dict[str, float], objective: str = GIVEN) -> Session:
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
    problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    session = Session(new_document("a path", problem, hetdp.PartialMechanism(p=p)))
    session.set_objective(objective)
    return session


@pytest.mark.parametrize(("objective", "name"), [(GIVEN, "extension of given values"), ("fair", "fair")])
def test_the_table_of_accuracy_names_what_is_compared(objective: str, name: str) -> None:
    session = session_of({"b": 0.6, "c": 0.4}, objective)
    assert session.answer.mechanism is not None
    table = str(_compare(session.document.problem, session.answer.mechanism))
    assert f"Td('{name}')" in table or f"Td(Button(children='{name}'" in table


def test_given_values_that_are_always_wrong_are_not_a_success() -> None:
    kind, words = panels.status(session_of({"b": 0.0, "c": 0.0}))
    assert kind == "caution"
    text = texts(words)
    assert "Private, but worse than a coin at 2 of 3 datasets" in text
    assert "2 of 3 datasets are answered worse than by a coin (1 of them has a given value). The worst is a:" in text
    assert "as accurate as possible" not in text
    _, words = panels.status(session_of({"b": 0.4, "c": 0.3}))
    assert texts(words).count("right") == 1, "how bad the worst dataset is, is said once"


@pytest.mark.parametrize(
    ("objective", "best"),
    [("fair", "for the worst-off datasets"), ("balanced", "in the worst case"), ("average", "on average")],
)
def test_the_status_says_in_what_sense_a_mechanism_is_as_accurate_as_possible(objective: str, best: str) -> None:
    kind, words = panels.status(session_of({}, objective))
    assert kind == "good"
    assert f"Private, and as accurate as possible {best}" in str(words)
    kind, words = panels.status(session_of({"b": 0.6, "c": 0.4}))
    assert "Private, and as accurate as possible with the given values" in str(words)


def test_a_selected_dataset_that_a_coin_would_answer_better_is_marked() -> None:
    session = session_of({"b": 0.3, "c": 0.2})
    session.select("dataset", 1)
    assert "A coin would be right more often." in str(panels.dataset_summary(session))
    session.select("dataset", 0)
    assert "A coin would be right more often." not in str(panels.dataset_summary(session))


def test_nearly_certain_values_are_not_called_certain() -> None:
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 60.0)
    session = Session(new_document("far", hetdp.Problem(graph, {"a": 1, "b": 2})))
    session.select("dataset", 0)
    text = str(panels.dataset_summary(session))
    assert "more than 99.9" in text
    assert "1 − 8.75651e-27" in text
    assert "more than 99.9 of 100 runs" in str(panels.status(session)[1])


@pytest.mark.parametrize(("epsilon", "kind"), [(1e-9, "caution"), (0.01, "caution"), (0.1, "good")])
def test_a_mechanism_that_hardly_differs_from_a_coin_causes_a_warning(epsilon: float, kind: str) -> None:
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], epsilon)
    session = Session(new_document("a path", hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})))
    found, words = panels.status(session)
    assert found == kind
    assert ("Private, but hardly better than a coin" in str(words)) == (kind == "caution")
    assert ("No dataset is answered right in 51 of 100 runs" in str(words)) == (kind == "caution")
    assert ("as accurate as possible" in str(words)) == (kind == "good")
