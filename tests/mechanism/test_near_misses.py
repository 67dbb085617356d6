"""Pins written as decimals: tight ones miss by a rounding and are closed; clear misses are refused."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.mechanism import extension, local
from hetdp.problem.product import as_graph
from tests.loops import for_each
from tests.mechanism.problems import ENGINES, bits, signed_z, violated_arcs
from tests.oracle.random_problems import compatible_problems
from tests.paper.library import problem_of
from tests.partitioned.problems import SHAPES, random_problem, rounded_pins
from tests.stress import stress, times

PAIR = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], [1.0]), {"a": 1, "b": 2})
TIGHT = list(compatible_problems(seed=51, count=90))


def decimal_pins(small, digits: int, share: float = 0.6):
    """The values of an extension on its pins and some more datasets, rounded to a number of decimal digits."""
    rng = random.Random(digits)
    problem = problem_of(small)
    mechanism = hetdp.extend(problem, small.pins)
    chosen = [v for v in small.answers if v in small.pins or rng.random() < share]
    return problem, {v: float(f"{mechanism[v]:.{digits}g}") for v in chosen}


@for_each("digits", [6, 7, 8, 9, 10, 12, 14, 15, 16, 17])
def test_tight_decimals_are_closed_or_refused_but_never_break_privacy(digits):
    outcomes = {"as they are": 0, "closed": 0, "refused": 0}
    for small in TIGHT[:30]:
        problem, pins = decimal_pins(small, digits)
        verdict = hetdp.check(problem, pins)
        if not verdict.compatible:
            assert verdict.moved > 1e-9
            with pytest.raises(hetdp.NoExtensionError) as refused:
                hetdp.extend(problem, pins)
            assert hetdp.extend(problem, refused.value.repair.pins).certificate.private
            outcomes["refused"] += 1
            continue
        mechanism = hetdp.extend(problem, pins)
        assert mechanism.moved <= 1e-9
        assert violated_arcs(problem, mechanism.coordinates) == []
        assert mechanism.certificate.optimal
        outcomes["closed" if mechanism.moved else "as they are"] += 1
    assert digits < 12 or outcomes["refused"] == 0
    assert digits not in (12, 14, 15) or outcomes["closed"] > 3
    assert digits > 7 or outcomes["refused"] > 3


@pytest.mark.parametrize("engine", ENGINES)
def test_closed_pins_are_the_same_on_every_engine_with_and_without_proof(engine):
    for small in TIGHT[30:60]:
        problem, pins = decimal_pins(small, 14)
        mechanism = hetdp.extend(problem, pins, engine=engine)
        for other in (hetdp.extend(problem, pins), hetdp.extend(problem, pins, engine=engine, verify=False)):
            assert bits(other.coordinates) == bits(mechanism.coordinates)
            assert other.moved == mechanism.moved


def test_the_farthest_move_is_reported():
    for small in TIGHT[60:]:
        problem, pins = decimal_pins(small, 13)
        mechanism = hetdp.extend(problem, pins)
        z = np.array([hetdp.extend(problem, pins).coordinates[v] for v in pins])
        given = np.array([_z(p) for p in pins.values()])
        with np.errstate(invalid="ignore"):
            assert float(np.nanmax(np.abs(z - given), initial=0.0)) == pytest.approx(mechanism.moved, abs=1e-15)


def _z(p: float) -> float:
    if p in (0.0, 1.0):
        return math.inf if p else -math.inf
    return math.log(2 * p) if p <= 0.5 else -math.log(2 * (1 - p))


MEETING = math.log((1 + math.e) / 2)


@for_each("miss", [0.0, 1e-16, 1e-15, 1e-12, 4e-10, 9.99e-10])
def test_a_miss_of_less_than_a_billionth_is_closed(miss):
    pins = hetdp.PartialMechanism(z={"a": MEETING + miss, "b": -MEETING})
    mechanism = hetdp.extend(PAIR, pins)
    assert mechanism.moved == pytest.approx(miss, abs=2e-15)
    assert mechanism.certificate is not None
    assert mechanism.certificate.private
    assert hetdp.check(PAIR, pins).compatible


@pytest.mark.parametrize("miss", [1.001e-9, 3e-9, 1e-8, 1e-3, 1.0])
def test_a_miss_of_more_than_a_billionth_is_refused(miss):
    pins = hetdp.PartialMechanism(z={"a": MEETING + miss, "b": -MEETING})
    assert not hetdp.check(PAIR, pins).compatible
    with pytest.raises(hetdp.NoExtensionError):
        hetdp.extend(PAIR, pins)


@for_each("z", [0.5, -1.5, 30.0])
@for_each("epsilon", [0.1, 0.3, 1.0])
def test_one_float_too_many_on_a_plain_edge_is_closed_exactly(z, epsilon):
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], [epsilon])
    problem = hetdp.Problem(graph, [1, 1])
    bound = hetdp.extend(problem, hetdp.PartialMechanism(z={"a": z})).coordinates[1]
    above = math.nextafter(bound, math.inf)
    mechanism = hetdp.extend(problem, hetdp.PartialMechanism(z={"a": z, "b": above}))
    assert mechanism.coordinates.tolist() == [z, bound]
    assert mechanism.moved == above - bound


def test_pins_that_fit_are_unchanged():
    mechanism = hetdp.extend(PAIR, {"a": 0.6, "b": 0.4})
    assert mechanism.moved == 0.0
    assert mechanism.coordinates.tolist() == [_z(0.6), _z(0.4)]


# Values of a mechanism given again as p: tight to the last bit, apart from rounding -----------------------------------


NOTIONS = ("pure", "directed", "approximate", "gaussian", "bounded-range")


@pytest.fixture
def calls(monkeypatch) -> list[str]:
    """The names of the searches, closings and proofs of `extend`, as they happen."""
    seen: list[str] = []

    def record_calls(name, function):
        def call(*arguments):
            seen.append(name)
            return function(*arguments)

        return call

    for name in ("search", "close"):
        monkeypatch.setattr(local.LocalSteps, name, record_calls(name, getattr(local.LocalSteps, name)))
    monkeypatch.setattr(extension, "prove", record_calls("prove", hetdp.verify))
    monkeypatch.setattr(extension, "_close_both_ways", record_calls("both ways", extension._close_both_ways))
    return seen


@stress
@pytest.mark.parametrize("notion", NOTIONS)
def test_whether_pins_are_closed_at_once_or_after_a_search_changes_no_bit_on_any_engine(notion, monkeypatch, calls):
    moves = 0
    for seed in range(times(8, stressed=12)):
        problem, pins = random_problem(seed, SHAPES[seed % 4], notion=notion)
        given = rounded_pins(problem, pins)
        found = {}
        for engine in ENGINES:
            for arcs in (0, 1 << 40):
                monkeypatch.setattr(local, "FEWEST_SAMPLED_ARCS", arcs)
                found[engine, arcs] = hetdp.extend(problem, given, engine=engine)
        whole = found["reference", 0]
        assert whole.certificate.private
        assert whole.certificate.optimal
        assert whole.moved < 1e-13
        moves += whole.moved > 0.0
        for other in found.values():
            assert bits(other.coordinates) == bits(whole.coordinates)
            assert other.moved == whole.moved
            assert hetdp.verify(problem, other) == other.certificate
    assert moves > 2
    assert {"search", "close", "prove"} <= set(calls)


def test_pins_seen_to_miss_take_one_growth_and_one_proof(monkeypatch, calls):
    problem, pins = random_problem(3, "sparse")
    given = hetdp.PartialMechanism(z=np.where(problem.answers == 1, np.nextafter(pins.z, 9.0), pins.z))
    monkeypatch.setattr(local, "FEWEST_SAMPLED_ARCS", 0)
    calls.clear()
    mechanism = hetdp.extend(problem, given)
    assert calls == ["close", "prove"]
    assert 0.0 < mechanism.moved < 1e-15


def test_pins_that_fit_are_searched_and_proved_once(monkeypatch, calls):
    problem, pins = random_problem(3, "sparse")
    monkeypatch.setattr(local, "FEWEST_SAMPLED_ARCS", 0)
    calls.clear()
    assert hetdp.extend(problem, pins).moved == 0.0
    assert calls == ["search", "prove"]


def chain_of(*epsilons: float) -> hetdp.DatasetGraph:
    return hetdp.DatasetGraph.from_edges(range(len(epsilons)), range(1, len(epsilons) + 1), epsilons)


def test_only_what_a_moved_pin_binds_is_moved_with_it(calls):
    """Datasets 0 – 1 – 2 – 3 – 4 – 5: 2 and 3 are the boundary, 1 is pinned a float too high, and binds 0."""
    problem = hetdp.Problem(chain_of(0.3, 0.1, 0.5, 0.1, 0.7), [1, 1, 1, 2, 2, 2])
    fits = hetdp.extend(problem, hetdp.PartialMechanism(z={1: 0.3, 2: 0.2, 3: -0.25}))
    above = math.nextafter(fits.coordinates[1], 1.0)
    bound = hetdp.extend(problem, hetdp.PartialMechanism(z={2: 0.2, 3: -0.25})).coordinates
    assert above > bound[1]
    calls.clear()
    closed = hetdp.extend(problem, hetdp.PartialMechanism(z={1: above, 2: 0.2, 3: -0.25}))
    assert "close" in calls
    assert closed.coordinates.tolist() == bound.tolist()
    assert closed.links.tolist() == [1, -1, -1, -1, 3, 4]
    assert closed.moved == above - bound[1]


def test_closing_one_way_never_raises_the_accuracy_of_a_pin(calls):
    moved = 0
    for small in TIGHT:
        if any(epsilon == 0.0 for _, _, epsilon in small.edges):
            continue
        problem, pins = decimal_pins(small, 15)
        calls.clear()
        mechanism = hetdp.extend(problem, pins)
        p = np.array([pins.get(v, math.nan) for v in problem.labels.names])
        given = problem.notion.coordinate.from_probability(p)
        if "both ways" not in calls:
            pinned = ~np.isnan(given)
            assert (signed_z(problem, mechanism.coordinates) <= signed_z(problem, given))[pinned].all()
            moved += mechanism.moved > 0.0
    assert moved > 5


def test_spaces_of_people_are_closed_as_the_graph_of_their_edges_is(calls):
    """Nothing is seen there at first, since their edges are not stored."""
    rules = hetdp.privacy.rules(0.7, deciding={"1": 0.2, "4": 0.3})
    problem = hetdp.spaces.votes(5, hetdp.questions.majority(), rules)
    z = hetdp.design(problem, "balanced").coordinates  # rounded to multiples of 2^-40
    tight = hetdp.PartialMechanism(z=np.where(problem.boundary_mask, z + 2.0**-39, np.nan))
    calls.clear()
    found = [hetdp.extend(problem, tight, engine=engine) for engine in ("product", "reference", "auto")]
    stored = hetdp.Problem(as_graph(problem.graph), problem.answers)
    found += [hetdp.extend(stored, tight, engine=engine) for engine in ("cpu", "reference")]
    assert calls.count("close") == len(found)
    assert 0.0 < found[0].moved < 2.0**-38
    for mechanism in found:
        assert bits(mechanism.coordinates) == bits(found[0].coordinates)
        assert mechanism.certificate.optimal


def test_values_given_again_are_closed_alike_everywhere(tmp_path):
    problem, pins = random_problem(4, "sparse", "text")
    given = rounded_pins(problem, pins)
    p = np.array([given.get(label, math.nan) for label in problem.labels.names])
    whole = hetdp.extend(problem, given)
    assert whole.moved > 0.0
    hetdp.save(problem, tmp_path / "problem.json")
    hetdp.save(problem, tmp_path / "pinned.json", given)
    rows = "".join(f"{label},{value!r}\n" for label, value in given.items())
    (tmp_path / "pins.csv").write_text("dataset,p\n" + rows)
    found = [
        hetdp.extend(problem, p),
        hetdp.extend(problem, hetdp.PartialMechanism(p=given)),
        hetdp.extend(*hetdp.read_problem(tmp_path / "pinned.json")),
    ]
    for name, options in (("problem.json", ["--pins", str(tmp_path / "pins.csv")]), ("pinned.json", [])):
        assert main(["extend", str(tmp_path / name), *options, "-o", str(tmp_path / "out.parquet")]) == 0
        found.append(hetdp.read_mechanism(tmp_path / "out.parquet", problem))
    for mechanism in found:
        assert bits(mechanism.coordinates) == bits(whole.coordinates)
        assert mechanism.moved == whole.moved


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("z", [-1.0, -0.1, 0.75])
def test_an_answer_2_above_what_answer_1_allows_is_closed_over_all_edges(engine, z, calls):
    """The wrong way round: p is larger where the answer is 2."""
    problem = hetdp.Problem(chain_of(0.3, 0.3, 0.3), [1, 1, 2, 2])
    step = problem.notion.step
    above = step(z, 0.3)
    while above <= step(z, 0.3) or violated_arcs(problem, np.array([z, z, above, above])) == []:
        above = math.nextafter(above, math.inf)
    mechanism = hetdp.extend(problem, hetdp.PartialMechanism(z={1: z, 2: above}), engine=engine)
    assert calls[-1] != "close"
    assert "both ways" in calls
    assert violated_arcs(problem, mechanism.coordinates) == []
    assert mechanism.certificate.optimal
    assert 0.0 < mechanism.moved < 1e-14


@pytest.mark.parametrize("engine", ENGINES)
def test_pins_on_both_sides_of_one_half_within_an_answer_are_closed(engine):
    """Across ½ the step is rounded more coarsely, and one way differs from the other."""
    rng, moved = np.random.default_rng(8), 0
    for _ in range(60):
        epsilons = rng.uniform(0.2, 1.5, 2)
        problem = hetdp.Problem(chain_of(*epsilons), [2, 2, 2])
        high = float(rng.uniform(0.1, 0.7) * epsilons.sum())
        bound = hetdp.extend(problem, hetdp.PartialMechanism(z={0: high}), engine=engine).coordinates
        assert bound[2] < 0.0 < bound[0]
        for ulps in range(1, 20, 3):
            low = bound[2] - ulps * math.ulp(bound[2])
            mechanism = hetdp.extend(problem, hetdp.PartialMechanism(z={0: high, 2: low}), engine=engine)
            assert violated_arcs(problem, mechanism.coordinates) == []
            assert mechanism.certificate.optimal
            assert mechanism.moved <= 20 * math.ulp(bound[2])
            moved += mechanism.moved > 0.0
    assert 60 < moved < 7 * 60  # the exact verifier accepts some of them as they are
