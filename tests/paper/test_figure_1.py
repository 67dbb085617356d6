"""Figure 1: three voters, majority; the first voter is better protected, in three notions of heterogeneity."""

from __future__ import annotations

import math
from collections.abc import Hashable
from itertools import combinations

import pytest

import hetdp
from tests.oracle import linear
from tests.oracle.literal import algorithm_2
from tests.oracle.random_problems import SmallProblem
from tests.paper.library import extension_of, largest_difference, problem_of

WEAK, STRONG = 1.0, 0.3  # ε₁ and ε₂ < ε₁
VOTES = [a + b + c for a in "12" for b in "12" for c in "12"]
MAJORITY: dict[Hashable, int] = {votes: 1 if votes.count("1") >= 2 else 2 for votes in VOTES}
CUBE = [(u, v) for u, v in combinations(VOTES, 2) if sum(x != y for x, y in zip(u, v, strict=True)) == 1]


def first_voter_changes(u: str, v: str) -> bool:
    return u[0] != v[0]


def heterogeneous(u: str, v: str) -> float:
    """Better protected only if the first vote decides."""
    return STRONG if first_voter_changes(u, v) and MAJORITY[u] != MAJORITY[v] else WEAK


def personalised(u: str, v: str) -> float:
    return STRONG if first_voter_changes(u, v) else WEAK


def uniform(u: str, v: str) -> float:
    return STRONG


def balanced_pins(edges, answers) -> dict[Hashable, float]:
    """Error e^(−D), D = least over edges across of (Σε to one of its ends) + log(1 + e^ε): no pair is favoured."""
    far = dict.fromkeys(answers, math.inf)
    for u, v, epsilon in edges:
        if answers[u] != answers[v]:
            for end in (u, v):
                far[end] = min(far[end], math.log1p(math.exp(epsilon)))
    for _ in answers:
        for u, v, epsilon in edges:
            far[u], far[v] = min(far[u], far[v] + epsilon), min(far[v], far[u] + epsilon)
    across = {end for u, v, _ in edges if answers[u] != answers[v] for end in (u, v)}
    return {v: 1 - math.exp(-far[v]) if answers[v] == 1 else math.exp(-far[v]) for v in answers if v in across}


def voters(rule) -> SmallProblem:
    edges = tuple((u, v, rule(u, v)) for u, v in CUBE)
    return SmallProblem(edges, MAJORITY, balanced_pins(edges, MAJORITY))


def test_the_cube_of_three_voters_has_eight_datasets_and_twelve_edges():
    assert len(VOTES) == 8
    assert len(CUBE) == 12


@pytest.mark.parametrize("rule", [heterogeneous, personalised, uniform])
def test_all_datasets_but_the_unanimous_ones_are_on_the_boundary(rule):
    assert set(problem_of(voters(rule)).boundary) == set(VOTES) - {"111", "222"}


def test_in_figure_1a_exactly_two_edges_have_the_smaller_epsilon():
    strong = {frozenset(edge) for edge in CUBE if heterogeneous(*edge) == STRONG}
    assert strong == {frozenset(("121", "221")), frozenset(("112", "212"))}


def test_in_figure_1b_exactly_the_four_edges_of_the_first_voter_have_the_smaller_epsilon():
    strong = {frozenset(edge) for edge in CUBE if personalised(*edge) == STRONG}
    assert strong == {frozenset((f"1{rest}", f"2{rest}")) for rest in ("11", "12", "21", "22")}


@pytest.mark.parametrize("rule", [heterogeneous, personalised, uniform])
def test_the_extension_is_the_literal_one_and_the_optimum(rule):
    small = voters(rule)
    p = extension_of(small)
    assert largest_difference(p, algorithm_2(small)) < 1e-12
    assert largest_difference(p, linear.optimum(small)) < 1e-7


def test_figure_1a_protecting_the_first_voter_only_where_it_decides_answers_better_at_every_dataset():
    errors = {}
    for rule in (heterogeneous, personalised, uniform):
        small = voters(rule)
        errors[rule] = hetdp.extend(problem_of(small), small.pins).errors
    assert all(errors[heterogeneous] <= errors[personalised] + 1e-12)
    assert all(errors[personalised] <= errors[uniform] + 1e-12)
    unanimous = [VOTES.index("111"), VOTES.index("222")]
    assert all(errors[heterogeneous][unanimous] < errors[personalised][unanimous] - 0.01)
    assert all(errors[personalised][unanimous] < errors[uniform][unanimous] + 1e-12)


def test_figure_1a_the_value_at_the_unanimous_dataset_by_hand():
    """111 is bound by 121 or 112, one edge with ε₁ away, each with error 1/(1 + e^ε₂)."""
    expected = 1 - math.exp(-WEAK) / (1 + math.exp(STRONG))
    assert abs(extension_of(voters(heterogeneous))["111"] - expected) < 1e-12


FACE: dict[Hashable, int] = {"111": 1, "211": 1, "112": 1, "212": 2}
SIDES = (("111", "211", WEAK), ("112", "212", STRONG), ("111", "112", WEAK), ("211", "212", WEAK))


def face(*diagonals) -> SmallProblem:
    edges = (*SIDES, *diagonals)
    return SmallProblem(edges, FACE, balanced_pins(SIDES, FACE))


def test_figure_1c_without_the_diagonals_one_dataset_is_free():
    assert set(problem_of(face()).boundary) == {"211", "112", "212"}


def test_figure_1c_a_diagonal_at_the_triangle_bound_asks_for_nothing_new():
    without = extension_of(face())
    diagonals = (("111", "212", WEAK + STRONG), ("112", "211", WEAK + STRONG))
    completed = SmallProblem((*SIDES, *diagonals), FACE, without)
    assert hetdp.check(problem_of(completed), without).compatible


def test_figure_1c_a_diagonal_below_the_triangle_bound_is_a_condition_of_its_own():
    without = extension_of(face())
    shorter = SmallProblem((*SIDES, ("111", "212", STRONG)), FACE, without)
    assert not hetdp.check(problem_of(shorter), without).compatible


def test_figure_1c_replacing_two_edges_by_one_with_their_sum_asks_for_less():
    """Metric closure is weaker than the path it summarises, so d-metric privacy cannot replace the graph."""
    two = hetdp.path_mechanism(0.3, [STRONG, WEAK])[-1]
    one = hetdp.path_mechanism(0.3, [STRONG + WEAK])[-1]
    assert two < one - 0.01
