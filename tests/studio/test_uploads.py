"""Files dropped on a page: names, sizes and refusals."""

from __future__ import annotations

import base64

import pytest

import hetdp
from hetdp.studio import uploads


@pytest.mark.parametrize(
    ("names", "title"), [(["a/b/c.json"], "c.json"), ([r"C:\x\y.JSON"], "y.JSON"), (["x" * 100 + ".json"], "x" * 80)]
)
def test_a_dropped_file_gives_its_name(names, title):
    text = b'{"schema_version": 1, "datasets": [{"dataset": "a", "query": 1}], "edges": []}'
    content = "data:;base64," + base64.b64encode(text).decode()
    assert uploads.document_from_files(names, [content]).name == title


def test_a_refusal_does_not_show_where_the_file_was(tmp_path):
    for text in (b"[", b'{"schema_version": 1, "datasets": [{"a": 1}], "edges": [{"b": 1}]}'):
        content = "data:;base64," + base64.b64encode(text).decode()
        with pytest.raises(hetdp.UsageError) as refusal:
            uploads.document_from_files(["mine.json"], [content])
        assert "mine.json" in str(refusal.value)
        assert "hetdp-studio-" not in str(refusal.value)


@pytest.mark.parametrize("content", ["no comma", "data:,a", "data:,AAAA=AAA", "data:,é"])
def test_text_that_is_not_base64_is_refused(content):
    with pytest.raises(hetdp.UsageError, match="a file that cannot be read"):
        uploads.document_from_files(["a.json"], [content])


def test_dropped_files_may_be_exactly_as_large_as_allowed(monkeypatch):
    monkeypatch.setattr(uploads, "MOST_BYTES", 12)
    for size, words in ((12, "not JSON"), (13, "too large"), (30, "cannot be read")):
        content = "data:;base64," + base64.b64encode(b"x" * size).decode()
        with pytest.raises(hetdp.UsageError, match=words):
            uploads.document_from_files(["a.json"], [content])
    uploads._require(5, 5, "cells")
    with pytest.raises(hetdp.UsageError, match="a file that holds 6 cells"):
        uploads._require(6, 5, "cells")
