"""Charges: who pays, in canonical order, under pseudonyms, and as canonical bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetdp.errors import UsageError
from hetdp.releases.ledger.charge import Charge, decode_charge, make_pseudonyms, order_of
from tests.loops import for_each

SECRET = bytes(range(32))
NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=8)
UNITS = st.integers(0, 2**63 - 1)


@given(st.dictionaries(NAMES, UNITS, max_size=6), st.booleans())
def test_a_charge_to_classes_comes_back_from_its_bytes(amounts, has_delta):
    units = np.array(list(amounts.values()), np.int64)
    currency = "epsilon-delta" if has_delta else "epsilon"
    sealed = Charge(currency, "class", tuple(amounts), units, units if has_delta else None).seal(SECRET)
    again = decode_charge(sealed.content)
    assert (again.names, again.digest, again.content) == (sealed.names, sealed.digest, sealed.content)
    assert dict(zip(again.names, again.amounts.tolist(), strict=True)) == {k: v for k, v in amounts.items() if v}


@given(st.dictionaries(st.text(max_size=5), st.tuples(UNITS, UNITS, NAMES), max_size=8), st.booleans(), st.booleans())
def test_a_charge_to_people_comes_back_from_its_bytes(people, has_delta, has_classes):
    amounts, deltas = (np.array([row[at] for row in people.values()], np.int64) for at in (0, 1))
    currency, second = ("epsilon-delta", deltas) if has_delta else ("epsilon", None)
    classes = [row[2] for row in people.values()] if has_classes else None
    named = "id" if has_classes else None
    sealed = Charge(currency, "person", list(people), amounts, second, classes, named).seal(SECRET)
    again = decode_charge(sealed.content)
    assert again.named == named
    assert (again.digest, again.content, again.class_names) == (sealed.digest, sealed.content, sealed.class_names)
    pays = {key: row for key, row in people.items() if row[0] or (has_delta and row[1])}
    expected = {make_pseudonyms([key], SECRET).tobytes(): row for key, row in pays.items()}
    found = [again.keys.tobytes()[at : at + 16] for at in range(0, 16 * again.accounts, 16)]
    assert found == sorted(expected)
    assert again.amounts.tolist() == [expected[key][0] for key in found]
    if has_classes:
        assert [again.class_names[at] for at in again.class_numbers] == [expected[key][2] for key in found]


def test_the_order_of_people_does_not_matter_and_the_secret_does():
    there = Charge.to_people("epsilon", ["Ann", "Bob"], ["0.1", "0.2"]).seal(SECRET)
    back = Charge.to_people("epsilon", ["Bob", "Ann"], ["0.2", "0.1"]).seal(SECRET)
    other = Charge.to_people("epsilon", ["Bob", "Ann"], ["0.2", "0.1"]).seal(bytes(32))
    assert there.digest == back.digest != other.digest
    assert b"Ann" not in there.content


def test_integers_and_their_digits_name_the_same_people():
    forms = [[7, 8], ["7", "8"], np.array([7, 8]), [np.int64(7), 8], np.array(["7", "8"])]
    assert len({make_pseudonyms(form, SECRET).tobytes() for form in forms}) == 1


@for_each("wrong", [1.0, None, True, b"x", ("a",)])
def test_people_are_named_by_text_or_integers(wrong):
    with pytest.raises(UsageError, match="a person is neither text nor a whole number"):
        make_pseudonyms(["a", wrong], SECRET)


def test_nobody_is_charged_twice():
    with pytest.raises(UsageError, match="a person is charged twice; each account is charged once"):
        Charge.to_people("epsilon", ["a", "b", "a"], 1.0).seal(SECRET)
    with pytest.raises(UsageError, match="a class is charged twice; each account is charged once"):
        Charge("epsilon", "class", ("a", "a"), np.array([1, 2]))


ONE, TWO = np.array([1]), np.array([1, 2])
INVALID_CHARGES = {
    "there is no kind of account 'group'": lambda: Charge("epsilon", "group", ("a",), ONE),
    "a charge of epsilon-delta needs a δ": lambda: Charge("epsilon-delta", "class", ("a",), ONE),
    "a charge of epsilon has no δ": lambda: Charge("epsilon", "class", ("a",), ONE, ONE),
    "amounts do not fit": lambda: Charge("epsilon", "class", ("a",), TWO),
    "0 or more, for each": lambda: Charge("epsilon", "class", ("a",), -ONE),
    "there is one whole number": lambda: Charge("epsilon", "class", ("a",), np.array([0.5])),
    "one whole number for each": lambda: Charge("epsilon", "class", ("a",), [[1], [1, 2]]),  # type: ignore[arg-type]
    "one amount for each person": lambda: Charge.to_people("epsilon", ["a"], [0.1, 0.2]),
    "classes do not fit": lambda: Charge("epsilon", "person", ("a",), ONE, None, ["x", "y"]),
    "and classes have none": lambda: Charge("epsilon", "class", ("a",), ONE, None, ["x"]),
    "a class that is not named by text": lambda: Charge("epsilon", "class", (7,), ONE),
    "classes have names of text": lambda: Charge("epsilon", "person", ("a",), ONE, None, ["\0"]),
    "ids that are not named by text": lambda: Charge.to_people("epsilon", ["a"], 1, named=7),  # type: ignore[arg-type]
    "named says in words what": lambda: Charge("epsilon", "class", ("a",), ONE, named="id"),
    "every class has both": lambda: Charge.to_classes("epsilon-delta", {"a": 1}, {"b": 1}),
    "there is no currency": lambda: Charge.to_classes("euro", {"a": 1}),
}


@for_each(("words", "make"), INVALID_CHARGES.items())
def test_an_inconsistent_charge_is_refused(words, make):
    with pytest.raises(UsageError, match=words):
        make()


def test_a_charge_is_immutable():
    given, names, classes = np.array([1, 2]), ["a", "b"], ["x", "y"]
    of_classes, of_people = Charge("epsilon", "class", names, given), Charge("epsilon", "person", names, given)
    in_classes = Charge("epsilon-delta", "person", ("a", "b"), given, given, classes)
    before = [charge.seal(SECRET).digest for charge in (of_classes, in_classes)]
    given[:], classes[0] = -5, "y"
    assert of_people.amounts.tolist() == [1, 2]
    names[0] = "b"
    assert [charge.seal(SECRET).digest for charge in (of_classes, in_classes)] == before
    for amounts in (of_classes.amounts, in_classes.deltas):
        with pytest.raises(ValueError, match="read-only"):
            amounts[0] = -5


@pytest.mark.parametrize("kind", ["class", "person"])
def test_amounts_forced_below_zero_are_refused_at_payment(kind):
    charge = Charge("epsilon", kind, ("a", "b"), np.array([1, 2]))
    charge.amounts.setflags(write=True)
    charge.amounts[0] = -5
    with pytest.raises(UsageError, match="a charge whose amounts do not fit"):
        charge.seal(SECRET)


def test_pseudonyms_that_begin_alike_are_in_order_by_the_rest():
    texts = [b"begins alike-b..", b"another one.....", b"begins alike-a.."]
    keys = np.array(texts, "S16")
    assert [texts[at] for at in order_of(keys)] == sorted(texts)


def test_a_lone_surrogate_is_a_valid_name():
    assert len(np.unique(make_pseudonyms(["\ud800", "\ud801", "?"], SECRET))) == 3
