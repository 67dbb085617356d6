"""Documents from files: from those that are dropped on the page, and from the path on the command line.

Dropped files are written to a temporary folder under fixed names, read once, and deleted. A small Parquet file can
unpack to more than the memory of the machine, so its contents are measured before it is read.
"""

from __future__ import annotations

import base64
import binascii
import tempfile
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Literal

from hetdp.duck import connection, exact_path, quote_name, report_faults
from hetdp.errors import HetdpError, InputError, UsageError
from hetdp.files.formats.parquet import PARQUET, PARQUET_RULE, kinds_of
from hetdp.files.formats.registry import DOCUMENT, FORMATS, TABLE_SUFFIXES
from hetdp.files.problems import read_problem
from hetdp.studio.session import Document, new_document
from hetdp.studio.state import with_saved_state
from hetdp.text import escape_unprintable

MOST_CELLS = 20_000_000
MOST_TEXT = 256 << 20  # bytes of all labels
OPENS_ANY = "hetdp studio PROBLEM opens any size"


def require_small(path: Path) -> None:
    """Refuses a Parquet file that unpacks to too much.

    The footer gives the number of cells. It does not give the size of the unpacked labels, so these are measured
    one after the other, without being stored.

    Raises:
        UsageError: the file holds too much.
        InputError: it is not a Parquet file.
    """
    place = exact_path(path)
    with report_faults(path.name, PARQUET_RULE), connection() as database:
        (cells,) = database.execute(
            "SELECT coalesce(sum(num_values), 0) FROM parquet_metadata(?)", [[place]]
        ).fetchone()
        _require(int(cells), MOST_CELLS, "cells")
        kinds = {column: kind for column, kind in kinds_of(database, path).items() if "VARCHAR" in kind}
        for column, kind in kinds.items():
            cell = quote_name(column) if kind == "VARCHAR" else f"CAST({quote_name(column)} AS VARCHAR)"
            measured = f"SELECT coalesce(sum(strlen({cell})), 0) FROM {PARQUET}"
            _require(int(database.execute(measured, [[place]]).fetchone()[0]), MOST_TEXT, "bytes of labels")


def _require(found: int, most: int, words: str) -> None:
    if found > most:
        raise UsageError(f"a file that holds {found:,} {words}", f"a dropped file holds at most {most:,}; {OPENS_ANY}")


MOST_BYTES = 32 << 20
TOO_LARGE = "files that are too large"
SIZE_RULE = f"dropped files have at most {MOST_BYTES >> 20} MB; {OPENS_ANY}"
FILES_RULE = f"a problem is one {DOCUMENT} file, or edges and datasets as {TABLE_SUFFIXES}, dropped together"


def document_from_files(names: list[str], contents: list[str]) -> Document:
    """The document of files that a browser sent as data URLs.

    Raises:
        UsageError: files that are not a problem, or too large.
        InputError: listing every fault.
    """
    files = dict(zip(map(_last_part, names), map(_decode, contents), strict=True))
    if sum(map(len, files.values())) > MOST_BYTES:
        raise UsageError(TOO_LARGE, SIZE_RULE)
    with tempfile.TemporaryDirectory(prefix="hetdp-studio-") as folder:
        place = Path(folder)
        given = {_our_name(name, len(files)): content for name, content in files.items()}
        if len(given) < len(files):
            raise UsageError("two files for one table", FILES_RULE)
        for name, content in given.items():
            (place / name).write_bytes(content)
        alone = len(files) == 1
        try:
            for name in given:
                if name.endswith(".parquet"):
                    require_small(place / name)
            problem, partial = read_problem(place / "problem.json" if alone else place)
        except HetdpError as refusal:
            raise _without_path(refusal, f"{folder}/", str(folder), next(iter(files))) from None
    title = next(iter(files)) if alone else "dropped tables"
    document = new_document(escape_unprintable(title)[:80], problem, partial)
    return with_saved_state(document, files[title], document.name) if alone else document


def document_from_path(
    path: str, duplicates: Literal["error", "min"] = "error", positive: str | None = None
) -> Document:
    """The document of a path on the command line."""
    problem, partial = read_problem(path, duplicates, positive)
    name = "standard input" if path == "-" else Path(path).name or str(path)
    document = new_document(escape_unprintable(name)[:80], problem, partial)
    return with_saved_state(document, Path(path).read_bytes(), document.name) if Path(path).is_file() else document


def _last_part(name: str) -> str:
    return PureWindowsPath(PurePosixPath(name).name).name or "file"


def _decode(content: str) -> bytes:
    _, comma, text = content.partition(",")
    if not comma or len(text) > 2 * MOST_BYTES:
        raise UsageError("a file that cannot be read", FILES_RULE)
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise UsageError("a file that cannot be read", FILES_RULE) from None


def _our_name(name: str, count: int) -> str:
    """The fixed name of a file while it is read; its own name only says what kind it is."""
    stem, dot, suffix = name.lower().rpartition(".")
    if suffix == "json" and dot:
        return "problem.json"
    for table, other in (("edges", "datasets"), ("datasets", "edges")):
        if table in stem and f".{suffix}" in FORMATS:
            if count > 1:
                return f"{table}.{suffix}"
            raise UsageError(f"the table of {other} is missing", FILES_RULE)
    raise UsageError(
        f"a file whose name contains neither edges nor datasets: {escape_unprintable(name)[:80]!r}", FILES_RULE
    )


def _without_path(refusal: HetdpError, inside: str, folder: str, name: str) -> UsageError:
    """The same refusal, without the path of the temporary folder."""
    text = str(refusal).replace(f"{inside}problem.json", name).replace(inside, "").replace(folder, "the tables")
    what, _, rest = text.partition("; ")
    if isinstance(refusal, InputError) and refusal.total > 1:
        return UsageError(text, "nothing was opened")
    return UsageError(what, rest.removesuffix(".") or FILES_RULE)
