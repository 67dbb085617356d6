"""A small population mechanism in plain Python, so that tests of tables depend on nothing but the agreed interface."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np


class Sentence(str):
    """A fake `PopulationOdds`."""

    __slots__ = ()
    deciding = None
    loss = epsilon = 0.5

    def sentence(self, answers: tuple[str, str], protected: str = "") -> str:
        """The sentence that is given, or one about the first of these answers."""
        return protected or str(self).replace("is yes", f"is {answers[0]}")


SENTENCE = Sentence("If you answer differently, the published answer is yes in at most 62 of 100 runs instead of 38.")


class Row(NamedTuple):
    """A fake row of `PopulationMechanism.accuracy_by_margin`."""

    margin: int
    accuracy: float
    error: float


class FakePopulation:
    """Balanced, for counts: the sum of the smallest ε on the way to the threshold, and the crossing."""

    constant = 0

    def __init__(self, question: Any, epsilon: Any, values: Any, groups: Any = None, deciding: Any = None) -> None:
        self.question, self.epsilon, self.values = question, np.asarray(epsilon), values
        self.size, self.deciding, self.groups = len(self.epsilon), deciding, groups
        self.seen: list[list[int]] = []

    def design(self, objective: str) -> FakePopulation:
        assert objective in ("balanced", "weighted-vote")
        return self

    def coordinate(self, codes: Any) -> float:
        assert len(codes) == self.size
        self.seen.append(np.asarray(codes).tolist())
        counts = {value: int((codes == at).sum()) for at, value in enumerate(self.values)}
        yes = bool(self.question.holds({"all": counts}, {"all": self.size}))
        return 2.0 if yes else -2.0

    def facts(self) -> None:
        """A formula."""

    def accuracy_by_margin(self) -> list[Row]:
        ordered = np.sort(self.epsilon)
        steps = np.concatenate([[0.0], np.cumsum(ordered)])[: min(3, self.size)]
        errors = [0.5 * math.exp(-min(z + ordered[0], 700.0)) for z in steps.tolist()]
        return [Row(at + 1, 1.0 - error, error) for at, error in enumerate(errors)]

    def worse_than_coin_up_to(self) -> int:
        return 0

    def losses_by_group(self) -> list[float]:
        groups = [0] * self.size if self.groups is None else self.groups
        return [float(self.epsilon[np.asarray(groups) == group].max()) for group in np.unique(groups)]

    def loss_of_each(self) -> np.ndarray:
        return self.epsilon

    def odds(self) -> Any:
        groups = [0] if self.groups is None else np.unique(self.groups).tolist()
        return SimpleNamespace(by_class=dict.fromkeys(map(str, groups), SENTENCE))


def population(
    question: Any, epsilon: Any, values: Any = ("yes", "no"), groups: Any = None, deciding: Any = None
) -> FakePopulation:
    """A fake `hetdp.spaces.population`."""
    return FakePopulation(question, epsilon, values, groups, deciding)
