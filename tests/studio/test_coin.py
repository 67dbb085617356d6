"""The page presents no mechanism as plain success that a coin would beat somewhere."""

from __future__ import annotations

import pytest

import hetdp
from hetdp.studio import panels
from hetdp.studio.answers import GIVEN
from hetdp.studio.session import Session, new_document


def session_of(p: dict[str, float], objective: str = GIVEN) -> Session:
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
    problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    session = Session(new_document("a path", problem, hetdp.PartialMechanism(p=p)))
    session.set_objective(objective)
    return session


def test_given_values_that_are_always_wrong_are_no_success() -> None:
    kind, words = panels.status(session_of({"b": 0.0, "c": 0.0}))
    assert kind == "caution"
    said = str(words)
    assert "Private, but worse than a coin at 2 of 3 datasets" in said
    assert "2 of 3 datasets are answered worse than by a coin (1 of them has a given value); the worst is a," in said
    assert "as accurate as possible" not in said
    _, words = panels.status(session_of({"b": 0.4, "c": 0.3}))
    assert str(words).count("right") == 1, "how bad the worst dataset is, is said once"


@pytest.mark.parametrize(
    ("objective", "best"),
    [("fair", "for the worst-off datasets"), ("balanced", "in the worst case"), ("average", "on average")],
)
def test_as_accurate_as_can_be_says_at_what(objective: str, best: str) -> None:
    kind, words = panels.status(session_of({}, objective))
    assert kind == "good"
    assert f"Private, and as accurate as possible {best}" in str(words)
    kind, words = panels.status(session_of({"b": 0.6, "c": 0.4}))
    assert "Private, and as accurate as possible with the given values" in str(words)


def test_a_chosen_dataset_that_a_coin_would_answer_better_says_so() -> None:
    session = session_of({"b": 0.3, "c": 0.2})
    session.select("dataset", 1)
    assert "A coin would be right more often." in str(panels.dataset_summary(session))
    session.select("dataset", 0)
    assert "A coin would be right more often." not in str(panels.dataset_summary(session))


def test_what_is_nearly_certain_is_not_called_certain() -> None:
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 60.0)
    session = Session(new_document("far", hetdp.Problem(graph, {"a": 1, "b": 2})))
    session.select("dataset", 0)
    said = str(panels.dataset_summary(session))
    assert "more than 99.9" in said
    assert "1 − 8.75651e-27" in said
    assert "more than 99.9 of 100 runs" in str(panels.status(session)[1])
