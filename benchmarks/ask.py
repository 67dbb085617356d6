"""`hetdp ask` on a large table of people, compared with DuckDB reading and sorting the column of ε alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from benchmarks.claims import AT_MOST, Benchmark, Measured, Part, Table, Target
from benchmarks.measure import in_turn
from hetdp.tables.ask import draw_simulated_answers
from hetdp.tables.people_table import LocalTable
from hetdp.tables.preparation import prepare
from hetdp.tables.request import build_request
from hetdp.tables.sources import open_source

ASK = "ask / DuckDB reads and sorts ε"
PARTS = 8  # files of a folder
LEVELS = {"three levels of ε": "[0.1, 0.5, 1.0][1 + (range % 3)::INTEGER]", "everybody's own ε": "random()"}


def write_people(place: Path, rows: int, epsilon: str) -> None:
    """Writes people in scrambled order, each with an id, an ε and a vote."""
    query = (
        f"SELECT (range * 7919) % {rows} AS id, CAST({epsilon} AS DOUBLE) AS eps,"
        f" CASE WHEN random() < 0.5 THEN 'yes' ELSE 'no' END AS vote FROM range({rows})"
    )
    with duckdb.connect() as database:
        database.execute(f"COPY ({query}) TO '{place}' (FORMAT parquet)")


def write_parts(place: Path, folder: Path, rows: int) -> None:
    """Writes the same people to several files of a folder."""
    folder.mkdir()
    with duckdb.connect() as database:
        for part in range(PARTS):
            low, high = rows * part // PARTS, rows * (part + 1) // PARTS
            query = f"SELECT * EXCLUDE file_row_number FROM read_parquet('{place}', file_row_number=true)"
            query += f" WHERE file_row_number >= {low} AND file_row_number < {high}"
            database.execute(f"COPY ({query}) TO '{folder}/part-{part}.parquet' (FORMAT parquet)")


def duckdb_sorts(place: Path) -> None:
    """Reads the column of ε, sorted, as an array."""
    with duckdb.connect() as database:
        database.execute(f"SELECT eps FROM read_parquet('{place}') ORDER BY eps").fetchnumpy()


def ask_table(place: Path) -> list[str]:
    """The whole of `ask`: policy, mechanism, promise, plan, answers."""
    request = build_request("vote = 'yes'", at_least="50%", epsilon="eps", person="id")
    with open_source(place) as source:
        return draw_simulated_answers(prepare(LocalTable(source), request).coordinates(), 0)


def prepare_promise(place: Path) -> None:
    """The same without reading the answers."""
    request = build_request("vote = 'yes'", at_least="50%", epsilon="eps", person="id")
    with open_source(place) as source:
        prepare(LocalTable(source), request)


def sections(rows: int, runs: int, rounds: int) -> Iterator[Part]:
    """One row for each kind of ε: three levels, and a different ε for each person. The slowest run counts."""
    lines = []
    for name, epsilon in LEVELS.items():
        with TemporaryDirectory() as folder:
            place = Path(folder) / "people.parquet"
            write_people(place, rows, epsilon)
            write_parts(place, Path(folder) / "people", rows)
            calls: dict[str, Callable[[], Any]] = {
                "unit": partial(duckdb_sorts, place),
                "ask": partial(ask_table, place),
                "promise": partial(prepare_promise, place),
                "folder": partial(ask_table, Path(folder) / "people"),
            }
            found = [in_turn(calls, rounds) for _ in range(runs)]
        ratios = {part: [one[part] / one["unit"] for one in found] for part in ("ask", "promise", "folder")}
        unit, ask, promise, folders = median(one["unit"] for one in found), *map(median, ratios.values())
        spread = f"{min(ratios['ask']):.2f}–{max(ratios['ask']):.2f}"
        lines.append((name, f"{rows:,}", f"{unit:.2f}", f"{ask:.2f}", spread, f"{promise:.2f}", f"{folders:.2f}"))
        yield Measured(ASK, name, max(ratios["ask"]))
    heads = ("Parquet", "rows", "seconds of DuckDB", "ask", "ask, spread", "of it the promise", "ask a folder")
    yield Table(heads, lines)


BENCHMARKS = (
    Benchmark(
        "ask",
        "A table of people",
        """
The unit is the time in which DuckDB reads the column of ε from Parquet and sorts it. `hetdp ask` reads everyone's id
and ε, looks for people who appear twice, fixes the mechanism and its promise (*promise*), and reads the answers. *Ask a
folder* reads the same rows from 8 files. All numbers are medians of five runs, each of which takes the best of three
calls. The target holds for the slowest run; *spread* is from the fastest to the slowest.
""",
        sections,
        full=(10**7, 5, 3),
        quick=(10**3, 1, 1),
        targets=(Target(ASK, AT_MOST, 2),),
    ),
)
