"""Releases at every dataset, with both answers forced, while the interpreter tells all that it asks of the system.

    python -m tests.releases.traced FOLDER mechanism|table

prints what each release looked like from outside, as JSON, with what may differ (the answer, its hash, the time, and
names that are drawn at random) masked.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import hetdp
from tests.releases.worlds import certain_mechanism, make_ledger, poll_mechanism

EVENTS: list[list[str]] = []
TRACING = {"on": False}
IGNORED = ("builtins.id", "code.", "compile", "exec", "object.", "sys._getframe")  # events that make no system call
MASKS = [
    (rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"TIME"),
    (rb"[0-9a-f]{64}", b"HASH"),
    (rb"[0-9a-f]{16}\xe2\x80\xa6", b"HASH"),
    (rb'"answers":\[[01, ]*\]', b"ANSWERS"),
    (rb'"answer": [12]', b"ANSWER"),
    (rb"\b(aye|nay|yes|no)\b(?= *[\"<\n])", b"WORD"),
    (rb"\d+-[0-9a-f]{8}\.(draft|trial)", b"DRAFT"),
    (rb"0x[0-9a-f]+", b"ADDRESS"),
]


def mask(content: bytes) -> str:
    for pattern, word in MASKS:
        content = re.sub(pattern, word, content)
    return content.decode("utf-8", "backslashreplace")


def hook(event: str, arguments: tuple[Any, ...]) -> None:
    if TRACING["on"] and not event.startswith(IGNORED) and not _is_by_import(event):
        values = [one if isinstance(one, str | bytes | int) else type(one).__name__ for one in arguments]
        EVENTS.append([event, mask(repr(values).encode())])


def _is_by_import(event: str) -> bool:
    """True if the search for a module lists a folder again, as it does when another process has written into it."""
    return event == "os.listdir" and sys._getframe(2).f_code.co_filename.startswith("<frozen importlib")


def forced_urandom(bit: int) -> Callable[[int], bytes]:
    """A fake `os.urandom` whose bits are all equal; its calls are part of the trace."""

    def urandom(count: int) -> bytes:
        EVENTS.append(["os.urandom", str(count)])
        return bytes([255 * bit]) * count

    return urandom


def trace_run(run: Callable[[], int], files: list[Path], bit: int) -> dict[str, Any]:
    """Everything observable of one run of the command line."""
    out, err, real = io.StringIO(), io.StringIO(), os.urandom
    EVENTS.clear()
    os.urandom = forced_urandom(bit)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            TRACING["on"] = True
            code = run()
            TRACING["on"] = False
    finally:
        TRACING["on"] = False
        os.urandom = real
    return {
        "code": code,
        "out": mask(out.getvalue().encode()),
        "err": mask(err.getvalue().encode()),
        "events": list(EVENTS),
        "files": {file.name: mask(file.read_bytes()) for file in files},
        "size": files[0].stat().st_size,
        "answer": out.getvalue(),
    }


def trace_runs(
    folder: Path, template: Path, command: list[str], bits: tuple[int, ...] = (0, 1)
) -> Iterator[dict[str, Any]]:
    """Runs a command on a new copy of the ledger for each forced bit."""
    from hetdp.cli.main import main

    files = [folder / name for name in ("used.ledger", "record.json", "page.html")]
    options = ["--ledger", "used.ledger", "-o", "record.json", "--html", "page.html"]
    for bit in bits:
        for file in files[1:]:
            file.unlink(missing_ok=True)
        shutil.copyfile(template, files[0])
        yield trace_run(lambda: main([*command, *options]), files, bit)


def trace_mechanisms(folder: Path) -> Iterator[dict[str, Any]]:
    for name, mechanism in (
        ("certain", certain_mechanism()),
        ("poll", poll_mechanism()),
        ("gaussian", poll_mechanism("gaussian")),
    ):
        place = Path(f"{name}.json"), Path(f"{name}-mechanism.json")
        assert isinstance(mechanism.problem, hetdp.Problem)
        hetdp.save(mechanism.problem, place[0])
        hetdp.save(mechanism, place[1])
        make_ledger(folder, "inf", "gaussian" if name == "gaussian" else "epsilon", f"{name}.ledger")
        labels = list(mechanism)
        for label in [labels[0], *labels]:  # the first run loads modules and is omitted
            command = ["release", *map(str, place), "--dataset", label]
            yield {"world": name, "at": label, "runs": list(trace_runs(folder, folder / f"{name}.ledger", command))}


def trace_tables(folder: Path) -> Iterator[dict[str, Any]]:
    make_ledger(folder, "inf")
    tables = itertools.product(["yes", "no", ""], ["yes", ""], ["yes", "no", ""])
    for number, votes in enumerate([("yes", "yes", "no"), *tables]):
        for design in ("balanced", "fair") if number % 9 < 3 else ("balanced",):
            rows = [
                f"{at},{at % 2},{eps},{vote}" for at, (eps, vote) in enumerate(zip((0.3, 0.5, 1), votes, strict=True))
            ]
            Path("table.csv").write_text("\n".join(["id,area,eps,vote", *rows, ""]))
            os.utime("table.csv", ns=(10**18, 10**18))
            bits = (0, 1) if design == "balanced" and number % 9 < 2 else (number % 2,)
            question = ["--count", "vote = 'yes'", "--at-least", "50%", "--person", "id", "--epsilon", "eps"]
            command = ["ask", "table.csv", *question, "--by", "area", "--design", design]
            found = list(trace_runs(folder, folder / "a.ledger", command, bits))
            yield {"world": design, "at": list(votes), "runs": found, "warm": number > 0}


def trace_formats(folder: Path) -> Iterator[dict[str, Any]]:
    """The same people in files of the other formats."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    def as_sqlite(rows: pa.Table, place: str) -> None:
        Path(place).unlink(missing_ok=True)
        with sqlite3.connect(place) as file:
            file.execute("CREATE TABLE people (id, area, eps, vote)")
            file.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", zip(*rows.to_pydict().values(), strict=True))
        file.close()

    forms: dict[str, Callable[[pa.Table, str], Any]] = {
        "parquet": parquet.write_table,
        "arrow": lambda rows, place: feather.write_feather(rows, place, compression="uncompressed"),
        "sqlite": as_sqlite,
    }
    tables = [("yes", "yes", "no"), ("no",) * 3, ("yes",) * 3, ("yes", None, "no"), (None,) * 3, ("no", "yes", None)]
    for form, write in forms.items():
        for votes in [tables[0], *tables]:
            columns: list[Any] = [["a", "b", "c"], ["0", "1", "0"], ["0.3", "0.5", "1"], votes]
            arrays = [pa.array(cells, pa.string()) for cells in columns]
            place = f"table.{form}"
            write(pa.Table.from_arrays(arrays, ["id", "area", "eps", "vote"]), place)
            os.utime(place, ns=(10**18, 10**18))
            question = ["--count", "vote = 'yes'", "--at-least", "50%", "--person", "id", "--epsilon", "eps"]
            found = list(
                trace_runs(folder, folder / "a.ledger", ["ask", place, *question, "--by", "area"], (len(tables) % 2,))
            )
            yield {"world": form, "at": list(votes), "runs": found}


def main() -> None:
    """Prints all runs as JSON, except the first of each kind, which loads modules."""
    folder = Path(sys.argv[1])
    os.chdir(folder)
    sys.addaudithook(hook)
    is_table = sys.argv[2] == "table"
    found = [*trace_tables(folder), *trace_formats(folder)] if is_table else list(trace_mechanisms(folder))
    seen: set[str] = set()
    later_runs = [one for one in found if one["world"] in seen or seen.add(one["world"])]  # type: ignore[func-returns-value]
    print(json.dumps(later_runs))  # noqa: T201


if __name__ == "__main__":
    main()
