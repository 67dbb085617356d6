"""Statements as text: SQLAlchemy puts each together once for SQLite, which then is asked without a detour."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from contextlib import closing
from functools import cached_property
from typing import Any

from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Connection

NAMED: Any = namedtuple  # by names that are known at run time only
STREAMED = {"yield_per": 1000}  # rows that a server sends at a time, so that it is heard of again and again
DIALECT = sqlite.dialect(paramstyle="qmark")


class Statement:
    """A statement that is run again and again. To send it through all of SQLAlchemy takes longer than to run it.

    Args:
        statement: of SQLAlchemy; its parameters have names, and a column of the result has one, too.
        columns: of an INSERT or UPDATE, the columns that are written.
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
        """Everything it finds; the columns are attributes."""
        if connection.dialect.name != "sqlite":
            return list(connection.execute(self._statement, values).all())
        return [self._row(row) for row in self._run(connection, values)]

    def each(self, connection: Connection, **values: Any) -> Iterator[Any]:
        """The same one by one, where there may be many."""
        if connection.dialect.name != "sqlite":
            with closing(connection.execute(self._statement, values, execution_options=STREAMED)) as found:
                yield from found
            return
        for row in self._run(connection, values):
            yield self._row(row)

    def write(self, connection: Connection, **values: Any) -> None:
        """Inserts or updates."""
        if connection.dialect.name != "sqlite":
            connection.execute(self._statement, values)
            return
        self._run(connection, values)

    def _run(self, connection: Connection, values: dict[str, Any]) -> Any:
        text, names, fixed = self._text
        given = fixed | values
        driver: Any = connection.connection.driver_connection
        return driver.execute(text, [given[name] for name in names])


def pragma(connection: Connection, what: str) -> list[Any]:
    """What SQLite says of itself."""
    driver: Any = connection.connection.driver_connection
    found: list[Any] = driver.execute(f"PRAGMA {what}").fetchall()
    return found
