"""The page holds every part that a callback reads, and callbacks fill the tab that is open."""

from __future__ import annotations

from typing import Any

import pytest
from dash import no_update

from hetdp.studio.gallery import GALLERY
from hetdp.studio.server import app_for
from hetdp.studio.session import Session


@pytest.fixture(scope="module")
def app() -> Any:
    return app_for(Session(next(iter(GALLERY.values())).make()), "token", frozenset(), False)


def test_every_part_that_a_callback_reads_is_on_the_page(app):
    there = {part.id for part in app.layout()._traverse() if isinstance(getattr(part, "id", None), str)}
    read = [part["id"] for one in app.callback_map.values() for part in (*one["inputs"], *one["state"])]
    assert "tab-request" in read
    assert {name for name in read if "{" not in name} <= there
    assert {"title", "open", "undo", "redo", "night"} <= there


@pytest.mark.parametrize("tab", ["accuracy", "odds"])
def test_a_tab_is_filled_when_it_is_open_and_left_alone_otherwise(app, tab):
    fill = next(one["callback"].__wrapped__ for name, one in app.callback_map.items() if f"{tab}.children" in name)
    assert fill(request=["export", 1])[tab] is no_update
    filled = fill(request=[tab, 2])
    assert filled[tab] not in (None, no_update)
    assert filled["filled"] == [tab, 2]
