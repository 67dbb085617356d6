"""Tables whose cells hetdp reads itself, as texts: Excel files, and CSV files that are not UTF-8.

DuckDB gets the columns that a query names, and no other.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hetdp.duck import hide_details
from hetdp.tables.dialect import Dialect, read_rows
from hetdp.tables.sources import QueriedSource

CELLS = "cells"  # the name of the table in queries
ROW = "number of the row"
Texts = dict[str, list[str | None]]


class TextTable(QueriedSource):
    """A table of texts. A cell without text is missing.

    Args:
        database: a locked connection.
        name: the name of the table in messages.
        place: the file.
        header: the names of its columns.
        curator: whether messages may quote the reader.
    """

    def __init__(self, database: Any, name: str, place: Path, header: Sequence[str], curator: bool) -> None:
        database.register(CELLS, {f"column_{at}": np.empty(0, dtype=object) for at in range(len(header))})
        ours = {column: f"column_{at}" for at, column in enumerate(header)}
        super().__init__(database, CELLS, name, place, ours, curator=curator)

    @abstractmethod
    def texts(self, columns: Sequence[str]) -> Texts:
        """The cells of some columns, from one pass over the file; of none, as many cells as rows, under any name."""

    def register(self, columns: Texts) -> None:
        """Gives DuckDB these columns."""
        found = {self.scanned.get(column, ROW): np.array(cells, dtype=object) for column, cells in columns.items()}
        self._database.register(CELLS, found)

    def _selection(self, uses: Sequence[str]) -> str:
        with hide_details(self.name, self._curator):
            self.register(self.texts(list(dict.fromkeys(uses))))
        return super()._selection(uses)


class DecodedCsv(TextTable):
    """A CSV file that is not UTF-8.

    Args:
        database: a locked connection.
        name: the name of the table in messages.
        place: the file.
        dialect: how it is written.
        curator: whether messages may quote the reader.
    """

    def __init__(self, database: Any, name: str, place: Path, dialect: Dialect, curator: bool) -> None:
        super().__init__(database, name, place, dialect.header, curator)
        self._file, self._dialect = place, dialect

    def texts(self, columns: Sequence[str]) -> Texts:
        """The cells of some columns; see `TextTable`."""
        places = [self._dialect.header.index(column) for column in columns] or [0]
        found: list[list[str | None]] = [[] for _ in places]
        for row in read_rows(self._file, self._dialect):
            for cells, at in zip(found, places, strict=True):
                cells.append(row[at] or None)
        return dict(zip(columns or [ROW], found, strict=True))
