"""Promise 4: the same system calls, output, exit code and ledger at every dataset, but for the answer itself."""

from __future__ import annotations

import compileall
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import hetdp
from tests.documents.pages import ROOT
from tests.releases.worlds import certain_mechanism, make_ledger

TRACED_CALLS = (
    "openat,read,write,pread64,pwrite64,fsync,fdatasync,rename,unlink,lseek,socket,connect,getrandom,ftruncate"
)
MASKS = [
    (r"^(\[pid +)?\d+\]? +", ""),  # the process id
    (r"0x[0-9a-f]+", "ADDRESS"),
    (r'"(?:[^"\\]|\\.)*"(\.\.\.)?', '"…"'),  # data read and written; the other trace compares file names
    (r" +", " "),
]


def traces(folder: Path, kind: str) -> dict[str, list[dict[str, Any]]]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "tests.releases.traced", str(folder), kind]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    found: dict[str, list[dict[str, Any]]] = {}
    for one in json.loads(done.stdout):
        found.setdefault(one["world"], []).append(one)
    return found


def observable(run: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in run.items() if key != "answer"}


def test_a_release_looks_the_same_at_every_dataset_with_either_answer(tmp_path):
    found = traces(tmp_path, "mechanism")
    assert {world: len(ones) for world, ones in found.items()} == {"certain": 8, "poll": 4, "gaussian": 4}
    for world, ones in found.items():
        first = observable(ones[0]["runs"][0])
        assert first["code"] == 0, first["err"]
        assert first["events"].count(["os.urandom", "16"]) == 1
        assert any(event == "sqlite3.connect" for event, _ in first["events"]), "the hook sees nothing"
        for one in ones:
            for run in one["runs"]:
                assert observable(run) == first, (world, one["at"])
    answers = {one["at"]: [run["answer"] for run in one["runs"]] for one in found["certain"]}
    assert answers["a"] == ["released answer: aye\n"] * 2  # p = 1
    assert answers["h"] == ["released answer: nay\n"] * 2  # p = 0
    assert len(set(answers["e"])) == 2  # p = ½


def test_answering_a_table_looks_the_same_whatever_people_say(tmp_path):
    found = traces(tmp_path, "table")
    assert len(found["balanced"]) == 18
    assert {form: len(found[form]) for form in ("parquet", "arrow", "sqlite")} == dict.fromkeys(
        found.keys() - {"balanced", "fair"}, 6
    )
    for design, ones in found.items():
        first = observable(ones[0]["runs"][0])
        assert first["code"] == 0, first["err"]
        assert first["events"].count(["os.urandom", "16"]) == 2  # one draw for each area
        for one in ones:
            for run in one["runs"]:
                assert observable(run) == first, (design, one["at"])
    assert len({run["answer"] for one in found["balanced"] for run in one["runs"]}) == 4


def system_calls_in(trace: Path) -> list[str]:
    """The system calls in a file that strace wrote, without parts that vary."""
    lines = trace.read_text(encoding="utf-8", errors="replace").splitlines()
    for pattern, word in MASKS:
        lines = [re.sub(pattern, word, line) for line in lines]
    return [line for line in lines if line and not line.startswith(("+++", "---"))]


def run_under_strace(options: list[str], words: list[str], folder: Path) -> str:
    """Runs a module under strace and returns its output; the sources are compiled beforehand."""
    compileall.compile_dir(ROOT / "src" / "hetdp", quiet=2)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [
        "strace",
        "--seccomp-bpf",  # the kernel does not stop at calls that are not traced
        *options,
        "-e",
        f"trace={TRACED_CALLS}",
        "-o",
        str(folder / "trace"),
        sys.executable,
        "-m",
        *words,
    ]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def system_calls(folder: Path, label: str) -> list[str]:
    """The system calls of a whole command."""
    shutil.copyfile(folder / "a.ledger", folder / "used.ledger")
    words = ["hetdp", "release", "problem.json", "mechanism.json", "--dataset", label, "--ledger", "used.ledger"]
    run_under_strace(["-f"], words, folder)
    return system_calls_in(folder / "trace")


if shutil.which("strace"):  # without strace, only the events of the interpreter are compared

    def test_the_system_calls_are_the_same_at_every_dataset(tmp_path):
        printed = run_under_strace(["-ff"], ["tests.releases.forked", str(tmp_path)], tmp_path)
        found: dict[str, dict[str, list[str]]] = {}
        coordinates = []
        for world, label, z, process in json.loads(printed.splitlines()[-1]):
            found.setdefault(world, {})[label] = system_calls_in(tmp_path / f"trace.{process}")
            coordinates.append(z)
        assert {world: len(ones) for world, ones in found.items()} == {"certain": 8, "poll": 4, "gaussian": 4}
        assert {float("inf"), float("-inf"), 0.0} <= set(coordinates)  # p = 1, p = 0 and p = ½ are among them
        for world, ones in found.items():
            first = next(iter(ones.values()))
            assert any(line.startswith(("fsync", "fdatasync")) for line in first)
            assert any("getrandom" in line for line in first)
            for label, calls in ones.items():
                assert calls == first, (world, label)

    def test_the_system_calls_of_a_whole_command_are_the_same(tmp_path):
        mechanism = certain_mechanism()
        hetdp.save(mechanism.problem, tmp_path / "problem.json")
        hetdp.save(mechanism, tmp_path / "mechanism.json")
        make_ledger(tmp_path, "inf")
        found = {label: system_calls(tmp_path, label) for label in ("a", "d")}  # p = 1, and one in between
        assert any(line.startswith(("fsync", "fdatasync")) for line in found["a"])
        assert found["a"] == found["d"]
