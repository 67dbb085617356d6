"""Definition 6, corrected: optimal among the private mechanisms that agree on the pinned datasets."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.oracle.literal import worst_violation
from tests.oracle.random_problems import compatible_problems, random_private, upper
from tests.paper.library import extension_of


def is_no_better_than(small, p, best) -> bool:
    """p ≤_T p*."""
    return all((best[v] - p[v]) * (1 if small.answers[v] == 1 else -1) >= -1e-12 for v in small.answers)


def test_no_private_mechanism_with_the_same_pins_is_better_anywhere():
    rng = random.Random(71)
    compared = 0
    for small in compatible_problems(seed=71, count=80):
        best = extension_of(small)
        for _ in range(5):
            other = random_private(rng, small)
            mixed = {v: (best[v] + other[v]) / 2 for v in small.answers}
            pinned_like_mixed = replace(small, pins={v: mixed[v] for v in small.pins})
            assert worst_violation(small, mixed) < 1e-12
            assert is_no_better_than(small, mixed, extension_of(pinned_like_mixed))
            compared += bool(small.free)
    assert compared > 100


def test_no_single_free_dataset_can_be_moved_toward_its_answer():
    moved = 0
    for small in compatible_problems(seed=72, count=80):
        best = extension_of(small)
        for v in small.free:
            toward = 1.0 if small.answers[v] == 1 else 0.0
            if abs(best[v] - toward) > 1e-6:
                better = {**best, v: best[v] + 1e-3 * (toward - best[v])}
                pinned = replace(small, pins=small.pins | {v: better[v]})
                assert not has_extension(pinned)
                moved += 1
    assert moved > 50


def has_extension(small) -> bool:
    """Whether pins can be extended at all, by relaxing until nothing changes."""
    p = {v: small.pins.get(v, 1.0) for v in small.answers}
    for _ in small.answers:
        for u, v, epsilon in small.finite_edges:
            p[u], p[v] = min(p[u], upper(p[v], epsilon)), min(p[v], upper(p[u], epsilon))
    return all(p[v] >= given - 1e-12 for v, given in small.pins.items())


def test_the_best_mechanism_is_unique_so_pinning_its_own_values_changes_nothing():
    rng = random.Random(73)
    for small in compatible_problems(seed=73, count=60):
        best = extension_of(small)
        more = {v: best[v] for v in small.free if rng.random() < 0.5}
        again = extension_of(replace(small, pins=small.pins | more))
        assert all(abs(again[v] - best[v]) < 1e-12 for v in small.answers)
