"""Checks of a record: against its own digest, the ledger, and the mechanism that the answer was drawn with.

`hetdp.verify_record`, in `hetdp.tables.record`, runs them and adds the check against the plan of a table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hetdp.certificate.certificate import verify
from hetdp.certificate.losses import certain_answer
from hetdp.errors import UsageError
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.problem.answer_words import BARE_NUMBERS, TITLE, answer_words
from hetdp.problem.problem import Problem, require_problem
from hetdp.releases.charges import costs_of
from hetdp.releases.ledger.chain import Entry
from hetdp.releases.ledger.ledger_core import LedgerCore
from hetdp.releases.ledger.neighbours import NEIGHBOURS, is_same, parse_neighbours, read_neighbours
from hetdp.releases.proof import ProvedMechanism, digest_of
from hetdp.releases.record.document import Document, answers_of, facts_digest, has_valid_digest
from hetdp.releases.record.facts import MECHANISM, charge_of_composition, composition_of, facts_of_problem


class RecordCheck(NamedTuple):
    """The result of one check.

    Attributes:
        name: what was checked: "record", "ledger", "mechanism", "certificate", "charge", "plan", "content" or
            "promises".
        passed: whether the check passed.
        message: what was found, in words.
    """

    name: str
    passed: bool
    message: str


@dataclass(frozen=True)
class RecordVerdict:
    """The result of `verify_record`.

    Attributes:
        valid: whether all checks passed.
        checks: the checks.
        unchecked: what could not be checked, in words; nothing if the ledger was given.
    """

    valid: bool
    checks: tuple[RecordCheck, ...]
    unchecked: tuple[str, ...] = ()

    def __str__(self) -> str:
        found = [f"{'holds' if one.passed else 'FAILS'}: {one.message}" for one in self.checks]
        return "\n".join([*found, *(f"not checked: {words}" for words in self.unchecked)])


def check_of(name: str, passed: bool, holds: str, fails: str) -> RecordCheck:
    """A check with the message that fits its outcome."""
    return RecordCheck(name, passed, holds if passed else fails)


def check_digest(record: Document) -> RecordCheck:
    """Checks that the record's digest matches its content."""
    fails = "the record was changed: its digest does not match its content"
    return check_of("record", has_valid_digest(record), "the record's digest matches its content", fails)


def check_ledger(record: Document, ledger: LedgerCore) -> RecordCheck:
    """Checks that the entry is in the ledger and agrees with the record.

    Raises:
        LedgerError: the ledger cannot be used, or is older than the record.
    """
    receipt, composition = record["ledger"], record["composition"]
    if receipt["ledger"] != ledger.id:
        return RecordCheck("ledger", False, "the record names another ledger")
    entry, number = ledger.find_receipt(receipt), f"entry {receipt['entry']:,} of the ledger"
    facts = entry.facts
    entered = [entry.request, entry.source, entry.version, entry.time, facts.get("facts_sha256")]
    recorded = [record["mechanism"]["sha256"], composition["source"], composition["version"], record["released"]]
    same = entered == [*recorded, facts_digest(record)] and _is_answered(record, entry.answers, facts.get("words"))
    same = same and _is_about(record["privacy"], facts.get(NEIGHBOURS))
    return check_of(
        "ledger",
        same and _is_charged(ledger, entry, composition),
        f"{number} agrees with the record",
        f"{number} disagrees with the record",
    )


def _is_answered(record: Document, bits: Sequence[bool], words: Any) -> bool:
    """True if the record has these answers, in words, for the areas of the plan in their order."""
    try:
        areas = [None] if record["plan"] is None else [one["area"] for one in record["plan"]["areas"]]
        return bool(record["answers"] == answers_of(bits, areas, words))
    except (KeyError, TypeError, ValueError, IndexError):  # hetdp does not write such plans
        return False


def _is_about(privacy: Document, neighbours: Any) -> bool:
    """True if the record has the unit and relation of its entry."""
    try:
        stated = parse_neighbours(privacy["unit"], privacy["neighbours"])
        return all(map(is_same, stated, read_neighbours(neighbours)))
    except (UsageError, ValueError):
        return False


def _is_charged(ledger: LedgerCore, entry: Entry, composition: Document) -> bool:
    """True if the entry charged the accounts that the record lists; it does not list people."""
    try:
        charge = charge_of_composition(composition, ledger.find_source(entry.source)[1])
    except (UsageError, KeyError):
        return False
    return charge is None or charge.seal(b"").digest == entry.charge


def check_mechanism(record: Document, problem: Problem, mechanism: Any) -> Iterator[RecordCheck]:
    """Checks that the answer was drawn with exactly these values, and that they are private and were paid for.

    Args:
        record: the record.
        problem: the problem.
        mechanism: the mechanism; it is proved again.

    Raises:
        UsageError: it is not a Mechanism.
    """
    require_problem(problem)
    if not isinstance(mechanism, LocalMechanism):
        raise UsageError(f"an object of the type {type(mechanism).__name__}", "values are proved as a Mechanism")
    recorded = record["mechanism"]
    certificate = verify(problem, mechanism)
    digest = digest_of(problem, mechanism.blocks())
    same = recorded["kind"] == MECHANISM and recorded["sha256"] == digest
    holds = "the answer was drawn with exactly these values, for exactly this problem"
    yield check_of("mechanism", same, holds, "the answer was drawn with other values, or for another problem")
    yield RecordCheck("certificate", certificate.private, str(certificate).removesuffix("."))
    costs, composition = costs_of(problem, mechanism.coordinates), record["composition"]
    paid = composition_of(costs, composition["source"], composition["version"])
    holds = "each account was charged the largest loss that these values can cause it"
    yield check_of(
        "charge",
        composition == paid,
        holds,
        "the amounts charged are not the largest losses that these values can cause",
    )
    if same and certificate.private:
        certain = certain_answer(mechanism.coordinates)
        facts = facts_of_problem(ProvedMechanism(problem, mechanism, certificate, digest, costs, certain), costs)
        facts["mechanism"]["objective"] = recorded["objective"]  # files of values alone do not say it
        yield check_content(record, facts, answer_words(problem.about, BARE_NUMBERS))


def check_content(record: Document, facts: Document, words: Sequence[str]) -> RecordCheck:
    """Checks that the record follows from a problem or a plan, and uses its words for the answers.

    Args:
        record: the record.
        facts: what follows from the problem or the plan.
        words: the names of the two answers.
    """
    recorded = record | {"privacy": {key: record["privacy"][key] for key in facts["privacy"]}}
    keys = dict.fromkeys((*facts, TITLE))  # a record without a title must follow from facts without one
    others = [key for key in keys if canonical_text(recorded.get(key)) != canonical_text(facts.get(key))]
    bits = [one["answer"] == 1 for one in record["answers"]]
    if not _is_answered(record, bits, words):
        others.append("answers")
    fails = f"the rest of the record does not follow from it: see {', '.join(others)}"
    return check_of("content", not others, "the rest of the record follows from it", fails)


def canonical_text(part: Any) -> str:
    """A part of a record as JSON, so that parts are compared as they are written."""
    return json.dumps(part, sort_keys=True)
