"""Tallies: how many people of each group have each value is a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hetdp.errors import UsageError, shown
from hetdp.problem.axis import Axis
from hetdp.problem.problem import Problem
from hetdp.spaces.exact import whole
from hetdp.spaces.names import name
from hetdp.spaces.privacy.rules import ByGroup, Privacy
from hetdp.spaces.products.building import problem_of, values_of
from hetdp.spaces.questions.question import Question

GROUPS_RULE = "groups are given as name → how many people, one group or more"
CHANGE = "somebody of {class} answers differently"


def tallies(
    groups: Mapping[str, int],
    question: Question,
    privacy: Privacy | ByGroup,
    values: Sequence[str] = ("yes", "no"),
    prior: Any = None,
) -> Problem:
    """A problem with a dataset for each way in which the people of some groups may be counted.

    People of a group have the same ε rule and are alike for the question; then nothing is lost beside `votes`, which
    has many more datasets. Neighbouring datasets differ in one person's value, and ε is public. A dataset is a tuple
    with an entry for each group: how many have the first of two values; or the counts of all values, if there are more.
    Where the question holds, the answer is 1.

    Args:
        groups: name → how many people.
        question: from `hetdp.questions`. A Python function is taken, too.
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
    sizes, known = sizes_of(groups), values_of(values)

    def axis(group: str, _: Sequence[str], epsilon: Any) -> Axis:
        if len(known) == 2:
            return Axis.tally(group, sizes[group], epsilon, known)
        return Axis.group(group, sizes[group], known, epsilon)

    return problem_of(sizes, axis, question, privacy, known, CHANGE, prior, folded=True)


def sizes_of(groups: Any) -> dict[str, int]:
    """The groups by name, each a whole number of people."""
    if not isinstance(groups, Mapping) or not groups:
        raise UsageError(f"the groups are {shown(groups)}", GROUPS_RULE)
    return {name(group, "a group"): whole(size, f"the size of {group!r}", 0) for group, size in groups.items()}
