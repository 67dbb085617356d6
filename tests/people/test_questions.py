"""The descriptions and documents of questions, and what is refused."""

from __future__ import annotations

import doctest
import inspect
import json
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp import InputError, UsageError, questions
from hetdp.documents import DEEPEST_NESTING
from hetdp.numbers import format_exact, format_share, parse_exact
from tests.loops import for_each
from tests.people.questions_to_ask import NESTED

ANY: Any = questions  # what is refused has no right type
count = {"asks": "count", "value": "yes", "at_least": 3}


def document(question, **changes):
    return {"schema_version": 1, "kind": "question", "question": question} | changes


@given(NESTED)
@settings(max_examples=100, deadline=None)
def test_a_question_comes_back_from_its_document(question):
    found = question.document()
    assert questions.from_document(found) == question
    assert questions.from_json(json.dumps(found)) == question


@given(NESTED)
@settings(max_examples=50, deadline=None)
def test_a_question_and_its_copy_from_a_document_have_the_same_description(question):
    words = str(question)
    assert len(words) > 10
    assert str(questions.from_document(question.document())) == words


@for_each(
    ("question", "words"),
    [
        (questions.count("yes", 1), "at least 1 row counts as yes"),
        (questions.count("ill", 3, group="Pupils"), "at least 3 rows of Pupils count as ill"),
        (questions.count("yes", 10001), "at least 10,001 rows count as yes"),
        (
            questions.share("yes", "50%"),
            "at least half of all rows count as yes; exactly half is enough; blank rows do not count as yes",
        ),
        (
            questions.share("ill", 0.1, strict=True, group=["Pupils", "Staff"]),
            "more than 10% of all rows of Pupils and Staff count as ill; exactly 10% is not enough;"
            " blank rows do not count as ill",
        ),
        (
            questions.majority(of="respondents"),
            "more than half of all rows that are not blank count as yes; exactly half is not enough;"
            " if all are blank, the answer is no",
        ),
        (questions.share("blank", "1/3"), "at least 1/3 of all rows count as blank; exactly 1/3 is enough"),
        (
            questions.versus("A", "B", ties="yes"),
            "more rows count as A than as B; a tie counts as yes; rows with any other value do not count",
        ),
        (
            questions.ratio_of_shares("admitted", "F", "M"),
            "the share of all rows that count as admitted is at least 0.8 times as large in F as in M; exactly that is"
            " enough; if the share of M is zero, or if a group has no rows, the answer is yes",
        ),
        (
            questions.ratio_of_shares("paralytic", "vaccinated", "placebo", "50%", of="respondents", strict=True),
            "the share of all rows that are not blank that count as paralytic is more than 0.5 times as large in"
            " vaccinated as in placebo; exactly that is not enough; if both are zero, or if a group has no rows that"
            " are not blank, the answer is no",
        ),
        (~questions.count("yes", 2), "not (at least 2 rows count as yes)"),
        (
            questions.count("a", 2) | questions.count("b", 2) | questions.count("c", 2),
            "(at least 2 rows count as a) or (at least 2 rows count as b) or (at least 2 rows count as c)",
        ),
        (ANY.function(abs, "something"), "something (a Python function)"),
    ],
)
def test_questions_are_described_as_expected(question, words):
    assert str(question) == words


def test_a_name_is_quoted_in_the_description():
    assert str(questions.count("yes; ties count as yes", 2)) == "at least 2 rows count as 'yes; ties count as yes'"


def test_a_question_can_be_written_in_toml():
    text = """
        schema_version = 1
        kind = "question"
        [question]
        asks = "or"
        [[question.parts]]
        asks = "share"
        value = "limited"
        at_least = 0.05
        strict = true
        [[question.parts]]
        asks = "weighted_sum"
        weights = {County = 0.1}
        scores = {limited = 1}
        at_least = "1000.1"
    """
    expected = questions.share("limited", "5%", strict=True) | questions.weighted_sum(
        {"County": Fraction(1, 10)}, Fraction(10001, 10), {"limited": 1}
    )
    assert questions.from_toml(text) == expected


def test_decimals_in_a_document_are_exact():
    text = json.dumps(document({"asks": "share", "value": "yes", "at_least": 7})).replace("7", "0.30000000000000000001")
    assert questions.from_json(text).at_least == Fraction("0.30000000000000000001")


def test_a_majority_may_be_written_as_one():
    found = questions.from_document(
        document({"asks": "majority", "value": "yes", "of": "respondents", "blank": "none"})
    )
    assert found == questions.majority(of="respondents", blank="none")


@for_each(
    ("given_document", "message"),
    [
        (
            document(count | {"at_leest": 3}),
            "question: unknown key 'at_leest'; the keys are asks, value, at_least, group",
        ),
        (document(count | {"at_leest": 3}), "Hint: did you mean 'at_least'?"),
        (document({"asks": "count", "value": "yes"}), "missing key at_least; asks, value, at_least are required"),
        (document({"value": "yes"}), "it has the key asks, which is one of all_of, count"),
        (document({"asks": "cuont"}), "not a question: 'cuont'"),
        (document({"asks": "cuont"}), "Hint: did you mean 'count'?"),
        (document(["count"]), "not a question: ['count']"),
        (document({"asks": ["count"]}), "not a question: ['count']"),
        (document(count | {"at_least": "many"}), "at_least is 'many'; it must be a whole number ≥ 0"),
        (document(count | {"at_least": True}), "at_least is true; it must be a whole number ≥ 0"),
        (document(count | {"group": []}), "the group is []"),
        (document(count | {"group": {"A": 1}}), "the group is {'A': 1}; it must be non-empty text"),
        (document({"asks": "and", "parts": [count]}), "and joins a list of two questions or more"),
        (document({"asks": "not", "parts": [count]}), "unknown key 'parts'"),
        (document({"asks": "or", "parts": [count, count | {"value": ""}]}), "question.parts[1]: the value is ''"),
        (document({"asks": "not", "part": {"asks": "not", "part": 3}}), "question.part.part: not a question: 3"),
        (document({"asks": "share", "value": "yes", "at_least": 1, "blank": "x"}), "of='all' counts every row"),
        (document(count, schema_version=2), "a newer schema_version: 2; this hetdp reads schema_version 1"),
        (document(count, schema_version=True), "schema_version True"),
        (document(count, kind="privacy"), "wrong kind of document: 'privacy'; expected the kind 'question'"),
        (document(count, note="x"), "unknown key 'note'"),
        ({"kind": "question", "question": count}, "missing key schema_version"),
        ([], "not an object: []"),
    ],
)
def test_a_document_is_read_strictly(given_document, message):
    with pytest.raises(InputError) as refusal:
        questions.from_document(given_document)
    assert message in str(refusal.value)


def test_all_keys_that_are_wrong_are_reported_at_once():
    with pytest.raises(InputError) as refusal:
        questions.from_document(document({"asks": "versus", "a": "x", "c": "y", "d": "z"}))
    assert refusal.value.total == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ('{"kind": 1, "kind": 2}', "the key 'kind' appears twice"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_text_that_is_not_json_is_refused(text, message):
    with pytest.raises(InputError) as refusal:
        questions.from_json(text)
    assert message in str(refusal.value)


def test_a_text_that_is_not_toml_is_refused():
    with pytest.raises(InputError, match="not TOML"):
        questions.from_toml("schema_version")


def test_deeply_nested_questions_are_refused():
    body = count
    for _ in range(DEEPEST_NESTING + 1):
        body = {"asks": "not", "part": body}
    with pytest.raises(InputError, match=f"at most {DEEPEST_NESTING} levels are allowed"):
        questions.from_document(document(body))


@pytest.mark.parametrize("join", [lambda q: q, lambda q: ~q, lambda q: q & questions.count("yes", 1)])
def test_a_function_cannot_be_written_down(join):
    with pytest.raises(UsageError, match="'odd' is a Python function; only questions that are data") as refusal:
        join(ANY.function(abs, "odd")).document()
    kinds = "all_of, count, majority, ratio_of_shares, share, versus, weighted_sum"
    assert f"Hint: {kinds}, joined by &, | and ~, can be" in str(refusal.value)


@for_each(
    ("make", "message"),
    [
        (lambda: ANY.count("yes", at_least=-1), "at_least is -1; it must be a whole number ≥ 0"),
        (lambda: ANY.count("yes", at_least=1.5), "at_least is 1.5; it must be a whole number ≥ 0"),
        (lambda: ANY.count(1, at_least=1), "the value is 1; it must be non-empty text"),
        (lambda: ANY.count("yes", 1, group=["A", "A"]), "there must be at least one name"),
        (lambda: ANY.share("yes", at_least="150%"), "at_least is '150%'; a share is a number from 0 to 1"),
        (lambda: ANY.share("yes", at_least=50), "a share is a number from 0 to 1"),
        (lambda: ANY.share("yes", at_least=float("nan")), "at_least is nan; it must be a number such as"),
        (lambda: ANY.share("yes", 0.5, of="rows"), "of is 'rows'; a share is of 'all' rows or of 'respondents'"),
        (lambda: ANY.share("yes", 0.5, strict="no"), "strict is 'no'; it must be true or false"),
        (lambda: ANY.share("blank", 0.5, of="respondents"), "the value 'blank' is called blank"),
        (lambda: ANY.versus("A", "A"), "a and b are both 'A'"),
        (lambda: ANY.versus("A", "B", ties="draw"), "ties is 'draw'; a tie counts as 'no' or 'yes'"),
        (lambda: ANY.weighted_sum({}, 1), "the weights are {}"),
        (lambda: ANY.weighted_sum({"A": "x"}, 1), "the weight of 'A' is 'x'"),
        (lambda: ANY.weighted_sum({"A": 1}, 1, scores=[1]), "the scores are [1]"),
        (lambda: ANY.ratio_of_shares("yes", "A", "A"), "group_a and group_b are both 'A'"),
        (lambda: ANY.ratio_of_shares("yes", "A", "B", at_least=-1), "at_least is -1; it must be a number ≥ 0"),
        (lambda: ANY.all_of(""), "the group is ''"),
        (lambda: ANY.function(3, "three"), "f is 3"),
        (lambda: ANY.function(abs, ""), "words is ''"),
    ],
)
def test_values_that_are_not_questions_are_refused(make, message):
    with pytest.raises(UsageError) as refusal:
        make()
    assert message in str(refusal.value)


@for_each(
    ("number", "expected"),
    [
        (0.1, Fraction(1, 10)),
        ("12.5 %", Fraction(1, 8)),
        (" 4 / 5 ", Fraction(4, 5)),
        ("1e-3", Fraction(1, 1000)),
        (Decimal("0.30"), Fraction(3, 10)),
        (".5", Fraction(1, 2)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int8(3), Fraction(3)),
    ],
)
def test_a_number_is_what_was_written(number, expected):
    assert parse_exact(number, "it") == expected


@for_each(
    "number",
    [
        "",
        "%",
        "1/0",
        "1_000",
        "inf",
        "½",
        "0x1",
        "1e9999",
        "9" * 500,
        10**500,
        "1e999",
        Fraction(10**500),
        None,
        True,
        [1],
        1j,
    ],
)
def test_values_that_are_not_numbers_are_refused(number):
    with pytest.raises(UsageError, match="it must be a number such as 3"):
        parse_exact(number, "it")


@given(st.fractions())
def test_a_written_number_is_the_same_number(number):
    assert parse_exact(format_exact(number), "it") == number


def test_shares_are_described():
    assert [format_share(Fraction(*share)) for share in [(1, 2), (1, 1), (1, 1000), (1, 3)]] == [
        *("half", "100%", "0.1%", "1/3")
    ]


@pytest.mark.parametrize("module", [hetdp.questions, hetdp.privacy], ids=lambda module: module.__name__)
def test_every_name_is_explained_and_every_function_has_an_example(module):
    for name in module.__all__:
        found = getattr(module, name)
        assert inspect.getdoc(found), name
        if inspect.isfunction(found):
            assert any(test.examples for test in doctest.DocTestFinder(recurse=False).find(found, name)), name


@pytest.mark.parametrize(
    "code",
    [
        "import hetdp; print(hetdp.questions.count('yes', at_least=3))",
        "from hetdp import questions; print(questions.count('yes', at_least=3))",
        "from hetdp.questions import count; print(count('yes', at_least=3))",
        "import hetdp.questions as q; print(q.count('yes', at_least=3))",
    ],
)
def test_questions_can_be_imported_in_every_way(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "at least 3 rows count as yes\n"
