"""The steps that `check`, `extend` and `design` are made of, wherever a problem's arrays lie.

The verbs are written once, in `compatibility`, `extension` and `design`, in terms of these steps. `LocalSteps` takes
them on arrays in this process. A `RemoteProblem` brings its own: those of a partitioned problem are tasks for workers,
and its pins are the names of arrays that no process holds whole.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
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

NEAR_MISS = 1e-9  # in z; pins written as decimals are often tight and miss by a rounding

PinsT = TypeVar("PinsT")


class Bound(NamedTuple):
    """One dataset on a chain of bounds.

    Attributes:
        number: the dataset.
        z: the bound there.
        pin: the value that is given there; NaN if none is.
        edges: the edges to the dataset before, where the problem's edges are not at hand later.
    """

    number: int
    z: float
    pin: float
    edges: Sequence[Any] = ()


class FreeBoundary(NamedTuple):
    """The boundary, and its datasets without a value.

    Attributes:
        first: the numbers of the first of these.
        free: how many have no value.
        size: how many datasets the boundary has.
    """

    first: Sequence[int]
    free: int
    size: int


class Closure(ABC, Generic[PinsT]):
    """A growth from all pins over all edges: it finds the compatible values that are nearest below, or above.

    As a context manager it removes, at the end, what it has stored.
    """

    @abstractmethod
    def largest_drop(self, given: PinsT) -> float:
        """How far it lowered a given value, at most."""

    @abstractmethod
    def fallen(self, given: PinsT) -> Iterator[int]:
        """The datasets whose given value it lowered by more than NEAR_MISS; those that fell furthest come first."""

    @abstractmethod
    def chain_to(self, dataset: int, given: PinsT) -> Sequence[Bound]:
        """The bounds that led to the value of a dataset, from the pin where they begin."""

    @abstractmethod
    def path_along(self, chain: Sequence[Bound]) -> BindingPath:
        """A chain, or the beginning of one, as people read it."""

    @abstractmethod
    def close(self, pins: PinsT) -> PinsT:
        """The pins, each moved to the value that was found."""

    def discard(self) -> None:
        """Removes what is stored for it."""

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
        """The names of the datasets, both ways."""

    @abstractmethod
    def labels_at(self, numbers: Sequence[int]) -> list[Any]:
        """The labels of some datasets."""

    @abstractmethod
    def read_pins(self, partial: Any) -> PinsT:
        """The values of a partial mechanism, converted to z; every verb does this once, before anything else.

        Raises:
            InputError: listing every fault of the values.
        """

    @abstractmethod
    def has_pins(self, pins: PinsT) -> bool:
        """True if some value is given."""

    @abstractmethod
    def free_boundary(self, pins: PinsT) -> FreeBoundary:
        """The datasets of the boundary without a value."""

    @abstractmethod
    def search(self, pins: PinsT) -> tuple[MechanismT, float]:
        """The extension by one search over both answers, and how far a pin would have to fall for it, at most."""

    @abstractmethod
    def grow(self, pins: PinsT, sign: float = 1.0) -> Closure[PinsT]:
        """The growth from all pins over all edges, downward, or upward with the sign −1."""

    @abstractmethod
    def distance(self, given: PinsT, pins: PinsT) -> float:
        """How far pins were moved from the given ones, at most."""

    @abstractmethod
    def attach(self, mechanism: MechanismT, certificate: Certificate) -> MechanismT:
        """The mechanism with its certificate."""

    @abstractmethod
    def finish(self, mechanism: MechanismT, moved: float) -> MechanismT:
        """A mechanism that was just proved or checked, with the distance that its pins were moved."""

    @abstractmethod
    def repair(self, pins: PinsT) -> Repair | None:
        """Values near incompatible pins that extend, where that can be computed."""

    @abstractmethod
    def require_objective(self, objective: str, prior: Any, max_error: Any) -> None:
        """Refuses an objective, a prior or a largest error that the problem cannot have.

        Raises:
            UsageError: naming what can be asked for.
        """

    @abstractmethod
    def choose(self, objective: str, given: PinsT | None) -> PinsT:
        """The given values, and for the rest of the boundary those of the fair or the balanced mechanism."""

    @abstractmethod
    def credit(self, mechanism: MechanismT, objective: str, given: PinsT | None) -> MechanismT:
        """The mechanism, with the objective that chose its values, and which of them were given."""


class RemoteProblem(SelfSurveying):
    """A problem that no process holds whole. It supplies what the verbs need: steps, proofs and files."""

    @abstractmethod
    def steps(self, engine: EngineName) -> Steps[Any, Any]:
        """The steps of `check`, `extend` and `design`, each taken where the arrays lie.

        Raises:
            UsageError: the engine is not one for such problems.
        """

    @abstractmethod
    def read_claim(self, path: str | Path) -> LoadedClaim[Any]:
        """Reads a mechanism that is to be judged on this problem, whichever it was made for."""

    @abstractmethod
    def read_mechanism(self, path: str | Path) -> Mechanism:
        """Reads a mechanism that was made for this problem; refuses others."""


def drops(pins: Floats, labels: Floats) -> Floats:
    """How far each pin fell; 0 where a dataset is free."""
    return np.subtract(pins, labels, out=np.zeros_like(pins), where=labels < pins)  # never where a pin is NaN
