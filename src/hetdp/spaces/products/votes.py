"""Votes: every combination of people's values is a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from hetdp.errors import UsageError, shown
from hetdp.problem.axis import Axis
from hetdp.problem.problem import Problem
from hetdp.spaces.names import names
from hetdp.spaces.privacy.rules import ByGroup, Privacy
from hetdp.spaces.products.building import FEWER, MOST_DATASETS, MOST_RULE, problem_of, require_few, values_of
from hetdp.spaces.questions.question import Question

PEOPLE_RULE = "people are one or more different names, or how many there are"
CHANGE = "{class} answers differently"


def votes(
    people: int | Sequence[str],
    question: Question,
    privacy: Privacy | ByGroup,
    values: Sequence[str] = ("yes", "no"),
) -> Problem:
    """A problem with a dataset for all that people may answer together: k values and n people make kⁿ.

    Neighbouring datasets differ in one person's value, and ε is public. Edges are computed, never stored. A dataset is
    a tuple with everybody's value, in order. Where the question holds, the answer is 1.

    Args:
        people: their names, or how many there are; then their names are ``"1"``, ``"2"`` and so on.
        question: from `hetdp.questions`; each person is a group of one, and can be named. A Python function is taken,
            too.
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
    known, change = values_of(values), CHANGE
    if isinstance(people, Integral):
        change = f"person {change}"
        require_few([int(people)], len(known), False, MOST_DATASETS, MOST_RULE, FEWER)
    return problem_of(dict.fromkeys(_named(people), 1), Axis.person, question, privacy, known, change)


def _named(people: Any) -> tuple[str, ...]:
    if isinstance(people, Integral) and not isinstance(people, bool):
        if people < 1:
            raise UsageError(f"there are {people} people", PEOPLE_RULE)
        return tuple(map(str, range(1, int(people) + 1)))
    if isinstance(people, str | Mapping) or not isinstance(people, Sequence):
        raise UsageError(f"the people are {shown(people)}", PEOPLE_RULE)
    return names(list(people), "the people")
