"""Fixtures that run the command line, nearly always in this process and in a folder with the example problems."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hetdp.cli.main import main

PROBLEMS = Path(__file__).parent / "problems"


class CommandResult(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Standard output parsed as strict JSON, without NaN or Infinity."""

        def refuse(token: str) -> None:
            raise AssertionError(f"{token} is not JSON")

        found: dict[str, Any] = json.loads(self.out, parse_constant=refuse)
        return found


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new working folder with the example problems, so that names in messages are always the same."""
    for problem in PROBLEMS.iterdir():
        shutil.copy(problem, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HETDP_DEBUG", raising=False)
    return tmp_path


@pytest.fixture
def hetdp(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Runs the command line in this process."""

    def run(*arguments: str, stdin: str = "") -> CommandResult:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        code = main(arguments)
        return CommandResult(code, *capsys.readouterr())

    return run
