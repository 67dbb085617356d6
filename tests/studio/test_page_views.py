"""Two pages on one session: a page cannot change what it does not show."""

from __future__ import annotations

import pytest

import hetdp
from hetdp.studio.gallery import GALLERY
from hetdp.studio.panels import status
from hetdp.studio.session import STALE, PageView, Session, new_document
from hetdp.studio.verdict import NEWER, verdict_page
from hetdp.studio.what_if import CLASS, Scope

PATH = ["a", "b", "c", "d"]


@pytest.fixture
def session():
    graph = hetdp.DatasetGraph.from_edges(PATH[:-1], PATH[1:], [1.0, 0.5, 0.1], datasets=PATH)
    return Session(
        new_document("a path", hetdp.Problem(graph, [1, 1, 2, 2]), hetdp.PartialMechanism(p={"b": 0.9, "c": 0.4}))
    )


CHANGES = {
    "ε": lambda session: session.set_parameter(0, "epsilon", 0.3),
    "p": lambda session: session.set_pin(0, 0.8),
    "take away": lambda session: session.clear_pin(1),
    "forget": lambda session: session.clear_pins(),
    "repair": lambda session: session.apply_repair(),
    "objective": lambda session: session.set_objective("balanced"),
    "undo": lambda session: session.undo(),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("other", [lambda session: session.select("edge", 2), lambda session: session.set_pin(3, 0.2)])
def test_a_page_with_an_outdated_view_changes_nothing(session, change, other):
    session.set_objective("fair")
    seen = session.revision
    with session.acting_for(PageView("two", seen, 0)):
        other(session)
    before = session.document
    with session.acting_for(PageView("one", seen, 0)):
        CHANGES[change](session)
    assert session.document is before
    assert session.notice == STALE
    with session.acting_for(PageView("one", session.revision, 0)):  # which has been shown it by the refusal
        CHANGES[change](session)
    assert session.document is not before
    assert not session.notice


@pytest.mark.parametrize("change", [*CHANGES.values(), lambda session: session.open(session.document)])
def test_a_slider_shows_changes_made_by_other_controls(session, change):
    session.set_pin(0, 0.1, by="slider-p")
    assert session.last_control == "slider-p"
    change(session)
    assert session.last_control == ""


def test_a_slider_shows_the_value_that_was_kept(session):
    session.clear_pins()
    session.set_pin(0, 0.1, by="slider-p")
    session.keep_values()
    assert not session.notice
    assert session.last_control == ""


def test_a_refusal_does_not_outdate_other_pages(session):
    seen = session.revision
    with session.acting_for(PageView("two", seen, 0)):
        session.set_pin(0, 0.9)
    report = session.revision
    with session.acting_for(PageView("one", seen, 0)):
        session.set_pin(0, 0.1)
    with session.acting_for(PageView("two", report, 0)):
        session.set_pin(0, 0.8)
    assert session.document.pins[0] == ("p", 0.8)


def test_a_refusal_is_shown_on_the_page_that_was_refused_and_the_printed_verdict_says_that_a_page_is_outdated(session):
    seen = session.revision
    with session.acting_for(PageView("two", seen, 0)):
        session.set_pin(0, 0.9)
    with session.acting_for(PageView("one", seen, 0)):
        session.set_pin(0, 0.1)
    shown = {page: STALE in str(status(session, page)[1]) for page in ("one", "two", "")}
    assert shown == {"one": True, "two": False, "": True}
    assert NEWER in verdict_page(session, shown=seen)
    assert NEWER not in verdict_page(session, shown=session.revision) + verdict_page(session)


def test_several_actions_of_a_page_are_handled_before_the_answer(session):
    seen = session.revision
    for value in (0.7, 0.6, 0.5):
        with session.acting_for(PageView("one", seen, 0)):
            session.set_pin(0, value)
    assert session.document.pins[0] == ("p", 0.5)
    assert len(session.past) == 3  # each was typed


def test_a_dataset_of_a_closed_problem_is_not_selected(session):
    seen = session.revision
    session.open(session.document)
    with session.acting_for(PageView("one", seen, 0)):
        session.select("dataset", 2)
    assert session.selection.kind == ""
    assert session.notice == STALE
    with session.acting_for(PageView("one", session.revision, 1)):
        session.select("dataset", 2)
    assert session.selection.number == 2


def test_an_edge_that_is_not_listed_any_more_is_not_selected():
    found = Session(GALLERY["three-voters"].make())
    seen = PageView("one", found.revision, found.document.opening)
    with found.acting_for(seen._replace(page="two")):
        found.set_scope(Scope(CLASS, 0), float("inf"))  # the space of people then has 8 of 12 edges
    with found.acting_for(seen):
        found.select("edge", 5)
    assert (found.selection.kind, found.notice) == ("", STALE)
    with found.acting_for(seen):
        found.select("dataset", 5)
    assert (found.selection.kind, found.notice) == ("dataset", "")
    with found.acting_for(seen._replace(revision=found.revision)):
        found.select("edge", 5)
    assert (found.selection.kind, found.notice) == ("edge", "")
