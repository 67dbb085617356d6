"""numba, and the folder in which it keeps what it compiled. Nothing else in hetdp imports numba.

numba reads settings from a file in the working folder. They may name another cache folder, and what lies in a cache
folder is unpickled: whoever writes there can run anything. So that file is overlooked, the folder is chosen here, and
it is used only if nobody but this user, or root, can have written to it. Variables of the environment are the user's
own, and keep their meaning: ``NUMBA_CACHE_DIR`` names another folder, which has to be as safe.
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

from hetdp.isolation import overlooked
from hetdp.text import escape_unprintable

SETTINGS_FILE = ".numba_config.yaml"  # which numba looks for in the working folder
FOLDER = "hetdp"  # in the user's cache folder, or in NUMBA_CACHE_DIR
PLACE_SETTINGS = ("CACHE_DIR", "CACHE_LOCATOR_CLASSES")  # by which numba chooses a folder
SHARED = stat.S_IWGRP | stat.S_IWOTH
HINT = "NUMBA_CACHE_DIR can name a folder that only you may write to"

_was_loaded = "numba" in sys.modules
with overlooked(SETTINGS_FILE):
    import numba
    from numba.core import cgutils, config, types
    from numba.extending import intrinsic
if not _was_loaded:  # else it is the settings of somebody's own program
    config._config_fname = os.devnull  # numba looks again whenever it compiles

__all__ = ["cache_folder", "cgutils", "compiled", "intrinsic", "is_off", "kept", "types"]

_lock = threading.Lock()
Function = Callable[..., Any]


def is_off() -> bool:
    """Whether functions run as plain Python (``NUMBA_DISABLE_JIT=1``)."""
    return bool(vars(config)["DISABLE_JIT"])


def compiled(function: Function, **options: Any) -> Function:
    """A function, compiled when it is first called."""
    found: Function = numba.njit(**options)(function)
    return found


def kept(function: Function, **options: Any) -> Function:
    """A function, compiled when it is first called, and kept on disk if there is a safe folder for it."""
    folder = None if is_off() else cache_folder()
    if folder is None:
        return compiled(function, **options)
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
        return compiled(function, **options)
    chosen: Function = found
    return chosen


@cache
def cache_folder() -> str | None:
    """Where compiled functions are kept: a folder that is this user's alone; None if there is none, which is logged."""
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
    words = "compiled functions are not kept on disk, so every run compiles them again"
    logging.getLogger("hetdp").warning("%s: %s. Hint: %s", words, escape_unprintable(fault), HINT)
    return None


def _base() -> Path:
    """The folder that the user names, or the one that the system has for caches of this user."""
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
    """Makes a folder and those above it, for this user alone."""
    if not folder.is_dir():
        if folder.parent != folder:
            _make(folder.parent)
        folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)


def fault_of(folder: Path) -> str:
    """Why the files of a folder may be somebody else's; empty if only this user, or root, can have written them."""
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
    is_reached = real.stat().st_mode & (stat.S_IXGRP | stat.S_IXOTH)  # else it does not matter what others may do below
    for entry in real.rglob("*"):
        with suppress(FileNotFoundError):  # another process renames what it has written
            found = entry.lstat()
            if found.st_uid not in trusted or not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
                return f"{entry} is a link, or belongs to somebody else"
            if is_reached and found.st_mode & SHARED:
                return f"others may write to {entry}"
    return ""


def _renew() -> None:
    """In a forked child: whichever thread of the parent held the lock does not live here to release it."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
