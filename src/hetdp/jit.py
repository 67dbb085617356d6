"""numba and its settings. No other module of hetdp imports numba.

numba reads settings from a file in the working folder. They may name another cache folder, and numba unpickles the
files of its cache folder: anyone who can write there can run code. So this module ignores the settings file and
chooses the cache folder (`compilation.cache_folder`). Environment variables belong to the user and keep their meaning.

Whenever a function of hetdp is compiled, this module says so: to the log, to the progress bar, and in a notebook.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hetdp import progress
from hetdp.compilation import LOG, cache_folder
from hetdp.isolation import ignore_file

SETTINGS_FILE = ".numba_config.yaml"  # which numba looks for in the working folder
PLACE_SETTINGS = ("CACHE_DIR", "CACHE_LOCATOR_CLASSES")  # locators with which numba chooses a cache folder

_was_loaded = "numba" in sys.modules
with ignore_file(SETTINGS_FILE):
    import numba
    from numba.core import cgutils, config, event, types
    from numba.extending import intrinsic
if not _was_loaded:  # otherwise the settings belong to the program that imports hetdp
    config._config_fname = os.devnull  # numba looks again whenever it compiles

__all__ = ["cgutils", "compile_cached", "compile_uncached", "intrinsic", "is_off", "types"]

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


def _renew_lock() -> None:
    """Replaces the lock in a forked child: the thread that held it exists in the parent only."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


# Announcements --------------------------------------------------------------------------------------------------------

PURPOSES = {"certificate": "the proof", "engines": "the search", "problem": "the building of graphs"}  # by package


class _Announcer(event.Listener):  # type: ignore[misc] # numba is not followed by mypy
    """Says what is compiled, since it takes seconds; callees, which numba compiles within, are left out."""

    def __init__(self) -> None:
        self._depth, self._before = 0, ""

    def on_start(self, one: Any) -> None:
        self._depth += 1
        function = one.data["dispatcher"].py_func
        package, _, rest = function.__module__.partition(".")
        if self._depth == 1 and package == "hetdp" and rest:
            purpose = PURPOSES.get(rest.partition(".")[0], "a calculation")
            self._before = progress.current_stage()
            progress.explain_wait(f"compiling {purpose} (only once)")
            LOG.info("compiling %s (%s), which takes some seconds; later runs reuse it", purpose, function.__name__)

    def on_end(self, one: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._before:
            progress.report_stage(self._before)
            self._before = ""


event.register("numba:compile", _Announcer())  # numba's own lock keeps these calls apart
