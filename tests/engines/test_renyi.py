"""Rényi privacy in every engine: the same bits, links that prove them, and the bounds that brute force finds."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import hetdp
from hetdp.engines.registry import engine_for
from hetdp.theory.renyi import renyi
from tests.engines import fairness, growths
from tests.engines.fairness import is_private, random_fair_search, run_settle, with_pins
from tests.engines.growths import SHAPES, SIZES, bits, fixed_point, random_search, run_grow
from tests.engines.products import random_space, random_start
from tests.stress import long
from tests.theory.renyi_exact import exact_bound

NOTION = renyi(2.0)


def test_both_engines_give_the_same_bits_and_links_that_prove_them():
    for shape in SHAPES:
        for number, sizes in enumerate(SIZES):
            search = random_search(number, shape, sizes, 30, NOTION)
            growth = run_grow("cpu", search)
            assert bits(growth.labels) == bits(run_grow("reference", search).labels)
            growths.assert_links_prove(search, growth)
            free = random_fair_search(3, shape, sizes, 24, NOTION)
            for fair in (free, with_pins(free, 4)):
                one, other = run_settle("cpu", fair), run_settle("reference", fair)
                assert bits(one.labels) == bits(other.labels)
                if fair.pins is None:
                    fairness.assert_links_prove(fair, one)


@pytest.mark.jit_only
@pytest.mark.parametrize("alpha", [1.01, 2.0, 25.0])
def test_searches_end_at_the_plainly_computed_fixed_point_and_fair_ones_are_private(alpha):
    for shape in SHAPES:
        search = replace(random_search(5, shape, SIZES[0], 14, NOTION), notion=renyi(alpha))
        assert bits(run_grow("reference", search).labels) == bits(fixed_point(search))
        free = replace(random_fair_search(7, shape, SIZES[0], 14, NOTION), notion=renyi(alpha))
        assert is_private(free, run_settle("reference", free).labels)


@pytest.mark.parametrize("seed", range(3))
def test_products_give_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    space = random_space(rng, 150)
    labels = random_start(rng, space.size, ["grid", "positive", "any"][seed])
    ours = engine_for("product", space, NOTION, "grow").grow(space, NOTION, labels)
    assert bits(ours.labels) == bits(engine_for("reference", space, NOTION, "grow").grow(space, NOTION, labels).labels)


@pytest.mark.jit_only
@pytest.mark.parametrize("alpha", [1.2, 2.0, 6.0])
@pytest.mark.parametrize("seed", range(3))
def test_extend_is_what_exact_bounds_give_by_brute_force(seed, alpha):
    """Bellman and Ford with the exact bound of each edge, found by bisection in high precision."""
    rng, size = np.random.default_rng(seed), 7
    ends = [(at, to) for at in range(size) for to in range(at) if to == at - 1 or rng.random() < 0.3]
    epsilon = rng.choice([0.2, 0.7, 1.5], len(ends))
    graph = hetdp.DatasetGraph.from_edges(*zip(*ends, strict=True), epsilon, datasets=range(size))
    problem = hetdp.Problem(graph, [1] * 4 + [2] * 3, "renyi", alpha=alpha)
    pins = {at: 0.5 + (0.02 if at < 4 else -0.02) for at in np.flatnonzero(problem.boundary_mask).tolist()}
    mechanism = hetdp.extend(problem, pins)
    assert mechanism.certificate.private
    assert mechanism.certificate.optimal
    for sign, answer in ((1.0, 1), (-1.0, 2)):
        start = problem.notion.coordinate.from_probability([pins.get(at, math.nan) for at in range(size)])
        label = np.where(np.isnan(start), np.inf, sign * start).tolist()
        for _ in range(size):
            for (one, other), allowed in zip(ends, epsilon.tolist(), strict=True):
                for here, there in ((one, other), (other, one)):
                    if math.isfinite(label[here]) and there not in pins:
                        label[there] = min(label[there], exact_bound(label[here], allowed, alpha))
        free = [at for at in range(size) if at not in pins and problem.answers[at] == answer]
        assert sign * mechanism.coordinates[free] == pytest.approx([label[at] for at in free], abs=1e-9)
        assert all(sign * mechanism.coordinates[at] <= label[at] for at in free)


@pytest.mark.jit_only
@pytest.mark.parametrize("alpha", [1.2, 2.0, 6.0])
def test_the_fair_value_of_one_edge_is_where_its_ends_meet(alpha):
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 0.8)
    fair = hetdp.design(hetdp.Problem(graph, {"a": 1, "b": 2}, "renyi", alpha=alpha))
    p = float(fair["a"])
    left = p**alpha * (1 - p) ** (1 - alpha) + (1 - p) ** alpha * p ** (1 - alpha)
    assert left == pytest.approx(math.exp((alpha - 1) * 0.8), rel=1e-9)
    assert fair["b"] == pytest.approx(1 - p)


@pytest.mark.jit_only
def test_average_is_no_worse_than_fair_and_close_to_a_search_over_one_number():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.8, 0.5])
    problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2}, "renyi", weights=[5.0, 1.0, 1.0], alpha=2)
    best = hetdp.design(problem, "average", prior=[5 / 7, 1 / 7, 1 / 7])
    weights, step = np.array([5.0, 1.0, 1.0]) / 7, problem.notion.step
    found = []
    for z in np.linspace(-8, 3, 2000).tolist():  # z at c; b and a follow
        b = step(z, 0.5)
        found.append(float(weights @ problem.notion.coordinate.error(np.array([step(b, 0.8), b, z]), [1, 1, 2])))
    assert float(weights @ best.errors) == pytest.approx(min(found), abs=1e-5)
    assert best.certificate.private


ORDERS = """
import sys
import hetdp

graph = hetdp.DatasetGraph.from_edges(range(199), range(1, 200), [0.1 + at % 7 / 10 for at in range(199)])
for alpha in map(float, sys.argv[1:]):
    problem = hetdp.Problem(graph, [1] * 100 + [2] * 100, "renyi", alpha=alpha)
    first, second = (hetdp.extend(problem, {99: 0.55, 100: 0.45}, engine=name) for name in ("cpu", "reference"))
    print(first.coordinates.tolist() == second.coordinates.tolist())
"""


@long
def test_a_process_loads_two_orders_that_other_processes_have_compiled(tmp_path):
    """Each compiles in the same sequence, so that numba gives the functions of both the same numbers."""
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "HETDP_COMPILE": "now"}
    found = [
        subprocess.run(
            [sys.executable, "-c", ORDERS, *orders], env=environment, capture_output=True, text=True, check=False
        ).stdout
        for orders in (["2"], ["3"], ["2", "3"], ["3", "2"])
    ]
    assert found == ["True\n", "True\n", "True\nTrue\n", "True\nTrue\n"]
