"""Partitions on two local workers, from Parquet to the proved mechanism, against the CPU engine with its reading."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hetdp
from benchmarks.graphs import grid, random_ball
from benchmarks.measure import in_new_process
from hetdp.mechanism.balanced import balanced_pins

ALONE = """
import time
import hetdp
from benchmarks.measure import memory

def whole():
    begin = time.perf_counter()
    problem, partial = hetdp.read_problem({folder!r})
    hetdp.extend(problem, partial, engine="cpu")
    return time.perf_counter() - begin

print(whole(), min(whole() for _ in range({rounds})), memory("VmHWM"))
"""
PARTED = """
import time
import hetdp
from benchmarks.measure import memory
from hetdp.engines.dask.cluster import Cluster
from hetdp.files.partitions.reading import offsets_of, read_with
from hetdp.files.partitions.tables import open_tables
import shutil, tempfile
from pathlib import Path

def whole(cluster):
    work = tempfile.mkdtemp(dir={place!r})
    begin = time.perf_counter()
    tables = open_tables({folder!r})
    offsets = offsets_of(tables, {partitions}, 2)
    problem, partial = read_with(cluster, tables, work, offsets, "error", None, lambda: None)
    read = time.perf_counter() - begin
    mechanism = hetdp.extend(problem, partial)
    took = time.perf_counter() - begin
    assert mechanism.certificate.optimal
    size = sum(file.stat().st_size for file in Path(work).rglob("*") if file.is_file())
    shutil.rmtree(work)
    return took, read, mechanism.rounds, sum(mechanism.told), size / 2**20, len(problem.parts)

begin = time.perf_counter()
cluster = Cluster(None, 2, "4GB", {place!r})
start = time.perf_counter() - begin
first = whole(cluster)
best = min(whole(cluster) for _ in range({rounds}))
cluster.close()
print(start, first[0], *best, memory("VmHWM"))
"""


def measured(make: Callable[[int], hetdp.Problem], arcs: int, rounds: int, partitions: int | None) -> dict[str, Any]:
    """Seconds of both ways in one run, in new processes, the first call and the best of some more."""
    with TemporaryDirectory() as place:
        folder = str(Path(place, "problem"))
        problem = make(arcs)
        hetdp.save(problem, folder, balanced_pins(problem, engine="cpu"))
        count = problem.graph.arc_count
        del problem
        facts: dict[str, Any] = {"folder": folder, "place": place, "rounds": rounds, "partitions": partitions}
        alone = list(map(float, in_new_process(ALONE.format(**facts)).split()))
        parted = list(map(float, in_new_process(PARTED.format(**facts)).split()))
    names = ("start", "first", "best", "read", "rounds", "told", "mebibytes", "partitions", "driver")
    found = dict(zip(names, parted, strict=True))
    return found | {"arcs": count, "alone first": alone[0], "alone": alone[1], "alone memory": alone[2]}


def sections(sizes: tuple[int, ...], rounds: int) -> Iterator[str]:
    """The table, row by row."""
    yield (
        "| graph | arcs | partitions | CPU engine, s | two workers, s | ratio | growth, CPU | growth, workers"
        " | rounds | labels told | work folder, MiB | driver, MiB |"
    )
    yield "|---" * 12 + "|"
    for title, make in (("grid, halves", grid), ("random, 1 % ball", random_ball)):
        before: dict[str, Any] | None = None
        for arcs in sizes:
            found = measured(make, arcs, rounds, None)
            growth = ["", ""]
            if before is not None:
                growth = [f"×{found[key] / before[key]:.1f}" for key in ("alone", "best")]
            yield (
                f"| {title} | {found['arcs']:,} | {found['partitions']:.0f} | {found['alone']:.2f}"
                f" | {found['best']:.2f} | {found['best'] / found['alone']:.1f} | {growth[0]} | {growth[1]}"
                f" | {found['rounds']:.0f} | {found['told']:,.0f} | {found['mebibytes']:.0f} | {found['driver']:.0f} |"
            )
            before = found


def main() -> None:
    begin = time.perf_counter()
    for line in sections((10**6, 10**7), 2):
        print(line, flush=True)
    print(f"{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
