"""The parts of a benchmark: a claim, its targets, and a run that yields lines, tables, measured values and charts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Bound = Literal["≤", "≥"]
AT_MOST: Bound = "≤"
AT_LEAST: Bound = "≥"


class Target(NamedTuple):
    """A target: the value of `what` must be at most, or at least, the limit."""

    what: str
    bound: Bound
    limit: float

    def is_met(self, value: float) -> bool:
        return value <= self.limit if self.bound == AT_MOST else value >= self.limit

    def __str__(self) -> str:
        return f"{self.what} {self.bound} {number(self.limit)}"


class Measured(NamedTuple):
    """A measured value for a target, in one case such as a graph or a size."""

    what: str
    case: str
    value: float


class Table(NamedTuple):
    """A table of text cells."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


class Chart(NamedTuple):
    """A picture of a few numbers.

    `series` holds, for each name, one value for each of `places`: the heights of bars, or the points of a line if
    places are numbers. `limit` is drawn as a dashed line. With `log`, the axis of values is logarithmic, and for lines
    so is the other axis.
    """

    name: str
    title: str
    measure: str
    places: Sequence[Any]
    series: Mapping[str, Sequence[float]]
    kind: Literal["bars", "lines"] = "bars"
    along: str = ""
    log: bool = False
    limit: float | None = None


Part = str | Table | Measured | Chart


@dataclass(frozen=True)
class Benchmark:
    """One section of the page.

    Attributes:
        name: the NAME of `python -m benchmarks NAME`.
        title: the claim, as a heading.
        about: describes what is compared with what.
        run: yields the parts of the section; a plain string is a line of Markdown.
        full: the arguments of `run` for the page.
        quick: arguments so small that the run takes only a moment, to check that it works.
        targets: the targets; `run` measures each `what` at least once.
    """

    name: str
    title: str
    about: str
    run: Callable[..., Iterator[Part]]
    full: tuple[Any, ...]
    quick: tuple[Any, ...]
    targets: tuple[Target, ...] = ()

    def parts(self, quick: bool) -> list[Part]:
        """Runs the benchmark."""
        return list(self.run(*(self.quick if quick else self.full)))


@dataclass(frozen=True)
class Section:
    """A benchmark with the result of its run, or the reason why it failed."""

    benchmark: Benchmark
    parts: Sequence[Part] = field(default_factory=list)
    failure: str = ""
    quick: bool = False  # tiny sizes, at which no target is judged

    def verdicts(self) -> Iterator[tuple[str, str, str]]:
        """For each target: its text, the measured values, and whether they meet it."""
        for target in self.benchmark.targets:
            measured = [part for part in self.parts if isinstance(part, Measured) and part.what == target.what]
            words = "not judged at this size" if self.quick else verdict_of(target, measured)
            yield str(target), "; ".join(f"{one.case}: {number(one.value)}" for one in measured), words


def verdict_of(target: Target, measured: Iterable[Measured]) -> str:
    """Says whether all cases meet the target, or which of them do.

    >>> target = Target("time", "≤", 2)
    >>> verdict_of(target, [Measured("time", "grid", 1.5), Measured("time", "path", 2.5)])
    'in part: grid yes; path **no**'
    """
    cases = {one.case: target.is_met(one.value) for one in measured}
    if not cases:
        return "**not measured**"
    if len(set(cases.values())) == 1:
        return "yes" if all(cases.values()) else "**no**"
    return "in part: " + "; ".join(f"{case} {'yes' if good else '**no**'}" for case, good in cases.items())


def number(value: float) -> str:
    """Formats a number with three significant digits.

    >>> [number(value) for value in (1321.4, 12, 0.2951, -1e-7, 0)]
    ['1,321', '12', '0.295', '-1e-07', '0']
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
