"""What a notion of privacy must say so that every engine can work with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hetdp.theory.coordinate import Coordinate


@dataclass(frozen=True)
class Notion:
    """One rule p(v) ≤ f(p(u)) for the two ends of an edge, in the coordinate z where it is computed.

    `step` and `quick` are scalar functions of plain arithmetic, so that an engine can run them as they are or compile
    them; both take the label at one end and then the edge's parameters, in the order of `parameters`.

    Attributes:
        name: what the user calls it.
        parameters: the columns an edge carries.
        coordinate: z ↔ p.
        step: the largest label the edge allows at its other end, rounded toward privacy. It is never above the exact
            bound, never below its argument, and monotone.
        quick: a cheap guess; where it exceeds a label, `step` cannot improve that label.
        meet: for an edge between the answers, the label of both ends when neither is worse than the other, rounded
            toward privacy. Here and in `across`, labels are signed so that larger is better. Where `quick` from −label
            exceeds that label, `meet` is not below it.
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
