"""Costs as decimals that people read, and as the charge that the ledger takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetdp.errors import printable
from hetdp.release.charges import CLASS, EPSILON, EPSILON_DELTA, Costs
from hetdp.release.ledger.charge import Charge
from hetdp.release.record.words import RULES
from hetdp.spaces.privacy.grid import decimal

PARAMETERS = ("epsilon", "delta", "mu")


def parameter_texts(costs: Costs, at: int) -> dict[str, str | None]:
    """What one account is allowed, None for parameters that the notion has not, and what of it is used: ε, or μ."""
    allowed = {name: decimal(costs.allowed[name][at]) if name in costs.allowed else None for name in PARAMETERS}
    return allowed | {"used": decimal(costs.used[costs.main][at])}


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
        costs: what each account is allowed, and what of it is used, which is charged.
        currency: how the data's privacy is counted. Where that is by ε and δ, a promise without δ has δ = 0; any other
            that differs is for the ledger to refuse.
    """
    first = costs.main
    is_widened = (costs.currency, currency) == (EPSILON, EPSILON_DELTA)
    counted_by = EPSILON_DELTA if is_widened else costs.currency
    zeros = {"delta": np.zeros(len(costs.names))} if is_widened else {}
    if costs.kind == CLASS:
        columns = {name: values.tolist() for name, values in (costs.used | zeros).items()}
        by_name = {name: dict(zip(costs.names, values, strict=True)) for name, values in columns.items()}
        return Charge.to_classes(counted_by, by_name[first], by_name.get("delta"))
    amounts = costs.used | zeros
    return Charge.to_people(counted_by, costs.names, amounts[first], amounts.get("delta"), costs.groups, costs.named)


def charge_told(composition: dict[str, Any], currency: str) -> Charge | None:
    """The charge that a record tells of, for data that is counted so; None for people, whom it does not list."""
    if composition["kind"] != CLASS:
        return None
    rows = composition["charged"]
    amounts, deltas = ({row["account"]: row[name] or "0" for row in rows} for name in ("used", "delta"))
    return Charge.to_classes(currency, amounts, deltas if currency == EPSILON_DELTA else None)
