"""Updates the output in console blocks: ``python -m tests.documents.refresh docs/PAGE.md …``.

Use it after changing messages on purpose. Read the diff before you commit it, since the tests compare with it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.documents.pages import PROMPT, Block, blocks, console_commands, python_differences, run_commands


def refresh_page(page: Path, folder: Path) -> str:
    """Returns the text of a page with the current output in every console block."""
    text, names = page.read_text(encoding="utf-8"), dict[str, Any]()
    for block in blocks(page):
        if block.kind == "python":
            if wrong := python_differences(page, block, names):
                raise SystemExit(f"{wrong[0]}\n{page.name} is left as it was.")
        elif block.kind == "console":
            text = text.replace(f"```console\n{block.text}```", f"```console\n{refresh_block(block, folder)}```", 1)
    return text


def refresh_block(block: Block, folder: Path) -> str:
    commands = list(console_commands(block))
    outputs = run_commands(commands, folder)
    return "".join(
        PROMPT + command.command + (command.output if "..." in command.output else output)
        for command, output in zip(commands, outputs, strict=True)
    )


def main() -> None:
    """Refreshes the pages named on the command line."""
    for page in [Path(name).absolute() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder:
            before = Path.cwd()
            os.chdir(folder)
            text = refresh_page(page, Path(folder))
            os.chdir(before)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
