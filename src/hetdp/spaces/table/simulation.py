"""What an answer could look like, from a seeded generator: for trying things out, never a release.

Who knows the seed can tell more from such an answer than was promised, so it is private data like the table itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetdp.spaces.table.wish import NO, YES
from hetdp.theory.coordinate import LAPLACE

MARK = "SIMULATED"
WARNING = "not a release: it is drawn from a known seed, and as private as the table itself"


def simulated(coordinates: Sequence[float], seed: int) -> list[str]:
    """One answer for each coordinate, the same for the same seed.

    Args:
        coordinates: of the answers, in the Laplace coordinate.
        seed: of the generator.
    """
    draws = np.random.default_rng(seed).random(len(coordinates))
    chances = LAPLACE.probability(np.asarray(coordinates, dtype=np.float64))
    return [YES if draw < chance else NO for draw, chance in zip(draws.tolist(), chances.tolist(), strict=True)]
