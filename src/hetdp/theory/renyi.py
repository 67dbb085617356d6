"""Rényi privacy of a fixed order α > 1: the Rényi divergence of order α between two neighbours is at most ε(u,v).

For two answers, with p at one end of an edge and q at the other, that says, in both directions,

    D(p, q) = p^α q^(1−α) + (1−p)^α (1−q)^(1−α) ≤ e^((α−1)ε)    and    D(q, p) ≤ e^((α−1)ε).

Letters: x is the label at u and y the label at v, in the Laplace coordinate; q belongs to x and p to y; ALPHA is α.

The bound has no closed form. Where x + y ≤ 0, only D(p, q) binds, and `rise` finds the largest y next to x by a search
whose every comparison leaves room for rounding. Its errors must not make the step turn back. So `rise` starts from the
points of a grid, which lie further apart than the errors reach; what is right of the diagonal x + y = 0 is the mirror
image. Pure ε implies Rényi ε, so the step of pure ε is a lower bound, and the only one at extreme values.
docs/theory/renyi.md has the proofs.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from hetdp.theory.coordinate import LAPLACE, Floats
from hetdp.theory.notion import Currency, Curve, Family, Notion, Setting, key_of, noinline, with_constants
from hetdp.theory.pure import EPSILON
from hetdp.theory.pure import meet as pure_meet
from hetdp.theory.pure import quick as pure_quick
from hetdp.theory.pure import step as pure_step
from hetdp.theory.rounding import LN2_HI, beyond_meeting

ALPHA = 2.0  # replaced for each order
COARSE = 2.0  # a power of two not below 1 + 1/(α − 1)
ROUNDING = 2.0**-49  # more than the relative error of each term that `room` adds up
UNDERFLOW = 1e-300  # more than what is lost where a term is too small for a float
RESOLUTION = 2.0**-50  # of 1 + |x|: how closely a root is enclosed
GRID = -42  # the exponent of the grid's spacing at |x| < 1, for α = ∞
FURTHEST = 2.0**50  # beyond it the step of pure ε is all that is offered
LARGEST_EPSILON = 2.0**40
LARGEST_ALPHA = 2.0**40


@noinline
def room(x: float, y: float, epsilon: float) -> float:
    """A lower bound of 1 − e^((1−α)ε) D(p, q), for x < 0 and x ≤ y ≤ −x: private if it is not negative.

    With L = log p/q and M = log (1−q)/(1−p), the exact number is −p (e^A − 1) + (1 − p) (1 − e^B), where
    A = (α − 1)(L − ε) and B = −(α − 1)(M + ε). Neither term has lost digits to the other.
    """
    order = ALPHA - 1.0
    if y <= 0.0:
        p = 0.5 * math.exp(y)
        rest, log_p, gained = 1.0 - p, y - LN2_HI, y - x
        lost = -math.log1p(p * math.expm1(x - y) / (1.0 - 0.5 * math.exp(x)))
    else:
        rest = 0.5 * math.exp(-y)
        p, log_p, gained = 1.0 - rest, math.log1p(-rest), math.log1p(-math.expm1(-y)) - x
        lost = y + math.log1p(-math.expm1(x))
    exponent = order * (gained - epsilon)
    if exponent + log_p > 1.0:
        return -1.0
    kept = -rest * math.expm1(-order * (lost + epsilon))
    if exponent <= 1.0:
        tilted = p * math.exp(max(exponent, 0.0))
        excess, error = p * math.expm1(exponent), 0.0
    else:
        tilted = math.exp(exponent + log_p)
        excess, error = tilted - p, tilted * (exponent + abs(y) + 1.0)
    error += tilted * order * (gained + epsilon) + kept
    return (kept - excess) - (ROUNDING * error + UNDERFLOW)


@noinline
def rise(x: float, epsilon: float) -> float:
    """The largest y ≤ −x next to x < 0 that is found private, within RESOLUTION and what `room` leaves for rounding."""
    low, high = min(pure_step(x, epsilon), -x), -x
    above, below = room(x, low, epsilon), room(x, high, epsilon)
    if below >= 0.0:
        return high
    if above < 0.0:
        return low
    width = RESOLUTION * (1.0 - x)
    while high - low > width:
        middle = 0.5 * (low + high)
        here = room(x, middle, epsilon)
        guess = ridders(low, middle, high, above, here, below)
        if here >= 0.0:
            low, above = middle, here
        else:
            high, below = middle, here
        guess = min(max(guess, low + 0.25 * width), high - 0.25 * width)
        here = room(x, guess, epsilon)
        if here >= 0.0:
            low, above = guess, here
            guess = guess + 0.75 * width
        else:
            high, below = guess, here
            guess = guess - 0.75 * width
        if low < guess < high:
            here = room(x, guess, epsilon)
            if here >= 0.0:
                low, above = guess, here
            else:
                high, below = guess, here
    return low


def ridders(low: float, middle: float, high: float, above: float, here: float, below: float) -> float:
    """The zero of a function with these values, positive at `low` and negative at `high`, if it is exponential."""
    root = math.sqrt(here * here - above * below)
    return middle + (middle - low) * here / root if root > 0.0 else middle


@noinline
def drop(y: float, epsilon: float, least: float) -> float:
    """About the smallest x, up to −least, at which y is private; for y ≤ least."""
    high = -max(least, pure_step(-y, epsilon))
    low = ALPHA / (ALPHA - 1.0) * (min(y, 0.0) - 1.0) - epsilon - 2.0
    low = min(low, 2.0 * high - 1.0)
    below, above = room(low, min(y, -low), epsilon), room(high, y, epsilon)
    if above < 0.0 or below >= 0.0:
        return high
    width = RESOLUTION * (1.0 - high)
    while high - low > width:
        middle = 0.5 * (low + high)
        here = room(middle, y, epsilon)
        guess = ridders(high, middle, low, above, here, below)
        if here >= 0.0:
            high, above = middle, here
        else:
            low, below = middle, here
        width = RESOLUTION * (1.0 - high)
        if low < guess < high:
            here = room(guess, y, epsilon)
            if here >= 0.0:
                high, above = guess, here
            else:
                low, below = guess, here
        guess = high - 0.75 * width
        if low < guess:
            here = room(guess, y, epsilon)
            if here >= 0.0:
                high, above = guess, here
            else:
                low, below = guess, here
    return high


def spacing(x: float) -> float:
    """The spacing of the grid at x < 0: more than the errors of `rise` amount to, as errors of its x."""
    return math.ldexp(COARSE, max(math.frexp(x)[1], 0) + GRID)


def on_grid(x: float) -> float:
    """The largest point of the grid that is not above x < 0."""
    unit = spacing(x)
    return math.floor(x / unit) * unit


@noinline
def fall(z: float, epsilon: float, least: float) -> float:
    """The largest label that is the mirror image of a grid point from which `rise` reaches −z; for z ≥ −least."""
    goal = -z
    found = on_grid(drop(goal, epsilon, least))
    if rise(found, epsilon) >= goal:
        lower = on_grid(math.nextafter(found, -math.inf))
        while rise(lower, epsilon) >= goal:
            found = lower
            lower = on_grid(math.nextafter(found, -math.inf))
        return -found
    while found < -least:
        found += spacing(math.nextafter(found, 0.0))
        if rise(found, epsilon) >= goal:
            return -found
    return least


@noinline
def step(z: float, epsilon: float) -> float:
    """The upper bound that label z imposes over an edge, rounded toward privacy.

    >>> round(step(-1.0, 0.25), 4), step(0.5, 0.0)
    (-0.2474, 0.5)
    """
    plain = pure_step(z, epsilon)
    if not (0.0 < epsilon <= LARGEST_EPSILON and -FURTHEST <= z < math.inf and ALPHA <= LARGEST_ALPHA):
        return plain
    least = meet(epsilon)
    if z < -least:
        return max(plain, min(rise(on_grid(z), epsilon), least))
    return max(plain, least, fall(min(z, FURTHEST), epsilon, least))


def quick(z: float, epsilon: float) -> float:
    """Plain addition: the step of pure ε, which is never above this one, is at most one float below it."""
    return pure_quick(z, epsilon)


@noinline
def meet(epsilon: float) -> float:
    """The label of both ends of an edge between the answers when neither is worse, rounded toward privacy.

    >>> meet(0.0), meet(1.0) > pure_meet(1.0)
    (0.0, True)
    """
    low = pure_meet(epsilon)
    if not (0.0 < epsilon <= LARGEST_EPSILON and ALPHA <= LARGEST_ALPHA):
        return low
    high = 2.0 * epsilon + 2.0
    above, below = room(-low, low, epsilon), room(-high, high, epsilon)
    if above < 0.0 or below >= 0.0:
        return low
    while high - low > RESOLUTION * (1.0 + low):
        middle = 0.5 * (low + high)
        here = room(-middle, middle, epsilon)
        guess = ridders(low, middle, high, above, here, below)
        if here >= 0.0:
            low, above = middle, here
        else:
            high, below = middle, here
        if low < guess < high:
            here = room(-guess, guess, epsilon)
            if here >= 0.0:
                low, above = guess, here
            else:
                high, below = guess, here
        guess = low + 0.75 * RESOLUTION * (1.0 + low)
        if guess < high:
            here = room(-guess, guess, epsilon)
            if here >= 0.0:
                low, above = guess, here
            else:
                high, below = guess, here
    return low


def across(label: float, epsilon: float) -> float:
    """The largest label next to a dataset of the other answer whose label is given, rounded toward privacy."""
    return beyond_meeting(label, meet(epsilon), step(-label, epsilon))


def log_slope(z: Floats, reached: Floats) -> Floats:
    """log dp/dq where the label z just allows the label reached."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gained = LAPLACE.log_probability(reached) - LAPLACE.log_probability(z)
        lost = LAPLACE.log_probability(-z) - LAPLACE.log_probability(-reached)
        both = np.maximum(gained + lost, 0.0)
        turned = np.log(-np.expm1(-ALPHA * both)) - np.log(-np.expm1(-(ALPHA - 1.0) * both))
    turned = np.where(both > 0.0, turned, math.log(ALPHA / (ALPHA - 1.0))) + math.log((ALPHA - 1.0) / ALPHA)
    return np.asarray(np.where(z + reached <= 0.0, gained + turned, -lost - turned))


def divergence(high: float, low: float) -> float:
    """The Rényi divergence of order α of a probability from a smaller one; 0 from a larger one."""
    if high <= low:
        return 0.0
    if low <= 0.0:
        return math.inf
    order = ALPHA - 1.0
    ones = math.log(high) + order * math.log(high / low)
    twos = math.log1p(-high) + order * (math.log1p(-high) - math.log1p(-low)) if high < 1.0 else -math.inf
    most, least = max(ones, twos), min(ones, twos)
    return max(0.0, (most + math.log1p(math.exp(least - most))) / order)


@cache
def renyi(alpha: float) -> Notion:
    """Rényi privacy of this order."""
    part, exponent = math.frexp(1.0 + 1.0 / (alpha - 1.0))
    coarse = math.ldexp(1.0, exponent - (part == 0.5))
    own = with_constants(globals(), ALPHA=alpha, COARSE=coarse)
    reach = np.frompyfunc(own["step"], 2, 1)
    key = key_of("renyi", {"alpha": alpha})

    def reach_all(z: Floats, epsilon: Floats) -> Floats:
        return np.asarray(reach(z, epsilon), dtype=np.float64)

    def slope_all(z: Floats, epsilon: Floats) -> Floats:
        return np.asarray(own["log_slope"](z, reach_all(z, epsilon)))

    return Notion(
        name="renyi",
        columns=(EPSILON,),
        coordinate=LAPLACE,
        step=own["step"],
        quick=own["quick"],
        meet=own["meet"],
        across=own["across"],
        description=f"Rényi differential privacy of order α = {alpha:.15g}, with an ε of its own for each pair of"
        " neighbours",
        currency=Currency(key, "ε", 10**9, f"For each account, the ε of order α = {alpha:.15g} add up."),
        loss=lambda high, low, _: own["divergence"](high, low),
        curve=Curve(reach_all, slope_all),
        settings=(("alpha", alpha),),
        effort=60,
    )


LEAST_ORDER, LARGEST_ORDER = 1.000001, 1e12  # beyond them the steps overflow, or are too coarse to be useful
ORDER = Setting(
    "alpha",
    "α",
    f"alpha is a number from {LEAST_ORDER} to {LARGEST_ORDER:g}",
    lambda alpha: LEAST_ORDER <= alpha <= LARGEST_ORDER,
)
RENYI = Family("renyi", (ORDER,), renyi)
