"""numba and its cache folder. No other module of hetdp imports numba.

numba reads settings from a file in the working folder. They may name another cache folder, and numba unpickles the
files of its cache folder: anyone who can write there can run code. So this module ignores the settings file and
chooses the cache folder. It uses the folder only if nobody but this user or root can have written to it. Environment
variables belong to the user and keep their meaning: ``NUMBA_CACHE_DIR`` names another folder, which has to be as safe.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from hetdp.isolation import ignore_file
from hetdp.text import escape_unprintable

SETTINGS_FILE = ".numba_config.yaml"  # which numba looks for in the working folder
FOLDER = "hetdp"  # in the user's cache folder, or in NUMBA_CACHE_DIR
PLACE_SETTINGS = ("CACHE_DIR", "CACHE_LOCATOR_CLASSES")  # by which numba chooses a folder
SHARED = stat.S_IWGRP | stat.S_IWOTH
HINT = "NUMBA_CACHE_DIR can name a folder that only you may write to"

_was_loaded = "numba" in sys.modules
with ignore_file(SETTINGS_FILE):
    import numba
    from numba.core import cgutils, config, types
    from numba.extending import intrinsic
if not _was_loaded:  # otherwise the settings belong to the program that imports hetdp
    config._config_fname = os.devnull  # numba looks again whenever it compiles

__all__ = ["cache_folder", "cgutils", "compile_cached", "compile_uncached", "intrinsic", "is_off", "types"]

_lock = threading.Lock()
Function = Callable[..., Any]


def is_off() -> bool:
    """True if functions run as plain Python (``NUMBA_DISABLE_JIT=1``)."""
    return bool(vars(config)["DISABLE_JIT"])


def compile_uncached(function: Function, **options: Any) -> Function:
    """Returns a function that numba compiles when it is first called, in every process anew."""
    found: Function = numba.njit(**options)(function)
    return found


def compile_cached(function: Function, **options: Any) -> Function:
    """Returns a function that numba compiles when it is first called and caches on disk, if there is a safe folder."""
    folder = None if is_off() else cache_folder()
    if folder is None:
        return compile_uncached(function, **options)
    with _lock:  # numba asks for these when a function is decorated, and never again
        before = {name: vars(config)[name] for name in PLACE_SETTINGS if name in vars(config)}
        vars(config).update(dict.fromkeys(before, "") | {"CACHE_DIR": folder})
        try:
            found = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # it cannot write there
            found = None
        finally:
            vars(config).update(before)
    if found is None or Path(found.stats.cache_path).parent != Path(folder):  # numba has chosen another one
        return compile_uncached(function, **options)
    chosen: Function = found
    return chosen


@cache
def cache_folder() -> str | None:
    """The folder for compiled functions, which belongs to this user alone; None, with a warning, if there is none."""
    try:
        folder = _base() / FOLDER
        _make(folder)
        fault = fault_of(folder)
        if not fault:
            folder.chmod(stat.S_IRWXU)  # numba's own files and folders follow the umask
            return str(folder.resolve())
    except OSError as refusal:
        fault = f"{refusal.strerror}: {refusal.filename}"
    except (RuntimeError, ValueError) as refusal:  # no home folder, or one that is no path
        fault = str(refusal)
    words = "compiled functions are not cached on disk, so every run compiles them again"
    logging.getLogger("hetdp").warning("%s: %s. Hint: %s", words, escape_unprintable(fault), HINT)
    return None


def _base() -> Path:
    """The folder that the user names, or the cache folder of this user on this system."""
    said, xdg = os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME", "")
    if said:
        found = Path(said)
    elif sys.platform == "win32":
        found = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        found = Path.home() / "Library" / "Caches"
    else:
        found = Path(xdg) if Path(xdg).is_absolute() else Path.home() / ".cache"
    if not found.is_absolute():
        raise ValueError(f"{str(found)!r} would be a folder in the working folder")
    return found


def _make(folder: Path) -> None:
    """Makes a folder and its parents, accessible to this user only."""
    if not folder.is_dir():
        if folder.parent != folder:
            _make(folder.parent)
        folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)


def fault_of(folder: Path) -> str:
    """Why others may have written to a folder; empty if only this user or root can have done so."""
    if not hasattr(os, "geteuid"):  # Windows: a profile is its user's own
        return ""
    trusted, real = {0, os.geteuid()}, folder.resolve()
    for place in (real, *real.parents, folder, *folder.parents):
        found = place.lstat()
        if found.st_uid not in trusted:
            return f"{place} belongs to somebody else"
        is_sticky = found.st_mode & stat.S_ISVTX and place != real  # others may add files there, but replace none
        if found.st_mode & SHARED and not is_sticky and not stat.S_ISLNK(found.st_mode):
            return f"others may write to {place}"
    is_reached = real.stat().st_mode & (stat.S_IXGRP | stat.S_IXOTH)  # otherwise others cannot reach what lies below
    for entry in real.rglob("*"):
        with suppress(FileNotFoundError):  # another process has renamed its file
            found = entry.lstat()
            if found.st_uid not in trusted or not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
                return f"{entry} is a link, or belongs to somebody else"
            if is_reached and found.st_mode & SHARED:
                return f"others may write to {entry}"
    return ""


def _renew_lock() -> None:
    """Replaces the lock in a forked child: the thread that held it exists in the parent only."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
