"""The tour, the story of the presenter mode, and the glossary: every word and symbol is explained in one place."""

from __future__ import annotations

import hetdp
from hetdp.mechanism.accuracy.baselines import BASELINES, PEOPLE_BASELINES
from hetdp.studio.callbacks import take_action
from hetdp.studio.gallery import GALLERY, document_from_form
from hetdp.studio.glossary import SECTIONS, find_term
from hetdp.studio.screen import legend_of, story_of
from hetdp.studio.session import PRESENTING, Session
from hetdp.studio.story import STEPS, TOUR
from hetdp.studio.verdict import text_of
from hetdp.studio.views import MAP, NETWORK, SUMMARY, views_of
from tests.studio.sessions import path_of, session_of


def test_the_story_goes_through_states_of_the_studio_and_returns_to_the_work():
    session = Session(GALLERY["school"].make())
    session.set_pin(3, 0.25)
    session.select("dataset", 5)
    work, past = session.document, [*session.past]
    for number in (*range(len(STEPS)), 2):
        take_action(session, "present", number)
        sentence, where = story_of(session)
        assert len(text_of(sentence)) < 200, "a sentence that is read at a glance"
        assert text_of(where).startswith(f"{number + 1} of {len(STEPS)}")
        assert STEPS[number].view in views_of(session)
        session.set_objective("balanced")
        assert session.notice == PRESENTING
    take_action(session, "present", -1)
    assert story_of(session) == []
    assert (session.document.problem, session.document.pins) == (work.problem, work.pins)
    assert session.document.opening == work.opening
    assert (session.selection.number, session.past) == (5, past)
    session.undo()
    assert session.document.pins == {}


def test_the_story_begins_with_figure_1_and_its_sentences_hold():
    session = Session(GALLERY["school"].make())
    shown = []
    for number in range(7):
        take_action(session, "present", number)
        document = session.document
        shown.append((document.opening, session.answer.mechanism, text_of(story_of(session)[0])))
        if number == 1:
            edge = session.selection.number
            assert float(session.edge_list.columns["epsilon"][edge]) == 0.2
            assert (session.edge_list.columns["epsilon"] == 0.2).sum() == 2, "only where Ann's vote decides"
    assert len({opening for opening, _, _ in shown[:5]}) == 1, "one scene keeps its layout"
    assert [found is None for _, found, _ in shown] == [True, True, False, False, False, True, False]
    fair, personalised = shown[3][1], shown[4][1]
    everyone = ("yes", "yes", "yes")
    assert f"{fair[everyone]:.2f}" == f"{personalised[everyone]:.2f}", "it stays, as the sentence says"
    assert f"{fair[everyone]:.2f}" in shown[3][2]
    assert f"{personalised[everyone]:.2f}" in shown[4][2]


def test_the_tour_is_short_and_explains_colour_ring_thickness_and_dashes():
    words = " ".join(f"{stop.title} {stop.words}" for stop in TOUR)
    assert len(words.split()) < 230, "about thirty seconds at each one's glance"
    for symbol in ("Colour", "Ring", "Thickness", "dashed", "Squares".lower(), "circles"):
        assert symbol in words
    session = Session(GALLERY["school"].make())
    take_action(session, "tour", None)
    assert session.document.name == "Three voters"
    take_action(session, "tour", None)
    assert len(session.past) == 1, "it is open already"
    session.undo()
    assert session.document.name == "School outbreak"


def legends() -> set[str]:
    """The kinds of all symbols in the legends of many states."""
    found: set[str] = set()
    sessions = [Session(entry.make()) for entry in GALLERY.values()]
    sessions.append(session_of(path_of(4, [1.0, 0.5, float("inf")]), hetdp.PartialMechanism(p={1: 0.6, 2: 0.5})))
    for session in sessions:
        for change in (lambda: None, session.apply_repair, lambda session=session: session.select("edge", 0)):
            change()
            for view in (NETWORK, MAP, SUMMARY) if MAP in views_of(session) else (NETWORK, SUMMARY):
                session.select(*(session.selection if session.selection.kind else ("dataset", 0)))
                found |= {
                    one.to_plotly_json()["props"]["data-term"]
                    for one in legend_of(session, view)
                    if "data-term" in one.to_plotly_json()["props"]
                }
    return found


def test_every_symbol_baseline_and_objective_has_an_entry_in_the_glossary():
    shown = legends()
    assert {"ends", "ring", "thick", "bare", "dashedline", "highlightline", "order", "border"} <= shown
    names = [name for name, *_ in (*BASELINES, *PEOPLE_BASELINES)]
    for key in (*shown, *names, *session_of(path_of(4)).objectives):
        assert find_term(key) is not None, key
    every = [term for terms in SECTIONS.values() for term in terms.values()]
    assert all(term.words.endswith(".") and len(term.words) < 140 for term in every)
    assert len({term.name for term in every}) == len(every)


def test_problems_with_two_counts_open_as_a_map_and_votes_name_their_people():
    for groups, expected in (("a=2, b=3", MAP), ("a=12", NETWORK), ("a=9, b=30, c=3", MAP)):
        session = Session(document_from_form("tallies", groups, "", "1"))
        assert views_of(session)[0] == (expected if groups.count("=") == 2 else views_of(session)[0])
    voters = Session(GALLERY["three-voters"].make())
    assert "order: Ann, Bob, Cyd" in [text_of(one) for one in legend_of(voters, NETWORK)]
    numbered = Session(GALLERY["five-voters"].make())
    assert not any("order" in text_of(one) for one in legend_of(numbered, NETWORK))
