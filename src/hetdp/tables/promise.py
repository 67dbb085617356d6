"""The promise to the people of one area: the mechanism, its accuracy and its privacy, before any answer is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetdp.mechanism.formatting import format_promise
from hetdp.people.populations.folding import EpsilonLevels
from hetdp.people.populations.population import population as population_of
from hetdp.people.populations.scores import constant_answer
from hetdp.people.privacy.epsilons import format_epsilon
from hetdp.people.questions.thresholds import count
from hetdp.problem.answer_words import YES_AND_NO, constant_odds
from hetdp.tables.policy import Policy
from hetdp.tables.request import BALANCED, AskRequest


@dataclass(frozen=True)
class Protection:
    """The protection of one group.

    Attributes:
        group: the name of the group; None if there are no groups.
        people: the number of people in the group.
        least: the smallest ε of the group.
        largest: the largest ε of the group, which is allowed.
        used: the largest privacy loss of any of them over all tables, rounded up: the largest charge.
        unprotected: the number of people with ε = ∞, also where they decide.
        only_deciding: the number of people who are protected only where the answer depends on them.
        odds: a sentence about what one of their answers changes.
    """

    group: str | None
    people: int
    least: float
    largest: float
    used: float
    unprotected: int
    only_deciding: int
    odds: str

    def body(self) -> dict[str, Any]:
        """The entry of a plan."""
        return {
            "group": self.group,
            "people": self.people,
            "allowed": format_epsilon(self.largest),
            "used": format_epsilon(self.used),
        }


@dataclass(frozen=True)
class Promise:
    """The mechanism of one area, and what it promises.

    Attributes:
        area: its name; None if there are no areas.
        people: the number of people.
        protections: one for each group.
        mechanism: the mechanism, which does not depend on answers.
        accuracy: for some margins, the smallest probability of the right answer and the largest of the wrong one.
        worse_up_to: the largest margin at which a coin would do better at some table; 0 if none.
    """

    area: str | None
    people: int
    protections: tuple[Protection, ...]
    mechanism: Any
    accuracy: tuple[tuple[int, float, float], ...]
    worse_up_to: int = 0

    def body(self) -> dict[str, Any]:
        """The entry of a plan."""
        accuracy = {str(margin): format_promise(wrong) for margin, _, wrong in self.accuracy}
        found = {
            "area": self.area,
            "people": self.people,
            "constant": self.constant,
            "charges": [one.body() for one in self.protections],
            "accuracy_by_margin": accuracy,
            "worse_than_coin_up_to": self.worse_up_to,
            "as_a_coin_up_to": self.even_up_to,
        }
        return found if self.tallies is None else found | {"mechanism": self.tallies}

    @property
    def even_up_to(self) -> int:
        """The largest listed margin at which a coin would do as well at some table; 0 if none."""
        return max((margin for margin, _, wrong in self.accuracy if wrong >= 0.5), default=0)

    @property
    def constant(self) -> str | None:
        """The answer, yes or no, if it is the same for every table: then it needs no randomness and costs nothing."""
        return YES_AND_NO[self.mechanism.constant - 1] if self.mechanism.constant else None

    @property
    def tallies(self) -> dict[str, Any] | None:
        """The facts that identify a mechanism on tallies; None for a formula, which the policy identifies."""
        found: dict[str, Any] | None = self.mechanism.facts()
        return found


def promise_of(
    request: AskRequest, policy: Policy, area: str | None, rows: Any, population: Callable[..., Any] | None = None
) -> Promise:
    """Fixes the mechanism for the people of an area.

    Args:
        request: the request.
        policy: the public policy.
        area: the name of the area.
        rows: the entries of the area in the policy.
        population: the function that makes a population; a formula by default.
    """
    epsilon = policy.ordered(area)
    codes: Any = None if policy.groups is None else policy.groups.codes[rows]
    if policy.groups is not None and request.question.groups_used():
        codes = np.array(policy.groups.names)[codes]  # names sort as their numbers do
    deciding = policy.deciding[rows] if isinstance(policy.deciding, np.ndarray) else policy.deciding
    make = population_of if population is None else population
    asked, objective = request.question, request.objective
    constant = 0 if population is None else _constant(request, epsilon, codes)
    if constant:  # a formula works for any number of people, where tallies would be too many
        make, objective = population_of, BALANCED
        asked = count(request.values[0], 0 if constant == 1 else epsilon.people + 1)
    made = make(asked, epsilon, values=request.values, groups=codes, deciding=deciding)
    mechanism = made.design(objective)
    accuracy = tuple((int(row.margin), float(row.accuracy), float(row.error)) for row in mechanism.accuracy_by_margin())
    worse = mechanism.worse_than_coin_up_to()
    return Promise(area, epsilon.people, _protections(policy, area, mechanism), mechanism, accuracy, worse)


def _constant(request: AskRequest, epsilon: EpsilonLevels, codes: Any) -> int:
    """1 or 2 if every table of these people has this answer; else 0."""
    if not request.question.groups_used():
        return constant_answer(request.question, [""], np.array([epsilon.people]), request.values)
    names, place = np.unique(codes, return_inverse=True)
    sizes = np.bincount(place, epsilon.weights).astype(np.int64)
    return constant_answer(request.question, [str(name) for name in names], sizes, request.values)


def _protections(policy: Policy, area: str | None, mechanism: Any) -> tuple[Protection, ...]:
    odds = mechanism.odds().by_class.values()  # of the groups that have people, in their order
    there = [(name, part) for name, part in policy.by_group(area) if len(part)]
    losses = mechanism.losses_by_group()
    told = zip(there, odds, losses, strict=True)
    return tuple(_protection(*part, said, loss, mechanism.constant) for part, said, loss in told)


def _protection(group: str | None, epsilon: EpsilonLevels, odds: Any, loss: float, constant: int) -> Protection:
    levels, only = epsilon.levels, 0 if odds.deciding is None else odds.deciding.people
    unprotected = int(epsilon.sizes[np.searchsorted(levels, np.inf) :].sum()) - only
    least, largest = float(levels[0]), float(levels[-1])
    said = constant_odds(YES_AND_NO[constant - 1], "you answer") if constant else str(odds)
    return Protection(group, epsilon.people, least, largest, min(loss, largest), unprotected, only, said)
