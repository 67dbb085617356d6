"""Writes into console blocks what their commands really print: ``python -m tests.documents.refresh docs/PAGE.md …``.

For messages that were changed on purpose. Read the difference before you commit it: the tests then compare with it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.documents.pages import PROMPT, Block, blocks, printed, python_complaints, typed


def refreshed(page: Path, folder: Path) -> str:
    """The text of a page, with every console block as it would look now."""
    text, names = page.read_text(encoding="utf-8"), dict[str, Any]()
    for block in blocks(page):
        if block.kind == "python":
            if wrong := python_complaints(page, block, names):
                raise SystemExit(f"{wrong[0]}\n{page.name} is left as it was.")
        elif block.kind == "console":
            text = text.replace(f"```console\n{block.text}```", f"```console\n{_console(block, folder)}```", 1)
    return text


def _console(block: Block, folder: Path) -> str:
    commands = list(typed(block))
    outputs = printed(commands, folder)
    return "".join(
        PROMPT + typed.command + (typed.output if "..." in typed.output else output)
        for typed, output in zip(commands, outputs, strict=True)
    )


def main() -> None:
    """Refreshes the pages named on the command line."""
    for page in [Path(name).absolute() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder:
            before = Path.cwd()
            os.chdir(folder)
            text = refreshed(page, Path(folder))
            os.chdir(before)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
