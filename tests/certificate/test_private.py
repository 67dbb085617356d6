"""verify on single edges and whole graphs: every violation is caught, however small, and nothing right is refused."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.certificate import certificate, rule
from hetdp.certificate.enclosure import crossing_holds, crossing_slack
from hetdp.problem.space import EdgeBlock
from hetdp.theory.pure import PURE
from tests.certificate.claims import claim, claim_of, next_float, path_problem, verify_edge
from tests.loops import for_each
from tests.mechanism.problems import cases, violated_arcs
from tests.partitioned.problems import SHAPES, random_problem
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


@for_each("sign", [1, -1])
@for_each("turned", [False, True])
@for_each(("z", "epsilon"), PLAIN)
def test_one_float_more_on_a_tight_plain_edge_is_caught(z, epsilon, turned, sign):
    bound = at_the_bound(z, epsilon)
    for value, private in ((bound, True), (next_float(bound), False)):
        ends = (sign * value, sign * z) if turned else (sign * z, sign * value)
        certificate = verify_edge(epsilon, *ends)
        assert certificate.private == private
        assert certificate.violations == (not private)
        assert (certificate.slack < 0.0) == (not private)
        assert certificate.worst_edge is not None
        assert certificate.worst_edge.slack == certificate.slack


@for_each("sign", [1, -1])
@for_each("turned", [False, True])
@for_each(("z", "epsilon"), CROSSING)
def test_a_few_floats_more_on_an_edge_across_a_half_are_caught(z, epsilon, turned, sign):
    bound = at_the_bound(z, epsilon)
    assert bound > 0.0
    for value, private in ((bound, True), (next_float(bound, 200), False)):
        ends = (sign * value, sign * z) if turned else (sign * z, sign * value)
        certificate = verify_edge(epsilon, *ends)
        assert certificate.private == private
        assert certificate.enclosed == 1
        assert (certificate.slack < 0.0) == (not private)


INFINITE = [(0.0, math.inf), (-1.0, math.inf), (5.0, math.inf), (-math.inf, -700.0), (-math.inf, 0.0), (-math.inf, 3.0)]


@for_each("epsilon", [0.0, 1.0, 1e3, 1e300, 1.7e308])
@for_each(("source", "target"), [*INFINITE, (-math.inf, math.inf), (1e308, math.inf), (-math.inf, -1e308)])
def test_certainty_beside_uncertainty_is_caught(epsilon, source, target):
    assert not verify_edge(epsilon, source, target).private
    assert not verify_edge(epsilon, target, source).private
    assert not verify_edge(epsilon, -source, -target).private


@pytest.mark.parametrize("z", [math.inf, -math.inf])
def test_certainty_beside_the_same_certainty_is_private(z):
    assert verify_edge(0.0, z, z).private
    assert verify_edge(1e3, z, z).private


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
            epsilon = next_float(-source + math.log(2), rng.randint(-3, 3))
        if source + epsilon <= 0.0:
            continue
        with precision(400):
            t = arb(source) + arb(epsilon)
            bound = arb(epsilon) - (2 - arb(source).exp()).log()
            if 2 - t.exp() > 0:
                bound = bound.min(-(2 - t.exp()).log())
            nearest = float(bound.mid())
        found += [(source, next_float(nearest, k), epsilon) for k in (-2, -1, 0, 1, 2)]
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
    assert verify_edge(8 * size, -size, size).private
    assert not verify_edge(size, -size, size).private


@given(cases(), st.data())
def test_the_verdict_is_that_of_the_slow_exact_check(case, data):
    mechanism = case.extend()
    size = len(case.answers)
    shifts = data.draw(st.lists(st.sampled_from([0, 0, 0, 1, -1, 300, -300]), min_size=size, max_size=size))
    shifted = claim([next_float(z, k) for z, k in zip(mechanism.coordinates.tolist(), shifts, strict=True)])
    violated = violated_arcs(mechanism.problem, shifted.coordinates)
    certificate = hetdp.verify(mechanism.problem, shifted)
    assert (certificate.private, certificate.violations) == (not violated, len(violated))


@given(cases())
@settings(max_examples=50)
def test_counts_are_right(case):
    certificate = case.extend().certificate
    graph, z = case.graph, case.extend().coordinates
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
    good.coordinates[77_777] = next_float(good.coordinates[77_777], 1)
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
        edges_kept = rng.random(len(source)) < 0.5
        epsilon = rng.uniform(0.05, 1.0, len(source))
        full = hetdp.Problem(hetdp.DatasetGraph.from_edges(source, target, epsilon), np.ones(size, np.int8))
        missed = [i for i in np.flatnonzero(edges_kept).tolist() if rng.random() < 0.1] or [0]
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
    good = verify_edge(1.0, 0.5, -0.25)
    across = "least slack 3.0e-01"
    assert str(good) == f"private on its one edge ({across}); optimal (gap 0.0e+00)."
    bad = verify_edge(0.5, 1.0, 2.0)
    assert (bad.private, bad.optimal, bad.gap, bad.shortfall) == (False, False, math.inf, "it is not private")
    assert str(bad) == ("NOT PRIVATE: 1 violation in 1 edge; the worst is 0 to 1, ε = 0.5, slack -0.5.")


def test_a_mechanism_on_other_datasets_is_refused():
    forth = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
    back = hetdp.DatasetGraph.from_edges(["b"], ["a"], 1.0)
    mechanism = hetdp.extend(hetdp.Problem(forth, {"a": 1, "b": 2}), {"a": 0.6, "b": 0.4})
    with pytest.raises(hetdp.InputError, match="datasets: other datasets, or in another order; they are those of the"):
        hetdp.verify(hetdp.Problem(back, {"a": 1, "b": 2}), mechanism)


# Checking the edges of some datasets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 7, 1 << 10])
def test_checking_some_datasets_finds_the_violations_there_and_nothing_else(rows, monkeypatch):
    monkeypatch.setattr(certificate, "ROWS_AT_ONCE", rows)
    rng, found = np.random.default_rng(rows), []
    for seed in range(30):
        problem, pins = random_problem(seed, SHAPES[seed % 4])
        size = problem.graph.size
        z = np.where(np.isnan(pins.z), np.where(rng.random(size) < 0.3, 0.0, np.nan), pins.z)
        z[rng.random(size) < 0.05] += 1e-12
        datasets = np.flatnonzero(~np.isnan(z) & (rng.random(size) < 0.3))
        inside = set(datasets.tolist())
        bad = [arc for arc in violated_arcs(problem, np.nan_to_num(z)) if not np.isnan(z[list(arc)]).any()]
        expected = any(inside & set(arc) for arc in bad)
        assert certificate.sees_violation(problem, z, datasets) == expected
        found.append((expected, bool(bad)))
    assert {(True, True), (False, True), (False, False)} <= set(found)


@for_each("notion", ["pure", "directed", "approximate", "gaussian", "bounded-range"])
def test_checking_every_dataset_agrees_with_the_proof_of_every_edge(notion):
    rng, seen = np.random.default_rng(5), set()
    for seed in range(20):
        problem, _ = random_problem(seed, SHAPES[seed % 4], notion=notion)
        z = hetdp.design(problem, "balanced").coordinates * (1.0 + 1e-12 * (seed % 2) * rng.random(problem.graph.size))
        private = hetdp.verify(problem, hetdp.PartialMechanism(z=z)).private
        assert certificate.sees_violation(problem, z, np.arange(problem.graph.size)) == (not private)
        seen.add(private)
    assert seen == {True, False}


def test_nothing_is_found_where_edges_are_not_stored():
    problem = hetdp.spaces.votes(3, hetdp.questions.majority(), 1.0)
    z = np.where(problem.answers == 1, 50.0, -50.0)
    assert not hetdp.verify(problem, hetdp.PartialMechanism(z=z)).private
    assert not certificate.sees_violation(problem, z, np.arange(problem.graph.size))


def test_of_arcs_with_the_same_slack_the_first_one_is_reported():
    block = EdgeBlock(np.array([3, 1, 1]), np.array([0, 5, 2]), (np.array([1.0, 0.5, 0.25]),))
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        seen = rule.Survey(links=None)
        assert seen.least(9) == (math.inf, 9)
        for at in order:
            seen.offer(block, at, 0.125)
        assert seen.worst == (1, 2, 0.25)
        assert seen.least(9) == (0.125, 1)
        seen.offer(block, 0, 0.0)
        assert (seen.slack, seen.worst, seen.least(9)) == (0.0, (3, 0, 1.0), (0.0, 3))
        seen.offer(block, 1, -0.5)
        assert (seen.slack, seen.worst, seen.least(9)) == (-0.5, (1, 5, 0.5), (0.0, -1))
    seen.add(4, 2, 1)
    seen.add(1, 1, 1)
    assert (seen.arcs, seen.enclosed, seen.violations) == (5, 3, 2)
    both = EdgeBlock(np.array([0]), np.array([1]), tuple(np.array([x]) for x in (1.0, 2.0, 0.25, 0.5)))
    seen.offer(both, 0, -1.0)
    assert seen.worst == (0, 1, 1.0, 0.25)  # ε and δ of this direction


def test_a_certificate_names_its_method_and_what_the_full_formula_settled():
    edge = rule.WorstEdge("a", "b", 0.5, 0.25)
    fine = certificate.Certificate(True, True, edge, 0.25, 1.01e-12, 2, 1, 0, "")
    assert str(fine) == (
        "private on all 2 edges (least slack 2.5e-01; 1 comparison across ½ needed the exact formula);"
        " optimal (gap 1.1e-12)."
    )
    loose = replace(fine, optimal=False, shortfall="a link is not tight (dataset b)", enclosed=0, method="mine")
    assert str(loose) == (
        "private on all 2 edges (least slack 2.5e-01); not shown optimal: a link is not tight (dataset b) (mine)."
    )
    assert replace(fine, violations=2, edges=1).violated == (
        "2 violations in 1 edge; the worst is a to b, ε = 0.5, slack 0.25"
    )
    assert "needed the exact formula" not in str(replace(fine, enclosed=0))


def test_a_path_contradicts_a_value_only_if_it_certainly_allows_less():
    half = [{"epsilon": 0.5}]
    assert certificate.contradicts(PURE, 0.0, half, math.nextafter(0.5, 1.0))
    assert not certificate.contradicts(PURE, 0.0, half, 0.5)
    assert not certificate.contradicts(PURE, 0.0, half, 0.25)
    assert not certificate.contradicts(PURE, 0.5, [{"epsilon": 0.0}], 0.5)
    assert certificate.contradicts(PURE, 0.5, [{"epsilon": 0.0}], 0.75)
    assert certificate.contradicts(PURE, -math.inf, half, -50.0)
    assert not certificate.contradicts(PURE, -50.0, half, -math.inf)
    assert not certificate.contradicts(PURE, 0.0, [*half, {"epsilon": math.inf}], 50.0)
    assert not certificate.contradicts(PURE, 0.0, half * 2, 1.0)
    assert certificate.contradicts(PURE, 0.0, half * 2, math.nextafter(1.0, 2.0))


def test_repeated_arcs_across_a_half_get_the_verdict_of_their_own_numbers():
    met = PURE.meet(1.0)
    high = np.array([met, met, met + 1e-13, met + 1e-13, met, 2.0, met - 1e-12])
    low, epsilon = np.full(7, -met), np.ones(7)
    low[2:4] = -met - 1e-13
    holds, slack = crossing_holds(low, high, epsilon)
    assert holds.tolist() == [True, True, False, False, True, False, True]
    assert slack.tolist() == pytest.approx(crossing_slack(low, high, epsilon).tolist(), abs=1e-15)
    alone = [bool(crossing_holds(low[at : at + 1], high[at : at + 1], epsilon[:1])[0][0]) for at in range(7)]
    assert alone == holds.tolist()


def test_the_method_says_whether_values_were_rounded_to_z():
    problem = path_problem([1.0])
    for values in ({0: 0.5, 1: 0.5}, hetdp.PartialMechanism(p=[0.5, 0.5]), hetdp.PartialMechanism(error=[0.5, 0.5])):
        assert hetdp.verify(problem, values).method == certificate.EVERY_EDGE_ROUNDED
    mixed = hetdp.PartialMechanism(z={0: 0.0}, p={1: 0.5})
    assert hetdp.verify(problem, mixed).method == certificate.EVERY_EDGE_ROUNDED
    assert hetdp.verify(problem, hetdp.PartialMechanism(z=[0.0, 0.0])).method == certificate.EVERY_EDGE


def test_missing_values_and_pins_are_named_in_every_block(monkeypatch):
    monkeypatch.setattr(certificate, "BLOCK", 2)
    problem = path_problem([1.0] * 5)
    with pytest.raises(hetdp.InputError, match="dataset 4: no value;"):
        hetdp.verify(problem, hetdp.PartialMechanism(z=[0.0, 0.0, 0.0, 0.0, math.nan, 0.0]))
    across = hetdp.Problem(problem.graph, [1, 1, 1, 2, 2, 2])
    found = hetdp.verify(across, claim([0.0] * 6, pinned=[True, True, False, True, True, True]))
    assert (found.private, found.optimal, found.gap) == (True, False, math.inf)
    assert found.shortfall == "a boundary dataset is not pinned (dataset 2)"
    pinned = hetdp.verify(across, claim([0.0] * 6, pinned=[True, True, True, False, True, True]))
    assert pinned.shortfall == "a boundary dataset is not pinned (dataset 3)"


def test_a_certificate_is_shown_with_its_worst_edge_if_there_is_one():
    shown = re.sub("<[^>]*>", "|", verify_edge(1.0, 0.5, -0.25)._repr_html_())
    assert "|Certificate|" in shown
    assert "|on the edge||" in shown
    bare = hetdp.verify(hetdp.Problem(hetdp.DatasetGraph.from_edges([], [], [], datasets="a"), [1]), claim([math.inf]))
    assert "on the edge" not in bare._repr_html_()
