"""A path of bounds, step by step: why a value cannot be better, or why two pins cannot stand together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hetdp.errors import shown
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.space import Floats
from hetdp.theory import coordinate


@dataclass(frozen=True)
class BindingPath:
    """What one pinned dataset imposes along a path; a single dataset if it is itself pinned, or if nothing binds it.

    Attributes:
        datasets: labels from the pinned dataset to the last one.
        epsilons: ε of each step, as written.
        bounds: p at the pinned dataset, then the bound on p after each step.
        coordinates: the same as z, which keeps what p rounds away.
        upper: whether the bounds are upper ones ("at most", answer 1) or lower ones ("at least", answer 2).

    Paper: Definition 9 (the path upper bound function).
    """

    datasets: list[Any]
    epsilons: list[float]
    bounds: list[float]
    coordinates: list[float]
    upper: bool

    def __str__(self) -> str:
        word = "at most" if self.upper else "at least"
        if math.isinf(self.coordinates[-1]) and len(self.datasets) == 1:
            return f"p({shown(self.datasets[0])}) = {in_digits(self.coordinates[0])}, exactly; nothing binds it"
        lines = [f"p({shown(self.datasets[0])}) = {in_digits(self.coordinates[0])} is given"]
        steps = zip(self.datasets[1:], self.epsilons, self.coordinates[1:], strict=True)
        lines += [f"over ε = {epsilon:g}: p({shown(dataset)}) {word} {in_digits(z)}" for dataset, epsilon, z in steps]
        return "\n".join(lines)


def in_digits(z: float) -> str:
    """p in six digits; next to 1, what it lacks.

    >>> in_digits(0.0), in_digits(40.0)
    ('0.5', '1 − 2.12418e-18')
    """
    p, q = float(coordinate.probability(z)), float(coordinate.probability(-z))
    return f"1 − {q:.6g}" if 0.0 < q < 1e-4 else f"{p:.6g}"


def binding_path(graph: DatasetGraph, chain: list[int], z: Floats, upper: bool) -> BindingPath:
    """The path along a chain of neighbours, with the bound z at each of them."""
    return BindingPath(
        datasets=[graph.label(index) for index in chain],
        epsilons=[graph.epsilon_between(*pair) for pair in pairwise(chain)],
        bounds=coordinate.probability(z).tolist(),
        coordinates=z.tolist(),
        upper=upper,
    )
