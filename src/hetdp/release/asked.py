"""What a release needs, whichever door it came through: all of it is fixed before a coin is tossed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hetdp.certificate.losses import certain_answer
from hetdp.errors import Fault, InputError, UsageError, VerificationError
from hetdp.mechanism.mechanism import Mechanism
from hetdp.problem.problem import Problem
from hetdp.release.charges import Costs, costs_of_people
from hetdp.release.draw.bernoulli import draw
from hetdp.release.proof import Proved, proved
from hetdp.release.record import of_problem, of_table
from hetdp.release.remembered import fingerprint_of, known, told

LAPLACE = "Laplace"  # the coordinate of every population


@dataclass(frozen=True)
class Asked:
    """One question about data, ready to be drawn.

    Attributes:
        request: by which the ledger knows it: a digest of what is asked, and of exactly what is drawn from.
        costs: what it costs whom.
        areas: the name of each answer's area; None for the one answer about all.
        answers: how the two answers are called.
        facts: makes what a record says of it, which does not depend on the data.
        draw: draws one bit for each area, each exactly; it alone knows where the true data is.
    """

    request: str
    costs: Costs
    areas: tuple[str | None, ...]
    answers: tuple[str, str]
    facts: Callable[[], dict[str, Any]]
    draw: Callable[[], list[bool]]


def asked_of(what: Any, dataset: Any) -> Asked:
    """What is asked, from a mechanism and the true dataset, or from a question to a table.

    Raises:
        UsageError: it is neither, or a dataset is missing or not wanted.
        InputError: no dataset of the problem is meant.
        VerificationError: the mechanism is not private.
    """
    if isinstance(what, Mechanism) or not _is_prepared(what):
        return _of_mechanism(what, dataset)
    if dataset is not None:
        rule = "the table says itself what is true"
        raise UsageError("a dataset beside a question to a table", rule, "leave the dataset out")
    return _of_table(what)


def _is_prepared(what: Any) -> bool:
    return all(hasattr(what, name) for name in ("plan", "policy", "promises", "coordinates", "source", "wish"))


def _of_mechanism(mechanism: Any, dataset: Any) -> Asked:
    proof = proved(mechanism)
    if dataset is None:
        raise UsageError("no dataset is given", "a mechanism is released at the true dataset")
    problem, costs = proof.problem, proof.costs
    certain = certain_answer(proof.mechanism.coordinates)
    name, z = problem.notion.coordinate.name, float(proof.mechanism.coordinates[_place(problem, dataset)])
    return Asked(
        proof.digest,
        costs,
        (None,),
        of_problem.answer_words(problem.about),
        lambda: _facts(proof),
        lambda: [_answered(name, z, certain)],
    )


def _answered(coordinate: str, z: float, certain: int) -> bool:
    """One answer; where it is the same whatever the data is, no random bit is asked for."""
    return certain == 1 if certain else draw(coordinate, z)


def _facts(proof: Proved) -> dict[str, Any]:
    """What a record says of a mechanism; the same bytes say the same."""
    found = known(proof.fingerprint)
    if found is None or found.facts is None:
        facts = of_problem.facts_of(proof, proof.costs)
        if found is not None and proof.fingerprint == fingerprint_of(proof.problem, proof.mechanism):
            found.facts = json.dumps(facts)
        return facts
    return told(found.facts)


def _place(problem: Problem, dataset: Any) -> int:
    """Where the true dataset is. An error says that it is none, and not which was meant."""
    try:
        found = problem.labels.index(dataset)
    except Exception:  # whatever a label does to those who look it up must not be told
        found = None
    if found is None:  # raised here, so that the error does not lead back to the label
        rule = "it is one of the problem's; labels are compared exactly, so '1' and 1 are different"
        raise InputError("the true dataset", [Fault("no such dataset", "the true dataset", "", rule)])
    return found


def _of_table(prepared: Any) -> Asked:
    for promise in prepared.promises:
        if not promise.mechanism.certificate.private:
            why = f"nothing is released, since the mechanism is {promise.mechanism.certificate}"
            raise VerificationError(promise.mechanism.certificate, why)
    payers = prepared.source.payers(prepared.wish)
    costs = costs_of_people(prepared.policy, payers, prepared.wish.person, prepared.losses())
    coordinates = prepared.coordinates()
    certain = [promise.mechanism.constant for promise in prepared.promises]
    return Asked(
        of_table.request_of(prepared.plan),
        costs,
        tuple(promise.area for promise in prepared.promises),
        of_table.ANSWERS,
        lambda: of_table.facts_of(prepared),
        lambda: [_answered(LAPLACE, z, answer) for z, answer in zip(coordinates, certain, strict=True)],
    )
