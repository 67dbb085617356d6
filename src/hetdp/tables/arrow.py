"""Arrow data and data frames: Arrow files and tables, Polars and pandas. None of it is trusted.

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
from numpy.typing import NDArray

from hetdp.duck import hide_details, unreadable_fault
from hetdp.errors import HetdpError, InputError, UsageError
from hetdp.frames import is_held_by_arrow
from hetdp.interrupts import delay_interrupts
from hetdp.tables.sources import BATCH_ROWS, BatchSource, QueriedSource, file_stamp, require_different

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
PEOPLE = "people"  # the name of a pandas data frame in queries
MISSING = ("NAType", "NaTType")  # types of missing values in pandas
NULLABLE = re.compile("(U?Int(8|16|32|64)|Float(32|64)|Boolean|DatetimeTZ)Dtype")  # types of pandas
MICROSECONDS = {"s": 1_000_000, "ms": 1_000}
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
        raise InputError(name, [unreadable_fault(name, str(refusal), curator)]) from None


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


# Data frames of pandas ------------------------------------------------------------------------------------------------


class PandasFrame(QueriedSource):
    """A pandas data frame. A cell may hold any Python value; each becomes a text, or is missing.

    DuckDB gets the named columns only, and no cell that it cannot read.

    Args:
        database: a locked connection.
        table: the data frame.
        curator: whether messages may quote the reader.
    """

    def __init__(self, database: Any, table: Any, curator: bool) -> None:
        self._table, self._curator, self._database = table, curator, database
        declared = {column: table[column].dtype for column in table.columns}
        hidden = {column: f"{UNREADABLE_PREFIX}{kind}" for column, kind in declared.items() if not _can_be_read(kind)}
        self._register(table.iloc[:0][[column for column in declared if column not in hidden]])
        super().__init__(database, PEOPLE, "the table", curator=curator)
        self.columns = {column: hidden.get(column) or self.columns[column] for column in declared}

    def _selection(self, uses: Sequence[str]) -> str:
        named = list(dict.fromkeys(uses)) or list(self.scanned)[:1]
        self._register(self._table[named])
        return super()._selection(uses)

    def _register(self, part: Any) -> None:
        part = part.copy(deep=False)
        with hide_details("the table", self._curator), arrow_errors("the table", self._curator):
            for column in part.columns:
                part[column] = _convert_cells(part[column])
            self._database.register(PEOPLE, part)


def _convert_cells(cells: Any) -> Any:
    """A column converted for DuckDB; the conversion depends on its type alone."""
    declared = cells.dtype
    held = getattr(getattr(declared, "categories", None), "dtype", declared)
    if is_held_by_arrow(held):
        return _of_arrow(cells, held)
    if isinstance(held, np.dtype) and held.kind in "biufmM":
        return _in_microseconds(cells) if held is declared and held.kind == "M" else cells
    return cells if NULLABLE.fullmatch(type(held).__name__) else _texts(cells)


def _can_be_read(declared: Any) -> bool:
    """True if DuckDB can read columns of this type: all but some types of Arrow."""
    return type(declared).__name__ != "ArrowDtype" or is_readable(declared.pyarrow_dtype)


def _of_arrow(cells: Any, held: Any) -> Any:
    """A column that Arrow holds, or whose categories Arrow holds, validated in full."""
    if held is not cells.dtype:
        if _convert_arrow_cells(cells.cat.categories.array) is None:
            return cells
        cells = cells.astype(held)
    found = _convert_arrow_cells(cells.array)
    if found is None:
        return cells
    return type(cells.array)(found) if type(held).__name__ == "ArrowDtype" else _texts(found.to_pylist())


def _convert_arrow_cells(cells: Any) -> Any:
    """Cells that Arrow holds, converted for DuckDB; None if no conversion is needed."""
    found = cells.__arrow_array__()
    chunks = found.chunks if hasattr(found, "chunks") else [found]
    changed = [convert_column(chunk) for chunk in chunks]
    if all(one is other for one, other in zip(chunks, changed, strict=True)):
        return None
    return load_pyarrow().chunked_array(changed)


def _in_microseconds(cells: Any) -> Any:
    """Times of seconds and milliseconds in microseconds, clipped to their range."""
    times = cells.to_numpy()
    factor = MICROSECONDS.get(np.datetime_data(times.dtype)[0])
    if factor is None:
        return cells
    return np.where(np.isnat(times), np.iinfo(np.int64).min, scale_clipped(times.view(np.int64), factor)).view("M8[us]")


def _texts(cells: Any) -> NDArray[Any]:
    found = np.empty(len(cells), dtype=object)
    found[:] = [text(cell) for cell in cells]
    return found


def text(cell: Any) -> str | None:
    r"""Any value as a text in UTF-8; None for a missing value, and for one that has no text.

    >>> text(1.5), text("a\udc80"), text(float("nan")), text(type("Odd", (), {"__str__": None})())
    ('1.5', 'a?', None, None)
    """
    try:
        if cell is None or (isinstance(cell, float) and cell != cell) or type(cell).__name__ in MISSING:
            return None
        return str(cell).encode("utf-8", "replace").decode()
    except Exception:  # any exception of the value counts as missing
        return None
