"""The proof of Rényi privacy: true claims are proved, false ones are not, and losses are rounded up by one unit."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb, fmpq

import hetdp
from hetdp.certificate.certificate import contradicts
from hetdp.certificate.losses import largest_losses, losses_along
from hetdp.certificate.renyi import arc_holds, coarse_of, judge, link_gaps, losses_between, margin_of
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from hetdp.theory.renyi import renyi
from tests.theory.exact import precision
from tests.theory.renyi_exact import exact_bound, is_private, moment

ORDERS = (1.0001, 1.5, 2.0, 7.0, 1e4)
ORDER = pytest.mark.parametrize("alpha", ORDERS)


def random_problem(seed: int, alpha: float, size: int = 14) -> hetdp.Problem:
    rng = np.random.default_rng(seed)
    ends = np.array([(at, to) for at in range(size) for to in range(at) if rng.random() < 0.25 or to == at - 1])
    epsilon = rng.choice([1e-3, 0.1, 0.5, 1.0, 3.0], len(ends))
    graph = hetdp.DatasetGraph.from_edges(ends[:, 0], ends[:, 1], epsilon, datasets=range(size))
    return hetdp.Problem(graph, rng.choice([1, 2], size), "renyi", alpha=alpha)


def exact_loss(one: float, other: float, alpha: float) -> arb:
    """The larger divergence of the two directions, as a ball."""
    return moment(one, other, alpha).max(moment(other, one, alpha)) / (arb(alpha) - 1)


@ORDER
def test_losses_in_floats_are_right_within_their_margin(alpha):
    rng = random.Random(1)
    for _ in range(300):
        one = rng.choice([rng.uniform(-3, 3), rng.uniform(-60, 60), rng.uniform(-1e-6, 1e-6)])
        other = one + rng.choice([1.0, -1.0]) * 10 ** rng.uniform(-9, 1.5)
        found = losses_between(np.array([one]), np.array([other]), alpha)[0]
        with precision(400):
            exact = moment(one, other, alpha) / (arb(alpha) - 1)
            assert abs(arb(float(found)) - exact) <= arb(margin_of(alpha)) * exact, (one, other)


def test_an_arc_that_no_precision_decides_is_a_violation(monkeypatch):
    alpha, epsilon, z = 2.0, 0.5, 0.25
    bound = renyi(alpha).step(z, epsilon)
    assert arc_holds(z, bound, epsilon, alpha)
    monkeypatch.setattr("hetdp.certificate.renyi.FIRST_PRECISION", 8)
    monkeypatch.setattr("hetdp.certificate.renyi.FINER_PRECISIONS", (10,))
    assert not arc_holds(z, bound, epsilon, alpha)


@ORDER
def test_arcs_are_judged_as_the_definition_says_however_close_they_are(alpha):
    rng, notion = random.Random(2), renyi(alpha)
    columns: list[tuple[float, float, float]] = []
    for _ in range(60):
        epsilon, z = 10 ** rng.uniform(-4, 1), rng.choice([rng.uniform(-3, 3), rng.uniform(-50, 50)])
        bound = exact_bound(z, epsilon, alpha)
        for y in (bound, math.nextafter(bound, math.inf), notion.step(z, epsilon), bound + 1e-6, z, z - 1.0):
            columns += [(z, y, epsilon), (y, z, epsilon), (-z, -y, epsilon)]
    a, b, epsilons = (np.array(column) for column in zip(*columns, strict=True))
    holds, slack, _ = judge(a, b, epsilons, alpha)
    for at, (one, other, epsilon) in enumerate(columns):
        with precision(600):
            true = one == other or bool(moment(one, other, alpha) <= (arb(alpha) - 1) * arb(epsilon))
        assert holds[at] == true, (one, other, epsilon)
        assert (slack[at] >= 0.0) == true


def test_certainty_next_to_uncertainty_is_a_violation_and_next_to_certainty_is_not():
    inf = math.inf
    a, b = np.array([inf, 0.0, -inf, -inf, inf, -inf]), np.array([inf, inf, 0.0, -inf, -inf, inf])
    holds, _, _ = judge(a, b, np.full(6, 5.0), 2.0)
    assert holds.tolist() == [True, False, True, True, False, False]  # p = 0 against ½ loses log 2 in one direction


@ORDER
@pytest.mark.parametrize("seed", range(4))
def test_results_of_every_engine_are_proved_private_and_optimal(seed, alpha):
    problem = random_problem(seed, alpha)
    for objective in ("fair", "balanced"):
        certificate = hetdp.design(problem, objective).certificate
        assert certificate.private
        assert certificate.optimal, certificate.shortfall
        assert certificate.gap < 1e-9 * (1.0 + 1.0 / (alpha - 1.0)) * 50.0


@ORDER
@pytest.mark.parametrize("seed", range(4))
def test_a_value_raised_by_little_is_refuted_and_one_lowered_is_not_optimal(seed, alpha):
    problem = random_problem(seed, alpha)
    mechanism = hetdp.design(problem, "fair")
    free = np.flatnonzero(~mechanism.pinned & np.isfinite(mechanism.coordinates))
    better = np.where(problem.answers == 1, 1.0, -1.0)
    for at in free[:4].tolist():
        by = 1e-6 * (1.0 + abs(mechanism.coordinates[at]))
        raised, lowered = mechanism.coordinates.copy(), mechanism.coordinates.copy()
        raised[at] += by * better[at]
        lowered[at] -= 100.0 * by * better[at]
        claim = SimpleNamespace(coordinates=raised, pinned=mechanism.pinned, links=mechanism.links)
        refuted = hetdp.verify(problem, claim)
        assert not refuted.private
        assert refuted.violations > 0
        assert refuted.slack < 0.0
        claim = SimpleNamespace(coordinates=lowered, pinned=mechanism.pinned, links=mechanism.links)
        assert not hetdp.verify(problem, claim).optimal


def test_links_that_prove_nothing_are_refused():
    problem = random_problem(1, 2.0)
    mechanism = hetdp.design(problem, "fair")
    free = np.flatnonzero(~mechanism.pinned)

    def shortfall(links: np.ndarray) -> str:
        claim = SimpleNamespace(coordinates=mechanism.coordinates, pinned=mechanism.pinned, links=links)
        return hetdp.verify(problem, claim).shortfall

    assert shortfall(mechanism.links) == ""
    nowhere = mechanism.links.copy()
    nowhere[free[0]] = -1
    assert "missing" in shortfall(nowhere)
    astray = mechanism.links.copy()
    astray[free[0]] = free[0]
    assert "missing" in shortfall(astray)


def test_the_gap_of_a_link_bounds_the_shortfall_and_the_slope_bounds_what_is_passed_on():
    rng = random.Random(5)
    for alpha in (1.2, 2.0, 9.0):
        notion = renyi(alpha)
        for _ in range(40):
            epsilon, parent = 10 ** rng.uniform(-3, 0.7), rng.uniform(-6, 6)
            child = notion.step(parent, epsilon)
            gaps, slopes = link_gaps(*(np.array([x]) for x in (parent, child, epsilon)), alpha=alpha)
            exact = exact_bound(parent, epsilon, alpha)
            assert exact - child <= gaps[0] <= 1e-9 * (1.0 + abs(child))
            more = 1e-7
            assert exact_bound(parent + more, epsilon, alpha) - exact <= slopes[0] * more * (1.0 + 1e-6) + 1e-14
            loose, _ = link_gaps(*(np.array([x]) for x in (parent, child - 1e-5, epsilon)), alpha=alpha)
            assert loose[0] == np.inf


def test_parallel_edges_bind_by_the_smaller_epsilon():
    graph = hetdp.DatasetGraph.from_edges([0, 0, 1], [1, 1, 2], [1.0, 0.2, 0.5], classes=["a", "b", "a"])
    problem = hetdp.Problem(graph, [1, 2, 2], "renyi", alpha=2)
    certificate = hetdp.design(problem).certificate
    assert certificate.private
    assert certificate.optimal


@pytest.mark.parametrize("alpha", [1.1, 2.0, 30.0])
def test_a_path_contradicts_only_values_above_its_bound(alpha):
    notion, steps = renyi(alpha), [{"epsilon": 0.5}, {"epsilon": 0.0}, {"epsilon": 1.0}]
    for first in (-4.0, -0.3, 0.7):
        last = exact_bound(exact_bound(first, 0.5, alpha), 1.0, alpha)
        assert not contradicts(notion, first, steps, last - 1e-9)
        assert contradicts(notion, first, steps, last + 1e-9)
    assert contradicts(notion, -math.inf, steps, -700.0)
    assert not contradicts(notion, math.inf, steps, math.inf)
    assert not contradicts(notion, 0.0, [{"epsilon": math.inf}], 5.0)
    assert contradicts(notion, 0.0, steps, math.inf)


@pytest.mark.parametrize("alpha", [1.001, 2.0, 12.5])
def test_losses_are_rounded_up_by_less_than_one_unit(alpha):
    rng = np.random.default_rng(6)
    values = np.concatenate([[0.0, 0.1, -0.1, 700.0, -700.0, 0.3], rng.normal(0, 2, 20), 0.4 + rng.normal(0, 1e-9, 5)])
    one, other = rng.choice(values, 60), rng.choice(values, 60)
    numbers = np.arange(60) % 20
    found = largest_losses(one, other, numbers, np.full(20, np.inf), renyi(alpha))
    for number in range(20):
        mine = np.flatnonzero(numbers == number)
        with precision(600):
            pairs = [(float(one[at]), float(other[at])) for at in mine]
            exact = [exact_loss(*pair, alpha) for pair in pairs if pair[0] != pair[1]]
            units = Fraction(round(found[number] * 10**9), 10**9)
            assert all(loss <= arb(fmpq(units.numerator, units.denominator)) for loss in exact)
            if max((abs(a - b) for a, b in pairs), default=0.0) < 100.0:
                less = units - Fraction(1, 10**9)
                assert units == 0 or any(loss > arb(fmpq(less.numerator, less.denominator)) for loss in exact)


def test_certainty_next_to_uncertainty_loses_everything():
    ends = np.array([math.inf, 1.0, math.inf]), np.array([1.0, -math.inf, math.inf])
    assert largest_losses(*ends, np.arange(3), np.full(3, np.inf), renyi(2.0)).tolist() == [np.inf, np.inf, 0.0]


def test_losses_along_the_axes_of_a_product_are_those_of_its_edges():
    space = ProductSpace([Axis.person("Ann", ["yes", "no"], 1.0), Axis.tally("others", 3, 0.5)])
    problem = hetdp.Problem(space, [1, 1, 1, 2, 1, 2, 2, 2], "renyi", alpha=2)
    mechanism = hetdp.design(problem, "balanced")
    assert mechanism.certificate.private
    along = losses_along(space, mechanism.coordinates, np.array([1.0, 0.5]), problem.notion)
    for axis, allowed in enumerate((1.0, 0.5)):
        edges = [(block.source, block.target) for block in space.blocks_along(axis)]
        largest = max(
            float(losses_between(mechanism.coordinates[source], mechanism.coordinates[target], 2.0).max())
            for source, target in edges
        )
        assert largest - 1e-12 <= along[axis] <= min(allowed, largest + 1.1e-9)


def test_another_order_is_another_proof():
    problem = random_problem(3, 4.0)
    mechanism = hetdp.design(problem, "fair")
    weaker = hetdp.Problem(problem.graph, problem.answers, "renyi", alpha=2)
    assert weaker.identity != problem.identity
    assert hetdp.verify(weaker, replace_problem(mechanism, weaker)).private
    stronger = hetdp.Problem(problem.graph, problem.answers, "renyi", alpha=50)
    assert not hetdp.verify(stronger, replace_problem(mechanism, stronger)).private


def replace_problem(mechanism: hetdp.Mechanism, problem: hetdp.Problem) -> SimpleNamespace:
    return SimpleNamespace(
        coordinates=mechanism.coordinates, pinned=mechanism.pinned, links=mechanism.links, problem=problem
    )


def test_values_are_proved_private_exactly_where_the_definition_holds():
    for seed in range(5):
        problem = random_problem(seed, 1.5, 8)
        z = np.random.default_rng(seed).normal(0, 0.4, 8)
        source, target, epsilon = problem.graph.edges()
        edges = zip(z[source].tolist(), z[target].tolist(), epsilon.tolist(), strict=True)
        true = all(is_private(*edge, 1.5) for edge in edges)
        claim = SimpleNamespace(coordinates=z, pinned=np.ones(8, dtype=bool), links=np.full(8, -1))
        assert hetdp.verify(problem, claim).private == true


@pytest.mark.parametrize(
    ("alpha", "a", "b", "epsilon"),
    [
        (2.0, -450.0, -746.0, 1e-100),
        (2.0, -450.0, -749.0, 1e-195),
        (1.2, -250.0, -748.0, 1e-105),
        (4.0, -600.0, -749.0, 1e-100),
    ],
)
def test_tails_that_underflow_are_decided_by_balls(alpha, a, b, epsilon):
    graph = hetdp.DatasetGraph.from_edges(["u"], ["v"], epsilon)
    problem = hetdp.Problem(graph, [2, 2], notion="renyi", alpha=alpha)
    assert not hetdp.verify(problem, hetdp.PartialMechanism(z={"u": a, "v": b})).private


def test_nothing_that_lacks_much_is_called_optimal_however_close_to_one_the_order_is():
    assert [coarse_of(alpha) for alpha in (2.0, 1.5, 1.25, 1.000001)] == [2.0, 3.0, 5.0, 2e4]
    assert margin_of(2.0) == pytest.approx(2e-11 * (1 + math.log(2.0)))
    assert margin_of(1e300) == pytest.approx(1e-11 * 51.0)
