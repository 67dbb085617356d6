"""Searches for the tests of `grow`: graphs of every shape, ε of every size, and all kinds of start labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import strategies as st

import hetdp
from hetdp.engines.contract import Growth, Role
from hetdp.engines.registry import engine_for
from hetdp.theory.notion import Notion
from hetdp.theory.pure import PURE

Pairs = tuple[np.ndarray, np.ndarray]
GRAPH_ENGINES = ["cpu", "reference"]  # the product engine does not search stored edges
ENGINE = pytest.mark.parametrize("engine", ["cpu", pytest.param("reference", marks=pytest.mark.jit_only)])


@dataclass(frozen=True)
class Search:
    """The arguments of `grow`."""

    graph: hetdp.DatasetGraph
    labels: np.ndarray
    roles: np.ndarray | None = None
    active: np.ndarray | None = None
    notion: Notion = PURE


def path(rng: np.random.Generator, size: int) -> Pairs:
    order = rng.permutation(size)
    return order[:-1], order[1:]


def star(rng: np.random.Generator, size: int) -> Pairs:
    return np.zeros(size - 1, np.int64), np.arange(1, size)


def cycle(rng: np.random.Generator, size: int) -> Pairs:
    return np.arange(size), (np.arange(size) + 1) % size


def grid(rng: np.random.Generator, size: int) -> Pairs:
    side = max(2, int(size**0.5))
    cells = np.arange(side * side).reshape(side, side)
    across, down = (cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])
    return tuple(np.concatenate([across[i].ravel(), down[i].ravel()]) for i in (0, 1))  # type: ignore[return-value]


def sparse(rng: np.random.Generator, size: int) -> Pairs:
    return rng.integers(0, size, 3 * size), rng.integers(0, size, 3 * size)


def dense(rng: np.random.Generator, size: int) -> Pairs:
    size = min(size, 60)
    return np.repeat(np.arange(size), size), np.tile(np.arange(size), size)


def tree(rng: np.random.Generator, size: int) -> Pairs:
    """A tree with heavy-tailed degrees."""
    child = np.arange(1, size)
    return (child * rng.random(size - 1) ** 3).astype(np.int64), child


def moderate(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.uniform(0.05, 2.0, count)


def every_size(rng: np.random.Generator, count: int) -> np.ndarray:
    return 10.0 ** rng.uniform(-12, 3, count)


def odd(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.choice([0.0, 0.0, math.inf, 1e-300, 1e-12, 0.1, 0.5, math.log(2), 30.0, 1e3, 1e308], count)


def few_values(rng: np.random.Generator, count: int) -> np.ndarray:
    """Few different values of ε, so that many labels are equal."""
    return rng.choice([0.0, 0.25, 0.5], count)


def heavy_tails(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.pareto(0.3, count).clip(0, 1e100)


def nearly_equal(rng: np.random.Generator, count: int) -> np.ndarray:
    return 1.0 + rng.integers(0, 4, count) * 2.0**-52


SHAPES: list[Callable[[np.random.Generator, int], Pairs]] = [path, star, cycle, grid, sparse, dense, tree]
SIZES: list[Callable[[np.random.Generator, int], np.ndarray]] = [
    moderate,
    every_size,
    odd,
    few_values,
    heavy_tails,
    nearly_equal,
]


def graph_from(source: np.ndarray, target: np.ndarray, epsilon: np.ndarray, size: int) -> hetdp.DatasetGraph:
    return hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=range(size), duplicates="min")


def random_graph(rng: np.random.Generator, shape, sizes, size: int, notion: Notion = PURE) -> hetdp.DatasetGraph:
    source, target = shape(rng, size)
    datasets = max(size, int(max(source.max(initial=0), target.max(initial=0))) + 1) + 2  # two of them isolated
    columns = {name: (deltas if name.startswith("delta") else sizes)(rng, len(source)) for name in notion.parameters}
    return hetdp.DatasetGraph.from_edges(source, target, datasets=range(datasets), duplicates="min", **columns)


def deltas(rng: np.random.Generator, count: int) -> np.ndarray:
    """δ of 0, tiny, small, large and 1."""
    drawn = np.where(rng.random(count) < 0.5, 10.0 ** rng.uniform(-18, -1, count), rng.random(count))
    return np.where(rng.random(count) < 0.3, rng.choice([0.0, 0.0, 1e-300, 1e-12, 0.25, 0.5, 1.0], count), drawn)


def random_labels(rng: np.random.Generator, size: int) -> np.ndarray:
    """Few starts or many, on both sides of ½, certain ones among them."""
    labels = rng.normal(0, rng.choice([0.01, 1.0, 30.0]), size)
    labels = np.where(rng.random(size) < 0.1, rng.choice([0.0, -0.0, -math.inf, 5e-324, -0.5, 700.0], size), labels)
    return np.where(rng.random(size) < rng.choice([0.02, 0.3, 1.0]), labels, math.inf)


def two_answers(rng: np.random.Generator, graph: hetdp.DatasetGraph, labels: np.ndarray) -> Search:
    """Roles as `extend` gives them: the boundary is pinned, free datasets of different answers never meet."""
    answers = np.where(np.arange(graph.size) < rng.integers(0, graph.size + 1), 1, 2)
    pinned = hetdp.Problem(graph, answers).boundary_mask | (rng.random(graph.size) < 0.2)
    roles = np.where(pinned, Role.PINNED, np.where(answers == 1, Role.FREE_1, Role.FREE_2)).astype(np.uint8)
    return Search(graph, np.where(pinned, np.where(np.isinf(labels), 0.0, labels), math.inf), roles)


def random_search(seed: int, shape, sizes, size: int = 120, notion: Notion = PURE) -> Search:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, shape, sizes, size, notion)
    labels = random_labels(rng, graph.size)
    return replace(Search(graph, labels) if seed % 2 else two_answers(rng, graph, labels), notion=notion)


EPSILON = st.one_of(
    st.sampled_from([0.0, math.inf, 1e-300, 1e-12, 0.25, 0.5, 1e3]), st.floats(0.0, 5.0), st.floats(1e-12, 1e3)
)
LABEL = st.one_of(
    st.sampled_from([0.0, -0.0, math.inf, -math.inf, -0.25, -0.5, 5e-324]), st.floats(-3.0, 3.0), st.floats(-1e3, 1e3)
)


@st.composite
def searches(draw: st.DrawFn, max_size: int = 9) -> Search:
    """Small graphs with any mixture of ε and start labels; roles or none; Hypothesis shrinks what fails."""
    size = draw(st.integers(1, max_size))
    vertex = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex, EPSILON), max_size=3 * size))
    source, target = (np.array([edge[i] for edge in edges], dtype=np.int64) for i in (0, 1))
    graph = graph_from(source, target, np.array([edge[2] for edge in edges], dtype=np.float64), size)
    labels = np.array(draw(st.lists(LABEL, min_size=size, max_size=size)))
    if not draw(st.booleans()):
        return Search(graph, labels)
    answers = np.array(draw(st.lists(st.sampled_from([1, 2]), min_size=size, max_size=size)))
    extra = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    pinned = hetdp.Problem(graph, answers).boundary_mask | extra
    roles = np.where(pinned, Role.PINNED, np.where(answers == 1, Role.FREE_1, Role.FREE_2)).astype(np.uint8)
    return Search(graph, np.where(pinned, labels, math.inf), roles)


def run_grow(engine: str, search: Search) -> Growth:
    chosen = engine_for(engine, search.graph, search.notion, "grow")
    assert chosen.name == engine
    return chosen.grow(search.graph, search.notion, search.labels, search.roles, search.active)


def bits(labels: np.ndarray) -> list[int]:
    assert labels.dtype == np.float64
    return labels.view(np.int64).tolist()


def takes_part(search: Search, source: int, target: int) -> bool:
    return search.roles is None or bool(search.roles[source] != Role.PINNED or search.roles[target] != Role.PINNED)


def fixed_point(search: Search) -> np.ndarray:
    """Relaxes all edges until nothing changes: slower than any engine, and obvious."""
    labels = (search.labels + 0.0).tolist()
    arcs = [
        (u, v, edge)
        for block in search.graph.edge_blocks()
        for u, v, *edge in zip(*(x.tolist() for x in (*block[:2], *block.parameters)), strict=True)
        if takes_part(search, u, v)
    ]
    changed = True
    while changed:
        changed = False
        for source, target, edge in arcs:
            if (bound := search.notion.step(labels[source], *edge)) < labels[target]:
                labels[target], changed = bound, True
    return np.array(labels)


def edge_between(graph: hetdp.DatasetGraph, source: int, target: int) -> list[float]:
    """The parameters of the arc from one dataset to another."""
    targets, parameters = graph.neighbours(source)
    (at,) = np.flatnonzero(targets == target)
    return [float(column[at]) for column in parameters]


def assert_links_prove(search: Search, growth: Growth) -> None:
    """Each label is its own start, or exactly the step from its link's label; and no chain runs in circles."""
    labels, links = growth.labels, growth.links
    own = links == -1
    assert bits(labels[own]) == bits(search.labels[own] + 0.0)
    for dataset in np.flatnonzero(~own).tolist():
        link = int(links[dataset])
        assert takes_part(search, link, dataset)
        bound = search.notion.step(float(labels[link]), *edge_between(search.graph, link, dataset))
        assert labels[dataset] == bound < search.labels[dataset]
    ends = np.where(own, np.arange(len(links)), links)
    for _ in range(len(links).bit_length()):
        ends = ends[ends]
    assert own[ends].all()
