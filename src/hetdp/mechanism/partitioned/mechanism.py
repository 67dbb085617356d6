"""PartitionedMechanism: a mechanism whose values lie in files, a partition each."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from hetdp.certificate.certificate import Certificate, verify
from hetdp.errors import Fault, InputError
from hetdp.mechanism.coin import CoinComparison, CoinCounts, comparison_of, counts_of
from hetdp.mechanism.explanation import BindingPath
from hetdp.mechanism.partitioned.tracing import path_of, trace
from hetdp.problem.partitioned import PartitionedProblem
from hetdp.problem.parts import Part
from hetdp.problem.space import Floats


@dataclass(frozen=True, eq=False)
class PartitionedMechanism:
    """A private mechanism on a partitioned problem. ``mechanism[label]`` is p at one dataset; `blocks` reads them all.

    Attributes:
        problem: what it answers.
        name: what its arrays are called in the work folder.
        moved: how far in z the given values were moved, at most, to be exactly compatible.
        certificate: the proof, if one was asked for.
        objective: what chose the pinned values; "extension" if they were given.
        rounds: how many rounds the search took.
        told: how many labels went from one partition to another in each of them.
    """

    problem: PartitionedProblem
    name: str
    moved: float = 0.0
    certificate: Certificate | None = None
    objective: str = "extension"
    rounds: int = 0
    told: tuple[int, ...] = ()

    def __len__(self) -> int:
        return self.problem.graph.size

    def __getitem__(self, label: Hashable) -> float:
        """p at one dataset."""
        return float(self.problem.notion.coordinate.probability(self.coordinate(self.problem.index(label))))

    def coordinate(self, number: int) -> float:
        """z at one dataset, by its number."""
        parts = self.problem.parts
        part = parts[int(parts[0].owners(np.array([number]))[0])]
        return float(part.load(f"{self.name}/z")[number - part.first])

    def blocks(self) -> Iterator[Floats]:
        """z of all datasets, in their order, a partition at a time."""
        for part in self.problem.parts:
            yield part.load(f"{self.name}/z")

    @cached_property
    def against_coin(self) -> CoinComparison:
        """Where it is no better than a coin: at how many datasets, and which one is the worst; counted by workers."""
        problem = self.problem
        counts = reduce(CoinCounts.joined, problem.run(coin_counts, self.name), CoinCounts())
        best = self.certificate is not None and self.certificate.optimal
        return comparison_of(counts, problem.notion.coordinate, self.objective, best, problem.label)

    def explain(self, dataset: Hashable) -> BindingPath:
        """Why a dataset cannot be answered more accurately: the path from a pinned dataset that binds it."""
        return explained(proved(self), self.problem.index(dataset))

    def __repr__(self) -> str:
        return f"PartitionedMechanism({len(self)} datasets, {len(self.problem.parts)} partitions)"


def explained(mechanism: PartitionedMechanism, number: int) -> BindingPath:
    """The path that binds a dataset of a proved mechanism."""
    problem = mechanism.problem
    steps = trace(problem, mechanism.name, f"{mechanism.name}/z", number)
    owner = problem.parts[int(problem.parts[0].owners(np.array([number]))[0])]
    upper = bool(owner.load("answers")[number - owner.first] == 1)
    return path_of(problem, steps, [step.z for step in steps], upper)


def proved(mechanism: PartitionedMechanism) -> PartitionedMechanism:
    """The mechanism with a proof that it is the best one; otherwise its links explain nothing."""
    certificate = mechanism.certificate or verify(mechanism.problem, mechanism)
    if not certificate.optimal:
        rule = "only the best private mechanism is explained by its paths"
        value = str(certificate).removesuffix(".")
        raise InputError("mechanism", [Fault("not the best one:", "mechanism", value, rule)])
    return replace(mechanism, certificate=certificate)


def row_at(mechanism: PartitionedMechanism, number: int) -> dict[str, Any]:
    """What the table of a mechanism says of one dataset, beside its label."""
    part = mechanism.problem.parts[int(mechanism.problem.parts[0].owners(np.array([number]))[0])]
    at, coordinate = number - part.first, mechanism.problem.notion.coordinate
    z, answer = mechanism.coordinate(number), int(part.load("answers")[at])
    return {
        "query": answer,
        "p": float(coordinate.probability(z)),
        "z": z if np.isfinite(z) else str(z),
        "error": float(coordinate.error(z, answer)),
        "pinned": bool(part.load(f"{mechanism.name}/pinned")[at]),
    }


def coin_counts(part: Part, name: str) -> CoinCounts:
    """How the datasets of a partition compare with a coin."""
    z, ones = part.load(f"{name}/z"), part.load("answers") == 1
    return counts_of(z, ones, part.load(f"{name}/pinned"), part.first)
