"""Random folders of CSV tables, good and faulty: odd labels, numbers and classes, and contradictory edges."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from hetdp.numbers import parse_number

LABELS = [
    *("a", "b", "A", "01", "1", "-1", "1.0", "1e3", "007", " a", "a ", "ä", "a\u0308", "é", "日本", "\U0001f600"),
    *("null", "NULL", "None", "nan", "true", "[1, 2]", '"a"', "'a'", 'a"b', "a,b", "a\nb", "a\rb", "a\tb", "a\x1bb"),
    *("9007199254740993", "9007199254740992", "9223372036854775807", "9223372036854775808", "-9223372036854775808"),
    "x" * 13,
    "x" * 12 + "y",
    "a rather long label that does not fit into twelve bytes",
]
NUMBERS = [
    *("0", "0.5", "1", "1.0", "0.50", ".5", "5.", "1e-3", "1E-3", "1e400", "1e-400", "inf", "INF", "Infinity", "+1"),
    *("0.1234567890123456789", "0.30000000000000004", "0.29999999999999998", "0.300000000000000000000", "123456789012"),
    *("5e-324", "2e-324", "1.7976931348623157e308", "1.7976931348623159e308", "0.1000000000000000055511151231257827"),
]
NO_NUMBERS = [
    "",
    "-1",
    "x",
    "nan",
    "NaN",
    "1_000",
    " 1",
    "1 ",
    "0x1",
    "-inf",
    "１",
    "1,5",
    "1e",
    "e1",
    "--1",
    "1e999999",
]
CLASSES = ["", "alice", "bob", "01", "1", "[1]", "ä", "1.0"]
ANSWERS = [("1", "2"), ("0", "1"), ("true", "false"), ("True", "FALSE"), ("1.0", "2.0"), ("yes", "no"), ("2", "2")]


def write_folder(place: Path, rng: random.Random) -> None:
    """Writes one folder; about half of them have no fault."""
    faulty = rng.random() < 0.5
    kind = rng.choice(["text", "text", "integer", "json", None])
    names = labels_of_kind(kind, rng)
    answers = rng.choice(ANSWERS)
    meta: dict[str, Any] = {"schema_version": 1} | ({} if kind is None else {"labels": kind})
    if "yes" in answers and rng.random() < 0.8:
        meta["positive"] = rng.choice(["yes", "no"])
    if rng.random() < 0.2:
        meta["classes"] = rng.choice(["text", "integer", "json"])
    datasets = [[name, rng.choice(answers)] for name in names]
    edges = [[*rng.choices(names, k=2), rng.choice(NUMBERS)] for _ in range(rng.randrange(12))]
    header = ["source", "target", "epsilon"]
    if rng.random() < 0.3:
        header.append("epsilon_back")
        edges = [[*edge, rng.choice(["", *NUMBERS])] for edge in edges]
    if rng.random() < 0.4:
        header.append("class")
        edges = [[*edge, rng.choice(CLASSES)] for edge in edges]
    if rng.random() < 0.4:
        edges += [[*edge[:2], rng.choice(NUMBERS), *edge[3:]] for edge in rng.sample(edges, len(edges) // 2)]
    for _ in range(rng.choice([1, 1, 2, 5]) if faulty else 0):
        damage(datasets, edges, rng)
    place.mkdir()
    if kind is not None or len(meta) > 1:
        (place / "problem.json").write_text(json.dumps(meta))
    write_table(place / "datasets.csv", ["dataset", "query"], datasets)
    write_table(place / "edges.csv", header, edges)


def labels_of_kind(kind: str | None, rng: random.Random) -> list[str]:
    """The labels of the datasets, as they stand in the table."""
    count = rng.randrange(1, 9)
    if kind == "integer":
        return [str(number) for number in rng.sample([*range(-3, 9), 2**53 + 1, 2**63 - 1, 2**63, 10**30], count)]
    chosen = rng.sample(LABELS, count)
    return (
        [json.dumps(rng.choice([text, [text, 1]]), ensure_ascii=rng.random() < 0.5) for text in chosen]
        if kind == "json"
        else chosen
    )


def damage(datasets: list[list[str]], edges: list[list[str]], rng: random.Random) -> None:
    """Changes one cell, or lists one dataset twice."""
    choice = rng.randrange(5)
    if choice == 0:
        datasets.append([rng.choice(datasets)[0], "1"])
    elif choice == 1:
        rng.choice(datasets)[rng.randrange(2)] = rng.choice(["", "3", "zzz", *LABELS[:6]])
    elif edges and choice == 2:
        rng.choice(edges)[2] = rng.choice(NO_NUMBERS)
    elif edges:
        rng.choice(edges)[rng.randrange(2)] = rng.choice(["", "c", "unknown", *LABELS])


def write_table(path: Path, header: list[str], rows: list[list[str]]) -> None:
    """Writes a table of texts, in quotes where they are needed."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(",".join(map(_field, row)) + "\n" for row in [header, *rows])


def _field(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if set(cell) & set(',"\r\n') else cell


def copy_as_parquet(folder: Path, copy: Path) -> None:
    """The same folder with Parquet tables; numbers are floats, with a gap where the text is not a number."""
    copy.mkdir()
    if (folder / "problem.json").exists():
        (copy / "problem.json").write_text((folder / "problem.json").read_text())
    for name in ("datasets", "edges"):
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        cells = {key: [row[at] or None for row in rows] for at, key in enumerate(header)}
        columns = {
            key: _floats(cells[key]) if key.startswith("epsilon") else pa.array(cells[key], pa.string())
            for key in cells
        }
        parquet.write_table(pa.table(columns), copy / f"{name}.parquet")


def _floats(cells: list[str | None]) -> Any:
    numbers = [None if cell is None else parse_number(cell) for cell in cells]
    return pa.array([None if isinstance(number, str) else number for number in numbers], pa.float64())
