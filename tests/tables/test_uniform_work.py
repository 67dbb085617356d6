"""What DuckDB does with a table does not depend on what people say: the same operators, expressions and rows."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from hetdp.partitioned import shared_files as shared
from hetdp.partitioned import table_tasks as tasks
from hetdp.tables import formats as folders
from hetdp.tables import sources
from hetdp.tables.dialect import FileOptions
from hetdp.tables.people_table import LocalTable
from hetdp.tables.request import AskRequest, build_request
from hetdp.tables.sources import open_source

ROWS = 5000
SHARES = {"nobody": (0.0, 0.0), "few": (0.01, 0.0), "half": (0.5, 0.0), "all": (1.0, 0.0), "blank": (0.3, 0.5)}
KINDS: dict[str, tuple[Any, Any]] = {  # what yes and no are
    "truth": (True, False),
    "whole": (1, 0),
    "number": (1.5, 0.25),
    "text": ("yes", "no"),
    "day": (pandas.Timestamp("2024-01-01").date(), pandas.Timestamp("2020-01-01").date()),
}
CONDITIONS = {
    "truth": "truth = TRUE",
    "whole": "whole = 1",
    "among": "whole IN (1, 3, 5)",
    "number": "number >= 1.5",
    "text": "text = 'yes'",
    "several texts": "text IN ('yes', 'ja', 'oui')",
    "a number as a text": "text != 7",
    "day": "day > '2022-01-01'",
    "missing": "text IS NULL",
    "joined": "(truth = TRUE AND NOT text = 'no') OR (whole = 1 AND number > 1)",
}
TEXTS_ONLY = ("whole", "several texts", "day", "missing")  # of CSV and SQLite files


@cache
def people(share: str) -> dict[str, list[Any]]:
    chance, (yes, blank) = random.Random(7), SHARES[share]
    rows: dict[str, list[Any]] = {"id": list(range(ROWS)), "eps": [0.5] * ROWS}
    output = [None if chance.random() < blank else chance.random() < yes for _ in range(ROWS)]
    for name, (if_yes, if_no) in KINDS.items():
        rows[name] = [None if one is None else if_yes if one else if_no for one in output]
    return rows


def as_arrow(rows: dict[str, list[Any]]) -> pa.Table:
    types = {"truth": pa.bool_(), "whole": pa.int64(), "number": pa.float64(), "text": pa.string(), "day": pa.date32()}
    return pa.table({name: pa.array(cells, types.get(name)) for name, cells in rows.items()})


def as_sqlite(rows: dict[str, list[Any]], place: Path) -> Path:
    with sqlite3.connect(place) as file:
        file.execute(f"CREATE TABLE people ({', '.join(rows)})")
        cells = zip(*(map(str, one) if name == "day" else one for name, one in rows.items()), strict=True)
        file.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(rows))})", cells)
    file.close()
    return place


def as_csv(rows: dict[str, list[Any]], place: Path) -> Path:
    pandas.DataFrame(rows).to_csv(place, index=False)
    return place


def as_parquet(rows: dict[str, list[Any]], place: Path) -> Path:
    pa.parquet.write_table(as_arrow(rows), place, row_group_size=1000)
    return place


def as_feather(rows: dict[str, list[Any]], place: Path) -> Path:
    pa.feather.write_feather(as_arrow(rows), place, compression="uncompressed")
    return place


def as_folder(rows: dict[str, list[Any]], place: Path) -> Path:
    place.mkdir()
    for at, low in enumerate(range(0, ROWS, 2500)):
        as_parquet({name: cells[low : low + 2500] for name, cells in rows.items()}, place / f"{at}.parquet")
    return place


FORMATS: dict[str, Callable[[dict[str, list[Any]], Path], Any]] = {
    "people.csv": as_csv,
    "people.parquet": as_parquet,
    "people.arrow": as_feather,
    "people.sqlite": as_sqlite,
    "folder": as_folder,
    "arrow": lambda rows, _: as_arrow(rows),
    "polars": lambda rows, _: polars.from_arrow(as_arrow(rows)),
    "pandas": lambda rows, _: pandas.DataFrame(rows).astype(
        {"truth": "boolean", "whole": "Int64", "number": "Float64"}
    ),
}


class RecordingConnection:
    """A connection that writes down what each query does: operators, what they compute, and how many rows they give."""

    def __init__(self, database: Any, seen: list[Any]) -> None:
        self._database, self._seen = database, seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def register(self, name: str, rows: Any) -> None:
        """Rows that can be read twice: once for the plan."""
        self._database.register(name, rows.read_all() if hasattr(rows, "read_all") else rows)

    def execute(self, query: str, parameters: Any = ()) -> Any:
        self._watch(query, parameters)
        return self._database.execute(query, parameters)

    def sql(self, query: str, params: Any) -> Any:
        self._watch(query, params)
        return self._database.sql(query, params=params)

    def _watch(self, query: str, parameters: Any) -> None:
        if query.startswith("SELECT"):
            found = self._database.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}", parameters).fetchall()
            self._seen += list(operator_work(json.loads(found[0][1]).get("operator", [])))


def operator_work(operators: list[dict[str, Any]]) -> Iterator[Any]:
    for one in operators:
        report = {
            key: words for key, words in one["extra_info"].items() if "Files" not in key and "Filename" not in key
        }
        yield one["type"], one["intermediate_rows"], re.sub(r"/\S+", "PATH", json.dumps(report, sort_keys=True))
        yield from operator_work(one.get("children", []))


@pytest.fixture
def queries(monkeypatch):
    found: list[Any] = []
    real = sources.open_locked

    @contextmanager
    def open_and_watch(*paths: str | None) -> Iterator[Any]:
        with real(*paths) as database:
            yield RecordingConnection(database, found)

    for module in (sources, folders):
        monkeypatch.setattr(module, "open_locked", open_and_watch)
    return found


def make_request(name: str) -> AskRequest:
    return build_request(CONDITIONS[name], at_least="50%", epsilon="eps", person="id")


@pytest.mark.parametrize("form", FORMATS)
def test_reading_the_answers_takes_the_same_work_whatever_they_are(form, queries, tmp_path):
    counted = list(CONDITIONS) if form in ("people.parquet", "polars") else TEXTS_ONLY
    tables = {}
    for share in SHARES:
        (tmp_path / share).mkdir()
        tables[share] = FORMATS[form](people(share), tmp_path / share / form)
    results = set()
    for name in counted:
        done = {}
        for share, table in tables.items():
            with open_source(table, curator=True) as source:
                queries.clear()
                results.add(tuple(LocalTable(source).read_answers(make_request(name))))
                done[share] = list(queries)
        assert any(kind == "PROJECTION" and rows == ROWS for kind, rows, _ in done["half"]) or form == "people.sqlite"
        for share, did in done.items():
            assert did == done["half"], (name, share)
    assert len(results) > 4  # the answers themselves differ


@pytest.mark.parametrize("form", ["people.csv", "people.parquet"])
def test_counting_on_workers_takes_the_same_work_too(form, queries, tmp_path):
    places = {}
    for share in SHARES:
        (tmp_path / share).mkdir()
        places[share] = FORMATS[form](people(share), tmp_path / share / form)
    opening = tasks.Opening(FileOptions(), curator=False)
    for name in TEXTS_ONLY:
        done = {}
        for share, place in places.items():
            queries.clear()
            (report,) = tasks.tally_all(shared.file_state(place), [make_request(name)], opening, True)
            assert report.answers is not None
            done[share] = list(queries)
        assert len(done["half"]) > 3
        for share, did in done.items():
            assert did == done["half"], (name, share)
