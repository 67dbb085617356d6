"""Partitions and files without workers."""

from __future__ import annotations

from pathlib import Path

from hetdp.partitioned.parquet_rows import Files
from hetdp.partitioned.partition import Partition

OFFSETS = (0, 2, 2, 5, 7)


def partition_in(folder: Path, number: int) -> Partition:
    return Partition(str(folder), number, OFFSETS)


def files_with(*counts: int) -> Files:
    return Files("edges", tuple(f"/data/edges/part-{at}.parquet" for at in range(len(counts))), {}, counts)
