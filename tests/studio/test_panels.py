"""Texts beside the picture."""

from __future__ import annotations

from typing import Any

import hetdp
from hetdp.studio import panels
from hetdp.studio.answers import GIVEN
from hetdp.studio.gallery import GALLERY
from hetdp.studio.session import Session
from tests.studio.sessions import path_of, session_of


def texts(parts: Any) -> str:
    """All texts of components, in order."""
    if isinstance(parts, str):
        return parts
    if isinstance(parts, list | tuple):
        return "".join(map(texts, parts))
    return "" if parts is None else texts(getattr(parts, "children", ""))


def test_a_selection_is_described_in_one_sentence():
    found = session_of(path_of(4))
    assert panels.describe_selection(found) == ""
    found.select("dataset", 0)
    assert panels.describe_selection(found).startswith("Dataset 0, true answer: answer 1, p = ")
    assert panels.describe_selection(found).endswith(". 1 edge.")
    found.select("edge", 1)
    assert panels.describe_selection(found) == "Edge between 1 and 2: ε = 1."
    twice = hetdp.DatasetGraph.from_edges([0, 0], [1, 1], [1.0, 0.5], classes=["a", None])
    parallel = session_of(hetdp.Problem(twice, [1, 2]))
    words = set()
    for at in (0, 1):
        parallel.select("edge", at)
        words.add(panels.describe_selection(parallel))
    assert words == {"Edge between 0 and 1, class a: ε = 1.", "Edge between 0 and 1, without a class: ε = 0.5."}
    empty = session_of(path_of(4))
    empty.set_objective(GIVEN)
    empty.select("dataset", 3)
    assert panels.describe_selection(empty) == "Dataset 3, true answer: answer 2. 1 edge."


def test_a_selected_edge_is_summarized_by_its_ends_their_values_and_its_class():
    found = session_of(path_of(4))
    found.select("edge", 1)
    assert texts(panels.edge_summary(found)) == "Neighbours1p = 0.7310592p = 0.268941"
    found.set_objective(GIVEN)
    classes = hetdp.DatasetGraph.from_edges([0], [1], 1.0, classes=["Ann"])
    assert texts(panels.edge_summary(found)) == "Neighbours12"
    of_ann = session_of(hetdp.Problem(classes, [1, 2]))
    of_ann.select("edge", 0)
    assert texts(panels.edge_summary(of_ann)).endswith("Class: Ann")


def test_a_changed_problem_of_people_is_remarked_once():
    found = Session(GALLERY["three-voters"].make())
    assert panels.remark(found) == ""
    found.set_objective("weighted-vote")
    assert panels.remark(found) == ""
    found.set_parameter(0, "epsilon", 0.5)
    assert panels.remark(found).startswith(panels.NO_LONGER_PEOPLE)
    assert panels.remark(found).endswith("instead of Vote, which counts people.")
    found.set_pin(0, 0.9)
    assert panels.remark(found) == ""
    found.open(GALLERY["council"].make())
    assert panels.remark(found) == ""


def test_the_title_names_the_question_only_if_it_is_another():
    problem = path_of(4)
    words = texts(panels.title(session_of(problem, hetdp.PartialMechanism(p={0: 0.9}))))
    assert words == "it4 datasets · 3 edges · pure privacy · 1 given value"
    same = hetdp.Problem(problem.graph, [1, 1, 2, 2], about={"title": "it"})
    assert texts(panels.title(session_of(same))).count("it") == 1
    asked = hetdp.Problem(problem.graph, [1, 1, 2, 2], about={"title": "Who?"})
    assert "Who?" in texts(panels.title(session_of(asked)))
    assert "given value" not in texts(panels.title(session_of(asked)))


def test_the_verdict_says_what_was_found():
    good = session_of(path_of(4))
    assert panels.status(good)[0] == "good"
    assert "Private, and as accurate as possible for the worst-off datasets" in texts(panels.status(good)[1])
    assert "Verified exactly on all 3 edges." in texts(panels.status(good)[1])
    assert "on its edge." in texts(panels.status(session_of(path_of(2)))[1])
    missing = session_of(path_of(4))
    missing.set_objective(GIVEN)
    assert panels.status(missing)[0] == "none"
    assert texts(panels.status(missing)[1]).startswith("Some values are missing")
    refused = Session(GALLERY["contradiction"].make())
    kind, words = panels.status(refused)
    assert kind == "none"
    assert "p(one ill) = 0.2 allows at most p(two ill) = 0.329744, 1 step away; but p(two ill) is" in texts(words)
    refused.refuse("no")
    assert texts(panels.status(refused)[1]).startswith("no")
    hardly = session_of(path_of(4, 0.01))
    kind, words = panels.status(hardly)
    assert kind == "caution"
    assert "Private, but hardly better than a coin" in texts(words)


def test_a_selected_dataset_shows_why_and_its_neighbours(monkeypatch):
    found = session_of(path_of(6))
    found.select("dataset", 0)
    words = texts(panels.dataset_details(found))
    assert words.startswith("Why p is not higher")
    assert "≤" in words
    found.select("dataset", 5)
    assert texts(panels.dataset_details(found)).startswith("Why p is not lower")
    star = hetdp.DatasetGraph.from_edges([0] * 4, range(1, 5), 1.0)
    many = session_of(hetdp.Problem(star, [1, 2, 2, 2, 2]))
    many.select("dataset", 0)
    monkeypatch.setattr(panels, "MOST_NEIGHBOURS", 4)
    assert "more" not in texts(panels.dataset_details(many))
    monkeypatch.setattr(panels, "MOST_NEIGHBOURS", 3)
    assert texts(panels.dataset_details(many)).endswith("and 1 more")


def test_a_dataset_that_a_coin_would_answer_better_is_marked():
    problem = path_of(2)
    assert [panels._is_worse(problem, 0, z) for z in (-0.1, 0.0, 0.1)] == [True, False, False]
    assert [panels._is_worse(problem, 1, z) for z in (-0.1, 0.0, 0.1)] == [False, False, True]
    assert (panels._all_edges(1), panels._all_edges(2000)) == ("its edge", "all 2,000 edges")


def test_thirty_classes_have_their_odds_and_the_others_are_counted():
    graph = hetdp.DatasetGraph.from_edges(range(31), range(1, 32), 1.0, classes=[f"c{at}" for at in range(31)])
    odds = list(hetdp.odds(hetdp.design(hetdp.Problem(graph, [1] * 16 + [2] * 16))).by_class.values())
    assert "more" not in texts(panels.odds_list(odds[:30])[1:])
    assert texts(panels.odds_list(odds)[1:]) == "and 1 more"
    assert len(panels.odds_list(odds)[0].children) == 30
