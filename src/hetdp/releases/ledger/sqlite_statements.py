"""Statements of the ledger, compiled once for SQLite: sending one through SQLAlchemy takes longer than running it.

Any other database runs them through SQLAlchemy.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from contextlib import closing
from functools import cached_property
from typing import Any

from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Connection

NAMED: Any = namedtuple  # with names that are known at run time only
STREAMED = {"yield_per": 1000}  # rows that a server sends at a time, so that none of its answers takes long
DIALECT = sqlite.dialect(paramstyle="qmark")


class Statement:
    """A statement that is run many times.

    Args:
        statement: a statement of SQLAlchemy, whose parameters and result columns have names.
        columns: the columns that an INSERT or UPDATE writes.
    """

    def __init__(self, statement: Any, columns: tuple[str, ...] = ()) -> None:
        self._statement = statement
        self._columns = columns

    @cached_property
    def _text(self) -> tuple[str, tuple[str, ...], dict[str, Any]]:
        compiled = self._statement.compile(dialect=DIALECT, column_keys=list(self._columns) or None)
        fixed = {name: value for name, value in compiled.params.items() if value is not None}
        return str(compiled), tuple(compiled.positiontup or ()), fixed

    @cached_property
    def _row(self) -> Any:
        return NAMED("Row", [column.key for column in self._statement.selected_columns])._make

    def rows(self, connection: Connection, **values: Any) -> list[Any]:
        """All rows that it finds; the columns are attributes."""
        if connection.dialect.name != "sqlite":
            return list(connection.execute(self._statement, values).all())
        return [self._row(row) for row in self._run(connection, values)]

    def each(self, connection: Connection, **values: Any) -> Iterator[Any]:
        """The same rows one by one, for large results."""
        if connection.dialect.name != "sqlite":
            with closing(connection.execute(self._statement, values, execution_options=STREAMED)) as found:
                yield from found
            return
        for row in self._run(connection, values):
            yield self._row(row)

    def write(self, connection: Connection, **values: Any) -> None:
        """Runs an INSERT or UPDATE."""
        if connection.dialect.name != "sqlite":
            connection.execute(self._statement, values)
            return
        self._run(connection, values)

    def _run(self, connection: Connection, values: dict[str, Any]) -> Any:
        text, names, fixed = self._text
        given = fixed | values
        driver: Any = connection.connection.driver_connection
        return driver.execute(text, [given[name] for name in names])


def read_pragma(connection: Connection, what: str) -> list[Any]:
    """The rows of a PRAGMA."""
    driver: Any = connection.connection.driver_connection
    found: list[Any] = driver.execute(f"PRAGMA {what}").fetchall()
    return found
