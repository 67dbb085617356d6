"""What a notion of privacy must say so that every engine can work with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hetdp.theory.coordinate import Coordinate

BACK = "_back"


@dataclass(frozen=True)
class Notion:
    """One rule p(v) ≤ f(p(u)) for the two ends of an edge, in the coordinate z where it is computed.

    `step`, `quick`, `meet` and `across` are scalar functions of plain arithmetic, so that an engine can run or compile
    them; all take the parameters of the edge from u to v last, in the order of `parameters`.

    Attributes:
        name: what the user calls it.
        parameters: the columns an edge carries; one that ends in "_back" is what the edge has in the other direction.
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

    The lower bound is the mirror of the upper one in every notion: search on −z.
    """

    name: str
    parameters: tuple[str, ...]
    coordinate: Coordinate
    step: Callable[..., float]
    quick: Callable[..., float]
    meet: Callable[..., float]
    across: Callable[..., float]

    @property
    def is_directed(self) -> bool:
        """Whether an edge may have other parameters in the other direction."""
        return len(self.parameters) > 1


def turned(parameters: tuple[str, ...]) -> tuple[int, ...]:
    """The places of an edge's parameters as they are seen from its other end.

    >>> turned(("epsilon",)), turned(("epsilon", "epsilon_back"))
    ((0,), (1, 0))
    """
    other = [name.removesuffix(BACK) if name.endswith(BACK) else name + BACK for name in parameters]
    return tuple(
        parameters.index(name if name in parameters else own) for name, own in zip(other, parameters, strict=True)
    )
