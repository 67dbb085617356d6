"""read_partitioned: a problem in Parquet files, read by workers, a partition each; nobody ever holds it whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hetdp import progress
from hetdp.errors import ClusterError, UsageError
from hetdp.files.partitions.laying import laid_before, lay_out
from hetdp.files.partitions.naming import FileNames
from hetdp.files.partitions.ordering import order_by, require_column, snapped
from hetdp.files.partitions.tables import Tables, open_tables
from hetdp.interrupts import load_whole
from hetdp.problem.partitioned import PartitionedGraph, PartitionedPins, PartitionedProblem, Workers
from hetdp.problem.parts import Part
from hetdp.problem.validation import require_duplicates
from hetdp.theory.catalogue import NOTIONS

MEMORY = "2GB"
MARK = "hetdp-work"  # an empty file, by which a work folder is known
ARCS = 8_000_000  # in a partition, unless it is said how many partitions there are


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
    """Reads a problem that may be larger than the memory of any machine; needs the extra ``hetdp[distributed]``.

    The problem stands where another does: `check`, `extend`, `design` with the objective balanced, `verify` and `save`
    take it, and run on its workers. All numbers are those that one machine finds, bit for bit.

    Args:
        path: a folder with ``edges`` and ``datasets`` as Parquet, each one file or a folder ``part-*.parquet``.
        cluster: the address of a Dask scheduler, such as ``tcp://node:8786``. Default: workers on this machine.
        workers: how many to start on this machine; one for each core by default.
        memory: how much memory each of these may take.
        work: a folder that all workers reach, for what they write in between. It is kept, and a later run with the same
            problem goes on from there. Default, for workers on this machine: a temporary one, which is removed.
        partitions: how many ranges of datasets there are; or "files", one for each file of datasets. Default: as many
            as there are workers, or more if the problem is large.
        by: a column of the table of datasets, which may be one more than hetdp knows: those with the same entry are in
            the same partition. Datasets are then in the order of that column, in everything that is written.
        duplicates: what happens to an edge listed twice with different ε: "error", or "min", the more private one.
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
    count = workers if workers is not None else os.cpu_count() or 1
    _require_sizes(count, partitions, memory)
    if by is not None:
        require_column(tables.datasets, by, str(path))
    if cluster is not None and work is None:
        rule = "workers on other machines share a folder with this one"
        raise UsageError("a cluster without work=", rule, "name a folder that all of them reach")
    place, remove = _work_folder(work)
    engine: Workers | None = None
    try:
        engine = workers_of(cluster, count, memory, place)
        offsets = offsets_of(tables, partitions, count)
        if by is not None:
            tables, ends = order_by(tables, by, place, engine)
            offsets = snapped(offsets, ends)
        return read_with(engine, tables, place, offsets, duplicates, positive, _end(engine, place if remove else None))
    except BaseException:
        _end(engine, place if remove else None)()
        raise


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
    laid = laid_before(work, tables, offsets, duplicates, positive)
    if laid is None:
        laid = lay_out(work, tables, offsets, duplicates, positive, workers)
    parts = [Part(work, number, offsets) for number in range(len(offsets) - 1)]
    names = FileNames(parts, tables.datasets, laid.labels, workers)
    notion = NOTIONS[laid.notion]
    graph = PartitionedGraph(offsets[-1], laid.arcs, laid.edges, notion.parameters)
    about = tables.words.get("about") or {}
    problem = PartitionedProblem(work, offsets, graph, notion, about, laid.identity, laid.pinned, workers, names, end)
    return PartitionedFile(problem, PartitionedPins(laid.pinned))


def workers_of(cluster: str | None, count: int, memory: str, place: str) -> Workers:
    """The workers of a cluster, or some that are started here."""
    try:
        found: Workers = load_whole("hetdp.engines.dask.cluster").Cluster(cluster, count, memory, place)
        return found
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("dask", "distributed"):
            raise
        rule = "it needs the extra distributed"
        raise UsageError("Dask is not installed", rule, "pip install 'hetdp[distributed]'") from None


def _require_sizes(workers: Any, partitions: Any, memory: Any) -> None:
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise UsageError(f"workers={workers!r}", "it is a whole number, at least 1")
    counted = isinstance(partitions, int) and not isinstance(partitions, bool) and partitions >= 1
    if partitions is not None and partitions != "files" and not counted:
        raise UsageError(f"partitions={partitions!r}", "it is a whole number, at least 1, or 'files'")
    if not isinstance(memory, str) or not memory:
        raise UsageError(f"memory={memory!r}", "it is a text such as '2GB'")


def _work_folder(work: str | Path | None) -> tuple[str, bool]:
    """The folder, and whether it is removed at the end."""
    if work is None:
        return tempfile.mkdtemp(prefix="hetdp-"), True
    try:
        place = Path(work).absolute()
        place.mkdir(parents=True, exist_ok=True)
        strangers = [entry.name for entry in place.iterdir()]
        if strangers and MARK not in strangers:
            rule = "it is a new or empty folder, or one of an earlier run"
            raise UsageError(f"work={str(work)!r} holds other files, such as {sorted(strangers)[0]!r}", rule)
        (place / MARK).touch()
    except OSError as refusal:
        raise UsageError(
            f"cannot write {str(work)!r}: {refusal.strerror}", "work is a folder that can be written"
        ) from None
    return str(place), False


def offsets_of(tables: Tables, partitions: int | str | None, workers: int) -> tuple[int, ...]:
    """Where partitions begin: equal ranges of datasets, or one for each file of them."""
    size = tables.datasets.length
    if partitions == "files":
        return tuple(tables.datasets.starts)
    count = partitions if isinstance(partitions, int) else max(workers, -(-2 * tables.edges.length // ARCS))
    return tuple(size * at // count for at in range(count + 1))


def _end(engine: Any, folder: str | None) -> Callable[[], None]:
    def end() -> None:
        if engine is not None:
            with suppress(ClusterError, OSError):
                engine.close()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    return end
