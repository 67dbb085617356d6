"""On a space of people, verification row by row gives the same certificate as arc by arc, for any claim."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import hetdp
from hetdp.certificate import products
from hetdp.certificate.certificate import Certificate, is_private, verify
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from tests.engines.products import random_answers, random_space

pytestmark = pytest.mark.jit_off
NOTIONS = ("pure", "bounded-range")


@pytest.fixture(autouse=True)
def small_rows(monkeypatch):
    """Makes rows and caches so short that both are split."""
    monkeypatch.setattr("hetdp.certificate.additive.ROW", 16)
    monkeypatch.setattr("hetdp.certificate.additive.CACHED_DATASETS", 24)
    monkeypatch.setattr("hetdp.certificate.additive.BLOCK", 64)


def both_certificates(
    problem: hetdp.Problem, mechanism: object, monkeypatch: pytest.MonkeyPatch
) -> tuple[Certificate, Certificate]:
    """The certificates found arc by arc and row by row."""
    found = []
    for worth in (math.inf, -1):
        monkeypatch.setattr(products, "FEWEST_FOR_ROWS", worth)
        certificate = verify(problem, mechanism)
        assert not isinstance(mechanism, LocalMechanism) or is_private(problem, mechanism) == certificate.private
        found.append(certificate)
    return found[0], found[1]


def random_claim(rng: np.random.Generator, problem: hetdp.Problem) -> LocalMechanism:
    """A mechanism with some values, pins and links changed."""
    best = hetdp.design(problem, "balanced")
    assert isinstance(best, LocalMechanism)
    size = len(best)
    z, pinned, links = best.coordinates.copy(), best.pinned.copy(), best.links.astype(np.int64)
    for array, other in (
        (z, np.where(np.isinf(z), 1.0, z) + rng.choice([2.0**-40, -(2.0**-40), 1e-16, 0.25, math.inf], size)),
        (z, -z),
        (pinned, ~pinned),
        (links, rng.integers(-3, size + 3, size)),
    ):
        changed = rng.random(size) < rng.choice([0.0, 0.0, 0.02, 0.5])
        array[changed] = other[changed]
    return dataclasses.replace(best, coordinates=z, pinned=pinned, links=links)


@pytest.mark.parametrize("seed", range(60))
def test_every_claim_gets_the_same_certificate(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    problem = hetdp.Problem(space, random_answers(rng, space.size), NOTIONS[seed % 2])
    if not space.arc_count:
        return
    one, other = both_certificates(problem, random_claim(rng, problem), monkeypatch)
    assert one == other


@pytest.mark.parametrize("seed", range(20))
def test_any_values_get_the_same_certificate(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    problem = hetdp.Problem(space, random_answers(rng, space.size))
    values = rng.normal(0.0, rng.choice([0.01, 1.0]), space.size).round(int(rng.integers(1, 17)))
    one, other = both_certificates(problem, hetdp.PartialMechanism(z=values), monkeypatch)
    assert one == other


def test_a_single_violated_arc_is_found_wherever_it_is(monkeypatch):
    axes = [Axis.tally("a", 4, 0.5), Axis.person("b", ["x", "y", "z"], 0.25), Axis.tally("c", 9, 1.0)]
    problem = hetdp.Problem(ProductSpace(axes), np.ones(150, dtype=np.int8))
    monkeypatch.setattr(products, "FEWEST_FOR_ROWS", -1)
    for at in range(150):
        z = np.zeros(150)
        z[at] = 0.25 + 2.0**-40
        found = verify(problem, hetdp.PartialMechanism(z=z))
        _, (epsilon,) = problem.graph.neighbours(at)
        assert found.violations == np.count_nonzero(epsilon < z[at])
        assert found.edges == problem.graph.edge_count
        assert found.worst_edge is not None
        assert found.worst_edge.target == problem.graph.label(at)
        assert found.slack == -(2.0**-40)


def arcs_in(every: products.Rows, longest: int, space: ProductSpace) -> list[tuple[int, int, float]]:
    """All arcs that the rows stand for."""
    found = []
    for period, first, last, states in every.changes.tolist():
        for base in range(0, space.size, period):
            for begin, end, shift, place in every.runs[first:last].tolist():
                for at in range(max(base + begin, -shift), min(base + end, space.size, space.size - shift)):
                    offset = (at - base - begin) % longest
                    if states > 1:
                        assert space.states is not None
                        offset = int(space.states[at]) * states + int(space.states[at + shift])
                    found.append((at, at + shift, float(every.epsilon[place + offset])))
    return [arc for arc in found if arc[2] < math.inf]


@pytest.mark.parametrize("seed", range(20))
def test_rows_contain_every_arc_exactly_once(seed):
    space = random_space(np.random.default_rng(seed), 300)
    expected = []
    for at in range(space.size):
        targets, (epsilon,) = space.neighbours(at)
        expected += [(at, *arc) for arc in zip(targets.tolist(), epsilon.tolist(), strict=True)]
    assert sorted(arcs_in(products.rows_of(space, 32), 32, space)) == expected
