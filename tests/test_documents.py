"""The README agrees with the demo. tests/documents/ runs the pages themselves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hetdp.cli import demo

ROOT = Path(__file__).parent.parent


def test_the_readme_table_shows_what_the_demo_prints(capsys: pytest.CaptureFixture[str]):
    demo.main()
    printed = capsys.readouterr().out
    readme = (ROOT / "README.md").read_text()
    for title in ("heterogeneous: only when it decides", "personalised: always", "one ε for everyone"):
        line = next(line for line in printed.splitlines() if title in line)
        first, second, _, last = re.findall(r"[0-9.]+ %", line)
        row = f"| {first} | {second} | {last} |"
        assert row in readme


def test_the_demo_shows_a_binding_path_a_witness_and_a_repair_that_works(capsys: pytest.CaptureFixture[str]):
    demo.main()
    printed = capsys.readouterr().out
    assert "p(11111) at most" in printed
    assert "but p(112) is pinned at 0.95" in printed
    assert printed.strip().splitlines()[-1].strip().startswith("With them: private on all 12 edges")
