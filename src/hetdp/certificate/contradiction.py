"""Proof that two given values cannot both stand: the exact bound along a path from the one lies below the other.

A path on which the balls do not decide proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flint import ctx

from hetdp.certificate.enclosure import FINER, FIRST_PRECISION, precision
from hetdp.certificate.rules import rule_of


def contradicts(notion: Any, first: float, steps: Iterable[Mapping[str, float]], last: float) -> bool:
    """Whether z = `first` at the start of a path allows less than z = `last` at its end, in exact arithmetic.

    Args:
        notion: the notion of privacy, with its name and settings.
        first: z of the first dataset.
        steps: what each edge of the path promises, by the names of the parameters, seen from its start.
        last: z that is given at the last dataset.
    """
    edges, rule = [dict(step) for step in steps], rule_of(notion)
    with precision():
        for bits in (FIRST_PRECISION, *FINER):
            ctx.prec = bits
            decided = rule.is_below(first, edges, last)
            if decided is not None:
                return decided
    return False
