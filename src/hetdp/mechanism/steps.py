"""The steps that `check`, `extend` and `design` consist of, independent of where a problem's arrays are stored.

The verbs are written once, in `compatibility`, `extension` and `design`, in terms of these steps. `LocalSteps` runs
them on arrays in this process. A `RemoteProblem` supplies its own steps: those of a partitioned problem are tasks for
workers, and its pins are names of arrays that no process holds whole.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from hetdp.certificate.certificate import Certificate, SelfSurveying
from hetdp.engines.registry import EngineName
from hetdp.mechanism.explanation import BindingPath
from hetdp.mechanism.mechanism import LoadedClaim, Mechanism, MechanismT
from hetdp.mechanism.repair import Repair
from hetdp.problem.labels import Labels
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats
from hetdp.theory.notion import Notion

NEAR_MISS = 1e-9  # in z; pins written as decimals are often tight and miss by rounding

PinsT = TypeVar("PinsT")


class Bound(NamedTuple):
    """One dataset on a chain of bounds.

    Attributes:
        number: number of the dataset.
        z: the bound on its value.
        pin: its given value; NaN if it has none.
        edges: the edges to the previous dataset, if the problem's edges are not available later.
    """

    number: int
    z: float
    pin: float
    edges: Sequence[Any] = ()


class FreeBoundary(NamedTuple):
    """The boundary, and its datasets without a value.

    Attributes:
        first: numbers of the first datasets without a value.
        free: number of boundary datasets without a value.
        size: number of boundary datasets.
    """

    first: Sequence[int]
    free: int
    size: int


@dataclass(frozen=True)
class Search(Generic[MechanismT]):
    """The extension by one search over both answers.

    Attributes:
        mechanism: the extension, with the pins as they were.
        fell: the largest distance by which the search lowered a pin; 0.0 if no pin is contradicted.
        labels: its labels, signed so that larger is better, if it lowered a pin and `Steps.close` goes on from them.
    """

    mechanism: MechanismT
    fell: float
    labels: Any = None


class Closure(ABC, Generic[PinsT]):
    """A growth from all pins over all edges, which finds the nearest compatible values below or above.

    As a context manager, it removes its stored data at the end.
    """

    @abstractmethod
    def largest_drop(self, given: PinsT) -> float:
        """The largest distance by which it lowered a given value."""

    @abstractmethod
    def fallen_datasets(self, given: PinsT) -> Iterator[int]:
        """Iterates over the datasets whose given value it lowered by more than NEAR_MISS, largest drop first."""

    @abstractmethod
    def chain_to(self, dataset: int, given: PinsT) -> Sequence[Bound]:
        """The chain of bounds that led to the value of a dataset, starting at a pin."""

    @abstractmethod
    def path_along(self, chain: Sequence[Bound]) -> BindingPath:
        """A chain, or the beginning of one, as a `BindingPath` with labels."""

    @abstractmethod
    def close(self, pins: PinsT) -> PinsT:
        """The pins, moved to the labels of the growth."""

    def discard(self) -> None:
        """Removes its stored data."""

    def __enter__(self) -> Closure[PinsT]:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()


class Steps(ABC, Generic[PinsT, MechanismT]):
    """The steps of the verbs on one problem, with one engine.

    Attributes:
        problem: the problem.
    """

    problem: Problem | RemoteProblem

    @property
    @abstractmethod
    def notion(self) -> Notion:
        """The notion of privacy."""

    @property
    @abstractmethod
    def labels(self) -> Labels:
        """The labels of the datasets."""

    @abstractmethod
    def labels_at(self, numbers: Sequence[int]) -> list[Any]:
        """The labels of some datasets."""

    @abstractmethod
    def read_pins(self, partial: Any) -> PinsT:
        """Converts the values of a partial mechanism to z; every verb does this once, as its first step.

        Raises:
            InputError: the values have faults; all of them are listed.
        """

    @abstractmethod
    def has_pins(self, pins: PinsT) -> bool:
        """True if any value is given."""

    @abstractmethod
    def free_boundary(self, pins: PinsT) -> FreeBoundary:
        """The boundary datasets without a value."""

    @abstractmethod
    def search(self, pins: PinsT) -> Search[MechanismT]:
        """The extension by one search over both answers."""

    def sees_violation(self, pins: PinsT, search: Search[MechanismT] | None = None) -> bool:
        """True if a quick look shows that some edge is violated, in exact arithmetic; False proves nothing.

        Args:
            pins: the pins, whose edges to each other are looked at.
            search: the extension from them; then the edges of all pins that it lowered are looked at.
        """
        return False

    @abstractmethod
    def close(self, given: PinsT, search: Search[MechanismT] | None) -> tuple[MechanismT, float]:
        """The extension from pins that are no better than given, and the largest distance by which they were moved.

        One growth for each answer finds it, over all edges of that answer, those between two pins included. Pins with
        answer 2 are only raised. Pins with answer 1 are only lowered: by each other, and by what the given values of
        neighbours with answer 2 allow. The result is private unless a pin with answer 2 is above what a neighbour with
        answer 1 allows (docs/theory/compatibility-and-repair.md). It depends on the given pins alone.

        Args:
            given: the pins.
            search: the extension from them, from whose labels the growths may go on; None if there was no search.
        """

    @abstractmethod
    def grow(self, pins: PinsT, sign: float = 1.0) -> Closure[PinsT]:
        """The growth from all pins over all edges, downward or, with the sign −1, upward."""

    @abstractmethod
    def distance(self, given: PinsT, pins: PinsT) -> float:
        """The largest distance between pins and the given values."""

    @abstractmethod
    def attach(self, mechanism: MechanismT, certificate: Certificate) -> MechanismT:
        """The mechanism with its certificate."""

    @abstractmethod
    def finish(self, mechanism: MechanismT, moved: float) -> MechanismT:
        """A mechanism that was just proved or checked, with the distance that its pins were moved."""

    @abstractmethod
    def repair(self, pins: PinsT) -> Repair | None:
        """Values near incompatible pins that can be extended; None if they cannot be computed."""

    @abstractmethod
    def require_objective(self, objective: str, prior: Any, max_error: Any) -> None:
        """Refuses an objective, a prior or a largest error that the problem does not support.

        Raises:
            UsageError: it is not supported; the message names what is.
        """

    @abstractmethod
    def choose(self, objective: str, given: PinsT | None) -> PinsT:
        """The given values and, for the rest of the boundary, those of the fair or balanced mechanism."""

    @abstractmethod
    def credit(self, mechanism: MechanismT, objective: str, given: PinsT | None) -> MechanismT:
        """The mechanism, with the objective that chose its values and a record of which were given."""


class RemoteProblem(SelfSurveying):
    """A problem that no process holds whole. It supplies its own steps, proofs and files for the verbs."""

    @abstractmethod
    def steps(self, engine: EngineName) -> Steps[Any, Any]:
        """The steps of `check`, `extend` and `design`, which run where the arrays are stored.

        Raises:
            UsageError: the engine does not support such problems.
        """

    @abstractmethod
    def read_claim(self, path: str | Path) -> LoadedClaim[Any]:
        """Reads a mechanism to be verified on this problem, even if it was made for another one."""

    @abstractmethod
    def read_mechanism(self, path: str | Path) -> Mechanism:
        """Reads a mechanism that was made for this problem; refuses others."""


def drops(pins: Floats, labels: Floats) -> Floats:
    """The distance by which each pin fell; 0 for free datasets."""
    return np.subtract(pins, labels, out=np.zeros_like(pins), where=labels < pins)  # never where a pin is NaN


def distance(given: Floats, pins: Floats) -> float:
    """The largest distance between pins and the given values."""
    return float(np.max(np.maximum(drops(given, pins), drops(-given, -pins)), initial=0.0))
