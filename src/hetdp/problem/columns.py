"""What callers pass: columns (lists, ranges, arrays of any kind, series, and mappings by label), and functions."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, FaultCollector, UsageError
from hetdp.problem.space import Floats
from hetdp.text import format_value

Integers = NDArray[np.int64]
REAL_TYPES = (np.floating, np.integer)
SHORT_FLOATS = (np.float16, np.float32)
LONG_FLOATS = (np.longdouble,)
EXACT_TYPES = (Decimal, Fraction, *LONG_FLOATS)  # types whose values may lie between two floats
CONVERTED_SINGLY = (
    str,
    bytes,
    bool,
    complex,
    np.bool_,
    np.complexfloating,
    np.timedelta64,
    *EXACT_TYPES,
    *SHORT_FLOATS,
)


TABLE_HINT = 'two columns of a table are dict(zip(table["dataset"], table["p"]))'


def as_mapping(values: Any) -> Mapping[Any, Any] | None:
    """The values as a mapping from labels, if they are a mapping or a series with an index; otherwise None."""
    if isinstance(values, Mapping):
        return values
    if hasattr(values, "index") and callable(getattr(values, "to_dict", None)) and getattr(values, "ndim", 1) == 1:
        if not getattr(values.index, "is_unique", True):
            raise UsageError("an index that repeats a label", "values by label have one for each")
        converted = values.to_dict()
        return converted if isinstance(converted, Mapping) else None
    return None


def as_column(name: str, values: Any, collector: FaultCollector, hint: str = "") -> Any:
    """The values as an array or a sequence; raises InputError at once if they are not one column."""
    shape = np.shape(values) if hasattr(values, "__array__") else ()
    if isinstance(values, Set) or not isinstance(values, Iterable):
        rule = "a column is a list, an array or another sequence"
        collector.add(Fault("not a column:", name, format_value(values), rule, hint))
        collector.raise_if_any()
    if len(shape) > 1:
        rule = "a column has one dimension"
        collector.add(Fault("a table where a column belongs, of shape", name, str(shape), rule, TABLE_HINT))
        collector.raise_if_any()
    if isinstance(values, np.ma.MaskedArray):  # masked entries are missing, and must not be read
        return values.tolist()
    return values if isinstance(values, np.ndarray) else as_list(values)


def as_list(values: Any) -> Sequence[Any]:
    """The values as a sequence of Python objects."""
    for method in ("tolist", "to_pylist"):  # of NumPy and pandas, and of Arrow
        if hasattr(values, method):
            return list(getattr(values, method)())
    return values if isinstance(values, (list, tuple, range)) else list(values)


def as_integers(values: Any) -> Integers | None:
    """The values as an integer array, or None if they are not all integers."""
    if isinstance(values, range):
        return np.arange(values.start, values.stop, values.step)
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        return None  # masked entries are missing, and must not be read
    if hasattr(values, "__array__"):
        array = np.asarray(values)
        fits = array.ndim == 1 and (array.dtype.kind == "i" or (array.dtype.kind == "u" and _fits_in_int64(array)))
        return array.astype(np.int64, copy=False) if fits else None
    try:
        return np.array(values, dtype=np.int64) if set(map(type, values)) == {int} else None
    except OverflowError:
        return None


def sort_distinct(integers: NDArray[Any]) -> NDArray[Any]:
    """The distinct values, sorted; sorting is many times faster than NumPy's hashing of integers."""
    ordered = np.sort(integers)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


def as_floats(
    values: Any,
    place: Callable[[int], str],
    what: str,
    rule: str,
    collector: FaultCollector,
    unread: list[int] | None = None,
) -> Floats:
    """The values as floats; Decimals and Fractions are rounded down. A value that is not a number is a fault.

    Such values become 0, and their positions are appended to `unread`.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype != np.float64:
        return _from_other_floats(values)
    kinds = set() if isinstance(values, np.ndarray) and values.dtype.kind in "fiu" else set(map(type, values))
    try:
        if any(issubclass(kind, CONVERTED_SINGLY) for kind in kinds):
            raise ValueError  # NumPy would read numbers from text and from truth, and round exact ones up
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 1:
            raise ValueError  # a list of lists
        return array
    except (TypeError, ValueError, OverflowError):
        read = [_number(value) for value in values]
    wrong = [at for at, value in enumerate(read) if value is None]
    collector.add_at(np.array(wrong, dtype=np.int64), lambda at: Fault(what, place(at), format_value(values[at]), rule))
    (unread if unread is not None else []).extend(wrong)
    return np.array([0.0 if value is None else value for value in read], dtype=np.float64)


def _number(value: Any) -> float | None:
    try:
        if value is None:
            return math.nan
        if isinstance(value, np.timedelta64):  # to NumPy, a kind of integer
            return None
        if isinstance(value, LONG_FLOATS):
            return _not_above_long(value)
        if isinstance(value, (Decimal, Fraction)):
            return _not_above(value)
        if isinstance(value, SHORT_FLOATS):
            return float(str(value))
        if not isinstance(value, (str, bytes, bool, complex, np.bool_, np.generic)) or isinstance(value, REAL_TYPES):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    return None


def _not_above(value: Decimal | Fraction) -> float:
    nearest = float(value)
    if math.isinf(nearest) and abs(value) != math.inf:
        return math.copysign(sys.float_info.max, nearest)
    if nearest == 0.0:  # exact fractions of such numbers may not fit into memory
        return 0.0
    if math.isfinite(nearest) and Fraction(nearest) > Fraction(value):
        return math.nextafter(nearest, -math.inf)
    return nearest


def _not_above_long(value: Any) -> float:
    """Converts a float of more than 64 bits; the result is not above its value, nor above the decimal it prints as."""
    nearest = float(value)
    if not math.isfinite(nearest) or nearest == 0.0:
        return nearest if not np.isfinite(value) else _not_above(Fraction(*value.as_integer_ratio()))
    return _not_above(min(Fraction(*value.as_integer_ratio()), Fraction(str(value))))


def _from_other_floats(values: NDArray[Any]) -> Floats:
    """Converts short floats by the decimals they print as, and rounds long ones down."""
    if values.dtype.itemsize < np.dtype(np.float64).itemsize:
        return np.array([float(str(value)) for value in values])
    return np.array([_not_above_long(value) for value in values], dtype=np.float64)


def _fits_in_int64(array: NDArray[Any]) -> bool:
    return array.size == 0 or int(array.max()) < 2**63


def require_arguments(name: str, function: Callable[..., Any], arguments: Sequence[str], hint: str = "") -> None:
    """Refuses a function that cannot be called with the arguments that it will get.

    Functions that do not tell their parameters, such as some written in C, are not refused.

    Args:
        name: what the function is for.
        function: the function.
        arguments: what it will get, in words.
        hint: what to do about it.

    Raises:
        UsageError: it has too few parameters, or too many without a default.
    """
    try:
        signature = inspect.signature(function)
    except ValueError:
        return
    try:
        signature.bind(*arguments)
    except TypeError as refusal:
        words = " and ".join(filter(None, [", ".join(arguments[:-1]), arguments[-1]]))
        count = f"{len(arguments)} argument{'' if len(arguments) == 1 else 's'}"
        rule = f"it is called with {count}: {words}"
        raise UsageError(f"{name} is a function with the parameters {signature}: {refusal}", rule, hint) from None
