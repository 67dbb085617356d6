"""Making a ledger: whole, or not at all; and declaring the data it is about."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy import column, insert, select, table
from sqlalchemy.engine import Connection

from hetdp.errors import UsageError
from hetdp.releases.ledger import tables
from hetdp.releases.ledger.amounts import DELTA_SCALE, currency_of, units_of_cap
from hetdp.releases.ledger.chain import CREATE, SECRET, Head, append_entry
from hetdp.releases.ledger.charge import is_name
from hetdp.releases.ledger.database import MAKING, Database
from hetdp.releases.ledger.file import NOTHING_SPENT, draft_of, sync_folder
from hetdp.releases.ledger.neighbours import NEIGHBOURS, NOTHING, Neighbours
from hetdp.releases.ledger.sqlite import Statement, read_pragma
from hetdp.text import format_value

Declared = dict[str, Any]
LEDGER = Statement(select(tables.head.c.ledger))
THINGS = Statement(select(column("type"), column("name")).select_from(table("sqlite_master")))


def check_declaration(
    currency: str, limit: Any, caps: Mapping[str, Any] | None, neighbours: Neighbours = NOTHING
) -> Declared:
    """What an entry says that declares a source; caps are rounded down."""
    known = currency_of(currency)
    if limit is None:
        rule = "what each account may spend of a source is said when it is declared"
        raise UsageError("there is no cap", rule, "such as cap=1 in Python, --cap 1 in a shell")

    def pair(value: Any) -> list[int]:
        if not known.has_delta:
            return [units_of_cap(value, known.scale, known.squared), 0]
        if str(value) == "inf":
            return [units_of_cap(value, 1)] * 2
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise UsageError(f"{format_value(value)} is no cap of {known.name}", "it is a pair: ε and δ")
        return [units_of_cap(value[0], known.scale), units_of_cap(value[1], DELTA_SCALE)]

    for name in caps or {}:
        if not is_name(name):
            raise UsageError(f"{format_value(name)} is no name of a class", "class accounts have names of text")
    return {
        "currency": currency,
        "cap": pair(limit),
        "caps": {name: pair(value) for name, value in (caps or {}).items()},
    } | ({NEIGHBOURS: neighbours.document()} if any(neighbours) else {})


def create(database: Database) -> None:
    """Makes an empty ledger where there is none."""
    if database.path is None:

        def make(connection: Connection) -> str:
            if sqlalchemy.inspect(connection).has_table(tables.head.name):
                raise _already(database)
            return _fill(database, connection)

        database.write(make, _is_made, MAKING)
        return
    if database.path.exists() or database.path.is_symlink():
        raise _already(database)
    folder = database.path.parent
    draft = draft_of(database.path, secrets.token_hex(8))
    drafting = database.at(draft)

    def fill(connection: Connection) -> str:
        connection.exec_driver_sql(f"PRAGMA application_id = {tables.APPLICATION}")
        connection.exec_driver_sql(f"PRAGMA user_version = {tables.VERSION}")
        return _fill(drafting, connection)

    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        drafting.write(fill, _is_made, MAKING)
        os.link(draft, database.path)
        with suppress(OSError):
            sync_folder(folder)
    except FileExistsError:
        raise _already(database) from None
    except OSError as refusal:
        what = f"a ledger cannot be made here: {refusal.strerror or 'the system refused'}"
        raise database.unusable(what, "its folder must be there and let files be made") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _already(database: Database) -> UsageError:
    return UsageError(f"{database.shown}: there is something already", "a ledger is made once and never replaced")


def _fill(database: Database, connection: Connection) -> str:
    tables.metadata.create_all(connection, checkfirst=False)
    secret = secrets.token_bytes(32)
    head = Head(secrets.token_hex(16), secret, 0, "", database.place)
    row = {"one": 1, "schema_version": tables.VERSION, "ledger": head.ledger, "secret": secret.hex()}
    connection.execute(insert(tables.head).values(**row, entries=0, hash="", place=head.place))
    append_entry(connection, head, CREATE, facts={SECRET: sha256(secret).hexdigest()})
    return head.ledger


def _is_made(connection: Connection, ledger: str) -> bool:
    return sqlalchemy.inspect(connection).has_table(tables.head.name) and LEDGER.rows(connection)[0].ledger == ledger


def require_shape(database: Database, connection: Connection, path: Path | None = None) -> None:
    """Refuses a database whose tables are not exactly those of a ledger.

    Args:
        database: where the ledger is.
        connection: a transaction there, or in a copy.
        path: the file, if it is not that of the database.
    """
    if database.path is None:
        return  # whoever may change tables there may change anything
    ((application,),), ((version,),) = (
        read_pragma(connection, "application_id"),
        read_pragma(connection, "user_version"),
    )
    if application != tables.APPLICATION:
        raise database.unusable("it is not a ledger", "hetdp ledger init makes one, hetdp.Ledger.create in Python")
    if version != tables.VERSION:
        raise database.unusable("it is a ledger of another version")
    if read_pragma(connection, "journal_mode") != [("delete",)]:
        rule = f"{NOTHING_SPENT}. Hint: `sqlite3 FILE 'PRAGMA journal_mode = DELETE'` sets it back"
        raise database.unusable("it was changed to keep another kind of journal", rule)
    ((pages,),), ((size,),) = read_pragma(connection, "page_count"), read_pragma(connection, "page_size")
    try:
        length = (path or database.path).stat().st_size
    except OSError:
        raise database.unusable("the disk cannot be read or written") from None
    if length != pages * size:
        raise database.unusable("it is truncated, or something was added to it")
    things = THINGS.rows(connection)
    found = {tuple(row) for row in things if not str(row[1]).startswith("sqlite_autoindex_hetdp_")}
    wanted = {("table", name) for name in tables.NAMES} | {("index", name) for name in tables.INDICES}
    if found != wanted:
        raise database.unusable("it has other tables than a ledger")
    for each in tables.metadata.tables.values():
        columns = [(row[1], bool(row[5])) for row in read_pragma(connection, f"table_info({each.name})")]
        if columns != [(one.name, bool(one.primary_key)) for one in each.columns]:
            raise database.unusable("it has other columns than a ledger")
