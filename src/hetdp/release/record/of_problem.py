"""What a record says of a mechanism and its problem: all of it is known before the answer is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetdp.certificate.losses import certain_answer
from hetdp.errors import UsageError, counted, printable
from hetdp.files.documents import certificate_document
from hetdp.mechanism.digits import promised
from hetdp.mechanism.odds import Odds, odds
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.product import ProductSpace
from hetdp.release.charges import Costs, account_name
from hetdp.release.proof import Proved
from hetdp.release.record import words
from hetdp.release.record.amounts import parameter_texts
from hetdp.theory.coordinate import Coordinate

MECHANISM = "mechanism"
MOST_EDGES = 1 << 22  # beyond which odds are left out: they would take longer than the proof


def facts_of(proof: Proved, costs: Costs) -> dict[str, Any]:
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
        "question": printable(about.get("title", words.NO_TITLE)),
        "privacy": {
            "notion": notion.name,
            "flavour": words.FLAVOURS[notion.name],
            "unit": printable(about.get("privacy_unit", words.UNIT)),
            "neighbours": printable(about.get("neighbour_relation", words.NEIGHBOURS)),
            "promises": [_promise(costs, at, told, same) for at in range(len(costs.names))],
        },
        "model": words.MODEL,
        "domain": {
            "words": f"{counted(graph.size, 'possible dataset')}, {_edges_in_words(graph)}",
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
        return f"{counted(graph.edge_count, 'edge')} between neighbours"
    return f"{counted(graph.edge_count, 'pair')} of neighbours"


def answer_words(about: Any) -> tuple[str, str]:
    """How the two answers are called."""
    return printable(about.get("answer_1", "1")), printable(about.get("answer_2", "2"))


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
        "whom": printable(name),
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
    return [printable(f"{told[:1].upper()}{told[1:]}.")] if told else []


def _worst(proof: Proved, coordinate: Coordinate) -> str:
    """The least probability of the right answer over all datasets: it is public, and free."""
    z, answers = proof.mechanism.coordinates, proof.problem.answers
    worst = coordinate.error(np.min(np.where(answers == 1, z, -z), initial=np.inf), 1)
    return promised(float(worst))
