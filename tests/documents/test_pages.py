"""Every command and every Python example on the pages is run and prints what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documents.notebooks import TUTORIALS
from tests.documents.pages import (
    ROOT,
    RUN_KINDS,
    SHOWN_KINDS,
    blocks,
    console_commands,
    differences_of_page,
    matches_page,
    name_of,
    pages,
)
from tests.loops import for_each

PAGES = pages()
EXECUTED_PAGES = [page for page in PAGES if any(block.kind in RUN_KINDS for block in blocks(page))]
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


# `test_notebooks.py` runs the tutorials
@pytest.mark.parametrize("page", [page for page in EXECUTED_PAGES if page not in TUTORIALS], ids=name_of)
def test_commands_on_a_page_print_what_it_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    found = differences_of_page(page, tmp_path)
    assert not found, "\n\n".join(found)


@for_each("page", PAGES)
def test_every_block_is_run_or_marked_as_shown_only(page: Path):
    assert {block.kind for block in blocks(page)} <= RUN_KINDS | SHOWN_KINDS
    for block in blocks(page):
        assert block.kind != "python" or ">>> " in block.text, f"line {block.line} is no doctest"
        assert block.kind != "console" or list(console_commands(block))


def test_the_pages_that_matter_are_run():
    assert {"README.md", "docs/tutorials/researcher.md", "docs/reference/python/README.md"} <= set(
        map(name_of, EXECUTED_PAGES)
    )
    assert {page for page in PAGES if page.parent.name in ("how-to", "tutorials")} <= set(EXECUTED_PAGES)
    assert "docs/examples.md" in set(map(name_of, EXECUTED_PAGES))


def test_every_make_target_on_the_pages_exists():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named: set[str] = set()
    for page in PAGES:
        used = re.findall(r"(?:^|`)make ([a-z]+)(?:`| +#|$)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(used) <= set(targets), name_of(page)
        named |= set(used)
    assert {"test", "docs"} <= named


def test_the_readme_can_be_read_in_a_minute():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100


def test_a_page_with_wrong_output_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tests.documents.pages.ROOT", tmp_path)
    page = tmp_path / "wrong.md"
    page.write_text(WRONG, encoding="utf-8")
    console, python = differences_of_page(page, tmp_path)
    assert console.startswith("wrong.md:6: $ echo $?")
    assert console.endswith("-4\n+3")
    assert "Expected:\n    3\nGot:\n    2" in python


def test_only_the_size_of_a_rounding_may_differ():
    assert matches_page("least slack 2.8e-17\n", "least slack 0.0e+00\n")
    assert not matches_page("moved by 5.7e-11\n", "moved by 5.8e-11\n")
    assert not matches_page("p = 0.54\n", "p = 0.55\n")


def test_a_here_document_belongs_to_its_command(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ cat > a <<'END'\n$ x\nEND\n$ cat a\n$ x\n```\n", encoding="utf-8")
    (block,) = blocks(page)
    with pytest.raises(ValueError, match="neither"):
        list(console_commands(block._replace(text="output of nothing\n")))
    assert [found.command for found in console_commands(block)] == ["cat > a <<'END'\n$ x\nEND\n", "cat a\n", "x\n"]
