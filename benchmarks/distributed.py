"""Partitions on two local workers, from Parquet to the proved mechanism, against the CPU engine with its reading.

`python -m benchmarks.distributed` prints the same up to 10⁸ arcs, which are measured once: that takes minutes more.
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
from benchmarks.claims import AT_MOST, Asked, Benchmark, Measured, Part, Section, Table
from benchmarks.graphs import grid, random_ball
from benchmarks.measure import in_new_process
from hetdp.mechanism.balanced import balanced_pins

GRID, RANDOM = "time on a grid", "time on a random graph"
GROWTH, DRIVER = "growth, of the CPU engine's", "megabytes of the driver"
ONCE = 10**8  # arcs
Kinds = tuple[tuple[str, Callable[[int], hetdp.Problem], str], ...]  # a name, what makes a graph, and what is asked
KINDS: Kinds = (("grid, halves", grid, GRID), ("random, 1 % ball", random_ball, RANDOM))
HEADS = ("graph", "arcs", "partitions", "CPU engine, s", "two workers, s", "ratio", "growth, CPU", "growth, workers")
HEADS += ("rounds", "labels told", "work folder, MiB", "driver, MiB")
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
        partitioned = list(map(float, in_new_process(PARTITIONED.format(**facts)).split()))
    names = ("start", "first", "best", "read", "rounds", "told", "mebibytes", "partitions", "driver")
    found = dict(zip(names, partitioned, strict=True))
    return found | {"arcs": count, "alone first": alone[0], "alone": alone[1], "alone memory": alone[2]}


def sections(kinds: Kinds, sizes: tuple[int, ...], rounds: int) -> Iterator[Part]:
    """A row for each graph and size, those from ONCE on measured once; what was asked is judged at the largest."""
    rows, judged = [], []
    for title, make, asked in kinds:
        before: dict[str, Any] | None = None
        least: dict[str, Any] = {}
        for arcs in sizes:
            BAR.tell(f"{title}, {arcs:,} arcs")
            found = measured(make, arcs, rounds if arcs < ONCE else 0, None)
            growth = ["", ""]
            if before is not None:
                growth = [f"×{found[key] / before[key]:.1f}" for key in ("alone", "best")]
            cells = [title, f"{found['arcs']:,}", f"{found['partitions']:.0f}", f"{found['alone']:.2f}"]
            cells += [f"{found['best']:.2f}", f"{found['best'] / found['alone']:.1f}", *growth]
            cells += [f"{found['rounds']:.0f}", f"{found['told']:,.0f}"]
            rows.append([*cells, f"{found['mebibytes']:.0f}", f"{found['driver']:.0f}"])
            if arcs == sizes[-1]:
                judged.append(Measured(asked, f"{arcs:,} arcs", found["best"] / found["alone"]))
                judged.append(Measured(DRIVER, title, found["driver"] * 2**20 / 1e6))
                if before is not None:
                    steeper = (found["best"] / least["best"]) / (found["alone"] / least["alone"])
                    judged.append(Measured(GROWTH, title, steeper))
            before, least = found, least or found
    yield Table(HEADS, rows)
    yield from judged


BENCHMARKS = (
    Benchmark(
        "distributed",
        "Partitions on two workers",
        "`read_partitioned` and `extend` with its proof on two local workers that are running already, against"
        " `read_problem` and `extend` on the CPU engine, the same Parquet files, each best of several calls in a"
        " process of its own. *labels told* went from one partition to another.",
        sections,
        full=(KINDS, (10**6, 10**7), 3),
        quick=(KINDS[:1], (10**4,), 0),
        asked=(
            Asked(GRID, AT_MOST, 4),
            Asked(RANDOM, AT_MOST, 10),
            Asked(GROWTH, AT_MOST, 1),
            Asked(DRIVER, AT_MOST, 500),
        ),
    ),
)


if __name__ == "__main__":
    large = replace(BENCHMARKS[0], full=(KINDS, (10**6, 10**7, 10**8), 3))
    print(page.text(page.section_lines(Section(large, large.parts(quick=False)), set())))
