"""Datasets ordered by a column, so that those with the same entry are in one partition; their rows are remembered."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np

from hetdp.errors import Fault, InputError
from hetdp.files.formats.database import connection
from hetdp.files.formats.duck import PARQUET_RULE, quoted_name, refusals
from hetdp.files.formats.ranges import ORIGIN, Files
from hetdp.files.partitions.numbering import copy_to, rows_of_file
from hetdp.files.partitions.tables import Tables
from hetdp.files.schema import DATASET_COLUMNS
from hetdp.problem.partitioned import Workers


def order_by(tables: Tables, column: str, folder: str, workers: Workers) -> tuple[Tables, list[int]]:
    """The tables with their datasets in order of a column, in a new folder, and where each of its entries ends."""
    datasets = tables.datasets
    path = str(Path(folder, f"by-{sha256(column.encode()).hexdigest()[:16]}.parquet"))
    (ends,) = workers.run(write_ordered, [(datasets, column, path)], "reading datasets by column")
    kinds = {name: kind for name, kind in datasets.kinds.items() if name != column or name in DATASET_COLUMNS}
    ordered = Files(datasets.name, (path,), kinds, (datasets.length,), origin=datasets)
    return tables._replace(datasets=ordered), ends


def write_ordered(datasets: Files, column: str, path: str) -> list[int]:
    """Writes the table in order, on disk where memory is short; returns where each entry of the column ends."""
    kept = ", ".join(map(quoted_name, dict.fromkeys([*datasets.kinds])))
    tables, start = [], 0
    for one, _, rows in datasets.pieces(0, datasets.length):
        tables.append(f"SELECT {kept}, file_row_number + {start} AS {ORIGIN} FROM {rows_of_file(one)}")
        start += rows
    every, by = f"({' UNION ALL '.join(tables)})", quoted_name(column)
    with refusals(datasets.name, PARQUET_RULE), connection() as database:
        copy_to(f"SELECT * FROM {every} ORDER BY {by} NULLS LAST, {ORIGIN}", str(Path(path).parent), Path(path))
        groups = f"SELECT count(*) AS rows FROM {every} GROUP BY {by} ORDER BY {by} NULLS LAST"
        counts = database.execute(groups).fetchnumpy()["rows"]
    ends: list[int] = np.cumsum(counts).astype(np.int64).tolist()
    return ends


def require_column(datasets: Files, column: str, name: str) -> None:
    """Refuses a column that is not there."""
    if column not in datasets.kinds:
        rule = "partitions are made by a column of the datasets"
        raise InputError(name, [Fault("missing column", datasets.name, column, rule)])


def snapped(offsets: tuple[int, ...], ends: list[int]) -> tuple[int, ...]:
    """Partitions that end where an entry of the column does, near to where they would."""
    bounds = np.array([0, *ends])
    inner = bounds[np.minimum(np.searchsorted(bounds, offsets[1:-1]), len(bounds) - 1)]
    return (0, *inner.tolist(), offsets[-1])
