"""verify on optimality: chains of tight links, without cycles, from every free dataset to a pinned one."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings

import hetdp
from tests.certificate.claims import claim, claim_of, next_float, path_problem
from tests.loops import for_each
from tests.mechanism.problems import cases
from tests.theory.exact import crosses, crossing_bound, precision

NOT_TIGHT = "a link is not tight (dataset {})"
NO_EDGE = "a link is missing or follows no edge (dataset {})"
CYCLE = "links form a cycle (dataset {})"


def shortfall(problem, given_claim) -> str:
    certificate = hetdp.verify(problem, given_claim)
    assert certificate.private
    assert not certificate.optimal
    assert certificate.gap == math.inf
    return certificate.shortfall


@for_each("answer", [1, 2])
@for_each("start", [1.0, -40.0, -1.2])
def test_one_float_less_on_a_plain_link_is_not_optimal(answer, start):
    problem = path_problem([0.5, 0.25, 0.125], answer)
    sign = 1 if answer == 1 else -1
    good = claim_of(hetdp.extend(problem, hetdp.PartialMechanism(z={0: sign * start})))
    assert hetdp.verify(problem, good).optimal
    good.coordinates[3] = sign * next_float(sign * good.coordinates[3], -1)
    assert shortfall(problem, good) == NOT_TIGHT.format(3)


@pytest.mark.parametrize("answer", [1, 2])
def test_a_few_hundred_floats_less_across_a_half_are_not_optimal(answer):
    problem = path_problem([1.0], answer)
    sign = 1 if answer == 1 else -1
    good = claim_of(hetdp.extend(problem, hetdp.PartialMechanism(z={0: sign * -0.5})))
    assert hetdp.verify(problem, good).optimal
    good.coordinates[1] = sign * next_float(sign * good.coordinates[1], -300)
    assert shortfall(problem, good) == NOT_TIGHT.format(1)


def test_a_link_to_a_dataset_that_is_not_a_neighbour_proves_nothing():
    problem = path_problem([0.5, 0.5, 0.5])
    good = claim_of(hetdp.extend(problem, hetdp.PartialMechanism(z={0: 1.0})))
    for wrong in (0, 3, -1, -7, 99):
        links = good.links.copy()
        links[3] = wrong
        assert shortfall(problem, claim(good.coordinates, good.pinned, links)) == NO_EDGE.format(3)


def test_a_link_that_is_not_tight_proves_nothing():
    graph = hetdp.DatasetGraph.from_edges([0, 0, 1], [1, 2, 2], [0.5, 0.25, 0.5])
    problem = hetdp.Problem(graph, [1, 1, 1])
    good = claim_of(hetdp.extend(problem, hetdp.PartialMechanism(z={0: 1.0})))
    assert good.links.tolist() == [-1, 0, 0]
    assert shortfall(problem, claim(good.coordinates, good.pinned, [-1, 0, 1])) == NOT_TIGHT.format(2)


@for_each("length", [2, 3, 5, 8, 64])
def test_datasets_that_hold_each_other_up_are_not_optimal(length):
    """A ring of ε = 0 around which all values were lowered together: private, every link tight, yet too low."""
    ring = np.arange(1, length + 1)
    source, target = np.concatenate([[0], ring]), np.concatenate([[1], np.roll(ring, -1)])
    epsilon = np.concatenate([[1.0], np.zeros(length)])
    graph = hetdp.DatasetGraph.from_edges(source, target, epsilon, duplicates="min")
    problem = hetdp.Problem(graph, np.ones(length + 1, np.int8))
    pinned = np.arange(length + 1) == 0
    best = hetdp.extend(problem, hetdp.PartialMechanism(z={0: 1.0}))
    assert best.coordinates.tolist() == [1.0] + [2.0] * length
    lowered = claim([1.0] + [1.5] * length, pinned, np.concatenate([[-1], np.roll(ring, 1)]))
    assert shortfall(problem, lowered) == CYCLE.format(1)
    held_up = claim(best.coordinates, pinned, np.concatenate([[-1], np.roll(ring, 1)]))
    assert shortfall(problem, held_up) == CYCLE.format(1)


def test_a_chain_that_runs_into_a_cycle_is_not_optimal():
    graph = hetdp.DatasetGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1.0, 0.0, 0.5, 0.5])
    problem = hetdp.Problem(graph, np.ones(5, np.int8))
    tail = claim([1.0, 1.5, 1.5, 2.0, 2.5], [True, False, False, False, False], [-1, 2, 1, 2, 3])
    assert shortfall(problem, tail) == CYCLE.format(1)


def test_a_dataset_linked_to_itself_is_not_optimal():
    problem = path_problem([0.5])
    assert shortfall(problem, claim([1.0, 1.2], [True, False], [-1, 1])) == NO_EDGE.format(1)


def test_a_free_boundary_dataset_is_not_optimal():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0), [1, 1, 2])
    mechanism = claim([1.0, 0.0, 0.0], [False, False, True], [1, 2, -1])
    assert shortfall(problem, mechanism) == "a boundary dataset is not pinned (dataset b)"


def test_a_free_dataset_below_certainty_without_a_link_is_not_optimal():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([], [], [], datasets="ab"), [1, 2])
    assert shortfall(problem, claim([5.0, -math.inf], [False, False], [-1, -1])) == NO_EDGE.format("a")
    assert hetdp.verify(problem, claim([math.inf, -math.inf], [False, False], [-1, -1])).optimal


def test_certainty_on_the_wrong_side_needs_a_chain_as_well():
    problem = path_problem([1.0, 1.0])
    right = claim([-math.inf] * 3, [True, False, False], [-1, 0, 1])
    assert hetdp.verify(problem, right).optimal
    wrong = claim([-math.inf] * 3, [False, False, False], [1, 2, -1])
    assert shortfall(problem, wrong) == NO_EDGE.format(2)


@given(cases())
@settings(max_examples=50)
def test_every_single_broken_link_is_noticed(case):
    mechanism = case.extend()
    problem, good = mechanism.problem, claim_of(mechanism)
    better = np.where(problem.answers == 1, good.coordinates, -good.coordinates)
    for dataset in np.flatnonzero(~good.pinned & (better < math.inf)).tolist():
        links = good.links.copy()
        links[dataset] = -1
        assert shortfall(problem, claim(good.coordinates, good.pinned, links)).startswith("a link is missing")


def exact_at(dataset: int, mechanism: hetdp.Mechanism, sign: int):
    """The exact bound at the end of a dataset's chain, one enclosure after the other."""
    chain = [dataset]
    while mechanism.links[chain[-1]] >= 0:
        chain.append(int(mechanism.links[chain[-1]]))
    chain.reverse()
    assert isinstance(mechanism.problem, hetdp.Problem)
    graph, value = mechanism.problem.graph, arb(sign * float(mechanism.coordinates[chain[0]]))
    for source, target in pairwise(chain):
        targets, (row,) = graph.neighbours(source)
        epsilon = arb(float(row[targets == target][0]))
        total = value + epsilon
        if value >= 0 or total <= 0:
            value = total
        else:
            assert value < 0 < total
            second = epsilon - (2 - value.exp()).log()
            room = 2 - total.exp()
            value = (-room.log()).min(second) if room > 0 else second
    return value


@given(cases())
def test_the_gap_bounds_the_distance_from_the_exact_optimum(case):
    mechanism = case.extend()
    if mechanism.moved or not np.isfinite(mechanism.coordinates[mechanism.pinned]).all():
        return
    with precision(4000):
        for dataset in np.flatnonzero(~mechanism.pinned & np.isfinite(mechanism.coordinates)).tolist():
            sign = 1 if case.answers[dataset] == 1 else -1
            distance = exact_at(dataset, mechanism, sign) - arb(sign * float(mechanism.coordinates[dataset]))
            assert distance > -(arb(2) ** -3000)
            assert float(distance.upper()) <= mechanism.certificate.gap * (1 + 1e-9) + 5e-324


def test_the_gap_of_a_long_chain_covers_its_roundings_and_stays_small():
    epsilons = np.round(np.random.default_rng(94).uniform(0.01, 1.0, 2000), 3)
    mechanism = hetdp.extend(path_problem(epsilons), hetdp.PartialMechanism(z={0: 0.0}))
    with precision(400):
        distance = float((exact_at(2000, mechanism, 1) - arb(float(mechanism.coordinates[-1]))).upper())
    assert 0.0 < distance <= mechanism.certificate.gap < 1e-8


@for_each("answer", [1, 2])
@for_each("start", [0.0, -1e17, 12345.678])
def test_chains_of_very_large_values_are_accepted_as_optimal(answer, start):
    """Where one float is more than the slack that the verifier calls near."""
    sign = 1 if answer == 1 else -1
    epsilons = [3e9, 7e9 + 1 / 3, 0.1, 1e13 / 3, 1e16 / 7, 0.7, 1e-3]
    mechanism = hetdp.extend(path_problem(epsilons, answer), hetdp.PartialMechanism(z={0: sign * start}))
    assert mechanism.certificate.shortfall == ""
    assert mechanism.certificate.optimal


CROSSING = [(-0.5, 1.0), (-1e-3, 1.0), (-30.0, 30.5), (-2.0, 600.0), (-1e-9, 1e-8), (-1e-35, 1e-34), (-7e-301, 1e-300)]
NEAR_LN2 = [(-35.0, 35.0 + math.log(2) - 10.0**-k) for k in range(1, 15)]
NEAR_HALF = [(-x, next_float(x, k)) for x in (1.0, 0.3, 1e-6, 1e-20) for k in (1, 2, 3)]


@for_each("answer", [1, 2])
@for_each(("z", "epsilon"), CROSSING + NEAR_LN2 + NEAR_HALF)
def test_values_that_an_engine_finds_across_a_half_are_accepted_as_optimal(z, epsilon, answer):
    sign = 1 if answer == 1 else -1
    mechanism = hetdp.extend(path_problem([epsilon], answer), hetdp.PartialMechanism(z={0: sign * z}))
    used = float(mechanism.problem.graph.epsilon[0])
    assert mechanism.certificate.shortfall == ""
    assert mechanism.certificate.enclosed <= crosses(z, used)
    if crosses(z, used):
        with precision(2400):
            room = crossing_bound(z, used) - arb(sign * float(mechanism.coordinates[1]))
            assert 0.0 <= float(room.upper()) <= mechanism.certificate.gap * (1 + 1e-9)


WRONG = {
    "coordinates": (
        claim([0.0], [True, True], [-1, -1]),
        "mechanism: coordinates: misfit float64 of shape (1,); the problem needs 2 numbers.",
    ),
    "pinned": (
        claim([0.0, 0.0], [True], [-1, -1]),
        "mechanism: pinned: misfit bool of shape (1,); the problem needs 2 booleans.",
    ),
    "links": (
        claim([0.0, 0.0], [True, True], [-1] * 3),
        "mechanism: links: misfit int64 of shape (3,); the problem needs 2 integers.",
    ),
    "NaN": (
        claim([0.0, math.nan]),
        "mechanism: dataset 1: no value; every dataset has a value."
        " Hint: hetdp.extend finds the best values of datasets that have none",
    ),
    "all": (
        claim([0.0], [], []),
        "mechanism: 3 faults\n"
        "  coordinates: misfit float64 of shape (1,); the problem needs 2 numbers.\n"
        "  pinned: misfit bool of shape (0,); the problem needs 2 booleans.\n"
        "  links: misfit float64 of shape (0,); the problem needs 2 integers.",
    ),
}


@for_each(("wrong", "message"), WRONG.values())
def test_claims_that_do_not_fit_the_problem_are_refused(wrong, message):
    with pytest.raises(hetdp.InputError) as refused:
        hetdp.verify(path_problem([1.0]), wrong)
    assert str(refused.value) == message
