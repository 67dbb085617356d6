"""Runs the pages of the documentation: their blocks, the commands in them, and the output that they show."""

from __future__ import annotations

import difflib
import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.documents import warm

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RUN_KINDS = {"console", "python"}  # kinds of blocks that are run
SHOWN_KINDS = {"text", "json", "csv"}  # kinds of blocks that are only shown
PROMPT = "$ "
END = "\x1e\n"  # separates the outputs of two commands
TIMEOUT = 540  # seconds for one block, on a busy machine that compiles everything anew
FLAGS = doctest.ELLIPSIS | doctest.DONT_ACCEPT_TRUE_FOR_1

_ROUNDING = re.compile(r"\b(\d\.\de-(1[5-9]|[2-9]\d|\d{3})|0\.0e\+00)\b")  # which one depends on the processor
_FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)")


class Block(NamedTuple):
    """A fenced block: its kind, the number of its first line, and its text."""

    kind: str
    line: int
    text: str


class ConsoleCommand(NamedTuple):
    """A command in a console block: its line number, its text, and the output that the page shows."""

    line: int
    command: str
    output: str


def pages() -> list[Path]:
    """The README and every page below docs."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def name_of(page: Path) -> str:
    """The path of a page relative to the repository, for test ids and messages."""
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = _FENCE.finditer(text)
    return [Block(block[1], text.count("\n", 0, block.start()) + 2, block[2]) for block in found]


def console_commands(block: Block) -> Iterator[ConsoleCommand]:
    """The commands of a console block, each with the output below it; a here-document belongs to its command."""
    lines = block.text.splitlines(keepends=True)
    at = 0
    while at < len(lines):
        if not lines[at].startswith(PROMPT):
            raise ValueError(f"line {block.line + at} of a console block is neither a command nor output of one")
        start, end = at, _end_of_command(lines, at)
        at = end
        while at < len(lines) and not lines[at].startswith(PROMPT):
            at += 1
        command = "".join(lines[start:end])[len(PROMPT) :]
        yield ConsoleCommand(block.line + start, command, "".join(lines[end:at]))


def _end_of_command(lines: list[str], at: int) -> int:
    """The line after a command, including continuation lines and its here-document."""
    end = at + 1
    while lines[end - 1].endswith("\\\n"):
        end += 1
    if document := _HEREDOC.search("".join(lines[at:end])):
        while lines[end].rstrip("\n") != document[1]:
            end += 1
        end += 1
    return end


def run_commands(commands: list[ConsoleCommand], folder: Path, programs: Path | None = None) -> list[str]:
    """Runs commands and returns what each prints on standard output and standard error together.

        Args:
    commands: the commands.
            folder: the working folder.
            programs: the folder in which `hetdp` and `python` are found; by default, those that run the tests.
    """
    save = f"__status=$?; printf '{END.encode('unicode_escape').decode()}'; (exit $__status)\n"
    script = "".join(command.command + save for command in commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=_environment(programs),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT,
        check=False,
    )
    outputs = done.stdout.decode("utf-8").split(END)[: len(commands)]
    return outputs + [""] * (len(commands) - len(outputs))


def _environment(programs: Path | None) -> dict[str, str]:
    """The environment of a reader, in which `hetdp` and `python` run this source tree unless `programs` is given.

    As in all tests, nothing is compiled in the background; no other variable of the test run is set.

        The repository itself is on the path, so that ``python -m examples.NAME`` does what it does in its root.
    """
    ours = ("HETDP_", "NUMBA_", "PYTEST_", "COV_", "PYTHON")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment |= {"TERM": "dumb", "HETDP_COMPILE": "now"} | (
        {} if programs else {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    )
    folders = [programs] if programs else [warm.programs(environment), Path(sys.executable).parent]
    return environment | {"PATH": os.pathsep.join([*map(str, folders), environment.get("PATH", os.defpath)])}


def differences_of_page(page: Path, folder: Path) -> list[str]:
    """Runs a page from top to bottom in a folder and returns the differences between its output and the page."""
    found: list[str] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.kind == "console":
            found += _console_differences(page, block, folder)
        elif block.kind == "python":
            found += python_differences(page, block, names)
    return found


def _console_differences(page: Path, block: Block, folder: Path) -> list[str]:
    commands = list(console_commands(block))
    pairs = zip(commands, run_commands(commands, folder), strict=True)
    return [_difference(page, command, got) for command, got in pairs if not matches_page(command.output, got)]


def matches_page(expected: str, got: str) -> bool:
    """True if an output is the one on the page, apart from the size of rounding errors."""
    expected, got = (_ROUNDING.sub("(a rounding)", text) for text in (expected, got))
    return doctest.OutputChecker().check_output(expected, got, FLAGS)


def _difference(page: Path, command: ConsoleCommand, got: str) -> str:
    expected, found = command.output.splitlines(), got.splitlines()
    lines = difflib.unified_diff(expected, found, "the page says", "really printed", lineterm="")
    return "\n".join([f"{name_of(page)}:{command.line}: $ {command.command.rstrip()}", *lines])


def python_differences(page: Path, block: Block, names: dict[str, Any]) -> list[str]:
    """Runs a block of Python as a doctest, with the names that earlier blocks of its page defined."""
    found: list[str] = []
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line - 1)
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=found.append, clear_globs=False)
    names.update(test.globs)
    return ["".join(found)] if found else []
