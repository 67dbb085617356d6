"""Documents and numbers as `hetdp.documents` and `hetdp.numbers` read them: what is accepted, and what is said else."""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hetdp import documents, numbers
from hetdp.documents import COUNT, MAYBE_TEXT, TEXT
from hetdp.errors import Fault, InputError, UsageError
from tests.loops import for_each


def faults_of(call, *given, **named) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as refusal:
        call(*given, **named)
    return refusal.value.faults


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[" * 100_000, "too deeply nested"),
        ("1" * 5000, "a number with thousands of digits"),
        (r'"\ud800"', "a lone surrogate"),
        (r'{"a": "\uDFFF"}', "a lone surrogate"),
        ('{"b": 1, "a": 2, "a": 3}', "the key 'a' appears twice"),
        ("[NaN]", 'NaN is not JSON; write infinity as "inf", and omit missing values'),
    ],
)
def test_json_that_only_other_readers_accept_is_refused(text, value):
    (fault,) = faults_of(documents.parse_json, text, "the file")
    assert (fault.what, fault.where, fault.value) == ("not JSON:", "the file", value)


def test_json_is_read_as_it_is_written():
    assert documents.parse_json(r'["\ud83d\ude00", 0.10, 1]', "the file") == ["😀", Decimal("0.10"), 1]
    assert documents.parse_json("0.5", "the file", number=float) == 0.5
    assert documents.parse_object('{"a": 1.50}', "the file", str) == {"a": "1.50"}
    (fault,) = faults_of(documents.parse_object, "[1]", "the file")
    assert (fault.what, fault.value) == ("not a JSON object, but", "[1]")


@pytest.mark.parametrize("call", [documents.parse_json, documents.parse_toml])
def test_bytes_are_no_text(call):
    with pytest.raises(UsageError, match="the file: expected text, got a bytes"):
        call(b"{}", "the file")


def test_toml_keeps_decimals_and_is_refused_in_one_sentence():
    assert documents.parse_toml("a = 0.10", "the file") == {"a": Decimal("0.10")}
    assert faults_of(documents.parse_toml, "a = ", "the file")[0].what == "not TOML:"


def test_a_toml_name_that_needs_quotation_marks_gets_a_hint():
    for text in ("größe = 1", "über = 1", "two words = 1", "a = {geschützt = 1}", "a = {über = 1}"):
        (fault,) = faults_of(documents.parse_toml, text, "the file")
        assert fault.hint == "put a name with spaces, or with letters such as ä, ö and ü, in quotation marks", text
    for text in ("a = ", "a = 1\na = 2", "a 1", "= 2", "a = 'ü"):
        assert faults_of(documents.parse_toml, text, "the file")[0].hint == "", text


@pytest.mark.parametrize(("path", "words"), [("", "an empty path"), (b"a", "got a bytes"), (3, "got an int")])
def test_a_path_is_text(path, words):
    with pytest.raises(UsageError, match=words):
        documents.require_path(path)


def test_a_file_is_read_by_its_suffix_and_named_in_its_faults(tmp_path: Path):
    file = tmp_path / "a.JSON"
    file.write_text("[1]")
    readers: dict[str, Any] = {".json": lambda text: documents.parse_json(text, "rules"), ".toml": str}
    assert documents.read_document(file, readers) == [1]
    with pytest.raises(UsageError, match=r"no format is known for 'a.txt'; the name of the file ends in .json or"):
        documents.read_document("a.txt", readers)
    file.write_text("[")
    assert faults_of(documents.read_document, str(file), readers)[0].where == "a.JSON, rules"
    file.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="cannot be read: it is not UTF-8 text"):
        documents.read_document(file, readers)
    file.unlink()
    with pytest.raises(UsageError, match="cannot be read: there is no such file"):
        documents.read_document(file, readers)


def test_another_kind_of_document_says_who_reads_it():
    (fault,) = faults_of(documents.require_kind, {"kind": "plan"}, "pins", "a.json")
    assert fault.hint == "hetdp.ask takes it as plan="
    assert faults_of(documents.require_kind, {"kind": ["plan"]}, "pins", "a.json")[0].hint == ""
    assert faults_of(documents.require_kind, ["pins"], "pins", "a.json", "pins")[0].what == "no key 'kind'"
    documents.require_kind({}, "pins", "a.json", default="pins")
    with pytest.raises(InputError):
        documents.require_kind({}, "pins", "a.json")


def test_a_version_is_a_number_from_the_oldest_to_the_newest():
    for version in (2, 3):
        documents.require_version({"schema_version": version}, "a.json", 3, 2)
    said = {0: "schema_version", True: "schema_version", "2": "schema_version", 4: "a newer schema_version:"}
    for version, what in (said | {1: "schema_version", None: "missing schema_version"}).items():
        assert faults_of(documents.require_version, {"schema_version": version}, "a.json", 3, 2)[0].what == what
    assert faults_of(documents.require_version, {"schema_version": 0}, "a.json")[0].value == "0"


def test_each_unknown_and_each_missing_key_is_a_fault_and_the_first_ones_get_hints():
    found = {f"alpha{at}": 1 for at in range(50)} | {"beta": 1}
    faults = documents.key_faults(found, ["beta", "alpha"], ["beta", "alpha"], "here")
    assert [fault.what for fault in faults] == ["unknown key"] * 50 + ["missing key"]
    assert [bool(fault.hint) for fault in faults[:50]] == [True] * 40 + [False] * 10
    assert faults[-1].rule == "beta, alpha are required"
    assert documents.key_faults({}, ["a"], ["a"], "here")[0].rule == "a is required"
    documents.require_keys({"a": 1}, ["a"], ["a", "b"], "here")
    assert faults_of(documents.require_keys, [], ["a"], ["a", "b"], "here")[0].rule == "the keys are a, b"


def test_every_value_without_its_shape_is_a_fault_at_its_place():
    shape = {"a": [{"b": TEXT}], "c": MAYBE_TEXT, "d": COUNT}
    assert documents.shape_faults({"a": [{"b": "x"}], "c": None, "d": 1}, shape, "it") == []
    faults = documents.shape_faults({"a": [{"b": 1}, 2], "c": 1, "d": True, "e": 1}, shape, "it")
    assert [(fault.where, fault.rule) for fault in faults] == [
        ("it", "the keys are a, c, d"),
        ("it.a[0].b", "it must be text"),
        ("it.a[1]", "the keys are b"),
        ("it.c", "it must be text or null"),
        ("it.d", "it must be a whole number"),
    ]
    assert documents.shape_faults({}, [TEXT], "it")[0].what == "not a list:"


def test_a_thousand_faults_are_listed_and_all_counted():
    with pytest.raises(InputError, match=r"a\.json: 1,001 faults") as refusal:
        documents.require_shape([1] * 1001, [TEXT], "it", "a.json")
    assert len(refusal.value.faults) == 1000
    with pytest.raises(InputError, match="it: 2 faults"):
        documents.require_shape([1] * 2, [TEXT], "it")


def test_an_envelope_holds_one_more_key():
    whole = {"schema_version": 1, "kind": "plan", "plan": 7}
    assert documents.open_envelope(whole, "plan", "plan") == 7
    assert faults_of(documents.open_envelope, whole, "question", "question")[0].what == "wrong kind of document:"
    assert faults_of(documents.open_envelope, [], "plan", "plan")[0].what == "not an object:"
    assert faults_of(documents.open_envelope, whole | {"x": 1}, "plan", "plan")[0].what == "unknown key"
    assert faults_of(documents.open_envelope, {"schema_version": 1, "plan": 7}, "plan", "plan")[0].value == "kind"
    assert faults_of(documents.open_envelope, whole | {"schema_version": 9}, "plan", "plan")[0].value == "9"


def test_an_object_is_built_from_the_keys_of_a_document():
    def make(first, second=2):
        if first is None:
            raise UsageError("first is None", "it must be a number", "give one")
        return first, second

    assert documents.build_from(make, {"first": 1}, "it", ("kind",)) == (1, 2)
    assert [fault.value for fault in faults_of(documents.build_from, make, {"third": 3}, "it")] == ["'third'", "first"]
    (fault,) = faults_of(documents.build_from, make, {"first": None}, "it")
    assert (fault.what, fault.rule, fault.hint) == ("first is null", "it must be a number", "give one")


LARGEST = sys.float_info.max


@for_each(
    ("text", "number"),
    [
        ("1e400", LARGEST),
        ("-1e400", -LARGEST),
        ("9" * 399 + ".", LARGEST),
        ("9" * 400, LARGEST),
        ("9" * 401, "9" * 401),
        ("Infinity", math.inf),
        ("-INF", -math.inf),
        ("1e-99999", 0.0),
        ("0.30000000000000004", 0.30000000000000004),  # as Python prints it
        ("0.300000000000000039", 0.3),  # below the float that is nearest
        ("-0.29999999999999998", -0.3),
        ("0.1000000000000000055511151231257827021181583404541015625", 0.1),  # exactly this float
        ("9007199254740993", 9007199254740992.0),
        ("90071992547409931", 90071992547409920.0),
    ],
)
def test_a_numeral_of_a_file_is_never_rounded_up(text, number):
    assert numbers.parse_number(text) == number


def test_a_column_keeps_gaps_and_texts():
    assert numbers.parse_numbers(["1", None, "x"]) == [1.0, None, "x"]
    assert [numbers.json_number(one) for one in (math.inf, -math.inf, 0.5, 3, "a")] == ["inf", "-inf", 0.5, 3, "a"]


@pytest.mark.parametrize(
    ("given", "numeral"),
    [
        (10**400 - 1, "9" * 400),
        (10**400, ""),
        (-(10**400), ""),
        (True, ""),
        (np.int8(3), "3"),
        (np.float32(0.1), "0.1"),
        (" 0.5 ", "0.5"),
        (None, ""),
    ],
)
def test_a_number_becomes_the_numeral_that_was_meant(given, numeral):
    assert numbers.numeral_of(given) == numeral


def test_a_decimal_is_as_long_as_a_person_writes():
    assert numbers.parse_decimal("0." + "1" * 398) == Decimal("0." + "1" * 398)
    assert numbers.parse_decimal("0." + "1" * 399) is None


@for_each(
    ("given", "exact"),
    [
        ("50 %", Fraction(1, 2)),
        ("-4 / 6", Fraction(-2, 3)),
        (Fraction(1, 3), Fraction(1, 3)),
        (np.longdouble("0.1"), Fraction(*np.longdouble("0.1").as_integer_ratio())),
        (2**1199 - 1, Fraction(2**1199 - 1)),
    ],
)
def test_an_exact_number_is_the_one_that_was_written(given, exact):
    assert numbers.parse_exact(given, "the share") <= exact
    if not isinstance(given, np.longdouble):
        assert numbers.parse_exact(given, "the share") == exact


@for_each("given", ["x%", "1/0", "inf", "50%%", "", True, 2**1199, "1" * 401, Fraction(1, 2**1199), None])
def test_other_things_are_no_exact_numbers(given):
    with pytest.raises(UsageError, match="the share is "):
        numbers.parse_exact(given, "the share")


def test_a_whole_number_may_have_a_least():
    assert numbers.parse_whole("3", "the count", 3) == 3
    assert numbers.parse_whole(-3, "the count") == -3
    with pytest.raises(UsageError, match="the count is 2; it must be a whole number ≥ 3"):
        numbers.parse_whole(2, "the count", 3)
    with pytest.raises(UsageError, match=r"it must be a whole number\."):
        numbers.parse_whole("1/2", "the count")


@for_each(
    ("number", "words", "share"),
    [
        (Fraction(-1, 8), "-0.125", "-12.5%"),
        (Fraction(10**12 + 1, 10**12), "1.000000000001", "100.0000000001%"),
        (Fraction(1, 10**13), "1/10000000000000", "0.00000000001%"),
        (Fraction(1, 10**15), "1/1000000000000000", "1/1000000000000000"),
        (Fraction(3), 3, "300%"),
        (Fraction(1, 2), "0.5", "half"),
    ],
)
def test_exact_numbers_are_written_as_short_decimals_or_fractions(number, words, share):
    assert numbers.format_exact(number) == words
    assert numbers.format_share(number) == share


@for_each(
    ("text", "words"),
    [
        ("1,000", r"'1,000' can be read as two numbers; it must be 1000 or 1.000"),
        ("-1,000,000", r"it must be -1000000 or -1.000000"),
        ("-∞", "'-∞' is not a number"),
        ("-Inf", "is not a number"),
        ("1e400", "'1e400' is larger than the largest float"),
        ("nan", "'nan' is not a number"),
        ("x" * 50, "'" + "x" * 40 + "' is not a number"),
    ],
)
def test_a_typed_text_that_is_no_number_is_refused(text, words):
    with pytest.raises(UsageError, match=words):
        numbers.parse_typed(text)


def test_a_typed_number_may_have_a_decimal_comma():
    typed = {"0,5": 0.5, " 12 ": 12.0, "-1,5": -1.5, "inf": math.inf, "0,100": 0.1, "1000,5": 1000.5}
    assert {text: numbers.parse_typed(text) for text in typed} == typed
    assert [numbers.format_short(one) for one in (0.25, math.inf, -math.inf)] == ["0.25", "∞", "-inf"]
