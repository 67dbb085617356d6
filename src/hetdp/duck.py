"""DuckDB: the one module that loads it, for files of problems and for tables of people.

`connection` gives a connection to a database that the process shares, for files that are public: problems, pins and
mechanisms. `locked_connection` gives a database that nobody else uses meanwhile, for a table of people: it is locked
before the first row is read, may read the files that it was opened for, writes nothing, fetches nothing, and cannot
change a setting.
`report_faults` and `hide_details` turn what DuckDB raises into errors of hetdp: the first with DuckDB's reason, the
second without it, since it may name rows and values. `files/` and `tables/` import this module; it imports errors only.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, HetdpError, InputError
from hetdp.interrupts import delay_interrupts

SETTINGS = {
    "autoinstall_known_extensions": "false",  # nothing is ever fetched
    "autoload_known_extensions": "false",
    "disabled_optimizers": "statistics_propagation",  # do not trust statistics in file metadata
    "pandas_analyze_sample": "0",  # a column of Python values is text, even if it begins with thousands of Nones
}
LOCKED_SETTINGS = SETTINGS | {
    "disabled_optimizers": "statistics_propagation,row_group_pruner",  # do not trust file metadata
    "temp_directory": "",  # nothing of the table is written to disk
    "enable_external_file_cache": "false",  # nor kept in memory for the next query, which reads the file again
}
MOST_IDLE = 4  # locked databases that wait for the same files to be opened again
MEMORY = "HETDP_TABLE_MEMORY"  # variables of the environment that limit a worker of a cluster
LIMITS = {"memory_limit": MEMORY, "temp_directory": "HETDP_TABLE_SPILL"}
INTERRUPTED = "Query interrupted"  # DuckDB's words for Ctrl-C
TABLE_RULE = "the table must be a well-formed file"
CURATOR_HINT = "curator=True shows what the reader says, which may name rows and values"


def load() -> Any:
    """The library, loaded when it is first needed."""
    with delay_interrupts():
        import duckdb
    return duckdb


def version() -> str:
    """The version of DuckDB, for workers to compare."""
    return f"DuckDB {load().__version__}"


# Files that are public ------------------------------------------------------------------------------------------------


@contextmanager
def connection() -> Iterator[Any]:
    """A new connection to an in-memory database; its objects are dropped when it closes."""
    cursor = _database(os.getpid()).cursor()
    try:
        yield cursor
    except load().OutOfMemoryException:
        raise MemoryError from None
    except RuntimeError as refusal:
        if "interrupted" in str(refusal):  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from None
        raise
    except (load().InternalException, load().FatalException):
        reset_databases()  # a fault within DuckDB, such as a broken file can cause, ends its database for everybody
        raise
    finally:
        cursor.close()


@cache
def _database(process: int) -> Any:
    """One database per process, because creating one is slower than reading a small file, and forks cannot share it."""
    limits = {setting: os.environ[name] for setting, name in LIMITS.items() if name in os.environ}
    if "temp_directory" not in limits:
        limits["temp_directory"] = _spill_folder(process)
    return load().connect(":memory:", config=SETTINGS | limits)


def _spill_folder(process: int) -> str:
    """A private temporary folder for data that does not fit in memory.

    DuckDB's default would be .tmp in the working folder.
    """
    try:
        folder = tempfile.mkdtemp(prefix="hetdp-spill-")
    except OSError:
        return ""  # nothing is written to disk
    atexit.register(_remove, folder, process)
    return folder


def _remove(folder: str, process: int) -> None:
    """Removes the folder of a process when that process ends; a forked child has one of its own."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def reset_databases() -> None:
    """Lets the next connection begin with a new database."""
    _database.cache_clear()
    while _idle:
        _idle.popitem()[1].close()


atexit.register(reset_databases)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=reset_databases)  # a forked child must not join threads of its parent


@contextmanager
def report_faults(name: str, rule: str) -> Iterator[None]:
    """Raises what DuckDB cannot read as an InputError, with the first line of its reason."""
    try:
        yield
    except HetdpError:
        raise
    except (load().Error, RuntimeError, ValueError, LookupError, OverflowError) as refusal:
        raise InputError(name, [_fault_of(str(refusal), name, rule)]) from None


def _fault_of(words: str, name: str, rule: str) -> Fault:
    """DuckDB's complaint without its advice, which is about its own settings."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    row = re.search(r"CSV Error on Line: (\d+)", words)
    if row:
        reason = next((line for line in lines if line.startswith(("Expected Number", "Value with", "Invalid uni"))), "")
        return Fault("cannot be read:", f"{name} row {int(row[1]) - 1}", reason.rstrip("."), rule)
    if not lines:
        return Fault("cannot be read", name, "", rule)
    return Fault("cannot be read:", name, lines[0].partition("Error: ")[2][:200].rstrip(".") or lines[0][:200], rule)


def fetch_columns(database: Any, query: str, parameters: Sequence[Any] = ()) -> dict[str, Any]:
    """The result of a query as arrays by column, in the order of the rows.

    All threads compute it as a whole. `execute` would hand over one piece at a time, which takes twice as long for
    millions of rows. All rows of earlier results of `execute` on this connection must have been fetched.
    """
    found: dict[str, Any] = database.sql(query, params=list(parameters)).fetchnumpy()
    return found


def encode_texts(database: Any, columns: Sequence[str], texts: Any) -> list[tuple[NDArray[np.int32], list[Any]]]:
    """Columns of text of the table ``sheet`` as numbers, without a Python object for each cell.

    Args:
        database: the connection that has the table.
        columns: the names of the columns.
        texts: what most cells hold; each text is numbered by its place here. What other cells hold is appended.

    Returns:
        For each column the number of every cell, and the texts that the numbers stand for, None for an empty cell.
    """
    given = np.fromiter(texts, dtype=object, count=len(texts))
    database.register("given", {"text": given, "place": np.arange(len(given), dtype=np.int32)})
    database.execute("CREATE OR REPLACE TEMP TABLE known AS SELECT text, min(place) AS place FROM given GROUP BY text")
    database.unregister("given")
    quoted = [quote_name(column) for column in columns]
    cells = ", ".join(f"coalesce(known_{at}.place, -1) AS place_{at}" for at in range(len(quoted)))
    joins = " ".join(
        f"LEFT JOIN known AS known_{at} ON sheet.{column} IS NOT DISTINCT FROM known_{at}.text"
        for at, column in enumerate(quoted)
    )
    found = fetch_columns(database, f"SELECT sheet.rowid AS at, {cells} FROM sheet {joins}")
    encoded = []
    for at, column in enumerate(quoted):
        numbers = np.empty(len(found["at"]), dtype=np.int32)
        numbers[found["at"]] = found[f"place_{at}"]  # a join returns rows in any order
        every = given.tolist()
        if numbers.min(initial=0) < 0:
            other = f"FROM sheet ANTI JOIN known ON sheet.{column} IS NOT DISTINCT FROM known.text"
            place_of: dict[Any, int] = {}
            for row, text in database.execute(f"SELECT rowid, {column} {other} ORDER BY rowid").fetchall():
                numbers[row] = place_of.setdefault(text, len(every) + len(place_of))
            every += place_of
        encoded.append((numbers, every))
    return encoded


def distinct_texts(database: Any, column: str) -> list[Any]:
    """The distinct cells of a column of the table ``sheet``, in the order in which they first appear."""
    query = f"SELECT {quote_name(column)} FROM sheet GROUP BY ALL ORDER BY min(rowid)"
    return [text for (text,) in database.execute(query).fetchall()]


def exact_path(path: Path) -> str:
    """A path in which brackets, stars and question marks are escaped: DuckDB would read them as patterns."""
    return re.sub(r"([*?[])", r"[\1]", str(path))


def write_columns(path: Path, columns: dict[str, Any], options: str) -> None:
    """Writes columns, by name, to a file; `options` are those of COPY.

    Raises:
        OSError: the file cannot be written.
    """
    cells = ", ".join(f"{_text_cell(column, values)} AS {quote_name(column)}" for column, values in columns.items())
    command = f"COPY (SELECT {cells} FROM sheet) TO {quote_text(str(path))} ({options})"
    duckdb = load()
    try:
        _run_on(columns, command)
    except duckdb.IOException as refusal:
        raise OSError(5, str(refusal).rpartition(": ")[2]) from None
    except (duckdb.Error, RuntimeError):
        reset_databases()  # a database that has served thousands of tables was seen to fail once, inside
        try:
            _run_on(columns, command)
        except (duckdb.Error, RuntimeError) as refusal:  # the latter for names that are no Unicode
            raise OSError(5, str(refusal).rpartition(": ")[2]) from None


def _run_on(columns: dict[str, Any], command: str) -> None:
    with connection() as database:
        database.register("sheet", columns)
        database.execute(command)


def _text_cell(column: str, values: Any) -> str:
    return f"CAST({quote_name(column)} AS VARCHAR)" if values.dtype == object else quote_name(column)


# Tables of people -----------------------------------------------------------------------------------------------------


@contextmanager
def locked_connection(*paths: str | None, prepare: Callable[[Any], None] | None = None) -> Iterator[Any]:
    """A connection that can read some files, or none, and nothing else.

    To make a database takes longer than to read a small table, and a table is opened several times for one question.
    So a database waits for the next use with the same files, unless there was an error. Nothing that a use has made or
    registered is left for the next one.

    Args:
        paths: the files, as they will be named in queries; None where Python objects will be registered.
        prepare: what adds functions to a new database.
    """
    key = (os.environ.get(MEMORY), paths, prepare)
    database = _idle.pop(key, None) or _make_locked(paths, prepare)
    try:
        with closing(database.cursor()) as cursor:
            yield cursor
    except BaseException:
        database.close()
        raise
    twin = _idle.pop(key, None)  # of a use at the same time
    oldest = _idle.pop(next(iter(_idle), None), None) if len(_idle) >= MOST_IDLE else None
    _idle[key] = database
    for one in (twin, oldest):
        if one is not None:
            one.close()


_idle: dict[Any, Any] = {}  # the locked databases that nobody uses, the last used at the end


def _make_locked(paths: Sequence[str | None], prepare: Callable[[Any], None] | None) -> Any:
    limit = {"memory_limit": os.environ[MEMORY]} if MEMORY in os.environ else {}
    database = load().connect(":memory:", config=LOCKED_SETTINGS | limit)
    try:
        if prepare is not None:
            prepare(database)
        allowed = [quote_text(path) for path in paths if path is not None]
        if allowed:
            database.execute(f"SET allowed_paths = [{', '.join(allowed)}]")
        database.execute("SET enable_external_access = false")
        database.execute("SET lock_configuration = true")
    except BaseException:
        database.close()
        raise
    return database


@contextmanager
def hide_details(name: str, curator: bool) -> Iterator[None]:
    """Raises what DuckDB refuses as an InputError in fixed words; DuckDB's own words, which may name rows, if asked."""
    duckdb = load()
    try:
        yield
    except HetdpError:
        raise
    except (duckdb.OutOfMemoryException, MemoryError):
        if MEMORY in os.environ:  # a worker of a cluster, which was given little; others may have more
            raise MemoryError from None
        rule = "the size that a table declares must be true and fit into memory"
        raise InputError(name, [Fault("needs more memory than is available", name, "", rule)]) from None
    except (duckdb.Error, RuntimeError, ValueError, LookupError, OverflowError) as refusal:
        words = str(refusal)
        if isinstance(refusal, duckdb.InterruptException) or words == INTERRUPTED:
            raise KeyboardInterrupt from None
        raise InputError(name, [unreadable_fault(name, words, curator)]) from None


def unreadable_fault(name: str, words: str, curator: bool, what: str = "cannot be read") -> Fault:
    """The fault of a table that a reader refuses. Only a curator sees the reader's words, which may name rows."""
    first_line = next((line for line in words.splitlines() if line.strip()), "")[:200] if curator else ""
    return Fault(what + (":" if first_line else ""), name, first_line, TABLE_RULE, "" if curator else CURATOR_HINT)


def define_enum(database: Any, kind: str, names: Sequence[str]) -> None:
    """Makes a type whose values are these texts, in their order; it ends with the connection."""
    database.register("names", {"name": np.array([*names], dtype=object)})
    database.execute(f"DROP TYPE IF EXISTS {quote_name(kind)}")
    database.execute(f"CREATE TEMP TYPE {quote_name(kind)} AS ENUM (SELECT name FROM names)")
    database.unregister("names")


# SQL ------------------------------------------------------------------------------------------------------------------


def quote_name(name: str) -> str:
    """A name in a query.

    >>> quote_name('a "b" c')
    '"a ""b"" c"'
    """
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text in a query, where a parameter cannot stand."""
    return "'" + text.replace("'", "''") + "'"
