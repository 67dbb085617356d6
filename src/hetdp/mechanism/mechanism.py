"""`Mechanism`: the probability of answer 1 at every dataset, with the given values and the links that bind the rest.

`Mechanism` is the common type. A `LocalMechanism` holds its values as arrays in this process; a `RemoteMechanism`, such
as that of a partitioned problem, reads them from where they are stored.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from hetdp.certificate.certificate import Certificate, verify
from hetdp.errors import Fault, InputError, UsageError
from hetdp.mechanism.coin import CoinComparison, CoinCounts, compare_with_coin, count_against_coin
from hetdp.mechanism.explanation import (
    EXTENSION,
    GIVEN,
    AdjacentDataset,
    BindingChain,
    BindingPath,
    across_in_words,
    binding_edge,
    binding_path,
    find_across,
    trim_given,
)
from hetdp.mechanism.formatting import format_error, format_exact
from hetdp.problem.labels import Labels
from hetdp.problem.problem import EdgelessProblem, Problem, require_edges
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.problem.spelling import spell_label
from hetdp.text import MOST_ROWS, html_table
from hetdp.theory.notion import Notion, reversed_places

BINDING = "binding"  # the column that names the neighbour that holds a dataset down
BLOCK = 1 << 20  # datasets per block
SEAL = "_sealed"  # an attribute that copies made by `dataclasses.replace` lack


MechanismT = TypeVar("MechanismT", bound="Mechanism")


class ProblemFacts(Protocol):
    """The facts about a problem that every mechanism has, with or without edges."""

    @property
    def labels(self) -> Labels:
        """The labels of the datasets."""

    @property
    def notion(self) -> Notion:
        """The notion of privacy."""

    @property
    def identity(self) -> str:
        """A digest that identifies the problem."""


class Mechanism(Mapping[Any, float]):
    """A private mechanism on a problem's datasets: a mapping from labels to p = Pr[answer 1].

    Like any mapping, it is equal to a mapping with the same labels and values. Compare `coordinates` to see differences
    that p is too coarse for.

    Attributes:
        problem: the problem that it answers.
        coordinates: z of every dataset, in the problem's order. These are the actual values; p and error are derived
            from them for reading.
        pinned: mask of the values that were given, or chosen by an objective.
        links: for each free dataset the number of the neighbour that binds it; −1 if there is none.
        moved: largest distance in z by which given values were moved to be exactly compatible; 0.0 if none was.
        certificate: the proof, if one was requested.
        objective: the objective that chose the pinned values; "extension" if they were given, "polish" if kept.
        objective_gap: for the objective average, how much larger the mean accuracy of any private mechanism can be, at
            most; None for the others, which are exact.
    """

    problem: ProblemFacts
    coordinates: Floats
    pinned: Mask
    links: Indices
    moved: float
    certificate: Certificate | None
    objective: str
    objective_gap: float | None

    def __eq__(self, other: object) -> bool:
        """True for a mapping of the same labels to the same p, such as ``dict(mechanism)``."""
        if self is other or not isinstance(other, Mapping):
            return True if self is other else NotImplemented
        if len(self) != len(other):
            return False
        if isinstance(other, Mechanism) and other.problem is self.problem:
            probability = self.problem.notion.coordinate.probability
            pairs = zip(self.blocks(), other.blocks(), strict=True)
            return all(np.array_equal(probability(one), probability(two)) for one, two in pairs)
        return all(label in other and other[label] == p for label, p in self.items())

    def __hash__(self) -> int:
        """A hash of all p in any order, since equal mappings may have different orders."""
        probability, bits = self.problem.notion.coordinate.probability, 0
        for z in self.blocks():
            bits ^= int(np.bitwise_xor.reduce((probability(z) + 0.0).view(np.int64)))
        return hash((len(self), bits))

    @property
    @abstractmethod
    def is_as_proved(self) -> bool:
        """True if the certificate was made for exactly these values, in this process."""

    @property
    def search_words(self) -> str:
        """A phrase about the search that found it; empty for most mechanisms."""
        return ""

    @property
    @abstractmethod
    def probabilities(self) -> Floats:
        """p = Pr[answer 1], rounded for reading: it prints 1.0 from z ≈ 37 on, where `errors` is still right."""

    @property
    @abstractmethod
    def errors(self) -> Floats:
        """The probability of the wrong answer."""

    @property
    @abstractmethod
    def against_coin(self) -> CoinComparison:
        """The number of datasets where it is no better than a coin, and the worst one."""

    @abstractmethod
    def coordinate(self, number: int) -> float:
        """z at one dataset, by its number."""

    @abstractmethod
    def blocks(self) -> Iterator[Floats]:
        """z of all datasets, in their order, in arrays that fit in memory."""

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """The mechanism as a table: columns ready for any data frame, in the problem's order."""

    def node_attributes(self) -> dict[Any, dict[str, Any]]:
        """`query`, `p`, `error` and `pinned` of each dataset, in the form for NetworkX's `set_node_attributes`."""
        table, names = self.columns(), ("query", "p", "error", "pinned")
        rows = zip(*(table[name].tolist() for name in names), strict=True)
        return {label: dict(zip(names, row, strict=True)) for label, row in zip(table["dataset"], rows, strict=True)}

    @abstractmethod
    def row(self, dataset: Hashable) -> dict[str, Any]:
        """One row of the mechanism's table: `query`, `p`, `z`, `error`, `pinned` and `given`."""

    @abstractmethod
    def explain(self, dataset: Hashable) -> BindingPath:
        """Why a dataset cannot be answered more accurately: the path from a pinned dataset that binds it."""

    @abstractmethod
    def prove_best(self) -> Self:
        """The mechanism with a proof that it is optimal for its pins; without one its links explain nothing.

        Raises:
            InputError: it is not optimal.
        """


class RemoteMechanism(Mechanism):
    """A mechanism whose values are not in this process; it writes itself to a file or folder."""

    noun: ClassVar[str] = "a partitioned mechanism"  # for messages
    instead: ClassVar[str] = "hetdp.save writes it to a folder, and hetdp.read_mechanism reads it from there"

    @abstractmethod
    def write(self, path: str | Path) -> None:
        """Writes the mechanism atomically, if it is private."""


def refuse_remote(mechanism: object, done: str) -> None:
    """Refuses a mechanism whose values are not in this process, where all of them are needed.

    Raises:
        UsageError: it is a RemoteMechanism.
    """
    if isinstance(mechanism, RemoteMechanism):
        rule = "this needs all values of a mechanism and its problem in this process"
        raise UsageError(f"{mechanism.noun} cannot be {done}", rule, mechanism.instead)


@dataclass(frozen=True)
class LoadedClaim(Generic[MechanismT]):
    """A mechanism that was read from a file, to be verified on a problem.

    Attributes:
        mechanism: the mechanism, in the problem's order.
        made_for_another: True if the file names another problem.
        column: the column of its values: z, error, or p, which is rounded.
        differing: number of datasets whose value differs from the one that the problem gives.
    """

    mechanism: MechanismT
    made_for_another: bool
    column: str
    differing: int = 0


@dataclass(frozen=True, eq=False)
class LocalMechanism(Mechanism):
    """A mechanism whose values are arrays in this process, in graph order.

    Attributes:
        problem: the problem that it answers; an EdgelessProblem if it was read without its problem.
        coordinates: z, the actual values; p and error are derived from it for reading.
        pinned: mask of the values that were given, or chosen by an objective.
        links: for each free dataset the neighbour that binds it; −1 if there is none.
        moved: largest distance in z by which given values were moved to be exactly compatible; 0.0 if none was.
        certificate: the proof, if one was requested.
        objective: the objective that chose the pinned values; "extension" if they were given, "polish" if kept.
        objective_gap: for the objective average, how much larger the mean accuracy of any private mechanism can be, at
            most; None for the others, which are exact.
        given: mask of the given values, if an objective chose some of the pinned ones; None if this follows from the
            objective. `was_given` has it in every case.
    """

    problem: Problem | EdgelessProblem
    coordinates: Floats
    pinned: Mask
    links: Indices
    moved: float = 0.0
    certificate: Certificate | None = None
    objective: str = "extension"
    objective_gap: float | None = None
    given: Mask | None = None

    def __post_init__(self) -> None:
        for array in (self.coordinates, self.pinned, self.links):
            if not isinstance(array, np.ndarray):
                raise UsageError("a mechanism without its arrays", "it has one z, pin and link for each dataset")
            array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != SEAL}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # unpickled arrays are writable

    @property
    def is_as_proved(self) -> bool:
        """True if the certificate was made for these values, here; False for changed copies and loaded files."""
        return self.certificate is not None and SEAL in self.__dict__

    @cached_property
    def probabilities(self) -> Floats:
        """p = Pr[answer 1], rounded for reading: it prints 1.0 from z ≈ 37 on, where `errors` is still right."""
        return _make_read_only(self.problem.notion.coordinate.probability(self.coordinates))

    @cached_property
    def errors(self) -> Floats:
        """The probability of the wrong answer."""
        return _make_read_only(self.problem.notion.coordinate.error(self.coordinates, self.problem.answers))

    @cached_property
    def against_coin(self) -> CoinComparison:
        """The number of datasets where it is no better than a coin, and the worst one.

        >>> import hetdp
        >>> graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
        >>> mechanism = hetdp.extend(hetdp.Problem(graph, {"a": 1, "b": 2}), {"a": 0.3, "b": 0.2})
        >>> mechanism.against_coin.worse, mechanism.against_coin.worst, round(mechanism.against_coin.right, 3)
        (1, 'a', 0.3)
        """
        counts = CoinCounts()
        for first in range(0, len(self), BLOCK):
            block = slice(first, first + BLOCK)
            ones = self.problem.answers[block] == 1
            counts = counts.combine(count_against_coin(self.coordinates[block], ones, self.was_given[block], first))
        coordinate, names = self.problem.notion.coordinate, self.problem.labels.names
        best = self.certificate is not None and self.certificate.optimal and self.is_as_proved
        return compare_with_coin(counts, coordinate, self.objective, best, names.__getitem__, self.problem.labels)

    def __getitem__(self, label: Hashable) -> float:
        """p at one dataset."""
        z = self.coordinates[self.problem.labels.index(label)]
        return float(self.problem.notion.coordinate.probability(z))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.problem.labels.names)

    def __len__(self) -> int:
        return len(self.coordinates)

    def coordinate(self, number: int) -> float:
        """z at one dataset, by its number."""
        return float(self.coordinates[number])

    def blocks(self) -> Iterator[Floats]:
        """z of all datasets, in their order, in arrays that fit in memory."""
        for first in range(0, len(self), BLOCK):
            yield self.coordinates[first : first + BLOCK]

    def row(self, dataset: Hashable) -> dict[str, Any]:
        """One row of the mechanism's table: `query`, `p`, `z`, `error`, `pinned` and `given`."""
        at = self.problem.labels.index(dataset)
        z, answer = float(self.coordinates[at]), int(self.problem.answers[at])
        flags = bool(self.pinned[at]), bool(self.was_given[at])
        return row_of(self.problem.notion, z, answer, *flags)

    def explain(self, dataset: Hashable) -> BindingPath:
        """Why a dataset cannot be answered more accurately: the path from a pinned dataset that binds it.

        Paper: the strongest induced DP condition of Section IV-B.

        >>> import hetdp
        >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
        >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
        >>> hetdp.extend(problem, {"b": 0.7, "c": 0.3}).explain("a").datasets
        ['b', 'a']
        """
        problem, links = self._explainable(), self.prove_best().links
        chain = [problem.labels.index(dataset)]
        while (link := int(links[chain[-1]])) >= 0:
            chain.append(link)
        flags = self.pinned.__getitem__, self.was_given.__getitem__
        return explain_chain(self, problem, chain, *flags, self._adjacent_datasets)

    def prove_best(self) -> LocalMechanism:
        """The mechanism with a proof that it is optimal for its pins; without one its links explain nothing.

        Raises:
            InputError: it is not optimal.
            UsageError: it was read without its problem.
        """
        if self.is_as_proved:
            return self
        problem = self._explainable()
        certificate = require_best(verify(problem, self))
        best = np.where(problem.answers == 1, np.inf, -np.inf)
        unchecked = self.pinned | (self.coordinates == best)  # the verifier checks no links there
        return seal(replace(self, certificate=certificate, links=np.where(unchecked, -1, self.links)))

    def _explainable(self) -> Problem:
        return require_edges(self.problem, "its edges explain a mechanism")

    def _adjacent_datasets(self, at: int) -> list[AdjacentDataset]:
        """The neighbours of a dataset, each with the parameters of the edge from it."""
        problem = self._explainable()
        targets, columns = problem.graph.neighbours(at)
        back = reversed_places(problem.notion.parameters)
        rows = zip(*(columns[place].tolist() for place in back), strict=True)
        return [
            AdjacentDataset(
                other,
                float(self.coordinates[other]),
                bool(problem.answers[other] == problem.answers[at]),
                bool(self.pinned[other]),
                bool(self.was_given[other]),
                edge,
            )
            for other, edge in zip(targets.tolist(), rows, strict=True)
        ]

    def columns(self) -> dict[str, Any]:
        """The mechanism as a table: columns ready for any data frame, in graph order.

        The columns are `dataset`, `query` (the true answer), `p`, `z`, `error`, `pinned`, and `binding`, the neighbour
        that keeps a free dataset from being answered more accurately (None if there is none). If some pinned values
        were given and an objective chose the others, `given` marks the given ones.

        >>> import hetdp
        >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
        >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
        >>> hetdp.extend(problem, {"b": 0.7, "c": 0.3}).columns()["binding"]
        ['b', None, None]
        """
        names = self.problem.labels.names
        return {
            "dataset": list(names),
            "query": self.problem.answers,
            "p": self.probabilities,
            "z": self.coordinates,
            "error": self.errors,
            "pinned": self.pinned,
            BINDING: [None if link < 0 else names[link] for link in self.links.tolist()],
        } | self.given_column()

    @cached_property
    def was_given(self) -> Mask:
        """Mask of the values that were given rather than chosen by an objective."""
        return given_mask(self.objective, self.pinned) if self.given is None else self.given

    def given_column(self) -> dict[str, Any]:
        """The column `given`, unless it follows from the objective."""
        usual = np.array_equal(self.was_given, given_mask(self.objective, self.pinned))
        return {} if usual else {"given": self.was_given}

    def _repr_html_(self) -> str:
        """For notebooks: the first datasets, and the worst one."""
        names, answers = self.problem.labels.names, self.problem.answers
        shown = range(min(len(self), MOST_ROWS))
        lacking = self.problem.notion.coordinate.probability(-self.coordinates[: len(shown)])
        rows = [
            (
                spell_label(names[at], self.problem.labels),
                str(answers[at]),
                format_exact(self.probabilities[at], lacking[at], self.coordinates[at]),
                format_error(self.errors[at]),
                bool(self.pinned[at]),
                "" if self.links[at] < 0 else spell_label(names[self.links[at]], self.problem.labels),
            )
            for at in shown
        ]
        header = ["dataset", "true answer", "p", "error", "pinned", "bound by"]
        return html_table(f"{self!r}, {self.objective}", header, rows, len(self))

    def __repr__(self) -> str:
        coin = self.against_coin
        worst = format_error(coin.error if coin.datasets else 0.0, 4)
        warning = f", {coin.short()}" if coin.short() else ""
        return f"Mechanism({coin.datasets} datasets, {int(self.pinned.sum())} pinned, worst error {worst}{warning})"


def explain_chain(
    mechanism: Mechanism,
    problem: Problem,
    chain: list[int],
    is_pinned: Callable[[int], Any],
    is_given: Callable[[int], Any],
    adjacent_datasets: Callable[[int], list[AdjacentDataset]],
) -> BindingPath:
    """The path that binds a dataset of a mechanism that is the best for its pins.

    Args:
        mechanism: the mechanism.
        problem: its problem.
        chain: the dataset, the neighbour that binds it, and so on, up to a pinned one.
        is_pinned: returns whether the value of a dataset was given or chosen.
        is_given: returns whether it was given.
        adjacent_datasets: returns the neighbours of a dataset.
    """
    first, before = chain[-1], chain[-2::-1]
    upper, found = bool(problem.answers[first] == 1), BindingChain([first], given=True)
    sign = 1.0 if upper else -1.0
    if is_pinned(first):
        found = find_across(problem.notion, first, sign, mechanism.coordinate, adjacent_datasets)
        found = trim_given(found, bool(before)) if is_given(first) else found
    whole = [*found.chain, *before]
    origin = "" if not is_pinned(whole[0]) else GIVEN if is_given(whole[0]) else mechanism.objective
    path = binding_path(problem, whole, np.array([mechanism.coordinate(at) for at in whole]), upper, origin)
    ends_given = len(whole) > 1 and bool(is_given(whole[-1]))
    path = replace(path, moved=mechanism.moved if origin == GIVEN else 0.0, ends_given=ends_given)
    if found.across is None:
        return path
    edge = binding_edge(problem, found.across.number, whole[0], sign * found.across.z)
    across = across_in_words(
        found, problem.graph.label, lambda end: spell_label(end, problem.labels), edge, problem.notion
    )
    return replace(path, across=across)


def given_mask(objective: str, pinned: Mask) -> Mask:
    """Mask of the pinned values that were given, as implied by the objective."""
    return pinned if objective == EXTENSION else np.zeros_like(pinned)


def _make_read_only(values: Floats) -> Floats:
    values.flags.writeable = False
    return values


def seal(mechanism: LocalMechanism) -> LocalMechanism:
    """Marks a mechanism whose certificate was just made for its values."""
    mechanism.__dict__[SEAL] = True
    return mechanism


def row_of(notion: Notion, z: float, answer: int, pinned: bool, given: bool) -> dict[str, Any]:
    """One row of a mechanism's table, without the label."""
    return {
        "query": answer,
        "p": float(notion.coordinate.probability(z)),
        "z": z,
        "error": float(notion.coordinate.error(z, answer)),
        "worse_than_coin": z * (3 - 2 * answer) < 0.0,
        "pinned": pinned,
        "given": given,
    }


def require_best(certificate: Certificate) -> Certificate:
    """The certificate, if it proves that a mechanism is optimal for its pins.

    Raises:
        InputError: it does not.
    """
    if not certificate.optimal:
        rule = "only the best private mechanism is explained by its paths"
        value = str(certificate).removesuffix(".")
        raise InputError("mechanism", [Fault("not the best one:", "mechanism", value, rule)])
    return certificate
