"""Where problems are: a JSON document, standard input, or a folder of tables, some of them in parts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from hetdp.documents import require_kind, require_version
from hetdp.errors import Fault, InputError
from hetdp.files.formats.json_files import STDIN, read_json, table_of
from hetdp.files.formats.parquet import read_parquet
from hetdp.files.formats.registry import DOCUMENT, FORMATS, SUFFIXES
from hetdp.files.formats.table import Table
from hetdp.files.formats.writing import reading
from hetdp.files.schema import DATASET_COLUMNS, EDGE_COLUMNS, INTEGER
from hetdp.text import format_value

STANDARD = "-"
OURS = frozenset({"problem.json"} | {f"{stem}{suffix}" for stem in ("edges", "datasets") for suffix in (*FORMATS, "")})


PART = re.compile(r"part-.*[.]parquet")
HIDDEN = (".", "_")  # what other programs leave beside the parts, such as a note that all went well


class Sheets(NamedTuple):
    """A problem as its files hold it: words, and two tables."""

    name: str
    meta: dict[str, Any]
    datasets: Table
    edges: Table


def open_problem(path: str | Path) -> Sheets:
    """The sheets of a problem: one JSON document, or a folder of tables."""
    if path != STANDARD and (place := existing(path)).is_dir():
        return _open_folder(place, str(path))
    name, document = open_document(path)
    require_kind(document, "problem", name, kind_of_document(document, "problem"))
    require_version(document, name)
    datasets = table_of(document, "datasets", name, DATASET_COLUMNS)
    return Sheets(name, document, datasets, table_of(document, "edges", name, EDGE_COLUMNS))


def open_document(path: str | Path) -> tuple[str, dict[str, Any]]:
    """The name and the content of a JSON document."""
    if path == STANDARD:
        return STDIN, read_json(None, STDIN)
    place = existing(path)
    if place.suffix.lower() != DOCUMENT:
        rule = "a problem is a .json file, or a folder with edges and datasets as .csv or .parquet"
        is_table = place.suffix.lower() in SUFFIXES
        hint = "hetdp.read_mechanism reads the table of a mechanism, hetdp.read_pins that of pins" if is_table else ""
        raise InputError(str(path), [Fault("an unknown kind of file", str(path), place.suffix, rule, hint)])
    return str(path), reading(place, read_json, str(path))


def kind_of_document(document: dict[str, Any], wanted: str) -> str:
    """What a document of files is that does not say its kind: only problems have edges, only mechanisms a proof."""
    if "edges" in document:
        return "problem"
    is_mechanism = wanted != "mechanism" and {"certificate", "coordinate"} & document.keys()
    return "mechanism" if is_mechanism else wanted


def existing(path: str | Path) -> Path:
    """A path that exists and can be read."""
    try:
        place = Path(path)
        if place.exists():
            return place
        reason = "there is no such file"
    except (OSError, ValueError) as fault:
        reason = str(fault)
    raise InputError(str(path), [Fault("cannot be read:", str(path), reason, "the input is a file or folder")])


def _open_folder(folder: Path, name: str) -> Sheets:
    if (folder / "mechanism.json").exists():
        require_kind({"kind": "mechanism"}, "problem", name)
    meta = folder / "problem.json"
    words = reading(meta, read_json, f"{name}/problem.json") if meta.exists() else {"schema_version": 1}
    integers = words.get("labels") == INTEGER
    datasets = _folder_table(folder, "datasets", DATASET_COLUMNS, integers)
    return Sheets(name, words, datasets, _folder_table(folder, "edges", EDGE_COLUMNS, integers))


def parts_of(folder: Path) -> list[Path]:
    """The parts of a table, in the order of their names; a file that would be left out is refused."""
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith(HIDDEN))
    for entry in entries:
        if not PART.fullmatch(entry.name) or not entry.is_file():
            rule = f"{folder.name}/ holds files part-*.parquet, and nothing else"
            raise InputError(str(folder), [Fault("an unexpected entry:", str(folder), format_value(entry.name), rule)])
    return entries


def _folder_table(folder: Path, stem: str, known: tuple[str, ...], integers: bool) -> Table:
    """The one table of that name: a CSV file, a Parquet file, or a folder of Parquet files."""
    parts = parts_of(folder / stem) if (folder / stem).is_dir() else []
    found = [path for suffix in FORMATS if (path := folder / f"{stem}{suffix}").exists()]
    if len(found) + bool(parts) != 1:
        value = ", ".join([path.name for path in found] + [f"{stem}/part-*.parquet"] * bool(parts))
        rule = (
            f"a problem folder holds one of {', '.join(f'{stem}{suffix}' for suffix in FORMATS)}, {stem}/part-*.parquet"
        )
        what = "two tables of one name:" if value else f"no table of {stem}"
        raise InputError(str(folder), [Fault(what, str(folder), value, rule)])
    try:
        if parts:
            return read_parquet(parts, f"{stem}/part-*.parquet", known)
        table: Table = reading(found[0], FORMATS[found[0].suffix].read, found[0].name, known, integers)
        return table
    except InputError as refusal:
        raise InputError(str(folder), refusal.faults, refusal.total) from None
