"""save: problems and mechanisms as columns and documents, written to files by the suffix of the name."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import Certificate, verify
from hetdp.documents import require_path
from hetdp.errors import FaultCollector, UsageError, VerificationError
from hetdp.files.formats.json_files import write_json
from hetdp.files.formats.registry import DOCUMENT, FORMATS, require_folder_name, suffix_of
from hetdp.files.formats.table import DEEPEST_NESTING
from hetdp.files.formats.writing import whole_file, whole_folder
from hetdp.files.problems import FOLDER_FILES, STANDARD
from hetdp.files.schema import CLASS_RULE, INTEGER, JSON, LABEL_RULE, TEXT, VERSION, notion_words
from hetdp.mechanism.mechanism import BINDING, LocalMechanism, Mechanism, RemoteMechanism
from hetdp.numbers import json_number
from hetdp.problem.columns import as_list
from hetdp.problem.decimals import NAME as GRID
from hetdp.problem.labels import Labels
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem, require_edges
from hetdp.problem.product import ProductSpace, Tuples, require_listable
from hetdp.problem.space import Indices
from hetdp.problem.spelling import label_to_json
from hetdp.problem.values import PIN, order_values
from hetdp.text import did_you_mean, format_value
from hetdp.version import VERSION as SOFTWARE


def mechanism_columns(mechanism: LocalMechanism) -> dict[str, Any]:
    """The table of a mechanism."""
    names = label_array(mechanism.problem.labels.names)
    return {
        "dataset": names,
        "query": mechanism.problem.answers,
        "p": mechanism.probabilities,
        "z": mechanism.coordinates,
        "error": mechanism.errors,
        "pinned": mechanism.pinned,
        BINDING: _bound_by(names, mechanism.links),
    } | mechanism.given_column()


def dataset_columns(problem: Problem, partial: PartialMechanism) -> dict[str, Any]:
    """The table of a problem's datasets, with the given values."""
    columns = {"dataset": label_array(problem.labels.names), "query": problem.answers}
    columns |= pin_columns(partial, problem.labels)
    return columns if problem.weights is None else columns | {"weight": problem.weights}


def edge_columns(problem: Problem) -> dict[str, Any]:
    """The table of a problem's edges, each once, with its parameters as written."""
    names, graph = label_array(problem.labels.names), problem.graph
    source, target, *parameters = graph.edges()
    columns = {"source": names[source], "target": names[target]}
    columns |= dict(zip(graph.parameter_names, parameters, strict=True))
    classes = graph.edge_classes()
    return columns if classes is None else columns | {"class": label_array(classes)}


def pin_columns(partial: PartialMechanism, labels: Labels) -> dict[str, Any]:
    """The given columns among p, z and error, with NaN where a dataset has no such value."""
    findings = FaultCollector("partial mechanism")
    given = {name: getattr(partial, name) for name in ("p", "z", "error")}
    columns = {name: order_values(name, x, labels, PIN, findings) for name, x in given.items() if x is not None}
    findings.raise_if_any()
    return {name: column for name, column in columns.items() if not np.isnan(column).all()}


def label_array(names: Sequence[Any]) -> Any:
    """Labels as an array of integers or of texts, as `column_kind` says."""
    if isinstance(names, range):
        return np.arange(len(names))
    kind = column_kind(names)
    if kind == JSON:
        return np.array([None if name is None else label_to_json(name) for name in names], dtype=object)
    if kind == TEXT:
        return np.array(names, dtype=object)
    missing = np.fromiter((name is None for name in names), np.bool_, len(names))
    integers = np.array([0 if name is None else name for name in names], dtype=np.int64)
    return np.ma.MaskedArray(integers, missing) if missing.any() else integers


def column_kind(names: Sequence[Any]) -> str:
    """The kind of a column of labels or classes: text, integers of 64 bits, or JSON of anything else.

    >>> [column_kind(names) for names in (["a", None], [1, 2], [1, "a"], [("yes", 3)], [""])]
    ['text', 'integer', 'json', 'json', 'json']
    """
    if isinstance(names, range):
        return INTEGER
    kinds = set(map(type, names)) - {type(None)}
    if kinds <= {str} and "" not in names:  # an empty field is a missing one
        return TEXT
    known = [name for name in names if name is not None]
    if kinds == {int} and all(-(2**63) <= name < 2**63 for name in (min(known), max(known))):
        return INTEGER
    return JSON


def require_readable(names: Sequence[Any]) -> None:
    """Refuses labels that could not be read back from a file.

    Raises:
        UsageError: one is not text, a finite number or a tuple of these.
    """
    if isinstance(names, (range, Tuples)) or set(map(type, names)) <= {str, int}:
        return
    for name in names:
        if not _is_readable(name):
            raise UsageError(f"the label {format_value(name)} cannot be saved", LABEL_RULE)


def require_readable_classes(classes: Sequence[Any]) -> None:
    """Refuses classes of edges that could not be read back; their accounts would be lost."""
    for name in dict.fromkeys(classes):
        if name is not None and not _is_readable(name):
            raise UsageError(f"the class {format_value(name)} cannot be saved", CLASS_RULE)


def _is_readable(label: Any, depth: int = 0) -> bool:
    if isinstance(label, tuple):
        return bool(label) and depth < DEEPEST_NESTING and all(_is_readable(entry, depth + 1) for entry in label)
    if isinstance(label, float):
        return math.isfinite(label)
    if isinstance(label, str):
        return not any("\ud800" <= character <= "\udfff" for character in label)
    return isinstance(label, int) and not isinstance(label, bool)


def _bound_by(names: Any, links: Indices) -> Any:
    """The label of each dataset's link, missing where there is none."""
    free = links < 0
    bound = names[np.where(free, 0, links)] if len(names) else names
    if bound.dtype == object:
        bound[free] = None
        return bound
    return np.ma.MaskedArray(bound, free)


# Problems and mechanisms as JSON documents, and the words that tables keep beside them.


def problem_words(problem: Problem) -> dict[str, Any]:
    """The metadata of a problem, besides its tables."""
    words: dict[str, Any] = {"schema_version": VERSION, "kind": "problem"} | notion_words(problem.notion)
    if isinstance(problem.graph, ProductSpace) or problem.graph.on_grid:
        words["grid"] = GRID
    return words | ({"about": dict(problem.about)} if problem.about else {})


def problem_document(problem: Problem, partial: PartialMechanism) -> dict[str, Any]:
    """A problem as one JSON document."""
    graph, names = problem.graph, problem.labels.names
    columns = {"dataset": list(names), "query": problem.answers} | pin_columns(partial, problem.labels)
    if problem.weights is not None:
        columns["weight"] = problem.weights
    source, target, *parameters = graph.edges()
    ends = {"source": [names[at] for at in source.tolist()], "target": [names[at] for at in target.tolist()]}
    classes = graph.edge_classes()
    promises = dict(zip(graph.parameter_names, parameters, strict=True))
    edges = ends | promises | ({} if classes is None else {"class": classes})
    return problem_words(problem) | {"datasets": as_records(columns), "edges": as_records(edges)}


def mechanism_words(mechanism: Mechanism) -> dict[str, Any]:
    """The metadata of a mechanism, besides its table."""
    certificate, problem = mechanism.certificate, mechanism.problem
    counts = {"datasets": len(mechanism), "pinned": int(np.count_nonzero(mechanism.pinned))}
    return {
        "schema_version": VERSION,
        "kind": "mechanism",
        **notion_words(mechanism.problem.notion),
        "coordinate": mechanism.problem.notion.coordinate.name,
        "objective": mechanism.objective,
        **gap_words(mechanism),
        "moved": mechanism.moved,
        "worse_than_coin": mechanism.against_coin.document(),
        "counts": counts | ({"edges": problem.graph.edge_count} if isinstance(problem, Problem) else {}),
        "problem": mechanism.problem.identity,
        "certificate": None if certificate is None else certificate_document(certificate),
        "software": f"hetdp {SOFTWARE}",
    }


def gap_words(mechanism: Mechanism) -> dict[str, Any]:
    """The distance of a mechanism from the best one for its objective, where that is not exact."""
    gap = mechanism.objective_gap
    return {} if gap is None else {"objective_gap": gap}


def mechanism_document(mechanism: Mechanism) -> dict[str, Any]:
    """A mechanism as one JSON document."""
    return mechanism_words(mechanism) | {"datasets": as_records(mechanism.columns())}


def certificate_document(certificate: Certificate) -> dict[str, Any]:
    """A certificate as a JSON object."""
    facts = asdict(certificate)
    if certificate.worst_edge is not None:
        facts["worst_edge"] = {name: json_number(value) for name, value in certificate.worst_edge._asdict().items()}
    return {name: json_number(value) for name, value in facts.items()}


def as_records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Columns as JSON objects, one for each row; missing values are left out."""
    rows = (zip(columns, row, strict=True) for row in zip(*map(as_list, columns.values()), strict=True))
    return [{name: json_number(value) for name, value in row if value is not None and value == value} for row in rows]


# Writing by the suffix of the name.


def save(
    thing: Problem | Mechanism,
    path: str | Path,
    partial: Any = None,
    tables: Literal["parquet", "csv"] = "parquet",
) -> None:
    """Writes a problem or a mechanism, completely or not at all.

    A name that ends in ``.json``, ``.csv`` or ``.parquet`` says how a mechanism is written. A problem is written to one
    ``.json`` file, or, under a name without a suffix, to a folder of tables. ``-`` is JSON on standard output. A
    mechanism of a partitioned problem is written to a folder, by the workers.

    Args:
        thing: a Problem or a Mechanism. A mechanism is proved first, unless it carries its certificate.
        path: where to.
        partial: for a problem, the values given on some datasets, kept in its table of datasets.
        tables: for a folder, "parquet" or "csv".

    Raises:
        UsageError: the place cannot be written, a label is not text, a number or a tuple of these, or a space of people
            has too many datasets for a file.
        VerificationError: the mechanism is not private; nothing is written.

    >>> import hetdp, pathlib, tempfile
    >>> graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 0.5)
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 2})
    >>> mechanism = hetdp.extend(problem, {"a": 0.6, "b": 0.4})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "mechanism.json")
    ...     hetdp.save(mechanism, path)
    ...     hetdp.read_mechanism(path, problem)["a"]
    0.6
    """
    progress.report_stage("writing")
    if isinstance(thing, RemoteMechanism):
        thing.write(path)
    elif isinstance(thing, LocalMechanism):
        _save_mechanism(_prove(thing), path)
    elif isinstance(thing, Problem):
        _save_problem(thing, path, partial, tables)
    else:
        raise UsageError(f"{format_value(thing)} cannot be saved", "only a Problem or a Mechanism can be saved")


def _save_mechanism(mechanism: LocalMechanism, path: str | Path) -> None:
    require_readable(mechanism.problem.labels.names)
    if path == STANDARD or suffix_of(path) == DOCUMENT:
        _write_document(mechanism_document(mechanism), path)
        return
    form = FORMATS[suffix_of(path)]
    words = mechanism_words(mechanism) | kind_words("labels", mechanism.problem.labels.names, form.is_text)
    form.write_with_metadata(Path(path), mechanism_columns(mechanism), words)


def _save_problem(problem: Problem, path: str | Path, partial: Any, tables: str) -> None:
    partial = partial if isinstance(partial, PartialMechanism) else PartialMechanism(p=partial)
    if isinstance(problem.graph, ProductSpace):
        require_listable(problem.graph)
    require_readable(problem.labels.names)
    require_readable_classes(problem.graph.edge_classes() or ())
    _ = problem.identity  # also refuses labels that are not valid text
    if path == STANDARD or require_path(path).suffix.lower() == DOCUMENT:
        _write_document(problem_document(problem, partial), path)
        return
    form = FORMATS.get(f".{tables}")
    if form is None or Path(path).suffix.lower() in FORMATS:
        known = " or ".join(f"tables={suffix[1:]!r}" for suffix in FORMATS)
        rule = f"a problem is saved to a {DOCUMENT} file, or to a folder with {known}"
        hint = did_you_mean(tables, [suffix[1:] for suffix in FORMATS]) if form is None else ""
        raise UsageError(f"a problem cannot be saved to {str(path)!r} with tables={tables!r}", rule, hint)
    require_folder_name(path)
    sheets = {"datasets": dataset_columns(problem, partial), "edges": edge_columns(problem)}
    words = problem_words(problem)
    words |= kind_words("labels", problem.labels.names, form.is_text)
    words |= kind_words("classes", problem.graph.edge_classes() or (), form.is_text)
    with whole_folder(Path(path), FOLDER_FILES) as draft:
        for name, columns in sheets.items():
            form.write(draft / f"{name}.{tables}", columns)
        with (draft / "problem.json").open("w", encoding="utf-8") as file:
            write_json(file, words)


def _prove(mechanism: LocalMechanism) -> LocalMechanism:
    """The mechanism with a certificate; refuses one that is not private."""
    if not mechanism.is_as_proved:
        problem = require_edges(mechanism.problem, "only a mechanism that is proved private is saved")
        mechanism = replace(mechanism, certificate=verify(problem, mechanism))
    if mechanism.certificate is None or not mechanism.certificate.private:
        raise VerificationError(mechanism.certificate)
    return mechanism


def _write_document(document: dict[str, Any], path: str | Path) -> None:
    if path == STANDARD:
        write_json(sys.stdout, document)
        return
    with whole_file(Path(path)) as draft, draft.open("w", encoding="utf-8") as file:
        write_json(file, document)


def kind_words(key: str, names: Any, is_text: bool) -> dict[str, str]:
    """The metadata that says how the cells of a column are encoded, if they are not plain text; CSV has text only."""
    kind = column_kind(names)
    return {key: kind} if kind == JSON or (is_text and kind == INTEGER) else {}
