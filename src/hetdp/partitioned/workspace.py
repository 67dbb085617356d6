"""The workers of a partitioned problem and the folder that they share: options, safety checks, and closing.

A work folder belongs to the user, and nobody else can write to it. A note says which problem it contains. For each run
the driver adds a mark, by which workers recognize that they share the folder.
"""

from __future__ import annotations

import atexit
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

from hetdp.errors import ClusterError, UsageError
from hetdp.interrupts import delay_interrupts
from hetdp.partitioned.problem import Task, TaskRunner
from hetdp.partitioned.shared_files import NEW_FILE_FLAGS, OWNER_ONLY, SEEN_RULE, open_plain, replace_file
from hetdp.text import format_value
from hetdp.version import VERSION

MEMORY = "2GB"
MARK_FILE = "hetdp-work"  # an empty file that identifies a work folder
LAYOUT = "layout"  # prefix of a folder with the arrays of a problem
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH  # write permission of group and others
LAYOUT_FILE = "layout.json"  # file in a work folder that describes its problem
TALLIES = "tallies"  # key in the note of a problem without files
ADDRESS = re.compile(r"(tcp|tls|ucxx?|wss?)://.+:[0-9]{1,5}/?")  # of a scheduler
DEFAULT_ARCS = 8_000_000  # default number of arcs of a partition, for workers with 2 GB


class Workspace:
    """Workers and the folder that they share. The options are checked first; then the folder is made, then they start.

    Args:
        cluster: address of a scheduler; None starts workers here.
        workers: number of workers to start; None for one per core.
        memory: memory limit of each started worker.
        work: the folder; None for a temporary one.
        partitions: number of partitions, which is checked with the other options.

    Attributes:
        count: number of workers to start, or that a cluster is taken to have.

    Raises:
        UsageError: an option is not valid.
    """

    def __init__(
        self, cluster: str | None, workers: Any, memory: str, work: str | Path | None, partitions: Any
    ) -> None:
        self.count = worker_count(cluster, workers, memory, work, partitions)
        self._cluster, self._memory, self._work = cluster, memory, work
        self._runner: TaskRunner | None = None
        self._removed: str | None = None

    def make_folder(self) -> str:
        """Makes the work folder, or opens that of an earlier run."""
        place, is_temporary = work_folder(self._work)
        self._removed = place if is_temporary else None
        return place

    def start(self, place: str, most: int | None = None) -> TaskRunner:
        """Starts or reaches the workers, at most as many as given."""
        count = self.count if most is None else min(self.count, most)
        self._runner = start_runner(self._cluster, count, self._memory, place)
        return self._runner

    @property
    def arcs(self) -> int:
        """The default number of arcs of a partition."""
        return arcs_for(self._cluster, self._memory)

    def remove_at_end(self, folder: str) -> None:
        """Names a part of the work folder that goes with the workers; a temporary folder goes as a whole."""
        self._removed = self._removed or folder

    def end(self) -> None:
        """Ends the workers, and removes what is temporary."""
        if self._runner is not None:
            with suppress(ClusterError, OSError):
                self._runner.close()
        if self._removed is not None:
            shutil.rmtree(self._removed, ignore_errors=True)

    @contextmanager
    def end_on_failure(self) -> Iterator[None]:
        """Ends the workers if the block raises; otherwise they are kept."""
        try:
            yield
        except BaseException:
            self.end()
            raise


def worker_count(cluster: str | None, workers: Any, memory: Any, work: Any, partitions: Any) -> int:
    """The number of workers to start here; refuses invalid options."""
    count = workers if workers is not None else os.cpu_count() or 1
    if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
        raise UsageError(f"the number of workers is {format_value(workers)}", "it must be a whole number, at least 1")
    counted = not isinstance(partitions, bool) and isinstance(partitions, Integral) and int(partitions) >= 1
    if partitions is not None and partitions != "files" and not counted:
        raise UsageError(
            f"invalid partitions {format_value(partitions)}", "it must be a whole number, at least 1, or 'files'"
        )
    if not isinstance(memory, str) or not memory:
        raise UsageError(f"invalid memory size {format_value(memory)}", "it must be a text such as '2GB'")
    if cluster is not None:
        _require_cluster(cluster, workers, memory, work)
    return int(count)


def _require_cluster(cluster: Any, workers: Any, memory: str, work: Any) -> None:
    if not isinstance(cluster, str) or not ADDRESS.fullmatch(cluster):
        raise UsageError(
            f"invalid cluster address {format_value(cluster)}", "it is the address of a scheduler, tcp://HOST:PORT"
        )
    if workers is not None:
        rule = "the number is for local workers; a scheduler already has its workers"
        raise UsageError("a cluster together with a number of workers", rule, "leave one of them out")
    if memory != MEMORY:
        rule = "the size is for local workers; those of a scheduler were started with their own"
        raise UsageError("a cluster together with a memory size for each worker", rule, "leave one of them out")
    if work is None:
        rule = "workers on other machines must share a folder with this one"
        hint = "name a folder that all of them can access: work="
        raise UsageError("a cluster without a work folder", rule, hint)


def start_runner(cluster: str | None, count: int, memory: str, place: str) -> TaskRunner:
    """Connects to a cluster, or starts workers here."""
    try:
        with delay_interrupts():
            from hetdp.partitioned.cluster import Cluster
        return Cluster(cluster, count, memory, place)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("dask", "distributed"):
            raise
        rule = "it needs the extra distributed"
        raise UsageError(
            "Dask is not installed", rule, "pip install '.[distributed]', in the folder of hetdp's sources"
        ) from None


def arcs_for(cluster: str | None, memory: str) -> int:
    """The default number of arcs of a partition; fewer and larger partitions are faster.

    Args:
        cluster: address of a scheduler, whose workers have an unknown amount of memory.
        memory: memory limit of workers that are started here.
    """
    if cluster is not None:
        return DEFAULT_ARCS
    with delay_interrupts():
        from hetdp.partitioned.cluster import parse_memory
    return int(DEFAULT_ARCS * parse_memory(memory) // parse_memory(MEMORY))


def work_folder(work: str | Path | None) -> tuple[str, bool]:
    """The work folder, and whether it is temporary."""
    if work is None:
        place = tempfile.mkdtemp(prefix="hetdp-")
        atexit.register(shutil.rmtree, place, ignore_errors=True)  # even if the problem is never closed
        return place, True
    try:
        folder = Path(work).absolute()
        if not folder.parent.is_dir():
            rule = "its parent folder must exist, so that nothing is written where a share is not mounted"
            raise UsageError(f"there is no folder {str(folder.parent)!r} for the work folder {folder.name!r}", rule)
        folder.mkdir(mode=OWNER_ONLY, exist_ok=True)
        _require_own(folder)
        strangers = [entry.name for entry in folder.iterdir()]
        if strangers and MARK_FILE not in strangers:
            rule = "it must be a new or empty folder, or one of an earlier run"
            raise UsageError(f"the work folder {str(work)!r} holds other files, such as {sorted(strangers)[0]!r}", rule)
        if not strangers:
            with suppress(FileExistsError):  # another run may be starting
                os.close(os.open(folder / MARK_FILE, NEW_FILE_FLAGS, 0o600))
    except OSError as refusal:
        rule = "work is a folder that can be written"
        raise UsageError(f"cannot write {str(work)!r}: {refusal.strerror}", rule) from None
    return str(folder), False


def _require_own(folder: Path) -> None:
    """Refuses a work folder in which others could place files, because its content is trusted.

    Raises:
        UsageError: it is a link, belongs to another user, or other users may write to it or replace it.
    """
    found, above = folder.lstat(), folder.parent.stat()
    shown_name = f"the work folder {str(folder)!r}"
    if not stat.S_ISDIR(found.st_mode):
        rule = "it must be a folder, not a link, which other users may have made"
        raise UsageError(f"{shown_name} is a link or a file", rule, "name the folder itself")
    if not hasattr(os, "geteuid"):  # pragma: no cover (a system without file owners)
        return
    rule = (
        "its files are used in the computation, so it must belong to the current user, and nobody else may write to it"
    )
    if found.st_uid != os.geteuid():
        raise UsageError(f"{shown_name} belongs to another user", rule, "name a new folder, which will be created")
    if found.st_mode & WRITABLE_BY_OTHERS:
        raise UsageError(f"other users may write to {shown_name}", rule, "name a new folder, or chmod go-w this one")
    if above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX:
        hint = "choose a folder that is not open to all, or whose entries only their owners may rename (chmod +t)"
        raise UsageError(f"others may replace {shown_name}", rule, hint)


def write_note(work: str, words: str) -> None:
    """Writes the note of a work folder atomically."""
    with replace_file(Path(work, LAYOUT_FILE)) as draft:
        draft.write_text(words, encoding="utf-8")


def read_note(work: str) -> str | None:
    """The note of a work folder; None if there is none."""
    try:
        with open_plain(Path(work, LAYOUT_FILE)) as file:
            return file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def refuse_folder(work: str, what: str) -> UsageError:
    """The error for a work folder that contains something else, which is not replaced."""
    rule = "its files may have taken hours to compute, and are not replaced"
    return UsageError(f"the work folder {work!r} holds {what}", rule, "name another folder, or remove that one")


def equal_ranges(size: int, count: int) -> tuple[int, ...]:
    """The bounds of equal ranges of datasets."""
    return tuple(size * at // count for at in range(count + 1))


SOFTWARE = f"hetdp {VERSION} with Python {sys.version_info.major}.{sys.version_info.minor}"


class Mark(NamedTuple):
    """An empty file with a new name, by which workers recognize that they share the folder with the driver of this run.

    Attributes:
        path: the file.
        software: the versions of hetdp and Python on the driver.
    """

    path: str
    software: str

    def remove(self) -> None:
        """Removes the file, so that late tasks do nothing."""
        with suppress(OSError):
            Path(self.path).unlink()


def mark_folder(work: str) -> Mark:
    """Marks a folder for one run."""
    place = Path(work, f".at-work-{os.urandom(8).hex()}")
    os.close(os.open(place, NEW_FILE_FLAGS, 0o600))
    return Mark(str(place), SOFTWARE)


def run_guarded(mark: Mark, task: Task, *sent: Any) -> Any:
    """Runs a task on a worker, if it has the same software and shares the work folder.

    Raises:
        ClusterError: the software differs, or the folder is not shared.
    """
    here = f"a worker on {platform.node()}"
    if mark.software != SOFTWARE:
        rule = f"all workers must run {mark.software}, like this machine"
        raise ClusterError(f"{here} runs {SOFTWARE}", rule)
    try:
        shares = stat.S_ISREG(os.lstat(mark.path).st_mode)
    except OSError:
        shares = False
    if not shares:
        raise ClusterError(f"{here} does not share the folder {str(Path(mark.path).parent)!r}", SEEN_RULE)
    return task(*sent)
