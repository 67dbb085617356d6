"""Problems of every shape in folders, and partitions of their datasets, including skewed and empty ones."""

from __future__ import annotations

from typing import Any

import numpy as np

import hetdp
from tests.stress import STRESS

SHAPES = ("sparse", "grid", "path", "star")
LABELS = ("range", "shuffled", "text")
SIZE = 36 if STRESS == 1 else 60  # datasets


def edges_of(rng: np.random.Generator, shape: str, size: int):
    if shape == "sparse":
        return rng.integers(0, size, 3 * size), rng.integers(0, size, 3 * size)
    if shape == "star":
        return np.zeros(size - 1, np.int64), np.arange(1, size)
    if shape == "path":
        order = rng.permutation(size)
        return order[:-1], order[1:]
    side = int(size**0.5)
    cells = np.arange(side * side).reshape(side, side)
    pairs = [(cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])]
    return tuple(np.concatenate([one.ravel(), two.ravel()]) for one, two in zip(*pairs, strict=True))


def names_of(rng: np.random.Generator, kind: str, size: int):
    if kind == "range":
        return list(range(size))
    if kind == "shuffled":
        return (rng.permutation(size) * 7 - 5).tolist()
    return [f"dataset {number}" for number in rng.permutation(size)]


def random_problem(seed: int, shape: str, labels: str = "range", size: int = SIZE, notion: Any = "pure"):
    """A problem with pins on its boundary, and on some other datasets, that extend."""
    rng = np.random.default_rng(seed)
    source, target = edges_of(rng, shape, size)
    names = names_of(rng, labels, size)
    epsilon = rng.choice([0.0, 0.1, 0.3, 1.0, 2.5, np.inf], len(source), p=[0.1, 0.2, 0.3, 0.2, 0.15, 0.05])
    ends = [names[at] for at in source], [names[at] for at in target]
    more = {"epsilon": epsilon}
    if notion == "gaussian":
        more = {"mu": epsilon}
    if notion in ("directed", "approximate"):
        more["epsilon_back"] = rng.choice([0.2, 0.7, 1.5], len(source))
    if notion == "approximate":
        more |= {"delta": np.full(len(source), 0.01), "delta_back": np.full(len(source), 0.02)}
    graph = hetdp.DatasetGraph.from_edges(*ends, datasets=names, duplicates="min", **more)
    answers = {name: 1 + int(at > size // 2) for at, name in enumerate(names)}
    problem = hetdp.Problem(graph, answers, notion)
    chosen = hetdp.design(problem, "balanced", engine="reference")
    pinned = problem.boundary_mask | (rng.random(size if shape != "grid" else len(names)) < 0.1)
    return problem, hetdp.PartialMechanism(z=np.where(pinned, chosen.coordinates, np.nan))


def rounded_pins(problem: hetdp.Problem, pins: hetdp.PartialMechanism) -> dict[Any, float]:
    """The same pins as p by label, rounded, so that tight pins miss by a rounding."""
    p = problem.notion.coordinate.probability(pins.z)
    return {label: float(value) for label, value in zip(problem.labels.names, p, strict=True) if value == value}


def random_offsets(rng: np.random.Generator, size: int, partitions: int) -> tuple[int, ...]:
    """Random offsets of partitions, of which some are large and some empty."""
    inner = np.sort(rng.integers(0, size + 1, partitions - 1))
    return (0, *inner.tolist(), size)
