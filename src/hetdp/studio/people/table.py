"""The opened table: its columns, the role of each, and the values of public columns.

No cell of a column is read unless the steward has called the column public; it cannot be counted afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hetdp.errors import UsageError
from hetdp.tables.description import ColumnDescription, PublicValues, TableDescription, describe_table
from hetdp.text import format_value

PERSON, PUBLIC, COUNTED = "person", "public", "counted"
ROLES = {PERSON: "identifies each person", PUBLIC: "public", COUNTED: "private, to be counted"}
USES_OF_ROLE = {PERSON: ("person",), PUBLIC: ("group", "level", "area", "epsilon"), COUNTED: ("counted",)}
MOST_SHOWN = 12  # values of a public column on the page
MOST_NAMES = 40  # values of a column of groups or levels, each of which has a field of its own
SEEN_RULE = "what is counted is private, and this page has shown the values of this column"


@dataclass
class OpenedTable:
    """A table of people, and the roles that the steward gives its columns.

    Attributes:
        path: its file or folder.
        description: its format and columns.
        roles: column → its role; columns that are not used are left out.
        seen: the columns whose values the page has shown.
        counted: the columns that are counted by a plan that was saved.
    """

    path: Path
    description: TableDescription
    roles: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)
    _values: dict[str, PublicValues] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[ColumnDescription, ...]:
        """The columns, in the order of the table."""
        return self.description.columns

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.description.rows or 0

    @property
    def options(self) -> dict[str, str]:
        """How the file is read, as arguments of `ask`: what the steward has chosen, where there is a choice."""
        chosen = self.description
        found = {"sheet": chosen.sheet if len(chosen.sheets) > 1 else None}
        return {name: value for name, value in found.items() if value is not None} | self._typed

    _typed: dict[str, str] = field(default_factory=dict)

    def kind(self, column: str) -> str:
        """The kind of a column; empty if there is no such column."""
        return next((one.kind for one in self.columns if one.name == column), "")

    def roles_of(self, column: ColumnDescription) -> dict[str, str]:
        """The roles that a column may have, with their words."""
        return {role: words for role, words in ROLES.items() if set(USES_OF_ROLE[role]) & set(column.uses)}

    def set_role(self, column: str, role: str) -> None:
        """Sets the role of a column.

        Raises:
            UsageError: the column cannot be that; or its values have been shown and it is counted, or the reverse.
        """
        described = next((one for one in self.columns if one.name == column), None)
        if described is None or (role and role not in self.roles_of(described)):
            raise UsageError(f"the column {format_value(column)}", "it cannot be used like that")
        if role == COUNTED and column in self.seen:
            hint = "open the table again if it was called public by mistake"
            raise UsageError(f"the column {format_value(column)} was called public", SEEN_RULE, hint)
        if role == PUBLIC and column in self.counted:
            rule = "what is counted is private, and stays so after the plan was saved"
            raise UsageError(f"the column {format_value(column)} is counted by a plan that was saved", rule)
        self.roles.pop(column, None)
        if role == PERSON:
            self.roles = {one: given for one, given in self.roles.items() if given != PERSON}
        if role:
            self.roles[column] = role

    def with_role(self, role: str, use: str = "") -> list[str]:
        """The columns that have a role, and may have a use, in the order of the table."""
        return [one.name for one in self.columns if self.roles.get(one.name) == role and (not use or use in one.uses)]

    @property
    def person(self) -> str:
        """The column that identifies people; empty if none does."""
        return next(iter(self.with_role(PERSON)), "")

    def values(self, column: str) -> PublicValues:
        """The values of a column that was called public, with how many rows have each.

        Raises:
            UsageError: it was not called public, or it cannot be read.
            InputError: the table cannot be read.
        """
        if self.roles.get(column) != PUBLIC:
            raise UsageError(f"the column {format_value(column)}", "only the values of public columns are shown")
        if column not in self._values:
            self.seen.add(column)
            self._values[column] = self.description.count_public_values(column, MOST_NAMES)
        return self._values[column]

    def names(self, column: str) -> list[str]:
        """The values of a public column in alphabetical order, if each of them can have a field.

        Raises:
            UsageError: there are too many, or somebody has none.
            InputError: the table cannot be read.
        """
        found = self.values(column)
        if found.distinct > MOST_NAMES:
            rule = f"groups and levels have at most {MOST_NAMES} different values here"
            raise UsageError(f"the column {format_value(column)} has {found.distinct:,} different values", rule)
        if found.missing:
            rule = "each person must have a group and a level; an empty cell is not a name"
            raise UsageError(f"{found.missing:,} people have no value in the column {format_value(column)}", rule)
        return sorted(found.counts)


def open_table(path: Path, options: dict[str, Any]) -> OpenedTable:
    """Opens a table; only its header and its number of rows are read.

    Args:
        path: its file or folder.
        options: how it is read: sheet, encoding, delimiter.

    Raises:
        UsageError: no format is known for the file.
        InputError: it cannot be read.
    """
    typed = {name: value for name, value in options.items() if value}
    return OpenedTable(path, describe_table(path, **typed), _typed=typed)
