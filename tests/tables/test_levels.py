"""A column of levels of protection beside a column of groups."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pandas
import pytest

import hetdp
from hetdp import questions
from hetdp.cli.main import main
from hetdp.partitioned import workspace
from tests.loops import for_each
from tests.partitioned.inline import Inline

EPSILONS = {"open": 2, "usual": 0.5, "strict": 0.1}
ASKED: dict[str, Any] = {"count": "vote = 'yes'", "person": "id"}
BOTH_SITES = questions.count("yes", at_least=3, group="Town") & questions.count("yes", at_least=2, group="Harbour")


def table_of(size: int, seed: int) -> pandas.DataFrame:
    chance = random.Random(seed)
    level = [*EPSILONS, *chance.choices(list(EPSILONS), k=size - 3)]
    site = ["Town", "Harbour", "Town", *chance.choices(["Town", "Harbour"], k=size - 3)]
    vote = chance.choices(["yes", "no", None], k=size)
    frame = {"id": [f"p{at}" for at in range(size)], "level": level, "site": site, "vote": vote}
    return pandas.DataFrame(frame | {"eps": [EPSILONS[one] for one in level]}).astype({"vote": "string"})


@for_each("seed", range(4))
@for_each("asked", [{"at_least": "50%"}, {"question": BOTH_SITES, "group": "site"}])
@for_each("deciding", [{}, {"deciding_epsilon": 0.05}])
def test_an_epsilon_by_level_is_the_same_as_a_column_of_epsilon(asked, deciding, seed):
    """Everybody's ε written into a column is the brute force of an ε by level."""
    people = table_of(12, seed)
    by_level = hetdp.ask(
        people, **ASKED, **asked, **deciding, level="level", epsilon_by=EPSILONS, simulate=True, seed=seed
    )
    by_column = hetdp.ask(people, **ASKED, **asked, **deciding, epsilon="eps", simulate=True, seed=seed)
    assert by_level.simulated == by_column.simulated
    for one, other in zip(by_level.promises, by_column.promises, strict=True):
        assert one.accuracy == other.accuracy
        assert one.mechanism.loss_of_each().tolist() == other.mechanism.loss_of_each().tolist()


def test_a_deciding_epsilon_by_level_is_the_same_as_a_column_of_it():
    people = table_of(12, 7)
    people["small"] = [0.2 if level == "open" else 99.0 for level in people["level"]]
    asked = ASKED | {"at_least": 4, "epsilon": "eps", "level": "level", "dry_run": True}
    by_level = hetdp.ask(people, **asked, deciding_epsilon_by={"open": 0.2})
    by_column = hetdp.ask(people, **asked, deciding_epsilon="small")
    assert [one.accuracy for one in by_level.promises] == [one.accuracy for one in by_column.promises]
    losses = [one.promises[0].mechanism.loss_of_each().tolist() for one in (by_level, by_column)]
    assert losses[0] == losses[1]
    with pytest.raises(hetdp.UsageError, match=r"'opne'.*did you mean 'open'"):
        hetdp.ask(people, **asked, deciding_epsilon_by={"opne": 0.2})


def test_the_promise_speaks_of_levels_and_of_groups_if_there_are_some():
    people, asked = table_of(20, 1), ASKED | {"at_least": "50%", "level": "level", "dry_run": True}
    size = int((people["level"] == "open").sum())
    alone = hetdp.ask(people, **asked, epsilon_by=EPSILONS)
    assert f"protected: {size} people of 'open': up to ε = 2 allowed" in alone.promise
    grouped = hetdp.ask(people, **asked, epsilon_by=EPSILONS, group="site")
    assert "people of 'Town': ε from 0.1 to 2 allowed" in grouped.promise
    assert "'open'" not in grouped.promise
    absent = hetdp.ask(people, **asked, epsilon_by=EPSILONS | {"nobody": 1})
    assert "levels that are promised an ε but have no people: 'nobody'" in absent.promise


@for_each(
    ("given", "words"),
    [
        ({"epsilon_by": {"open": 1, "usual": 1}}, "level: a level without an ε; each person must have an ε"),
        ({"epsilon_by": EPSILONS, "level": "levle"}, "no column 'levle'; .* Hint: did you mean 'level'"),
        ({"epsilon_by": EPSILONS, "level": "vote"}, "the column 'vote' is counted and used as a public column"),
        ({"epsilon_by": EPSILONS, "level": "eps"}, "eps: a column of type DOUBLE; a column of levels holds"),
        ({"epsilon_by": EPSILONS, "level": None}, "but no column of groups; .* Hint: level= or group= names it"),
        ({"epsilon": 1, "question": BOTH_SITES, "at_least": None}, "names groups; .* Hint: group= names it"),
    ],
)
def test_wrong_levels_are_refused(given, words):
    with pytest.raises((hetdp.UsageError, hetdp.InputError), match=words):
        hetdp.ask(table_of(9, 1), **ASKED | {"at_least": "50%", "level": "level", "dry_run": True} | given)


def test_a_level_that_is_the_group_changes_nothing(tmp_path):
    people, asked = table_of(9, 2), ASKED | {"at_least": 3, "epsilon_by": EPSILONS, "dry_run": True}
    plans = [
        hetdp.ask(people, **asked, **named, plan=tmp_path / f"{at}.json").plan
        for at, named in enumerate(({"group": "level"}, {"group": "level", "level": "level"}, {"level": "level"}))
    ]
    assert plans[0] == plans[1]
    assert plans[0]["request_sha256"] == plans[2]["request_sha256"]  # the same question, in other words


def test_a_plan_holds_for_the_levels_that_were_approved(tmp_path, capsys):
    people = table_of(9, 3)
    people.to_csv(tmp_path / "people.csv", index=False)
    words = ["ask", str(tmp_path / "people.csv"), "--plan", str(tmp_path / "plan.json")]
    asked = ["--count", "vote = 'yes'", "--at-least", "50%", "--person", "id", "--group", "site", "--level", "level"]
    assert main([*words, *asked, "--epsilon-by", "open=2,usual=0.5,strict=0.1", "--dry-run"]) == 0
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert (plan["columns"]["level"], plan["columns"]["group"]) == ("level", "site")
    assert main([*words, "--simulate", "-q"]) == 0
    people.loc[[0, 1], "level"] = people.loc[[1, 0], "level"].to_numpy()  # two people exchange their levels
    people.to_csv(tmp_path / "people.csv", index=False)
    assert main([*words, "--simulate", "-q"]) == 3
    assert "differs" in capsys.readouterr().err


def test_caps_for_classes_are_caps_for_levels(tmp_path):
    people = table_of(12, 4)
    people.to_csv(tmp_path / "people.csv", index=False)
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="people", cap=0, caps=EPSILONS)
    asked = ASKED | {"at_least": "50%", "epsilon_by": EPSILONS, "payment": hetdp.Payment(ledger)}
    released = hetdp.ask(tmp_path / "people.csv", **asked, level="level", group="site")
    assert released.release.answers[0].words in ("yes", "no")
    again = hetdp.ask(tmp_path / "people.csv", **asked, group="level")  # the same question
    assert (again.release.repeated, again.release.answers) == (True, released.release.answers)
    record = released.release.record
    assert hetdp.verify_record(record, ledger=ledger).valid


def test_a_record_with_levels_agrees_with_its_plan(tmp_path):
    table_of(12, 5).to_csv(tmp_path / "people.csv", index=False)
    for named in ({"level": "level"}, {"level": "level", "group": "site"}):
        place = tmp_path / str(len(named))
        place.mkdir()
        asked = ASKED | named | {"at_least": "50%", "epsilon_by": EPSILONS}
        hetdp.ask(tmp_path / "people.csv", **asked, dry_run=True, plan=place / "plan.json")
        ledger = hetdp.Ledger.create(place / "a.ledger", source="people", cap=9)
        payment = hetdp.Payment(ledger, record=place / "record.json")
        hetdp.ask(tmp_path / "people.csv", plan=place / "plan.json", payment=payment)
        verdict = hetdp.verify_record(place / "record.json", ledger=ledger, plan=place / "plan.json")
        assert verdict.valid, str(verdict)


def write_folder(people: pandas.DataFrame, place: Path) -> Path:
    place.mkdir()
    for at in range(3):
        people[at::3].to_csv(place / f"{at}.csv", index=False)
    return place


def test_workers_know_levels(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline(twice=False))
    folder = write_folder(table_of(30, 6), tmp_path / "people")
    asked = ASKED | {"question": BOTH_SITES, "group": "site", "level": "level", "epsilon_by": EPSILONS}
    plans, answers = [], []
    for options in ({}, {"workers": hetdp.Workers()}):
        plans.append(hetdp.ask(folder, **asked, **options, dry_run=True).plan)
        answers.append(hetdp.ask(folder, **asked, **options, simulate=True, seed=5).simulated)
    assert plans[0] == plans[1]
    assert answers[0] == answers[1]
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="people", cap=0, caps=EPSILONS)
    one, other = (
        hetdp.ask(folder, **asked, **options, payment=hetdp.Payment(ledger)).release
        for options in ({"workers": hetdp.Workers()}, {})
    )
    assert (other.repeated, other.answers) == (True, one.answers)


def test_several_questions_share_the_levels():
    asked = {"person": "id", "level": "level", "epsilon_by": {"open": 1, "usual": 0.5, "strict": 0.1}, "dry_run": True}
    two = [{"count": "vote = 'yes'", "at_least": 3}, {"count": "vote = 'no'", "at_least": "50%", "by": "site"}]
    found = hetdp.ask(table_of(20, 1), questions=two, **asked)
    assert "people of 'open': at most" in found.promise
    with pytest.raises(hetdp.UsageError, match="level= is the same for all questions"):
        hetdp.ask(table_of(20, 1), questions=[two[0] | {"level": "level"}, two[1]], **asked)


def test_a_cap_for_a_level_that_the_table_spells_differently_is_refused_before_the_first_charge(tmp_path, capsys):
    people = pandas.DataFrame(
        {"id": range(40), "level": ["geschützt", "normal"] * 20, "vote": ["yes", "yes", "no", "yes"] * 10}
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    question = {
        "count": "vote = 'yes'",
        "person": "id",
        "level": "level",
        "epsilon_by": {"geschützt": "0.1", "normal": "0.3"},
    }
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="mistyped", cap=2, caps={"geschuetzt": "0.5"})
    ledger.declare("right", cap=2, caps={"geschützt": "0.5"})
    ledger.declare("more", cap=2, caps={"geschützt": "0.5", "normal": 2, "guests": 1})
    words = r"'mistyped' has a cap for 'geschuetzt', but these people are of 'geschützt', 'normal'; .*Hint: nothing was"
    for more in ({}, {"dry_run": True}):
        with pytest.raises(hetdp.UsageError, match=words):
            hetdp.ask(people, **question, at_least="50%", payment=hetdp.Payment(ledger, "mistyped"), **more)
    options = ["--at-least", "50%", "--count", "vote = 'yes'", "--person", "id", "--level", "level"]
    options += ["--epsilon-by", "geschützt=0.1,normal=0.3", "--ledger", str(tmp_path / "a.ledger")]
    assert main(["ask", str(tmp_path / "people.csv"), *options, "--source", "mistyped"]) == 2
    assert "has a cap for 'geschuetzt'" in capsys.readouterr().err
    assert ledger.status("mistyped")[0].people == 0
    for at_least, source in enumerate(
        ("right", "more"), 10
    ):  # a cap that nobody needs yet is harmless if all others have one
        assert hetdp.ask(people, **question, at_least=at_least, payment=hetdp.Payment(ledger, source)).released
    nobody_protected = people.assign(level="normal")
    later = question | {"epsilon_by": {"normal": "0.3"}}
    assert hetdp.ask(nobody_protected, **later, at_least=12, payment=hetdp.Payment(ledger, "right", "2")).released
