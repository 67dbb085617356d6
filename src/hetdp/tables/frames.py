"""pandas data frames. A column may hold any Python value; each becomes a text, or is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.duck import hide_details
from hetdp.frames import is_held_by_arrow
from hetdp.tables.arrow import UNREADABLE_PREFIX, arrow_errors, convert_column, is_readable, load_pyarrow, scale_clipped
from hetdp.tables.sources import QueriedSource

PEOPLE = "people"  # its name in queries
MISSING = ("NAType", "NaTType")  # types of missing values in pandas
NULLABLE = re.compile("(U?Int(8|16|32|64)|Float(32|64)|Boolean|DatetimeTZ)Dtype")  # types of pandas
MICROSECONDS = {"s": 1_000_000, "ms": 1_000}


class PandasFrame(QueriedSource):
    """A pandas data frame. DuckDB gets the named columns only, and no cell that it cannot read.

    Args:
        database: a locked connection.
        table: the data frame.
        curator: whether messages may quote the reader.
    """

    def __init__(self, database: Any, table: Any, curator: bool) -> None:
        self._table, self._curator, self._database = table, curator, database
        declared = {column: table[column].dtype for column in table.columns}
        hidden = {column: f"{UNREADABLE_PREFIX}{kind}" for column, kind in declared.items() if not _can_be_read(kind)}
        self._register(table.iloc[:0][[column for column in declared if column not in hidden]])
        super().__init__(database, PEOPLE, "the table", curator=curator)
        self.columns = {column: hidden.get(column) or self.columns[column] for column in declared}

    def _selection(self, uses: Sequence[str]) -> str:
        named = list(dict.fromkeys(uses)) or list(self.scanned)[:1]
        self._register(self._table[named])
        return super()._selection(uses)

    def _register(self, part: Any) -> None:
        part = part.copy(deep=False)
        with hide_details("the table", self._curator), arrow_errors("the table", self._curator):
            for column in part.columns:
                part[column] = _convert_cells(part[column])
            self._database.register(PEOPLE, part)


def _convert_cells(cells: Any) -> Any:
    """A column converted for DuckDB; the conversion depends on its type alone."""
    declared = cells.dtype
    held = getattr(getattr(declared, "categories", None), "dtype", declared)
    if is_held_by_arrow(held):
        return _of_arrow(cells, held)
    if isinstance(held, np.dtype) and held.kind in "biufmM":
        return _in_microseconds(cells) if held is declared and held.kind == "M" else cells
    return cells if NULLABLE.fullmatch(type(held).__name__) else _texts(cells)


def _can_be_read(declared: Any) -> bool:
    """True if DuckDB can read columns of this type: all but some types of Arrow."""
    return type(declared).__name__ != "ArrowDtype" or is_readable(declared.pyarrow_dtype)


def _of_arrow(cells: Any, held: Any) -> Any:
    """A column that Arrow holds, or whose categories Arrow holds, validated in full."""
    if held is not cells.dtype:
        if _convert_arrow_cells(cells.cat.categories.array) is None:
            return cells
        cells = cells.astype(held)
    found = _convert_arrow_cells(cells.array)
    if found is None:
        return cells
    return type(cells.array)(found) if type(held).__name__ == "ArrowDtype" else _texts(found.to_pylist())


def _convert_arrow_cells(cells: Any) -> Any:
    """Cells that Arrow holds, converted for DuckDB; None if no conversion is needed."""
    found = cells.__arrow_array__()
    chunks = found.chunks if hasattr(found, "chunks") else [found]
    changed = [convert_column(chunk) for chunk in chunks]
    if all(one is other for one, other in zip(chunks, changed, strict=True)):
        return None
    return load_pyarrow().chunked_array(changed)


def _in_microseconds(cells: Any) -> Any:
    """Times of seconds and milliseconds in microseconds, clipped to their range."""
    times = cells.to_numpy()
    factor = MICROSECONDS.get(np.datetime_data(times.dtype)[0])
    if factor is None:
        return cells
    return np.where(np.isnat(times), np.iinfo(np.int64).min, scale_clipped(times.view(np.int64), factor)).view("M8[us]")


def _texts(cells: Any) -> NDArray[Any]:
    found = np.empty(len(cells), dtype=object)
    found[:] = [text(cell) for cell in cells]
    return found


def text(cell: Any) -> str | None:
    r"""Any value as a text in UTF-8; None for a missing value, and for one that has no text.

    >>> text(1.5), text("a\udc80"), text(float("nan")), text(type("Odd", (), {"__str__": None})())
    ('1.5', 'a?', None, None)
    """
    try:
        if cell is None or (isinstance(cell, float) and cell != cell) or type(cell).__name__ in MISSING:
            return None
        return str(cell).encode("utf-8", "replace").decode()
    except Exception:  # any exception of the value counts as missing
        return None
