"""A question that one ledger has answered is refused with another one, if its files lie beside those of the release."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas
import pytest

import hetdp
from hetdp.cli.main import main

QUESTION: dict[str, Any] = {"count": "vote = 'yes'", "at_least": "50%", "epsilon": 1, "person": "id"}
ROWS = "\n".join(["id,vote", *(f"p{at},{'yes' if at % 3 else 'no'}" for at in range(30))])
AGAIN = "this was released before"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with a table, its plan, and a ledger that has answered it."""
    (tmp_path / "votes.csv").write_text(ROWS)
    make_ledger(tmp_path / "first.ledger")
    shutil.copy(tmp_path / "first.ledger", tmp_path / "older.backup")
    hetdp.ask(tmp_path / "votes.csv", **QUESTION, plan=tmp_path / "plan.json", dry_run=True)
    carry_out(tmp_path, paid(tmp_path / "first.ledger"))
    return tmp_path


def make_ledger(place: Path) -> Path:
    place.parent.mkdir(exist_ok=True)
    hetdp.Ledger.create(place, source="votes", cap=5, unit="person", relation="replace-one")
    return place


def paid(ledger: Path, **more) -> hetdp.Payment:
    return hetdp.Payment(ledger, **more)


def carry_out(folder: Path, payment: hetdp.Payment, table: str = "votes.csv", **more):
    return hetdp.ask(folder / table, plan=folder / "plan.json", payment=payment, **more)


def spends(ledger: Path) -> int:
    return sum(entry.kind == "spend" for entry in hetdp.Ledger(ledger).history())


def test_a_second_ledger_beside_the_first_neither_prices_nor_answers_the_question_again(folder, capsys):
    second = make_ledger(folder / "second.ledger")
    words = f"{AGAIN}, on .*, of version '1' .* with the ledger 'first.ledger'.*Hint: use .*'first.ledger': the same"
    for more in ({}, {"dry_run": True}):
        with pytest.raises(hetdp.UsageError, match=words):
            carry_out(folder, paid(second), **more)
    with pytest.raises(hetdp.UsageError, match=r"use the ledger 'first.ledger': it knows what these people have spent"):
        carry_out(folder, paid(second, version="2"))
    command = ["ask", str(folder / "votes.csv"), "--plan", str(folder / "plan.json"), "--ledger", str(second)]
    assert main(command) == 2
    shown = capsys.readouterr()
    assert "use the ledger 'first.ledger': the same answer, and nothing is charged" in shown.err
    assert not shown.out.strip().startswith(("yes", "no"))
    assert spends(second) == 0
    assert carry_out(folder, paid(folder / "first.ledger")).release.repeated
    assert not carry_out(folder, paid(folder / "first.ledger", version="2")).release.repeated
    assert spends(folder / "first.ledger") == 2


def test_a_copy_of_the_table_or_an_older_copy_of_the_ledger_does_not_ask_again(folder):
    second = make_ledger(folder / "second.ledger")
    shutil.copy(folder / "votes.csv", folder / "copy.csv")
    with pytest.raises(hetdp.UsageError, match=AGAIN):
        hetdp.ask(folder / "copy.csv", **QUESTION, payment=paid(second))
    shutil.copy(folder / "older.backup", folder / "copy.ledger")
    with pytest.raises(hetdp.UsageError, match=AGAIN):
        carry_out(folder, paid(folder / "copy.ledger"))
    bundle = [{"count": "vote = 'yes'", "at_least": 3}, {"count": "vote = 'yes'", "at_least": "50%"}]
    with pytest.raises(hetdp.UsageError, match=AGAIN):
        hetdp.ask(folder / "votes.csv", questions=bundle, epsilon=1, person="id", payment=paid(second))
    assert spends(second) == 0


def test_a_record_beside_the_plan_names_the_question_even_if_its_ledger_lies_elsewhere(folder):
    carry_out(folder, paid(folder / "first.ledger", record=folder / "record.json"))
    (folder / "first.ledger").rename(make_ledger(folder / "elsewhere" / "unused.ledger").with_name("first.ledger"))
    second = make_ledger(folder / "second.ledger")
    with pytest.raises(hetdp.UsageError, match=r"with the ledger of the record 'record.json'"):
        carry_out(folder, paid(second))
    (folder / "record.json").unlink()
    assert not carry_out(folder, paid(second)).release.repeated, "a ledger elsewhere cannot be seen"


def test_other_people_and_other_questions_may_have_another_ledger(folder):
    second = make_ledger(folder / "second.ledger")
    (folder / "others.csv").write_text(ROWS.replace("p", "q"))
    assert hetdp.ask(folder / "others.csv", **QUESTION, payment=paid(second)).released
    assert hetdp.ask(folder / "votes.csv", **QUESTION | {"at_least": "60%"}, payment=paid(second)).released
    for name in ("damaged.ledger", "damaged.json"):
        (folder / name).write_text('{"kind": "release", "no": "record"}')
    third = make_ledger(folder / "third.ledger")
    (folder / "thirds.csv").write_text(ROWS.replace("p", "r"))
    assert hetdp.ask(folder / "thirds.csv", **QUESTION, payment=paid(third)).released


def test_a_dry_run_of_a_data_frame_is_released_with_one_ledger_only(tmp_path):
    people = pandas.DataFrame({"id": range(30), "vote": ["yes"] * 20 + ["no"] * 10})
    asked = hetdp.ask(people, **QUESTION, dry_run=True)
    first, second = (make_ledger(tmp_path / name) for name in ("first.ledger", "second.ledger"))
    hetdp.release(asked, ledger=first)
    for spend in (hetdp.release, hetdp.price):
        with pytest.raises(hetdp.UsageError, match=AGAIN):
            spend(asked, ledger=second)
    assert hetdp.release(asked, ledger=first).repeated
