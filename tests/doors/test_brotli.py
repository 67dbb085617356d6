"""Parquet files compressed with Brotli are refused everywhere: a crafted one could run code in the decompressor."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet
import pytest

import hetdp
from hetdp.partitioned.parquet_rows import files_of
from hetdp.studio.uploads import require_small


def write_brotli(place, columns):
    place.parent.mkdir(parents=True, exist_ok=True)
    pa.parquet.write_table(pa.table(columns), place, compression=dict.fromkeys(columns, "brotli"))
    return place


EDGES = {"source": ["a"], "target": ["b"], "epsilon": [1.0]}
DATASETS = {"dataset": ["a", "b"], "query": [1, 2]}
PEOPLE = {"id": [1, 2, 3], "vote": ["yes", "no", "yes"]}


def problem(folder):
    write_brotli(folder / "edges.parquet", EDGES)
    pa.parquet.write_table(pa.table(DATASETS), folder / "datasets.parquet")
    (folder / "problem.json").write_text('{"schema_version": 1}')
    return folder


def ask(table):
    hetdp.ask(table, "vote = 'yes'", at_least="50%", epsilon=1, person="id", dry_run=True)


DOORS = {
    "a problem": lambda folder: hetdp.read_problem(problem(folder / "problem")),
    "pins": lambda folder: hetdp.read_pins(write_brotli(folder / "pins.parquet", {"dataset": ["a"], "p": [0.5]})),
    "a mechanism": lambda folder: hetdp.read_mechanism(
        write_brotli(folder / "m.parquet", {**DATASETS, "p": [0.5, 0.5]})
    ),
    "partitions": lambda folder: files_of([problem(folder / "problem") / "edges.parquet"], "edges.parquet"),
    "a table": lambda folder: ask(write_brotli(folder / "people.parquet", PEOPLE)),
    "a folder": lambda folder: ask(write_brotli(folder / "people" / "1.parquet", PEOPLE).parent),
    "the studio": lambda folder: require_small(write_brotli(folder / "edges.parquet", EDGES)),
}


@pytest.mark.parametrize("door", DOORS)
def test_brotli_is_refused(door, tmp_path):
    with pytest.raises(hetdp.InputError, match=r"Brotli.*Hint: write it again with zstd or snappy"):
        DOORS[door](tmp_path)
