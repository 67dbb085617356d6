"""check: the verdict, a witness that anyone can follow, and values that do extend."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from tests.loops import for_each
from tests.mechanism.problems import ENGINES, Case, cases, ordinary_cases
from tests.oracle.literal import algorithm_1, neighbourhoods
from tests.oracle.paths import along
from tests.oracle.random_problems import SmallProblem, close_downward, compatible_problems, incompatible_problems
from tests.paper.library import problem_of

ENGINE = pytest.mark.parametrize("engine", ENGINES)
INCOMPATIBLE = list(incompatible_problems(seed=41, count=60))
THREE = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.5, 0.25]), {"a": 1, "b": 1, "c": 2})


@ENGINE
def test_a_witness_is_a_path_of_the_graph_whose_bounds_contradict_a_pin(engine):
    for small in INCOMPATIBLE:
        verdict = hetdp.check(problem_of(small), small.pins, engine=engine)
        assert not verdict
        witness, near = verdict.witness, neighbourhoods(small)
        path = witness.path
        assert path.upper
        assert path.datasets[0] in small.pins
        assert path.datasets[-1] in small.pins
        assert path.bounds[0] == pytest.approx(small.pins[path.datasets[0]], abs=1e-12)
        assert path.epsilons == [near[u][v] for u, v in pairwise(path.datasets)]
        steps = [along(path.bounds[0], path.epsilons[:i]) for i in range(len(path.epsilons) + 1)]
        assert path.bounds == pytest.approx(steps, abs=1e-12)
        assert witness.value == pytest.approx(small.pins[path.datasets[-1]], abs=1e-12)
        assert witness.value > path.bounds[-1]
        assert len(set(path.datasets)) == len(path.datasets)


@ENGINE
def test_the_repair_extends_and_lies_between_what_is_below_and_above(engine):
    for small in INCOMPATIBLE:
        problem = problem_of(small)
        repair = hetdp.check(problem, small.pins, engine=engine).repair
        assert hetdp.check(problem, repair.pins).compatible
        mechanism = hetdp.extend(problem, repair.pins, engine=engine)
        assert mechanism.certificate.private
        assert repair.below.keys() == repair.above.keys() == repair.probabilities.keys() == small.pins.keys()
        for v, given_p in small.pins.items():
            assert repair.below[v] - 1e-12 <= given_p <= repair.above[v] + 1e-12
            assert repair.below[v] - 1e-12 <= repair.probabilities[v] <= repair.above[v] + 1e-12
            assert repair.probabilities[v] == pytest.approx((repair.below[v] + repair.above[v]) / 2, abs=1e-9)
            assert mechanism[v] == pytest.approx(repair.probabilities[v], abs=1e-12)


def test_below_is_the_greatest_compatible_and_above_the_least():
    for small in INCOMPATIBLE:
        repair = hetdp.check(problem_of(small), small.pins).repair
        free = dict.fromkeys(small.answers, 1.0)
        below = close_downward(small.finite_edges, {**free, **small.pins})
        above = close_downward(small.finite_edges, {**free, **{v: 1 - p for v, p in small.pins.items()}})
        for v in small.pins:
            assert repair.below[v] == pytest.approx(below[v], abs=1e-9)
            assert repair.above[v] == pytest.approx(1 - above[v], abs=1e-9)
        for side in (repair.below, repair.above):
            assert hetdp.check(problem_of(small), side).compatible


def test_the_interval_of_each_pin_is_what_the_other_pins_leave():
    for small in INCOMPATIBLE:
        intervals = hetdp.check(problem_of(small), small.pins).repair.intervals()
        assert intervals.keys() == small.pins.keys()
        for v, (low, high) in intervals.items():
            others = [(u, p) for u, p in small.pins.items() if u != v]
            upper = min((algorithm_1(small, u, p)[v] for u, p in others), default=1.0)
            lower = 1 - min((algorithm_1(small, u, 1 - p)[v] for u, p in others), default=1.0)
            assert (low, high) == (pytest.approx(lower, abs=1e-9), pytest.approx(upper, abs=1e-9))


def test_a_pin_inside_its_interval_is_accepted_if_the_others_agree():
    tried = 0
    for small in INCOMPATIBLE:
        for v, (low, high) in hetdp.check(problem_of(small), small.pins).repair.intervals().items():
            others = {u: p for u, p in small.pins.items() if u != v}
            if hetdp.check(problem_of(small), others).compatible:
                tried += 1
                assert low <= high + 1e-12
                assert hetdp.check(problem_of(small), {**others, v: (low + high) / 2}).compatible
                for outside in (low - 1e-6, high + 1e-6):
                    if 0.0 <= outside <= 1.0:
                        assert not hetdp.check(problem_of(small), {**others, v: outside}).compatible
    assert tried > 60


@given(cases())
@settings(max_examples=50)
def test_pins_that_extend_are_compatible_and_have_neither_witness_nor_repair(case):
    verdict = hetdp.check(case.problem, hetdp.PartialMechanism(z=case.pins))
    assert verdict
    assert (verdict.compatible, verdict.witness, verdict.repair) == (True, None, None)
    assert 0.0 <= verdict.moved <= 1e-9


@given(ordinary_cases(), st.data())
@settings(max_examples=50)
def test_the_verdict_is_the_same_when_the_answers_are_swapped(case, data):
    shift = np.array(data.draw(st.lists(st.floats(-1.0, 1.0), min_size=len(case.pins), max_size=len(case.pins))))
    pins = case.pins + shift
    verdict = hetdp.check(case.problem, hetdp.PartialMechanism(z=pins))
    mirrored = hetdp.check(Case(case.edges, 3 - case.answers, -pins).problem, hetdp.PartialMechanism(z=-pins))
    undecided = 1e-10 < verdict.moved < 1e-8  # next to the tolerance, which way roundings fall may differ
    assert undecided or verdict.compatible == mirrored.compatible


def test_check_needs_no_boundary_and_extend_agrees_with_it():
    for small in [*INCOMPATIBLE, *compatible_problems(seed=42, count=40)]:
        compatible = hetdp.check(problem_of(small), small.pins).compatible
        try:
            hetdp.extend(problem_of(small), small.pins)
        except hetdp.NoExtensionError:
            assert not compatible
        else:
            assert compatible


@ENGINE
def test_no_extension_carries_the_witness_and_the_repair(engine):
    with pytest.raises(hetdp.NoExtensionError) as refused:
        hetdp.extend(THREE, {"a": 0.9, "b": 0.3, "c": 0.3}, engine=engine)
    error = refused.value
    assert error.exit_code == 4
    assert error.witness.path.datasets == ["b", "a"]
    assert error.witness.path.epsilons == [0.5]
    assert error.witness.value == pytest.approx(0.9)
    assert set(error.repair.probabilities) == {"a", "b", "c"}
    assert hetdp.extend(THREE, error.repair.pins, engine=engine).certificate.private
    assert str(error) == (
        "no private extension of this partial mechanism exists: p(b) = 0.3 allows at most p(a) = 0.494616"
        " (1 step away), but p(a) is pinned at 0.9."
        " Hint: .witness has the path, .repair.pins a compromise that works."
    )


def test_a_witness_over_free_datasets_counts_its_steps():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.5, 0.25])
    witness = hetdp.check(hetdp.Problem(graph, [1, 1, 1]), {"a": 0.2, "c": 0.9}).witness
    assert witness.path.datasets == ["a", "b", "c"]
    assert "(2 steps away)" in str(witness)
    assert str(witness.path).splitlines() == [
        "p(a) = 0.2 is given",
        "over ε = 0.5: p(b) at most 0.329744",
        "over ε = 0.25: p(c) at most 0.4234",
    ]


def test_certain_pins_beside_uncertain_ones_are_incompatible():
    for pins in ({"a": 1.0, "b": 0.5, "c": 0.5}, {"a": 0.5, "b": 0.0, "c": 0.0}, {"b": 1.0, "c": 0.0}):
        verdict = hetdp.check(THREE, pins)
        assert (verdict.compatible, verdict.moved) == (False, math.inf)
        assert hetdp.extend(THREE, {"a": 0.5, "b": 0.5, "c": 0.5, **verdict.repair.probabilities}) is not None
        assert hetdp.check(THREE, verdict.repair.pins).compatible


def test_pins_that_no_path_joins_are_always_compatible():
    graph = hetdp.DatasetGraph.from_edges(["a", "c"], ["b", "d"], [1.0, math.inf])
    assert hetdp.check(hetdp.Problem(graph, [1, 2, 1, 2]), {"a": 0.4, "b": 0.5, "c": 1.0, "d": 0.0}).compatible


def test_epsilon_zero_asks_for_equal_pins():
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], [0.0])
    problem = hetdp.Problem(graph, [1, 2])
    assert hetdp.check(problem, {"a": 0.4, "b": 0.4}).compatible
    assert not hetdp.check(problem, {"a": 0.4, "b": 0.400001}).compatible
    assert hetdp.check(problem, {"a": 0.4, "b": 0.6}).repair.probabilities == pytest.approx({"a": 0.5, "b": 0.5})


def test_a_contradiction_between_tails_that_p_cannot_show_is_still_found():
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], [1.0])
    verdict = hetdp.check(hetdp.Problem(graph, [1, 1]), hetdp.PartialMechanism(z={"a": 100.0, "b": 50.0}))
    assert not verdict.compatible
    assert verdict.moved == pytest.approx(49.0)
    assert verdict.witness.path.coordinates == [50.0, 51.0]
    assert verdict.repair.pins.z["a"] - verdict.repair.pins.z["b"] <= 1.0


@for_each("size", [1, 2, 3, 7, 8, 9])
def test_intervals_are_right_for_any_number_of_pins(size):
    edges = tuple((u, u + 1, 0.3) for u in range(size))
    small = SmallProblem(edges, dict.fromkeys(range(size + 1), 1), {0: 0.01, size: 0.99})
    small.pins.update(dict.fromkeys(range(2, size, 2), 0.5))
    intervals = hetdp.check(problem_of(small), small.pins).repair.intervals()
    for v, (_, high) in intervals.items():
        bounds = [algorithm_1(small, u, p)[v] for u, p in small.pins.items() if u != v]
        assert high == pytest.approx(min(bounds), abs=1e-12)
