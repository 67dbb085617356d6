"""Data frames of other libraries, by duck typing: what a table is, its columns, and their values.

This is the one adapter for pandas, Polars, Arrow and DuckDB objects; none of these libraries is imported.
`files/frames` makes graphs of such tables. `tables/` reads people's tables from them and trusts no cell, so it asks
here only what a table is, and converts its columns itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from hetdp.errors import Fault, InputError, UsageError

FAITHFUL_SQL = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE|VARCHAR")  # what DuckDB hands over as it is
BEYOND_NUMPY = re.compile("decimal|128|256", re.IGNORECASE)  # types of numbers that an array of NumPy would round


def is_pandas(table: Any) -> bool:
    """True for a pandas data frame."""
    return hasattr(table, "iloc")


def is_polars(table: Any) -> bool:
    """True for a Polars data frame."""
    return hasattr(table, "to_arrow") and hasattr(table, "get_column")


def is_lazy_polars(table: Any) -> bool:
    """True for a lazy frame of Polars, which has to be computed first."""
    return hasattr(table, "collect_schema") and hasattr(table, "collect")


def is_arrow(table: Any) -> bool:
    """True for an Arrow table or record batch."""
    return hasattr(table, "validate") and hasattr(table, "select") and hasattr(table, "schema")


def is_relation(table: Any) -> bool:
    """True for a relation of DuckDB."""
    return hasattr(type(table), "fetchnumpy")


def is_held_by_arrow(declared: Any) -> bool:
    """True for the type of a pandas column whose cells Arrow holds."""
    return getattr(declared, "storage", "") == "pyarrow" or type(declared).__name__ == "ArrowDtype"


def is_frame(table: Any) -> bool:
    """True for a data frame, an Arrow table, and a NumPy array with named columns."""
    if isinstance(table, np.ndarray):
        return table.dtype.names is not None
    return hasattr(type(table), "column_names") or hasattr(type(table), "columns")


def column_names(table: Any) -> list[Any] | None:
    """The names of the columns, or None if this is not a table.

    Attributes are looked up on the type: those of a data frame may be columns of that name.
    """
    if isinstance(table, Mapping):
        return list(table)
    if isinstance(table, np.ndarray):
        return list(table.dtype.names) if table.dtype.names else None
    if hasattr(type(table), "collect") or hasattr(type(table), "compute"):
        hint = "collect(), compute() or toPandas() fetches it"
        raise UsageError(f"{type(table).__name__} is a plan for a table", "a table must be in memory", hint)
    for attribute in ("column_names", "columns"):  # in Arrow, `columns` are the columns themselves
        if hasattr(type(table), attribute):
            return list(getattr(table, attribute))
    return None


def plain_column(values: Any) -> Any:
    """A column as an array of numbers, or as a list with None where a value is missing; what is neither stays."""
    if isinstance(values, np.ndarray) or not hasattr(values, "to_numpy"):
        return values
    _require_whole(values)
    gaps = _gaps(values)
    if gaps is not None:
        return [None if gap else value for value, gap in zip(_as_list(values), gaps, strict=True)]
    if BEYOND_NUMPY.search(str(getattr(values, "dtype", getattr(values, "type", "")))):
        return _as_list(values)
    array = values.to_numpy(zero_copy_only=False) if hasattr(values, "to_pylist") else values.to_numpy()
    if array.dtype.kind in "iuf":
        return array
    return array.tolist() if array.dtype.kind == "O" else _as_list(values)  # NumPy's own times would turn into integers


def _require_whole(values: Any) -> None:
    """Refuses Arrow data with offsets or indices out of range: reading it could end the process.

    Raises:
        InputError: it is such.
    """
    data = values.array.__arrow_array__() if is_held_by_arrow(getattr(values, "dtype", None)) else values
    if hasattr(data, "validate") and (hasattr(data, "buffers") or hasattr(data, "chunks")):
        try:
            data.validate(full=True)
        except ValueError as refusal:
            reason = str(refusal).splitlines()[0][:200]
            raise InputError(
                "table", [Fault("broken Arrow data:", "table", reason, "it must be valid Arrow data")]
            ) from None


def _gaps(values: Any) -> Any:
    """Marks missing values, or returns None if there are none: pandas has NA, None and NaN, others have null."""
    for test in ("isna", "is_null"):
        if hasattr(values, test):
            gaps = np.asarray(getattr(values, test)(), dtype=np.bool_)
            return gaps if gaps.ndim == 1 and gaps.any() else None
    return None


def _as_list(values: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def fetch_relation(relation: Any, names: list[str]) -> Mapping[str, Any]:
    """These columns of a DuckDB relation as arrays, masked where null; what it would round is refused."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    for name in names:
        if not FAITHFUL_SQL.fullmatch(types[name]):
            rule = "a DuckDB relation hands over integers, floats and text as they are, other types not"
            raise UsageError(f"column {name!r} is {types[name]}", rule, "relation.to_arrow_table() keeps every value")
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    fetched: Mapping[str, Any] = relation.project(quoted).fetchnumpy()
    return fetched
