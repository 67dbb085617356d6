"""Problem: a space of datasets, a query on it, and a notion of privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hetdp.errors import Fault, FaultCollector, UnknownDatasetError, UsageError
from hetdp.problem.answer_words import ABOUT_KEYS, answer_words
from hetdp.problem.boundary import boundary_of
from hetdp.problem.classes import classes_of
from hetdp.problem.columns import require_arguments
from hetdp.problem.decimals import LARGEST, exact_amount, lower_to_written, multiply_down
from hetdp.problem.edges import Edges
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.identity import identity_of
from hetdp.problem.labels import Labels
from hetdp.problem.parameters import Parameters, rule_of
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers, answers_of
from hetdp.problem.scores import Scores
from hetdp.problem.space import Floats, Frozen, Indices, Mask
from hetdp.problem.spelling import shorten_label
from hetdp.problem.values import Factors, weights_of
from hetdp.text import ask_if_meant, did_you_mean, format_type, format_value, html_table
from hetdp.theory.catalogue import PARAMETERS, NotionName, find_notion, notion_of
from hetdp.theory.notion import Notion


class EdgelessProblem(Frozen):
    """A problem without its edges, as a mechanism file stores it. Nothing can be proved or explained on it.

    Attributes:
        labels: the labels of the datasets.
        answers: the true answer of each, 1 or 2.
        notion: the notion of privacy.
        identity: the identity of the problem with its edges.
    """

    def __init__(self, labels: Labels, answers: Answers, notion: Notion, identity: str) -> None:
        self.labels: Labels = labels
        self.answers: Answers = answers
        self.answers.flags.writeable = False
        self.notion: Notion = notion
        self.identity: str = identity

    def __repr__(self) -> str:
        return f"EdgelessProblem({len(self.answers)} datasets, no edges, {self.identity[:15]}…)"


MOST_COUNTED = 1_000_000  # datasets whose boundary is found at once


class Problem(Frozen):
    """A query, and the protection of every pair of neighbouring datasets. A problem cannot be changed.

    Args:
        graph: the datasets and their neighbours: a DatasetGraph, or a space made of people, whose edges are computed.
        query: the true answer at every dataset: a mapping label → answer, a sequence in graph order, or a function from
            labels to answers, which is called once for each.
        notion: the notion of privacy by name; "pure" is the paper's. By default it follows from the parameters of the
            edges: "pure" if they have ε alone, "directed" with epsilon_back, "approximate" with delta, "gaussian" with
            mu. "bounded-range" must be named, and so must "renyi", with alpha.
        positive: which given answer counts as 1; required unless the answers are {1, 2}, {0, 1} or booleans.
        weights: how much each dataset counts in averages: a mapping label → number ≥ 0, or a sequence in graph order.
        about: words for people: a mapping with some of the keys title, answer_1, answer_2, change, privacy_unit,
            neighbour_relation and privacy.
        scores: of a space made of people, the query as a threshold of a sum over people; `hetdp.spaces` gives it.
        alpha: the order of Rényi privacy, from 1.000001 to 1e12; no other notion takes it.

    Attributes:
        graph: the DatasetGraph.
        answers: the true answers as 1 and 2, in graph order.
        notion: the notion of privacy; `notion.name` is its name.
        about: the words for people.
        scores: what everybody counts toward a threshold, where the problem is made of people; else None.

    >>> graph = DatasetGraph.from_edges(["a", "b"], ["b", "c"], 0.5)
    >>> Problem(graph, {"a": 1, "b": 1, "c": 2}).boundary
    ['b', 'c']

    Paper: Section II (true query function, boundary set) and Definition 7.
    """

    def __init__(
        self,
        graph: DatasetGraph | ProductSpace,
        query: Any,
        notion: NotionName | Notion | None = None,
        positive: Any = None,
        weights: Any = None,
        about: Mapping[str, str] | None = None,
        scores: Scores | None = None,
        alpha: float | None = None,
    ) -> None:
        if not isinstance(graph, DatasetGraph | ProductSpace):
            raise UsageError(f"expected a graph, got {format_type(graph)}", "a Problem has a DatasetGraph and a query")
        self.graph: DatasetGraph | ProductSpace = graph
        self.answers: Answers = answers_of(query, graph.labels, positive)
        self.answers.flags.writeable = False
        self.notion: Notion = notion_for(graph, notion, {} if alpha is None else {"alpha": alpha})
        later = weights is None or isinstance(weights, Factors)
        self._weights: Floats | Factors | None = weights if later else weights_of(weights, graph.labels)
        self.about: Mapping[str, str] = _words(about)
        self.scores: Scores | None = scores
        axes = graph.axes if isinstance(graph, ProductSpace) else ()
        if scores is not None and [len(row) for row in scores.scores] != [len(axis.values) for axis in axes]:
            raise UsageError("scores that do not fit the people", "there is one for each axis and value")

    @cached_property
    def weights(self) -> Floats | None:
        """The weight of each dataset in averages; None if all are equal. Tallies compute it when it is needed."""
        return self._weights.product() if isinstance(self._weights, Factors) else self._weights

    @property
    def factors(self) -> Factors | None:
        """The weights as products of factors, one for each axis, if they are given so."""
        return self._weights if isinstance(self._weights, Factors) else None

    @property
    def labels(self) -> Labels:
        """The labels of the datasets."""
        return self.graph.labels

    @cached_property
    def identity(self) -> str:
        """A digest of the datasets, their answers and their constraints; mechanism files name their problem by it."""
        return identity_of(self)

    @cached_property
    def boundary_mask(self) -> Mask:
        """Marks datasets that have a neighbour with the other answer; edges without a constraint do not count."""
        return boundary_of(self.graph, self.answers)

    @property
    def boundary(self) -> list[Any]:
        """The labels of the boundary, in graph order.

        Paper: Definition 3 (boundary set).
        """
        return [self.graph.label(index) for index in np.flatnonzero(self.boundary_mask).tolist()]

    def with_parameter(self, edge: int, name: str, value: float) -> Problem:
        """The problem with another ε, δ or μ on one edge; the problem itself if the edge has that number already.

        Labels, answers and everything else stay. The edges of a space made of people become stored ones.

        Args:
            edge: the position of the edge in `graph.edges()`.
            name: one of `graph.parameter_names`; those of the two directions are seen from the end that comes first.
            value: the new number.

        Raises:
            UsageError: there is no such edge or parameter, or the value is out of range.

        >>> graph = DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.1, 1.0])
        >>> Problem(graph, [1, 1, 2]).with_parameter(1, "epsilon", 0.3).graph.edges()[2]
        array([0.1, 0.3])
        """
        source, target, *values = self.graph.edges()
        columns = dict(zip(self.graph.parameter_names, values, strict=True))
        if name not in columns:
            rule = f"the edges have {', '.join(columns)}"
            raise UsageError(f"unknown parameter {format_value(name)}", rule, did_you_mean(name, columns))
        if not 0 <= edge < len(source):
            raise UsageError(f"there is no edge {edge}", f"edges are numbered from 0 to {len(source) - 1}")
        if not 0.0 <= value <= PARAMETERS[name].most:
            raise UsageError(f"{name} = {value}", rule_of(name))
        if columns[name][edge] == value:
            return self
        columns[name] = columns[name].copy()
        columns[name][edge] = value
        on_grid = isinstance(self.graph, ProductSpace) or self.graph.on_grid
        return replace_edges(self, (source, target), columns, on_grid=on_grid)

    def scaled(self, multiple: Any) -> Problem:
        """The problem with every ε (or μ) as written times a number; δ and infinite ε stay.

        Products are exact and then rounded down, so no ε is larger than the multiple of what was written. Labels,
        answers, classes, weights and words stay the same, except the words about privacy. Spaces made from people
        remain such spaces.

        Args:
            multiple: a finite number ≥ 0; a float counts as its shortest decimal.

        Raises:
            UsageError: it is not such a number.

        >>> graph = DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.1, 1.0])
        >>> Problem(graph, [1, 1, 2]).scaled(3).graph.edges()[2]
        array([0.3, 3. ])
        """
        exact = exact_amount(multiple)
        if exact is None or exact == math.inf:
            raise UsageError(f"multiple={format_value(multiple)}", "every ε is multiplied by a finite number ≥ 0")
        if exact == 1:
            return self
        if isinstance(self.graph, ProductSpace):
            return self._with_space(self.graph.map_epsilon(lambda axis: _multiply_table(axis.written, exact)))
        source, target, *values = self.graph.edges()
        columns = {
            name: multiply_down(column, exact) if PARAMETERS[name].scales else column
            for name, column in zip(self.graph.parameter_names, values, strict=True)
        }
        return replace_edges(self, (source, target), columns, on_grid=self.graph.on_grid)

    def with_epsilon(
        self, epsilon: Any = None, *, classes: Mapping[Any, Any] | None = None, edges: Mapping[Any, Any] | None = None
    ) -> Problem:
        """The problem with other ε on some of its edges, or on all.

        Labels, answers, classes, weights and words stay the same, except the words about privacy. Each argument takes
        precedence over those before it. The edges of a space made from people become stored ones if `epsilon` is
        a function or `edges` are given.

        Args:
            epsilon: one ε for all edges; or a function of the two datasets of an edge and its ε, called for each edge
                (where ε differs by direction, for each direction), that returns the new ε.
            classes: a mapping from classes (people, or kinds of change) to the ε of all their edges.
            edges: a mapping from pairs of datasets to the ε of the edge between them; where ε differs by direction, of
                the direction from the first to the second.

        Raises:
            UsageError: nothing is given, or edges have no ε.
            InputError: listing every fault.

        >>> graph = DatasetGraph.from_edges(["a", "b"], ["b", "c"], 0.5, classes=["Ann", "Bob"])
        >>> problem = Problem(graph, [1, 1, 2])
        >>> problem.with_epsilon(classes={"Ann": 0.1}).graph.edges()[2]
        array([0.1, 0.5])
        >>> problem.with_epsilon(2.0, edges={("c", "b"): 0.3}).graph.edges()[2]
        array([2. , 0.3])
        >>> problem.with_epsilon(lambda one, other, epsilon: 0.2 if other == "c" else epsilon).graph.edges()[2]
        array([0.5, 0.2])
        """
        if epsilon is None and classes is None and edges is None:
            raise UsageError("with_epsilon without arguments", "it takes epsilon, classes= or edges=")
        if "epsilon" not in self.graph.parameter_names:
            raise UsageError("with_epsilon on edges without ε", "scaled multiplies μ; with_parameter changes one edge")
        collector = FaultCollector("epsilon")
        new = NewEpsilons(self, collector)
        if isinstance(self.graph, ProductSpace) and not callable(epsilon) and edges is None:
            by_axis: dict[Any, Any] = {axis.name: axis.written for axis in self.graph.axes}
            if epsilon is not None:
                by_axis = dict.fromkeys(by_axis, new.number(epsilon, "epsilon"))
            by_axis |= new.by_class(classes or {}, by_axis)
            collector.raise_if_any()
            return self._with_space(
                self.graph.map_epsilon(lambda axis: np.broadcast_to(by_axis[axis.name], axis.written.shape))
            )
        columns = new.columns(epsilon, classes, edges)
        collector.raise_if_any()
        on_grid = isinstance(self.graph, ProductSpace) or self.graph.on_grid
        return replace_edges(self, new.ends, columns, on_grid=on_grid)

    def _with_space(self, space: ProductSpace) -> Problem:
        """The same problem on a space of the same people with other ε."""
        about = _about_without_privacy(self.about)
        return Problem(space, self.answers, self.notion, weights=self._weights, about=about, scores=self.scores)

    def _repr_html_(self) -> str:
        """For notebooks; the boundary of a large space is counted only if it is known already."""
        ones = int(np.count_nonzero(self.answers == 1))
        rows: list[tuple[str, Any]] = [(key, self.about[key]) for key in ("title", "privacy") if key in self.about]
        rows += [("datasets", self.graph.size), ("edges", self.graph.edge_count)]
        one, two = answer_words(self.about)
        rows += [(f"truly {one}", ones), (f"truly {two}", self.graph.size - ones)]
        if self.graph.size <= MOST_COUNTED or "boundary_mask" in self.__dict__:
            rows.append(("on the boundary", int(self.boundary_mask.sum())))
        return html_table("Problem", [], [*rows, ("notion of privacy", self.notion.key)])

    def __repr__(self) -> str:
        ones = int(np.count_nonzero(self.answers == 1))
        return f"Problem({self.graph.size} datasets, {ones} with answer 1, notion {self.notion.key!r})"


def replace_edges(
    problem: Problem,
    ends: tuple[Indices, Indices],
    columns: Mapping[str, Floats],
    with_classes: bool = True,
    on_grid: bool = False,
) -> Problem:
    """The problem with other parameters on its edges.

    Args:
        problem: the problem.
        ends: the source and target of every edge, as `graph.edges()` lists them.
        columns: the parameters of these edges, by name.
        with_classes: whether the edges keep their classes; the graph is built faster without.
        on_grid: whether the parameters are floored to multiples of 2^-40, as in problems made from people.
    """
    collector = FaultCollector("edges")
    classes = classes_of(problem.graph.edge_classes(), collector) if with_classes else None
    edges = Edges(*ends, Parameters(tuple(columns), tuple(columns.values())), classes)
    graph = DatasetGraph.from_ends(problem.labels, ends, edges, "error", collector, on_grid)
    about = _about_without_privacy(problem.about)
    return Problem(graph, problem.answers, problem.notion, weights=problem.weights, about=about)


def _about_without_privacy(about: Mapping[str, str]) -> dict[str, str]:
    """The words of a problem whose ε have changed: those about privacy would be wrong."""
    return {key: words for key, words in about.items() if key != "privacy"}


def _multiply_table(written: Floats, multiple: Any) -> Floats:
    return multiply_down(written.ravel(), multiple).reshape(written.shape)


class NewEpsilons:
    """The ε that `with_epsilon` puts on the edges of a problem, with a collector of faults."""

    def __init__(self, problem: Problem, collector: FaultCollector) -> None:
        self.problem, self.collector = problem, collector

    @cached_property
    def edges(self) -> tuple[Any, ...]:
        """The ends of every edge, and its parameters as written."""
        return self.problem.graph.edges()

    @property
    def ends(self) -> tuple[Indices, Indices]:
        """The source and target of every edge."""
        return self.edges[0], self.edges[1]

    def number(self, value: Any, where: str) -> float:
        """One new ε; a fault if it is not a number ≥ 0."""
        exact = exact_amount(value)
        if exact is None:
            self.collector.add(Fault("not an ε:", where, format_value(value), rule_of("epsilon")))
        return math.inf if exact is None or exact == math.inf else lower_to_written(min(exact, LARGEST))

    def by_class(self, classes: Mapping[Any, Any], known: Iterable[Any]) -> dict[Any, Any]:
        """The new ε of some classes; a fault for each that is unknown."""
        known, found = list(known), {}
        for name, value in classes.items():
            where = f"classes[{format_value(name)}]"
            if name in known:
                found[name] = self.number(value, where)
            else:
                rule = "it takes classes of edges" if known else "no edge has a class"
                self.collector.add(Fault("unknown class", where, "", rule, did_you_mean(name, known)))
        return found

    def columns(self, epsilon: Any, classes: Any, edges: Any) -> dict[str, Floats]:
        """All columns of parameters, with the new ε."""
        names = self.problem.graph.parameter_names
        columns = {name: column.copy() for name, column in zip(names, self.edges[2:], strict=True)}
        ways = [name for name in ("epsilon", "epsilon_back") if name in columns]
        for way in ways:
            if callable(epsilon):
                columns[way] = self._by_rule(epsilon, columns[way], way != "epsilon")
            elif epsilon is not None:
                columns[way][:] = self.number(epsilon, "epsilon")
        if classes:
            given = self.problem.graph.edge_classes()
            numbers = classes_of(given, self.collector)
            known = () if numbers is None else numbers.names
            for name, value in self.by_class(classes, known).items():
                assert numbers is not None  # it has that name
                for way in ways:
                    columns[way][numbers.numbers == known.index(name)] = value
        if edges:
            self._by_pair(edges, columns, ways)
        return columns

    def _by_rule(self, rule: Callable[[Any, Any, float], Any], column: Floats, back: bool) -> Floats:
        require_arguments("epsilon", rule, ["a dataset", "its neighbour", "the ε of their edge"])
        source, target = self.ends[::-1] if back else self.ends
        label, found = self.problem.graph.label, []
        for one, other, value in zip(source.tolist(), target.tolist(), column.tolist(), strict=True):
            pair = label(one), label(other)
            where = f"edge ({shorten_label(pair[0])}, {shorten_label(pair[1])})"
            try:
                found.append(self.number(rule(*pair, value), where))
            except Exception as refusal:
                refusal.add_note(f"raised by epsilon at the {where}")
                raise
        return np.array(found, dtype=np.float64)

    def _by_pair(self, edges: Mapping[Any, Any], columns: dict[str, Floats], ways: Sequence[str]) -> None:
        source, target = self.ends
        size = self.problem.graph.size
        keys = source.astype(np.int64) * size + target
        order = np.argsort(keys, kind="stable")
        for pair, value in edges.items():
            where = f"edges[{format_value(pair)}]"
            if not isinstance(pair, tuple) or len(pair) != 2:
                self.collector.add(Fault("not a pair of datasets", where, "", "the keys of edges= are pairs (u, v)"))
                continue
            try:
                one, other = map(self.problem.labels.index, pair)
            except UnknownDatasetError as unknown:
                rule, hint = "both are datasets of the problem", ask_if_meant(map(format_value, unknown.close))
                self.collector.add(Fault("unknown dataset", where, format_value(unknown.label), rule, hint))
                continue
            low, high = np.searchsorted(keys, min(one, other) * size + max(one, other) + np.arange(2), sorter=order)
            if low == high:
                self.collector.add(Fault("no edge", where, "", "these two datasets are not neighbours"))
            columns[ways[-1] if one > other else ways[0]][order[low:high]] = self.number(value, where)


def _words(about: Any) -> dict[str, str]:
    words = {} if about is None else about
    if not isinstance(words, Mapping) or not all(isinstance(text, str) for pair in words.items() for text in pair):
        raise UsageError(f"about={format_value(about)}", "it must be a mapping from texts to texts")
    for key in words:
        if key not in ABOUT_KEYS:
            rule = f"the keys are {', '.join(ABOUT_KEYS)}"
            raise UsageError(f"unknown key {format_value(key)} in about=", rule, did_you_mean(key, ABOUT_KEYS))
    return dict(words)


def notion_for(
    graph: DatasetGraph | ProductSpace, name: str | Notion | None, settings: Mapping[str, Any] | None = None
) -> Notion:
    """The notion of that name, or the one that the edges suggest; refused if it does not fit the edges."""
    if name is not None and not isinstance(name, str | Notion):
        raise UsageError(f"the notion {format_value(name)}", "a notion is named by a text, such as 'pure'")
    if isinstance(name, Notion):
        notion = name
    else:
        notion = find_notion(notion_of(graph.parameter_names).name if name is None else name, settings)
    if notion.parameters != graph.parameter_names:
        raise UsageError(
            f"the notion {notion.name!r} on edges with {', '.join(graph.parameter_names)}",
            f"its edges have {', '.join(notion.parameters)}",
        )
    return notion


def require_edges(problem: Problem | EdgelessProblem, rule: str) -> Problem:
    """The problem of a mechanism, if it has edges.

    Args:
        problem: the problem.
        rule: why edges are needed.

    Raises:
        UsageError: the mechanism was read without its problem.
    """
    if isinstance(problem, EdgelessProblem):
        hint = "hetdp.read_mechanism(path, problem) joins them"
        raise UsageError("this mechanism was read without its problem", rule, hint)
    return problem


def require_problem(value: object) -> None:
    """Refuses a first argument that is not a Problem."""
    if not isinstance(value, Problem):
        is_file = isinstance(value, tuple) and any(isinstance(part, Problem) for part in value)
        hint = "its .problem is one" if is_file else ""  # of a ProblemFile, which read_problem returns
        raise UsageError(f"expected a Problem, got {format_type(value)}", "the first argument is a Problem", hint)
