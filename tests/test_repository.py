"""Rules for all files of the repository."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from hetdp.cli.group import VERBS
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


def test_the_files_of_the_repository_are_found():
    assert ROOT / "pyproject.toml" in repository_files()


def test_no_file_names_a_package_host():
    assert places(r"(?i)\b(" + "|".join(map(re.escape, HOSTS)) + ")") == []


def test_no_file_names_a_path_of_one_machine():
    assert places(r"(?<![\w.~}*)-])(" + "|".join(map(re.escape, MACHINE_PATHS)) + ")") == []


def test_every_file_and_folder_is_named_after_what_it_holds():
    relative = [path.relative_to(ROOT) for path in repository_files()]
    assert [str(path) for path in relative if VAGUE_NAMES & {part.split(".")[0] for part in path.parts}] == []


def test_every_package_has_an_init_file_with_a_docstring():
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []
    trees = {folder: ast.parse((folder / "__init__.py").read_text(encoding="utf-8")) for folder in folders}
    assert [str(folder) for folder, tree in trees.items() if not ast.get_docstring(tree)] == []


def test_a_package_says_what_each_of_its_modules_is_for():
    for folder in {path.parent for path in SOURCE.rglob("*.py")} - {SOURCE}:  # ARCHITECTURE.md is about the whole
        words = ast.get_docstring(ast.parse(text_of(folder / "__init__.py"))) or ""
        named = {name for quoted in re.findall("`([^`]+)`", words) for name in re.split(r"[^\w]", quoted)}
        modules = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/*.py")}
        assert sorted(modules - named - {"__init__"} - (VERBS.keys() if folder.name == "cli" else set())) == [], folder


def test_the_page_on_architecture_names_every_package_and_shared_module():
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    picture = page[page.index("```") : page.rindex("```")]
    modules = {path.stem for path in SOURCE.glob("*.py")} | {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert modules - set(re.findall(r"\w+", picture)) == {"__init__", "__main__", "version"}
    named = re.findall(r"`([\w/]+(?:\.py|/))`", page)
    assert len(named) > 40
    homes = (SOURCE, ROOT)
    assert [name for name in named if not any((home / name).exists() for home in homes)] == []


def test_no_import_is_hidden_in_a_string():
    """The import linter sees no import by name. What is loaded when it is first used has an import statement, too."""
    strings = (found for path in SOURCE.rglob("*.py") for found in strings_of(path))
    assert [f"{path}:{line}: {text}" for path, line, text in strings if is_module(text)] == []
    words = re.compile(r"\b(importlib(?!\.(util|resources))|import_module|__import__|runpy|pkgutil)\b")
    assert [str(path.relative_to(ROOT)) for path in SOURCE.rglob("*.py") if words.search(text_of(path))] == []


def strings_of(path: Path) -> list[tuple[Path, int, str]]:
    """Every text of a module, with its place."""
    nodes = (node for node in ast.walk(ast.parse(text_of(path))) if isinstance(node, ast.Constant))
    return [(path.relative_to(ROOT), node.lineno, node.value) for node in nodes if isinstance(node.value, str)]


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
