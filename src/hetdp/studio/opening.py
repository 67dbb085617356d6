"""Files that were dropped on the page: kept apart under names of our own, read once, and gone."""

from __future__ import annotations

import base64
import binascii
import tempfile
from pathlib import Path, PurePosixPath, PureWindowsPath

from hetdp.errors import HetdpError, InputError, UsageError, printable
from hetdp.files.problems import read_problem
from hetdp.studio.bounds import OPENS_ANY, require_small
from hetdp.studio.sheets import Sheet, sheet_of

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
    return sheet_of(printable(title)[:80], problem, partial)


def opened(path: str, duplicates: str = "error", positive: str | None = None) -> Sheet:
    """A sheet from what the command line names."""
    problem, partial = read_problem(path, duplicates, positive)
    name = "standard input" if path == "-" else Path(path).name or str(path)
    return sheet_of(printable(name)[:80], problem, partial)


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
    raise UsageError(f"a file that says neither edges nor datasets: {printable(name)[:80]!r}", FILES_RULE)


def _without(refusal: HetdpError, inside: str, folder: str, name: str) -> UsageError:
    """The same refusal, without the place where files were kept."""
    text = str(refusal).replace(f"{inside}problem.json", name).replace(inside, "").replace(folder, "the tables")
    what, _, rest = text.partition("; ")
    if isinstance(refusal, InputError) and refusal.total > 1:
        return UsageError(text, "nothing was opened")
    return UsageError(what, rest.removesuffix(".") or FILES_RULE)
