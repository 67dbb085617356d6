"""The verifier's loops give the same on lists, in plain Python, and on arrays, compiled."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hetdp
from hetdp.certificate import additive as edges
from hetdp.certificate import additive as links
from hetdp.certificate import compiled, scan
from hetdp.mechanism.balanced import balanced_pins
from hetdp.mechanism.mechanism import LocalMechanism

pytestmark = pytest.mark.jit_off

SPECIAL = [0.0, -0.0, math.inf, -math.inf, 1e308, -1e308, 5e-324, -5e-324, 1.0, -1.0]


def random_values(rng: np.random.Generator, size: int) -> np.ndarray:
    values = rng.normal(0.0, 2.0, size).round(int(rng.integers(0, 6)))
    special = rng.random(size) < 0.2
    values[special] = rng.choice(SPECIAL, int(special.sum()))
    return values


@pytest.mark.parametrize("halved", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_arcs_are_judged_alike_in_plain_python_and_compiled(seed: int, halved: bool):
    rng = np.random.default_rng(seed)
    z = random_values(rng, 12)
    source, target = rng.integers(0, 12, 60), rng.integers(0, 12, 60)
    epsilon = np.abs(random_values(rng, 60))
    epsilon[np.isinf(epsilon)] = 1.7e308
    neighbours = rng.integers(-1, 12, 12)
    noted = np.full(12, np.nan), [math.nan] * 12
    doubtful = np.zeros(60, dtype=np.int64), [0] * 60
    with np.errstate(all="ignore"):
        one = compiled.scan_arcs(source, target, epsilon, z, neighbours, noted[0], doubtful[0], halved)
    lists = [array.tolist() for array in (source, target, epsilon, z, neighbours)]
    assert one == scan.scan_arcs(*[*lists, noted[1], doubtful[1], halved])
    np.testing.assert_array_equal(noted[0], noted[1])
    assert doubtful[0].tolist() == doubtful[1]


@pytest.mark.parametrize("halved", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_links_are_judged_alike_in_plain_python_and_compiled(seed: int, halved: bool):
    rng = np.random.default_rng(seed)
    better, epsilon = random_values(rng, 50), np.abs(random_values(rng, 50))
    epsilon[rng.random(50) < 0.1] = np.nan
    pinned, neighbours = rng.random(50) < 0.3, rng.integers(0, 50, 50)
    notes = [[np.zeros(50, dtype=np.int64), np.zeros(50, dtype=np.int64), *np.zeros((2, scan.RISES))] for _ in range(2)]
    with np.errstate(all="ignore"):
        one = compiled.scan_links(0, 50, better, pinned, neighbours, epsilon, *notes[0], halved)
    lists = [array.tolist() for array in (better, pinned, neighbours, epsilon)]
    assert one == scan.scan_links(0, 50, *[*lists, *notes[1], halved])
    assert [note.tolist() for note in notes[0]] == [note.tolist() for note in notes[1]]


@pytest.mark.parametrize("seed", range(20))
def test_arcs_with_two_directions_are_sifted_as_one_after_the_other_would_be(seed: int):
    rng = np.random.default_rng(seed)
    z, epsilon = random_values(rng, 12), np.abs(random_values(rng, 60))
    source, neighbours = rng.integers(0, 12, 60), rng.integers(0, 12, 12)
    target = np.where(rng.random(60) < 0.3, neighbours[source], rng.integers(0, 12, 60))
    below = float(rng.choice([0.0, 0.5]))
    expected = np.flatnonzero(neighbours[source] == target).tolist()
    for sift in (compiled.sift_arcs, scan.sift_arcs):
        linked, doubtful = np.zeros((2, 60), dtype=np.int64)
        with np.errstate(all="ignore"):
            links_found, doubts = sift(source, target, epsilon, z, neighbours, below, linked, doubtful)
            room = epsilon - np.abs(z[source] - z[target])
        assert linked[:links_found].tolist() == expected
        left_out = np.setdiff1d(np.arange(60), doubtful[:doubts])
        assert (room[left_out] > below).all()
        assert doubts < 60
    assert len(expected) > 1


def test_a_certificate_does_not_depend_on_the_size_from_which_loops_are_compiled(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(7)
    source, target = rng.integers(0, 300, 900), rng.integers(0, 300, 900)
    epsilon = rng.uniform(0.05, 2.0, 900)
    graph = hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=range(300), duplicates="min")
    problem = hetdp.Problem(graph, rng.integers(1, 3, 300))
    mechanism = hetdp.extend(problem, balanced_pins(problem))
    monkeypatch.setattr(edges, "SMALL", 0)
    monkeypatch.setattr(links, "SMALL", 0)
    assert hetdp.verify(problem, mechanism) == mechanism.certificate
    worse = mechanism.coordinates.copy()
    worse[7] += 0.5
    assert not hetdp.verify(problem, LocalMechanism(problem, worse, mechanism.pinned, mechanism.links)).private
