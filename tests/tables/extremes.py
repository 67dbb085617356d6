"""Extreme values of every type of column in every format, and what they mean to the oracle.

A column is a name, the harmless cells it may hold instead, and its extreme cells; a cell comes with its meaning: a
Python value as the oracle takes it, or `OPAQUE`, if columns of this type cannot be asked about at all.
"""

from __future__ import annotations

import re
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from tests.tables.tables import as_csv

LENGTH = 12  # rows of each table
LEAST, MOST = -(2**63), 2**63 - 1
OPAQUE = object()
EPOCH = datetime(1970, 1, 1)
STEPS = {"s": 10**6, "ms": 10**3, "us": 1}

TEXTS: list[Any] = [
    *(None, "", "yes", " YES\t", "a\0yes", "\0", "ÿ" * 9_999, "E\u0301", "é", "1e999999999", "-1e-999999999"),
    *("0x10", "١٢", "1_000", " 5 ", "+5", "1", "2024-01-31", "2024-01-31T12:00Z", "9999-12-31T23:59:59.999999"),
    *("0001-01-01", "true", " FALSE ", "nan", "inf", "9" * 400, "\U0010ffff", "\ud7ff", "2024-01-31 12:00"),
]
BAD_TEXTS: list[bytes] = [b"\xff\xfe", b"yes\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80", b"\xe2\x82"]


class Unprintable:
    """An object that cannot be converted to text."""

    def __str__(self) -> str:
        raise RuntimeError("a secret")


OBJECTS: list[Any] = [
    *(None, float("nan"), pandas.NA, pandas.NaT, "yes", "\udc80", b"yes", 1, 10**3000, -(2**63), True, 1.5),
    *(Decimal("sNaN"), Decimal("1E+999999"), Fraction(1, 3), date(1, 1, 1), datetime(9999, 12, 31), [1], {"a": 1}),
    *(Unprintable(), float("inf"), complex(0, 1), np.float32(0.5), np.datetime64("NaT"), timedelta(days=1), (), set()),
]


def repeat_cells(cells: list[Any]) -> list[Any]:
    """Repeats cells to the number of rows."""
    assert len(cells) <= LENGTH
    return (cells * LENGTH)[:LENGTH]


def array_from_bits(cells: list[Any], kind: pa.DataType, storage: pa.DataType) -> pa.Array:
    """An array of a type, given by the bits of its cells."""
    return pa.array(repeat_cells(cells), storage).view(kind)


def instant(count: int | None, unit: str) -> datetime | None:
    """The time that a number encodes, clamped to the range of Python's datetime."""
    if count is None:
        return None
    scaled = count // 1000 if unit == "ns" else count * STEPS[unit]
    try:
        return EPOCH + timedelta(microseconds=scaled)
    except OverflowError:
        return datetime.max if scaled > 0 else datetime.min


def day(count: int | None) -> date | None:
    if count is None:
        return None
    try:
        return date(1970, 1, 1) + timedelta(days=count)
    except OverflowError:
        return date.max if count > 0 else date.min


def text_array(kind: pa.DataType, cells: list[bytes | None]) -> pa.Array:
    """An array of texts that may be invalid UTF-8."""
    bare = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}[kind]
    return pa.array(cells, bare).view(kind)


def arrow_columns() -> dict[str, tuple[pa.Array, list[Any]]]:  # noqa: C901
    """For every type of Arrow, extreme cells and their meanings."""
    found: dict[str, tuple[pa.Array, list[Any]]] = {}

    def add(name: str, array: pa.Array, meaning: Any) -> None:
        found[name] = array, [OPAQUE] * LENGTH if meaning is OPAQUE else list(meaning)

    for signed, width in (
        (True, 8),
        (True, 16),
        (True, 32),
        (True, 64),
        (False, 8),
        (False, 16),
        (False, 32),
        (False, 64),
    ):
        low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
        cells = repeat_cells([None, low, high, 0, 1, 2, 18, low + 1, high - 1])
        add(
            f"{'' if signed else 'u'}int{width}",
            pa.array(cells, getattr(pa, f"{'' if signed else 'u'}int{width}")()),
            cells,
        )
    reals = [None, float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.0, 1.5, 18.0]
    for kind, dtype, limits in (
        (pa.float16(), np.float16, [65504.0, 6e-8]),
        (pa.float32(), np.float32, [3.4028235e38, 1e-45]),
        (pa.float64(), np.float64, [1.7976931348623157e308, 5e-324]),
    ):
        cells = repeat_cells([*reals, *limits])
        single = np.float32 if dtype is np.float16 else dtype
        meaning = [None if cell is None else float(str(single(dtype(cell)))) for cell in cells]
        add(str(kind), pa.array([None if cell is None else dtype(cell) for cell in cells], kind), meaning)
    payload = [struct.unpack("<d", bytes.fromhex(word))[0] for word in ("010000000000f07f", "ffffffffffffffff")]
    add("payloads", pa.array(repeat_cells([*payload, 1.0])), repeat_cells([None, None, 1.0]))
    for digits, places, make in (
        *((38, 0, pa.decimal128), (38, 38, pa.decimal128), (38, 5, pa.decimal128), (1, 0, pa.decimal128)),
        *((9, 9, pa.decimal32), (18, 3, pa.decimal64), (5, 2, pa.decimal32)),
    ):
        cells = repeat_cells(
            [None, Decimal(f"{10**digits - 1}e-{places}"), Decimal(f"-{10**digits - 1}e-{places}"), Decimal(0)]
        )
        add(f"{make.__name__}({digits},{places})", pa.array(cells, make(digits, places)), cells)
    wide = pa.py_buffer(
        b"".join(v.to_bytes(16, "little", signed=True) for v in repeat_cells([-(2**127), 2**127 - 1, 10**38, 7]))
    )
    add(
        "decimal beyond",
        pa.Array.from_buffers(pa.decimal128(38, 0), LENGTH, [None, wide]),
        repeat_cells([None, None, None, Decimal(7)]),
    )
    for digits, make, width in (
        (4, pa.decimal128, 16),
        (9, pa.decimal128, 16),
        (18, pa.decimal128, 16),
        (9, pa.decimal32, 4),
        (18, pa.decimal64, 8),
    ):
        least = 2 ** (8 * width - 1)
        raw = repeat_cells([-least, 7, 1 - least, least - 1, 10**digits, -(10**digits)])
        data = pa.py_buffer(b"".join(one.to_bytes(width, "little", signed=True) for one in raw))
        add(
            f"decimal beyond {make.__name__} {digits}",
            pa.Array.from_buffers(make(digits, 0), LENGTH, [None, data]),
            repeat_cells([None, Decimal(7), None, None, None, None]),
        )
    add("decimal256", pa.array(repeat_cells([None, Decimal(10**75)]), pa.decimal256(76, 0)), OPAQUE)
    add("decimal negative", pa.array(repeat_cells([None, Decimal(12000)]), pa.decimal128(5, -3)), OPAQUE)
    add("bool", pa.array(repeat_cells([None, True, False])), repeat_cells([None, True, False]))
    add(
        "bool8",
        pa.ExtensionArray.from_storage(pa.bool8(), pa.array(repeat_cells([None, 0, 1, -1, 127, -128]), pa.int8())),
        repeat_cells([None, False, True, True, True, True]),
    )
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        for at in range(0, len(TEXTS), LENGTH):
            cells = repeat_cells(TEXTS[at : at + LENGTH])
            add(f"{kind} {at}", pa.array(cells, kind), cells)
        bad = repeat_cells([*BAD_TEXTS, b"yes", None])
        add(f"{kind} bad", text_array(kind, bad), repeat_cells([*[None] * len(BAD_TEXTS), "yes", None]))
    add("null", pa.nulls(LENGTH), [None] * LENGTH)
    days = repeat_cells([None, -(2**31), -(2**31) + 1, 2**31 - 1, 2**31 - 2, 0, 19753, 19754])
    add("date32", array_from_bits(days, pa.date32(), pa.int32()), map(day, days))
    counts = repeat_cells(
        [None, LEAST, LEAST + 1, MOST, MOST - 1, 0, 1, -1, 1706659200 * 10**6, 1706659200 * 1000, 1706659200]
    )
    add(
        "date64",
        array_from_bits(counts, pa.date64(), pa.int64()),
        [None if one is None else day(one // 86_400_000) for one in counts],
    )
    for unit in ("s", "ms", "us", "ns"):
        fine = [
            one * 1000 if unit == "ns" and one in (1, -1) else one for one in counts
        ]  # Python's datetime has no nanoseconds
        add(
            f"timestamp {unit}",
            array_from_bits(fine, pa.timestamp(unit), pa.int64()),
            [instant(one, unit) for one in fine],
        )
        for zone in ("UTC", "Nowhere/Land", "+25:61"):
            add(f"timestamp {unit} {zone}", array_from_bits(counts, pa.timestamp(unit, zone), pa.int64()), OPAQUE)
        add(f"duration {unit}", array_from_bits(counts, pa.duration(unit), pa.int64()), OPAQUE)
    for kind in (pa.time32("s"), pa.time32("ms")):
        add(str(kind), array_from_bits([None, -(2**31), 2**31 - 1, 0], kind, pa.int32()), OPAQUE)
    for kind in (pa.time64("us"), pa.time64("ns")):
        add(str(kind), array_from_bits([None, LEAST, MOST, 0], kind, pa.int64()), OPAQUE)
    interval = pa.month_day_nano_interval()
    add(
        "interval", pa.array(repeat_cells([None, (2**31 - 1, 2**31 - 1, MOST), (-(2**31), 0, LEAST)]), interval), OPAQUE
    )
    add("binary", pa.array(repeat_cells([None, b"", b"\xff"])), OPAQUE)
    add("binary view", pa.array(repeat_cells([None, b"", b"\xff" * 99]), pa.binary_view()), OPAQUE)
    add("fixed", pa.array(repeat_cells([None, b"\0" * 16, b"\xff" * 16]), pa.binary(16)), OPAQUE)
    uuids = repeat_cells([None, b"\0" * 16, b"\xff" * 16, b"\x80" + b"\0" * 15])
    spelt = [
        None
        if one is None
        else f"{one.hex()[:8]}-{one.hex()[8:12]}-{one.hex()[12:16]}-{one.hex()[16:20]}-{one.hex()[20:]}"
        for one in uuids
    ]
    add("uuid", pa.array(uuids, pa.binary(16)).cast(pa.uuid()), spelt)
    add("json", pa.array(repeat_cells([None, "{", "1"])).cast(pa.json_()), OPAQUE)
    index = pa.array(repeat_cells([0, 1, None, 2]), pa.int8())
    add(
        "dictionary",
        pa.DictionaryArray.from_arrays(index, pa.array(["yes", None, ""])),
        repeat_cells(["yes", None, None, ""]),
    )
    add(
        "dictionary bad",
        pa.DictionaryArray.from_arrays(index, text_array(pa.string(), [b"yes", b"\xff", b""])),
        repeat_cells(["yes", None, None, ""]),
    )
    add(
        "dictionary times",
        pa.DictionaryArray.from_arrays(index, pa.array([LEAST, MOST, 0]).view(pa.timestamp("s"))),
        repeat_cells([datetime.min, datetime.max, None, EPOCH]),
    )
    add(
        "dictionary numbers",
        pa.DictionaryArray.from_arrays(index, pa.array([LEAST, None, MOST])),
        repeat_cells([LEAST, None, None, MOST]),
    )
    add("list", pa.array(repeat_cells([None, [], [None], [1]])), OPAQUE)
    add("list of texts", pa.array(repeat_cells([None, [], ["yes"]])), OPAQUE)
    add("fixed list", pa.array(repeat_cells([None, [1, 2]]), pa.list_(pa.int64(), 2)), OPAQUE)
    add("struct", pa.array(repeat_cells([None, {"a": 1}, {"a": None}])), OPAQUE)
    add("map", pa.array(repeat_cells([None, [], [("a", 1)]]), pa.map_(pa.string(), pa.int64())), OPAQUE)
    codes, offsets = pa.array(repeat_cells([0, 1]), pa.int8()), pa.array(repeat_cells([0, 0]), pa.int32())
    add("union", pa.UnionArray.from_dense(codes, offsets, [pa.array([LEAST]), pa.array(["yes"])]), OPAQUE)
    add("runs", pa.RunEndEncodedArray.from_arrays(pa.array([3, LENGTH], pa.int32()), pa.array(["yes", None])), OPAQUE)
    return found


def empty_column(array: pa.Array) -> pa.Array:
    """A column of the same type with only missing values."""
    if pa.types.is_union(array.type) or pa.types.is_run_end_encoded(array.type):
        return array
    return pa.nulls(LENGTH, array.type)


TableWithMeanings = tuple[Any, dict[str, list[Any]]]  # a table, and the meanings of the cells of its columns


def _with_ids(columns: dict[str, Any]) -> dict[str, Any]:
    return {"id": pa.array(range(LENGTH)), **columns}


def _arrow_table(place: Path, harmless: bool) -> TableWithMeanings:
    found = arrow_columns()
    arrays = {name: empty_column(array) if harmless else array for name, (array, _) in found.items()}
    return pa.table(_with_ids(arrays)), {name: meaning for name, (_, meaning) in found.items()}


def _arrow_file(place: Path, harmless: bool) -> TableWithMeanings:
    table, meaning = _arrow_table(place, harmless)
    path = place / f"{harmless}.arrow"
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_file(str(path), table.schema, options=options) as file:
        file.write_table(table, max_chunksize=7)
    return path, meaning


NOT_IN_PARQUET = re.compile(
    "bool8|date64|timestamp s|duration|time32|interval|union|runs|dictionary (times|numbers)"
    "|decimal (negative|beyond)|.* bad"
)


def _parquet(place: Path, harmless: bool) -> TableWithMeanings:
    """Without types that PyArrow cannot write as such, and without texts that are none: `raw_parquet` has these."""
    table, meaning = _arrow_table(place, harmless)
    meanings = {name: cells for name, cells in meaning.items() if not NOT_IN_PARQUET.match(name)}
    meanings["dictionary"] = meaning["dictionary"]
    table = table.set_column(
        table.column_names.index("dictionary"), "dictionary", table["dictionary"].cast(pa.string())
    )
    pyarrow.parquet.write_table(table.select(["id", *meanings]), place / f"{harmless}.parquet", store_schema=False)
    opaque = {"timestamp ms": [OPAQUE] * LENGTH}
    return place / f"{harmless}.parquet", meanings | opaque | {"decimal256": [None, 1e75] * (LENGTH // 2)}


def _folder(place: Path, harmless: bool) -> TableWithMeanings:
    path, meaning = _parquet(place, harmless)
    folder = place / f"{harmless} folder"
    folder.mkdir()
    whole = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(whole.slice(0, 5), folder / "1.parquet", store_schema=False)
    pyarrow.parquet.write_table(whole.slice(5), folder / "2.parquet", store_schema=False)
    return folder, meaning


def _pandas_arrow(place: Path, harmless: bool) -> TableWithMeanings:
    """Data frames whose columns Arrow holds."""
    table, meaning = _arrow_table(place, harmless)
    frame = {
        name: pandas.Series(pandas.arrays.ArrowExtensionArray(table[name]))
        for name in table.column_names
        if name != "bool8"
    }
    return pandas.DataFrame(frame), {name: cells for name, cells in meaning.items() if name != "bool8"}


def _pandas(place: Path, harmless: bool) -> TableWithMeanings:
    """The types of pandas itself, and any Python value; what is not text means the text that Python makes of it."""
    found: dict[str, tuple[Any, Any]] = {}
    times = repeat_cells([LEAST, LEAST + 1, MOST, 0, 1706659200])
    for unit in ("s", "ms", "us", "ns"):
        meaning = [None if one == LEAST else instant(one, unit) for one in times]
        found[f"time {unit}"] = np.array(times).view(f"M8[{unit}]"), meaning
        found[f"length {unit}"] = np.array(times).view(f"m8[{unit}]"), OPAQUE
    zoned = pandas.Series(np.array(times).view("M8[us]")).dt.tz_localize("UTC")
    found["time zone"] = zoned, OPAQUE
    for width in (8, 16, 32, 64):
        cells = repeat_cells([-(2 ** (width - 1)), 2 ** (width - 1) - 1, 0, 1, 2])
        found[f"int{width}"] = np.array(cells, dtype=f"int{width}"), cells
        found[f"nullable int{width}"] = pandas.array([*cells[:-1], None], dtype=f"Int{width}"), [*cells[:-1], None]
    reals = repeat_cells([float("nan"), float("inf"), -0.0, 1.5, 1e308, 5e-324])
    found["float64"] = np.array(reals), reals
    found["nullable float64"] = pandas.array([*reals[:-1], None], dtype="Float64"), [*reals[:-1], None]
    halves = repeat_cells([float("nan"), float("inf"), 1.5, 65504.0])
    found["float16"] = np.array(halves, dtype=np.float16), halves
    found["bool"] = np.array(repeat_cells([True, False])), repeat_cells([True, False])
    found["boolean"] = (
        pandas.array(repeat_cells([True, None, False]), dtype="boolean"),
        repeat_cells([True, None, False]),
    )
    found["gaps"] = np.array(repeat_cells([True, None, False]), dtype=object), repeat_cells(["True", None, "False"])
    for at in range(0, len(TEXTS), LENGTH):
        cells = repeat_cells(TEXTS[at : at + LENGTH])
        for storage in ("python", "pyarrow"):
            found[f"text {storage} {at}"] = pandas.array(cells, dtype=pandas.StringDtype(storage)), cells
        found[f"categories {at}"] = pandas.Categorical(cells), cells
    bad = text_array(pa.large_string(), repeat_cells([*BAD_TEXTS, b"yes", None]))
    found["text bad"] = pandas.arrays.ArrowStringArray(bad), repeat_cells([*[None] * len(BAD_TEXTS), "yes", None])
    found["categories of numbers"] = (
        pandas.Categorical(repeat_cells([LEAST, MOST, None])),
        repeat_cells([LEAST, MOST, None]),
    )
    for at in range(0, len(OBJECTS), LENGTH):
        cells = repeat_cells(OBJECTS[at : at + LENGTH])
        column = np.empty(LENGTH, dtype=object)
        column[:] = cells
        found[f"objects {at}"] = column, list(map(_text_of, cells))
    found["periods"] = (
        pandas.period_range("2024-01", periods=LENGTH, freq="M"),
        [f"2024-{at + 1:02}" for at in range(LENGTH)],
    )
    found["complex"] = np.array(repeat_cells([1j, complex("nan")])), repeat_cells(["1j", "(nan+0j)"])
    found["sparse"] = pandas.arrays.SparseArray(repeat_cells([1, 0])), repeat_cells(["1", "0"])
    found["intervals"] = pandas.interval_range(0, LENGTH), [f"({at}, {at + 1}]" for at in range(LENGTH)]
    frame = pandas.DataFrame({name: pandas.Series(cells) for name, (cells, _) in found.items()})
    if harmless:
        frame = frame.take([3] * LENGTH).reset_index(drop=True)
    frame.insert(0, "id", range(LENGTH))
    return frame, {name: [OPAQUE] * LENGTH if output is OPAQUE else list(output) for name, (_, output) in found.items()}


def _text_of(cell: Any) -> str | None:
    """Any value as text; None if it is missing or cannot be converted."""
    missing = cell is None or cell is pandas.NA or cell is pandas.NaT or (isinstance(cell, float) and cell != cell)
    if missing or isinstance(cell, Unprintable) or (isinstance(cell, int) and abs(cell) > 10**4300):
        return None
    return str(cell).encode("utf-8", "replace").decode()


def _polars(place: Path, harmless: bool) -> TableWithMeanings:
    table, meaning = _arrow_table(place, harmless)
    odd = re.compile(
        "decimal256|decimal negative|interval|union|runs|map|timestamp.*(Nowhere|61)|.*bad|uuid|json|fixed|bool8|date64"
    )
    meanings = {name: cells for name, cells in meaning.items() if not odd.match(name)}
    meanings = {
        name: cells
        for name, cells in meanings.items()
        if "timestamp s" not in name and "times" not in name and "duration s" not in name
    }
    frame = polars.from_arrow(table.select(["id", *meanings]))
    assert isinstance(frame, polars.DataFrame)
    more = {
        "object": polars.Series(repeat_cells([None, 1, "a"]), dtype=polars.Object),
        "enum": polars.Series(repeat_cells(["yes", None, ""]), dtype=polars.Enum(["yes", ""])),
        "categorical": polars.Series(repeat_cells(["yes", None, ""]), dtype=polars.Categorical),
        "int128": polars.Series(repeat_cells([0, -(2**127), 2**127 - 1, None]), dtype=polars.Int128),
        "time": polars.Series(repeat_cells([None, 0, MOST, LEAST]), dtype=polars.Int64).cast(polars.Time, strict=False),
    }
    texts = repeat_cells(["yes", None, ""])
    meanings |= dict.fromkeys(("object", "int128", "time"), [OPAQUE] * LENGTH) | {"enum": texts, "categorical": texts}
    return frame.with_columns(**more), meanings


def _csv(place: Path, harmless: bool) -> TableWithMeanings:
    """Every cell is text; an empty one is missing."""
    meaning = {
        f"text {at}": repeat_cells([text or None for text in TEXTS[at : at + LENGTH]])
        for at in range(0, len(TEXTS), LENGTH)
    }
    shown = {name: [None] * LENGTH for name in meaning} if harmless else meaning
    return as_csv({"id": list(range(LENGTH)), **shown}, place), meaning


def _sqlite(place: Path, harmless: bool) -> TableWithMeanings:
    """A cell of any kind in columns declared as anything; what SQLite keeps is what counts."""
    declared = ("", "INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC", "DATE", "BOOLEAN", "nonsense")
    cells: list[Any] = [None, LEAST, MOST, 1e308, float("inf"), float("nan"), "", "yes", "a\0b", b"\xff", b"yes", " 5 "]
    path = place / f"{harmless}.sqlite"
    with closing(sqlite3.connect(path)) as file, file:
        named = ", ".join(f'"{kind} column" {kind}' for kind in declared)
        file.execute(f"CREATE TABLE people (id, {named}, computed AS (abs(id)), large, invalid)")
        slots = ", ".join("?" * (len(declared) + 2))
        bad = "CAST(x'ff796573' AS TEXT)"
        for at, cell in enumerate(cells):
            shown = None if harmless else cell
            file.execute(f"INSERT INTO people VALUES ({slots}, {bad})", [at, *[shown] * len(declared), "y" * 10**5])
    meaning = {}
    for kind in declared:
        real, number = kind == "REAL", kind not in ("", "TEXT", "BLOB")
        kept = [None, str(LEAST), str(MOST), "1e+308", "inf", None, "", "yes", "a\0b", "\ufffd", "yes", " 5 "]
        if real:
            kept[1:3] = [repr(float(LEAST)), repr(float(MOST))]
        if kind == "TEXT":
            kept[3:5] = ["1.0e+308", "Inf"]
        if number:
            kept[11] = "5.0" if real else "5"
        meaning[f"{kind} column"] = kept
    return path, meaning | {
        "computed": [OPAQUE] * LENGTH,
        "large": ["y" * 10**5] * LENGTH,
        "invalid": ["\ufffdyes"] * LENGTH,
    }


MAKERS: dict[str, Callable[[Path, bool], TableWithMeanings]] = {
    "arrow file": _arrow_file,
    "arrow table": _arrow_table,
    "parquet": _parquet,
    "folder": _folder,
    "pandas": _pandas,
    "pandas, arrow": _pandas_arrow,
    "polars": _polars,
    "csv": _csv,
    "sqlite": _sqlite,
}
