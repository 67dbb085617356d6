"""The cache folder of compiled functions, and which settings may change it."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hetdp import compilation, jit
from hetdp.isolation import ignore_file, python_environment

ROOT = Path(__file__).parents[1]
NOBODY = 65534


@pytest.fixture(autouse=True)
def _usual_umask():
    """Sets the usual umask, whatever that of the user is."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A cache folder named by the user; the cached decision is cleared before and afterwards."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
    compilation.cache_folder.cache_clear()
    yield tmp_path / "named"
    compilation.cache_folder.cache_clear()


def change_owner(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a file belong to another user; without root, pretends to be another user."""
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    else:
        mine = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: mine + 1)


def refusal_message(caplog: pytest.LogCaptureFixture) -> str:
    """The warning about a folder that is refused."""
    with caplog.at_level(logging.WARNING, "hetdp"):
        assert compilation.cache_folder() is None
        assert compilation.cache_folder() is None
    (record,) = caplog.records
    assert "\n" not in record.getMessage()
    return record.getMessage()


def test_a_new_folder_is_this_users_alone(place):
    found = compilation.cache_folder()
    assert found == str(place / "hetdp")
    assert [stat.S_IMODE(each.stat().st_mode) for each in (place, place / "hetdp")] == [0o700, 0o700]


def test_a_folder_that_others_may_read_is_closed(place):
    (place / "hetdp").mkdir(parents=True)
    (place / "hetdp").chmod(0o755)
    assert compilation.cache_folder() == str(place / "hetdp")
    assert stat.S_IMODE((place / "hetdp").stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o720, 0o1777])
def test_a_folder_that_others_may_write_to_is_refused(mode, place, caplog):
    (place / "hetdp").mkdir(parents=True)
    (place / "hetdp").chmod(mode)
    assert f"other users may write to {place / 'hetdp'}" in refusal_message(caplog)


@pytest.mark.parametrize(("mode", "is_safe"), [(0o700, True), (0o744, True), (0o711, False), (0o755, False)])
def test_a_file_that_others_may_write_to_is_refused_if_they_can_reach_it(mode, is_safe, place):
    (place / "hetdp").mkdir(parents=True)
    (place / "hetdp" / "grow.nbi").touch()
    (place / "hetdp" / "grow.nbi").chmod(0o666)
    (place / "hetdp").chmod(mode)
    assert (compilation.cache_folder() is not None) == is_safe


@pytest.mark.parametrize(("mode", "is_safe"), [(0o777, False), (0o720, False), (0o1777, True), (0o755, True)])
def test_a_folder_above_may_be_written_to_only_if_nobody_can_replace_what_is_in_it(mode, is_safe, place):
    (place / "hetdp").mkdir(parents=True)
    place.chmod(mode)
    assert (compilation.cache_folder() is not None) == is_safe


@pytest.mark.parametrize("which", [".", "..", "cpu_0", "cpu_0/grow.nbi"])
def test_files_of_other_users_are_refused(which, place, caplog, monkeypatch):
    (place / "hetdp" / "cpu_0").mkdir(parents=True)
    (place / "hetdp" / "cpu_0" / "grow.nbi").touch()
    change_owner(place / "hetdp" / which, monkeypatch)
    assert "belongs to another user" in refusal_message(caplog)


@pytest.mark.parametrize("which", ["cpu_0", "cpu_0/grow.nbi"])
def test_links_in_the_folder_are_refused(which, place, tmp_path, caplog):
    (place / "hetdp" / which).parent.mkdir(parents=True)
    (place / "hetdp" / which).symlink_to(tmp_path)
    assert "is a link" in refusal_message(caplog)


def test_a_link_of_another_user_to_a_safe_folder_is_refused(place, tmp_path, caplog, monkeypatch):
    (tmp_path / "safe").mkdir()
    place.symlink_to(tmp_path / "safe")
    change_owner(place, monkeypatch)
    assert "belongs to another user" in refusal_message(caplog)


def test_a_folder_in_the_working_folder_is_refused(monkeypatch, caplog, tmp_path, place):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "cache")
    assert "'cache' would be a folder in the working folder" in refusal_message(caplog)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_reported_and_nothing_else_happens(monkeypatch, caplog, place):
    place.touch()
    assert "NUMBA_CACHE_DIR can name a folder" in refusal_message(caplog)


def test_without_a_folder_functions_are_compiled_all_the_same(place, caplog):
    place.mkdir(mode=0o700)
    place.chmod(0o777)
    found = jit.compile_cached(_twice)
    assert found(21) == 42
    assert found.stats.cache_path is None
    assert list(place.iterdir()) in ([], [place / "hetdp"])
    assert len(caplog.records) == 1


def test_the_settings_of_numba_are_unchanged_and_ignored(place, monkeypatch, tmp_path):
    monkeypatch.setattr(jit.config, "CACHE_DIR", str(tmp_path / "other"))
    if hasattr(jit.config, "CACHE_LOCATOR_CLASSES"):
        monkeypatch.setattr(jit.config, "CACHE_LOCATOR_CLASSES", "evil.Locator")
    before = {name: vars(jit.config).get(name) for name in jit.PLACE_SETTINGS}
    found = jit.compile_cached(_twice)
    assert Path(found.stats.cache_path).parent == place / "hetdp"
    assert {name: vars(jit.config).get(name) for name in jit.PLACE_SETTINGS} == before
    assert found(21) == 42
    assert list((place / "hetdp").glob("*/*.nbi"))
    assert not (tmp_path / "other").exists()


def test_nothing_is_cached_in_a_folder_that_numba_rejects(place, monkeypatch):
    """numba falls back to a folder beside the source, which was not looked at."""
    assert compilation.cache_folder() is not None
    (place / "hetdp").rmdir()
    (place / "hetdp").touch()
    assert jit.compile_cached(_twice).stats.cache_path is None


def _twice(number: int) -> int:
    return 2 * number


PRINT_SETTINGS = """
from hetdp import compilation, jit
print(jit.config.DISABLE_JIT, jit.config.NUMBA_NUM_THREADS, int(jit.config.OPT), compilation.cache_folder())
"""


def run(code: str, folder: Path, **more: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment |= {"PYTHONPATH": str(ROOT / "src"), **more}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_environment_variables_are_obeyed_and_the_settings_file_is_ignored(tmp_path):
    (tmp_path / ".numba_config.yaml").write_text("opt: '0'\ndisable_jit: 1\ncache_dir: here\n")
    own = {"NUMBA_NUM_THREADS": "1", "NUMBA_CACHE_DIR": str(tmp_path / "mine")}
    assert run(PRINT_SETTINGS, tmp_path, **own) == f"0 1 3 {tmp_path / 'mine' / 'hetdp'}"
    assert run(PRINT_SETTINGS, tmp_path, **own, NUMBA_DISABLE_JIT="1", NUMBA_OPT="1").startswith("1 1 1 ")


def test_the_settings_file_is_ignored_during_compilation_too(tmp_path):
    """numba looks for it each time."""
    (tmp_path / ".numba_config.yaml").write_text("opt: '0'\n")
    code = "from hetdp import jit; print(jit.compile_uncached(lambda x: x)(7), int(jit.config.OPT))"
    assert run(code, tmp_path) == "7 3"
    assert run(f"import numba; {code}", tmp_path) == "7 0"


def test_by_default_it_is_the_users_cache_folder(tmp_path):
    (tmp_path / "home").mkdir()
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": ""}
    assert run(PRINT_SETTINGS, tmp_path, **home).endswith(f" {tmp_path}/home/.cache/hetdp")
    assert run(PRINT_SETTINGS, tmp_path, **home | {"XDG_CACHE_HOME": str(tmp_path / "xdg")}).endswith(
        f" {tmp_path}/xdg/hetdp"
    )
    assert run(PRINT_SETTINGS, tmp_path, **home | {"XDG_CACHE_HOME": "relative"}).endswith(
        f" {tmp_path}/home/.cache/hetdp"
    )


def test_a_program_that_imported_numba_before_keeps_its_settings_but_not_for_our_folder(tmp_path):
    (tmp_path / ".numba_config.yaml").write_text(f"opt: '1'\ncache_dir: {tmp_path}/evil\n")
    code = f"import numba\n{PRINT_SETTINGS}print(numba.config.CACHE_DIR)"
    own = {"NUMBA_CACHE_DIR": str(tmp_path / "mine")}
    assert run(code, tmp_path, NUMBA_NUM_THREADS="1", **own).split() == [
        "0",
        "1",
        "1",
        str(tmp_path / "mine" / "hetdp"),
        str(tmp_path / "mine"),
    ]
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "xdg")}
    assert run(code, tmp_path, NUMBA_NUM_THREADS="1", **home).endswith(f"{tmp_path}/xdg/hetdp\n{tmp_path}/evil")


def test_the_settings_file_is_hidden_only_temporarily_and_by_its_bare_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings").touch()
    with ignore_file("settings"), ignore_file("other"):
        assert not os.path.exists("settings")  # noqa: PTH110
        assert os.path.exists(tmp_path / "settings")  # noqa: PTH110
        assert os.path.exists(tmp_path)  # noqa: PTH110
    assert os.path.exists("settings")  # noqa: PTH110
    assert os.path.exists.__module__ == "genericpath"


@pytest.mark.parametrize("given", ["", ":", ".:", "one::two:", None])
def test_the_module_path_does_not_depend_on_the_working_folder_of_a_child(given, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if given is not None:
        monkeypatch.setenv("PYTHONPATH", given)
    environment = python_environment()
    paths = environment["PYTHONPATH"].split(os.pathsep)
    assert paths[0] == str(Path(jit.__file__).parents[1])
    assert all(Path(path).is_absolute() for path in paths)
    assert len(paths) == 1 + len([part for part in (given or "").split(":") if part])
    assert environment["PYTHONSAFEPATH"] == "1"
