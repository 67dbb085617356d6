"""Tables of people in every format, for tests."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import openpyxl
import pandas
import polars
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from hetdp.tables.request import AskRequest, build_request

Columns = dict[str, list[Any]]
UNWRITABLE = re.compile("[\0-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9a-fA-F]{4}_)")
ANYTHING = re.compile("(?s:.)")
PEOPLE: Columns = {
    "id": [1, 2, 3, 4, 5, 6, 7],
    "county": ["North", "North", "North", "South", "South", "South", "South"],
    "role": ["pupil", "pupil", "staff", "staff", "pupil", "staff", "guest"],
    "eps": [0.3, 0.3, 1.0, 1.0, 0.3, 1.0, 2.0],
    "vote": ["yes", "no", "yes", None, "yes", "maybe", "yes"],
}


def as_csv(columns: Columns, folder: Path) -> Path:
    """Writes a CSV file in which missing values are empty."""
    place = folder / "people.csv"
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    text = "".join(",".join("" if cell is None else _field(str(cell)) for cell in row) + "\n" for row in rows)
    place.write_bytes(text.encode())
    return place


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\r\n') else text


def as_parquet(columns: Columns, folder: Path) -> Path:
    pyarrow.parquet.write_table(pa.table(columns), folder / "people.parquet")
    return folder / "people.parquet"


def as_arrow(columns: Columns, folder: Path) -> Path:
    pyarrow.feather.write_feather(pa.table(columns), str(folder / "people.arrow"), compression="uncompressed")
    return folder / "people.arrow"


def as_sqlite(columns: Columns, folder: Path) -> Path:
    place = folder / "people.sqlite"
    place.unlink(missing_ok=True)
    names = ['"' + name.replace('"', '""') + '"' for name in columns]
    with closing(sqlite3.connect(place)) as file, file:
        file.execute(f"CREATE TABLE people ({', '.join(names)})")
        slots = ", ".join("?" * len(names))
        file.executemany(f"INSERT INTO people VALUES ({slots})", list(zip(*columns.values(), strict=True)))
    return place


def as_excel(columns: Columns, folder: Path) -> Path:
    """Writes an Excel file in which missing values are empty."""
    book = openpyxl.Workbook()
    for at, row in enumerate([list(columns), *zip(*columns.values(), strict=True)], 1):
        for column, value in enumerate(row, 1):
            if isinstance(value, str):  # also where it looks like a formula or an error
                cell = book.active.cell(at, column, "text")
                escaped = UNWRITABLE if value.strip() else ANYTHING  # openpyxl does not preserve white space alone
                cell._value = escaped.sub(lambda found: f"_x{ord(found[0]):04X}_", value)
            else:
                book.active.cell(at, column, value)
    book.save(folder / "people.xlsx")
    return folder / "people.xlsx"


FILES: dict[str, Callable[[Columns, Path], Any]] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "arrow": as_arrow,
    "sqlite": as_sqlite,
    "xlsx": as_excel,
}
FORMATS: dict[str, Callable[[Columns, Path], Any]] = FILES | {
    "pandas": lambda columns, _: pandas.DataFrame(columns),
    "polars": lambda columns, _: polars.DataFrame(columns),
    "table": lambda columns, _: pa.table(columns),
}


ASKED: dict[str, Any] = {"counted": "vote = 'yes'", "person": "id", "epsilon": "eps"}


def request_of(**more: Any) -> AskRequest:
    return build_request(**({"at_least": 3} | ASKED | more))
