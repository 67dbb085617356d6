"""Every kind of question and condition through the public `ask`, against an oracle that knows only the documentation.

A table is an area, so that one call asks many tables; ε is so large that a simulated answer is the side of ½ on which
the mechanism lies. HETDP_WHOLE_ORACLE=1 asks all tables of up to six people, in about a quarter of an hour.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from itertools import combinations_with_replacement, product
from math import exp, log, log1p
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pytest

import hetdp
from hetdp.partitioned import workspace
from tests.oracle import asking as oracle
from tests.oracle.conditions import CELLS, SCHEMA, TEXTS, TYPED, random_condition, random_rows
from tests.partitioned.inline import Inline
from tests.stress import long
from tests.tables.folders import write_parts
from tests.tables.tables import FORMATS

WHOLE = bool(os.environ.get("HETDP_WHOLE_ORACLE"))
CERTAIN = 200  # an ε: answers less probable than e⁻²⁰⁰ are never drawn
SPELLINGS: dict[str, list[str | None]] = {
    "yes": ["yes", "Yes", " YES ", "yes\t", "yeſ", "\u00a0yEs"],
    "no": ["no", "NO", "maybe", "y es", "yess"],
    "blank": [None, "", "  ", "\t\u2003"],
}
PEOPLE = list(product(["a", "b"], ["yes", "no", "blank"]))
TABLES = [table for size in range(1, 7) for table in combinations_with_replacement(PEOPLE, size)]

Q = dict[str, Any]
ONE_VALUE: list[Q] = [
    *({"asks": "count", "value": value, "at_least": 2} for value in ("yes", "no", "blank")),
    {"asks": "count", "value": "no", "at_least": 1, "group": "b"},
    {"asks": "count", "value": "yes", "at_least": 9},
    {"asks": "count", "value": "blank", "at_least": 0},
    *({"asks": "share", "value": value, "at_least": "1/2", "strict": True} for value in ("yes", "no", "blank")),
    {"asks": "share", "value": "no", "at_least": "2/3"},
    *({"asks": "majority", "value": value} for value in ("yes", "no", "blank")),
    {"asks": "majority", "value": "no", "group": "a"},
    *({"asks": "all_of", "group": "a", "value": value} for value in ("yes", "no", "blank")),
    {"asks": "all_of", "group": ["a", "b"], "value": "no"},
    {"asks": "weighted_sum", "weights": {"a": 2, "b": "0.5"}, "at_least": 3},
    {"asks": "not", "part": {"asks": "majority", "value": "no"}},
]
SEVERAL_VALUES: list[Q] = [
    {"asks": "versus", "a": "yes", "b": "no"},
    {"asks": "versus", "a": "no", "b": "yes", "ties": "yes", "group": "b"},
    {"asks": "versus", "a": "no", "b": "blank"},
    {"asks": "share", "value": "yes", "at_least": "1/2", "of": "respondents"},
    {"asks": "share", "value": "no", "at_least": "1/3", "of": "respondents", "strict": True},
    {"asks": "share", "value": "yes", "at_least": "1/2", "of": "respondents", "blank": "no"},
    {"asks": "share", "value": "blank", "at_least": "1/2", "of": "respondents", "blank": "no"},
    {"asks": "majority", "value": "no", "of": "respondents", "group": "a"},
    {"asks": "majority", "value": "yes", "of": "respondents", "blank": ["no", "blank"]},
    {"asks": "weighted_sum", "weights": {"a": 2, "b": 1}, "scores": {"yes": 1, "no": -1}, "at_least": 1},
    {"asks": "weighted_sum", "weights": {"a": 1}, "scores": {"no": 1, "blank": "-1/2"}, "at_least": 0},
    {"asks": "weighted_sum", "weights": {"a": 1, "b": -2}, "scores": {"yes": 1, "no": 2, "blank": 3}, "at_least": -3},
    {"asks": "not", "part": {"asks": "versus", "a": "yes", "b": "no"}},
]
NO_FORMULA: list[Q] = [
    *({"asks": "ratio_of_shares", "value": value, "group_a": "a", "group_b": "b"} for value in ("yes", "no", "blank")),
    {"asks": "ratio_of_shares", "value": "no", "group_a": "b", "group_b": "a", "of": "respondents", "strict": True},
    {"asks": "ratio_of_shares", "value": "yes", "group_a": "a", "group_b": "b", "of": "respondents", "blank": "no"},
    {"asks": "and", "parts": [{"asks": "majority", "value": "no"}, {"asks": "count", "value": "no", "at_least": 2}]},
    {"asks": "or", "parts": [{"asks": "all_of", "group": "a"}, {"asks": "versus", "a": "yes", "b": "no"}]},
    {"asks": "or", "parts": [{"asks": "count", "value": "no", "at_least": 4}, {"asks": "all_of", "group": "b"}]},
]
DESIGNS = [
    *(
        pytest.param(question, design, marks=() if at % 2 == is_fair else long)  # each question once in `make test`
        for at, question in enumerate(ONE_VALUE + SEVERAL_VALUES + NO_FORMULA)
        for is_fair, design in enumerate(("balanced", "fair"))
    ),
    *(
        pytest.param(question, "weighted-vote", marks=long if at % 2 else ())
        for at, question in enumerate(ONE_VALUE)
        if question["asks"] != "weighted_sum"
    ),
]


def groups_of(question: Q) -> set[str]:
    """The groups that a question names, which every area must have."""
    parts = [*question.get("parts", ()), *([question["part"]] if "part" in question else [])]
    group = question.get("group", [])
    named = {group} if isinstance(group, str) else set(group)
    named |= set(question.get("weights", ())) | {question[key] for key in ("group_a", "group_b") if key in question}
    return named.union(*map(groups_of, parts))


def frame_of_tables(tables: list[Any], seed: int) -> pandas.DataFrame:
    """A data frame with one area for each table, rows in random order, and values in random spelling."""
    chance = random.Random(seed)
    rows: list[tuple[Any, ...]] = [
        (f"{area}.{at}", f"{area:05}", group, chance.choice(SPELLINGS[value]))
        for area, table in enumerate(tables)
        for at, (group, value) in enumerate(table)
    ]
    chance.shuffle(rows)
    return pandas.DataFrame(rows, columns=["id", "area", "role", "vote"])


def question_of(body: Q) -> hetdp.questions.Question:
    return hetdp.questions.from_document({"schema_version": 1, "kind": "question", "question": body})


@pytest.mark.parametrize(
    ("question", "design"), DESIGNS, ids=lambda given: given if isinstance(given, str) else given["asks"]
)
def test_the_mechanism_lies_on_the_side_of_the_true_answer(question, design):
    named = groups_of(question)
    tables = [table for table in TABLES if named <= {group for group, _ in table}]
    if not WHOLE:
        tables = random.Random(str(question)).sample(tables, 5)
    frame = frame_of_tables(tables, len(tables))
    result = hetdp.ask(
        frame,
        "vote = 'yes'",
        question=question_of(question),
        epsilon=CERTAIN,
        person="id",
        group="role",
        by="area",
        design=design,
        simulate=True,
    )
    found = [one.answer == "yes" for one in result.simulated]
    assert found == [oracle.true_answer(question, list(table)) for table in tables]


def test_blank_rows_do_not_count_for_respondents():
    """With three yes, one no and three blank rows, yes wins, since blank rows do not count."""
    frame = pandas.DataFrame({"id": range(7), "vote": ["yes"] * 3 + ["no"] + [None] * 3})
    for epsilon in (1, CERTAIN):
        question = hetdp.questions.versus("yes", "no")
        result = hetdp.ask(frame, "vote = 'yes'", question=question, epsilon=epsilon, person="id", simulate=True)
        with result.open_request() as request:
            (z,) = request.prepared.coordinates()
        assert z > 0
    assert result.simulated[0].answer == "yes"


THREE_VALUES = [*SEVERAL_VALUES, *NO_FORMULA, *ONE_VALUE[:3]]
CHANGE_CASES = [  # every question once, each time with the next of four settings; the rest is long
    pytest.param(question, design, deciding, marks=() if at % 4 == 2 * is_fair + is_apart else long)
    for at, question in enumerate(THREE_VALUES)
    for is_fair, design in enumerate(("balanced", "fair"))
    for is_apart, deciding in enumerate((None, 0.3))
]


@pytest.mark.parametrize(
    ("question", "design", "deciding"),
    CHANGE_CASES,
    ids=lambda given: given["asks"] if isinstance(given, dict) else None,
)
def test_every_change_among_three_values_is_within_epsilon(question, design, deciding):
    """Brute force over all tables of four people and all changes of one person."""
    roles, epsilons = ["a", "a", "b", "b"], [0.2, 1.0, 0.5, 0.7]
    frame = pandas.DataFrame({"id": range(4), "role": roles, "eps": epsilons, "vote": "yes"})
    result = hetdp.ask(
        frame,
        "vote = 'yes'",
        question=question_of(question),
        epsilon="eps",
        deciding_epsilon=deciding,
        person="id",
        group="role",
        design=design,
        dry_run=True,
    )
    three = len(question_of(question).values_used()) > 1
    mechanism, log_p, truth = result.promises[0].mechanism, {}, {}
    for table in product(("yes", "no", "blank"), repeat=4):
        alone = min(question_of(question).values_used())
        codes = [("yes", "no", "blank").index(one) if three else int(one != alone) for one in table]
        z = mechanism.coordinate(np.array(codes, dtype=np.uint8))
        tail = -abs(z) - log(2.0)
        logs = (tail, log1p(-exp(tail)))
        log_p[table] = logs if z < 0 else logs[::-1]
        truth[table] = oracle.true_answer(question, list(zip(roles, table, strict=True)))
    for table, who, value in product(log_p, range(4), ("yes", "no", "blank")):
        other = (*table[:who], value, *table[who + 1 :])
        epsilon = min(epsilons[who], deciding or 9.0) if truth[table] != truth[other] else epsilons[who]
        for one, two in zip(log_p[table], log_p[other], strict=True):
            assert one == two or one - two <= epsilon + 1e-9


# Conditions: how many rows are yes and no, by thresholds on both sides; or each row, as an area of one person.


def ask_count(table: Any, condition: str, value: str, at_least: int, **options: Any) -> list[bool]:
    """Asks for each area whether at least so many rows have a value."""
    question = hetdp.questions.count(value, at_least)
    found = hetdp.ask(table, condition, question=question, epsilon=CERTAIN, person="id", simulate=True, **options)
    return [one.answer == "yes" for one in found.simulated]


def check_condition(
    table: Any, rows: list[Any], condition: tuple[Any, ...], exact: bool = False, **options: Any
) -> None:
    """Compares the answers of a table to a condition with the oracle."""
    expected_answers, text = expected_values(rows, condition, exact), oracle.condition_text(condition)
    for value in ("yes", "no", "blank") if WHOLE else ("yes", "no"):
        many = expected_answers.count(value)
        if WHOLE:
            assert ask_count(table, text, value, 1, exact_text=exact, by="area", **options) == [
                one == value for one in expected_answers
            ]
        assert ask_count(table, text, value, many, exact_text=exact, **options) == [True], (text, value)
        assert ask_count(table, text, value, many + 1, exact_text=exact, **options) == [False], (text, value)


def expected_values(rows: list[dict[str, Any]], condition: tuple[Any, ...], exact: bool) -> list[str]:
    words = {True: "yes", False: "no", None: "blank"}
    return [words[oracle.truth(condition, row, exact)] for row in rows]


@pytest.mark.parametrize("seed", range(100 if WHOLE else 2))
def test_conditions_mean_what_is_documented(seed):
    chance = random.Random(seed)
    rows = random_rows(chance, 48, CELLS | TYPED)
    table = pa.Table.from_pylist(rows, SCHEMA)
    table = table.append_column("id", [range(len(rows))])
    table = table.append_column("area", [[f"{at:05}" for at in range(len(rows))]])
    for _ in range(3):
        condition, exact = random_condition(chance, [*SCHEMA.names, "text"]), chance.random() < 0.3
        check_condition(table, rows, condition, exact)


def test_every_value_of_a_row_occurs():
    """The conditions above say yes, no and blank of many rows each: the comparison is not about nothing."""
    seen: Counter[str] = Counter()
    chance = random.Random(1)
    rows = random_rows(chance, 48, CELLS)
    for _ in range(100):
        seen.update(expected_values(rows, random_condition(chance, list(CELLS)), False))
    assert min(seen[value] for value in ("yes", "no", "blank")) > 500


DOORS = {
    **FORMATS,
    "folder of csv": lambda columns, place: write_parts(columns, place / "people", [20], "csv"),
    "folder of parquet": lambda columns, place: write_parts(columns, place / "people", [20]),
}
COMMON_COLUMNS = ["text", "text", "whole", "real", 'odd "name", or']
CHOSEN_CONDITIONS = [
    ("=", "text", "yes"),
    ("not in", "text", ["strasse", "σίγμας", "É", "i"]),
    ("=", "text", "İ"),
    ("<=", "text", 18),
    ("in", "text", [18, 7]),
    (">", "text", "2024-01-30"),
    ("<", "text", "2024-01-31T12:00:00.5"),
    (">=", "text", "2024-01-31T23:00Z"),
    ("null", "text"),
    ("and", [(">", "whole", 0), ("!=", "real", 0.1)]),
]


@pytest.mark.parametrize("door", [*DOORS, "workers, csv", "workers, parquet"])
def test_a_cell_means_the_same_in_every_format(door, tmp_path, monkeypatch):
    chance = random.Random(7)
    cells = CELLS | {"real": [18.0, 0.1, -7.5, 1e300, None]}
    del cells["flag"]
    rows = random_rows(chance, len(TEXTS), cells)
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in cells}
    columns |= {"id": list(range(len(rows))), "area": [f"a{at:05}" for at in range(len(rows))]}
    options: dict[str, Any] = {}
    if door.startswith("workers"):
        monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline(twice=False))
        door, options = f"folder of {door.split()[1]}", {"workers": hetdp.Workers()}
    table = DOORS[door](columns, tmp_path)
    some = [random_condition(chance, COMMON_COLUMNS) for _ in range(100)]
    for condition in (
        CHOSEN_CONDITIONS + some if WHOLE else random.Random(door).sample(CHOSEN_CONDITIONS, 1 if options else 2)
    ):
        check_condition(table, rows, condition, **options)
    if "csv" in door or door == "xlsx":  # such a file cannot tell an empty text from none
        rows = [row | {"text": row["text"] or None} for row in rows]
    check_condition(table, rows, ("=", "text", "yes"), exact=True, **options)


def test_one_condition_is_released_once(tmp_path):
    """In any spelling, with or without a plan; exact text makes it another question."""
    frame = pandas.DataFrame({"id": range(9), "vote": ["Yes", "no", "yes "] * 3, "age": [str(at) for at in range(9)]})
    ledger = hetdp.Ledger.create(tmp_path / "people.ledger", source="people", cap=9)
    given: dict[str, Any] = {"at_least": 3, "epsilon": 1, "person": "id", "payment": hetdp.Payment(ledger)}
    first = hetdp.ask(frame, "vote = 'yes' AND NOT age < 2", **given).release
    again = hetdp.ask(frame, "age >= 2.0 AND age >= 2 AND NOT NOT vote IN ('YES', ' yes')", **given).release
    assert first is not None
    assert again is not None
    assert (first.repeated, again.repeated) == (False, True)
    exact = hetdp.ask(frame, "vote = 'yes' AND NOT age < 2", exact_text=True, **given).release
    assert exact is not None
    assert not exact.repeated


def test_a_plan_is_carried_out_for_the_same_condition_only(tmp_path):
    frame = pandas.DataFrame({"id": range(9), "vote": ["Yes", "no", "yes "] * 3})
    given: dict[str, Any] = {"at_least": 3, "epsilon": 1, "person": "id", "plan": tmp_path / "p.json", "dry_run": True}
    one = hetdp.ask(frame, "vote = 'yes'", **given)
    assert hetdp.ask(frame, "vote IN ('YES')", **given).digest == one.digest
    assert "case and surrounding spaces" in one.promise
    with pytest.raises(hetdp.InputError, match="exact_text"):
        hetdp.ask(frame, "vote = 'yes'", exact_text=True, **given)
    exact = hetdp.ask(frame, "vote = 'yes'", exact_text=True, **given | {"plan": tmp_path / "q.json"})
    assert "character by character" in exact.promise
    assert hetdp.ask(frame, plan=tmp_path / "q.json", dry_run=True).promise == exact.promise


def test_groups_that_look_alike_are_announced_and_stay_apart():
    frame = pandas.DataFrame({"id": range(4), "role": ["North", "north ", "South", "South"], "vote": "yes"})
    result = hetdp.ask(frame, "vote = 'yes'", at_least=1, epsilon=1, person="id", group="role", dry_run=True)
    assert (
        "groups that differ only in case or surrounding spaces, and are treated as different: 'North', 'north '"
        in result.promise
    )
    assert len(result.promises[0].protections) == 3
