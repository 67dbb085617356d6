"""Costs as decimals that people read, and as the charge that the ledger takes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetdp.errors import printable
from hetdp.release.charges import CLASS, EPSILON, EPSILON_DELTA, GAUSSIAN, Costs
from hetdp.release.ledger.charge import Charge
from hetdp.release.record.words import RULES

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


def composition_of(costs: Costs, source: str, version: str) -> dict[str, Any]:
    """What a record says of who paid.

    Args:
        costs: what each account is promised.
        source: the data.
        version: which state of it.
    """
    return {
        "source": source,
        "version": version,
        "currency": costs.currency,
        "rule": RULES[costs.currency],
        "kind": costs.kind,
        "accounts": len(costs.names),
        "charged": charged(costs),
    }


def charge_of(costs: Costs, currency: str | None = None) -> Charge:
    """What the ledger takes.

    Args:
        costs: what each account is promised.
        currency: how the data's privacy is counted. Where that is by ε and δ, a promise without δ has δ = 0; any other
            that differs is for the ledger to refuse.
    """
    first = "mu" if "mu" in costs.written else "epsilon"
    is_widened = (costs.currency, currency) == (EPSILON, EPSILON_DELTA)
    counted_by = EPSILON_DELTA if is_widened else costs.currency
    zeros = {"delta": np.zeros(len(costs.names))} if is_widened else {}
    if costs.kind == CLASS:
        columns = {name: values.tolist() for name, values in (costs.written | zeros).items()}
        by_name = {name: dict(zip(costs.names, values, strict=True)) for name, values in columns.items()}
        return Charge.to_classes(counted_by, by_name[first], by_name.get("delta"))
    amounts = costs.written | zeros
    return Charge.to_people(counted_by, costs.names, amounts[first], amounts.get("delta"), costs.groups, costs.named)


def charge_told(composition: dict[str, Any], currency: str) -> Charge | None:
    """The charge that a record tells of, for data that is counted so; None for people, whom it does not list."""
    if composition["kind"] != CLASS:
        return None
    rows = composition["charged"]
    first, zero = ("mu" if composition["currency"] == GAUSSIAN else "epsilon"), {"delta": "0"}
    amounts, deltas = ({row["account"]: (zero | _given(row))[name] for row in rows} for name in (first, "delta"))
    return Charge.to_classes(currency, amounts, deltas if currency == EPSILON_DELTA else None)


def _given(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}
