"""Votes of people with different ε: each person's weight in the ε-weighted vote, and random sampling by ε.

The weighted vote adds up ε, in whole units, and Laplace noise of scale 1. In the Laplace coordinate that is plain
addition: z = Σ counted − shift. The shift is public: if a part of the largest sum is needed (less half a step, so that
no table lies on the threshold), the same part of all weights is needed. All functions take whole numbers or arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def weights(units: Whole, bounded: NDArray[np.bool_], counts: NDArray[np.bool_], unit: int) -> Whole:
    """The weights of people, in units.

    Args:
        units: the ε of each person or class, in units.
        bounded: who is promised anything; all others weigh as much as the most of these.
        counts: who can change the sum; all others weigh nothing.
        unit: what everybody weighs where nobody is promised anything.

    >>> weights(np.array([3, 5, 9]), np.array([True, True, False]), np.array([True, True, True]), 1)
    array([3, 5, 5])
    """
    most = int(np.max(units, where=bounded, initial=0)) if bounded.any() else unit
    return np.where(counts, np.minimum(units, most), 0)


def contribution(weight: Whole | int, score: Whole, most: Whole | int) -> Whole:
    """The contribution of a person with this score: the weight times the score over the largest score, floored.

    It is from 0 to the weight, so that no change of score changes it by more than the weight.

    >>> contribution(10, np.array([0, 1, 3]), 3)
    array([ 0,  3, 10])
    """
    return np.asarray(weight // most * score + weight % most * score // most)


def shift(total: int, threshold: int, largest: int) -> int:
    """The part of all weights that is needed, if the sum of scores, which is at most `largest`, must reach a threshold.

    >>> shift(30, 2, 3)  # two of three, less half a person
    15
    """
    return total * (2 * threshold - 1) // max(2 * largest, 1)


def threshold_share(threshold: int, people: int) -> float:
    """The part of all people that must say yes, less half a person.

    >>> threshold_share(2, 3)
    0.5
    """
    return (threshold - 0.5) / people


def mean_epsilon(units: Whole, people: Whole, unit: float) -> float:
    """The mean ε of people, floored to the units, so that it is their own ε where all have the same.

    >>> mean_epsilon(np.array([1, 4]), np.array([2, 1]), 0.5)
    1.0
    """
    pairs = zip(units.tolist(), people.tolist(), strict=True)
    total = sum(one * many for one, many in pairs)
    return float(total // int(people.sum())) * unit


def keep_probability(epsilon: float, limit: float) -> tuple[float, float]:
    """The probabilities that sampling keeps a person or not: (e^ε − 1)/(e^limit − 1), and 1 from the limit on.

    >>> [round(chance, 6) for chance in keep_probability(0.1, 1.0)]
    [0.061207, 0.938793]
    """
    if epsilon >= limit:
        return 1.0, 0.0
    both = np.expm1(-limit)
    return float(np.exp(epsilon - limit) * np.expm1(-epsilon) / both), float(np.expm1(epsilon - limit) / both)


def kept_distribution(people: int, kept: float, dropped: float) -> Floats:
    """The distribution of the number of people that sampling keeps, each independently; computed by doubling.

    >>> kept_distribution(2, 0.25, 0.75)
    array([0.5625, 0.375 , 0.0625])
    """
    if people == 0:
        return np.ones(1)
    half = kept_distribution(people // 2, kept, dropped)
    found = np.convolve(half, half)
    return np.convolve(found, np.array([dropped, kept])) if people % 2 else found
