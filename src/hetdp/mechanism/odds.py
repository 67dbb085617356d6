"""odds: what a change in the data does to the published answer, in numbers that people can picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hetdp.certificate.certificate import verify
from hetdp.errors import Fault, InputError, UsageError, shown
from hetdp.mechanism.mechanism import Mechanism
from hetdp.mechanism.odds_words import Words, sentence
from hetdp.mechanism.solving.scaling import Columns, free_ways, written_edges
from hetdp.problem.classes import NONE, classes_of
from hetdp.problem.findings import Findings
from hetdp.problem.partial import pins_of
from hetdp.problem.problem import Problem, require_problem
from hetdp.problem.space import Floats, Indices
from hetdp.theory.coordinate import Coordinate

AS_MUCH = 1.0 - 1e-12  # differences that agree so far are the same but for roundings


class Change(NamedTuple):
    """One edge: `answer` is published with probability `low` at the dataset `source`, and `high` at `target`.

    `log_ratio` is log(high / low), which is kept where both are too small for a float.
    """

    source: Any
    target: Any
    answer: int
    low: float
    high: float
    log_ratio: float


@dataclass(frozen=True)
class Odds:
    """How much a change of one class shows in the published answer; as text, the sentence for the people concerned.

    Attributes:
        edge_class: the class of edges; None if they have none, or if all edges are meant.
        source: the dataset before the change that makes the largest difference; None if no edge constrains.
        target: the dataset after it.
        answer: the published answer that it makes more probable, 1 or 2; of both answers the one whose probability
            changes more in proportion.
        high: the probability of that answer at `target`.
        low: the probability of that answer at `source`.
        largest: the same five, and their ratio as a logarithm; None if no edge of the class constrains.
        loss: the largest |log(Pr / Pr)| of either answer over the class: the ε that is really used up.
        strongest: where that is; this need not be the change that makes the largest difference.
        epsilon: the largest finite ε of the class, as written, for comparison; never below `loss` for pure ε.
        edges: how many edges the class has.
        unprotected: how many of them constrain nothing (ε = ∞, or δ = 1): about these no promise is made, and no other
            number here counts them.
        one_sided: how many of them constrain in one direction only.
        words: how the sentence names the answers and the change.
    """

    edge_class: Any
    source: Any
    target: Any
    answer: int
    high: float
    low: float
    largest: Change | None
    loss: float
    strongest: Change | None
    epsilon: float
    edges: int
    unprotected: int
    one_sided: int
    words: Words

    def __str__(self) -> str:
        return sentence(self.words, self.largest, self.strongest, self.edges, self.unprotected, self.one_sided)


def odds(problem: Problem, mechanism: Any, edge_class: Any = None) -> Odds | dict[Any, Odds]:
    """What a change in the data does to the published answer: the sentence that people read better than an ε.

    It is computed from the mechanism's own values at both ends of every edge, so it is tighter than e^ε. The edge shown
    is the one with the largest difference between the two probabilities; where another edge has a larger ratio, a
    further sentence says so. "At most" is rounded up and "instead of" down: the difference is never understated.

    Words come from ``problem.about``, each if it is there: `answer_1` and `answer_2` ("yes", "no"), and `change`, what
    people do ("you vote differently"; ``{class}`` in it stands for the class). Otherwise the sentence names the two
    datasets.

    Args:
        problem: datasets, ε and query.
        mechanism: a mechanism for it, or the values alone, as `verify` takes them. Unless it comes with its proof, it
            is proved private first.
        edge_class: the class of edges to speak of, as in the column `class`. Without it: all edges.

    Returns:
        The odds of one class. Without `edge_class`, on a problem whose edges have classes, a dictionary from each class
        to its odds, with the key None for edges without a class, if there are any.

    Raises:
        InputError: the mechanism is not private on this problem.
        UsageError: there is no such class, or there are no edges.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["most say yes"], ["most say no"], 0.5)
    >>> words = {"answer_1": "yes", "answer_2": "no", "change": "you vote differently"}
    >>> problem = hetdp.Problem(graph, [1, 2], about=words)
    >>> print(hetdp.odds(problem, hetdp.extend(problem, [0.62, 0.38])))
    If you vote differently, the published answer is yes in at most 62 of 100 runs instead of 38.
    """
    require_problem(problem)
    z = _private_values(problem, mechanism)
    source, target, columns = written_edges(problem.graph)
    if not len(source):
        raise UsageError("a problem without edges", "odds speak of two neighbours")
    seen = _Seen(problem, z, source, target, columns)
    classes = classes_of(problem.graph.edge_classes(), Findings("edges"))
    if classes is None:
        if edge_class is not None:
            rule = "only edges with a class can be asked about by class"
            raise UsageError(f"no edge has the class {shown(edge_class)}, or any other", rule)
        return seen.odds(np.arange(len(source)), None)
    names = (*classes.names, None)
    if edge_class is None:
        return {names[number]: seen.odds(edges, names[number]) for number, edges in _by_class(classes.numbers)}
    if edge_class not in classes.names:
        rule = f"the classes are {', '.join(map(shown, classes.names[:10]))}{', …' if len(classes.names) > 10 else ''}"
        raise UsageError(f"no edge has the class {shown(edge_class)}", rule)
    number = classes.names.index(edge_class)
    return seen.odds(np.flatnonzero(classes.numbers == number), names[number])


def _private_values(problem: Problem, mechanism: Any) -> Floats:
    """z of a mechanism that is private on this problem, by its own proof or by a new one."""
    if not (isinstance(mechanism, Mechanism) and mechanism.is_as_proved and mechanism.problem is problem):
        certificate = verify(problem, mechanism)
        if not certificate.private:
            rule = "only a private mechanism has odds that hold"
            fault = Fault("not private:", "mechanism", certificate.violated, rule)
            raise InputError("mechanism", [fault])
    return np.asarray(mechanism.coordinates if hasattr(mechanism, "coordinates") else pins_of(mechanism, problem))


def _by_class(numbers: Indices) -> Iterator[tuple[int, Indices]]:
    """The edges of each class, those without a class last."""
    order = np.argsort(np.where(numbers == NONE, np.iinfo(numbers.dtype).max, numbers), kind="stable")
    ends = np.append(np.flatnonzero(np.diff(numbers[order])) + 1, len(order))
    for start, end in zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True):
        yield int(numbers[order[start]]), order[start:end]


class _Seen:
    """What a mechanism does on every edge: the difference it makes, and the privacy loss."""

    def __init__(self, problem: Problem, z: Floats, source: Indices, target: Indices, columns: Columns) -> None:
        self.problem, self.z, self.source, self.target = problem, z, source, target
        ways = list(free_ways(columns))
        self.free = np.sum(ways, axis=0) == len(ways)
        self.one_sided = ~self.free & np.any(ways, axis=0)
        strengths = [values for name, values in columns.items() if not name.startswith("delta")]
        self.epsilon = np.max([np.where(np.isinf(values), -np.inf, values) for values in strengths], axis=0)
        coordinate, (before, after) = problem.notion.coordinate, (z[source], z[target])
        nearer_one = (before > 0.0) & (after > 0.0)  # there 1 − p has the digits
        sign = np.where(nearer_one, -1.0, 1.0)
        self.difference = np.abs(coordinate.probability(sign * before) - coordinate.probability(sign * after))
        self.loss = np.maximum(_log_ratio(coordinate, before, after), _log_ratio(coordinate, -before, -after))
        if problem.notion.parameters == ("epsilon",):
            self.loss = np.minimum(self.loss, self.epsilon)  # as was proved; logarithms are rounded

    def odds(self, edges: Indices, name: Any) -> Odds:
        """The odds of some edges."""
        bound = edges[~self.free[edges]]
        largest, strongest, loss, epsilon = Change(None, None, 1, 0.0, 1.0, np.inf), None, np.inf, np.inf
        if len(bound):
            largest = self._change(_first(bound, self.difference, self.loss))
            most = _first(bound, self.loss, self.difference)
            strongest, loss, epsilon = self._change(most), self.loss[most], np.max(self.epsilon[bound])
        return Odds(
            edge_class=name,
            source=largest.source,
            target=largest.target,
            answer=largest.answer,
            high=largest.high,
            low=largest.low,
            largest=None if strongest is None else largest,
            loss=float(loss),
            strongest=strongest,
            epsilon=float(epsilon),
            edges=len(edges),
            unprotected=len(edges) - len(bound),
            one_sided=int(np.count_nonzero(self.one_sided[edges])),
            words=Words.of(self.problem.about, name),
        )

    def _change(self, edge: int) -> Change:
        """One edge, seen from the end at which the answer is less probable whose probability changes by more."""
        coordinate, ends = self.problem.notion.coordinate, (int(self.source[edge]), int(self.target[edge]))
        ones = self.z[list(ends)]
        ratios = [float(_log_ratio(coordinate, sign * ones[:1], sign * ones[1:])[0]) for sign in (1.0, -1.0)]
        answer = 1 if ratios[0] >= ratios[1] * AS_MUCH else 2
        p = coordinate.probability(ones if answer == 1 else -ones).tolist()
        rising = ones[0] <= ones[1] if answer == 1 else ones[0] >= ones[1]
        first, last = (0, 1) if rising else (1, 0)
        label = self.problem.graph.label
        return Change(label(ends[first]), label(ends[last]), answer, p[first], p[last], ratios[answer - 1])


def _first(edges: Indices, by: Floats, then: Floats) -> int:
    """The edge that has the most of one thing; of those that have as much, the one with the most of another."""
    values = by[edges]
    most = edges[values >= values.max() * AS_MUCH]
    return int(most[np.argmax(then[most])])


def _log_ratio(coordinate: Coordinate, one: Floats, other: Floats) -> Floats:
    """|log(p / p')| of two z; 0 where both have p = 0."""
    with np.errstate(invalid="ignore"):
        ratio = np.abs(coordinate.log_probability(one) - coordinate.log_probability(other))
    return np.where(one == other, 0.0, ratio)
