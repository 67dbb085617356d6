"""A small population mechanism in plain Python, so that tests of tables depend on nothing but the agreed interface."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


class StandIn:
    """Balanced, for counts: the sum of the smallest ε on the way to the threshold, and the crossing."""

    def __init__(self, question: Any, epsilon: Any, values: Any, groups: Any = None, deciding: Any = None) -> None:
        self.question, self.epsilon, self.values = question, np.asarray(epsilon), values
        self.size, self.deciding = len(self.epsilon), deciding
        self.seen: list[list[int]] = []

    def design(self, objective: str) -> StandIn:
        assert objective in ("balanced", "weighted-vote")
        return self

    def coordinate(self, codes: Any) -> float:
        assert len(codes) == self.size
        self.seen.append(np.asarray(codes).tolist())
        counts = {value: int((codes == at).sum()) for at, value in enumerate(self.values)}
        yes = bool(self.question.holds({"all": counts}, {"all": self.size}))
        return 2.0 if yes else -2.0

    def accuracy_by_margin(self) -> dict[int, float]:
        ordered = np.sort(self.epsilon)
        steps = np.concatenate([[0.0], np.cumsum(ordered)])[: min(3, self.size)]
        return {at + 1: 1 - 0.5 * math.exp(-min(z + ordered[0], 700.0)) for at, z in enumerate(steps.tolist())}

    def odds(self, group: Any = None) -> str:
        return "If you answer differently, the published answer is yes in at most 62 of 100 runs instead of 38."


def population(
    question: Any, epsilon: Any, values: Any = ("yes", "no"), groups: Any = None, deciding: Any = None
) -> StandIn:
    """As `hetdp.spaces.population` is called."""
    return StandIn(question, epsilon, values, groups, deciding)
