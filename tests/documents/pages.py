"""Pages of documentation as things to run: their blocks, what a reader would type, and what should then appear."""

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

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RUN = {"console", "python"}  # kinds of blocks that are run
SHOWN = {"text", "json", "csv"}  # kinds that are only looked at
PROMPT = "$ "
END = "\x1e\n"  # what stands between the outputs of two commands
LONGEST = 240  # seconds for one block, on a busy machine that compiles everything anew
FLAGS = doctest.ELLIPSIS | doctest.DONT_ACCEPT_TRUE_FOR_1

_ROUNDING = re.compile(r"\b(\d\.\de-(1[5-9]|[2-9]\d|\d{3})|0\.0e\+00)\b")  # which one depends on the processor
_FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)")


class Block(NamedTuple):
    """What stands between two fences: its kind, the number of its first line, and its text."""

    kind: str
    line: int
    text: str


class Typed(NamedTuple):
    """A command in a console block: the number of its line, what is typed, and what the page says it prints."""

    line: int
    command: str
    output: str


def pages() -> list[Path]:
    """The README and every page below docs."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def name_of(page: Path) -> str:
    """A page as tests and messages name it."""
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = _FENCE.finditer(text)
    return [Block(block[1], text.count("\n", 0, block.start()) + 2, block[2]) for block in found]


def typed(block: Block) -> Iterator[Typed]:
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
        yield Typed(block.line + start, command, "".join(lines[end:at]))


def _end_of_command(lines: list[str], at: int) -> int:
    """The line after a command, which goes on behind a backslash and through its here-document."""
    end = at + 1
    while lines[end - 1].endswith("\\\n"):
        end += 1
    if document := _HEREDOC.search("".join(lines[at:end])):
        while lines[end].rstrip("\n") != document[1]:
            end += 1
        end += 1
    return end


def printed(commands: list[Typed], folder: Path, programs: Path | None = None) -> list[str]:
    """What each of these commands prints, standard output and standard error as a terminal shows them.

    Args:
        commands: what is typed.
        folder: where.
        programs: the folder in which `hetdp` and `python` are found; by default they are those that run the tests.
    """
    save = f"__status=$?; printf '{END.encode('unicode_escape').decode()}'; (exit $__status)\n"
    script = "".join(typed.command + save for typed in commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=_environment(programs),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LONGEST,
        check=False,
    )
    outputs = done.stdout.decode("utf-8").split(END)[: len(commands)]
    return outputs + [""] * (len(commands) - len(outputs))


def _environment(programs: Path | None) -> dict[str, str]:
    """The reader's: `hetdp` and `python` are found, and nothing of ours is set; by default, with this very code.

    The repository itself is on the path, so that ``python -m examples.NAME`` does what it does in its root.
    """
    ours = ("HETDP_", "NUMBA_", "PYTEST_", "COV_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    folders = [str(programs or Path(sys.executable).parent), kept.get("PATH", os.defpath)]
    source = {} if programs else {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return kept | {"PATH": os.pathsep.join(folders), "TERM": "dumb"} | source


def complaints(page: Path, folder: Path) -> list[str]:
    """Runs a page from top to bottom in a folder, and says what differs from it."""
    found: list[str] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.kind == "console":
            found += _console_complaints(page, block, folder)
        elif block.kind == "python":
            found += python_complaints(page, block, names)
    return found


def _console_complaints(page: Path, block: Block, folder: Path) -> list[str]:
    commands = list(typed(block))
    pairs = zip(commands, printed(commands, folder), strict=True)
    return [_difference(page, typed, got) for typed, got in pairs if not is_as_said(typed.output, got)]


def is_as_said(said: str, got: str) -> bool:
    """Whether an output is the one on the page, but for which tiny number a rounding came to."""
    said, got = (_ROUNDING.sub("(a rounding)", text) for text in (said, got))
    return doctest.OutputChecker().check_output(said, got, FLAGS)


def _difference(page: Path, typed: Typed, got: str) -> str:
    wanted, found = typed.output.splitlines(), got.splitlines()
    lines = difflib.unified_diff(wanted, found, "the page says", "really printed", lineterm="")
    return "\n".join([f"{name_of(page)}:{typed.line}: $ {typed.command.rstrip()}", *lines])


def python_complaints(page: Path, block: Block, names: dict[str, Any]) -> list[str]:
    """Runs a block of Python as a doctest, among the names that earlier blocks of its page left behind."""
    found: list[str] = []
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line - 1)
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=found.append, clear_globs=False)
    names.update(test.globs)
    return ["".join(found)] if found else []
