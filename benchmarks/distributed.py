"""Partitions on two local workers, from Parquet to the proved mechanism, compared with the CPU engine.

`python -m benchmarks.distributed` prints the same table up to 10⁸ arcs. These are measured once and take several
minutes more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hetdp
from benchmarks import page
from benchmarks.bar import BAR
from benchmarks.claims import AT_MOST, Benchmark, Measured, Part, Section, Table, Target
from benchmarks.graphs import grid, random_ball
from benchmarks.measure import in_new_process
from hetdp.mechanism.balanced import balanced_pins

GRID, RANDOM = "time on a grid", "time on a random graph"
GROWTH, DRIVER = "growth, of the CPU engine's", "megabytes of the driver"
ONCE = 10**8  # arcs
Kinds = tuple[
    tuple[str, Callable[[int], hetdp.Problem], str], ...
]  # a name, a function that makes a graph, and a target
KINDS: Kinds = (("grid, halves", grid, GRID), ("random, 1 % ball", random_ball, RANDOM))
HEADS = (
    *("graph", "arcs", "partitions", "CPU engine, s", "two workers, s", "ratio", "growth, CPU", "growth, workers"),
    *("rounds", "labels sent", "work folder, MiB", "driver, MiB"),
)
ALONE = """
import time
import hetdp
from benchmarks.measure import memory

def whole():
    begin = time.perf_counter()
    problem, partial = hetdp.read_problem({folder!r})
    hetdp.extend(problem, partial, engine="cpu")
    return time.perf_counter() - begin

first = whole()
print(first, min([whole() for _ in range({rounds})], default=first), memory("VmHWM"))
"""
PARTITIONED = """
import time
import hetdp
from benchmarks.measure import memory
from hetdp.partitioned.cluster import Cluster
from hetdp.partitioned.workspace import arcs_for
from hetdp.partitioned.reading import offsets_of, read_by
from hetdp.partitioned.datasets import open_tables
import shutil, tempfile
from pathlib import Path

def whole(cluster):
    work = tempfile.mkdtemp(dir={place!r})
    begin = time.perf_counter()
    tables = open_tables({folder!r})
    offsets = offsets_of(tables, {partitions}, 2, arcs_for(None, "4GB"))
    problem, partial = read_by(cluster, tables, work, offsets, "error", None, lambda: None)
    read = time.perf_counter() - begin
    mechanism = hetdp.extend(problem, partial)
    took = time.perf_counter() - begin
    assert mechanism.certificate.optimal
    size = sum(file.stat().st_size for file in Path(work).rglob("*") if file.is_file())
    partitions = len(problem.partitions)
    shutil.rmtree(work)
    return took, read, mechanism.rounds, sum(mechanism.sent), size / 2**20, partitions

begin = time.perf_counter()
cluster = Cluster(None, 2, "4GB", {place!r})
start = time.perf_counter() - begin
first = whole(cluster)
best = min([whole(cluster) for _ in range({rounds})], default=first)
cluster.close()
print(start, first[0], *best, memory("VmHWM"))
"""


def measure_both(
    make: Callable[[int], hetdp.Problem], arcs: int, rounds: int, partitions: int | None
) -> dict[str, Any]:
    """Seconds with and without workers, in new processes: the first call, and the best of several further calls."""
    with TemporaryDirectory() as place:
        folder = str(Path(place, "problem"))
        problem = make(arcs)
        hetdp.save(problem, folder, balanced_pins(problem, engine="cpu"))
        count = problem.graph.arc_count
        del problem
        facts: dict[str, Any] = {"folder": folder, "place": place, "rounds": rounds, "partitions": partitions}
        alone = list(map(float, in_new_process(ALONE.format(**facts)).split()))
        partitioned = list(map(float, in_new_process(PARTITIONED.format(**facts)).split()))
    names = ("start", "first", "best", "read", "rounds", "told", "mebibytes", "partitions", "driver")
    found = dict(zip(names, partitioned, strict=True))
    return found | {"arcs": count, "alone first": alone[0], "alone": alone[1], "alone memory": alone[2]}


def sections(kinds: Kinds, sizes: tuple[int, ...], rounds: int) -> Iterator[Part]:
    """A row for each graph and size. Sizes from ONCE on are measured once. Targets are judged at the largest size."""
    rows, results = [], []
    for title, make, target in kinds:
        before: dict[str, Any] | None = None
        least: dict[str, Any] = {}
        for arcs in sizes:
            BAR.tell(f"{title}, {arcs:,} arcs")
            found = measure_both(make, arcs, rounds if arcs < ONCE else 0, None)
            growth = ["", ""]
            if before is not None:
                growth = [f"×{found[key] / before[key]:.1f}" for key in ("alone", "best")]
            cells = [title, f"{found['arcs']:,}", f"{found['partitions']:.0f}", f"{found['alone']:.2f}"]
            cells += [f"{found['best']:.2f}", f"{found['best'] / found['alone']:.1f}", *growth]
            cells += [f"{found['rounds']:.0f}", f"{found['told']:,.0f}"]
            rows.append([*cells, f"{found['mebibytes']:.0f}", f"{found['driver']:.0f}"])
            if arcs == sizes[-1]:
                results.append(Measured(target, f"{arcs:,} arcs", found["best"] / found["alone"]))
                results.append(Measured(DRIVER, title, found["driver"] * 2**20 / 1e6))
                if before is not None:
                    steeper = (found["best"] / least["best"]) / (found["alone"] / least["alone"])
                    results.append(Measured(GROWTH, title, steeper))
            before, least = found, least or found
    yield Table(HEADS, rows)
    yield from results


BENCHMARKS = (
    Benchmark(
        "distributed",
        "Partitions on two workers",
        "`read_partitioned` and `extend` with its proof, on two local workers that are already running, compared with"
        " `read_problem` and `extend` on the CPU engine. Both read the same Parquet files, and each time is the best of"
        " several calls in a separate process. *labels sent* counts labels that one partition sent to another.",
        sections,
        full=(KINDS, (10**6, 10**7), 3),
        quick=(KINDS[:1], (10**4,), 0),
        targets=(
            Target(GRID, AT_MOST, 4),
            Target(RANDOM, AT_MOST, 10),
            Target(GROWTH, AT_MOST, 1),
            Target(DRIVER, AT_MOST, 500),
        ),
    ),
)


if __name__ == "__main__":
    large = replace(BENCHMARKS[0], full=(KINDS, (10**6, 10**7, 10**8), 3))
    print(page.text(page.section_lines(Section(large, large.parts(quick=False)), set())))
