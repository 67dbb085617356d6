"""The address of a ledger: a path, or the URL of a database. What may hold a password is never shown.

`open_database` chooses the implementation of `Database` for an address; a new one is added here.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from hetdp.errors import UsageError
from hetdp.releases.ledger.database import Database
from hetdp.releases.ledger.sqlite import SqliteDatabase

POSTGRES = ("postgres", "postgresql", "postgresql+psycopg")
LIKE_A_URL = re.compile(r"[a-z][\w+.-]+:/|postgres(ql)?(\+\w+)?[:/]", re.IGNORECASE)


def open_database(address: Any, timeout: float) -> Database:
    """The database at an address; nothing is connected yet.

    Args:
        address: the path of an SQLite file, or the URL of a PostgreSQL database.
        timeout: how many seconds to wait for others who write.

    Raises:
        UsageError: the address is not understood, or the driver is not installed.
    """
    text = _text_of(address)
    url = _url_of(text)
    if url is None or url.drivername.startswith("sqlite"):
        return SqliteDatabase(Path(text if url is None else url.database or ""), timeout)
    return _open_postgres(url, timeout)


def _open_postgres(url: URL, timeout: float) -> Database:
    try:
        from hetdp.releases.ledger.postgres import PostgresDatabase

        return PostgresDatabase(url, timeout)
    except ModuleNotFoundError:
        raise UsageError(
            "PostgreSQL needs psycopg, which is not installed",
            "pip install '.[postgres]' in the folder of hetdp's sources brings it",
        ) from None
    except (SQLAlchemyError, ValueError):
        raise _invalid_address() from None


def _text_of(address: Any) -> str:
    """The address as a text that can be a path or a URL."""
    text = os.fspath(address) if isinstance(address, (str, os.PathLike)) else None
    if not isinstance(text, str) or "\0" in text:
        raise _invalid_address()
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _invalid_address() from None
    return text


def _url_of(text: str) -> URL | None:
    """The URL; None for a path. A text that resembles a URL is refused without being shown."""
    if "://" not in text:
        if LIKE_A_URL.match(text):
            raise _invalid_address()
        return None
    try:
        url = sqlalchemy.make_url(text)
    except (ArgumentError, ValueError):
        raise _invalid_address() from None
    is_file = url.drivername == "sqlite" and url.database and not url.host and "?" not in text
    if url.drivername not in POSTGRES and not is_file:
        raise _invalid_address()
    return url


def _invalid_address() -> UsageError:
    """The error, without the address: it may hold a password."""
    rule = "a ledger is a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE"
    return UsageError("this address of a ledger is not understood", rule)
