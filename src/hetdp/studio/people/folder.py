"""The opened folder: the only place where the page for tables reads and writes files.

A file is named without a folder. Paths to other folders, hidden names and links are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hetdp.errors import UsageError
from hetdp.tables.formats import OPENERS
from hetdp.text import escape_unprintable, format_value

PLAN, LEDGER, RECORD, PAGE = ".json", ".ledger", ".json", ".html"
LONGEST_NAME = 120  # characters
MOST_LISTED = 200  # files of one kind
NAME_RULE = "a file is named by its name alone, and lies in the opened folder"
FIRST_BYTES = 1000  # of a document, which say whether it is a plan
_is_plan = re.compile(r'"kind":\s*"plan"').search
FORBIDDEN = frozenset('/\\:*?"<>|')


def is_plan(place: Path) -> bool:
    """True if a document begins like a plan."""
    try:
        with place.open("rb") as file:
            return _is_plan(file.read(FIRST_BYTES).decode("utf-8", "replace")) is not None
    except OSError:
        return False


@dataclass(frozen=True)
class OpenedFolder:
    """A folder whose files the page may read and write.

    Attributes:
        path: the folder.
    """

    path: Path

    @property
    def name(self) -> str:
        """Its name, for the page."""
        return escape_unprintable(self.path.name or str(self.path))

    @property
    def whole_path(self) -> str:
        """Its whole path, for somebody who must find it."""
        return escape_unprintable(str(self.path))

    def tables(self) -> list[str]:
        """The names of the files that may be tables."""
        return self._names(tuple(OPENERS))

    def folders(self) -> list[str]:
        """The names of the folders in it, each of which may be a table in several files."""
        return sorted(
            entry.name
            for entry in self.path.iterdir()
            if entry.is_dir() and not entry.is_symlink() and not entry.name.startswith(".")
        )[:MOST_LISTED]

    def plans(self) -> list[str]:
        """The names of the files that are plans, by their first bytes."""
        return [name for name in self._names((PLAN,)) if is_plan(self.path / name)]

    def ledgers(self) -> list[str]:
        """The names of the files that may be ledgers."""
        return self._names((LEDGER,))

    def existing(self, name: str, suffixes: tuple[str, ...]) -> Path:
        """The path of a file that exists.

        Raises:
            UsageError: there is no such plain file in the folder.
        """
        place = self.place(name, suffixes)
        if place.is_symlink() or not place.is_file():
            raise UsageError(f"there is no file {format_value(name)}", NAME_RULE)
        return place

    def place(self, name: str, suffixes: tuple[str, ...]) -> Path:
        """The path of a file that may be written, or exists.

        Raises:
            UsageError: the name is a path or hidden, has another suffix, or belongs to a link or a folder.
        """
        wanted = name.strip()
        if not wanted:
            raise UsageError("the name of a file is missing", f"its name ends in {' or '.join(suffixes)}")
        if wanted != escape_unprintable(wanted) or FORBIDDEN & set(wanted) or wanted.startswith((".", "-", "~")):
            raise UsageError(f"the name {format_value(name)}", NAME_RULE, "letters, digits, spaces, - and _")
        if len(wanted) > LONGEST_NAME:
            raise UsageError(f"a name of {len(wanted)} characters", f"a name has at most {LONGEST_NAME}")
        if not wanted.lower().endswith(suffixes) or wanted.lower() in suffixes:
            raise UsageError(f"the name {format_value(name)}", f"its name ends in {' or '.join(suffixes)}")
        place = self.path / wanted
        if place.parent != self.path or place.is_symlink() or (place.exists() and not place.is_file()):
            raise UsageError(f"the name {format_value(name)}", NAME_RULE, "links and folders are not used")
        return place

    def place_to_save(self, name: str, suffix: str) -> Path:
        """The path of a file that is to be written; a name without a suffix gets one.

        Raises:
            UsageError: as by `place`.
        """
        typed = name.strip()
        return self.place(f"{typed}{suffix}" if typed and "." not in typed else typed, (suffix,))

    def free_name(self, stem: str, suffix: str) -> str:
        """A name that no file has yet."""
        kept = "".join(one if one.isalnum() or one in "-_" else "-" for one in stem).strip("-_")
        base = kept[: LONGEST_NAME - 20] or "people"
        number, name = 1, f"{base}{suffix}"
        while (self.path / name).exists() or (self.path / name).is_symlink():
            number += 1
            name = f"{base}-{number}{suffix}"
        return name

    def _names(self, suffixes: tuple[str, ...]) -> list[str]:
        return sorted(self._names_of_kind(suffixes))[:MOST_LISTED]

    def _names_of_kind(self, suffixes: tuple[str, ...]) -> Iterator[str]:
        try:
            for entry in self.path.iterdir():
                plain = not entry.name.startswith(".") and entry.name == escape_unprintable(entry.name)
                if plain and entry.suffix.lower() in suffixes and entry.is_file() and not entry.is_symlink():
                    yield entry.name
        except OSError:
            return
