"""Theorem 5: Algorithm 1 takes O(|E||V|) steps and Algorithm 2 O(|V|³|E|).

The library does better: one search from all pinned datasets at once (docs/theory/one-search.md). What has to be tested
is that the one search finds what the |S| searches of the paper find; clocks are for benchmarks/.
"""

from __future__ import annotations

import random

import hetdp
from tests.oracle.literal import algorithm_2
from tests.oracle.random_problems import SmallProblem, compatible_problems, random_edges, with_compatible_pins
from tests.paper.library import extension_of, graph_of, largest_difference


def test_one_search_from_all_pins_finds_what_a_search_from_each_pin_finds():
    """The minima of Algorithm 2, line 4 and 5, from the library's own Algorithm 1."""
    compared = 0
    for small in compatible_problems(seed=211, count=80, max_size=9):
        graph, p = graph_of(small), extension_of(small)
        upper = [hetdp.induced_bounds(graph, u, a) for u, a in small.pins.items()]
        mirrored = [hetdp.induced_bounds(graph, u, 1 - a) for u, a in small.pins.items()]
        for i, v in enumerate(small.datasets):
            if v not in small.pins:
                compared += 1
                least = min((float(b[i]) for b in (upper if small.answers[v] == 1 else mirrored)), default=1.0)
                assert abs(p[v] - (least if small.answers[v] == 1 else 1 - least)) < 1e-12
    assert compared > 80


def test_the_literal_algorithm_and_the_library_agree_on_graphs_of_a_few_dozen_datasets():
    rng = random.Random(212)
    for size in (20, 30, 40):
        edges = tuple((u, v, rng.uniform(0.05, 1)) for u, v in random_edges(rng, size, 0.15))
        answers = {v: 2 if v < size // 3 else 1 for v in range(size)}
        small = with_compatible_pins(rng, SmallProblem(edges, answers))
        assert largest_difference(extension_of(small), algorithm_2(small)) < 1e-12
