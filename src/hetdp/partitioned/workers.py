"""`Workers`: the Dask workers that read a table of people for `hetdp.ask`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hetdp.errors import UsageError
from hetdp.partitioned.problem import TaskRunner
from hetdp.partitioned.tables import PartitionedTable
from hetdp.partitioned.workspace import MEMORY, closer_of, start_runner, work_folder, worker_count
from hetdp.tables.formats import list_files
from hetdp.tables.people_table import PeopleTable
from hetdp.tables.plan import require_outside_table
from hetdp.tables.sources import require_exists


@dataclass(frozen=True)
class Workers:
    """Dask workers, each of which reads one file of a folder at a time: the argument `workers` of `hetdp.ask`.

    They need ``hetdp[distributed]``. Plan, promise, charge and answer are the same as in one process.

    Attributes:
        cluster: address of a scheduler, such as ``tls://node:8786``. By default workers are started here.
        number: number of workers to start here; by default one per core. At most one is started per file.
        memory: memory limit of each started worker; by default ``"2GB"``.
        work: a folder that this process and all workers can access; required with `cluster`.
    """

    cluster: str | None = None
    number: int | None = None
    memory: str | None = None
    work: str | Path | None = None

    def require_table(self, table: Any, sheet: str | None) -> None:
        """Refuses a table that is not a folder, before anything is read.

        Raises:
            UsageError: the table is not a folder, or the work folder lies in it.
            InputError: the folder does not exist.
        """
        if isinstance(table, str | Path):
            require_exists(Path(table))
        if sheet is not None or not isinstance(table, str | Path) or not Path(table).is_dir():
            rule = "workers read a folder of .parquet or .csv files, each file by one worker"
            raise UsageError("workers= for a table that is not a folder", rule, "leave workers= out")
        require_outside_table(table, [self.work])

    @contextmanager
    def open_table(self, table: Any, sheet: str | None, curator: bool) -> Iterator[PeopleTable]:
        """Starts or reaches the workers and opens a folder; the workers end with it.

        Raises:
            UsageError: an attribute is not valid.
            InputError: the table cannot be read.
            ClusterError: no worker could be reached.
        """
        files, memory = list_files(Path(table).absolute()), MEMORY if self.memory is None else self.memory
        count = worker_count(self.cluster, self.number, memory, self.work, None)
        place, remove = work_folder(self.work)
        runner: TaskRunner | None = None
        try:
            runner = start_runner(self.cluster, min(count, len(files)), memory, place)
            yield PartitionedTable(Path(table), runner, place, curator)
        finally:
            closer_of(runner, place if remove else None)()
