"""A path of bounds, step by step: why a value cannot be better, or why two pins cannot stand together."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from hetdp.mechanism.formatting import format_exact, format_probability
from hetdp.problem.notebook import html_table
from hetdp.problem.parameters import describe_parameters
from hetdp.problem.problem import Problem
from hetdp.problem.space import Constraint, Floats
from hetdp.problem.spelling import spell_label
from hetdp.text import format_value
from hetdp.theory.notion import Notion

GIVEN, EXTENSION, POLISH = "given", "extension", "polish"
TIGHT = 1e-9  # in z, relative: a value this close to what an edge allows is bound by that edge
MOST_SEEN = 1000  # datasets that are looked at to find what binds a value that an objective chose


@dataclass(frozen=True)
class Across:
    """What the other side of the boundary allows at a dataset whose value an objective chose.

    Attributes:
        dataset: the label of the neighbour with the other answer.
        name: how it is spelled.
        parameters: what the edge from it promises, as written, by name.
        edge_class: the class of that edge; None if it has none.
        p: its own value, and 1 − p.
        bound: what the edge then allows, and 1 − that.
        tight: whether the chosen value is that bound; if not, the objective chose less than the edge allows.
        given: whether the neighbour's value was given.
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
    """What one pinned dataset imposes along a path; a single dataset if it is itself pinned, or if nothing binds it.

    Attributes:
        datasets: labels from the pinned dataset to the last one.
        names: how they are spelled; each can be typed where a dataset is asked for.
        parameters: what the edge of each step promises, as written, by name; seen from its start. Of parallel edges it
            is the one that binds.
        classes: the class of the edge of each step; None where it has none.
        bounds: p at the pinned dataset, then the bound on p after each step.
        complements: 1 − p at each step, which keeps what p next to 1 rounds away.
        coordinates: the same as z.
        upper: whether the bounds are upper ones ("at most", answer 1) or lower ones ("at least", answer 2).
        origin: where the first value comes from: "given", or the objective that chose it; empty if nothing binds it.
        across: for a chosen value, what binds it from the other side of the boundary; None if there is no such edge.
        moved: how far in z given values were moved, at most, to be exactly compatible.

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

    @property
    def epsilons(self) -> list[float]:
        """ε of each step (for the notion gaussian, μ), as written."""
        return [next(iter(edge.values())) for edge in self.parameters]

    @property
    def relation(self) -> str:
        """How the bounds are meant: "at most", or "at least"."""
        return "at most" if self.upper else "at least"

    @property
    def values(self) -> list[str]:
        """p, or its bound, at each step, in digits that tell what is next to 1 from 1."""
        tails = zip(self.bounds, self.complements, self.coordinates, strict=True)
        return [format_exact(*each) for each in tails]

    @property
    def steps(self) -> list[str]:
        """The edge of each step in words: what it promises, and its class if it has one."""
        edges = zip(self.parameters, self.classes, strict=True)
        return [edge_in_words(edge, edge_class) for edge, edge_class in edges]

    @property
    def beginning(self) -> str:
        """Where the first value comes from, and what binds it.

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
            return f"given, and moved by at most {self.moved:.1e} in z to be compatible" if self.moved else GIVEN
        words = "kept from what was polished" if self.origin == POLISH else f"chosen by {self.origin}"
        if self.across is None:
            return words
        other, edge = self.across, edge_in_words(self.across.parameters, self.across.edge_class)
        value = f"p({other.name}) = {format_probability(*other.p)}{', which is given' if other.given else ''}"
        if other.tight:
            return f"{words}: across {edge} from {value}, {self.relation} {format_probability(*other.bound)}"
        bound = format_probability(*other.bound)
        return f"{words}; the nearest edge across, {edge} from {value}, allows {self.relation} {bound}"

    def _repr_html_(self) -> str:
        """For notebooks: step by step."""
        rows = zip(self.names, [self.beginning, *self.steps], self.values, strict=True)
        title = f"Why p({self.names[-1]}) is {self.relation} {self.values[-1]}"
        return html_table(title, ["dataset", "step", f"p {self.relation}"], rows, len(self.datasets))

    def __str__(self) -> str:
        value, comma = self.values[0], " is" if self.origin else ","
        lines = [f"p({self.names[0]}) = {value}{comma} {self.beginning}"]
        steps = zip(self.names[1:], self.steps, self.values[1:], strict=True)
        lines += [f"over {edge}: p({name}) {self.relation} {value}" for name, edge, value in steps]
        return "\n".join(lines)


def edge_in_words(parameters: dict[str, float], edge_class: Any) -> str:
    """What an edge promises, and its class if it has one."""
    whose = "" if edge_class is None else f" (class {format_value(edge_class)})"
    return describe_parameters(tuple(parameters), parameters.values()) + whose


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


class Beside(NamedTuple):
    """A neighbour of a dataset, as what binds the dataset is looked for.

    Attributes:
        number: the neighbour.
        z: its value.
        same: whether its true answer is that of the dataset.
        pinned: whether its value was given or chosen.
        given: whether it was given.
        edge: what the edge from it to the dataset promises, as used.
    """

    number: int
    z: float
    same: bool
    pinned: bool
    given: bool
    edge: tuple[float, ...]


class Found(NamedTuple):
    """What binds a value that an objective chose.

    Attributes:
        chain: datasets of the same answer, from the one where it begins to the one that was asked about.
        given: whether the first of them was given.
        across: its neighbour with the other answer; None if it was given, or has none.
        bound: what that neighbour allows there, as z.
        tight: whether the value is that bound.
    """

    chain: list[int]
    given: bool
    across: Beside | None = None
    bound: float = math.inf
    tight: bool = False

    def links(self) -> list[tuple[int, int]]:
        """Each dataset of the chain with the one before it, −1 for the first."""
        return list(pairwise([-1, *self.chain]))


def find_across(
    notion: Notion, start: int, sign: float, z_of: Callable[[int], float], beside: Callable[[int], Sequence[Beside]]
) -> Found:
    """Follows tight edges from a chosen value to where one crosses the boundary, or to a given value.

    Where both ends of an edge across are as accurate as it allows, the less accurate one binds the other, which takes
    what is left. So an edge to a neighbour that is answered better counts only if nothing else binds.

    Args:
        notion: by whose `step` an edge binds.
        start: the dataset.
        sign: 1 if its true answer is 1, else −1.
        z_of: the value of a dataset.
        beside: the neighbours of a dataset.
    """
    came_from, queue, otherwise = {start: -1}, deque([start]), Found([start], False)
    while queue and len(came_from) <= MOST_SEEN:
        at = queue.popleft()
        own = sign * z_of(at)
        room = TIGHT * max(1.0, abs(own)) if math.isfinite(own) else 0.0
        bounds = [(sign * notion.step(sign * one.z, *one.edge), one) for one in beside(at)]
        across = sorted(((bound, one) for bound, one in bounds if not one.same), key=lambda pair: sign * pair[0])
        tight = [(bound, one) for bound, one in across if own >= sign * bound - room]
        binding = [(bound, one) for bound, one in tight if -sign * one.z <= own + room]
        if binding:
            bound, one = min(binding, key=lambda pair: (-sign * pair[1].z, pair[1].number))
            return Found(_chain(came_from, at), False, one, bound, True)
        if tight and not otherwise.tight:
            otherwise = Found(_chain(came_from, at), False, tight[0][1], tight[0][0], True)
        elif across and at == start:
            otherwise = Found([start], False, across[0][1], across[0][0])
        for bound, one in bounds:
            if one.same and one.number not in came_from and own >= sign * bound - room:
                came_from[one.number] = at
                if one.given:
                    return Found(_chain(came_from, one.number), True)
                queue.append(one.number)
    return otherwise


def _chain(came_from: dict[int, int], at: int) -> list[int]:
    found = [at]
    while (at := came_from[at]) >= 0:
        found.append(at)
    return found


def across_in_words(
    found: Found, label: Callable[[int], Any], name: Callable[[Any], str], edge: Constraint | None, notion: Notion
) -> Across | None:
    """The same for people."""
    if found.across is None or edge is None:
        return None

    def tails(z: float) -> tuple[float, float]:
        return float(notion.coordinate.probability(z)), float(notion.coordinate.probability(-z))

    end = label(found.across.number)
    return Across(end, name(end), *edge, tails(found.across.z), tails(found.bound), found.tight, found.across.given)


def binding_edge(problem: Problem, start: int, end: int, label: float) -> Constraint:
    """Of the edges from one dataset to the next, the one with the tightest bound, given the label at the first.

    Args:
        problem: whose edges they are.
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
    """Which of some parallel edges has the tightest bound after this label; of equals the first."""
    bounds = [notion.step(label, *edge) for edge in edges]
    return bounds.index(min(bounds))
