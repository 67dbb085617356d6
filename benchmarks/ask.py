"""`hetdp ask` on a large table of people, against DuckDB's own reading and sorting of the column of ε alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from benchmarks.claims import AT_MOST, Asked, Benchmark, Measured, Part, Table
from benchmarks.measure import in_turn
from hetdp.tables.people_table import LocalTable
from hetdp.tables.preparation import prepare
from hetdp.tables.promise_words import draw_simulated_answers
from hetdp.tables.request import build_request
from hetdp.tables.sources import open_source

ASK = "ask / DuckDB reads and sorts ε"
PARTS = 8  # files of a folder
LEVELS = {"three levels of ε": "[0.1, 0.5, 1.0][1 + (range % 3)::INTEGER]", "everybody's own ε": "random()"}


def make(place: Path, rows: int, epsilon: str) -> None:
    """People in no order, each with an id, an ε and a vote."""
    query = (
        f"SELECT (range * 7919) % {rows} AS id, CAST({epsilon} AS DOUBLE) AS eps,"
        f" CASE WHEN random() < 0.5 THEN 'yes' ELSE 'no' END AS vote FROM range({rows})"
    )
    with duckdb.connect() as database:
        database.execute(f"COPY ({query}) TO '{place}' (FORMAT parquet)")


def cut(place: Path, folder: Path, rows: int) -> None:
    """The same people in files of a folder."""
    folder.mkdir()
    with duckdb.connect() as database:
        for part in range(PARTS):
            low, high = rows * part // PARTS, rows * (part + 1) // PARTS
            query = f"SELECT * EXCLUDE file_row_number FROM read_parquet('{place}', file_row_number=true)"
            query += f" WHERE file_row_number >= {low} AND file_row_number < {high}"
            database.execute(f"COPY ({query}) TO '{folder}/part-{part}.parquet' (FORMAT parquet)")


def duckdb_sorts(place: Path) -> None:
    """The column of ε, in order, as an array."""
    with duckdb.connect() as database:
        database.execute(f"SELECT eps FROM read_parquet('{place}') ORDER BY eps").fetchnumpy()


def asked(place: Path) -> list[str]:
    """All of it: policy, mechanism, promise, plan, answers."""
    wanted = build_request("vote = 'yes'", at_least="50%", epsilon="eps", person="id")
    with open_source(place) as source:
        return draw_simulated_answers(prepare(LocalTable(source), wanted).coordinates(), 0)


def promised(place: Path) -> None:
    """Without the answers."""
    wanted = build_request("vote = 'yes'", at_least="50%", epsilon="eps", person="id")
    with open_source(place) as source:
        prepare(LocalTable(source), wanted)


def sections(rows: int, rounds: int) -> Iterator[Part]:
    """One row for each kind of ε: few levels, and an ε of their own for everybody."""
    lines = []
    for name, epsilon in LEVELS.items():
        with TemporaryDirectory() as folder:
            place = Path(folder) / "people.parquet"
            make(place, rows, epsilon)
            cut(place, Path(folder) / "people", rows)
            calls: dict[str, Callable[[], Any]] = {
                "unit": partial(duckdb_sorts, place),
                "ask": partial(asked, place),
                "promise": partial(promised, place),
                "folder": partial(asked, Path(folder) / "people"),
            }
            found = in_turn(calls, rounds)
        unit, ratios = found["unit"], [found[part] / found["unit"] for part in ("ask", "promise", "folder")]
        lines.append((name, f"{rows:,}", f"{unit:.2f}", *(f"{ratio:.2f}" for ratio in ratios)))
        yield Measured(ASK, name, ratios[0])
    yield Table(("Parquet", "rows", "seconds of DuckDB", "ask", "of it the promise", "ask a folder"), lines)


BENCHMARKS = (
    Benchmark(
        "ask",
        "A table of people",
        """
DuckDB reads the column of ε from Parquet and sorts it = 1; `hetdp ask` reads everybody's id and ε, looks for people who
are there twice, fixes the mechanism and its promise (*promise*), and reads the answers. *Ask a folder*: the same rows
in 8 files.
""",
        sections,
        full=(10**7, 3),
        quick=(10**3, 1),
        asked=(Asked(ASK, AT_MOST, 2),),
    ),
)
