"""verify on single edges and whole graphs: every violation is caught, however small, and nothing right is refused."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.certificate.enclosure import crossing_holds
from tests.certificate.claims import claim, claim_of, on_one_edge, path_problem, up
from tests.mechanism.problems import cases, violated_arcs
from tests.theory.exact import precision

PLAIN = [
    (0.0, 0.5),
    (0.25, 0.5),
    (3.0, 1.0),
    (36.7, 0.3),
    (-2.0, 0.5),
    (-30.0, 0.7),
    (-1.0, 1.0),
    (500.0, 1e-9),
    (0.1, 0.2),
]
CROSSING = [(-0.5, 1.0), (-2.0, 2.25), (-1e-9, 1e-6), (-0.3, 5.0), (-5.0, 5.69), (-40.0, 40.3), (-1.0, 700.0)]


def at_the_bound(z: float, epsilon: float) -> float:
    problem = path_problem([epsilon])
    return float(hetdp.extend(problem, hetdp.PartialMechanism(z={0: z})).coordinates[1])


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("z", "epsilon"), PLAIN)
def test_one_float_more_on_a_tight_plain_edge_is_caught(z, epsilon, turned, sign):
    bound = at_the_bound(z, epsilon)
    for value, private in ((bound, True), (up(bound), False)):
        ends = (sign * value, sign * z) if turned else (sign * z, sign * value)
        certificate = on_one_edge(epsilon, *ends)
        assert certificate.private == private
        assert certificate.violations == (not private)
        assert (certificate.slack < 0.0) == (not private)
        assert certificate.worst_edge is not None
        assert certificate.worst_edge.slack == certificate.slack


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("z", "epsilon"), CROSSING)
def test_a_few_floats_more_on_an_edge_across_a_half_are_caught(z, epsilon, turned, sign):
    bound = at_the_bound(z, epsilon)
    assert bound > 0.0
    for value, private in ((bound, True), (up(bound, 200), False)):
        ends = (sign * value, sign * z) if turned else (sign * z, sign * value)
        certificate = on_one_edge(epsilon, *ends)
        assert certificate.private == private
        assert certificate.enclosed == 1
        assert (certificate.slack < 0.0) == (not private)


INFINITE = [(0.0, math.inf), (-1.0, math.inf), (5.0, math.inf), (-math.inf, -700.0), (-math.inf, 0.0), (-math.inf, 3.0)]


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 1e3, 1e300, 1.7e308])
@pytest.mark.parametrize(
    ("source", "target"), [*INFINITE, (-math.inf, math.inf), (1e308, math.inf), (-math.inf, -1e308)]
)
def test_certainty_beside_uncertainty_is_caught(epsilon, source, target):
    assert not on_one_edge(epsilon, source, target).private
    assert not on_one_edge(epsilon, target, source).private
    assert not on_one_edge(epsilon, -source, -target).private


@pytest.mark.parametrize("z", [math.inf, -math.inf])
def test_certainty_beside_the_same_certainty_is_private(z):
    assert on_one_edge(0.0, z, z).private
    assert on_one_edge(1e3, z, z).private


def exactly_private(source: float, target: float, epsilon: float, bits: int = 400) -> bool:
    """p(v) ≤ e^ε p(u) and 1 − p(u) ≤ e^ε (1 − p(v)) for z(u) < 0 < z(v), from the tails themselves."""
    with precision(bits):
        p_source, q_target = arb(source).exp() / 2, arb(-target).exp() / 2
        first = arb(epsilon).exp() * p_source - (1 - q_target)
        second = arb(epsilon).exp() * q_target - (1 - p_source)
        assert first > 0 or first < 0
        assert second > 0 or second < 0
        return bool(first > 0 and second > 0)


def points_around_equality() -> list[tuple[float, float, float]]:
    """Arcs across ½ whose target lies within a float or two of the exact bound."""
    rng = random.Random(91)
    found = []
    for _ in range(1500):
        source = -(10 ** rng.uniform(-9, 2))
        epsilon = -source * rng.choice([1 + 10 ** rng.uniform(-9, 0), rng.uniform(1, 3), 2.0])
        if rng.random() < 0.2:
            epsilon = up(-source + math.log(2), rng.randint(-3, 3))
        if source + epsilon <= 0.0:
            continue
        with precision(400):
            t = arb(source) + arb(epsilon)
            bound = arb(epsilon) - (2 - arb(source).exp()).log()
            if 2 - t.exp() > 0:
                bound = bound.min(-(2 - t.exp()).log())
            nearest = float(bound.mid())
        found += [(source, up(nearest, k), epsilon) for k in (-2, -1, 0, 1, 2)]
    return [point for point in found if point[1] > 0.0]


def test_arcs_across_a_half_are_decided_exactly_within_a_float_of_equality():
    points = points_around_equality()
    assert len(points) > 5000
    holds, slack = crossing_holds(*(np.array(column) for column in zip(*points, strict=True)))
    exact = [exactly_private(*point) for point in points]
    assert holds.tolist() == exact
    assert 1500 < sum(exact) < len(points) - 1500
    assert np.abs(slack).max() < 1e-6


@given(st.floats(-1e3, -1e-12), st.floats(1e-12, 1e3), st.floats(0.0, 2e3))
def test_arcs_across_a_half_are_decided_exactly_anywhere(source, target, epsilon):
    (holds,), _ = crossing_holds(np.array([source]), np.array([target]), np.array([epsilon]))
    assert bool(holds) == exactly_private(source, target, epsilon, 6000)


@pytest.mark.parametrize("size", [1e-12, 1e-100, 1e-300, 5e-324])
def test_the_smallest_steps_across_a_half_are_decided_too(size):
    """2 − e^−z and e^z agree to twice as many digits as z has; some precision tells them apart."""
    assert on_one_edge(8 * size, -size, size).private
    assert not on_one_edge(size, -size, size).private


@given(cases(), st.data())
def test_the_verdict_is_that_of_the_slow_exact_check(case, data):
    mechanism = case.extended()
    size = len(case.answers)
    shifts = data.draw(st.lists(st.sampled_from([0, 0, 0, 1, -1, 300, -300]), min_size=size, max_size=size))
    shifted = claim([up(z, k) for z, k in zip(mechanism.coordinates.tolist(), shifts, strict=True)])
    violated = violated_arcs(mechanism.problem, shifted.coordinates)
    certificate = hetdp.verify(mechanism.problem, shifted)
    assert (certificate.private, certificate.violations) == (not violated, len(violated))


@given(cases())
@settings(max_examples=50)
def test_counts_are_right(case):
    certificate = case.extended().certificate
    graph, z = case.graph, case.extended().coordinates
    arcs = [(u, v) for b in graph.edge_blocks() for u, v in zip(b.source.tolist(), b.target.tolist(), strict=True)]
    assert certificate.edges == len(arcs) // 2
    assert 0 <= certificate.enclosed <= sum(bool(z[u] < 0.0 < z[v]) for u, v in arcs)
    assert certificate.method == "every edge checked"


def tails(z: float) -> tuple[float, float]:
    tail = 0.5 * math.exp(-abs(z))
    return (tail, 1 - tail) if z <= 0 else (1 - tail, tail)


def loss(z_source: float, z_target: float) -> float:
    """max over both answers of log Pr at target − log Pr at source, in plain floats."""
    (p, q), (p_target, q_target) = tails(z_source), tails(z_target)
    return max(math.log(p_target / p), math.log(q / q_target))


def test_the_worst_edge_is_the_one_with_the_least_slack():
    rng = np.random.default_rng(92)
    for _ in range(60):
        size = int(rng.integers(2, 12))
        source, target = np.triu_indices(size, 1)
        graph = hetdp.DatasetGraph.from_edges(source, target, rng.uniform(0.0, 3.0, len(source)))
        z = rng.normal(0, 1, size)
        certificate = hetdp.verify(hetdp.Problem(graph, np.ones(size, np.int8)), claim(z))
        slacks = {
            (u, v): epsilon - loss(z[u], z[v])
            for b in graph.edge_blocks()
            for u, v, epsilon in zip(b.source.tolist(), b.target.tolist(), b.parameters[0].tolist(), strict=True)
        }
        worst = certificate.worst_edge
        assert certificate.slack == pytest.approx(min(slacks.values()), abs=1e-12)
        assert slacks[worst.source, worst.target] == pytest.approx(min(slacks.values()), abs=1e-12)
        assert certificate.violations == sum(slack < 0.0 for slack in slacks.values())
        assert certificate.private == (min(slacks.values()) >= 0.0)


def test_an_edge_across_a_half_with_room_does_not_hide_a_tighter_one():
    """Arc 0 → 1 has plain slack below zero and yet 1.3 to spare; arc 2 → 3 has 0.01."""
    graph = hetdp.DatasetGraph.from_edges([0, 2], [1, 3], [4.0, 1.0])
    z = [-2.0, 2.1, 1.0, 1.99]
    certificate = hetdp.verify(hetdp.Problem(graph, [1, 1, 1, 1]), claim(z))
    assert certificate.private
    assert certificate.worst_edge[:2] == (2, 3)
    assert certificate.slack == pytest.approx(0.01)


def test_one_violation_among_a_hundred_thousand_edges_is_found_and_named():
    size = 100_000
    problem = path_problem(np.full(size - 1, 0.5))
    good = claim_of(hetdp.extend(problem, hetdp.PartialMechanism(z={0: 1.0}), engine="cpu"))
    assert hetdp.verify(problem, good).optimal
    good.coordinates[77_777] = up(good.coordinates[77_777], 1)
    certificate = hetdp.verify(problem, good)
    assert certificate.violations == 1
    assert certificate.worst_edge[:3] == (77_776, 77_777, 0.5)
    assert not certificate.optimal
    assert certificate.shortfall == "it is not private"


def test_an_edge_that_the_engine_did_not_see_is_seen_by_the_verifier():
    rng = np.random.default_rng(93)
    for _ in range(40):
        size = 12
        source, target = np.triu_indices(size, 1)
        kept = rng.random(len(source)) < 0.5
        epsilon = rng.uniform(0.05, 1.0, len(source))
        full = hetdp.Problem(hetdp.DatasetGraph.from_edges(source, target, epsilon), np.ones(size, np.int8))
        missed = [i for i in np.flatnonzero(kept).tolist() if rng.random() < 0.1] or [0]
        seen = np.setdiff1d(np.arange(len(source)), missed)
        part = hetdp.DatasetGraph.from_edges(source[seen], target[seen], epsilon[seen], datasets=range(size))
        mechanism = hetdp.extend(hetdp.Problem(part, np.ones(size, np.int8)), hetdp.PartialMechanism(z={0: -1.0}))
        certificate = hetdp.verify(full, mechanism)
        truth = violated_arcs(full, mechanism.coordinates)
        assert certificate.private == (not truth)
        assert certificate.edges == len(source)


def test_a_tight_edge_hidden_from_the_engine_is_caught():
    whole = hetdp.DatasetGraph.from_edges([0, 1, 0], [1, 2, 2], [0.5, 0.5, 0.7])
    part = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], [0.5, 0.5])
    mechanism = hetdp.extend(hetdp.Problem(part, [1, 1, 1]), hetdp.PartialMechanism(z={0: 1.0}))
    certificate = hetdp.verify(hetdp.Problem(whole, [1, 1, 1]), mechanism)
    assert (certificate.private, certificate.worst_edge[:2]) == (False, (0, 2))


def test_a_space_that_yields_fewer_edges_than_it_counts_proves_nothing(monkeypatch):
    problem = path_problem([0.5, 0.5])
    mechanism = hetdp.extend(problem, hetdp.PartialMechanism(z={0: 1.0}))
    monkeypatch.setattr(type(problem.graph), "edge_blocks", lambda self: iter(()))
    assert not hetdp.verify(problem, mechanism).private


def test_without_edges_everything_is_private():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([], [], [], datasets="ab"), [1, 2])
    certificate = hetdp.verify(problem, claim([math.inf, -3.0]))
    assert (certificate.private, certificate.worst_edge, certificate.slack) == (True, None, math.inf)


def test_a_certificate_reads_as_a_sentence():
    good = on_one_edge(1.0, 0.5, -0.25)
    across = "0 across ½ by the full formula, least slack 3.0e-01"
    assert str(good) == f"private on its one edge ({across}); optimal (gap 0.0e+00)."
    bad = on_one_edge(0.5, 1.0, 2.0)
    assert str(bad) == ("NOT PRIVATE: 1 violation in 1 edge; the worst is 0 to 1, ε = 0.5, slack -0.5.")


def test_a_mechanism_that_names_other_datasets_is_not_judged():
    forth = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
    back = hetdp.DatasetGraph.from_edges(["b"], ["a"], 1.0)
    mechanism = hetdp.extend(hetdp.Problem(forth, {"a": 1, "b": 2}), {"a": 0.6, "b": 0.4})
    with pytest.raises(hetdp.InputError, match="datasets: other datasets, or in another order; they are those of the"):
        hetdp.verify(hetdp.Problem(back, {"a": 1, "b": 2}), mechanism)
