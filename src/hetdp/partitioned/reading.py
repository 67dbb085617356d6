"""`read_partitioned`: reads a problem from Parquet files with workers, so that no process ever holds it whole.

The workers build a *layout* in the work folder: answers and pins of the datasets, numbers of the labels, edges by
partition, and graphs. A later run with the same problem and work folder reuses it. With `by`, the datasets are sorted
by a column first, so that datasets with equal entries share a partition.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from hetdp import progress
from hetdp.duck import connection, quote_name, report_faults
from hetdp.errors import Fault, FaultCollector, InputError, UsageError
from hetdp.files.formats.parquet import PARQUET_RULE
from hetdp.files.schema import DATASET_COLUMNS, JSON, TEXT
from hetdp.partitioned.datasets import Tables, first_answers, open_tables, scan_datasets, settle_datasets
from hetdp.partitioned.edges import Chunk, assign_edges, build_graph, chunks_of
from hetdp.partitioned.labels import (
    ENCODED,
    NAMED,
    RANGE,
    STRANGE,
    FileNames,
    copy_to,
    identity_of_partitions,
    join_bucket,
    label_kind,
    labels_at,
    rows_of_file,
    write_labels,
    write_wanted_labels,
)
from hetdp.partitioned.parquet_rows import ORIGIN, Files
from hetdp.partitioned.partition import Partition
from hetdp.partitioned.problem import PartitionedGraph, PartitionedPins, PartitionedProblem, TaskRunner
from hetdp.partitioned.shared_files import make_folder
from hetdp.partitioned.workspace import (
    DEFAULT_ARCS,
    LAYOUT,
    LAYOUT_FILE,
    MEMORY,
    TALLIES,
    Workspace,
    equal_ranges,
    read_note,
    refuse_folder,
    write_note,
)
from hetdp.problem.edges import require_duplicates
from hetdp.text import format_value
from hetdp.theory.catalogue import notion_of_key
from hetdp.version import VERSION


def order_datasets(tables: Tables, column: str, folder: str, workers: TaskRunner) -> tuple[Tables, list[int]]:
    """Writes the datasets sorted by a column; returns the new tables, and the end of each run of equal entries."""
    datasets = tables.datasets
    path = str(Path(folder, f"by-{sha256(column.encode()).hexdigest()[:16]}.parquet"))
    (ends,) = workers.run(write_ordered, [(datasets, column, path)], "reading datasets by column")
    kinds = {name: kind for name, kind in datasets.kinds.items() if name != column or name in DATASET_COLUMNS}
    ordered = Files(datasets.name, (path,), kinds, (datasets.length,), origin=datasets)
    return tables._replace(datasets=ordered), ends


def write_ordered(datasets: Files, column: str, path: str) -> list[int]:
    """Writes the table sorted, spilling to disk if needed; returns the end of each run of equal entries."""
    columns = ", ".join(map(quote_name, dict.fromkeys([*datasets.kinds])))
    tables, start = [], 0
    for one, _, rows in datasets.pieces(0, datasets.length):
        tables.append(f"SELECT {columns}, file_row_number + {start} AS {ORIGIN} FROM {rows_of_file(one)}")
        start += rows
    every, by = f"({' UNION ALL '.join(tables)})", quote_name(column)
    with report_faults(datasets.name, PARQUET_RULE), connection() as database:
        copy_to(f"SELECT * FROM {every} ORDER BY {by} NULLS LAST, {ORIGIN}", str(Path(path).parent), Path(path))
        groups = f"SELECT count(*) AS rows FROM {every} GROUP BY {by} ORDER BY {by} NULLS LAST"
        counts = database.execute(groups).fetchnumpy()["rows"]
    ends: list[int] = np.cumsum(counts).astype(np.int64).tolist()
    return ends


def require_column(datasets: Files, column: str, name: str) -> None:
    """Refuses a column that does not exist."""
    if column not in datasets.kinds:
        rule = "partitions are made by a column of the datasets"
        raise InputError(name, [Fault("missing column", datasets.name, column, rule)])


def snap_to_entries(offsets: tuple[int, ...], ends: list[int]) -> tuple[int, ...]:
    """Moves the ends of partitions to the nearest ends of runs of equal entries."""
    bounds = np.array([0, *ends])
    inner = bounds[np.minimum(np.searchsorted(bounds, offsets[1:-1]), len(bounds) - 1)]
    return (0, *inner.tolist(), offsets[-1])


# Layout in the work folder --------------------------------------------------------------------------------------------


class Layout(NamedTuple):
    """A problem stored in a work folder.

    Attributes:
        folder: its subfolder.
        offsets: the first dataset of each partition, followed by the number of datasets.
        notion: the key of the notion of privacy.
        labels: how labels are translated to numbers.
        arcs: number of arcs that begin in each partition.
        edges: number of edges.
        pinned: number of datasets with a given value.
        ghosts: number of ghosts, summed over all partitions.
        fingerprint: digest of the files and options that it was built from.
    """

    folder: str
    offsets: tuple[int, ...]
    notion: str
    labels: str
    arcs: tuple[int, ...]
    edges: int
    pinned: int
    ghosts: int
    fingerprint: str


def build_layout(
    work: str, tables: Tables, offsets: tuple[int, ...], duplicates: str, positive: Any, workers: TaskRunner
) -> Layout:
    """Builds the layout in a new folder, and records it in the work folder.

    The folder is new so that a leftover task of an earlier command, on a disconnected worker, cannot interfere.
    """
    _clear(work)
    folder = make_folder(work, LAYOUT)
    try:
        return _build_layout(work, folder, tables, offsets, duplicates, positive, workers)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _build_layout(
    work: str,
    folder: str,
    tables: Tables,
    offsets: tuple[int, ...],
    duplicates: str,
    positive: Any,
    workers: TaskRunner,
) -> Layout:
    fingerprint = _fingerprint(tables, duplicates, positive)
    partitions = [Partition(folder, number, offsets) for number in range(len(offsets) - 1)]
    findings = FaultCollector(tables.name)
    kind = tables.words.get("labels", TEXT)
    scanned = workers.run(
        scan_datasets, [(partition, tables.datasets, kind) for partition in partitions], "reading datasets"
    )
    for one in scanned:
        _take(findings, one.faults, one.total)
    findings.raise_if_any()
    chosen = tables.words.get("positive") if positive is None else positive
    ones = first_answers(scanned, chosen, findings)
    settled = workers.run(
        settle_datasets, [(partition, tables.datasets, ones, tables.notion) for partition in partitions]
    )
    in_order = all(one.in_order for one in scanned)
    chunks = chunks_of(tables.edges, len(partitions))
    labels = _number(partitions, chunks, tables, in_order, findings, workers)
    for faults, total, _ in settled:
        _take(findings, faults, total)
    classes = tables.words.get("classes", TEXT)
    items = [(partitions[0], chunk, tables.edges, tables.notion, labels, classes) for chunk in chunks]
    for faults, total in workers.run(assign_edges, items, "reading edges"):
        _take(findings, faults, total)
    names = notion_of_key(tables.notion).parameters
    sent = names, duplicates, tables.edges, tables.datasets, labels, "grid" in tables.words
    graphs = [(partition, chunks, *sent) for partition in partitions]
    built = workers.run(build_graph, graphs, "building the graphs")
    for one in built:
        _take(findings, one.faults, one.total)
    findings.raise_if_any()
    arcs, pinned = tuple(one.arcs for one in built), sum(pinned for _, _, pinned in settled)
    edges = (sum(arcs) + sum(one.free for one in built)) // 2
    ghosts = sum(one.ghosts for one in built)
    layout = Layout(Path(folder).name, offsets, tables.notion, labels, arcs, edges, pinned, ghosts, fingerprint)
    write_note(work, json.dumps(layout._asdict()))
    return layout


def _clear(work: str) -> None:
    """Removes the unfinished layout of an earlier run."""
    Path(work, LAYOUT_FILE).unlink(missing_ok=True)
    for entry in Path(work).glob(f"{LAYOUT}-*"):
        shutil.rmtree(entry, ignore_errors=True)


def _number(
    partitions: list[Partition],
    chunks: list[Chunk],
    tables: Tables,
    in_order: bool,
    findings: FaultCollector,
    workers: TaskRunner,
) -> str:
    """Decides how labels are translated to numbers; joins them if they must be looked up, and reports duplicates.

    Raises:
        UsageError: workers cannot compare the labels.
    """
    datasets, edges = tables.datasets, tables.edges
    same = not edges.length or {label_kind(edges, end) for end in ("source", "target")} == {
        label_kind(datasets, "dataset")
    }
    if in_order and (same or label_kind(datasets, "dataset") == "integer"):
        return RANGE if same else STRANGE
    buckets = len(partitions)
    makers = workers.run(write_labels, [(partition, datasets, buckets) for partition in partitions], "reading labels")
    if same:
        wanted = [(partitions[0], chunk.number, edges, (chunk.start, chunk.stop), buckets) for chunk in chunks]
        makers += workers.run(write_wanted_labels, wanted, "reading labels of edges")
    if len({*makers}) > 1:
        rule = "all workers must have the same version of DuckDB, so that they compare labels alike"
        raise UsageError(f"workers have {' and '.join(sorted({*makers}))}", rule)
    joins = [(partitions[0], bucket, len(chunks) if same else 0) for bucket in range(buckets)]
    found = workers.run(join_bucket, joins, "reading numbers of labels")
    repeated = sorted(number for numbers, _ in found for number in numbers)[:1000]
    rule = "each dataset is listed once"
    for number, label in zip(repeated, labels_at(datasets, repeated, NAMED), strict=True):
        findings.add(Fault("duplicate dataset", datasets.row(number), format_value(label), rule))
    findings.total += sum(total for _, total in found) - len(repeated)
    return STRANGE if not same else ENCODED if tables.words.get("labels") == JSON else NAMED


def _take(findings: FaultCollector, faults: list[Fault], total: int) -> None:
    for fault in faults:
        findings.add(fault)
    findings.total += total - len(faults)


def find_layout(work: str, tables: Tables, duplicates: str, positive: Any) -> Layout | None:
    """The layout that an earlier run left in this folder, or None.

    Raises:
        UsageError: the layout is of another problem, or was built from other files or options.
    """
    note = None
    try:
        note = json.loads(read_note(work) or "null")
        found = Layout(**note | {name: tuple(note[name]) for name in ("offsets", "arcs")})
    except (ValueError, KeyError, TypeError):
        if isinstance(note, dict) and TALLIES in note:
            raise refuse_folder(work, "tallies") from None
        return None
    if found.fingerprint != _fingerprint(tables, duplicates, positive):
        raise refuse_folder(work, "another problem, or this one from other files or options")
    return (
        found if re.fullmatch(rf"{LAYOUT}-[0-9a-f]{{16}}", found.folder) and Path(work, found.folder).is_dir() else None
    )


def _fingerprint(tables: Tables, duplicates: str, positive: Any) -> str:
    """Digest of everything that the layout depends on: the state of the files, and the options."""
    datasets = tables.datasets.origin or tables.datasets
    paths, ordered = [*datasets.paths, *tables.edges.paths], Path(tables.datasets.paths[0]).name
    states = [(path, Path(path).stat().st_size, Path(path).stat().st_mtime_ns) for path in paths]
    facts = [VERSION, states, ordered, duplicates, repr(positive), tables.words]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


class PartitionedFile(NamedTuple):
    """The content of a folder: a problem, and given values on some datasets. `with` closes the problem.

    Attributes:
        problem: the PartitionedProblem.
        partial: the values that its tables give, for `check` and `extend`; `count` says how many.
    """

    problem: PartitionedProblem
    partial: PartitionedPins

    def __enter__(self) -> PartitionedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.problem.close()


def read_partitioned(
    path: str | Path,
    cluster: str | None = None,
    workers: int | None = None,
    memory: str = MEMORY,
    work: str | Path | None = None,
    partitions: int | str | None = None,
    by: str | None = None,
    duplicates: Literal["error", "min"] = "error",
    positive: Any = None,
) -> PartitionedFile:
    """Reads a problem that may be larger than the memory of any machine; needs the extra ``distributed``.

    The problem can be used like any other: `check`, `extend`, `design` (fair and balanced), `verify` and `save`
    take it, and run on its workers. All numbers are the same as on one machine, bit for bit.

    Args:
        path: a folder with ``edges`` and ``datasets`` as Parquet, each one file or a folder ``part-*.parquet``.
        cluster: address of a Dask scheduler, such as ``tls://node:8786``; Dask's own settings name the certificates.
            By default workers are started on this machine.
        workers: number of workers to start on this machine; by default one per core.
        memory: memory limit of each started worker.
        work: a folder that all workers can access and that nobody else can write to, for intermediate files. It is
            kept, and a later run with the same problem continues from it. With workers on this machine, the default
            is a temporary folder, which is removed.
        partitions: number of ranges of datasets, or "files" for one per file of datasets. By default the partitions of
            the work folder if it already contains the problem; otherwise one per worker, or more if the problem is
            large.
        by: a column of the table of datasets, which may be one that hetdp does not know. Datasets with the same entry
            are in the same partition, and all output lists the datasets in the order of this column.
        duplicates: how to treat an edge of one class that is listed twice with different ε: "error" refuses it, "min"
            takes the more private ε. Edges of different classes are all kept: the tightest binds, and every class pays.
        positive: the answer that counts as 1; by default the one that the folder names.

    Raises:
        InputError: the files have faults; all of them are listed.
        ClusterError: no worker could be reached, or the last one was lost.

    >>> import hetdp
    >>> hetdp.read_partitioned("nowhere")
    Traceback (most recent call last):
    hetdp.errors.InputError: nowhere: cannot be read: there is no such file; the path must be that of a file or folder.
    """
    require_duplicates(duplicates)
    progress.report_stage("reading the problem")
    tables = open_tables(path, by)
    space = Workspace(cluster, workers, memory, work, partitions)
    if by is not None:
        require_column(tables.datasets, by, str(path))
        _refuse_files(partitions)
    _require_apart(work, Path(path))
    place = space.make_folder()
    with space.end_on_failure():
        engine = space.start(place)
        offsets = offsets_of(tables, partitions, space.count, space.arcs)
        if by is not None:
            ordered = make_folder(place, "ordered")
            space.remove_at_end(ordered)
            tables, ends = order_datasets(tables, by, ordered, engine)
            offsets = snap_to_entries(offsets, ends)
        layout = find_layout(place, tables, duplicates, positive)
        offsets = layout.offsets if layout is not None and partitions is None else offsets
        return read_by(engine, tables, place, offsets, duplicates, positive, space.end)


def _refuse_files(partitions: int | str | None) -> None:
    if partitions == "files":
        rule = "datasets are in the order of a column, or as the files have them"
        raise UsageError("partitions by a column beside one for each file", rule, "leave one of them out")


def _require_apart(work: str | Path | None, problem: Path) -> None:
    """Refuses the problem's folder as work folder: its tables must not be mixed with other files."""
    if work is not None and problem.resolve() in (place := Path(work).resolve(), *place.parents)[1:]:
        rule = "a problem's folder holds the problem"
        raise UsageError(f"the work folder {str(work)!r} lies in {str(problem)!r}", rule, "choose another folder")


def read_by(
    workers: TaskRunner,
    tables: Tables,
    work: str,
    offsets: tuple[int, ...],
    duplicates: str,
    positive: Any,
    end: Callable[[], None],
) -> PartitionedFile:
    """Reads a problem with running workers; `end` is called when the problem is closed."""
    layout = find_layout(work, tables, duplicates, positive) or build_layout(
        work, tables, offsets, duplicates, positive, workers
    )
    if layout.offsets != offsets:
        raise refuse_folder(work, "this problem in other partitions")
    folder = str(Path(work, layout.folder))
    partitions = [Partition(folder, number, offsets) for number in range(len(offsets) - 1)]
    names = FileNames(partitions, tables.datasets, layout.labels, workers)
    notion = notion_of_key(layout.notion)
    graph = PartitionedGraph(offsets[-1], sum(layout.arcs), layout.edges, notion.parameters, layout.ghosts)
    about = tables.words.get("about") or {}
    identity = partial(identity_of_partitions, partitions, layout.arcs, notion, tables.datasets, layout.labels, workers)
    problem = PartitionedProblem(folder, offsets, graph, notion, about, identity, workers, names, end)
    return PartitionedFile(problem, PartitionedPins(layout.pinned, folder))


def offsets_of(tables: Tables, partitions: int | str | None, workers: int, arcs: int = DEFAULT_ARCS) -> tuple[int, ...]:
    """The bounds of the partitions: equal ranges of datasets, or one range per file."""
    size = tables.datasets.length
    if partitions == "files":
        return tuple(tables.datasets.starts)
    count = max(workers, -(-2 * tables.edges.length // arcs)) if partitions is None else int(partitions)
    return equal_ranges(size, max(1, min(count, size)))
