"""Places for ledgers: a file, and a database on the PostgreSQL server that HETDP_TEST_POSTGRES names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hetdp.releases.ledger.ledger import Ledger
from tests.releases.ledger.stress import fresh

SERVER = os.environ.get("HETDP_TEST_POSTGRES", "")


def server() -> str:
    """The server, if there is one to test with."""
    if not SERVER:
        pytest.skip("HETDP_TEST_POSTGRES names no PostgreSQL server")
    return SERVER


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where no ledger is yet."""
    return fresh(str(tmp_path) if request.param == "sqlite" else server())


@pytest.fixture
def ledger(address: str) -> Ledger:
    """A ledger with one source, whose cap is 0.3."""
    return Ledger.create(address, source="survey", cap=0.3, timeout=5)
