"""Places for ledgers: a file, and a database on the PostgreSQL server that HETDP_TEST_POSTGRES names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hetdp.releases.ledger.ledger import Ledger
from tests.releases.ledger.stress import new_address, reset_database

SERVER = os.environ.get("HETDP_TEST_POSTGRES", "")
_spare: list[str] = []  # empty databases


def server() -> str:
    """The server, if there is one to test with."""
    if not SERVER:
        pytest.skip("HETDP_TEST_POSTGRES names no PostgreSQL server")
    return SERVER


@pytest.fixture
def database() -> Iterator[str]:
    """An empty database on the server; afterwards it is emptied for the next test, since making one takes longer."""
    found = _spare.pop() if _spare else new_address(server())
    yield found
    if reset_database(found):
        _spare.append(found)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a ledger that does not exist yet."""
    found: str = new_address(str(tmp_path)) if request.param == "sqlite" else request.getfixturevalue("database")
    return found


@pytest.fixture
def ledger(address: str) -> Ledger:
    """A ledger with one source, whose cap is 0.3."""
    return Ledger.create(address, source="survey", cap=0.3, timeout=5)
