"""Everything above the engines, on spaces of people: the same bits as on the same edges, stored."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hetdp
from hetdp.certificate import products
from hetdp.engines import registry
from hetdp.mechanism.balanced import balanced_pins
from hetdp.problem.axis import Axis
from hetdp.problem.decimals import are_on_grid
from hetdp.problem.partial import pins_of
from hetdp.problem.product import ProductSpace, as_graph
from tests.engines.products import random_answers, random_space
from tests.loops import for_each

YES_NO = ("yes", "no")


def people_and_graph(seed: int, most: int = 400) -> tuple[hetdp.Problem, hetdp.Problem, np.random.Generator]:
    """A problem on a space of people, the same problem on a stored graph, and the random generator."""
    rng = np.random.default_rng(seed)
    space = random_space(rng, most)
    answers = random_answers(rng, space.size)
    return hetdp.Problem(space, answers), hetdp.Problem(as_graph(space), answers), rng


def assert_same(one: hetdp.Mechanism, other: hetdp.Mechanism) -> None:
    assert one.coordinates.tobytes() == other.coordinates.tobytes()
    assert one.pinned.tolist() == other.pinned.tolist()
    for mechanism in (one, other):
        assert mechanism.certificate is not None
        assert mechanism.certificate.private
        assert mechanism.certificate.optimal
    assert one.certificate.edges == other.certificate.edges  # type: ignore[union-attr]


@for_each("engine", ["product", "reference"])
@for_each("seed", range(12))
def test_balanced_is_the_extension_of_its_own_boundary(seed, engine):
    ours, stored, _ = people_and_graph(seed)
    balanced, pins = hetdp.design(ours, "balanced", engine=engine), balanced_pins(ours, engine)
    assert_same(balanced, hetdp.extend(stored, pins))
    assert_same(balanced, hetdp.extend(ours, pins, engine=engine))
    assert balanced.objective == "balanced"
    assert are_on_grid(np.abs(balanced.coordinates))
    other = hetdp.design(stored, "balanced")
    np.testing.assert_allclose(balanced.errors, other.errors, rtol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_compiled_start_labels_are_those_of_the_plain_loop(seed, monkeypatch):
    ours, _, _ = people_and_graph(20 + seed)
    plain = pins_of(balanced_pins(ours), ours)
    monkeypatch.setattr("hetdp.mechanism.balanced.SMALL_SPACE", -1)
    assert pins_of(balanced_pins(ours), ours).tobytes() == plain.tobytes()


@for_each("seed", range(12))
def test_fair_is_that_of_the_stored_graph(seed):
    ours, stored, _ = people_and_graph(40 + seed)
    assert_same(hetdp.design(ours), hetdp.design(stored))


@for_each("seed", range(20))
def test_any_pins_get_the_same_verdict(seed):
    ours, stored, rng = people_and_graph(60 + seed, 60)
    values = rng.normal(0.0, rng.choice([0.1, 2.0]), ours.graph.size)
    pins = hetdp.PartialMechanism(z=np.where(rng.random(len(values)) < 0.5, values, np.nan))
    engine = ["product", "reference"][seed % 2]
    verdict, expected = hetdp.check(ours, pins, engine=engine), hetdp.check(stored, pins)
    assert (verdict.compatible, verdict.moved) == (expected.compatible, expected.moved)
    if not verdict.compatible:
        assert verdict.repair.intervals() == expected.repair.intervals()
        assert verdict.witness.value == expected.witness.value


@for_each("seed", range(10))
def test_pins_on_both_sides_of_a_half_are_extended_to_the_same_bits(seed):
    ours, stored, rng = people_and_graph(80 + seed)
    z = hetdp.design(stored).coordinates + rng.uniform(-1.0, 1.0)  # shifted: some are worse than a coin
    pins = hetdp.PartialMechanism(z=np.where(ours.boundary_mask | (rng.random(len(z)) < 0.1), z, np.nan))
    verdict = hetdp.check(stored, pins)
    if not verdict.compatible:
        pins = verdict.repair.pins
    assert_same(hetdp.extend(ours, pins, engine="product"), hetdp.extend(stored, pins))


@pytest.mark.parametrize("seed", range(15))
def test_the_verifier_lists_the_same_arcs_by_itself(seed, monkeypatch):
    ours, stored, rng = people_and_graph(100 + seed)
    if seed % 2:
        monkeypatch.setattr(products, "SMALL_SPACE", -1)  # the compiled list
        monkeypatch.setattr(products, "BLOCK", 7)
    values = hetdp.PartialMechanism(z=rng.normal(0.0, 1.0, ours.graph.size))
    one, other = hetdp.verify(ours, values), hetdp.verify(stored, values)
    assert (one.edges, one.violations, one.slack, one.worst_edge) == (
        other.edges,
        other.violations,
        other.slack,
        other.worst_edge,
    )


def test_a_label_one_step_of_the_grid_too_large_is_caught():
    problem = voters(12)
    mechanism = hetdp.design(problem, "balanced")
    z = mechanism.coordinates.copy()
    at = int(np.flatnonzero(~mechanism.pinned & (problem.answers == 1))[5])
    z[at] += 2.0**-40
    assert hetdp.verify(problem, hetdp.PartialMechanism(z=mechanism.coordinates)).private
    assert not hetdp.verify(problem, hetdp.PartialMechanism(z=z)).private


def test_a_verifier_that_misses_arcs_proves_nothing(monkeypatch):
    problem = voters(4)
    mechanism = hetdp.design(problem, "balanced")
    whole = products.changes_of
    monkeypatch.setattr(products, "changes_of", lambda axis: list(whole(axis))[:-1])
    assert not hetdp.verify(problem, mechanism).private


def voters(people: int, deciding: float | None = None) -> hetdp.Problem:
    """A majority, optionally with a separate ε for deciding votes."""
    counts = np.array([bin(number).count("0") - 1 for number in range(2**people)])  # yes is 0
    yes = counts + people - np.array([max(number.bit_length(), 1) for number in range(2**people)])
    answers = np.where(2 * yes > people, 1, 2)
    names, rng = list(range(people)), np.random.default_rng(people)
    if deciding is None:
        return hetdp.Problem(
            ProductSpace([Axis.person(n, YES_NO, round(rng.uniform(0.1, 1), 2)) for n in names]), answers
        )
    table = np.broadcast_to([[1.0, deciding], [deciding, 1.0]], (2, 2, 2, 2))
    return hetdp.Problem(ProductSpace([Axis.person(n, YES_NO, table) for n in names], answers - 1), answers)


def test_large_spaces_are_searched_proved_and_explained():
    for problem in (voters(15), voters(15, deciding=0.3)):
        assert registry.engine_for("auto", problem.graph, problem.notion, "grow").name == "product"
        mechanism = hetdp.design(problem, "balanced")
        assert mechanism.certificate is not None
        assert mechanism.certificate.edges == 15 * 2**14
        path = mechanism.explain(("yes",) * 15)
        assert path.datasets[-1] == ("yes",) * 15
        assert mechanism[path.datasets[0]] == path.bounds[0]
        again = hetdp.extend(
            problem, hetdp.PartialMechanism(z=np.where(mechanism.pinned, mechanism.coordinates, np.nan))
        )
        assert again.coordinates.tobytes() == mechanism.coordinates.tobytes()
    assert path.epsilons == [1.0] * 7
    error = math.exp(-7.0) / (1.0 + math.exp(0.3))
    assert mechanism.errors[0] == pytest.approx(error, rel=1e-9)


def test_tallies_agree_with_their_votes():
    votes = voters(9, deciding=0.3)
    yes = (votes.graph.positions(0) * 0).astype(np.int64)
    for person in range(9):
        yes += votes.graph.positions(person) == 0
    answers = np.where(2 * np.arange(10) > 9, 1, 2)
    table = np.broadcast_to([[1.0, 0.3], [0.3, 1.0]], (2, 2, 2, 2))
    tallies = hetdp.Problem(ProductSpace([Axis.tally("all", 9, table)], answers - 1), answers)
    for objective in ("fair", "balanced"):
        folded = hetdp.design(tallies, objective).coordinates[yes]
        np.testing.assert_allclose(hetdp.design(votes, objective).coordinates, folded, rtol=0, atol=1e-11)


def test_induced_bounds_and_polish_work_on_people():
    ours, stored, _ = people_and_graph(7)
    first = ours.labels.names[0]
    assert (
        hetdp.induced_bounds(ours.graph, first, 0.1).tolist() == hetdp.induced_bounds(stored.graph, first, 0.1).tolist()
    )
    assert_same(hetdp.polish(ours, [0.5] * ours.graph.size), hetdp.polish(stored, [0.5] * ours.graph.size))


def test_the_fair_search_needs_edges_that_can_be_stored():
    space = ProductSpace([Axis.person(at, YES_NO, 1.0) for at in range(22)])
    problem = hetdp.Problem(space, np.arange(space.size, dtype=np.int64) % 2 + 1)
    with pytest.raises(hetdp.UsageError, match="46,137,344 edges to be stored"):
        hetdp.design(problem)


def test_labels_too_large_for_a_sweep_in_place_are_grown_step_by_step():
    space = ProductSpace([Axis.person(at, YES_NO, 3000.5 + at) for at in range(4)])
    problem = hetdp.Problem(space, np.where(np.arange(16) < 7, 1, 2))
    ours, expected = (hetdp.design(problem, "balanced", engine=name) for name in ("product", "reference"))
    assert_same(ours, expected)
    assert np.max(np.abs(ours.coordinates)) < 2**13
