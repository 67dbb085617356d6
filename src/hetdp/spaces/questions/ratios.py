"""The ratio of two groups' shares, as in the four-fifths rule."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hetdp.spaces.exact import written
from hetdp.spaces.names import listed, spoken
from hetdp.spaces.questions.arithmetic import Counts, Truth, scaled_product, weighted_reaches, width_for
from hetdp.spaces.questions.question import People, Question
from hetdp.spaces.questions.thresholds import ALL, blank_key, yes_or_no


@dataclass(frozen=True)
class RatioOfShares(Question):
    """The share of one group is at least a part of that of another; see `questions.ratio_of_shares`."""

    value: str
    group_a: str
    group_b: str
    at_least: Fraction
    of: str
    strict: bool
    blank: tuple[str, ...]

    def groups_used(self) -> frozenset[str]:
        return frozenset({self.group_a, self.group_b})

    def values_used(self) -> frozenset[str]:
        return frozenset({self.value, *(() if self.of == ALL else self.blank)})

    def _holds(self, people: People) -> Truth:
        """Both shares are brought to one denominator, so that only whole numbers are compared."""
        part, parts = self.at_least.as_integer_ratio()
        left = scaled_product(parts, people.of(self.group_a, self.value), self._asked(people, self.group_b))
        right = scaled_product(part, people.of(self.group_b, self.value), self._asked(people, self.group_a))
        return weighted_reaches([(1, *left), (-1, *right)], int(self.strict))

    def _asked(self, people: People, group: str) -> tuple[Counts, int]:
        """How many the share of a group is divided by."""
        size = people.sizes[group]
        asked = np.asarray(size, dtype=width_for(size))
        if self.of != ALL:
            for value in self.blank:
                asked = asked - people.of(group, value)[0].astype(asked.dtype)
        return asked, size

    def body(self) -> dict[str, Any]:
        whom = {"value": self.value, "group_a": self.group_a, "group_b": self.group_b}
        facts = {"at_least": written(self.at_least), "of": self.of, "strict": self.strict}
        return {"asks": "ratio_of_shares"} | whom | facts | blank_key(self.of, self.blank)

    def __str__(self) -> str:
        a, b, value = map(spoken, (self.group_a, self.group_b, self.value))
        among = "rows" if self.of == ALL else f"rows that are not {listed(self.blank, 'or')}"
        words = f"the share of all {among} that say {value} is {'more than' if self.strict else 'at least'}"
        words += f" {written(self.at_least)} times as large in {a} as in {b}; exactly that counts as "
        words += "no, as do two shares of zero" if self.strict else f"yes, as does no row of {b} that says {value}"
        return f"{words}; a group without {among} counts as {yes_or_no(not self.strict)}"
