"""Peak memory of the whole extend call, less that of the interpreter, compared with the arrays of the graph."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bar import BAR
from benchmarks.claims import AT_MOST, Benchmark, Measured, Part, Table, Target
from benchmarks.measure import in_new_process

PEAK = "peak / arrays of the graph"
CODE = """
import hetdp
from benchmarks.graphs import {kind}
from benchmarks.measure import memory, reset_peak
from hetdp.mechanism.balanced import balanced_pins

small = {kind}(100_000)
hetdp.extend(small, balanced_pins(small, engine="cpu"), engine="cpu")
del small
own = memory("VmRSS")
problem = {kind}({arcs})
partial = balanced_pins(problem, engine="cpu")
graph = problem.graph
arrays = (graph.indptr.nbytes + graph.targets.nbytes + graph.epsilon.nbytes) / 2**20
reset_peak()
mechanism = hetdp.extend(problem, partial, engine="cpu")
print(arrays, memory("VmHWM") - own)
"""


def sections(arcs: int) -> Iterator[Part]:
    """One row for each graph, each measured in a separate process."""
    rows = []
    for kind, title, count in (("random_ball", "random, 1 % ball", arcs), ("grid", "grid, halves", 8 * arcs // 10)):
        BAR.tell(title)
        arrays, peak = map(float, in_new_process(CODE.format(kind=kind, arcs=count)).split())
        rows.append((title, f"{arrays:.0f}", f"{peak:.0f}", f"{peak / arrays:.2f}"))
        yield Measured(PEAK, title, peak / arrays)
    yield Table(("graph", "arrays of the graph, MiB", "peak above the interpreter, MiB", "ratio"), rows)


BENCHMARKS = (
    Benchmark(
        "memory",
        "Memory",
        "Peak memory of the whole `extend` call with its proof, including the graph, less that of the interpreter.",
        sections,
        full=(10**7,),
        quick=(10**4,),
        targets=(Target(PEAK, AT_MOST, 3),),
    ),
)
