"""Threshold questions: a count, a share, a majority, A against B, a weighted sum, or a veto.

Each is a sum over people that must reach a threshold, and is evaluated as such, by `Linear`. Beside each class stands
the function that makes it, which is public and registered as a kind of question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from hetdp.errors import UsageError
from hetdp.numbers import Number, format_exact, format_share, parse_exact, parse_whole
from hetdp.people.names import join_names, quote_if_needed, require_name, require_names, require_names_or_all
from hetdp.people.questions.question import Linear, People, Question, Truth, question_kind
from hetdp.problem.answer_words import yes_or_no
from hetdp.text import format_value

Groups = tuple[str, ...] | None  # None: all groups
Names = str | Sequence[str]
Row = dict[str | None, int]
ALL, RESPONDENTS = "all", "respondents"
BLANK = "blank"  # the value of a row without an answer, unless a question says otherwise


class Threshold(Question):
    """A question that is a sum over people and a threshold."""

    def linear(self) -> Linear:
        raise NotImplementedError

    def evaluate(self, people: People) -> Truth:
        return self.linear().holds(people)


@dataclass(frozen=True)
class GroupThreshold(Threshold):
    """A threshold question about some groups, or all."""

    groups: Groups

    def groups_used(self) -> frozenset[str]:
        return frozenset(self.groups or ())

    def _scores(self, row: Row) -> dict[str | None, Row]:
        return {None: row} if self.groups is None else dict.fromkeys(self.groups, row)


@dataclass(frozen=True)
class Count(GroupThreshold):
    """At least a given number of people have a value; see `questions.count`."""

    value: str
    at_least: int

    def values_used(self) -> frozenset[str]:
        return frozenset({self.value})

    def linear(self) -> Linear:
        return Linear(self._scores({self.value: 1}), self.at_least)

    def body(self) -> dict[str, Any]:
        return {"asks": "count", "value": self.value, "at_least": self.at_least} | group_key(self.groups)

    def __str__(self) -> str:
        rows = "row{} counts" if self.at_least == 1 else "rows{} count"
        return f"at least {self.at_least:,} {rows.format(of_groups(self.groups))} as {quote_if_needed(self.value)}"


@question_kind
def count(value: str, at_least: int, group: Names | None = None) -> Question:
    """At least a given number of people have a value.

    Args:
        value: the value that is counted.
        at_least: the number of people.
        group: a group or several; everyone by default.

    Raises:
        UsageError: an argument is invalid.

    >>> import hetdp
    >>> print(hetdp.questions.count("ill", at_least=3, group="Pupils"))
    at least 3 rows of Pupils count as ill
    """
    return Count(
        require_names_or_all(group, "the group"), require_name(value, "the value"), parse_whole(at_least, "at_least", 0)
    )


@dataclass(frozen=True)
class Share(GroupThreshold):
    """At least a given share of people have a value; see `questions.share`."""

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
        whom = describe_rows(self.of, self.blank, self.groups)
        words = f"{'more than' if self.strict else 'at least'} {share} of {whom} count as {quote_if_needed(self.value)}"
        words += f"; exactly {share} is {'not enough' if self.strict else 'enough'}"
        if self.of == RESPONDENTS:
            return f"{words}; if all are {join_names(self.blank, 'or')}, the answer is {yes_or_no(not self.strict)}"
        return words if self.value == BLANK else f"{words}; {BLANK} rows do not count as {quote_if_needed(self.value)}"


@question_kind
def share(
    value: str,
    at_least: Number,
    of: str = ALL,
    strict: bool = False,
    group: Names | None = None,
    blank: Names | None = None,
) -> Question:
    """At least a given share of people have a value.

    Args:
        value: the value that is counted.
        at_least: the share: ``"50%"``, ``0.5``, ``"1/3"``, a Fraction or a Decimal; always exactly as written.
        of: ``"all"`` rows, or ``"respondents"``, which excludes blank rows.
        strict: whether exactly the share counts as no.
        group: a group or several; everyone by default.
        blank: the value, or values, that mean no response; ``"blank"`` by default. Only with ``of="respondents"``.

    Raises:
        UsageError: an argument is invalid.

    >>> import hetdp
    >>> print(hetdp.questions.share("yes", at_least="50%"))
    at least half of all rows count as yes; exactly half is enough; blank rows do not count as yes
    >>> print(hetdp.questions.share("yes", "2/3", of="respondents", blank="abstain"))
    at least 2/3 of all rows that are not abstain count as yes; exactly 2/3 is enough; if all are abstain, the \
answer is yes
    """
    part = parse_exact(at_least, "at_least")
    if not 0 <= part <= 1:
        raise UsageError(f"at_least is {format_value(at_least)}", 'a share is a number from 0 to 1, or "0%" to "100%"')
    found = require_names_or_all(group, "the group")
    return Share(found, require_name(value, "the value"), part, *check_denominator(value, of, strict, blank))


@question_kind
def majority(value: str = "yes", of: str = ALL, group: Names | None = None, blank: Names | None = None) -> Question:
    """More than half of the people have a value; exactly half is not enough.

    Args:
        value: the value that is counted.
        of: ``"all"`` rows, or ``"respondents"``, which excludes blank rows.
        group: a group or several; everyone by default.
        blank: the value, or values, that mean no response; ``"blank"`` by default. Only with ``of="respondents"``.

    Raises:
        UsageError: an argument is invalid.

    >>> import hetdp
    >>> print(hetdp.questions.majority())
    more than half of all rows count as yes; exactly half is not enough; blank rows do not count as yes
    """
    return share(value, Fraction(1, 2), of, True, group, blank)


@dataclass(frozen=True)
class Versus(GroupThreshold):
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
        words = (
            f"more rows{of_groups(self.groups)} count as {quote_if_needed(self.a)} than as {quote_if_needed(self.b)}"
        )
        return f"{words}; a tie counts as {self.ties}; rows with any other value do not count"


@question_kind
def versus(a: str, b: str, ties: str = "no", group: Names | None = None) -> Question:
    """A against B: more people have the value A than B; other values do not count.

    Args:
        a: the value that wins.
        b: the value it must beat.
        ties: how a tie counts: ``"no"`` or ``"yes"``.
        group: a group or several; everyone by default.

    Raises:
        UsageError: an argument is invalid.

    >>> import hetdp
    >>> print(hetdp.questions.versus("Simonds", "Yancey"))
    more rows count as Simonds than as Yancey; a tie counts as no; rows with any other value do not count
    """
    if ties not in ("no", "yes"):
        raise UsageError(f"ties is {format_value(ties)}", "a tie counts as 'no' or 'yes'")
    if a == b:
        raise UsageError(f"a and b are both {format_value(a)}", "they are different values")
    return Versus(require_names_or_all(group, "the group"), require_name(a, "a"), require_name(b, "b"), ties)


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
            ", ".join(f"{quote_if_needed(name)} {format_exact(number)}" for name, number in pairs)
            for pairs in (self.weights, self.scores)
        )
        words = (
            f"the sum of weight × score is at least {format_exact(self.at_least)}; weights: {weights}; scores: {scores}"
        )
        return f"{words}; other groups and values count 0; exactly {format_exact(self.at_least)} is enough"


@question_kind
def weighted_sum(
    weights: Mapping[str, Number], at_least: Number, scores: Mapping[str, Number] | None = None
) -> Question:
    """A sum over people of the group's weight times the value's score reaches a threshold.

    Groups and values that are not named count 0.

    Args:
        weights: group → weight; exactly as written.
        at_least: what the sum must reach; exactly that counts as yes.
        scores: value → score; ``{"yes": 1}`` by default.

    Raises:
        UsageError: an argument is invalid.

    >>> import hetdp
    >>> print(hetdp.questions.weighted_sum({"Council": 2, "Public": 0.5}, at_least=10))
    the sum of weight × score is at least 10; weights: Council 2, Public 0.5; scores: yes 1; other groups and values \
count 0; exactly 10 is enough
    """
    found = _numbers(weights, "weight"), _numbers({"yes": 1} if scores is None else scores, "score")
    return WeightedSum(*found, parse_exact(at_least, "at_least"))


def _numbers(given: Any, what: str) -> tuple[tuple[str, Fraction], ...]:
    if not isinstance(given, Mapping) or not given:
        raise UsageError(f"the {what}s are {format_value(given)}", f"there is one {what} or more, by name")
    return tuple(
        (require_name(one, f"the name of a {what}"), parse_exact(of, f"the {what} of {one!r}"))
        for one, of in given.items()
    )


@dataclass(frozen=True)
class AllOf(GroupThreshold):
    """Everyone in some groups has a value; see `questions.all_of`."""

    value: str

    def values_used(self) -> frozenset[str]:
        return frozenset({self.value})

    def linear(self) -> Linear:
        return Linear(self._scores({self.value: 0, None: -1}), 0)  # a single other value brings the sum below zero

    def body(self) -> dict[str, Any]:
        return {"asks": "all_of"} | group_key(self.groups) | {"value": self.value}

    def __str__(self) -> str:
        words = f"all rows{of_groups(self.groups)} count as {quote_if_needed(self.value)}"
        return f"{words}; any other value{'' if self.value == BLANK else ', blank included,'} makes it no"


@question_kind
def all_of(group: Names, value: str = "yes") -> Question:
    """Everyone in one or more groups has a value, so each of them has a veto.

    Args:
        group: a group or several.
        value: the value that all must have.

    Raises:
        UsageError: an argument is invalid.

    >>> import hetdp
    >>> print(hetdp.questions.all_of(["Permanent", "Chair"]))
    all rows of Permanent and Chair count as yes; any other value, blank included, makes it no
    """
    return AllOf(require_names(group, "the group"), require_name(value, "the value"))


def check_denominator(value: str, of: str, strict: bool, blank: Names | None) -> tuple[str, bool, tuple[str, ...]]:
    """Checks the tie rule and the denominator of a share."""
    if of not in (ALL, RESPONDENTS):
        raise UsageError(f"of is {format_value(of)}", f"a share is of {ALL!r} rows or of {RESPONDENTS!r}")
    if not isinstance(strict, bool):
        raise UsageError(f"strict is {format_value(strict)}", "it must be true or false")
    if of == ALL and blank is not None:
        raise UsageError(
            f"blank={format_value(blank)} together with of={ALL!r}",
            f"of={ALL!r} counts every row; only of={RESPONDENTS!r} leaves out blank rows",
        )
    blanks = require_names(BLANK if blank is None else blank, "blank") if of == RESPONDENTS else ()
    if value in blanks:
        raise UsageError(
            f"the value {format_value(value)} is called blank", "a blank row is not a response, so it cannot be counted"
        )
    return of, strict, blanks


def of_groups(groups: Groups) -> str:
    """The groups whose rows count, in words; empty for all groups."""
    return "" if groups is None else f" of {join_names(groups)}"


def describe_rows(of: str, blank: tuple[str, ...], groups: Groups) -> str:
    """The rows that a share refers to, in words."""
    return f"all rows{of_groups(groups)}" + ("" if of == ALL else f" that are not {join_names(blank, 'or')}")


def group_key(groups: Groups) -> dict[str, Any]:
    """The key of a document that names the groups of the question."""
    return {} if groups is None else {"group": groups[0] if len(groups) == 1 else list(groups)}


def blank_key(of: str, blank: tuple[str, ...]) -> dict[str, Any]:
    """The key of a document that names the values that do not count as a response."""
    return {} if of == ALL else {"blank": blank[0] if len(blank) == 1 else list(blank)}
