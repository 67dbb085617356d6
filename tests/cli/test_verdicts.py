"""A verdict as text; tests/cli/test_check.py compares a complete one."""

from __future__ import annotations

import json
from pathlib import Path


def test_a_value_that_is_nearly_certain_is_not_shown_as_certain(hetdp):
    problem = json.loads(Path("certain.json").read_text())
    problem["edges"][1]["epsilon"] = 41
    Path("certain.json").write_text(json.dumps(problem))
    out = hetdp("check", "certain.json").out
    assert "  over ε = 41: p(near) at most 0.639843\n  but p(near) is pinned at 1 − 1e-18\n" in out
    assert out.endswith("  near   0.819922\n  other  0.180078\n")
