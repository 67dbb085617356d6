"""What a record says of a table's people and their plan: all of it is known before an answer is read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hetdp.certificate.certificate import Certificate
from hetdp.errors import counted, printable
from hetdp.files.documents import certificate_document
from hetdp.files.formats.numerals import plain
from hetdp.problem.identity import PREFIX
from hetdp.release.charges import EVERYBODY
from hetdp.release.record import words
from hetdp.release.record.amounts import decimal
from hetdp.spaces.populations.theorem import Theorem
from hetdp.spaces.table.promise import Promise, Protection, rounded_down
from hetdp.spaces.table.wish import NO, YES

PLAN = "plan"
ANSWERS = (YES, NO)
NOTION = "pure"


def request_of(prepared: Any) -> str:
    """By which the ledger knows what is asked: the digest of the plan."""
    return f"{PREFIX}{prepared.plan.digest}"


def facts_of(prepared: Any) -> dict[str, Any]:
    """The part of a record that a plan fills.

    Args:
        prepared: the policy, the promises and the plan.
    """
    plan = prepared.plan.document()
    promises: tuple[Promise, ...] = prepared.promises
    protections, people = [one for promise in promises for one in promise.protections], prepared.policy.size
    unprotected, only = sum(one.unprotected for one in protections), sum(one.only_deciding for one in protections)
    nothing = [words.unprotected_words(unprotected, people, "people")] if unprotected else []
    nothing += [words.only_deciding_words(only, people)] if only else []
    counted_as = f"Yes is: {prepared.wish.counted}. {plan['missing']}"
    return {
        "question": printable(f"Is it so that {prepared.wish.question}? (Yes is: {prepared.wish.counted}.)"),
        "privacy": {
            "notion": NOTION,
            "flavour": words.FLAVOURS[NOTION],
            "unit": plan["unit"],
            "neighbours": plan["neighbours"],
            "promises": [_promise(given, one) for given in promises for one in given.protections],
        },
        "model": words.MODEL,
        "domain": {
            "words": printable(f"{counted(people, 'row')}, one for each person. {counted_as}"),
            "datasets": None,
            "edges": None,
            "people": people,
            "areas": plan["counts"]["areas"],
        },
        "not_protected": [words.PUBLIC_TABLE, words.PUBLIC_RELEASE, *nothing],
        "accuracy": [
            {"area": given.area, "where": words.where_changed(margin), "probability": rounded_down(right)}
            for given in promises
            for margin, right, _ in given.accuracy
        ],
        "security": list(words.SECURITY),
        "mechanism": {
            "kind": PLAN,
            "sha256": request_of(prepared),
            "objective": prepared.wish.objective,
            "coordinate": "Laplace",
            "problem": None,
        },
        "certificates": [_certificate(given.mechanism.certificate) for given in promises],
        "plan": plan,
    }


def _certificate(found: Certificate | Theorem) -> dict[str, Any]:
    """The proof of an area's mechanism: every edge of its tallies, or a theorem."""
    if isinstance(found, Certificate):
        return certificate_document(found)
    return {name: plain(value) for name, value in asdict(found).items()}


def _promise(given: Promise, one: Protection) -> dict[str, Any]:
    return {
        "area": given.area,
        "whom": EVERYBODY if one.group is None else one.group,
        "people": one.people,
        "changes": None,
        "unprotected": one.unprotected,
        "least_epsilon": decimal(one.least),
        "epsilon": decimal(one.largest),
        "delta": None,
        "mu": None,
        "odds": one.odds,
    }
