"""A question that is repeated in another wording has the same answer and costs nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hetdp
from hetdp import questions
from tests.stress import mostly_long
from tests.tables.tables import as_csv, as_parquet

PEOPLE: dict[str, list[Any]] = {
    "id": [1, 2, 3, 4, 5, 6, 7, 8],
    "county": ["N", "N", "N", "N", "S", "S", "S", "S"],
    "role": ["pupil", "pupil", "staff", "staff", "pupil", "staff", "staff", "pupil"],
    "eps": [0.3, 0.3, 1.0, 1.0, 0.3, 1.0, 1.0, 0.3],
    "one": [0.5] * 8,
    "vote": ["yes", "no", "yes", "no", "yes", "no", "yes", "yes"],
}
BASE: dict[str, Any] = {"count": "vote = 'yes'", "person": "id"}
HALF = {"at_least": "50%", "epsilon": "eps"}
CONSTANT_EPSILON = {"at_least": 4, "epsilon": 0.5}

SAME_QUESTIONS = [
    (HALF, {"at_least": 4, "epsilon": "eps"}),
    (HALF, {"more_than": 3, "epsilon": "eps"}),
    (HALF, {"more_than": "49%", "epsilon": "eps"}),
    (HALF, {"at_least": "45/100", "epsilon": "eps"}),
    (HALF, HALF | {"group": "role"}),
    (HALF | {"group": "county"}, HALF | {"group": "role"}),
    (HALF, HALF | {"version": "1.0"}),
    (HALF | {"version": "V 2"}, HALF | {"version": "v 2"}),
    (
        HALF,
        {"question": questions.weighted_sum({"pupil": 2, "staff": 2}, at_least=8), "epsilon": "eps", "group": "role"},
    ),
    (CONSTANT_EPSILON, CONSTANT_EPSILON | {"epsilon": "0.50"}),
    (CONSTANT_EPSILON, CONSTANT_EPSILON | {"epsilon": "one"}),
    (
        CONSTANT_EPSILON,
        CONSTANT_EPSILON | {"epsilon": None, "group": "role", "epsilon_by": {"pupil": 0.5, "staff": "0.5"}},
    ),
    ({"at_least": "50%", "epsilon": "eps", "by": "county"}, {"at_least": 2, "epsilon": "eps", "by": "county"}),
    ({"more_than": "1/2", "epsilon": 1}, {"question": questions.majority("yes"), "epsilon": 1}),
    (HALF | {"design": "fair"}, {"more_than": 3, "epsilon": "eps", "design": "fair", "group": "county"}),
]
OTHER_QUESTIONS = [
    (HALF, HALF | {"at_least": "60%"}),
    (HALF, HALF | {"epsilon": 0.1}),
    (HALF, HALF | {"design": "weighted-vote"}),
    (HALF, HALF | {"design": "fair"}),
    (HALF, HALF | {"by": "county"}),
    (HALF, HALF | {"version": "2"}),
    (HALF | {"version": "1.1"}, HALF | {"version": "1.10"}),
    (HALF, HALF | {"deciding_epsilon": 0.1}),
    (CONSTANT_EPSILON, {"question": ~questions.count("yes", at_least=4), "epsilon": 0.5}),
]


@pytest.fixture
def ledger(tmp_path):
    return hetdp.Ledger.create(tmp_path / "a.ledger", source="survey", cap=100, unit="person", relation="replace-one")


def with_payment(ledger, given, **more):
    """The arguments of `ask`, with the version in the payment."""
    version = {key: value for key, value in given.items() if key == "version"}
    rest = {key: value for key, value in given.items() if key != "version"}
    return BASE | rest | {"payment": hetdp.Payment(ledger, **version)} | more


@pytest.mark.parametrize(
    ("one", "other"), mostly_long([*SAME_QUESTIONS, *((b, a) for a, b in SAME_QUESTIONS)], len(SAME_QUESTIONS))
)
def test_the_same_question_in_another_wording_has_the_same_answer_record_and_charge(one, other, ledger, tmp_path):
    table = as_csv(PEOPLE, tmp_path)
    first = hetdp.ask(table, **with_payment(ledger, one)).release
    spent = ledger.status()
    priced = hetdp.ask(table, **with_payment(ledger, other, dry_run=True)).price
    assert priced.before is not None
    assert (priced.classes, priced.similar, priced.fits) == ((), (), True)
    found = hetdp.ask(as_parquet(PEOPLE, tmp_path), **with_payment(ledger, other))
    assert (found.release.repeated, found.similar) == (True, ())
    assert found.release.record == first.record
    assert hetdp.verify_record(found.release.record, ledger=ledger).valid
    assert ledger.status() == spent


@pytest.mark.parametrize(("one", "other"), OTHER_QUESTIONS)
def test_another_question_is_announced_and_drawn_again(one, other, ledger, tmp_path):
    table, seen = as_csv(PEOPLE, tmp_path), []

    def announce(result: hetdp.AskResult) -> None:
        seen.append((result.similar, len(ledger.history())))

    hetdp.ask(table, **with_payment(ledger, one, announce=announce))
    found = hetdp.ask(table, **with_payment(ledger, other, announce=announce))
    assert not found.release.repeated
    (nothing, _), (similar, entries) = seen
    assert (nothing, entries) == ((), 3)
    assert similar[0].startswith("the source 'survey' was asked something similar before: on 20")
    assert "of version " in similar[0]
    assert similar[-1] == "this is a new question, with its own answer and its own price"


def test_differences_are_named_and_other_conditions_are_not_similar(ledger, tmp_path):
    table = as_csv(PEOPLE, tmp_path)
    hetdp.ask(table, **with_payment(ledger, HALF))
    found = hetdp.ask(table, **with_payment(ledger, HALF | {"epsilon": 1, "version": "2"}, dry_run=True))
    assert found.similar[0].endswith("(entry 3), which differs in version, privacy and columns")
    other = hetdp.ask(table, **(BASE | {"count": "vote = 'no'"}), **HALF, payment=hetdp.Payment(ledger), dry_run=True)
    assert other.similar == ()


def test_another_epsilon_does_not_get_the_same_answer(ledger, tmp_path):
    hetdp.ask(as_csv(PEOPLE, tmp_path), **with_payment(ledger, HALF))
    turned = PEOPLE | {"eps": [1.0, 1.0, 0.3, 0.3, 1.0, 0.3, 0.3, 1.0]}
    with pytest.raises(hetdp.UsageError, match="asked before"):
        hetdp.ask(as_csv(turned, tmp_path), **with_payment(ledger, HALF))


def test_the_command_line_announces_it_and_reports_by_group_for_nothing(ledger, tmp_path, capsys, monkeypatch):
    from hetdp.cli.main import main

    monkeypatch.chdir(tmp_path)
    as_csv(PEOPLE, tmp_path)
    words = ["ask", "people.csv", "--count", "vote = 'yes'", "--person", "id", "--epsilon", "eps"]
    paid = ["--ledger", "a.ledger"]
    assert main([*words, "--at-least", "50%", *paid, "-o", "first.json"]) == 0
    assert "similar" not in capsys.readouterr().err
    assert main([*words, "--more-than", "3", "--group", "role", *paid, "-o", "second.json"]) == 0
    assert "it was released before, so nothing was spent" in capsys.readouterr().err
    assert Path("first.json").read_bytes() == Path("second.json").read_bytes()
    assert main([*words, "--at-least", "60%", *paid]) == 0
    output = capsys.readouterr().err
    assert (
        output.index("something similar before")
        < output.index("this is a new question")
        < output.index("paid; entry 4")
    )


def test_mechanisms_of_the_same_problem_are_similar_and_other_formats_the_same(tmp_path):
    from tests.releases.worlds import SOURCE, make_ledger, poll_mechanism

    ledger, mechanism, notices = make_ledger(tmp_path), poll_mechanism(), []
    hetdp.release(mechanism, "one", ledger=ledger, announce=notices.append)
    hetdp.save(mechanism.problem, tmp_path / "problem.json")
    for name in ("m.json", "m.csv", "m.parquet"):
        hetdp.save(mechanism, tmp_path / name)
        again = hetdp.read_mechanism(tmp_path / name, hetdp.read_problem(tmp_path / "problem.json").problem)
        assert hetdp.release(again, "one", ledger=ledger, announce=notices.append).repeated
        assert hetdp.price(again, ledger=ledger).before is not None
    assert notices == []
    other = hetdp.design(mechanism.problem)
    priced = hetdp.price(other, ledger=ledger)
    assert not hetdp.release(other, "one", ledger=ledger, announce=notices.append).repeated
    assert notices == [priced.similar]
    assert notices[0][0].startswith(f"the source {SOURCE!r} was asked something similar before")
    assert json.dumps(priced.similar).count("entry 3") == 1


def test_python_warns_of_a_similar_question_by_default(ledger, tmp_path, caplog):
    table = as_csv(PEOPLE, tmp_path)
    hetdp.ask(table, **with_payment(ledger, HALF))
    assert caplog.messages == []
    hetdp.ask(table, **with_payment(ledger, HALF | {"version": "2"}))
    assert [record.name for record in caplog.records] == ["hetdp"]
    assert "was asked something similar before" in caplog.text
