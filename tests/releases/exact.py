"""The tails once more, by whole numbers alone: no ball arithmetic, no floats. Lower and upper ends, over 2^SCALE.

e^y from its series for y ≤ ½, squared up again; π by Machin's formula; Φ(−z) = ½ − φ(z)·(z + z³/3 + z⁵/(3·5) + …).
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

SCALE = 700
UNIT = 1 << SCALE


class Ends:
    """A number between low and high, in units of 2^−SCALE; both ends are rounded outward."""

    def __init__(self, low: int, high: int) -> None:
        assert 0 <= low <= high
        self.low, self.high = low, high

    def __mul__(self, other: Ends) -> Ends:
        return Ends(self.low * other.low >> SCALE, -(-(self.high * other.high) >> SCALE))

    def __add__(self, other: Ends) -> Ends:
        return Ends(self.low + other.low, self.high + other.high)

    def over(self, other: Ends) -> Ends:
        return Ends(self.low * UNIT // other.high, -(-(self.high * UNIT) // other.low))


def of(value: Fraction) -> Ends:
    scaled = value * UNIT
    return Ends(scaled.__floor__(), scaled.__ceil__())


def exponential(size: Fraction) -> Ends:
    """e^size."""
    halvings = 1
    while size > Fraction(1 << halvings, 2):
        halvings += 1
    y = of(size / (1 << halvings))
    total, term, n = of(Fraction(1)), of(Fraction(1)), 0
    while term.high > 1:
        n += 1
        term = Ends((term * y).low // n, -(-(term * y).high // n))
        total = total + term
    total.high += 2 * term.high + 2  # what is left of the series is at most the last term again
    for _ in range(halvings):
        total = total * total
    return total


def arctangent_of_inverse(n: int) -> Ends:
    """arctan(1/n), an alternating series: its partial sums lie on either side."""
    low, high, power, k, sign = Fraction(0), Fraction(0), Fraction(1, n), 0, 1
    total = Fraction(0)
    while power > Fraction(1, UNIT):
        total += sign * power / (2 * k + 1)
        low, high = (low, total) if sign > 0 else (total, high)
        power, k, sign = power / (n * n), k + 1, -sign
    return Ends(of(low).low, of(high).high)


def root_of_twice_pi() -> Ends:
    a, b = arctangent_of_inverse(5), arctangent_of_inverse(239)
    twice = Ends(8 * (4 * a.low - b.high), 8 * (4 * a.high - b.low))
    return Ends(isqrt(twice.low * UNIT), isqrt(twice.high * UNIT) + 1)


ROOT = root_of_twice_pi()
ONE = of(Fraction(1))


def tail(coordinate: str, z: float) -> Ends:
    """The smaller tail of p."""
    size = Fraction(abs(z))
    if not size:
        return of(Fraction(1, 2))
    if coordinate == "Laplace":
        return of(Fraction(1, 2)).over(exponential(size))
    if coordinate == "logit":
        return ONE.over(ONE + exponential(size))
    total, term, square, n = of(size), of(size), of(size * size), 1
    while term.high > 1 or size * size > n:
        n += 2
        term = Ends((term * square).low // n, -(-(term * square).high // n))
        total = total + term
    total.high += 2 * term.high + 2 * n
    middle = total.over(ROOT * exponential(size * size / 2))
    return Ends(UNIT // 2 - middle.high, UNIT // 2 - middle.low)
