"""The end of the demo. tests/documents/ runs the pages, and compares the README's table with a fresh computation."""

from __future__ import annotations

import pytest

from hetdp.cli import demo


def test_the_demo_shows_a_binding_path_a_witness_and_a_repair_that_works(capsys: pytest.CaptureFixture[str]):
    demo.main()
    printed = capsys.readouterr().out
    assert "p(11111) at most" in printed
    assert "but p(112) is pinned at 0.95" in printed
    assert printed.strip().splitlines()[-1].strip().startswith("With them: private on all 12 edges")
