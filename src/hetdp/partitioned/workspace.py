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
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hetdp.errors import ClusterError, UsageError
from hetdp.interrupts import uninterrupted
from hetdp.partitioned.problem import Task, TaskRunner
from hetdp.partitioned.shared_files import NEW, OWNER, SEEN_RULE, open_plain, replace_file
from hetdp.text import format_value
from hetdp.version import VERSION

MEMORY = "2GB"
MARK = "hetdp-work"  # an empty file that identifies a work folder
LAYOUT = "layout"  # prefix of a folder with the arrays of a problem
OTHERS = stat.S_IWGRP | stat.S_IWOTH  # write permission of group and others
NOTE = "layout.json"  # file in a work folder that describes its problem
TALLIES = "tallies"  # key in the note of a problem without files
ADDRESS = re.compile(r"(tcp|tls|ucxx?|wss?)://.+:[0-9]{1,5}/?")  # of a scheduler
ARCS = 8_000_000  # default number of arcs of a partition, for workers with 2 GB


def worker_count(cluster: str | None, workers: Any, memory: Any, work: Any, partitions: Any) -> int:
    """The number of workers to start here; refuses invalid options."""
    count = workers if workers is not None else os.cpu_count() or 1
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UsageError(f"the number of workers is {format_value(workers)}", "it is a whole number, at least 1")
    counted = isinstance(partitions, int) and not isinstance(partitions, bool) and partitions >= 1
    if partitions is not None and partitions != "files" and not counted:
        raise UsageError(f"the partitions {format_value(partitions)}", "it is a whole number, at least 1, or 'files'")
    if not isinstance(memory, str) or not memory:
        raise UsageError(f"the memory {format_value(memory)}", "it is a text such as '2GB'")
    if cluster is not None:
        _require_cluster(cluster, workers, memory, work)
    return count


def _require_cluster(cluster: Any, workers: Any, memory: str, work: Any) -> None:
    if not isinstance(cluster, str) or not ADDRESS.fullmatch(cluster):
        raise UsageError(f"the cluster {format_value(cluster)}", "it is the address of a scheduler, tcp://HOST:PORT")
    if workers is not None:
        rule = "the scheduler has the workers that it has; a number of them is for workers that are started here"
        raise UsageError("a cluster beside a number of workers", rule, "leave one of them out")
    if memory != MEMORY:
        rule = "its workers have the memory that they were started with; this is for workers that are started here"
        raise UsageError("a cluster beside a memory for each worker", rule, "leave one of them out")
    if work is None:
        rule = "workers on other machines share a folder with this one"
        hint = "name a folder that all of them reach: --work, or work= in Python"
        raise UsageError("a cluster without a work folder", rule, hint)


def start_runner(cluster: str | None, count: int, memory: str, place: str) -> TaskRunner:
    """Connects to a cluster, or starts workers here."""
    try:
        with uninterrupted():
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
        return ARCS
    with uninterrupted():
        from hetdp.partitioned.processes import parse_memory
    return int(ARCS * parse_memory(memory) // parse_memory(MEMORY))


def work_folder(work: str | Path | None) -> tuple[str, bool]:
    """The work folder, and whether it is temporary."""
    if work is None:
        place = tempfile.mkdtemp(prefix="hetdp-")
        atexit.register(shutil.rmtree, place, ignore_errors=True)  # even if the problem is never closed
        return place, True
    try:
        folder = Path(work).absolute()
        if not folder.parent.is_dir():
            rule = "it is made in a folder that is there: a share that is not mounted is not made up"
            raise UsageError(f"there is no folder {str(folder.parent)!r} for the work folder {folder.name!r}", rule)
        folder.mkdir(mode=OWNER, exist_ok=True)
        _require_own(folder)
        strangers = [entry.name for entry in folder.iterdir()]
        if strangers and MARK not in strangers:
            rule = "it is a new or empty folder, or one of an earlier run"
            raise UsageError(f"the work folder {str(work)!r} holds other files, such as {sorted(strangers)[0]!r}", rule)
        if not strangers:
            with suppress(FileExistsError):  # another run may be starting
                os.close(os.open(folder / MARK, NEW, 0o600))
    except OSError as refusal:
        rule = "work is a folder that can be written"
        raise UsageError(f"cannot write {str(work)!r}: {refusal.strerror}", rule) from None
    return str(folder), False


def _require_own(folder: Path) -> None:
    """Refuses a work folder in which others could place files, because its content is trusted.

    Raises:
        UsageError: it is a link, belongs to another user, or others may write to it or replace it.
    """
    found, above = folder.lstat(), folder.parent.stat()
    shown_name = f"the work folder {str(folder)!r}"
    if not stat.S_ISDIR(found.st_mode):
        rule = "it is a folder, and no link to one, which others may have made"
        raise UsageError(f"{shown_name} is a link or a file", rule, "name the folder itself")
    if not hasattr(os, "geteuid"):  # pragma: no cover (a system without file owners)
        return
    rule = "what lies there is computed with, so it belongs to whoever runs this, and nobody else may write to it"
    if found.st_uid != os.geteuid():
        raise UsageError(f"{shown_name} belongs to somebody else", rule, "name a new folder, which is then made")
    if found.st_mode & OTHERS:
        raise UsageError(f"others may write to {shown_name}", rule, "name a new folder, or chmod go-w this one")
    if above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX:
        hint = "choose a folder that is not open to all, or whose entries only their owners may rename (chmod +t)"
        raise UsageError(f"others may replace {shown_name}", rule, hint)


def write_note(work: str, words: str) -> None:
    """Writes the note of a work folder atomically."""
    with replace_file(Path(work, NOTE)) as draft:
        draft.write_text(words, encoding="utf-8")


def read_note(work: str) -> str | None:
    """The note of a work folder; None if there is none."""
    try:
        with open_plain(Path(work, NOTE)) as file:
            return file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def refuse_folder(work: str, what: str) -> UsageError:
    """The error for a work folder that contains something else, which is not replaced."""
    rule = "what lies there may have taken hours, and is not replaced"
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
    os.close(os.open(place, NEW, 0o600))
    return Mark(str(place), SOFTWARE)


def run_guarded(mark: Mark, task: Task, *sent: Any) -> Any:
    """Runs a task on a worker, if it has the same software and shares the work folder.

    Raises:
        ClusterError: the software differs, or the folder is not shared.
    """
    here = f"a worker on {platform.node()}"
    if mark.software != SOFTWARE:
        rule = f"all workers run {mark.software}, as this machine does"
        raise ClusterError(f"{here} runs {SOFTWARE}", rule)
    try:
        shares = stat.S_ISREG(os.lstat(mark.path).st_mode)
    except OSError:
        shares = False
    if not shares:
        raise ClusterError(f"{here} does not share the folder {str(Path(mark.path).parent)!r}", SEEN_RULE)
    return task(*sent)


def closer_of(engine: TaskRunner | None, folder: str | None) -> Callable[[], None]:
    """A function that closes a problem: it ends the workers and removes the folder, where given."""

    def end() -> None:
        if engine is not None:
            with suppress(ClusterError, OSError):
                engine.close()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    return end
