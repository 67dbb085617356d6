"""Graphs of NetworkX: `from_networkx` reads them without importing it, and `to_networkx` makes them.

A graph made by `to_networkx` says in its attributes `notion`, `grid` and `about` what its edges cannot say, so that
`from_networkx` returns the same problem.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, overload

import numpy as np

from hetdp.errors import Fault, FaultCollector, UsageError
from hetdp.files.frames import require_in_process
from hetdp.interrupts import delay_interrupts
from hetdp.mechanism.mechanism import LocalMechanism, Mechanism
from hetdp.problem.classes import classes_of
from hetdp.problem.columns import Integers
from hetdp.problem.decimals import NAME as GRID
from hetdp.problem.edges import Edges, duplicates_hint, require_duplicates
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.labels import labels_of
from hetdp.problem.parameters import KINDS, LETTERS, Parameters, parameters_of, require_notion_columns
from hetdp.problem.problem import Problem, require_edges
from hetdp.problem.product import ProductSpace, require_few_edges
from hetdp.problem.space import Floats
from hetdp.text import format_type, format_value
from hetdp.theory.catalogue import notion_of_key
from hetdp.theory.notion import BACK, Notion, directions

NONE = Parameters((), ())  # before they are read
EPSILON = "epsilon"
QUERY, WEIGHT = "query", "weight"  # attributes of nodes
NOTION, ABOUT, ON_GRID = "notion", "about", "grid"  # attributes of the graph


@overload
def from_networkx(
    graph: Any,
    epsilon: str = EPSILON,
    duplicates: Literal["error", "min"] = "error",
    delta: str | None = None,
    mu: str | None = None,
    classes: str = "class",
    query: None = None,
) -> DatasetGraph: ...
@overload
def from_networkx(
    graph: Any,
    epsilon: str = EPSILON,
    duplicates: Literal["error", "min"] = "error",
    delta: str | None = None,
    mu: str | None = None,
    classes: str = "class",
    *,
    query: str,
) -> Problem: ...
def from_networkx(
    graph: Any,
    epsilon: str = EPSILON,
    duplicates: Literal["error", "min"] = "error",
    delta: str | None = None,
    mu: str | None = None,
    classes: str = "class",
    query: str | None = None,
) -> DatasetGraph | Problem:
    """A graph from a NetworkX graph: its nodes are the datasets, in their order, and its edges the neighbours.

    With `query`, it is a whole problem: ``from_networkx(to_networkx(problem), query="query")`` is the same problem.

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
        query: the name of the node attribute that holds the true answers; a Problem is then returned. Its weights are
            the node attribute "weight", if nodes have it. A graph attribute "notion", as `to_networkx` writes it, names
            the notion, and with it whether edges have ε, δ or μ; "about" has the words for people.

    Raises:
        UsageError: if this is not a NetworkX graph, or μ is asked for with δ or on a directed graph.
        InputError: listing every edge whose ε, δ or μ is missing or wrong, and every node without an answer.

    >>> import networkx
    >>> wheel = networkx.wheel_graph(5)
    >>> networkx.set_edge_attributes(wheel, 0.5, "epsilon")
    >>> from_networkx(wheel)
    DatasetGraph(5 datasets, 8 edges)
    """
    _require_networkx(graph)
    notion = _stated_notion(graph)
    if notion is not None and "mu" in notion.parameters:
        mu = "mu" if mu is None else mu
    if notion is not None and "delta" in notion.parameters:
        delta = "delta" if delta is None else delta
    attributes = _attributes(epsilon, delta, mu)
    _require_attributes(graph, attributes | {"classes": classes} | ({} if query is None else {"query": query}))
    require_duplicates(duplicates)
    findings = FaultCollector("NetworkX graph")
    answers = [] if query is None else _node_values(graph, query, findings)
    labels = labels_of(list(graph.nodes), findings)
    edges = _edges(graph, attributes, classes, findings)
    ends = labels.indices(edges.source), labels.indices(edges.target)
    if graph.is_directed():
        if duplicates == "error":
            _require_one_each_way(ends, edges, findings)
        edges, duplicates = _one_way(edges), "min"
    found = DatasetGraph.from_ends(labels, ends, edges, duplicates, findings, graph.graph.get(ON_GRID) == GRID)
    if query is None:
        return found
    has_weights = any(WEIGHT in node for _, node in graph.nodes(data=True))
    weights = _node_values(graph, WEIGHT, findings) if has_weights else None
    findings.raise_if_any()
    return Problem(found, answers, notion, weights=weights, about=graph.graph.get(ABOUT))


def to_networkx(problem: Problem | Mechanism) -> Any:
    """A problem, or a mechanism on its problem, as a NetworkX graph.

    Nodes have `query` (the true answer, 1 or 2) and, if the problem has weights, `weight`; those of a mechanism also
    have `p`, `z`, `error` and `pinned`. Edges have their parameters as written (`epsilon`; `delta` or `mu`) and
    `class`. The graph is a DiGraph if parameters may differ by direction, and a multigraph if several edges join two
    datasets. NetworkX is imported only here.

    Args:
        problem: a Problem, or a Mechanism that knows its problem.

    Raises:
        UsageError: NetworkX is not installed, or the edges are too many or not in this process.

    >>> import hetdp
    >>> problem = hetdp.Problem(hetdp.spaces.path(3, [0.5, 1.0]), [1, 1, 2])
    >>> G = hetdp.to_networkx(problem)
    >>> G.nodes[2], G.edges[0, 1]
    ({'query': 2}, {'epsilon': 0.5})
    >>> hetdp.from_networkx(G, query="query").identity == problem.identity
    True
    """
    require_in_process(problem, "a NetworkX graph")
    mechanism = problem if isinstance(problem, LocalMechanism) else None
    if mechanism is not None:
        problem = require_edges(mechanism.problem, "edges of the graph are those of the problem")
    if not isinstance(problem, Problem):
        rule = "to_networkx makes a graph of a Problem or a Mechanism"
        raise UsageError(f"expected a Problem, got {format_type(problem)}", rule)
    space, notion = problem.graph, problem.notion
    if isinstance(space, ProductSpace):
        require_few_edges(space)
    source, target, *written = space.edges()
    pairs = source.astype(np.int64) * space.size + target
    kinds = {(False, False): "Graph", (True, False): "DiGraph", (False, True): "MultiGraph"}
    kind = kinds.get((notion.is_directed, len(np.unique(pairs)) < len(pairs)), "MultiDiGraph")
    graph = getattr(_networkx(), kind)()
    graph.graph |= {NOTION: notion.key}
    graph.graph |= {ABOUT: dict(problem.about)} if problem.about else {}
    graph.graph |= {ON_GRID: GRID} if isinstance(space, ProductSpace) or space.on_grid else {}
    nodes: dict[str, Any] = {QUERY: problem.answers}
    nodes |= {} if problem.weights is None else {WEIGHT: problem.weights}
    if mechanism is not None:
        nodes |= {"p": mechanism.probabilities, "z": mechanism.coordinates}
        nodes |= {"error": mechanism.errors, "pinned": mechanism.pinned}
    rows = zip(*(column.tolist() for column in nodes.values()), strict=True)
    graph.add_nodes_from(zip(space.labels.names, (dict(zip(nodes, row, strict=True)) for row in rows), strict=True))
    columns = dict(zip(notion.parameters, written, strict=True))
    if space.edge_classes() is not None:
        columns["class"] = np.array(space.edge_classes(), dtype=object)
    for way in directions(notion.parameters):
        names = [*way, *({"class"} & columns.keys())]
        ends = (target, source) if way[0].endswith(BACK) else (source, target)
        for one, other, *row in zip(*(column.tolist() for column in (*ends, *map(columns.get, names))), strict=True):
            stated = {name.removesuffix(BACK): value for name, value in zip(names, row, strict=True)}
            graph.add_edge(space.label(one), space.label(other), **stated)
    return graph


def _networkx() -> Any:
    """The library."""
    try:
        with delay_interrupts():
            import networkx
    except ImportError:
        raise UsageError("NetworkX is not installed", "to_networkx needs it", "pip install networkx") from None
    return networkx


def _stated_notion(graph: Any) -> Notion | None:
    """The notion that a graph made by `to_networkx` names; None if it names none."""
    key = graph.graph.get(NOTION)
    return notion_of_key(key) if isinstance(key, str) else None


def _node_values(graph: Any, name: str, findings: FaultCollector) -> list[Any]:
    """An attribute of all nodes; each node without it is a fault."""
    nodes = list(graph.nodes(data=True))
    for label, attributes in nodes:
        if name not in attributes:
            rule = "every node has it, or none" if name == WEIGHT else "query= names a node attribute with the answers"
            findings.add(Fault("no attribute", f"node {format_value(label)}", format_value(name), rule))
    return [attributes.get(name) for _, attributes in nodes]


def _attributes(epsilon: str, delta: str | None, mu: str | None) -> dict[str, str]:
    """The attributes to read, by parameter."""
    if mu is None:
        return {"epsilon": epsilon} | ({} if delta is None else {"delta": delta})
    require_notion_columns(
        {"mu"} | ({"delta"} if delta is not None else set()) | ({"epsilon"} if epsilon != EPSILON else set())
    )
    return {"mu": mu}


def _require_networkx(graph: Any) -> None:
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed", "is_multigraph", "graph")):
        raise UsageError(
            f"expected a NetworkX graph, got {format_type(graph)}", "from_networkx reads graphs of NetworkX"
        )


def _require_attributes(graph: Any, attributes: dict[str, str]) -> None:
    for name, attribute in attributes.items():
        if not isinstance(attribute, str) and name in ("classes", "query"):
            what = "edge attribute with classes" if name == "classes" else "node attribute with the true answers"
            raise UsageError(f"{name}={format_value(attribute)} is not an attribute", f"{name} names the {what}")
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
