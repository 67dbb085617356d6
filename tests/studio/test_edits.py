"""Every edge that can be chosen is the one that is changed, and what is exported is what the library would make."""

from __future__ import annotations

import json

import numpy as np
import pytest

import hetdp
from hetdp.studio import export, panels
from hetdp.studio.gallery import GALLERY, document_from_form
from hetdp.studio.panels import NO_LONGER_PEOPLE, remark
from hetdp.studio.session import Session, new_document

NEW = 0.4321
FORMS = {
    "votes": ("votes", "Ann, Bob, Cyd", "2", "Ann=0.3, Bob=1, Cyd=0.7", "Bob=0.2", "yes, no, abstains"),
    "tallies": ("tallies", "pupils=4, staff=3, guests=2", "50%", "pupils=0.3, staff=1, guests=0.7", "staff=0.2"),
    "three values": ("tallies", "pupils=3, staff=2", "2", "pupils=0.3, staff=1", "", "ill, well, away"),
}
DOCUMENTS = {key: entry.make for key, entry in GALLERY.items()} | {
    key: (lambda words=words: document_from_form(*words)) for key, words in FORMS.items()
}


def edges_of(problem: hetdp.Problem) -> dict:
    """The ε and the class of every edge, by the labels of its ends."""
    source, target, epsilon = problem.graph.edges()
    names, classes = list(problem.graph.datasets), problem.graph.edge_classes() or [None] * len(source)
    edge_list = zip(source.tolist(), target.tolist(), strict=True)
    values = zip(epsilon.tolist(), classes, strict=True)
    return {frozenset((names[one], names[other])): value for (one, other), value in zip(edge_list, values, strict=True)}


@pytest.mark.parametrize("key", DOCUMENTS)
def test_every_edge_that_is_changed_is_the_chosen_one(key, monkeypatch):
    monkeypatch.setattr("hetdp.studio.session.solve", lambda *_: None)  # what follows from it is tested elsewhere
    session = Session(DOCUMENTS[key]())
    names, original = list(session.document.problem.graph.datasets), edges_of(session.document.problem)
    every = range(len(session.edge_list.source))
    for edge in every if len(every) <= 200 else [*every[:: len(every) // 60]]:
        pair = frozenset(names[int(end[edge])] for end in (session.edge_list.source, session.edge_list.target))
        session.set_parameter(edge, "epsilon", NEW)
        assert edges_of(session.document.problem) == {**original, pair: (NEW, original[pair][1])}
        assert list(session.document.problem.graph.datasets) == names
        assert float(session.edge_list.columns["epsilon"][edge]) == NEW
        session.undo()


@pytest.mark.parametrize("key", DOCUMENTS)
def test_an_edge_found_by_its_ends_is_exported_as_in_the_library(key, tmp_path):
    session = Session(DOCUMENTS[key]())
    before = session.document.problem
    hetdp.save(before, tmp_path / "before.json")
    library = hetdp.read_problem(tmp_path / "before.json").problem
    original, names = edges_of(library), list(library.graph.datasets)
    for one in (0, len(names) // 2):
        other = int(before.graph.neighbours(one)[0][-1])
        edge = session.edge_list.number(one, other, before.graph.edges_between(one, other)[0].edge_class)
        session.set_parameter(edge, "epsilon", NEW)
        path = tmp_path / export.PROBLEM
        path.write_text(export.problem_text(session), encoding="utf-8")
        pair = frozenset((names[one], names[other]))
        expected = {**original, pair: (NEW, original[pair][1])}
        exported, _ = hetdp.read_problem(path)
        assert edges_of(exported) == expected
        assert list(exported.graph.datasets) == names
        assert np.array_equal(exported.answers, before.answers)
        if session.answer.mechanism is not None:
            rows = json.loads(export.mechanism_text(session))["datasets"]
            assert [row["p"] for row in rows] == hetdp.design(exported, "fair").probabilities.tolist()
        session.undo()


def test_a_changed_problem_of_people_is_marked_as_changed():
    session = Session(GALLERY["three-voters"].make())
    session.set_objective("weighted-vote")
    for value in (0.5, 0.4):  # one slider that is dragged
        session.set_parameter(0, "epsilon", value, "slider-epsilon", drag=True)
    words = str(panels.side_effect(session))
    assert NO_LONGER_PEOPLE in words
    assert "The objective is Fair instead of Vote" in words
    assert "weighted-vote" not in session.objectives
    assert session.document.problem.graph.label(0) == ("yes", "yes", "yes")
    assert session.answer.mechanism["yes", "yes", "yes"] > 0.5
    session.set_pin(0, 0.8)
    assert NO_LONGER_PEOPLE not in str(panels.side_effect(session)), "it is said once"
    session.undo()
    session.undo()
    assert "weighted-vote" in session.objectives
    assert session.document.objective == "weighted-vote"
    assert not remark(session)


def test_setting_an_edge_to_its_own_value_changes_nothing():
    session = Session(GALLERY["three-voters"].make())
    session.set_parameter(0, "epsilon", float(session.edge_list.columns["epsilon"][0]))
    assert not session.past
    assert session.document.origin.python


def test_a_form_for_more_votes_than_the_studio_shows_is_refused():
    with pytest.raises(hetdp.UsageError, match="the studio shows at most 1,000,000 datasets"):
        document_from_form("votes", "20", "", "1")
    assert document_from_form("tallies", "people=20", "", "1").problem.graph.size == 21


def test_a_query_with_one_answer_needs_no_randomness():
    problem = hetdp.spaces.votes(3, hetdp.questions.count("yes", 4), hetdp.privacy.rules(0.5))
    session = Session(new_document("never", problem))
    words = str(panels.status(session)[1])
    assert "The answer is the same for every dataset: no. It uses no randomness and costs no privacy." in words
    assert "At the hardest dataset" not in words
