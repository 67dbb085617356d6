"""Parquet files, read and written by DuckDB without a Python loop over rows; metadata is in the file itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hetdp.documents import parse_object
from hetdp.duck import connection, exact_path, quote_name, quote_text, report_faults, write_columns
from hetdp.errors import Fault, InputError
from hetdp.files.formats.json_files import lines_of
from hetdp.files.formats.table import Table, TableFormat, row_of
from hetdp.files.formats.writing import whole_file
from hetdp.files.parquet_footer import require_no_brotli
from hetdp.files.schema import LABELS, NUMBERS
from hetdp.numbers import parse_number, parse_numbers

INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"})
PARQUET_RULE = "it is a Parquet file"
PARQUET = "read_parquet(?, hive_partitioning=false)"  # the name of a folder is no column
SURE_DIGITS = 15  # of a decimal, that its float still prints
METADATA_KEY = "hetdp"


def read_parquet(files: list[Path], name: str, known: tuple[str, ...]) -> Table:
    """The known columns of one table in Parquet files, rows in the order of the files; others are named only."""
    paths = [exact_path(file) for file in files]
    with report_faults(name, PARQUET_RULE), connection() as database:
        kinds = kinds_of(database, files[0])
        require_alike(database, files, kinds, name)
        cells = [
            f"{cell_of(column, kind, name)} AS {quote_name(column)}"
            for column, kind in kinds.items()
            if column in known
        ]
        cells = cells or ["1 AS unknown"]  # what counts the rows
        columns = database.execute(f"SELECT {', '.join(cells)} FROM {PARQUET}", [paths]).fetchnumpy()
        counts = database.execute("SELECT file_name, num_rows FROM parquet_file_metadata(?)", [paths]).fetchall()
    length = len(next(iter(columns.values())))
    columns |= {column: parse_numbers(columns[column].tolist()) for column in kinds if is_long(column, kinds[column])}
    row = row_of(name) if len(files) == 1 else _row_of_parts(files, dict(counts))
    return Table(name, {column: columns.get(column, []) for column in kinds}, length, row)


def parquet_metadata(path: Path, name: str) -> str | None:
    """What we wrote into a Parquet file beside its rows."""
    with report_faults(name, PARQUET_RULE), connection() as database:
        found = database.execute("SELECT key, value FROM parquet_kv_metadata(?)", [exact_path(path)]).fetchall()
    values = [value for key, value in found if key == METADATA_KEY.encode()]
    return values[0].decode("utf-8", "replace") if values else None


def write_parquet(path: Path, columns: dict[str, Any], metadata: str | None = None) -> None:
    """A table of arrays as Parquet, with our metadata beside it."""
    extra = "" if metadata is None else f", KV_METADATA {{{METADATA_KEY}: {quote_text(metadata)}}}"
    write_columns(path, columns, f"FORMAT parquet{extra}")


def kinds_of(database: Any, path: Path) -> dict[str, str]:
    """The type of each column, of a file that may be read.

    Raises:
        InputError: it is compressed with Brotli.
    """
    require_no_brotli(path, path.name)
    described = database.execute(f"DESCRIBE SELECT * FROM {PARQUET}", [[exact_path(path)]]).fetchall()
    return {str(column): str(kind) for column, kind, *_ in described}


def require_alike(database: Any, files: list[Path], kinds: dict[str, str], name: str) -> None:
    """Parts have the same columns of the same types: DuckDB would round to those of the first, and drop others."""
    for file in files[1:]:
        if (found := kinds_of(database, file)) != kinds:
            value = ", ".join(f"{column} {kind}" for column, kind in sorted(found.items() ^ kinds.items()))
            rule = f"all parts have the columns and types of {files[0].name}"
            raise InputError(name, [Fault("a part that differs:", f"{file.parent.name}/{file.name}", value, rule)])


def is_long(column: str, kind: str) -> bool:
    """Whether a column holds decimals of more digits than a float keeps, which are then read as text."""
    width = re.match(r"DECIMAL\((\d+)", kind)
    return column in NUMBERS and width is not None and int(width[1]) > SURE_DIGITS


def _row_of_parts(files: list[Path], counts: dict[str, int]) -> Callable[[int], str]:
    """How messages name a row of a table in several files."""
    ends = np.cumsum([counts[str(file)] for file in files])

    def row(at: int) -> str:
        part = int(np.searchsorted(ends, at, side="right"))
        start = int(ends[part - 1]) if part else 0
        return f"{files[part].parent.name}/{files[part].name} row {at - start + 1}"

    return row


def cell_of(column: str, kind: str, name: str) -> str:
    """How a Parquet column is read, by its type."""
    quoted = quote_name(column)
    if column in NUMBERS:
        if kind == "FLOAT":  # as the decimal it prints as
            return f"CAST(CAST({quoted} AS VARCHAR) AS DOUBLE)"
        numeric = kind == "DOUBLE" or kind in INTEGERS or (kind.startswith("DECIMAL") and not is_long(column, kind))
        return f"CAST({quoted} AS DOUBLE)" if numeric else f"CAST({quoted} AS VARCHAR)"
    if kind in INTEGERS or kind == "VARCHAR" or (column not in LABELS and kind in ("BOOLEAN", "DOUBLE")):
        return quoted
    if kind.startswith("ENUM"):
        return f"CAST({quoted} AS VARCHAR)"
    rule = "it holds text or integers"
    raise InputError(name, [Fault("a column of type", f"{name}, {column}", kind, rule)])


def read_metadata(path: Path, name: str) -> dict[str, Any]:
    """What we wrote into the file beside its rows, as a document; empty for a file made elsewhere."""
    text = parquet_metadata(path, name)
    return {} if text is None else parse_object(text, name, parse_number)


def write_with_metadata(path: Path, columns: dict[str, Any], document: dict[str, Any]) -> None:
    """Writes a table with a document in it."""
    with whole_file(path) as draft:
        write_parquet(draft, columns, "\n".join(lines_of(document)))


def _read(path: Path, name: str, known: tuple[str, ...], integers: bool) -> Table:
    return read_parquet([path], name, known)


FORMAT = TableFormat(
    _read, write_parquet, read_metadata, write_with_metadata, is_text=False, metadata_file=lambda path: None
)
