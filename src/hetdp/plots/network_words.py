"""What the network says in words: the bounds along a path, a contradiction, and what edges have beside their ε."""

from __future__ import annotations

import numpy as np

from hetdp.mechanism.compatibility import Witness
from hetdp.mechanism.digits import in_different_digits, inside
from hetdp.mechanism.explanation import BindingPath
from hetdp.plots.canvas import readable
from hetdp.plots.shades import hundredths
from hetdp.problem.parameters import in_words
from hetdp.problem.space import Floats


def bounds_of(chain: list[int], path: BindingPath) -> dict[int, str]:
    """What a path allows at each of its datasets."""
    signs = ["= ", *["≤ " if path.upper else "≥ "] * (len(chain) - 1)]
    bounds = inside(path.bounds, path.coordinates).tolist()
    return {at: sign + hundredths(bound) for at, sign, bound in zip(chain, signs, bounds, strict=True)}


def contradiction_of(witness: Witness) -> str:
    """What is allowed and what was asked for, in as many digits as tell them apart."""
    path = witness.path
    allowed, asked = hundredths(path.bounds[-1]), hundredths(witness.value)
    if allowed == asked:
        ends = (path.bounds[-1], path.complements[-1]), (witness.value, witness.complement)
        allowed, asked = in_different_digits(*ends)
    return f"≤ {allowed}\nasked {asked}"


def beside_epsilon(known: dict[str, Floats]) -> list[str]:
    """What edges have beside the ε that is drawn.

    >>> beside_epsilon({"epsilon": np.array([1.0]), "epsilon_back": np.array([2.0])})
    ['ε: of two directions the smaller']
    """
    words = []
    if "epsilon_back" in known and (known["epsilon"] != known["epsilon_back"]).any():
        words.append("ε: of two directions the smaller")
    if "delta" in known and len(known["delta"]):
        deltas = np.concatenate([known["delta"], known["delta_back"]])
        least, most = float(deltas.min()), float(deltas.max())
        words.append(f"δ = {most:g}" if least == most else f"δ = {least:g} … {most:g}")
    return words


def why_alone(path: BindingPath | None) -> str:
    """Why a path has no steps; nothing if it has some."""
    if path is None or len(path.datasets) > 1:
        return ""
    name = readable(path.names[0])
    return f"the value of {name} is {origin_of(path)}" if path.origin else f"nothing binds {name}"


def origin_of(path: BindingPath | None) -> str:
    """Where the first value of a path comes from: given, or chosen, and from where it is bound."""
    if path is None or not path.origin or path.across is None:
        return "" if path is None else path.beginning
    edge = in_words(tuple(path.across.parameters), path.across.parameters.values())
    how = "bound across" if path.across.tight else "next to"
    return f"chosen by {path.origin}, {how} {edge} from {readable(path.across.name)}"
