"""verify on the notions that add to z everywhere: Gaussian (probit) and bounded range (logit)."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import hetdp
from hetdp.certificate import additive as edges
from hetdp.certificate import additive as links
from tests.certificate.claims import claim, next_float
from tests.certificate.notions import ADDITIVE_NOTIONS, problem_of
from tests.loops import for_each
from tests.theory.exact import precision


def verify_edge(notion, epsilon, source, target):
    return hetdp.verify(problem_of(notion, [0], [1], [[epsilon]], [1, 1]), claim([source, target]))


TIGHT = [(0.0, 0.5), (-0.25, 0.5), (-3.0, 7.5), (-40.0, 40.0), (500.0, 1.0), (-1e5, 0.125), (-0.5, 0.5), (-1.0, 1e-9)]


@for_each("notion", ADDITIVE_NOTIONS)
@for_each("sign", [1, -1])
@for_each("turned", [False, True])
@for_each(("z", "epsilon"), TIGHT)
def test_one_float_more_on_a_tight_edge_is_caught_on_either_side_of_a_half_and_across(notion, z, epsilon, turned, sign):
    bound = z + epsilon
    if Fraction(bound) > Fraction(z) + Fraction(epsilon):
        bound = next_float(bound, -1)
    for value, private in ((bound, True), (next_float(bound), False)):
        ends = (sign * value, sign * z) if turned else (sign * z, sign * value)
        certificate = verify_edge(notion, epsilon, *ends)
        assert certificate.private == private
        assert certificate.violations == (not private)
        assert (certificate.slack < 0.0) == (not private)
        assert certificate.enclosed == 0


def normal_cdf(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def logistic(x: arb) -> arb:
    return 1 / (1 + (-x).exp())


def is_allowed(notion: str, source: float, target: float, epsilon: float) -> bool:
    """Gaussian: p(v) ≤ Φ(Φ⁻¹(p(u)) + μ), by erf. Bounded range: odds at v at most e^ε times the odds at u."""
    with precision(600):
        if notion == "gaussian":
            room = normal_cdf(arb(source) + arb(epsilon)) - normal_cdf(arb(target))
        else:
            p, q = logistic(arb(source)), logistic(arb(target))
            room = arb(epsilon).exp() * p / (1 - p) - q / (1 - q)
        assert room > 0 or room < 0
        return bool(room > 0)


@pytest.mark.parametrize("notion", ADDITIVE_NOTIONS)
def test_arcs_next_to_equality_are_judged_by_their_probabilities(notion):
    rng = random.Random(7)
    verdicts = []
    while len(verdicts) < 400:
        z, epsilon = rng.uniform(-6, 6), 10 ** rng.uniform(-6, 0.7)
        target = next_float(z + epsilon, rng.choice([-2, -1, 0, 1, 2]))
        if Fraction(target) == Fraction(z) + Fraction(epsilon):
            continue
        verdicts.append(verify_edge(notion, epsilon, z, target).private)
        assert verdicts[-1] == is_allowed(notion, z, target, epsilon)
    assert 100 < sum(verdicts) < 300


SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, 1e308, -1e308, 5e-324, -5e-324, 0.1, -0.3]


@pytest.mark.parametrize("notion", ADDITIVE_NOTIONS)
@pytest.mark.parametrize("compiled", [False, True])
def test_every_mixture_of_special_values_is_judged_by_exact_sums(notion, compiled, monkeypatch):
    if compiled:
        monkeypatch.setattr(edges, "SMALL_SPACE", 0)
        monkeypatch.setattr(links, "SMALL_SPACE", 0)
    u, v = (ends.ravel() for ends in np.meshgrid(SPECIAL, SPECIAL))
    pairs, steps = list(zip(u.tolist(), v.tolist(), strict=True)), np.arange(len(u))
    for epsilon in (0.0, 5e-324, 0.1, 1.0, 1e308, 1.7e308):
        problem = problem_of(notion, 2 * steps, 2 * steps + 1, [[epsilon]], np.ones(2 * len(u)))
        expected = [not is_within(*pair, epsilon) for pair in pairs]
        assert hetdp.verify(problem, claim(np.stack([u, v], axis=1).ravel())).violations == sum(expected)
        for pair, violated in random.Random(9).sample(list(zip(pairs, expected, strict=True)), 12):
            assert verify_edge(notion, epsilon, *pair).violations == violated


def is_within(u: float, v: float, epsilon: float) -> bool:
    return u == v if math.isinf(u) or math.isinf(v) else abs(Fraction(u) - Fraction(v)) <= Fraction(epsilon)


@pytest.mark.parametrize("notion", ADDITIVE_NOTIONS)
@pytest.mark.parametrize("answer", [1, 2])
def test_a_path_through_a_half_is_optimal_and_one_float_less_is_not(notion, answer):
    """The closed form: z rises by μ at each step, whichever side of ½ it is on."""
    steps, sign = np.arange(8), 1 if answer == 1 else -1
    z = -1.25 + 0.375 * np.arange(9)
    problem = problem_of(notion, steps, steps + 1, [[0.375]], np.full(9, answer))
    pinned, neighbours = np.arange(9) == 0, np.arange(9) - 1
    good = hetdp.verify(problem, claim(sign * z, pinned, neighbours))
    assert (good.private, good.optimal, good.gap, good.slack) == (True, True, 0.0, 0.0)
    z[8] = next_float(z[8], -1)
    less = hetdp.verify(problem, claim(sign * z, pinned, neighbours))
    assert (less.private, less.optimal, less.shortfall) == (True, False, "a link is not tight (dataset 8)")


@pytest.mark.parametrize("notion", ADDITIVE_NOTIONS)
def test_the_gap_covers_the_roundings_along_a_chain(notion):
    rng = np.random.default_rng(8)
    size = 400
    epsilon = rng.uniform(0.001, 0.02, size)
    z, exact = [-2.0], Fraction(-2)
    for each in epsilon.tolist():
        exact += Fraction(each)
        total = z[-1] + each
        z.append(total if Fraction(total) <= Fraction(z[-1]) + Fraction(each) else next_float(total, -1))
    steps = np.arange(size)
    problem = problem_of(notion, steps, steps + 1, [epsilon], np.ones(size + 1))
    found = hetdp.verify(problem, claim(z, np.arange(size + 1) == 0, np.arange(size + 1) - 1))
    assert found.optimal
    assert 0 < exact - Fraction(z[-1]) <= Fraction(found.gap)
    assert found.gap < 1e-9


def test_messages_name_the_parameters_of_the_edge():
    gaussian = verify_edge("gaussian", 0.5, 0.0, 1.0)
    assert str(gaussian) == "NOT PRIVATE: 1 violation in 1 edge; the worst is 0 to 1, μ = 0.5, slack -0.5."
    assert gaussian.worst_edge._asdict() == {"source": 0, "target": 1, "mu": 0.5, "slack": -0.5}
    assert gaussian.worst_edge.epsilon == 0.5
    ranged = verify_edge("bounded-range", 0.5, 0.0, 1.0)
    assert str(ranged) == "NOT PRIVATE: 1 violation in 1 edge; the worst is 0 to 1, ε = 0.5, slack -0.5."


def test_a_notion_without_a_proof_is_refused():
    with pytest.raises(hetdp.UsageError, match="no proof is known for the notion 'wishful'"):
        verify_edge("wishful", 0.5, 0.0, 0.0)


def test_a_rule_adds_or_has_gaps_and_never_both_or_neither():
    for wrong in ({"halved": None}, {"gaps": lambda *_: None}):
        with pytest.raises(TypeError, match="`halved`, if it adds its parameter to z, or `gaps`"):
            replace(edges.PURE, **wrong)
