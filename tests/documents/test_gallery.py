"""The gallery: every picture exists, is small, has alternative text, and can be drawn again."""

from __future__ import annotations

import re

from matplotlib import pyplot

from docs.pictures.drawn import PICTURES
from tests.documents.pages import DOCS
from tests.loops import for_each

FOLDER = DOCS / "pictures"
LARGEST = 60_000  # bytes
PICTURE_LINK = re.compile(r"!\[([^\]]+)\]\(pictures/([\w-]+)\.svg\)")


def test_every_picture_is_shown_once_with_alternative_text():
    found = PICTURE_LINK.findall((DOCS / "gallery.md").read_text(encoding="utf-8"))
    assert [name for _, name in found] == list(PICTURES)
    assert all(len(words) > 20 for words, _ in found)


def test_the_folder_contains_exactly_these_pictures():
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(PICTURES)


@for_each("name", PICTURES)
def test_a_picture_is_small_and_loads_nothing(name):
    text = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert len(text.encode()) <= LARGEST
    assert "<script" not in text
    assert not re.search(r"(?:href|src)=\"(?!#|data:image/png)", text)
    assert "<text" in text


@for_each("name", PICTURES)
def test_a_picture_is_up_to_date(name):
    pyplot.switch_backend("agg")
    figure = PICTURES[name]().get_figure()
    shown = [text.get_text() for axes in figure.axes for text in [*axes.texts, axes.xaxis.label, axes.yaxis.label]]
    stored = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    for line in {line for words in shown for line in words.split("\n")}:
        assert line.replace("<", "&lt;").replace(">", "&gt;") in stored, line
    pyplot.close("all")
