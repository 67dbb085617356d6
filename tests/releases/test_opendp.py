"""A mechanism as a measurement of OpenDP: its map never claims less than the true loss, and its draws are exact."""

from __future__ import annotations

import decimal
import math
import sys
import threading
from collections import Counter, deque
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import opendp.prelude as dp
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from opendp.mod import OpenDPException

import hetdp
from hetdp.precision import compute_at_precision
from hetdp.releases import opendp as home

INF = math.inf


@pytest.fixture(scope="module", autouse=True)
def features():
    dp.enable_features("contrib", "honest-but-curious")
    yield
    dp.disable_features("contrib", "honest-but-curious")


def path(notion="pure", answers=(2, 2, 1, 1, 1), classes=None, **columns):
    if not columns:
        columns = {"mu" if notion == "gaussian" else "epsilon": [0.3, 0.1, 0.7, 0.3]}
    graph = hetdp.DatasetGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], classes=classes, **columns)
    return hetdp.Problem(graph, answers, notion=notion, **({"alpha": 2} if notion == "renyi" else {}))


def distances(problem, classes=None):
    """The number of edges between any two datasets, by breadth-first search."""
    source, target = (ends.tolist() for ends in problem.graph.edges()[:2])
    named = problem.graph.edge_classes() or [None] * len(source)
    beside = {number: set() for number in range(problem.graph.size)}
    for one, other, name in zip(source, target, named, strict=True):
        if classes is None or name in classes:
            beside[one].add(other)
            beside[other].add(one)
    found = {}
    for start in beside:
        found[start, start], queue = 0, deque([start])
        while queue:
            at = queue.popleft()
            for other in beside[at] - {end for begin, end in found if begin == start}:
                found[start, other] = found[start, at] + 1
                queue.append(other)
    return found


def exact_p(problem, z):
    """Enclosures of the probabilities of both answers, from the definition of the coordinate."""
    size = arb(abs(z))
    name = problem.notion.coordinate.name
    if math.isinf(z):
        tail = arb(0)
    elif name == "Laplace":
        tail = (-size).exp() / 2
    elif name == "logit":
        tail = 1 / (1 + size.exp())
    else:
        tail = (size / arb(2).sqrt()).erfc() / 2
    return (1 - tail, tail) if z > 0 else (tail, 1 - tail)


def is_private(problem, one, other, epsilon, delta=0.0):
    """Whether two values of z keep ε and δ, in exact arithmetic."""
    if math.isinf(epsilon):
        return True
    ends = sorted([one, other])
    alike = problem.notion.coordinate.name == "Laplace" and np.isfinite(ends).all() and not ends[0] < 0.0 < ends[1]
    if alike and Fraction(ends[1]) - Fraction(ends[0]) <= Fraction(epsilon):
        return True  # on one side of ½ the loss is this difference; enclosures cannot decide that it equals ε

    def decide():
        pairs = zip(exact_p(problem, one), exact_p(problem, other), strict=True)
        bound = arb(epsilon).exp()
        return all(bool(a <= bound * b + arb(delta)) and bool(b <= bound * a + arb(delta)) for a, b in pairs)

    return one == other or compute_at_precision(ctx, 400, decide)


def all_pairs_keep(problem, mechanism, measurement, classes=None):
    z, apart = mechanism.coordinates.tolist(), distances(problem, classes)
    for (one, other), steps in apart.items():
        claimed = measurement.map(steps)
        if problem.notion.name == "gaussian":
            assert z[one] == z[other] or (z[one] - z[other]) ** 2 / 2 <= claimed, (one, other)
            continue
        epsilon, delta = claimed if isinstance(claimed, tuple) else (claimed, 0.0)
        assert is_private(problem, z[one], z[other], epsilon, delta), (one, other, claimed)


NOTIONS = ["pure", "bounded-range", "gaussian", "renyi"]


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("objective", ["fair", "balanced"])
def test_the_map_is_never_below_the_true_loss_of_any_pair(notion, objective):
    problem = path(notion)
    mechanism = hetdp.design(problem, objective)
    all_pairs_keep(problem, mechanism, hetdp.to_opendp(mechanism))


@given(st.data())
@settings(deadline=None)
def test_the_map_is_never_below_the_true_loss_on_random_graphs(data):
    size = data.draw(st.integers(2, 6))
    pairs = data.draw(st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), min_size=1, max_size=9))
    pairs = [pair for pair in sorted(pairs) if pair[0] < pair[1]] or [(0, 1)]
    number = st.sampled_from([0.0, 0.1, 0.3, 1.0, 2.5, 30.0, INF])
    notion = data.draw(st.sampled_from([*NOTIONS, "directed", "approximate"]))

    def column(values=number):
        return [data.draw(values) for _ in pairs]

    columns = {"mu" if notion == "gaussian" else "epsilon": column()}
    if notion in ("directed", "approximate"):
        columns["epsilon_back"] = column()
    if notion == "approximate":
        columns["delta"] = column(st.sampled_from([0.0, 1e-9, 0.2, 1.0]))
    classes = column(st.sampled_from(["a", "b", None]))
    graph = hetdp.DatasetGraph.from_edges(*zip(*pairs, strict=True), datasets=range(size), classes=classes, **columns)
    answers = [data.draw(st.sampled_from([1, 2])) for _ in range(size)]
    problem = hetdp.Problem(graph, answers, notion=notion, **({"alpha": 2} if notion == "renyi" else {}))
    mechanism = hetdp.design(problem)
    all_pairs_keep(problem, mechanism, hetdp.to_opendp(mechanism))
    if "a" in classes:
        all_pairs_keep(problem, mechanism, hetdp.to_opendp(mechanism, classes=["a"]), {"a"})


def test_the_map_is_tight_for_one_edge_and_for_many():
    problem = path()
    measurement = hetdp.to_opendp(hetdp.extend(problem, {1: 0.48, 2: 0.5}))
    assert measurement.check(1, 0.7)
    assert not measurement.check(1, 0.69)
    assert measurement.map(0) == 0.0
    assert measurement.map(5) == measurement.map(4) == measurement.map(10**6)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1.1])
def test_an_epsilon_as_written_passes_the_check_of_opendp(epsilon):
    problem = path(epsilon=epsilon)
    measurement = hetdp.to_opendp(hetdp.design(problem))
    assert measurement.check(1, epsilon)
    assert not measurement.check(1, epsilon * 0.9999)


def test_only_the_edges_of_some_classes_count_as_steps():
    problem = path(classes=["Ann", "Bob", "Ann", None])
    mechanism = hetdp.design(problem)
    by_ann, by_bob = (hetdp.to_opendp(mechanism, classes=[name]) for name in ("Ann", "Bob"))
    assert by_bob.check(1, 0.1)
    assert by_bob.check(5, 0.1)  # Bob's one edge leads nowhere else
    assert not by_ann.check(1, 0.1)
    assert by_ann.input_metric != by_bob.input_metric
    for wanted, message in [(["Anne"], "unknown class 'Anne'"), ("Ann", "classes='Ann'; it lists classes of edges")]:
        with pytest.raises(hetdp.UsageError, match=message):
            hetdp.to_opendp(mechanism, classes=wanted)
    with pytest.raises(hetdp.UsageError, match="unknown class 'Ann'; no edge has a class"):
        hetdp.to_opendp(hetdp.design(path()), classes=["Ann"])


def test_an_edge_without_a_constraint_counts_as_a_step():
    problem = path(epsilon=[1, INF, 1, 1], answers=(2, 2, 1, 1, 1))
    assert hetdp.to_opendp(hetdp.extend(problem, {})).map(1) == INF


def test_delta_grows_as_group_privacy_says():
    problem = path("approximate", epsilon=0.5, delta=1e-3)
    measurement = hetdp.to_opendp(hetdp.design(problem))
    assert measurement.map(1) == (0.5, 1e-3)
    epsilon, delta = measurement.map(3)
    assert epsilon == 1.5
    true = 1e-3 * (1 + math.exp(0.5) + math.exp(1.0))
    assert true * (1 - 1e-15) <= delta <= true * (1 + 1e-12)
    assert measurement.map(0) == (0.0, 0.0)
    assert measurement.map(10**5) == (50_000.0, 1.0)
    assert measurement.check(1, (0.5, 1e-3))
    assert not measurement.check(1, (0.5, 9e-4))


@pytest.mark.parametrize("epsilon", [0.0, 1e-70, 1.23456789e-55, 1e-9, 0.5, 1.0])
@pytest.mark.parametrize("steps", [2, 3, 7])
def test_group_privacy_is_rounded_up_for_tiny_epsilons_and_in_any_decimal_context(epsilon, steps):
    with decimal.localcontext(decimal.Context(prec=3, rounding=decimal.ROUND_FLOOR)):
        _, delta = home._group_privacy(epsilon, 0.001, steps)

    def true_delta():
        return arb(0.001) * sum(((arb(epsilon) * step).exp() for step in range(steps)), arb(0))

    found = compute_at_precision(ctx, 600, true_delta)
    assert arb(delta) >= found.lower()
    assert delta == pytest.approx(float(found.mid()), rel=1e-12)


def test_threads_that_ask_at_once_do_not_shorten_each_others_distances(monkeypatch):
    problem = path()
    mechanism = hetdp.design(problem)
    expected = [home.StepLosses(problem, mechanism).at(steps) for steps in range(6)]
    losses, compare = home.StepLosses(problem, mechanism), np.array_equal

    def compare_while_another_thread_asks(one, other):
        monkeypatch.setattr(home.np, "array_equal", compare)
        thread = threading.Thread(target=losses.at, args=(3,))
        thread.start()
        thread.join()
        return compare(one, other)

    monkeypatch.setattr(home.np, "array_equal", compare_while_another_thread_asks)
    assert [losses.at(steps) for steps in range(6)] == expected


def test_gaussian_privacy_becomes_zero_concentrated():
    problem = path("gaussian", mu=0.5)
    measurement = hetdp.to_opendp(hetdp.design(problem))
    assert measurement.output_measure == dp.zero_concentrated_divergence()
    assert measurement.map(1) == pytest.approx(0.125, abs=1e-8)
    assert measurement.check(1, 0.125)


def test_measurements_compose_in_opendp_and_losses_add_up():
    problem = path()
    fair, balanced = (hetdp.to_opendp(hetdp.design(problem, name)) for name in ("fair", "balanced"))
    both = dp.c.make_composition([fair, balanced])
    assert both.map(1) == pytest.approx(fair.map(1) + balanced.map(1))
    assert both.map(1) >= fair.map(1) + balanced.map(1)
    assert both.check(1, 1.4000001)
    assert set(both(3)) <= {1, 2}


def test_measurements_of_other_problems_do_not_compose():
    other = hetdp.to_opendp(hetdp.design(path(epsilon=[0.3, 0.1, 0.7, 0.4])))
    with pytest.raises(OpenDPException, match=r"[Dd]omain"):
        dp.c.make_composition([hetdp.to_opendp(hetdp.design(path())), other])


def test_it_is_a_query_of_a_queryable_that_counts_what_is_spent():
    problem = path()
    measurement = hetdp.to_opendp(hetdp.design(problem))
    spending = dp.c.make_adaptive_composition(
        measurement.input_domain, measurement.input_metric, measurement.output_measure, 1, [0.7, 0.7]
    )
    session = spending(2)
    assert session(measurement) in (1, 2)
    assert session(measurement) in (1, 2)
    with pytest.raises(OpenDPException):
        session(measurement)


def test_answers_are_drawn_with_the_probability_of_the_mechanism():
    problem = path(epsilon=[0, INF, INF, 2], answers=(2, 2, 1, 1, 1))
    sure = hetdp.to_opendp(hetdp.extend(problem, {1: 0.0, 2: 1.0}))
    assert [sure(label) for label in range(5)] == [2, 2, 1, 1, 1]
    even = hetdp.to_opendp(hetdp.extend(path(epsilon=0), {1: 0.5, 2: 0.5}))
    counts = Counter(even(0) for _ in range(400))
    assert min(counts[1], counts[2]) > 120  # missed by a fair coin once in 10^15 runs


def test_the_draw_is_the_exact_one_at_the_value_of_the_dataset(monkeypatch):
    asked = []
    monkeypatch.setattr(home, "draw", lambda name, z: asked.append((name, z)) or True)
    mechanism = hetdp.design(path())
    measurement = hetdp.to_opendp(mechanism)
    assert [measurement(label) for label in range(5)] == [1] * 5
    assert asked == [("Laplace", z) for z in mechanism.coordinates.tolist()]


def test_votes_are_measured_by_changes_of_one_vote():
    epsilon = {"Ann": 0.1, "Bob": 0.3, "Cyd": 0.7}
    problem = hetdp.spaces.votes(list(epsilon), hetdp.questions.majority(), epsilon)
    mechanism = hetdp.design(problem)
    all_pairs_keep(problem, mechanism, hetdp.to_opendp(mechanism))
    ann = hetdp.to_opendp(mechanism, classes=["Ann"])
    assert ann.map(1) <= 0.1
    assert ann(("yes", "no", "yes")) in (1, 2)


def test_a_dataset_that_is_not_there_is_refused_without_naming_it():
    measurement = hetdp.to_opendp(hetdp.design(path()))
    for label in (77, "secret", [1]):
        with pytest.raises(OpenDPException) as caught:
            measurement(label)
        assert "the argument is no dataset of the problem" in str(caught.value)
        assert "secret" not in str(caught.value.message)
    assert measurement.input_domain.member(3)
    assert not measurement.input_domain.member(77)


@pytest.mark.parametrize("steps", [-1, 1.0, True, "1", None])
def test_a_distance_is_a_whole_number_of_edges(steps):
    losses = home.StepLosses(path(), hetdp.design(path()))
    with pytest.raises(hetdp.UsageError, match="a distance is a whole number of edges"):
        losses.at(steps)


def test_only_a_private_mechanism_becomes_a_measurement(monkeypatch):
    with pytest.raises(hetdp.UsageError, match="expected a Mechanism, got a Problem; to_opendp makes a measurement"):
        hetdp.to_opendp(path())
    mechanism = hetdp.design(path())
    wrong = replace(mechanism, coordinates=np.array([-9.0, -5, 5, 6, 7]))
    with pytest.raises(hetdp.VerificationError):
        hetdp.to_opendp(wrong)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(hetdp.UsageError) as caught:
        hetdp.to_opendp(mechanism)
    message = (
        "OpenDP is not installed; to_opendp needs it. Hint: pip install '.[opendp]', in the folder of hetdp's sources"
    )
    assert str(caught.value) == message


def test_features_that_are_not_enabled_are_named():
    dp.disable_features("honest-but-curious")
    try:
        with pytest.raises(hetdp.UsageError, match="honest-but-curious") as caught:
            hetdp.to_opendp(hetdp.design(path()))
    finally:
        dp.enable_features("honest-but-curious")
    assert str(caught.value).endswith('Hint: opendp.prelude.enable_features("contrib", "honest-but-curious")')


def test_all_small_products_of_steps_agree_with_all_pairs():
    votes = hetdp.spaces.hypercube(3, lambda one, other: 0.2 if "1" in one + other else 0.5)
    problem = hetdp.Problem(votes, lambda label: 1 if label.count("1") > 1 else 2)
    mechanism = hetdp.design(problem, "balanced")
    measurement = hetdp.to_opendp(mechanism)
    z, apart = dict(zip(problem.graph.labels.names, mechanism.coordinates.tolist(), strict=True)), distances(problem)
    names = list(problem.graph.labels.names)
    for steps in range(4):
        pairs = [(one, other) for one, other in product(range(8), repeat=2) if apart[one, other] <= steps]
        true = max(
            abs(math.log(a / b))
            for one, other in pairs
            for a, b in zip(values(z[names[one]]), values(z[names[other]]), strict=True)
        )
        assert true - 1e-12 <= measurement.map(steps) <= true + 2e-9


def values(z):
    tail = math.exp(-abs(z)) / 2
    return (1 - tail, tail) if z > 0 else (tail, 1 - tail)
