"""How often a test with a random or violent part repeats it: a little in `make test`, much in `make stress`.

@stress
def test_kill_9_loses_nothing(place):
    assert rounds(times(10), place)
"""

from __future__ import annotations

import os

import pytest

STRESS = int(os.environ.get("HETDP_STRESS") or 1)  # how many times as much as in `make test`

stress = pytest.mark.stress


def times(count: int) -> int:
    """So many repetitions in `make test`, and more in `make stress`."""
    return count * STRESS
