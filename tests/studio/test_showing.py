"""One request moves an ε, and its answer is all that follows; the page is sent nothing that it has."""

from __future__ import annotations

import pytest

import hetdp
from benchmarks.studio import Page, opened


@pytest.mark.parametrize("view", ["network", "summary"])
def test_one_answer_holds_what_the_library_says(view):
    with opened(36, view) as (session, page):
        before, sent = session.revision, page.bytes
        page.move()
        assert session.revision == before + 1
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


def test_a_number_of_what_was_chosen_before_is_not_given_to_what_is_chosen_now():
    with opened(36, "network") as (session, page):
        session.select("edge", 5)
        before = session.sheet
        assert refused(page)
        assert session.sheet is before
