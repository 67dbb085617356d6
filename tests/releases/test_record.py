"""The record: whole, checkable, readable by anybody, and silent about the data."""

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
from hetdp.releases.record.document import DIGEST, RECORD, digest_of, facts_digest, read_record, require_record
from hetdp.releases.record.page import page_of
from hetdp.theory.catalogue import NOTIONS
from tests.releases.worlds import LABELS, SOURCE, WORDS, ledger, poll

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
NASTY = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[2J\u202e"


@pytest.fixture
def made(tmp_path):
    kept = ledger(tmp_path)
    return hetdp.release(poll(), "two", ledger=kept).record, kept


@pytest.mark.parametrize("quantity", sorted(REGISTRY))
def test_a_record_fills_the_third_tier_of_the_registry(quantity, made):
    found: Any = made[0]
    for key in REGISTRY[quantity]:
        found = found[key]
    assert found


def test_every_notion_has_words_and_a_rule():
    assert len({notion.description for notion in NOTIONS.values()}) == len(NOTIONS)
    rules = {notion.currency.name: notion.currency.rule for notion in NOTIONS.values()}
    assert len(set(rules.values())) == len(rules) == 3


def test_a_record_has_the_words_the_promises_and_the_odds(made):
    record = made[0]
    assert list(record) == list(RECORD)
    assert (record["question"], record["privacy"]["unit"]) == (WORDS["title"], WORDS["privacy_unit"])
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


def test_where_nothing_is_promised_the_record_says_so(tmp_path):
    graph = hetdp.DatasetGraph.from_edges("ab", "bc", [0.5, float("inf")], classes=["x", "x"])
    problem = hetdp.Problem(graph, [1, 1, 2])
    record = hetdp.release(hetdp.extend(problem, {}), "a", ledger=ledger(tmp_path, "inf")).record
    assert any("1 of 2 changes of 'x': no promise is made" in words for words in record["not_protected"])
    assert record["privacy"]["promises"][0]["epsilon"] == "inf"


def test_too_many_edges_leave_the_odds_out_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr("hetdp.releases.record.facts.MOST_EDGES", 2)
    record = hetdp.release(poll(), "one", ledger=ledger(tmp_path)).record
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


def test_whatever_is_changed_in_a_record_is_noticed(made):
    record = made[0]
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


def sealed(record: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """A record that somebody changed and gave a new digest."""
    found = copy.deepcopy(record) | changed
    return found | {DIGEST: digest_of(found)}


def test_who_makes_a_new_digest_is_caught_by_the_ledger_and_by_the_mechanism(made):
    record, kept = made
    mechanism = poll()
    other = 3 - record["answers"][0]["answer"]
    forged = [
        sealed(record, answers=[{"area": None, "answer": other, "words": "nay"}]),
        sealed(record, released="2020-01-01T00:00:00Z"),
        sealed(record, composition=record["composition"] | {"version": "2"}),
        sealed(record, composition=record["composition"] | {"source": "other"}),
        sealed(record, mechanism=record["mechanism"] | {"sha256": "sha256:0"}),
    ]
    for one in forged:
        assert hetdp.verify_record(one).valid
        verdict = hetdp.verify_record(one, ledger=kept)
        assert [check.passed for check in verdict.checks] == [True, False]
        assert "FAILS: entry 3 of the ledger says something else" in str(verdict)
    verdict = hetdp.verify_record(forged[-1], problem=mechanism.problem, mechanism=mechanism)
    assert {check.name: check.passed for check in verdict.checks}["mechanism"] is False
    cheaper = record["composition"] | {"charged": [record["composition"]["charged"][0] | {"epsilon": "0.1"}]}
    verdict = hetdp.verify_record(sealed(record, composition=cheaper), problem=mechanism.problem, mechanism=mechanism)
    assert {check.name: check.passed for check in verdict.checks}["charge"] is False


def test_whatever_is_forged_is_caught_by_the_ledger_alone_and_by_the_problem(made):
    record, kept = made
    mechanism = poll()
    later = {"schema_version", "kind", "released", "ledger", DIGEST, "software", "composition"}
    for path, value in changes(record):
        if path[0] in ("schema_version", "kind", "ledger", DIGEST):
            continue
        changed = copy.deepcopy(record)
        at: Any = changed
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        forged = sealed(changed)
        assert hetdp.verify_record(forged).valid
        assert not hetdp.verify_record(forged, ledger=kept).valid, path
        if path[0] not in later and path != ("mechanism", "objective"):
            assert not hetdp.verify_record(forged, problem=mechanism.problem, mechanism=mechanism).valid, path
    swapped = [record["answers"][0] | {"words": "aye" if record["answers"][0]["answer"] == 2 else "nay"}]
    assert not hetdp.verify_record(sealed(record, answers=swapped), ledger=kept).valid


@pytest.mark.parametrize("amounts", [{"pupils": "1", "everybody": "0.1"}, {"pupils": "1"}, {"pupils": "0.9"}])
def test_a_charge_that_is_not_the_one_that_is_told_is_caught(amounts, made):
    record, kept = copy.deepcopy(made[0]), made[1]
    record["composition"]["version"] = "2"
    facts = {"facts_sha256": facts_digest(record), "words": ["aye", "nay"]}
    request, charge = record["mechanism"]["sha256"], Charge.to_classes("epsilon", amounts)
    entry = kept.spend(SOURCE, charge, request, "2", lambda: [True], facts, unit="one pupil")
    record["answers"] = [{"area": None, "answer": 1, "words": "aye"}]
    told = sealed(record, released=entry.time, ledger=entry.receipt())
    assert hetdp.verify_record(told, ledger=kept).valid is (len(amounts) == 2)


def test_a_record_of_another_ledger_or_a_later_one_is_told_apart(made, tmp_path):
    record, _ = made
    other = ledger(tmp_path, name="other.ledger")
    assert not hetdp.verify_record(record, ledger=other).valid
    later = sealed(record, ledger=record["ledger"] | {"entry": 99})
    with pytest.raises(LedgerError, match="older than its records"):
        hetdp.verify_record(later, ledger=tmp_path / "a.ledger")


def test_another_mechanism_is_not_the_one_that_was_drawn_from(made):
    record, _ = made
    mechanism = poll()
    z = mechanism.coordinates * 0.5
    verdict = hetdp.verify_record(record, problem=mechanism.problem, mechanism=replace(mechanism, coordinates=z))
    assert [check.passed for check in verdict.checks] == [True, False, True, False]  # they reveal less
    broken = replace(mechanism, coordinates=mechanism.coordinates * 9)
    verdict = hetdp.verify_record(record, problem=mechanism.problem, mechanism=broken)
    assert [check.passed for check in verdict.checks] == [True, False, False, True]
    with pytest.raises(UsageError, match="the type dict"):
        hetdp.verify_record(record, problem=mechanism.problem, mechanism={"one": 0.5})
    with pytest.raises(UsageError, match="together"):
        hetdp.verify_record(record, problem=mechanism.problem)


def test_a_record_can_be_read_again_and_another_document_cannot(made, tmp_path):
    record = made[0]
    place = tmp_path / "record.json"
    place.write_text(json.dumps(record))
    assert read_record(place) == record
    for document in ({}, {"kind": "plan"}, record | {"schema_version": 3}, record | {"more": 1}):
        with pytest.raises(InputError):
            require_record(document, "record")
    with pytest.raises(UsageError, match="cannot be read"):
        read_record(tmp_path / "nowhere.json")
    with pytest.raises(UsageError, match="cannot be read"):
        read_record(tmp_path)


class Page(HTMLParser):
    """What a browser would see: tags with their attributes, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parsed(page: str) -> Page:
    found = Page()
    found.feed(page)
    found.close()
    return found


def nasty(document: Any) -> Any:
    """The document with every text replaced by one that means harm."""
    if isinstance(document, dict):
        return {key: nasty(value) for key, value in document.items()}
    if isinstance(document, list):
        return [nasty(value) for value in document]
    return NASTY if isinstance(document, str) else document


ALLOWED = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "strong", "section", "ul", "li"}
ALLOWED |= {"table", "tr", "th", "td", "footer"}


def test_a_page_runs_nothing_fetches_nothing_and_escapes_what_is_not_ours(made):
    for record in (made[0], nasty(made[0])):
        page = parsed(page_of(record))
        assert {tag for tag, _ in page.tags} <= ALLOWED
        names = {name for _, attributes in page.tags for name in attributes}
        assert names <= {"lang", "charset", "content", "name", "http-equiv", "class", "scope"}
        assert not re.search(r"url\(|@import|https?:", page_of(record))
    assert "\x1b" not in page_of(nasty(made[0]))
    policies = [attributes["content"] for tag, attributes in page.tags if attributes.get("http-equiv")]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"]


def test_a_page_tells_the_answer_and_the_odds_to_anybody(made):
    record = made[0]
    text = " ".join("".join(parsed(page_of(record)).text).split())
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


def test_a_page_with_areas_and_groups_has_a_table_and_leaves_the_rest_to_the_record(made):
    record = copy.deepcopy(made[0])
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
    record["accuracy"] = [{"area": "area 1", "where": "where 1 person decides", "probability": "0.5"}]
    text = "".join(parsed(page_of(record)).text)
    assert "And 100 more, in the record." in text
    assert "ε from 0.1 to 1, up to δ = 0.01 allowed, at most 1 used; 12 people" in text
    assert "up to μ = 0.5 allowed, 1 used" in text
    assert "area 1, where 1 person decides" in text
