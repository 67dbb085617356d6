"""save: problems and mechanisms to files, by the ending of the name."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from hetdp import progress
from hetdp.certificate.certificate import verify
from hetdp.errors import UsageError, VerificationError, shown
from hetdp.files.columns import (
    dataset_columns,
    edge_columns,
    kind_of,
    mechanism_columns,
    require_readable,
    require_readable_classes,
)
from hetdp.files.documents import mechanism_document, mechanism_words, problem_document, problem_words
from hetdp.files.formats.csv_form import write_csv
from hetdp.files.formats.duck import write_large_csv, write_parquet
from hetdp.files.formats.json_form import lines_of, write_json
from hetdp.files.formats.writing import whole_file, whole_folder
from hetdp.files.places import OURS, STANDARD, suffix_of
from hetdp.files.schema import INTEGER, JSON
from hetdp.interrupts import load_whole
from hetdp.mechanism.mechanism import Mechanism
from hetdp.mechanism.partitioned.mechanism import PartitionedMechanism
from hetdp.problem.outline import Outline
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.stored import require_written_down

SMALL_TABLE = 50_000  # rows that the standard library writes sooner than DuckDB loads
SIDECAR = ".meta.json"  # what is put after the name of a CSV file, for the words beside the table


def save(
    thing: Problem | Mechanism | PartitionedMechanism, path: str | Path, partial: Any = None, tables: str = "parquet"
) -> None:
    """Writes a problem or a mechanism, whole or not at all.

    A name that ends in ``.json``, ``.csv`` or ``.parquet`` says how a mechanism is written. A problem is written to one
    ``.json`` file, or, under any other name, to a folder of tables. ``-`` is JSON on standard output. A mechanism of a
    partitioned problem is written to a folder, by the workers.

    Args:
        thing: a Problem or a Mechanism. A mechanism is proved first, unless it carries its certificate.
        path: where to.
        partial: for a problem, the values given on some datasets, kept in its table of datasets.
        tables: for a folder, "parquet" or "csv".

    Raises:
        UsageError: the place cannot be written, a label is no text, number or tuple of these, or a space of people
            has too many datasets for a file.
        VerificationError: the mechanism is not private; nothing is written.

    >>> import hetdp, pathlib, tempfile
    >>> graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 0.5)
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 2})
    >>> mechanism = hetdp.extend(problem, {"a": 0.6, "b": 0.4})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "mechanism.json")
    ...     hetdp.save(mechanism, path)
    ...     hetdp.load(path, problem)["a"]
    0.6
    """
    progress.stage("writing")
    if isinstance(thing, PartitionedMechanism):
        load_whole("hetdp.files.partitions.mechanisms").save_parts(thing, path)
    elif isinstance(thing, Mechanism):
        _save_mechanism(_proved(thing), path)
    elif isinstance(thing, Problem):
        _save_problem(thing, path, partial, tables)
    else:
        raise UsageError(f"{shown(thing)} cannot be saved", "a Problem or a Mechanism can")


def _save_mechanism(mechanism: Mechanism, path: str | Path) -> None:
    require_readable(mechanism.problem.labels.names)
    if path == STANDARD or suffix_of(path) == ".json":
        _write_document(mechanism_document(mechanism), path)
        return
    kind = suffix_of(path)
    columns = mechanism_columns(mechanism)
    words = mechanism_words(mechanism) | kind_words("labels", mechanism.problem.labels.names, kind == ".csv")
    if kind == ".parquet":
        with whole_file(Path(path)) as draft:
            write_parquet(draft, columns, "\n".join(lines_of(words)))
        return
    if Path(path).exists() and not Path(path).is_file():  # a pipe has nothing beside it
        _write_csv(Path(path), columns)
        return
    with whole_file(sidecar_of(Path(path))) as beside, whole_file(Path(path)) as draft:
        _write_csv(draft, columns)
        words |= {"table_sha256": digest_of(draft)}
        with beside.open("w", encoding="utf-8") as file:
            write_json(file, words)


def _save_problem(problem: Problem, path: str | Path, partial: Any, tables: str) -> None:
    partial = partial if isinstance(partial, PartialMechanism) else PartialMechanism(p=partial)
    if isinstance(problem.graph, ProductSpace):
        require_written_down(problem.graph)
    require_readable(problem.labels.names)
    require_readable_classes(problem.graph.edge_classes() or ())
    _ = problem.identity  # refuses what is no character, too
    if path == STANDARD or Path(path).suffix.lower() == ".json":
        _write_document(problem_document(problem, partial), path)
        return
    if tables not in ("csv", "parquet") or Path(path).suffix.lower() in (".csv", ".parquet"):
        rule = "a problem is saved to a .json file, or to a folder with tables='csv' or tables='parquet'"
        raise UsageError(f"a problem cannot be saved to {str(path)!r} with tables={tables!r}", rule)
    sheets = {"datasets": dataset_columns(problem, partial), "edges": edge_columns(problem)}
    words = problem_words(problem)
    words |= kind_words("labels", problem.labels.names, tables == "csv")
    words |= kind_words("classes", problem.graph.edge_classes() or (), tables == "csv")
    with whole_folder(Path(path), OURS) as draft:
        for name, columns in sheets.items():
            (_write_csv if tables == "csv" else write_parquet)(draft / f"{name}.{tables}", columns)
        with (draft / "problem.json").open("w", encoding="utf-8") as file:
            write_json(file, words)


def sidecar_of(path: Path) -> Path:
    """Where the words beside a CSV table are kept."""
    return path.with_name(path.name + SIDECAR)


def digest_of(path: Path) -> str:
    """By which a table and its words know each other."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _proved(mechanism: Mechanism) -> Mechanism:
    """The mechanism with a certificate; what is not private is never written."""
    if not mechanism.is_as_proved:
        if isinstance(mechanism.problem, Outline):
            raise UsageError(
                "this mechanism was loaded without its problem, so it cannot be proved",
                "only a mechanism that is proved private is saved",
                "hetdp.load(path, problem) joins them",
            )
        mechanism = replace(mechanism, certificate=verify(mechanism.problem, mechanism))
    if mechanism.certificate is None or not mechanism.certificate.private:
        raise VerificationError(mechanism.certificate)
    return mechanism


def _write_document(document: dict[str, Any], path: str | Path) -> None:
    if path == STANDARD:
        write_json(sys.stdout, document)
        return
    with whole_file(Path(path)) as draft, draft.open("w", encoding="utf-8") as file:
        write_json(file, document)


def _write_csv(path: Path, columns: dict[str, Any]) -> None:
    (write_csv if len(next(iter(columns.values()))) <= SMALL_TABLE else write_large_csv)(path, columns)


def kind_words(key: str, names: Any, is_text: bool) -> dict[str, str]:
    """What the cells of a column stand for, if it is anything else than themselves; CSV has text only."""
    kind = kind_of(names)
    return {key: kind} if kind == JSON or (is_text and kind == INTEGER) else {}
