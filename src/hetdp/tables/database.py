"""DuckDB for a table of people: a database of its own in memory, locked before the first row is read.

It may read the files that it was opened for, write nothing, fetch nothing, and change no setting.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from hetdp.errors import Fault, HetdpError, InputError
from hetdp.interrupts import import_uninterrupted
from hetdp.tables.comparison import add_functions

SETTINGS = {
    "autoinstall_known_extensions": "false",  # nothing is ever fetched
    "autoload_known_extensions": "false",
    "disabled_optimizers": "statistics_propagation,row_group_pruner",  # what a file says of its cells decides nothing
    "pandas_analyze_sample": "0",  # a column of Python values is text, whatever the first thousands of them are
    "temp_directory": "",  # nothing of the table is put down anywhere
}
RULE = "the table is a well-formed file that can be read"
MEMORY = "HETDP_TABLE_MEMORY"  # by which a worker of a cluster is told how much memory it may take
INTERRUPTED = "Query interrupted"  # what DuckDB makes of Ctrl-C
HINT = "curator=True shows what the reader says, which may name rows and values"


@contextmanager
def locked_connection(*paths: str | None) -> Iterator[Any]:
    """A connection that can read some files, or none, and nothing else.

    Args:
        paths: the files, as they will be named in queries; None where Python objects will be registered.
    """
    bound = {"memory_limit": os.environ[MEMORY]} if MEMORY in os.environ else {}
    database = import_uninterrupted("duckdb").connect(":memory:", config=SETTINGS | bound)
    try:
        allowed = [quote_text(path) for path in paths if path is not None]
        if allowed:
            database.execute(f"SET allowed_paths = [{', '.join(allowed)}]")
        database.execute("SET enable_external_access = false")
        database.execute("SET lock_configuration = true")
        add_functions(database)
        yield database
    finally:
        database.close()


@contextmanager
def hide_details(name: str, curator: bool) -> Iterator[None]:
    """What DuckDB refuses, always in the same words: its own may name rows and values, and are for the curator only."""
    duckdb = import_uninterrupted("duckdb")
    try:
        yield
    except HetdpError:
        raise
    except (duckdb.OutOfMemoryException, MemoryError):
        if MEMORY in os.environ:  # a worker of a cluster, which was given little; others may have more
            raise MemoryError from None
        rule = "what a table says of its own size is true, and fits into memory"
        raise InputError(name, [Fault("takes more memory than there is", name, "", rule)]) from None
    except (duckdb.Error, RuntimeError, ValueError, LookupError, OverflowError) as refusal:
        words = str(refusal)
        if isinstance(refusal, duckdb.InterruptException) or words == INTERRUPTED:
            raise KeyboardInterrupt from None
        told = next((line for line in words.splitlines() if line.strip()), "")[:200] if curator else ""
        fault = Fault("cannot be read" + (":" if told else ""), name, told, RULE, "" if curator else HINT)
        raise InputError(name, [fault]) from None


def define_enum(database: Any, kind: str, names: Sequence[str]) -> None:
    """Makes a type whose values are these texts, in their order."""
    database.register("names", {"name": np.array([*names], dtype=object)})
    database.execute(f"DROP TYPE IF EXISTS {quote_name(kind)}")
    database.execute(f"CREATE TYPE {quote_name(kind)} AS ENUM (SELECT name FROM names)")
    database.unregister("names")


def quote_name(name: str) -> str:
    """A name in a query.

    >>> identifier('a "b" c')
    '"a ""b"" c"'
    """
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text in a query, where a parameter cannot stand."""
    return "'" + text.replace("'", "''") + "'"
