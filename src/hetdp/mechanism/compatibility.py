"""What incompatible pins could be instead. docs/theory/compatibility-and-repair.md has the proofs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import numpy as np

from hetdp.certificate.contradiction import contradicts
from hetdp.engines.contract import Engine, Growth
from hetdp.engines.registry import EngineName, engine_for
from hetdp.interrupts import import_uninterrupted
from hetdp.mechanism.explanation import BindingPath, binding_path
from hetdp.mechanism.formatting import format_apart
from hetdp.partitioned.problem import PartitionedProblem
from hetdp.problem.labels import Labels
from hetdp.problem.notebook import html_table
from hetdp.problem.partial import PartialMechanism, pins_of
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats
from hetdp.text import escape_unprintable, pluralize
from hetdp.theory.notion import Notion


class Repair:
    """Compatible values near incompatible pins; everything is computed when first asked for.

    All mappings go from the label of a pinned dataset to a probability. The middle of the greatest compatible values
    below and the least above is a compromise that extends; it need not be the nearest one.
    """

    def __init__(self, problem: Problem, pins: Floats, engine: Engine) -> None:
        self._problem, self._pins, self._engine = problem, pins, engine
        self._coordinate = problem.notion.coordinate
        self._where = np.flatnonzero(~np.isnan(pins))

    def __repr__(self) -> str:
        return f"Repair({len(self._where)} pins; .pins extends, .below, .above, .intervals())"

    @property
    def labels(self) -> Labels:
        """The names of the problem's datasets, both ways."""
        return self._problem.labels

    @property
    def below(self) -> dict[Any, float]:
        """The greatest compatible p that is nowhere above the given one."""
        return self._by_label(self._coordinate.probability(self._below))

    @property
    def above(self) -> dict[Any, float]:
        """The least compatible p that is nowhere below the given one."""
        return self._by_label(self._coordinate.probability(self._above))

    @cached_property
    def pins(self) -> PartialMechanism:
        """The compromise, ready for `extend`: the middle in p of `below` and `above`, as z, so that nothing is lost."""
        middle = np.full(len(self._pins), np.nan)
        middle[self._where] = self._coordinate.middle(self._below, self._above)
        closed = self._grow(middle)[self._where]
        return PartialMechanism(z=self._by_label(closed))

    @property
    def probabilities(self) -> dict[Any, float]:
        """The compromise as p, for reading."""
        return self._by_label(self._coordinate.probability(np.array(list(self.pins.z.values()))))

    def intervals(self) -> dict[Any, tuple[float, float]]:
        """For each pin the least and the greatest p it could take if all others stayed; if none would do, low > high.

        Any two pins differ in some bit of their number, so growing from the pins with that bit set, and from those
        without, for every bit, lets each pin hear from every other and never from itself.
        """
        high = self._from_others(self._pins)
        low = -self._from_others(-self._pins)
        bounds = zip(
            self._coordinate.probability(low).tolist(), self._coordinate.probability(high).tolist(), strict=True
        )
        return dict(zip(self._labels, bounds, strict=True))

    @cached_property
    def _below(self) -> Floats:
        return self._grow(self._pins)[self._where]

    @cached_property
    def _above(self) -> Floats:
        return -self._grow(-self._pins)[self._where]

    @cached_property
    def _labels(self) -> list[Any]:
        return [self._problem.graph.label(index) for index in self._where.tolist()]

    def _by_label(self, values: Floats) -> dict[Any, float]:
        return dict(zip(self._labels, values.tolist(), strict=True))

    def _grow(self, pins: Floats) -> Floats:
        start = np.where(np.isnan(pins), np.inf, pins)
        return self._engine.grow(self._problem.graph, self._problem.notion, start).labels

    def _from_others(self, pins: Floats) -> Floats:
        numbers = np.arange(len(self._where))
        bound = np.full(len(self._where), np.inf)
        for bit in range(len(numbers).bit_length()):
            for side in (0, 1):
                speaks = (numbers >> bit) & 1 == side
                some = np.full(len(pins), np.nan)
                some[self._where[speaks]] = pins[self._where[speaks]]
                heard = self._grow(some)[self._where]
                bound = np.where(speaks, bound, np.minimum(bound, heard))
        return bound


# The greatest and the least private mechanism that given values, and a largest error, allow.


class Limits(NamedTuple):
    """z at every dataset; every private mechanism with the given values lies between, and both are private."""

    least: Floats
    most: Floats

    @classmethod
    def of(cls, most: Floats, below: Floats) -> Limits:
        """From the labels of two growths, from the values and from their negatives."""
        return cls(-below + 0.0, np.maximum(most, -below) + 0.0)

    def between(self, z: Floats) -> Floats:
        """The same mechanism, moved to where it is allowed; if it was private, it still is."""
        return np.maximum(self.least, np.minimum(self.most, z))


def limits(problem: Problem, pins: Floats, engine: Engine, max_error: float | None = None) -> Limits:
    """Two growths over all edges, from the pins and from what the largest error demands of free datasets."""
    free, ones = np.isnan(pins), problem.answers == 1
    above, below = np.where(free, np.inf, pins), np.where(free, np.inf, -pins)
    if max_error is not None:
        worst = problem.notion.coordinate.from_error(np.full(len(pins), max_error), problem.answers)
        above = np.where(free & ~ones, worst, above)
        below = np.where(free & ones, -worst, below)
    most, least = (engine.grow(problem.graph, problem.notion, start).labels for start in (above, below))
    return Limits.of(most, least)


# check: can a partial mechanism be extended? If not, a witness says why and a repair offers values that can.


NEAR_MISS = 1e-9  # in z; pins written as decimals are often tight and miss by a rounding


@dataclass(frozen=True)
class Witness:
    """Two pinned datasets that cannot both keep their values, which is proved in exact arithmetic.

    Attributes:
        path: from one to the other, with the bound that the first imposes at each step.
        value: p pinned at the last dataset, which exceeds the last bound.
        complement: 1 − value, which keeps what p next to 1 rounds away.
    """

    path: BindingPath
    value: float
    complement: float

    def __str__(self) -> str:
        path, steps = self.path, len(self.path.parameters)
        first, last = path.names[0], path.names[-1]
        bound, value = format_apart((path.bounds[-1], path.complements[-1]), (self.value, self.complement))
        return (
            f"p({first}) = {path.values[0]} allows at most"
            f" p({last}) = {bound} ({pluralize(steps, 'step')} away), but p({last}) is pinned at {value}."
        )


@dataclass(frozen=True)
class Verdict:
    """Whether a private extension exists.

    Attributes:
        compatible: it does; pins that miss by less than 1e-9 in z, or by nothing but roundings, count as compatible and
            are closed downward.
        moved: how far in z the pins had to be moved for that, at most.
        witness: why not; None if compatible.
        repair: values that do extend; None if compatible.
    """

    compatible: bool
    moved: float
    witness: Witness | None = None
    repair: Repair | None = None

    def __bool__(self) -> bool:
        return self.compatible

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, and if there is none, why."""
        rows = [("a private extension exists", self.compatible), ("pins move in z by at most", self.moved)]
        if self.witness is None:
            return html_table("Verdict", [], rows)
        path = self.witness.path._repr_html_()
        return "\n".join(
            [html_table("Verdict", [], rows), f"<p>{escape(escape_unprintable(str(self.witness)))}</p>", path]
        )

    def __str__(self) -> str:
        return "a private extension exists" if self.compatible else f"no private extension exists: {self.witness}"


def check(problem: Problem | PartitionedProblem, partial: Any, engine: EngineName = "auto") -> Verdict:
    """Decides whether a private mechanism with these values exists. The boundary need not be pinned for that.

    Args:
        problem: datasets, ε and query; of a PartitionedProblem there is a witness, but no repair.
        partial: mapping label → p, an array with NaN where not given, or a PartialMechanism.
        engine: which engine searches.

    Raises:
        InputError: listing every fault of the partial mechanism.

    Paper: Theorem 1, first half, and the compatibility test of Algorithm 2.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
    >>> verdict = hetdp.check(hetdp.Problem(graph, {"a": 1, "b": 2}), {"a": 0.9, "b": 0.1})
    >>> verdict.compatible, verdict.witness.path.datasets
    (False, ['b', 'a'])
    """
    if isinstance(problem, PartitionedProblem):
        judged: Verdict = import_uninterrupted("hetdp.partitioned.extension").check_parts(problem, partial, engine)
        return judged
    pins = pins_of(partial, problem)
    chosen = engine_for(engine, problem.graph, problem.notion, "grow")
    return judge(problem, pins, chosen, close(problem, pins, chosen))


def close(problem: Problem, pins: Floats, engine: Engine) -> Growth:
    """Grows from all pins over all edges: at the pins, the greatest compatible values not above the given ones."""
    return engine.grow(problem.graph, problem.notion, np.where(np.isnan(pins), np.inf, pins))


def judge(problem: Problem, pins: Floats, engine: Engine, closed: Growth) -> Verdict:
    """The verdict on pins, once they have been closed; `extend` asks for the very same one.

    Labels are rounded, so a pin that fell is only a suspicion. What counts is a path along which the bound, in exact
    arithmetic, contradicts a pin; without one, the pins missed by roundings, and are moved.
    """
    moves = drops(pins, closed.labels)
    moved = float(np.max(moves, initial=0.0))
    fallen = np.flatnonzero(moves > NEAR_MISS)
    for dataset in fallen[np.argsort(-moves[fallen], kind="stable")].tolist():
        witness = _witness(problem, pins, moves, closed, dataset)
        if witness is not None:
            return Verdict(False, moved, witness, Repair(problem, pins, engine))
    return Verdict(True, moved)


def drops(pins: Floats, labels: Floats) -> Floats:
    """How far each pin fell; 0 where a dataset is free."""
    return np.subtract(pins, labels, out=np.zeros_like(pins), where=labels < pins)  # never where a pin is NaN


def _witness(problem: Problem, pins: Floats, moves: Floats, closed: Growth, fallen: int) -> Witness | None:
    """The chain to a pin that fell, cut at the first pin on it that the chain's start contradicts; None if none is."""
    chain = [fallen]
    while (link := int(closed.links[chain[-1]])) >= 0:
        chain.append(link)
    chain.reverse()
    for end in [at for at, dataset in enumerate(chain) if moves[dataset] > NEAR_MISS]:
        path = binding_path(problem, chain[: end + 1], closed.labels[chain[: end + 1]], upper=True)
        found = witness_of(path, float(pins[chain[end]]), problem.notion)
        if found is not None:
            return found
    return None


def witness_of(path: BindingPath, pin: float, notion: Notion) -> Witness | None:
    """The witness that a path makes against the pin at its end, if the two contradict each other exactly."""
    if not contradicts(notion, path.coordinates[0], path.parameters, pin):
        return None
    p, complement = (float(notion.coordinate.probability(z)) for z in (pin, -pin))
    return Witness(path, p, complement)
