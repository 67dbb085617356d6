"""Runs everything and writes RESULTS.md: ``python -m benchmarks [--quick]``."""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Iterator
from pathlib import Path

from benchmarks import ask, average, distributed, files, memory, products, programs, speed, start
from benchmarks.measure import machine

RESULTS = Path(__file__).with_name("RESULTS.md")


def pages(quick: bool) -> Iterator[str]:
    """The whole page, line by line."""
    arcs, rounds = (10**5, 1) if quick else (10**7, 9)
    yield "# Results"
    yield ""
    yield f"{datetime.date.today()}. {machine()}."
    yield "Repeat with `make bench`. All columns but seconds and MiB are ratios within this run; best of several calls."
    yield ""
    yield "## Time: SciPy's `dijkstra(min_only=True)` from the boundary on the same graph = 1"
    yield ""
    yield "Boundary pinned at balanced values, as an array (*extend*), as a mapping of the boundary, and with every"
    yield "dataset pinned by a mapping. *search* is both answers, from arrays to labels and links; *fair search*"
    yield "chooses the boundary as well; *verify* is privacy and optimality. Asked for: search ≤ 0.5, verify ≤ 0.2,"
    yield "fair search ≤ 1.3 searches. What *extend* costs beyond search and verify is arrays made from pins and back."
    yield "Building sorts all arcs and floors each ε; it happens once."
    yield ""
    yield from speed.sections(arcs, rounds)
    yield ""
    yield "## Memory: the arrays of the graph = 1"
    yield ""
    yield "Peak of the whole `extend` call with its proof, graph included. Asked for: ≤ 3."
    yield ""
    yield from memory.sections(arcs)
    yield ""
    yield "## Growth"
    yield ""
    yield "Asked for: the search not steeper than SciPy's from 10⁵ to 10⁷ arcs. At 10⁵ arcs starting two threads and"
    yield "clearing the queue weighs as much as the search; on a path there is nothing to sort, and both only walk."
    yield ""
    yield from speed.growth(arcs, min(rounds, 3))
    yield ""
    yield "## Against a linear program"
    yield ""
    yield "HiGHS with its defaults on the same program, pins as fixed variables. Asked for: extension at least 1,000"
    yield "times faster on 15 voters: the search is. The whole call also proves every edge and chain, which HiGHS does"
    yield "not, and is slower than that."
    yield ""
    yield from programs.sections(6 if quick else 15)
    yield ""
    yield "## The best average"
    yield ""
    yield "HiGHS with its defaults on the whole program, against `design(problem, 'average')` from the problem to the"
    yield "proved mechanism. Asked for: 5 times faster on the cube, 20 times on the tallies, and not below HiGHS by"
    yield "more than 1e-7. The *proved gap* is how far the mean accuracy can be from the best, at most."
    yield ""
    yield from average.sections(*((5, 5, 1) if quick else (11, 27, 5)))
    yield ""
    yield "## Spaces of people"
    yield ""
    yield "Balanced, without stored edges. First the time of the growth, of finding where it starts, and of its links,"
    yield "as parts of the time that copying the labels once for each voter takes; asked for: growth ≤ 0.5. Then whole"
    yield "calls, in new processes; asked for: 10⁸ tallies within 60 seconds and 4 GB, 24 voters within 1 GB."
    yield ""
    yield from products.sections(*((16, 30) if quick else (24, 463)), rounds)
    yield ""
    yield "## A table of people"
    yield ""
    yield "DuckDB reads the column of ε from Parquet and sorts it = 1; `hetdp ask` reads everybody's id and ε, looks"
    yield "for people who are there twice, fixes the mechanism and its promise (*promise*), and reads the answers."
    yield "Asked for: ≤ 2 on 10⁷ rows."
    yield ""
    yield from ask.sections(*((10**4, 10**3, 1) if quick else (10**7, 10**5, 3)))
    yield ""
    yield "## Start"
    yield ""
    yield from start.sections(3 if quick else 30)
    yield ""
    yield "## Files"
    yield ""
    yield "A folder of Parquet tables in, `extend` with its proof, a Parquet file out, in one warm process. The unit is"
    yield "the search itself plus DuckDB's own reading (all columns, as arrays) and writing (the same columns) of these"
    yield "files. Asked for: whole ≤ 2. *read* includes looking up labels, sorting arcs and flooring each ε; *whole*"
    yield "also makes the digest that ties a mechanism to its problem."
    yield ""
    yield from files.sections(arcs, rounds)
    yield ""
    yield "Problems as CSV, with labels that are said to be integers, and with labels that are text:"
    yield ""
    yield from files.text_sections(arcs // 5)
    yield ""
    yield "## Partitions"
    yield ""
    yield "`read_partitioned` and `extend` with its proof on two local workers that are running already, against"
    yield "`read_problem` and `extend` on the CPU engine, the same Parquet files, each best of several calls in a"
    yield "process of its own. Asked for at 10⁷ arcs: ratio ≤ 4 on grids, ≤ 10 on random graphs; growth not steeper"
    yield "than the CPU engine's; the driver below 500 MB. *labels told* went from one partition to another."
    yield ""
    yield from distributed.sections(*(((10**4, 10**5), 1) if quick else ((10**6, 10**7), 3)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that the harness runs")
    quick = parser.parse_args().quick
    lines = []
    for line in pages(quick):
        print(line, flush=True)
        lines.append(line)
    if not quick:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
