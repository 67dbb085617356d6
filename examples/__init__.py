"""Seven short scripts, each explained in docs/examples.md. Run them from the root: ``python -m examples.senate``."""

from __future__ import annotations

import math


def percent(probability: float) -> str:
    """The probability of a right answer in hundredths, rounded down, so that it is never overstated."""
    return f"{math.floor(1000 * probability) / 10:.1f}%"
