"""read_partitioned: a problem in Parquet files, read by workers, a partition each; nobody ever holds it whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hetdp import progress
from hetdp.engines.dask.starting import (
    ARCS,
    MEMORY,
    arcs_for,
    end_of,
    ranges,
    refused,
    work_folder,
    worker_count,
    workers_of,
)
from hetdp.errors import UsageError
from hetdp.files.partitions.identity import identity_of_parts
from hetdp.files.partitions.laying import laid_before, lay_out
from hetdp.files.partitions.naming import FileNames
from hetdp.files.partitions.ordering import order_by, require_column, snapped
from hetdp.files.partitions.tables import Tables, open_tables
from hetdp.problem.partitioned import PartitionedGraph, PartitionedPins, PartitionedProblem, Workers
from hetdp.problem.parts import Part
from hetdp.problem.shared import fresh_folder
from hetdp.problem.validation import require_duplicates
from hetdp.theory.catalogue import NOTIONS


class PartitionedFile(NamedTuple):
    """What a folder states: a problem, and the values given on some of its datasets. `with` closes the problem."""

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
    duplicates: str = "error",
    positive: Any = None,
) -> PartitionedFile:
    """Reads a problem that may be larger than the memory of any machine; needs the extra ``distributed``.

    The problem stands where another does: `check`, `extend`, `design` (fair and balanced), `verify` and `save`
    take it, and run on its workers. All numbers are those that one machine finds, bit for bit.

    Args:
        path: a folder with ``edges`` and ``datasets`` as Parquet, each one file or a folder ``part-*.parquet``.
        cluster: the address of a Dask scheduler, such as ``tls://node:8786``, whose certificates Dask's own
            settings name. Default: workers on this machine.
        workers: how many to start on this machine; one for each core by default.
        memory: how much memory each of these may take.
        work: a folder that all workers reach, for what they write in between; nobody else may write to it. It is kept,
            and a later run with the same problem goes on from there. Default, for workers on this machine: a temporary
            one, which is removed.
        partitions: how many ranges of datasets there are; or "files", one for each file of datasets. Default: those of
            the work folder, if the problem lies there already; else as many as there are workers, or more if the
            problem is large.
        by: a column of the table of datasets, which may be one more than hetdp knows: those with the same entry are in
            the same partition. Datasets are then in the order of that column, in everything that is written.
        duplicates: what happens to an edge of one class listed twice with different ε: "error", or "min", the more
            private one. Edges of different classes are all kept: the tightest binds, and every class pays.
        positive: which given answer counts as 1; default: what the folder says.

    Raises:
        InputError: listing every fault of the files.
        ClusterError: no worker could be reached, or the last one was lost.

    >>> import hetdp
    >>> hetdp.read_partitioned("nowhere")
    Traceback (most recent call last):
    hetdp.errors.InputError: nowhere: cannot be read: there is no such file; the input is a file or folder.
    """
    require_duplicates(duplicates)
    progress.stage("reading the problem")
    tables = open_tables(path, by)
    count = worker_count(cluster, workers, memory, work, partitions)
    if by is not None:
        require_column(tables.datasets, by, str(path))
        _refuse_files(partitions)
    _require_apart(work, Path(path))
    place, remove = work_folder(work)
    engine: Workers | None = None
    ordered = fresh_folder(place, "ordered") if by is not None else None
    gone = place if remove else ordered
    try:
        engine = workers_of(cluster, count, memory, place)
        offsets = offsets_of(tables, partitions, count, arcs_for(cluster, memory))
        if by is not None:
            tables, ends = order_by(tables, by, str(ordered), engine)
            offsets = snapped(offsets, ends)
        laid = laid_before(place, tables, duplicates, positive)
        offsets = laid.offsets if laid is not None and partitions is None else offsets
        return read_with(engine, tables, place, offsets, duplicates, positive, end_of(engine, gone))
    except BaseException:
        end_of(engine, gone)()
        raise


def _refuse_files(partitions: int | str | None) -> None:
    if partitions == "files":
        rule = "datasets are in the order of a column, or as the files have them"
        raise UsageError("partitions by a column beside one for each file", rule, "leave one of them out")


def _require_apart(work: str | Path | None, problem: Path) -> None:
    """Refuses to work in the folder of the problem: the next reader would find strangers among its tables."""
    if work is not None and problem.resolve() in (place := Path(work).resolve(), *place.parents)[1:]:
        rule = "a problem's folder holds the problem"
        raise UsageError(f"the work folder {str(work)!r} lies in {str(problem)!r}", rule, "choose another folder")


def read_with(
    workers: Workers,
    tables: Tables,
    work: str,
    offsets: tuple[int, ...],
    duplicates: str,
    positive: Any,
    end: Callable[[], None],
) -> PartitionedFile:
    """The same with workers that are there already; `end` is what closing the problem does."""
    laid = laid_before(work, tables, duplicates, positive) or lay_out(
        work, tables, offsets, duplicates, positive, workers
    )
    if laid.offsets != offsets:
        raise refused(work, "this problem in other partitions")
    folder = str(Path(work, laid.folder))
    parts = [Part(folder, number, offsets) for number in range(len(offsets) - 1)]
    names = FileNames(parts, tables.datasets, laid.labels, workers)
    notion = NOTIONS[laid.notion]
    graph = PartitionedGraph(offsets[-1], sum(laid.arcs), laid.edges, notion.parameters, laid.ghosts)
    about = tables.words.get("about") or {}
    identity = partial(identity_of_parts, parts, laid.arcs, notion, tables.datasets, laid.labels, workers)
    problem = PartitionedProblem(folder, offsets, graph, notion, about, identity, laid.pinned, workers, names, end)
    return PartitionedFile(problem, PartitionedPins(laid.pinned, folder))


def offsets_of(tables: Tables, partitions: int | str | None, workers: int, arcs: int = ARCS) -> tuple[int, ...]:
    """Where partitions begin: equal ranges of datasets, or one for each file of them."""
    size = tables.datasets.length
    if partitions == "files":
        return tuple(tables.datasets.starts)
    count = partitions if isinstance(partitions, int) else max(workers, -(-2 * tables.edges.length // arcs))
    return ranges(size, max(1, min(count, size)))
