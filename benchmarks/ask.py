"""`hetdp ask` on a large table of people, against DuckDB's own reading and sorting of the column of ε alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from benchmarks.measure import in_turn
from hetdp.spaces.table.asking import prepare
from hetdp.spaces.table.simulation import simulated
from hetdp.spaces.table.sources import opened
from hetdp.spaces.table.wish import wish

LEVELS = {"three levels of ε": "[0.1, 0.5, 1.0][1 + (range % 3)::INTEGER]", "everybody's own ε": "random()"}


def make(place: Path, rows: int, epsilon: str) -> None:
    """People in no order, each with an id, an ε and a vote."""
    query = (
        f"SELECT (range * 7919) % {rows} AS id, CAST({epsilon} AS DOUBLE) AS eps,"
        f" CASE WHEN random() < 0.5 THEN 'yes' ELSE 'no' END AS vote FROM range({rows})"
    )
    with duckdb.connect() as database:
        database.execute(f"COPY ({query}) TO '{place}' (FORMAT parquet)")


def duckdb_sorts(place: Path) -> None:
    """The column of ε, in order, as an array."""
    with duckdb.connect() as database:
        database.execute(f"SELECT eps FROM read_parquet('{place}') ORDER BY eps").fetchnumpy()


def asked(place: Path) -> list[str]:
    """All of it: policy, mechanism, promise, plan, answers."""
    wanted = wish("vote = 'yes'", at_least="50%", epsilon="eps", person="id")
    with opened(place) as source:
        return simulated(prepare(source, wanted).coordinates(), 0)


def promised(place: Path) -> None:
    """Without the answers."""
    wanted = wish("vote = 'yes'", at_least="50%", epsilon="eps", person="id")
    with opened(place) as source:
        prepare(source, wanted)


def sections(rows: int, own: int, rounds: int) -> Iterator[str]:
    """A table of times: few levels of ε, and an ε of their own for everybody, with as many rows as are said."""
    yield "| Parquet | rows | seconds of DuckDB | ask | of it the promise |"
    yield "|---|---|---|---|---|"
    for (name, epsilon), size in zip(LEVELS.items(), (rows, own), strict=True):
        with TemporaryDirectory() as folder:
            place = Path(folder) / "people.parquet"
            make(place, size, epsilon)
            calls: dict[str, Callable[[], Any]] = {
                "unit": lambda place=place: duckdb_sorts(place),  # type: ignore[misc]
                "ask": lambda place=place: asked(place),  # type: ignore[misc]
                "promise": lambda place=place: promised(place),  # type: ignore[misc]
            }
            found = in_turn(calls, rounds)
        unit = found["unit"]
        yield f"| {name} | {size:,} | {unit:.2f} | {found['ask'] / unit:.2f} | {found['promise'] / unit:.2f} |"


if __name__ == "__main__":
    for line in sections(10**7, 10**7, 3):
        print(line, flush=True)
