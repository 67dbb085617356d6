"""Everything on the pages that looks like a command or like Python is run, and prints what stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documents.pages import ROOT, RUN, SHOWN, blocks, complaints, is_as_said, name_of, pages, typed

PAGES = pages()
LIVELY = [page for page in PAGES if any(block.kind in RUN for block in blocks(page))]
WRONG = """\
```console
$ echo one; echo two >&2
one
two
$ (exit 3)
$ echo $?
4
```

```python
>>> 1 + 1
3
```
"""


@pytest.mark.parametrize("page", LIVELY, ids=name_of)
def test_a_page_prints_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    found = complaints(page, tmp_path)
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_run_or_says_that_it_is_only_shown(page: Path):
    assert {block.kind for block in blocks(page)} <= RUN | SHOWN
    for block in blocks(page):
        assert block.kind != "python" or ">>> " in block.text, f"line {block.line} is no doctest"
        assert block.kind != "console" or list(typed(block))


def test_the_pages_that_matter_are_run():
    assert {"README.md", "docs/tutorials/researcher.md", "docs/reference/python.md"} <= set(map(name_of, LIVELY))
    assert {page for page in PAGES if page.parent.name in ("how-to", "tutorials")} <= set(LIVELY)
    assert "docs/examples.md" in set(map(name_of, LIVELY))


def test_what_is_made_with_make_can_be_made():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for page in PAGES:
        said = re.findall(r"(?:^|`)make ([a-z]+)(?:`| +#|$)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(said) <= set(targets), name_of(page)


def test_the_readme_can_be_read_in_a_minute_or_two():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 135


def test_a_page_that_says_something_else_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tests.documents.pages.ROOT", tmp_path)
    page = tmp_path / "wrong.md"
    page.write_text(WRONG, encoding="utf-8")
    console, python = complaints(page, tmp_path)
    assert console.startswith("wrong.md:6: $ echo $?")
    assert console.endswith("-4\n+3")
    assert "Expected:\n    3\nGot:\n    2" in python


def test_only_the_size_of_a_rounding_may_differ():
    assert is_as_said("least slack 2.8e-17\n", "least slack 0.0e+00\n")
    assert not is_as_said("moved by 5.7e-11\n", "moved by 5.8e-11\n")
    assert not is_as_said("p = 0.54\n", "p = 0.55\n")


def test_a_here_document_belongs_to_its_command(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ cat > a <<'END'\n$ x\nEND\n$ cat a\n$ x\n```\n", encoding="utf-8")
    (block,) = blocks(page)
    with pytest.raises(ValueError, match="neither"):
        list(typed(block._replace(text="output of nothing\n")))
    assert [found.command for found in typed(block)] == ["cat > a <<'END'\n$ x\nEND\n", "cat a\n", "x\n"]
