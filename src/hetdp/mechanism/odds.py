"""`odds`: how much a change in the data changes the published answer, as numbers of runs that are easy to picture.

`odds` returns one type, `Odds`, for every kind of mechanism: `by_class` has the odds of each class of edges, or of each
group of people, and ``str`` turns them into sentences. Sentences count whole runs, rounded so that no difference is
understated. Mechanisms of populations and tallies compute their own odds (`ComputesOdds`), since they store no edges.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, overload

import numpy as np

from hetdp.certificate.certificate import values_of, verify
from hetdp.certificate.device_survey import Changes
from hetdp.errors import Fault, FaultCollector, InputError, UsageError
from hetdp.mechanism.mechanism import LocalMechanism, Mechanism
from hetdp.mechanism.scaling import Columns, edges_as_written, unconstrained_directions
from hetdp.mechanism.verification import problem_and_values
from hetdp.problem.answer_words import BARE_NUMBERS, answer_words
from hetdp.problem.classes import NONE, classes_of
from hetdp.problem.problem import Problem, require_problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats, Indices
from hetdp.problem.spelling import shorten_label
from hetdp.text import did_you_mean, escape_unprintable, format_value, html_table
from hetdp.theory.catalogue import PARAMETERS
from hetdp.theory.coordinate import Coordinate

FEWEST_RUNS = 100
MOST_RUNS = 10**9
ENOUGH_RUNS = 5.0  # the smaller number is at least this many runs, up to the largest number of runs
ENOUGH_MORE = 2.0  # the difference likewise: 53 of 100 instead of 47, rather than 525 of 1,000 instead of 475
ROUNDING = 1e-9  # in runs; 62.000000000000001 of 100 counts as 62
EQUAL_RATIO = 1.0 - 1e-9
MOST_TIMES = 700.0  # as a logarithm; a larger ratio would overflow


EQUAL_DIFFERENCE = 1.0 - 1e-12  # differences whose ratio is above this are equal up to rounding


class ClassOdds(ABC):
    """The effect of a change of one class on the published answer; as text, a sentence for the people concerned.

    Attributes:
        answer: the published answer that becomes more probable: 1 or 2.
        high: its probability after the change.
        low: its probability before the change. No other change of the class makes a larger difference.
        loss: the largest |log(Pr / Pr)| of either answer over the class: the ε that is actually used.
        epsilon: the largest finite ε of the class, for comparison.
        unprotected: number of changes, or people, without any protection (ε = ∞); no other attribute counts them.
    """

    answer: int
    high: float
    low: float
    loss: float
    epsilon: float
    unprotected: int

    @abstractmethod
    def __str__(self) -> str:
        """The sentence for the people concerned."""

    def __repr__(self) -> str:
        change = f"answer {self.answer} in {self.high:.4g} instead of {self.low:.4g}"
        return f"ClassOdds({change}, loss {self.loss:.4g} of ε = {self.epsilon:.4g})"

    def _repr_html_(self) -> str:
        """For notebooks: the numbers, and the sentence."""
        return html_table("Odds", list(ODDS_COLUMNS), [odds_row(self)], note=str(self))


ODDS_COLUMNS = ("answer", "probability at most", "instead of", "loss", "largest ε", "without protection")


def odds_row(one: ClassOdds) -> tuple[Any, ...]:
    """The cells of one class in a table for notebooks."""
    return one.answer, one.high, one.low, one.loss, one.epsilon, one.unprotected


class _UnknownClassError(UsageError, KeyError):
    """A name that is not a class; a `KeyError` too, since `Odds.by_class` is a mapping."""

    __str__ = Exception.__str__  # KeyError would quote the message


class _OddsByClass(dict[Any, ClassOdds]):
    """A dictionary of odds; an unknown class is a clear error."""

    def __missing__(self, name: Any) -> ClassOdds:
        known = [one for one in self if one is not None]
        rule = f"the classes are {', '.join(map(format_value, known[:10]))}{', …' if len(known) > 10 else ''}"
        hint = did_you_mean(name, known)
        raise _UnknownClassError(
            f"there is no class {format_value(name)}", rule if known else "no edge has a class", hint
        )


@dataclass(frozen=True)
class Odds:
    """The effect of a change in the data on the published answer; as text, one sentence per class.

    Attributes:
        by_class: the odds of each class of edges, or group of people; the key None is for edges without a class.
    """

    by_class: Mapping[Any, ClassOdds]

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_class", _OddsByClass(self.by_class))

    @property
    def largest(self) -> ClassOdds:
        """The odds of the class whose change makes the largest difference; a class without protection comes first."""
        return max(self.by_class.values(), key=lambda one: (one.high - one.low, one.loss))

    def of(self, name: Any) -> ClassOdds:
        """The odds of one class or group.

        Raises:
            UsageError: there is no such class.
        """
        return self.by_class[name]

    def __repr__(self) -> str:
        largest = self.largest
        classes = f"{len(self.by_class)} {'class' if len(self.by_class) == 1 else 'classes'}"
        return f"Odds({classes}, largest change from {largest.low:.4g} to {largest.high:.4g})"

    def _repr_html_(self) -> str:
        """For notebooks: a row for each class, and the sentence about the largest change."""
        rows = [(class_name(name), *odds_row(one)) for name, one in self.by_class.items()]
        return html_table("Odds", ["class", *ODDS_COLUMNS], rows, note=str(self.largest))

    def __str__(self) -> str:
        if len(self.by_class) == 1:
            return str(self.largest)
        return "\n".join(f"{class_name(name)}: {one}" for name, one in self.by_class.items())


def class_name(name: Any) -> str:
    """The name of a class in sentences about several classes."""
    return "edges without a class" if name is None else format_value(name)


class ComputesOdds(ABC):
    """A mechanism that computes its own odds, because its edges are too many or not stored."""

    @abstractmethod
    def odds(self) -> Odds:
        """The largest effect of one person's value on the published answer, by group."""


@overload
def odds(mechanism: Mechanism | ComputesOdds, /) -> Odds: ...
@overload
def odds(problem: Problem, values: Any, /) -> Odds: ...
def odds(mechanism: Any, values: Any = None, /) -> Odds:
    """The effect of a change in the data on the published answer, as a sentence that is easier to read than an ε.

    It is computed from the mechanism's own values at both ends of every edge, so it is tighter than e^ε. The edge shown
    has the largest difference between the two probabilities; if another edge has a larger ratio, a second sentence says
    so. "At most" is rounded up and "instead of" down, so the difference is never understated.

    Words come from ``problem.about``, if present: `answer_1` and `answer_2` ("yes", "no"), and `change`, what people do
    ("you vote differently"; ``{class}`` in it stands for the class). Without `change`, the sentence names the two
    datasets.

    Args:
        mechanism: a mechanism with its problem, including that of a population; it is proved private first, unless it
            comes with its proof. Or a problem, if `values` are passed.
        values: with a problem only: a mechanism, or values, as in `verify`.

    Returns:
        The odds, by class of edges or group of people.

    Raises:
        InputError: the mechanism is not private on this problem.
        UsageError: there are no edges, or the mechanism was read without its problem.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["most say yes"], ["most say no"], 0.5)
    >>> words = {"answer_1": "yes", "answer_2": "no", "change": "you vote differently"}
    >>> problem = hetdp.Problem(graph, [1, 2], about=words)
    >>> print(hetdp.odds(hetdp.extend(problem, [0.62, 0.38])))
    If you vote differently, the published answer is yes in at most 62 of 100 runs instead of 38.
    """
    if isinstance(mechanism, ComputesOdds):
        return mechanism.odds()
    return Odds(edge_odds(*problem_and_values(mechanism, values, "the odds are computed from its edges")))


def edge_odds(problem: Problem, mechanism: Any) -> dict[Any, EdgeOdds]:
    """The odds of every class of edges; edges without a class have the key None."""
    require_problem(problem)
    z = _private_values(problem, mechanism)
    source, target, columns = edges_as_written(problem.graph)
    if not len(source):
        raise UsageError("a problem without edges", "odds compare two neighbours")
    survey = _Survey(problem, source, target, (z[source], z[target]), columns)
    classes = classes_of(problem.graph.edge_classes(), FaultCollector("edges"))
    if classes is None:
        return {None: survey.odds(np.arange(len(source)), None)}
    names = (*classes.names, None)
    return {names[number]: survey.odds(edges, names[number]) for number, edges in _by_class(classes.numbers)}


def _private_values(problem: Problem, mechanism: Any) -> Floats:
    """z of a mechanism, which is proved private on this problem unless it comes with its proof."""
    if not (isinstance(mechanism, LocalMechanism) and mechanism.is_as_proved and mechanism.problem is problem):
        certificate = verify(problem, mechanism)
        if not certificate.private:
            rule = "odds are stated for private mechanisms only"
            fault = Fault("not private:", "mechanism", certificate.violated, rule)
            raise InputError("mechanism", [fault])
    return values_of(problem, mechanism)


def odds_of_edges(problem: Problem, space: ProductSpace, found: Sequence[Changes]) -> dict[Any, EdgeOdds]:
    """The odds of each axis of a space of people, from the edges that change most.

    Args:
        problem: the problem.
        space: its space.
        found: for each axis some edges with a finite ε, the ones with the largest loss and difference among them.
    """
    odds: dict[Any, EdgeOdds] = {}
    for at, (axis, changes) in enumerate(zip(space.axes, found, strict=True)):
        edges, written = space.arcs_along(at) // 2, axis.written[np.unique(space.lines(at).moves.kinds)]
        if not edges:
            continue
        largest = np.full(len(changes.source), np.max(written, initial=0.0, where=np.isfinite(written)))
        survey = _Survey(problem, changes.source, changes.target, (changes.before, changes.after), {"epsilon": largest})
        own = survey.odds(np.arange(len(changes.source)), axis.name)
        odds[axis.name] = replace(own, edges=edges)
    if not odds:
        raise UsageError("a problem without edges", "odds compare two neighbours")
    return odds


class Change(NamedTuple):
    """One edge: `answer` is published with probability `low` at the dataset `source`, and `high` at `target`.

    `log_ratio` is log(high / low), which stays precise if both are too small for a float.
    """

    source: Any
    target: Any
    answer: int
    low: float
    high: float
    log_ratio: float


@dataclass(frozen=True, repr=False)
class EdgeOdds(ClassOdds):
    """The odds of one class of edges of a graph; in addition to `ClassOdds`, it names the datasets.

    Attributes:
        edge_class: the class of edges; None if they have none, or for all edges together.
        source: the dataset before the change with the largest difference; None if no edge constrains.
        target: the dataset after that change.
        answer: the published answer that it makes more probable, 1 or 2; of both answers the one whose probability
            changes by the larger factor.
        high: the probability of that answer at `target`.
        low: the probability of that answer at `source`.
        largest: these five values, and the logarithm of the ratio; None if no edge of the class constrains.
        loss: the largest |log(Pr / Pr)| of either answer over the class: the ε that is actually used.
        strongest: the change with this loss; it need not be the one with the largest difference.
        epsilon: the largest finite ε of the class, as written, for comparison; never below `loss` for pure ε.
        edges: number of edges of the class.
        unprotected: number of edges that constrain nothing (ε = ∞, or δ = 1); no other attribute counts them.
        one_sided: number of edges that constrain in one direction only.
        words: names of the answers and the change in sentences.
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
    words: SentenceWords

    def __str__(self) -> str:
        return describe(self.words, self.largest, self.strongest, self.edges, self.unprotected, self.one_sided)


def _by_class(numbers: Indices) -> Iterator[tuple[int, Indices]]:
    """The edges of each class, those without a class last."""
    order = np.argsort(np.where(numbers == NONE, np.iinfo(numbers.dtype).max, numbers), kind="stable")
    ends = np.append(np.flatnonzero(np.diff(numbers[order])) + 1, len(order))
    for start, end in zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True):
        yield int(numbers[order[start]]), order[start:end]


class _Survey:
    """The difference between probabilities and the privacy loss on every edge."""

    def __init__(
        self, problem: Problem, source: Indices, target: Indices, z: tuple[Floats, Floats], columns: Columns
    ) -> None:
        self.problem, self.source, self.target, (before, after) = problem, source, target, z
        self.z = np.stack(z)
        ways = list(unconstrained_directions(columns))
        self.free = np.sum(ways, axis=0) == len(ways)
        self.one_sided = ~self.free & np.any(ways, axis=0)
        strengths = [values for name, values in columns.items() if PARAMETERS[name].scales]
        self.epsilon = np.max([np.where(np.isinf(values), -np.inf, values) for values in strengths], axis=0)
        coordinate = problem.notion.coordinate
        nearer_one = (before > 0.0) & (after > 0.0)  # there 1 − p is precise
        sign = np.where(nearer_one, -1.0, 1.0)
        self.difference = np.abs(coordinate.probability(sign * before) - coordinate.probability(sign * after))
        self.loss = np.maximum(_log_ratio(coordinate, before, after), _log_ratio(coordinate, -before, -after))
        if problem.notion.bounds_ratios:
            self.loss = np.minimum(self.loss, self.epsilon)  # this was proved; the logarithms are rounded

    def odds(self, edges: Indices, name: Any) -> EdgeOdds:
        """The odds of some edges."""
        bound = edges[~self.free[edges]]
        largest, strongest, loss, epsilon = Change(None, None, 1, 0.0, 1.0, np.inf), None, np.inf, np.inf
        if len(bound):
            largest = self._change(_first(bound, self.difference, self.loss))
            most = _first(bound, self.loss, self.difference)
            strongest, loss, epsilon = self._change(most), self.loss[most], np.max(self.epsilon[bound])
        return EdgeOdds(
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
            words=SentenceWords.of(self.problem.about, name),
        )

    def _change(self, edge: int) -> Change:
        """The change along one edge, for the answer that changes by the larger factor, in the rising direction."""
        coordinate, ends = self.problem.notion.coordinate, (int(self.source[edge]), int(self.target[edge]))
        ones = self.z[:, edge]
        ratios = [float(_log_ratio(coordinate, sign * ones[:1], sign * ones[1:])[0]) for sign in (1.0, -1.0)]
        answer = 1 if ratios[0] >= ratios[1] * EQUAL_DIFFERENCE else 2
        p = coordinate.probability(ones if answer == 1 else -ones).tolist()
        rising = ones[0] <= ones[1] if answer == 1 else ones[0] >= ones[1]
        first, last = (0, 1) if rising else (1, 0)
        label = self.problem.graph.label
        return Change(label(ends[first]), label(ends[last]), answer, p[first], p[last], ratios[answer - 1])


def _first(edges: Indices, by: Floats, then: Floats) -> int:
    """The edge with the largest `by`; among equals, the one with the largest `then`."""
    values = by[edges]
    most = edges[values >= values.max() * EQUAL_DIFFERENCE]
    return int(most[np.argmax(then[most])])


def _log_ratio(coordinate: Coordinate, one: Floats, other: Floats) -> Floats:
    """|log(p / p')| of two z; 0 if both have p = 0."""
    with np.errstate(invalid="ignore"):
        ratio = np.abs(coordinate.log_probability(one) - coordinate.log_probability(other))
    return np.where(one == other, 0.0, ratio)


# Sentences ------------------------------------------------------------------------------------------------------------


class SentenceWords(NamedTuple):
    """The names used in a sentence.

    Attributes:
        answers: the two answers.
        change: what people do, following "If"; empty if the sentence names the two datasets instead.
        name: the displayed name of the class; empty if there is none.
    """

    answers: tuple[str, str]
    change: str
    name: str

    @classmethod
    def of(cls, about: Mapping[str, str], edge_class: Any) -> SentenceWords:
        """The words of a problem for one class of edges."""
        class_text = (
            "" if edge_class is None else (edge_class if isinstance(edge_class, str) else shorten_label(edge_class))
        )
        answers = answer_words(about, BARE_NUMBERS)
        return cls(
            answers,
            escape_unprintable(about.get("change", "").replace("{class}", class_text or "somebody")),
            escape_unprintable(class_text),
        )


def describe(
    words: SentenceWords, largest: Change | None, strongest: Change | None, edges: int, unprotected: int, one_sided: int
) -> str:
    """The text for a person: the largest difference, the largest ratio if on another edge, and unprotected changes."""
    group = f" of class {words.name}" if words.name else ""
    if largest is None or strongest is None:
        return _unprotected_words(edges, edges, group)
    parts = [f"If {_change(words, largest)}, the published answer is {_runs(words, largest)}."]
    if edges - unprotected > 1:
        protected = " protected" if unprotected else ""
        parts.append(f"No other{protected} change{group} makes a larger difference.")
    if strongest.log_ratio > largest.log_ratio + ROUNDING:
        parts.append(
            f"The largest ratio is at {shorten_label(strongest.target)} instead of {shorten_label(strongest.source)}:"
            f" {_runs(words, strongest) if strongest.high * MOST_RUNS >= 1.0 else _times(words, strongest)}."
        )
    if one_sided:
        which = "The one change" if edges == 1 else f"{one_sided:,} of {edges:,} changes"
        parts.append(f"{which}{group} {'is' if one_sided == 1 else 'are'} protected in one direction only.")
    if unprotected:
        parts.append(_unprotected_words(unprotected, edges, group))
    return " ".join(parts)


def runs_of(low: float, high: float) -> tuple[int, int, int]:
    """The number of runs to picture, and the numbers of these in which an answer is published at `high` and at `low`.

    >>> runs_of(0.38, 0.62), runs_of(1.1e-6, 2.9e-6), runs_of(0.475, 0.525), runs_of(0.4, 0.998)
    ((100, 62, 38), (10000000, 29, 11), (100, 53, 47), (1000, 998, 400))
    """
    runs = FEWEST_RUNS
    while runs < MOST_RUNS and (
        0.0 < low * runs < ENOUGH_RUNS - ROUNDING
        or 0.0 < (high - low) * runs < ENOUGH_MORE - ROUNDING
        or 0.0 < (1.0 - high) * runs < 1.0 - ROUNDING
    ):  # the other answer is visible, too
        runs *= 10
    most = math.ceil(high * runs - ROUNDING) if high * runs > 1.0 else int(high > 0.0)
    return runs, min(runs, most), math.floor(low * runs + ROUNDING)


def describe_frequency(low: float, high: float, certain: bool = False) -> str:
    """A phrase for how often an answer is published at most, and how often instead; rounded outward.

    Args:
        low: its probability at one end.
        high: its probability at the other end.
        certain: whether it can be certain at either end; only then does the phrase say all runs or none.

    >>> describe_frequency(0.42, 0.74), describe_frequency(1e-12, 1.0 - 1e-12)
    ('in at most 74 of 100 runs instead of 42', 'in nearly all of 1,000,000,000 runs instead of less than 1')
    """
    runs, most, least = runs_of(low, high)
    instead = "less than 1" if least == 0 and not (certain and low == 0.0) else f"{least:,}"
    often = f"at most {most:,} of {runs:,}" if most < runs or certain else f"nearly all of {runs:,}"
    return f"in {often} runs instead of {instead}"


def _unprotected_words(number: int, edges: int, group: str) -> str:
    which = f"{number:,} of {edges:,} changes" if number < edges else f"all {edges:,} changes"
    which = "the one change" if edges == 1 else which
    shows = "it" if number == 1 else "them"
    return f"No promise is made about {which}{group} (ε = ∞): the published answer may reveal {shows} with certainty."


def _change(words: SentenceWords, change: Change) -> str:
    if words.change:
        return words.change
    return f"the dataset is {shorten_label(change.target)} instead of {shorten_label(change.source)}"


def _runs(words: SentenceWords, change: Change) -> str:
    answer = words.answers[change.answer - 1]
    if change.low >= change.high * EQUAL_RATIO and change.low > 0.0:
        runs, most, _ = runs_of(change.high, change.high)
        return f"{answer} in at most {most:,} of {runs:,} runs either way"
    return f"{answer} {describe_frequency(change.low, change.high, change.log_ratio == math.inf)}"


def _times(words: SentenceWords, change: Change) -> str:
    """The sentence for two probabilities that are both too small to show in any number of runs."""
    answer = words.answers[change.answer - 1]
    if change.log_ratio > MOST_TIMES:
        return f"{answer} is many times as probable, but in less than 1 of {MOST_RUNS:,} runs"
    ratio = math.exp(change.log_ratio)
    digit = 10.0 ** (math.floor(math.log10(ratio)) - 2)  # the third significant digit, which is rounded up
    times = math.ceil(ratio / digit - ROUNDING) * digit
    return f"{answer} is at most {times:.3g} times as probable, and in less than 1 of {MOST_RUNS:,} runs"
