"""A question about groups, asked about parts of these groups: people of a group who differ in ε are counted apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetdp.spaces.questions.arithmetic import Truth, width_for
from hetdp.spaces.questions.question import People, Question


@dataclass(frozen=True)
class Regrouped(Question):
    """The same question, where each part of a group is an axis of its own.

    Attributes:
        question: what is asked.
        group_of: part → the group it belongs to.
        groups: all groups, those without people included.
    """

    question: Question
    group_of: Mapping[str, str]
    groups: tuple[str, ...]

    def groups_used(self) -> frozenset[str]:
        return frozenset()

    def values_used(self) -> frozenset[str]:
        return self.question.values_used()

    def _holds(self, people: People) -> Truth:
        counts: dict[str, dict[str, Any]] = {}
        sizes: dict[str, int] = {}
        for group in self.groups:
            parts = [part for part in people.counts if self.group_of[part] == group]
            sizes[group] = sum(people.sizes[part] for part in parts)
            width = width_for(sizes[group])
            counts[group] = {
                value: sum((people.of(part, value)[0].astype(width) for part in parts), np.zeros((), dtype=width))
                for value in next(iter(people.counts.values()))
            }
        return self.question.holds(counts, sizes)

    def body(self) -> dict[str, Any]:
        return self.question.body()

    def __str__(self) -> str:
        return str(self.question)
