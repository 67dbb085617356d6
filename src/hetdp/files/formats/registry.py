"""The formats of files by suffix: the one table for readers and writers of problems, pins and mechanisms.

To add a format of tables, write a module in this package with a `FORMAT` (see `TableFormat`) and add a line below. JSON
is not a format of tables: a problem, pins or a mechanism is one document there. Tables of people have their own
readers, in `hetdp.tables.formats`, which never trust a file.
"""

from __future__ import annotations

from pathlib import Path

from hetdp.documents import require_path
from hetdp.errors import UsageError
from hetdp.files.formats import csv_files, parquet
from hetdp.files.formats.table import TableFormat
from hetdp.text import ask_if_meant, closest

DOCUMENT = ".json"
FORMATS: dict[str, TableFormat] = {
    ".csv": csv_files.FORMAT,
    ".parquet": parquet.FORMAT,
}
SUFFIXES = (DOCUMENT, *FORMATS)
TABLE_SUFFIXES = " or ".join(FORMATS)  # for messages


def suffix_of(path: str | Path) -> str:
    """The suffix of a path, which determines its format.

    Raises:
        UsageError: no format has it.
    """
    suffix = require_path(path).suffix.lower()
    if suffix not in SUFFIXES:
        rule, hint = f"the name ends in {', '.join(SUFFIXES)}", "- is JSON on standard input or output"
        raise UsageError(f"no format is known for {str(path)!r}", rule, ask_if_meant(closest(suffix, SUFFIXES)) or hint)
    return suffix


def require_folder_name(path: str | Path) -> None:
    """Refuses a suffix in the name of a new folder: it is more likely the misspelt suffix of a JSON file.

    Raises:
        UsageError: the name has a suffix, and there is no such folder yet.
    """
    place = require_path(path)
    if place.suffix and not place.is_dir():
        rule = f"the name ends in {DOCUMENT}, or is that of a folder, which has no suffix"
        raise UsageError(
            f"no format is known for {str(path)!r}", rule, ask_if_meant(closest(place.suffix, (DOCUMENT,)))
        )
