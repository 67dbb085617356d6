"""What an answer could look like, from a seeded generator: for trying things out, never a release.

Who knows the seed can tell more from such an answer than was promised, so it is private data like the table itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetdp.mechanism.seeded import MARK, seeded
from hetdp.spaces.table.wish import NO, YES
from hetdp.theory.coordinate import LAPLACE

__all__ = ["MARK", "WARNING", "simulated"]

WARNING = "not a release: it is drawn from a known seed, and as private as the table itself"


def simulated(coordinates: Sequence[float], seed: int) -> list[str]:
    """One answer for each coordinate, the same for the same seed.

    Args:
        coordinates: of the answers, in the Laplace coordinate.
        seed: of the generator.
    """
    ones = seeded(LAPLACE, np.asarray(coordinates, dtype=np.float64), seed)
    return [YES if one else NO for one in ones.tolist()]
