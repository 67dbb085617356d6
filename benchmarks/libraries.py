"""Libraries that hetdp is compared with. Any of them may be missing, and the page then says so.

``python -m benchmarks.libraries`` lists the packages to install, one per line.
"""

from __future__ import annotations

import tomllib
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ALWAYS = ("numpy", "numba", "scipy", "highspy", "duckdb", "python-flint")
OPTIONAL = ("igraph", "networkit", "rustworkx", "qif", "opendp", "diffprivlib", "matplotlib")
PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def load_library(module: str) -> Any | str:
    """The module, or a sentence that says why it cannot be loaded."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        name = module.partition(".")[0]
        if (error.name or "").partition(".")[0] == name:
            return f"{name} is not installed here"
        return f"{name} cannot be loaded here: {error}"
    except (ImportError, OSError, RuntimeError) as error:
        return f"{module.partition('.')[0]} cannot be loaded here: {type(error).__name__}"


def versions() -> str:
    """Names and versions of the installed libraries, and the names of the missing ones."""
    found = {name: _version(name) for name in (*ALWAYS, *OPTIONAL)}
    missing = [name for name, one in found.items() if not one]
    words = ", ".join(f"{name} {one}" for name, one in found.items() if one)
    return words + (f". Not installed: {', '.join(missing)}" if missing else "")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def packages_to_install() -> list[str]:
    """The packages of the project's extra `bench`."""
    return list(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]["bench"])


if __name__ == "__main__":
    print("\n".join(packages_to_install()))
