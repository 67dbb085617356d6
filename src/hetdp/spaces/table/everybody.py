"""Everybody's ε from a column, a number or a list by group; what cannot be one is told apart later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hetdp.spaces.names import require_known
from hetdp.spaces.privacy.grid import for_document
from hetdp.spaces.table import kinds
from hetdp.spaces.table.sources import Columns
from hetdp.spaces.table.wish import Wish

if TYPE_CHECKING:
    from hetdp.spaces.table.policy import Names


def cells(source: Columns, column: str, role: str) -> dict[str, str]:
    """How a column of ε is read, and whether a cell has more digits than a float."""
    declared = source.columns[column]
    kinds.require_kind(source.name, column, declared, (kinds.WHOLE, kinds.NUMBER, kinds.TEXT), "a column of ε")
    value, is_long = kinds.epsilon(column, declared)
    return {role: value} | ({} if is_long is None else {f"{role} long": is_long})


def epsilon_of(wish: Wish, rows: dict[str, Any], groups: Names | None) -> NDArray[np.float64]:
    """Everybody's ε; below zero, or no number, where there is none."""
    if wish.epsilon.constant is not None:
        return np.full(len(rows["person"]), lowered(str(wish.epsilon.constant)))
    if wish.epsilon.column is None and groups is not None:
        promised = {group: lowered(str(epsilon)) for group, epsilon in wish.epsilon.by_group}
        return np.array([promised.get(name, -1.0) for name in groups.names])[groups.codes]
    return column_of(rows, "epsilon")


def deciding_of(wish: Wish, rows: dict[str, Any], groups: Names | None) -> Any:
    """What steps that decide are promised: everybody's, or one as written; None for the same as always."""
    where = wish.deciding
    if where is None or where.constant is not None:
        return None if where is None or where.constant is None else for_document(where.constant)
    if where.column is not None:
        return column_of(rows, "deciding")
    assert groups is not None
    promised = dict(where.by_group)
    require_known(promised, groups.names, "group")  # a promise to nobody was meant for somebody
    return np.array([lowered(str(promised.get(name, np.inf))) for name in groups.names])[groups.codes]


def column_of(rows: dict[str, Any], role: str) -> NDArray[np.float64]:
    """A column of ε as floats that are never above what is written."""
    found = np.asarray(rows[role], dtype=np.float64)
    if f"{role} long" in rows and rows[f"{role} long"].any():
        found = np.where(
            rows[f"{role} long"] & np.isfinite(found), np.nextafter(found, 0.0), found
        )  # never above what is written
    return found


def lowered(written: str) -> float:
    """The ε of a text as a float that is not above it."""
    value = float(written)
    return float(np.nextafter(value, 0.0)) if len(written) > kinds.SURE_DIGITS and np.isfinite(value) else value
