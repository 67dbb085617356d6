"""Graphs of NetworkX, read without importing it."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from hetdp.errors import Fault, UsageError
from hetdp.problem.classes import classes_of
from hetdp.problem.columns import Integers
from hetdp.problem.edges import Edges, duplicates_hint, require_duplicates
from hetdp.problem.faults import FaultCollector
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.labels import labels_of
from hetdp.problem.parameters import KINDS, LETTERS, Parameters, parameters_of, require_notion_columns
from hetdp.problem.space import Floats
from hetdp.text import format_value
from hetdp.theory.notion import BACK

NONE = Parameters((), ())  # before they are read
EPSILON = "epsilon"


def from_networkx(
    graph: Any,
    epsilon: str = EPSILON,
    duplicates: Literal["error", "min"] = "error",
    delta: str | None = None,
    mu: str | None = None,
    classes: str = "class",
) -> DatasetGraph:
    """A graph from a NetworkX graph: its nodes are the datasets, in their order, and its edges the neighbours.

    Args:
        graph: a Graph or a MultiGraph, whose edges hold in both directions; or a DiGraph or a MultiDiGraph (the notions
            directed and approximate), whose edge from u to v bounds Pr at u ≤ e^ε · Pr at v + δ and nothing else: a
            direction without an edge is not constrained. Nodes without edges are kept; self-loops are dropped.
        epsilon: the name of the edge attribute that holds ε. An edge without it is a fault: no ε is ever assumed.
        duplicates: what happens to parallel edges of one class with different ε: "error", or "min", the more private
            one. Parallel edges of different classes are all kept: the tightest binds, and every class pays.
        delta: the name of the edge attribute that holds δ, if there is one (the notion approximate).
        mu: the name of the edge attribute that holds μ, in place of ε (the notion gaussian).
        classes: the name of the edge attribute that holds the class: whose data an edge is about. An edge without it
            has no class. Keys of a MultiGraph are not looked at.

    Raises:
        UsageError: if this is not a NetworkX graph, or μ is asked for with δ or on a directed graph.
        InputError: listing every edge whose ε, δ or μ is missing or wrong.

    >>> import networkx
    >>> wheel = networkx.wheel_graph(5)
    >>> networkx.set_edge_attributes(wheel, 0.5, "epsilon")
    >>> from_networkx(wheel)
    DatasetGraph(5 datasets, 8 edges)
    """
    attributes = _attributes(epsilon, delta, mu)
    _require_networkx(graph, attributes | {"classes": classes})
    require_duplicates(duplicates)
    findings = FaultCollector("NetworkX graph")
    labels = labels_of(list(graph.nodes), findings)
    edges = _edges(graph, attributes, classes, findings)
    ends = labels.indices(edges.source), labels.indices(edges.target)
    if graph.is_directed():
        if duplicates == "error":
            _require_one_each_way(ends, edges, findings)
        edges, duplicates = _one_way(edges), "min"
    return DatasetGraph.from_ends(labels, ends, edges, duplicates, findings)


def _attributes(epsilon: str, delta: str | None, mu: str | None) -> dict[str, str]:
    """The attributes to read, by parameter."""
    if mu is None:
        return {"epsilon": epsilon} | ({} if delta is None else {"delta": delta})
    require_notion_columns(
        {"mu"} | ({"delta"} if delta is not None else set()) | ({"epsilon"} if epsilon != EPSILON else set())
    )
    return {"mu": mu}


def _require_networkx(graph: Any, attributes: dict[str, str]) -> None:
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed", "is_multigraph")):
        raise UsageError(f"{type(graph).__name__} is not a NetworkX graph", "from_networkx reads graphs of NetworkX")
    for name, attribute in attributes.items():
        if not isinstance(attribute, str) and name == "classes":
            raise UsageError(
                f"classes={format_value(attribute)} is not an attribute",
                "classes names the edge attribute with classes",
            )
        if not isinstance(attribute, str):
            rule = f"{name} names the edge attribute with {LETTERS[name]}"
            hint = f"networkx.set_edge_attributes(graph, value, {name!r}) gives every edge the same {LETTERS[name]}"
            raise UsageError(f"{name}={format_value(attribute)} is not an attribute", rule, hint)
    if graph.is_directed() and "mu" in attributes:
        rule = "μ holds in both directions"
        raise UsageError(f"{type(graph).__name__} is directed", rule, "a Graph or a MultiGraph can have μ")


def _edges(graph: Any, attributes: dict[str, str], classes: str, findings: FaultCollector) -> Edges:
    """The edges that have all required attributes; each of the others is a fault."""
    listed = list(graph.edges(data=True))
    every = Edges([edge[0] for edge in listed], [edge[1] for edge in listed], NONE)
    is_stated = np.ones(len(listed), dtype=np.bool_)
    for name, attribute in attributes.items():
        missing = np.fromiter((attribute not in edge[2] for edge in listed), np.bool_, len(listed))
        fault = partial(_no_attribute, name, attribute)
        findings.add_where(missing, lambda at, fault=fault: fault(every.place(at), list(listed[at][2])))  # type: ignore[misc]
        is_stated &= ~missing
    stated = np.flatnonzero(is_stated).tolist()
    source, target = ([ends[at] for at in stated] for ends in (every.source, every.target))
    edges = Edges(source, target, NONE, row=lambda at: f"edge {stated[at]}")
    unread: list[int] = []
    given = {name: [listed[at][2][attribute] for at in stated] for name, attribute in attributes.items()}
    parameters = parameters_of(given, edges.place, findings, unread)
    named = classes_of([listed[at][2].get(classes) for at in stated], findings)
    return edges._replace(parameters=parameters, classes=named, unread=unread)


def _one_way(edges: Edges) -> Edges:
    """The edges that have parameters from source to target only."""
    known = dict(zip(edges.parameters.names, edges.parameters.columns, strict=True))
    known["epsilon_back"] = np.full(len(known["epsilon"]), np.inf)
    if "delta" in known:
        known["delta_back"] = np.ones(len(known["epsilon"]))
    names = next(kind for kind in KINDS if {*kind} == known.keys())
    return edges._replace(parameters=Parameters(names, tuple(known[name] for name in names)))


def _require_one_each_way(ends: tuple[Integers, Integers], edges: Edges, findings: FaultCollector) -> None:
    """Checks that parallel edges of one class and direction agree; self-loops and missing numbers are ignored."""
    counts = ends[0] != ends[1]
    counts[edges.unread] = False
    order = np.flatnonzero(counts)
    keys = ends if edges.classes is None else (*ends, edges.classes.numbers)
    order = order[np.lexsort([key[order] for key in reversed(keys)])]
    same = np.logical_and.reduce([np.diff(key[order]) == 0 for key in keys])
    for name, values in zip(edges.parameters.names, edges.parameters.columns, strict=True):
        if not name.endswith(BACK):
            before, after = values[order[:-1]], values[order[1:]]
            differ = same & (before != after) & ~np.isnan(before) & ~np.isnan(after)
            findings.add_where(differ, partial(_contradiction, name, values, order, edges))


def _contradiction(name: str, values: Floats, order: Integers, edges: Edges, at: int) -> Fault:
    here, there, letter = int(order[at + 1]), int(order[at]), LETTERS[name]
    value = f"{float(values[here])!r} here, {float(values[there])!r} at {edges.row(there)}"
    rule = f"parallel edges of one class and direction have one {letter}"
    return Fault(f"contradictory parallel edge, {letter}", edges.place(here), value, rule, duplicates_hint(letter))


def _no_attribute(name: str, attribute: str, place: str, others: list[str]) -> Fault:
    hint = f"it has {', '.join(map(format_value, others))}; {name}= names the attribute to read" if others else ""
    return Fault(
        "no attribute",
        place,
        format_value(attribute),
        f"every edge must state its {LETTERS[name]}; there is no default",
        hint,
    )
