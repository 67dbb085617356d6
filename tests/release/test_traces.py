"""Promise 4: the same system calls, output, exit code and ledger at every dataset, but for the answer itself."""

from __future__ import annotations

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
from tests.release.worlds import certain, ledger

FOLLOWED = "openat,read,write,pread64,pwrite64,fsync,fdatasync,rename,unlink,lseek,socket,connect,getrandom,ftruncate"
VARYING = [
    (r"^(\[pid +)?\d+\]? +", ""),  # which process
    (r"0x[0-9a-f]+", "ADDRESS"),
    (r'"(?:[^"\\]|\\.)*"(\.\.\.)?', '"…"'),  # what is read and written; names of files are compared by the other trace
    (r" +", " "),
]


def traces(folder: Path, kind: str) -> dict[str, list[dict[str, Any]]]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "tests.release.traced", str(folder), kind]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    found: dict[str, list[dict[str, Any]]] = {}
    for one in json.loads(done.stdout):
        found.setdefault(one["world"], []).append(one)
    return found


def outside(run: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in run.items() if key != "answer"}


def test_a_release_looks_the_same_at_every_dataset_with_either_answer(tmp_path):
    found = traces(tmp_path, "mechanism")
    assert {world: len(ones) for world, ones in found.items()} == {"certain": 6, "poll": 4, "gaussian": 4}
    for world, ones in found.items():
        first = outside(ones[0]["runs"][0])
        assert first["code"] == 0, first["err"]
        assert first["events"].count(["os.urandom", "16"]) == 1
        assert any(event == "sqlite3.connect" for event, _ in first["events"]), "the hook sees nothing"
        for one in ones:
            for run in one["runs"]:
                assert outside(run) == first, (world, one["at"])
    answers = {one["at"]: [run["answer"] for run in one["runs"]] for one in found["certain"]}
    assert answers["a"] == ["released answer: aye\n"] * 2  # p = 1
    assert len(set(answers["e"])) == 2  # p = ½


def test_a_table_is_answered_alike_whatever_people_say(tmp_path):
    found = traces(tmp_path, "table")
    assert len(found["balanced"]) == 18
    for design, ones in found.items():
        first = outside(ones[0]["runs"][0])
        assert first["code"] == 0, first["err"]
        assert first["events"].count(["os.urandom", "16"]) == 2  # one draw for each area
        for one in ones:
            for run in one["runs"]:
                assert outside(run) == first, (design, one["at"])
    assert len({run["answer"] for one in found["balanced"] for run in one["runs"]}) == 4


def system_calls(folder: Path, label: str) -> list[str]:
    """What the system is asked for from start to end, by strace."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    shutil.copyfile(folder / "a.ledger", folder / "used.ledger")
    command = [sys.executable, "-m", "hetdp", "release", "problem.json", "mechanism.json", "--dataset", label]
    command += ["--ledger", "used.ledger"]
    traced = ["strace", "-f", "-e", f"trace={FOLLOWED}", "-o", str(folder / "trace"), *command]
    done = subprocess.run(traced, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = (folder / "trace").read_text(encoding="utf-8", errors="replace").splitlines()
    for pattern, word in VARYING:
        lines = [re.sub(pattern, word, line) for line in lines]
    return [line for line in lines if line and not line.startswith(("+++", "---"))]


if shutil.which("strace"):  # where it is not, the interpreter's own events above are all there is

    def test_the_system_is_asked_for_the_same_at_every_dataset(tmp_path):
        mechanism = certain()
        hetdp.save(mechanism.problem, tmp_path / "problem.json")
        hetdp.save(mechanism, tmp_path / "mechanism.json")
        ledger(tmp_path, "inf")
        found = {label: system_calls(tmp_path, label) for label in ("a", "d")}  # p = 1, and one in between
        assert any(line.startswith(("fsync", "fdatasync")) for line in found["a"])
        assert found["a"] == found["d"]
