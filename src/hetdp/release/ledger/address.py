"""The address of a ledger: a path, or the URL of a database; what may hold a password is never shown."""

from __future__ import annotations

import os
import re
from typing import Any

import sqlalchemy
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from hetdp.errors import UsageError

POSTGRES = ("postgres", "postgresql", "postgresql+psycopg")
LIKE_A_URL = re.compile(r"[a-z][\w+.-]+:/|postgres(ql)?(\+\w+)?[:/]", re.IGNORECASE)


def text_of(address: Any) -> str:
    """An address as text that a path or a URL may be."""
    text = os.fspath(address) if isinstance(address, (str, os.PathLike)) else None
    if not isinstance(text, str) or "\0" in text:
        raise no_address()
    try:
        text.encode()
    except UnicodeEncodeError:
        raise no_address() from None
    return text


def url_of(text: str) -> URL | None:
    """The URL, or None where it is a path; what looks like a URL and is none may hold a password."""
    if "://" not in text:
        if LIKE_A_URL.match(text):
            raise no_address()
        return None
    try:
        url = sqlalchemy.make_url(text)
    except (ArgumentError, ValueError):
        raise no_address() from None
    is_file = url.drivername == "sqlite" and url.database and not url.host and "?" not in text
    if url.drivername not in POSTGRES and not is_file:
        raise no_address()
    return url


def no_address() -> UsageError:
    """That it is none; not what it was."""
    rule = "a ledger is a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE"
    return UsageError("this address of a ledger is not understood", rule)
