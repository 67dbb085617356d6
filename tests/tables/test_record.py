"""Whether the record of a table agrees with its plan."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hetdp
from hetdp.tables import plan, record
from hetdp.tables.request import epsilon_of
from tests.tables.tables import PEOPLE, as_csv


@pytest.fixture(scope="module")
def document_and_plan(tmp_path_factory) -> tuple[dict[str, Any], Any]:
    folder = tmp_path_factory.mktemp("records")
    ledger = hetdp.Ledger.create(folder / "a.ledger", source="survey", cap="inf")
    people = PEOPLE | {"eps": [0.3, 0.3, 1.0, 1.0, 0.3, 1.0, float("inf")]}
    question: dict[str, Any] = {
        "count": "vote = 'yes'",
        "at_least": "50%",
        "person": "id",
        "epsilon": "eps",
        "group": "role",
    }
    table = as_csv(people, folder)
    hetdp.ask(table, **question, plan=folder / "plan.json", dry_run=True)
    found = hetdp.ask(table, **question, plan=folder / "plan.json", payment=hetdp.Payment(ledger))
    assert found.release is not None
    return found.release.record, plan.read_plan(Path(folder / "plan.json"))


def test_a_record_agrees_with_its_plan(document_and_plan):
    document, approved = document_and_plan
    assert record._contradictions(document, approved) == []


@pytest.mark.parametrize(
    ("key", "path", "value"),
    [
        ("software", ("software",), "hetdp 0"),
        ("certificates", ("certificates",), []),
        ("certificates", ("certificates", 0, "private"), False),
        ("privacy.promises", ("privacy", "promises", 0, "used"), "0"),
        ("privacy.promises", ("privacy", "promises", 0, "whom"), "everybody"),
        ("privacy.promises", ("privacy", "promises", 0, "odds"), ""),
        ("privacy.promises", ("privacy", "promises", 0, "delta"), "0.1"),
        ("privacy.promises", ("privacy", "promises", 0, "changes"), 1),
        ("privacy.promises", ("privacy", "promises", 0, "least_epsilon"), None),
        ("not_protected", ("not_protected",), []),
        ("not_protected", ("not_protected", 2), "Nobody."),
        ("composition", ("composition", "accounts"), 6),
        ("composition", ("composition", "kind"), "class"),
        ("composition", ("composition", "charged"), [{}]),
        ("composition", ("composition", "currency"), "gaussian"),
    ],
)
def test_entries_that_contradict_the_plan_are_found(document_and_plan, key, path, value):
    changed, approved = copy.deepcopy(document_and_plan[0]), document_and_plan[1]
    at: Any = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    assert key in record._contradictions(changed, approved)


def test_the_number_of_unprotected_people_is_possible_and_repeated_in_words(document_and_plan):
    changed, approved = copy.deepcopy(document_and_plan[0]), document_and_plan[1]
    for number in (-1, 99):
        changed["privacy"]["promises"][1]["unprotected"] = number
        assert "privacy.promises" in record._contradictions(changed, approved)
    changed["privacy"]["promises"][1]["unprotected"] = 1
    assert record._contradictions(changed, approved) == ["not_protected"]


def test_a_promise_with_one_epsilon_for_all_says_this_one(document_and_plan):
    one = document_and_plan[0]["privacy"]["promises"][0] | {"least_epsilon": "0.3", "epsilon": "0.3"}
    constant = replace(document_and_plan[1].request, epsilon=epsilon_of("0.3", None, None))
    assert record._is_promised(one, constant)
    assert not record._is_promised(one | {"least_epsilon": "0.2"}, constant)
    assert not record._is_promised(one | {"epsilon": "0.4"}, constant)
    by_group = replace(constant, epsilon=epsilon_of(None, {one["whom"]: "0.3"}, "role"))
    assert record._is_promised(one, by_group)
    assert not record._is_promised(one | {"whom": "nobody"}, by_group)
    assert not record._is_promised(one, replace(constant, group=None))
    assert record._is_promised(one | {"whom": "everybody"}, replace(constant, group=None))


def test_the_output_says_what_is_not_checked_without_the_ledger():
    assert list(record._unchecked_words(object(), None, None)) == []
    last = [list(record._unchecked_words(None, *given))[-1] for given in ((1, None), (None, 1), (None, None))]
    assert [words.partition(",")[0][:11] for words in last] == ["the version", "the odds", "everything "]
