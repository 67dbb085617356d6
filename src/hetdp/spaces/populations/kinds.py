"""People who are known by kind only: how many have which ε, group and area, and how many of a kind said what."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError
from hetdp.spaces.populations.folding import Fold, Whole


class KindsFold(Fold):
    """Which kinds of people are in which class, where rows are kinds, with many people each.

    Args:
        kinds: the kinds in the order of their classes.
        weights: how many people are of each kind.
    """

    def __init__(self, kinds: Fold, weights: Whole) -> None:
        self._kinds, self._weights = kinds, weights
        self._begin = np.cumsum(kinds.sizes) - kinds.sizes
        super().__init__(np.add.reduceat(weights[kinds.order], self._begin), lambda: kinds.order)

    @cached_property
    def member(self) -> Whole:
        """The class of each kind."""
        return self._kinds.member

    def counts(self, answers: NDArray[Any], values: int) -> NDArray[Any]:
        """How many people of each class have each value, from how many of each kind have it: [kind, value].

        Raises:
            UsageError: there are not as many answers of a kind as people.
        """
        fits = answers.shape == (len(self._weights), values) and answers.dtype.kind in "iu"
        if not fits or int(answers.min()) < 0 or not np.array_equal(answers.sum(axis=1), self._weights):
            rule = "they are whole numbers, for each kind as many as it has people in all"
            raise UsageError(f"the answers have the shape {answers.shape} and the type {answers.dtype}", rule)
        found: NDArray[Any] = np.add.reduceat(answers[self.order], self._begin, axis=0)
        return found

    def people_by(self, codes: Whole, count: int) -> Whole:
        """The same, where a row is a kind; sums are below 2⁵³, so that floats are exact."""
        return np.bincount(codes, self._weights, count).astype(np.int64)
