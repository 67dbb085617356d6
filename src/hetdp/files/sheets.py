"""A mechanism as its file holds it: a table, and the words in it or beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from hetdp.errors import Fault, InputError, shown
from hetdp.files.formats.duck import parquet_metadata, read_parquet
from hetdp.files.formats.json_form import parse_json, read_json, table_of
from hetdp.files.formats.tables import Table
from hetdp.files.places import STANDARD, existing, open_document, open_table, parts_of, reading, suffix_of
from hetdp.files.saving import digest_of, sidecar_of
from hetdp.files.schema import (
    INTEGER,
    JSON,
    MECHANISM_COLUMNS,
    MECHANISM_KEYS,
    TEXT,
    VALUES,
    require_columns,
    require_keys,
    require_notion,
    require_version,
)
from hetdp.problem.findings import Findings


class Sheet(NamedTuple):
    """A mechanism as its file holds it: words, and one table."""

    name: str
    meta: dict[str, Any]
    table: Table


def open_sheet(path: str | Path) -> Sheet:
    """The sheet in a file, if it has the form of one; its numbers are looked at later."""
    if path != STANDARD and Path(path).is_dir():
        name, place = str(path), Path(path)
        table, meta = _open_folder(place, name)
    elif path == STANDARD or suffix_of(path) == ".json":
        name, meta = open_document(path)
        table = table_of(meta, "datasets", name, MECHANISM_COLUMNS)
    else:
        place, name = existing(path), str(path)
        table = reading(place, open_table, name, MECHANISM_COLUMNS)
        meta = _beside(place, name)
    findings = Findings(name)
    require_form(meta, list(table.columns), name, table.name, findings)
    findings.raise_if_any()
    return Sheet(name, meta, table)


def require_form(meta: dict[str, Any], columns: list[str], name: str, table: str, findings: Findings) -> None:
    """Refuses words and columns that no mechanism has.

    Args:
        meta: what it says beside its table; nothing, if it was made elsewhere.
        columns: those of the table.
        name: how messages name the whole.
        table: how they name the table.
        findings: where faults are added; what is no mechanism of this version at all is refused at once.
    """
    if meta:
        require_version(meta, name, findings)
        require_keys(meta, MECHANISM_KEYS, name, findings)
        if meta.get("kind", "mechanism") != "mechanism":
            findings.add(Fault("no mechanism, but of kind", name, shown(meta["kind"]), "its kind is 'mechanism'"))
        require_notion(meta, name, findings)
        if meta.get("labels", TEXT) not in (TEXT, INTEGER, JSON):
            rule = f"labels in tables are {TEXT!r}, {INTEGER!r} or {JSON!r}"
            findings.add(Fault("unknown kind of labels", f"{name}, labels", shown(meta["labels"]), rule))
    for key in ("moved", "objective_gap"):
        small = meta.get(key, 0.0)
        if isinstance(small, bool) or not isinstance(small, (int, float)) or not 0.0 <= small <= 1.0:
            findings.add(Fault("no distance:", f"{name}, {key}", shown(small), "it is a small number ≥ 0"))
    require_columns(columns, ("dataset",), MECHANISM_COLUMNS, table, findings)
    if not {*VALUES} & set(columns):
        findings.add(Fault("no values", table, "", "a mechanism has a column z, p or error"))


def _open_folder(place: Path, name: str) -> tuple[Table, dict[str, Any]]:
    """A mechanism that workers wrote, a part each."""
    parts = parts_of(place / "mechanism") if (place / "mechanism").is_dir() else []
    if not parts:
        rule = "the folder of a mechanism holds mechanism.json and mechanism/part-*.parquet"
        raise InputError(name, [Fault("no mechanism", name, "", rule)])
    words = place / "mechanism.json"
    table = reading(parts[0], lambda _: read_parquet(parts, "mechanism/part-*.parquet", MECHANISM_COLUMNS))
    return table, reading(words, read_json, words.name) if words.exists() else {}


def _beside(place: Path, name: str) -> dict[str, Any]:
    """The words beside a table; a table made elsewhere has none."""
    if place.suffix.lower() == ".parquet":
        text = parquet_metadata(place, name)
        return {} if text is None else parse_json(text, name)
    beside = sidecar_of(place)
    if not beside.exists():
        return {}
    words: dict[str, Any] = reading(beside, read_json, beside.name)
    if words.get("table_sha256") != digest_of(place):
        rule = f"{beside.name} belongs to the table as it was written"
        hint = f"without {beside.name} the table is read as one made elsewhere"
        raise InputError(name, [Fault("a table that was changed after it was written", name, "", rule, hint)])
    return words
