"""The fair mechanism by its definition, for any bound p(v) ≤ f(p(u)): bisect the worst error, see who must have it.

Whether some private mechanism has errors no larger than given is plain: the greatest private p below the largest that
is allowed must nowhere be below the smallest. All problems of one size are worked on at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

HALVINGS = 45
MARGIN = 1e-8  # by which an error that need not be the worst one can be smaller
TOLERANCE = 1e-11


@dataclass(frozen=True)
class Boxes:
    """Many problems of one size.

    Attributes:
        bound: f: from p (problems × datasets × 1) to bounds at all neighbours, 1 where there is none.
        ones: where the answer is 1.
        pins: p where given, NaN elsewhere.
    """

    bound: Callable[[np.ndarray], np.ndarray]
    ones: np.ndarray
    pins: np.ndarray

    def are_possible(self, errors: np.ndarray) -> np.ndarray:
        """For each problem, whether some private mechanism has errors no larger than these."""
        given = ~np.isnan(self.pins)
        most = np.where(given, self.pins, np.where(self.ones, 1.0, errors))
        least = np.where(given, self.pins, np.where(self.ones, 1.0 - errors, 0.0))
        return np.asarray((self.close_downward(most) >= least - 1e-13).all(axis=1))

    def close_downward(self, p: np.ndarray) -> np.ndarray:
        """The greatest private p nowhere above the given one, by relaxing all edges as often as there are datasets."""
        for _ in range(p.shape[1]):
            p = np.minimum(p, self.bound(p[:, :, None]).min(axis=1))
        return p

    def extension(self) -> np.ndarray:
        """The largest p with these pins where the answer is 1, the smallest where it is 2."""
        most, least = (self.close_downward(np.where(np.isnan(p), 1.0, p)) for p in (self.pins, 1.0 - self.pins))
        return np.where(self.ones, most, 1.0 - least)

    def fair(self) -> np.ndarray:
        """The fair errors."""
        given = ~np.isnan(self.pins)
        errors = np.where(given, np.where(self.ones, 1.0 - self.pins, self.pins), 0.0)
        fixed = given.copy()
        while not fixed.all():
            low, high = np.zeros(len(errors)), np.ones(len(errors))
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                fits = self.are_possible(np.where(fixed, errors + TOLERANCE, middle[:, None]))
                low, high = np.where(fits, low, middle), np.where(fits, middle, high)
            worst = np.where(fixed, errors + TOLERANCE, high[:, None] + TOLERANCE)
            musts = np.zeros_like(fixed)
            for v in range(errors.shape[1]):
                better = worst.copy()
                better[:, v] -= MARGIN
                musts[:, v] = ~fixed[:, v] & (~self.are_possible(better) | (high <= MARGIN))
            assert (musts.any(axis=1) | fixed.all(axis=1)).all()
            errors = np.where(musts, high[:, None], errors)
            fixed |= musts
        return errors
