"""verify_record: whether a record is as it was written, and fits the ledger, the mechanism or the plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hetdp.certificate.certificate import verify
from hetdp.errors import UsageError
from hetdp.problem.problem import Problem, require_problem
from hetdp.release.charges import costs_of
from hetdp.release.ledger.ledger import Ledger
from hetdp.release.ledger.lookup import entry_of
from hetdp.release.proof import digest_of
from hetdp.release.record.amounts import charged
from hetdp.release.record.document import Document, is_whole, read_record, require_record
from hetdp.release.record.of_problem import MECHANISM
from hetdp.release.record.of_table import PLAN

NAME = "record"


class RecordCheck(NamedTuple):
    """One thing that was looked at.

    Attributes:
        name: what was looked at: "record", "ledger", "mechanism", "certificate", "charge" or "plan".
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
    """

    valid: bool
    checks: tuple[RecordCheck, ...]

    def __str__(self) -> str:
        return "\n".join(f"{'holds' if one.passed else 'FAILS'}: {one.message}" for one in self.checks)


def verify_record(
    record: Any, *, ledger: Any = None, problem: Problem | None = None, mechanism: Any = None, plan: Any = None
) -> RecordVerdict:
    """Checks a record: against its own digest, and against whatever else is given.

    Args:
        record: the file of a record, or the document itself.
        ledger: a Ledger, or where it is: its entry must be there, and say the same.
        problem: the problem, with its mechanism: the values must be those that were drawn from, and are proved again.
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
    (True, ['record', 'ledger', 'mechanism', 'certificate', 'charge'])
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
        checks.append(_plan(found, plan))
    return RecordVerdict(all(check.passed for check in checks), tuple(checks))


def _check(name: str, passed: bool, holds: str, fails: str) -> RecordCheck:
    return RecordCheck(name, passed, holds if passed else fails)


def _own(record: Document) -> RecordCheck:
    holds = "the record is as it was written"
    return _check("record", is_whole(record), holds, "the record was changed: its digest is that of another content")


def _ledger(record: Document, ledger: Ledger) -> RecordCheck:
    """Whether the entry is there, and tells the same; an older copy of the ledger is an error of its own."""
    receipt, composition = record["ledger"], record["composition"]
    if receipt["ledger"] != ledger.id:
        return RecordCheck("ledger", False, "the record names another ledger")
    entry = entry_of(ledger, receipt)
    told = [entry.request, entry.source, entry.version, [1 if bit else 2 for bit in entry.answers], entry.time]
    said = [
        record["mechanism"]["sha256"],
        composition["source"],
        composition["version"],
        [one["answer"] for one in record["answers"]],
        record["released"],
    ]
    number = f"entry {receipt['entry']:,} of the ledger"
    return _check("ledger", told == said, f"{number} says the same", f"{number} tells something else")


def _mechanism(record: Document, problem: Problem, mechanism: Any) -> Iterator[RecordCheck]:
    require_problem(problem)
    said = record["mechanism"]
    certificate = verify(problem, mechanism)
    same = said["kind"] == MECHANISM and said["sha256"] == digest_of(problem, mechanism.coordinates)
    holds = "these are exactly the values that the answer was drawn with, for exactly this problem"
    yield _check("mechanism", same, holds, "the answer was drawn with other values, or for another problem")
    yield RecordCheck("certificate", certificate.private, str(certificate).removesuffix("."))
    wanted = charged(costs_of(problem))
    holds = "each account was charged what the problem promises"
    yield _check(
        "charge", record["composition"]["charged"] == wanted, holds, "other amounts were charged than promised"
    )


def _plan(record: Document, path: str | Path) -> RecordCheck:
    from hetdp.spaces.table.plan import read_plan

    approved = read_plan(Path(path))
    said = record["mechanism"]
    same = said["kind"] == PLAN and said["sha256"].endswith(approved.digest) and record["plan"] == approved.facts
    return _check("plan", same, "this is exactly the plan that was carried out", "another plan was carried out")
