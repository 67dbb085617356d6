"""One request moves an ε, its answer holds all that follows, and nothing that the page already has."""

from __future__ import annotations

import pytest

import hetdp
from benchmarks.studio import Page, open_page, serve
from hetdp.problem.parameters import LETTERS
from hetdp.studio.callbacks import _fill_tab, take_action
from hetdp.studio.gallery import GALLERY
from hetdp.studio.panels import scope_rows
from hetdp.studio.screen import MOST_RECEIVERS, PageContents, Received
from hetdp.studio.session import STALE, Session
from hetdp.studio.verdict import verdict_page


@pytest.mark.parametrize("view", ["network", "summary"])
def test_one_answer_contains_the_results_of_the_library(view):
    with open_page(36, view) as (session, page):
        before, sent = session.revision, page.bytes
        assert ("chart-box.children" in page._known) == (view == "summary")
        page.move()
        assert session.revision == before + 1
        assert session.edge_list.columns["epsilon"][3] == 0.202
        assert not session.notice
        known = page._known
        assert known["shown.data"] == session.revision
        expected = hetdp.design(session.document.problem, "fair")
        assert session.answer.mechanism.probabilities.tolist() == expected.probabilities.tolist()
        edge_list = [int(end[3]) for end in (session.edge_list.source, session.edge_list.target)]
        words = str(known["inspect-words.children"])
        assert all(f"p = {expected.probabilities[end]:.6g}" in words for end in edge_list)
        if view == "network":
            assert page.bytes < sent
            assert {one["operation"] for one in known["graph.elements"]["operations"]} == {"Assign"}
            assert "e0-3" in str(known["graph.elements"])
        else:
            first = known["chart-box.children"][0]["props"]["figure"]  # sent once; the script of charts comes with it
            then = known['{"name":"chart","type":"chart"}.figure']
            assert then["layout"].pop("meta") == first["layout"].pop("meta") + 1  # the number of the answer
            assert first["layout"] == then["layout"]
            assert first["data"][-1]["y"] != then["data"][-1]["y"]


CHART_PLACE = '{"name":"chart","type":"chart"}'
TEXTS = {"title", "status", "verdict", "key", "inspect-words", "undo", "chart-box"}


def answer_numbers(page) -> tuple[int, int]:
    """The number of the last answer, and the number of the one that held the chart."""
    _, number, _, chart = page._known["acknowledged.children"].split()
    return int(number), int(chart)


def test_an_answer_leaves_out_what_the_page_has():
    with open_page(36, "summary") as (_, page):
        assert set(page.answer) >= TEXTS
        page.move()
        number, chart = answer_numbers(page)
        assert chart == number
        page.send()  # the same action, which is not taken again
        assert not set(page.answer) & {*TEXTS, CHART_PLACE}
        assert answer_numbers(page) == (number + 1, chart)
        page.act("edge", 5)
        assert set(page.answer) & TEXTS == {"inspect-words"}
        assert answer_numbers(page) == (number + 2, chart)


def test_a_page_that_did_not_get_the_last_answer_gets_everything():
    with open_page(36, "summary") as (_, page):
        page.move()
        earlier = dict(page._known)
        page.act("undo", None)
        page._known |= {name: earlier[name] for name in ("acknowledged.children", "shown.data")}  # Dash dropped it
        page.send()
        assert set(page.answer) >= {*TEXTS, CHART_PLACE}
        number, chart = answer_numbers(page)
        assert chart == number


def test_the_contents_of_the_pages_that_asked_last_are_known():
    contents = PageContents()
    for page in range(MOST_RECEIVERS + 1):
        contents.record(str(page), Received(1, 0, {"title": "digest"}))
    assert not contents.of_page("0", "0 1 0 0").digests
    assert contents.of_page("1", "0 1 0 0").digests == {"title": "digest"}
    assert not contents.of_page("1", None).digests


def test_a_repeated_action_is_acknowledged_but_not_applied_again():
    with open_page(36, "network") as (session, page):
        before = session.revision
        page.move()
        assert session.revision == before + 1
        number = page._known["acknowledged.children"].split()[0]
        session.undo()  # while the page still has the action in its queue
        page.send()
        assert session.revision == before + 2
        assert page._known["acknowledged.children"].split()[0] == number
        assert page._known["shown.data"] == session.revision
        page._known["page.data"] = "another page"  # whose actions have numbers of their own
        page.send()
        assert session.revision > before + 2


def test_a_number_applies_to_the_element_that_the_page_shows_or_to_nothing():
    with open_page(36, "network") as (session, page):
        session.select("edge", 5)  # on another page
        before = session.document
        page.move()
        assert session.document is before
        assert session.notice == STALE
        assert page._known["subject.data"][:2] == ["edge", 5]
        assert "another page" in str(page._known["status.children"])
        page.move()
        assert session.document is not before
        assert session.document.problem.graph.edges()[2].tolist() != before.problem.graph.edges()[2].tolist()
        page._known["subject.data"] = ["edge", 7]  # as it is while the answer is under way
        old, now = session.edge_list.columns["epsilon"].copy(), session.edge_list.columns
        page.move()
        assert (session.edge_list.columns["epsilon"] != old).nonzero()[0].tolist() == [7]
        assert session.edge_list.columns is not now


@pytest.mark.parametrize("before", ["inf", "0.5"])
def test_an_entry_that_changes_nothing_clears_an_earlier_refusal(before):
    session = Session(GALLERY["three-voters"].make())
    session.select("edge", 1)
    session.set_parameter(1, "epsilon", float(before))
    shown = session.field_text("epsilon")
    for entry in ("", f" {before}"):
        details = {"kind": "edge", "at": 1, "control": "number", "name": "epsilon"}
        take_action(session, "enter", {**details, "value": "1_0"})
        assert "not a number" in session.notice
        document = session.document
        take_action(session, "enter", {**details, "value": entry})
        assert not session.notice
        assert session.document is document
        assert session.field_text("epsilon") == shown


def test_a_given_p_that_is_entered_again_is_unchanged():
    session = Session(GALLERY["three-voters"].make())
    session.keep_values()  # as z
    session.select("dataset", 3)
    pin = session.document.pins[3]
    details = {"kind": "dataset", "at": 3, "control": "number", "name": "p"}
    take_action(session, "enter", {**details, "value": session.field_text("p")})
    assert session.document.pins[3] == pin
    take_action(session, "enter", {**details, "value": "0.25"})
    assert session.document.pins[3] == ("p", 0.25)


def test_only_the_parameters_that_edges_have_can_be_edited():
    with open_page(36, "network") as (session, page):
        page.move()
        shown = [name for name in LETTERS if not page._known[f"mover-{name}.hidden"]]
        assert shown == list(session.edge_list.columns) == ["epsilon"]


def test_people_without_protection_are_drawn_named_and_keep_their_slider():
    session = Session(GALLERY["three-voters"].make())
    with serve(session) as address:
        page = Page(address, session, "network")
        page.act("undo", None)  # its first move
        session.select("edge", 7)
        page.send()
        ends, whole = [int(x[7]) for x in (session.edge_list.source, session.edge_list.target)], session.edge_list
        scope = {"kind": "class", "at": 0, "control": "number"}
        edges = []
        for action, details in (
            ("scope", {**scope, "value": "inf"}),
            ("scope", {**scope, "value": "0.3"}),
            ("undo", None),
            ("scope", {**scope, "value": "0"}),
            ("undo", None),
            ("undo", None),
            ("scope", {"kind": "all", "at": 0, "control": "number", "value": "0"}),
        ):
            page.act(action, details)
            assert not session.notice
            elements = str(page._known["graph.elements"])
            edges.append(elements.count("'source'"))
            assert [row["words"] for row in scope_rows(session)["rows"]][:4] == ["Every ε", "Ann", "Bob", "Cyd"]
            is_free = len(session.edge_list.source) == 8
            words = str(page._known["status.children"])
            assert is_free == ("Ann is not protected: ε = ∞" in words)
            assert is_free == ("Nothing is promised there" in words)
            is_coin = session.answer.mechanism.against_coin.worse or not session.answer.mechanism.against_coin.is_better
            assert page._known["verdict.className"] == ("card caution" if is_free or is_coin else "card good")
            assert is_free == ("Ann is not protected" in str(_fill_tab(session, "odds")))
            assert is_free == ("<dt>Not protected</dt><dd>Ann: ε = ∞</dd>" in verdict_page(session))
            assert is_free == ("all 8 edges with a finite ε" in words)
            if session.selection.kind:  # it is the same edge, wherever it is listed
                at = session.selection.number
                assert [int(x[at]) for x in (session.edge_list.source, session.edge_list.target)] == ends
        assert edges[:6] == [8, 12] * 3
        assert whole.has_same_edges(session.edge_list)
        for at in range(3):
            page.act("scope", {**scope, "at": at, "value": "inf"})
        assert "Nothing is promised: every ε is infinite" in str(page._known["status.children"])
        assert [row["text"] for row in scope_rows(session)["rows"]] == ["1", "∞", "∞", "∞"]
