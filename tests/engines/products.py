"""Random products of people, tallies and groups, with and without states, and searches on them."""

from __future__ import annotations

import math

import numpy as np

import hetdp
from hetdp.engines.contract import Role
from hetdp.problem.axis import Axis
from hetdp.problem.decimals import round_labels_down
from hetdp.problem.product import ProductSpace

EPSILONS = {
    "moderate": [0.05, 0.1, 0.3, 0.5, 1.0, 2.0],
    "odd": [0.0, 0.0, 0.1, 1e-9, 0.5, 30.0, math.inf],
    "few": [0.25, 0.5],
}


def random_table(rng: np.random.Generator, values: int, states: int) -> np.ndarray:
    """ε by value, value, state and state, the same both ways."""
    table = rng.choice(EPSILONS[rng.choice(list(EPSILONS))], (values, values, states, states))
    table = np.minimum(table, table.transpose(1, 0, 2, 3))
    return np.minimum(table, table.transpose(0, 1, 3, 2))


def random_axis(rng: np.random.Generator, name: int, states: int) -> Axis:
    kind = rng.choice(["two", "value", "tally", "group"])
    values = 2 if kind in ("two", "tally") else int(rng.integers(2, 5))
    table = random_table(rng, values, states)
    epsilon = [table, table[:, :, 0, 0], table[0, 1, 0, 0]][rng.choice([0, 0, 1, 2])]
    if kind in ("two", "value"):
        return Axis.person(name, [f"value {number}" for number in range(values)], epsilon)
    if kind == "tally":
        return Axis.tally(name, int(rng.integers(0, 6)), epsilon)
    return Axis.group(name, int(rng.integers(0, 4)), list("abcd")[:values], epsilon)


def random_space(rng: np.random.Generator, most: int = 800) -> ProductSpace:
    """A random mixture of axes with at most `most` datasets."""
    while True:
        states = int(rng.choice([1, 1, 2, 3]))
        axes = [random_axis(rng, name, states) for name in range(int(rng.integers(0, 7)))]
        size = math.prod(axis.length for axis in axes)
        if size <= most:
            return ProductSpace(axes, rng.integers(0, states, size))


def random_answers(rng: np.random.Generator, size: int) -> np.ndarray:
    """Two halves, or any mixture."""
    halves = np.where(np.arange(size) < rng.integers(0, size + 1), 1, 2)
    return (halves if rng.random() < 0.5 else rng.integers(1, 3, size)).astype(np.int8)


def random_start(rng: np.random.Generator, size: int, kind: str) -> np.ndarray:
    """Start labels: "grid" (≥ 0, multiples of 2^-40), "positive" (≥ 0), or "any" (both sides of ½, certain ones)."""
    labels = rng.normal(0.0, rng.choice([0.01, 1.0, 30.0]), size)
    odd = [0.0, -0.0, 1.0, math.inf] + ([-math.inf, -0.5, -1e-300] if kind == "any" else [])
    labels = labels if kind == "any" else np.abs(labels)
    labels = np.where(rng.random(size) < 0.1, rng.choice(odd, size), labels)
    labels = round_labels_down(labels) if kind == "grid" else labels
    return np.where(rng.random(size) < rng.choice([0.02, 0.3, 1.0]), labels, math.inf)


def random_roles(rng: np.random.Generator, space: ProductSpace) -> np.ndarray:
    """Random roles as `extend` assigns them: the boundary is pinned."""
    answers = random_answers(rng, space.size)
    pinned = hetdp.Problem(space, answers).boundary_mask | (rng.random(space.size) < 0.2)
    return np.where(pinned, Role.PINNED, answers).astype(np.uint8)
