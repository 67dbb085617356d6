"""Every kind of question and condition through the public `ask`, against an oracle that knows only the documentation.

A table is an area, so that one call asks many tables; ε is so large that a simulated answer is the side of ½ on which
the mechanism lies. HETDP_WHOLE_ORACLE=1 asks all tables of up to six people, in about a quarter of an hour.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from itertools import combinations_with_replacement, product
from typing import Any

import pandas
import pytest

import hetdp
from tests.oracle import asking as oracle

WHOLE = bool(os.environ.get("HETDP_WHOLE_ORACLE"))
CERTAIN = 200  # of an ε: what is less probable than e⁻²⁰⁰ is never drawn
SPELLINGS = {
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
    *((question, "balanced") for question in ONE_VALUE + SEVERAL_VALUES + NO_FORMULA),
    *((question, "weighted-vote") for question in ONE_VALUE if question["asks"] != "weighted_sum"),
    *((question, "fair") for question in ONE_VALUE + SEVERAL_VALUES + NO_FORMULA),
]


def groups_of(question: Q) -> set[str]:
    """The groups that a question names, which every area must have."""
    parts = [*question.get("parts", ()), *([question["part"]] if "part" in question else [])]
    group = question.get("group", [])
    named = {group} if isinstance(group, str) else set(group)
    named |= set(question.get("weights", ())) | {question[key] for key in ("group_a", "group_b") if key in question}
    return named.union(*map(groups_of, parts))


def asked_about(tables: list[Any], seed: int) -> pandas.DataFrame:
    """One area for each table; rows in any order, and values spelt in any way."""
    chance = random.Random(seed)
    rows = [
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
        tables = random.Random(str(question)).sample(tables, 25)
    frame = asked_about(tables, len(tables))
    asked = hetdp.ask(
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
    found = [one.answer == "yes" for one in asked.simulated]
    assert found == [oracle.answer(question, list(table)) for table in tables]


def test_the_flaw_that_was_reported(tmp_path):
    """Three yes, one no and three blank rows: yes wins, and blank rows do not count."""
    votes = ["yes"] * 3 + ["no"] + [None] * 3
    frame = pandas.DataFrame({"id": range(7), "vote": votes})
    question = hetdp.questions.versus("yes", "no")
    for epsilon in (1, CERTAIN):
        options = {"epsilon": epsilon, "person": "id", "question": question}
        asked = hetdp.ask(frame, "vote = 'yes'", simulate=True, **options)
        with asked._again() as prepared:
            (z,) = prepared.coordinates()
        assert z > 0
    assert asked.simulated[0].answer == "yes"


# Conditions: every row is an area of one person, so that three questions tell whether it is yes, no or blank.

TEXTS = [
    "yes",
    " Yes\t",
    "NO",
    "",
    " ",
    "straße",
    "STRASSE",
    "Σίγμας",
    "ΣΊΓΜΑΣ",
    "İ",
    "i",
    "I",
    "ı",
    "é",
    "E\u0301",
    "18",
]
TEXTS += [" 18.0 ", "\u00a07", "1e1", "inf", "nan", "1e999", "1,5", "0x7", "١٨", "2024-01-31", " 2024-01-31T12:00 "]
TEXTS += [
    "2024-02-30",
    "31.01.2024",
    "2024-01-31 12:00:00.5",
    "2024-01-31T23:00Z",
    "2024-02-01T01:00+02:00",
    "true",
    None,
]
CELLS: dict[str, list[Any]] = {
    "text": TEXTS,
    "whole": [None, 18, 0, -7, 2**40, 17, 18, 19],
    "real": [None, 18.0, 0.1, -7.5, float("nan"), 1e300, 0.5, 17.999],
    "flag": [None, True, False, True],
    'odd "name", or': ["yes", "no", None],
}
LITERALS = {
    "text": ["yes", " YES", "no", "strasse", "σίγμας", "i", "İ", "é", "18", "2024-01-31", "TRUE", "it's"],
    'odd "name", or': ["yes", "Yes"],
}
NUMBERS = [18, 18.0, 7, 0.5, -7.5, 10, 0, 0.1]
MOMENTS = ["2024-01-31", "2024-02-01", "2024-01-31T12:00", "2024-01-31 12:00:00.500", "2024-01-31T23:00Z", "2023-01-01"]


def leaf(chance: random.Random) -> tuple[Any, ...]:
    """A comparison of some kind."""
    column = chance.choice([*CELLS, "text", "text"])
    if chance.random() < 0.1:
        return chance.choice(["null", "not null"]), column
    if column == "flag":
        return chance.choice(["=", "!="]), column, chance.random() < 0.5
    if column == "text" and chance.random() < 0.25:
        return chance.choice(["<", "<=", ">", ">="]), column, chance.choice(MOMENTS)
    if column in LITERALS and (column != "text" or chance.random() < 0.6):
        values = LITERALS[column]
        if chance.random() < 0.4:
            mixed = values + NUMBERS if column == "text" else values
            return chance.choice(["in", "not in"]), column, chance.choices(mixed, k=chance.randint(1, 4))
        return chance.choice(["=", "!="]), column, chance.choice(values)
    if chance.random() < 0.2:
        return chance.choice(["in", "not in"]), column, chance.choices(NUMBERS, k=2)
    return chance.choice(list(oracle.SIGNS)), column, chance.choice(NUMBERS)


def some_condition(chance: random.Random, depth: int = 3) -> tuple[Any, ...]:
    """Any condition, with NOT, AND and OR within each other."""
    roll = chance.random()
    if depth == 0 or roll < 0.4:
        return leaf(chance)
    if roll < 0.55:
        return "not", some_condition(chance, depth - 1)
    parts = [some_condition(chance, depth - 1) for _ in range(chance.randint(2, 3))]
    return chance.choice(["and", "or"]), parts


def some_rows(chance: random.Random, size: int) -> list[dict[str, Any]]:
    """Rows in which every text is there at least once."""
    rows = [{column: chance.choice(cells) for column, cells in CELLS.items()} for _ in range(size)]
    for row, text in zip(rows, TEXTS, strict=False):
        row["text"] = text
    return rows


def said_by(table: Any, condition: str, exact: bool, **options: Any) -> list[str]:
    """What each row says, by three questions about areas of one person each."""
    found: dict[str, str] = {}
    for value in ("yes", "no", "blank"):
        question = hetdp.questions.count(value, 1)
        told = {"question": question, "epsilon": CERTAIN, "person": "id", "by": "area", "exact_text": exact, **options}
        asked = hetdp.ask(table, condition, simulate=True, **told)
        for one in asked.simulated:
            if one.answer == "yes":
                assert found.setdefault(str(one.area), value) == value
    return [found[area] for area in sorted(found)]


def expected(rows: list[dict[str, Any]], condition: tuple[Any, ...], exact: bool) -> list[str]:
    words = {True: "yes", False: "no", None: "blank"}
    return [words[oracle.truth(condition, row, exact)] for row in rows]


@pytest.mark.parametrize("seed", range(200 if WHOLE else 6))
def test_conditions_mean_what_is_documented(seed):
    chance = random.Random(seed)
    rows = some_rows(chance, 48)
    frame = pandas.DataFrame(rows)
    frame = frame.astype({"whole": "Int64", "flag": "boolean", "text": object})
    frame["id"], frame["area"] = range(len(rows)), [f"{at:05}" for at in range(len(rows))]
    for _ in range(3):
        condition, exact = some_condition(chance), chance.random() < 0.3
        if exact or " " not in oracle.written(condition).replace("''", ""):
            pass
        assert said_by(frame, oracle.written(condition), exact) == expected(rows, condition, exact), condition


def test_every_value_of_a_row_is_seen():
    """The conditions above say yes, no and blank of many rows each: the comparison is not about nothing."""
    seen: Counter[str] = Counter()
    chance = random.Random(1)
    rows = some_rows(chance, 48)
    for _ in range(100):
        seen.update(expected(rows, some_condition(chance), False))
    assert min(seen[value] for value in ("yes", "no", "blank")) > 500
