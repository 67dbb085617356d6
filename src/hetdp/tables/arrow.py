"""Arrow data: files, tables in memory, and columns of data frames that Arrow holds. None of it is trusted.

Arrow describes cells by offsets, indices and lengths that readers follow blindly: one changed byte can crash the
process. So every column is validated in full each time it is read, before anything else uses it. Text that is not
UTF-8, or a decimal with more digits than its type has, is a missing cell; any other fault makes the table unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from hetdp.duck import CURATOR_HINT, TABLE_RULE
from hetdp.errors import Fault, HetdpError, InputError, UsageError
from hetdp.interrupts import delay_interrupts
from hetdp.tables.sources import BATCH_ROWS, BatchSource, file_stamp, require_different

UNREADABLE_PREFIX = "Arrow "  # prefix of the types that DuckDB is not given; no condition can use them
DAY = 86_400_000  # milliseconds
TO_MICROSECONDS = {"timestamp[s]": 1_000_000, "timestamp[ms]": 1_000}
DIRECT_TYPES = frozenset(
    {
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"),
        *("date32[day]", "timestamp[us]", "timestamp[ns]", "extension<arrow.uuid>", "extension<arrow.bool8>"),
    }
)
BINARY_TYPES = {
    "string": "binary",
    "large_string": "large_binary",
    "string_view": "binary_view",
}  # bytes that may not be text
CONVERTED_TYPES = frozenset({"null", "halffloat", "date64[ms]", *TO_MICROSECONDS, *BINARY_TYPES})
DECIMAL = re.compile(r"decimal(32|64|128)\([0-9]+, [0-9]+\)")  # the decimals of DuckDB

Reader = Callable[[Sequence[int]], Iterable[Any]]  # indices of columns → their batches


class ArrowTable(BatchSource):
    """A table of Arrow batches, validated when it is opened and whenever it is read.

    Args:
        database: a locked connection.
        name: the name of the table in messages.
        schema: its columns.
        reader: the function that reads some of the columns.
        place: the file, if it is one.
        curator: whether messages may quote the reader.
    """

    def __init__(
        self, database: Any, name: str, schema: Any, reader: Reader, place: Path | None, curator: bool
    ) -> None:
        super().__init__(database, name, curator)
        self._reader, self._place = reader, place
        with arrow_errors(name, curator):
            fields = list(schema)
            self._numbers = {field.name: at for at, field in enumerate(fields) if is_readable(field.type)}
            self.columns = {field.name: f"{UNREADABLE_PREFIX}{field.type}" for field in fields}
            none = {
                name: convert_column(load_pyarrow().nulls(0, fields[at].type)) for name, at in self._numbers.items()
            }
            self._none = load_pyarrow().table(none)
        require_different([field.name for field in fields], name)
        if none:
            types = self._compute("SELECT column_type FROM (DESCRIBE batch)", [], self._none)["column_type"]
            self.columns |= dict(zip(none, map(str, types), strict=True))
        for _ in self._batches(list(none)):
            pass

    @property
    def stamp(self) -> Any:
        """The stamp of the file."""
        return None if self._place is None else file_stamp(self._place)

    def _batches(self, uses: Sequence[str]) -> Iterator[Any]:
        """The named columns, with small batches joined; see `BatchSource`."""
        names = list(dict.fromkeys(uses)) or list(self._numbers)[:1]
        yield self._none.select(names)
        with arrow_errors(self.name, self._curator):
            waiting: list[Any] = []
            for batch in self._reader([self._numbers[name] for name in names]) if names else ():
                columns = [convert_column(batch.column(name)) for name in names]
                waiting.append(load_pyarrow().table(columns, names=names))
                if sum(part.num_rows for part in waiting) >= BATCH_ROWS:
                    yield load_pyarrow().concat_tables(waiting)
                    waiting = []
            if waiting:
                yield load_pyarrow().concat_tables(waiting)


def arrow_file(database: Any, place: Path, name: str, curator: bool) -> ArrowTable:
    """Opens an Arrow file, which PyArrow reads in batches. It is not memory-mapped, because it could shrink."""
    require_pyarrow("Arrow files")
    ipc = load_pyarrow().ipc

    def reader(numbers: Sequence[int]) -> Iterator[Any]:
        options = ipc.IpcReadOptions(included_fields=list(numbers))
        with load_pyarrow().OSFile(str(place)) as file:
            batches = ipc.open_file(file, options=options)
            for at in range(batches.num_record_batches):
                yield batches.get_batch(at)

    with arrow_errors(name, curator), load_pyarrow().OSFile(str(place)) as file:
        schema = ipc.open_file(file).schema
    return ArrowTable(database, name, schema, reader, place, curator)


def arrow_table(database: Any, table: Any, curator: bool) -> ArrowTable:
    """Opens an Arrow table or record batch in memory."""
    with arrow_errors("the table", curator):
        table.validate()

    def reader(numbers: Sequence[int]) -> Iterable[Any]:
        chosen = table.select(list(numbers))
        batches: Iterable[Any] = chosen.to_batches() if hasattr(chosen, "to_batches") else [chosen]
        return batches

    return ArrowTable(database, "the table", table.schema, reader, None, curator)


def polars_table(database: Any, frame: Any, curator: bool) -> ArrowTable:
    """Opens a Polars data frame as an Arrow table; a column that Polars cannot convert is never read."""
    require_pyarrow("Polars data frames")
    none, kept = frame.clear(), []
    for column in frame.columns:
        try:
            none.get_column(column).to_arrow()
        except BaseException as refusal:  # a panic in Rust is not an Exception
            require_no_interrupt(refusal)
        else:
            kept.append(column)
    with arrow_errors("the table", curator):
        table = frame.select(kept).to_arrow()
    found = arrow_table(database, table, curator)
    found.columns = {name: found.columns.get(name, f"{UNREADABLE_PREFIX}object") for name in frame.columns}
    return found


def load_pyarrow() -> Any:
    """Loads PyArrow, which is not a dependency: users who have Arrow data have it installed."""
    with delay_interrupts():
        import pyarrow
        import pyarrow.ipc
    return pyarrow


def require_pyarrow(what: str) -> None:
    """Refuses input that needs PyArrow if it is not installed.

    Raises:
        UsageError: it is not.
    """
    if find_spec("pyarrow") is None:
        raise UsageError(f"{what} need PyArrow", "it is not installed here", "pip install pyarrow, or use Parquet")


def require_no_interrupt(refusal: BaseException) -> None:
    """Raises Ctrl-C and exit requests again.

    Raises:
        BaseException: it is one of these.
    """
    if isinstance(refusal, KeyboardInterrupt | SystemExit | GeneratorExit):
        raise refusal


@contextmanager
def arrow_errors(name: str, curator: bool) -> Iterator[None]:
    """Turns any error of PyArrow or Polars into one InputError, always in the same words.

    Raises:
        InputError: it was refused.
    """
    try:
        yield
    except HetdpError:
        raise
    except BaseException as refusal:  # a panic in Rust is not an Exception
        require_no_interrupt(refusal)
        first_line = next((line for line in str(refusal).splitlines() if line.strip()), "")[:200] if curator else ""
        fault = Fault(
            "cannot be read" + (":" if first_line else ""),
            name,
            first_line,
            TABLE_RULE,
            "" if curator else CURATOR_HINT,
        )
        raise InputError(name, [fault]) from None


def is_readable(kind: Any) -> bool:
    """True if DuckDB can read every cell of an Arrow type."""
    written = str(kind)
    if written.startswith("dictionary<"):
        return is_readable(kind.value_type)
    return written in DIRECT_TYPES or written in CONVERTED_TYPES or DECIMAL.fullmatch(written) is not None


def convert_column(column: Any) -> Any:
    """A column of a readable type, validated in full and converted for DuckDB.

    Times of seconds and milliseconds become microseconds, and dates of milliseconds become days; those beyond the range
    of the new type become its first or last, which compare in the same way with every date that can be asked for.

    Raises:
        ValueError: it is not Arrow data.
    """
    arrow, written = load_pyarrow(), str(column.type)
    if written.startswith("dictionary<"):
        indices = column.indices
        indices.validate(full=True)
        return arrow.DictionaryArray.from_arrays(indices, convert_column(column.dictionary)).dictionary_decode()
    if written == "null":
        return arrow.nulls(len(column), arrow.string())
    if written in BINARY_TYPES:
        return _drop_broken_texts(column)
    if DECIMAL.fullmatch(written):
        return _drop_long_decimals(column)
    column.validate(full=written != "date64[ms]")  # hours within a day are dropped
    if written == "halffloat":
        return column.cast(arrow.float32())
    if written == "date64[ms]":
        return _convert_times(
            column, lambda cells: np.clip(cells // DAY, -(2**31), 2**31 - 1).astype(np.int32), "date32"
        )
    if written in TO_MICROSECONDS:
        return _convert_times(column, lambda cells: scale_clipped(cells, TO_MICROSECONDS[written]), "timestamp")
    return column


def scale_clipped(cells: Any, factor: int) -> Any:
    """Whole numbers times a factor, clipped to 64 bits.

    >>> scale_clipped(np.array([2, -(2**63), 2**63 - 1]), 1000).tolist()
    [2000, -9223372036854775000, 9223372036854775000]
    """
    most = (2**63 - 1) // factor
    return np.clip(cells, -most, most) * factor


def _convert_times(column: Any, change: Callable[[Any], Any], to: str) -> Any:
    arrow = load_pyarrow()
    kind = arrow.date32() if to == "date32" else arrow.timestamp("us")
    cells = column.view(arrow.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return arrow.array(change(cells), mask=missing).view(kind)


def _drop_long_decimals(column: Any) -> Any:
    """A column of decimals, in which cells with more digits than the type allows are missing.

    Arrow's own validation accepts the smallest of them, which DuckDB misreads.

    Raises:
        ValueError: something else is wrong with it.
    """
    width, bound = column.type.byte_width, 10**column.type.precision
    column.view(load_pyarrow().binary(width)).validate(full=True)
    if not len(column):
        return column
    cells = np.frombuffer(column.buffers()[1], dtype=np.uint8)[column.offset * width :][: len(column) * width]
    if width < 16:
        found = cells.view(f"<i{width}").astype(np.int64)
        return _without_cells(column, (found >= bound) | (found <= -bound))
    low, high = cells.view("<u8")[::2], cells.view("<i8")[1::2]
    (high_most, low_most), (high_least, low_least) = divmod(bound, 1 << 64), divmod(-bound, 1 << 64)
    above = (high > high_most) | ((high == high_most) & (low >= np.uint64(low_most)))
    below = (high < high_least) | ((high == high_least) & (low <= np.uint64(low_least)))
    return _without_cells(column, above | below)


def _drop_broken_texts(column: Any) -> Any:
    """A column of texts, in which cells that are not UTF-8 are missing.

    Raises:
        ValueError: something else is wrong with it.
    """
    if _is_valid(column):
        return column
    column.view(getattr(load_pyarrow(), BINARY_TYPES[str(column.type)])()).validate(full=True)
    broken_cells = np.zeros(len(column), dtype=bool)
    for at in _find_broken_cells(column):
        broken_cells[at] = True
    return _without_cells(column, broken_cells)


def _without_cells(column: Any, left_out: Any) -> Any:
    """The column with some cells missing; the data is not copied."""
    arrow = load_pyarrow()
    kept = np.zeros(column.offset + len(column), dtype=bool)
    kept[column.offset :] = column.is_valid().to_numpy(zero_copy_only=False) & ~left_out
    bits = arrow.py_buffer(np.packbits(kept, bitorder="little").tobytes())
    return arrow.Array.from_buffers(column.type, len(column), [bits, *column.buffers()[1:]], offset=column.offset)


def _find_broken_cells(column: Any) -> Iterator[int]:
    """The indices of the cells that are not UTF-8, by bisection."""
    waiting = [(0, len(column))]
    while waiting:
        begin, end = waiting.pop()
        if _is_valid(column.slice(begin, end - begin)):
            continue
        if end - begin == 1:
            yield begin
        else:
            middle = (begin + end) // 2
            waiting += [(begin, middle), (middle, end)]


def _is_valid(cells: Any) -> bool:
    try:
        cells.validate(full=True)
    except ValueError:
        return False
    return True
