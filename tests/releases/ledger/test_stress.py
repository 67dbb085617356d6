"""Many processes, kill −9 and broken files; more of it by hand: `stress.py` and `fuzz.py` in this folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.releases.ledger.conftest import server
from tests.releases.ledger.fuzz import fuzz
from tests.stress import stress, times

ROOT = Path(__file__).parents[3]


def run_stress(*words: str) -> str:
    """The output of `stress.py`, run in a process of its own, which may fork."""
    command = [sys.executable, "-W", "error", "-m", "tests.releases.ledger.stress", *words]
    return output_of(command)


def output_of(command: list[str]) -> str:
    """The output of a command, which must succeed."""
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path) if request.param == "sqlite" else server()


@stress
def test_eight_processes_are_granted_exactly_what_is_allowed(place):
    each = times(8, stressed=20)
    output = run_stress("crowd", str(each), place)
    assert output.startswith(f"8 × {each} spends: {4 * each} granted, {4 * each} refused")


@stress
def test_kill_9_loses_nothing_and_breaks_nothing(place):
    rounds = times(5, stressed=10)
    assert run_stress("kill", str(rounds), place).startswith(f"{rounds} rounds: ")


@stress
def test_kill_9_of_whole_commands_loses_nothing_even_if_the_file_is_renamed(place):
    kills = times(3, stressed=6)
    words = output_of([sys.executable, "-m", "tests.releases.ledger.commands", str(kills), place])
    assert f" {kills} kills, " in words
    assert "none lost, none over the cap, no chain broken" in words


@stress
def test_a_broken_ledger_is_refused_or_says_what_it_said_before():
    count = times(200, stressed=500)
    found = fuzz(count, 6)
    assert sum(found.values()) == count
    assert found["when opened"] > 20
    assert found["when verified"] > 20
