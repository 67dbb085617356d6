"""How often random and destructive tests repeat: a few times in `make test`, many times in `make stress`.

A test marked `stress` repeats something, and asks `times` how often; tests of Hypothesis are marked by `conftest.py`. A
test marked `long` runs in `make stress` only, since other tests find nearly the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

STRESSED = bool(os.environ.get("HETDP_STRESS"))  # by `make stress`
STRESS = int(os.environ.get("HETDP_STRESS") or 1)  # how many times as much as in `make test`

stress = pytest.mark.stress
long = pytest.mark.long


def times(count: int, stressed: int | None = None) -> int:
    """The number of repetitions: `count` in `make test`; in `make stress` many times this, or `stressed` if given."""
    return (stressed if STRESSED and stressed is not None else count) * STRESS


def mostly_long(cases: Iterable[Any], first: int) -> list[Any]:
    """Cases for `parametrize`: the first few in every run, the others only in `make stress`."""
    tuples = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*case, marks=() if at < first else long) for at, case in enumerate(tuples)]
