"""Populations: people with one ε each and a question with a formula; and the documents of their mechanisms.

A population holds the public policy only, no answers. A document names the question, the digest of the policy and the
objective, so that `Population.design_from` can rebuild the mechanism for exactly this policy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hetdp.documents import SCHEMA_VERSION, open_envelope, refuse, require_keys
from hetdp.errors import Fault, UsageError
from hetdp.mechanism.solve import WORST, SolvedEpsilon, SolvesEpsilon
from hetdp.people.names import require_values
from hetdp.people.populations.classes import Classes, KindsFold, classes_of
from hetdp.people.populations.folding import Fold, Whole
from hetdp.people.populations.scores import FORMULA_HINT, FORMULA_RULE, JoinedCounts, formula_scores, scores_of
from hetdp.people.populations.shares import ShareScale, share_scale
from hetdp.people.privacy.epsilons import Units
from hetdp.people.questions.question import Question, require_question
from hetdp.problem.scores import Scores
from hetdp.text import count_people, format_value
from hetdp.version import VERSION as SOFTWARE

if TYPE_CHECKING:
    from hetdp.people.populations.mechanism import PopulationMechanism


KIND, CONTENT = "population mechanism", "mechanism"
KEYS = ("question", "values", "groups", "size", "policy", "objective", "software")


def document_of(mechanism: PopulationMechanism) -> dict[str, Any]:
    """The document of a mechanism."""
    people = mechanism.population
    facts = {
        "question": people.question.body(),
        "values": list(people.values),
        "groups": list(people.groups),
        "size": people.size,
        "policy": people.digest,
        "objective": mechanism.objective,
        "software": f"hetdp {SOFTWARE}",
    }
    return {"schema_version": SCHEMA_VERSION, "kind": KIND, CONTENT: facts}


def objective_of(document: Mapping[str, Any], population: Population) -> str:
    """The objective of a document that was made for this population by this version.

    Raises:
        InputError: it is not.
    """
    facts = open_envelope(document, KIND, CONTENT)
    require_keys(facts, KEYS, KEYS, CONTENT)
    if facts["objective"] not in OBJECTIVES:
        rule = f"it must be one of {', '.join(OBJECTIVES)}"
        refuse(CONTENT, Fault("objective", CONTENT, format_value(facts["objective"]), rule))
    content = document_of(population.design(facts["objective"]))[CONTENT]
    for key in KEYS:
        if facts[key] != content[key]:
            rule = f"here it is {format_value(content[key])}, and a plan holds for one policy and one version only"
            refuse(CONTENT, Fault(f"another {key}:", CONTENT, format_value(facts[key]), rule))
    return str(facts["objective"])


# Populations ----------------------------------------------------------------------------------------------------------


PopulationObjective = Literal["balanced", "weighted-vote"]
OBJECTIVES: tuple[PopulationObjective, PopulationObjective] = ("balanced", "weighted-vote")
BALANCED, WEIGHTED_VOTE = OBJECTIVES


@dataclass(frozen=True, eq=False)
class Population(SolvesEpsilon):
    """People with one ε each, and the question about them, without answers. `population` makes it.

    Attributes:
        question: the question.
        values: the values that a person may have; an answer is the index of a value in this list.
        groups: the names of the groups.
        classes: people who are alike, by class: `member` is the class of each person; then for each class `sizes`,
            `group`, `units`, `deciding` and `meeting`.
        scores: the contribution of each group and value to the threshold; or to that of each part, if the question
            joins several counts.
    """

    question: Question
    values: tuple[str, ...]
    groups: tuple[str, ...]
    classes: Classes = field(repr=False)
    scores: Scores | JoinedCounts = field(repr=False)

    @property
    def size(self) -> int:
        """The number of people."""
        return self.classes.fold.size

    def __repr__(self) -> str:
        return f"Population({count_people(self.size)}, {format_value(str(self.question))})"

    @property
    def units(self) -> Units:
        """The ε that is used for each person, in units of 2⁻⁴⁰, rounded down; 2⁶² where no protection is promised."""
        return self.classes.units[self.classes.member]

    @property
    def constant(self) -> int:
        """1 or 2 if every table has this answer, so that it needs no randomness; else 0."""
        return self.scores.constant

    @property
    def is_count(self) -> bool:
        """True if one person moves the sum by one step or not at all; then the balanced mechanism is optimal."""
        return self.scores.is_count

    def require_sum(self) -> Scores:
        """The scores of a question that is one sum.

        Raises:
            UsageError: the question joins several counts.
        """
        if isinstance(self.scores, JoinedCounts):
            rule = "this is known for one sum over people that reaches a threshold, not for several joined by and / or"
            raise UsageError(f"the question is {self.question}", rule)
        return self.scores

    def farthest(self) -> int:
        """The largest margin of any table: the number of people who must change before the answer does."""
        return max(self.scores.farthest(1), self.scores.farthest(2))

    @cached_property
    def share_scale(self) -> ShareScale | None:
        """The numbers of people who may have the counted value; None where accuracy by true share is not known."""
        if isinstance(self.scores, JoinedCounts):
            return None
        return share_scale(self.question, self.values, self.scores)

    def with_units(self, units: Units, deciding: Units) -> Population:
        """The same people with other ε, by class, in units; the classes must still be in increasing order of ε."""
        return replace(self, classes=replace(self.classes, units=units, deciding=np.minimum(units, deciding)))

    def with_one_epsilon(self, units: int) -> Population:
        """The same question about as many people who all have one ε, in units; for accuracy, since nobody has a row."""
        names = self.classes.names
        every = np.arange(len(names))
        sizes = self.require_sum().sizes
        there = every[sizes > 0]
        alike = np.full(len(there), units, dtype=np.int64)
        return replace(self, classes=Classes(Fold(sizes[there], lambda: there), there, alike, alike, names))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the policy: question, values, groups, and everybody's ε as used, in order."""
        classes = self.classes
        facts = [self.question.body(), list(self.values), list(self.groups), self.size]
        found = hashlib.sha256(b"hetdp population 1\n" + json.dumps(facts, sort_keys=True, ensure_ascii=False).encode())
        for column in (classes.units, classes.deciding, classes.group):
            found.update(np.ascontiguousarray(column[classes.member], dtype="<i8").data)
        return f"sha256:{found.hexdigest()}"

    def design(self, objective: PopulationObjective = BALANCED) -> PopulationMechanism:
        """A mechanism for the population, in closed form.

        Args:
            objective: ``"balanced"``: the error falls with the distance from the threshold, and no private mechanism
                has a smaller worst error, unless the certificate says that this could not be shown; or
                ``"weighted-vote"``: everybody counts ε, and noise is added. Some tables may then be answered wrongly
                more often than rightly.

        Raises:
            UsageError: there is no such objective, or the question joins several counts and the objective is
                ``"weighted-vote"``.

        >>> import hetdp
        >>> people = hetdp.spaces.population(hetdp.questions.count("yes", at_least=50), 0.5, size=100)
        >>> round(people.design("balanced").accuracy(1), 2)
        0.62
        """
        from hetdp.people.populations.mechanism import design_population

        return design_population(self, objective)

    def solve_epsilon(self, target: Any, at: Any = WORST) -> SolvedEpsilon:
        """Finds the smallest scale of all ε at which the balanced design reaches an accuracy.

        See `hetdp.solve_epsilon`; the mechanism of another design has the same method.

        >>> import hetdp
        >>> people = hetdp.spaces.population(hetdp.questions.majority(), [0.1] * 300 + [0.4] * 300)
        >>> solved = people.solve_epsilon("95%", at="55%")
        >>> solved.multiple, [(str(level.before), str(level.after)) for level in solved.levels]
        (0.7803, [('0.1', '0.07803'), ('0.4', '0.31212')])
        """
        return self.design().solve_epsilon(target, at)

    def design_from(self, document: Mapping[str, Any]) -> PopulationMechanism:
        """The mechanism that a document describes, if it was made for exactly this policy.

        Args:
            document: as `PopulationMechanism.document` gives it.

        Raises:
            InputError: the document is none of these, or is for another policy.

        >>> import hetdp
        >>> people = hetdp.spaces.population(hetdp.questions.majority(), 0.5, size=9)
        >>> people.design_from(people.design("weighted-vote").document()).objective
        'weighted-vote'
        """
        from hetdp.people.populations.mechanism import design_population

        return design_population(self, objective_of(document, self))

    def baselines(self, margin: int, threshold: Any = None) -> dict[str, float]:
        """The worst accuracy of other methods over all tables of one margin, by name.

        They are one ε (the least) for all, dropping people, sampling and the personalised exponential mechanism
        (Jorgensen, Yu and Cormode), weighted vote, and balanced.

        Args:
            margin: how many people must change before the answer does.
            threshold: the ε below which people are dropped, or sampled; the mean, if not given.

        Returns:
            accuracies by name; sampling is left out for more than 2,000 people who count

        Raises:
            UsageError: the question is not a count, or no table has such a margin.

        >>> import hetdp
        >>> people = hetdp.spaces.population(hetdp.questions.majority(), [0.1] * 11 + [1.0] * 10)
        >>> {name: round(accuracy, 3) for name, accuracy in people.baselines(5).items()}["personalised exponential"]
        0.562
        """
        from hetdp.people.populations.baselines import baselines_at

        return baselines_at(self, margin, threshold)

    def counts(self, answers: Any) -> Whole:
        """Counts the people of each class that have each value: [class, value]. The result is private.

        Args:
            answers: the index in `values` of each person's value; or, if people are known by kind only, the number of
                people of each kind with each value.

        Raises:
            UsageError: the number of answers is wrong, or an answer is not an index of `values`.
        """
        array, count = np.asarray(answers), len(self.values)
        if isinstance(self.classes.fold, KindsFold):
            return self.classes.fold.counts(array, count)
        if array.shape != (self.size,) or array.dtype.kind not in "iu":
            what = f"the answers have the shape {array.shape} and the type {array.dtype}"
            raise UsageError(what, f"they must be {self.size:,} whole numbers, one for each person")
        if int(array.view(array.dtype.str.replace("i", "u")).max()) >= count:  # below zero is a large number then
            raise UsageError("some answers are not values", f"they must be whole numbers from 0 to {count - 1}")
        return self.classes.fold.counts(array, count)


def population(
    question: Question,
    epsilon: Any,
    values: Sequence[str] = ("yes", "no"),
    groups: Any = None,
    deciding: Any = None,
    size: int | None = None,
) -> Population:
    """Any number of people with one ε each, and a question about them for which a formula is known.

    Neighbouring tables differ in one person's value, and ε is public. Answers are not needed here.

    Args:
        question: from `hetdp.questions`; a count, share, majority, A against B, weighted sum, all of a group, or the
            opposite of one of these. Counts, shares of all and vetoes of disjoint groups may be joined by & and |.
        epsilon: the ε of each person, as written; or one number for all, with `size`. Infinity promises nothing.
        values: the values that a person may have.
        groups: the group of each person: names, or numbers, which then are their names.
        deciding: the ε of steps that change the answer: one for all, or one for each person. Where the person's own ε
            is smaller, that one counts.
        size: how many people there are; needed if `epsilon` is one number.

    Raises:
        UsageError: no formula is known for the question, or the arguments do not fit each other.
        InputError: some values are not an ε. The message says how many, and names nobody.

    >>> import hetdp
    >>> people = hetdp.spaces.population(hetdp.questions.majority(), [0.1, 0.5, 0.5], groups=["a", "b", "b"])
    >>> people.size, people.groups, people.design().coordinate([0, 0, 1]) > 0
    (3, ('a', 'b'), True)
    """
    known = require_values(values)
    classes = classes_of(epsilon, deciding, groups, size)
    scores = scores_for(question, classes, known)
    if scores is None:
        raise UsageError(f"the question is {question}", FORMULA_RULE, FORMULA_HINT)
    return Population(question, known, classes.names, classes, scores)


def scores_for(question: Any, classes: Classes, values: Sequence[str]) -> Scores | JoinedCounts | None:
    """The scores of a question to these people; None if no formula is known.

    Raises:
        UsageError: the question names what is not there, or its scores are too large.
    """
    sizes = classes.by_group(classes.sizes)
    if require_question(question).linear() is not None:
        return scores_of(question, classes.names, sizes, values)
    return formula_scores(question, classes.names, sizes, values)
