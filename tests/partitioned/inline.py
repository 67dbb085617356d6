"""Workers that are no processes: every task gets copies of what it is told, and runs twice, as after a lost worker."""

from __future__ import annotations

import pickle
from pathlib import Path

from hetdp.partitioned.datasets import open_tables
from hetdp.partitioned.mechanism import PartitionedMechanism
from hetdp.partitioned.reading import PartitionedFile, offsets_of, read_by


class Inline:
    """Runs tasks here, each twice unless told otherwise, and counts them."""

    def __init__(self, twice: bool = True) -> None:
        self.ran: dict[str, int] = {}
        self._twice = twice

    def run(self, task, items, words=""):
        told = [pickle.dumps(item) for item in items]
        for item in told if self._twice else ():
            task(*pickle.loads(item))
        self.ran[task.__name__] = self.ran.get(task.__name__, 0) + len(told)
        return [pickle.loads(pickle.dumps(task(*pickle.loads(item)))) for item in told]

    def close(self) -> None:
        pass


def read_inline(folder, work, partitions=2, duplicates="error", positive=None, offsets=None) -> PartitionedFile:
    """A partitioned problem on such workers; `offsets` cut it anywhere."""
    tables = open_tables(folder)
    offsets = offsets or offsets_of(tables, partitions, 2)
    Path(work).mkdir(parents=True, exist_ok=True)
    return read_by(Inline(), tables, str(work), offsets, duplicates, positive, lambda: None)


def coordinates(mechanism: PartitionedMechanism):
    """All its values, in the order of the datasets."""
    import numpy as np

    return np.concatenate([np.asarray(block) for block in mechanism.blocks()])
