"""check: can a partial mechanism be extended? If not, a witness says why and a repair offers values that can.

Paper: the definition of compatible functions, corrected: p(v) ≤ min U(v) for every ordered pair of pinned datasets.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from hetdp.certificate.contradiction import contradicts
from hetdp.engines.contract import Engine, Growth
from hetdp.engines.registry import engine_for
from hetdp.errors import counted, printable
from hetdp.interrupts import load_whole
from hetdp.mechanism.digits import in_different_digits
from hetdp.mechanism.explanation import BindingPath, binding_path
from hetdp.mechanism.repair import Repair
from hetdp.problem.notebook import table_of
from hetdp.problem.partial import pins_of
from hetdp.problem.partitioned import PartitionedProblem
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats
from hetdp.theory.notion import Notion

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
        bound, value = in_different_digits((path.bounds[-1], path.complements[-1]), (self.value, self.complement))
        return (
            f"p({first}) = {path.values[0]} allows at most"
            f" p({last}) = {bound} ({counted(steps, 'step')} away), but p({last}) is pinned at {value}."
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
            return table_of("Verdict", [], rows)
        path = self.witness.path._repr_html_()
        return "\n".join([table_of("Verdict", [], rows), f"<p>{escape(printable(str(self.witness)))}</p>", path])

    def __str__(self) -> str:
        return "a private extension exists" if self.compatible else f"no private extension exists: {self.witness}"


def check(problem: Problem | PartitionedProblem, partial: Any, engine: str = "auto") -> Verdict:
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
        judged: Verdict = load_whole("hetdp.mechanism.partitioned.extension").check_parts(problem, partial, engine)
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
    if not contradicts(notion.name, path.coordinates[0], path.parameters, pin):
        return None
    p, complement = (float(notion.coordinate.probability(z)) for z in (pin, -pin))
    return Witness(path, p, complement)
