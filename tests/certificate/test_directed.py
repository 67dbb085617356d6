"""verify on directed ε and δ, arc by arc, against the definition at high precision."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flint import arb

import hetdp
from hetdp.certificate import directed
from hetdp.certificate.directed import Judgement, judge
from tests.certificate.claims import claim, next_float
from tests.certificate.notions import comparison, doubled_p, private_arc, problem_of, z_below
from tests.loops import for_each
from tests.theory.exact import precision

HALF = 0.5
LN2 = math.log(2.0)
ENDS = [0.0, 1.0, -1.0, 40.0, -40.0, 800.0, -800.0, 1e5, -1e5, 5e-324, -5e-324, math.inf, -math.inf, LN2, -LN2]
EPSILONS = [0.0, 5e-324, 1e-320, 1e-12, 0.5, LN2, 1.0, 40.0, 800.0, 1e5, math.inf]
DELTAS = [0.0, 5e-324, 1e-310, 1e-300, 1e-15, 1e-6, 0.25, HALF, next_float(HALF, -1), next_float(HALF), 1.0 - 2**-53]


def judge_points(points: list[tuple[float, ...]]) -> Judgement:
    a, b, epsilon, delta = np.array(points).T
    return judge(a, b, epsilon, delta)


def count_agreeing(points: list[tuple[float, ...]]) -> int:
    """Asserts that every verdict is that of the definition, and returns how many comparisons hold."""
    found = judge_points(points)
    exact = [comparison(*point) for point in points]
    wrong = [point for point, one, other in zip(points, found.holds.tolist(), exact, strict=True) if one != other]
    assert wrong == []
    assert ((found.slack >= 0.0) == found.holds).all()
    return sum(exact)


def test_every_mixture_of_special_values_is_decided_as_the_definition_says():
    points: list[tuple[float, ...]] = [(a, b, e, d) for a in ENDS for b in ENDS for e in EPSILONS for d in DELTAS]
    assert 2000 < count_agreeing(points) < len(points) - 2000


def floats_around(exact: arb) -> list[float]:
    nearest = float(exact.mid())
    return [next_float(nearest, k) for k in (-2, -1, 0, 1, 2)]


def tight_comparisons(rng: random.Random) -> list[tuple[float, ...]]:
    """Comparisons within two floats of equality; either a or ε is the number that was chosen last."""
    b = rng.choice(
        [-(10 ** rng.uniform(-12, 2.9)), 10 ** rng.uniform(-12, 2), rng.uniform(-3, 3), -rng.uniform(0, 745)]
    )
    epsilon = rng.choice([10 ** rng.uniform(-12, 0.5), rng.uniform(0, 3), abs(b), 0.0, abs(b) * rng.uniform(0.5, 1.0)])
    delta = rng.choice([0.0, 10 ** rng.uniform(-12, -0.3), 10 ** rng.uniform(-323, -1), rng.random()])
    with precision(1600):
        top = arb(epsilon).exp() * doubled_p(b) + 2 * arb(delta)
        if top >= 2 or top <= 0:
            return []
        a = top.log() if top <= 1 else -(2 - top).log()
        points: list[tuple[float, ...]] = [(value, b, epsilon, delta) for value in floats_around(a)]
        if points[2][0] > b:
            value = points[2][0]
            more = doubled_p(value) - 2 * arb(delta)
            points += (
                [(value, b, x, delta) for x in floats_around((more / doubled_p(b)).log()) if x >= 0.0]
                if more > 0
                else []
            )
    return points


def test_comparisons_within_a_float_of_equality_are_decided_exactly():
    rng = random.Random(5)
    points = [point for _ in range(3000) for point in tight_comparisons(rng)]
    assert len(points) > 15_000
    assert 5000 < count_agreeing(points) < len(points) - 5000


SMALLEST = [0.0, 5e-324, 1e-320, 1e-310, 1e-200, 2.0**-538, 2.0**-537, 1e-160, 1e-100, 1e-50]


def test_the_smallest_numbers_next_to_a_half_are_decided_exactly():
    """Where first-order, second-order and cross terms of the exponentials can be of one size."""
    ends = [sign * x for x in SMALLEST for sign in (1, -1)]
    points: list[tuple[float, ...]] = [(a, b, e, d) for a in ends for b in ends for e in SMALLEST for d in SMALLEST]
    assert 500 < count_agreeing(random.Random(4).sample(points, 3000)) < 2500


def test_random_comparisons_are_decided_exactly():
    rng = random.Random(6)

    def size() -> float:
        return rng.choice([0.0, 10 ** rng.uniform(-320, 3), 10 ** rng.uniform(-3, 1), math.inf])

    points = [
        (size() * rng.choice([1, -1]), size() * rng.choice([1, -1]), size(), 10 ** rng.uniform(-330, -1e-9))
        for _ in range(8000)
    ]
    assert 1000 < count_agreeing(points) < 7000


EQUALITIES = [
    (math.inf, -1.0, 1.0, HALF),
    (math.inf, -800.0, 800.0, HALF),
    (math.inf, 0.0, 0.0, HALF),
    (0.0, -math.inf, 3.0, HALF),
    (-math.inf, -math.inf, 0.0, 0.0),
    (math.inf, math.inf, 0.0, 0.0),
    (0.25, 0.25, 0.0, 0.0),
    (-0.25, -0.75, 0.5, 0.0),
    (-1e5, -1e5 - 0.5, 0.5, 0.0),
    (-1e308, -1.5e308, 5e307, 0.0),
]


@for_each("point", EQUALITIES)
def test_equality_is_private_and_one_float_more_is_not(point):
    a, b, epsilon, delta = point

    def holds(*each: float) -> bool:
        return bool(judge_points([each]).holds[0])

    assert holds(*point)
    assert delta == 0.0 or not holds(a, b, epsilon, next_float(delta, -1))
    assert a == math.inf or a == -math.inf or not holds(next_float(a), b, epsilon, delta)
    assert b in (math.inf, -math.inf) or not holds(a, next_float(b, -1), epsilon, delta)
    assert epsilon == 0.0 or b == -math.inf or not holds(a, b, next_float(epsilon, -1), delta)


DEEP = [
    (-1e308, -math.inf, 1.0, 5e-324, True),
    (-744.0, -math.inf, 1.0, 5e-324, True),
    (-743.0, -math.inf, 1.0, 5e-324, False),
    (-800.0, -1e6, 0.0, 1e-320, True),
    (-800.0, -1e6, 0.0, 0.0, False),
    (1e308, 1e3, 0.0, 0.0, False),
    (1e308, 1e3, 5e-324, 0.0, True),
    (1e308, 7e2, 5e-324, 0.0, False),
    (1e308, 7e2, 1e-320, 5e-324, False),
    (1e308, 1e3, 0.0, 1e-300, True),
    (math.inf, -1.7e308, 1.7e308, 0.0, False),
    (math.inf, -1.6e308, 1.7e308, 0.0, True),
    (math.inf, -1.0, 1.7e308, 0.0, True),
    (math.inf, -math.inf, 1.7e308, 1.0 - 2**-53, False),
    (math.inf, -math.inf, math.inf, 0.0, True),
    (1e308, -1.0, 1.0, HALF, True),
    (1e5, next_float(-1.0, -1), 1.0, HALF, False),
    (1e5, -1.0, 1.0, next_float(HALF, -1), False),
    (36.0, next_float(-1.0, -1), 1.0, HALF, True),
    (38.0, next_float(-1.0, -1), 1.0, HALF, False),
    (next_float(0.0), -math.inf, 1.0, HALF, False),
    (next_float(0.0), 0.0, 0.0, 0.0, False),
    (next_float(0.0), 0.0, 0.0, 5e-324, True),
    (next_float(0.0), 0.0, 5e-324, 0.0, True),
]


@pytest.mark.parametrize(("a", "b", "epsilon", "delta", "expected"), DEEP)
def test_deep_tails_and_the_smallest_numbers_are_judged_exactly(a, b, epsilon, delta, expected):
    found = judge_points([(a, b, epsilon, delta)])
    assert (bool(found.holds[0]), bool(found.slack[0] >= 0.0)) == (expected, expected)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("notion", ["directed", "approximate"])
def test_the_verdict_the_count_and_the_worst_edge_are_right_on_graphs(notion, seed):
    rng = np.random.default_rng(seed)
    size = 8
    source, target = np.triu_indices(size, 1)
    columns = [rng.uniform(0.0, 2.5, len(source)) for _ in range(2)]
    one_way = rng.random(len(source)) < 0.2
    columns[0][one_way] = math.inf
    if notion == "approximate":
        columns += [
            np.where(rng.random(len(source)) < 0.3, 0.0, 10 ** rng.uniform(-6, -0.5, len(source))) for _ in "12"
        ]
    z = rng.normal(0.0, 0.8, size)
    problem = problem_of(notion, source, target, columns, np.ones(size, np.int8))
    certificate = hetdp.verify(problem, claim(z))
    arcs = {}
    block = problem.graph.__dict__["block"]
    deltas = block.parameters[2] if notion == "approximate" else np.zeros(len(block.source))
    columns = (block.source.tolist(), block.target.tolist(), block.parameters[0], deltas)
    for u, v, epsilon, delta in zip(*columns, strict=True):
        arcs[u, v] = private_arc(z[u], z[v], float(epsilon), float(delta)), slack(z[u], z[v], epsilon, delta)
    assert certificate.violations == sum(not holds for holds, _ in arcs.values())
    assert certificate.private == all(holds for holds, _ in arcs.values())
    assert certificate.edges == len(source)
    least = min(value for _, value in arcs.values())
    worst = certificate.worst_edge
    assert certificate.slack == worst.slack == pytest.approx(least, abs=1e-12)
    assert arcs[worst.source, worst.target][1] == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize("notion", ["directed", "approximate"])
@pytest.mark.parametrize("seed", range(10))
def test_with_one_epsilon_both_ways_and_no_delta_the_verdict_is_that_of_pure_privacy(notion, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    source, target = (ends[:400] for ends in np.triu_indices(60, 1))
    epsilon = rng.uniform(0.05, 1.0, len(source))
    graph = hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=range(60))
    pure = hetdp.Problem(graph, np.ones(60, np.int8))
    z = hetdp.extend(pure, hetdp.PartialMechanism(z={0: float(rng.normal(-1.5, 1.5))})).coordinates.copy()
    used = next(graph.edge_blocks())
    forth = used.source < used.target
    floored = used.parameters[0][forth]
    columns = [floored, floored] + [np.zeros(len(floored))] * 2 * (notion == "approximate")
    problem = problem_of(notion, used.source[forth], used.target[forth], columns, np.ones(60))
    for private in (True, False):
        one = hetdp.verify(pure, claim(z))
        monkeypatch.setattr(directed, "SMALL_SPACE", 10**9)
        other = hetdp.verify(problem, claim(z))
        monkeypatch.setattr(directed, "SMALL_SPACE", 0)
        assert hetdp.verify(problem, claim(z)) == other  # sifted first, by the compiled loop
        assert (one.private, other.private) == (private, private)
        assert one.edges == other.edges  # violations may differ: directions pair the answers otherwise
        assert other.slack == pytest.approx(one.slack, abs=1e-12)
        z[7] += rng.choice([3.0, -3.0])


def slack(source: float, target: float, epsilon: float, delta: float) -> float:
    """ε minus log((Pr at source − δ) / Pr at target), the larger of both answers."""

    def needed_epsilon(a: float, b: float) -> float:
        p, q = (0.5 * math.exp(z) if z <= 0.0 else 1.0 - 0.5 * math.exp(-z) for z in (a, b))
        return math.log((p - delta) / q) if p > delta else -math.inf

    return float(epsilon - max(needed_epsilon(source, target), needed_epsilon(-source, -target)))


def test_each_direction_has_its_own_epsilon():
    """ε from 0 to 1 is 0.5 and from 1 to 0 none: p may fall from 1 to 0 by any factor, not rise."""
    problem = problem_of("directed", [0], [1], [[0.5], [math.inf]], [1, 1])
    assert hetdp.verify(problem, claim([-1.0, -0.5])).private
    assert not hetdp.verify(problem, claim([-0.5, -1.0 - 1e-9])).private
    assert hetdp.verify(problem, claim([-math.inf, -1.0])).private  # p may rise from 0, if 1 − p falls by little
    assert not hetdp.verify(problem, claim([-math.inf, 1.0])).private
    assert hetdp.verify(problem, claim([-3.0, -0.1])).violations == 1  # answer 2: 1 − p falls by more than e^−0.5
    assert hetdp.verify(problem, claim([-3.0, -2.0])).private


def partition_selection(epsilon: float, delta: float, length: int) -> list[float]:
    """z of π(n) = min(e^ε π(n − 1) + δ, 1 − e^−ε(1 − π(n − 1) − δ), 1), π(0) = 0, each rounded down from the last."""
    found = [-math.inf]
    with precision(400):
        for _ in range(length):
            last, w = doubled_p(found[-1]) / 2, arb(epsilon).exp()
            found.append(z_below((w * last + delta).min(1 - (1 - last - delta) / w).min(arb(1))))
    return found


@pytest.mark.parametrize(
    ("epsilon", "delta", "length"), [(0.5, 1e-6, 60), (1.0, 1e-3, 14), (0.1, 0.05, 30), (0.0, 0.125, 7)]
)
def test_optimal_partition_selection_is_private_and_optimal_and_a_bit_more_is_not(epsilon, delta, length):
    z = partition_selection(epsilon, delta, length)
    steps = np.arange(length)
    problem = problem_of("approximate", steps, steps + 1, [[epsilon], [epsilon], [delta], [delta]], np.ones(length + 1))
    links, pinned = np.arange(length + 1) - 1, np.arange(length + 1) == 0
    certificate = hetdp.verify(problem, claim(z, pinned, links))
    assert certificate.private
    assert certificate.optimal
    assert 0.0 < certificate.gap < 1e-9
    assert z[-1] > (10.0 if epsilon else 1.0)
    for at in range(1, length + 1):
        if z[at] < math.inf:
            more = list(z)
            more[at] = z[at] + 64 * max(math.ulp(z[at]), 2.0**-52 * math.exp(z[at]))
            refuted = hetdp.verify(problem, claim(more))
            assert not refuted.private
            assert refuted.slack < 0.0


def test_a_certificate_with_delta_reads_as_a_sentence():
    problem = problem_of("approximate", [0], [1], [[0.5], [0.5], [1e-6], [1e-6]], [1, 1])
    bad = hetdp.verify(problem, claim([-1.0, -3.0]))
    assert str(bad).startswith(
        "NOT PRIVATE: 1 violation in 1 edge; the worst is 0 to 1, ε = 0.5, δ = 1e-06, slack -1.5"
    )
    assert bad.worst_edge._asdict().keys() == {"source", "target", "epsilon", "delta", "slack"}
    good = hetdp.verify(problem, claim([-1.0, -1.25]))
    assert str(good).startswith("private on its one edge (least slack 2.5e-01)")


def test_a_direction_with_a_delta_of_one_asks_for_nothing_however_deep_the_tails():
    graph = hetdp.DatasetGraph.from_edges([0], [1], 1e5, delta=1.0, delta_back=0.0)
    assert hetdp.design(hetdp.Problem(graph, [1, 2])).certificate.private


@pytest.mark.parametrize("pinned", range(4))
def test_the_links_of_parallel_edges_prove_every_dataset_optimal(pinned):
    ends = [0, 0, 1, 1, 2, 2], [1, 1, 2, 2, 3, 3]
    epsilons = {"epsilon": [0.5, 0.9, 0.3, 0.2, 1.0, 0.4], "epsilon_back": [0.7, 0.3, 0.3, 0.6, 0.2, 0.8]}
    graph = hetdp.DatasetGraph.from_edges(*ends, **epsilons, datasets=range(4), classes=["Ann", "Bob"] * 3)
    problem = hetdp.Problem(graph, [2, 2, 2, 2])
    certificate = hetdp.extend(problem, {pinned: 0.4}).certificate
    assert (certificate.private, certificate.optimal, certificate.shortfall) == (True, True, "")
