"""What is counted: a small grammar, nothing beyond it, and a defined meaning for every row."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.spaces.privacy import grid
from hetdp.spaces.table import kinds
from hetdp.spaces.table.condition import condition
from hetdp.spaces.table.database import locked
from hetdp.spaces.table.parsing import parsed
from hetdp.spaces.table.predicate import Among, Comparison, Joined, Missing, Negation, Predicate

COLUMNS = {"vote": "VARCHAR", "age": "BIGINT", "height": "DOUBLE", "member": "BOOLEAN"}
TEXTS, NUMBERS = ["", "yes", "no", "it's", '"', "7", "1e2", "nan", "é\x00"], [-1, 0, 7, 18, 0.5]
ROWS = pa.table(
    {
        "vote": pa.array([None, *TEXTS], pa.string()),
        "age": pa.array([None, -1, 0, 7, 18, 2**62, -(2**63), 5, 6, 8], pa.int64()),
        "height": pa.array([None, float("nan"), 0.5, 7.0, -1.0, float("inf"), 0.0, 18.0, 1.0, -0.0], pa.float64()),
        "member": pa.array([None, True, False] * 3 + [None], pa.bool_()),
    }
)


def leaves() -> st.SearchStrategy[Predicate]:
    signs = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    numbers, texts = st.sampled_from(NUMBERS), st.sampled_from(TEXTS)
    return st.one_of(
        st.builds(Comparison, st.just("vote"), signs, texts | numbers),
        st.builds(Comparison, st.sampled_from(["age", "height"]), signs, numbers),
        st.builds(Comparison, st.just("member"), st.sampled_from(["=", "!="]), st.booleans()),
        st.builds(Among, st.just("vote"), st.lists(texts, min_size=1, max_size=3).map(tuple)),
        st.builds(Missing, st.sampled_from(sorted(COLUMNS))),
    )


def joined(parts: st.SearchStrategy[Predicate]) -> st.SearchStrategy[Predicate]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.builds(Negation, parts) | st.builds(Joined, st.sampled_from(["AND", "OR"]), several)


PREDICATES = st.recursive(leaves(), joined, max_leaves=6)


def said(predicate: Predicate, row: dict[str, Any]) -> bool | None:
    """The meaning, from its definition: None where it cannot be said."""
    if isinstance(predicate, Negation):
        inner = said(predicate.part, row)
        return None if inner is None else not inner
    if isinstance(predicate, Joined):
        found, decides = [said(part, row) for part in predicate.parts], predicate.word == "OR"
        return decides if decides in found else None if None in found else not decides
    cell = row[predicate.column]  # type: ignore[attr-defined]
    if isinstance(cell, float) and cell != cell:
        cell = None
    if isinstance(predicate, Missing):
        return cell is None
    if isinstance(predicate, Among):
        return None if cell is None else cell in predicate.values
    assert isinstance(predicate, Comparison)
    if isinstance(cell, str) and not isinstance(predicate.value, str):
        cell = float(cell) if re.fullmatch(r"[-+]?[0-9.]+(e[0-9]+)?", cell) else None
    if cell is None:
        return None
    left, right = (one.encode() if isinstance(one, str) else one for one in (cell, predicate.value))
    return {
        "=": left == right,
        "!=": left != right,
        "<": left < right,  # type: ignore[operator]
        "<=": left <= right,  # type: ignore[operator]
        ">": left > right,  # type: ignore[operator]
        ">=": left >= right,  # type: ignore[operator]
    }[predicate.operator]


@pytest.fixture(scope="module")
def database():
    with locked(None) as found:
        found.register("people", ROWS)
        yield found


@settings(max_examples=200)
@given(PREDICATES)
def test_the_database_finds_what_the_definition_says(database, predicate):
    words, parameters = condition(predicate, COLUMNS)
    found = database.execute(f"SELECT {words} FROM people", parameters).fetchall()
    assert [row[0] for row in found] == [said(predicate, row) for row in ROWS.to_pylist()]


@given(PREDICATES)
def test_what_is_written_is_read_again(predicate):
    assert str(parsed(str(predicate))) == str(predicate)
    words, parameters = condition(parsed(str(predicate)), COLUMNS)
    assert (words.replace("(", "").replace(")", ""), parameters) == (
        condition(predicate, COLUMNS)[0].replace("(", "").replace(")", ""),
        condition(predicate, COLUMNS)[1],
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("vote = 'yes'", "vote = 'yes'"),
        ("vote == 'yes' and age <> 3", "vote = 'yes' AND age != 3"),
        ('"my ""vote""" = \'it\'\'s\'', '"my ""vote""" = \'it\'\'s\''),
        ("a=1 or b=2 and not c is not null", "a = 1 OR (b = 2 AND NOT (NOT (c IS NULL)))"),
        ("a not in (1, -2.5, 'x')", "NOT (a IN (1, -2.5, 'x'))"),
        ("\n a\t=  TRUE ", "a = TRUE"),
        ("größe >= 1e3", "größe >= 1000.0"),
    ],
)
def test_the_grammar(text, written):
    assert str(parsed(text)) == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "vote",
        "vote = yes",
        "vote = 'yes",
        "vote = 'yes'; DROP TABLE people",
        "vote = 'yes' -- comment",
        "vote = (SELECT 1)",
        "vote = (1)",
        "1 = 1",
        "vote LIKE 'y%'",
        "lower(vote) = 'yes'",
        "vote = NULL",
        "NOT",
        "a = 1 AND",
        "(a = 1",
        "a = 1)",
        "a IN ()",
        "a = 1 b = 2",
        "a = 0x10",
        "a = 1_000",
        "a = 1e999",
        "a = 9007199254740993",
        "a || b = 'c'",
        "a = $1",
        "a = ?",
        "a \\= 1",
        "(" * 60 + "a = 1" + ")" * 60,
        "NOT " * 60 + "a = 1",
        "a = '" + "x" * 20_000 + "'",
        None,
        7,
    ],
)
def test_what_is_not_in_the_grammar_is_refused(text):
    with pytest.raises(hetdp.UsageError):
        parsed(text)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        predicate = parsed(text)
    except hetdp.UsageError:
        return
    assert str(parsed(str(predicate))) == str(predicate)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("nobody = 1", "no column 'nobody'"),
        ("Vote = 'yes'", "no column 'Vote'.*'vote' looks like it"),
        ("age = 'yes'", "whole numbers"),
        ("height = 'yes'", "numbers"),
        ("member = 'true'", "true or false"),
        ("member < TRUE", "true or false"),
        ("vote = TRUE", "text"),
        ("tags = 'a'", "other things"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_its_type(text, rule):
    with pytest.raises(hetdp.UsageError, match=rule):
        condition(parsed(text), {**COLUMNS, "tags": "VARCHAR[]"})


def test_the_grammar_of_epsilon_is_the_same_as_in_privacy_rules():
    assert grid._is_epsilon.__self__.pattern == kinds.EPSILON


@given(st.sampled_from(["0.3", ".5", "1.", "1e3", "inf", "Infinity", "-1", "nan", "", " 1", "1 ", "1,5", "+1", "0x1"]))
def test_a_text_is_an_epsilon_if_and_only_if_privacy_rules_take_it(text):
    with locked(None) as database:
        database.register("people", {"eps": np.array([text], dtype=object)})
        value, _ = kinds.epsilon("eps", "VARCHAR")
        (found,) = database.execute(f"SELECT {value} FROM people").fetchone()
    assert (found >= 0) == (grid._is_epsilon(text) is not None)
