"""Two sites with a threshold each: a table of any size is asked by formula, however it is read and worded."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas
import pytest

import hetdp
from hetdp.partitioned import workspace
from hetdp.people.products.tallied import tally_people
from tests.partitioned.inline import Inline
from tests.tables.folders import random_people, write_parts

Q = hetdp.questions
TOWN, HARBOUR = Q.count("yes", 30, "Town"), Q.share("yes", "50%", group="Harbour")


def table_of(town: int, harbour: int, seed: int = 1) -> pandas.DataFrame:
    rng, size = np.random.default_rng(seed), town + harbour
    columns = {"id": range(size), "site": ["Town"] * town + ["Harbour"] * harbour}
    return pandas.DataFrame(
        columns | {"eps": rng.choice([0.1, 0.5, 1.0], size), "vote": rng.choice(["yes", "no"], size)}
    )


def ask(table: Any, question: hetdp.questions.Question, **more: Any) -> hetdp.AskResult:
    given: dict[str, Any] = {"epsilon": "eps", "person": "id", "group": "site", "dry_run": True} | more
    return hetdp.ask(table, "vote = 'yes'", question=question, **given)


def test_two_sites_with_three_levels_of_protection_are_answered_by_formula():
    asked = ask(table_of(115, 116), TOWN & HARBOUR)
    (promise,) = asked.promises
    assert promise.mechanism.certificate.method == "theorem"
    assert "mechanism" not in asked.plan["areas"][0]
    assert [(one.group, one.people) for one in promise.protections] == [("Harbour", 116), ("Town", 115)]
    with pytest.raises(hetdp.UsageError, match="design='balanced' needs none, and works for any number of people"):
        ask(table_of(115, 116), TOWN & HARBOUR, design="fair")
    with pytest.raises(hetdp.UsageError, match="design='balanced' answers it"):
        ask(table_of(115, 116), TOWN & HARBOUR, design="weighted-vote")


def test_the_formula_promises_what_the_tallies_do():
    table = table_of(4, 4)
    question = Q.count("yes", 2, "Town") | Q.share("yes", "75%", group="Harbour")
    (promise,) = ask(table, question, deciding_epsilon=0.3).promises
    tallied = tally_people(question, table["eps"].to_numpy(), groups=table["site"].to_numpy(), deciding=0.3)
    expected = tallied.design("balanced")
    for answers in itertools.product((0, 1), repeat=8):
        found = promise.mechanism.coordinate(np.array(answers))
        assert found == pytest.approx(expected.coordinate(answers), abs=4 * 2**-40)  # units of the grid
    errors = [(margin, pytest.approx(wrong, abs=1e-11)) for margin, _, wrong in promise.accuracy]
    assert [(row.margin, row.error) for row in expected.accuracy_by_margin()] == errors
    assert (promise.mechanism.losses >= expected.losses - 1e-9).all()


@pytest.mark.parametrize(
    "same",
    [
        HARBOUR & TOWN,
        ~(~HARBOUR | ~TOWN),
        TOWN & HARBOUR & Q.count("yes", 2, "Town"),
        TOWN & Q.count("yes", 58, "Harbour"),
    ],
    ids=str,
)
def test_the_same_question_in_other_words_is_asked_and_paid_once(same, tmp_path):
    table, ledger = table_of(115, 116), hetdp.Ledger.create(tmp_path / "a.ledger", source="staff", cap=1)
    paid: dict[str, Any] = {"payment": hetdp.Payment(ledger), "dry_run": False}
    first, again = (ask(table, question, **paid).release for question in (TOWN & HARBOUR, same))
    assert (first.repeated, again.repeated) == (False, True)
    assert [one.words for one in first.answers] == [one.words for one in again.answers]
    other = ask(table, TOWN | HARBOUR).plan["request_sha256"]
    assert other != ask(table, TOWN & HARBOUR).plan["request_sha256"]


def test_a_site_that_cannot_reach_its_threshold_decides_without_randomness():
    (promise,) = ask(table_of(20, 50), TOWN & HARBOUR).promises
    assert promise.constant == "no"
    (promise,) = ask(table_of(20, 50), TOWN | HARBOUR).promises
    assert promise.constant is None
    assert {one.group: one.used for one in promise.protections}["Town"] == 0.0


def test_workers_answer_it_as_one_machine_does(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline(twice=False))
    folder = write_parts(random_people(2), tmp_path / "people", [150])
    question = Q.majority(group="pupil") | Q.count("yes", 20, ["staff", "guest"])
    for way in ({}, {"by": "county"}, {"deciding_epsilon": "dec"}):
        given = {"group": "role", "simulate": True, "dry_run": False, **way}
        here, there = (ask(folder, question, **given, **more) for more in ({}, {"workers": hetdp.Workers()}))
        assert (here.plan, here.promise, here.simulated) == (there.plan, there.promise, there.simulated)
        assert all(one.mechanism.certificate.method == "theorem" for one in there.promises)


def test_a_release_of_two_sites_has_a_record_that_agrees_with_its_plan(tmp_path):
    table = tmp_path / "staff.csv"
    table_of(115, 116).to_csv(table, index=False)
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="staff", cap=1)
    ask(table, TOWN & HARBOUR, plan=tmp_path / "plan.json")
    payment = hetdp.Payment(ledger, record=tmp_path / "record.json")
    hetdp.ask(table, plan=tmp_path / "plan.json", payment=payment)
    assert hetdp.verify_record(tmp_path / "record.json", ledger=ledger, plan=tmp_path / "plan.json").valid
