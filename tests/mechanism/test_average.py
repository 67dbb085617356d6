"""The objective average, against the plain linear program, and on the examples of the theory."""

from __future__ import annotations

import json
import math
import signal
import threading
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import hetdp
from hetdp.cli.demo import voters
from hetdp.engines.registry import engine_for
from hetdp.mechanism.average import program, search, solver
from hetdp.mechanism.average.search import complete_fairly
from hetdp.mechanism.average.solver import Rows, Solver, lower_bound
from hetdp.theory.pure import PURE
from tests.mechanism.problems import graph_of
from tests.oracle.average import average_requests, least_mean_errors
from tests.oracle.leximin import has_odd_epsilon
from tests.stress import stress, times


def tallies(sizes, epsilons):
    """The majority among groups of people who are only counted; weights as if each voted by a coin."""
    places = list(product(*(range(size + 1) for size in sizes)))
    edges = [
        (place, (*place[:group], place[group] + 1, *place[group + 1 :]), epsilons[group])
        for place in places
        for group in range(len(sizes))
        if place[group] < sizes[group]
    ]
    graph = hetdp.DatasetGraph.from_edges(*zip(*edges, strict=True), datasets=places)
    answers = {place: 1 if 2 * sum(place) > sum(sizes) else 2 for place in places}
    weights = {place: math.prod(map(math.comb, sizes, place)) for place in places}
    return hetdp.Problem(graph, answers, weights=weights)


def problem_of(request):
    small = request.problem
    answers = np.array([small.answers[v] for v in range(len(small.answers))])
    return hetdp.Problem(graph_of(list(small.edges), len(answers)), answers, weights=request.weights)


def mean_accuracy(mechanism):
    given = mechanism.problem.weights
    return float(1.0 - (given / given.sum()) @ mechanism.errors)


@pytest.fixture(
    params=["as it is", "datasets left out", "interior points", "rough first", "no vote", "rows one by one"]
)
def path(request, monkeypatch):
    """Forces small problems through the code paths of large ones."""
    if request.param == "datasets left out":
        monkeypatch.setattr(search, "SMALL_PROBLEM", 0)
        monkeypatch.setattr(search, "MASSES", (1e-2, 1e-4, 0.0, 0.0))
    elif request.param == "interior points":
        monkeypatch.setattr(program, "has_many_rows", lambda *_: True)
        monkeypatch.setattr(program, "MOSTLY", -1.0)
    elif request.param == "rough first":
        monkeypatch.setattr(program, "has_many_rows", lambda *_: True)
        monkeypatch.setattr(program, "MOSTLY", math.inf)
    elif request.param == "no vote":
        monkeypatch.setattr(search, "reference", lambda problem, fair, *_: fair)
    elif request.param == "rows one by one":
        monkeypatch.setattr(program, "LIKELY_ROWS", -1.0)
    return request.param


@stress
def test_it_is_as_good_as_the_plain_linear_program_up_to_the_gap_it_states(path):
    count = times(120, stressed=200) if path == "as it is" else times(60, stressed=80)
    tried = list(average_requests(sum(map(ord, path)), count))
    assert path != "as it is" or any(has_odd_epsilon(wish.problem) for wish in tried)
    assert {wish.max_error is None for wish in tried} == {bool(wish.problem.pins) for wish in tried} == {True, False}
    for wish, least in zip(tried, least_mean_errors(tried), strict=True):
        mechanism = hetdp.design(
            problem_of(wish), "average", wish.problem.pins, max_error=wish.max_error, engine="reference"
        )
        assert mechanism.objective_gap is not None
        assert 0.0 <= mechanism.objective_gap <= 1e-7
        error = 1.0 - mean_accuracy(mechanism)
        assert least - 1e-8 <= error <= least + mechanism.objective_gap + 1e-8
        assert mechanism.certificate is not None
        assert mechanism.certificate.private
        assert mechanism.certificate.optimal
        free = ~np.isin(np.arange(len(mechanism)), list(wish.problem.pins))
        limit = 1.0 if wish.max_error is None else wish.max_error
        assert np.max(mechanism.errors[free], initial=0.0) <= limit + 1e-9
        for v, p in wish.problem.pins.items():
            assert mechanism[v] == pytest.approx(p, abs=1e-9)


def test_a_notion_without_rows_or_tangents_is_refused():
    problem = voters(3, "everyone")
    without = hetdp.Problem(problem.graph, problem.answers, replace(PURE, promises=None))
    with pytest.raises(hetdp.UsageError, match="the notion 'pure' with the objective average"):
        hetdp.design(without, "average")


def test_values_that_contradict_others_are_ignored():
    problem = hetdp.Problem(graph_of([(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)], 4), [2, 1, 1, 1])
    engine = engine_for("reference", problem.graph, problem.notion, "settle")
    nothing, weights = np.full(4, np.nan), np.array([0.1, 0.3, 0.3, 0.3])
    for z in ([-np.inf, 0.5, 1.5, 2.5], [-30.0, 0.5, 1.5, 2.5]):
        found = complete_fairly(problem, nothing, np.array(z), weights, engine)
        assert found[1:].tolist() == pytest.approx([0.5, 1.5, 2.5])
    found = complete_fairly(problem, nothing, np.array([-0.5, 0.4, 9.0, 2.4]), weights, engine)
    assert found.tolist() == pytest.approx([-0.5, 0.4, 1.4, 2.4])


def test_groups_with_very_different_epsilons_gain_much():
    problem = tallies((11, 8, 2), (0.1, 0.5, 1.0))
    assert round(mean_accuracy(hetdp.design(problem)), 3) == 0.581
    average = hetdp.design(problem, "average")
    assert round(mean_accuracy(average), 3) == 0.673
    assert average.objective == "average"


def test_the_same_input_gives_the_same_bits_with_any_engine():
    problem = tallies((5, 4, 3), (0.1, 0.5, 1.0))
    found = [hetdp.design(problem, "average", engine=engine) for engine in ("reference", "cpu", "cpu")]
    assert len({mechanism.coordinates.tobytes() for mechanism in found}) == 1
    assert len({mechanism.objective_gap for mechanism in found}) == 1


def test_a_prior_may_be_given_in_many_ways():
    problem = tallies((2, 1), (0.2, 1.0))
    assert problem.weights is not None
    bits = {}
    for name, prior in {
        "default": None,
        "weight": "weight",
        "mapping": dict(zip(problem.graph.datasets, problem.weights.tolist(), strict=True)),
        "sequence": problem.weights * 7.0,
        "uniform": "uniform",
        "ones": [1] * 6,
    }.items():
        bits[name] = hetdp.design(problem, "average", prior=prior).coordinates.tobytes()
    assert bits["default"] == bits["weight"] == bits["mapping"]
    assert bits["uniform"] == bits["ones"]
    again = hetdp.design(problem, "average", prior=problem.weights * 7.0)
    assert mean_accuracy(again) == pytest.approx(mean_accuracy(hetdp.design(problem, "average")), abs=1e-9)
    one_sided = hetdp.design(problem, "average", prior=[0, 0, 0, 0, 0, 1])
    assert one_sided.errors[5] == 0.0


def test_datasets_without_weight_are_still_answered_well():
    graph = graph_of([(0, 1, 1.0), (2, 3, 1.0)], 4)
    mechanism = hetdp.design(hetdp.Problem(graph, [1, 2, 1, 2]), "average", prior=[1, 1, 0, 0])
    assert mechanism.errors.tolist() == pytest.approx([1 / (1 + math.e)] * 4)


def test_a_largest_error_of_a_half_is_never_worse_than_a_coin():
    problem = tallies((11, 8, 2), (0.1, 0.5, 1.0))
    free, held = hetdp.design(problem, "average"), hetdp.design(problem, "average", max_error=0.5)
    assert free.errors.max() > 0.6
    assert held.errors.max() <= 0.5 + 1e-9
    assert mean_accuracy(hetdp.design(problem)) + 0.005 < mean_accuracy(held) < mean_accuracy(free) - 0.05


@pytest.mark.parametrize("objective", ["fair", "balanced", "average"])
def test_an_unreachable_largest_error_is_refused_with_the_smallest_reachable_one(objective):
    problem = voters(3, "everyone")
    with pytest.raises(
        hetdp.InputError, match=r"problem: no private mechanism keeps to max_error=0.3; the smallest possib"
    ) as bad:
        hetdp.design(problem, objective, max_error=0.3)
    assert bad.value.exit_code == 3
    assert str(bad.value).endswith("worst error is 0.450167.")
    assert hetdp.design(problem, objective, max_error=0.450167).errors.max() <= 0.450167
    with pytest.raises(hetdp.InputError, match="worst error with the given values is"):
        hetdp.design(problem, objective, {"112": 0.2}, max_error=0.3)


def test_invalid_arguments_are_refused():
    problem = voters(3, "everyone")
    for wrong in (-0.1, 1.5, math.nan, True, "0.5"):
        with pytest.raises(hetdp.UsageError, match="it must be a number from 0 to 1"):
            hetdp.design(problem, "average", max_error=wrong)
    for objective in ("fair", "balanced"):
        with pytest.raises(
            hetdp.UsageError,
            match=f"prior= together with objective='{objective}'; only the objective average has a prior",
        ):
            hetdp.design(problem, objective, prior="uniform")
    with pytest.raises(hetdp.UsageError, match="unknown prior 'flat'; a prior is 'uniform'"):
        hetdp.design(problem, "average", prior="flat")
    with pytest.raises(hetdp.UsageError, match="the problem has no weights; the prior 'weight' takes"):
        hetdp.design(problem, "average", prior="weight")
    with pytest.raises(hetdp.InputError, match="every weight is 0; some dataset has a weight above 0"):
        hetdp.design(problem, "average", prior=[0.0] * 8)


def test_values_that_cannot_be_private_together_are_refused_with_a_witness():
    with pytest.raises(hetdp.NoExtensionError) as refusal:
        hetdp.design(voters(3, "first, when deciding"), "average", {"112": 0.99, "212": 0.01})
    assert refusal.value.witness.path.datasets == ["212", "112"]


def test_the_bound_holds_for_any_prices():
    generator = np.random.default_rng(3)
    for _ in range(200):
        x = generator.random(4)
        ends = generator.integers(0, 4, (2, 6))
        a, b = generator.normal(size=(2, 6))
        random = Rows(ends[0], ends[1], a, b, a * x[ends[0]] + b * x[ends[1]] + generator.random(6))
        cost, prices = generator.normal(size=4), generator.random(6)
        assert lower_bound(cost, np.zeros(4), np.ones(4) * 9.0, random, prices) <= cost @ x + 1e-12


def test_the_gap_is_stored_in_files(tmp_path):
    problem = voters(3, "first, when deciding")
    mechanism = replace(hetdp.design(problem, "average"), objective_gap=0.25)
    for name in ("m.parquet", "m.json", "m.csv"):
        hetdp.save(mechanism, tmp_path / name)
        for loaded in (hetdp.read_mechanism(tmp_path / name, problem), hetdp.read_mechanism(tmp_path / name)):
            assert loaded.objective_gap == mechanism.objective_gap
    hetdp.save(hetdp.design(problem), tmp_path / "fair.json")
    assert hetdp.read_mechanism(tmp_path / "fair.json").objective_gap is None


@pytest.mark.parametrize("wrong", [-0.1, 2.0, True, "much"])
def test_an_invalid_gap_is_refused(tmp_path, wrong):
    problem = voters(3, "everyone")
    hetdp.save(hetdp.design(problem, "average"), tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text()) | {"objective_gap": wrong}
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(hetdp.InputError, match=r"m.json, objective_gap: not a distance: "):
        hetdp.read_mechanism(tmp_path / "m.json")


def random_graph(datasets, epsilons, seed=1):
    """A graph with five edges per dataset and random answers: nearly every dataset is on the boundary."""
    generator = np.random.default_rng(seed)
    source, target = generator.integers(0, datasets, (2, 5 * datasets))
    several = source != target
    epsilon = generator.choice(epsilons, 5 * datasets)
    graph = hetdp.DatasetGraph.from_edges(
        source[several], target[several], epsilon[several], datasets=range(datasets), duplicates="min"
    )
    return hetdp.Problem(graph, generator.integers(1, 3, datasets))


def record_methods(monkeypatch):
    """Records the methods that the solver runs: the name of the solver and whether its result is exact."""
    seen, run = [], Solver._run

    def record(self):
        run(self)
        tolerance = self._highs.getOptionValue("ipm_optimality_tolerance")[1]
        seen.append((self._highs.getOptionValue("solver")[1], tolerance == solver.OPTIONS["ipm_optimality_tolerance"]))

    monkeypatch.setattr(Solver, "_run", record)
    return seen


@pytest.mark.parametrize("epsilons", [np.linspace(0.05, 1.0, 999), [0.1, 0.5, 1.0]])
def test_random_graphs_are_solved_by_interior_points_with_rows_near_a_rough_solution(monkeypatch, epsilons):
    seen = record_methods(monkeypatch)
    problem = random_graph(1000, epsilons)
    found = hetdp.design(problem, "average")
    assert seen[0] == ("ipm", False)
    assert set(seen[1:]) == {("ipm", True)}
    assert found.objective_gap < 1e-8
    monkeypatch.setattr(solver, "FEW_COLUMNS", 10**6)
    seen.clear()
    other = hetdp.design(problem, "average")
    assert set(seen) == {("simplex", True)}
    assert other.errors.mean() == pytest.approx(found.errors.mean(), abs=1e-8)


def test_tallies_are_solved_by_the_simplex_method(monkeypatch):
    seen = record_methods(monkeypatch)
    assert hetdp.design(tallies((10, 9, 8), (0.1, 0.5, 1.0)), "average").objective_gap < 1e-8
    assert hetdp.design(tallies((6, 5, 5, 4), (0.1, 0.5, 1.0, 0.2)), "average").objective_gap < 1e-8
    assert set(seen) == {("simplex", True)}


def test_a_solver_that_fails_is_followed_by_the_next_method(monkeypatch):
    one = Solver(np.array([-1.0, 1.0]), np.zeros(2), np.ones(2))
    one.add(Rows(np.array([0]), np.array([1]), np.array([1.0]), np.array([-2.0]), np.array([0.5])))
    expected = one.solve(interior=False)
    for interior, order in ((True, solver.INTERIOR_FIRST), (False, solver.SIMPLEX_FIRST)):
        tried, solved = [], Solver._is_solved

        def is_solved(self, tried=tried, last=order[-1], solved=solved):
            method = {name: self._highs.getOptionValue(name)[1] for name in last}
            tried.append(method)
            return method == last and solved(self)

        monkeypatch.setattr(Solver, "_is_solved", is_solved)
        found = one.solve(interior=interior)
        assert [step["solver"] for step in tried[: len(order)]] == [step["solver"] for step in order]
        assert found.solved
        assert found.x == pytest.approx(expected.x, abs=1e-6)
        monkeypatch.setattr(Solver, "_is_solved", solved)


@pytest.mark.parametrize("interior", [False, True])
def test_a_solver_that_is_cancelled_finds_no_optimum(interior):
    rng, found = np.random.default_rng(0), []
    for cancelled in (False, True):
        solver = Solver(-rng.random(60), np.zeros(60), np.full(60, 10.0))
        first = rng.integers(0, 59, 300)
        solver.add(Rows(first, first + 1, rng.random(300), rng.random(300), np.ones(300)))
        if cancelled:
            solver._highs.cancelSolve()
        found.append(solver.solve(interior).solved)
    assert found == [True, False]


def test_an_interrupt_cancels_the_solver_and_waits_for_its_end(monkeypatch):
    one = Solver(np.ones(1), np.zeros(1), np.ones(1))
    running, cancelled, ended = threading.Event(), threading.Event(), threading.Event()

    class Slow:
        def run(self):
            running.set()
            cancelled.wait(300.0)
            ended.set()

        def cancelSolve(self):  # noqa: N802
            cancelled.set()

    monkeypatch.setattr(one, "_highs", Slow())

    main = threading.get_ident()

    def interrupt() -> None:
        running.wait(300.0)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        one._run()
    assert cancelled.is_set()
    assert ended.is_set()


@pytest.mark.parametrize("weights", [None, [1.0 if at == 3 else 1e-9 for at in range(100)]])
def test_where_the_best_is_certain_the_average_is_not_left_to_the_fair_search(weights):
    path = hetdp.DatasetGraph.from_edges(range(99), range(1, 100), 0.001)
    problem = hetdp.Problem(path, [1 if at >= 40 else 2 for at in range(100)], weights=weights)
    found = hetdp.design(problem, "average")
    assert found.objective_gap < 1e-9
    assert found.certificate.private
    always_one = np.average(problem.answers == 2, weights=weights)
    assert np.average(found.errors, weights=weights) <= always_one + 1e-9


def test_edges_of_nearly_no_epsilon_do_not_leave_the_average_to_the_fair_search():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        epsilon = np.where(rng.random(300) < 0.15, 1e-12, rng.uniform(0.1, 2.0, 300))
        ends = rng.integers(0, 100, (2, 300))
        graph = hetdp.DatasetGraph.from_edges(*ends, epsilon, datasets=range(100), duplicates="min")
        assert hetdp.design(hetdp.Problem(graph, rng.integers(1, 3, 100)), "average").objective_gap < 1e-7


@pytest.mark.parametrize("objective", ["fair", "balanced", "average"])
def test_a_tiny_largest_error_is_not_taken_for_a_rounding(objective):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([0], [1], 30.0), [1, 2])
    with pytest.raises(hetdp.InputError, match="no private mechanism keeps to"):
        hetdp.design(problem, objective, max_error=1e-15)
