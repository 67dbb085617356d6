"""Costs as decimals that people read, and as the charge that the ledger takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from hetdp.certificate.certificate import Certificate
from hetdp.certificate.losses import certain_answer
from hetdp.errors import UsageError
from hetdp.files.formats.text import plain
from hetdp.files.saving import certificate_document
from hetdp.mechanism.digits import promised
from hetdp.mechanism.odds import Odds, odds
from hetdp.people.populations.mechanism import Theorem, coin_caution
from hetdp.people.privacy.epsilons import decimal
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.identity import PREFIX
from hetdp.problem.product import ProductSpace
from hetdp.releases.charges import CLASS, EPSILON, EPSILON_DELTA, EVERYBODY, Costs, account_name
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.proof import Proved
from hetdp.releases.record import words
from hetdp.releases.record.words import RULES
from hetdp.tables.plan import Plan
from hetdp.tables.preparation import Prepared, prepare
from hetdp.tables.promise import Promise, Protection
from hetdp.tables.request import KEYS as WISH_KEYS
from hetdp.tables.request import NO, YES, from_document
from hetdp.text import escape_unprintable, format_value, pluralize
from hetdp.theory.coordinate import Coordinate

PARAMETERS = ("epsilon", "delta", "mu")


def parameter_texts(costs: Costs, at: int) -> dict[str, str | None]:
    """What one account is allowed, None for parameters that the notion has not, and what of it is used: ε, or μ."""
    allowed = {name: decimal(costs.allowed[name][at]) if name in costs.allowed else None for name in PARAMETERS}
    return allowed | {"used": decimal(costs.used[costs.main][at])}


def charged(costs: Costs) -> list[dict[str, Any]]:
    """What each account is charged; people are not listed."""
    if costs.kind != CLASS:
        return []
    return [{"account": escape_unprintable(name)} | parameter_texts(costs, at) for at, name in enumerate(costs.names)]


def composition_of(costs: Costs, source: str, version: str) -> dict[str, Any]:
    """What a record says of who paid.

    Args:
        costs: what each account is promised.
        source: the data.
        version: which state of it.
    """
    return {
        "source": source,
        "version": version,
        "currency": costs.currency,
        "rule": RULES[costs.currency],
        "kind": costs.kind,
        "accounts": len(costs.names),
        "charged": charged(costs),
    }


def charge_of(costs: Costs, currency: str | None = None) -> Charge:
    """What the ledger takes.

    Args:
        costs: what each account is allowed, and what of it is used, which is charged.
        currency: how the data's privacy is counted. Where that is by ε and δ, a promise without δ has δ = 0; any other
            that differs is for the ledger to refuse.
    """
    first = costs.main
    is_widened = (costs.currency, currency) == (EPSILON, EPSILON_DELTA)
    counted_by = EPSILON_DELTA if is_widened else costs.currency
    zeros = {"delta": np.zeros(len(costs.names))} if is_widened else {}
    if costs.kind == CLASS:
        columns = {name: values.tolist() for name, values in (costs.used | zeros).items()}
        by_name = {name: dict(zip(costs.names, values, strict=True)) for name, values in columns.items()}
        return Charge.to_classes(counted_by, by_name[first], by_name.get("delta"))
    amounts = costs.used | zeros
    return Charge.to_people(counted_by, costs.names, amounts[first], amounts.get("delta"), costs.groups, costs.named)


def charge_told(composition: dict[str, Any], currency: str) -> Charge | None:
    """The charge that a record tells of, for data that is counted so; None for people, whom it does not list."""
    if composition["kind"] != CLASS:
        return None
    rows = composition["charged"]
    amounts, deltas = ({row["account"]: row[name] or "0" for row in rows} for name in ("used", "delta"))
    return Charge.to_classes(currency, amounts, deltas if currency == EPSILON_DELTA else None)


# What a record says of a mechanism and its problem: all of it is known before the answer is drawn.


MECHANISM = "mechanism"
MOST_EDGES = 1 << 22  # beyond which odds are left out: they would take longer than the proof


def facts_of_problem(proof: Proved, costs: Costs) -> dict[str, Any]:
    """The part of a record that a mechanism fills.

    Args:
        proof: the mechanism, as it was proved.
        costs: what it costs whom.
    """
    problem, graph = proof.problem, proof.problem.graph
    about, notion, certain = problem.about, problem.notion, certain_answer(proof.mechanism.coordinates)
    same = f"Whatever the data is, the published answer is {answer_words(about)[certain - 1]}." if certain else ""
    told = _odds(proof)
    unprotected = [
        words.unprotected_words(found.unprotected, found.edges, f"changes of {name!r}")
        for name, found in told.items()
        if found.unprotected
    ]
    return {
        "question": escape_unprintable(about.get("title", words.NO_TITLE)),
        "privacy": {
            "notion": notion.name,
            "flavour": words.FLAVOURS[notion.name],
            "unit": escape_unprintable(about.get("privacy_unit", words.UNIT)),
            "neighbours": escape_unprintable(about.get("neighbour_relation", words.NEIGHBOURS)),
            "promises": [_promise(costs, at, told, same) for at in range(len(costs.names))],
        },
        "model": words.MODEL,
        "domain": {
            "words": f"{pluralize(graph.size, 'possible dataset')}, {_edges_in_words(graph)}",
            "datasets": graph.size,
            "edges": graph.edge_count,
            "people": None,
            "areas": None,
        },
        "not_protected": [words.PUBLIC_PROBLEM, words.PUBLIC_RELEASE, *unprotected],
        "constant": [{"area": None, "answer": answer_words(about)[certain - 1]}] if certain else [],
        "accuracy": [{"area": None, "where": words.AT_WORST, "probability": _worst(proof, notion.coordinate)}],
        "cautions": _cautions(proof),
        "security": words.security(certain > 0),
        "mechanism": {
            "kind": MECHANISM,
            "sha256": proof.digest,
            "objective": proof.mechanism.objective,
            "coordinate": notion.coordinate.name,
            "problem": problem.identity,
        },
        "certificates": [certificate_document(proof.certificate)],
        "plan": None,
    }


def _edges_in_words(graph: DatasetGraph | ProductSpace) -> str:
    """How many pairs of neighbours there are; or edges, where a pair may have several."""
    if isinstance(graph, DatasetGraph) and graph.is_parallel:
        return f"{pluralize(graph.edge_count, 'edge')} between neighbours"
    return f"{pluralize(graph.edge_count, 'pair')} of neighbours"


def answer_words(about: Any) -> tuple[str, str]:
    """How the two answers are called."""
    return escape_unprintable(about.get("answer_1", "1")), escape_unprintable(about.get("answer_2", "2"))


def _odds(proof: Proved) -> dict[str, Odds]:
    """The odds of each account; none where there are too many edges to go through once more."""
    if proof.problem.graph.edge_count > MOST_EDGES:
        return {}
    try:
        found = odds(proof.problem, proof.mechanism)
    except UsageError:  # nothing has a finite ε
        return {}
    by_class = found if isinstance(found, dict) else {None: found}
    return {account_name(name): told for name, told in by_class.items()}


def _promise(costs: Costs, at: int, told: dict[str, Odds], same: str) -> dict[str, Any]:
    name = costs.names[at]
    found = told.get(name)
    return {
        "area": None,
        "whom": escape_unprintable(name),
        "people": None,
        "changes": None if found is None else found.edges,
        "unprotected": 0 if found is None else found.unprotected,
        "least_epsilon": None,
        **parameter_texts(costs, at),
        "odds": same or (None if found is None else str(found)),
    }


def _cautions(proof: Proved) -> list[str]:
    """Where a coin would do as well, or better, at any of the possible datasets; which one is true plays no part."""
    told = str(proof.mechanism.against_coin)
    return [escape_unprintable(f"{told[:1].upper()}{told[1:]}.")] if told else []


def _worst(proof: Proved, coordinate: Coordinate) -> str:
    """The least probability of the right answer over all datasets: it is public, and free."""
    z, answers = proof.mechanism.coordinates, proof.problem.answers
    worst = coordinate.error(np.min(np.where(answers == 1, z, -z), initial=np.inf), 1)
    return promised(float(worst))


# What a record says of a table's people and their plan: all of it is known before an answer is read.


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
        within = "" if before["table"] is None else f", table {format_value(before['table'])}"
        when = f"on {entry.time[:10]}, of version {format_value(entry.version)} of the data"
        hint = "a new --version, if the data is new; a copy of the same data is asked without --plan"
        raise UsageError(
            f"this was asked before, {when}, which was {format_value(before['file'])}{within}",
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
    return facts_of_table(prepare(prepared.source, from_document(words), identified=kept["people_sha256"] is not None))


def facts_of_table(prepared: Any) -> Document:
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
    told = [_table_promise(given, one) for given in promises for one in given.protections]
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
        "question": escape_unprintable(f"Is it true that {wish.question}? (Yes is: {wish.counted}.)"),
        "privacy": {
            "notion": NOTION,
            "flavour": words.FLAVOURS[NOTION],
            "unit": facts["unit"],
            "neighbours": facts["neighbours"],
        },
        "model": words.MODEL,
        "domain": {
            "words": escape_unprintable(f"{pluralize(counts['people'], 'row')}, one for each person. {counted_as}"),
            "datasets": None,
            "edges": None,
            "people": counts["people"],
            "areas": counts["areas"],
        },
        "constant": [
            {"area": one["area"], "answer": one["constant"]} for one in facts["areas"] if one["constant"] is not None
        ],
        "accuracy": [accuracy for one in facts["areas"] for accuracy in _accuracy(one)],
        "cautions": list(_table_cautions(facts["areas"])),
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


def _table_cautions(areas: list[Document]) -> Iterator[str]:
    """Where a coin would do as well, or better, in each area."""
    for one in areas:
        told = coin_caution(one["worse_than_coin_up_to"], one["as_a_coin_up_to"])
        if told:
            where = "" if one["area"] is None else f"In {one['area']!r}: "
            yield escape_unprintable(f"{where}{told[:1].upper()}{told[1:]}.")


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


def _table_promise(given: Promise, one: Protection) -> dict[str, Any]:
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
