"""A title and words for yes and no: part of the plan and the record, but not of the question's identity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas
import pytest

import hetdp
from tests.loops import for_each

HALF: dict[str, Any] = {"count": "vote = 'yes'", "at_least": "50%", "epsilon": 40, "person": "id"}
WORDS: dict[str, Any] = {"title": 'May <dogs> & "cats" run free?', "yes": "They may", "no": "They stay on the lead"}
PEOPLE = pandas.DataFrame({"id": range(30), "vote": ["yes"] * 30})


def test_words_are_part_of_the_plan_and_its_digest() -> None:
    plain = hetdp.ask(PEOPLE, **HALF, dry_run=True)
    asked = hetdp.ask(PEOPLE, **HALF, **WORDS, dry_run=True)
    about = {"title": WORDS["title"], "answer_1": WORDS["yes"], "answer_2": WORDS["no"]}
    assert (asked.plan["about"], "about" in plain.plan) == (about, False)
    assert (asked.digest != plain.digest, asked.plan["request_sha256"]) == (True, plain.plan["request_sha256"])
    assert asked.promise.splitlines()[:2] == [
        f"title: {about['title']}",
        "answers: They may (yes), They stay on the lead (no)",
    ]


def test_a_plan_keeps_its_words_and_is_refused_with_others(tmp_path: Path) -> None:
    place = tmp_path / "plan.json"
    hetdp.ask(PEOPLE, **HALF, **WORDS, dry_run=True, plan=place)
    again = hetdp.ask(PEOPLE, plan=place, simulate=True)
    assert str(again.simulated[0]).startswith("SIMULATED answer: They may (yes) (seed 0;")
    with pytest.raises(hetdp.InputError, match=r"about\.title: differs: approved"):
        hetdp.ask(PEOPLE, **HALF, **WORDS | {"title": "Another?"}, dry_run=True, plan=place)
    document = json.loads(place.read_text())
    assert document["about"]["title"] == WORDS["title"]


def test_the_record_and_its_page_have_the_words_escaped(tmp_path: Path) -> None:
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="park", cap=50)
    release = hetdp.ask(PEOPLE, **HALF, **WORDS, payment=hetdp.Payment(ledger)).release
    assert release is not None
    assert (release.record["title"], release.answers[0].words) == (WORDS["title"], WORDS["yes"])
    page = release.html()
    assert "May &lt;dogs&gt; &amp; &quot;cats&quot; run free?</h1>" in page
    assert "<dogs>" not in page
    assert ledger.history()[-1].facts["title"] == WORDS["title"]


@pytest.mark.parametrize("others", [{}, WORDS | {"title": "Another?", "no": "No"}, {"yes": "Yes"}])
def test_other_words_get_the_first_record_and_cost_nothing(tmp_path: Path, others: dict[str, Any]) -> None:
    payment = hetdp.Payment(hetdp.Ledger.create(tmp_path / "a.ledger", source="park", cap=50))
    first = hetdp.ask(PEOPLE, **HALF, **WORDS, payment=payment).release
    again = hetdp.ask(PEOPLE, **HALF, **others, payment=payment).release
    assert first is not None
    assert again is not None
    assert (again.repeated, again.record) == (True, first.record)
    assert hetdp.verify_record(again.record, ledger=payment.ledger).valid


def test_a_question_first_asked_without_words_stays_without(tmp_path: Path) -> None:
    payment = hetdp.Payment(hetdp.Ledger.create(tmp_path / "a.ledger", source="park", cap=50))
    first = hetdp.ask(PEOPLE, **HALF, payment=payment).release
    again = hetdp.ask(PEOPLE, **HALF, **WORDS, payment=payment).release
    assert first is not None
    assert again is not None
    assert (again.record, "title" in again.record) == (first.record, False)


def test_a_record_with_another_title_does_not_follow_from_its_plan(tmp_path: Path) -> None:
    place = tmp_path / "plan.json"
    hetdp.ask(PEOPLE, **HALF, **WORDS, dry_run=True, plan=place)
    payment = hetdp.Payment(hetdp.Ledger.create(tmp_path / "a.ledger", source="park", cap=50))
    release = hetdp.ask(PEOPLE, plan=place, payment=payment).release
    assert release is not None
    assert hetdp.verify_record(release.record, plan=place, ledger=payment.ledger).valid
    for title in ({"title": "Another?"}, {}):
        forged = {key: value for key, value in release.record.items() if key != "title"} | title
        verdict = hetdp.verify_record(forged, plan=place, ledger=payment.ledger)
        assert [check.name for check in verdict.checks if not check.passed] == ["record", "ledger", "content"]


@for_each(
    "words",
    [
        {"title": ""},
        {"title": " "},
        {"title": "two\nlines"},
        {"title": "\x1b[2J"},
        {"title": "\u202e"},
        {"title": "x" * 201},
        {"title": 5},
        {"yes": "no"},
        {"no": "Yes "},
        {"yes": "They  may", "no": "they may"},
    ],
)
def test_words_that_are_not_one_line_or_confuse_the_answers_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(hetdp.UsageError, match=r"on one line|confused"):
        hetdp.ask(PEOPLE, **HALF, **words, dry_run=True)


def test_a_message_names_only_the_words_that_were_given() -> None:
    with pytest.raises(hetdp.UsageError, match=r"^yes='no'; the words for the two answers"):
        hetdp.ask(PEOPLE, **HALF, yes="no", dry_run=True)


def test_spaces_that_do_not_break_are_words() -> None:
    asked = hetdp.ask(PEOPLE, **HALF, title="«\xa0Oui\xa0»\u202f?", dry_run=True)
    assert asked.plan["about"]["title"] == "«\xa0Oui\xa0»\u202f?"
