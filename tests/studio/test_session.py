"""The session of a studio: pages, undo, given values and fields."""

from __future__ import annotations

import numpy as np

import hetdp
from hetdp.studio import picture, session
from hetdp.studio.session import PageView, PageViews, Selection
from tests.loops import for_each
from tests.studio.sessions import path_of, session_of


def test_the_actions_of_a_thousand_pages_are_remembered(monkeypatch):
    monkeypatch.setattr(session, "MOST_PAGES", 2)
    pages = PageViews()
    assert [pages.is_new(page, 1) for page in ("a", "b", "a", "c")] == [True, True, False, True]
    assert [pages.last_action(page) for page in "abc"] == [0, 1, 1]
    assert pages.is_new("b", 2)
    assert pages.is_new("d", 5)
    assert [pages.last_action(page) for page in "abcd"] == [0, 2, 0, 5]


def test_a_page_is_outdated_by_the_changes_of_others_only():
    pages = PageViews()
    pages.record("a", 3)
    assert not pages.is_stale(PageView("b", 3, 0))
    assert pages.is_stale(PageView("b", 2, 0))
    for revision, page in enumerate("bca", 4):
        pages.record(page, revision)
    assert pages.is_stale(PageView("a", 4, 0))  # c has acted at 5
    assert not pages.is_stale(PageView("a", 5, 0))


def test_undo_goes_back_a_limited_number_of_steps(monkeypatch):
    monkeypatch.setattr(session, "MOST_UNDO", 2)
    found = session_of(path_of(4))
    for p in (0.9, 0.8, 0.7):
        found.select()  # so that each counts alone
        found.set_pin(0, p)
    for _ in range(5):
        found.undo()
    assert found.document.pins == {0: ("p", 0.9)}
    for _ in range(5):
        found.redo()
    assert found.document.pins == {0: ("p", 0.7)}


@for_each(("p", "taken"), [(0.0, True), (1.0, True), (-0.001, False), (1.001, False), (np.nan, False)])
def test_a_given_value_is_a_probability(p, taken):
    found = session_of(path_of(4))
    found.set_pin(0, p)
    assert (0 in found.document.pins) is taken
    assert bool(found.notice) is not taken


def test_edges_of_very_large_graphs_are_not_listed(monkeypatch):
    monkeypatch.setattr(session, "MOST_LISTED_EDGES", 3)
    assert session_of(path_of(4)).edge_list is not None
    large = session_of(path_of(5))
    assert large.edge_list is None
    large.set_parameter(0, "epsilon", 0.5)
    assert "no edge 0" in large.notice
    large.select("edge", 0)
    assert large.selection == Selection()
    assert picture.Picture().update(large) == []


def test_an_action_that_changes_nothing_cannot_be_undone():
    found = session_of(path_of(4), hetdp.PartialMechanism(p={1: 0.6}))
    for action in (
        lambda: found.clear_pin(3),
        lambda: found.set_objective("fair"),
        lambda: found.set_objective("weighted-vote"),
        found.apply_repair,
        lambda: found.set_parameter(0, "epsilon", 1.0),
    ):
        action()
        assert not found.past
    found.clear_pin(1)
    assert (len(found.past), dict(found.document.pins)) == (1, {})


def test_fields_show_what_was_given_and_sliders_what_holds():
    found = session_of(path_of(4), hetdp.PartialMechanism(z={1: 0.25}, p={2: 0.5}))
    found.select("dataset", 0)
    assert (found.field_text("p"), found.field_text("epsilon")) == ("", "")
    assert found.editable_values()["p"] == found.answer.mechanism.probabilities[0]
    found.select("dataset", 1)
    assert found.field_text("p") == f"{1 - 0.5 * np.exp(-0.25):.6g}"
    found.select("dataset", 2)
    assert found.field_text("p") == "0.5"
    found.select("edge", 0)
    assert (found.field_text("epsilon"), found.field_text("p")) == ("1", "")
    found.select()
    assert found.editable_values() == {}


def test_undo_does_not_lead_to_the_example_that_nobody_has_asked_for():
    for begins_with_example, close, undone in ((True, False, "other"), (True, True, "it"), (False, False, "it")):
        found = session_of(path_of(4))
        found.begins_with_example = begins_with_example
        if close:
            found.begin()  # to work with the example
        found.open(session.new_document("other", path_of(5)))
        assert bool(found.past) == (undone == "it")
        found.undo()
        assert found.document.name == undone
        found.open(session.new_document("third", path_of(5)))
        found.undo()
        assert found.document.name == undone
