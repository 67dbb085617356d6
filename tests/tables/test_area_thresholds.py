"""A threshold for each area: every area is asked as if it were alone."""

from __future__ import annotations

import json
import random
from typing import Any

import pandas
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.partitioned import workspace
from tests.loops import for_each
from tests.partitioned.inline import Inline

ASKED: dict[str, Any] = {"count": "vote = 'yes'", "person": "id", "epsilon": "eps"}
THRESHOLDS = ({"Town": 2, "Harbour": "60%"}, {"Town": "1/3", "Harbour": 4}, {"Town": 0, "Harbour": 99})


def table_of(size: int, seed: int) -> pandas.DataFrame:
    chance = random.Random(seed)
    site = ["Town", "Harbour", *chance.choices(["Town", "Harbour"], k=size - 2)]
    columns = {"id": list(range(size)), "site": site, "eps": chance.choices([0.1, 0.5, 2.0], k=size)}
    columns["vote"] = chance.choices(["yes", "no", None], k=size)
    return pandas.DataFrame(columns).astype({"vote": "string"})


def save(people: pandas.DataFrame, folder: Any) -> str:
    people.to_csv(folder / "people.csv", index=False)
    return str(folder / "people.csv")


@for_each("thresholds", THRESHOLDS)
@for_each("how", ["at_least", "more_than"])
@for_each("design", ["balanced", "weighted-vote", "fair"])
def test_an_area_is_promised_and_answered_what_it_would_be_alone(thresholds, how, design):
    people = table_of(11, len(design))
    together = hetdp.ask(people, **ASKED, **{f"{how}_by": thresholds}, by="site", design=design, simulate=True, seed=3)
    assert [one.area for one in together.promises] == ["Harbour", "Town"]
    for promise in together.promises:
        there = people[people["site"] == promise.area]
        alone = hetdp.ask(there, **ASKED, **{how: thresholds[promise.area]}, design=design, dry_run=True).promises[0]
        assert (promise.accuracy, promise.constant) == (alone.accuracy, alone.constant)
        assert promise.mechanism.loss_of_each().tolist() == alone.mechanism.loss_of_each().tolist()


def test_shares_of_respondents_leave_out_blank_rows():
    people = table_of(14, 5)
    thresholds = {"Town": "50%", "Harbour": "2/3"}
    together = hetdp.ask(people, **ASKED, at_least_by=thresholds, of="respondents", by="site", dry_run=True)
    for promise in together.promises:
        there = people[people["site"] == promise.area]
        alone = hetdp.ask(there, **ASKED, at_least=thresholds[promise.area], of="respondents", dry_run=True)
        assert promise.accuracy == alone.promises[0].accuracy
    with pytest.raises(hetdp.UsageError, match="3 of respondents"):
        hetdp.ask(people, **ASKED, at_least_by={"Town": 3, "Harbour": "50%"}, of="respondents", by="site", dry_run=True)


def test_equal_thresholds_are_the_same_question_as_one_threshold(tmp_path):
    place = save(table_of(9, 1), tmp_path)
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="people", cap=9)
    asked = ASKED | {"by": "site", "payment": hetdp.Payment(ledger)}
    first = hetdp.ask(place, **asked, at_least=2).release
    again = hetdp.ask(place, **asked, at_least_by={"Town": 2, "Harbour": 2}).release
    assert (again.repeated, again.answers) == (True, first.answers)
    other = hetdp.ask(place, **asked, at_least_by={"Town": 2, "Harbour": 3}).release
    assert not other.repeated


def test_a_plan_and_a_record_have_the_question_of_each_area(tmp_path, capsys):
    place, plan = save(table_of(9, 2), tmp_path), str(tmp_path / "plan.json")
    words = ["ask", place, "--count", "vote = 'yes'", "--person", "id", "--epsilon", "eps", "--by", "site"]
    assert main([*words, "--at-least-by", "Town=2,Harbour=60%", "--dry-run", "--plan", plan]) == 0
    shown = capsys.readouterr().out
    assert "people: in Harbour, at least 60% of all people count as yes; exactly 60% is enough; people without" in shown
    assert "; in Town, at least 2 people count as yes" in shown
    written = json.loads((tmp_path / "plan.json").read_text())["question"]["question"]
    assert written["asks"] == "by_area"
    assert sorted(written["areas"]) == ["Harbour", "Town"]
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="people", cap=9)
    payment = hetdp.Payment(ledger, record=tmp_path / "record.json", html=tmp_path / "record.html")
    hetdp.ask(place, plan=plan, payment=payment)
    verdict = hetdp.verify_record(tmp_path / "record.json", ledger=ledger, plan=plan)
    assert verdict.valid, str(verdict)
    assert [one.partition(": ")[0] for one in ledger.history()[-1].published] == ["Harbour", "Town"]
    page = (tmp_path / "record.html").read_text()
    assert "at least 2 people count as yes" in page
    assert '<th scope="row">Harbour (yes needs at least 60%)</th>' in page
    assert '<th scope="row">Town (yes needs at least 2)</th>' in page
    stated = hetdp.statement(tmp_path / "record.json")
    assert "Harbour (at least 60%)" in stated
    assert "Town (at least 2)" in stated
    assert main([*words, "--at-least-by", "Town=3,Harbour=60%", "--dry-run", "--plan", plan]) == 3
    assert "plan.json, question: differs" in capsys.readouterr().err


@for_each(
    ("given", "words"),
    [
        (
            {"at_least_by": {"Town": 2}},
            "no threshold for the area 'Harbour'; if one area has a threshold of its own, each of them has. Hint:"
            " at_least_by= or more_than_by= names every area: Harbour=…,Town=…",
        ),
        ({"at_least_by": {"Town": 2, "Harbuor": 3}}, r"'Harbuor'.*did you mean 'Harbour'"),
        ({"at_least_by": {"Town": 2, "Harbour": 3}, "by": None}, "no column of areas; .* Hint: by= names it"),
        (
            {"at_least_by": {"Town": 2, "Harbour": "x"}},
            "at_least_by='x' in 'Harbour'; it must be a whole number",
        ),
        ({"at_least_by": {}}, "at_least_by={}; it must be a mapping from each area"),
        ({"at_least_by": {"Town": 2, "Harbour": 3}, "more_than": 1}, "two thresholds"),
        ({"at_least": {"Town": 2, "Harbour": 3}}, "it must be one threshold. Hint: at_least_by= gives each area"),
        ({"at_least_by": {"Town": 2}, "question": hetdp.questions.majority("yes")}, "leave at_least_by= out"),
    ],
)
def test_an_area_without_a_threshold_and_a_threshold_without_an_area_are_refused(given, words):
    with pytest.raises(hetdp.UsageError, match=words):
        hetdp.ask(table_of(9, 1), **ASKED | {"by": "site", "dry_run": True} | given)


def test_workers_ask_each_area_its_question(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline(twice=False))
    people, folder = table_of(20, 6), tmp_path / "people"
    folder.mkdir()
    for at in range(2):
        people[at::2].to_csv(folder / f"{at}.csv", index=False)
    asked = ASKED | {"at_least_by": {"Town": 2, "Harbour": "60%"}, "by": "site", "simulate": True}
    here, there = hetdp.ask(folder, **asked), hetdp.ask(folder, **asked, workers=hetdp.Workers())
    assert (here.plan, here.simulated) == (there.plan, there.simulated)
