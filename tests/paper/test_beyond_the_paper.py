"""What docs/theory adds to the paper, as far as a small example or an oracle can show it."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb, ctx

import hetdp
from hetdp.theory.pure import step
from tests.oracle.literal import algorithm_1, compatible, one_edge, worst_violation
from tests.oracle.paths import along
from tests.oracle.random_problems import SmallProblem, close_downward, incompatible_problems
from tests.paper.library import extension_of, problem_of


def z_of(p: float) -> float:
    return math.log(2 * p) if p <= 0.5 else -math.log(2 * (1 - p))


def p_of(z: float) -> float:
    return math.exp(z) / 2 if z <= 0 else 1 - math.exp(-z) / 2


# The Laplace coordinate -----------------------------------------------------------------------------------------------


def test_on_either_side_of_one_half_an_edge_is_plain_addition_in_the_coordinate():
    rng = random.Random(401)
    for _ in range(500):
        epsilon = rng.uniform(0, 2)
        for z in (rng.uniform(0, 3), -epsilon - rng.uniform(0, 3)):
            assert z_of(one_edge(p_of(z), epsilon)) == pytest.approx(z + epsilon, abs=1e-12)


def test_an_edge_that_crosses_one_half_allows_more_than_plain_addition():
    rng = random.Random(402)
    for _ in range(500):
        epsilon = rng.uniform(0.1, 2)
        z = -epsilon * rng.uniform(0.05, 0.95)
        first = -math.log(2 - math.exp(z + epsilon)) if z + epsilon < math.log(2) else math.inf
        exact = min(first, epsilon - math.log(2 - math.exp(z)))
        assert z_of(one_edge(p_of(z), epsilon)) == pytest.approx(exact, abs=1e-12)
        assert exact > z + epsilon


def test_both_tails_survive_a_long_path_where_plain_p_would_collapse_to_one():
    graph = hetdp.DatasetGraph.from_edges(range(100), range(1, 101), 1.0)
    mechanism = hetdp.extend(hetdp.Problem(graph, [1] * 101), {0: 0.5})
    assert mechanism.probabilities[-1] == 1.0
    assert mechanism.coordinates.tolist() == list(range(101))
    assert mechanism.errors[-1] == pytest.approx(0.5 * math.exp(-100))
    assert hetdp.verify(mechanism.problem, mechanism).private


# The rounded step -----------------------------------------------------------------------------------------------------


def adversarial_crossings(seed: int, count: int):
    """(z, ε) with z < 0 < z + ε: anywhere, at the kink, and with z + ε next to ln 2 or to where formulas change."""
    rng = random.Random(seed)
    for _ in range(count):
        epsilon = 10 ** rng.uniform(-9, 2)
        near = [math.log(2) - epsilon, 0.35 - epsilon, 0.5 - epsilon, -math.log1p(math.expm1(min(epsilon, 300)) / 2)]
        for z in (*near, -epsilon * rng.random(), -epsilon * (1 - 10 ** rng.uniform(-12, 0))):
            for _ in range(rng.randrange(3)):
                z = math.nextafter(z, rng.choice([-math.inf, math.inf]))
            if z < 0 < z + epsilon:
                yield z, epsilon


def exact_bounds(z: float, epsilon: float) -> tuple[arb, arb]:
    """The two bounds on an edge that crosses one half, as enclosures."""
    room = 2 - (arb(z) + arb(epsilon)).exp()
    second = arb(epsilon) - (2 - arb(z).exp()).log()
    return (-room.log() if room > 0 else arb("inf")), second


@pytest.fixture
def precision():
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


@pytest.mark.usefixtures("precision")
def test_where_the_first_bound_is_the_smaller_one_the_sum_of_label_and_epsilon_is_exact():
    seen = 0
    for z, epsilon in adversarial_crossings(seed=407, count=500):
        first, second = exact_bounds(z, epsilon)
        if first <= second:
            assert Fraction(z) + Fraction(epsilon) == Fraction(z + epsilon)
            assert epsilon / 2 <= -z <= epsilon
            seen += 1
    assert seen > 500


@pytest.mark.usefixtures("precision")
def test_the_rounded_step_lies_between_plain_addition_and_the_exact_bound():
    seen = 0
    for z, epsilon in adversarial_crossings(seed=408, count=500):
        bound = arb(step(z, epsilon))
        first, second = exact_bounds(z, epsilon)
        assert bound <= first
        assert bound <= second
        assert Fraction(step(z, epsilon)) >= Fraction(z)
        assert step(z, epsilon) >= math.nextafter(z + epsilon, -math.inf)
        seen += 1
    assert seen > 1500


def first_bound_below(t: float, ulps: float) -> float:
    """Largest relative error of a = −log1p(−expm1(t)), lowered, in units of 2⁻⁵⁰, if libm errs by that many ulps."""
    y = math.expm1(t)
    a = -math.log1p(-y)
    return (ulps * math.ulp(y) / (1 - y) + ulps * math.ulp(a) + math.ulp(a) / 2) / a * 2**50


def first_bound_above(t: float, ulps: float) -> float:
    """The same for a = −(ln 2 + log(−expm1(−d))), d = ln 2 − t."""
    d = math.log(2) - t
    y = -math.expm1(-d)
    logarithm = math.log(y)
    a = -logarithm - math.log(2)
    from_d = math.ulp(d) * math.exp(-d) / y
    return (from_d + ulps * math.ulp(y) / y + ulps * math.ulp(logarithm) + 2.4e-17 + math.ulp(a)) / a * 2**50


def second_bound(z: float, ulps: float) -> float:
    """The same for b = ε − log1p(−expm1(z)), which is nowhere below its logarithm where it is the smaller bound."""
    y = -math.expm1(z)
    b = math.log1p(y)
    return (ulps * math.ulp(y) / (1 + y) + ulps * math.ulp(b) + math.ulp(b)) / b * 2**50


@pytest.mark.parametrize(("switch", "ulps"), [(0.35, 1.5), (0.5, 1.5), (0.5, 2.0)])
def test_eight_ulps_cover_all_roundings_of_a_crossing_edge(switch, ulps):
    to_ln_2 = [math.log(2) - (math.log(2) - switch) * 0.997**i for i in range(11_000)]
    assert max(first_bound_below(switch * 0.998**i, ulps) for i in range(20_000)) < 2
    assert max(first_bound_above(t, ulps) for t in to_ln_2) < 2
    assert max(second_bound(-40 * 0.998**i, ulps) for i in range(20_000)) < 2


# One search -----------------------------------------------------------------------------------------------------------


def test_the_path_with_the_least_sum_of_epsilon_is_not_the_one_that_binds():
    """Two routes from s to t: 0.11 then 1 (sum 1.11) binds more than 1 then 0.1 (sum 1.10)."""
    edges = (("s", "a", 0.11), ("a", "t", 1.0), ("s", "b", 1.0), ("b", "t", 0.1))
    small = SmallProblem(edges, dict.fromkeys("sabt", 1), {"s": 0.4})
    why = hetdp.extend(problem_of(small), small.pins).explain("t")
    assert why.datasets == ["s", "a", "t"]
    assert extension_of(small)["t"] == pytest.approx(along(0.4, [0.11, 1.0]), abs=1e-12)
    assert along(0.4, [0.11, 1.0]) < along(0.4, [1.0, 0.1]) - 1e-3


def test_an_edge_between_two_pins_can_make_them_incompatible_though_no_free_dataset_is_near():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.1, 0.1])
    problem = hetdp.Problem(graph, [1, 1, 1])
    assert not hetdp.check(problem, {"a": 0.3, "b": 0.5}).compatible
    with pytest.raises(hetdp.NoExtensionError):
        hetdp.extend(problem, {"a": 0.3, "b": 0.5})


# Compatibility and repair ---------------------------------------------------------------------------------------------


def test_the_greatest_compatible_pins_below_and_the_least_above_are_those_of_the_oracle():
    for small in incompatible_problems(seed=403, count=60):
        repair = hetdp.check(problem_of(small), small.pins).repair
        ones = {v: small.pins.get(v, 1.0) for v in small.answers}
        zeros = {v: 1 - small.pins.get(v, 0.0) for v in small.answers}
        below, above = (close_downward(small.finite_edges, start) for start in (ones, zeros))
        assert repair.below == pytest.approx({v: below[v] for v in small.pins}, abs=1e-12)
        assert repair.above == pytest.approx({v: 1 - above[v] for v in small.pins}, abs=1e-12)


def test_the_repair_is_the_middle_of_both_in_p():
    for small in incompatible_problems(seed=404, count=60):
        repair = hetdp.check(problem_of(small), small.pins).repair
        middle = {v: (repair.below[v] + repair.above[v]) / 2 for v in small.pins}
        assert repair.probabilities == pytest.approx(middle, abs=1e-12)
        assert compatible(SmallProblem(small.edges, small.answers, middle))


def test_the_middle_in_the_coordinate_would_not_be_compatible():
    edge = SmallProblem((("u", "v", 2.0),), {"u": 1, "v": 1})
    kink = math.log((1 + math.exp(2.0)) / 2)
    one, other = {"u": p_of(-2.0), "v": p_of(0.0)}, {"u": p_of(-kink), "v": p_of(kink)}
    middle_in_p = {x: (one[x] + other[x]) / 2 for x in "uv"}
    middle_in_z = {x: p_of((z_of(one[x]) + z_of(other[x])) / 2) for x in "uv"}
    assert worst_violation(edge, one) < 1e-12
    assert worst_violation(edge, other) < 1e-12
    assert worst_violation(edge, middle_in_p) < 1e-12
    assert worst_violation(edge, middle_in_z) > 0.01


def test_the_interval_of_a_pin_is_what_all_other_pins_leave_it():
    for small in incompatible_problems(seed=405, count=60):
        found = hetdp.check(problem_of(small), small.pins).repair.intervals()
        for v in small.pins:
            others = [(u, p) for u, p in small.pins.items() if u != v]
            high = min(algorithm_1(small, u, p)[v] for u, p in others)
            low = 1 - min(algorithm_1(small, u, 1 - p)[v] for u, p in others)
            assert found[v] == pytest.approx((low, high), abs=1e-12)


# The optimality certificate -------------------------------------------------------------------------------------------


def claim(z, links):
    pinned = np.array([True, False, False])
    return SimpleNamespace(coordinates=np.array(z), pinned=pinned, links=np.array(links))


def test_two_datasets_that_hold_each_other_up_prove_nothing():
    """s, then a and b one step away and equal to each other: each of a, b has a tight neighbour, yet both can rise."""
    graph = hetdp.DatasetGraph.from_edges(["s", "s", "a"], ["a", "b", "b"], [1.0, 1.0, 0.0])
    problem = hetdp.Problem(graph, [1, 1, 1])
    held_up = hetdp.verify(problem, claim([0.0, 0.25, 0.25], [-1, 2, 1]))
    assert held_up.private
    assert not held_up.optimal
    assert hetdp.verify(problem, claim([0.0, 1.0, 1.0], [-1, 0, 0])).optimal
    assert hetdp.verify(problem, claim([0.0, 1.0, 1.0], [-1, 0, 1])).optimal


def test_a_link_that_is_not_tight_proves_nothing():
    graph = hetdp.DatasetGraph.from_edges(["s", "s", "a"], ["a", "b", "b"], [1.0, 1.0, 0.5])
    problem = hetdp.Problem(graph, [1, 1, 1])
    certificate = hetdp.verify(problem, claim([0.0, 0.75, 1.0], [-1, 0, 0]))
    assert certificate.private
    assert not certificate.optimal


def test_an_edge_that_crosses_one_half_close_to_a_factor_of_two_is_still_shown_optimal():
    """Where z + ε is next to ln 2 the bound is steepest; the rounded step must stay within what the proof accepts."""
    rng = random.Random(406)
    drawn = [(0.6931471805599453 - epsilon, epsilon) for epsilon in (rng.uniform(20, 40) for _ in range(300))]
    for z, epsilon in [(-31.925421218901985, 32.61856839946192), *drawn]:
        graph = hetdp.DatasetGraph.from_edges(["u"], ["v"], [epsilon])
        mechanism = hetdp.extend(hetdp.Problem(graph, [1, 1]), hetdp.PartialMechanism(z={"u": z}))
        assert mechanism.certificate.optimal, (z, epsilon)
