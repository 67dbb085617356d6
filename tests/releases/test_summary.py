"""What a record says to laypeople: short, true, each thing once; and a page that everybody can read and print."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pandas
import pytest

import hetdp
from hetdp.mechanism.formatting import promise_in_runs
from hetdp.problem.answer_words import split_right_answer
from hetdp.releases.record import page
from hetdp.releases.record.document import DIGEST, digest_of
from hetdp.releases.record.page import page_of
from hetdp.releases.record.summary import headline_of, join_some, nearest, protections_of, statement, sureness_of
from tests.releases.test_record import make_hostile, parse_page, promise_of
from tests.releases.worlds import LABELS, make_ledger, poll_mechanism
from tests.stress import mostly_long

WORDS: dict[str, Any] = {"title": "Should we move?", "yes": "Yes, we move", "no": "No, we stay"}
LEVELS: dict[str, Any] = {"group": "level", "epsilon_by": {"strict": 0.1, "usual": 0.4, "open": 1}}
PEOPLE = pandas.DataFrame(
    {
        "id": range(240),
        "site": ["Town", "Town", "Harbour"] * 80,
        "level": ["strict", "usual", "open", "usual"] * 60,
        "answer": ["move", "stay", ""] * 80,
    }
)


def released(folder: Any, **given: Any) -> dict[str, Any]:
    """The record of an answer about the people above."""
    own = folder / str(len(list(folder.iterdir())))  # so that no other ledger beside it has the answer
    own.mkdir()
    ledger = hetdp.Ledger.create(own / "a.ledger", source="offices", cap="inf")
    options: dict[str, Any] = {"more_than": "50%", "person": "id", "payment": hetdp.Payment(ledger)}
    release = hetdp.ask(PEOPLE, "answer = 'move'", **options | given).release
    assert release is not None
    return release.record


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Records of several kinds, by name."""
    folder = tmp_path_factory.mktemp("records")
    untitled = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], [1.0, 0.5])
    mechanism = hetdp.design(hetdp.Problem(untitled, [2, 1, 1]))
    return {
        "titled": released(folder, **LEVELS, **WORDS),
        "untitled": released(folder, **LEVELS),
        "areas": released(folder, **LEVELS, **WORDS, by="site"),
        "constant": released(folder, more_than=None, at_least=700, epsilon=1),
        "unprotected": released(folder, **LEVELS | {"epsilon_by": {"strict": 0.1, "usual": 0.4, "open": "inf"}}),
        "problem": hetdp.release(poll_mechanism(), LABELS[2], ledger=make_ledger(folder)).record,
        "bare problem": hetdp.release(mechanism, 2, ledger=make_ledger(folder, name="bare.ledger")).record,
    }


@pytest.fixture(scope="module")
def several(tmp_path_factory) -> str:
    """The page of two questions, one of them with areas."""
    ledger = hetdp.Ledger.create(tmp_path_factory.mktemp("several") / "a.ledger", source="offices", cap="inf")
    questions: list[dict[str, Any]] = [
        {"count": "answer = 'move'", "more_than": "50%", "title": "Should we move?"},
        {"count": "answer = 'stay'", "at_least": 40, "title": "Should we stay?", "by": "site"},
    ]
    release = hetdp.ask(PEOPLE, questions=questions, person="id", **LEVELS, payment=hetdp.Payment(ledger)).release
    assert release is not None
    return release.html()


def text_of(record: dict[str, Any]) -> str:
    """What a page shows."""
    return " ".join(" ".join(parse_page(page_of(record)).text).split())


# The page -------------------------------------------------------------------------------------------------------------


def test_the_headline_is_the_title_or_the_question_as_one_sentence(records):
    assert headline_of(records["titled"]) == "Should we move?"
    assert headline_of(records["untitled"]) == "Is it true that more than half of all people count as yes?"
    exact = records["untitled"]["question"]
    assert exact == (
        "Is it true that more than half of all people count as yes? Exactly half is not enough. People without an"
        " answer do not count as yes. (Yes means: answer = 'move'.)"
    )
    assert exact in text_of(records["untitled"])
    assert headline_of(records["constant"]) == "Is it true that at least 700 people count as yes?"
    assert headline_of(records["bare problem"]) == "A yes/no question about the data"
    joined = "Is it true that (at least half of all rows of A count as yes; blank) and (b; c)? (Yes means: x = 1.)"
    assert headline_of({"question": joined}) == joined.partition(" (Yes")[0].replace("; blank", "")
    quoted = "Is it true that at least 3 rows of 'a; b' count as yes; blank? (Yes means: x = 1.)"
    assert headline_of({"question": quoted}) == quoted.partition(" (Yes")[0]


def test_a_page_says_how_sure_it_is_at_true_shares_and_margins_of_the_promise(records):
    record = records["titled"]
    areas = record["plan"]["areas"][0]
    shown = text_of(record)
    assert len(areas["accuracy_by_share"]) == 4
    names = {"yes": "Yes, we move (yes)", "no": "No, we stay (no)"}
    right = []
    for where, promise in areas["accuracy_by_share"].items():
        situation, answer = split_right_answer(where)
        right.append(answer)
        assert f"{situation.removeprefix('if ')} {names[answer]} {promise_in_runs(promise)} " in shown
    assert right == ["no", "no", "yes", "yes"]
    assert f"1 person decides yes or no {promise_in_runs(areas['accuracy_by_margin']['1'])} " in shown
    assert "More" not in shown
    assert "Which of these situations comes closest to the truth is not published." in shown


def test_what_a_page_says_beforehand_does_not_depend_on_the_answers(tmp_path, monkeypatch):
    pages = []
    for answer in ("move", "stay"):
        monkeypatch.setattr("tests.releases.test_summary.PEOPLE", PEOPLE.assign(answer=answer))
        record = released(tmp_path, **LEVELS, **WORDS)
        pages.append("".join([*page._sureness(record), *page._odds(record["privacy"]["promises"])]))
    assert pages[0] == pages[1]


def test_a_probability_is_never_rounded_up_and_never_certain():
    for promise, words in {
        "0.979999": "97 of 100",
        "0.999999": "999,999 of 1,000,000",
        "1 − 1e-30": "more than 999,999 of 1,000,000",
        "1": "all",
        "0.000000": "0 of 100",
        "</p>": "</p>",
        "1.5": "1.5",
    }.items():
        assert promise_in_runs(promise) == words
    assert Decimal("0.97") <= Decimal("0.979999")


def test_each_protection_is_said_once_and_names_everybody_it_is_for(records):
    assert [one.whom for one in protections_of(records["titled"]["privacy"]["promises"])] == [
        "open and usual",
        "strict",
    ]
    assert [one.whom for one in protections_of(records["areas"]["privacy"]["promises"])] == ["open and usual", "strict"]
    assert text_of(records["areas"]).count("If you answer differently") == 2
    one, two = promise_of(whom="everybody"), promise_of(area="North", odds="other")
    assert [each.whom for each in protections_of([one])] == [""]
    assert [each.whom for each in protections_of([one, two])] == ["everybody else", "pupils"]
    north, south = promise_of(area="North"), promise_of(area="South", odds="other")
    assert [each.whom for each in protections_of([north, south])] == ["pupils in North", "pupils in South"]
    assert protections_of([promise_of(odds=None)]) == []
    assert "What it means for you" not in "".join(page._odds([promise_of(odds=None)]))


def test_answers_of_areas_stand_beside_how_sure_each_is(records):
    shown = text_of(records["areas"])
    for area in records["areas"]["plan"]["areas"]:
        for where, promise in nearest(list(area["accuracy_by_share"].items())):
            assert f"{promise_in_runs(promise)} {where}" in shown
    least = {margin: [] for margin in ("1", "20")}
    for area in records["areas"]["plan"]["areas"]:
        for margin, listed in least.items():
            listed.append(area["accuracy_by_margin"][margin])
    assert dict(sureness_of(records["areas"]).by_margin)["where 1 person decides"] == min(least["1"])


def test_an_answer_without_words_is_called_by_its_number(records):
    number = records["bare problem"]["answers"][0]["answer"]
    assert f"Answer {number}" in text_of(records["bare problem"])
    assert "in the worst case" not in text_of(records["bare problem"])
    assert "whatever the data is" in text_of(records["bare problem"])


def test_names_are_listed_as_far_as_they_are_few():
    assert join_some(["a"]) == "a"
    assert join_some([str(at) for at in range(8)]) == "0, 1, 2, 3, 4, 5, 6 and 7"
    assert join_some([str(at) for at in range(9)]) == "0, 1, 2, 3, 4, 5, 6 and 2 more"


@pytest.fixture(scope="module")
def browser_page(browser):
    opened = browser.new_page()
    yield opened
    opened.close()


LOOKS = [(390, "light"), (1440, "dark"), (390, "dark"), (1440, "light")]  # the first two have every width and colour


@pytest.mark.parametrize(("width", "scheme"), mostly_long(LOOKS, 2))
def test_every_page_is_accessible_and_fits_a_phone(records, several, browser_page, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    browser_page.set_viewport_size({"width": width, "height": 900})
    browser_page.emulate_media(color_scheme=scheme)
    shown = {name: page_of(record) for name, record in records.items()}
    shown |= {"hostile": page_of(make_hostile(records["areas"])), "several": several}
    for name, html in shown.items():
        browser_page.set_content(html.replace(page.POLICY, "default-src 'unsafe-inline'"))
        assert browser_page.evaluate("document.documentElement.scrollWidth") <= width, name
        found = Axe().run(browser_page)
        assert found.violations_count == 0, found.generate_report()


def test_a_page_of_several_questions_says_which_digest_is_of_which(several):
    shown = " ".join(" ".join(parse_page(several).text).split())
    for title in ("Should we move?", "Should we stay?"):
        for name in ("the plan", "this record"):
            assert shown.count(f"{title} {name} ") == 1
    assert several.count("<dt>the ledger</dt>") == 1


def test_a_page_of_several_questions_names_the_area_of_each_answer(several):
    shown = " ".join(" ".join(parse_page(several).text).split())
    for title in ("Should we move?", "Should we stay? (Harbour)", "Should we stay? (Town)"):
        assert re.search(rf"{re.escape(title)} (yes|no)\b", shown), title
    assert "Should we move? (" not in shown


# The statement --------------------------------------------------------------------------------------------------------


def test_a_statement_has_the_question_the_answer_how_sure_and_what_it_means(records):
    record = records["titled"]
    found = statement(record)
    asked = headline_of({"question": record["question"]})
    assert found.startswith(
        f"To the question “Should we move?” (i{asked[1:]}), the published answer is “{record['answers'][0]['words']}”; "
    )
    assert asked.startswith("Is it true that ")
    shares = record["plan"]["areas"][0]["accuracy_by_share"]
    for where, promise in nearest(list(shares.items())):
        assert f"{promise_in_runs(promise)} runs {where}" in found
    assert found.count(". ") == 1
    assert " For those who are protected least (open and usual): if you answer differently, " in found


def test_statements_of_all_kinds_are_two_sentences_at_most(records):
    for record in records.values():
        found = statement(record)
        assert found.replace("?”", "”").count(". ") == 1, found
        assert found.endswith(".")
        assert not any(words in found.casefold() for words in ("cannot", "guarantee", "always"))
    areas = statement(records["areas"])
    assert "it is the same for any data" in statement(records["constant"])
    where = r"[0-9.]+% [a-z ]+ \(\d+ of 80; (yes|no) is right\)"
    example = rf"; in Harbour, for example, in at least \d+ of 100 if {where}\. For"
    assert re.search(rf"each would be right in at least 52 of 100 runs where 1 person decides{example}", areas)
    assert "each site, more than half of its people count as yes?)" in areas
    assert "(open): no promise is made to these people" in statement(records["unprotected"])
    assert "runs in the worst case" in statement(records["problem"])


def test_a_statement_and_its_page_say_what_protects_practically_nobody(records):
    found = json.loads(json.dumps(records["titled"]))
    assert "practically nobody" not in statement(found)
    found["privacy"]["promises"][0]["used"] = "6"
    found |= {DIGEST: digest_of(found)}
    warning = "ε = 6 protects practically nobody: somebody who was 50% sure of an answer can become 99.8% sure of it."
    assert statement(found).endswith(f"; {warning}")
    assert warning in " ".join(parse_page(page_of(found)).text)


def test_a_statement_about_a_changed_record_is_refused(records, tmp_path):
    place = tmp_path / "record.json"
    place.write_text(json.dumps(records["titled"]))
    assert statement(place) == statement(str(place)) == statement(records["titled"])
    changed = records["titled"] | {"title": "Another?"}
    with pytest.raises(hetdp.InputError, match="record: the record was changed; its digest must match its content"):
        statement(changed)
    assert "Another?" in statement(changed | {DIGEST: digest_of(changed)})
    with pytest.raises(hetdp.InputError, match="wrong kind of document"):
        statement({"kind": "plan"})
    with pytest.raises(hetdp.UsageError, match="cannot be read"):
        statement(tmp_path / "nowhere.json")
    with pytest.raises(hetdp.UsageError, match="expected a path, got an int"):
        statement(7)
