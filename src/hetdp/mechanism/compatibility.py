"""`check`: decides whether a partial mechanism can be extended; if not, a witness proves it and a repair is offered."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from hetdp.certificate.certificate import contradicts
from hetdp.engines.registry import EngineName
from hetdp.errors import NoExtensionError
from hetdp.mechanism.explanation import BindingPath
from hetdp.mechanism.formatting import format_apart
from hetdp.mechanism.local import steps_of
from hetdp.mechanism.repair import Repair
from hetdp.mechanism.steps import NEAR_MISS, Closure, FreeBoundary, RemoteProblem, Steps
from hetdp.problem.problem import Problem
from hetdp.text import NOTE, escape_unprintable, html_table, pluralize
from hetdp.theory.notion import Notion


@dataclass(frozen=True, repr=False)
class Witness:
    """Two pinned datasets that cannot both keep their values, which is proved in exact arithmetic.

    Attributes:
        path: the path from one to the other, with the bound that the first imposes at each step.
        value: p pinned at the last dataset, which violates the last bound.
        complement: 1 − value, which stays precise if p is close to 1.
    """

    path: BindingPath
    value: float
    complement: float

    def __repr__(self) -> str:
        first, last = self.path.names[0], self.path.names[-1]
        return f"Witness({first} to {last}, {pluralize(len(self.path.parameters), 'step')})"

    def _repr_html_(self) -> str:
        """For notebooks: the contradiction, and the path that proves it."""
        return f'<p style="{NOTE}">{escape(escape_unprintable(str(self)))}</p>\n{self.path._repr_html_()}'

    def __str__(self) -> str:
        path, steps = self.path, len(self.path.parameters)
        first, last = path.names[0], path.names[-1]
        bound, value = format_apart((path.bounds[-1], path.complements[-1]), (self.value, self.complement))
        return (
            f"p({first}) = {path.values[0]} allows at most"
            f" p({last}) = {bound} ({pluralize(steps, 'step')} away), but p({last}) is pinned at {value}."
        )


@dataclass(frozen=True, repr=False)
class Verdict:
    """The answer to whether a private extension exists.

    Attributes:
        compatible: True if an extension exists. Pins that miss by less than 1e-9 in z, or only by rounding, count as
            compatible, and `extend` moves them as little.
        moved: the largest distance in z by which pins are above what the others allow.
        witness: the proof that none exists; None if compatible.
        repair: values that can be extended; None if compatible.
    """

    compatible: bool
    moved: float
    witness: Witness | None = None
    repair: Repair | None = None

    def __bool__(self) -> bool:
        return self.compatible

    def __repr__(self) -> str:
        return "Verdict(compatible)" if self.compatible else f"Verdict(not compatible, {self.witness!r})"

    def _repr_html_(self) -> str:
        """For notebooks: the verdict and, if the pins are incompatible, the witness."""
        rows = [("a private extension exists", self.compatible), ("pins move in z by at most", self.moved)]
        if self.witness is None:
            return html_table("Verdict", [], rows)
        repair = [] if self.repair is None else [self.repair._repr_html_()]
        return "\n".join([html_table("Verdict", [], rows), self.witness._repr_html_(), *repair])

    def __str__(self) -> str:
        return "a private extension exists" if self.compatible else f"no private extension exists: {self.witness}"


def check(problem: Problem | RemoteProblem, partial: Any, engine: EngineName = "auto") -> Verdict:
    """Decides whether a private mechanism with these values exists. The boundary need not be pinned.

    Args:
        problem: datasets, ε and query. A PartitionedProblem has a witness, but no repair.
        partial: a mapping label → p, an array with NaN for free datasets, or a PartialMechanism.
        engine: the engine that searches.

    Raises:
        InputError: the partial mechanism has faults; all of them are listed.

    Paper: Theorem 1, first half, and the compatibility test of Algorithm 2.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
    >>> verdict = hetdp.check(hetdp.Problem(graph, {"a": 1, "b": 2}), {"a": 0.9, "b": 0.1})
    >>> verdict.compatible, verdict.witness.path.datasets
    (False, ['b', 'a'])
    """
    steps = steps_of(problem, engine)
    return judge(steps, steps.read_pins(partial))


def free_boundary(problem: Problem | RemoteProblem, partial: Any, engine: EngineName = "auto") -> FreeBoundary:
    """The boundary datasets to which a partial mechanism gives no value."""
    steps = steps_of(problem, engine)
    return steps.free_boundary(steps.read_pins(partial))


def judge(steps: Steps[Any, Any], pins: Any) -> Verdict:
    """The verdict on pins, also used by `extend` and `design`.

    Labels are rounded, so a pin that fell is only suspicious. Pins are incompatible if the bound along a path
    contradicts a pin in exact arithmetic. If there is no such path, they missed only by rounding, and are moved.
    """
    with steps.grow(pins) as closure:
        moved = closure.largest_drop(pins)
        if moved > NEAR_MISS:
            for dataset in closure.fallen_datasets(pins):
                witness = _witness_at(closure, pins, dataset, steps.notion)
                if witness is not None:
                    return Verdict(False, moved, witness, steps.repair(pins))
    return Verdict(True, moved)


def require_compatible(steps: Steps[Any, Any], pins: Any) -> None:
    """Refuses incompatible pins.

    Raises:
        NoExtensionError: no private mechanism has these pins; with the witness, and a repair if there is one.
    """
    verdict = judge(steps, pins)
    if not verdict.compatible:
        raise NoExtensionError(verdict.witness, verdict.repair)


def _witness_at(closure: Closure[Any], pins: Any, fallen: int, notion: Notion) -> Witness | None:
    """The chain to a pin that fell, cut at the first pin that the chain's start contradicts; None if there is none."""
    chain = closure.chain_to(fallen, pins)
    for end in [at for at, bound in enumerate(chain) if bound.pin - bound.z > NEAR_MISS]:
        found = _witness_of(closure.path_along(chain[: end + 1]), chain[end].pin, notion)
        if found is not None:
            return found
    return None


def _witness_of(path: BindingPath, pin: float, notion: Notion) -> Witness | None:
    """The witness for a path and the pin at its end; None unless they contradict each other in exact arithmetic."""
    if not contradicts(notion, path.coordinates[0], path.parameters, pin):
        return None
    p, complement = (float(notion.coordinate.probability(z)) for z in (pin, -pin))
    return Witness(path, p, complement)
