"""A question with the same answer for every table: this is reported, no bit is drawn, and nobody pays."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pandas
import pytest

import hetdp
from hetdp.people.populations.scores import constant_answer
from hetdp.releases import request as request_module
from hetdp.releases.record.page import page_of

Q = hetdp.questions
PEOPLE = pandas.DataFrame(
    {
        "id": range(12),
        "area": ["North"] * 9 + ["South"] * 3,
        "role": ["pupil", "staff"] * 6,
        "vote": ["yes", "no", "yes"] * 4,
    }
)
OPTIONS: dict[str, Any] = {"epsilon": 0.5, "person": "id"}
CONSTANT: dict[str, tuple[dict[str, Any], str]] = {
    "more than there are": ({"count": "vote = 'yes'", "at_least": 13}, "no"),
    "at least none": ({"count": "vote = 'yes'", "at_least": 0}, "yes"),
    "more than all": ({"count": "vote = 'yes'", "more_than": "100%"}, "no"),
    "weighted vote": ({"count": "vote = 'yes'", "at_least": 13, "design": "weighted-vote"}, "no"),
    "fair": ({"count": "vote = 'yes'", "at_least": 13, "design": "fair"}, "no"),
    "and": ({"count": "vote = 'yes'", "question": Q.count("yes", 13) & Q.majority()}, "no"),
    "or": ({"count": "vote = 'yes'", "question": Q.count("yes", 0) | Q.majority()}, "yes"),
}


def fail_if_drawn(*_: Any) -> bool:
    raise AssertionError("a random bit was asked for")


@pytest.mark.parametrize("case", CONSTANT)
def test_a_constant_answer_is_reported_everywhere_and_nobody_pays(case, tmp_path, monkeypatch):
    given, answer = CONSTANT[case]
    words = f"The answer is the same for every table: {answer}. It uses no randomness and costs no privacy."
    dry = hetdp.ask(PEOPLE, **OPTIONS, **given, dry_run=True, plan=tmp_path / "plan.json")
    assert dry.promise.splitlines()[-1] == words
    assert "would be right" not in dry.promise
    assert [one["constant"] for one in dry.plan["areas"]] == [answer]
    monkeypatch.setattr(request_module, "draw", fail_if_drawn)
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="people", cap=0)
    places: dict[str, Any] = {"record": tmp_path / "a.json", "html": tmp_path / "a.html"}
    first = hetdp.ask(
        PEOPLE, **OPTIONS, **given, payment=hetdp.Payment(ledger, **places), plan=tmp_path / "plan.json"
    ).release
    assert first.answers[0].words == answer
    entry = ledger.history()[-1]
    assert (entry.accounts, ledger.status()[0].people) == (0, 0)
    assert ledger.verify([first.receipt])
    record = first.record
    assert record["constant"] == [{"area": None, "answer": answer}]
    assert [one["used"] for one in record["privacy"]["promises"]] == ["0"]
    assert record["accuracy"] == [{"area": None, "by": "any data", "where": "for any data", "probability": "1"}]
    page = page_of(record)
    assert words in page
    assert "A little randomness" not in page
    assert "No random bit was drawn" in page
    assert "drawn with" not in page
    verdict = hetdp.verify_record(tmp_path / "a.json", ledger=ledger, plan=tmp_path / "plan.json")
    assert verdict.valid, str(verdict)
    again = hetdp.ask(PEOPLE, **OPTIONS, **given, payment=hetdp.Payment(ledger)).release
    assert again.repeated
    assert again.answers == first.answers
    assert hetdp.ask(PEOPLE, **OPTIONS, **given, simulate=True, seed=3).simulated[0].answer == answer


def test_an_area_can_have_one_answer_only_while_others_pay(tmp_path):
    given: dict[str, Any] = OPTIONS | {"count": "vote = 'yes'", "at_least": 4, "by": "area"}
    dry = hetdp.ask(PEOPLE, **given, dry_run=True)
    assert [one["constant"] for one in dry.plan["areas"]] == [None, "no"]
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="people", cap=1)
    released = hetdp.ask(PEOPLE, **given, payment=hetdp.Payment(ledger)).release
    assert ledger.history()[-1].accounts == 9
    record = released.record
    assert record["constant"] == [{"area": "South", "answer": "no"}]
    assert [one["used"] for one in record["privacy"]["promises"]] == ["0.5", "0"]
    page = page_of(record)
    assert "A little randomness" in page
    assert "South: The answer is the same for every table: no." in page


def test_each_area_is_charged_what_its_own_mechanism_can_reveal(tmp_path):
    epsilon = [0.1] * 6 + [3.0] + [0.2] * 2 + [3.0] * 3  # the one of 3 in the North hides behind eight others
    people = PEOPLE.assign(eps=epsilon)
    given: dict[str, Any] = {"count": "vote = 'yes'", "at_least": "50%", "epsilon": "eps", "person": "id", "by": "area"}
    used = [[one["used"] for one in area["charges"]] for area in hetdp.ask(people, **given, dry_run=True).plan["areas"]]
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="people", cap="3")
    record = hetdp.ask(people, **given, payment=hetdp.Payment(ledger)).release.record
    assert [[one["used"]] for one in record["privacy"]["promises"]] == used
    assert float(used[0][0]) < 0.21
    assert used[1] == ["3"]


def test_a_record_or_plan_with_another_loss_is_found(tmp_path):
    given: dict[str, Any] = OPTIONS | {"count": "vote = 'yes'", "at_least": "50%", "group": "role"}
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="people", cap=1)
    plan = tmp_path / "plan.json"
    hetdp.ask(PEOPLE, **given, dry_run=True, plan=plan)
    record = hetdp.ask(PEOPLE, **given, payment=hetdp.Payment(ledger), plan=plan).release.record
    assert hetdp.verify_record(record, ledger=ledger, plan=plan).valid
    changed = json.loads(json.dumps(record))
    changed["privacy"]["promises"][0]["used"] = "0.1"
    found = hetdp.verify_record(changed, ledger=ledger, plan=plan)
    assert {check.name for check in found.checks if not check.passed} == {"record", "ledger", "promises"}


@pytest.mark.parametrize("answer", [1, 2])
def test_a_mechanism_with_a_constant_answer_costs_nothing(answer, tmp_path, monkeypatch):
    monkeypatch.setattr(request_module, "draw", fail_if_drawn)
    graph = hetdp.DatasetGraph.from_edges("ab", "bc", [0.5, 0.3], classes=["x", "y"])
    mechanism = hetdp.design(hetdp.Problem(graph, [answer] * 3))
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="people", cap=0)
    released = hetdp.release(mechanism, "b", ledger=ledger)
    assert released.answer == answer
    assert ledger.history()[-1].accounts == 0
    assert [one["used"] for one in released.record["composition"]["charged"]] == ["0", "0"]
    assert f"The answer is the same for every dataset: {answer}." in released.html()
    verdict = hetdp.verify_record(released.record, ledger=ledger, problem=mechanism.problem, mechanism=mechanism)
    assert verdict.valid, str(verdict)
    assert hetdp.release(mechanism, "a", ledger=ledger).repeated


def test_equal_values_that_are_random_cost_nothing_and_are_drawn(tmp_path):
    graph = hetdp.DatasetGraph.from_edges("ab", "bc", [0.5, 0.3])
    mechanism = hetdp.extend(hetdp.Problem(graph, [1, 1, 1]), dict.fromkeys("abc", 0.75))
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="people", cap=0)
    record = hetdp.release(mechanism, "b", ledger=ledger).record
    assert record["constant"] == []
    assert record["composition"]["charged"][0]["used"] == "0"


LARGE: list[dict[str, Any]] = [
    {"question": Q.count("yes", 10**6) & Q.majority()},
    {"at_least": 10**6, "design": "fair"},
]


@pytest.mark.parametrize("given", LARGE)
def test_a_constant_question_needs_no_tallies_however_many_people_there_are(given):
    people = pandas.DataFrame({"id": range(5000), "eps": [at / 1000 for at in range(5000)], "vote": ["yes"] * 5000})
    result = hetdp.ask(people, "vote = 'yes'", epsilon="eps", person="id", **given, dry_run=True)
    assert [one["constant"] for one in result.plan["areas"]] == ["no"]


def test_constant_parts_of_a_question_are_recognised():
    sizes, values = {"a": 2, "b": 3}, ("yes", "no")
    parts = [
        Q.count("yes", 0),
        Q.count("yes", 6),
        Q.count("yes", 3, "b"),
        Q.count("yes", 4, "b"),
        Q.majority(group="a"),
    ]
    decided = 0
    for one, other, third in itertools.product(parts, repeat=3):
        for question in ((one & other) | ~third, ~(one | other) & third):
            found = constant_answer(question, list(sizes), np.array(list(sizes.values())), values)
            answers = {
                bool(question.holds({"a": {"yes": a, "no": 2 - a}, "b": {"yes": b, "no": 3 - b}}, sizes))
                for a, b in itertools.product(range(3), range(4))
            }
            assert not found or answers == {found == 1}, question
            decided += found > 0
    assert decided > 20
