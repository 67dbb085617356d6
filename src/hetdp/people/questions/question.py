"""The contract of a yes/no question about people, the registry of its kinds, and exact arithmetic on counts.

A question is evaluated over many tables at once, said in words, written to a document and combined with others. Sums
and products of counts are whole numbers that cannot overflow: narrow arrays where they fit, else Python's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hetdp.documents import SCHEMA_VERSION
from hetdp.errors import UsageError
from hetdp.numbers import parse_whole
from hetdp.people.names import require_known
from hetdp.text import format_type, format_value

Counts = NDArray[Any]  # whole numbers ≥ 0
Truth = NDArray[np.bool_]
WIDTHS = (np.int8, np.int16, np.int32, np.int64)


def as_counts(given: Any, where: str) -> tuple[Counts, int]:
    """Counts as an array, and the largest of them.

    Args:
        given: whole numbers, of any shape.
        where: whose counts they are, for the message.

    Raises:
        UsageError: they are not whole numbers ≥ 0.
    """
    array = np.asarray(given)
    rule = "counts are whole numbers ≥ 0"
    if array.dtype.kind not in "iu" and not _is_python(array):
        raise UsageError(f"the counts of {where} are of the type {array.dtype}", rule)
    if array.size == 0:
        return array, 0
    if int(array.min()) < 0:
        raise UsageError(f"a count of {where} is {format_value(array.min())}", rule)
    return array, int(array.max())


def _is_python(array: Counts) -> bool:
    """True if these are Python's own integers."""
    return array.dtype == object and all(type(number) is int for number in array.flat)


def width_for(largest: int) -> Any:
    """The narrowest type of array for numbers up to this size, on both sides of zero.

    >>> width_for(100).__name__, width_for(10**6).__name__, width_for(2**63).__name__
    ('int8', 'int32', 'object')
    """
    return next((width for width in WIDTHS if largest <= np.iinfo(width).max), object)


def weighted_reaches(terms: Sequence[tuple[int, Counts, int]], at_least: int) -> Truth:
    """True if Σ weight × counts ≥ at_least, in whole numbers.

    Args:
        terms: weights, counts, and the largest of these counts; the arrays need only fit each other's shapes.
        at_least: the threshold.

    >>> weighted_reaches([(2, np.array([0, 1, 2]), 2), (-1, np.array([[1], [4]]), 4)], 0)
    array([[False,  True,  True],
           [False, False,  True]])
    """
    width = width_for(abs(at_least) + sum(abs(weight) * largest for weight, _, largest in terms))
    total = np.zeros((), dtype=width)
    order = sorted(range(len(terms)), key=lambda at: (terms[at][1].size, -at))  # last axes first: longer inner loops
    for weight, counts, _ in (terms[at] for at in order):
        total = total + counts.astype(width, copy=False) * _scalar(weight, width)
    return np.asarray(total >= _scalar(at_least, width), dtype=np.bool_)


def scaled_product(factor: int, left: tuple[Counts, int], right: tuple[Counts, int]) -> tuple[Counts, int]:
    """factor × left × right, in whole numbers, with an upper bound on the result."""
    largest = max(factor, 1) * max(left[1], 1) * max(right[1], 1)
    width = width_for(largest)
    product = left[0].astype(width, copy=False) * right[0].astype(width, copy=False)
    return np.asarray(product * _scalar(factor, width)), largest


def _scalar(number: int, width: Any) -> Any:
    """A number in a type that does not widen the array; a number that meets only zeros may have any type."""
    if width is object:
        return number
    return width(number) if abs(number) <= np.iinfo(width).max else width(0)


# The contract of a question -------------------------------------------------------------------------------------------

Tables = Mapping[str, Mapping[str, Any]]
Sizes = Mapping[str, int]


class Question(ABC):
    """A yes/no question about how many people of each group have each value.

    Everybody has exactly one value, so that the counts of a group add up to its size. Questions are joined by ``&``
    (and), ``|`` (or) and ``~`` (not); ``str`` says them in words, with the tie rule and what is divided by what.

    >>> import hetdp
    >>> question = hetdp.questions.count("yes", at_least=9) & hetdp.questions.all_of("Chair")
    >>> print(question)
    (at least 9 rows count as yes) and (all rows of Chair count as yes; any other value, blank included, makes it no)
    """

    @abstractmethod
    def evaluate(self, people: People) -> Truth:
        """The answers, from counts that have been validated."""

    @abstractmethod
    def groups_used(self) -> frozenset[str]:
        """The groups that are named, which the space must have; a question may ask about all groups and name none."""

    @abstractmethod
    def values_used(self) -> frozenset[str]:
        """The values that are named, which the space must have."""

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """The question as an object of a JSON or TOML document, without the version."""

    @abstractmethod
    def __str__(self) -> str: ...

    def canonical_form(self) -> Any:
        """A list that all wordings of this question share, and no other question has; for JSON.

        It begins with a word that no other kind of question uses; sum, and, or and not are taken.

        The identity of a request uses it where the question is not linear. By default the question as it is written.
        """
        return ["as written", self.body()]

    def linear(self) -> Linear | None:
        """The question as a sum of whole scores, one per person, that reaches a threshold; None if it is no such sum.

        >>> import hetdp
        >>> form = hetdp.questions.share("yes", at_least="60%", strict=True).linear()
        >>> form.score("anybody", "yes"), form.score("anybody", "no"), form.at_least
        (2, -3, 1)
        """
        return None

    def holds(self, counts: Tables, sizes: Sizes) -> Truth:
        """True where the answer is yes, for many tables at once, in whole numbers throughout.

        Args:
            counts: for each group and value, how many people: whole numbers, or arrays whose shapes fit each other.
            sizes: how many people each group has.

        Returns:
            an array of booleans; it has an axis only where something that is asked about has one.

        Raises:
            UsageError: a group or value that is named is missing, or counts are not whole numbers ≥ 0.

        >>> import numpy as np
        >>> import hetdp
        >>> counts = {"Class": {"ill": np.arange(5), "well": 4 - np.arange(5)}}
        >>> hetdp.questions.count("ill", at_least=3).holds(counts, {"Class": 4})
        array([False, False, False,  True,  True])
        """
        require_known(self.groups_used(), counts, "group")
        require_known(counts, sizes, "group with a size")
        for values in counts.values():
            require_known(self.values_used(), values, "value")
        return self.evaluate(
            People(counts, {group: parse_whole(sizes[group], f"the size of {group!r}", 0) for group in counts})
        )

    def document(self) -> dict[str, Any]:
        """The question as a document for JSON or TOML; `questions.from_document` reads it.

        Raises:
            UsageError: a Python function is part of the question.

        >>> import hetdp
        >>> hetdp.questions.count("yes", at_least=3).document()
        {'schema_version': 1, 'kind': 'question', 'question': {'asks': 'count', 'value': 'yes', 'at_least': 3}}
        """
        return {"schema_version": SCHEMA_VERSION, "kind": "question", "question": self.body()}

    def __and__(self, other: Any) -> Question:
        from hetdp.people.questions.logic import And, combine

        return combine(And, self, other) if isinstance(other, Question) else NotImplemented

    def __or__(self, other: Any) -> Question:
        from hetdp.people.questions.logic import Or, combine

        return combine(Or, self, other) if isinstance(other, Question) else NotImplemented

    def __invert__(self) -> Question:
        from hetdp.people.questions.logic import Not

        return Not(self)

    def __bool__(self) -> bool:
        raise TypeError("a question is not true or false by itself; join questions by &, | and ~, not by and, or, not")


QUESTION_KINDS: dict[str, Callable[..., Question]] = {}  # name in documents → maker, as imported; listed by name
Maker = TypeVar("Maker", bound=Callable[..., Question])


def require_question(question: Any) -> Question:
    """The question, if it is one.

    Raises:
        UsageError: it is not a question; a hint says how to make one of a function.
    """
    if isinstance(question, Question):
        return question
    rule, hint = "hetdp.questions makes questions, such as hetdp.questions.majority()", ""
    if any(question is make for make in QUESTION_KINDS.values()):
        hint = f"{question.__name__}() makes the question"
    elif callable(question):
        hint = "hetdp.questions.function(f, words) makes a question of a function, for votes and tallies"
    found = format_type(question) if callable(question) else format_value(question)
    raise UsageError(f"expected a question, got {found}", rule, hint)


def question_kind(make: Maker) -> Maker:
    """Registers a function that makes questions, as a decorator.

    Written questions name the function under the key ``asks``; its arguments are their other keys.
    """
    QUESTION_KINDS[make.__name__] = make
    return make


@dataclass(frozen=True)
class People:
    """The counts and sizes of the groups, as `Question.holds` was given them."""

    counts: Tables
    sizes: Sizes

    def of(self, group: str, value: str) -> tuple[Counts, int]:
        """The number of people in a group who have a value, and the largest such number."""
        counts, largest = as_counts(self.counts[group][value], f"{value!r} in {group!r}")
        if largest > self.sizes[group]:
            what = f"{largest} people of {group!r} have the value {value!r}"
            raise UsageError(what, f"the group has {self.sizes[group]} people")
        return counts, largest


@dataclass(frozen=True)
class Linear:
    """Whole scores, one for each person, whose sum must reach a threshold: Σ score(group, value) ≥ at_least.

    Attributes:
        scores: group → value → score; None stands for all groups, or values, that are not named.
        at_least: the threshold, with the tie rule folded in.
    """

    scores: Mapping[str | None, Mapping[str | None, int]]
    at_least: int

    def score(self, group: str, value: str) -> int:
        """The score of one person.

        >>> import hetdp
        >>> hetdp.questions.Linear({None: {"yes": 2, None: -1}}, 0).score("Staff", "no")
        -1
        """
        row = self._row(group)
        return row.get(value, row.get(None, 0))

    def negation(self) -> Linear:
        """The opposite question: a sum below the threshold is a negative sum that reaches another one."""
        turned = {group: {value: -score for value, score in row.items()} for group, row in self.scores.items()}
        return Linear(turned, 1 - self.at_least)

    def holds(self, people: People) -> Truth:
        """True where the sum reaches the threshold, for many tables at once."""
        terms, at_least = [], self.at_least
        for group in people.counts:
            row = self._row(group)
            others = row.get(None, 0)
            at_least -= others * people.sizes[group]  # everybody's, as if nobody had a value that is named
            extra = {value: score - others for value, score in row.items() if value is not None and score != others}
            terms += [(weight, *people.of(group, value)) for value, weight in extra.items()]
        return weighted_reaches(terms, at_least)

    def _row(self, group: str) -> Mapping[str | None, int]:
        return self.scores.get(group, self.scores.get(None, {}))
