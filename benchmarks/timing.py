"""Does the time to read the answers reveal them? CPU time by the share of people who say yes, or leave it blank.

`python -m benchmarks.timing` prints the table of the page in about ten minutes. With `--all` it measures every form and
kind of column, which takes hours. The CPU time of all threads counts. Tables that differ only in the answers are read
in turn, in a new random order each time, so that a noisy minute affects all of them. The output gives medians, and
ratios to the time where nobody says yes.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars
import pyarrow.feather
import pyarrow.parquet
from numpy.typing import NDArray

from benchmarks.bar import BAR
from hetdp.tables.people_table import LocalTable
from hetdp.tables.preparation import Preparation, prepare
from hetdp.tables.request import build_request
from hetdp.tables.sources import open_source

RUNS = 200
SMALL, LARGE = 300_000, 2_000_000
NOBODY, TENTH, HALF, ALL, BLANK = "nobody", "10 %", "half", "everybody", "half blank"
SHARES = {NOBODY: (0.0, 0.0), TENTH: (0.1, 0.0), HALF: (0.5, 0.0), ALL: (1.0, 0.0), BLANK: (0.0, 0.5)}
DRAWS = 2000  # of the bootstrap
HEADS = ("answers", "file or frame", "rows", NOBODY + ", ms", TENTH, HALF, "95 % interval", ALL, BLANK)


class Kind(NamedTuple):
    """How answers are written: the values for no and yes, and the condition that is counted."""

    no: Any
    yes: Any
    predicate: str
    options: Mapping[str, Any] = MappingProxyType({})


DAYS = np.array(["2020-01-01", "2024-01-01"], dtype="datetime64[D]").tolist()
KINDS = {
    "true or false": Kind(False, True, "v = TRUE"),
    "whole numbers": Kind(0, 1, "v = 1"),
    "whole numbers, IN": Kind(0, 1, "v IN (1, 3, 5)"),
    "numbers": Kind(0.25, 1.75, "v > 1.0"),
    "dates": Kind(DAYS[0], DAYS[1], "v >= '2022-01-01'"),
    "texts no and yes": Kind("no", "yes", "v = 'yes'"),
    "texts non and oui": Kind("non", "oui", "v = 'oui'"),
    "texts no and yes, exact": Kind("no", "yes", "v = 'yes'", {"exact_text": True}),
    "texts no and yes, IN": Kind("no", "yes", "v IN ('yes', 'ja', 'si')"),
    "texts 0 and 1, as numbers": Kind("0", "1", "v = 1"),
    "texts that are dates": Kind("2020-01-01", "2024-01-01", "v >= '2022-01-01'"),
    "two columns, AND": Kind(0, 1, "v = 1 AND w = 1"),
    "two columns, OR NOT": Kind(0, 1, "v = 1 OR NOT w = 1"),
    "weighted vote": Kind(False, True, "v = TRUE", {"objective": "weighted-vote"}),
    "by groups": Kind(False, True, "v = TRUE", {"group": "g"}),
    "by areas": Kind(False, True, "v = TRUE", {"area": "g"}),
}


def make_people(kind: Kind, share: str, rows: int, seed: int) -> polars.DataFrame:
    """A table of people. Tables for different shares differ only in the answers."""
    chance, (yes, blank) = np.random.default_rng(seed), SHARES[share]
    says_yes, missing = chance.random(rows) < yes, chance.random(rows) < blank
    values = polars.Series("v", [kind.no, kind.yes])[says_yes.astype(np.uint32)]
    values = values.set(polars.Series(missing), None) if blank else values
    public = np.random.default_rng(0)
    return polars.DataFrame(
        {
            "id": np.arange(rows),
            "eps": public.choice([0.1, 0.5, 1.0], rows),
            "g": polars.Series(["a", "b", "c"])[public.integers(0, 3, rows).astype(np.uint32)],
            "w": public.integers(0, 2, rows),
            "v": values,
        }
    )


def as_sqlite(table: polars.DataFrame, place: Path) -> None:
    """Writes the table to an SQLite file."""
    with sqlite3.connect(place) as file:
        file.execute(f"CREATE TABLE people ({', '.join(table.columns)})")
        file.executemany(f"INSERT INTO people VALUES ({', '.join('?' * table.width)})", table.iter_rows())
    file.close()


def as_plain_parquet(table: polars.DataFrame, place: Path) -> None:
    """Writes a Parquet file whose pages have the same length whatever they contain."""
    pyarrow.parquet.write_table(table.to_arrow(), place, compression="none", use_dictionary=False)


def as_arrow(table: polars.DataFrame, place: Path) -> None:
    """Writes an Arrow file."""
    pyarrow.feather.write_feather(table.to_arrow(), str(place), compression="uncompressed")


FILES: dict[str, tuple[str, Callable[[polars.DataFrame, Path], Any]]] = {
    "CSV": ("csv", lambda table, place: table.write_csv(place)),
    "Parquet": ("parquet", lambda table, place: table.write_parquet(place)),
    "Parquet, plain": ("parquet", as_plain_parquet),
    "Arrow": ("arrow", as_arrow),
    "SQLite": ("sqlite", as_sqlite),
}
FRAMES: dict[str, Callable[[polars.DataFrame], Any]] = {
    "Polars": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
}
SLOW = ("CSV", "SQLite", "pandas")
TEXTS = [name for name, kind in KINDS.items() if isinstance(kind.no, str)]
MAIN: list[tuple[str, str, int, Sequence[str]]] = [
    *(("true or false", form, rows, tuple(SHARES)) for rows in (SMALL, LARGE) for form in ("Polars", "Parquet")),
    *((name, "Polars", SMALL, tuple(SHARES)) for name in list(KINDS)[1:5]),
    *((name, "Polars", SMALL, tuple(SHARES)) for name in ("texts no and yes", "texts non and oui")),
    *((name, "Polars", SMALL, tuple(SHARES)) for name in list(KINDS)[11:]),
    *(("texts no and yes", form, SMALL, tuple(SHARES)) for form in ("Parquet", "Parquet, plain", "Arrow", "CSV")),
    *(("texts no and yes", form, SMALL, (NOBODY, HALF)) for form in ("SQLite", "pandas")),
    *(("texts no and yes", form, LARGE, (NOBODY, HALF)) for form in ("Polars", "Parquet")),
]


def all_cases() -> list[tuple[str, str, int, Sequence[str]]]:
    """Every form with every kind of column that it can hold; large tables only for forms that are read fast."""
    found: list[tuple[str, str, int, Sequence[str]]] = []
    for form in (*FRAMES, *FILES):
        names = TEXTS if form in ("CSV", "SQLite") else list(KINDS)
        found += [(name, form, SMALL, tuple(SHARES)) for name in names]
        found += [(name, form, LARGE, tuple(SHARES)) for name in names if form not in SLOW]
    return found


def measure_times(name: str, form: str, rows: int, shares: Sequence[str], runs: int) -> dict[str, NDArray[np.float64]]:
    """The CPU seconds of each run, by share."""
    kind = KINDS[name]
    request = build_request(kind.predicate, at_least="50%", epsilon="eps", person="id", **kind.options)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        ready: dict[str, Preparation] = {}
        for at, share in enumerate(shares):
            table: Any = make_people(kind, share, rows, at)
            if form in FILES:
                ending, write = FILES[form]
                write(table, folder / f"{at}.{ending}")
                table = folder / f"{at}.{ending}"
            else:
                table = FRAMES[form](table)
            ready[share] = prepare(LocalTable(stack.enter_context(open_source(table))), request)
            ready[share].coordinates()
        found: dict[str, list[float]] = {share: [] for share in shares}
        chance = random.Random(1)
        for run in range(runs):
            BAR.tell(f"{name}, {form}, {rows:,} rows, {run + 1} of {runs}")
            for share in chance.sample(list(shares), len(shares)):
                begin = time.process_time()
                ready[share].coordinates()
                found[share].append(time.process_time() - begin)
    return {share: np.array(one) for share, one in found.items()}


def interval(above: NDArray[np.float64], below: NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % bootstrap interval of the ratio of medians. Runs are resampled in pairs."""
    chance = np.random.default_rng(2)
    drawn = chance.integers(0, len(above), (DRAWS, len(above)))
    ratios = np.median(above[drawn], axis=1) / np.median(below[drawn], axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


def row(name: str, form: str, rows: int, shares: Sequence[str], runs: int) -> list[str]:
    """One row of the table."""
    found = measure_times(name, form, rows, shares, runs)
    middle = {share: float(np.median(one)) for share, one in found.items()}
    low, high = interval(found[HALF], found[NOBODY])
    ratio = {share: f"×{one / middle[NOBODY]:.3f}" for share, one in middle.items()}
    cells = [name, form, f"{rows:,}", f"{1000 * middle[NOBODY]:.1f}", ratio.get(TENTH, ""), ratio[HALF]]
    return [*cells, f"{low:.3f}–{high:.3f}", ratio.get(ALL, ""), ratio.get(BLANK, "")]


def main(words: Sequence[str]) -> None:
    """Prints the table row by row."""
    runs = int(next((word.removeprefix("--runs=") for word in words if word.startswith("--runs=")), RUNS))
    print(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}", flush=True)
    for one in all_cases() if "--all" in words else MAIN:
        print(f"| {' | '.join(row(*one, runs))} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
