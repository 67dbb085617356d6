"""Answers from a seeded generator: the one place where hetdp draws from anything but the operating system's bits.

For trying things out. Who knows the seed can tell more from such an answer than was promised, and p is a rounded float.
"""

from __future__ import annotations

import numpy as np

from hetdp.problem.space import Floats, Mask
from hetdp.theory.coordinate import Coordinate

MARK = "SIMULATED"


def seeded(coordinate: Coordinate, z: Floats, seed: int) -> Mask:
    """Whether each answer is 1: one for every z, the same for the same seed.

    >>> from hetdp.theory.coordinate import LAPLACE
    >>> seeded(LAPLACE, np.array([-np.inf, np.inf]), seed=7)
    array([False,  True])
    """
    return np.asarray(np.random.default_rng(seed).random(len(z)) < coordinate.probability(z))
