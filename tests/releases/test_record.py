"""The record is complete, can be checked and read by anybody, and reveals nothing about the data."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

import hetdp
from hetdp.errors import InputError, LedgerError, UsageError
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.record import document, facts, page
from hetdp.releases.record.document import DIGEST, RECORD, digest_of, facts_digest, read_record, require_record
from hetdp.releases.record.page import page_of
from hetdp.theory.catalogue import NOTIONS
from tests.releases.worlds import LABELS, SOURCE, WORDS, make_ledger, poll_mechanism

REGISTRY = {  # the third tier of the public registry of deployments, and where a record says it
    "flavour": ("privacy", "flavour"),
    "unit": ("privacy", "unit"),
    "parameters": ("privacy", "promises"),
    "model": ("model",),
    "domain": ("domain", "words"),
    "unprotected quantities": ("not_protected",),
    "composition": ("composition", "rule"),
    "security rationale": ("security",),
}
HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[2J\u202e"


@pytest.fixture
def record_and_ledger(tmp_path):
    ledger = make_ledger(tmp_path)
    return hetdp.release(poll_mechanism(), "two", ledger=ledger).record, ledger


@pytest.mark.parametrize("quantity", sorted(REGISTRY))
def test_a_record_fills_the_third_tier_of_the_registry(quantity, record_and_ledger):
    found: Any = record_and_ledger[0]
    for key in REGISTRY[quantity]:
        found = found[key]
    assert found


def test_every_notion_has_a_description_and_a_rule():
    assert len({notion.description for notion in NOTIONS.values()}) == len(NOTIONS)
    rules = {notion.currency.name: notion.currency.rule for notion in NOTIONS.values()}
    assert len(set(rules.values())) == len(rules) == 3


def test_a_record_has_the_question_the_promises_and_the_odds(record_and_ledger):
    record = record_and_ledger[0]
    assert list(record) == [key for key in RECORD if key != "title"]
    assert (record["question"], record["privacy"]["unit"]) == (WORDS["title"], WORDS["privacy_unit"])
    assert record["domain"]["words"] == "4 possible datasets, 3 pairs of neighbours"
    assert [(one["whom"], one["epsilon"]) for one in record["privacy"]["promises"]] == [
        ("pupils", "1"),
        ("everybody", "0.1"),
    ]
    assert record["privacy"]["promises"][0]["odds"].startswith("If you vote differently, the published answer is ")
    charged = {"account": "pupils", "epsilon": "1", "delta": None, "mu": None, "used": "1"}
    assert record["composition"]["charged"][0] == charged
    assert record["composition"]["source"] == SOURCE
    assert record["accuracy"][0]["probability"] == "0.550000"
    assert record["certificates"][0]["private"] is True


def test_the_record_says_where_nothing_is_promised(tmp_path):
    graph = hetdp.DatasetGraph.from_edges("ab", "bc", [0.5, float("inf")], classes=["x", "x"])
    problem = hetdp.Problem(graph, [1, 1, 2])
    record = hetdp.release(hetdp.extend(problem, {}), "a", ledger=make_ledger(tmp_path, "inf")).record
    assert any("1 of 2 changes of 'x': no promise is made" in words for words in record["not_protected"])
    assert record["privacy"]["promises"][0]["epsilon"] == "inf"


def test_too_many_edges_leave_the_odds_out_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr("hetdp.releases.record.facts.MOST_EDGES", 2)
    record = hetdp.release(poll_mechanism(), "one", ledger=make_ledger(tmp_path)).record
    assert [one["odds"] for one in record["privacy"]["promises"]] == [None, None]
    assert "What it means for you" not in page_of(record)


def changes(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """Every place of a document, with another value for it."""
    if isinstance(document, dict):
        return [found for key, value in document.items() for found in changes(value, (*path, key))]
    if isinstance(document, list) and document:
        return [found for at, value in enumerate(document) for found in changes(value, (*path, at))]
    if isinstance(document, bool) or document is None:
        return []
    if isinstance(document, str):
        return [(path, document + "x")]
    return [(path, document + 1)] if not isinstance(document, list) else []


def test_every_change_of_a_record_is_noticed(record_and_ledger):
    record = record_and_ledger[0]
    places = changes(record)
    assert len(places) > 50
    for path, value in places:
        changed = copy.deepcopy(record)
        at: Any = changed
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        try:
            assert not hetdp.verify_record(changed).valid, path
        except InputError:
            assert path in (("schema_version",), ("kind",))


def reseal(record: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A changed record with a new digest."""
    found = copy.deepcopy(record) | changes
    return found | {DIGEST: digest_of(found)}


def test_a_forged_record_with_a_new_digest_is_caught_by_the_ledger_and_the_mechanism(record_and_ledger):
    record, ledger = record_and_ledger
    mechanism = poll_mechanism()
    other = 3 - record["answers"][0]["answer"]
    forged = [
        reseal(record, answers=[{"area": None, "answer": other, "words": "nay"}]),
        reseal(record, released="2020-01-01T00:00:00Z"),
        reseal(record, composition=record["composition"] | {"version": "2"}),
        reseal(record, composition=record["composition"] | {"source": "other"}),
        reseal(record, mechanism=record["mechanism"] | {"sha256": "sha256:0"}),
    ]
    with pytest.raises(hetdp.UsageError, match="expected a path, got an int"):
        hetdp.verify_record(record, plan=3)
    for one in forged:
        assert hetdp.verify_record(one).valid
        verdict = hetdp.verify_record(one, ledger=ledger)
        assert [check.passed for check in verdict.checks] == [True, False]
        assert "FAILS: entry 3 of the ledger disagrees with the record" in str(verdict)
    verdict = hetdp.verify_record(forged[-1], problem=mechanism.problem, mechanism=mechanism)
    assert {check.name: check.passed for check in verdict.checks}["mechanism"] is False
    cheaper = record["composition"] | {"charged": [record["composition"]["charged"][0] | {"epsilon": "0.1"}]}
    verdict = hetdp.verify_record(reseal(record, composition=cheaper), problem=mechanism.problem, mechanism=mechanism)
    assert {check.name: check.passed for check in verdict.checks}["charge"] is False


def test_every_forgery_is_caught_by_the_ledger_alone_and_by_the_problem(record_and_ledger):
    record, ledger = record_and_ledger
    mechanism = poll_mechanism()
    later = {"schema_version", "kind", "released", "ledger", DIGEST, "software", "composition"}
    for path, value in changes(record):
        if path[0] in ("schema_version", "kind", "ledger", DIGEST):
            continue
        changed = copy.deepcopy(record)
        at: Any = changed
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        forged = reseal(changed)
        assert hetdp.verify_record(forged).valid
        assert not hetdp.verify_record(forged, ledger=ledger).valid, path
        if path[0] not in later and path != ("mechanism", "objective"):
            assert not hetdp.verify_record(forged, problem=mechanism.problem, mechanism=mechanism).valid, path
    swapped = [record["answers"][0] | {"words": "aye" if record["answers"][0]["answer"] == 2 else "nay"}]
    assert not hetdp.verify_record(reseal(record, answers=swapped), ledger=ledger).valid


@pytest.mark.parametrize("amounts", [{"pupils": "1", "everybody": "0.1"}, {"pupils": "1"}, {"pupils": "0.9"}])
def test_a_charge_that_differs_from_the_reported_one_is_caught(amounts, record_and_ledger):
    record, ledger = copy.deepcopy(record_and_ledger[0]), record_and_ledger[1]
    record["composition"]["version"] = "2"
    facts = {"facts_sha256": facts_digest(record), "words": ["aye", "nay"]}
    request, charge = record["mechanism"]["sha256"], Charge.to_classes("epsilon", amounts)
    entry = ledger.spend(SOURCE, charge, request, "2", lambda: [True], facts, unit="one pupil")
    record["answers"] = [{"area": None, "answer": 1, "words": "aye"}]
    report = reseal(record, released=entry.time, ledger=entry.receipt())
    assert hetdp.verify_record(report, ledger=ledger).valid is (len(amounts) == 2)


def test_records_of_another_ledger_and_later_records_are_distinguished(record_and_ledger, tmp_path):
    record, _ = record_and_ledger
    other = make_ledger(tmp_path, name="other.ledger")
    assert not hetdp.verify_record(record, ledger=other).valid
    later = reseal(record, ledger=record["ledger"] | {"entry": 99})
    with pytest.raises(LedgerError, match="older than its records"):
        hetdp.verify_record(later, ledger=tmp_path / "a.ledger")


def test_another_mechanism_is_not_accepted_for_a_record(record_and_ledger):
    record, _ = record_and_ledger
    mechanism = poll_mechanism()
    z = mechanism.coordinates * 0.5
    verdict = hetdp.verify_record(record, problem=mechanism.problem, mechanism=replace(mechanism, coordinates=z))
    assert [check.passed for check in verdict.checks] == [True, False, True, False]  # they reveal less
    broken = replace(mechanism, coordinates=mechanism.coordinates * 9)
    verdict = hetdp.verify_record(record, problem=mechanism.problem, mechanism=broken)
    assert [check.passed for check in verdict.checks] == [True, False, False, True]
    with pytest.raises(UsageError, match="the type dict"):
        hetdp.verify_record(record, problem=mechanism.problem, mechanism={"one": 0.5})
    with pytest.raises(UsageError, match="both are needed"):
        hetdp.verify_record(record, problem=mechanism.problem)


def test_a_record_can_be_read_again_and_another_document_cannot(record_and_ledger, tmp_path):
    record = record_and_ledger[0]
    place = tmp_path / "record.json"
    place.write_text(json.dumps(record))
    assert read_record(place) == record
    for other in ({}, {"kind": "plan"}, record | {"schema_version": 3}, record | {"more": 1}):
        with pytest.raises(InputError):
            require_record(other, "record")
    with pytest.raises(UsageError, match="cannot be read"):
        read_record(tmp_path / "nowhere.json")
    with pytest.raises(UsageError, match="cannot be read"):
        read_record(tmp_path)


class PageParser(HTMLParser):
    """Collects the tags with their attributes, and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parse_page(page: str) -> PageParser:
    found = PageParser()
    found.feed(page)
    found.close()
    return found


def make_hostile(document: Any) -> Any:
    """The document with every text replaced by a hostile one."""
    if isinstance(document, dict):
        return {key: make_hostile(value) for key, value in document.items()}
    if isinstance(document, list):
        return [make_hostile(value) for value in document]
    return HOSTILE if isinstance(document, str) else document


ALLOWED = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "strong", "section", "ul", "li"}
ALLOWED |= {"table", "thead", "tbody", "tr", "th", "td", "dl", "div", "dt", "dd", "footer"}


def test_a_page_runs_nothing_fetches_nothing_and_escapes_what_is_not_ours(record_and_ledger):
    for record in (record_and_ledger[0], make_hostile(record_and_ledger[0])):
        page = parse_page(page_of(record))
        assert {tag for tag, _ in page.tags} <= ALLOWED
        names = {name for _, attributes in page.tags for name in attributes}
        assert names <= {"lang", "charset", "content", "name", "http-equiv", "class", "scope"}
        assert not re.search(r"url\(|@import|https?:", page_of(record))
    assert "\x1b" not in page_of(make_hostile(record_and_ledger[0]))
    policies = [attributes["content"] for tag, attributes in page.tags if attributes.get("http-equiv")]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"]


def test_a_page_shows_the_answer_and_the_odds(record_and_ledger):
    record = record_and_ledger[0]
    text = " ".join("".join(parse_page(page_of(record)).text).split())
    for words in (
        WORDS["title"],
        record["answers"][0]["words"],
        record["privacy"]["promises"][0]["odds"],
        "What is not protected",
        "pupils",
        "ε = 0.1",
        record[DIGEST],
        record["ledger"]["hash"],
        "one pupil",
    ):
        assert words in text
    assert not any(f"'{label}'" in text for label in LABELS)


def test_a_page_with_areas_and_groups_has_a_table_and_leaves_the_rest_to_the_record(record_and_ledger):
    record = copy.deepcopy(record_and_ledger[0])
    record["answers"] = [{"area": f"area {at}", "answer": 1, "words": "yes"} for at in range(300)]
    promise = record["privacy"]["promises"][0] | {
        "area": "area 1",
        "people": 12,
        "least_epsilon": "0.1",
        "delta": "0.01",
    }
    record["privacy"]["promises"] = [
        promise,
        promise | {"epsilon": None, "least_epsilon": None, "delta": None, "mu": "0.5"},
    ]
    text = "".join(parse_page(page_of(record)).text)
    assert "And 100 more, in the record." in text
    assert "ε from 0.1 to 1, up to δ = 0.01 allowed, at most 1 charged; 12 people" in text
    assert "up to μ = 0.5 allowed, 1 charged" in text


# Parts of a page and of a record --------------------------------------------------------------------------------------


def promise_of(**more):
    nothing = dict.fromkeys(("area", "least_epsilon", "epsilon", "mu", "delta", "people"))
    return nothing | {"whom": "pupils", "used": "0.1", "odds": "odds", "unprotected": 0} | more


def test_the_parameters_of_a_promise_are_said_as_far_as_there_are_any():
    assert page._parameters(promise_of(epsilon="1")) == "up to ε = 1 allowed, 0.1 charged"
    assert page._parameters(promise_of(epsilon="1", least_epsilon="1")) == "up to ε = 1 allowed, 0.1 charged"
    assert page._parameters(promise_of(epsilon="1", least_epsilon="0.5", delta="0.01")) == (
        "ε from 0.5 to 1, up to δ = 0.01 allowed, at most 0.1 charged"
    )
    assert page._parameters(promise_of(mu="2")) == "up to μ = 2 allowed, 0.1 charged"


def test_a_group_whose_name_is_a_number_is_called_a_group():
    promises = [promise_of(whom="1", odds="few"), promise_of(whom="2", odds="many")]
    assert "<strong>For group 1:</strong> few" in "".join(page._odds(promises))
    assert page._merged_parameters([promise_of(whom="2", mu="2")])[0][0] == "group 2"


def test_the_same_parameters_are_listed_once_for_everybody_they_hold_for():
    strict, usual = promise_of(epsilon="1", people=1), promise_of(whom="staff", epsilon="1", people=2000)
    assert page._merged_parameters([strict]) == [("pupils", "up to ε = 1 allowed, 0.1 charged; 1 person")]
    assert page._merged_parameters([strict, usual, promise_of(whom="guests", mu="2")]) == [
        ("pupils and staff", "up to ε = 1 allowed, 0.1 charged; 2,001 people"),
        ("guests", "up to μ = 2 allowed, 0.1 charged"),
    ]


def test_two_hundred_entries_are_shown_and_the_others_counted(record_and_ledger):
    for count in (200, 201):
        answers = [{"area": f"a{at}", "answer": 1, "words": "yes"} for at in range(count)]
        shown = "".join(page._answers(record_and_ledger[0] | {"answers": answers}))
        assert shown.count("<tr>") == 201
        assert ("And 1 more, in the record." in shown) is (count > 200)
        promises = [promise_of(odds=f"odds {at}") for at in range(count)]
        assert "".join(page._odds(promises)).count('class="promise"') == 200
    one = {"area": "a", "answer": 1, "words": "yes"}
    assert "<table>" in "".join(page._answers(record_and_ledger[0] | {"answers": [one]}))
    bold = record_and_ledger[0] | {"answers": [one | {"area": None, "words": "<b>"}]}
    assert "".join(page._answers(bold)) == '<p class="answer">&lt;b&gt;</p>'


def test_a_constant_answer_has_no_introduction_about_randomness():
    def introduction(constant, answers):
        record = {"constant": [{"area": None, "answer": "yes"}] * constant, "answers": [0] * answers, "plan": None}
        return "".join(page._introduction(record))

    assert page.INTRODUCTION[:20] in introduction(0, 1)
    assert page.SOME_AREAS not in introduction(0, 1)
    assert page.SOME_AREAS in introduction(1, 2)
    assert page.BUNDLE_INTRODUCTION in introduction(1, 2)
    assert page.INTRODUCTION[:20] not in introduction(1, 1)


def test_files_of_a_record_are_named_as_such():
    document.require_file_names("a.JSON", "b.html")
    document.require_file_names(None, None)
    for names in (("a.html", None), (None, "a.json"), ("a", None)):
        with pytest.raises(UsageError, match="no format is known"):
            document.require_file_names(*names)


def test_a_record_replaces_neither_the_ledger_nor_its_page_nor_anything_else(record_and_ledger, tmp_path):
    record = record_and_ledger[0]
    known = record | {"ledger": {"ledger": record["ledger"]["ledger"]}}

    def places(first, second, ledger=None):
        return document.require_places(first, second, ledger, known)

    assert places(None, None) == places(tmp_path / "new.json", tmp_path / "new.html") == []
    for name in ("l.json", "l.json-journal"):
        with pytest.raises(UsageError, match="is the ledger itself"):
            places(tmp_path / name, None, tmp_path / "l.json")
    with pytest.raises(UsageError, match="the same file name"):
        places(tmp_path / "a.json", tmp_path / "a.json")
    (tmp_path / "old.json").write_text(json.dumps(record))
    assert places(tmp_path / "old.json", None) == [record["ledger"]]
    (tmp_path / "old.html").write_text(page_of(record))
    places(None, tmp_path / "old.html")
    other = record | {"composition": record["composition"] | {"version": "2"}}
    (tmp_path / "old.json").write_text(json.dumps(reseal(other)))
    (tmp_path / "old.html").write_text(page_of(other))
    with pytest.raises(UsageError, match="the record of another release"):
        places(tmp_path / "old.json", None)
    with pytest.raises(UsageError, match="is not a page of this release"):
        places(None, tmp_path / "old.html")
    (tmp_path / "old.json").write_text("{}")
    with pytest.raises(UsageError, match="is not a record"):
        places(tmp_path / "old.json", None)


def test_a_record_of_the_largest_size_is_read(record_and_ledger, tmp_path, monkeypatch):
    place = tmp_path / "record.json"
    place.write_text(json.dumps(record_and_ledger[0]))
    monkeypatch.setattr(document, "LARGEST_RECORD", place.stat().st_size)
    assert read_record(place) == record_and_ledger[0]
    monkeypatch.setattr(document, "LARGEST_RECORD", place.stat().st_size - 1)
    with pytest.raises(InputError, match="too large for a record"):
        read_record(place)


def test_a_whole_record_of_another_kind_is_none(record_and_ledger):
    assert require_record(record_and_ledger[0], "record") == record_and_ledger[0]
    with pytest.raises(InputError, match="wrong kind of document: 'plan'"):
        require_record(record_and_ledger[0] | {"kind": "plan"}, "record")


def test_the_words_distinguish_all_from_some_unprotected_people():
    assert facts.unprotected_words(3, 3, "people").startswith("All 3 people: no promise is made")
    assert facts.unprotected_words(1, 3, "people").startswith("1 of 3 people: no promise is made")
    assert facts.only_deciding_words(2000, 3000).startswith("2,000 of 3,000 people: a promise is made only where")
