"""The promise to the people of each area, also in words: the mechanism, its accuracy and its privacy.

It is made before any answer is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, cast

import numpy as np

from hetdp.errors import UsageError
from hetdp.mechanism.formatting import format_promise, format_runs
from hetdp.people.populations.folding import EpsilonLevels
from hetdp.people.populations.mechanism import METHOD, coin_caution
from hetdp.people.populations.population import WEIGHTED_VOTE
from hetdp.people.populations.population import population as population_of
from hetdp.people.populations.scores import constant_answer
from hetdp.people.populations.shares import (
    NOT_OFFERED,
    AccuracyCurves,
    AccuracyPoint,
    ComputesCurves,
    ShareScale,
    parse_share,
)
from hetdp.people.privacy.epsilons import format_epsilon
from hetdp.people.privacy.meaning import Strength, strength
from hetdp.people.questions.question import Question
from hetdp.people.questions.thresholds import count
from hetdp.problem.answer_words import (
    TITLE,
    YES_AND_NO,
    answer_name,
    constant_odds,
    constant_words,
    margin_words,
    quote_answer,
    right_answer_words,
)
from hetdp.tables.comparison import group_similar_names
from hetdp.tables.plan import NEIGHBOURS, meaning_of_missing
from hetdp.tables.policy import Policy
from hetdp.tables.request import BALANCED, AskRequest
from hetdp.text import count_people, format_value, pluralize


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
        odds: what one of their answers changes at most: the sentence for a questionnaire, by `used` alone, so that it
            is the same wherever it stands.
    """

    group: str | None
    people: int
    least: float
    largest: float
    used: float
    unprotected: int
    only_deciding: int
    odds: str

    @property
    def strength(self) -> Strength:
        """The strength of the protection in everyday terms, by the largest loss of any of them."""
        return strength(self.used)

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
        by_share = {where: format_promise(wrong) for where, wrong in self.listed_shares}
        found = {
            "area": self.area,
            "people": self.people,
            "constant": self.constant,
            "charges": [one.body() for one in self.protections],
            "accuracy_by_margin": accuracy,
            "accuracy_by_share": by_share,
            "worse_than_coin_up_to": self.worse_up_to,
            "as_a_coin_up_to": self.even_up_to,
        }
        return found if self.tallies is None else found | {"mechanism": self.tallies}

    def at_share(self, share: Any, answered: Any = None) -> AccuracyPoint:
        """The smallest probability of the right answer if a share of the people count as yes, whoever these people are.

        Args:
            share: a number from 0 to 1, or a text such as ``"55%"``. Between two whole numbers of people, the one that
                is nearer to the other answer is taken.
            answered: for shares of respondents: how many people answer at least; by default, everybody does. The share
                is that of the people who answer.

        Raises:
            UsageError: it is not a share, or the accuracy by share is not known for the question.
        """
        return _curves_of(self.mechanism).accuracy_at_share(share, answered)

    def share_words(self, share: Any) -> str:
        r"""The same in words.

        Raises:
            UsageError: it is not a share, or the accuracy by share is not known for the question.

        >>> import hetdp, pandas
        >>> staff = pandas.DataFrame({"id": range(600), "vote": ["yes"] * 600})
        >>> asked = hetdp.ask(staff, "vote = 'yes'", at_least="50%", epsilon=0.1, person="id", dry_run=True)
        >>> print(asked.promises[0].share_words("55%").replace(", ", ",\n"))
        if 55% count as yes (330 of 600; yes is right),
        the published answer is right in at least 97 of 100 runs,
        whoever these people are
        """
        point, area = self.at_share(share), "" if self.area is None else f"area {self.area!r}: "
        if self.constant is not None:
            return area + constant_words(self.constant)
        scale = _curves_of(self.mechanism).share_scale
        assumed = f" and {scale.assumption}" if scale.assumption else ""
        words = scale.words(f"{float(parse_share(share) * 100):g}%", point.number or 0) + assumed
        where = right_answer_words(f"if {words}", point.answer or "")
        return f"{area}{where}, the published answer is right in at least {format_runs(point.error)} runs, {WHOEVER}"

    def curves(self, baselines: bool = True) -> AccuracyCurves:
        """The guaranteed accuracy by margin and by true share, beside *one ε* and *geometric noise*.

        Args:
            baselines: whether to compute the baselines, too.
        """
        return _curves_of(self.mechanism).curves(baselines)

    def by_share(self) -> tuple[AccuracyPoint, ...]:
        """The accuracy for every number of yes rows or, for many people, at whole per cents and near the threshold."""
        return self.curves(baselines=False).by_share

    @cached_property
    def listed_shares(self) -> tuple[tuple[str, float], ...]:
        """A few true shares on both sides of the threshold, in words, and the largest probability of the wrong answer.

        Empty if it is not known, or if the margins say enough.
        """
        return tuple(_listed_shares(self.mechanism))

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


def _curves_of(mechanism: Any) -> ComputesCurves:
    if not isinstance(mechanism, ComputesCurves):
        raise UsageError("the mechanism knows its accuracy by margin only", NOT_OFFERED)
    return mechanism


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
    epsilon = policy.levels_of(area)
    codes: Any = None if policy.reported is None else policy.reported.codes[rows]
    question = request.question_in(area)
    if policy.groups is not None and question.groups_used():
        codes = np.array(policy.groups.names)[codes]  # names sort as their numbers do
    deciding = policy.deciding[rows] if isinstance(policy.deciding, np.ndarray) else policy.deciding
    make = population_of if population is None else population
    asked, objective = question, cast(Any, request.objective)  # a population knows all but fair
    constant = 0 if population is None else _constant(question, request.values, epsilon, codes)
    if constant:  # a formula works for any number of people, where tallies would be too many
        make, objective = population_of, BALANCED
        asked = count(request.values[0], 0 if constant == 1 else epsilon.people + 1)
    made = make(asked, epsilon, values=request.values, groups=codes, deciding=deciding)
    mechanism = made.design(objective)
    accuracy = tuple((int(row.margin), float(row.accuracy), float(row.error)) for row in mechanism.accuracy_by_margin())
    worse = mechanism.worse_than_coin_up_to()
    return Promise(
        area, epsilon.people, _protections(policy, area, mechanism, request.answers), mechanism, accuracy, worse
    )


def _constant(question: Question, values: Sequence[str], epsilon: EpsilonLevels, codes: Any) -> int:
    """1 or 2 if every table of these people has this answer; else 0."""
    if not question.groups_used():
        return constant_answer(question, [""], np.array([epsilon.people]), values)
    names, place = np.unique(codes, return_inverse=True)
    sizes = np.bincount(place, epsilon.weights).astype(np.int64)
    return constant_answer(question, [str(name) for name in names], sizes, values)


def _protections(policy: Policy, area: str | None, mechanism: Any, answers: tuple[str, str]) -> tuple[Protection, ...]:
    odds = mechanism.odds().by_class.values()  # of the groups that have people, in their order
    there = [(name, part) for name, part in policy.by_group(area) if len(part)]
    losses = mechanism.losses_by_group()
    parts = zip(there, odds, losses, strict=True)
    return tuple(_protection(*part, group_odds, loss, mechanism.constant, answers) for part, group_odds, loss in parts)


def _protection(
    group: str | None, epsilon: EpsilonLevels, odds: Any, loss: float, constant: int, answers: tuple[str, str]
) -> Protection:
    levels, only = epsilon.levels, 0 if odds.deciding is None else odds.deciding.people
    unprotected = int(epsilon.sizes[np.searchsorted(levels, np.inf) :].sum()) - only
    least, largest = float(levels[0]), float(levels[-1])
    same = constant_odds(quote_answer(answers[constant - 1]), "you answer") if constant else ""
    used = min(loss, largest)
    stated = strength(used if np.isfinite(used) else min(odds.loss, odds.epsilon))
    odds_words = same or odds.sentence(answers, stated.questionnaire_about(quote_answer(answers[0])))
    return Protection(group, epsilon.people, least, largest, used, unprotected, only, odds_words)


# The promise in words -------------------------------------------------------------------------------------------------

MOST_AREAS = 20  # in words; the plan has them all
MOST_GROUPS = 20  # of an area, in words
UNSHOWN = {
    BALANCED: "it is not proved that no other private method is right more often in the worst case",
    WEIGHTED_VOTE: "other private methods, such as the design balanced, may be right more often in the worst case",
}
PARALLEL = (
    "One answer for each area. Each person belongs to one area, so each person's answer affects only one of them, and"
    " the promise to each person is the same as for a single answer."
)


def people_line(request: AskRequest, policy: Policy) -> str:
    """The line about who is in the table, the same for all questions to it."""
    return f"people: {policy.size:,}, identified by {request.person}. {NEIGHBOURS}"


def promise_lines(request: AskRequest, policy: Policy, promises: Sequence[Promise]) -> list[str]:
    """The promise, line by line."""
    named = [answer_name(words, at + 1) for at, words in enumerate(request.answers)]
    lines = [f"title: {request.about[TITLE]}"] if TITLE in request.about else []
    lines += [f"answers: {', '.join(named)}"] if request.answers != YES_AND_NO else []
    lines += [
        f"question: {request.question_words}",
        f"yes means: {request.counted}. {meaning_of_missing(request)}",
        people_line(request, policy),
        f"design: {request.objective}",
    ]
    lines += [f"note: {request.note}"] if request.note else []
    if request.deciding is not None:
        lines.append(f"where the answer depends on one person, ε is at most {request.deciding.words()}")
    by, what = (policy.groups, "groups") if policy.levels is None else (policy.levels, "levels")
    there = () if by is None else by.names
    nobody = [group for group, _ in request.epsilon.by_group if group not in there]
    if nobody:
        lines.append(
            f"{what} that are promised an ε but have no people: {', '.join(map(format_value, nobody[:MOST_GROUPS]))}"
        )
    for what, names in (("groups", policy.groups), ("levels", policy.levels), ("areas", policy.areas)):
        accuracies = (
            []
            if names is None
            else [", ".join(map(format_value, one[:MOST_GROUPS])) for one in group_similar_names(names.names)]
        )
        lines += [f"{what} {SIMILAR_RULE}: {one}" for one in accuracies[:MOST_AREAS]]
    if request.area is not None:
        lines.append(PARALLEL)
    for promise in promises[:MOST_AREAS]:
        lines += _area_lines(promise)
    left = len(promises) - MOST_AREAS
    return lines + ([f"and {pluralize(left, 'area')} more, in the plan"] if left > 0 else [])


def _area_lines(promise: Promise) -> Iterator[str]:
    indent = ""
    if promise.area is not None:
        yield f"area {promise.area!r}: {count_people(promise.people)}"
        indent = "  "
    for protection in promise.protections[:MOST_GROUPS]:
        yield f"{indent}protected: {_protection_words(protection)}"
        yield f"{indent}  {protection.odds}"
        if protection.strength.warning and protection.used < float("inf"):  # else the line above says so
            yield f"{indent}  caution: {protection.strength.warning}"
    if len(promise.protections) > MOST_GROUPS:
        yield f"{indent}and {pluralize(len(promise.protections) - MOST_GROUPS, 'group')} more, in the plan"
    if promise.tallies is not None:
        tallies, edges = _tallies(promise.tallies["tallies"]), pluralize(promise.tallies["edges"], "edge")
        yield f"{indent}checked edge by edge: people who are alike make {tallies} with {edges}"
    if promise.constant is not None:
        yield f"{indent}{constant_words(promise.constant)}"
        return
    yield from (indent + line for line in _accuracy_lines(promise))
    caution = coin_caution(promise.worse_up_to, promise.even_up_to)
    if caution:
        yield f"{indent}caution: {caution}"
    if promise.mechanism.certificate.method == METHOD and not promise.mechanism.certificate.optimal:
        yield f"{indent}{UNSHOWN[promise.mechanism.objective]}"


def _accuracy_lines(promise: Promise) -> Iterator[str]:
    """The accuracy by margin and by true share."""
    yield RIGHT
    for margin, _, wrong in promise.accuracy:
        yield f"  {format_runs(wrong)} runs {margin_words(margin)}"
        if wrong < NEVER_SEEN:
            break  # larger margins read the same
    yield from [RIGHT_BY_SHARE] if promise.listed_shares else []
    yield from (f"  {format_runs(wrong)} runs {where}" for where, wrong in promise.listed_shares)


WHOEVER = "whoever these people are"
FEWEST_PEOPLE = 20  # for accuracy by share in words; of fewer people, the margins say it all
STEPS = [Fraction(size, 10**power) for power in range(7) for size in (5, 2, 1)]  # between shares, in per cent
RIGHT = "if the answer could be drawn many times, it would be right in at least"
SIMILAR_RULE = "that differ only in case or surrounding spaces, and are treated as different"
RIGHT_BY_SHARE = "by true share, whoever these people are, it would be right in at least"
NEVER_SEEN = 1e-6  # an error that format_runs no longer distinguishes
VISIBLE_ERROR = 0.005  # the error that the nearest listed share should have


def _listed_shares(mechanism: Any) -> Iterator[tuple[str, float]]:
    """The true shares that a promise lists, in words, with their errors.

    >>> import hetdp
    >>> people = hetdp.spaces.population(hetdp.questions.majority(), 0.1, size=600)
    >>> for where, error in _listed_shares(people.design()):
    ...     print(format_runs(error), where)
    998 of 1,000 if 40% count as yes (240 of 600; no is right)
    97 of 100 if 45% count as yes (270 of 600; no is right)
    97 of 100 if 55% count as yes (330 of 600; yes is right)
    998 of 1,000 if 60% count as yes (360 of 600; yes is right)
    """
    try:
        scale = _curves_of(mechanism).share_scale
    except UsageError:
        return
    if scale.of < FEWEST_PEOPLE or scale.scores.constant:
        return
    percents: list[Fraction] = []
    for step in STEPS:
        middle = round(Fraction(scale.threshold_number(), scale.of) * 100 / step) * step
        wanted = [middle + step * sign for sign in (-2, -1, 1, 2)]
        percents = [percent for percent in wanted if 0 <= percent <= 100]
        if step * scale.of < 100 or any(
            mechanism.accuracy_at_share(percent / 100).error >= VISIBLE_ERROR for percent in percents
        ):
            break
    assumed = f" and {scale.assumption}" if scale.assumption else ""
    for people, percent in product(_numbers_answered(mechanism, scale), percents):
        point, share = mechanism.accuracy_at_share(percent / 100, people), f"{float(percent):g}%"
        where = scale.words(share, point.number) + assumed if people is None else scale.words_answered(share, people)
        yield right_answer_words(f"if {where}", point.answer), point.error


def _numbers_answered(mechanism: Any, scale: ShareScale) -> list[int | None]:
    """The least number of people who answer, for each listed case; None if it does not matter or all must answer."""
    try:
        mechanism.accuracy_at_share(1, scale.of)
    except UsageError:
        return [None]
    return [scale.of, -(-scale.of // 2)]


def _tallies(number: int) -> str:
    return "1 tally" if number == 1 else f"{number:,} tallies"


def people_of(number: int, group: str | None) -> str:
    """The people of a group in words.

    >>> people_of(107, "open"), people_of(1, None)
    ("107 people of 'open'", '1 person')
    """
    return count_people(number) + ("" if group is None else f" of {group!r}")


def _protection_words(given: Protection) -> str:
    whom = people_of(given.people, given.group)
    if given.unprotected == given.people:
        return f"{whom}: no protection promised (ε = inf), {_loss_words(given.used)}"
    if given.only_deciding == given.people:
        where = "protected only where the answer depends on one of them (elsewhere ε = inf)"
        return f"{whom}: {where}, {_loss_words(given.used)}"
    least, largest = format_epsilon(given.least), format_epsilon(given.largest)
    words = f"{whom}: up to ε = {largest} allowed, {_loss_words(given.used)}"
    if least != largest:
        words = f"{whom}: ε from {least} to {largest} allowed, at most {_loss_words(given.used)}"
    if given.only_deciding:
        words += f"; {given.only_deciding:,} of them are protected only where the answer depends on one of them"
    return words + (f"; {given.unprotected:,} of them are promised no protection" if given.unprotected else "")


def _loss_words(loss: float) -> str:
    """A privacy loss in words.

    >>> _loss_words(0.4), _loss_words(0.0), _loss_words(float("inf"))
    ('0.4 charged', '0 charged', 'all privacy charged')
    """
    return "all privacy charged" if loss == float("inf") else f"{format_epsilon(loss)} charged"
