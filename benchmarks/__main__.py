"""Runs the benchmarks: ``python -m benchmarks`` writes the page, ``python -m benchmarks NAME`` prints one section."""

from __future__ import annotations

import argparse
import gc
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


def run_all(chosen: Iterable[Benchmark], quick: bool) -> list[Section]:
    """Runs one after the other; one that fails is said, and costs nothing of the others."""
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
            found.append(Section(benchmark, [], f"{type(error).__name__}, see what the command prints.", quick))
        gc.collect()
    BAR.erase()
    return found


def arguments() -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="sections to print, instead of the page")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that all of it runs; keeps nothing")
    parser.add_argument("--list", action="store_true", help="the names, and nothing else")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="write the page here, not into benchmarks/")
    typed = parser.parse_args()
    unknown = [name for name in typed.names if name not in benchmarks()]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(benchmarks())}")
    return typed


def main() -> int:
    """Runs what was asked for; 1 if something failed."""
    typed, every = arguments(), benchmarks()
    if typed.list:
        print("\n".join(every))
        return 0
    sections = run_all([every[name] for name in typed.names] or every.values(), typed.quick)
    if typed.names:
        for section in sections:
            print(page.text(page.section_lines(section, set())))
    elif typed.quick and typed.into is None:
        with TemporaryDirectory() as folder:
            page.write(sections, Path(folder))
    else:
        (typed.into or HERE).mkdir(parents=True, exist_ok=True)
        print(page.write(sections, typed.into or HERE))
    failed = [section.benchmark.name for section in sections if section.failure]
    if failed:
        print(f"benchmarks: failed: {', '.join(failed)}", file=sys.stderr)
    elif typed.quick and not typed.names:
        print(f"benchmarks: all {len(sections)} run, at sizes that say nothing about speed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
