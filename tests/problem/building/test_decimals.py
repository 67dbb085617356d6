"""ε as written against ε as used: never above the decimal, and no lower than need be."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetdp.problem import decimals as decimals_module
from hetdp.problem.decimals import EXACT_POWERS, marks_of, raise_to_written, unpack_marks
from tests.loops import for_each


def floor_to_decimals(written):
    floored, lowered = unpack_marks(marks_of(written))
    return floored, np.unpackbits(lowered, count=len(written)).astype(np.bool_)


def exact_value(decimal: str) -> Fraction:
    return Fraction(Decimal(decimal))


def decimals(digits: int, count: int, least: int, most: int) -> list[str]:
    """Decimals of so many digits, of sizes from 10^least to 10^most."""
    rng = random.Random(digits)
    drawn = [(rng.randint(10 ** (digits - 1), 10**digits - 1), rng.randint(least, most)) for _ in range(count)]
    nines = [(10**digits - 1 - k, size) for k in range(3) for size in range(least, most + 1)]
    ones = [(10 ** (digits - 1) + k, size) for k in range(3) for size in range(least, most + 1)]
    return [f"{number}e{size - digits + 1}" for number, size in drawn + nines + ones if number > 0]


def is_lowered(x: float) -> bool:
    """The rule for one number, exactly: a float is lowered unless it is a decimal of at most 15 digits from 1e-8 on."""
    if math.isinf(x) or (x < 2.0**53 and x == int(x)):
        return False
    shortest = Decimal(repr(x)).normalize()
    is_short = len(shortest.as_tuple().digits) <= 15 and Decimal("1e-8") <= shortest < Decimal("1e15")
    return not is_short or Fraction(x) > Fraction(shortest)


def extremes() -> np.ndarray:
    """Powers of ten and of two with their neighbours, subnormal floats, and floats of all sizes."""
    rng = np.random.default_rng(11)
    powers = [float(f"1e{size}") for size in range(-323, 309)] + [math.ldexp(1.0, size) for size in range(-1074, 1024)]
    bits = np.array(powers).view(np.int64)
    near = np.concatenate([bits + distance for distance in (-2, -1, 0, 1, 2)]).view(np.float64)
    subnormal, any_size = rng.integers(0, 1 << 52, 2000), rng.integers(0, 0x7FF0000000000001, 20_000)
    short = np.array([float(text) for digits in range(1, 18) for text in decimals(digits, 500, -12, 18)])
    return np.concatenate([near[near >= 0.0], subnormal.view(np.float64), any_size.view(np.float64), short, [np.inf]])


def is_floored_best(text: str, floored: float) -> bool:
    """Whether a float is the largest one not above the decimal."""
    return Fraction(floored) <= exact_value(text) < Fraction(math.nextafter(floored, math.inf))


@for_each("digits", range(1, 16))
def test_decimals_of_up_to_15_digits_get_the_largest_float_not_above_them(digits):
    texts = decimals(digits, 1500, -8, 14)
    floored, _ = floor_to_decimals(np.array([float(text) for text in texts]))
    pairs = zip(texts, floored.tolist(), strict=True)
    assert [(text, value) for text, value in pairs if not is_floored_best(text, value)] == []


@for_each("digits", range(1, 18))
def test_no_decimal_of_any_size_gets_a_float_above_it(digits):
    texts = decimals(digits, 1500, -300, 300)
    written = [float(text) for text in texts]
    floored, _ = floor_to_decimals(np.array(written))
    rows = zip(written, floored.tolist(), strict=True)
    assert [(x, value) for x, value in rows if Fraction(value) > exact_value(repr(x))] == []


@given(st.floats(0.0, 1.7976931348623157e308))
def test_no_float_stays_above_its_shortest_decimal_and_none_falls_by_more_than_one(x):
    floored, lowered = floor_to_decimals(np.array([x]))
    assert Fraction(float(floored[0])) <= exact_value(repr(x))
    assert float(floored[0]) == (math.nextafter(x, 0.0) if lowered[0] else x)


@given(st.lists(st.floats(0.0, allow_nan=False), max_size=30))
def test_written_values_are_restored(written):
    floored, lowered = floor_to_decimals(np.array(written, dtype=np.float64))
    assert raise_to_written(floored, lowered).tolist() == written


def test_zero_infinity_and_exact_decimals_are_unchanged():
    written = np.array([0.0, math.inf, 0.5, 0.25, 1.0, 2.0, 3.0, 1000.0, 0.375, 123456.5, 999999999999999.0])
    floored, lowered = floor_to_decimals(written)
    assert floored.tolist() == written.tolist()
    assert not lowered.any()


def test_a_tenth_is_lowered_and_three_tenths_are_not():
    assert floor_to_decimals(np.array([0.1, 0.3]))[1].tolist() == [True, False]


def test_the_smallest_float_falls_to_zero():
    assert floor_to_decimals(np.array([5e-324]))[0].tolist() == [0.0]


def test_many_values_are_treated_like_single_ones():
    rng = np.random.default_rng(5)
    written = np.round(rng.uniform(0, 3, 200_000), 4)
    floored, lowered = floor_to_decimals(written)
    for at in [0, 65_535, 65_536, 131_071, 131_072, 199_999]:
        alone = floor_to_decimals(written[at : at + 1])
        assert (alone[0][0], alone[1][0]) == (floored[at], lowered[at])


@pytest.mark.parametrize("small", [-1, 10**9], ids=["compiled", "plain"])
def test_floats_of_all_sizes_and_next_to_all_powers_go_down_exactly_when_the_rule_says_so(small, monkeypatch):
    monkeypatch.setattr(decimals_module, "SMALL_SPACE", small)
    written = extremes()
    floored, lowered = floor_to_decimals(written)
    expected = [is_lowered(x) for x in written.tolist()]
    assert [x for x, was, should in zip(written.tolist(), lowered, expected, strict=True) if was != should] == []
    assert floored.tolist() == np.where(lowered, np.nextafter(written, 0.0), written).tolist()


@given(st.lists(st.floats(0.0, allow_nan=False), max_size=20))
def test_marks_are_the_same_compiled_and_plain(written):
    values, marks = np.array(written, dtype=np.float64), []
    for small in (-1, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(decimals_module, "SMALL_SPACE", small)
            marks.append(marks_of(values).tolist())
    assert marks[0] == marks[1]


@given(st.lists(st.floats(0.0, allow_nan=False), max_size=20))
def test_marks_are_in_the_order_of_the_written_values(written):
    values = np.array(written, dtype=np.float64)
    assert np.argsort(marks_of(values), kind="stable").tolist() == np.argsort(values, kind="stable").tolist()


def test_the_powers_of_ten_are_exact():
    assert [int(power) for power in EXACT_POWERS.tolist()] == [10**k for k in range(23)]
