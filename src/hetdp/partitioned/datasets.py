"""The tables of a partitioned problem: their form, checked before any row is read, and the datasets by partition."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import Fault, InputError
from hetdp.files.formats.json_files import read_json
from hetdp.files.formats.parquet import INTEGERS, cell_of
from hetdp.files.formats.table import Table
from hetdp.files.formats.writing import reading
from hetdp.files.places import STANDARD, Sheets, existing, parts_of
from hetdp.files.problems import answer_column, positive_of, require_form
from hetdp.files.schema import DATASET_COLUMNS, EDGE_COLUMNS, INTEGER, JSON, LABELS
from hetdp.partitioned.parquet_rows import Files, as_values, files_of, read_range
from hetdp.partitioned.partition import Partition
from hetdp.problem.faults import FaultCollector
from hetdp.problem.partial import PartialMechanism, pins_on
from hetdp.problem.problem import EdgelessProblem
from hetdp.problem.query import answers_of
from hetdp.problem.spelling import label_to_json, shorten_label
from hetdp.problem.values import weights_of
from hetdp.theory.catalogue import notion_of_key

KNOWN = {"datasets": DATASET_COLUMNS, "edges": EDGE_COLUMNS}


class Tables(NamedTuple):
    """A problem in Parquet files.

    Attributes:
        name: how messages name it.
        words: what problem.json says.
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
    """The tables of a folder, if they have the form of a problem; one more column of datasets may be there."""
    folder, name = Path(path) if path == STANDARD else existing(path), str(path)
    rule = "partitions are read from a folder with edges and datasets as Parquet, one file or part-*.parquet"
    if not folder.is_dir():
        raise InputError(name, [Fault("no folder", name, "", rule)])
    meta = folder / "problem.json"
    words = reading(meta, read_json, f"{name}/problem.json") if meta.exists() else {"schema_version": 1}
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
    several = parts_of(folder / stem) if (folder / stem).is_dir() else []
    single = folder / f"{stem}.parquet"
    if not single.exists() and not several:
        raise InputError(name, [Fault(f"no table of {stem} as Parquet", name, "", rule)])
    found = [path.name for path in (folder / f"{stem}.csv", single) if path.exists()]
    found += [f"{stem}/part-*.parquet"] * bool(several)
    if len(found) > 1:
        raise InputError(name, [Fault("two tables of one name:", name, ", ".join(found), rule)])
    try:
        files = files_of(several, f"{stem}/part-*.parquet") if several else files_of([single], single.name)
        for column in files.kinds.keys() & {*KNOWN[stem]}:
            cell_of(column, files.kinds[column], files.name)  # or a refusal, before workers read any of it
        return files
    except InputError as refusal:
        raise InputError(name, refusal.faults, refusal.total) from None


# The table of datasets, a partition at a time: labels, true answers and given values, looked at by workers.


PINS = ("p", "z", "error")
DIFFERENT = 100  # answers that are looked at, as written: 68 texts mean a digit or a truth value; a third is a fault


class ListedLabels:
    """The labels of some rows, for messages."""

    def __init__(self, names: Any) -> None:
        self.names: Any = names

    def index(self, _: Any) -> int:
        """Nothing is looked up here."""
        raise NotImplementedError

    def indices(self, _: Any) -> Any:
        """Nothing is looked up here."""
        raise NotImplementedError


class DatasetScan(NamedTuple):
    """What a first look at a partition's datasets found.

    Attributes:
        faults: of their labels.
        total: how many.
        in_order: whether the labels are the numbers of the datasets themselves.
        answers: the different answers as written, in order of their first row: what texts mean depends on all of them.
        rows: the first row of each.
        missing: the faults of rows without an answer, and how many there are.
    """

    faults: list[Fault]
    total: int
    in_order: bool
    answers: list[Any]
    rows: list[Any]
    missing: tuple[list[Fault], int]


def scan_datasets(partition: Partition, files: Files, kind: str) -> DatasetScan:
    """Looks at labels and answers."""
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
    """Labels are compared by their JSON, as it stands: it has one form only."""
    rule = "on partitions, a label's JSON is written as hetdp writes it"
    for at, (cell, name) in enumerate(zip(as_values(table.columns["dataset"]), names, strict=True)):
        if isinstance(cell, str) and cell != label_to_json(name):
            findings.add(Fault("other JSON than", f"{table.row(at)}, dataset", label_to_json(name), rule))


def _no_answer(labels: ListedLabels, at: int) -> Fault:
    return Fault("no answer", f"dataset {shorten_label(labels.names[at])}", "", "every dataset has a true answer")


def _is_plain(values: Any) -> bool:
    """Whether a column holds integers or truth values, and no gap."""
    return isinstance(values, np.ndarray) and values.dtype.kind in "iub" and not isinstance(values, np.ma.MaskedArray)


def _different(values: Any, listed: list[Any]) -> tuple[list[Any], list[int]]:
    """The first few different answers, and where each is first."""
    if _is_plain(values):
        found, first = np.unique(values, return_index=True)
        order = np.argsort(first)[:DIFFERENT]
        return found[order].tolist(), first[order].tolist()
    seen: dict[Any, int] = {}
    for at, value in enumerate(listed):
        if value is not None and value == value and value not in seen:
            seen[value] = at
            if len(seen) == DIFFERENT:
                break
    return list(seen), list(seen.values())


def first_answers(scanned: list[DatasetScan], positive: Any, findings: FaultCollector) -> list[Any]:
    """How answer 1 is written, or the faults that one machine would find; asked of the different answers alone."""
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
    """Writes answers and given values; returns faults, how many, and how many values are given."""
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
