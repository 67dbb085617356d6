"""read_problem and read_pins: problems and partial mechanisms from JSON files, folders of tables and tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from hetdp import progress
from hetdp.documents import require_keys, require_kind, require_path, require_version
from hetdp.errors import Fault, FaultCollector, InputError
from hetdp.files.formats.json_files import STDIN, read_json, table_of
from hetdp.files.formats.parquet import read_parquet
from hetdp.files.formats.registry import DOCUMENT, FORMATS, SUFFIXES, TABLE_SUFFIXES, suffix_of
from hetdp.files.formats.table import Categorical, Table
from hetdp.files.formats.writing import call_reader
from hetdp.files.schema import (
    DATASET_COLUMNS,
    EDGE_COLUMNS,
    INTEGER,
    JSON,
    PIN_COLUMNS,
    PROBLEM_KEYS,
    TEXT,
    require_columns,
    require_notion,
    stated_notion,
)
from hetdp.problem.answer_words import ABOUT_KEYS
from hetdp.problem.classes import Classes, classes_of
from hetdp.problem.columns import as_floats
from hetdp.problem.decimals import NAME as GRID
from hetdp.problem.edges import PROBABILITY_RULE, Edges, percentage_hint
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.labels import HasLabels, LabelHints, Labels, labels_of
from hetdp.problem.parameters import COLUMNS, COLUMNS_RULE, KINDS, parameters_of
from hetdp.problem.partial import PartialMechanism, pins_on
from hetdp.problem.problem import EdgelessProblem, Problem
from hetdp.problem.query import Answers, answers_of
from hetdp.problem.space import Floats, Indices
from hetdp.problem.spelling import find_label
from hetdp.problem.values import PIN, weights_of
from hetdp.text import NOTE, format_value, pluralize
from hetdp.theory.catalogue import notion_of
from hetdp.theory.notion import BACK, Notion
from hetdp.theory.pure import PURE

DIGITS = frozenset("0123456789")
TRUTH_WORDS = {"true": True, "false": False}
STANDARD = "-"
FOLDER_FILES = frozenset(
    {"problem.json"} | {f"{stem}{suffix}" for stem in ("edges", "datasets") for suffix in (*FORMATS, "")}
)
PART_NAME = re.compile(r"part-.*[.]parquet")
IGNORED_PREFIXES = (".", "_")  # what other programs leave beside the parts, such as a note that all went well


def answer_column(values: Any) -> Any:
    """The answers as intended: digits and ``true`` and ``false`` may be written as text."""
    if isinstance(values, Categorical):
        return values.convert(_plain_answers, FaultCollector(""))
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return values
    different = set(filter(_is_text, values))
    meant = {text: answer(text) for text in different}
    if not different or not all(meant[text] is not text for text in different):
        return values
    return [meant[value] if _is_text(value) else value for value in values]


def _plain_answers(values: Any, findings: FaultCollector) -> Any:
    """Converts the distinct answers of a column: an array if they are two numbers or truth values."""
    meant = answer_column(values)
    kinds = set(map(type, meant))
    return np.array(meant) if kinds in ({int}, {bool}) and len({*meant}) <= 2 else meant


def answer(text: str) -> Any:
    """The one-digit integer or truth value that a text means, otherwise the text."""
    if text.removesuffix(".0") in DIGITS:  # data frames turn a column with a gap into floats
        return int(text.removesuffix(".0"))
    return TRUTH_WORDS.get(text.lower(), text)


def positive_of(positive: Any, values: Any) -> Any:
    """The answer that counts as 1, which may be given as text too."""
    if not _is_text(positive):
        return positive
    different = set(values.tolist() if isinstance(values, np.ndarray) else filter(_is_plain, values))
    return positive if positive in different else answer(positive)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float))


# Pins in a file of their own.


def read_pins(path: str | Path, problem: HasLabels | None = None) -> PartialMechanism:
    r"""Reads values for some datasets: a table with `dataset` and one or more of `p`, `z` and `error`.

    Args:
        path: a ``.json`` (records under ``datasets``), ``.csv`` or ``.parquet`` file, or ``-`` for JSON on standard
            input.
        problem: the problem that the pins are for. With it, a text stands for the label that it means on the command
            line, such as ``7`` in a CSV file for the number, and an unknown dataset is refused with its row.

    Raises:
        InputError: listing every fault of the file.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pins.csv")
    ...     _ = path.write_text("dataset,p,error\n01,0.6,\n02,,1e-30\n")
    ...     read_pins(path)
    PartialMechanism(p={'01': 0.6}, z=None, error={'02': 1e-30})
    """
    progress.report_stage("reading the pins")
    table = _open(path)
    findings = FaultCollector(str(path))
    if {"query", "pinned"} <= table.columns.keys():
        require_kind({"kind": "mechanism"}, "pins", table.name)
    require_columns(list(table.columns), ("dataset",), PIN_COLUMNS, table.name, findings)
    if not {"p", "z", "error"} & table.columns.keys():
        findings.add(Fault("no values", table.name, "", "pins have a column p, z or error"))
    findings.raise_if_any()
    labels, row = table.label_column("dataset", findings), table.row
    if findings.total:  # those without a label are reported; the others may repeat one
        known = [at for at, label in enumerate(labels) if label is not None]
        labels_of([labels[at] for at in known], findings, lambda at: row(known[at]))
        names: Sequence[Any] = labels
    else:
        names = labels_of(labels, findings, row).names
        if problem is not None:
            names = _find_datasets(names, problem.labels, table, findings)
    given = {}
    for kind in ("p", "z", "error"):
        column = table.number_column(kind)
        if column is not None:
            values = as_floats(column, row, f"non-numeric {kind}", "a pin is a number", findings)
            if kind != "z":
                _require_probabilities(kind, values, row, findings)
            given[kind] = {names[at]: float(values[at]) for at in np.flatnonzero(~np.isnan(values)).tolist()}
    findings.raise_if_any()
    return PartialMechanism(**{kind: pins for kind, pins in given.items() if pins})


def _require_probabilities(kind: str, values: Floats, row: Callable[[int], str], findings: FaultCollector) -> None:
    """Reports values outside [0, 1] by their rows, together with the other faults of the file."""
    outside = ~np.isnan(values) & ~((values >= 0.0) & (values <= 1.0))

    def out_of_range(at: int) -> Fault:
        value = float(values[at])
        return Fault(f"{kind} out of range:", row(at), repr(value), PROBABILITY_RULE, percentage_hint(value))

    findings.add_where(outside, out_of_range)


def _find_datasets(given: Sequence[Any], labels: Labels, table: Table, findings: FaultCollector) -> Sequence[Any]:
    """The labels that the names in a table of pins mean; names that mean the same dataset stay as they are."""
    hint = LabelHints(labels)
    found = [name if (label := find_label(name, labels)) is None else label for name in given]
    if len(set(found)) == len(found):
        given = found
    findings.add_where(
        labels.indices(given) < 0,
        lambda at: Fault("unknown dataset", table.row(at), format_value(given[at]), PIN.known, hint(given[at])),
    )
    return given


def _open(path: str | Path) -> Table:
    folder = require_path(path)
    if path != STANDARD and folder.is_dir():
        require_kind({"kind": "mechanism" if (folder / "mechanism.json").exists() else "problem"}, "pins", str(path))
    if path == STANDARD or suffix_of(path) == DOCUMENT:
        name, document = open_document(path)
        require_kind(document, "pins", name, kind_of_document(document, "pins"))
        require_version(document, name)
        return table_of(document, "datasets", name, PIN_COLUMNS)
    table: Table = call_reader(
        require_existing(path), FORMATS[suffix_of(path)].read, str(path), PIN_COLUMNS, False, None
    )
    return table


# Problems.


PINS = ("p", "z", "error")


class ProblemFile(NamedTuple):
    """The content of a problem file: a problem, and the values given on some of its datasets.

    Attributes:
        problem: the Problem.
        partial: the PartialMechanism: the values that the file gives; without any if it gives none.
    """

    problem: Problem
    partial: PartialMechanism

    def __repr__(self) -> str:
        return f"ProblemFile({self.problem!r}, {self._pin_count()} pinned)"

    def _repr_html_(self) -> str:
        """For notebooks: the problem, and how many values the file gives."""
        note = (
            f"The file gives {pluralize(self._pin_count(), 'value')}."
            if self._pin_count()
            else "The file gives no values."
        )
        return f'{self.problem._repr_html_()}\n<p style="{NOTE}">{note}</p>'

    def _pin_count(self) -> int:
        return int(np.count_nonzero(~np.isnan(pins_on(self.problem, self.partial))))


def read_problem(path: str | Path, duplicates: Literal["error", "min"] = "error", positive: Any = None) -> ProblemFile:
    """Reads a problem and its partial mechanism.

    Args:
        path: a JSON file, a folder with ``edges`` and ``datasets`` as CSV or Parquet, or ``-`` for JSON on standard
            input.
        duplicates: what happens to an edge of one class listed twice with different ε: "error", or "min", the more
            private one. Edges of different classes are all kept: the tightest binds, and every class pays.
        positive: which given answer counts as 1; default: what the file says.

    Raises:
        InputError: listing every fault of the file.

    >>> import pathlib, tempfile
    >>> text = '''{"schema_version": 1,
    ...   "datasets": [{"dataset": "a", "query": 1, "p": 0.6}, {"dataset": "b", "query": 2, "p": 0.4}],
    ...   "edges": [{"source": "a", "target": "b", "epsilon": 0.5}]}'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "problem.json")
    ...     _ = path.write_text(text)
    ...     problem, partial = read_problem(path)
    >>> problem
    Problem(2 datasets, 1 with answer 1, notion 'pure')
    """
    progress.report_stage("reading the problem")
    sheets = open_problem(path)
    progress.report_stage("building the graph")
    findings = FaultCollector(sheets.name)
    notion = require_form(sheets, findings)
    names = _labels(sheets, sheets.datasets, "dataset", findings)
    findings.raise_if_any()
    labels = labels_of(names, findings, sheets.datasets.row)
    partial = PartialMechanism(**{name: sheets.datasets.number_column(name) for name in PINS})
    answers = _answers(sheets, labels, notion, partial, positive, findings)
    weights = sheets.datasets.number_column("weight")
    with findings.collect():
        weights = None if weights is None else weights_of(weights, labels)
    graph = _graph(sheets, labels, notion, duplicates, findings)
    about = sheets.meta.get("about")
    return ProblemFile(Problem(graph, answers, notion, weights=weights, about=about), partial)


def require_form(sheets: Sheets, findings: FaultCollector) -> Notion:
    """Checks everything that must be right before rows are read; returns the notion of privacy."""
    meta = sheets.meta
    require_kind(meta, "problem", sheets.name, kind_of_document(meta, "problem"))
    require_version(meta, sheets.name)
    with findings.collect():
        require_keys(meta, (), PROBLEM_KEYS, sheets.name)
    about = meta.get("about")
    if about is not None and not (isinstance(about, dict) and all(isinstance(x, str) for x in about.values())):
        findings.add(
            Fault(
                "not an object of texts:",
                f"{sheets.name}, about",
                format_value(about),
                "it has texts as keys and values",
            )
        )
    elif about is not None:
        with findings.collect():
            require_keys(about, (), ABOUT_KEYS, f"{sheets.name}, about")
    for key in ("labels", "classes"):
        if meta.get(key, TEXT) not in (TEXT, INTEGER, JSON):
            rule = f"{key} in tables are {TEXT!r}, {INTEGER!r} or {JSON!r}"
            findings.add(Fault(f"unknown kind of {key}", f"{sheets.name}, {key}", format_value(meta[key]), rule))
    before = findings.total
    require_notion(meta, sheets.name, findings)
    if findings.total > before:  # the notion decides which columns are known
        findings.raise_if_any()
    notion = _notion(sheets, findings)
    needed = [name for name in notion.parameters if not name.endswith(BACK)]
    known = ("source", "target", *notion.parameters, "class") if "notion" in meta else EDGE_COLUMNS
    for table, wanted, columns in (
        (sheets.datasets, ("dataset", "query"), DATASET_COLUMNS),
        (sheets.edges, ("source", "target", *needed), known),
    ):
        if table.length or table.columns:  # an empty list of JSON has no columns
            named = notion.name if table is sheets.edges else ""
            require_columns(list(table.columns), wanted, columns, table.name, findings, named)
    if "grid" in meta and (meta["grid"] != GRID or notion.parameters != PURE.parameters):
        rule = f"the grid is {GRID!r}, and it is for edges that have ε alone"
        findings.add(Fault("unknown grid", f"{sheets.name}, grid", format_value(meta["grid"]), rule))
    findings.raise_if_any()
    return notion


def _labels(sheets: Sheets, table: Table, column: str, findings: FaultCollector) -> Any:
    if column not in table.columns:
        return []
    return table.label_column(column, findings, sheets.meta.get("labels", TEXT))


def _answers(
    sheets: Sheets, labels: Labels, notion: Notion, partial: PartialMechanism, positive: Any, findings: FaultCollector
) -> Answers:
    """The answers, and the pins checked against them."""
    given = answer_column(sheets.datasets.columns.get("query", []))
    answers: Answers = np.ones(sheets.datasets.length, dtype=np.int8)  # to check the pins with, if there are faults
    with findings.collect():
        chosen = sheets.meta.get("positive") if positive is None else positive
        answers = answers_of(given, labels, positive_of(chosen, given))
    with findings.collect():
        pins_on(EdgelessProblem(labels, answers, notion, ""), partial)
    return answers


def _graph(
    sheets: Sheets, labels: Labels, notion: Notion, duplicates: Literal["error", "min"], findings: FaultCollector
) -> DatasetGraph:
    """Builds the graph; raises the faults of the whole file."""
    table = sheets.edges
    if not table.length:
        findings.raise_if_any()
        none: dict[str, Any] = dict.fromkeys(notion.parameters, ())
        empty = Edges([], [], parameters_of(none, table.row, findings, [], notion.parameters))
        ends = np.empty(0, np.int64), np.empty(0, np.int64)
        return DatasetGraph.from_ends(labels, ends, empty, duplicates, findings, "grid" in sheets.meta)
    source, target = (_labels(sheets, table, end, findings) for end in ("source", "target"))
    unread: list[int] = []
    given = {name: table.number_column(name) for name in COLUMNS if name in table.columns}
    parameters = parameters_of(given, table.row, findings, unread, notion.parameters)
    classes = _classes(table.class_column(findings, sheets.meta.get("classes", TEXT)), findings)
    ends = _positions(source, labels), _positions(target, labels)
    edges = Edges(source, target, parameters, classes, table.row, unread)
    return DatasetGraph.from_ends(labels, ends, edges, duplicates, findings, "grid" in sheets.meta)


def _positions(column: Any, labels: Labels) -> Indices:
    """The number of the dataset at each end of an edge, −1 if there is none."""
    if not isinstance(column, Categorical):
        return labels.indices(column)
    size, categories = len(labels.names), column.categories
    if tuple(categories[:size]) == labels.names:  # as they were read; the rest is unknown
        found = np.concatenate([np.arange(size), labels.indices(categories[size:])])
    else:
        found = labels.indices(categories)
    return np.asarray(found[column.codes])


def _classes(column: Any, findings: FaultCollector) -> Classes | None:
    if isinstance(column, Categorical):
        found = classes_of(column.categories, findings)
        return found and found.take(column.codes)
    return classes_of(column, findings)


def _notion(sheets: Sheets, findings: FaultCollector) -> Notion:
    """The notion that the file states, or the one that its columns imply; without either, the checks end."""
    if "notion" in sheets.meta:
        return stated_notion(sheets.meta)
    found = [name for name in COLUMNS if name in sheets.edges.columns]
    kind = next((kind for kind in KINDS if {*found} <= {*kind}), None)
    if kind is None:
        findings.add(Fault("columns that do not go together:", sheets.edges.name, ", ".join(found), COLUMNS_RULE))
        findings.raise_if_any()
    return notion_of(kind or PURE.parameters)


# Where problems are: a JSON document, standard input, or a folder of tables, some of them in parts --------------------


class Sheets(NamedTuple):
    """A problem as its files hold it: metadata and two tables."""

    name: str
    meta: dict[str, Any]
    datasets: Table
    edges: Table


def open_problem(path: str | Path) -> Sheets:
    """Opens a problem: one JSON document, or a folder of tables."""
    if path != STANDARD and (place := require_existing(path)).is_dir():
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
    place = require_existing(path)
    if place.suffix.lower() != DOCUMENT:
        rule = f"a problem is a {DOCUMENT} file, or a folder with edges and datasets as {TABLE_SUFFIXES}"
        is_table = place.suffix.lower() in SUFFIXES
        hint = "hetdp.read_mechanism reads the table of a mechanism, hetdp.read_pins that of pins" if is_table else ""
        raise InputError(str(path), [Fault("an unknown kind of file", str(path), place.suffix, rule, hint)])
    return str(path), call_reader(place, read_json, str(path))


def kind_of_document(document: dict[str, Any], wanted: str) -> str:
    """The kind of a document that does not state it: only problems have edges, only mechanisms have a certificate."""
    if "edges" in document:
        return "problem"
    is_mechanism = wanted != "mechanism" and {"certificate", "coordinate"} & document.keys()
    return "mechanism" if is_mechanism else wanted


def require_existing(path: str | Path) -> Path:
    """The path, if it exists and can be read."""
    place = require_path(path)
    try:
        if place.exists():
            return place
        reason = "there is no such file"
    except (OSError, ValueError) as fault:
        reason = str(fault)
    raise InputError(
        str(path), [Fault("cannot be read:", str(path), reason, "the path must be that of a file or folder")]
    )


def _open_folder(folder: Path, name: str) -> Sheets:
    if (folder / "mechanism.json").exists():
        require_kind({"kind": "mechanism"}, "problem", name)
    meta = folder / "problem.json"
    words = call_reader(meta, read_json, f"{name}/problem.json") if meta.exists() else {"schema_version": 1}
    integers = words.get("labels") == INTEGER
    datasets = _folder_table(folder, "datasets", DATASET_COLUMNS, integers)
    labels = datasets.columns.get("dataset", [])
    if isinstance(labels, np.ndarray):
        labels = labels.tolist() if labels.dtype == object else None
    edges = _folder_table(folder, "edges", EDGE_COLUMNS, integers, labels)
    return Sheets(name, words, datasets, edges)


def parts_of(folder: Path) -> list[Path]:
    """The parts of a table, in the order of their names; refuses a file that would be left out."""
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith(IGNORED_PREFIXES))
    for entry in entries:
        if not PART_NAME.fullmatch(entry.name) or not entry.is_file():
            rule = f"{folder.name}/ holds files part-*.parquet, and nothing else"
            raise InputError(str(folder), [Fault("an unexpected entry:", str(folder), format_value(entry.name), rule)])
    return entries


def _folder_table(
    folder: Path, stem: str, known: tuple[str, ...], integers: bool, likely: Sequence[Any] | None = None
) -> Table:
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
            return read_parquet(parts, f"{stem}/part-*.parquet", known, likely)
        table: Table = call_reader(found[0], FORMATS[found[0].suffix].read, found[0].name, known, integers, likely)
        return table
    except InputError as refusal:
        raise InputError(str(folder), refusal.faults, refusal.total) from None
