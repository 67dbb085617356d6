"""Mechanism: the probability of answer 1 at every dataset, with what was given and what binds the rest."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hetdp.certificate.certificate import Certificate
from hetdp.mechanism.explanation import BindingPath, binding_path
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices, Mask


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A private mechanism on a problem's datasets. All arrays are in graph order.

    Attributes:
        problem: what it answers.
        coordinates: z, the values themselves; p and error are derived from it for people.
        pinned: which values were given.
        links: for each free dataset the neighbour that binds it; −1 where none does.
        moved: how far in z the given values were moved, at most, to be exactly compatible; 0.0 if they were.
        certificate: the proof, if one was asked for.

    ``mechanism[label]`` is p at one dataset.
    """

    problem: Problem
    coordinates: Floats
    pinned: Mask
    links: Indices
    moved: float = 0.0
    certificate: Certificate | None = None

    def __post_init__(self) -> None:
        for array in (self.coordinates, self.pinned, self.links):
            array.flags.writeable = False

    @cached_property
    def probabilities(self) -> Floats:
        """p = Pr[answer 1], rounded for reading: it prints 1.0 from z ≈ 37 on, where `errors` is still right."""
        return _unchanging(self.problem.notion.coordinate.probability(self.coordinates))

    @cached_property
    def errors(self) -> Floats:
        """The probability of the wrong answer."""
        return _unchanging(self.problem.notion.coordinate.error(self.coordinates, self.problem.answers))

    def __getitem__(self, label: Hashable) -> float:
        """p at one dataset."""
        z = self.coordinates[self.problem.graph.index(label)]
        return float(self.problem.notion.coordinate.probability(z))

    def keys(self) -> Sequence[Any]:
        """The labels, so that ``dict(mechanism)`` maps each to its p."""
        return self.problem.graph.datasets

    def __iter__(self) -> Iterator[Any]:
        return iter(self.problem.graph.datasets)

    def __len__(self) -> int:
        return len(self.coordinates)

    def __contains__(self, label: object) -> bool:
        return bool(self.problem.graph.indices([label])[0] >= 0)

    def explain(self, dataset: Hashable) -> BindingPath:
        """Why a dataset cannot be answered more accurately: the path from a pinned dataset that binds it.

        Paper: the strongest induced DP condition of Section IV-B.

        >>> import hetdp
        >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
        >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
        >>> hetdp.extend(problem, {"b": 0.7, "c": 0.3}).explain("a").datasets
        ['b', 'a']
        """
        chain = [self.problem.graph.index(dataset)]
        while (link := int(self.links[chain[-1]])) >= 0:
            chain.append(link)
        upper = bool(self.problem.answers[chain[0]] == 1)
        return binding_path(self.problem, chain[::-1], self.coordinates[chain[::-1]], upper)

    def __repr__(self) -> str:
        worst = float(np.max(self.errors, initial=0.0))
        return f"Mechanism({len(self.coordinates)} datasets, {int(self.pinned.sum())} pinned, worst error {worst:.4g})"


def _unchanging(values: Floats) -> Floats:
    values.flags.writeable = False
    return values
