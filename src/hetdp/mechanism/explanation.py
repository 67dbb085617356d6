"""Paths of bounds, which explain why a value cannot be better, or why two pins are incompatible.

A `BindingPath` lists the bounds step by step. For values that were given or chosen, `find_across` finds the neighbour
on the other side of the boundary that binds them.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from hetdp.mechanism.formatting import format_exact, format_probability
from hetdp.problem.parameters import describe_parameters
from hetdp.problem.problem import Problem
from hetdp.problem.space import Constraint, Floats
from hetdp.problem.spelling import spell_label
from hetdp.text import format_value, html_table, pluralize
from hetdp.theory.notion import Notion

GIVEN, EXTENSION, POLISH = "given", "extension", "polish"
TIGHT_WITHIN = 1e-9  # in z, relative: an edge binds a value that is this close to its bound
MOST_VISITED = 1000  # most datasets visited to find what binds a value that was given or chosen


@dataclass(frozen=True)
class Across:
    """The bound from the other side of the boundary on a value that was given, or that an objective chose.

    Attributes:
        dataset: label of the neighbour with the other answer.
        name: its spelling.
        parameters: the parameters of the edge from it, as written, by name.
        edge_class: the class of that edge; None if it has none.
        p: the neighbour's own p, and 1 − p.
        bound: the bound that the edge imposes, and 1 − bound.
        tight: True if the value equals the bound; otherwise the edge allows more than what was given or chosen.
        given: True if the neighbour's value was given.
    """

    dataset: Any
    name: str
    parameters: dict[str, float]
    edge_class: Any
    p: tuple[float, float]
    bound: tuple[float, float]
    tight: bool
    given: bool


@dataclass(frozen=True)
class BindingPath:
    """The bounds that one pinned dataset imposes along a path.

    The path is a single dataset if that is pinned itself, or if nothing binds it; except that a given value which
    another given value binds is the end of the path from there.

    Attributes:
        datasets: labels from the pinned dataset to the last one.
        names: spellings of the labels, as accepted wherever a dataset is named.
        parameters: the parameters of the edge of each step, as written, by name, seen from its start. Among parallel
            edges it is the one that binds.
        classes: the class of the edge of each step; None if it has none.
        bounds: p at the pinned dataset, then the bound on p after each step.
        complements: 1 − p at each step, which stays precise if p is close to 1.
        coordinates: z at each step.
        upper: True for upper bounds ("at most", answer 1), False for lower bounds ("at least", answer 2).
        origin: source of the first value: "given", or the objective that chose it; empty if nothing binds it.
        across: the bound on the first value from the other side of the boundary. None if there is no such edge, or if
            the first value was given and only its own edge across leaves it room.
        moved: largest distance in z by which given values were moved to be exactly compatible.
        ends_given: True if the value of the last dataset was given, although the path binds it.

    Paper: Definition 9 (the path upper bound function).
    """

    datasets: list[Any]
    names: list[str]
    parameters: list[dict[str, float]]
    classes: list[Any]
    bounds: list[float]
    complements: list[float]
    coordinates: list[float]
    upper: bool
    origin: str = GIVEN
    across: Across | None = None
    moved: float = 0.0
    ends_given: bool = False

    def __repr__(self) -> str:
        ends = " to ".join(dict.fromkeys((self.names[0], self.names[-1])))
        return f"BindingPath({ends}, {pluralize(len(self.steps), 'step')}, {self.relation} {self.values[-1]})"

    @property
    def epsilons(self) -> list[float]:
        """ε of each step (for the notion gaussian, μ), as written."""
        return [next(iter(edge.values())) for edge in self.parameters]

    @property
    def relation(self) -> str:
        """The direction of the bounds: "at most" or "at least"."""
        return "at most" if self.upper else "at least"

    @property
    def values(self) -> list[str]:
        """p or its bound at each step, with enough digits to distinguish values close to 1 from 1."""
        tails = zip(self.bounds, self.complements, self.coordinates, strict=True)
        return [format_exact(*each) for each in tails]

    @property
    def steps(self) -> list[str]:
        """A phrase for the edge of each step: its parameters, and its class if it has one."""
        edges = zip(self.parameters, self.classes, strict=True)
        return [edge_in_words(edge, edge_class) for edge, edge_class in edges]

    @property
    def beginning(self) -> str:
        """The source of the first value, and what binds it.

        >>> import hetdp
        >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
        >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
        >>> hetdp.extend(problem, {"b": 0.7, "c": 0.3}).explain("a").beginning
        'given'
        >>> hetdp.design(problem, "fair").explain("a").beginning
        'chosen by fair: across ε = 1 from p(c) = 0.268941, at most 0.731059'
        """
        if not self.origin:
            return "exactly; nothing binds it"
        if self.origin == GIVEN:
            words = f"given, and moved by at most {self.moved:.1e} in z to be compatible" if self.moved else GIVEN
        else:
            words = "kept from the polished values" if self.origin == POLISH else f"chosen by {self.origin}"
        if self.across is None:
            return words
        other, edge = self.across, edge_in_words(self.across.parameters, self.across.edge_class)
        value = f"p({other.name}) = {format_probability(*other.p)}{', which is given' if other.given else ''}"
        if other.tight:
            return f"{words}: across {edge} from {value}, {self.relation} {format_probability(*other.bound)}"
        bound = format_probability(*other.bound)
        return f"{words}; the nearest edge across, {edge} from {value}, allows {self.relation} {bound}"

    @property
    def crossing(self) -> list[Any]:
        """Labels of the whole path: the neighbour across the boundary, if there is one, and then the datasets."""
        return self.datasets if self.across is None else [self.across.dataset, *self.datasets]

    def _repr_html_(self) -> str:
        """For notebooks: the path, step by step."""
        rows = zip(self.names, [self.beginning, *self.steps], self.values, strict=True)
        title = f"Why p({self.names[-1]}) is {self.relation} {self.values[-1]}"
        return html_table(title, ["dataset", "step", f"p {self.relation}"], rows, len(self.datasets))

    def __str__(self) -> str:
        value, comma = self.values[0], " is" if self.origin else ","
        lines = [f"p({self.names[0]}) = {value}{comma} {self.beginning}"]
        steps = zip(self.names[1:], self.steps, self.values[1:], strict=True)
        lines += [f"over {edge}: p({name}) {self.relation} {value}" for name, edge, value in steps]
        return "\n".join(lines) + (", as given" if self.ends_given else "")


def edge_in_words(parameters: dict[str, float], edge_class: Any) -> str:
    """A phrase for an edge: its parameters, and its class if it has one."""
    class_words = "" if edge_class is None else f" (class {format_value(edge_class)})"
    return describe_parameters(tuple(parameters), parameters.values()) + class_words


def binding_path(problem: Problem, chain: list[int], z: Floats, upper: bool, origin: str = GIVEN) -> BindingPath:
    """The path along a chain of neighbours, with the bound z at each of them."""
    graph, coordinate = problem.graph, problem.notion.coordinate
    labels = [graph.label(index) for index in chain]
    signed = (z if upper else -z).tolist()
    edges = [binding_edge(problem, *pair, start) for pair, start in zip(pairwise(chain), signed, strict=False)]
    return BindingPath(
        datasets=labels,
        names=[spell_label(label, problem.labels) for label in labels],
        parameters=[edge.parameters for edge in edges],
        classes=[edge.edge_class for edge in edges],
        bounds=coordinate.probability(z).tolist(),
        complements=coordinate.probability(-z).tolist(),
        coordinates=z.tolist(),
        upper=upper,
        origin=origin,
    )


class AdjacentDataset(NamedTuple):
    """A candidate in the search for the dataset that binds another.

    Attributes:
        number: number of the neighbour.
        z: its value.
        same: True if it has the same true answer as the dataset.
        pinned: True if its value was given or chosen.
        given: True if its value was given.
        edge: the parameters of the edge from it to the dataset, as used.
    """

    number: int
    z: float
    same: bool
    pinned: bool
    given: bool
    edge: tuple[float, ...]


class BindingChain(NamedTuple):
    """The chain that binds a value that was given or chosen.

    Attributes:
        chain: datasets of the same answer, from the start of the chain to the requested dataset.
        given: True if the value of the first was given.
        across: the first one's neighbour with the other answer; None if its value was given, or if it has none.
        bound: the bound from that neighbour, as z.
        tight: True if the value equals the bound.
    """

    chain: list[int]
    given: bool
    across: AdjacentDataset | None = None
    bound: float = math.inf
    tight: bool = False

    def links(self) -> list[tuple[int, int]]:
        """Each dataset of the chain with the one before it, −1 for the first."""
        return list(pairwise([-1, *self.chain]))


def find_across(
    notion: Notion,
    start: int,
    sign: float,
    z_of: Callable[[int], float],
    adjacent_datasets: Callable[[int], Sequence[AdjacentDataset]],
) -> BindingChain:
    """Follows tight edges from a value to an edge that crosses the boundary, or to another given value.

    If an edge across is tight, its less accurate end binds the other one. So an edge to a neighbour that is answered
    more accurately counts only if nothing else binds.

    Args:
        notion: the notion, whose `step` gives the bound over an edge.
        start: the dataset.
        sign: 1 if its true answer is 1, otherwise −1.
        z_of: returns the value of a dataset.
        adjacent_datasets: returns the neighbours of a dataset.
    """
    came_from, queue, otherwise = {start: -1}, deque([start]), BindingChain([start], False)
    while queue and len(came_from) <= MOST_VISITED:
        at = queue.popleft()
        own = sign * z_of(at)
        room = TIGHT_WITHIN * max(1.0, abs(own)) if math.isfinite(own) else 0.0
        bounds = [(sign * notion.step(sign * one.z, *one.edge), one) for one in adjacent_datasets(at)]
        bounds.sort(key=lambda pair: (sign * pair[0], pair[1].number))  # partitions list neighbours in another order
        across = [(bound, one) for bound, one in bounds if not one.same]
        tight = [(bound, one) for bound, one in across if own >= sign * bound - room]
        binding = [(bound, one) for bound, one in tight if -sign * one.z <= own + room]
        if binding:
            bound, one = min(binding, key=lambda pair: (-sign * pair[1].z, pair[1].number))
            return BindingChain(_chain(came_from, at), False, one, bound, True)
        if tight and not otherwise.tight:
            otherwise = BindingChain(_chain(came_from, at), False, tight[0][1], tight[0][0], True)
        elif across and at == start:
            otherwise = BindingChain([start], False, across[0][1], across[0][0])
        for bound, one in bounds:
            if one.same and one.number not in came_from and own >= sign * bound - room:
                came_from[one.number] = at
                if one.given:
                    return BindingChain(_chain(came_from, one.number), True)
                queue.append(one.number)
    return otherwise


def trim_given(found: BindingChain, has_followers: bool) -> BindingChain:
    """What is shown of the chain to a given value.

    Args:
        found: the chain.
        has_followers: True if the explanation is about another dataset, which the given value binds. The chain to the
            given value is then left out, and so is an edge that leaves it room.
    """
    if not has_followers:
        return found if found.across is not None or found.given else BindingChain(found.chain[-1:], given=True)
    is_bound = len(found.chain) == 1 and found.tight
    return found._replace(given=True) if is_bound else BindingChain(found.chain[-1:], given=True)


def _chain(came_from: dict[int, int], at: int) -> list[int]:
    found = [at]
    while (at := came_from[at]) >= 0:
        found.append(at)
    return found


def across_in_words(
    found: BindingChain,
    label: Callable[[int], Any],
    name: Callable[[Any], str],
    edge: Constraint | None,
    notion: Notion,
) -> Across | None:
    """Converts the result of `find_across` to an `Across` with labels."""
    if found.across is None or edge is None:
        return None

    def tails(z: float) -> tuple[float, float]:
        return float(notion.coordinate.probability(z)), float(notion.coordinate.probability(-z))

    end = label(found.across.number)
    return Across(end, name(end), *edge, tails(found.across.z), tails(found.bound), found.tight, found.across.given)


def binding_edge(problem: Problem, start: int, end: int, label: float) -> Constraint:
    """Among the edges from one dataset to a neighbour, the one with the tightest bound for a label.

    Args:
        problem: the problem.
        start: the dataset that binds.
        end: the neighbour that is bound.
        label: z at the start, with the other sign for a lower bound.
    """
    edges = problem.graph.edges_between(start, end)
    if len(edges) == 1:
        return edges[0]
    neighbours, columns = problem.graph.neighbours(start)
    used = zip(*(column[neighbours == end].tolist() for column in columns), strict=True)
    return edges[tightest(problem.notion, label, used)]


def tightest(notion: Notion, label: float, edges: Iterable[tuple[float, ...]]) -> int:
    """The index of the parallel edge with the tightest bound for a label; the first among equals."""
    bounds = [notion.step(label, *edge) for edge in edges]
    return bounds.index(min(bounds))
