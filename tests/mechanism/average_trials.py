"""Random problems of up to 25 datasets for the objective average; `python -m tests.mechanism.average_trials N` tries N.

The problems are harder than most: ε from 0.001 to 100, 0 and ∞, weights that differ by nine orders of magnitude, given
values, and largest errors that can only just be reached.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import hetdp

NOTIONS = ("pure", "directed", "approximate", "gaussian", "bounded-range")
MAX_GAP = 1e-7  # the gap


class Trial(NamedTuple):
    """A problem, z of the given values, and the largest error allowed at free datasets."""

    problem: hetdp.Problem
    pins: dict[int, float]
    max_error: float | None


class Outcome(NamedTuple):
    """The result of a trial.

    Attributes:
        gap: the stated gap.
        error: the mean error.
        fair: the mean error of the fair mechanism.
        private: whether every edge was proved.
        within: whether the given values and the largest error are kept.
    """

    gap: float
    error: float
    fair: float
    private: bool
    within: bool


def trials(seed: int, count: int, notion: Any) -> Iterator[Trial]:
    """Random problems, each from a random generator of its own."""
    for number in range(count):
        rng = np.random.default_rng((seed, number))
        problem = random_problem(rng, notion)
        pins: dict[int, float] = {}
        if rng.random() < 0.25:
            other = hetdp.Problem(problem.graph, rng.integers(1, 3, problem.graph.size).tolist(), notion)
            given = hetdp.design(other, engine="reference").coordinates
            pins = {v: float(z) for v, z in enumerate(given) if rng.random() < 0.2}
        limit = None
        if rng.random() < 0.25:
            fair = hetdp.design(problem, "fair", hetdp.PartialMechanism(z=pins), engine="reference")
            worst = max((error for v, error in enumerate(fair.errors.tolist()) if v not in pins), default=0.0)
            limit = min(1.0, worst * float(rng.choice([1.0 + 1e-9, 1.1])) + 1e-12)
        yield Trial(problem, pins, limit)


def random_problem(rng: np.random.Generator, notion: Any, ordinary: bool = False) -> hetdp.Problem:
    """A connected graph of 2 to 25 datasets; an ordinary one has no ε of 0 or ∞, and none that is very large."""
    size = int(rng.integers(2, 26))
    pairs = {(int(rng.integers(0, v)), v) for v in range(1, size)}
    pairs |= {(min(pair), max(pair)) for pair in rng.integers(0, size, (int(rng.integers(0, 2 * size)), 2)).tolist()}
    source, target = zip(*sorted((u, v) for u, v in pairs if u != v), strict=True)
    count, kind = len(source), int(rng.integers(0, 5 if ordinary else 8))

    def epsilons() -> Any:
        some = rng.exponential(1.0, count)
        return (
            rng.choice([0.1, 0.5, 1.0, 2.0], count),
            some + 0.01,
            rng.uniform(0.01, 4.0, count),
            rng.uniform(0.01, 0.5, count),
            rng.choice([0.01, 1.0, 3.0, 6.0], count),
            10.0 ** rng.uniform(-3, 1, count),
            10.0 ** rng.uniform(-2, 2, count),
            np.where(rng.random(count) < 0.1, rng.choice([0.0, np.inf], count), some),
        )[kind]

    def deltas() -> Any:
        some = 10.0 ** rng.uniform(-9, -1, count)
        return np.where(rng.random(count) < 0.5, some, rng.choice([0.0, 0.1, 0.5, 0.9, 1.0], count))

    parameters = {"mu" if notion == "gaussian" else "epsilon": epsilons()}
    if notion in ("directed", "approximate"):
        parameters["epsilon_back"] = epsilons()
    if notion == "approximate":
        parameters |= {"delta": deltas(), "delta_back": deltas()}
    graph = hetdp.DatasetGraph.from_edges(source, target, datasets=range(size), **parameters)
    weights = (
        rng.exponential(1.0, size),
        np.ones(size),
        rng.choice([0.0, 1e-9, 1.0, 50.0], size) + 1e-12,
        10.0 ** rng.uniform(-6, 0, size),
    )[int(rng.integers(0, 4))]
    return hetdp.Problem(graph, rng.integers(1, 3, size).tolist(), notion, weights=weights.tolist())


def run_trial(trial: Trial) -> Outcome:
    """Designs the best average, and the fair mechanism to compare it with."""
    problem, pins, limit = trial
    given = hetdp.PartialMechanism(z=pins)
    found = hetdp.design(problem, "average", given, max_error=limit, engine="reference")
    fair = hetdp.design(problem, "fair", given, engine="reference")
    assert found.objective_gap is not None
    assert found.certificate is not None
    weights = np.asarray(problem.weights, dtype=np.float64)
    weights = weights / weights.sum()
    free = np.array([v not in pins for v in range(len(found))])
    kept = all(found.coordinates[v] == z or abs(found.coordinates[v] - z) <= 1e-9 for v, z in pins.items())
    within = kept and np.max(found.errors[free], initial=0.0) <= (1.0 if limit is None else limit * (1.0 + 1e-9))
    error, least = (float(np.sum(weights * mechanism.errors)) for mechanism in (found, fair))
    return Outcome(found.objective_gap, error, least, found.certificate.private, bool(within))


def main(count: int) -> None:
    """Prints a line for each notion."""
    for notion in NOTIONS:
        begun = time.monotonic()
        found = [run_trial(trial) for trial in trials(15, count, notion)]
        wide, worst = sum(one.gap > MAX_GAP for one in found), max(one.gap for one in found)
        below = sum(one.error > one.fair for one in found)
        odd = sum(not (one.private and one.within) for one in found)
        better = sum(one.error < one.fair - 1e-9 for one in found)
        sys.stdout.write(
            f"{notion}: {count} problems; gap above {MAX_GAP:g}: {wide}; largest gap {worst:.2g}; below fair: {below};"
            f" better than fair: {better}; not private or not within limits: {odd}; {time.monotonic() - begun:.0f} s\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
