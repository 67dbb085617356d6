"""Workers in this process: every task gets copies of its arguments and runs twice, as after a lost worker."""

from __future__ import annotations

import pickle
from pathlib import Path

from hetdp.partitioned.datasets import open_tables
from hetdp.partitioned.mechanism import PartitionedMechanism
from hetdp.partitioned.reading import PartitionedFile, offsets_of, read_by


class Inline:
    """Runs tasks in this process, each twice by default, and counts them."""

    def __init__(self, twice: bool = True) -> None:
        self.ran: dict[str, int] = {}
        self._twice = twice

    def run(self, task, items, words=""):
        pickled = [pickle.dumps(item) for item in items]
        for item in pickled if self._twice else ():
            task(*pickle.loads(item))
        self.ran[task.__name__] = self.ran.get(task.__name__, 0) + len(pickled)
        return [pickle.loads(pickle.dumps(task(*pickle.loads(item)))) for item in pickled]

    def close(self) -> None:
        pass


def read_inline(
    folder, work, partitions=2, duplicates="error", positive=None, offsets=None, twice=True
) -> PartitionedFile:
    """Reads a partitioned problem on inline workers; `offsets` determine the partitions."""
    tables = open_tables(folder)
    offsets = offsets or offsets_of(tables, partitions, 2)
    Path(work).mkdir(parents=True, exist_ok=True)
    return read_by(Inline(twice), tables, str(work), offsets, duplicates, positive, lambda: None)


def coordinates(mechanism: PartitionedMechanism):
    """All values of a mechanism, in the order of the datasets."""
    import numpy as np

    return np.concatenate([np.asarray(block) for block in mechanism.blocks()])
