"""How much a dropped file holds, before it is read: a small file can unfold to more than a machine has."""

from __future__ import annotations

from pathlib import Path

from hetdp.errors import UsageError
from hetdp.files.formats.database import connection
from hetdp.files.formats.duck import PARQUET, PARQUET_RULE, exactly, kinds_of, quoted_name, refusals

MOST_CELLS = 20_000_000
MOST_TEXT = 256 << 20  # bytes of all labels together
OPENS_ANY = "hetdp studio PROBLEM opens any size"


def require_small(path: Path) -> None:
    """Refuses a Parquet file that unfolds to too much; one that is none is refused when it is read.

    Its footer says how many cells there are. What labels unfold to, it does not say: they are measured, one after the
    other, and none is kept.

    Raises:
        UsageError: it holds too much.
        InputError: it is no Parquet file.
    """
    place = exactly(path)
    with refusals(path.name, PARQUET_RULE), connection() as database:
        (cells,) = database.execute(
            "SELECT coalesce(sum(num_values), 0) FROM parquet_metadata(?)", [[place]]
        ).fetchone()
        _require(int(cells), MOST_CELLS, "cells")
        kinds = {column: kind for column, kind in kinds_of(database, path).items() if "VARCHAR" in kind}
        for column, kind in kinds.items():
            cell = quoted_name(column) if kind == "VARCHAR" else f"CAST({quoted_name(column)} AS VARCHAR)"
            measured = f"SELECT coalesce(sum(strlen({cell})), 0) FROM {PARQUET}"
            _require(int(database.execute(measured, [[place]]).fetchone()[0]), MOST_TEXT, "bytes of labels")


def _require(found: int, most: int, words: str) -> None:
    if found > most:
        raise UsageError(f"a file that holds {found:,} {words}", f"at most {most:,} are dropped; {OPENS_ANY}")
