"""Parquet files, and CSV files too large for the standard library, read and written by DuckDB without a Python loop."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hetdp import duck
from hetdp.duck import connection, exact_path, forget, quote_name, quote_text, report_faults
from hetdp.errors import Fault, InputError
from hetdp.files.formats.csv_files import RULE as CSV_RULE
from hetdp.files.formats.csv_files import header_of, row_of
from hetdp.files.formats.table import Table
from hetdp.files.parquet_footer import require_no_brotli
from hetdp.files.schema import LABELS, NUMBERS
from hetdp.numbers import GRAMMAR, SHORT, parse_number, parse_numbers

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


def read_large_csv(path: Path, name: str, known: tuple[str, ...], integers: bool = False) -> Table:
    """The same table that `csv_form.read_csv` reads; labels that are said to be integers come as such."""
    header = header_of(path, name)
    chosen = [column for column in header if column in known]
    kinds = ", ".join(f"{quote_text(column)}: 'VARCHAR'" for column in header)
    source = (
        f"read_csv(?, auto_detect=false, header=true, delim=',', quote='\"', escape='\"', nullstr='', strict_mode=true,"
        f" max_line_size=10000000, hive_partitioning=false, columns={{{kinds}}})"
    )
    cells = ", ".join([*map(quote_name, chosen), "1::TINYINT AS rows"])
    with report_faults(name, CSV_RULE), connection() as database:
        database.execute(f"CREATE TEMP TABLE sheet AS SELECT {cells} FROM {source}", [exact_path(path)])
        columns = {column: _csv_column(database, column, integers) for column in chosen}
        (length,) = database.execute("SELECT count(*) FROM sheet").fetchone()
    return Table(name, {column: columns.get(column, []) for column in header}, length, row_of(name))


def write_parquet(path: Path, columns: dict[str, Any], metadata: str | None = None) -> None:
    """A table of arrays as Parquet, with our metadata beside it."""
    extra = "" if metadata is None else f", KV_METADATA {{{METADATA_KEY}: {quote_text(metadata)}}}"
    _copy(path, columns, f"FORMAT parquet{extra}")


def write_large_csv(path: Path, columns: dict[str, Any]) -> None:
    """The same table that `csv_form.write_csv` writes."""
    _copy(path, columns, "FORMAT csv, HEADER true")


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


def _csv_column(database: Any, column: str, integers: bool) -> Any:
    if column not in NUMBERS:
        if integers and column in LABELS and (found := _integers(database, column)) is not None:
            return found
        texts = database.execute(f"SELECT {quote_name(column)} AS texts FROM sheet").fetchnumpy()["texts"]
        return texts.tolist()  # a masked array gives None where a cell is empty
    value = f"try_cast({column} AS DOUBLE)"
    numbers = database.execute(f"SELECT {value} AS value FROM sheet").fetchnumpy()["value"]
    odd = database.execute(
        f"SELECT rowid, {column} FROM sheet WHERE {column} IS NOT NULL AND (NOT regexp_full_match({column}, ?)"
        f" OR isinf({value}) OR (length({column}) > ? AND CAST({value} AS VARCHAR) <> {column}))",
        [GRAMMAR, SHORT],
    ).fetchall()
    numbers = numbers.filled(np.nan) if isinstance(numbers, np.ma.MaskedArray) else numbers
    return _with_odd(numbers, [(row, parse_number(text)) for row, text in odd])


def _integers(database: Any, column: str) -> Any:
    """A column of integers as we write them, or None if some text is anything else."""
    value = f"try_cast({column} AS BIGINT)"
    other = f"SELECT count(*) FROM sheet WHERE {column} IS NOT NULL AND ({value}::VARCHAR = {column}) IS NOT TRUE"
    if database.execute(other).fetchone()[0]:
        return None
    return database.execute(f"SELECT {value} AS value FROM sheet").fetchnumpy()["value"]


def _with_odd(numbers: Any, odd: list[tuple[int, float | str]]) -> Any:
    """Numerals that only our own grammar decides; a text that is no number makes the column a list."""
    if any(isinstance(value, str) for _, value in odd):
        numbers = numbers.tolist()
    for row, value in odd:
        numbers[row] = value
    return numbers


def _copy(path: Path, columns: dict[str, Any], options: str) -> None:
    cells = ", ".join(f"{_written(column, values)} AS {quote_name(column)}" for column, values in columns.items())
    command = f"COPY (SELECT {cells} FROM sheet) TO {quote_text(str(path))} ({options})"
    duckdb = duck.load()
    try:
        _run_on(columns, command)
    except duckdb.IOException as refusal:
        raise OSError(5, str(refusal).rpartition(": ")[2]) from None
    except (duckdb.Error, RuntimeError):
        forget()  # a database that has served thousands of tables was seen to fail once, inside
        try:
            _run_on(columns, command)
        except (duckdb.Error, RuntimeError) as refusal:  # the latter for names that are no Unicode
            raise OSError(5, str(refusal).rpartition(": ")[2]) from None


def _run_on(columns: dict[str, Any], command: str) -> None:
    with connection() as database:
        database.register("sheet", columns)
        database.execute(command)


def _written(column: str, values: Any) -> str:
    return f"CAST({quote_name(column)} AS VARCHAR)" if values.dtype == object else quote_name(column)
