"""Fair searches for the tests of `settle`, and checks of their results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

import hetdp
from hetdp.engines.contract import Growth
from hetdp.engines.registry import engine_for
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.theory.notion import Notion
from hetdp.theory.pure import PURE
from tests.engines.growths import EPSILON, Search, edge_between, graph_from, random_graph, run_grow


@dataclass(frozen=True)
class FairSearch:
    """The arguments of `settle`."""

    graph: hetdp.DatasetGraph
    answers: np.ndarray
    pins: np.ndarray | None = None
    notion: Notion = PURE

    @property
    def pinned(self) -> np.ndarray:
        return np.zeros(self.graph.size, np.bool_) if self.pins is None else ~np.isnan(self.pins)


def run_settle(engine: Any, fair: FairSearch) -> Growth:
    chosen = engine_for(engine, fair.graph, fair.notion, "settle")
    assert chosen.name == engine
    return chosen.settle(fair.graph, fair.notion, fair.answers, fair.pins)


def mechanism_of(fair: FairSearch, labels: np.ndarray) -> LocalMechanism:
    """The labels as a mechanism without links."""
    problem = hetdp.Problem(fair.graph, fair.answers, fair.notion)
    z = np.where(fair.answers == 1, labels, -labels) + 0.0
    return LocalMechanism(problem, z, fair.pinned, np.full(fair.graph.size, -1))


def is_private(fair: FairSearch, labels: np.ndarray) -> bool:
    mechanism = mechanism_of(fair, labels)
    assert isinstance(mechanism.problem, hetdp.Problem)
    return hetdp.verify(mechanism.problem, mechanism).private


def random_answers(rng: np.random.Generator, size: int) -> np.ndarray:
    """Mixed at random, in two blocks, or nearly all the same."""
    kind = rng.integers(3)
    if kind == 0:
        return rng.integers(1, 3, size)
    if kind == 1:
        return np.where(np.arange(size) < rng.integers(0, size + 1), 1, 2)
    return np.where(rng.random(size) < 0.1, 2, 1)


def random_fair_search(seed: int, shape, sizes, size: int = 80, notion: Notion = PURE) -> FairSearch:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, shape, sizes, size, notion)
    return FairSearch(graph, random_answers(rng, graph.size), notion=notion)


def with_pins(fair: FairSearch, seed: int, share: float = 0.1) -> FairSearch:
    """Some values of a private mechanism, on either side of ½."""
    rng = np.random.default_rng(seed)
    start = rng.normal(0, rng.choice([0.3, 3.0]), fair.graph.size)
    z = run_grow("reference", Search(fair.graph, start, notion=fair.notion)).labels
    pinned = rng.random(fair.graph.size) < share
    return replace(fair, pins=np.where(pinned, np.where(fair.answers == 1, z, -z), np.nan))


def assert_links_prove(fair: FairSearch, growth: Growth) -> None:
    """Without pins: a label is what its link allows, and chains end at two that met; or nothing bounds it."""
    labels, links = growth.labels, growth.links
    bound = links >= 0
    assert np.isposinf(labels[~bound]).all()
    met = np.zeros(len(links), np.bool_)
    for dataset in np.flatnonzero(bound).tolist():
        link = int(links[dataset])
        edge, notion = edge_between(fair.graph, link, dataset), fair.notion
        same = fair.answers[dataset] == fair.answers[link]
        met[dataset] = not same and links[link] == dataset
        offer = notion.step if same else notion.across
        assert labels[dataset] == (notion.meet(*edge) if met[dataset] else offer(float(labels[link]), *edge))
    ends = np.where(bound & ~met, links, np.arange(len(links)))
    for _ in range(len(links).bit_length()):
        ends = ends[ends]
    assert (met[ends] | ~bound).all()


@st.composite
def small_fair_searches(draw: st.DrawFn, max_size: int = 9) -> FairSearch:
    """Small graphs with any mixture of ε and answers."""
    size = draw(st.integers(1, max_size))
    vertex = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex, EPSILON), max_size=3 * size))
    source, target = (np.array([edge[i] for edge in edges], dtype=np.int64) for i in (0, 1))
    graph = graph_from(source, target, np.array([edge[2] for edge in edges], dtype=np.float64), size)
    return FairSearch(graph, np.array(draw(st.lists(st.sampled_from([1, 2]), min_size=size, max_size=size))))
