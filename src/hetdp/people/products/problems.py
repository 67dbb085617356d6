"""Votes and tallies as problems: axes from the table of ε, answers from the question, weights from a prior."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import comb, exp, fsum, lgamma, log, log10, prod
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.device import is_installed
from hetdp.errors import UsageError
from hetdp.numbers import parse_exact, parse_whole
from hetdp.people.names import require_known, require_name, require_names, require_values
from hetdp.people.populations.scores import scores_of
from hetdp.people.privacy.epsilons import LARGEST, epsilon_to_units
from hetdp.people.privacy.rule import ByGroup, Privacy, Table, rules
from hetdp.people.privacy.situations import states_of
from hetdp.people.questions.question import Question, require_question
from hetdp.problem.answer_words import KEYS, YES_AND_NO
from hetdp.problem.axis import Axis
from hetdp.problem.problem import Problem
from hetdp.problem.product import MOST_LOCAL, ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.scores import Scores
from hetdp.problem.values import Factors
from hetdp.text import format_value

UNIFORM = "uniform"
PRIOR_RULE = "a prior is 'uniform', value → probability, or group → value → probability"
ROUNDING = Fraction(1, 10**9)  # probabilities may miss 1 by this much and are then normalised

Weights = NDArray[np.float64]


def prior_weights(axes: Sequence[Axis], prior: Any) -> Factors | None:
    """The probability of each tally, as a product over the groups; None if all are equally probable.

    Args:
        axes: the groups.
        prior: as in `tallies`.

    Raises:
        UsageError: that is not a prior for these groups.

    >>> prior_weights([Axis.tally("all", 2, 1)], None)
    Factors(factors=(array([0.25, 0.5 , 0.25]),))
    """
    if isinstance(prior, str) and prior == UNIFORM:
        return None
    chances = _chances(axes, prior)
    return Factors(tuple(_of_counts(axis, one) for axis, one in zip(axes, chances, strict=True)))


def _chances(axes: Sequence[Axis], prior: Any) -> list[list[float]]:
    """For each group the probability of each value."""
    if prior is None:
        return [[1.0 / len(axis.values)] * len(axis.values) for axis in axes]
    if not isinstance(prior, Mapping) or not prior:
        raise UsageError(f"the prior is {format_value(prior)}", PRIOR_RULE)
    if not any(isinstance(chances, Mapping) for chances in prior.values()):
        return [_of_values(axis, prior) for axis in axes]
    groups = [axis.name for axis in axes]
    require_known(prior, groups, "group")
    require_known(groups, prior, "group with a prior")
    return [_of_values(axis, prior[axis.name]) for axis in axes]


def _of_values(axis: Axis, given: Any) -> list[float]:
    if not isinstance(given, Mapping):
        raise UsageError(f"the prior of {axis.name} is {format_value(given)}", PRIOR_RULE)
    require_known(given, axis.values, "value")
    require_known(axis.values, given, "value with a probability")
    found = [parse_exact(given[value], f"the probability of {value!r}") for value in axis.values]
    if any(chance < 0 for chance in found) or abs(sum(found, Fraction(0)) - 1) > ROUNDING:
        raise UsageError(f"the prior of {axis.name} is {format_value(given)}", "probabilities are ≥ 0 and add up to 1")
    return [float(chance / sum(found)) for chance in found]


def _of_counts(axis: Axis, chances: Sequence[float]) -> Weights:
    """The multinomial distribution over the positions of an axis, by logarithms of factorials; it adds up to 1."""
    positions = axis.positions if axis.shape == "counts" else [(at, axis.people - at) for at in axis.positions]
    logs = [log(chance) if chance else float("-inf") for chance in chances]
    whole = lgamma(axis.people + 1)
    found = [
        exp(whole + fsum(count * one - lgamma(count + 1) for count, one in zip(counts, logs, strict=True) if count))
        for counts in positions
    ]
    return np.array(found) / fsum(found)


# Building the problem -------------------------------------------------------------------------------------------------


MOST_DATASETS = 1 << 33  # whose labels fit into the memory of a GPU of 140 GB
MOST_DIGITS = 18  # of numbers that are shown in full
BLOCK = 1 << 26  # datasets whose answers are found at once, if there are more than a process searches
UNIT = "one person's value"
NEIGHBOURS = "one person has another value; the people and every ε are public"
FEWER_HINT = "tallies fold people who are alike; a population, as in hetdp.ask, needs no datasets at all"


def privacy_of(given: Any) -> Privacy:
    """Converts one ε, or a mapping name → ε, to privacy rules."""
    return given if isinstance(given, Privacy) else rules(given)


def require_few(sizes: Sequence[int], values: int, folded: bool, most: int, rule: str, hint: str) -> None:
    """Refuses a space with too many datasets, before it is built.

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
        size_words = f"{found:,}" if digits < MOST_DIGITS else f"about 10^{digits}"
        raise UsageError(
            f"{'1 person makes' if people == 1 else f'{people:,} people make'} {size_words} datasets", rule, hint
        )


def require_searchable(sizes: Sequence[int], values: int, folded: bool) -> None:
    """Refuses a space with more datasets than this process can search or, if CuPy is installed, a GPU can hold."""
    most, where = (MOST_DATASETS, "on a GPU") if is_installed() else (MOST_LOCAL, "without a GPU")
    require_few(sizes, values, folded, most, f"at most {most:,} datasets can be searched {where}", FEWER_HINT)


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
    """Builds the problem of some groups.

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
    require_question(question)
    require_searchable(list(sizes.values()), len(values), folded)
    promised = privacy_of(privacy)
    if not folded:  # every group is one person
        require_known((one for rule in promised.rules for one in rule.groups or ()), sizes, "person", "people")
    table = promised.table(list(sizes), values)
    axes = [axis(group, values, epsilon) for group, epsilon in zip(sizes, tables_of(table, promised), strict=True)]
    answers = _answers(axes, sizes, question)
    told_apart = any(one.states > 1 for one in axes)
    space = ProductSpace(axes, states_of(axes, answers, table.states) if told_apart else None)
    weights = prior_weights(axes, prior) if folded else None
    scores = _scores(question, sizes, values)
    return Problem(space, answers, weights=weights, about=about_of(question, promised, change), scores=scores)


def _scores(question: Question, sizes: Mapping[str, int], values: tuple[str, ...]) -> Scores | None:
    """The scores of everybody for a threshold question; None for other questions, and if the scores are too large."""
    if question.linear() is None:
        return None
    try:
        return scores_of(question, list(sizes), np.array(list(sizes.values()), dtype=np.int64), values)
    except UsageError:  # the answers were found already, so every name is known
        return None


def tables_of(table: Table, privacy: Privacy) -> list[Any]:
    """For each group, ε as written, by value and value; by state and state only where it depends on them."""
    used = [epsilon_to_units(rule.epsilon) for rule in privacy.rules]
    written: dict[int, Decimal] = {}
    for units, rule in sorted(zip(used, privacy.rules, strict=True), key=lambda pair: pair[1].epsilon, reverse=True):
        written[units] = Decimal(LARGEST >> 40) if units == LARGEST else rule.epsilon  # the smallest of equal ones
    count = len(table.values)
    found = []
    for units in table.units:
        states = units if (units != units[:, :1, :1]).any() else units[:, :1, :1]
        epsilon = np.full((count, count, *states.shape[1:]), Decimal(0), dtype=object)
        for pair, (one, other) in enumerate(zip(*np.triu_indices(count, 1), strict=True)):
            matrix = np.array([written[unit] for unit in states[pair].ravel().tolist()], dtype=object)
            epsilon[one, other] = epsilon[other, one] = matrix.reshape(states.shape[1:])
        found.append(epsilon)
    return found


def _answers(axes: Sequence[Axis], sizes: Mapping[str, int], question: Question) -> Answers:
    """1 where the question holds, else 2, in the order of the datasets.

    Of a space that is too large for this process, the question is asked in blocks that share the first positions.
    """
    shape, counts = tuple(axis.length for axis in axes), list[dict[str, Any]]()
    for at, axis in enumerate(axes):
        along = [1] * at + [axis.length] + [1] * (len(axes) - at - 1)
        columns = axis.counts().T.astype(np.min_scalar_type(-axis.people - 1))
        counts.append({value: one.reshape(along) for value, one in zip(axis.values, columns, strict=True)})
    fixed = 0
    while prod(shape) > MOST_LOCAL and prod(shape[fixed:]) > BLOCK and fixed < len(shape) - 1:
        fixed += 1
    found = np.empty(shape, dtype=np.int8)
    for first in np.ndindex(shape[:fixed]):
        places = [np.array([at]) for at in first]
        own = [
            {value: one.take(place, axis=at) for value, one in of_group.items()}
            for at, (of_group, place) in enumerate(zip(counts, places, strict=False))
        ]
        block = {axis.name: one for axis, one in zip(axes, [*own, *counts[fixed:]], strict=True)}
        found[first] = _answers_of_block(block, sizes, question, (1,) * fixed + shape[fixed:])[(0,) * fixed]
    return found.ravel()


def _answers_of_block(
    counts: Mapping[str, Any], sizes: Mapping[str, int], question: Question, shape: tuple[int, ...]
) -> Answers:
    found = question.holds(counts, sizes)
    try:
        holds = np.broadcast_to(found, shape)
    except ValueError:
        what = f"the function of the question {str(question)!r} gave an array of the shape {found.shape}"
        raise UsageError(what, f"it fits the shape {shape}, with an axis for each group") from None
    return np.where(holds, np.int8(1), np.int8(2))


def about_of(question: Question, privacy: Privacy, change: str) -> dict[str, str]:
    """The description of a problem of people that its files and records contain."""
    return {
        "title": str(question),
        **dict(zip(KEYS, YES_AND_NO, strict=True)),
        "privacy_unit": UNIT,
        "neighbour_relation": NEIGHBOURS,
        "change": change,
        "privacy": str(privacy),
    }


# Votes: every combination of people's values is a dataset ------------------------------------------------------------


PEOPLE_RULE = "people are one or more different names, or how many there are"
CHANGE = "{class} answers differently"


def votes(
    people: int | Sequence[str],
    question: Question,
    privacy: Privacy | ByGroup,
    values: Sequence[str] = ("yes", "no"),
) -> Problem:
    """A problem with one dataset for each combination of people's values: k values and n people make kⁿ.

    Neighbouring datasets differ in one person's value, and ε is public. Edges are computed, never stored. A dataset is
    a tuple with everybody's value, in order. Where the question holds, the answer is 1.

    Args:
        people: their names, or how many there are; then their names are ``"1"``, ``"2"`` and so on.
        question: from `hetdp.questions`; each person is a group of one, and can be named;
            ``hetdp.questions.function`` makes one of a Python function.
        privacy: rules from `hetdp.privacy`; or one ε for all; or name → ε.
        values: the values that a person may have.

    Raises:
        UsageError: the arguments do not fit each other, or there are too many datasets.
        InputError: somebody has no ε.

    >>> import hetdp
    >>> majority = hetdp.questions.majority()
    >>> problem = hetdp.spaces.votes(["Ann", "Bob", "Cyd"], majority, hetdp.privacy.rules(1, deciding={"Ann": 0.2}))
    >>> problem
    Problem(8 datasets, 4 with answer 1, notion 'pure')
    >>> mechanism = hetdp.design(problem, "balanced")
    >>> round(mechanism["yes", "yes", "no"], 3), round(mechanism["yes", "yes", "yes"], 3)
    (0.55, 0.834)
    """
    known, change = require_values(values), CHANGE
    if isinstance(people, Integral):
        change = f"person {change}"
        require_searchable([int(people)], len(known), False)
    return problem_of(dict.fromkeys(_names_of_people(people), 1), Axis.person, question, privacy, known, change)


def _names_of_people(people: Any) -> tuple[str, ...]:
    if isinstance(people, Integral) and not isinstance(people, bool):
        if people < 1:
            raise UsageError(f"there are {people} people", PEOPLE_RULE)
        return tuple(map(str, range(1, int(people) + 1)))
    if isinstance(people, str | Mapping) or not isinstance(people, Sequence):
        hint = "list(…) of a mapping has its names" if isinstance(people, Mapping) else ""
        raise UsageError(f"the people are {format_value(people)}", PEOPLE_RULE, hint)
    names = require_names(list(people), "the people")
    for name in filter(_is_group, names):
        rule = "votes are of single people, each with a name"
        raise UsageError(f"a person is named {format_value(name)}", rule, f"tallies have groups, such as {name}")
    return names


_is_group = re.compile(r"[^=]*=\s*\d+\s*").fullmatch  # a group and its size, as people type them for tallies


# Tallies: every way to count the values of some groups is a dataset --------------------------------------------------


GROUPS_RULE = "groups are given as name → how many people, one group or more"
TALLY_CHANGE = "somebody of {class} answers differently"


def tallies(
    groups: Mapping[str, int],
    question: Question,
    privacy: Privacy | ByGroup,
    values: Sequence[str] = ("yes", "no"),
    prior: Any = None,
) -> Problem:
    """A problem with one dataset for each combination of counts of the groups.

    People of a group have the same ε rule and are alike for the question; then nothing is lost beside `votes`, which
    has many more datasets. Neighbouring datasets differ in one person's value, and ε is public. A dataset is a tuple
    with an entry for each group: how many have the first of two values; or the counts of all values, if there are more.
    Where the question holds, the answer is 1.

    Args:
        groups: name → how many people.
        question: from `hetdp.questions`; ``hetdp.questions.function`` makes one of a Python function.
        privacy: rules from `hetdp.privacy`; or one ε for all; or group → ε.
        values: the values that a person may have.
        prior: how probable each tally is, for averages. Not given: everybody has each value with the same probability,
            as if votes were counted. Value → probability: everybody has it with that one, independently; group →
            value → probability: so for each group. ``"uniform"``: every tally is as probable as any other.

    Raises:
        UsageError: the arguments do not fit each other, or there are too many datasets.
        InputError: a group has no ε.

    >>> import hetdp
    >>> school = {"Pupils": 20, "Staff": 5}
    >>> alert = hetdp.questions.count("ill", at_least=3)
    >>> problem = hetdp.spaces.tallies(school, alert, {"Pupils": 0.3, "Staff": 1}, values=("ill", "well"))
    >>> problem
    Problem(126 datasets, 120 with answer 1, notion 'pure')
    >>> round(hetdp.design(problem)[3, 0], 3)
    0.574
    """
    sizes, known = sizes_of(groups), require_values(values)

    def axis(group: str, _: Sequence[str], epsilon: Any) -> Axis:
        if len(known) == 2:
            return Axis.tally(group, sizes[group], epsilon, known)
        return Axis.group(group, sizes[group], known, epsilon)

    return problem_of(sizes, axis, question, privacy, known, TALLY_CHANGE, prior, folded=True)


def sizes_of(groups: Any) -> dict[str, int]:
    """The groups by name, each a whole number of people."""
    if not isinstance(groups, Mapping) or not groups:
        raise UsageError(f"the groups are {format_value(groups)}", GROUPS_RULE)
    return {
        require_name(group, "a group"): parse_whole(size, f"the size of {group!r}", 0) for group, size in groups.items()
    }
