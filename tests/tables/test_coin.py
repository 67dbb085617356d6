"""Promises, plans, records and pages about an answer that is worse than a coin or nearly certain."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import hetdp
from tests.loops import for_each

VOTE: dict[str, Any] = {"count": "vote = 'yes'", "at_least": "50%", "epsilon": "eps", "person": "id"}


def people(epsilon: list[float]) -> pandas.DataFrame:
    return pandas.DataFrame({"id": range(len(epsilon)), "eps": epsilon, "vote": ["yes", "no", "yes", "no", "yes"]})


FEW = people([0.1, 0.1, 0.1, 0.1, 5.0])
WARNING = "where it takes 2 people or fewer to change it, the answer may be wrong more often than right"


def test_a_weighted_vote_that_is_worse_than_a_coin_states_the_margin() -> None:
    result = hetdp.ask(FEW, **VOTE, design="weighted-vote", dry_run=True)
    assert f"caution: {WARNING}" in result.promise
    assert "such as the design balanced" in result.promise
    assert result.plan["areas"][0]["worse_than_coin_up_to"] == 2
    balanced = hetdp.ask(FEW, **VOTE, dry_run=True)
    assert "caution" not in balanced.promise
    assert "not proved" not in balanced.promise
    assert balanced.plan["areas"][0]["worse_than_coin_up_to"] == 0


@for_each("epsilon", [[0.1] * 4 + [5.0], [0.5, 1.0, 2.0, 3.0, 9.0], [1.0] * 5, [0.2, 0.2, 4.0, 4.0, 4.0]])
@for_each("threshold", [1, 2, 3, 4, 5])
def test_the_margin_is_the_largest_at_which_some_table_is_answered_wrongly(epsilon: Any, threshold: int) -> None:
    question = hetdp.questions.count("yes", threshold)
    mechanism = hetdp.spaces.population(question, epsilon).design("weighted-vote")
    wrong = 0
    for table in product((0, 1), repeat=5):
        yes = table.count(0)
        margin = yes - threshold + 1 if yes >= threshold else threshold - yes
        z = mechanism.coordinate(np.array(table))
        wrong = max(wrong, margin if (z if yes >= threshold else -z) < 0.0 else 0)
    assert mechanism.worse_than_coin_up_to() == wrong


def test_the_record_and_the_page_contain_the_warning_too(tmp_path: Path) -> None:
    table, ledger = tmp_path / "people.csv", tmp_path / "l.sqlite"
    FEW.to_csv(table, index=False)
    hetdp.Ledger.create(ledger, source="survey", cap="100")
    record, page = tmp_path / "r.json", tmp_path / "r.html"
    hetdp.ask(table, **VOTE, design="weighted-vote", payment=hetdp.Payment(ledger, record=record, html=page))
    caution = f"{WARNING[:1].upper()}{WARNING[1:]}."
    assert json.loads(record.read_text())["cautions"] == [caution]
    assert f"<strong>Caution.</strong> {caution}" in page.read_text()


@pytest.mark.parametrize("design", ["balanced", "fair"])
def test_an_answer_that_is_a_coin_is_described_as_one(design: Any) -> None:
    result = hetdp.ask(people([0.0] * 5), **VOTE, design=design, dry_run=True)
    assert "the answer may be right only as often as a coin" in result.promise
    assert result.plan["areas"][0]["as_a_coin_up_to"] >= 1


@pytest.mark.parametrize("design", ["balanced", "fair"])
def test_a_nearly_certain_answer_is_never_promised_as_certain(design: Any, tmp_path: Path) -> None:
    table, ledger = tmp_path / "people.csv", tmp_path / "l.sqlite"
    people([60.0] * 4 + [2000.0]).to_csv(table, index=False)
    hetdp.Ledger.create(ledger, source="survey", cap="100000")
    page = tmp_path / "r.html"
    result = hetdp.ask(table, **VOTE, design=design, payment=hetdp.Payment(ledger, html=page))
    report = result.plan["areas"][0]["accuracy_by_margin"]
    assert report["1"] == "1 − 8.8e-27"
    assert "more than 999,999 of 1,000,000 runs where 1 person decides" in result.promise
    assert "100 %" not in page.read_text()
    assert "1.000000" not in page.read_text() + result.promise + json.dumps(result.plan)
