"""Conditions: a small grammar, one canonical form for each meaning, and a result for every row."""

from __future__ import annotations

import random
import re
import unicodedata
from datetime import MAXYEAR, MINYEAR

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetdp
from hetdp.people.privacy import epsilons as grid
from hetdp.tables import kinds
from hetdp.tables.comparison import (
    PLAIN,
    SPELLINGS,
    fold_text,
    fold_text_sql,
    group_similar_names,
    moment_of,
    open_locked,
    spelling_pattern,
)
from hetdp.tables.conditions import NO, UNKNOWN, YES, condition
from hetdp.tables.predicates import canonical_predicate, format_literal, parse_predicate
from tests.loops import for_each
from tests.oracle import asking as oracle
from tests.oracle.conditions import CELLS, SCHEMA, TYPED, random_condition, random_rows, rewrite_condition

CODES = {YES: True, NO: False, UNKNOWN: None}
ROWS = random_rows(random.Random(0), 80, CELLS | TYPED)
COLUMNS = {
    "vote": "VARCHAR",
    "age": "BIGINT",
    "height": "DOUBLE",
    "member": "BOOLEAN",
    "born": "DATE",
    "seen": "TIMESTAMP",
    "tags": "VARCHAR[]",
}


@pytest.fixture(scope="module")
def database():
    with open_locked(None) as found:
        found.register("people", pa.Table.from_pylist(ROWS, SCHEMA))
        found.execute("CREATE TEMP TABLE rows AS SELECT * FROM people")  # of this connection only
        yield found


@pytest.fixture(scope="module")
def columns(database):
    return {name: kind for name, kind, *_ in database.execute("DESCRIBE rows").fetchall()}


@for_each("seed", range(200))
def test_a_condition_and_its_canonical_form_mean_what_is_documented(database, columns, seed):
    chance = random.Random(seed)
    given_condition, exact = random_condition(chance, list(columns)), seed % 3 == 0
    meant = [oracle.truth(given_condition, row, exact) for row in ROWS]
    typed = parse_predicate(oracle.condition_text(given_condition))
    for predicate in (typed, canonical_predicate(typed, exact)):
        words, parameters = condition(predicate, columns, exact)
        found = database.execute(f"SELECT {words} FROM rows", parameters).fetchall()
        assert [CODES[row[0]] for row in found] == meant, oracle.condition_text(given_condition)
        words, parameters = condition(predicate, columns, exact, only_yes=True)
        found = database.execute(f"SELECT {words} FROM rows", parameters).fetchall()
        assert [row[0] == YES for row in found] == [one is True for one in meant], oracle.condition_text(
            given_condition
        )


@for_each("seed", range(100))
def test_nothing_is_computed_for_some_rows_only(columns, seed):
    """No CASE, AND, OR, WHERE or FILTER, but for texts that are not simple; see `spelling`."""
    words, parameters = condition(
        parse_predicate(oracle.condition_text(random_condition(random.Random(seed), list(columns)))),
        columns,
        bool(seed % 2),
    )
    outside = re.sub(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", "", words)
    assert "hetdp_folded" in outside or not re.search(r"\b(CASE|AND|OR|WHERE|FILTER|nullif|if)\b", outside), words
    assert outside.count("?") == len(parameters)


@for_each("seed", range(200))
def test_equivalent_conditions_have_the_same_canonical_form(seed):
    chance = random.Random(seed)
    given_condition, exact = random_condition(chance, [*CELLS, *TYPED]), seed % 3 == 0
    form = canonical_predicate(parse_predicate(oracle.condition_text(given_condition)), exact)
    other = rewrite_condition(chance, given_condition, exact)
    assert str(canonical_predicate(parse_predicate(oracle.condition_text(other), typed=False), exact)) == str(form), (
        oracle.condition_text(other)
    )
    assert canonical_predicate(parse_predicate(str(form), typed=False), exact) == form
    assert str(parse_predicate(str(form), typed=False)) == str(form)


@for_each(
    ("text", "written"),
    [
        ("vote = 'yes'", "vote = 'yes'"),
        ("vote == 'yes' and age <> 3", "vote = 'yes' AND age != 3"),
        ('"my ""vote""" = \'it\'\'s\'', '"my ""vote""" = \'it\'\'s\''),
        ("a=1 or b=2 and not c is not null", "a = 1 OR (b = 2 AND NOT (c IS NOT NULL))"),
        ("a not in (1, -2.5, 'x')", "a NOT IN (1, -2.5, 'x')"),
        ("\n a\t=  TRUE ", "a = TRUE"),
        ("größe >= 1e3", "größe >= 1000.0"),
    ],
)
def test_conditions_follow_the_grammar(text, written):
    assert str(parse_predicate(text)) == written


@for_each(
    ("texts", "form"),
    [
        (["vote = 'yes'", "vote IN ('yes')", "vote = ' YES '", "\"vote\" in ('Yes','yes')"], "vote = 'yes'"),
        (["NOT vote = 'no'", "vote != 'No'", "vote NOT IN ('no')", "NOT NOT NOT vote = 'no'"], "vote != 'no'"),
        (["a = 1", "a = 1.0", "a = 1e0", "a = 01", "a IN (1, 1.0)"], "a = 1"),
        (["a = 1 OR (b = 2 OR a = 3)", "a IN (3, 1) OR b = 2"], "a IN (1, 3) OR b = 2"),
        (["NOT (a = 1 OR a = 3)", "a != 3 AND a != 1", "a NOT IN (1, 3)"], "a NOT IN (1, 3)"),
        (["NOT (a < 1 AND b IS NULL)", "b IS NOT NULL OR a >= 1"], "a >= 1 OR b IS NOT NULL"),
        (["m != TRUE", "m = FALSE", "NOT m = TRUE", "m NOT IN (TRUE)"], "m = FALSE"),
        (["d > '2024-01-31 12:00'", "d > '2024-01-31T12:00:00.000'"], "d > '2024-01-31T12:00:00'"),
        (["d >= '2024-01-31T12:00+02:00'", "d >= '2024-01-31 10:00Z'"], "d >= '2024-01-31T10:00:00Z'"),
        (["a = '1' OR a = 1", "a IN (1, '1')"], "a IN ('1', 1)"),
        (["a = -0", "a = -0.0", "a = 0"], "a = 0"),
    ],
)
def test_the_canonical_form_is_readable(texts, form):
    assert {str(canonical_predicate(parse_predicate(text))) for text in texts} == {form}


def test_exact_text_distinguishes_what_was_typed():
    forms = {
        str(canonical_predicate(parse_predicate(text), exact_text=True))
        for text in ("a = 'yes'", "a = 'Yes'", "a = 'yes '", "a = ''")
    }
    assert len(forms) == 4


@for_each(
    ("text", "hint"),
    [
        ("age >= '18'", "write 18 without quotation marks"),
        ("age < ' -1.5 '", "write -1.5 without quotation marks"),
        ("born >= '01.01.2024'", "'2024-01-31'"),
        ("born >= '2024-02-30'", "'2024-01-31'"),
        ("vote > 'a'", "=, != and IN"),
        ("NOT vote <= 'a'", "=, != and IN"),
        ("member > TRUE", "member = TRUE"),
        ("vote = ' '", "vote IS NULL"),
        ("vote IN ('yes', '')", "vote IS NULL"),
    ],
)
def test_values_without_an_order_are_refused_before_any_table_is_read(text, hint):
    with pytest.raises(hetdp.UsageError) as refusal:
        canonical_predicate(parse_predicate(text))
    assert hint in refusal.value.hint


@for_each(
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
        "vote BETWEEN 1 AND 2",
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
def test_text_outside_the_grammar_is_refused(text):
    with pytest.raises(hetdp.UsageError):
        parse_predicate(text)


@for_each(
    ("text", "found"),
    [
        ("a = b", "expected a value ('text', a number, TRUE or FALSE), found 'b'; "),
        ("a =", "expected a value ('text', a number, TRUE or FALSE), but the condition ends; "),
        ("a IN (b, 'c')", "expected a value ('text', a number, TRUE or FALSE), found 'b'; "),
        ("a IN (1 2)", "expected ), found '2'; "),
        ("= 1", "expected the name of a column, found '='; "),
        ("a = 1 b = 2", "expected the end, AND or OR, found 'b'; "),
        ("a IS 1", "expected NULL, found '1'; "),
        ("a LIKE 'b'", "expected a comparison (=, !=, <, <=, >, >=, IN or IS NULL), found 'LIKE'; "),
    ],
)
def test_a_refusal_states_what_is_expected_and_what_was_found(text, found):
    with pytest.raises(hetdp.UsageError) as refusal:
        parse_predicate(text)
    assert str(refusal.value).startswith(found)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        predicate = parse_predicate(text)
    except hetdp.UsageError:
        return
    assert str(parse_predicate(str(predicate))) == str(predicate)


def test_the_longest_and_deepest_condition_can_be_read_from_a_plan():
    deep = "a=1 or b=2 and(" * 40 + "c=1" + ")" * 40
    long = "a in(" + ",".join(f"'ΐ{at}'" for at in range(1380)) + ")"
    for text in (deep, long):
        form = canonical_predicate(parse_predicate(text))
        assert canonical_predicate(parse_predicate(str(form), typed=False)) == form


@for_each(
    ("text", "rule"),
    [
        ("nobody = 1", "no column 'nobody'"),
        ("Vote = 'yes'", "no column 'Vote'.*did you mean 'vote'"),
        ("age = '18'", "whole numbers.*without quotation marks"),
        ("age > '2024-01-31'", "whole numbers"),
        ("height = 'yes'", "numbers"),
        ("member = 'true'", "true or false"),
        ("member = 1", "true or false"),
        ("tags = 'a'", "other things"),
        ("tags IS NULL", "other things"),
        ("born > 2024", "dates.*born > '2024-01-31'"),
        ("born = 'yes'", "holds dates.*born = '2024-01-31'"),
        ("born = '2024-01-31T12:00'", "without one.*born = '2024-01-31'"),
        ("seen < '2024-01-31T12:00Z'", "time zone.*seen < '2024-01-31T12:00:00'"),
    ],
)
def test_incomparable_columns_are_refused_by_their_type(text, rule):
    with pytest.raises(hetdp.UsageError, match=rule):
        condition(canonical_predicate(parse_predicate(text)), COLUMNS)


def test_texts_are_folded_by_the_database_as_in_python():
    """Every letter, alone and among others, and its decomposed form: all that have a case, are white space or plain."""
    letters = [
        letter
        for letter in map(chr, range(0x110000))
        if (letter.casefold(), letter.upper(), letter.strip()) != (letter,) * 3 or re.fullmatch(PLAIN, letter)
    ]
    texts = [form for letter in letters for form in (letter, f" a{letter}B ", unicodedata.normalize("NFD", letter))]
    assert len(texts) > 100_000
    with open_locked(None) as database:
        database.register("people", {"cell": np.array(texts, dtype=object)})
        found = database.execute(f"SELECT {fold_text_sql('cell')} FROM people").fetchall()
    meant = [oracle.normal_text(text) for text in texts]
    assert [fold_text(text) for text in texts] == meant
    assert [row[0] for row in found] == [text or None for text in meant]


def test_the_list_of_letters_compared_as_ascii_is_complete():
    """Nothing else of Unicode is compared as ASCII letters; and these have no parts, and combine with no other."""
    found: dict[str, set[str]] = {}
    for letter in map(chr, range(0x110000)):
        meant = unicodedata.normalize("NFC", letter).casefold()
        if meant.isascii() and not letter.isascii():
            found.setdefault(meant, set()).add(letter)
    assert found == {text: set(letters) for text, letters in SPELLINGS.items()}
    others = {
        letter for letters in SPELLINGS.values() for letter in letters if unicodedata.normalize("NFC", letter) == letter
    }
    assert all(
        unicodedata.normalize("NFD", letter) == letter and not unicodedata.combining(letter) for letter in others
    )


def test_a_pattern_finds_exactly_the_texts_that_are_compared_as_one():
    words = [
        "yes",
        "first",
        "office",
        "mississippi",
        "k;`",
        "a-b.c*[d]^\\",
        "it's",
        "ja nein",
        "ffissfflstss",
        "ssssssss",
    ]
    assert [spelling_pattern(word) for word in ("ssssssssss", "é", "")] == [None] * 3
    chance, texts = random.Random(5), ["", " ", "yes\u0301", "ye\u0301s", "y es", "first.", "mississipp"]
    letters = sorted({letter for letters in SPELLINGS.values() for letter in letters})
    for word in words:
        for _ in range(400):
            text = word
            for meant, others in chance.sample(sorted(SPELLINGS.items()), 6):
                text = text.replace(meant, chance.choice([*others, meant.upper(), meant]), chance.randint(0, 2))
            if chance.random() < 0.2:
                at = chance.randrange(len(text) + 1)
                text = text[:at] + chance.choice([*letters, " ", "s"]) + text[at + chance.randint(0, 1) :]
            texts.append(chance.choice(["", " ", "\t\u3000"]) + text + chance.choice(["", "\u2003", "\n"]))
    matches = 0
    with open_locked(None) as database:
        database.register("people", {"cell": np.array(texts, dtype=object)})
        for word in words:
            words_of, parameters = condition(parse_predicate(f"cell = {format_literal(word)}"), {"cell": "VARCHAR"})
            assert "CASE" not in words_of
            found = [CODES[row[0]] for row in database.execute(f"SELECT {words_of} FROM people", parameters).fetchall()]
            assert found == [(oracle.normal_text(text) == word if oracle.normal_text(text) else None) for text in texts]
            matches += found.count(True)
    assert matches > 2000


def test_plain_letters_combine_with_no_other():
    """So a text of them is in normal form C in any order."""
    decomposed = [unicodedata.decomposition(chr(code)).split() for code in range(0x110000)]
    second = {chr(int(parts[1], 16)) for parts in decomposed if len(parts) == 2 and "<" not in parts[0]}
    jamo = {chr(code) for code in range(0x1100, 0x1200)}
    plain = set("".join(re.findall(PLAIN, "".join(map(chr, range(0x110000))))))
    assert len(plain) > 30_000
    assert not plain & (second | jamo)
    assert all(unicodedata.normalize("NFC", letter) == letter and not unicodedata.combining(letter) for letter in plain)


def test_names_that_look_alike_are_found():
    assert group_similar_names(["b", "North", "a", "NORTH ", "north"]) == [["North", "NORTH ", "north"]]


@given(st.datetimes(), st.sampled_from(["T", " "]), st.sampled_from(["", "Z", "+02:00", "-11:30"]))
def test_timestamps_are_read_as_python_reads_them(when, between, zone):
    text = when.isoformat(between) + zone
    found = moment_of(text)
    if found is None:  # it has no year in UTC
        assert zone
        assert when.year in (MINYEAR, MAXYEAR)
    else:
        again = moment_of(str(found))
        assert again is not None
        assert again[1:] == found[1:]
        assert (found.zoned, found.day) == (bool(zone), when.date())


EPSILON_TEXTS = [
    "0.3",
    ".5",
    "1.",
    "1e3",
    "1e-3",
    "inf",
    "Infinity",
    "INF",
    "+inf",
    "-inf",
    "-1",
    "-0",
    "nan",
    "",
    " 1",
    "1 ",
]
EPSILON_TEXTS += [
    "\u30001\t",
    "1,5",
    "+1",
    "0x1",
    "1e400",
    "1e12345",
    "1e123456",
    "1_000",
    "1e",
    ".",
    "0" * 400,
    "0" * 401,
]


@for_each("text", EPSILON_TEXTS)
def test_a_text_is_an_epsilon_exactly_if_privacy_rules_accept_it(text):
    with open_locked(None) as database:
        database.register("people", {"eps": np.array([text], dtype=object)})
        value, _ = kinds.epsilon("eps", "VARCHAR")
        (found,) = database.execute(f"SELECT {value} FROM people").fetchone()
    try:
        assert found == float(grid.parse_epsilon(text))
    except hetdp.UsageError:
        assert found == -1
