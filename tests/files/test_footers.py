"""The codecs in the footer of a Parquet file, as PyArrow wrote them; and no crafted footer shows DuckDB others."""

from __future__ import annotations

import random

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from hetdp.files.formats.parquet import BROTLI, codecs

CODECS = {None: 0, "snappy": 1, "gzip": 2, "brotli": BROTLI, "zstd": 6, "lz4": 7}
TABLE = pa.table(
    {
        "number": [1, 2],
        "lists": [["a"], None],
        "pairs": [{"a": 1.5}, None],
        "when": pa.array([0, 1], pa.timestamp("ms")),
    }
)


@pytest.mark.parametrize("codec", CODECS)
def test_the_codec_is_the_one_that_was_written(codec, tmp_path):
    pa.parquet.write_table(TABLE, tmp_path / "t.parquet", compression=codec, row_group_size=1)
    assert codecs(tmp_path / "t.parquet") == {CODECS[codec]}


def test_the_codec_of_every_column_counts(tmp_path):
    columns = {f"c{at}": [1] for at in range(40)}
    chosen = dict.fromkeys(columns, "zstd") | {"c39": "brotli"}
    pa.parquet.write_table(pa.table(columns), tmp_path / "t.parquet", compression=chosen)
    assert codecs(tmp_path / "t.parquet") == {CODECS["zstd"], BROTLI}


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1PAR1", b"PAR1\x10\0\0\0PAR1", b"PAR1\x15\x80\x80\3\0\0\0PAR1"])
def test_a_file_without_a_footer_is_not_a_parquet_file(data, tmp_path):
    (tmp_path / "t.parquet").write_bytes(data)
    with pytest.raises(ValueError, match="footer"):
        codecs(tmp_path / "t.parquet")


@pytest.mark.parametrize("within", [b"\x1c", b"\x19"])  # structures, or lists
def test_a_footer_that_is_too_deep_is_refused(within, tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1" + within * 100_000 + (100_000).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(ValueError, match="too deep"):
        codecs(tmp_path / "t.parquet")


def alter_footer(footer: bytes, rng: random.Random) -> bytes:
    """A footer with some bytes changed, put in, or taken out."""
    changed = bytearray(footer)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(changed))
        changed[at : at + rng.randint(0, 1)] = rng.choice([b"", b"\x15", b"\x80", bytes([rng.randrange(256)])])
    return bytes(changed)


def test_no_crafted_footer_shows_duckdb_brotli_that_is_not_seen_here(tmp_path):
    place, rng, seen = tmp_path / "t.parquet", random.Random(3), 0
    chosen = {"a": "brotli", "b": "snappy"}
    pa.parquet.write_table(pa.table({"a": [1], "b": ["x"]}), place, compression=chosen, write_statistics=False)
    data = place.read_bytes()
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    schema = data.index(b"\x19", begin) + 1  # the list of columns; it says that it holds something else
    lying = data[begin:schema] + bytes([data[schema] & 0xF4]) + data[schema + 1 : -8]
    with duckdb.connect() as database:
        for footer in (lying, *(alter_footer(data[begin:-8], rng) for _ in range(500))):
            place.write_bytes(data[:begin] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
            try:
                found = database.execute("SELECT compression FROM parquet_metadata(?)", [str(place)]).fetchall()
            except duckdb.Error:
                continue
            if ("BROTLI",) in found:
                seen += 1
                try:
                    assert BROTLI in codecs(place)
                except ValueError:
                    continue
    assert seen > 50
