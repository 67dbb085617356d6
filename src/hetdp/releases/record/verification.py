"""What a record of a table says beyond its plan: as far as it follows from the plan, it is held against it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hetdp.certificate.certificate import verify
from hetdp.errors import UsageError
from hetdp.mechanism.mechanism import Mechanism
from hetdp.people.privacy.epsilons import decimal
from hetdp.problem.problem import Problem, require_problem
from hetdp.releases.charges import EPSILON, EVERYBODY, PERSON, costs_of
from hetdp.releases.ledger.chain import Entry
from hetdp.releases.ledger.ledger import Ledger
from hetdp.releases.ledger.lookup import entry_of, source_of
from hetdp.releases.ledger.neighbours import NEIGHBOURS, is_same, neighbours_of, read_neighbours
from hetdp.releases.proof import Proved, digest_of
from hetdp.releases.record import words
from hetdp.releases.record.document import Document, answers_of, facts_digest, is_whole, read_record, require_record
from hetdp.releases.record.facts import (
    ANSWERS,
    MECHANISM,
    answer_words,
    charge_told,
    composition_of,
    facts_of_problem,
    planned_facts,
)
from hetdp.tables.plan import Plan, read_plan
from hetdp.tables.policy import lowered
from hetdp.tables.request import Wish

PlanDocument = dict[str, Any]
PLANNED = ("people", "allowed", "used")


def contradictions(record: PlanDocument, plan: Plan) -> list[str]:
    """The parts of a record, by their keys, that cannot belong to this plan, whoever is in the table.

    Args:
        record: the record.
        plan: the plan that was carried out.
    """
    promises, counts = record["privacy"]["promises"], plan.facts["counts"]
    people = counts["people"]
    fits = {
        "software": record["software"] == plan.facts["software"],
        "certificates": len(record["certificates"]) == len(plan.facts["areas"])
        and all(one.get("private") is True for one in record["certificates"]),
        "privacy.promises": _charges(promises) == _planned_charges(plan)
        and all(_is_promised(one, plan.wish) for one in promises),
        "not_protected": _is_public(record["not_protected"], promises, plan.wish, people),
        "composition": _is_paid(record["composition"], people),
    }
    return [key for key, is_so in fits.items() if not is_so]


def _charges(promises: list[PlanDocument]) -> list[Any]:
    """Whom a record promises what, and what of it is used."""
    return [(one["area"], one["whom"], one["people"], one["epsilon"], one["used"]) for one in promises]


def _planned_charges(plan: Plan) -> list[Any] | None:
    """The same, from the plan; None if it is one that we never wrote."""
    try:
        return [
            (area["area"], EVERYBODY if one["group"] is None else one["group"], *(one[name] for name in PLANNED))
            for area in plan.facts["areas"]
            for one in area["charges"]
        ]
    except (KeyError, TypeError):
        return None


def _is_promised(one: PlanDocument, wish: Wish) -> bool:
    """Whether a promise is one that the plan makes: to its groups, with the ε that it names for all or for a group."""
    if not (wish.group is not None or one["whom"] == EVERYBODY) or not one["odds"]:
        return False
    if not 0 <= (one["unprotected"] or 0) <= (one["people"] or 0):
        return False
    given = {name: one[name] for name in ("changes", "delta", "mu")}
    if any(value is not None for value in given.values()) or None in (one["least_epsilon"], one["epsilon"]):
        return False
    if wish.epsilon.column is not None:
        return True
    by_group = dict(wish.epsilon.by_group)
    promised = by_group.get(one["whom"]) if wish.epsilon.constant is None else wish.epsilon.constant
    return promised is not None and one["least_epsilon"] == one["epsilon"] == decimal(lowered(str(promised)))


def _is_public(said: list[str], promises: list[PlanDocument], wish: Wish, people: int) -> bool:
    """Whether this is said of what is not protected; the plan does not know who is only where they decide."""
    unprotected = sum(one["unprotected"] or 0 for one in promises)
    told = [words.PUBLIC_TABLE, words.PUBLIC_RELEASE]
    told += [words.unprotected_words(unprotected, people, "people")] if unprotected else []
    if said[: len(told)] != told or len(said) > len(told) + (wish.deciding is not None):
        return False
    return said[len(told) :] in ([], [words.only_deciding_words(_number(said[-1], people), people)])


def _number(sentence: str, people: int) -> int:
    first = sentence.split(" ")[0].replace(",", "")
    return int(first) if first.isdecimal() and len(first) < 20 else people


def _is_paid(composition: PlanDocument, people: int) -> bool:
    """Whether everybody paid for themselves; of which data, and how much, is for the ledger to say."""
    told = {"currency": EPSILON, "rule": words.RULES[EPSILON], "kind": PERSON, "accounts": people, "charged": []}
    return {key: composition[key] for key in told} == told


# verify_record: whether a record has its digest, and fits the ledger, the mechanism or the plan.


NAME = "record"
ELSE = "tells something else"
UNPLANNED = (
    "the odds, what its proofs say, who is unprotected, and the least ε of each group: they follow from the table; the"
    " ledger covers them"
)


class RecordCheck(NamedTuple):
    """One thing that was looked at.

    Attributes:
        name: what was looked at: "record", "ledger", "mechanism", "certificate", "charge", "plan", "content" or
            "promises".
        passed: whether it is as it should be.
        message: what was found, in words.
    """

    name: str
    passed: bool
    message: str


@dataclass(frozen=True)
class RecordVerdict:
    """What `verify_record` found.

    Attributes:
        valid: whether everything that was looked at is as it should be.
        checks: each thing that was looked at.
        unchecked: what could not be looked at, in words; with the ledger, nothing.
    """

    valid: bool
    checks: tuple[RecordCheck, ...]
    unchecked: tuple[str, ...] = ()

    def __str__(self) -> str:
        found = [f"{'holds' if one.passed else 'FAILS'}: {one.message}" for one in self.checks]
        return "\n".join([*found, *(f"not checked: {words}" for words in self.unchecked)])


def verify_record(
    record: Any, *, ledger: Any = None, problem: Problem | None = None, mechanism: Any = None, plan: Any = None
) -> RecordVerdict:
    """Checks a record: against its own digest, which anybody can make anew, and against whatever else is given.

    Args:
        record: the file of a record, or the document itself.
        ledger: a Ledger, or where it is: its entry must be there, and covers all that the record says.
        problem: the problem, with its mechanism: the values must be those that were drawn from. They are proved
            again, and all that follows from them must be what the record says.
        mechanism: the mechanism.
        plan: for an answer from a table, the plan that was approved, as `hetdp ask --plan` wrote it: a file.

    Raises:
        UsageError: a file cannot be read, or a problem is given without its mechanism.
        InputError: it is no record.
        LedgerError: the ledger cannot be used.

    >>> import hetdp, pathlib, tempfile
    >>> graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 0.5)
    >>> mechanism = hetdp.design(hetdp.Problem(graph, [1, 2]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = hetdp.Ledger.create(pathlib.Path(folder, "a.ledger"), source="data", cap=1)
    ...     record = hetdp.release(mechanism, "a", ledger=ledger).record
    ...     verdict = hetdp.verify_record(record, ledger=ledger, problem=mechanism.problem, mechanism=mechanism)
    >>> verdict.valid, [check.name for check in verdict.checks]
    (True, ['record', 'ledger', 'mechanism', 'certificate', 'charge', 'content'])
    """
    if (problem is None) != (mechanism is None):
        raise UsageError("a problem without its mechanism, or the other way round", "both are looked at together")
    found = require_record(record, NAME) if isinstance(record, dict) else read_record(record)
    checks = [_own(found)]
    if ledger is not None:
        checks.append(_ledger(found, ledger if isinstance(ledger, Ledger) else Ledger(ledger)))
    if problem is not None:
        checks += _mechanism(found, problem, mechanism)
    if plan is not None:
        checks += _plan(found, plan)
    return RecordVerdict(
        all(check.passed for check in checks), tuple(checks), tuple(_unchecked(ledger, mechanism, plan))
    )


def _unchecked(ledger: Any, mechanism: Any, plan: Any) -> Iterator[str]:
    """What nobody can know without the ledger, whose entry covers all that a record says."""
    if ledger is not None:
        return
    yield "the answer itself, which only the ledger knows"
    yield "when it was released, of which data, and that it was paid for, which the ledger knows"
    if plan is not None:
        yield UNPLANNED
    elif mechanism is not None:
        yield "which hetdp made it, and what its values were designed for, which the ledger covers"
    else:
        yield "all else that it says, which the ledger covers, or follows from the mechanism or the plan"


def _check(name: str, passed: bool, holds: str, fails: str) -> RecordCheck:
    return RecordCheck(name, passed, holds if passed else fails)


def _own(record: Document) -> RecordCheck:
    fails = "the record was changed: its digest is that of another content"
    return _check("record", is_whole(record), "the record's digest fits its content", fails)


def _ledger(record: Document, ledger: Ledger) -> RecordCheck:
    """Whether the entry is there, and tells the same; an older copy of the ledger is an error of its own."""
    receipt, composition = record["ledger"], record["composition"]
    if receipt["ledger"] != ledger.id:
        return RecordCheck("ledger", False, "the record names another ledger")
    entry, number = entry_of(ledger, receipt), f"entry {receipt['entry']:,} of the ledger"
    kept = entry.facts
    told = [entry.request, entry.source, entry.version, entry.time, kept.get("facts_sha256")]
    said = [record["mechanism"]["sha256"], composition["source"], composition["version"], record["released"]]
    same = told == [*said, facts_digest(record)] and _is_answered(record, entry.answers, kept.get("words"))
    same = same and _is_about(record["privacy"], kept.get(NEIGHBOURS))
    return _check(
        "ledger", same and _is_charged(ledger, entry, composition), f"{number} says the same", f"{number} {ELSE}"
    )


def _is_answered(record: Document, bits: Sequence[bool], words: Any) -> bool:
    """Whether the answers are these, in words, for the areas of the plan in their order."""
    try:
        areas = [None] if record["plan"] is None else [one["area"] for one in record["plan"]["areas"]]
        return bool(record["answers"] == answers_of(bits, areas, words))
    except (KeyError, TypeError, ValueError, IndexError):  # we never wrote such a plan
        return False


def _is_about(privacy: Document, kept: Any) -> bool:
    """Whether the record's unit and relation are those that its entry was charged for."""
    try:
        stated = neighbours_of(privacy["unit"], privacy["neighbours"])
        return all(map(is_same, stated, read_neighbours(kept)))
    except (UsageError, ValueError):
        return False


def _is_charged(ledger: Ledger, entry: Entry, composition: Document) -> bool:
    """Whether the entry charged the accounts that the record lists; people are listed by neither."""
    try:
        charge = charge_told(composition, source_of(ledger, entry.source)[1])
    except (UsageError, KeyError):
        return False
    return charge is None or charge.sealed(b"").digest == entry.charge


def _mechanism(record: Document, problem: Problem, mechanism: Any) -> Iterator[RecordCheck]:
    require_problem(problem)
    if not isinstance(mechanism, Mechanism):
        raise UsageError(f"an object of the type {type(mechanism).__name__}", "values are proved as a Mechanism")
    said = record["mechanism"]
    certificate = verify(problem, mechanism)
    digest = digest_of(problem, mechanism.coordinates)
    same = said["kind"] == MECHANISM and said["sha256"] == digest
    holds = "these are exactly the values that the answer was drawn with, for exactly this problem"
    yield _check("mechanism", same, holds, "the answer was drawn with other values, or for another problem")
    yield RecordCheck("certificate", certificate.private, str(certificate).removesuffix("."))
    costs, composition = costs_of(problem, mechanism.coordinates), record["composition"]
    paid = composition_of(costs, composition["source"], composition["version"])
    holds = "each account was charged the largest loss that these values can cause it"
    yield _check("charge", composition == paid, holds, "other amounts were charged than these values can cost")
    if same and certificate.private:
        facts = facts_of_problem(Proved(problem, mechanism, certificate, digest, costs), costs)
        facts["mechanism"]["objective"] = said["objective"]  # files of values alone do not say it
        yield _content(record, facts, answer_words(problem.about))


def _plan(record: Document, path: str | Path) -> Iterator[RecordCheck]:
    approved = read_plan(Path(path))
    try:
        facts = planned_facts(approved)
    except (KeyError, TypeError, ValueError, AttributeError):  # we never wrote such a plan
        facts = {"mechanism": None}
    same = record["mechanism"] == facts["mechanism"] and _text(record["plan"]) == _text(approved.facts)
    yield _check("plan", same, "this is exactly the plan that was carried out", "another plan was carried out")
    if same:
        yield _content(record, facts, ANSWERS)
        others = contradictions(record, approved)
        holds = "its proofs, promises and accounts are such as the plan allows"
        yield _check("promises", not others, holds, f"the plan does not allow what it says under {', '.join(others)}")


def _content(record: Document, facts: Document, words: Sequence[str]) -> RecordCheck:
    """Whether all that follows from a problem or a plan is as the record says, and so are the words of its answers."""
    said = record | {"privacy": {key: record["privacy"][key] for key in facts["privacy"]}}
    others = [key for key, value in facts.items() if _text(said[key]) != _text(value)]
    bits = [one["answer"] == 1 for one in record["answers"]]
    if not _is_answered(record, bits, words):
        others.append("answers")
    fails = f"the record says something else than follows from it, under {', '.join(others)}"
    return _check("content", not others, "the record says what follows from it", fails)


def _text(part: Any) -> str:
    """A part of a record, so that what is written alike is equal."""
    return json.dumps(part, sort_keys=True)
