"""Each test begins as a new process does: nothing was proved yet."""

from __future__ import annotations

import pytest

from hetdp.releases import proof


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    proof.clear_cache()
