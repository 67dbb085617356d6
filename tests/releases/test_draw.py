"""The exact draw: every bit string, exact probabilities, and nothing but the operating system's bits."""

from __future__ import annotations

import gc
import math
import random
import sys
from fractions import Fraction

import numpy as np
import pytest

from hetdp.errors import UsageError
from hetdp.releases import draw as bernoulli
from hetdp.releases.draw import CHUNK, TAILS, Coin, draw, is_below, tail_bounds
from hetdp.theory.catalogue import NOTIONS
from tests.loops import for_each
from tests.releases import exact

COORDINATES = sorted(TAILS)
PLACES = [0.0, -0.0, 1e-300, -1e-300, 0.3, -2.5, 700.0, -700.0, 1e308, -1e308, math.inf, -math.inf]
SIZES = [5e-324, 1e-20, 0.1, 0.5, math.log(2.0), 1.0, 2.75, 6.0, 9.5]
LARGE = [20.0, 36.7, 60.0, 88.0, 100.0]  # where 128 bits see little or nothing of the tail


class OutOfBitsError(Exception):
    """The string ended before the draw was decided."""


class ChunkedBits:
    """Bits from a list of chunks, then none."""

    def __init__(self, *chunks: int) -> None:
        self.chunks = list(chunks)

    def __call__(self, count: int) -> int:
        if not self.chunks:
            raise OutOfBitsError
        chunk = self.chunks.pop(0)
        assert 0 <= chunk < 1 << count
        return chunk


def chunks_of(number: int, length: int, chunk: int) -> list[int]:
    """A bit string of that length, cut into chunks."""
    return [number >> (length - at - chunk) & (1 << chunk) - 1 for at in range(0, length, chunk)]


def decisions(bounds, length: int, chunk: int) -> list[bool | None]:
    """The result of every bit string of that length; None where it is too short."""
    found: list[bool | None] = []
    for number in range(1 << length):
        try:
            found.append(is_below(bounds, bounds(chunk), ChunkedBits(*chunks_of(number, length, chunk)), chunk))
        except OutOfBitsError:
            found.append(None)
    return found


def test_every_coordinate_of_every_notion_can_be_drawn():
    assert {notion.coordinate.name for notion in NOTIONS.values()} == set(TAILS)


# Every bit string at small precision ----------------------------------------------------------------------------------


@for_each("chunk", range(1, 13))
@for_each("x", [Fraction(0), Fraction(1, 2), Fraction(1, 3), Fraction(3, 8), Fraction(2, 1021)])
def test_over_all_bit_strings_a_rational_is_rounded_to_the_bits_there_are(x, chunk):
    length = chunk * (12 // chunk)

    def bounds(known: int) -> tuple[int, int]:
        return (x * 2**known).__floor__(), (x * 2**known).__ceil__()

    found = decisions(bounds, length, chunk)
    low, high = bounds(length)
    assert found == [True] * low + [None] * (high - low) + [False] * (2**length - high)
    assert high - low == (0 if (x * 2**length).denominator == 1 else 1)


@for_each("chunk", [1, 2, 3, 5, 11])
@for_each("coordinate", COORDINATES)
@for_each("z", [0.0, 1e-300, 0.4, 1.7, math.inf])
def test_over_all_bit_strings_a_tail_is_rounded_to_the_bits_there_are(coordinate, z, chunk):
    length = chunk * (10 // chunk) or chunk
    found = decisions(lambda known: tail_bounds(coordinate, z, known), length, chunk)
    if math.isinf(z):
        assert found == [False] * 2**length
        return
    tail, shift = exact.tail(coordinate, z), exact.SCALE - length
    for number, outcome in enumerate(found):
        if outcome is True:
            assert number + 1 << shift <= tail.low
        elif outcome is False:
            assert number << shift >= tail.high
    assert found.count(None) <= 2
    if 0.1 < z < 10.0:
        assert found.count(True) == tail.low >> shift
        assert found.count(None) == 1


def test_bounds_that_are_wide_at_first_only_cost_more_bits():
    def wide(known: int) -> tuple[int, int]:
        middle = 2**known // 3
        return max(0, middle - 2), min(2**known, middle + 3)

    found = decisions(wide, 12, 2)
    assert found == [True] * 1363 + [None] * 5 + [False] * (4096 - 1368)


# Against the exact number at large precision --------------------------------------------------------------------------


def test_an_unknown_tail_lies_between_0_and_1(monkeypatch):
    monkeypatch.setitem(TAILS, "Laplace", lambda size: size / 0)
    assert tail_bounds("Laplace", 1.0, 128) == (0, 2**128)


@for_each("bits", [128, 256, 640])
@for_each("coordinate", COORDINATES)
def test_bounds_enclose_the_exact_tail_and_nearly_touch(coordinate, bits):
    generator = random.Random(7)
    for z in [*SIZES, *(generator.expovariate(0.5) for _ in range(20)), *(LARGE if coordinate != "probit" else [])]:
        tail, shift = exact.tail(coordinate, z), exact.SCALE - bits
        low, high = tail_bounds(coordinate, z, bits)
        assert low << shift <= tail.high
        assert high << shift >= tail.low
        assert tail.high - tail.low < 1 << shift
        assert 1 <= high - low <= 2
        assert tail_bounds(coordinate, -z, bits) == (low, high)


@pytest.mark.parametrize("coordinate", COORDINATES)
def test_known_probabilities_are_hit_exactly(coordinate):
    assert tail_bounds(coordinate, 0.0, 128) == (2**127, 2**127)
    assert tail_bounds(coordinate, math.inf, 128) == (0, 0)
    assert tail_bounds(coordinate, 1e308, 128) == (0, 1)


@for_each("coordinate", COORDINATES)
@for_each("z", [-6.0, -0.3, 0.3, 6.0])
def test_bits_inside_the_enclosure_are_decided_by_more_bits(coordinate, z):
    low, high = tail_bounds(coordinate, z, CHUNK)
    lower, upper = tail_bounds(coordinate, z, 2 * CHUNK)
    turned = z > 0
    assert draw(coordinate, z, ChunkedBits(low - 1)) != turned
    assert draw(coordinate, z, ChunkedBits(high)) == turned
    for number, event in ((lower - 1, True), (upper, False)):  # the last strings of 256 bits that are decided
        first, second = divmod(number, 2**CHUNK)
        assert low <= first < high
        with pytest.raises(OutOfBitsError):
            draw(coordinate, z, ChunkedBits(first))
        assert draw(coordinate, z, ChunkedBits(first, second)) == (event != turned)
    with pytest.raises(OutOfBitsError):
        draw(coordinate, z, ChunkedBits(*divmod(lower, 2**CHUNK)))


@for_each("coordinate", COORDINATES)
@for_each("bits", [0, 1, 2**127, 2**128 - 1])
def test_certainty_never_errs(coordinate, bits):
    assert draw(coordinate, math.inf, ChunkedBits(bits)) is True
    assert draw(coordinate, -math.inf, ChunkedBits(bits)) is False


@pytest.mark.parametrize("coordinate", COORDINATES)
def test_nearly_certain_answers_are_not_certain(coordinate):
    with pytest.raises(OutOfBitsError):
        draw(coordinate, 1e308, ChunkedBits(0, 0, 0))
    assert draw(coordinate, 1e308, ChunkedBits(0, 0, 1)) is True


# One call, constant work, and no other source of bits -----------------------------------------------------------------


@pytest.mark.parametrize("coordinate", COORDINATES)
@pytest.mark.parametrize("z", PLACES)
def test_every_draw_is_one_call_for_sixteen_bytes(monkeypatch, coordinate, z):
    calls = []
    monkeypatch.setattr(bernoulli.os, "urandom", lambda count: calls.append(count) or b"\x5a" * count)
    draw(coordinate, z)
    assert calls == [16]


@pytest.mark.parametrize("coordinate", COORDINATES)
def test_every_draw_makes_the_same_calls_whatever_z_is_and_however_it_ends(coordinate):
    def calls_at(z: float, bits: int) -> list[tuple[str, str]]:
        seen = []

        def note(frame, event, what):
            seen.append((event, getattr(what, "__qualname__", frame.f_code.co_qualname)))

        source = ChunkedBits(bits)
        gc.disable()  # other code may run callbacks during collection
        sys.setprofile(note)
        try:
            draw(coordinate, z, source)
        finally:
            sys.setprofile(None)
            gc.enable()
        return seen

    expected = calls_at(1.0, 2**127)
    assert len(expected) > 10
    for z in PLACES:
        assert calls_at(z, 2**128 - 1) == expected
        assert calls_at(z, 1) == expected


def test_not_a_number_is_refused_without_a_draw(monkeypatch):
    monkeypatch.setattr(bernoulli.os, "urandom", lambda count: pytest.fail("bits were drawn"))
    with pytest.raises(UsageError, match="a coordinate is not a number; an answer is drawn at a number, or at ±inf"):
        draw("Laplace", math.nan)


def test_an_unknown_coordinate_is_refused():
    with pytest.raises(UsageError, match="for the coordinate 'p'; it must be one of Laplace, logit, probit"):
        draw("p", 0.5)


def test_seeds_have_no_effect():
    def draw_coins() -> list[bool]:
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        return [draw("logit", 0.1) for _ in range(256)]

    assert draw_coins() != draw_coins()


def test_no_other_generator_is_used(monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("another generator was asked")

    for name in ("random", "getrandbits", "randbytes", "randrange"):
        monkeypatch.setattr(random, name, refuse)
    for name in ("random", "rand", "bytes", "default_rng", "randint"):
        monkeypatch.setattr(np.random, name, refuse)
    monkeypatch.setattr("secrets.token_bytes", refuse)
    monkeypatch.setattr("secrets.randbits", refuse)
    stream = random.Random.randbytes
    generator = random.Random(3)
    monkeypatch.setattr(bernoulli.os, "urandom", lambda count: stream(generator, count))
    first = [draw("Laplace", 0.2) for _ in range(64)]
    generator.seed(3)
    assert [draw("Laplace", 0.2) for _ in range(64)] == first, "something else than os.urandom took part"


# Statistical tests-----------------------------------------------------------------------------------------------------

CELLS = [("Laplace", 0.0), ("Laplace", -0.7), ("Laplace", 3.0), ("probit", -1.5), ("probit", 0.2)]
CELLS += [("logit", 1.1), ("logit", -4.0), ("Laplace", -6.0)]
TOO_FAR = 110.0  # chi-square with eight degrees of freedom is above this once in 10^19


def probability(coordinate: str, z: float) -> float:
    tail = exact.tail(coordinate, z)
    below = tail.low / exact.UNIT
    return 1.0 - below if z > 0 else below


def chi_square(counts: list[int], draws: int) -> float:
    """Chi-square of how often each cell gave answer 1."""
    return sum(
        (count - draws * p) ** 2 / (draws * p * (1 - p))
        for count, p in zip(counts, (probability(*cell) for cell in CELLS), strict=True)
    )


def test_a_million_draws_are_distributed_as_they_should_be():
    draws = 125_000
    tosses = [Coin(*cell).toss for cell in CELLS]
    assert chi_square([sum(toss() for _ in range(draws)) for toss in tosses], draws) < TOO_FAR


def test_the_statistical_test_catches_a_bias_of_two_percent():
    draws = 125_000
    biased = [Coin(coordinate, z + 0.08).toss for coordinate, z in CELLS]
    assert chi_square([sum(toss() for _ in range(draws)) for toss in biased], draws) > TOO_FAR
