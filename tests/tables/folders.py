"""Tables of people that are cut into the files of a folder, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from tests.tables.tables import Columns, as_csv, as_parquet

SUFFIXES = {"parquet": as_parquet, "csv": as_csv}
LEVELS = (0.1, 0.25, 0.3, 1.0, 2.5, 0.123456789012345678, float("inf"))


def random_people(seed: int, size: int = 400) -> Columns:
    """Random people of a few kinds, some without an answer."""
    rng = np.random.default_rng(seed)
    chosen: dict[str, Any] = {
        "id": rng.permutation(10 * size)[:size],
        "eps": rng.choice(LEVELS, size, p=[0.2, 0.2, 0.2, 0.2, 0.1, 0.05, 0.05]),
        "dec": rng.choice([0.05, 0.2, 1.0], size),
        "role": rng.choice(["pupil", "staff", "guest"], size, p=[0.5, 0.45, 0.05]),
        "county": rng.choice(["North", "South", "West"], size),
    }
    votes = [["yes", "no", None, "maybe"][at] for at in rng.choice(4, size, p=[0.45, 0.4, 0.1, 0.05])]
    return {name: cells.tolist() for name, cells in chosen.items()} | {"vote": votes}


def write_parts(columns: Columns, folder: Path, ends: list[int], suffix: str = "parquet") -> Path:
    """Writes the rows between consecutive ends as files of a new folder."""
    folder.mkdir()
    schema = pa.table(columns).schema
    for number, (begin, end) in enumerate(zip([0, *ends], [*ends, None], strict=True)):
        rows = {name: cells[begin:end] for name, cells in columns.items()}
        place = folder / f"part-{number}.{suffix}"
        if suffix == "parquet":  # a file without rows has the same types
            pyarrow.parquet.write_table(
                pa.table(rows, schema=schema), place, row_group_size=max(50, len(rows["id"]) // 8)
            )
        else:
            as_csv(rows, folder).rename(place)
    return folder
