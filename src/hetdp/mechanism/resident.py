"""Mechanisms that stay on a GPU, because their labels do not fit into this process.

`resident_balanced` grows and proves one; single values, blocks of values, accuracy, odds and charges are read from the
device. The true answers are also on the host, one byte for each dataset. See decision 21.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import Certificate, RemoteClaim
from hetdp.certificate.device_survey import (
    FAR,
    DeviceClaim,
    largest_changes,
    losses_on_device,
    survey_on_device,
    units_to_z,
    verify_on_device,
)
from hetdp.certificate.rule import Chains, Survey
from hetdp.device import Device, Launch
from hetdp.engines.gpu.engine import GpuEngine, grow_balanced, sign, upload_states
from hetdp.engines.registry import EngineName, gpu_engine
from hetdp.errors import UsageError, VerificationError
from hetdp.mechanism.coin import CoinComparison, CoinCounts, compare_with_coin
from hetdp.mechanism.explanation import AdjacentDataset, BindingPath
from hetdp.mechanism.mechanism import RemoteMechanism, explain_chain, require_best, row_of
from hetdp.mechanism.odds import ComputesOdds, Odds, odds_of_edges
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.problem.values import Factors
from hetdp.theory.coordinate import LAPLACE

BLOCK = 1 << 24  # values that are read at once
THREADS, BLOCKS = 256, 8  # of a launch: threads of a block, and blocks for each multiprocessor
READ = "blocks() reads them one after the other; mechanism[dataset] reads one"


@cache
def source() -> str:
    """The source of the kernel."""
    return files(__package__).joinpath("values.cu").read_text(encoding="utf-8")


def resident_balanced(problem: Problem, space: ProductSpace, engine: EngineName = "auto") -> ResidentMechanism:
    """The balanced mechanism, grown and proved on a GPU, where it stays.

    Raises:
        UsageError: another engine is requested, or labels would not be exact.
        DeviceError: there is no device, or it failed.
        VerificationError: the mechanism could not be proved, which would be a bug.
    """
    chosen = gpu_engine(engine, space, problem.notion)
    mechanism = _grow(problem, space, chosen)
    progress.report_stage("proving every edge")
    proof = verify_on_device(problem, space, chosen.device, mechanism.claim)
    if not (proof.private and proof.optimal):
        raise VerificationError(proof)
    return replace(mechanism, certificate=proof)


def _grow(problem: Problem, space: ProductSpace, engine: GpuEngine) -> ResidentMechanism:
    device = engine.device
    answers, states = device.upload(problem.answers.view(np.uint8)), upload_states(device, space)
    grown = grow_balanced(device, space, problem.notion, answers, states)
    if grown is None:
        rule = "on a GPU, z stays below 2^13, so that floats hold every label exactly"
        raise UsageError("the sums of ε are too large", rule)
    labels, boundary = grown
    sign(device, labels, answers)
    return ResidentMechanism(problem, device, DeviceClaim(labels, answers, boundary, states))


class _Measures(NamedTuple):
    """Counts over all datasets, and the weighted sum of their errors."""

    counts: CoinCounts
    sum_of_errors: float


@dataclass(frozen=True, eq=False)
class ResidentMechanism(RemoteMechanism, RemoteClaim, ComputesOdds):
    """A balanced mechanism on a GPU. ``mechanism[label]`` is p at one dataset; `blocks` reads all z.

    Attributes:
        problem: the problem that it answers.
        device: the device.
        claim: its values on the device, in units of 2⁻⁴⁰.
        certificate: the proof.
        objective: always "balanced".
        moved: always 0.0, since no value was given.
        objective_gap: always None, since the objective is exact.
    """

    noun: ClassVar[str] = "a mechanism on a GPU"
    instead: ClassVar[str] = READ

    problem: Problem
    device: Device
    claim: DeviceClaim
    certificate: Certificate | None = None
    objective: str = "balanced"
    moved: float = 0.0
    objective_gap: float | None = None

    @property
    def is_as_proved(self) -> bool:
        """True if it has its certificate: nothing changes its values on the device."""
        return self.certificate is not None

    @property
    def space(self) -> ProductSpace:
        """The space of its datasets."""
        assert isinstance(self.problem.graph, ProductSpace)
        return self.problem.graph

    # What does not fit into this process

    @property
    def coordinates(self) -> Floats:  # type: ignore[override]  # there is no array; a mechanism is frozen anyway
        """Not available.

        Raises:
            UsageError: always; `blocks` reads the values.
        """
        raise self._too_many()

    @property
    def pinned(self) -> Mask:  # type: ignore[override]
        """Not available; `row` says it of one dataset."""
        raise self._too_many()

    @property
    def links(self) -> Indices:  # type: ignore[override]
        """Not available; `explain` finds the neighbours that bind one dataset."""
        raise self._too_many()

    @property
    def probabilities(self) -> Floats:
        """Not available; ``mechanism[label]`` is p at one dataset."""
        raise self._too_many()

    @property
    def errors(self) -> Floats:
        """Not available; `row` has the error at one dataset."""
        raise self._too_many()

    def columns(self) -> dict[str, Any]:
        """Not available."""
        raise self._too_many()

    def write(self, path: str | Path) -> None:
        """Not available: no file format of mechanisms holds so many datasets."""
        raise UsageError(f"a mechanism of {len(self):,} datasets cannot be saved", "it stays on the GPU", READ)

    def _too_many(self) -> UsageError:
        return UsageError(f"all {len(self):,} values at once", "this mechanism stays on the GPU", READ)

    # Single values and blocks

    def __len__(self) -> int:
        return self.space.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.problem.labels.names)

    def __contains__(self, label: object) -> bool:
        return bool(self.problem.labels.indices([label])[0] >= 0)

    def __getitem__(self, label: Hashable) -> float:
        """p at one dataset."""
        return float(self.problem.notion.coordinate.probability(self.coordinate(self.problem.labels.index(label))))

    def coordinate(self, number: int) -> float:
        """z at one dataset, by its number."""
        return float(units_to_z(self.device.download(self.claim.z, number, number + 1))[0])

    def blocks(self) -> Iterator[Floats]:
        """Iterates over z of all datasets, in their order."""
        for first in range(0, len(self), BLOCK):
            yield units_to_z(self.device.download(self.claim.z, first, min(first + BLOCK, len(self))))

    def row(self, dataset: Hashable) -> dict[str, Any]:
        """What the table of the mechanism would say of one dataset."""
        at = self.problem.labels.index(dataset)
        return row_of(
            self.problem.notion, self.coordinate(at), int(self.problem.answers[at]), self._is_pinned(at), False
        )

    def _is_pinned(self, number: int) -> bool:
        return bool(self.device.download(self.claim.pinned, number, number + 1)[0])

    def explain(self, dataset: Hashable) -> BindingPath:
        """Why a dataset cannot be answered more accurately: the path from a dataset of the boundary that binds it."""
        chain = [self.problem.labels.index(dataset)]
        while (link := self._link(chain[-1])) >= 0:
            chain.append(link)
        return explain_chain(
            self.prove_best(), self.problem, chain, self._is_pinned, lambda _: False, self._adjacent_datasets
        )

    def _link(self, number: int) -> int:
        """The neighbour from which exactly ε leads to the value of a free dataset; −1 if there is none."""
        if self._is_pinned(number):
            return -1
        own = abs(self.coordinate(number))
        for one in self._adjacent_datasets(number):
            if one.same and abs(one.z) < own and abs(one.z) + one.edge[0] == own:
                return one.number
        return -1

    def _adjacent_datasets(self, number: int) -> list[AdjacentDataset]:
        """The neighbours of a dataset."""
        targets, (epsilon,) = self.space.neighbours(number)
        answers = self.problem.answers
        return [
            AdjacentDataset(
                at, self.coordinate(at), bool(answers[at] == answers[number]), self._is_pinned(at), False, (ε,)
            )
            for at, ε in zip(targets.tolist(), epsilon.tolist(), strict=True)
        ]

    # The verifier's view

    def prove_best(self) -> ResidentMechanism:
        """The mechanism with a proof that it is optimal for its pins.

        Raises:
            InputError: it is not optimal.
        """
        if self.is_as_proved:
            return self
        proof = verify_on_device(self.problem, self.space, self.device, self.claim)
        return replace(self, certificate=require_best(proof))

    def survey(self, problem: Problem) -> tuple[Survey, Chains]:
        """The findings on all arcs, by the verifier's kernel.

        Raises:
            UsageError: the problem is not the mechanism's own.
        """
        if problem is not self.problem:
            raise UsageError(
                "a mechanism on a GPU with another problem", "it is proved for the problem it was made for"
            )
        return survey_on_device(self.space, self.device, self.claim, self._is_laplace)

    def losses_along(self, allowed: Floats) -> Floats:
        """The largest loss along each axis, rounded up to nine places, and never above what is allowed."""
        return losses_on_device(self.space, self.device, self.claim, allowed, self.problem.notion)

    @property
    def _is_laplace(self) -> bool:
        return self.problem.notion.coordinate.name == LAPLACE.name

    # Reductions

    @cached_property
    def against_coin(self) -> CoinComparison:
        """The number of datasets where it is no better than a coin, and the worst one; counted on the device."""
        problem, counts = self.problem, self._measure(None).counts
        best = self.certificate is not None and self.certificate.optimal
        names = problem.labels.names
        return compare_with_coin(
            counts, problem.notion.coordinate, self.objective, best, names.__getitem__, problem.labels
        )

    def mean_error(self, weights: Factors | None) -> float:
        """The mean error, if the weight of a dataset is a product of factors; None if all count the same."""
        total = float(len(self)) if weights is None else math.prod(math.fsum(one.tolist()) for one in weights.factors)
        return self._measure(weights).sum_of_errors / total

    def _measure(self, weights: Factors | None) -> _Measures:
        device, size, axes = self.device, len(self), list[int]()
        apart, begin = size, 0
        for factors in () if weights is None else weights.factors:
            apart //= len(factors)
            axes += [len(factors), apart, begin]
            begin += len(factors)
        blocks = max(1, min(-(-size // THREADS), BLOCKS * device.processors))
        notes, worst = device.upload(np.zeros(2, dtype=np.int64)), device.empty(2 * blocks, np.int64)
        sums = device.empty(blocks, np.float64)
        table = device.upload(np.array([*axes, 0], dtype=np.int64))
        factors = device.upload(np.concatenate([*(() if weights is None else weights.factors), np.zeros(1)]))
        claim = self.claim.z, self.claim.answers, size
        arguments = (*claim, table, len(axes) // 3, factors, int(self._is_laplace), notes, worst, sums)
        device.launch(source(), Launch("measure_values", blocks, THREADS, arguments))
        worse, even = device.download(notes).tolist()
        ends = [(value, at) for value, at in device.download(worst).reshape(-1, 2).tolist() if at >= 0]
        lowest, at = min(ends, default=(FAR, -1))
        z = float(units_to_z(np.array([lowest]))[0])
        return _Measures(CoinCounts(size, worse, 0, even, z, at), math.fsum(device.download(sums).tolist()))

    def odds(self) -> Odds:
        """The largest effect of one person's value on the published answer, by group."""
        found = largest_changes(self.space, self.device, self.claim, self._is_laplace)
        return Odds(odds_of_edges(self.problem, self.space, found))

    def __repr__(self) -> str:
        return f"ResidentMechanism({len(self):,} datasets, on {self.device.name})"
