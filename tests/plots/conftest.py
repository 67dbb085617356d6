"""How these tests draw: without a display, and with no figure left behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def _no_display() -> Iterator[None]:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")
