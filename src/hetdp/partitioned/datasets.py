"""The tables of a partitioned problem, and the table of datasets, one partition at a time.

`open_tables` checks files and columns before any row is read. Workers then read the rows of their partition:
`scan_datasets` checks labels and lists the distinct answers, `first_answers` decides which of them mean 1, and
`settle_datasets` writes answers and given values.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import Fault, FaultCollector, InputError
from hetdp.files.formats.json_files import read_json
from hetdp.files.formats.parquet import INTEGERS, cell_of
from hetdp.files.formats.registry import FORMATS
from hetdp.files.formats.table import Table
from hetdp.files.formats.writing import call_reader
from hetdp.files.problems import STANDARD, Sheets, answer_column, parts_of, positive_of, require_existing, require_form
from hetdp.files.schema import DATASET_COLUMNS, EDGE_COLUMNS, INTEGER, JSON, LABELS
from hetdp.partitioned.parquet_rows import Files, as_values, files_of, read_range
from hetdp.partitioned.partition import Partition
from hetdp.problem.partial import PartialMechanism, pins_on
from hetdp.problem.problem import EdgelessProblem
from hetdp.problem.query import answers_of
from hetdp.problem.spelling import label_to_json, shorten_label
from hetdp.problem.values import weights_of
from hetdp.theory.catalogue import notion_of_key

KNOWN_COLUMNS = {"datasets": DATASET_COLUMNS, "edges": EDGE_COLUMNS}


class Tables(NamedTuple):
    """A problem in Parquet files.

    Attributes:
        name: name used in messages.
        words: content of problem.json.
        datasets: the table of datasets.
        edges: the table of edges.
        notion: the key of the notion of privacy.
    """

    name: str
    words: dict[str, Any]
    datasets: Files
    edges: Files
    notion: str


def open_tables(path: str | Path, by: str | None = None) -> Tables:
    """Opens the tables of a folder and checks their columns; `by` names an extra column of datasets that is allowed."""
    folder, name = Path(path) if path == STANDARD else require_existing(path), str(path)
    rule = "partitions are read from a folder with edges and datasets as Parquet, one file or part-*.parquet"
    if not folder.is_dir():
        hint = "hetdp.read_problem reads a problem from one file" if name.endswith(".json") else ""
        raise InputError(name, [Fault("not a folder", name, "", rule, hint)])
    meta = folder / "problem.json"
    words = call_reader(meta, read_json, f"{name}/problem.json") if meta.exists() else {"schema_version": 1}
    datasets, edges = (_files(folder.resolve(), stem, name, rule) for stem in ("datasets", "edges"))
    findings = FaultCollector(name)
    sheet = _empty(datasets)
    if by is not None and by not in DATASET_COLUMNS:
        sheet.columns.pop(by, None)
    notion = require_form(Sheets(name, words, sheet, _empty(edges)), findings)
    if words.get("labels") == INTEGER:
        _require_integers(name, datasets, edges)
    return Tables(name, words, datasets, edges, notion.key)


def _require_integers(name: str, *tables: Files) -> None:
    """Refuses text labels where problem.json declares integers: partitions compare labels as stored."""
    for files in tables:
        for column in sorted(files.kinds.keys() & LABELS):
            if files.kinds[column] not in INTEGERS and files.length:
                rule = f"problem.json says that labels are {INTEGER!r}, and partitions compare them as they stand"
                where, hint = f"{files.name}, {column}", "columns of integers can be read, or one machine"
                raise InputError(name, [Fault("a column of type", where, files.kinds[column], rule, hint)])


def _empty(files: Files) -> Table:
    """The table without its rows, for checking its columns."""
    return Table(files.name, {column: [] for column in files.kinds}, files.length, files.row)


def _files(folder: Path, stem: str, name: str, rule: str) -> Files:
    several = parts_of(folder / stem) if (folder / stem).is_dir() else []
    single = folder / f"{stem}.parquet"
    if not single.exists() and not several:
        raise InputError(name, [Fault(f"no table of {stem} as Parquet", name, "", rule)])
    found = [path.name for path in (folder / f"{stem}{suffix}" for suffix in FORMATS) if path.exists()]
    found += [f"{stem}/part-*.parquet"] * bool(several)
    if len(found) > 1:
        raise InputError(name, [Fault("two tables of one name:", name, ", ".join(found), rule)])
    try:
        files = files_of(several, f"{stem}/part-*.parquet") if several else files_of([single], single.name)
        for column in files.kinds.keys() & {*KNOWN_COLUMNS[stem]}:
            cell_of(column, files.kinds[column], files.name)  # raises before workers read any row
        return files
    except InputError as refusal:
        raise InputError(name, refusal.faults, refusal.total) from None


# Datasets of one partition --------------------------------------------------------------------------------------------


PINS = ("p", "z", "error")
MOST_ANSWERS = (
    100  # distinct answers kept, as written: 68 texts mean a digit or a truth value; a third meaning is a fault
)


class ListedLabels:
    """The labels of some rows, for messages."""

    def __init__(self, names: Any) -> None:
        self.names: Any = names

    def index(self, _: Any) -> int:
        """Not supported: these labels are only displayed."""
        raise NotImplementedError

    def indices(self, _: Any) -> Any:
        """Not supported: these labels are only displayed."""
        raise NotImplementedError


class DatasetScan(NamedTuple):
    """Result of the first pass over a partition's datasets.

    Attributes:
        faults: the first faults of the labels.
        total: number of faults.
        in_order: True if each label equals the number of its dataset.
        answers: the distinct answers as written, by first occurrence; the meaning of a text depends on all of them.
        rows: label of the first dataset with each answer.
        missing: the first faults of rows without an answer, and the number of such rows.
    """

    faults: list[Fault]
    total: int
    in_order: bool
    answers: list[Any]
    rows: list[Any]
    missing: tuple[list[Fault], int]


def scan_datasets(partition: Partition, files: Files, kind: str) -> DatasetScan:
    """Checks the labels of a partition and lists its distinct answers."""
    table = read_range(files, partition.first, partition.first + partition.size, ("dataset", "query"))
    findings, missing = FaultCollector(""), FaultCollector("")
    names = table.label_column("dataset", findings, kind) if partition.size else np.empty(0, dtype=np.int64)
    if kind == JSON and not findings.total:
        _require_usual_json(table, names, findings)
    is_array = isinstance(names, np.ndarray)
    in_order = is_array and np.array_equal(names, np.arange(partition.first, partition.first + partition.size))
    values = table.columns["query"]
    listed = as_values(values)
    if not _is_plain(values):
        labels = ListedLabels(names)
        for at in [at for at, value in enumerate(listed) if value is None or value != value]:
            missing.add(_no_answer(labels, at))
    answers, rows = _different(values, listed)
    first_labels = [names[at] for at in rows] if not findings.total else [None] * len(rows)
    plain = [label.item() if isinstance(label, np.generic) else label for label in first_labels]
    return DatasetScan(findings.faults, findings.total, in_order, answers, plain, (missing.faults, missing.total))


def _require_usual_json(table: Table, names: Any, findings: FaultCollector) -> None:
    """Refuses labels whose JSON is not in hetdp's own form: partitions compare it as text."""
    rule = "on partitions, a label's JSON is written as hetdp writes it"
    for at, (cell, name) in enumerate(zip(as_values(table.columns["dataset"]), names, strict=True)):
        if isinstance(cell, str) and cell != label_to_json(name):
            findings.add(Fault("other JSON than", f"{table.row(at)}, dataset", label_to_json(name), rule))


def _no_answer(labels: ListedLabels, at: int) -> Fault:
    return Fault("no answer", f"dataset {shorten_label(labels.names[at])}", "", "every dataset has a true answer")


def _is_plain(values: Any) -> bool:
    """True if a column holds integers or truth values, none of them missing."""
    return isinstance(values, np.ndarray) and values.dtype.kind in "iub" and not isinstance(values, np.ma.MaskedArray)


def _different(values: Any, listed: list[Any]) -> tuple[list[Any], list[int]]:
    """The first distinct answers, and the position of each one's first occurrence."""
    if _is_plain(values):
        found, first = np.unique(values, return_index=True)
        order = np.argsort(first)[:MOST_ANSWERS]
        return found[order].tolist(), first[order].tolist()
    seen: dict[Any, int] = {}
    for at, value in enumerate(listed):
        if value is not None and value == value and value not in seen:
            seen[value] = at
            if len(seen) == MOST_ANSWERS:
                break
    return list(seen), list(seen.values())


def first_answers(scanned: list[DatasetScan], positive: Any, findings: FaultCollector) -> list[Any]:
    """The spellings that mean answer 1, from the distinct answers; collects the faults that one machine finds."""
    pairs: dict[Any, Any] = {}
    for one in scanned:
        for value, label in zip(one.answers, one.rows, strict=True):
            pairs.setdefault(value, label)
        findings.faults.extend(one.missing[0])
        findings.total += one.missing[1]
    meant, labels = answer_column([*pairs]), ListedLabels([*pairs.values()])
    with findings.collect():
        given: Any = np.array(meant) if {*map(type, meant)} == {int} else meant
        answers = answers_of(given, labels, positive_of(positive, meant))
        return [value for value, answer in zip(pairs, answers.tolist(), strict=True) if answer == 1]
    return []


def settle_datasets(partition: Partition, files: Files, ones: list[Any], notion: str) -> tuple[list[Fault], int, int]:
    """Writes answers and given values; returns the first faults, their number, and the number of given values."""
    table = read_range(files, partition.first, partition.first + partition.size, DATASET_COLUMNS)
    findings = FaultCollector("")
    labels = ListedLabels(table.label_column("dataset", findings) if partition.size else [])
    values = table.columns["query"]
    is_one = np.zeros(partition.size, dtype=np.bool_)
    for one in ones if _is_plain(values) else ():
        is_one |= values == one
    if not _is_plain(values):
        is_one = np.fromiter((value in ones for value in as_values(values)), np.bool_, partition.size)
    answers = np.where(is_one, np.int8(1), np.int8(2))
    pins = np.full(partition.size, np.nan)
    given = PartialMechanism(**{name: table.number_column(name) for name in PINS})
    with findings.collect():
        pins = pins_on(EdgelessProblem(labels, answers, notion_of_key(notion), ""), given)
    with findings.collect():
        _check_weights(table, labels)
    partition.save("answers", answers)
    partition.save("pins", pins)
    return findings.faults, findings.total, int(np.count_nonzero(~np.isnan(pins)))


def _check_weights(table: Table, labels: ListedLabels) -> None:
    weights = table.number_column("weight")
    if weights is not None:
        weights_of(weights, labels)
