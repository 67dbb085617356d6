"""A pandas data frame. Its columns may hold any Python value, so each is made a text, or missing, that can be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.spaces.table.database import refusals
from hetdp.spaces.table.sources import Queried

PEOPLE = "people"  # how queries call it
MISSING = ("NAType", "NaTType")  # by which pandas says that nothing is there


def is_pandas(table: Any) -> bool:
    """Whether this is a pandas data frame, without loading pandas."""
    return hasattr(table, "iloc")


class Frame(Queried):
    """A pandas data frame: of each pass, DuckDB sees the columns that are named, and no cell that it cannot read.

    Args:
        database: a locked connection.
        table: the data frame.
        curator: whether messages may say what the reader says.
    """

    def __init__(self, database: Any, table: Any, curator: bool) -> None:
        self._table, self._curator, self._database = table, curator, database
        self._register(table.iloc[:0])
        super().__init__(database, PEOPLE, "the table", curator=curator)

    def _selection(self, uses: Sequence[str]) -> str:
        named = list(dict.fromkeys(uses)) or list(self._table.columns[:1])
        self._register(self._table[named])
        return super()._selection(uses)

    def _register(self, part: Any) -> None:
        part = part.copy(deep=False)
        with refusals("the table", self._curator):
            for column in part.columns:
                if _holds_anything(part[column].dtype):
                    part[column] = _texts(part[column])
            self._database.register(PEOPLE, part)


def _holds_anything(declared: Any) -> bool:
    """Whether cells, or categories, of this type are Python values, rather than numbers or the texts of Arrow."""
    held = getattr(getattr(declared, "categories", None), "dtype", declared)
    return held.kind == "O" and getattr(held, "storage", "") != "pyarrow" and type(held).__name__ != "ArrowDtype"


def _texts(cells: Any) -> NDArray[Any]:
    found = np.empty(len(cells), dtype=object)
    found[:] = [text(cell) for cell in cells]
    return found


def text(cell: Any) -> str | None:
    r"""Any value as a text that can be written as UTF-8; None for a missing one, and for one that is no text.

    >>> text(1.5), text("a\udc80"), text(float("nan")), text(type("Odd", (), {"__str__": None})())
    ('1.5', 'a?', None, None)
    """
    try:
        if cell is None or (isinstance(cell, float) and cell != cell) or type(cell).__name__ in MISSING:
            return None
        return str(cell).encode("utf-8", "replace").decode()
    except Exception:  # whatever the value does, the row has a meaning
        return None
