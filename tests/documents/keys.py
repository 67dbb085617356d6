"""The keys that a document contains, and the keys that a page describes in its tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def keys_of(document: Any, above: str = "") -> Iterator[str]:
    """The full name of every key that holds no further object, such as ``error.faults.what``."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from keys_of(value, f"{above}.{key}" if above else key)
    elif isinstance(document, list) and any(isinstance(entry, dict) for entry in document):
        for entry in document:
            yield from keys_of(entry, above)
    else:
        yield above


class DescribedKeys:
    """The tables of a page: for each heading its keys, and the heading that the description of a key may link to."""

    def __init__(self, page: Path) -> None:
        self.tables: dict[str, dict[str, str]] = {}
        self.used: set[tuple[str, str]] = set()
        heading = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                heading = line.lstrip("# ")
            elif row := re.match(r"\| `([^`]+)` (\|.*)\|$", line):
                leads_to = re.search(r"\(#([\w-]+)\)", row[2])
                self.tables.setdefault(heading, {})[row[1].replace("[]", "")] = leads_to[1] if leads_to else ""

    def has(self, heading: str, key: str) -> bool:
        """True if a key is described below a heading, or below the heading that its prefix links to."""
        rows = self.tables[heading]
        for row, leads_to in rows.items():
            name = re.match(re.escape(row).replace(r"\*", r"[^.]+") + r"(?:\.(.*))?$", key)
            if name and (name[1] is None or (leads_to and self.has(self._heading(leads_to), name[1]))):
                self.used.add((heading, row))
                return True
        return any(row.startswith(f"{key}.") for row in rows)  # an empty object whose keys are described

    def unused(self) -> set[tuple[str, str]]:
        """The rows of the tables that no call of `has` has used."""
        return {(heading, row) for heading, rows in self.tables.items() for row in rows} - self.used

    def _heading(self, anchor: str) -> str:
        return next(heading for heading in self.tables if heading.lower().replace(" ", "-") == anchor)
