"""Runs the benchmarks: ``python -m benchmarks`` writes the page, ``python -m benchmarks NAME`` prints one section."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import page
from benchmarks.bar import BAR
from benchmarks.claims import Benchmark, Section
from benchmarks.registry import benchmarks

HERE = Path(__file__).parent
os.environ["HETDP_COMPILE"] = "now"  # the first call compiles, so the other calls can be measured


def run_all(chosen: Iterable[Benchmark], quick: bool) -> list[Section]:
    """Runs the benchmarks one after the other. A failure is reported and does not affect the others."""
    chosen, found = list(chosen), []
    BAR.start(len(chosen))
    for at, benchmark in enumerate(chosen):
        BAR.done, BAR.section = at, f"{benchmark.name}:"
        BAR.tell()
        try:
            found.append(Section(benchmark, benchmark.parts(quick), quick=quick))
        except Exception as error:
            BAR.erase()
            traceback.print_exc()
            found.append(
                Section(benchmark, [], f"{type(error).__name__}; the output of the command has details.", quick)
            )
        gc.collect()
    BAR.erase()
    return found


def arguments() -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="sections to print, instead of the page")
    parser.add_argument(
        "--quick", action="store_true", help="use tiny sizes, to check that everything runs; keep no results"
    )
    parser.add_argument("--list", action="store_true", help="print only the names")
    parser.add_argument(
        "--into", type=Path, metavar="FOLDER", help="write the page to this folder instead of benchmarks/"
    )
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in benchmarks()]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(benchmarks())}")
    return options


def main() -> int:
    """Runs the chosen benchmarks. Returns 1 if one failed, and otherwise 0."""
    options, every = arguments(), benchmarks()
    if options.list:
        print("\n".join(every))
        return 0
    sections = run_all([every[name] for name in options.names] or every.values(), options.quick)
    if options.names:
        for section in sections:
            print(page.text(page.section_lines(section, set())))
    elif options.quick and options.into is None:
        with TemporaryDirectory() as folder:
            page.write(sections, Path(folder))
    else:
        (options.into or HERE).mkdir(parents=True, exist_ok=True)
        print(page.write(sections, options.into or HERE))
    failed = [section.benchmark.name for section in sections if section.failure]
    if failed:
        print(f"benchmarks: failed: {', '.join(failed)}", file=sys.stderr)
    elif options.quick and not options.names:
        print(f"benchmarks: all {len(sections)} run, at sizes that say nothing about speed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
