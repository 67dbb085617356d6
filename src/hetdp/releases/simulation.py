"""simulate: answers from a seeded generator, for trying things out; nothing can save or publish them.

Anyone who knows the seed can learn more from such an answer than was promised, and p is a rounded float. Everything
else in hetdp draws from the operating system's bits.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError
from hetdp.mechanism.mechanism import Mechanism
from hetdp.problem.space import Floats, Mask
from hetdp.problem.spelling import shorten_label
from hetdp.text import format_type, format_value, pluralize
from hetdp.theory.coordinate import Coordinate

MARK = "SIMULATED"


def draw_seeded(coordinate: Coordinate, z: Floats, seed: int) -> Mask:
    """Draws an answer for each z, True for answer 1; the same seed gives the same answers.

    >>> from hetdp.theory.coordinate import LAPLACE
    >>> draw_seeded(LAPLACE, np.array([-np.inf, np.inf]), seed=7)
    array([False,  True])
    """
    return np.asarray(np.random.default_rng(seed).random(len(z)) < coordinate.probability(z))


MOST_RUNS = 100_000_000


@dataclass(frozen=True, eq=False)
class Simulation:
    """Answers drawn from a known seed. It is not a release: keep it as secret as the dataset.

    Attributes:
        dataset: the dataset at which the answers were drawn.
        seed: the seed of the generator.
        answers: 1 or 2 for each run.
    """

    dataset: Any
    seed: int
    answers: NDArray[np.int8]

    def __post_init__(self) -> None:
        self.answers.flags.writeable = False

    @property
    def ones(self) -> int:
        """The number of runs that gave answer 1."""
        return int(np.count_nonzero(self.answers == 1))

    def __str__(self) -> str:
        ones = f"answer 1 in {self.ones:,} of {pluralize(len(self.answers), 'run')}"
        return f"{MARK}, not a release: {ones} at dataset {shorten_label(self.dataset)} (seed {self.seed})"

    __repr__ = __str__


def simulate(mechanism: Mechanism, dataset: Hashable, *, seed: int, runs: int = 1) -> Simulation:
    """Draws answers of a mechanism at a dataset from a seeded generator: for tests, plots and teaching.

    Args:
        mechanism: any Mechanism; it need not be proved, and nothing is spent.
        dataset: the label of the dataset.
        seed: a whole number ≥ 0.
        runs: how many answers.

    Raises:
        UsageError: the mechanism, the seed or the number of runs is invalid.
        UnknownDatasetError: no dataset has this label.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
    >>> mechanism = hetdp.design(hetdp.Problem(graph, {"a": 1, "b": 2}))
    >>> hetdp.simulate(mechanism, "a", seed=3, runs=1000)
    SIMULATED, not a release: answer 1 in 744 of 1,000 runs at dataset a (seed 3)
    """
    if not isinstance(mechanism, Mechanism):
        raise UsageError(f"expected a Mechanism, got {format_type(mechanism)}", "the first argument is a Mechanism")
    seed, runs = check_whole("seed", seed, 0), check_whole("runs", runs, 1, MOST_RUNS)
    z = mechanism.row(dataset)["z"]
    ones = draw_seeded(mechanism.problem.notion.coordinate, np.full(runs, z), seed)
    return Simulation(dataset, seed, np.where(ones, 1, 2).astype(np.int8))


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number in range.

    Raises:
        UsageError: it is none.
    """
    number = value if isinstance(value, int | np.integer) and not isinstance(value, bool) else None
    if number is None or number < least or (most is not None and number > most):
        upto = "" if most is None else f" and ≤ {most:,}"
        raise UsageError(f"{name}={format_value(value)}", f"it must be a whole number ≥ {least:,}{upto}")
    return int(number)
