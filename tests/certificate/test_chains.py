"""verify on optimality for directed ε and δ: the gap along chains, in z, which keeps both tails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

import hetdp
from hetdp.certificate.directed import link_gaps
from hetdp.certificate.rule import append_chains, depth_of, too_wide
from tests.certificate.claims import claim, next_float
from tests.certificate.notions import bound, doubled_p, problem_of, z_below
from tests.loops import for_each
from tests.theory.exact import precision

ZERO = np.zeros(1)


def chain(start: float, parameters, sign: int = 1, ulps: int = 4):
    """A path problem with the best values from a pinned head on, each a few floats below its exact bound."""
    size = len(parameters[0]) + 1
    steps = np.arange(size - 1)
    if len(parameters) == 2:
        notion, (forth, back), (delta, delta_back) = "directed", parameters, (np.zeros(size), np.zeros(size))
    else:
        notion, (forth, back, delta, delta_back) = "approximate", parameters
    z = [start]
    with precision(400):
        for at in range(size - 1):  # `forth` is from parent to child
            top = bound(doubled_p(z[-1]) / 2, back[at], forth[at], delta_back[at], delta[at])
            z.append(max(z_below(top, ulps), z[-1]))
    problem = problem_of(notion, steps, steps + 1, parameters, np.full(size, 1 if sign == 1 else 2))
    return problem, claim(sign * np.array(z), np.arange(size) == 0, np.arange(size) - 1)


def exact_end(problem, given, sign: int) -> arb:
    """The exact bound at the end of the path, in p of the right answer."""
    block = problem.graph.__dict__["block"]
    count = len(block.source) // 2
    forth, back, *deltas = (column[:count].tolist() for column in block.parameters)
    delta, delta_back = deltas or ([0.0] * count,) * 2
    value = doubled_p(sign * float(given.coordinates[0])) / 2
    for at in range(count):
        value = bound(value, back[at], forth[at], delta_back[at], delta[at])
    return value


def coordinate(p: arb) -> arb:
    """z of a probability."""
    return (2 * p).log() if p <= 0.5 else -(2 * (1 - p)).log()


def cases(seed: int):
    rng = np.random.default_rng(seed)
    length = int(rng.integers(1, 40))
    columns = [10 ** rng.uniform(-4, 0.5, length) for _ in range(2)]
    for column in columns:
        column[rng.random(length) < 0.15] = 0.0
    free = rng.random(length) < 0.15
    columns[int(rng.integers(2))][free] = math.inf
    if seed % 2:
        columns += [10 ** rng.uniform(-12, -1.5, length) * (rng.random(length) < 0.7) for _ in range(2)]
    start = float(rng.choice([rng.normal(), -rng.uniform(0, 30), -800.0, 5.0]))
    return start, columns, 1 if rng.random() < 0.5 else -1


@for_each("seed", range(120))
def test_the_gap_bounds_the_distance_from_the_exact_optimum(seed):
    start, columns, sign = cases(seed)
    problem, given = chain(start, columns, sign)
    found = hetdp.verify(problem, given)
    assert found.private
    assert found.shortfall == ""
    with precision(2000):
        last = sign * float(given.coordinates[-1])
        if last < math.inf:
            distance = coordinate(exact_end(problem, given, sign)) - arb(last)
            assert distance >= 0
            assert distance <= found.gap
    assert found.gap < 1e-9


@for_each("seed", range(40))
def test_values_that_could_be_higher_are_not_called_optimal(seed):
    start, columns, sign = cases(2 * seed + 1)
    problem, given = chain(start, columns, sign)
    better = sign * given.coordinates
    last = int(np.flatnonzero(better < math.inf)[-1])
    if last == 0:
        return
    with precision(200):
        lowered = z_below(doubled_p(float(better[last])) / 2 * (1 - arb(1e-6)))
    if math.isinf(lowered):
        return
    better[last] = lowered
    given.coordinates[:] = sign * better
    found = hetdp.verify(problem, given)
    assert not found.optimal
    if found.private:
        assert found.shortfall == f"a link is not tight (dataset {last})"


def test_certainty_that_delta_allows_needs_no_chain():
    problem, given = chain(0.0, [[1.0, 1.0], [1.0, 1.0], [0.25, 0.25], [0.25, 0.25]])
    assert given.coordinates.tolist()[-1] == math.inf or given.coordinates[-1] > 1.0
    problem = problem_of("approximate", [0], [1], [[0.0], [0.0], [0.5], [0.5]], [1, 1])
    found = hetdp.verify(problem, claim([0.0, math.inf], [True, False], [-1, 0]))
    assert (found.private, found.optimal, found.gap, found.slack) == (True, True, 0.0, 0.0)
    found = hetdp.verify(problem, claim([next_float(0.0, -1), math.inf], [True, False], [-1, 0]))
    assert not found.private


def test_zero_is_optimal_only_where_nothing_but_zero_is_allowed():
    nought = claim([-math.inf, -math.inf], [True, False], [-1, 0])
    assert hetdp.verify(problem_of("directed", [0], [1], [[1.0], [1.0]], [1, 1]), nought).optimal
    assert hetdp.verify(problem_of("directed", [0], [1], [[0.0], [math.inf]], [1, 1]), nought).optimal
    assert not hetdp.verify(problem_of("directed", [0], [1], [[0.5], [math.inf]], [1, 1]), nought).optimal
    small = problem_of("approximate", [0], [1], [[0.0], [1.0], [0.0], [1e-300]], [1, 1])
    assert hetdp.verify(small, nought).optimal  # answer 2 is certain at the pin, and must not become less so
    small = problem_of("approximate", [0], [1], [[1.0], [1.0], [0.0], [1e-300]], [1, 1])
    assert not hetdp.verify(small, nought).optimal


@pytest.mark.parametrize("notion", ["directed", "approximate"])
def test_links_in_a_cycle_and_missing_links_prove_nothing(notion):
    zeros = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]] + [[0.0] * 3] * 2 * (notion == "approximate")
    problem = problem_of(notion, [0, 1, 2], [1, 2, 3], zeros, np.ones(4))
    pinned = np.arange(4) == 0
    for values, neighbours, fault in (
        ([-2.0, -1.5, -1.5, -1.5], [-1, 2, 1, 2], "links form a cycle (dataset 1)"),
        ([-2.0, -1.0, -1.0, -1.0], [-1, 0, 1, -1], "a link is missing or follows no edge (dataset 3)"),
        ([-2.0, -1.0, -1.0, -1.0], [-1, 0, 0, 2], "a link is missing or follows no edge (dataset 2)"),
        ([-2.0, -1.5, -1.5, -1.5], [-1, 0, 1, 2], "a link is not tight (dataset 1)"),
        ([-2.0, -1.0, -1.0, -1.0], [-1, 0, 1, 2], ""),
    ):
        found = hetdp.verify(problem, claim(values, pinned, neighbours))
        assert found.private
        assert (found.shortfall, found.optimal) == (fault, not fault)


def test_sums_that_are_exact_have_no_gap():
    problem, given = chain(-8.0, [[0.5] * 15, [0.5] * 15], ulps=0)
    assert given.coordinates.tolist() == [-8.0 + 0.5 * at for at in range(16)]
    found = hetdp.verify(problem, given)
    assert (found.optimal, found.gap, found.slack, found.enclosed) == (True, 0.0, 0.0, 0)


@for_each("seed", range(40))
def test_the_gap_of_a_link_is_bounded_from_above_and_closely(seed):
    rng = np.random.default_rng(seed)
    for _ in range(25):
        parent = float(rng.choice([rng.normal(0, 2), -(10 ** rng.uniform(-9, 3)), 10 ** rng.uniform(-9, 1.5)]))
        epsilons = [float(x) for x in rng.choice([0.0, 1e-320, 1e-9, 0.3, 2.0, 30.0, math.inf], 2)]
        deltas = [float(x) for x in rng.choice([0.0, 5e-324, 1e-9, 1e-3, 0.4], 2)]
        with precision(3000):
            top = bound(doubled_p(parent) / 2, *epsilons, *deltas)
            child = max(z_below(top, int(rng.integers(0, 9))), parent)
            if math.isinf(child):
                continue
            exact = coordinate(top) - arb(child)
            (found,), _ = link_gaps(*(ZERO + x for x in (parent, child, *epsilons, *deltas)))
            assert exact <= arb(float(found)) + arb(2) ** -2000  # where both are 0
            assert float(found) <= max(0.0, float(exact.upper())) + 1e-13 * (1 + abs(child))


@for_each("seed", range(40))
def test_the_shortfall_of_a_parent_is_passed_on_by_at_most_the_slope(seed):
    rng = np.random.default_rng(seed)
    for _ in range(25):
        parent = float(rng.choice([rng.normal(0, 2), -(10 ** rng.uniform(-9, 1)), 10 ** rng.uniform(-9, 1)]))
        epsilons = [float(x) for x in rng.choice([0.0, 1e-9, 0.3, 2.0, 20.0, math.inf], 2)]
        deltas = [float(x) for x in rng.choice([0.0, 1e-9, 1e-3, 0.4, 1.0 - 1e-9], 2)]
        lacking = 10 ** rng.uniform(-16, -10)
        with precision(400):
            top = bound(doubled_p(parent) / 2, *epsilons, *deltas)
            child = z_below(top, 0)
            if math.isinf(child) or math.isinf(parent + lacking):
                continue
            _, (slope,) = link_gaps(*(ZERO + x for x in (parent, child, *epsilons, *deltas)))
            more = bound(twice_of(arb(parent) + lacking) / 2, *epsilons, *deltas)
            if float(slope) * lacking > 1e-9:
                continue  # then the chain is called too wide
            assert coordinate(more) - coordinate(top) <= arb(float(slope)) * lacking * (1 + arb(2) ** -40)


def twice_of(z: arb) -> arb:
    """2p of a coordinate that need not be a float."""
    return z.exp() if z <= 0 else 2 - (-z).exp()


def test_roundings_that_add_up_to_much_are_not_called_optimal():
    """Eight steps of δ = 1/8 lead to certainty, but labels that were rounded seven times leave an error of 1e-16."""
    problem, given = chain(-math.inf, [[0.0] * 8, [0.0] * 8, [0.125] * 8, [0.125] * 8])
    assert 30.0 < given.coordinates[-1] < math.inf
    found = hetdp.verify(problem, given)
    assert found.private
    assert found.shortfall == "rounding errors add up along a chain (dataset 8)"
    shorter, given = chain(-math.inf, [[0.0] * 7, [0.0] * 7, [0.125] * 7, [0.125] * 7])
    assert hetdp.verify(shorter, given).optimal


def test_chains_add_what_is_lacking_times_the_slope():
    gaps, slopes = np.array([1e-12, 2e-12, 0.0, 4e-12]), np.array([2.0, 3.0, 0.0, 0.0])
    depths = np.array([1.0, 5.0, 1.0, 2.0])
    append_chains(gaps, slopes, depths, np.array([0, 1]), np.array([1, 3]))
    assert gaps.tolist() == pytest.approx([5e-12, 14e-12, 0.0, 4e-12])
    assert slopes.tolist() == [6.0, 0.0, 0.0, 0.0]
    assert depths.tolist() == [5.0, 5.0, 1.0, 2.0]
    nothing, steep = np.array([0.0, 0.0]), np.array([np.inf, 0.0])
    append_chains(nothing, steep, np.ones(2), np.array([0]), np.array([1]))
    assert (nothing.tolist(), steep.tolist()) == ([0.0, 0.0], [0.0, 0.0])


def test_a_gap_is_measured_against_the_size_of_the_values():
    assert depth_of(np.array([0.0, -0.5, 3.0, -40.0, math.inf, -math.inf])).tolist() == [1.0, 1.0, 3.0, 40.0, 1.0, 1.0]
    gaps = np.array([1e-9, 1.001e-9, 2e-9, 4e-8, 4.1e-8, math.inf, math.nan])
    depths = np.array([1.0, 1.0, 3.0, 40.0, 40.0, 1.0, 1.0])
    assert too_wide(gaps, depths).tolist() == [False, True, False, False, True, True, True]
