"""A ledger as lines of JSON that anybody can check with a hash function alone."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator

from sqlalchemy import select

from hetdp.release.ledger import tables
from hetdp.release.ledger.chain import CHANGED, read_head
from hetdp.release.ledger.database import Database
from hetdp.release.ledger.sealed import CLASS, canonical, opened
from hetdp.release.ledger.status import history_of


def exported(database: Database) -> Iterator[str]:
    """Each entry as the line that is hashed, in order; then each charge once, with its digest.

    What has been written stays as it is, so that charges are read one by one, and nobody waits meanwhile.
    """
    with database.reading() as connection:
        entries = history_of(database, connection, read_head(database, connection))
    yield from (entry.body for entry in entries)
    for digest in sorted({entry.charge for entry in entries if entry.charge}):
        with database.reading() as connection:
            content = connection.scalar(select(tables.charges.c.content).where(tables.charges.c.digest == digest))
        try:
            charge = opened(content)
        except ValueError:
            raise database.unusable(CHANGED) from None
        if charge.digest != digest:
            raise database.unusable(CHANGED)
        form = (
            {"text": charge.content.decode()}
            if charge.kind == CLASS
            else {"base64": b64encode(charge.content).decode()}
        )
        yield canonical({"charge": digest, **form})
