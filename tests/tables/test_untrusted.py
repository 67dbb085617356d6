"""Untrusted tables: Arrow data with invalid offsets, Parquet cells outside their type, and SQLite schemas."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.dataset
import pyarrow.ipc
import pyarrow.parquet
import pytest

import hetdp
from hetdp import duck
from hetdp.cli.main import main
from hetdp.partitioned import workspace
from hetdp.tables.dialect import FileOptions
from hetdp.tables.sources import open_source
from tests.partitioned.inline import Inline
from tests.tables.extremes import BAD_TEXTS, MAKERS, arrow_columns, text_array
from tests.tables.tables import PEOPLE, as_arrow, as_sqlite
from tests.tables.test_every_cell import WHOLE, outcomes

QUESTION: dict[str, Any] = {"at_least": 3, "epsilon": 1, "person": "id"}


def table_of(votes: Any) -> pa.Table:
    return pa.table({"id": range(len(votes)), "vote": votes})


def lost_offsets() -> pa.Array:
    """Texts with offsets far behind the end of the data."""
    offsets = np.array([0, 1 << 30, -(1 << 30), 5], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(offsets), pa.py_buffer(b"yesno")])


def lost_indices() -> pa.Array:
    indices = pa.array([0, 1 << 20, -5], pa.int32())
    return pa.DictionaryArray.from_arrays(indices, pa.array(["yes", "no"]), safe=False)


def lost_views() -> pa.Array:
    views = struct.pack("<i4sii", 99, b"long", 7, 1 << 30) * 3
    return pa.Array.from_buffers(pa.string_view(), 3, [None, pa.py_buffer(views)])


BROKEN_ARROW = {"offsets": lost_offsets, "indices": lost_indices, "views": lost_views}


@pytest.mark.parametrize("lost", BROKEN_ARROW)
def test_invalid_offsets_in_arrow_data_are_refused_before_they_are_followed(lost):
    for table in (table_of(BROKEN_ARROW[lost]()), table_of(BROKEN_ARROW[lost]()).to_batches()[0]):
        with pytest.raises(hetdp.InputError, match=r"^the table: cannot be read; .*Hint: curator=True shows"):
            hetdp.ask(table, "vote = 'yes'", **QUESTION, dry_run=True)
    with pytest.raises(hetdp.InputError, match=r"cannot be read: .+"):
        hetdp.ask(table_of(BROKEN_ARROW[lost]()), "vote = 'yes'", **QUESTION, dry_run=True, curator=True)
    if lost != "views":
        edges = pa.table({"source": BROKEN_ARROW[lost](), "target": ["a", "b", "c"], "epsilon": [1.0] * 3})
        with pytest.raises(hetdp.InputError, match="broken Arrow data"):
            hetdp.from_table(edges)
    frame = pandas.DataFrame(
        {"id": range(3), "vote": pandas.arrays.ArrowExtensionArray(pa.chunked_array([BROKEN_ARROW[lost]()]))}
    )
    with pytest.raises(hetdp.InputError, match="cannot be read"):
        hetdp.ask(frame, "vote = 'yes'", **QUESTION, simulate=True)


def test_an_arrow_file_with_any_one_byte_changed_is_read_or_refused(tmp_path, capsys):
    place = as_arrow({"id": [1, 2, 3], "vote": ["yes", "no", "yes"]}, tmp_path)
    whole, ends = place.read_bytes(), set()
    for at in range(0, len(whole), 1 if WHOLE else 29):
        place.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            with open_source(place) as source:
                outcomes(source, "vote") if "vote" in source.columns else None
            ends.add("read")
        except hetdp.InputError:
            ends.add("refused")
    assert ends == {"read", "refused"}
    place.write_bytes(whole[: len(whole) // 2])
    assert (
        main(
            [
                "ask",
                str(place),
                "--count",
                "vote = 'yes'",
                "--at-least",
                "2",
                "--epsilon",
                "1",
                "--person",
                "id",
                "--dry-run",
            ]
        )
        == 3
    )
    assert "cannot be read" in capsys.readouterr().err


def test_readers_and_datasets_of_arrow_are_not_tables(tmp_path):
    whole = table_of(["yes"] * 4)
    pyarrow.parquet.write_table(whole, tmp_path / "people.parquet")
    for table, hint in (
        (pyarrow.dataset.dataset(tmp_path / "people.parquet"), "to_table"),
        (whole.to_reader(), "read_all"),
    ):
        with pytest.raises(hetdp.UsageError, match=f"expected a table, got .*{hint}"):
            hetdp.ask(table, "vote = 'yes'", **QUESTION, dry_run=True)


def test_text_that_is_not_utf8_has_no_value_wherever_arrow_holds_it(tmp_path):
    cells = [*BAD_TEXTS, b"yes", None]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        table = table_of(text_array(kind, cells))
        frame = pandas.DataFrame({"id": range(len(cells)), "vote": pandas.arrays.ArrowExtensionArray(table["vote"])})
        with pa.ipc.new_file(str(tmp_path / "people.arrow"), table.schema) as file:
            file.write_table(table)
        for door in (table, frame, polars.from_arrow(table), tmp_path / "people.arrow"):
            result = hetdp.ask(door, "vote IS NULL", at_least=7, epsilon=200, person="id", simulate=True)
            assert result.simulated[0].answer == "yes"
            result = hetdp.ask(door, "vote = 'yes'", at_least=1, epsilon=200, person="id", simulate=True)
            assert result.simulated[0].answer == "yes"


def raw(cells: list[int], width: int) -> list[bytes]:
    return [cell.to_bytes(width, "little", signed=cell < 0) for cell in cells]


MARK = 0x55
WIDE = [0, 1, -1, 2**31 - 1, -(2**31), 70_000, 300]
PATCHED_CELLS: dict[str, tuple[pa.Array, bytes, list[bytes], dict[str, Any]]] = {
    **{
        str(kind): (pa.array([MARK] * 3, kind), raw([MARK], 4)[0], raw(WIDE, 4), {})
        for kind in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.uint32())
    },
    "date32": (pa.array([MARK] * 3, pa.int32()).view(pa.date32()), raw([MARK], 4)[0], raw(WIDE, 4), {}),
    "timestamp": (
        *(pa.array([MARK] * 3).view(pa.timestamp("us")), raw([MARK], 8)[0]),
        *(raw([0, 2**63 - 1, -(2**63), -(2**63) + 1], 8), {}),
    ),
    "int96": (
        *(pa.array([MARK] * 3).view(pa.timestamp("ns")), struct.pack("<qI", MARK, 2440588)),
        [struct.pack("<qI", a, b) for a in (0, 2**63 - 1, -(2**63)) for b in (0, 2440588, 2**32 - 1, 2**31)],
        {"use_deprecated_int96_timestamps": True},
    ),
    "short decimal": (
        *(pa.array([Decimal(MARK)] * 3, pa.decimal128(5, 0)), raw([MARK], 4)[0], raw(WIDE, 4)),
        {"store_decimal_as_integer": True},
    ),
    **{
        f"decimal of {width} bytes": (
            *(pa.array([Decimal(MARK).scaleb(-1)] * 3, pa.decimal128(digits, 1)), MARK.to_bytes(width, "big")),
            *(
                [
                    cell.to_bytes(width, "big", signed=cell < 0)
                    for cell in (0, 2 ** (8 * width - 1) - 1, -(2 ** (8 * width - 1)))
                ],
                {},
            ),
        )
        for digits, width in ((38, 16), (20, 9), (2, 1))
    },
    "float16": (pa.array([np.float16(1.5)] * 3), np.float16(1.5).tobytes(), [b"\0\x7c", b"\xff\xff", b"\1\0"], {}),
    "double": (
        *(
            pa.array([1.5] * 3),
            struct.pack("<d", 1.5),
            [b"\xff" * 8, b"\1" + b"\0" * 6 + b"\x80", b"\1\0\0\0\0\0\xf0\x7f"],
            {},
        ),
    ),
}


@pytest.mark.parametrize("kind", PATCHED_CELLS)
def test_a_parquet_cell_that_its_type_does_not_allow_decides_nothing(kind, tmp_path):
    """Nor do statistics that are not about the cells."""
    array, mark, cells, options = PATCHED_CELLS[kind]
    place = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(pa.table({"x": array}), place, compression="NONE", use_dictionary=False, **options)
    whole = place.read_bytes()
    assert whole.count(mark * 3) == 1
    with open_source(place) as source:
        usual = [isinstance(one, str) for one in outcomes(source, "x")]
    output = set()
    for cell in cells:
        place.write_bytes(whole.replace(mark * 3, cell * 3))
        with open_source(place) as source:
            found = outcomes(source, "x")
        assert [isinstance(one, str) for one in found] == usual
        output.add(str(found))
    assert len(output) > 1 or kind == "date32"


PATCHED_FILES = {
    "arrow file": 'timestamp s", "date64", "string bad", "decimal beyond',
    "parquet": 'timestamp us", "date32", "decimal128(38,0)", "float',
    "folder": 'timestamp us", "date32", "decimal128(38,0)", "float',
    "csv": 'text 0", "text 12", "text 24',
    "sqlite": 'REAL column", "TEXT column", "invalid", "large',
}


@pytest.mark.parametrize("form", PATCHED_FILES)
def test_the_output_of_the_command_line_does_not_depend_on_the_cells(form, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline(twice=False))
    asked = " OR ".join(f'"{name}" IS NULL' for name in PATCHED_FILES[form].split('", "'))
    ends: dict[bool, list[Any]] = {True: [], False: []}
    for harmless, report in ends.items():
        (tmp_path / str(harmless)).mkdir()
        table, _ = MAKERS[form](tmp_path / str(harmless), harmless)
        place = table.rename(tmp_path / f"people{table.suffix}")
        designs = [[], ["--design", "weighted-vote"], ["--design", "fair"]]
        for more in [*designs, ["--engine", "dask"]] if form == "folder" else designs:
            words = ["ask", str(place), "--count", asked, "--at-least", "3", "--epsilon", "1", "--person", "id"]
            code = main([*words, "--simulate", "--seed", "1", *more])
            out, err = capsys.readouterr()
            report.append((more, code, out.count("\n"), err))
        (shutil.rmtree if place.is_dir() else Path.unlink)(place)
    assert ends[True] == ends[False]
    assert {code for _, code, *_ in ends[True]} == {0}


@pytest.mark.parametrize("role", ["person", "epsilon", "group"])
def test_a_public_column_of_any_type_is_read_or_refused_with_a_message(role):
    ends = {"read": 0, "refused": 0}
    for name, (array, _) in list(arrow_columns().items())[len(role) % 4 :: 1 if WHOLE else 4]:
        table = pa.table({"id": range(len(array)), "vote": ["yes"] * len(array), "x": array})
        usual = QUESTION | {role: "x"}
        try:
            hetdp.ask(table, "vote = 'yes'", **usual, dry_run=True)
            ends["read"] += 1
        except hetdp.HetdpError as refusal:
            ends["refused" if str(refusal) else f"{name} is refused without a word"] += 1
    assert set(ends) == {"read", "refused"}
    assert ends["refused"] > 10


def test_a_journal_beside_an_sqlite_file_is_not_rolled_back_and_nothing_is_written(tmp_path):
    place = as_sqlite(PEOPLE, tmp_path)
    with closing(sqlite3.connect(place, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN")
        writer.execute("UPDATE people SET vote = hex(randomblob(9000))")
        (tmp_path / "left").mkdir()
        for file in (place, Path(f"{place}-journal")):
            shutil.copy(file, tmp_path / "left" / file.name)
        writer.execute("ROLLBACK")
    left = {file.name: file.read_bytes() for file in (tmp_path / "left").iterdir()}
    assert len(left) == 2
    with pytest.raises(hetdp.InputError, match="cannot be read"), open_source(tmp_path / "left" / place.name):
        pass
    assert {file.name: file.read_bytes() for file in (tmp_path / "left").iterdir()} == left


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
def test_a_pipe_in_the_place_of_a_journal_is_refused(tmp_path, suffix):
    place = as_sqlite(PEOPLE, tmp_path)
    os.mkfifo(f"{place}{suffix}")
    with (
        pytest.raises(hetdp.InputError, match="not a plain file; SQLite keeps plain files beside its own"),
        open_source(place),
    ):
        pass


def test_code_in_an_sqlite_schema_is_not_run(tmp_path):
    place = tmp_path / "people.sqlite"
    with closing(sqlite3.connect(place)) as file, file:
        file.execute("CREATE TABLE people (id, vote, computed AS (abs(vote)), kept AS (vote || '') STORED)")
        file.execute("CREATE VIEW seen AS SELECT id, abs(vote) AS vote FROM people")
        file.execute("CREATE VIRTUAL TABLE found USING fts5(vote)")
        file.executemany("INSERT INTO people (id, vote) VALUES (?, ?)", [(1, 5), (2, 6), (3, None)])
    for sheet in ("seen", "found"):
        with pytest.raises(hetdp.UsageError, match="there is no table"), open_source(place, FileOptions(sheet)):
            pass
    with open_source(place, FileOptions("people")) as source:
        assert set(map(str, outcomes(source, "computed"))) == {"refused"}
        assert outcomes(source, "kept")[0] == [1, 1, 0]


def test_a_table_that_needs_too_much_memory_is_refused_with_a_message(monkeypatch):
    refusals = duck.hide_details
    monkeypatch.delenv(duck.MEMORY, raising=False)
    with (
        pytest.raises(hetdp.InputError, match="people: needs more memory than is available"),
        refusals("people", False),
    ):
        raise duckdb.OutOfMemoryException("failed to allocate data of size 8.0 EiB")
    monkeypatch.setenv(duck.MEMORY, "1GB")
    with pytest.raises(MemoryError), refusals("people", False):  # which a cluster tells as its own
        raise duckdb.OutOfMemoryException("failed to allocate data of size 8.0 EiB")
