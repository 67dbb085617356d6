"""The privacy loss between two values of z, from the definition, in ball arithmetic, by no formula of hetdp."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx

from hetdp.precision import restore_precision

PRECISION = 300


def probabilities(z: float, coordinate: str = "Laplace") -> tuple[arb, arb]:
    """Pr[answer 1] and Pr[answer 2]."""
    if math.isinf(z):
        return (arb(1), arb(0)) if z > 0 else (arb(0), arb(1))
    if coordinate == "Laplace":
        tail = arb(-abs(z)).exp() / 2
    elif coordinate == "logit":
        tail = 1 / (1 + arb(abs(z)).exp())
    else:
        raise ValueError(coordinate)
    return (1 - tail, tail) if z > 0 else (tail, 1 - tail)


def loss_between(one: float, other: float) -> Fraction | float:
    """The largest |log p/p'| of both answers, from two Laplace coordinates, rounded to about 2⁻²⁵⁰."""
    if one == other:
        return Fraction(0)
    found = Fraction(0)
    with restore_precision(ctx):
        ctx.prec = PRECISION
        for mine, theirs in zip(probabilities(one), probabilities(other), strict=True):
            if mine == 0 and theirs == 0:
                continue
            if mine == 0 or theirs == 0:
                return math.inf
            found = max(found, abs(as_fraction((mine / theirs).log())))
    return found


def as_fraction(ball: arb) -> Fraction:
    """The middle of a ball."""
    mantissa, exponent = ball.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
