"""Questions that are a sum over people and a threshold; all are evaluated as such, by `Linear`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from hetdp.numbers import format_exact, format_share
from hetdp.people.names import listed, spoken
from hetdp.people.questions.question import (
    Counts,
    Linear,
    People,
    Question,
    Truth,
    scaled_product,
    weighted_reaches,
    width_for,
)

Groups = tuple[str, ...] | None  # None: all groups
Row = dict[str | None, int]
ALL, RESPONDENTS = "all", "respondents"
BLANK = "blank"  # the value of who gave none, unless a question says otherwise


class Threshold(Question):
    """A question that is a sum over people and a threshold."""

    def linear(self) -> Linear:
        raise NotImplementedError

    def _holds(self, people: People) -> Truth:
        return self.linear().holds(people)


@dataclass(frozen=True)
class Among(Threshold):
    """A threshold question about some groups, or all."""

    groups: Groups

    def groups_used(self) -> frozenset[str]:
        return frozenset(self.groups or ())

    def _scores(self, row: Row) -> dict[str | None, Row]:
        return {None: row} if self.groups is None else dict.fromkeys(self.groups, row)


@dataclass(frozen=True)
class Count(Among):
    """At least so many people have a value; see `questions.count`."""

    value: str
    at_least: int

    def values_used(self) -> frozenset[str]:
        return frozenset({self.value})

    def linear(self) -> Linear:
        return Linear(self._scores({self.value: 1}), self.at_least)

    def body(self) -> dict[str, Any]:
        return {"asks": "count", "value": self.value, "at_least": self.at_least} | group_key(self.groups)

    def __str__(self) -> str:
        rows, say = ("row", "says") if self.at_least == 1 else ("rows", "say")
        return f"at least {self.at_least:,} {rows}{of_groups(self.groups)} {say} {spoken(self.value)}"


@dataclass(frozen=True)
class Share(Among):
    """At least such a share of people have a value; see `questions.share`."""

    value: str
    at_least: Fraction
    of: str
    strict: bool
    blank: tuple[str, ...]

    def values_used(self) -> frozenset[str]:
        return frozenset({self.value, *self._left_out})

    @property
    def _left_out(self) -> tuple[str, ...]:
        return self.blank if self.of == RESPONDENTS else ()

    def linear(self) -> Linear:
        part, parts = self.at_least.as_integer_ratio()
        row: Row = {self.value: parts - part, None: -part} | dict.fromkeys(self._left_out, 0)
        return Linear(self._scores(row), int(self.strict))

    def body(self) -> dict[str, Any]:
        facts = {"value": self.value, "at_least": format_exact(self.at_least), "of": self.of, "strict": self.strict}
        return {"asks": "share"} | facts | group_key(self.groups) | blank_key(self.of, self.blank)

    def __str__(self) -> str:
        share = format_share(self.at_least)
        whom = rows_of(self.of, self.blank, self.groups)
        words = f"{'more than' if self.strict else 'at least'} {share} of {whom} say {spoken(self.value)}"
        words += f"; exactly {share} counts as {yes_or_no(not self.strict)}"
        if self.of == RESPONDENTS:
            return f"{words}; if all are {listed(self.blank, 'or')}, that counts as {yes_or_no(not self.strict)}"
        return words if self.value == BLANK else f"{words}; {BLANK} rows count as not {spoken(self.value)}"


@dataclass(frozen=True)
class Versus(Among):
    """More people have one value than another; see `questions.versus`."""

    a: str
    b: str
    ties: str

    def values_used(self) -> frozenset[str]:
        return frozenset({self.a, self.b})

    def linear(self) -> Linear:
        return Linear(self._scores({self.a: 1, self.b: -1}), 1 if self.ties == "no" else 0)

    def body(self) -> dict[str, Any]:
        return {"asks": "versus", "a": self.a, "b": self.b, "ties": self.ties} | group_key(self.groups)

    def __str__(self) -> str:
        words = f"more rows{of_groups(self.groups)} say {spoken(self.a)} than {spoken(self.b)}"
        return f"{words}; a tie counts as {self.ties}; rows with any other value do not count"


@dataclass(frozen=True)
class WeightedSum(Threshold):
    """A sum of weights times scores reaches a threshold; see `questions.weighted_sum`."""

    weights: tuple[tuple[str, Fraction], ...]
    scores: tuple[tuple[str, Fraction], ...]
    at_least: Fraction

    def groups_used(self) -> frozenset[str]:
        return frozenset(group for group, _ in self.weights)

    def values_used(self) -> frozenset[str]:
        return frozenset(value for value, _ in self.scores)

    def linear(self) -> Linear:
        products = [weight * score for _, weight in self.weights for _, score in self.scores]
        scale = lcm(self.at_least.denominator, *(product.denominator for product in products))
        rows: dict[str | None, Row] = {
            group: {value: int(weight * score * scale) for value, score in self.scores}
            for group, weight in self.weights
        }
        return Linear(rows, int(self.at_least * scale))

    def body(self) -> dict[str, Any]:
        weights, scores = (
            {name: format_exact(number) for name, number in pairs} for pairs in (self.weights, self.scores)
        )
        return {"asks": "weighted_sum", "weights": weights, "scores": scores, "at_least": format_exact(self.at_least)}

    def __str__(self) -> str:
        weights, scores = (
            ", ".join(f"{spoken(name)} {format_exact(number)}" for name, number in pairs)
            for pairs in (self.weights, self.scores)
        )
        words = (
            f"the sum of weight × score is at least {format_exact(self.at_least)}; weights: {weights}; scores: {scores}"
        )
        return f"{words}; other groups and values count 0; exactly {format_exact(self.at_least)} counts as yes"


@dataclass(frozen=True)
class AllOf(Among):
    """Everybody in some groups has a value; see `questions.all_of`."""

    value: str

    def values_used(self) -> frozenset[str]:
        return frozenset({self.value})

    def linear(self) -> Linear:
        return Linear(self._scores({self.value: 0, None: -1}), 0)  # a single other value brings the sum below zero

    def body(self) -> dict[str, Any]:
        return {"asks": "all_of"} | group_key(self.groups) | {"value": self.value}

    def __str__(self) -> str:
        words = f"all rows{of_groups(self.groups)} say {spoken(self.value)}"
        return f"{words}; any other value{'' if self.value == BLANK else ', blank included,'} makes it no"


def yes_or_no(answer: bool) -> str:
    """An answer in words."""
    return "yes" if answer else "no"


def of_groups(groups: Groups) -> str:
    """Whose rows, in words; empty for everybody's."""
    return "" if groups is None else f" of {listed(groups)}"


def rows_of(of: str, blank: tuple[str, ...], groups: Groups) -> str:
    """What a share is a share of, in words."""
    return f"all rows{of_groups(groups)}" + ("" if of == ALL else f" that are not {listed(blank, 'or')}")


def group_key(groups: Groups) -> dict[str, Any]:
    """The key of a document that says whom the question is about."""
    return {} if groups is None else {"group": groups[0] if len(groups) == 1 else list(groups)}


def blank_key(of: str, blank: tuple[str, ...]) -> dict[str, Any]:
    """The key of a document that says which values are no response."""
    return {} if of == ALL else {"blank": blank[0] if len(blank) == 1 else list(blank)}


# The ratio of two groups' shares, as in the four-fifths rule.


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
        facts = {"at_least": format_exact(self.at_least), "of": self.of, "strict": self.strict}
        return {"asks": "ratio_of_shares"} | whom | facts | blank_key(self.of, self.blank)

    def __str__(self) -> str:
        a, b, value = map(spoken, (self.group_a, self.group_b, self.value))
        among = "rows" if self.of == ALL else f"rows that are not {listed(self.blank, 'or')}"
        words = f"the share of all {among} that say {value} is {'more than' if self.strict else 'at least'}"
        words += f" {format_exact(self.at_least)} times as large in {a} as in {b}; exactly that counts as "
        words += "no, as do two shares of zero" if self.strict else f"yes, as does no row of {b} that says {value}"
        return f"{words}; a group without {among} counts as {yes_or_no(not self.strict)}"
