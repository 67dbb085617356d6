"""Reads and writes mechanisms of partitioned problems; each worker handles the rows of its own datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import verify
from hetdp.documents import parse_object
from hetdp.errors import MOST_LISTED, ClusterError, Fault, FaultCollector, InputError, UsageError, VerificationError
from hetdp.files.formats.json_files import read_json, write_json
from hetdp.files.formats.parquet import parquet_metadata, write_parquet
from hetdp.files.formats.table import Table
from hetdp.files.formats.writing import call_reader, whole_folder
from hetdp.files.mechanisms import coordinates_of, notion_of, parse_integer_labels, require_form, require_own
from hetdp.files.problems import STANDARD, answer_column, parts_of, require_existing
from hetdp.files.saving import certificate_document
from hetdp.files.schema import MECHANISM_COLUMNS, VALUES, VERSION, notion_words
from hetdp.mechanism.mechanism import BINDING, LoadedClaim
from hetdp.numbers import parse_number
from hetdp.partitioned.datasets import ListedLabels
from hetdp.partitioned.labels import RANGE, FileNames, LabelWriter, labels_at, own_labels
from hetdp.partitioned.mechanism import PartitionedMechanism
from hetdp.partitioned.parquet_rows import Files, as_values, files_of, read_range
from hetdp.partitioned.partition import LocalGraph, Partition
from hetdp.partitioned.problem import PartitionedProblem
from hetdp.partitioned.shared_files import SEEN_RULE, replace_file, require_real
from hetdp.problem.problem import EdgelessProblem
from hetdp.problem.query import answers_of
from hetdp.text import format_value
from hetdp.theory.catalogue import notion_of_key
from hetdp.version import VERSION as SOFTWARE

ORDER_RULE = "its rows are those of the problem's datasets, in the same order"


class PartitionRows(NamedTuple):
    """Result of reading the rows of a partition.

    Attributes:
        faults: the first faults.
        total: number of faults.
        differing: number of pins of the partition whose value differs.
        others: the first binding labels that are not neighbours, and the row of each.
    """

    faults: list[Fault]
    total: int
    differing: int = 0
    others: Sequence[tuple[Any, str]] = ()


def read_rows(
    partition: Partition, name: str, notion: str, files: Files, datasets: Files, labels: str
) -> PartitionRows:
    """Reads the rows of a partition's own datasets."""
    table = read_range(files, partition.first, partition.first + partition.size, MECHANISM_COLUMNS)
    findings, answers = FaultCollector(""), partition.copy("answers")
    own = own_labels(partition, datasets, labels)
    read_labels = table.label_column("dataset", findings) if partition.size else []
    if findings.total:
        return PartitionRows(findings.faults, findings.total)
    if own.dtype.kind in "iu" and {*map(type, read_labels)} == {str}:  # then binding labels are text, too
        read_labels, bound = parse_integer_labels(read_labels), as_values(table.columns.get(BINDING, ()))
        table = table._replace(columns=table.columns | ({BINDING: parse_integer_labels(bound)} if bound else {}))
    others = _as_array(read_labels) != _as_array(own) if partition.size else np.zeros(0, dtype=np.bool_)
    what = "a dataset that is not the problem's in this place:"
    findings.add_where(
        np.asarray(others), lambda at: Fault(what, table.row(at), format_value(read_labels[at]), ORDER_RULE)
    )
    if "query" in table.columns and partition.size:
        with findings.collect():
            other = answers_of(answer_column(table.columns["query"]), ListedLabels(read_labels)) != answers
            rule = "its query must agree with the problem's"
            findings.add_where(other, lambda at: Fault("not the problem's answer", table.row(at), "", rule))
    z = np.empty(0)
    with findings.collect():
        z = coordinates_of(table, EdgelessProblem(ListedLabels(read_labels), answers, notion_of_key(notion), ""))
    pinned = table.flags("pinned", findings)
    links, strangers = _links(partition, table, own, datasets, labels)
    if findings.total:
        return PartitionRows(findings.faults, findings.total, others=strangers)
    partition.save(f"{name}/z", z + 0.0)
    partition.save(f"{name}/pinned", np.asarray(pinned, dtype=np.bool_))
    partition.save(f"{name}/links", np.where(pinned, -1, links))
    if "given" in table.columns:
        partition.save(f"{name}/given", np.asarray(table.flags("given", findings), dtype=np.bool_))
    given = partition.load("pins")
    same = np.isnan(given) | np.isclose(given, z, rtol=0.0, atol=1e-9)
    return PartitionRows([], 0, int(np.count_nonzero(~same)), strangers)


def _as_array(labels: Any) -> Any:
    """Labels as an array for comparison; NumPy's string dtype would drop a trailing NUL."""
    return labels if isinstance(labels, np.ndarray) else np.array(labels, dtype=object)


def _links(
    partition: Partition, table: Table, own: Any, datasets: Files, labels: str
) -> tuple[Any, list[tuple[Any, str]]]:
    """Numbers of the binding neighbours, −1 if there is none; and the binding labels that are not neighbours."""
    binding = table.columns.get(BINDING)
    if binding is None or not partition.size:
        return np.full(partition.size, -1, dtype=np.int64), []
    if labels == RANGE and isinstance(binding, np.ndarray) and binding.dtype.kind in "iu":
        free, numbers = np.ma.getmaskarray(binding), np.ma.getdata(binding).astype(np.int64)
        unknown = ~free & ((numbers < 0) | (numbers >= partition.offsets[-1]))
        links, others = np.where(free | unknown, -1, numbers), np.flatnonzero(unknown)
    else:
        ghosts, listed = LocalGraph(partition).ghosts, as_values(binding)
        known = dict(zip(labels_at(datasets, ghosts.tolist(), labels), ghosts.tolist(), strict=True))
        known |= dict(zip(own.tolist(), range(partition.first, partition.first + partition.size), strict=True))
        links = np.array([known.get(label, -1) for label in listed], dtype=np.int64)
        others = np.array([at for at in np.flatnonzero(links < 0) if listed[at] is not None], dtype=np.int64)
    return links, [(as_values(binding[at : at + 1])[0], table.row(int(at))) for at in others[:MOST_LISTED]]


METADATA_FILE, TABLE_NAME = "mechanism.json", "mechanism"
FOLDER_FILES = frozenset({METADATA_FILE, TABLE_NAME})


def save_mechanism(mechanism: PartitionedMechanism, path: str | Path) -> int:
    """Writes a mechanism to a folder atomically, if it is private; returns the number of pinned datasets."""
    problem = mechanism.problem
    proof = mechanism.certificate or verify(problem, mechanism)
    if not proof.private:
        raise VerificationError(proof)
    if Path(path).suffix or str(path) == STANDARD:
        raise UsageError(f"a partitioned mechanism cannot be saved to {str(path)!r}", "it is saved to a folder")
    with whole_folder(Path(path), FOLDER_FILES) as draft:
        (draft / TABLE_NAME).mkdir()
        facts = mechanism.name, str(draft / TABLE_NAME), problem.notion.key, problem.names.writer
        counts = problem.run(write_mechanism_rows, *facts, words="writing")
        _require_files(problem, draft / TABLE_NAME, [size for _, size in counts])
        pinned: int = sum(number for number, _ in counts)
        with (draft / METADATA_FILE).open("w", encoding="utf-8") as file:
            write_json(file, metadata_of(replace(mechanism, certificate=proof), pinned))
    return pinned


def metadata_of(mechanism: PartitionedMechanism, pinned: int) -> dict[str, Any]:
    """The content of a mechanism's metadata file."""
    problem, certificate = mechanism.problem, mechanism.certificate
    return {
        "schema_version": VERSION,
        "kind": "mechanism",
        **notion_words(problem.notion),
        "coordinate": problem.notion.coordinate.name,
        "objective": mechanism.objective,
        "moved": mechanism.moved,
        "worse_than_coin": mechanism.against_coin.document(),
        "counts": {"datasets": len(mechanism), "pinned": pinned, "edges": problem.graph.edge_count},
        "problem": problem.identity,
        "certificate": None if certificate is None else certificate_document(certificate),
        "software": f"hetdp {SOFTWARE}",
        **problem.names.writer.words,
    }


def _require_files(problem: PartitionedProblem, folder: Path, sizes: list[int]) -> None:
    """Checks that this machine sees the files as the workers wrote them.

    Raises:
        ClusterError: a file is missing, has another size, or is unexpected.
    """
    wanted = {_file_name(partition): size for partition, size in zip(problem.partitions, sizes, strict=True) if size}
    found = {entry.name: entry.lstat().st_size for entry in folder.iterdir()}
    if found != wanted:
        raise ClusterError(
            f"the files that workers wrote to {str(folder)!r} are not there as they wrote them", SEEN_RULE
        )


def _file_name(partition: Partition) -> str:
    return f"part-{partition.number:06}.parquet"


def write_mechanism_rows(partition: Partition, name: str, folder: str, notion: str, labels: Any) -> tuple[int, int]:
    """Writes the rows of one partition; returns the number of pinned ones and the size of the file."""
    z, answers, pinned = partition.load(f"{name}/z"), partition.load("answers"), partition.load(f"{name}/pinned")
    if not partition.size and partition.offsets[-1]:  # an empty problem still gets one file
        return 0, 0
    coordinate, own = notion_of_key(notion).coordinate, labels.own(partition)
    columns = {
        "dataset": own,
        "query": np.array(answers),
        "p": coordinate.probability(z),
        "z": np.array(z),
        "error": coordinate.error(z, answers),
        "pinned": np.array(pinned),
        BINDING: _bound_by(partition, np.array(partition.load(f"{name}/links")), own, labels),
    }
    if partition.has(f"{name}/given"):
        columns["given"] = np.array(partition.load(f"{name}/given"))
    require_real(folder, Path(folder))
    path = Path(folder, _file_name(partition))
    with replace_file(path) as draft:
        write_parquet(draft, columns)
    return int(np.count_nonzero(pinned)), path.lstat().st_size


def _bound_by(partition: Partition, links: Any, own: Any, labels: Any) -> Any:
    """The label of each dataset's link; missing if it has none."""
    free = links < 0
    if isinstance(labels, LabelWriter) and labels.kind == RANGE:
        return np.ma.MaskedArray(links, free)
    here = (links >= partition.first) & (links < partition.first + partition.size)
    bound = own[np.where(here, links - partition.first, 0)]
    away = np.unique(links[~here & ~free])
    if len(away):
        named = np.empty(len(away), dtype=bound.dtype)
        named[:] = labels.at(away.tolist())
        bound = np.where(~here & ~free, named[np.minimum(np.searchsorted(away, links), len(away) - 1)], bound)
    if bound.dtype == object:
        bound[free] = None
        return bound
    return np.ma.MaskedArray(bound, free)


def read_claim(path: str | Path, problem: PartitionedProblem) -> LoadedClaim[PartitionedMechanism]:
    """Reads a mechanism to be verified on a problem, even if it was made for another one."""
    return LoadedClaim(*_read(path, problem))


def _read(path: str | Path, problem: PartitionedProblem) -> tuple[PartitionedMechanism, bool, str, int]:
    """Reads a mechanism from a folder that `save` wrote or from one Parquet file, with the fields of a claim."""
    progress.report_stage("reading the mechanism")
    files, words = open_mechanism(path)
    notion_of(words, str(path), "z" in files.kinds, problem.notion)
    findings, names = FaultCollector(str(path)), _names(problem)
    if files.length != problem.graph.size:
        value = f"{files.length} rows for {problem.graph.size} datasets"
        findings.add(Fault("wrong number of rows:", files.name, value, ORDER_RULE))
    findings.raise_if_any()
    name = problem.new_name("loaded")
    found = problem.run(read_rows, name, problem.notion.key, files, names.files, names.kind)
    for one in found:
        for fault in one.faults:
            findings.add(fault)
        findings.total += one.total - len(one.faults)
    _refuse_unknown(names, [pair for one in found for pair in one.others], findings)
    findings.raise_if_any()
    column = next(value for value in VALUES if value in files.kinds)
    another = words.get("problem", problem.identity) != problem.identity
    mechanism = PartitionedMechanism(
        problem, name, float(words.get("moved", 0.0)), objective=str(words.get("objective", "extension"))
    )
    return (mechanism, another, column, sum(one.differing for one in found))


def read_mechanism(path: str | Path, problem: PartitionedProblem) -> PartitionedMechanism:
    """Reads a mechanism; refuses one that names another problem."""
    require_own(open_mechanism(path)[1], str(path), problem.identity)
    return _read(path, problem)[0]


def open_mechanism(path: str | Path) -> tuple[Files, dict[str, Any]]:
    """The files and metadata of a mechanism, after checking their form; no row is read."""
    files, words = _find_files(path, str(path))
    findings = FaultCollector(str(path))
    require_form(words, list(files.kinds), str(path), files.name, findings)
    findings.raise_if_any()
    return files, words


def _find_files(path: str | Path, name: str) -> tuple[Files, dict[str, Any]]:
    place = Path(path) if path == STANDARD else require_existing(path)
    if place.is_dir():
        rule = f"the folder of a mechanism holds {METADATA_FILE} and {TABLE_NAME}/part-*.parquet"
        several = parts_of(place / TABLE_NAME) if (place / TABLE_NAME).is_dir() else []
        if not several:
            raise InputError(name, [Fault("not a mechanism", name, "", rule)])
        meta = place / METADATA_FILE
        words = call_reader(meta, read_json, f"{name}/{METADATA_FILE}") if meta.exists() else {}
        return files_of([file.resolve() for file in several], f"{TABLE_NAME}/part-*.parquet"), words
    if place.suffix.lower() != ".parquet":
        rule = "a mechanism of a partitioned problem is a folder, or a .parquet file"
        raise InputError(name, [Fault("an unknown kind of file", name, place.suffix, rule)])
    text = parquet_metadata(place, name)
    return files_of([place.resolve()], name), {} if text is None else parse_object(text, name, parse_number)


def _refuse_unknown(names: FileNames, strangers: list[tuple[Any, str]], findings: FaultCollector) -> None:
    """Refuses binding labels that name no dataset; datasets that are not neighbours are left to verification."""
    rule = "it is the label of a neighbour, or empty"
    unknown = names.cells([label for label, _ in strangers]) < 0 if strangers else []
    for at in np.flatnonzero(unknown):
        findings.add(Fault("unknown dataset", f"{strangers[at][1]}, {BINDING}", "", rule))


def _names(problem: PartitionedProblem) -> FileNames:
    if not isinstance(problem.names, FileNames):
        raise UsageError(f"a mechanism file for {problem!r}", "it is loaded with a problem that was read from files")
    return problem.names
