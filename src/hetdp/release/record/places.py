"""Where a record and its page may be written: nothing else is ever replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hetdp.errors import HetdpError, UsageError
from hetdp.files.formats.writing import require_writable
from hetdp.release.record.document import Document, read_record
from hetdp.release.record.page import mark_of

BESIDE = ("", "-journal", "-wal", "-shm")  # what SQLite keeps beside a file
HEAD = 1 << 12  # bytes of a page, in which its mark stands
HINT = "choose another name"


def require_places(record: Any, html: Any, ledger: Path | None, told: Document) -> list[Document]:
    """Refuses places that cannot be written, and to replace anything but the record and the page of this very release.

    Args:
        record: the file of the record, if any.
        html: the page, if any.
        ledger: the file of the ledger, if it is one.
        told: what the record will say, with the ledger's name.

    Returns:
        the receipt of the record, if it is there already

    Raises:
        UsageError: a file cannot be written, or something else is there.
    """
    given = [Path(path) for path in (record, html) if path is not None]
    for path in given:
        require_writable(path)
    if not given:
        return []
    places = [path.resolve() for path in given]
    taken = () if ledger is None else [Path(f"{ledger.resolve()}{ending}") for ending in BESIDE]
    for path, place in zip(given, places, strict=True):
        if place in taken:
            raise UsageError(f"{str(path)!r} is the ledger itself", "a ledger is never overwritten", HINT)
    if len(set(places)) < len(places):
        raise UsageError("the record and its page in one file", "each has a file of its own", HINT)
    if html is not None and Path(html).exists() and not _is_page(Path(html), told):
        rule = "a page replaces nothing but an earlier copy of itself"
        raise UsageError(f"{str(html)!r} is there, and is no page of this release", rule, HINT)
    return [] if record is None or not Path(record).exists() else [_earlier(record, told)]


def _earlier(path: Any, told: Document) -> Document:
    """The receipt of the record that is there, if it is of this release."""
    try:
        found = read_record(path)
    except HetdpError:
        found = None
    if found is None:
        raise UsageError(f"{str(path)!r} is there, and is no record", "a record replaces nothing else", HINT)
    if mark_of(found | {"ledger": told["ledger"]}) != mark_of(told):
        raise UsageError(f"{str(path)!r} is the record of another release", "a record is never replaced", HINT)
    receipt: Document = found["ledger"]
    return receipt


def _is_page(path: Path, told: Document) -> bool:
    try:
        with path.open("rb") as file:
            return mark_of(told).encode() in file.read(HEAD)
    except OSError:
        return False
