"""What `import hetdp` costs, against starting Python at all."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from benchmarks.measure import in_turn


def sections(rounds: int) -> Iterator[str]:
    """The table, row by row."""
    took = in_turn({code: partial(_start, code) for code in ("pass", "import hetdp")}, rounds)
    yield "| bare Python, ms | import hetdp, ms | ratio |"
    yield "|---|---|---|"
    bare, ours = took["pass"], took["import hetdp"]
    yield f"| {1000 * bare:.1f} | {1000 * ours:.1f} | {ours / bare:.2f} |"


def _start(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)
