"""A folder whose files are one table: all of one kind, with the same columns, one after the other by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hetdp.errors import Fault, InputError, shown
from hetdp.spaces.table.database import locked
from hetdp.spaces.table.formats import comma_separated, parquet
from hetdp.spaces.table.sources import Arrays, Expressions, Queried, require_file, stamp

MAKERS = {".parquet": parquet, ".csv": comma_separated}
PASSED_OVER = (".", "_")  # what other programs leave beside the files, such as _SUCCESS
RULE = (
    "a folder holds the files of one table, all .parquet or all .csv; only names that begin with . or _ are passed over"
)
ALIKE = "all files of a folder have the same columns, of the same types, in the same order"


class Folder(Queried):
    """The files of a folder, which DuckDB scans as one table.

    Args:
        database: a locked connection that can read all of them.
        place: the folder.
        parts: its files, in the order of their names.
        curator: whether messages may say what the reader says.
    """

    def __init__(self, database: Any, place: Path, parts: Sequence[Queried], curator: bool) -> None:
        first = parts[0]
        every = [[bound for part in parts for bound in part.bound]]
        super().__init__(database, first.scan, place.name, None, first.scanned, every, curator)
        self.columns, self._folder, self._parts = first.columns, place, parts

    def read(self, wanted: Expressions, parameters: Sequence[Any] = (), uses: Sequence[str] = ()) -> Arrays:
        """One pass; see `Source`."""
        try:
            return super().read(wanted, parameters, uses)
        except InputError:
            for part in self._parts:  # one of them cannot be read, and says so
                part.read(wanted, parameters, uses)
            raise

    def distinct(self, column: str, most: int) -> list[str] | None:
        """The different texts; see `Source`."""
        try:
            return super().distinct(column, most)
        except InputError:
            for part in self._parts:
                part.distinct(column, most)
            raise

    def row(self, at: int) -> str:
        """The file of a row, and its place there."""
        for part in self._parts:
            length = part.length()
            if at < length:
                return part.row(at)
            at -= length
        return super().row(at)

    @property
    def unchanged(self) -> Any:
        """The files by name, and the stamp of each."""
        return tuple((file.name, *stamp(file)) for file in files_in(self._folder))


@contextmanager
def folder(place: Path, curator: bool = False) -> Iterator[Folder]:
    """The table that the files of a folder are, to be read column by column.

    Args:
        place: the folder.
        curator: whether messages may name rows and values.

    Raises:
        UsageError: a name is none that can be read.
        InputError: the folder has other files, too, or files of another form; the message names the first.
    """
    path = place.absolute()
    files = files_in(path)
    for file in files:
        require_file(file)
    with locked(*map(str, files)) as database:
        parts = [_part(database, file, curator) for file in files]
        for file, part in zip(files, parts, strict=True):
            require_alike(parts[0].columns, part.columns, files[0].name, named(file))
        yield Folder(database, path, parts, curator)


def files_in(place: Path) -> list[Path]:
    """The files of a folder that are its table, in the order of their names.

    Raises:
        InputError: there are none, or others.
    """
    try:
        entries = sorted(entry for entry in place.iterdir() if not entry.name.startswith(PASSED_OVER))
    except OSError:
        raise InputError(place.name, [Fault("cannot be read", place.name, "", "it is a folder of files")]) from None
    if not entries:
        raise InputError(place.name, [Fault("a folder without files", place.name, "", RULE)])
    endings = [entry.suffix.lower() for entry in entries]
    kind = next((ending for ending in endings if ending in MAKERS), "")
    for entry, ending in zip(entries, endings, strict=True):
        if ending != kind or not entry.is_file():
            raise InputError(place.name, [Fault("a stranger:", place.name, shown(entry.name), RULE)])
    return entries


def named(file: Path) -> str:
    """How messages name a file of a folder: there may be many folders with such a file.

    >>> named(Path("data/people/3.csv"))
    'people/3.csv'
    """
    return f"{file.parent.name}/{file.name}"


def require_alike(first: dict[str, str], other: dict[str, str], first_name: str, name: str) -> None:
    """Refuses a file whose columns are not those of the first, by their names and types.

    Raises:
        InputError: naming the file, and the first column that differs.
    """
    ours, theirs = list(first.items()), list(other.items())
    if ours == theirs:
        return
    pairs = enumerate(zip(ours, theirs, strict=False))
    at = next((at for at, (one, two) in pairs if one != two), min(len(ours), len(theirs)))
    expected, found = (shown(" ".join(side[at])[:80] if at < len(side) else "nothing") for side in (ours, theirs))
    what = f"column {at + 1} differs from {shown(first_name)}, which has {expected} there:"
    raise InputError(name, [Fault(what, name, found, ALIKE)])


def _part(database: Any, file: Path, curator: bool) -> Queried:
    found = MAKERS[file.suffix.lower()](database, file, named(file), None, curator)
    assert isinstance(found, Queried)
    return found
