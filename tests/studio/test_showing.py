"""One request moves an ε, and its answer is all that follows; the page is sent nothing that it has."""

from __future__ import annotations

import pytest

import hetdp
from benchmarks.studio import Page, opened
from hetdp.studio import callbacks as acting
from hetdp.studio.gallery import GALLERY
from hetdp.studio.session import STALE, Session


@pytest.mark.parametrize("view", ["network", "summary"])
def test_one_answer_holds_what_the_library_says(view):
    with opened(36, view) as (session, page):
        before, sent = session.revision, page.bytes
        page.move()
        assert session.revision == before + 1
        assert session.ends.columns["epsilon"][3] == 0.202
        assert not session.notice
        known = page._known
        assert known["told.data"] == session.revision
        expected = hetdp.design(session.sheet.problem, "fair")
        assert session.answer.mechanism.probabilities.tolist() == expected.probabilities.tolist()
        ends = [int(end[3]) for end in (session.ends.source, session.ends.target)]
        words = str(known["inspect-words.children"])
        assert all(f"p = {expected.probabilities[end]:.6g}" in words for end in ends)
        if view == "network":
            assert page.bytes < sent
            assert {one["operation"] for one in known["graph.elements"]["operations"]} == {"Assign"}
            assert "e0-3" in str(known["graph.elements"])
        else:
            assert known["chart.figure"]["data"]


def refused(page: Page) -> bool:
    with pytest.raises(AssertionError, match="204"):
        page.move()
    return True


def test_a_number_that_the_page_was_told_is_nobody_s_wish():
    with opened(36, "network") as (session, page):
        before = session.revision
        page._wishes = iter([1])
        assert refused(page)
        session.undo()  # while the page still has what it was told before
        page._wishes = iter([1])
        assert refused(page)
        assert session.revision == before + 1


def test_a_number_is_given_to_what_the_page_shows_beside_it_or_to_nothing():
    with opened(36, "network") as (session, page):
        session.select("edge", 5)  # on another page
        before = session.sheet
        page.move()
        assert session.sheet is before
        assert session.notice == STALE
        assert page._known["subject.data"][:2] == ["edge", 5]
        assert "another page" in str(page._known["status.children"])
        page.move()
        assert session.sheet is not before
        assert session.sheet.problem.graph.edges()[2].tolist() != before.problem.graph.edges()[2].tolist()
        page._known["subject.data"] = ["edge", 7, {}]  # as it is while the answer is under way
        old, now = session.ends.columns["epsilon"].copy(), session.ends.columns
        page.move()
        assert (session.ends.columns["epsilon"] != old).nonzero()[0].tolist() == [7]
        assert session.ends.columns is not now


@pytest.mark.parametrize(("before", "told"), [("inf", None), ("0.5", 0.5)])
def test_an_entry_that_changes_nothing_comes_back_and_ends_what_was_refused_before(before, told, monkeypatch):
    session = Session(GALLERY["three-voters"].make())
    session.select("edge", 1)
    session.set_parameter(1, "epsilon", float(before))
    monkeypatch.setattr(acting, "_subject", lambda: ("edge", 1, {"number-epsilon": told}))
    shown = session.typed("epsilon")
    for entry in ("", f" {before}"):
        assert acting._moved(session, "number", "epsilon", "1_0")
        assert "no number" in session.notice
        sheet = session.sheet
        assert not acting._moved(session, "number", "epsilon", shown), "what the page was sent is no entry"
        assert session.notice
        assert acting._moved(session, "number", "epsilon", entry), "the field is filled again"
        assert not session.notice
        assert session.sheet is sheet
        assert session.typed("epsilon") == shown
