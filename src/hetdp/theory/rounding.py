"""Sums and halves of floats, rounded toward privacy, and constants that several notions need."""

from __future__ import annotations

import math

LARGEST = 1.7976931348623157e308
LN2_HI = 0.6931471805599453
LN2_LO = 2.3190468138462996e-17
LN2_REST = 1e-32  # more than what LN2_HI + LN2_LO lacks, which is amplified next to ln 2
ONE_ULP_DOWN = 1.0 - 2.0**-53  # times a positive normal float, rounded, this is the next smaller float
EIGHT_ULPS_DOWN = 1.0 - 2.0**-49  # more than the error of the five roundings of any formula that it lowers
SPLITTER = 2.0**27 + 1.0
CANCELLATION = 0.125  # in logarithms: a difference of two numbers so close loses three bits and more
LOG_PAIR_ERROR = 2.0**-82  # more than the error of a logarithm in two floats, relative to 1 plus its size
NEGLIGIBLE = 1e-290  # below it ulps are soon no longer relative, and formulas take the limit at 0


def add_down(z: float, epsilon: float) -> float:
    """The largest float not above the exact sum z + ε."""
    total = z + epsilon
    shift = total - z
    error = (z - (total - shift)) + (epsilon - shift)
    if total > NEGLIGIBLE and error == error:  # nearly always; no branch depends on the sign, which is like a coin
        return total * (1.0 if error >= 0.0 else ONE_ULP_DOWN)
    if error >= 0.0:
        return total
    if error < 0.0:
        return math.nextafter(total, -math.inf)
    if z == math.inf or z == -math.inf:
        return z
    if total == math.inf:
        return LARGEST  # the sum left the floats; the exact one did not
    return math.nextafter(total, -math.inf)  # only what measures the error did


def half_down(epsilon: float) -> float:
    """The largest float not above ε/2."""
    half = 0.5 * epsilon
    return half if half + half <= epsilon else math.nextafter(half, 0.0)


def beyond_meeting(label: float, least: float, bound: float) -> float:
    """The bound of an edge between the answers, from its rounded bound and the rounded point where its ends meet.

    Never below that point as long as the given label is not above it, so that a search by labels never turns back
    (docs/theory/fair-search.md).
    """
    if label == least:
        return least
    return bound if label > least else max(bound, least)


def product_pair(a: float, b: float) -> tuple[float, float]:
    """The product of two floats as a float and what it lacks, exactly (Dekker)."""
    product = a * b
    a_high = SPLITTER * a - (SPLITTER * a - a)
    b_high = SPLITTER * b - (SPLITTER * b - b)
    a_low, b_low = a - a_high, b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def sum_pair(a: float, b: float) -> tuple[float, float]:
    """The sum of two floats as a float and what it lacks, exactly (Knuth)."""
    total = a + b
    shift = total - a
    return total, (a - (total - shift)) + (b - shift)


def exp_pair(x: float) -> tuple[float, float]:
    """e^x as the sum of two floats, for |x| ≤ 0.7; the relative error is below 2^−92.

    Taylor's series at x/256, squared eight times.
    """
    y = x / 256.0
    high, low = 1.0 + y / 6.0 * (1.0 + y / 7.0 * (1.0 + y / 8.0 * (1.0 + y / 9.0))), 0.0
    for k in (5.0, 4.0, 3.0, 2.0, 1.0):  # 1 + (y / k) · (what follows)
        product, rest = product_pair(high, y)
        rest += low * y
        part = product / k
        back, lost = product_pair(part, k)
        high, low = sum_pair(1.0, part)
        low += (((product - back) - lost) + rest) / k
        high, low = sum_pair(high, low)
    for _ in range(8):
        product, rest = product_pair(high, high)
        high, low = sum_pair(product, rest + 2.0 * high * low)
    return high, low


def log_pair(high: float, low: float) -> tuple[float, float]:
    """log(high + low) as the sum of two floats, for low that is a rounding of high > 0; right to 2^−88·(1 + |log|)."""
    part, exponent = math.frexp(high)
    near = math.log(part)
    whole, rest = exp_pair(near)
    more = (((part - whole) - rest) + math.ldexp(low, -exponent)) / part
    power, lost = product_pair(float(exponent), LN2_HI)
    total, error = sum_pair(power, near)
    return sum_pair(total, error + lost + float(exponent) * LN2_LO + more)


def minus_log_of_less(high: float, low: float, t: float, rest: float) -> float:
    """−log(high + low − e^(t + rest)), rounded down, if the difference is tiny; otherwise −∞.

    It is monotone in t + rest if c − t is exact, as it is for |c| ≥ ½; otherwise a rest of 0 makes it so. Letters:
    c = log(high + low), d = c − t − rest; what is left is e^c·(1 − e^(−d)).
    """
    if not math.log(high) - t < CANCELLATION:
        return -math.inf
    c, c_low = log_pair(high, low)
    d = ((c - t) - rest) + c_low
    d += LOG_PAIR_ERROR * (1.0 + abs(c)) + 2.0**-51 * abs(d)
    if d <= 0.0:
        return math.inf
    kept = math.log(-math.expm1(-d))
    return -(c + kept) - 2.0**-49 * (abs(c) + abs(kept))


def minus_log_of_rest(high: float, low: float, epsilon: float, z: float) -> float:
    """−log(e^(ε − z) − high − low), rounded down, if the difference is tiny; otherwise −∞.

    Letters: K = high + low, d = ε − log K − z; what is left is K·(e^d − 1). If ε > 0, K may be wrong by 2^−89.
    """
    if not (epsilon - z) - math.log(high) < CANCELLATION:
        return -math.inf
    log, log_low = log_pair(high, low)
    c, c_low = sum_pair(epsilon, -log)
    d = (c - z) + (c_low - log_low)
    d += LOG_PAIR_ERROR * (1.0 + abs(c) + abs(log) + (1.0 / high if epsilon > 0.0 else 0.0)) + 2.0**-51 * abs(d)
    if d <= 0.0:
        return math.inf
    kept = math.log(math.expm1(d))
    return -(log + kept) - 2.0**-49 * (abs(log) + abs(kept))
