"""The README agrees with the demo. tests/documents/ runs the pages themselves."""

from __future__ import annotations

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
        for share in (line.split()[-4], line.split()[-3], line.split()[-1]):
            assert f"{share[:-2]} %" in readme  # with one digit less, and so rounded down


def test_the_demo_shows_a_binding_path_a_witness_and_a_repair_that_works(capsys: pytest.CaptureFixture[str]):
    demo.main()
    printed = capsys.readouterr().out
    assert "p(11111) at most" in printed
    assert "but p(112) is pinned at 0.95" in printed
    assert printed.strip().splitlines()[-1].strip().startswith("With them: private on all 12 edges")
