"""DuckDB, loaded when it is first needed: one database in memory for each process."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from hetdp.interrupts import load_whole

SETTINGS = {
    "autoinstall_known_extensions": "false",  # nothing is ever fetched
    "autoload_known_extensions": "false",
    "disabled_optimizers": "statistics_propagation",  # what a file says of its cells does not stand for them
    "pandas_analyze_sample": "0",  # a column of Python values is text, even if it begins with thousands of Nones
}
BOUNDS = {  # what a worker of a cluster is told by its environment
    "memory_limit": "HETDP_TABLE_MEMORY",
    "temp_directory": "HETDP_TABLE_SPILL",
}


@contextmanager
def connection() -> Iterator[Any]:
    """A connection of its own to a database in memory; what is made on it ends with it."""
    cursor = _database(os.getpid()).cursor()
    try:
        yield cursor
    except load_whole("duckdb").OutOfMemoryException:
        raise MemoryError from None
    except RuntimeError as refusal:
        if "interrupted" in str(refusal):  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from None
        raise
    except (load_whole("duckdb").InternalException, load_whole("duckdb").FatalException):
        forget()  # a fault within DuckDB, such as a broken file can cause, ends its database for everybody
        raise
    finally:
        cursor.close()


@cache
def _database(process: int) -> Any:
    """One database for each process: to make one takes longer than to read a small file, and a fork must not share."""
    said = {setting: os.environ[name] for setting, name in BOUNDS.items() if name in os.environ}
    if "temp_directory" not in said:
        said["temp_directory"] = _spill_folder(process)
    return load_whole("duckdb").connect(":memory:", config=SETTINGS | said)


def _spill_folder(process: int) -> str:
    """A folder of its own for what does not fit in memory; DuckDB would take, or make, .tmp in the working folder."""
    try:
        folder = tempfile.mkdtemp(prefix="hetdp-spill-")
    except OSError:
        return ""  # nothing is put down anywhere
    atexit.register(_remove, folder, process)
    return folder


def _remove(folder: str, process: int) -> None:
    """Removes the folder of a process when that process ends; a forked child has one of its own."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def forget() -> None:
    """Lets the next connection begin with a new database."""
    _database.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=forget)  # a child must not end with threads that it does not have
