"""The tables of a problem folder before any row is read: their files, their columns, and the notion they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from hetdp.errors import Fault, InputError
from hetdp.files.formats.duck import INTEGERS, cell_of
from hetdp.files.formats.json_form import read_json
from hetdp.files.formats.ranges import Files, files_of
from hetdp.files.formats.tables import Table
from hetdp.files.places import STANDARD, Sheets, existing, parts_of, reading
from hetdp.files.problems import require_form
from hetdp.files.schema import DATASET_COLUMNS, EDGE_COLUMNS, INTEGER, LABELS
from hetdp.problem.findings import Findings

KNOWN = {"datasets": DATASET_COLUMNS, "edges": EDGE_COLUMNS}


class Tables(NamedTuple):
    """A problem in Parquet files.

    Attributes:
        name: how messages name it.
        words: what problem.json says.
        datasets: the table of datasets.
        edges: the table of edges.
        notion: the notion of privacy, by name.
    """

    name: str
    words: dict[str, Any]
    datasets: Files
    edges: Files
    notion: str


def open_tables(path: str | Path, by: str | None = None) -> Tables:
    """The tables of a folder, if they have the form of a problem; one more column of datasets may be there."""
    folder, name = Path(path) if path == STANDARD else existing(path), str(path)
    rule = "partitions are read from a folder with edges and datasets as Parquet, one file or part-*.parquet"
    if not folder.is_dir():
        raise InputError(name, [Fault("no folder", name, "", rule)])
    meta = folder / "problem.json"
    words = reading(meta, read_json, f"{name}/problem.json") if meta.exists() else {"schema_version": 1}
    datasets, edges = (_files(folder.resolve(), stem, name, rule) for stem in ("datasets", "edges"))
    findings = Findings(name)
    sheet = _empty(datasets)
    if by is not None and by not in DATASET_COLUMNS:
        sheet.columns.pop(by, None)
    notion = require_form(Sheets(name, words, sheet, _empty(edges)), findings)
    if words.get("labels") == INTEGER:
        _require_integers(name, datasets, edges)
    return Tables(name, words, datasets, edges, notion.name)


def _require_integers(name: str, *tables: Files) -> None:
    """Refuses labels that are text where integers are meant: here they are compared as the files hold them."""
    for files in tables:
        for column in sorted(files.kinds.keys() & LABELS):
            if files.kinds[column] not in INTEGERS and files.length:
                rule = f"problem.json says that labels are {INTEGER!r}, and partitions compare them as they stand"
                where, hint = f"{files.name}, {column}", "columns of integers can be read, or one machine"
                raise InputError(name, [Fault("a column of type", where, files.kinds[column], rule, hint)])


def _empty(files: Files) -> Table:
    """The table without its rows: what its form is judged by."""
    return Table(files.name, {column: [] for column in files.kinds}, files.length, files.row)


def _files(folder: Path, stem: str, name: str, rule: str) -> Files:
    parts = parts_of(folder / stem) if (folder / stem).is_dir() else []
    single = folder / f"{stem}.parquet"
    if not single.exists() and not parts:
        raise InputError(name, [Fault(f"no table of {stem} as Parquet", name, "", rule)])
    found = [path.name for path in (folder / f"{stem}.csv", single) if path.exists()]
    found += [f"{stem}/part-*.parquet"] * bool(parts)
    if len(found) > 1:
        raise InputError(name, [Fault("two tables of one name:", name, ", ".join(found), rule)])
    try:
        files = files_of(parts, f"{stem}/part-*.parquet") if parts else files_of([single], single.name)
        for column in files.kinds.keys() & {*KNOWN[stem]}:
            cell_of(column, files.kinds[column], files.name)  # or a refusal, before workers read any of it
        return files
    except InputError as refusal:
        raise InputError(name, refusal.faults, refusal.total) from None
