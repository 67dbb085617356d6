"""How much a dropped file holds, before it is read: a small file can unfold to more than a machine has."""

from __future__ import annotations

import base64
import binascii
import tempfile
from pathlib import Path, PurePosixPath, PureWindowsPath

from hetdp.errors import HetdpError, InputError, UsageError
from hetdp.files.formats.duck import PARQUET, PARQUET_RULE, connection, exactly, kinds_of, quoted_name, refusals
from hetdp.files.problems import read_problem
from hetdp.studio.session import Sheet, sheet_of
from hetdp.text import escape_unprintable

MOST_CELLS = 20_000_000
MOST_TEXT = 256 << 20  # bytes of all labels together
OPENS_ANY = "hetdp studio PROBLEM opens any size"


def require_small(path: Path) -> None:
    """Refuses a Parquet file that unfolds to too much; one that is none is refused when it is read.

    Its footer says how many cells there are. What labels unfold to, it does not say: they are measured, one after the
    other, and none is kept.

    Raises:
        UsageError: it holds too much.
        InputError: it is no Parquet file.
    """
    place = exactly(path)
    with refusals(path.name, PARQUET_RULE), connection() as database:
        (cells,) = database.execute(
            "SELECT coalesce(sum(num_values), 0) FROM parquet_metadata(?)", [[place]]
        ).fetchone()
        _require(int(cells), MOST_CELLS, "cells")
        kinds = {column: kind for column, kind in kinds_of(database, path).items() if "VARCHAR" in kind}
        for column, kind in kinds.items():
            cell = quoted_name(column) if kind == "VARCHAR" else f"CAST({quoted_name(column)} AS VARCHAR)"
            measured = f"SELECT coalesce(sum(strlen({cell})), 0) FROM {PARQUET}"
            _require(int(database.execute(measured, [[place]]).fetchone()[0]), MOST_TEXT, "bytes of labels")


def _require(found: int, most: int, words: str) -> None:
    if found > most:
        raise UsageError(f"a file that holds {found:,} {words}", f"at most {most:,} are dropped; {OPENS_ANY}")


# Files that were dropped on the page: kept apart under names of our own, read once, and gone.


MOST_BYTES = 32 << 20
TOO_LARGE = "files that are too large"
SIZE_RULE = f"at most {MOST_BYTES >> 20} MB are dropped; {OPENS_ANY}"
FILES_RULE = "a problem is one .json file, or edges and datasets as .csv or .parquet, dropped together"


def dropped(names: list[str], contents: list[str]) -> Sheet:
    """A sheet from files that a browser sent as data addresses.

    Raises:
        UsageError: files that are no problem, or too large.
        InputError: listing every fault.
    """
    files = dict(zip(map(_last_part, names), map(_decoded, contents), strict=True))
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
            raise _without(refusal, f"{folder}/", str(folder), next(iter(files))) from None
    title = next(iter(files)) if alone else "dropped tables"
    return sheet_of(escape_unprintable(title)[:80], problem, partial)


def opened(path: str, duplicates: str = "error", positive: str | None = None) -> Sheet:
    """A sheet from what the command line names."""
    problem, partial = read_problem(path, duplicates, positive)
    name = "standard input" if path == "-" else Path(path).name or str(path)
    return sheet_of(escape_unprintable(name)[:80], problem, partial)


def _last_part(name: str) -> str:
    return PureWindowsPath(PurePosixPath(name).name).name or "file"


def _decoded(content: str) -> bytes:
    _, comma, text = content.partition(",")
    if not comma or len(text) > 2 * MOST_BYTES:
        raise UsageError("a file that cannot be read", FILES_RULE)
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise UsageError("a file that cannot be read", FILES_RULE) from None


def _our_name(name: str, count: int) -> str:
    """What a file is called while it is read; its own name says only what kind it is."""
    stem, dot, suffix = name.lower().rpartition(".")
    if suffix == "json" and dot:
        return "problem.json"
    for table, other in (("edges", "datasets"), ("datasets", "edges")):
        if table in stem and suffix in ("csv", "parquet"):
            if count > 1:
                return f"{table}.{suffix}"
            raise UsageError(f"a table of {table} alone: that of {other} is missing", FILES_RULE)
    raise UsageError(f"a file that says neither edges nor datasets: {escape_unprintable(name)[:80]!r}", FILES_RULE)


def _without(refusal: HetdpError, inside: str, folder: str, name: str) -> UsageError:
    """The same refusal, without the place where files were kept."""
    text = str(refusal).replace(f"{inside}problem.json", name).replace(inside, "").replace(folder, "the tables")
    what, _, rest = text.partition("; ")
    if isinstance(refusal, InputError) and refusal.total > 1:
        return UsageError(text, "nothing was opened")
    return UsageError(what, rest.removesuffix(".") or FILES_RULE)
