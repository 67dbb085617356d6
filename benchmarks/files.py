"""From Parquet to Parquet, compared with the search alone plus DuckDB reading and writing the same files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial as bound
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np

import hetdp
from benchmarks.claims import AT_MOST, Benchmark, Measured, Part, Table, Target
from benchmarks.graphs import grid, random_ball
from benchmarks.measure import in_turn
from benchmarks.speed import search
from hetdp.files.formats.csv_files import SMALL_TABLE
from hetdp.files.saving import mechanism_columns
from hetdp.mechanism.balanced import balanced_pins

WHOLE = "whole / (search + DuckDB reads + DuckDB writes)"
PARTS = ["read", "extend", "write"]
CSV = {kind: f"CSV with {kind} labels: read / DuckDB reads" for kind in ("integer", "text")}


def run_whole(source: Path, target: Path) -> None:
    """Reads a problem, extends it and saves the mechanism, as a researcher would."""
    problem, partial = hetdp.read_problem(source)
    hetdp.save(hetdp.extend(problem, partial, engine="cpu"), target)


def duckdb_reads(folder: Path) -> None:
    """Reads all columns of both tables as arrays."""
    with duckdb.connect() as database:
        for name in ("datasets", "edges"):
            database.execute(f"SELECT * FROM read_parquet('{folder / name}.parquet')").fetchnumpy()


def duckdb_writes(columns: dict[str, Any], target: Path) -> None:
    """Writes the table of the mechanism from arrays."""
    with duckdb.connect() as database:
        database.register("sheet", columns)
        database.execute(f"COPY sheet TO '{target}' (FORMAT parquet)")


def calls(problem: hetdp.Problem, folder: Path) -> dict[str, Callable[[], Any]]:
    """The measured calls, on files in a folder."""
    pins = balanced_pins(problem, engine="cpu")
    hetdp.save(problem, folder / "problem", pins)
    mechanism = hetdp.extend(problem, pins, engine="cpu")
    columns = mechanism_columns(mechanism)
    assert len(columns["p"]) > SMALL_TABLE or problem.graph.arc_count < 10**6
    return {
        "search": search(problem, pins),
        "duckdb reads": bound(duckdb_reads, folder / "problem"),
        "duckdb writes": bound(duckdb_writes, columns, folder / "theirs.parquet"),
        "read": bound(hetdp.read_problem, folder / "problem"),
        "extend": lambda: hetdp.extend(problem, pins, engine="cpu"),
        "write": bound(hetdp.save, mechanism, folder / "ours.parquet"),
        "whole": bound(run_whole, folder / "problem", folder / "ours.parquet"),
    }


def sections(arcs: int, rounds: int) -> Iterator[Part]:
    """Parquet, then CSV."""
    yield from parquet(arcs, rounds)
    yield "Problems as CSV, with labels that are declared as integers, and with labels that are text:"
    yield from text(arcs // 5, rounds)


def parquet(arcs: int, rounds: int) -> Iterator[Part]:
    """From Parquet to Parquet on both graphs."""
    rows = []
    for kind, make in (("random, 1 % ball", random_ball), ("grid, halves", grid)):
        problem = make(arcs)
        with TemporaryDirectory() as folder:
            took = in_turn(calls(problem, Path(folder)), rounds)
        one = took["search"] + took["duckdb reads"] + took["duckdb writes"]
        theirs = [f"{took[part]:.2f}" for part in ("search", "duckdb reads", "duckdb writes")]
        parts = [f"{took[part] / one:.2f}" for part in PARTS]
        whole = (f"{took['whole']:.2f}", f"{took['whole'] / one:.2f}")
        rows.append((kind, f"{problem.graph.arc_count:,}", *theirs, *parts, *whole))
        yield Measured(WHOLE, kind, took["whole"] / one)
    units = ("search, s", "DuckDB reads, s", "DuckDB writes, s")
    yield Table(("graph", "arcs", *units, *PARTS, "whole, s", "ratio"), rows)


def text(edges: int, rounds: int) -> Iterator[Part]:
    """The time to read large CSV tables, compared with DuckDB reading the columns as text."""
    rng = np.random.default_rng(1)
    size = edges // 5
    source, target = rng.integers(0, size, edges), rng.integers(0, size, edges)
    graph = hetdp.DatasetGraph.from_edges(source, target, rng.random(edges), datasets=range(size), duplicates="min")
    rows = []
    for kind, what in CSV.items():
        with TemporaryDirectory() as folder:
            place = Path(folder, "problem")
            hetdp.save(hetdp.Problem(graph, np.ones(size, dtype=np.int64)), place, tables="csv")
            if kind == "text":
                (place / "problem.json").unlink()
            took = in_turn({"theirs": bound(_csv_reads, place), "ours": bound(hetdp.read_problem, place)}, rounds)
        ratio = took["ours"] / took["theirs"]
        yield Measured(what, f"{graph.edge_count:,} edges", ratio)
        rows.append((kind, f"{graph.edge_count:,}", f"{took['theirs']:.2f}", f"{took['ours']:.2f}", f"{ratio:.1f}"))
    yield Table(("labels", "edges", "DuckDB reads, s", "read, s", "ratio"), rows)


def _csv_reads(folder: Path) -> None:
    with duckdb.connect() as database:
        for name in ("datasets", "edges"):
            database.execute(f"SELECT * FROM read_csv('{folder / name}.csv', all_varchar=true)").fetchnumpy()


BENCHMARKS = (
    Benchmark(
        "files",
        "Files",
        """
A folder of Parquet tables is read, `extend` runs with its proof, and a Parquet file is written, in one warm process.
The unit is the search alone plus the time in which DuckDB reads these files (all columns, as arrays) and writes the
same columns. *read* includes looking up labels, sorting arcs and flooring each ε. *whole* also computes the digest that
ties a mechanism to its problem.
""",
        sections,
        full=(10**7, 9),
        quick=(2 * 10**3, 1),
        targets=(Target(WHOLE, AT_MOST, 2), Target(CSV["integer"], AT_MOST, 2), Target(CSV["text"], AT_MOST, 3)),
    ),
)
