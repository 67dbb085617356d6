"""The tutorials as notebooks: ``python -m tests.documents.notebooks`` writes them from the pages, with a fresh run.

The pages are what people edit. A command becomes a cell that begins with %%bash, with a question for its exit code in
the same cell; Python examples become cells that end where the page shows output.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import doctest
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.documents.pages import DOCS, Block, ConsoleCommand, blocks, console_commands, run_commands

TUTORIALS = [DOCS / "tutorials" / f"{name}.md" for name in ("researcher", "steward")]
BASH = "%%bash --no-raise-error\nexec 2>&1\n"
MADE = "*This notebook is made from [{name}]({name}) with `python -m tests.documents.notebooks`.*"
PICTURE = {"format": "png", "dpi": 96, "metadata": {"Software": None}}
NOTICE = re.compile(r"(?:The page is also a notebook with its outputs:\s\[[^\]]+\]\([^)]+\)\.\n)")


class Cell(NamedTuple):
    """What a cell does: its commands or its Python, and the output that the page shows."""

    source: str
    shown: str
    commands: tuple[ConsoleCommand, ...] = ()


def notebook_of(page: Path, folder: Path) -> tuple[dict[str, Any], list[tuple[Cell, str]]]:
    """Runs a page in a folder; returns it as a notebook, and what each cell printed or displayed as text."""
    text, at, cells, printed = page.read_text(encoding="utf-8"), 0, list[dict[str, Any]](), list[tuple[Cell, str]]()
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.kind not in ("console", "python"):
            continue
        written = f"```{block.kind}\n{block.text}```"
        words, at = text[at : text.index(written, at)], text.index(written, at) + len(written)
        cells.append(_markdown(words, None if cells else page))
        found = list(_console_cells(block) if block.kind == "console" else _python_cells(block))
        for cell, outputs in zip(found, _outputs(found, folder, names), strict=True):
            printed.append((cell, "".join(_text_of(output) for output in outputs)))
            cells.append(_code(cell.source, outputs, len(printed)))
    cells.append(_markdown(text[at:]))
    for number, entry in enumerate(cells):
        entry["id"] = f"{page.stem}-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }, printed


def _markdown(words: str, page: Path | None = None) -> dict[str, Any]:
    words = NOTICE.sub("", words.strip() + "\n\n").strip()
    source = f"{words}\n\n{MADE.format(name=page.name)}" if page else words
    return {"cell_type": "markdown", "id": "", "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(source: str, outputs: list[dict[str, Any]], count: int) -> dict[str, Any]:
    for output in outputs:
        if output["output_type"] == "execute_result":
            output["execution_count"] = count
    return {
        "cell_type": "code",
        "execution_count": count,
        "id": "",
        "metadata": {},
        "outputs": outputs,
        "source": source.splitlines(keepends=True),
    }


def _console_cells(block: Block) -> Iterator[Cell]:
    """One cell for each command; one that asks for an exit code belongs to the command before."""
    groups: list[list[ConsoleCommand]] = []
    for command in console_commands(block):
        if "$?" in command.command and groups:
            groups[-1].append(command)
        else:
            groups.append([command])
    for group in groups:
        source = BASH + "".join(command.command for command in group).rstrip("\n")
        yield Cell(source, "".join(command.output for command in group), tuple(group))


def _python_cells(block: Block) -> Iterator[Cell]:
    """A cell ends after an example with output, and where the block ends."""
    source = ""
    for example in doctest.DocTestParser().get_examples(block.text):
        source += example.source
        if example.want:
            yield Cell(source.rstrip("\n"), example.want)
            source = ""
    if source:
        yield Cell(source.rstrip("\n"), "")


def _outputs(cells: list[Cell], folder: Path, names: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """What the cells of one block print and display."""
    if not cells[0].commands:
        return [_run(cell.source, names) for cell in cells]
    printed = iter(run_commands([command for cell in cells for command in cell.commands], folder))
    texts = ["".join(next(printed) for _ in cell.commands) for cell in cells]
    return [[_stream(text)] if text else [] for text in texts]


def _run(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs a cell as a notebook does: the value of a last expression is displayed, and so is every new figure."""
    from matplotlib import pyplot

    *body, last = ast.parse(source).body
    value, printed = None, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
        else:
            exec(compile(ast.Module([last], []), "<cell>", "exec"), names)
    outputs = [_stream(printed.getvalue())] if printed.getvalue() else []
    if value is not None:
        data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    for number in pyplot.get_fignums():
        picture = io.BytesIO()
        pyplot.figure(number).savefig(picture, bbox_inches="tight", **PICTURE)
        data = {"image/png": base64.b64encode(picture.getvalue()).decode()}
        outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})
    pyplot.close("all")
    return outputs


def _stream(text: str) -> dict[str, Any]:
    return {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}


def _text_of(output: dict[str, Any]) -> str:
    """The text of an output; a displayed value ends with a line break, as on a page."""
    if output["output_type"] == "execute_result":
        return "".join(output["data"]["text/plain"]) + "\n"
    return "".join(output.get("text", []))


def texts_of(notebook: dict[str, Any]) -> list[str]:
    """What each code cell of a notebook has printed or displayed as text."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return ["".join(_text_of(output) for output in cell["outputs"]) for cell in cells]


def without_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook without what its cells printed; the kinds of outputs remain."""
    cells = [
        cell | {"outputs": [[output["output_type"], *output.get("data", [])] for output in cell.get("outputs", [])]}
        for cell in notebook["cells"]
    ]
    return notebook | {"cells": cells}


def main() -> None:
    """Writes both notebooks."""
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    before = Path.cwd()
    for page in TUTORIALS:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            notebook, _ = notebook_of(page, Path(folder))
            os.chdir(before)
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        page.with_suffix(".ipynb").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
