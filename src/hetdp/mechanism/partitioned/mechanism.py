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
from hetdp.mechanism.explanation import (
    EXTENSION,
    GIVEN,
    Beside,
    BindingPath,
    Found,
    across_in_words,
    find_across,
)
from hetdp.mechanism.mechanism import given_by
from hetdp.mechanism.partitioned.tracing import Edge, Step, neighbours_of, path_of, tightest_of, trace
from hetdp.problem.partitioned import PartitionedProblem
from hetdp.problem.parts import Part
from hetdp.problem.space import Constraint, Floats
from hetdp.problem.spelling import spelled
from hetdp.theory.notion import turned


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
        counts = reduce(CoinCounts.joined, problem.run(coin_counts, self.name, self.objective), CoinCounts())
        best = self.certificate is not None and self.certificate.optimal
        return comparison_of(counts, problem.notion.coordinate, self.objective, best, problem.label, problem.labels)

    def explain(self, dataset: Hashable) -> BindingPath:
        """Why a dataset cannot be answered more accurately: the path from a pinned dataset that binds it."""
        return explained(proved(self), self.problem.index(dataset))

    def __repr__(self) -> str:
        return f"PartitionedMechanism({len(self)} datasets, {len(self.problem.parts)} partitions)"


def explained(mechanism: PartitionedMechanism, number: int) -> BindingPath:
    """The path that binds a dataset of a proved mechanism."""
    problem, name = mechanism.problem, mechanism.name
    steps = trace(problem, name, f"{name}/z", number)
    upper = bool(_at(mechanism, "answers", number) == 1)
    edges: dict[tuple[int, int], list[Edge]] = {}
    back = turned(problem.notion.parameters)

    def beside(at: int) -> list[Beside]:
        found = problem.workers.run(neighbours_of, [(_owner(mechanism, at), name, at, back)])[0]
        for one, edge in found:
            known = edges.setdefault((at, one.number), [])
            known.extend([edge] * (edge not in known))
        return [one for one, _ in found]

    first = steps[0].number
    found = Found([first], given=True)
    if _at(mechanism, f"{name}/pinned", first) and not is_given(mechanism, first):
        found = find_across(problem.notion, first, 1.0 if upper else -1.0, mechanism.coordinate, beside)
        before = [Step(at, mechanism.coordinate(at), np.nan, edges.get((at, link), [])) for link, at in found.links()]
        steps = [*before, *steps[1:]]
    first = steps[0].number
    path = path_of(problem, steps, [step.z for step in steps], upper)
    if not _at(mechanism, f"{name}/pinned", first):
        return replace(path, origin="")
    if is_given(mechanism, first):
        return replace(path, origin=GIVEN, moved=mechanism.moved)
    edge = None
    if found.across is not None:
        sign = 1.0 if upper else -1.0
        binding = tightest_of(problem.notion, edges[first, found.across.number], sign * found.across.z)
        written = dict(zip(problem.notion.parameters, [binding.written[at] for at in back], strict=True))
        edge = Constraint(written, binding.edge_class)
    across = across_in_words(found, problem.label, lambda end: spelled(end, problem.labels), edge, problem.notion)
    return replace(path, origin=mechanism.objective, across=across)


def is_given(mechanism: PartitionedMechanism, number: int) -> bool:
    """True if the value of a dataset was given, and no objective chose it."""
    if _owner(mechanism, number).has(f"{mechanism.name}/given"):
        return bool(_at(mechanism, f"{mechanism.name}/given", number))
    return mechanism.objective == EXTENSION and bool(_at(mechanism, f"{mechanism.name}/pinned", number))


def _owner(mechanism: PartitionedMechanism, number: int) -> Part:
    parts = mechanism.problem.parts
    return parts[int(parts[0].owners(np.array([number]))[0])]


def _at(mechanism: PartitionedMechanism, array: str, number: int) -> Any:
    """The entry of one dataset in an array."""
    owner = _owner(mechanism, number)
    return owner.load(array)[number - owner.first]


def mark_given(part: Part, name: str, pins: str) -> None:
    """Writes which values of a mechanism were given, where an objective chose the others."""
    part.save(f"{name}/given", ~np.isnan(part.load(pins)))


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
        "worse_than_coin": z * (3 - 2 * answer) < 0.0,
        "pinned": bool(part.load(f"{mechanism.name}/pinned")[at]),
        "given": is_given(mechanism, number),
    }


def coin_counts(part: Part, name: str, objective: str) -> CoinCounts:
    """How the datasets of a partition compare with a coin."""
    z, ones, pinned = part.load(f"{name}/z"), part.load("answers") == 1, part.load(f"{name}/pinned")
    was_given = part.load(f"{name}/given") if part.has(f"{name}/given") else given_by(objective, pinned)
    return counts_of(z, ones, was_given, part.first)
