"""Descriptions of tables of people: their format, sheets and columns, and what each column may be used for.

No cell is read, except those of a column that the caller declares public.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hetdp.duck import quote_name
from hetdp.errors import UsageError
from hetdp.numbers import parse_whole
from hetdp.tables import kinds
from hetdp.tables.conditions import require_columns
from hetdp.tables.dialect import FileOptions
from hetdp.tables.formats import list_sheets
from hetdp.tables.policy import NAME_KINDS
from hetdp.tables.sources import open_source
from hetdp.text import format_value, pluralize

EPSILON_KINDS = (kinds.WHOLE, kinds.NUMBER, kinds.TEXT)
USES = {  # use → the kinds of columns that may have it
    "person": (kinds.TEXT, kinds.WHOLE),
    "group": NAME_KINDS,
    "level": NAME_KINDS,
    "area": NAME_KINDS,
    "epsilon": EPSILON_KINDS,
    "counted": (kinds.TEXT, kinds.WHOLE, kinds.NUMBER, kinds.TRUTH, kinds.MOMENT),
}


@dataclass(frozen=True)
class ColumnDescription:
    """A column of a table, by its name and declared type.

    Attributes:
        name: its name.
        kind: what it holds, by its declared type: ``"text"``, ``"whole numbers"``, ``"numbers"``, ``"true or false"``,
            ``"dates"`` or ``"other things"``. All columns of CSV, Excel and SQLite files hold text.
        uses: what it may be used for: ``"person"``, ``"group"``, ``"level"``, ``"area"``, ``"epsilon"``, ``"counted"``.
    """

    name: str
    kind: str
    uses: tuple[str, ...]


@dataclass(frozen=True)
class PublicValues:
    """The values of a public column.

    Attributes:
        counts: value → number of rows; the most frequent first.
        distinct: the number of different values, including those that are not listed.
        missing: the number of rows without a value.
    """

    counts: dict[str, int]
    distinct: int
    missing: int


@dataclass(frozen=True)
class TableDescription:
    """A table of people as it is, before anything is asked. `describe_table` makes it.

    Attributes:
        name: the name of the file, without its folder.
        form: its format in words, with what was found about it; empty if a sheet must be chosen first.
        sheets: the sheets of an Excel file, or the tables of an SQLite file; hidden sheets are left out.
        sheet: the sheet or table that is described; None if the file is one table, or if one must be chosen first.
        encoding: the encoding of a CSV file; None for other files.
        delimiter: what separates the columns of a CSV file; None for other files.
        rows: the number of rows; None if a sheet must be chosen first.
        columns: the columns, in the order of the table.
    """

    name: str
    form: str
    sheets: tuple[str, ...]
    sheet: str | None
    encoding: str | None
    delimiter: str | None
    rows: int | None
    columns: tuple[ColumnDescription, ...]
    _table: Any = field(default=None, repr=False, compare=False)
    _options: FileOptions = field(default=FileOptions(), repr=False, compare=False)

    def __str__(self) -> str:
        if self.rows is None:
            return (
                f"{self.name} has {pluralize(len(self.sheets), 'sheet')}: {', '.join(map(format_value, self.sheets))}"
            )
        lines = [f"{self.name}: {self.form}, {pluralize(self.rows, 'row')}, {pluralize(len(self.columns), 'column')}"]
        return "\n".join(lines + [f"  {format_value(one.name)}: {one.kind}" for one in self.columns])

    def count_public_values(self, column: str, most: int = 100) -> PublicValues:
        """The values of a column that the caller knows to be public, and how many rows have each.

        Never ask for a column that will be counted: what this returns is as private as the column.

        Args:
            column: its name.
            most: the largest number of values that are listed.

        Raises:
            UsageError: there is no such column, or its cells cannot all be read.
            InputError: the table cannot be read.
        """
        parse_whole(most, "most", 1)
        with open_source(self._table, self._options) as source:
            require_columns([column], source.columns)
            if kinds.kind_of(source.columns[column]) == kinds.OTHER:
                rule = "the column must have a type whose cells can all be read"
                raise UsageError(f"the column {format_value(column)} holds {kinds.OTHER}", rule)
            wanted = {"value": kinds.text_or_empty(column), "missing": f"({quote_name(column)} IS NULL)"}
            found = source.read(wanted, uses=[column])
        counted = Counter(found["value"][~found["missing"]].tolist())
        listed = sorted(counted.items(), key=lambda one: (-one[1], one[0]))[:most]
        return PublicValues(dict(listed), len(counted), int(found["missing"].sum()))


def describe_table(
    table: Any, *, sheet: str | None = None, encoding: str | None = None, delimiter: str | None = None
) -> TableDescription:
    """Describes a table of people: its format, its columns, and what each may be used for.

    Only the header row and the number of rows are looked at; nothing in the result depends on any other cell.

    Args:
        table: the table, as `ask` takes it.
        sheet: the sheet of an Excel file, or the table of an SQLite file. If there are several and none is named, the
            description lists them and has no columns.
        encoding: the encoding of a CSV file; found in its first bytes if not named.
        delimiter: what separates the columns of a CSV file; found in its header row if not named.

    Raises:
        UsageError: no format is known for the file, or an argument is for another format.
        InputError: the table cannot be read.

    >>> import hetdp, pandas
    >>> people = pandas.DataFrame({"id": [1, 2, 3], "role": ["a", "b", "a"], "vote": ["yes", "no", "no"]})
    >>> print(hetdp.describe_table(people))
    the table: pandas.DataFrame, 3 rows, 3 columns
      'id': whole numbers
      'role': text
      'vote': text
    >>> hetdp.describe_table(people).count_public_values("role").counts
    {'a': 2, 'b': 1}
    """
    options = FileOptions(sheet, encoding, delimiter)
    sheets = list_sheets(table) if isinstance(table, str | Path) else ()
    if len(sheets) > 1 and sheet is None:
        return TableDescription(Path(table).name, "", sheets, None, None, None, None, (), table, options)
    with open_source(table, options) as source:
        return TableDescription(
            source.name,
            source.form,
            sheets,
            source.sheet,
            source.options.encoding,
            source.options.delimiter,
            source.length(),
            tuple(_describe(name, kinds.kind_of(declared)) for name, declared in source.columns.items()),
            table,
            options,
        )


def _describe(name: str, kind: str) -> ColumnDescription:
    return ColumnDescription(name, kind, tuple(use for use, fitting in USES.items() if kind in fitting))
