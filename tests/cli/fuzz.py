"""Runs every verb on thousands of broken files: valid ones with bytes or values changed at random.

By hand, for longer: ``python -m tests.cli.fuzz 100000``.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import hetdp
from hetdp.cli.main import main

ALLOWED = {0, 3, 4, 5}  # a file can be good, bad, incompatible or not private; it cannot be a usage error or a bug
OUTPUTS = ("out.json", "out.csv", "out.parquet", "repaired.json")
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    2,
    1e308,
    -0.0,
    1e-320,
    10**400,
    "",
    "a",
    "inf",
    "-inf",
    "nan",
    "ε",
    [],
    ["a", 1],
    {},
    {"a": 1},
]


def save_originals(folder: Path) -> None:
    """Saves a small problem and its mechanism in every format."""
    graph = hetdp.DatasetGraph.from_edges(
        ["a", "b", "c", "b"], ["b", "c", "d", "d"], [1.0, 0.5, float("inf"), 0.0], classes=["x", None, "y", "x"]
    )
    problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2, "d": 2}, weights=[1, 2, 3, 4], about={"title": "t"})
    pins = hetdp.PartialMechanism(p={"b": 0.5}, error={"c": 0.45}, z={"d": 0.0})
    hetdp.save(problem, folder / "problem.json", pins)
    hetdp.save(problem, folder / "csv", pins, tables="csv")
    hetdp.save(problem, folder / "parquet", pins)
    for suffix in (".json", ".csv", ".parquet"):
        hetdp.save(hetdp.extend(problem, pins), folder / f"mechanism{suffix}")
    save_other_notions(folder)
    (folder / "pins.csv").write_text("dataset,p,z\nb,0.5,\nc,,-0.1\nd,0.5,\n")


def save_other_notions(folder: Path) -> None:
    """Saves problems of other notions, each in one of the formats."""
    ends = ["a", "b", "c", "b"], ["b", "c", "d", "d"]
    back: list[float | None] = [0.5, None, float("inf"), 0.1]
    kinds: dict[Any, dict[str, Any]] = {
        "directed": {"epsilon": [1.0, 0.5, 0.1, 0.0], "epsilon_back": back},
        "approximate": {"epsilon": 1.0, "epsilon_back": back, "delta": [0.1, 1e-10, 1.0, 0.0], "delta_back": 0.5},
        "gaussian": {"mu": [0.5, float("inf"), 0.1, 0.0]},
        "bounded-range": {"epsilon": [1.0, 0.5, float("inf"), 0.0]},
    }
    for notion, columns in kinds.items():
        problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(*ends, **columns), [1, 1, 2, 2], notion)
        pins = hetdp.PartialMechanism(p={"b": 0.5, "c": 0.5}, z={"d": 0.0})
        hetdp.save(problem, folder / f"{notion}.json", pins)
        hetdp.save(problem, folder / notion, pins, tables="csv" if notion == "approximate" else "parquet")


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Returns the bytes with a few of them changed, removed, inserted or repeated."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = rng.randrange(len(changed) + 1)
        length = rng.choice([1, 1, 2, 8, 64])
        kind = rng.randrange(5)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            changed[at : at + length] = b""
        elif kind == 2:
            changed[at:at] = bytes(rng.choice(b'0,"\n\r{}[]:-.eE\\ \x00\xffnulx') for _ in range(length))
        elif kind == 3:
            changed[at:at] = changed[rng.randrange(len(changed) + 1) :][:length]
        else:
            del changed[at:]
    return bytes(changed)


def replace_value(document: Any, rng: random.Random) -> Any:
    """Returns the document with one value replaced or removed, or with one key renamed."""
    if isinstance(document, dict) and document and rng.random() < 0.8:
        key = rng.choice(list(document))
        changed = dict(document)
        kind = rng.random()
        if kind < 0.1:
            del changed[key]
        elif kind < 0.2:
            changed[key + rng.choice("sx_")] = changed.pop(key)
        else:
            changed[key] = replace_value(document[key], rng)
        return changed
    if isinstance(document, list) and document and rng.random() < 0.8:
        at = rng.randrange(len(document))
        if rng.random() < 0.2:
            return [*document, document[at]]
        return [*document[:at], replace_value(document[at], rng), *document[at + 1 :]]
    return rng.choice(VALUES)


def random_command(rng: random.Random, problem: str) -> list[str]:
    """Returns a random command on the problem."""
    suffix = rng.choice([".json", ".json", ".csv", ".csv", ".parquet"])  # the last takes longest
    mechanism, output = f"mechanism{suffix}", f"out{suffix}"
    return rng.choice(
        [
            ["boundary", problem],
            ["check", problem, "--repair", "repaired.json"],
            ["extend", problem],
            ["extend", problem, "-o", output, "--pins", "pins.csv"],
            ["extend", problem, "-o", output, "--duplicates", "min"],
            ["accuracy", problem, "-o", "out.csv"],
            ["accuracy", problem, mechanism],
            ["verify", problem, mechanism],
            ["audit", problem, mechanism, "--draws", "50"],
            ["explain", problem, "a", "--mechanism", mechanism],
        ]
    )


def fuzz_once(rng: random.Random, pristine: Path, folder: Path) -> tuple[list[str], Path, int, str]:
    """Breaks one file, runs one command on it, and restores the file."""
    victim = rng.choice(sorted(path for path in pristine.rglob("*") if path.is_file())).relative_to(pristine)
    data = (pristine / victim).read_bytes()
    if victim.suffix == ".json" and rng.random() < 0.6:
        broken = json.dumps(replace_value(json.loads(data), rng)).encode()
    else:
        broken = mutate_bytes(data, rng)
    (folder / victim).write_bytes(broken)
    usual = rng.choice(["problem.json", "csv"])
    problem = usual if victim.stem.startswith(("mechanism", "pins")) else victim.parts[0]
    command = [*random_command(rng, problem), *(["--json"] if rng.random() < 0.3 else [])]
    out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(command)
    err.flush()
    words = err.buffer.getvalue().decode("utf-8", "replace")
    _check_outputs(folder, command, code)
    (folder / victim).write_bytes(data)
    return command, victim, code, words


def _check_outputs(folder: Path, command: list[str], code: int) -> None:
    """Asserts that outputs exist only after success and that no other files are left."""
    drafts = list(folder.rglob(".*"))
    assert not drafts, f"{command} left {drafts}"
    for name in OUTPUTS:
        path = folder / name
        if not path.exists():
            continue
        assert name in command, f"{command} wrote {name}"
        assert code in (0, 4), f"{command} ended with {code} and wrote {name}"
        if path.suffix == ".json":
            json.loads(path.read_text())
        path.unlink()
        (folder / f"{name}.meta.json").unlink(missing_ok=True)


def fuzz(count: int, seed: int) -> Counter[int]:
    """Returns how often each exit code occurred; stops at the first result that is not allowed."""
    rng, codes, here = random.Random(seed), Counter[int](), Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        pristine, folder = Path(place, "pristine"), Path(place, "folder")
        pristine.mkdir()
        save_originals(pristine)
        shutil.copytree(pristine, folder)
        os.chdir(folder)
        try:
            for number in range(count):
                command, victim, code, words = fuzz_once(rng, pristine, folder)
                report = f"seed {seed}, number {number}: {command} with a broken {victim} ended with {code}:\n{words}"
                assert code in ALLOWED, report
                assert "Traceback" not in words, report
                assert code == 0 or "hetdp: " in words or command[0] in ("verify", "check", "audit"), report
                codes[code] += 1
        finally:
            os.chdir(here)
    return codes


if __name__ == "__main__":
    sys.stdout.write(
        str(dict(fuzz(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9)))) + "\n"
    )
