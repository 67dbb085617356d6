"""Clears the cache of proofs before each test, as in a new process."""

from __future__ import annotations

import pytest

from hetdp.releases import proof


@pytest.fixture(autouse=True)
def _clear_proof_cache() -> None:
    proof.clear_cache()
