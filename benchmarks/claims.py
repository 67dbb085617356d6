"""What a benchmark is: a claim, what was asked for, and a run that yields lines, tables, measured values and charts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Bound = Literal["≤", "≥"]
AT_MOST: Bound = "≤"
AT_LEAST: Bound = "≥"


class Asked(NamedTuple):
    """What was asked for: `what` is measured, and must be at most or at least the limit."""

    what: str
    bound: Bound
    limit: float

    def met(self, value: float) -> bool:
        return value <= self.limit if self.bound == AT_MOST else value >= self.limit

    def __str__(self) -> str:
        return f"{self.what} {self.bound} {number(self.limit)}"


class Measured(NamedTuple):
    """A value for what was asked, in one case: a graph, a size."""

    what: str
    case: str
    value: float


class Table(NamedTuple):
    """A table; its cells are text."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


class Chart(NamedTuple):
    """A picture of a few numbers.

    `series` has for each name what belongs to each of `places`: heights of bars, or points of a line if places are
    numbers. `limit` is drawn as a dashed line. With `log`, the axis of the numbers is logarithmic, and for lines the
    other as well.
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
        name: what `python -m benchmarks NAME` calls it.
        title: the claim, as a heading.
        about: what is compared with what, in words.
        run: yields the parts of the section; a plain string is a line of Markdown.
        full: the arguments of `run` for the page.
        quick: the same so small that it takes a moment, to see that it runs.
        asked: what was asked for; each `what` is measured at least once by `run`.
    """

    name: str
    title: str
    about: str
    run: Callable[..., Iterator[Part]]
    full: tuple[Any, ...]
    quick: tuple[Any, ...]
    asked: tuple[Asked, ...] = ()

    def parts(self, quick: bool) -> list[Part]:
        """Runs it."""
        return list(self.run(*(self.quick if quick else self.full)))


@dataclass(frozen=True)
class Section:
    """A benchmark and what its run gave; or why it gave nothing."""

    benchmark: Benchmark
    parts: Sequence[Part] = field(default_factory=list)
    failure: str = ""
    quick: bool = False  # tiny sizes: nothing is judged

    def verdicts(self) -> Iterator[tuple[str, str, str]]:
        """For all that was asked: the words, what was measured, and whether that meets it."""
        for asked in self.benchmark.asked:
            found = [part for part in self.parts if isinstance(part, Measured) and part.what == asked.what]
            words = "not judged at this size" if self.quick else met(asked, found)
            yield str(asked), "; ".join(f"{one.case}: {number(one.value)}" for one in found), words


def met(asked: Asked, found: Iterable[Measured]) -> str:
    """Whether all cases meet what was asked, or which do.

    >>> wish = Asked("time", "≤", 2)
    >>> met(wish, [Measured("time", "grid", 1.5), Measured("time", "path", 2.5)])
    'in part: grid yes; path **no**'
    """
    cases = {one.case: asked.met(one.value) for one in found}
    if not cases:
        return "**not measured**"
    if len(set(cases.values())) == 1:
        return "yes" if all(cases.values()) else "**no**"
    return "in part: " + "; ".join(f"{case} {'yes' if good else '**no**'}" for case, good in cases.items())


def number(value: float) -> str:
    """A number as people write it, with three digits that count.

    >>> [number(value) for value in (1321.4, 12, 0.2951, -1e-7, 0)]
    ['1,321', '12', '0.295', '-1e-07', '0']
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
