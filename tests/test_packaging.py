"""The wheel, built and installed in an empty environment."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from hetdp.version import VERSION
from tests.documents.pages import blocks, console_commands, matches_page, run_commands
from tests.supply_chain.pins import closure, constraints
from tests.test_repository import repository_files

ROOT = Path(__file__).parent.parent
METADATA = f"hetdp-{VERSION}.dist-info/"
LOADED = "import sys, hetdp; print(sorted({'flint', 'llvmlite', 'numba', 'numpy'} & sys.modules.keys()))"
IMPORT_ALL = """
import importlib, pkgutil, hetdp
for module in pkgutil.walk_packages(hetdp.__path__, "hetdp."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as missing:  # of an extra, in the one folder that needs it
            extras = {"hetdp.studio.": ("dash", "dash_cytoscape", "flask"), "hetdp.partitioned.": ("dask",)}
            extras["hetdp.plots."] = ("matplotlib",)
            extras["hetdp.releases.ledger.postgres"] = ("psycopg",)
            if not any(module.name.startswith(one) and missing.name in names for one, names in extras.items()):
                raise
import hetdp.studio.server, hetdp.studio.session, hetdp.studio.export, hetdp.studio.views
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Standard output of a command that must succeed, without this environment's Python settings."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_package_and_its_metadata_only(wheel: Path):
    names = ZipFile(wheel).namelist()
    assert [name for name in names if not name.startswith(("hetdp/", METADATA))] == []
    assert [name for name in names if "__pycache__" in name] == []


def test_the_wheel_holds_every_module_the_typing_marker_and_the_licence(wheel: Path):
    names = set(ZipFile(wheel).namelist())
    modules = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "hetdp").rglob("*.py")}
    assert modules <= names
    assert {"hetdp/py.typed", f"{METADATA}licenses/LICENSE"} <= names
    assert {"hetdp/studio/assets/studio.css", "hetdp/studio/assets/studio.js"} <= names


def test_the_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path):
    # One test, so that one worker makes the environment once.
    python = empty_environment(tmp_path)
    install(wheel, python)
    assert run(python, "-c", "import hetdp; print(hetdp.__version__)", cwd=tmp_path).strip() == VERSION
    assert run(python, "-c", LOADED, cwd=tmp_path).strip() == "[]", "import hetdp must load no heavy library"
    run(python, "-c", IMPORT_ALL, cwd=tmp_path)
    assert run(python, "-m", "hetdp.cli.demo", cwd=tmp_path).strip()
    follow(ROOT / "README.md", python, tmp_path)


def test_the_same_sources_give_the_same_bytes(tmp_path: Path):
    """The name of the folder and the times and permissions of its files do not matter."""
    built = []
    for name, umask, stray in (("one", 0o022, None), ("another place", 0o077, "people.csv")):
        folder = tmp_path / name
        copy_sources(folder, umask)
        if stray:
            (folder / stray).write_text("id,answer\n1,yes\n", encoding="utf-8")
        run(
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--outdir",
            tmp_path / f"{name} built",
            folder,
            cwd=tmp_path,
        )
        built.append({path.name: path.read_bytes() for path in (tmp_path / f"{name} built").iterdir()})
    assert sorted(built[0]) == [f"hetdp-{VERSION}-py3-none-any.whl", f"hetdp-{VERSION}.tar.gz"]
    assert built[0] == built[1]


def copy_sources(folder: Path, umask: int) -> None:
    """The files of the repository, freshly written under a umask."""
    before = os.umask(umask)
    try:
        for path in repository_files():
            there = folder / path.relative_to(ROOT)
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(path.read_bytes())
            os.utime(there, (umask, umask))
    finally:
        os.umask(before)


def follow(page: Path, python: Path, folder: Path) -> None:
    """Runs the commands of a page with the installed package."""
    kinds = [block.kind for block in blocks(page)]
    assert {"python", "console"} <= {*kinds}
    session = ""  # a block uses the names of those before it
    for block in blocks(page):
        if block.kind == "python":
            session += block.text + "\n"
            (folder / "block.txt").write_text(session, encoding="utf-8")
            run(python, "-m", "doctest", "block.txt", cwd=folder)
        elif block.kind == "console":
            commands = list(console_commands(block))
            for command, got in zip(commands, run_commands(commands, folder, python.parent), strict=True):
                assert matches_page(command.output, got), f"{command.command}\n{got}"


def empty_environment(folder: Path) -> Path:
    """The Python of an environment with nothing in it, not even pip."""
    venv.create(folder / "environment", with_pip=False, symlinks=os.name != "nt")
    return folder / "environment" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(wheel: Path, python: Path) -> None:
    """Installs the wheel and what it asks for, from wherever pip is set to look; in CI, what it asks for as pinned.

    By uv, where the Makefile has installed it: it is quicker.
    """
    pip: tuple[str | Path, ...] = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    quietly = (*pip, "install", "--quiet", "--no-compile")
    uv = Path(sys.executable).with_name("uv")
    if uv.exists():
        quietly = (uv, "pip", "install", "--quiet", "--python", python)
    if os.environ.get("HETDP_PINNED"):
        needed, pinned = closure(), wheel.parent / "pinned.txt"
        pinned.write_text("\n".join(pin.text for pin in constraints() if pin.name in needed), encoding="utf-8")
        run(*quietly, "--require-hashes", "--no-deps", "--requirement", pinned, cwd=wheel.parent)
        run(*quietly, "--no-deps", wheel, cwd=wheel.parent)
        run(*pip, "check", cwd=wheel.parent)
    else:
        run(*quietly, wheel, cwd=wheel.parent)
