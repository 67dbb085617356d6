"""Compiled functions: the folder that keeps them, whether they are ready, and the process that compiles them.

numba compiles the search for a notion of privacy in some ten seconds, once for each machine. Until that has been done,
problems of moderate size take the *plain path*, in Python and NumPy, with the same results, and a background process
compiles meanwhile (`precompile.py`). When it is done, it leaves a note in the cache folder. This module does not import
numba, which takes as long to load as a small search.

numba unpickles the files of its cache folder: anyone who can write there can run code. So the folder is used only if
nobody but this user or root can have written to it. Environment variables belong to the user: ``NUMBA_CACHE_DIR`` names
another folder, which has to be as safe, and ``HETDP_COMPILE=now`` does without plain path and background process.

No process is started from a child of `multiprocessing` (workers of a pool, of Dask), from a frozen program, with the
compiler switched off (``NUMBA_DISABLE_JIT``), or without a usable cache folder. Functions are then compiled at once.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import platform
import stat
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from hetdp.isolation import python_command, python_environment
from hetdp.text import escape_unprintable

TYPE_CHECKING = False

if TYPE_CHECKING:
    from subprocess import Popen

LOG = logging.getLogger("hetdp")

# The cache folder -----------------------------------------------------------------------------------------------------

FOLDER = "hetdp"  # in the user's cache folder, or in NUMBA_CACHE_DIR
SHARED_WRITE = stat.S_IWGRP | stat.S_IWOTH
HINT = "NUMBA_CACHE_DIR can name a folder that only you may write to"


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
    except (RuntimeError, ValueError) as refusal:  # no home folder, or one that is not a path
        fault = str(refusal)
    words = "compiled functions are not cached on disk, so every run compiles them again"
    LOG.warning("%s: %s. Hint: %s", words, escape_unprintable(fault), HINT)
    return None


def _base() -> Path:
    """The folder that the user names, or the cache folder of this user on this system."""
    numba_folder, xdg = os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME", "")
    if numba_folder:
        found = Path(numba_folder)
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
            return f"{place} belongs to another user"
        is_sticky = found.st_mode & stat.S_ISVTX and place != real  # others may add files there, but replace none
        if found.st_mode & SHARED_WRITE and not is_sticky and not stat.S_ISLNK(found.st_mode):
            return f"other users may write to {place}"
    is_reached = real.stat().st_mode & (stat.S_IXGRP | stat.S_IXOTH)  # otherwise others cannot reach what lies below
    for entry in real.rglob("*"):
        with suppress(FileNotFoundError):  # another process has renamed its file
            found = entry.lstat()
            if found.st_uid not in trusted or not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
                return f"{entry} is a link, or belongs to another user"
            if is_reached and found.st_mode & SHARED_WRITE:
                return f"other users may write to {entry}"
    return ""


# What is compiled -----------------------------------------------------------------------------------------------------

BUILDING = "building graphs"  # groups of functions; each search of a notion is another one
SUMS = "proving sums"
DIRECTIONS = "proving directions"
MOST_UNCOMPILED = 2_200_000  # arcs of a graph; with more, waiting for the compiler is shorter than the plain path
COMPILED_IN = ("certificate", "engines", "problem", "theory")  # packages with functions that are compiled

_in_use: set[str] = set()


def uses_compiled(functions: str, size: int) -> bool:
    """Decides whether compiled functions do some work, or the plain path does. It imports and starts nothing.

    Functions that this process uses stay in use. Others are used if they are ready, if the work is too large for the
    plain path, or if no background process may compile them.

    Args:
        functions: the group of functions.
        size: the number of arcs or datasets that they would go through.
    """
    if functions in _in_use or size > MOST_UNCOMPILED or is_ready(functions) or not may_compile_later():
        _in_use.add(functions)
        return True
    return False


def use_compiled(functions: str) -> None:
    """Records that this process uses a group of functions, whether they are ready or not."""
    _in_use.add(functions)


def is_ready(functions: str) -> bool:
    """True if a note says that a group of functions has been compiled and stored."""
    folder = _notes()
    return folder is not None and (folder / functions.replace(" ", "-")).exists()


def note_compiled() -> None:
    """Notes that all functions in use have been compiled and stored; for the process that has just run them."""
    folder = _notes()
    if folder is not None:
        folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)
        for functions in _in_use:
            (folder / functions.replace(" ", "-")).touch(mode=stat.S_IRUSR | stat.S_IWUSR)


@cache
def _notes() -> Path | None:
    """The folder of the notes that hold for these sources, libraries and processor; None without a cache folder."""
    folder = cache_folder()
    return None if folder is None else Path(folder, f"compiled-{_stamp()}")


def _stamp() -> str:
    """A digest of what numba compares before it takes a function from its cache, and of its version."""
    package = Path(__file__).parent
    sources = [path for name in COMPILED_IN for path in sorted((package / name).rglob("*.py"))]
    libraries = [Path(spec.origin) for spec in map(find_spec, ("numba", "llvmlite")) if spec and spec.origin]
    parts = [sys.version, platform.machine(), _processor()]
    parts += [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("NUMBA_CPU")]
    for path in (*sources, *libraries):
        found = path.stat()
        parts.append(f"{path} {found.st_mtime_ns} {found.st_size}")
    return hashlib.sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:16]


def _processor() -> str:
    """The instructions that the processor knows, where the system tells them."""
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:  # noqa: PTH123
        return next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return platform.processor()


# The background process -----------------------------------------------------------------------------------------------

SWITCH_VARIABLE = "HETDP_COMPILE"
LOCK = "compiling.lock"
PROGRAM = Path(__file__).with_name("precompile.py")

_processes: dict[str, Popen[bytes]] = {}
_lock = threading.Lock()
_refused: list[OSError] = []
_announced_notions: set[str] = set()


def may_compile_later() -> bool:
    """True if a background process may be started, as the docstring of the module says."""
    if os.environ.get(SWITCH_VARIABLE, "") not in ("", "background") or _refused or _is_disabled():
        return False
    if not sys.executable or getattr(sys, "frozen", False):
        return False
    pools = sys.modules.get("multiprocessing")
    return (pools is None or pools.parent_process() is None) and cache_folder() is not None


def _is_disabled() -> bool:
    """True if ``NUMBA_DISABLE_JIT`` makes compiled functions run as plain Python."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0").strip() not in ("", "0")


def compile_later(notion: str) -> None:
    """Lets a background process compile all functions for a notion, unless one is compiling something already.

    Nobody waits for it. It goes on when this process ends; it writes to the cache folder only, and prints nothing.

    Args:
        notion: the key of the notion.
    """
    folder = cache_folder()
    if folder is None:
        return
    with _lock:
        if notion not in _announced_notions:
            _announced_notions.add(notion)
            words = "compiling the search for %s in the background, once; until it is ready, searches are slower"
            LOG.info(words, notion)
        if notion in _processes or any(process.poll() is None for process in _processes.values()):
            return
        try:
            held = hold_lock()
            if held is None:
                return
            os.close(held)
            _processes[notion] = _start(notion, folder)
        except OSError as refusal:
            _refused.append(refusal)
            LOG.info("no background process can be started (%s); functions are compiled at once", refusal)


def _start(notion: str, folder: str) -> Popen[bytes]:
    import subprocess  # needed nowhere else

    nowhere = subprocess.DEVNULL
    detached = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
    return subprocess.Popen(
        python_command(str(PROGRAM), notion),
        env=python_environment() | {SWITCH_VARIABLE: "now", "PYTHONWARNINGS": ""},
        cwd=folder,
        stdin=nowhere,
        stdout=nowhere,
        stderr=nowhere,
        start_new_session=True,  # Ctrl-C and the end of a terminal are not meant for it
        creationflags=detached,  # the same on Windows
    )


def hold_lock() -> int | None:
    """A file descriptor that holds the lock of the compiling process until it is closed; None if another holds it.

    Raises:
        OSError: there is no cache folder, or it cannot hold a lock.
    """
    place = os.open(Path(cache_folder() or os.devnull, LOCK), os.O_RDWR | os.O_CREAT, stat.S_IRUSR | stat.S_IWUSR)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(place, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the latter on Windows
        os.close(place)
        return None
    except OSError:
        os.close(place)
        raise
    return place


def _detach_processes(processes: Iterable[Popen[bytes]]) -> None:
    """Detaches running processes when this one ends; without an exit code, Python would warn about them."""
    for process in processes:
        if process.poll() is None:
            process.returncode = 0


atexit.register(_detach_processes, _processes.values())


def _renew_after_fork() -> None:
    """Replaces the lock in a forked child, and forgets the processes, which are its parent's."""
    global _lock
    _lock = threading.Lock()
    _detach_processes(_processes.values())
    _processes.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
