"""The record of an answer from a table: what the plan puts into it, and `verify_record`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from hetdp.certificate.certificate import Certificate
from hetdp.documents import require_path
from hetdp.errors import UsageError
from hetdp.files.saving import certificate_document
from hetdp.numbers import json_number
from hetdp.people.populations.mechanism import Theorem, coin_caution
from hetdp.people.privacy.epsilons import format_epsilon
from hetdp.problem.answer_words import TITLE, YES_AND_NO, margin_words
from hetdp.problem.identity import PREFIX
from hetdp.problem.problem import Problem
from hetdp.releases.charges import EPSILON, EVERYBODY, PERSON
from hetdp.releases.ledger.ledger import core_of
from hetdp.releases.ledger.ledger_core import LedgerCore
from hetdp.releases.record.document import (
    TOGETHER,
    Document,
    is_bundle,
    kept_head,
    read_record,
    require_record,
)
from hetdp.releases.record.facts import (
    BY_CERTAINTY,
    BY_MARGIN,
    BY_SHARE,
    EVERY_TABLE,
    MODEL,
    PUBLIC_RELEASE,
    PUBLIC_TABLE,
    only_deciding_words,
    security_words,
    unprotected_words,
)
from hetdp.releases.record.summary import question_in_sentences
from hetdp.releases.record.verification import (
    RecordCheck,
    RecordVerdict,
    canonical_text,
    check_content,
    check_digest,
    check_ledger,
    check_mechanism,
    check_of,
)
from hetdp.tables.plan import AnyPlan, Plan, PlanBundle, read_plan
from hetdp.tables.policy import epsilon_at_most
from hetdp.tables.preparation import Preparation
from hetdp.tables.promise import Promise, Protection
from hetdp.tables.request import AskRequest, question_name
from hetdp.text import count_people, escape_unprintable
from hetdp.theory.pure import BY_EPSILON, PURE

PLAN = "plan"  # the kind of mechanism, in the record
NAME = "record"
PLANNED_KEYS = ("people", "allowed", "used")
UNPLANNED_BUNDLE = (
    "the sums of all questions, which the plan can confirm: these questions were released before they were asked"
    " together"
)
UNPLANNED = (
    "the odds, the proofs, the number of unprotected people and the smallest ε of each group, which only the ledger"
    " can confirm"
)


def digest_of_question(plan: Plan) -> str:
    """A digest of what is asked, in its canonical form, and of who is promised what; the ledger finds it by this."""
    return f"{PREFIX}{plan.facts['request_sha256']}"


def facts_of_table(prepared: Preparation) -> Document:
    """The part of a record that a plan fills.

    Args:
        prepared: the policy, the promises and the plan.
    """
    promises = prepared.promises
    protections, people = [one for promise in promises for one in promise.protections], prepared.policy.size
    unprotected, only = sum(one.unprotected for one in protections), sum(one.only_deciding for one in protections)
    nothing = [unprotected_words(unprotected, people, "people")] if unprotected else []
    nothing += [only_deciding_words(only, people)] if only else []
    found = planned_facts(prepared.plan)
    promised = [_promise(given, one) for given in promises for one in given.protections]
    return found | {
        "privacy": found["privacy"] | {"promises": promised},
        "not_protected": [PUBLIC_TABLE, PUBLIC_RELEASE, *nothing],
        "certificates": [_certificate_document(given.mechanism.certificate) for given in promises],
    }


def facts_of_bundle(plan: PlanBundle) -> Document:
    """What the record of several questions says about all of them together."""
    titled = {TITLE: plan.about[TITLE]} if TITLE in plan.about else {}
    questions = [digest_of_question(one) for one in plan.plans]
    return titled | {"questions": questions, "charges": plan.facts["together"], "plan_sha256": plan.digest}


def planned_facts(plan: Plan) -> Document:
    """The facts that follow from the plan alone: everything except the protections and the proofs."""
    facts, request = plan.facts, plan.request
    counts = facts["counts"]
    words = dict(zip(YES_AND_NO, request.answers, strict=True))
    titled = {TITLE: request.about[TITLE]} if TITLE in request.about else {}
    return titled | {
        "question": escape_unprintable(
            f"{question_in_sentences(request.question_words)} (Yes means: {request.counted}.)"
        ),
        "privacy": {
            "notion": PURE.key,
            "flavour": PURE.description,
            "unit": facts["unit"],
            "neighbours": facts["neighbours"],
        },
        "model": MODEL,
        "domain": {
            "words": escape_unprintable(f"{count_people(counts['people'])}, one row each. {facts['missing']}"),
            "datasets": None,
            "edges": None,
            "people": counts["people"],
            "areas": counts["areas"],
        },
        "constant": [
            {"area": one["area"], "answer": words[one["constant"]]}
            for one in facts["areas"]
            if one["constant"] is not None
        ],
        "accuracy": [accuracy for one in facts["areas"] for accuracy in _accuracy(one)],
        "cautions": list(_cautions(facts["areas"])),
        "security": security_words(all(one["constant"] is not None for one in facts["areas"])),
        "mechanism": {
            "kind": PLAN,
            "sha256": digest_of_question(plan),
            "objective": request.objective,
            "coordinate": "Laplace",
            "problem": None,
        },
        "plan": facts,
    }


def _cautions(areas: list[Document]) -> Iterator[str]:
    """The warnings about areas where a coin would do as well, or better."""
    for one in areas:
        caution = coin_caution(one["worse_than_coin_up_to"], one["as_a_coin_up_to"])
        if caution:
            where = "" if one["area"] is None else f"In {one['area']!r}: "
            yield escape_unprintable(f"{where}{caution[:1].upper()}{caution[1:]}.")


def _accuracy(area: Document) -> Iterator[Document]:
    """The accuracy of an area's answer, from its plan."""
    if area["constant"] is not None:
        yield {"area": area["area"], "by": BY_CERTAINTY, "where": EVERY_TABLE, "probability": "1"}
    for where, probability in area["accuracy_by_share"].items():
        yield {"area": area["area"], "by": BY_SHARE, "where": where, "probability": probability}
    for margin, probability in area["accuracy_by_margin"].items():
        where = margin_words(int(margin))
        yield {"area": area["area"], "by": BY_MARGIN, "where": where, "probability": probability}


def _certificate_document(found: Certificate | Theorem) -> dict[str, Any]:
    """The proof of an area's mechanism: every edge of its tallies, or a theorem."""
    if isinstance(found, Certificate):
        return certificate_document(found)
    return {name: json_number(value) for name, value in asdict(found).items()}


def _promise(given: Promise, one: Protection) -> dict[str, Any]:
    return {
        "area": given.area,
        "whom": EVERYBODY if one.group is None else one.group,
        "people": one.people,
        "changes": None,
        "unprotected": one.unprotected,
        "least_epsilon": format_epsilon(one.least),
        "epsilon": format_epsilon(one.largest),
        "delta": None,
        "mu": None,
        "used": format_epsilon(one.used),
        "odds": one.odds,
    }


def _contradictions(record: Document, plan: Plan) -> list[str]:
    """The keys of a record that contradict the plan for any table.

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
        and all(_is_promised(one, plan.request) for one in promises),
        "not_protected": _is_public(record["not_protected"], promises, plan.request, people),
        "composition": _is_paid(record["composition"], people),
    }
    return [key for key, is_so in fits.items() if not is_so]


def _charges(promises: list[Document]) -> list[Any]:
    """The promises of a record: to whom, how much, and how much of it is used."""
    return [(one["area"], one["whom"], one["people"], one["epsilon"], one["used"]) for one in promises]


def _planned_charges(plan: Plan) -> list[Any] | None:
    """The same, from the plan; None if hetdp could not have written this plan."""
    try:
        return [
            (area["area"], EVERYBODY if one["group"] is None else one["group"], *(one[name] for name in PLANNED_KEYS))
            for area in plan.facts["areas"]
            for one in area["charges"]
        ]
    except (KeyError, TypeError):
        return None


def _is_promised(one: Document, request: AskRequest) -> bool:
    """True if the plan makes this promise: to one of its groups, with an ε that it names."""
    is_named = request.group is not None or request.level is not None
    if not (is_named or one["whom"] == EVERYBODY) or not one["odds"]:
        return False
    if not 0 <= (one["unprotected"] or 0) <= (one["people"] or 0):
        return False
    given = {name: one[name] for name in ("changes", "delta", "mu")}
    if any(value is not None for value in given.values()) or None in (one["least_epsilon"], one["epsilon"]):
        return False
    if request.epsilon.column is not None:
        return True
    if request.epsilon.constant is not None:
        promised = [request.epsilon.constant]
    else:  # a group has people of several levels
        several = request.group is not None and request.level is not None
        promised = [epsilon for name, epsilon in request.epsilon.by_group if several or name == one["whom"]]
    written = {format_epsilon(epsilon_at_most(str(epsilon))) for epsilon in promised}
    return {one["least_epsilon"], one["epsilon"]} <= written


def _is_public(sentences: list[str], promises: list[Document], request: AskRequest, people: int) -> bool:
    """True if these sentences are the ones about unprotected data; only the table says who is protected if deciding."""
    unprotected = sum(one["unprotected"] or 0 for one in promises)
    expected = [PUBLIC_TABLE, PUBLIC_RELEASE]
    expected += [unprotected_words(unprotected, people, "people")] if unprotected else []
    if sentences[: len(expected)] != expected or len(sentences) > len(expected) + (request.deciding is not None):
        return False
    return sentences[len(expected) :] in ([], [only_deciding_words(_number(sentences[-1], people), people)])


def _number(sentence: str, people: int) -> int:
    first = sentence.split(" ")[0].replace(",", "")
    return int(first) if first.isdecimal() and len(first) < 20 else people


def _is_paid(composition: Document, people: int) -> bool:
    """True if every person paid for themselves; the ledger says for which data, and how much."""
    expected = {"currency": EPSILON, "rule": BY_EPSILON.rule, "kind": PERSON, "accounts": people, "charged": []}
    return {key: composition[key] for key in expected} == expected


def verify_record(
    record: Any, *, ledger: Any = None, problem: Problem | None = None, mechanism: Any = None, plan: Any = None
) -> RecordVerdict:
    """Checks a record against its own digest, and against the ledger, the mechanism or the plan if they are given.

    Args:
        record: the file of a record, or the document itself.
        ledger: a Ledger, or its address. It must contain the entry, which covers everything in the record.
        problem: the problem, together with its mechanism. The values must be those of the draw; they are proved again,
            and the record must agree with everything that follows from them.
        mechanism: the mechanism.
        plan: for an answer from a table, the plan that was approved, as `hetdp ask --plan` wrote it: a file.

    Raises:
        UsageError: a file cannot be read, or a problem is given without its mechanism.
        InputError: it is not a record.
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
        raise UsageError("a problem without its mechanism, or a mechanism without its problem", "both are needed")
    found = require_record(record, NAME) if isinstance(record, dict) else read_record(record)
    core, approved = (
        None if ledger is None else core_of(ledger),
        None if plan is None else read_plan(require_path(plan)),
    )
    if is_bundle(found):
        if problem is not None:
            rule = "several questions are asked about a table, whose plan can be given"
            raise UsageError("a problem for a record of several questions", rule, "plan= names the plan")
        return _verify_bundle(found, core, approved)
    checks = list(_checks_of(found, core, approved, problem, mechanism))
    return RecordVerdict(
        all(check.passed for check in checks), tuple(checks), tuple(_unchecked_words(ledger, mechanism, plan))
    )


def _checks_of(
    found: Document,
    ledger: LedgerCore | None,
    plan: AnyPlan | None,
    problem: Problem | None = None,
    mechanism: Any = None,
) -> Iterator[RecordCheck]:
    """The checks of the record of one question."""
    yield check_digest(found)
    if ledger is not None:
        yield check_ledger(found, ledger)
    if problem is not None:
        yield from check_mechanism(found, problem, mechanism)
    if plan is not None:
        yield from _check_plan(found, plan)


def _verify_bundle(found: Document, ledger: LedgerCore | None, plan: AnyPlan | None) -> RecordVerdict:
    """Checks the record of several questions, and that of each of them."""
    records, together = found["releases"], found[TOGETHER]
    checks = [check_digest(found), _check_parts(found)]
    unchecked = list(_unchecked_words(ledger, None, plan))
    plans: Sequence[Plan | None] = [None] * len(records)
    if plan is not None:
        same = isinstance(plan, PlanBundle) and _follows_from(together, plan)
        holds = "these are exactly the questions and the sums of the plan"
        checks.append(check_of("plan", same, holds, "another plan was carried out"))
        if isinstance(plan, PlanBundle) and same and len(plan.plans) == len(records):  # else the parts differ
            plans = plan.plans
    if ledger is not None and found["ledger"]["ledger"] == ledger.id:
        entries = [ledger.find_receipt(one["ledger"]) for one in records if one["ledger"]["ledger"] == ledger.id]
        known = kept_head(entries, together["questions"])
        if known is not None or TITLE in together:
            holds = "the ledger has the same title and sums for these questions"
            fails = "the ledger has another title or other sums for these questions"
            checks.append(check_of("together", known == together, holds, fails))
        elif plan is None:
            unchecked.append(UNPLANNED_BUNDLE)
    for number, (one, own) in enumerate(zip(records, plans, strict=True), 1):
        name = question_name(number, one.get(TITLE))
        if own is not None and _was_planned_before(one, own):
            unchecked.append(f"{name}: the plan, since it was released before under another one")
            own = None
        found_checks = _checks_of(one, ledger, own)
        checks += (check._replace(message=f"{name}: {check.message}") for check in found_checks)
    return RecordVerdict(all(check.passed for check in checks), tuple(checks), tuple(unchecked))


def _follows_from(together: Document, plan: PlanBundle) -> bool:
    """True if what a record says about all questions is what the plan says; a title may be missing."""
    planned = facts_of_bundle(plan)
    others = [key for key in {*planned, *together} if together.get(key) != planned.get(key)]
    return not others or (others == [TITLE] and TITLE not in together)


def _was_planned_before(record: Document, plan: Plan) -> bool:
    """True if a record is about the question of a plan, but about an earlier release in other words."""
    same = record["mechanism"]["sha256"] == digest_of_question(plan)
    return same and record["plan"] is not None and record["plan"].get("plan_sha256") != plan.digest


def _check_parts(found: Document) -> RecordCheck:
    """Checks that the records of the questions are those that the whole record lists."""
    records = found["releases"]
    last = max(records, key=lambda one: one["ledger"]["entry"], default=None)
    same = (
        last is not None
        and [one["mechanism"]["sha256"] for one in records] == found[TOGETHER]["questions"]
        and (last["ledger"], last["released"]) == (found["ledger"], found["released"])
    )
    return check_of(
        "parts", same, "it has a record for each of its questions", "a question has no record, or another one"
    )


def _unchecked_words(ledger: Any, mechanism: Any, plan: Any) -> Iterator[str]:
    """The facts that cannot be checked without the ledger, whose entry covers everything in a record."""
    if ledger is not None:
        return
    yield "the answer itself, which only the ledger can confirm"
    yield "the date, the data and the payment, which only the ledger can confirm"
    if plan is not None:
        yield UNPLANNED
    elif mechanism is not None:
        yield "the version of hetdp and the objective, which only the ledger can confirm"
    else:
        yield "everything else, which the ledger, the mechanism or the plan can confirm"


def _check_plan(record: Document, approved: AnyPlan) -> Iterator[RecordCheck]:
    if isinstance(approved, PlanBundle):
        digest = record["plan"]["plan_sha256"] if record["plan"] is not None else None
        own = [plan for plan in approved.plans if plan.digest == digest]
        if not own:
            yield RecordCheck("plan", False, "another plan was carried out")
            return
        approved = own[0]
    try:
        facts = planned_facts(approved)
    except (KeyError, TypeError, ValueError, AttributeError):  # hetdp does not write such plans
        facts = {"mechanism": None}
    same = record["mechanism"] == facts["mechanism"] and canonical_text(record["plan"]) == canonical_text(
        approved.facts
    )
    yield check_of("plan", same, "this is exactly the plan that was carried out", "another plan was carried out")
    if same:
        yield check_content(record, facts, approved.request.answers)
        others = _contradictions(record, approved)
        holds = "its proofs, promises and accounts agree with the plan"
        yield check_of("promises", not others, holds, f"it does not agree with the plan: see {', '.join(others)}")
