"""The ratio of two groups' shares, as in the four-fifths rule."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hetdp.errors import UsageError
from hetdp.numbers import Number, format_exact, parse_exact
from hetdp.people.names import join_names, quote_if_needed, require_name
from hetdp.people.questions.question import (
    Counts,
    People,
    Question,
    Truth,
    question_kind,
    scaled_product,
    weighted_reaches,
    width_for,
)
from hetdp.people.questions.thresholds import ALL, Names, blank_key, check_denominator
from hetdp.problem.answer_words import yes_or_no
from hetdp.text import format_value


@dataclass(frozen=True)
class RatioOfShares(Question):
    """The share of one group is at least a given part of another group's; see `questions.ratio_of_shares`."""

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

    def evaluate(self, people: People) -> Truth:
        """Both shares are brought to one denominator, so that only whole numbers are compared."""
        part, parts = self.at_least.as_integer_ratio()
        left = scaled_product(parts, people.of(self.group_a, self.value), self._denominator(people, self.group_b))
        right = scaled_product(part, people.of(self.group_b, self.value), self._denominator(people, self.group_a))
        return weighted_reaches([(1, *left), (-1, *right)], int(self.strict))

    def _denominator(self, people: People, group: str) -> tuple[Counts, int]:
        """The denominator of a group's share."""
        size = people.sizes[group]
        asked = np.asarray(size, dtype=width_for(size))
        if self.of != ALL:
            for value in self.blank:
                asked = asked - people.of(group, value)[0].astype(asked.dtype)
        return asked, size

    def body(self) -> dict[str, Any]:
        whom = {"value": self.value, "group_a": self.group_a, "group_b": self.group_b}
        facts = {"at_least": format_exact(self.at_least), "of": self.of, "strict": self.strict}
        return {"asks": "ratio_of_shares"} | whom | facts | blank_key(self.of, self.blank)

    def canonical_form(self) -> Any:
        """The same for all wordings: without blank values that a share of all rows does not leave out."""
        facts = {"value": self.value, "a": self.group_a, "b": self.group_b, "of": self.of}
        left_out = [] if self.of == ALL else sorted(set(self.blank))
        return ["ratio", facts | {"at_least": format_exact(self.at_least), "strict": self.strict, "blank": left_out}]

    def __str__(self) -> str:
        a, b, value = map(quote_if_needed, (self.group_a, self.group_b, self.value))
        among = "rows" if self.of == ALL else f"rows that are not {join_names(self.blank, 'or')}"
        words = f"the share of all {among} that count as {value} is {'more than' if self.strict else 'at least'}"
        words += f" {format_exact(self.at_least)} times as large in {a} as in {b}; exactly that is "
        words += "not enough; if both" if self.strict else f"enough; if the share of {b}"
        answer = yes_or_no(not self.strict)
        return f"{words} {'are' if self.strict else 'is'} zero, or if a group has no {among}, the answer is {answer}"


@question_kind
def ratio_of_shares(
    value: str,
    group_a: str,
    group_b: str,
    at_least: Number = Fraction(4, 5),
    of: str = ALL,
    strict: bool = False,
    blank: Names | None = None,
) -> Question:
    """The share of one group is at least a given part of another group's share: the four-fifths rule.

    Where the share of group B is zero, any share of group A is at least that part of it; so the answer is yes.

    Args:
        value: the value whose shares are compared.
        group_a: the group whose share must be large enough.
        group_b: the group it is compared with.
        at_least: the part, as in `share`.
        of: ``"all"`` rows, or ``"respondents"``, which excludes blank rows.
        strict: whether it takes more than that, so that exactly that counts as no.
        blank: the value, or values, that mean no response; ``"blank"`` by default. Only with ``of="respondents"``.

    Raises:
        UsageError: an argument is invalid.

    >>> import hetdp
    >>> rule = hetdp.questions.ratio_of_shares("admitted", "F", "M")
    >>> counts = {"F": {"admitted": 557, "rejected": 1278}, "M": {"admitted": 1198, "rejected": 1493}}
    >>> bool(rule.holds(counts, {"F": 1835, "M": 2691}))
    False
    """
    part = parse_exact(at_least, "at_least")
    if part < 0:
        raise UsageError(f"at_least is {format_value(at_least)}", "it must be a number ≥ 0")
    if group_a == group_b:
        raise UsageError(f"group_a and group_b are both {format_value(group_a)}", "they are different groups")
    whom = require_name(value, "the value"), require_name(group_a, "group_a"), require_name(group_b, "group_b")
    return RatioOfShares(*whom, part, *check_denominator(value, of, strict, blank))
