"""The table on one machine, or its files read by workers: where `ask` opens it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hetdp.errors import UsageError
from hetdp.partitioned.problem import TaskRunner
from hetdp.partitioned.tables import Parted
from hetdp.partitioned.workspace import MEMORY, end_of, work_folder, worker_count, workers_of
from hetdp.tables.formats import files_in
from hetdp.tables.respondents import Respondents, Whole
from hetdp.tables.sources import opened, require_there
from hetdp.text import format_value

AUTO, DASK = ENGINES = ("auto", "dask")


@dataclass(frozen=True)
class Engine:
    """Who reads a table.

    Attributes:
        name: ``"auto"``, which is this process, or ``"dask"``.
        cluster: the address of a scheduler; None for workers on this machine.
        workers: how many to start on this machine.
        memory: how much memory each of these may take.
        work: a folder that all workers reach.
    """

    name: str
    cluster: str | None
    workers: int | None
    memory: str | None
    work: str | Path | None

    def require(self, table: Any, sheet: str | None) -> None:
        """Refuses what contradicts itself, before anything is read.

        Raises:
            UsageError: an option is for the other engine, or the engine cannot do what is asked for.
            InputError: the folder is not there.
        """
        if self.name not in ENGINES:
            raise UsageError(f"the engine {format_value(self.name)}", f"a table is read by {' or '.join(ENGINES)}")
        if self.name == AUTO:
            for option in ("cluster", "workers", "memory", "work"):
                if getattr(self, option) is not None:
                    rule = "it says how --engine dask works"
                    raise UsageError(f"--{option} without --engine dask", rule, "add --engine dask, or leave it out")
            return
        if isinstance(table, str | Path):
            require_there(Path(table))
        if sheet is not None or not isinstance(table, str | Path) or not Path(table).is_dir():
            rule = "with --engine dask, a table is a folder of .parquet or .csv files, each read by one worker"
            raise UsageError("--engine dask for something else than a folder", rule, "leave --engine dask out")

    @contextmanager
    def opened(self, table: Any, sheet: str | None, curator: bool) -> Iterator[Respondents]:
        """The table, to be read column by column, or counted by workers, who end with it.

        Raises:
            UsageError: an option means nothing.
            InputError: the table cannot be read.
            ClusterError: no worker could be reached.
        """
        if self.name == AUTO:
            with opened(table, sheet, curator) as source:
                yield Whole(source, curator)
            return
        files, memory = files_in(Path(table).absolute()), MEMORY if self.memory is None else self.memory
        count = worker_count(self.cluster, self.workers, memory, self.work, None)
        place, remove = work_folder(self.work)
        engine: TaskRunner | None = None
        try:
            engine = workers_of(self.cluster, min(count, len(files)), memory, place)
            yield Parted(Path(table), engine, place, curator)
        finally:
            end_of(engine, place if remove else None)()
