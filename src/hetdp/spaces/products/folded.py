"""People of any kind, folded into tallies: all who have the same ε, and are alike for the question, are counted.

Where no formula is known, this is how a table of people is answered: the mechanism is designed on the tallies, each of
its edges is checked, and a table is answered as its tally is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import comb, log10, prod
from typing import Any

import numpy as np

from hetdp.errors import UsageError
from hetdp.mechanism.design import design
from hetdp.problem.axis import MOST_POSITIONS
from hetdp.problem.problem import Problem
from hetdp.problem.product import MOST_ARCS, ProductSpace
from hetdp.spaces.populations.folding import Whole
from hetdp.spaces.populations.people import Classes, classes_of
from hetdp.spaces.privacy.grid import as_floats
from hetdp.spaces.privacy.rules import Privacy, Rule
from hetdp.spaces.privacy.situations import DECIDING
from hetdp.spaces.products.answering import TalliedMechanism, mechanism_of
from hetdp.spaces.products.priors import UNIFORM
from hetdp.spaces.products.tallies import tallies
from hetdp.spaces.questions.question import Question
from hetdp.spaces.questions.regrouped import Regrouped

MOST_TALLIES = 1 << 25  # that are kept, where no edge is stored: about 1.5 GB
MOST_DIGITS = 18  # of numbers that are told in full
FAIR = "fair"


@dataclass(frozen=True, eq=False)
class Folded:
    """People, folded into tallies; made by `folded`. It holds no answers.

    Attributes:
        question: what is asked.
        values: the values that a person may have.
        classes: people who are alike: those of one class make one axis.
        people: the groups that they are told about by: for each its name, and how many of it each class has.
    """

    question: Question
    values: tuple[str, ...]
    classes: Classes = field(repr=False)
    people: tuple[tuple[str, Whole], ...] = field(repr=False)

    @property
    def size(self) -> int:
        """How many tallies there are."""
        return prod(self._positions())

    def _positions(self) -> list[int]:
        """In how many ways the people of each class may be counted."""
        return [comb(size + len(self.values) - 1, size) for size in self.classes.sizes.tolist()]

    def problem(self) -> Problem:
        """The tallies, with what is asked and promised."""
        classes, parts = self.classes, [str(at + 1) for at in range(len(self.classes.sizes))]
        units, deciding = (as_floats(column).tolist() for column in (classes.units, classes.deciding))
        rules = [Rule(Decimal(epsilon), groups=part) for part, epsilon in zip(parts, units, strict=True)]
        rules += [
            Rule(Decimal(epsilon), groups=part, when=DECIDING)
            for part, epsilon, always in zip(parts, deciding, units, strict=True)
            if epsilon < always
        ]
        asked = self.question
        if self.question.groups_used():
            group_of = {part: classes.names[group] for part, group in zip(parts, classes.group.tolist(), strict=True)}
            asked = Regrouped(self.question, group_of, classes.names)
        sizes = dict(zip(parts, classes.sizes.tolist(), strict=True))
        return tallies(sizes, asked, Privacy(rules), self.values, UNIFORM)

    def design(self, objective: str) -> TalliedMechanism:
        """The mechanism on the tallies, with every edge checked.

        Args:
            objective: ``"fair"`` or ``"balanced"``.

        Raises:
            UsageError: there are too many tallies.
        """
        self.require_few(objective)
        problem = self.problem()
        assert isinstance(problem.graph, ProductSpace)
        return mechanism_of(design(problem, objective), problem, problem.graph, self.classes, self.people)

    def require_few(self, objective: str) -> None:
        """Refuses tallies that could not be kept, or searched, before any is made.

        Raises:
            UsageError: there are too many.
        """
        arcs = len(self.classes.sizes) * len(self.values) * (len(self.values) - 1)  # at most, from each tally
        most = MOST_ARCS // arcs if objective == FAIR else MOST_TALLIES
        found = self.size
        if found > most or max(self._positions()) > MOST_POSITIONS:
            people, kinds = self.classes.fold.size, len(self.classes.sizes)
            digits = int(log10(found))
            told = f"{found:,}" if digits < MOST_DIGITS else f"about 10^{digits}"
            what = f"{people:,} people of {kinds:,} kinds, by their ε and what is asked, make {told} tallies"
            rule = f"the design {objective} needs memory for each, and is offered for at most {most:,} here"
            rule += f", and at most {MOST_POSITIONS:,} from people of one kind"
            hint = "--design balanced and weighted-vote need none, and work for any number of people"
            formula = self.question.linear() is not None
            raise UsageError(what, rule, hint if formula else "--by asks each area by itself, with fewer people")


def folded(
    question: Question, epsilon: Any, values: Sequence[str] = ("yes", "no"), groups: Any = None, deciding: Any = None
) -> Folded:
    """People, folded into as few tallies as the question and their ε allow; called as `spaces.population` is.

    Args:
        question: what is asked; it may be of any kind.
        epsilon: the ε of each person.
        values: the values that a person may have.
        groups: the group of each person, for the question if it names groups, and for the odds.
        deciding: the ε of steps that change the answer: one for all, or one for each person.

    Raises:
        UsageError: the arguments do not fit each other.
        InputError: some ε are none.

    >>> import hetdp
    >>> people = folded(hetdp.questions.majority(), [0.1, 0.5, 0.5])
    >>> people.size, round(people.design("fair").coordinate([0, 0, 1]), 3)
    (6, 0.051)
    """
    classes = classes_of(epsilon, deciding, groups if question.groups_used() else None, None)
    told, code = np.zeros(1, dtype=np.int64), np.zeros(len(classes.member), dtype=np.int64)
    if groups is not None:
        told, code = np.unique(groups, return_inverse=True)
    kinds = len(classes.sizes)
    counts = classes.fold.people_by(code * kinds + classes.member, len(told) * kinds).reshape(-1, kinds)
    people = tuple((str(group), row) for group, row in zip(told.tolist(), counts, strict=True))
    return Folded(question, tuple(values), classes, people)
