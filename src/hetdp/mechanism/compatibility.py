"""check: can a partial mechanism be extended? If not, a witness says why, and a repair offers values that can be."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from hetdp.certificate.contradiction import contradicts
from hetdp.engines.registry import EngineName
from hetdp.errors import NoExtensionError
from hetdp.mechanism.explanation import BindingPath
from hetdp.mechanism.formatting import format_apart
from hetdp.mechanism.local import steps_of
from hetdp.mechanism.repair import Repair
from hetdp.mechanism.steps import NEAR_MISS, Closure, FreeBoundary, RemoteProblem, Steps
from hetdp.problem.notebook import html_table
from hetdp.problem.problem import Problem
from hetdp.text import escape_unprintable, pluralize
from hetdp.theory.notion import Notion


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


def check(problem: Problem | RemoteProblem, partial: Any, engine: EngineName = "auto") -> Verdict:
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
    steps = steps_of(problem, engine)
    return judge(steps, steps.read_pins(partial))


def free_boundary(problem: Problem | RemoteProblem, partial: Any, engine: EngineName = "auto") -> FreeBoundary:
    """The datasets of the boundary to which a partial mechanism gives no value."""
    steps = steps_of(problem, engine)
    return steps.free_boundary(steps.read_pins(partial))


def judge(steps: Steps[Any, Any], pins: Any) -> Verdict:
    """The verdict on pins; `extend` and `design` ask for the very same one.

    Labels are rounded, so a pin that fell is only a suspicion. What counts is a path along which the bound, in exact
    arithmetic, contradicts a pin; without one, the pins missed by roundings, and are moved.
    """
    with steps.grow(pins) as closure:
        moved = closure.largest_drop(pins)
        if moved > NEAR_MISS:
            for dataset in closure.fallen(pins):
                witness = _witness_at(closure, pins, dataset, steps.notion)
                if witness is not None:
                    return Verdict(False, moved, witness, steps.repair(pins))
    return Verdict(True, moved)


def require_compatible(steps: Steps[Any, Any], pins: Any) -> None:
    """Refuses pins that no private mechanism has.

    Raises:
        NoExtensionError: with the witness, and a repair where there is one.
    """
    verdict = judge(steps, pins)
    if not verdict.compatible:
        raise NoExtensionError(verdict.witness, verdict.repair)


def _witness_at(closure: Closure[Any], pins: Any, fallen: int, notion: Notion) -> Witness | None:
    """The chain to a pin that fell, cut at the first pin on it that the chain's start contradicts; None if none is."""
    chain = closure.chain_to(fallen, pins)
    for end in [at for at, bound in enumerate(chain) if bound.pin - bound.z > NEAR_MISS]:
        found = _witness_of(closure.path_along(chain[: end + 1]), chain[end].pin, notion)
        if found is not None:
            return found
    return None


def _witness_of(path: BindingPath, pin: float, notion: Notion) -> Witness | None:
    """The witness that a path makes against the pin at its end, if the two contradict each other exactly."""
    if not contradicts(notion, path.coordinates[0], path.parameters, pin):
        return None
    p, complement = (float(notion.coordinate.probability(z)) for z in (pin, -pin))
    return Witness(path, p, complement)
