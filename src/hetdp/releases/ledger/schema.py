"""The tables of a ledger, the same in SQLite and PostgreSQL, and statements on them.

Statements are compiled once for SQLite: sending one through SQLAlchemy takes longer than running it. Any other database
runs them through SQLAlchemy.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from contextlib import closing
from functools import cached_property
from typing import Any

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, SmallInteger, Table, Text
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Connection

VERSION = 3
APPLICATION = 0x48446C67  # SQLite keeps this number in the file's header, so that a ledger is known as one

metadata = MetaData()

head = Table(  # one row
    "hetdp_ledger",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),  # always 1
    Column("schema_version", Integer, nullable=False),
    Column("ledger", Text, nullable=False),  # random id of the ledger
    Column("secret", Text, nullable=False),  # key of the pseudonyms, in hexadecimal; never exported
    Column("entries", BigInteger, nullable=False),  # number of entries
    Column("hash", Text, nullable=False),  # hash of the last entry
    Column("place", Text, nullable=False),  # of the file when it was last written to: inode and path; empty on a server
)
entries = Table(  # the chain, in order
    "hetdp_entries",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("asked", Text),  # lookup key of a question or declaration
    Column("body", Text, nullable=False),  # the line of JSON that is hashed
    Index("hetdp_entries_asked", "asked", unique=True),
)
charges = Table(  # who paid how much, once for each different charge
    "hetdp_charges",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
classes = Table(  # what class accounts have spent
    "hetdp_classes",
    metadata,
    Column("source", BigInteger, primary_key=True, autoincrement=False),  # the number of its declaration
    Column("name", Text, primary_key=True),
    Column("cap", BigInteger, nullable=False),
    Column("spent", BigInteger, nullable=False),
    Column("cap_delta", BigInteger, nullable=False),
    Column("spent_delta", BigInteger, nullable=False),
)
people = Table(  # what people have spent, some thousands of them to a row
    "hetdp_people",
    metadata,
    Column("source", BigInteger, primary_key=True, autoincrement=False),
    Column("first", LargeBinary, primary_key=True),  # smallest pseudonym that this row may hold (16 bytes)
    Column("pseudonyms", LargeBinary, nullable=False),  # of 16 bytes each, in order
    Column(
        "balances", LargeBinary, nullable=False
    ),  # all caps, all spent; with δ all its caps, all spent: 8 bytes each
    Column("named", Text),  # what the ids of the source's people are, as its first charge to people says
)
sources = Table(  # where it stands what a source's unit and relation are, unless its declaration says both
    "hetdp_sources",
    metadata,
    Column("source", BigInteger, primary_key=True, autoincrement=False),
    Column("entry", BigInteger, nullable=False),  # the number of the entry that says it
)
NAMES = tuple(metadata.tables)
INDICES = ("hetdp_entries_asked",)


# Statements -----------------------------------------------------------------------------------------------------------


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
