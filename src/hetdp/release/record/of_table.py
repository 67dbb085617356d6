"""What a record says of a table's people and their plan: all of it is known before an answer is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from hetdp.certificate.certificate import Certificate
from hetdp.errors import UsageError, counted, printable, shown
from hetdp.files.documents import certificate_document
from hetdp.files.formats.numerals import plain
from hetdp.problem.identity import PREFIX
from hetdp.release.charges import EVERYBODY
from hetdp.release.record import words
from hetdp.spaces.populations.theorem import Theorem, coin_caution
from hetdp.spaces.privacy.grid import decimal
from hetdp.spaces.table.asking import Prepared, prepare
from hetdp.spaces.table.plan import Plan
from hetdp.spaces.table.promise import Promise, Protection
from hetdp.spaces.table.wish import KEYS as WISH_KEYS
from hetdp.spaces.table.wish import NO, YES, from_document

PLAN = "plan"
PEOPLE, THEME = "people", "theme"  # what an entry keeps beside the plan's words
ANSWERS = (YES, NO)
NOTION = "pure"
SPELLED = ("software", "table", *WISH_KEYS, "people_sha256", "plan_sha256")

Document = dict[str, Any]


def request_of(plan: Plan) -> str:
    """By which the ledger knows what is asked: a digest of its canonical form, and of who is promised what."""
    return f"{PREFIX}{plan.facts['request_sha256']}"


def spelling_of(plan: Document | None) -> Document | None:
    """What may differ between plans that ask for the same; the ledger keeps it, so that a record stays as it was."""
    return None if plan is None else {key: plan[key] for key in SPELLED}


def require_same_table(plan: Document | None, entry: Any, approved: bool, people: str | None = None) -> None:
    """Refuses to give the kept answer of another table: another one within a database, or about other people.

    Copies of the same data under another name, or in another format, have the same answer; but a plan that was approved
    is about the file that it names.

    Args:
        plan: the plan that is carried out now; None for a problem.
        entry: the entry of the answer that was released before.
        approved: whether the plan was kept in a file.
        people: a digest of who is there, by what is asked; None if nobody made one.

    Raises:
        UsageError: it is another table.
    """
    kept = entry.facts.get("plan")
    if plan is None or not isinstance(kept, dict):
        return
    before, now = kept["table"], plan["table"]
    others = None not in (before["table"], now["table"]) and before["table"] != now["table"]
    exchanged = None not in (entry.facts.get(PEOPLE), people) and entry.facts[PEOPLE] != people
    if others or exchanged or (approved and before != now):
        within = "" if before["table"] is None else f", table {shown(before['table'])}"
        when = f"on {entry.time[:10]}, of version {shown(entry.version)} of the data"
        hint = "a new --version, if the data is new; a copy of the same data is asked without --plan"
        raise UsageError(
            f"this was asked before, {when}, which was {shown(before['file'])}{within}",
            "a version of the data is one table of the same people, and a plan is about the table that it names",
            hint,
        )


def first_worded(prepared: Any, entry: Any) -> Document:
    """What the record of an earlier answer says, where the same was asked in other words: it stays as it was.

    Args:
        prepared: what is asked now; anything else than a question to a table has one wording.
        entry: the entry of the answer that was released before.
    """
    kept = entry.facts.get("plan")
    if not isinstance(prepared, Prepared) or not isinstance(kept, dict):
        return {}
    words = {key: kept[key] for key in WISH_KEYS}
    if words == prepared.wish.document():
        return {}
    return facts_of(prepare(prepared.source, from_document(words), identified=kept["people_sha256"] is not None))


def facts_of(prepared: Any) -> Document:
    """The part of a record that a plan fills.

    Args:
        prepared: the policy, the promises and the plan.
    """
    promises: tuple[Promise, ...] = prepared.promises
    protections, people = [one for promise in promises for one in promise.protections], prepared.policy.size
    unprotected, only = sum(one.unprotected for one in protections), sum(one.only_deciding for one in protections)
    nothing = [words.unprotected_words(unprotected, people, "people")] if unprotected else []
    nothing += [words.only_deciding_words(only, people)] if only else []
    found = planned_facts(prepared.plan)
    told = [_promise(given, one) for given in promises for one in given.protections]
    return found | {
        "privacy": found["privacy"] | {"promises": told},
        "not_protected": [words.PUBLIC_TABLE, words.PUBLIC_RELEASE, *nothing],
        "certificates": [_certificate(given.mechanism.certificate) for given in promises],
    }


def planned_facts(plan: Plan) -> Document:
    """What follows from the plan alone: all but whom it protects how, and the proofs."""
    facts, wish = plan.facts, plan.wish
    counts = facts["counts"]
    counted_as = f"Yes is: {wish.counted}. {facts['missing']}"
    return {
        "question": printable(f"Is it true that {wish.question}? (Yes is: {wish.counted}.)"),
        "privacy": {
            "notion": NOTION,
            "flavour": words.FLAVOURS[NOTION],
            "unit": facts["unit"],
            "neighbours": facts["neighbours"],
        },
        "model": words.MODEL,
        "domain": {
            "words": printable(f"{counted(counts['people'], 'row')}, one for each person. {counted_as}"),
            "datasets": None,
            "edges": None,
            "people": counts["people"],
            "areas": counts["areas"],
        },
        "constant": [
            {"area": one["area"], "answer": one["constant"]} for one in facts["areas"] if one["constant"] is not None
        ],
        "accuracy": [accuracy for one in facts["areas"] for accuracy in _accuracy(one)],
        "cautions": list(_cautions(facts["areas"])),
        "security": words.security(all(one["constant"] is not None for one in facts["areas"])),
        "mechanism": {
            "kind": PLAN,
            "sha256": request_of(plan),
            "objective": wish.objective,
            "coordinate": "Laplace",
            "problem": None,
        },
        "plan": facts,
    }


def _cautions(areas: list[Document]) -> Iterator[str]:
    """Where a coin would do as well, or better, in each area."""
    for one in areas:
        told = coin_caution(one["worse_than_coin_up_to"], one["as_a_coin_up_to"])
        if told:
            where = "" if one["area"] is None else f"In {one['area']!r}: "
            yield printable(f"{where}{told[:1].upper()}{told[1:]}.")


def _accuracy(area: Document) -> Iterator[Document]:
    """How good the answer of an area is, from its plan."""
    if area["constant"] is not None:
        yield {"area": area["area"], "where": words.EVERY_TABLE, "probability": "1"}
    for margin, probability in area["accuracy_by_margin"].items():
        yield {"area": area["area"], "where": words.where_changed(int(margin)), "probability": probability}


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
        "used": decimal(one.used),
        "odds": one.odds,
    }
