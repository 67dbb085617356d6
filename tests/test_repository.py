"""What every file of the repository must keep to."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from hetdp.version import VERSION

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "hetdp"

# Written in parts, so that this file does not match itself.
HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "com"),
        ("npmjs", "org"),
        ("yarnpkg", "com"),
        ("unpkg", "com"),
        ("jsdelivr", "net"),
        ("cloudflare", "com"),
        ("anaconda", "org"),
        ("crates", "io"),
    )
]
MACHINE_PATHS = ["/" + folder + "/" for folder in ("work", "root", "tmp", "home", "opt")]
VAGUE_NAMES = {"base", "common", "core", "helper", "helpers", "misc", "util", "utils"}


@cache
def repository_files() -> list[Path]:
    """Files that are committed, or would be by `git add .`."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def places(pattern: str) -> list[str]:
    """`file:line` of every match in the repository."""
    found = []
    for path in repository_files():
        lines = text_of(path).splitlines() if re.search(pattern, text_of(path)) else []
        found += [f"{path.relative_to(ROOT)}:{n}" for n, line in enumerate(lines, 1) if re.search(pattern, line)]
    return found


def test_there_are_files_to_look_at():
    assert ROOT / "pyproject.toml" in repository_files()


@pytest.mark.parametrize("host", HOSTS)
def test_no_file_names_a_package_host(host: str):
    assert places(r"(?i)\b" + re.escape(host)) == []


@pytest.mark.parametrize("folder", MACHINE_PATHS)
def test_no_file_names_a_path_of_one_machine(folder: str):
    assert places(r"(?<![\w.~}*)-])" + re.escape(folder)) == []


def test_every_file_and_folder_is_named_after_what_it_holds():
    relative = [path.relative_to(ROOT) for path in repository_files()]
    assert [str(path) for path in relative if VAGUE_NAMES & {part.split(".")[0] for part in path.parts}] == []


def test_every_package_is_a_package_and_says_what_lives_there():
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []
    trees = {folder: ast.parse((folder / "__init__.py").read_text(encoding="utf-8")) for folder in folders}
    assert [str(folder) for folder, tree in trees.items() if not ast.get_docstring(tree)] == []


def test_no_import_of_the_library_is_hidden_in_a_string():
    """The import linter sees none of them; only the tables of public names are resolved by name."""
    tables = {SOURCE / "__init__.py", SOURCE / "spaces.py"}
    constants = (
        (path, node)
        for path in {*SOURCE.rglob("*.py")} - tables
        for node in ast.walk(ast.parse(text_of(path)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    hidden = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}" for path, node in constants if is_module(node.value)
    ]
    assert hidden == []


def is_module(name: str) -> bool:
    """True for the full name of a module or package of the library."""
    if not re.fullmatch(r"hetdp(\.\w+)+", name):
        return False
    place = SOURCE.parent.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


def test_the_run_without_the_jit_has_all_files_whose_tests_are_marked_for_it():
    listed = re.search(r"^JIT_OFF := (.*?) *(#|$)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed
    folders = [ROOT / name for name in listed[1].split()]
    mark = re.compile(r"^(pytestmark = |@)pytest\.mark\.jit_off", re.MULTILINE)
    marked = [path for path in (ROOT / "tests").rglob("test_*.py") if mark.search(text_of(path))]
    assert marked
    assert [path for path in marked if not any(path.is_relative_to(folder) for folder in folders)] == []


@pytest.mark.parametrize("name", ["CHANGELOG.md", "CITATION.cff"])
def test_the_version_is_the_same_everywhere(name: str):
    assert re.search(rf"\b{re.escape(VERSION)}\b", (ROOT / name).read_text(encoding="utf-8"))
