"""The promise to the people of a table in words, and simulated answers, which say that they are no release.

Anyone who knows the seed of a simulated answer can learn more from it than was promised, so it is as private as the
table itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hetdp.mechanism.formatting import format_promise
from hetdp.people.populations.mechanism import METHOD, coin_caution
from hetdp.people.populations.population import BALANCED, WEIGHTED_VOTE
from hetdp.people.privacy.epsilons import format_epsilon
from hetdp.problem.answer_words import NO, YES, constant_words, margin_words
from hetdp.releases.simulation import MARK, draw_seeded
from hetdp.tables.comparison import group_similar_names
from hetdp.tables.plan import NEIGHBOURS, meaning_of_missing
from hetdp.tables.preparation import Preparation
from hetdp.tables.promise import Promise, Protection
from hetdp.text import format_value, pluralize
from hetdp.theory.coordinate import LAPLACE

__all__ = ["MARK", "WARNING", "draw_simulated_answers"]

WARNING = "not a release: it is drawn from a known seed, and as private as the table itself"


def draw_simulated_answers(coordinates: Sequence[float], seed: int) -> list[str]:
    """Draws one answer for each coordinate from a seeded generator.

    Args:
        coordinates: of the answers, in the Laplace coordinate.
        seed: of the generator.
    """
    ones = draw_seeded(LAPLACE, np.asarray(coordinates, dtype=np.float64), seed)
    return [YES if one else NO for one in ones.tolist()]


# The promise in words -------------------------------------------------------------------------------------------------


MOST_AREAS = 20  # in words; the plan has them all
MOST_GROUPS = 20  # of an area, in words
UNSHOWN = {
    BALANCED: "that no private mechanism has a smaller worst error could not be shown",
    WEIGHTED_VOTE: "other private mechanisms may have a smaller worst error, such as the design balanced",
}
PARALLEL = (
    "One answer for each area: everybody belongs to one area, so everybody's answer enters one of them, and the promise"
    " to each person is the same as for a single answer."
)


def promise_lines(prepared: Preparation) -> list[str]:
    """The promise, line by line."""
    request = prepared.request
    lines = [
        f"question: {request.question}",
        f"yes is: {request.counted}. {meaning_of_missing(request)}",
        f"people: {prepared.policy.size:,}, identified by {request.person}. {NEIGHBOURS}",
        f"design: {request.objective}",
    ]
    if request.deciding is not None:
        lines.append(f"where the answer depends on one person, ε is at most {request.deciding.words()}")
    there = () if prepared.policy.groups is None else prepared.policy.groups.names
    nobody = [group for group, _ in request.epsilon.by_group if group not in there]
    if nobody:
        lines.append(
            f"groups that are promised an ε but have no people: {', '.join(map(format_value, nobody[:MOST_GROUPS]))}"
        )
    for what, names in (("groups", prepared.policy.groups), ("areas", prepared.policy.areas)):
        told = (
            []
            if names is None
            else [", ".join(map(format_value, one[:MOST_GROUPS])) for one in group_similar_names(names.names)]
        )
        rule = f"{what} that differ in case or outer spaces only, and stay apart"
        lines += [f"{rule}: {one}" for one in told[:MOST_AREAS]]
    if request.area is not None:
        lines.append(PARALLEL)
    for promise in prepared.promises[:MOST_AREAS]:
        lines += _area_lines(promise)
    left = len(prepared.promises) - MOST_AREAS
    return lines + ([f"and {pluralize(left, 'area')} more, in the plan"] if left > 0 else [])


def answer_line(area: str | None, answer: str, seed: int) -> str:
    """A simulated answer, marked as such."""
    where = "" if area is None else f" in {area!r}"
    return f"{MARK} answer{where}: {answer} (seed {seed}; {WARNING})"


def _area_lines(promise: Promise) -> Iterator[str]:
    indent = ""
    if promise.area is not None:
        yield f"area {promise.area!r}: {pluralize(promise.people, 'row')}"
        indent = "  "
    for protection in promise.protections[:MOST_GROUPS]:
        yield f"{indent}protected: {_protection_words(protection)}"
        yield f"{indent}  {protection.odds}"
    if len(promise.protections) > MOST_GROUPS:
        yield f"{indent}and {pluralize(len(promise.protections) - MOST_GROUPS, 'group')} more, in the plan"
    if promise.tallies is not None:
        tallies, edges = _tallies(promise.tallies["tallies"]), pluralize(promise.tallies["edges"], "edge")
        yield f"{indent}checked edge by edge: people who are alike make {tallies} with {edges}"
    if promise.constant is not None:
        yield f"{indent}{constant_words(promise.constant)}"
        return
    yield f"{indent}the answer is right with a probability of at least"
    yield from (f"{indent}  {_accuracy(margin, wrong)}" for margin, _, wrong in promise.accuracy)
    caution = coin_caution(promise.worse_up_to, promise.even_up_to)
    if caution:
        yield f"{indent}caution: {caution}"
    if promise.mechanism.certificate.method == METHOD and not promise.mechanism.certificate.optimal:
        yield f"{indent}{UNSHOWN[promise.mechanism.objective]}"


def _tallies(number: int) -> str:
    return "1 tally" if number == 1 else f"{number:,} tallies"


def _protection_words(given: Protection) -> str:
    whom = pluralize(given.people, "row") + ("" if given.group is None else f" of {given.group!r}")
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
    ('0.4 used', '0 used', 'all privacy used')
    """
    return "all privacy used" if loss == float("inf") else f"{format_epsilon(loss)} used"


def _accuracy(margin: int, wrong: float) -> str:
    return f"{format_promise(wrong)} {margin_words(margin)}"
