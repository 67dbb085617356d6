"""The contract of a notion of privacy: everything that the rest of hetdp asks of it.

One module of this package holds one notion, and `catalogue.py` lists them. Only the verifier (certificate/) and the
exact draw (releases/draw.py) do not ask here: they are written independently, from the definitions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import NamedTuple, TypeVar

from hetdp.theory.coordinate import Coordinate, Floats

BACK = "_back"

Loss = Callable[[float, float, float], float]
Promises = tuple[Floats, Floats]


class Parameter(NamedTuple):
    """A number that every edge carries.

    Attributes:
        name: the name of its column; one that ends in "_back" belongs to the other direction of the edge.
        letter: its symbol in messages.
        rule: what its values satisfy.
        most: the largest value, with which an edge constrains nothing in that direction.
        scales: whether `solve_epsilon` multiplies it.
    """

    name: str
    letter: str
    rule: str
    most: float = math.inf
    scales: bool = True


class Setting(NamedTuple):
    """A number that holds for the whole problem, such as the order of Rényi privacy.

    Attributes:
        name: its name in Python and in files.
        letter: its symbol in messages.
        rule: what it satisfies.
        holds: whether a finite float satisfies the rule.
    """

    name: str
    letter: str
    rule: str
    holds: Callable[[float], bool]


class Currency(NamedTuple):
    """The unit in which a ledger counts a notion, and how amounts add up.

    Attributes:
        name: the word for it in ledgers and on the command line.
        unit: what the first amount is of.
        scale: how many units make one; the smallest amount is one unit.
        rule: how amounts add up, as a sentence.
        squared: whether what people write is squared before it adds up.
        has_delta: whether δ is counted beside it.
        includes: the name of a currency whose amounts count here too, with δ = 0; empty if there is none.
    """

    name: str
    unit: str
    scale: int
    rule: str
    squared: bool = False
    has_delta: bool = False
    includes: str = ""


class Curve(NamedTuple):
    """The bound p(v) ≤ f(p(u)) of an edge with one parameter, in ordinary floats, for tangents and rankings.

    Attributes:
        reach: the coordinate of f(p) from the coordinate of p and the parameter.
        log_slope: log f′ at the same p.
    """

    reach: Callable[[Floats, Floats], Floats]
    log_slope: Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Notion:
    """One rule p(v) ≤ f(p(u)) for the two ends of an edge, in the coordinate z where it is computed.

    `step`, `quick`, `meet` and `across` are scalar functions of plain arithmetic, so that an engine can run or compile
    them; all take the parameters of the edge from u to v last, in the order of `columns`.

    Attributes:
        name: what the user calls it.
        columns: the parameters of an edge.
        coordinate: z ↔ p.
        step: the largest label the edge allows at its other end, rounded toward privacy. It is never above the exact
            bound, never below its argument, and monotone.
        quick: a cheap guess; where it exceeds a label, `step` cannot improve that label.
        meet: for an edge between the answers, the label of both ends when neither is worse than the other, rounded
            toward privacy; the same from both ends. Here and in `across`, labels are signed so that larger is better.
            Where `quick` from −label exceeds that label, `meet` is not below it; and it is not above the step from 0,
            which no bound across from a label ≥ 0 exceeds either.
        across: the largest label at one end of such an edge, given the label at the other, rounded toward privacy;
            from a label up to `meet` it leads to `meet` or above, and from `meet` to `meet`. Where `quick` from −label
            exceeds a label above the given one, `across` cannot improve it.
        description: what a record says of it.
        currency: how a ledger counts it.
        loss: the parameter that a probability shows against a smaller one and δ, for audits: larger with the first,
            smaller with the second.
        promises: ε and δ of an arc u → v with Pr at u ≤ e^ε · Pr at v + δ for either answer, where that is the whole
            rule; otherwise None, and `curve` has the rule. The objective *average* is a linear program of these rows.
        curve: the rule of a notion whose bound is curved; None where `promises` says it all.
        adds: whether the step from a label ≥ 0 adds the parameter to it.
        bounds_ratios: whether no probability at one end of an edge exceeds e^ε times that at the other.
        fair_grows: whether no dataset gets worse under the objective *fair* when all ε grow by the same factor.
        settings: the numbers that hold for the whole problem, by name.
        effort: how many times as long as that of pure ε a step takes in plain Python, about.

    The lower bound is the mirror of the upper one in every notion: search on −z.
    """

    name: str
    columns: tuple[Parameter, ...]
    coordinate: Coordinate
    step: Callable[..., float]
    quick: Callable[..., float]
    meet: Callable[..., float]
    across: Callable[..., float]
    description: str
    currency: Currency
    loss: Loss
    promises: Callable[[tuple[Floats, ...]], Promises] | None = None
    curve: Curve | None = None
    adds: bool = False
    bounds_ratios: bool = False
    fair_grows: bool = False
    settings: tuple[tuple[str, float], ...] = ()
    effort: int = 1

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def is_directed(self) -> bool:
        """True if an edge may have other parameters in the other direction."""
        return len(self.columns) > 1

    @property
    def main(self) -> Parameter:
        """The parameter that losses and prices are counted in."""
        return self.columns[0]

    @property
    def key(self) -> str:
        """The name with all settings, by which `catalogue.notion_of_key` finds the notion again."""
        return key_of(self.name, dict(self.settings))

    def __reduce__(self) -> tuple[Callable[[str], Notion], tuple[str]]:
        from hetdp.theory.catalogue import notion_of_key

        return notion_of_key, (self.key,)

    def __repr__(self) -> str:
        return f"Notion({self.key!r})"

    def __str__(self) -> str:
        return self.key


@dataclass(frozen=True)
class Family:
    """Notions that differ by settings of the whole problem.

    Attributes:
        name: what the user calls all of them.
        settings: the numbers that tell them apart.
        make: the notion with these numbers, in their order; the same object for the same numbers.
    """

    name: str
    settings: tuple[Setting, ...]
    make: Callable[..., Notion]


def key_of(name: str, settings: Mapping[str, float]) -> str:
    """A name and its settings as one word.

    >>> key_of("pure", {}), key_of("renyi", {"alpha": 2.0})
    ('pure', 'renyi-2')
    """
    return "-".join([name, *(repr(value).removesuffix(".0") for value in settings.values())])


def reversed_places(parameters: tuple[str, ...]) -> tuple[int, ...]:
    """The places of an edge's parameters as they are seen from its other end.

    >>> reversed_places(("epsilon",)), reversed_places(("epsilon", "epsilon_back"))
    ((0,), (1, 0))
    """
    other = [name.removesuffix(BACK) if name.endswith(BACK) else name + BACK for name in parameters]
    return tuple(
        parameters.index(name if name in parameters else own) for name, own in zip(other, parameters, strict=True)
    )


def directions(parameters: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The parameters of each direction of an edge; one direction stands for both where they are the same.

    >>> directions(("epsilon", "epsilon_back", "delta", "delta_back"))
    [('epsilon', 'delta'), ('epsilon_back', 'delta_back')]
    """
    forward = tuple(name for name in parameters if not name.endswith(BACK))
    return [way for way in (forward, tuple(name for name in parameters if name.endswith(BACK))) if way]


def with_constants(functions: Mapping[str, object], **constants: float) -> dict[str, Callable[..., float]]:
    """Copies of a module's functions in which some of its global constants have other values.

    The copies call each other. They are plain functions with globals, so that an engine compiles them as any others.
    """
    scope = dict(functions) | constants
    name = scope["__name__"]
    own = {key: value for key, value in scope.items() if isinstance(value, FunctionType) and value.__module__ == name}
    for key, value in own.items():
        scope[key] = copy = FunctionType(value.__code__, scope, key, value.__defaults__)
        copy.__module__ = value.__module__
        copy.__dict__.update(value.__dict__)
    return {key: scope[key] for key in own}  # type: ignore[misc]


Marked = TypeVar("Marked", bound=Callable[..., object])


def noinline(function: Marked) -> Marked:
    """Marks a function that engines compile by itself instead of as a part of its callers."""
    function.noinline = True  # type: ignore[attr-defined]
    return function


def is_noinline(function: Callable[..., object]) -> bool:
    """True if a function is marked `noinline`."""
    return "noinline" in vars(function)


def log_ratio(high: float, low: float, delta: float) -> float:
    """The ε in high = e^ε · low + δ: the loss of notions that bound ratios of probabilities.

    >>> log_ratio(0.5, 0.25, 0.25), log_ratio(0.1, 0.0, 0.0)
    (0.0, inf)
    """
    if high <= delta:
        return -math.inf
    return math.log((high - delta) / low) if low > 0.0 else math.inf
