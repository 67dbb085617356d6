"""What a release needs, whichever door it came through: all of it is fixed before a coin is tossed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetdp.certificate.losses import certain_answer
from hetdp.errors import Fault, InputError, UsageError, VerificationError
from hetdp.mechanism.mechanism import Mechanism
from hetdp.problem.problem import Problem
from hetdp.releases.charges import Costs, costs_of_people
from hetdp.releases.draw import draw
from hetdp.releases.ledger.neighbours import Neighbours, neighbours_of
from hetdp.releases.proof import Proved, fingerprint_of, known, proved, told
from hetdp.releases.record import facts as of_problem
from hetdp.releases.record import facts as of_table
from hetdp.text import format_value

LAPLACE = "Laplace"  # the coordinate of every population
MOST_LABELS = 1 << 12  # that tell similar problems apart; larger ones are told apart by their answers
LONGEST = 200  # characters of a declared version


@dataclass(frozen=True)
class Asked:
    """One question about data, ready to be drawn.

    Attributes:
        request: by which the ledger knows it: a digest of what is asked, and of exactly what is drawn from.
        costs: what it costs whom.
        areas: the name of each answer's area; None for the one answer about all.
        answers: how the two answers are called.
        facts: makes what a record says of it, which does not depend on the data.
        ready: looks the true data up, and gives what draws one bit for each area, each exactly.
        neighbours: the unit and the relation that the promises are about.
        theme: makes a digest that similar questions have in common.
        plan: the plan of a question to a table; None for a problem.
        people: a digest of who is in the table, as far as the request depends on it; None if there is none.
    """

    request: str
    costs: Costs
    areas: tuple[str | None, ...]
    answers: tuple[str, str]
    facts: Callable[[], dict[str, Any]]
    ready: Callable[[], Callable[[], list[bool]]]
    neighbours: Neighbours
    theme: Callable[[], str]
    plan: dict[str, Any] | None = None
    people: str | None = None


def checked_version(version: Any) -> str:
    """A version of the data, if it is one.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(version, str) or not 0 < len(version) <= LONGEST or not version.isprintable():
        raise UsageError(
            f"the version {format_value(version)}",
            f"a version of the data is a text of 1 to {LONGEST} printable characters",
        )
    return version


def asked_of(what: Any, dataset: Any = None) -> Asked:
    """What is asked, from a mechanism and the true dataset, or from a question to a table; no data is looked at yet.

    Raises:
        UsageError: it is neither, or a dataset is not wanted.
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
    problem, costs = proof.problem, proof.costs
    certain = certain_answer(proof.mechanism.coordinates)

    def ready() -> Callable[[], list[bool]]:
        if dataset is None:
            raise UsageError("no dataset is given", "a mechanism is released at the true dataset")
        name, z = problem.notion.coordinate.name, float(proof.mechanism.coordinates[_place(problem, dataset)])
        return lambda: [_answered(name, z, certain)]

    return Asked(
        proof.digest,
        costs,
        (None,),
        of_problem.answer_words(problem.about),
        lambda: _facts(proof),
        ready,
        neighbours_of(problem.about.get("privacy_unit"), problem.about.get("neighbour_relation")),
        lambda: _theme(problem),
    )


def _answered(coordinate: str, z: float, certain: int) -> bool:
    """One answer; where it is the same whatever the data is, no random bit is asked for."""
    return certain == 1 if certain else draw(coordinate, z)


def _theme(problem: Problem) -> str:
    """A digest of the datasets and their answers: problems that have it in common ask about the same data."""
    graph = problem.graph
    labels = [repr(graph.label(at)) for at in range(graph.size)] if graph.size <= MOST_LABELS else []
    found = hashlib.sha256(f"hetdp problem theme 1 {graph.size}\n{json.dumps(labels)}\n".encode())
    found.update(np.ascontiguousarray(problem.answers, dtype="<i1").data)
    return found.hexdigest()


def _facts(proof: Proved) -> dict[str, Any]:
    """What a record says of a mechanism; the same bytes say the same."""
    found = known(proof.fingerprint)
    if found is None or found.facts is None:
        facts = of_problem.facts_of_problem(proof, proof.costs)
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
    certain = [promise.mechanism.constant for promise in prepared.promises]

    def ready() -> Callable[[], list[bool]]:
        coordinates = prepared.coordinates()
        return lambda: [_answered(LAPLACE, z, answer) for z, answer in zip(coordinates, certain, strict=True)]

    return Asked(
        of_table.request_of(prepared.plan),
        costs,
        tuple(promise.area for promise in prepared.promises),
        of_table.ANSWERS,
        lambda: of_table.facts_of_table(prepared),
        ready,
        neighbours_of(prepared.plan.facts["unit"], prepared.plan.facts["neighbours"]),
        lambda: str(prepared.identity.theme),
        prepared.plan.facts,
        prepared.same_people,
    )
