"""Costs as decimals that people read, and as the charge that the ledger takes."""

from __future__ import annotations

import math
from typing import Any

from hetdp.errors import printable
from hetdp.release.charges import CLASS, Costs
from hetdp.release.ledger.charge import Charge

PARAMETERS = ("epsilon", "delta", "mu")


def decimal(value: float) -> str:
    """A parameter as it was written.

    >>> decimal(0.1), decimal(2.0), decimal(float("inf")), decimal(1e-09)
    ('0.1', '2', 'inf', '1e-09')
    """
    return "inf" if math.isinf(value) else repr(float(value)).removesuffix(".0")


def parameter_texts(costs: Costs, at: int) -> dict[str, str | None]:
    """The parameters of one account; None for those that the notion has not."""
    return {name: decimal(costs.written[name][at]) if name in costs.written else None for name in PARAMETERS}


def charged(costs: Costs) -> list[dict[str, Any]]:
    """What each account is charged; people are not listed."""
    if costs.kind != CLASS:
        return []
    return [{"account": printable(name)} | parameter_texts(costs, at) for at, name in enumerate(costs.names)]


def charge_of(costs: Costs) -> Charge:
    """What the ledger takes."""
    first, delta = ("mu" if "mu" in costs.amounts else "epsilon"), "delta" in costs.amounts
    if costs.kind == CLASS:
        by_name = {name: dict(zip(costs.names, values.tolist(), strict=True)) for name, values in costs.written.items()}
        return Charge.to_classes(costs.currency, by_name[first], by_name["delta"] if delta else None)
    return Charge.to_people(costs.currency, costs.names, costs.amounts[first], classes=costs.groups)
