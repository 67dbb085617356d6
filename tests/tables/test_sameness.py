"""The same question once: worded, typed or reported otherwise it has the same answer, and costs nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hetdp
from hetdp import questions
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
TYPED = {"at_least": 4, "epsilon": 0.5}

SAME = [
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
    (TYPED, TYPED | {"epsilon": "0.50"}),
    (TYPED, TYPED | {"epsilon": "one"}),
    (TYPED, TYPED | {"epsilon": None, "group": "role", "epsilon_by": {"pupil": 0.5, "staff": "0.5"}}),
    ({"at_least": "50%", "epsilon": "eps", "by": "county"}, {"at_least": 2, "epsilon": "eps", "by": "county"}),
    ({"more_than": "1/2", "epsilon": 1}, {"question": questions.majority("yes"), "epsilon": 1}),
    (HALF | {"design": "fair"}, {"more_than": 3, "epsilon": "eps", "design": "fair", "group": "county"}),
]
OTHER = [
    (HALF, HALF | {"at_least": "60%"}),
    (HALF, HALF | {"epsilon": 0.1}),
    (HALF, HALF | {"design": "weighted-vote"}),
    (HALF, HALF | {"design": "fair"}),
    (HALF, HALF | {"by": "county"}),
    (HALF, HALF | {"version": "2"}),
    (HALF | {"version": "1.1"}, HALF | {"version": "1.10"}),
    (HALF, HALF | {"deciding_epsilon": 0.1}),
    (TYPED, {"question": ~questions.count("yes", at_least=4), "epsilon": 0.5}),
]


@pytest.fixture
def kept(tmp_path):
    return hetdp.Ledger.create(tmp_path / "a.ledger", source="survey", cap=100, unit="person", relation="replace-one")


def paid(kept, given, **more):
    """The arguments of `ask`, with the version in the payment."""
    version = {key: value for key, value in given.items() if key == "version"}
    rest = {key: value for key, value in given.items() if key != "version"}
    return BASE | rest | {"payment": hetdp.Payment(kept, **version)} | more


@pytest.mark.parametrize(("one", "other"), [*SAME, *((b, a) for a, b in SAME)])
def test_the_same_question_in_other_words_has_the_same_answer_record_and_charge(one, other, kept, tmp_path):
    table = as_csv(PEOPLE, tmp_path)
    first = hetdp.ask(table, **paid(kept, one)).release
    spent = kept.status()
    priced = hetdp.ask(table, **paid(kept, other, dry_run=True)).price
    assert priced.before is not None
    assert (priced.classes, priced.similar, priced.fits) == ((), (), True)
    found = hetdp.ask(as_parquet(PEOPLE, tmp_path), **paid(kept, other))
    assert (found.release.repeated, found.similar) == (True, ())
    assert found.release.record == first.record
    assert hetdp.verify_record(found.release.record, ledger=kept).valid
    assert kept.status() == spent


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_question_is_drawn_anew_and_announced_before_anything_is_spent(one, other, kept, tmp_path):
    table, seen = as_csv(PEOPLE, tmp_path), []

    def announce(asked: hetdp.AskResult) -> None:
        seen.append((asked.similar, len(kept.history())))

    hetdp.ask(table, **paid(kept, one, announce=announce))
    found = hetdp.ask(table, **paid(kept, other, announce=announce))
    assert not found.release.repeated
    (nothing, _), (similar, entries) = seen
    assert (nothing, entries) == ((), 3)
    assert similar[0].startswith("the source 'survey' was asked something similar before: on 20")
    assert "of version " in similar[0]
    assert similar[-1] == "this is a new question, with an answer and a price of its own"


def test_what_differs_is_named_and_other_things_that_are_counted_are_not_similar(kept, tmp_path):
    table = as_csv(PEOPLE, tmp_path)
    hetdp.ask(table, **paid(kept, HALF))
    found = hetdp.ask(table, **paid(kept, HALF | {"epsilon": 1, "version": "2"}, dry_run=True))
    assert found.similar[0].endswith("(entry 3), which differs in version, privacy and columns")
    other = hetdp.ask(table, **(BASE | {"count": "vote = 'no'"}), **HALF, payment=hetdp.Payment(kept), dry_run=True)
    assert other.similar == ()


def test_whoever_has_another_epsilon_is_not_given_the_same_answer(kept, tmp_path):
    hetdp.ask(as_csv(PEOPLE, tmp_path), **paid(kept, HALF))
    turned = PEOPLE | {"eps": [1.0, 1.0, 0.3, 0.3, 1.0, 0.3, 0.3, 1.0]}
    with pytest.raises(hetdp.UsageError, match="asked before"):
        hetdp.ask(as_csv(turned, tmp_path), **paid(kept, HALF))


def test_the_command_line_announces_it_and_reports_by_group_for_nothing(kept, tmp_path, capsys, monkeypatch):
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
    said = capsys.readouterr().err
    assert said.index("something similar before") < said.index("this is a new question") < said.index("paid; entry 4")


def test_mechanisms_of_the_same_problem_are_similar_and_other_formats_the_same(tmp_path):
    from tests.releases.worlds import SOURCE, ledger, poll

    kept, mechanism, heard = ledger(tmp_path), poll(), []
    hetdp.release(mechanism, "one", ledger=kept, announce=heard.append)
    hetdp.save(mechanism.problem, tmp_path / "problem.json")
    for name in ("m.json", "m.csv", "m.parquet"):
        hetdp.save(mechanism, tmp_path / name)
        again = hetdp.read_mechanism(tmp_path / name, hetdp.read_problem(tmp_path / "problem.json").problem)
        assert hetdp.release(again, "one", ledger=kept, announce=heard.append).repeated
        assert hetdp.price(again, ledger=kept).before is not None
    assert heard == []
    other = hetdp.design(mechanism.problem)
    priced = hetdp.price(other, ledger=kept)
    assert not hetdp.release(other, "one", ledger=kept, announce=heard.append).repeated
    assert heard == [priced.similar]
    assert heard[0][0].startswith(f"the source {SOURCE!r} was asked something similar before")
    assert json.dumps(priced.similar).count("entry 3") == 1


def test_python_warns_of_a_similar_question_without_being_asked_to(kept, tmp_path, caplog):
    table = as_csv(PEOPLE, tmp_path)
    hetdp.ask(table, **paid(kept, HALF))
    assert caplog.messages == []
    hetdp.ask(table, **paid(kept, HALF | {"version": "2"}))
    assert [record.name for record in caplog.records] == ["hetdp"]
    assert "was asked something similar before" in caplog.text
