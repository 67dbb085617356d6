"""Several questions to one table: one plan, one price, all released or none, one record and one page."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import hetdp
from hetdp.partitioned import workspace
from hetdp.partitioned.tables import PartitionedTable
from hetdp.releases import other_ledgers
from hetdp.releases import release as releases
from hetdp.releases.record.document import digest_of
from hetdp.tables import people_table
from hetdp.tables import plan as plans
from hetdp.tables import release as table_release
from hetdp.tables.bundle import JointPromise
from hetdp.tables.preparation import prepare_all, read_coordinates
from hetdp.tables.request import build_request, plain_words
from hetdp.tables.sources import QueriedSource, open_source
from hetdp.theory.coordinate import LAPLACE
from tests.documents.pages import ROOT
from tests.loops import for_each
from tests.partitioned.inline import Inline
from tests.tables.folders import write_parts

PEOPLE: dict[str, list[Any]] = {
    "id": [1, 2, 3, 4, 5, 6, 7],
    "county": ["North", "North", "North", "South", "South", "South", "South"],
    "role": ["pupil", "pupil", "staff", "staff", "pupil", "staff", "guest"],
    "eps": [0.3, 0.3, 1.0, 1.0, 0.3, 1.0, 2.0],
    "vote": ["yes", "no", "yes", None, "yes", "maybe", "yes"],
    "dogs": ["free", "free", "lead", "free", "lead", "free", None],
}
MOVE = {"title": "Shall the canteen move?", "count": "vote = 'yes'", "at_least": "50%"}
DOGS = {
    "title": "May dogs run free?",
    "count": "dogs = 'free'",
    "more_than": 3,
    "yes": "They may",
    "no": "They may not",
}
LOCAL_DOGS = DOGS | {"by": "county", "epsilon": 0.5, "more_than": 1}
SHARED: dict[str, Any] = {"person": "id", "epsilon": "eps"}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    pandas.DataFrame(PEOPLE).to_csv(tmp_path / "survey.csv", index=False)
    return tmp_path / "survey.csv"


@pytest.fixture
def ledger(tmp_path: Path) -> hetdp.Ledger:
    return hetdp.Ledger.create(tmp_path / "a.ledger", source="survey", cap=4)


def ask(table: Any, *questions: dict[str, Any], **given: Any) -> hetdp.AskResult:
    how = {} if "payment" in given or "simulate" in given else {"dry_run": True}
    return hetdp.ask(table, questions=questions, **SHARED | how | given)


def test_the_promise_of_one_listed_question_speaks_of_one(table: Any) -> None:
    assert ask(table, MOVE).promise.splitlines()[0] == "1 question"
    assert ask(table, MOVE, DOGS).promise.splitlines()[0] == "2 questions: all of them are answered, or none"


# What all answers together can reveal ---------------------------------------------------------------------------------


COLUMNS = ("a", "b")
CONDITIONS = ("a = 'yes'", "b = 'yes'", "a = 'yes' AND b = 'yes'", "a = 'yes' OR b = 'no'")
TRUTH = {
    CONDITIONS[0]: lambda a, b: a,
    CONDITIONS[1]: lambda a, b: b,
    CONDITIONS[2]: lambda a, b: a and b,
    CONDITIONS[3]: lambda a, b: a or not b,
}
ROWS = list(product([False, True], repeat=2))


def joint_log_probabilities(asked: hetdp.AskResult, questions: list[Any], areas: list[str]) -> np.ndarray[Any, Any]:
    """For every table, in the order of `product`, the logarithm of the probability of each combination of answers."""
    tables = list(product(ROWS, repeat=len(areas)))
    answers = []  # of each published answer, the probabilities of yes and no at every table
    for question, body in zip(asked.questions, questions, strict=True):
        for promise in question.promises:
            inside = [at for at, area in enumerate(areas) if promise.area in (None, area)]
            holds = TRUTH[body["count"]]
            z = [
                promise.mechanism.coordinate(np.array([0 if holds(*rows[at]) else 1 for at in inside], np.uint8))
                for rows in tables
            ]
            answers.append(np.array([LAPLACE.probability(np.array(z)), LAPLACE.probability(-np.array(z))]))
    found = [np.log(np.prod([answers[at][bit] for at, bit in enumerate(bits)], axis=0)) for bits in ways(len(answers))]
    return np.array(found).T


def ways(count: int) -> list[tuple[int, ...]]:
    return list(product([0, 1], repeat=count))


@for_each("people", [1, 2, 3, 4, 5])
@for_each("seed", [0, 1])
def test_no_combination_of_answers_changes_by_more_than_the_sum_over_all_small_tables(people, seed):
    chance = random.Random(10 * people + seed)
    areas = [chance.choice("xy") for _ in range(people)]
    columns = {
        "id": list(range(people)),
        "who": [f"person {at}" for at in range(people)],  # groups of one, so that everybody's sum is stated
        "area": areas,
        "eps": [chance.choice([0.2, 0.5, 1.0, 1.5]) for _ in range(people)],
        **{name: ["yes"] * people for name in COLUMNS},
    }
    questions = [  # one column is counted in several questions
        {"count": CONDITIONS[0], "at_least": chance.randint(1, people)},
        {"count": chance.choice(CONDITIONS[1:]), "at_least": chance.choice(["1/3", "60%"]), "epsilon": "0.7"},
        {"count": CONDITIONS[2 + seed], "more_than": "50%", "by": "area"},
    ]
    asked = hetdp.ask(
        pandas.DataFrame(columns), questions=questions, person="id", group="who", epsilon="eps", dry_run=True
    )
    log = joint_log_probabilities(asked, questions, areas)
    assert np.allclose(np.exp(log).sum(axis=1), 1)
    charged = {one.group: float(one.used) for one in asked.together}
    shape = (len(ROWS),) * people
    for person in range(people):
        rows = np.moveaxis(log.reshape(*shape, -1), person, 0)  # neighbours: one person's whole row changes
        largest = max(np.abs(rows[one] - rows[other]).max() for one in range(4) for other in range(one))
        assert largest <= charged[f"person {person}"] + 1e-9


def test_the_sum_is_attained_if_each_question_counts_another_column():
    columns = {"id": [1, 2, 3], "who": ["a", "b", "c"], "eps": [0.3, 0.8, 0.8]} | {name: ["no"] * 3 for name in "ab"}
    questions = [{"count": condition, "at_least": 2} for condition in CONDITIONS[:2]]
    asked = ask(pandas.DataFrame(columns), *questions, group="who")
    log = joint_log_probabilities(asked, questions, ["x"] * 3).reshape(4, 4, 4, -1)
    for person, promise in enumerate(asked.together):
        rows = np.moveaxis(log, person, 0)
        largest = max(np.abs(rows[one] - rows[other]).max() for one in range(4) for other in range(one))
        assert abs(largest - float(promise.used)) < 1e-8


def test_each_sentence_about_one_answer_stays_true_and_the_last_one_is_about_all(table):
    asked = ask(table, MOVE, DOGS, group="role")
    alone = [hetdp.ask(table, **one, **SHARED, group="role", dry_run=True) for one in (MOVE, DOGS)]
    for question, own in zip(asked.questions, alone, strict=True):
        assert [one.protections for one in question.promises] == [one.protections for one in own.promises]
    assert [(one.group, one.people, one.used) for one in asked.together] == [
        ("guest", 1, "1.517812888"),
        ("pupil", 3, "0.6"),
        ("staff", 3, "1.517812888"),
    ]
    words = asked.promise.splitlines()
    assert words[-4] == "  3 people of 'pupil': at most 0.6 charged"
    assert "becomes at most 1.83 times more or less likely" in words[-3]
    assert math.exp(0.6) <= 1.83 < math.exp(0.6) + 0.01


def test_the_sums_are_stated_by_level_of_protection(table, ledger):
    by_role = {"pupil": "0.3", "staff": 1, "guest": 2}
    given = {"person": "id", "level": "role", "epsilon_by": by_role, "payment": hetdp.Payment(ledger)}
    for more in ({}, {"group": "county"}):
        asked = hetdp.ask(table, questions=[MOVE, DOGS], **given | more, dry_run=True)
        assert [(one.group, one.used) for one in asked.together] == [
            ("guest", "1.517812888"),
            ("pupil", "0.6"),
            ("staff", "1.517812888"),
        ]
        assert asked.price is not None
        assert [(one.name, one.charged) for one in asked.price.classes] == [
            (one.group, one.used) for one in asked.together
        ]
    with pytest.raises(hetdp.UsageError, match="level= is the same for all questions"):
        hetdp.ask(table, questions=[MOVE | {"level": "county"}], **given, dry_run=True)


def test_in_areas_everybody_pays_for_their_own_area_only(table, ledger):
    asked = ask(table, MOVE, LOCAL_DOGS, payment=hetdp.Payment(ledger))
    alone = [hetdp.ask(table, **SHARED | one, dry_run=True) for one in (MOVE, LOCAL_DOGS)]
    assert [promise.area for promise in asked.promises] == [None, "North", "South"]
    assert [promise.area for one in alone for promise in one.promises] == [None, "North", "South"]
    status = ledger.status()[0]
    assert asked.together[0].used == status.most_spent == "1.258906444"
    assert [ledger.person(person).spent for person in (1, 7)] == ["0.8", "1.258906444"]


@pytest.mark.parametrize(
    ("used", "words"),
    [
        ("0", "Whatever you answer, every combination of the published answers is just as likely."),
        ("inf", "No promise is made: all published answers together may reveal your answer."),
        ("0.5", "becomes at most 1.65 times more or less likely. Somebody who knows everybody else"),
        ("20", "can become nearly 100% sure of it from all published answers together."),
    ],
)
def test_the_sum_is_put_into_words(used, words):
    found = JointPromise(None, 3, used).odds
    assert words in found
    assert ("times" in found) == (used == "0.5")


# What is asked --------------------------------------------------------------------------------------------------------


def test_what_is_given_once_holds_for_every_question_that_does_not_say_otherwise(table):
    asked = ask(
        table,
        MOVE,
        {"count": "dogs = 'free'", "question": {"asks": "majority", "value": "no"}, "design": "weighted-vote"},
        {"title": "Any?", "more_than": 0, "by": None, "epsilon_by": {"pupil": "0.1", "staff": 1, "guest": 1}},
        count="vote = 'no'",
        at_least="1/3",
        by="county",
        group="role",
        design="fair",
        title="All of it",
        yes="Ja",
    )
    plans = asked.plan["questions"]
    assert asked.plan["about"] == {"title": "All of it"}
    assert [one["counted"] for one in plans] == ["vote = 'yes'", "dogs = 'free'", "vote = 'no'"]
    assert [one["objective"] for one in plans] == ["fair", "weighted-vote", "fair"]
    assert [one["columns"]["area"] for one in plans] == ["county"] * 3
    assert [one["columns"]["epsilon"] for one in plans] == ["eps", "eps", None]
    assert [one.get("about", {}).get("title") for one in plans] == [MOVE["title"], None, "Any?"]
    assert {one["about"]["answer_1"] for one in plans} == {"Ja"}
    assert [one.name for one in asked.questions][:2] == [
        MOVE["title"],
        f"for each county, about its own people: {plain_words(str(hetdp.questions.majority('no')))}",
    ]


def test_one_epsilon_of_a_question_never_protects_a_level_less_than_the_epsilon_by_level(table):
    shared = {"group": "role", "epsilon": None, "epsilon_by": {"pupil": "0.02", "staff": "0.2", "guest": 1}}
    words = (
        "question 2 ('May dogs run free?'): epsilon=0.05 for everybody; epsilon_by= protects 'pupil' (0.02) more, and"
        " one number for a question is at least as strict. Hint: give the question epsilon_by, with a number for each"
        " level, or leave epsilon out"
    )
    with pytest.raises(hetdp.UsageError) as refused:
        ask(table, MOVE, DOGS | {"epsilon": 0.05}, **shared)
    assert str(refused.value) == words
    deciding = {"deciding_epsilon_by": {"pupil": "0.01"}}
    refused_too = r"deciding_epsilon=0\.02 .* deciding_epsilon_by= protects 'pupil' \(0\.01\)"
    with pytest.raises(hetdp.UsageError, match=refused_too):
        ask(table, MOVE, DOGS | {"deciding_epsilon": "0.02"}, **shared, **deciding)
    asked = ask(
        table, MOVE | {"epsilon": "0.02"}, DOGS | {"epsilon_by": dict.fromkeys(PEOPLE["role"], "0.1")}, **shared
    )
    sources = [[*one["privacy"]["epsilon"]] for one in asked.plan["questions"]]
    assert sources == [["constant"], ["by_group"]]


def test_the_promise_says_where_one_epsilon_replaces_the_column_of_everybodys_own(table):
    note = (
        "  note: here ε = 0.5 replaces the column eps; whoever has a smaller ε there is protected less in this question"
    )
    assert ask(table, MOVE, LOCAL_DOGS).promise.splitlines().count(note) == 1
    assert "note:" not in ask(table, MOVE, DOGS).promise
    assert "note:" not in ask(table, MOVE, DOGS | {"epsilon": 0.5}, epsilon="1").promise


FILES = {
    "questions.toml": """
        schema_version = 1
        kind = "questions"
        [[questions]]
        title = "Shall the canteen move?"
        count = "vote = 'yes'"
        at_least = "50%"
        [[questions]]
        count = "dogs = 'free'"
        epsilon = 0.5
        question = {asks = "count", value = "yes", at_least = 4}
    """,
    "questions.json": json.dumps(
        {
            "schema_version": 1,
            "kind": "questions",
            "questions": [
                MOVE,
                {
                    "count": "dogs = 'free'",
                    "epsilon": 0.5,
                    "question": {"asks": "count", "value": "yes", "at_least": 4},
                },
            ],
        }
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_questions_are_read_from_a_file(name, table, tmp_path):
    (tmp_path / name).write_text(FILES[name])
    four = hetdp.questions.count("yes", at_least=4)
    expected = ask(table, MOVE, {"count": "dogs = 'free'", "epsilon": "0.5", "question": four})
    for given in (tmp_path / name, str(tmp_path / name)):
        assert hetdp.ask(table, questions=given, **SHARED, dry_run=True).plan == expected.plan


@pytest.mark.parametrize(
    ("questions", "words"),
    [
        ([], r"questions=\[\]; it is a list"),
        (7, "questions=7; it is a list with one mapping for each question"),
        ([MOVE, 7], "question 2 is 7; questions= is a list with one mapping"),
        ([MOVE, DOGS | {"at_leest": 3}], r"question 2 \('May dogs run free\?'\) has the key 'at_leest'.*'at_least'"),
        (
            [MOVE, DOGS | {"at_most": 3}],
            r"has the key 'at_most'.*Hint: ask for 'more_than' instead: its no is your yes",
        ),
        ([MOVE | {"person": "eps"}], "question 1 .* has the key 'person'; person= is the same for all questions"),
        ([MOVE | {"group": "role"}], "question 1 .* has the key 'group'; group= is the same for all questions"),
        ([MOVE, {"at_least": 3}], "question 2: count= is missing"),
        ([MOVE, DOGS | {"at_least": 3}], r"question 2 \('May dogs run free\?'\): two thresholds"),
        ([MOVE, {"count": "dogs = 'free'"}], "question 2: no threshold"),
        ([MOVE, {"count": 7, "at_least": 3}], "question 2: count=7; it must be a text"),
        ([MOVE, {"count": "dogs ~ 3", "at_least": 3}], "question 2: "),
        ([MOVE, {"count": "cats = 'free'", "at_least": 3}], "question 2: .*'cats'"),
        ([MOVE, {"count": "dogs > 'free'", "at_least": 3}], "question 2: the column 'dogs' is compared by >"),
        ([MOVE, DOGS | {"by": "town"}], r"question 2 \('May dogs run free\?'\): .*'town'"),
        ([MOVE, DOGS | {"yes": "no"}], r"question 2 \('May dogs run free\?'\): yes='no'"),
        ([MOVE | {"title": 7}], "question 1: title=7; it must be a text"),
        ([MOVE | {"epsilon": -1}], r"question 1 \('Shall the canteen move\?'\): epsilon=-1"),
        ([MOVE | {"exact_text": "true"}], r"question 1 \('Shall the canteen move\?'\): exact_text is 'true'"),
        ([MOVE | {"design": "fare"}], r"question 1 \('Shall the canteen move\?'\): unknown design 'fare'.*fair"),
        ([{"count": "vote = 'yes'", "question": "other.toml"}], "question 1: question='other.toml'; .* written out"),
        ([{"count": "vote = 'yes'", "question": {"asks": "cuont"}}], "question 1: question: not a question"),
        (
            [MOVE, DOGS, {"count": "vote IN ('Yes')", "at_least": 4}],
            "question 1 .* and question 3 are the same",
        ),
    ],
)
def test_questions_that_cannot_be_asked_are_named_by_number_and_title(questions, words, table):
    with pytest.raises((hetdp.UsageError, hetdp.InputError), match=words):
        hetdp.ask(table, questions=questions, **SHARED, dry_run=True)


def test_the_same_question_may_be_asked_with_another_epsilon(table):
    assert len(ask(table, MOVE, MOVE | {"epsilon": 0.1}).questions) == 2


# The plan -------------------------------------------------------------------------------------------------------------


def test_one_plan_is_approved_for_all_questions_and_carried_out_exactly(table, tmp_path):
    plan = tmp_path / "plan.json"
    written = ask(table, MOVE, DOGS, plan=plan, title="Survey")
    assert json.loads(plan.read_text()) == written.plan
    assert written.plan_file == f"wrote {plan}, sha256 {written.digest}"
    for again in (
        hetdp.ask(table, plan=plan, dry_run=True),
        ask(table, MOVE, DOGS, plan=plan, title="Survey"),
        hetdp.ask(table, plan=plan, simulate=True),
    ):
        assert again.plan == written.plan
        assert "this is exactly the plan" in again.plan_file


def test_a_plan_that_differs_is_refused_with_the_place(table, tmp_path):
    ask(table, MOVE, DOGS, plan=tmp_path / "plan.json", title="Survey")
    differing: list[tuple[Any, Any, str]] = [
        ((MOVE,), {}, "number of questions: differs: approved 2, now 1"),
        ((MOVE, LOCAL_DOGS), {}, 'question 2, question: differs: approved "at least 4'),
        ((MOVE, DOGS | {"title": "Dogs?"}), {}, 'question 2, about.title: differs: approved "May dogs'),
        ((MOVE, DOGS), {"title": "Another"}, 'about.title: differs: approved "Survey", now "Another"'),
        ((MOVE, DOGS), {"title": None}, "about: differs: approved"),
        ((DOGS, MOVE), {}, "question 1, counted: differs"),
    ]
    for questions, more, words in differing:
        with pytest.raises(hetdp.InputError) as refusal:
            ask(table, *questions, plan=tmp_path / "plan.json", **{"title": "Survey"} | more)
        assert words in str(refusal.value)


def test_a_plan_of_one_question_is_not_a_plan_of_several(table, tmp_path):
    hetdp.ask(table, **MOVE, **SHARED, dry_run=True, plan=tmp_path / "one.json")
    with pytest.raises(hetdp.InputError, match="number of questions: differs: approved 1, now 2"):
        ask(table, MOVE, DOGS, plan=tmp_path / "one.json")
    ask(table, MOVE, DOGS, plan=tmp_path / "two.json")
    with pytest.raises(hetdp.InputError, match="number of questions: differs: approved 2, now 1"):
        hetdp.ask(table, **MOVE, **SHARED, dry_run=True, plan=tmp_path / "two.json")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda plan: plan.update(about={"title": "Another"}), "edited by hand"),
        (lambda plan: plan.update(questions=[]), "questions"),
        (lambda plan: plan.update(schema_version=2), "a newer schema_version"),
        (lambda plan: plan.update(more=1), "unknown key 'more'"),
        (lambda plan: plan.update(together=[{"whom": "everybody"}]), "missing key"),
        (lambda plan: plan["questions"][1].update(counted="dogs = 'lead'"), "question 2: .*edited by hand"),
        (lambda plan: plan.update(about={"title": "a\nb"}), "title="),
    ],
)
def test_a_plan_that_hetdp_did_not_write_is_refused(damage, words, table, tmp_path):
    place = tmp_path / "plan.json"
    ask(table, MOVE, DOGS, plan=place, title="Survey")
    plan = json.loads(place.read_text())
    damage(plan)
    if words != "edited by hand":  # a forger computes the digest anew
        rest = {key: value for key, value in plan.items() if key != "plan_sha256"}
        plan["plan_sha256"] = plans._digest(rest)
    place.write_text(json.dumps(plan))
    with pytest.raises(hetdp.InputError, match=words):
        hetdp.ask(table, plan=place, dry_run=True)


def test_simulated_answers_name_their_questions(table):
    found = ask(table, MOVE, LOCAL_DOGS, simulate=True, seed=3).simulated
    assert [(one.question, one.area, one.seed) for one in found] == [(1, None, 3), (2, "North", 3), (2, "South", 3)]
    assert str(found[1]).startswith("SIMULATED answer to question 2 in 'North': They may")
    assert found == ask(table, MOVE, LOCAL_DOGS, simulate=True, seed=3).simulated
    seen = {tuple(one.answer for one in ask(table, MOVE, DOGS, simulate=True, seed=at).simulated) for at in range(12)}
    assert len(seen) > 2, "the answers are drawn independently"


# Releases -------------------------------------------------------------------------------------------------------------


def test_all_questions_are_released_in_one_step_with_one_record(table, ledger, tmp_path):
    record, html = tmp_path / "record.json", tmp_path / "answers.html"
    asked = ask(table, MOVE, LOCAL_DOGS, title="Survey", payment=hetdp.Payment(ledger, record=record, html=html))
    released = asked.release
    assert released is not None
    assert [(one.area, one.words) for one in released.answers][1:] == [
        (one.area, one.words) for one in released.releases[1].answers
    ]
    assert [one.question for one in released.releases] == [MOVE["title"], DOGS["title"]]
    assert (released.question, released.repeated) == ("Survey", False)
    entries = ledger.history()[2:]
    assert [entry.question for entry in entries] == [MOVE["title"], DOGS["title"]]
    assert released.receipt == entries[-1].receipt()
    assert hetdp.read_record(record) == released.record
    assert released.record["together"]["charges"][0]["used"] == ledger.status()[0].most_spent
    with pytest.raises(hetdp.UsageError, match="there are 3 answers"):
        _ = released.answer
    assert str(released).splitlines()[2].startswith(f"{DOGS['title']}: 'South': They may")
    again = hetdp.release(ask(table, MOVE, LOCAL_DOGS), ledger=ledger, record=record, html=html)
    assert (again.repeated, again.record) == (True, released.record), "also the title is that of the first release"
    assert hetdp.release(ask(table, MOVE), ledger=ledger, after=record).repeated


def test_the_answers_are_drawn_only_if_everybody_can_pay_the_sum(table, tmp_path, monkeypatch):
    ledger = hetdp.Ledger.create(tmp_path / "small.ledger", source="survey", cap=1)
    monkeypatch.setattr(table_release, "draw_answer", lambda *_: pytest.fail("an answer was drawn"))
    price = ask(table, MOVE, DOGS, payment=hetdp.Payment(ledger), dry_run=True).price
    assert price is not None
    assert (price.fits, price.classes[0].charged, price.classes[0].exceeded) == (False, "1.517812888", 4)
    with pytest.raises(hetdp.BudgetError, match=r"4 of 7 accounts would exceed .* no answer was drawn.*ε = 1, for all"):
        ask(table, MOVE, DOGS, payment=hetdp.Payment(ledger))
    assert len(ledger.history()) == 2
    assert hetdp.ask(table, **MOVE, **SHARED, payment=hetdp.Payment(ledger), dry_run=True).price.fits


def test_a_question_that_was_answered_before_is_free_and_keeps_its_answer(table, ledger, tmp_path):
    before = hetdp.ask(table, **DOGS | {"title": "Dogs?"}, **SHARED, payment=hetdp.Payment(ledger)).release
    assert before is not None
    price = ask(table, MOVE, DOGS, payment=hetdp.Payment(ledger), dry_run=True).price
    assert price is not None
    assert (price.free, price.before, price.classes[0].charged) == ((2,), None, "0.758906444")
    assert "nothing for question 2: it was released before" in str(price)
    plan, record = tmp_path / "plan.json", tmp_path / "record.json"
    ask(table, MOVE, DOGS, plan=plan)
    paid = hetdp.ask(table, plan=plan, payment=hetdp.Payment(ledger, record=record)).release
    assert paid is not None
    assert [one.repeated for one in paid.releases] == [False, True]
    assert paid.releases[1].record == before.record
    assert paid.releases[1].question == "Dogs?", "in the words of the first release"
    assert not paid.repeated
    assert ledger.status()[0].most_spent == "1.517812888"
    verdict = hetdp.verify_record(record, ledger=ledger, plan=plan)
    assert verdict.valid
    assert "question 2 ('Dogs?'): the plan, since it was released before under another one" in verdict.unchecked
    whole = ask(table, MOVE, DOGS, payment=hetdp.Payment(ledger), dry_run=True).price
    assert whole is not None
    assert (whole.classes, whole.free) == ((), ())
    assert whole.before is not None


def test_the_sums_of_questions_that_were_never_asked_together_are_checked_by_the_plan(table, ledger, tmp_path):
    for one in (MOVE, DOGS):
        hetdp.ask(table, **one, **SHARED, payment=hetdp.Payment(ledger))
    released = hetdp.release(ask(table, MOVE, DOGS, title="Both", plan=tmp_path / "plan.json"), ledger=ledger)
    assert released.repeated
    assert ledger.status()[0].most_spent == "1.517812888"
    assert "title" not in released.record["together"], "no entry could confirm it"
    assert released.record["schema_version"] == 1
    verdict = hetdp.verify_record(released.record, ledger=ledger)
    assert verdict.valid
    assert any("which the plan can confirm" in words for words in verdict.unchecked)
    verdict = hetdp.verify_record(released.record, ledger=ledger, plan=tmp_path / "plan.json")
    assert (verdict.valid, verdict.unchecked) == (True, ())
    released.record["together"]["charges"][0]["used"] = "0.1"
    released.record["record_sha256"] = digest_of(released.record)
    assert not hetdp.verify_record(released.record, ledger=ledger, plan=tmp_path / "plan.json").valid


def test_an_earlier_answer_about_other_people_refuses_all_questions_before_anything_is_spent(table, ledger, tmp_path):
    hetdp.ask(table, **SHARED | LOCAL_DOGS, payment=hetdp.Payment(ledger))
    others = PEOPLE | {"county": ["North", "North", "South", "North", "South", "South", "South"]}
    pandas.DataFrame(others).to_csv(tmp_path / "others.csv", index=False)
    with pytest.raises(hetdp.UsageError, match=r"this was asked before, .* which was 'survey.csv'"):
        ask(tmp_path / "others.csv", MOVE, LOCAL_DOGS, payment=hetdp.Payment(ledger))
    assert len(ledger.history()) == 3


FORGERIES: dict[str, Any] = {
    "title": lambda record: record["together"].update(title="Everything is fine"),
    "sum": lambda record: record["together"]["charges"][0].update(used="0.1"),
    "answer": lambda record: record["releases"][0]["answers"][0].update(
        answer=3 - record["releases"][0]["answers"][0]["answer"]
    ),
    "order": lambda record: record["releases"].reverse(),
    "left out": lambda record: (record["releases"].pop(0), record["together"]["questions"].pop(0)),
    "record": lambda record: record["releases"].pop(0),
    "question": lambda record: record["together"]["questions"].pop(),
    "entry": lambda record: record.update(ledger=record["releases"][0]["ledger"]),
}


def test_a_changed_record_is_detected_by_its_digest_and_a_forged_one_by_the_ledger(table, ledger, tmp_path):
    plan = tmp_path / "plan.json"
    ask(table, MOVE, DOGS, plan=plan, title="Survey")
    released = hetdp.ask(table, plan=plan, payment=hetdp.Payment(ledger)).release
    assert released is not None
    verdict = hetdp.verify_record(released.record, ledger=ledger, plan=plan)
    assert verdict.valid
    assert not verdict.unchecked
    assert hetdp.verify_record(released.record).unchecked
    for what, forge in FORGERIES.items():
        record = json.loads(json.dumps(released.record))
        forge(record)
        assert not hetdp.verify_record(record).valid, what
        for one in (*record["releases"], record):
            one["record_sha256"] = digest_of(one)
        assert not hetdp.verify_record(record, ledger=ledger).valid, what
        if what != "answer":  # it does not follow from the plan
            assert not hetdp.verify_record(record, plan=plan).valid, what


def test_a_record_of_several_questions_has_no_problem_and_no_other_plan(table, ledger, tmp_path):
    released = ask(table, MOVE, DOGS, payment=hetdp.Payment(ledger)).release
    assert released is not None
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 0.5), [1, 2])
    with pytest.raises(hetdp.UsageError, match="a problem for a record of several questions"):
        hetdp.verify_record(released.record, problem=problem, mechanism=hetdp.design(problem))
    ask(table, MOVE, plan=tmp_path / "one.json")
    hetdp.ask(table, **MOVE, **SHARED, plan=tmp_path / "alone.json", dry_run=True)
    for name in ("one.json", "alone.json"):
        assert not hetdp.verify_record(released.record, plan=tmp_path / name).valid
    both = tmp_path / "both.json"
    ask(table, MOVE, DOGS, plan=both)
    assert hetdp.verify_record(released.releases[1].record, plan=both).valid, "one of the questions, by the whole plan"
    other = hetdp.ask(table, **DOGS | {"more_than": 2}, **SHARED, payment=hetdp.Payment(ledger)).release
    assert other is not None
    assert not hetdp.verify_record(other.record, plan=both).valid


def test_a_file_is_replaced_only_by_a_copy_of_itself(table, ledger, tmp_path):
    record, html = tmp_path / "record.json", tmp_path / "page.html"
    ask(table, MOVE, DOGS, payment=hetdp.Payment(ledger, record=record, html=html))
    spent = len(ledger.history())
    with pytest.raises(hetdp.UsageError, match="is the record of another release"):
        ask(table, MOVE, payment=hetdp.Payment(ledger, record=record))
    with pytest.raises(hetdp.UsageError, match="is not a page of this release"):
        ask(table, DOGS, MOVE, payment=hetdp.Payment(ledger, html=html))
    assert len(ledger.history()) == spent


def test_the_page_has_every_question_with_its_answer_and_what_all_reveal_together(table, ledger):
    asked = ask(table, MOVE, LOCAL_DOGS, title="A <b>survey</b>", payment=hetdp.Payment(ledger))
    assert asked.release is not None
    page = asked.release.html()
    assert "<h1>A &lt;b&gt;survey&lt;/b&gt;</h1>" in page
    for title in (MOVE["title"], DOGS["title"]):
        assert f"<h2>{title}</h2>" in page
    assert f'<th scope="row">{DOGS["title"]} (South)</th>' in page
    assert "every combination of the published answers becomes at most" in page
    assert "<script" not in page
    assert page.count("<h2>How to check it</h2>") == page.count("<h2>What was done</h2>") == 1


def test_an_answer_that_is_the_same_for_every_table_costs_nothing_beside_others(table, ledger):
    sure = {"title": "Eight?", "count": "vote = 'yes'", "at_least": 8}
    asked = ask(table, sure, MOVE, payment=hetdp.Payment(ledger))
    assert asked.release is not None
    assert asked.release.answers[0].words == "no"
    assert asked.together[0].used == "0.758906444" == ledger.status()[0].most_spent
    assert [entry.accounts for entry in ledger.history()[2:]] == [0, 7]


KILLED_SCRIPT = """
import os, signal, sys
import hetdp
from hetdp.releases import release
from hetdp.tables import release as table_release
if sys.argv[3] == "drawn":  # before anything is durable, after the first answer was drawn
    drawn = []
    def draw_answer(*given):
        drawn.append(given)
        if len(drawn) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return True
    table_release.draw_answer = draw_answer
else:  # after all of it is durable, before any file is written
    release._write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
hetdp.ask(sys.argv[1], plan=sys.argv[4], payment=hetdp.Payment(sys.argv[2]))
print("shown")
"""


@pytest.mark.parametrize("when", ["drawn", "durable"])
def test_a_kill_leaves_all_questions_released_or_none(when, table, ledger, tmp_path):
    plan = tmp_path / "plan.json"
    ask(table, MOVE, DOGS, plan=plan)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-c", KILLED_SCRIPT, str(table), str(tmp_path / "a.ledger"), when, str(plan)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, ""), done.stderr
    entries = ledger.history()[2:]
    assert len(entries) == (0 if when == "drawn" else 2)
    record = tmp_path / "record.json"
    released = hetdp.ask(table, plan=plan, payment=hetdp.Payment(ledger, record=record)).release
    assert released is not None
    assert released.repeated == (when == "durable")
    assert [one.answers for one in ledger.history()[2:]] == [(one.answer == 1,) for one in released.answers]
    assert ledger.status()[0].most_spent == "1.517812888"
    assert hetdp.verify_record(record, ledger=ledger, plan=plan).valid


def test_a_record_that_could_not_be_written_loses_no_answer(table, ledger, tmp_path, monkeypatch):
    def fail(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(releases, "write_json", fail)
    with pytest.raises(hetdp.UnwrittenRecordError) as refusal:
        ask(table, MOVE, DOGS, payment=hetdp.Payment(ledger, record=tmp_path / "record.json"))
    assert len(refusal.value.release.answers) == 2
    monkeypatch.undo()
    assert ask(table, MOVE, DOGS, payment=hetdp.Payment(ledger, record=tmp_path / "record.json")).release.repeated


def test_something_similar_that_was_asked_before_is_named_with_its_question(table, ledger):
    hetdp.ask(table, **DOGS | {"more_than": 2}, **SHARED, payment=hetdp.Payment(ledger))
    found = ask(table, MOVE, DOGS, payment=hetdp.Payment(ledger), dry_run=True).similar
    assert [words[:11] for words in found] == ["question 2:", "this is a n"]


# Reading the table ----------------------------------------------------------------------------------------------------


def test_the_counted_columns_are_read_once_for_all_questions(table, ledger, monkeypatch):
    seen: list[Any] = []
    read = QueriedSource.read

    def record_columns(self: Any, wanted: Any, parameters: Any = (), uses: Any = ()) -> Any:
        seen.append(tuple(uses))
        return read(self, wanted, parameters, uses)

    monkeypatch.setattr(QueriedSource, "read", record_columns)
    ask(table, MOVE, DOGS, payment=hetdp.Payment(ledger), announce=lambda _: seen.append("announced"))
    private = [uses for uses in seen if {"vote", "dogs"} & set(uses)]
    assert private == [("vote", "dogs")]
    assert seen.index("announced") < seen.index(("vote", "dogs"))
    assert seen.count(("id",)) == 1, "who pays is read once, too"
    seen.clear()
    ask(table, MOVE, DOGS)
    assert not any({"vote", "dogs"} & set(uses) for uses in seen)


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> Inline:
    found = Inline(twice=True)
    monkeypatch.setattr(workspace, "start_runner", lambda *_: found)
    return found


@pytest.mark.parametrize("questions", [(MOVE, DOGS), (MOVE, LOCAL_DOGS), (LOCAL_DOGS, MOVE | {"epsilon": 2})])
def test_workers_count_all_questions_in_one_pass(questions, inline, tmp_path, monkeypatch):
    folder = write_parts(PEOPLE, tmp_path / "people", [3])
    expected = ask(folder, *questions, group="role", plan=tmp_path / "plan.json")
    found = ask(folder, *questions, group="role", plan=tmp_path / "plan.json", workers=hetdp.Workers())
    assert (found.plan, found.together) == (expected.plan, expected.together)
    passes: list[bool] = []
    count = QueriedSource.count_rows

    def record_pass(self: Any, keys: Any, flags: Any, parameters: Any, uses: Any, most: int) -> Any:
        passes.append(bool({"vote", "dogs"} & set(uses)))
        return count(self, keys, flags, parameters, uses, most)

    monkeypatch.setattr(QueriedSource, "count_rows", record_pass)
    monkeypatch.setattr(other_ledgers, "_earlier_releases", lambda *given: iter(()))  # two ledgers
    ledgers = [hetdp.Ledger.create(tmp_path / f"{at}.ledger", source="survey", cap=9) for at in range(2)]
    paid = hetdp.ask(folder, plan=tmp_path / "plan.json", payment=hetdp.Payment(ledgers[0]), workers=hetdp.Workers())
    assert paid.released
    assert passes == [False] * 4 + [True] * 4, "two files, and every task runs twice"
    hetdp.ask(folder, plan=tmp_path / "plan.json", payment=hetdp.Payment(ledgers[1]))
    accounts = [[ledger.person(person).spent for person in PEOPLE["id"]] for ledger in ledgers]
    assert accounts[0] == accounts[1]
    assert max(map(float, accounts[0])) == max(float(one.used) for one in found.together)


def test_workers_and_one_process_find_the_same_coordinates(inline, tmp_path):
    folder = write_parts(PEOPLE, tmp_path / "people", [2, 4])
    requests = [
        build_request("vote = 'yes'", at_least="50%", of="respondents", person="id", epsilon="eps"),
        build_request("dogs = 'free' OR vote = 'no'", at_least=3, person="id", epsilon=0.7, area="county"),
    ]
    with open_source(folder) as source:
        expected = read_coordinates(prepare_all(people_table.LocalTable(source), requests))
    partitioned = PartitionedTable(folder, inline, str(tmp_path), False)
    assert read_coordinates(prepare_all(partitioned, requests)) == expected
