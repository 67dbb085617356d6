"""Files that the command line writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hetdp as library
from hetdp.cli import (
    writing,
)
from hetdp.errors import UsageError


def test_a_repaired_problem_can_be_a_folder(hetdp):
    assert hetdp("check", "too-much.json", "--repair", "repaired").code == 4
    assert hetdp("extend", "repaired").code == 0


@pytest.mark.parametrize("name", ["repaired.csv", "repaired.parquet"])
def test_a_problem_is_not_one_table(hetdp, name):
    result = hetdp("check", "too-much.json", "--repair", name)
    assert result.code == 2
    assert result.err == (
        f"hetdp: no format is known for {name!r}; the name after --repair ends in .json, or is that of a folder."
        " Hint: --repair - writes JSON to standard output\n"
    )


def test_labels_that_are_tuples_fit_in_a_table_that_can_be_read_again(hetdp):
    assert hetdp("extend", "grid.json", "-o", "mechanism.csv").code == 0
    assert hetdp("verify", "grid.json", "mechanism.csv").code == 0


def test_a_folder_that_holds_an_input_is_never_replaced(hetdp):
    library.save(library.read_problem("too-much.json").problem, "folder")
    Path("folder/problem.json").write_bytes(Path("too-much.json").read_bytes())
    result = hetdp("check", "folder/problem.json", "--repair", "folder")
    assert (result.code, result.out) == (2, "")
    assert Path("folder/problem.json").exists()


@pytest.mark.parametrize("output", ["poll.json", "./poll.json", "folder/datasets.csv"])
def test_an_input_is_never_overwritten(output, hetdp):
    library.save(library.read_problem("poll.json").problem, "folder", library.read_problem("poll.json").partial)
    before = Path("poll.json").read_bytes()
    result = hetdp("extend", "folder" if "/d" in output else "poll.json", "-o", output)
    assert (result.code, result.out) == (2, "")
    assert "would replace what is read from" in result.err
    assert Path("poll.json").read_bytes() == before


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_messages_that_cannot_be_printed_change_neither_the_result_nor_the_exit_code(unbuffered, tmp_path: Path):
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    for problem, code in (("poll.json", 0), ("missing.json", 3)):
        with Path("/dev/full").open("w") as full:
            command = [sys.executable, "-m", "hetdp", "extend", problem, "-o", "m.json"]
            assert subprocess.run(command, stderr=full, cwd=tmp_path, env=environment).returncode == code
        assert (tmp_path / "m.json").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_sigterm_ends_a_command_like_an_interrupt(number, tmp_path: Path):
    code = """
import os, signal, sys
from hetdp.cli import main as way_in
from hetdp.files import saving
def write(file, document):
    file.write("half")
    os.kill(os.getpid(), NUMBER)
saving.write_json = write
sys.argv = ["hetdp", "extend", "poll.json", "-o", "m.json", "-q"]
sys.exit(way_in.main())
""".replace("NUMBER", str(int(number)))
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (130, "hetdp: interrupted\n")
    assert not [path.name for path in tmp_path.iterdir() if "m.json" in path.name]


def place(path: str | None, as_json: bool = False, suffixes: tuple[str, ...] = (".json",), *inputs: str | None) -> None:
    writing.require_place("-o", path, as_json, suffixes, inputs)


def test_an_output_has_a_known_ending_and_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (None, "-", "a.json", "A.JSON"):
        place(path)
    place("folder", False, (".json", ""))
    for path, words in (
        ("a.csv", r"no format is known for 'a.csv'; the name after -o ends in .json. Hint: -o - writes JSON"),
        ("nowhere/a.json", "'nowhere' is not a folder"),
    ):
        with pytest.raises(UsageError, match=words):
            place(path)
    with pytest.raises(UsageError, match=r"-o - together with --json"):
        place("-", True)
    with pytest.raises(UsageError, match=r"ends in .json, or is that of a folder"):
        place("a.csv", False, (".json", ""))
    with pytest.raises(UsageError) as refusal:
        writing.require_place("-o", "a.csv", False, (".json",), (), to_standard=False)
    assert refusal.value.hint == ""


def test_an_output_replaces_no_input_and_no_folder_of_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "p.json")
    place("a.json", False, (".json",), None, "-", "b.json", "in/p.json")
    for output_file, given in (
        ("p.json", "p.json"),
        ("link.json", "p.json"),
        ("in", "in/p.json"),
        ("in/x.json", "in"),
        ("in/../p.json", "p.json"),
    ):
        with pytest.raises(UsageError, match="an input is never overwritten"):
            place(output_file, False, (".json", ""), given)
