"""The verifier's loops give the same results in plain Python on lists, compiled on arrays, and in NumPy."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.certificate import additive as edges
from hetdp.certificate import additive as links
from hetdp.certificate import compiled, scan
from hetdp.certificate.additive import RowSources
from hetdp.mechanism.balanced import balanced_pins
from hetdp.mechanism.mechanism import LocalMechanism
from tests.loops import for_each

pytestmark = pytest.mark.jit_off

SPECIAL = [0.0, -0.0, math.inf, -math.inf, 1e308, -1e308, 5e-324, -5e-324, 1.0, -1.0]


def random_values(rng: np.random.Generator, size: int) -> np.ndarray:
    values = rng.normal(0.0, 2.0, size).round(int(rng.integers(0, 6)))
    special = rng.random(size) < 0.2
    values[special] = rng.choice(SPECIAL, int(special.sum()))
    return values


@for_each("seed", range(10))
def test_stored_arcs_are_judged_as_listed_ones_wherever_they_are_cut(seed: int):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, 12)  # some datasets have no arcs
    indptr, rows = np.concatenate([[0], np.cumsum(counts)]), np.repeat(np.arange(12), counts)
    target, z, epsilon = rng.integers(0, 12, len(rows)), random_values(rng, 12), np.abs(random_values(rng, len(rows)))
    neighbours = rng.integers(-1, 12, 12)
    for start in range(0, len(rows), 3):
        for stop in range(start + 1, len(rows) + 1, 3):
            cut, known = slice(start, stop), RowSources(indptr, start)
            bits = epsilon[cut].view(np.int64), z.view(np.int64)
            results: list[Any] = []
            ways: list[Any] = [(compiled.scan_arcs, (rows[cut],))]
            ways += [(compiled.scan_rows, known.stored), (scan.scan_rows, known.stored)]
            for scan_arcs, source in ways:
                noted, notes = np.full(12, np.nan), np.zeros((3, len(rows)), dtype=np.int64)
                slots = np.zeros(scan.SLOTS, dtype=np.int64)
                columns = *source, target[cut], epsilon[cut], z, bits, neighbours, noted
                with np.errstate(all="ignore"):
                    found = scan_arcs(*columns, *notes, slots, True)
                results.append((list(map(float, found)), noted, notes))
            np.testing.assert_equal(results[1:], [results[0]] * 2)
            assert known[np.arange(stop - start)].tolist() == rows[cut].tolist()


@pytest.mark.parametrize("halved", [True, False])
@for_each("seed", range(40))
def test_arcs_are_judged_alike_in_plain_python_and_compiled(seed: int, halved: bool):
    rng = np.random.default_rng(seed)
    z = random_values(rng, 12)
    source, target = rng.integers(0, 12, 60), rng.integers(0, 12, 60)
    epsilon = np.abs(random_values(rng, 60))
    epsilon[np.isinf(epsilon)] = 1.7e308
    neighbours = rng.integers(-1, 12, 12)
    noted = np.full(12, np.nan), [math.nan] * 12
    notes: list[Any] = [
        np.zeros((3, 60), dtype=np.int64),
        [[0] * 60 for _ in range(3)],
        np.zeros((3, 60), dtype=np.int64),
    ]
    slots, bits = np.zeros(scan.SLOTS, dtype=np.int64), (epsilon.view(np.int64), z.view(np.int64))
    with np.errstate(all="ignore"):
        one = compiled.scan_arcs(source, target, epsilon, z, bits, neighbours, noted[0], *notes[0], slots, halved)
    lists = [array.tolist() for array in (source, target, epsilon, z)]
    rest = [[array.tolist() for array in bits], neighbours.tolist(), noted[1], *notes[1], [0] * scan.SLOTS, halved]
    assert one == scan.scan_arcs(*lists, *rest)
    np.testing.assert_array_equal(noted[0], noted[1])
    assert notes[0].tolist() == notes[1]
    again = np.full(12, np.nan)
    with np.errstate(all="ignore"):
        values: list[Any] = [source, target, epsilon, z, bits, neighbours, again, *notes[2], slots, halved]
        found = scan.scan_arcs_by_numpy(*values)
    assert (found[:2], found[3]) == (one[:2], one[3])
    assert found[2] == one[2] or one[0] <= found[2] < one[2]  # what is no less than the least slack may be left out
    np.testing.assert_array_equal(again, noted[1])
    listed = [
        list(zip(z[sources], z[target[arcs]], epsilon[arcs], strict=True)) for arcs, sources, _ in (notes[0], notes[2])
    ]
    doubts = Counter(listed[1][: found[4]])
    assert one[4] <= found[4] == sum(notes[0][2])
    assert doubts == sum((Counter({listed[0][at]: int(notes[0][2][at])}) for at in range(one[4])), Counter())


def test_doubtful_arcs_with_the_same_numbers_are_listed_once():
    """Of the 4000 arcs 2000 are doubtful; their ε take turns, and are 20."""
    z, epsilon = np.array([-1.0, 1.0]), np.tile(np.linspace(0.5, 1.5, 20), 200)
    source = np.repeat([0, 1], 2000)
    doubtful, sources, alike = np.zeros((3, 4000), dtype=np.int64)
    bits, links = (epsilon.view(np.int64), z.view(np.int64)), np.array([-1, -1])
    slots, noted = np.zeros(scan.SLOTS, dtype=np.int64), np.full(2, np.nan)
    found = compiled.scan_arcs(
        source, 1 - source, epsilon, z, bits, links, noted, doubtful, sources, alike, slots, True
    )
    assert found[4] == 20
    assert doubtful[:20].tolist() == list(range(20))
    assert alike[:20].tolist() == [100] * 20


@pytest.mark.parametrize("distinct", [1, 5000])
def test_every_violated_arc_across_one_half_is_counted_however_many_are_alike(
    distinct: int, monkeypatch: pytest.MonkeyPatch
):
    """Pairs of datasets with p = 0.1 and p = 0.9; ln 9 is what an edge between them needs, and every third has it."""
    pairs = 6000
    first = np.arange(0, 2 * pairs, 2)
    epsilon = np.where(np.arange(pairs) % 3 == 0, 2.5, 1.0 + (np.arange(pairs) % distinct) / distinct)
    graph = hetdp.DatasetGraph.from_edges(first, first + 1, epsilon, datasets=range(2 * pairs))
    problem = hetdp.Problem(graph, np.tile([1, 2], pairs))
    values = np.tile([0.1, 0.9], pairs)
    plain = hetdp.verify(problem, values)
    monkeypatch.setattr(edges, "SMALL_SPACE", 0)
    monkeypatch.setattr(edges, "uses_compiled", lambda functions, size: True)
    found = hetdp.verify(problem, values)
    assert found == plain
    assert (found.violations, found.enclosed) == (4000, 6000)
    assert found.worst_edge is not None
    assert (found.worst_edge.source, found.worst_edge.target) == (2, 3) if distinct == 1 else (10000, 10001)


@pytest.mark.parametrize("halved", [True, False])
@for_each("seed", range(40))
def test_links_are_judged_alike_in_plain_python_and_compiled(seed: int, halved: bool):
    rng = np.random.default_rng(seed)
    better, epsilon = random_values(rng, 50), np.abs(random_values(rng, 50))
    epsilon[rng.random(50) < 0.1] = np.nan
    pinned, neighbours = rng.random(50) < 0.3, rng.integers(0, 50, 50)
    notes = [[np.zeros(50, dtype=np.int64), np.zeros(50, dtype=np.int64), *np.zeros((2, scan.RISES))] for _ in range(3)]
    with np.errstate(all="ignore"):
        one = compiled.scan_links(0, 50, better, pinned, neighbours, epsilon, *notes[0], halved)
    lists = [array.tolist() for array in (better, pinned, neighbours, epsilon)]
    assert one == scan.scan_links(0, 50, *[*lists, *notes[1], halved])
    with np.errstate(all="ignore"):
        assert one == scan.scan_links_by_numpy(0, 50, *[better, pinned, neighbours, epsilon, *notes[2], halved])
    assert [note.tolist() for note in notes[0]] == [note.tolist() for note in notes[1]]
    assert [note.tolist() for note in notes[0]] == [note.tolist() for note in notes[2]]


@for_each("seed", range(20))
def test_arcs_with_two_directions_are_sifted_as_one_after_the_other_would_be(seed: int):
    rng = np.random.default_rng(seed)
    z, epsilon = random_values(rng, 12), np.abs(random_values(rng, 60))
    source, neighbours = rng.integers(0, 12, 60), rng.integers(0, 12, 12)
    target = np.where(rng.random(60) < 0.3, neighbours[source], rng.integers(0, 12, 60))
    below = float(rng.choice([0.0, 0.5]))
    expected = np.flatnonzero(neighbours[source] == target).tolist()
    for sift in (compiled.sift_arcs, scan.sift_arcs, scan.sift_arcs_by_numpy):
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
    monkeypatch.setattr(edges, "SMALL_SPACE", 0)
    monkeypatch.setattr(links, "SMALL_SPACE", 0)
    assert hetdp.verify(problem, mechanism) == mechanism.certificate
    worse = mechanism.coordinates.copy()
    worse[7] += 0.5
    assert not hetdp.verify(problem, LocalMechanism(problem, worse, mechanism.pinned, mechanism.links)).private
