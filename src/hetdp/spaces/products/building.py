"""How votes and tallies become a problem: axes from the table of ε, answers from the question, states from both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from math import comb, log10, prod
from typing import Any

import numpy as np

from hetdp.errors import UsageError, shown
from hetdp.problem.axis import Axis
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.scores import Scores
from hetdp.spaces.names import names
from hetdp.spaces.populations.scores import scores_of
from hetdp.spaces.privacy.grid import LARGEST, on_grid
from hetdp.spaces.privacy.rules import Privacy, rules
from hetdp.spaces.privacy.table import Table
from hetdp.spaces.products.margins import states_of
from hetdp.spaces.products.priors import weights_of
from hetdp.spaces.questions.question import Question

MOST_DATASETS = 1 << 30
MOST_DIGITS = 18  # of numbers that are told in full
MOST_RULE = f"at most {MOST_DATASETS:,} datasets can be searched"
UNIT = "one person's value"
NEIGHBOURS = "one person has another value; who there is, and every ε, are public"
FEWER = "tallies fold people who are alike; a population, as in hetdp ask, needs no datasets at all"


def values_of(given: Any) -> tuple[str, ...]:
    """The values that a person may have: two different names or more.

    Raises:
        UsageError: they are none.
    """
    found = names(list(given) if not isinstance(given, str) else given, "the values")
    if len(found) < 2:
        raise UsageError(f"the values are {shown(given)}", "everybody has one of two values or more")
    return found


def privacy_of(given: Any) -> Privacy:
    """Privacy rules; one ε, or name → ε, are made into some."""
    return given if isinstance(given, Privacy) else rules(given)


def require_few(sizes: Sequence[int], values: int, folded: bool, most: int, rule: str, hint: str) -> None:
    """Refuses a space before anything is made of it.

    Args:
        sizes: how many people each group has.
        values: how many values a person may have.
        folded: whether people of a group are only counted.
        most: how many datasets there may be.
        rule: that, in words.
        hint: what works instead.

    Raises:
        UsageError: it has more datasets.

    >>> require_few([30], 2, True, 100, "", "")
    >>> require_few([30], 2, False, 100, "at most 100 can be drawn", "")
    Traceback (most recent call last):
    ...
    hetdp.errors.UsageError: 30 people make 1,073,741,824 datasets; at most 100 can be drawn.
    """
    people = sum(sizes)
    if folded:
        found = prod(comb(size + values - 1, values - 1) for size in sizes)
        digits = int(log10(found))
    else:
        digits = int(min(people, 10**300) * log10(values))
        found = values**people if digits < MOST_DIGITS else most + 1
    if found > most:
        told = f"{found:,}" if digits < MOST_DIGITS else f"about 10^{digits}"
        raise UsageError(
            f"{'1 person makes' if people == 1 else f'{people:,} people make'} {told} datasets", rule, hint
        )


def problem_of(
    sizes: Mapping[str, int],
    axis: Callable[[str, Sequence[str], Any], Axis],
    question: Question,
    privacy: Any,
    values: tuple[str, ...],
    change: str,
    prior: Any = None,
    folded: bool = False,
) -> Problem:
    """The problem of some groups.

    Args:
        sizes: the groups, and how many people each has.
        axis: makes the axis of a group from its name, the values and a table of ε.
        question: what is asked.
        privacy: what is promised.
        values: what a person may have.
        change: what people do when data change, in words.
        prior: as in `tallies`; votes have none.
        folded: whether people of a group are only counted.
    """
    if not isinstance(question, Question):
        raise UsageError(f"the question is {shown(question)}", "it is made by hetdp.questions, such as majority()")
    require_few(list(sizes.values()), len(values), folded, MOST_DATASETS, MOST_RULE, FEWER)
    promised = privacy_of(privacy)
    table = promised.table(list(sizes), values)
    axes = [axis(group, values, epsilon) for group, epsilon in zip(sizes, tables_of(table, promised), strict=True)]
    answers = _answers(axes, sizes, question)
    told_apart = any(one.states > 1 for one in axes)
    space = ProductSpace(axes, states_of(axes, answers, table.states) if told_apart else None)
    weights = weights_of(axes, prior) if folded else None
    scores = _scores(question, sizes, values)
    return Problem(space, answers, weights=weights, about=about_of(question, promised, change), scores=scores)


def _scores(question: Question, sizes: Mapping[str, int], values: tuple[str, ...]) -> Scores | None:
    """What everybody counts toward the threshold; None if the question is none, or its scores are too large."""
    if question.linear() is None:
        return None
    try:
        return scores_of(question, list(sizes), np.array(list(sizes.values()), dtype=np.int64), values)
    except UsageError:  # the answers were found already, so every name is known
        return None


def tables_of(table: Table, privacy: Privacy) -> list[Any]:
    """For each group ε as written, by value and value; by state and state only where it depends on them."""
    used = [on_grid(rule.epsilon) for rule in privacy.rules]
    written: dict[int, Decimal] = {}
    for units, rule in sorted(zip(used, privacy.rules, strict=True), key=lambda pair: pair[1].epsilon, reverse=True):
        written[units] = Decimal(LARGEST >> 40) if units == LARGEST else rule.epsilon  # the smallest of equal ones
    count = len(table.values)
    found = []
    for units in table.units:
        told = units if (units != units[:, :1, :1]).any() else units[:, :1, :1]
        epsilon = np.full((count, count, *told.shape[1:]), Decimal(0), dtype=object)
        for pair, (one, other) in enumerate(zip(*np.triu_indices(count, 1), strict=True)):
            matrix = np.array([written[unit] for unit in told[pair].ravel().tolist()], dtype=object)
            epsilon[one, other] = epsilon[other, one] = matrix.reshape(told.shape[1:])
        found.append(epsilon)
    return found


def _answers(axes: Sequence[Axis], sizes: Mapping[str, int], question: Question) -> Answers:
    """1 where the question holds, else 2, in the order of the datasets."""
    shape = tuple(axis.length for axis in axes)
    counts = {}
    for at, axis in enumerate(axes):
        along = [1] * at + [axis.length] + [1] * (len(axes) - at - 1)
        columns = axis.counts().T.astype(np.min_scalar_type(-axis.people - 1))
        counts[axis.name] = {value: one.reshape(along) for value, one in zip(axis.values, columns, strict=True)}
    found = question.holds(counts, sizes)
    try:
        holds = np.broadcast_to(found, shape)
    except ValueError:
        what = f"the function of the question {str(question)!r} gave an array of the shape {found.shape}"
        raise UsageError(what, f"it fits the shape {shape}, with an axis for each group") from None
    return np.where(holds, np.int8(1), np.int8(2)).ravel()


def about_of(question: Question, privacy: Privacy, change: str) -> dict[str, str]:
    """What a problem of people says of itself."""
    return {
        "title": str(question),
        "answer_1": "yes",
        "answer_2": "no",
        "privacy_unit": UNIT,
        "neighbour_relation": NEIGHBOURS,
        "change": change,
        "privacy": str(privacy),
    }
