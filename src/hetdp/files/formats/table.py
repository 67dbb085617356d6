"""A table as it was read (columns by name, and how messages name a row), and what a format of tables offers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.duck import distinct_texts, encode_texts, fetch_columns, quote_name
from hetdp.errors import Fault, FaultCollector
from hetdp.files.schema import ENDS, INTEGER, JSON, LABEL_RULE, LABELS, TEXT
from hetdp.text import format_value

INTEGER_TEXT = "0|-?[1-9][0-9]{0,4000}"
DEEPEST_NESTING = 20  # lists within lists that a label may be


class Categorical(Sequence[Any]):
    """A column of a large table in which cells repeat: each cell is a number that stands for one of the categories.

    What is done to a text is then done once, not once for each cell that holds it.

    >>> column = Categorical(np.array([1, 0, 1]), ["a", "b"])
    >>> column[0], column.tolist()
    ('b', ['b', 'a', 'b'])
    """

    def __init__(self, codes: NDArray[np.int32], categories: Sequence[Any]) -> None:
        self.codes, self.categories = codes, categories

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, at: Any) -> Any:
        return self.categories[self.codes[at]]

    def tolist(self) -> list[Any]:
        """The cells as Python values."""
        return list(map(self.categories.__getitem__, self.codes.tolist()))

    def convert(self, convert: Callable[[Sequence[Any], FaultCollector], Any], findings: FaultCollector) -> Any:
        """Converts the categories; if one of them is at fault, converts cell by cell, so that messages name each cell.

        Args:
            convert: converts values, and reports those that are at fault by their position.
            findings: what it reports to.

        Returns:
            A column of the converted categories, or an array of the cells if the categories become an array.
        """
        found = FaultCollector("")
        converted = convert(self.categories, found)
        if found.total:
            return convert(self.tolist(), findings)
        return converted[self.codes] if isinstance(converted, np.ndarray) else Categorical(self.codes, converted)


def read_texts(database: Any, columns: list[str], likely: Sequence[Any] | None) -> dict[str, Any]:
    """Columns of text of the table ``sheet`` of a connection, None where a cell is empty.

    Labels of datasets are a list, since they all differ; columns whose cells repeat are `Categorical`.

    Args:
        database: the connection.
        columns: the names of the columns.
        likely: what most ends of edges hold; None if that is unknown.
    """
    ends = [column for column in columns if column in ENDS and likely is not None]
    found = (
        {
            column: Categorical(*encoded)
            for column, encoded in zip(ends, encode_texts(database, ends, likely), strict=True)
        }
        if ends
        else {}
    )
    for column in (column for column in columns if column not in ends):
        if column in LABELS:
            values = fetch_columns(database, f"SELECT {quote_name(column)} AS value FROM sheet")["value"]
            found[column] = values.tolist()  # a masked array gives None where a cell is empty
        else:
            found[column] = Categorical(*encode_texts(database, [column], distinct_texts(database, column))[0])
    return found


class Table(NamedTuple):
    """Columns of equal length.

    Attributes:
        name: how messages name the table.
        columns: by name; lists of Python values with None where nothing stands, arrays, or `Categorical` columns.
        length: how many rows there are.
        row: how messages name a row.
    """

    name: str
    columns: dict[str, Any]
    length: int
    row: Callable[[int], str]

    def label_column(self, name: str, findings: FaultCollector, kind: str = TEXT) -> Any:
        """A column of labels: lists become tuples, which can be looked up, and texts what the file says they are."""
        column = self.columns[name]
        if isinstance(column, Categorical):
            return column.convert(lambda values, faults: self._labels(name, values, faults, kind), findings)
        return self._labels(name, column, findings, kind)

    def _labels(self, name: str, column: Any, findings: FaultCollector, kind: str) -> Any:
        if isinstance(column, np.ndarray) and column.dtype.kind in "iu" and not np.ma.is_masked(column):
            return np.asarray(column)
        values = column.tolist() if isinstance(column, np.ndarray) else column
        kinds = set(map(type, values))
        if kind == JSON:
            return [self._of_json(name, at, value, findings) for at, value in enumerate(values)]
        if kinds == {str}:
            return self._integers(name, values, findings) if kind == INTEGER else values
        if kinds == {int}:
            return values
        if kind == INTEGER:
            values = list(map(_integer, values))
        return [self._label(name, at, value, findings) for at, value in enumerate(values)]

    def _integers(self, name: str, values: list[str], findings: FaultCollector) -> Any:
        try:
            numbers = list(map(int, values))
            if list(map(str, numbers)) == values:
                return numbers
        except ValueError:
            pass
        wrong = next(at for at, text in enumerate(values) if not re.fullmatch(INTEGER_TEXT, text))
        rule = "the file says that its labels are integers"
        findings.add(Fault("not an integer:", f"{self.row(wrong)}, {name}", format_value(values[wrong]), rule))
        return values

    def _of_json(self, name: str, at: int, value: Any, findings: FaultCollector) -> Any:
        """The label whose JSON a cell contains."""
        try:
            found = json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            rule = "the file says that each of its labels is JSON"
            findings.add(Fault("not JSON:", f"{self.row(at)}, {name}", format_value(value), rule))
            return value
        return self._label(name, at, found, findings)

    def _label(self, name: str, at: int, value: Any, findings: FaultCollector, depth: int = 0) -> Any:
        if isinstance(value, list) and value and depth < DEEPEST_NESTING:
            return tuple(self._label(name, at, part, findings, depth + 1) for part in value)
        if value is None:
            findings.add(Fault("missing label", f"{self.row(at)}, {name}", "", LABEL_RULE))
        elif isinstance(value, bool) or not isinstance(value, (str, int, float)):
            findings.add(Fault("label", f"{self.row(at)}, {name}", format_value(value), LABEL_RULE))
            return None
        return value

    def class_column(self, findings: FaultCollector, kind: str = TEXT) -> Any:
        """The classes of edges, None where an edge has none; None if there is no such column."""
        column = self.columns.get("class")
        if column is None:
            return None
        if isinstance(column, Categorical):
            return column.convert(lambda values, faults: self._classes(values, faults, kind), findings)
        return self._classes(column, findings, kind)

    def _classes(self, column: Any, findings: FaultCollector, kind: str) -> Any:
        values = column.tolist() if isinstance(column, np.ndarray) else column
        if kind == JSON:
            return [
                None if value is None else self._of_json("class", at, value, findings)
                for at, value in enumerate(values)
            ]
        if kind == INTEGER:
            return [value if value is None else _integer(value) for value in values]
        if set(map(type, values)) <= {str, int, type(None)}:
            return values
        return [None if value is None else self._label("class", at, value, findings) for at, value in enumerate(values)]

    def number_column(self, name: str) -> Any:
        """A column of numbers, NaN (or None) where a cell is empty; None if the column is missing."""
        column = self.columns.get(name)
        if isinstance(column, np.ma.MaskedArray):
            return column.filled(np.nan)
        return column

    def flags(self, name: str, findings: FaultCollector) -> Any:
        """A column of true and false, or yes and no; all false if the column is missing."""
        column = self.columns.get(name)
        if column is None:
            return np.zeros(self.length, dtype=np.bool_)
        if isinstance(column, np.ndarray) and column.dtype == np.bool_ and not isinstance(column, np.ma.MaskedArray):
            return column
        if isinstance(column, Categorical):
            return column.convert(lambda values, faults: self._flags(name, values, faults), findings)
        return self._flags(name, column, findings)

    def _flags(self, name: str, column: Any, findings: FaultCollector) -> NDArray[np.bool_]:
        values = column.tolist() if isinstance(column, np.ndarray) else column
        flags = [FLAGS.get(str(value).lower()) if isinstance(value, (bool, int, str)) else None for value in values]
        for at in (at for at, flag in enumerate(flags) if flag is None):
            where, rule = f"{self.row(at)}, {name}", "it must be true or false, yes or no, or 1 or 0"
            findings.add(Fault("neither true nor false:", where, format_value(values[at]), rule))
        return np.array(flags, dtype=np.bool_)


FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


def _integer(value: Any) -> Any:
    """The integer that is printed as this text."""
    return int(value) if isinstance(value, str) and re.fullmatch(INTEGER_TEXT, value) else value


def row_of(name: str) -> Any:
    """The name of a row in messages: the first one below the header is row 1."""
    return lambda at: f"{name} row {at + 1}"


class TableFormat(NamedTuple):
    """The functions that read and write the tables of one format; `registry.FORMATS` lists them by suffix.

    Attributes:
        read: the table in a file. Its arguments are the path, the name for messages, the columns to keep, True if
            labels are said to be integers, and the labels that the ends of edges probably have, None if unknown.
        write: writes columns to a path.
        read_metadata: what was written beside the table, as a document; empty for a table made elsewhere.
        write_with_metadata: writes columns and a document beside them, whole or not at all.
        is_text: True if cells are text, so that the document must say which labels are integers.
        metadata_file: the file beside the table that holds the document; None if the table itself does.
    """

    read: Callable[[Path, str, tuple[str, ...], bool, Sequence[Any] | None], Table]
    write: Callable[[Path, dict[str, Any]], None]
    read_metadata: Callable[[Path, str], dict[str, Any]]
    write_with_metadata: Callable[[Path, dict[str, Any], dict[str, Any]], None]
    is_text: bool
    metadata_file: Callable[[Path], Path | None]
