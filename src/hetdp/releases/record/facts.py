"""The facts of a record about a mechanism and who pays for it, and the sentences that every record of a kind shares.

All of them are known before the answer is drawn.
"""

from __future__ import annotations

from typing import Any

from hetdp.errors import UsageError
from hetdp.files.saving import certificate_document
from hetdp.mechanism.formatting import format_promise
from hetdp.mechanism.odds import EdgeOdds, edge_odds
from hetdp.people.privacy.epsilons import format_epsilon
from hetdp.problem.answer_words import BARE_NUMBERS, answer_words, constant_odds
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.product import ProductSpace
from hetdp.releases.charges import CLASS, Costs, account_name
from hetdp.releases.ledger.amounts import currency_of
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.neighbours import UNSTATED
from hetdp.releases.proof import ProvedMechanism
from hetdp.text import escape_unprintable, pluralize

PARAMETERS = ("epsilon", "delta", "mu")
MECHANISM = "mechanism"  # the kind of mechanism, in the record
MOST_EDGES = 1 << 22  # a larger problem has no odds in its record: they would take longer than the proof
MODEL = "Whoever holds the data computes the answer and is trusted with the data (the central model)."
UNIT, NEIGHBOURS = UNSTATED
NO_TITLE = "a yes/no question about the data"
PROVED_PRIVATE = "Exactly the values that the answer was drawn with were proved private, in exact arithmetic."
DRAWN_EXACTLY = (
    "The answer was drawn with exactly its probability: random bits of the operating system were compared with an"
    " enclosure of the probability, which was never rounded to a float."
)
NOT_DRAWN = "No random bit was drawn: the answer follows from public facts."
DURABLE_CHARGE = (
    "The charge was durable in the ledger before the answer was shown. Asking again returns the same answer and costs"
    " nothing.",
    "Except for the answer itself, nothing that is read, written or printed depends on the data.",
)
DURABLE_ANSWER = (
    "The answer was durable in the ledger before it was shown. Asking again returns the same answer. Nothing was"
    " spent.",
    "Nothing that is read, written or printed depends on the data, not even the answer.",
)
PUBLIC_PROBLEM = (
    "The problem itself: which datasets are possible, which of them are neighbours, every ε, and the true answer at"
    " each possible dataset."
)
PUBLIC_TABLE = "Who is in the table, how many people there are, and everybody's ε, group and area."
PUBLIC_RELEASE = "That this answer was released, when, and what it cost."
AT_WORST = "in the worst case"
EVERY_TABLE = "for any data"
BY_CERTAINTY, BY_WORST, BY_SHARE, BY_MARGIN = "any data", "worst case", "share", "margin"  # what an accuracy is about


def parameter_texts(costs: Costs, at: int) -> dict[str, str | None]:
    """The parameters of one account as decimals, None for those that the notion lacks, and the ε or μ that is used."""
    allowed = {name: format_epsilon(costs.allowed[name][at]) if name in costs.allowed else None for name in PARAMETERS}
    return allowed | {"used": format_epsilon(costs.used[costs.main][at])}


def charged_accounts(costs: Costs) -> list[dict[str, Any]]:
    """The charge of each account; people are not listed."""
    if costs.kind != CLASS:
        return []
    return [{"account": escape_unprintable(name)} | parameter_texts(costs, at) for at, name in enumerate(costs.names)]


def composition_of(costs: Costs, source: str, version: str) -> dict[str, Any]:
    """The part of a record about who pays.

    Args:
        costs: what each account is promised.
        source: the name of the data.
        version: the version of the data.
    """
    return {
        "source": source,
        "version": version,
        "currency": costs.currency,
        "rule": currency_of(costs.currency).rule,
        "kind": costs.kind,
        "accounts": len(costs.names),
        "charged": charged_accounts(costs),
    }


def charge_of_composition(composition: dict[str, Any], currency: str) -> Charge | None:
    """The charge that a record describes, in the currency of its source; None for people, who are not listed."""
    if composition["kind"] != CLASS:
        return None
    rows = composition["charged"]
    amounts, deltas = ({row["account"]: row[name] or "0" for row in rows} for name in ("used", "delta"))
    return Charge.to_classes(currency, amounts, deltas if currency_of(currency).has_delta else None)


def facts_of_problem(proof: ProvedMechanism, costs: Costs) -> dict[str, Any]:
    """The part of a record that follows from a mechanism.

    Args:
        proof: the mechanism with its proof.
        costs: what it costs each account.
    """
    problem, graph = proof.problem, proof.problem.graph
    about, notion, certain = problem.about, problem.notion, proof.certain
    same = constant_odds(answer_words(about, BARE_NUMBERS)[certain - 1]) if certain else ""
    odds_of = _odds_by_account(proof)
    unprotected = [
        unprotected_words(found.unprotected, found.edges, f"changes of {name!r}")
        for name, found in odds_of.items()
        if found.unprotected
    ]
    return {
        "question": escape_unprintable(about.get("title", NO_TITLE)),
        "privacy": {
            "notion": notion.key,
            "flavour": notion.description,
            "unit": escape_unprintable(about.get("privacy_unit", UNIT)),
            "neighbours": escape_unprintable(about.get("neighbour_relation", NEIGHBOURS)),
            "promises": [_promise(costs, at, odds_of, same) for at in range(len(costs.names))],
        },
        "model": MODEL,
        "domain": {
            "words": f"{pluralize(graph.size, 'possible dataset')}, {_edges_in_words(graph)}",
            "datasets": graph.size,
            "edges": graph.edge_count,
            "people": None,
            "areas": None,
        },
        "not_protected": [PUBLIC_PROBLEM, PUBLIC_RELEASE, *unprotected],
        "constant": [{"area": None, "answer": answer_words(about, BARE_NUMBERS)[certain - 1]}] if certain else [],
        "accuracy": [
            {
                "area": None,
                "by": BY_CERTAINTY if certain else BY_WORST,
                "where": AT_WORST,
                "probability": format_promise(proof.mechanism.against_coin.error),
            }
        ],
        "cautions": _cautions(proof),
        "security": security_words(certain > 0),
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
    """The number of pairs of neighbours; of edges, if a pair may have several."""
    if isinstance(graph, DatasetGraph) and graph.is_parallel:
        return f"{pluralize(graph.edge_count, 'edge')} between neighbours"
    return f"{pluralize(graph.edge_count, 'pair')} of neighbours"


def _odds_by_account(proof: ProvedMechanism) -> dict[str, EdgeOdds]:
    """The odds of each account; none if there are too many edges."""
    if proof.problem.graph.edge_count > MOST_EDGES:
        return {}
    try:
        found = edge_odds(proof.problem, proof.mechanism)
    except UsageError:  # nothing has a finite ε
        return {}
    return {account_name(name): one for name, one in found.items()}


def _promise(costs: Costs, at: int, odds_of: dict[str, EdgeOdds], same: str) -> dict[str, Any]:
    name = costs.names[at]
    found = odds_of.get(name)
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


def _cautions(proof: ProvedMechanism) -> list[str]:
    """The warnings about datasets where a coin would be as accurate; the true dataset plays no part."""
    caution = str(proof.mechanism.against_coin)
    return [escape_unprintable(f"{caution[:1].upper()}{caution[1:]}.")] if caution else []


def security_words(is_constant: bool) -> list[str]:
    """Why a release can be trusted; a constant answer is not drawn."""
    return [NOT_DRAWN, *DURABLE_ANSWER] if is_constant else [PROVED_PRIVATE, DRAWN_EXACTLY, *DURABLE_CHARGE]


def unprotected_words(number: int, total: int, what: str) -> str:
    """The sentence about those to whom nothing is promised."""
    whom = _people_words(number, total)
    return f"{whom} {what}: no promise is made (ε = ∞), and the answer may reveal them with certainty."


def only_deciding_words(number: int, total: int) -> str:
    """The sentence about people who are protected only when their answer decides."""
    where = "a promise is made only where the answer depends on one of them"
    return (
        f"{_people_words(number, total)} people: {where}; elsewhere (ε = ∞) the answer may reveal them with certainty."
    )


def _people_words(number: int, total: int) -> str:
    return f"All {total:,}" if number == total else f"{number:,} of {total:,}"
