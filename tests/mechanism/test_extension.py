"""extend: private in exact arithmetic, the best there is, and indifferent to everything that should not matter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from tests.mechanism.problems import ENGINES, Case, bits, cases, ordinary_cases, signed_z, violated_arcs
from tests.oracle import shortest_paths
from tests.oracle.random_problems import SmallProblem, compatible_problems
from tests.paper.library import problem_of

ENGINE = pytest.mark.parametrize("engine", ENGINES)
FEWER = settings(max_examples=50)


@ENGINE
@given(case=cases())
def test_every_extension_is_private_in_exact_arithmetic(engine, case):
    mechanism = case.extend(engine)
    assert violated_arcs(mechanism.problem, mechanism.coordinates) == []
    assert mechanism.certificate is not None
    assert mechanism.certificate.private
    assert mechanism.certificate.optimal


@given(cases())
def test_both_engines_give_the_same_bits(case):
    one, other = (case.extend(engine) for engine in ENGINES)
    assert bits(one.coordinates) == bits(other.coordinates)
    assert one.moved == other.moved


@given(cases())
@FEWER
def test_verification_changes_no_bit(case):
    proved, unproved = case.extend(), case.extend(verify=False)
    assert bits(proved.coordinates) == bits(unproved.coordinates)
    assert (proved.moved, proved.links.tolist()) == (unproved.moved, unproved.links.tolist())


@given(cases())
@FEWER
def test_compatible_pins_stay_where_they_are(case):
    mechanism = case.extend()
    pinned = ~np.isnan(case.pins)
    assert mechanism.pinned.tolist() == pinned.tolist()
    with np.errstate(invalid="ignore"):
        moves = np.abs(mechanism.coordinates - case.pins)[pinned]
    assert mechanism.moved <= 1e-9
    assert np.nanmax(moves, initial=0.0) == mechanism.moved


@given(cases())
def test_no_free_dataset_can_be_raised_beyond_the_reported_gap(case):
    mechanism = case.extend()
    problem, gap = mechanism.problem, mechanism.certificate.gap
    better = signed_z(problem, mechanism.coordinates)
    for dataset in np.flatnonzero(~mechanism.pinned & np.isfinite(better)).tolist():
        raised = better.copy()
        raised[dataset] += gap + 4 * np.spacing(abs(raised[dataset])) + gap * 1e-9
        assert violated_arcs(problem, signed_z(problem, raised)) != []


@ENGINE
@given(case=ordinary_cases())
@FEWER
def test_the_extension_is_what_plain_shortest_paths_find(engine, case):
    mechanism = case.extend(engine)
    p = dict(enumerate(mechanism.probabilities.tolist()))
    pins = {v: p[v] for v in np.flatnonzero(mechanism.pinned).tolist()}
    least = {}
    for u, v, epsilon in case.edges:
        pair = (min(u, v), max(u, v))
        least[pair] = min(epsilon, least.get(pair, math.inf))
    edges = tuple((u, v, epsilon) for (u, v), epsilon in least.items() if u != v)
    small = SmallProblem(edges, dict(enumerate(case.answers.tolist())), pins)
    found = shortest_paths.extension(small)
    assert p == pytest.approx(found, abs=1e-9)


@given(cases())
@FEWER
def test_swapping_the_answers_changes_the_sign_and_nothing_else(case):
    fitted = case.extend()
    pins = np.where(fitted.pinned, fitted.coordinates, np.nan)
    one = Case(case.edges, case.answers, pins).extend()
    other = Case(case.edges, 3 - case.answers, -pins).extend()
    assert bits(other.coordinates) == bits(-one.coordinates)
    assert other.errors.tolist() == one.errors.tolist()


@given(cases(), st.randoms(use_true_random=False))
@FEWER
def test_relabelling_and_reordering_commute_with_extending(case, random):
    size = len(case.answers)
    new = list(range(size))
    random.shuffle(new)
    edges = [(new[v], new[u], epsilon) for u, v, epsilon in case.edges]
    random.shuffle(edges)
    back = np.argsort(new)
    other = Case(edges, case.answers[back], case.pins[back]).extend()
    assert bits(other.coordinates) == bits(case.extend().coordinates[back])


@given(cases())
@FEWER
def test_labels_do_not_matter(case):
    mechanism = case.extend()
    source, target, epsilon = mechanism.problem.graph.edges()
    names = [("dataset", i) for i in range(len(case.answers))]
    columns = [names[i] for i in source.tolist()], [names[i] for i in target.tolist()], epsilon
    graph = hetdp.DatasetGraph.from_edges(*columns, datasets=names)
    pins = {names[i]: case.pins[i] for i in np.flatnonzero(~np.isnan(case.pins))}
    named = hetdp.extend(
        hetdp.Problem(graph, dict(zip(names, case.answers.tolist(), strict=True))), hetdp.PartialMechanism(z=pins)
    )
    assert bits(named.coordinates) == bits(mechanism.coordinates)


@given(cases(), st.data())
@FEWER
def test_larger_epsilon_never_hurts_with_the_same_pins(case, data):
    mechanism = case.extend()
    factors = data.draw(st.lists(st.floats(1.0, 3.0), min_size=len(case.edges), max_size=len(case.edges)))
    pins = np.where(mechanism.pinned, mechanism.coordinates, np.nan)
    edges = [(u, v, min(epsilon * factor, 1e300)) for (u, v, epsilon), factor in zip(case.edges, factors, strict=True)]
    edges = [(u, v, math.inf if epsilon == 1e300 else epsilon) for u, v, epsilon in edges]
    freer = Case(edges, case.answers, pins).extend()
    assert (signed_z(freer.problem, freer.coordinates) >= signed_z(freer.problem, mechanism.coordinates)).all()


@given(cases(), st.floats(1.0, 10.0))
@FEWER
def test_scaling_all_epsilons_up_never_hurts(case, factor):
    mechanism = case.extend()
    pins = np.where(mechanism.pinned, mechanism.coordinates, np.nan)
    freer = Case([(u, v, epsilon * factor) for u, v, epsilon in case.edges], case.answers, pins).extend()
    assert (signed_z(freer.problem, freer.coordinates) >= signed_z(freer.problem, mechanism.coordinates)).all()


@ENGINE
@given(case=cases(), data=st.data())
@FEWER
def test_pinning_a_dataset_at_its_own_extended_value_changes_nothing(engine, case, data):
    mechanism = case.extend(engine)
    chosen = data.draw(st.lists(st.booleans(), min_size=len(case.answers), max_size=len(case.answers)))
    pins = np.where(mechanism.pinned | np.array(chosen), mechanism.coordinates, np.nan)
    again = Case(case.edges, case.answers, pins).extend(engine)
    assert bits(again.coordinates) == bits(mechanism.coordinates)
    assert again.moved == 0.0


@given(cases())
@FEWER
def test_extending_a_complete_mechanism_changes_nothing(case):
    mechanism = case.extend()
    again = Case(case.edges, case.answers, mechanism.coordinates).extend()
    assert bits(again.coordinates) == bits(mechanism.coordinates)


def components(case: Case) -> list[list[int]]:
    edges = tuple((u, v, epsilon) for u, v, epsilon in case.edges if u != v)
    small = SmallProblem(edges, dict(enumerate(case.answers.tolist())))
    return [sorted(int(str(v)) for v in component) for component in small.components()]


@given(cases())
@FEWER
def test_a_component_without_a_pin_is_answered_exactly(case):
    mechanism = case.extend()
    for component in components(case):
        is_pinned = not np.isnan(case.pins[component]).all()
        is_exact = (signed_z(mechanism.problem, mechanism.coordinates)[component] == math.inf).all()
        assert is_pinned or is_exact
        assert is_pinned or mechanism.errors[component].tolist() == [0.0] * len(component)


@ENGINE
@pytest.mark.parametrize("p", [0.0, 1.0])
@given(case=cases())
@FEWER
def test_certainty_at_one_pin_is_certainty_on_its_component(engine, p, case):
    component = next(component for component in components(case) if 0 in component)
    pins = case.pins.copy()
    pins[component] = np.where(np.isnan(pins[component]), np.nan, math.copysign(math.inf, p - 0.5))
    pins[0] = math.copysign(math.inf, p - 0.5)
    mechanism = Case(case.edges, case.answers, pins).extend(engine)
    assert mechanism.probabilities[component].tolist() == [p] * len(component)


@given(cases(epsilon=st.just(0.0) | st.just(math.inf) | st.just(1.0)))
@FEWER
def test_epsilon_zero_makes_neighbours_equal(case):
    z = case.extend().coordinates
    assert all(z[u] == z[v] for u, v, epsilon in case.edges if epsilon == 0.0)


@given(cases())
@FEWER
def test_the_coordinate_is_infinite_only_where_it_must_be(case):
    """No finite pin within reach, or an infinite one."""
    z = case.extend().coordinates
    for component in components(case):
        given_here = case.pins[component][~np.isnan(case.pins[component])]
        assert np.isfinite(z[component]).all() or not np.isfinite(given_here).any()


def test_datasets_a_thousand_steps_away_stay_uncertain():
    size = 1001
    graph = hetdp.DatasetGraph.from_edges(np.arange(size - 1), np.arange(1, size), 1.0)
    mechanism = hetdp.extend(hetdp.Problem(graph, np.ones(size, np.int8)), {0: 0.5})
    assert mechanism.coordinates.tolist() == list(range(size))
    assert mechanism.probabilities[-1] == 1.0
    assert (np.diff(mechanism.errors[:700]) < 0.0).all()


@pytest.mark.parametrize("answer", [1, 2])
@pytest.mark.parametrize("start", [-40.0, 3.0])
def test_a_path_of_a_hundred_thousand_steps_with_epsilon_of_every_size(answer, start):
    size = 100_001
    rng = np.random.default_rng(6)
    epsilon = np.exp(rng.uniform(math.log(1e-6), math.log(50.0), size - 1))
    graph = hetdp.DatasetGraph.from_edges(np.arange(size - 1), np.arange(1, size), epsilon)
    problem = hetdp.Problem(graph, np.full(size, answer))
    pin = hetdp.PartialMechanism(z={0: start if answer == 1 else -start})
    one, other = (hetdp.extend(problem, pin, engine=engine) for engine in ENGINES)
    assert bits(one.coordinates) == bits(other.coordinates)
    assert one.certificate == other.certificate
    assert one.certificate is not None
    assert (one.certificate.private, one.certificate.optimal, one.certificate.edges) == (True, True, size - 1)
    assert 0.0 <= one.certificate.gap < 1e-4
    assert one.certificate.enclosed == (1 if start < 0 else 0)
    assert one.links.tolist() == [-1, *range(size - 1)]


def test_the_result_has_a_readable_repr():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0), [1, 1, 2])
    mechanism = hetdp.extend(problem, {"b": 0.7, "c": 0.3})
    assert repr(mechanism) == "Mechanism(3 datasets, 2 pinned, worst error 0.3)"
    assert mechanism["b"] == mechanism.probabilities[1] == pytest.approx(0.7)
    assert mechanism.errors == pytest.approx([1 - mechanism["a"], 0.3, 0.3])
    for array in (mechanism.coordinates, mechanism.pinned, mechanism.links):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_random_problems_extend_alike_on_both_engines_and_however_p_is_given():
    for small in compatible_problems(seed=77, count=60):
        problem = problem_of(small)
        column = np.array([small.pins.get(v, math.nan) for v in small.datasets])
        found = [
            hetdp.extend(problem, partial, engine=engine) for partial in (small.pins, column) for engine in ENGINES
        ]
        assert len({tuple(bits(mechanism.coordinates)) for mechanism in found}) == 1
