"""Problems and mechanisms as JSON documents, and the words that tables keep beside them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from hetdp.certificate.certificate import Certificate
from hetdp.files.columns import pin_columns
from hetdp.files.formats.numerals import plain
from hetdp.files.schema import VERSION
from hetdp.mechanism.mechanism import Mechanism
from hetdp.problem.grid import NAME as GRID
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.version import VERSION as SOFTWARE


def problem_words(problem: Problem) -> dict[str, Any]:
    """What a problem states beside its tables."""
    words: dict[str, Any] = {"schema_version": VERSION, "kind": "problem", "notion": problem.notion.name}
    if isinstance(problem.graph, ProductSpace) or problem.graph.on_grid:
        words["grid"] = GRID
    return words | ({"about": dict(problem.about)} if problem.about else {})


def problem_document(problem: Problem, partial: PartialMechanism) -> dict[str, Any]:
    """A problem as one JSON document."""
    graph, names = problem.graph, problem.labels.names
    columns = {"dataset": list(names), "query": problem.answers} | pin_columns(partial, problem.labels)
    if problem.weights is not None:
        columns["weight"] = problem.weights
    source, target, *parameters = graph.edges()
    ends = {"source": [names[at] for at in source.tolist()], "target": [names[at] for at in target.tolist()]}
    classes = graph.edge_classes()
    promises = dict(zip(graph.parameter_names, parameters, strict=True))
    edges = ends | promises | ({} if classes is None else {"class": classes})
    return problem_words(problem) | {"datasets": records(columns), "edges": records(edges)}


def mechanism_words(mechanism: Mechanism) -> dict[str, Any]:
    """What a mechanism states beside its table."""
    certificate, problem = mechanism.certificate, mechanism.problem
    counts = {"datasets": len(mechanism), "pinned": int(np.count_nonzero(mechanism.pinned))}
    return {
        "schema_version": VERSION,
        "kind": "mechanism",
        "notion": mechanism.problem.notion.name,
        "coordinate": mechanism.problem.notion.coordinate.name,
        "objective": mechanism.objective,
        **gap_words(mechanism),
        "moved": mechanism.moved,
        "worse_than_coin": mechanism.against_coin.document(),
        "counts": counts | ({"edges": problem.graph.edge_count} if isinstance(problem, Problem) else {}),
        "problem": mechanism.problem.identity,
        "certificate": None if certificate is None else certificate_document(certificate),
        "software": f"hetdp {SOFTWARE}",
    }


def gap_words(mechanism: Mechanism) -> dict[str, Any]:
    """How close a mechanism is to the best one for its objective, where that is not exact."""
    gap = mechanism.objective_gap
    return {} if gap is None else {"objective_gap": gap}


def mechanism_document(mechanism: Mechanism) -> dict[str, Any]:
    """A mechanism as one JSON document."""
    return mechanism_words(mechanism) | {"datasets": records(mechanism.columns())}


def certificate_document(certificate: Certificate) -> dict[str, Any]:
    """A certificate as a JSON object."""
    facts = asdict(certificate)
    if certificate.worst_edge is not None:
        facts["worst_edge"] = {name: plain(value) for name, value in certificate.worst_edge._asdict().items()}
    return {name: plain(value) for name, value in facts.items()}


def records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Columns as JSON objects, one to a row; what is missing in a row is left out of it."""
    lists = [column.tolist() if hasattr(column, "tolist") else column for column in columns.values()]
    rows = (zip(columns, row, strict=True) for row in zip(*lists, strict=True))
    return [{name: plain(value) for name, value in row if value is not None and value == value} for row in rows]
