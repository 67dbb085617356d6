"""Each test begins as a new process does: nothing was proved yet."""

from __future__ import annotations

import pytest

from hetdp.releases import proof as remembered


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    remembered._cache.clear()
