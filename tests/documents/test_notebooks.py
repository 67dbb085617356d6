"""The tutorials are pages and notebooks: one run is compared with both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from matplotlib import pyplot

from tests.documents.notebooks import TUTORIALS, notebook_of, texts_of, without_outputs
from tests.documents.pages import matches_page, name_of


@pytest.mark.parametrize("page", TUTORIALS, ids=name_of)
def test_a_tutorial_and_its_notebook_show_what_a_fresh_run_prints(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pyplot.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    fresh, printed = notebook_of(page, tmp_path)
    stored = json.loads(page.with_suffix(".ipynb").read_text(encoding="utf-8"))
    assert without_outputs(stored) == without_outputs(fresh)  # else: python -m tests.documents.notebooks
    for (cell, text), before in zip(printed, texts_of(stored), strict=True):
        assert matches_page(cell.shown, text), f"{cell.source}\n\nthe page says\n{cell.shown}\nreally printed\n{text}"
        assert matches_page(cell.shown, before), f"{cell.source}\n\nthe notebook says\n{before}"
