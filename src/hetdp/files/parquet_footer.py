"""The footer of a Parquet file, as far as it says how the columns are compressed.

DuckDB would say so, too, but it reads the least and the greatest cell of every column on the way, and fails at some of
them. So the footer, which is written in the compact protocol of Thrift, is read here, and of it nothing but the codecs.
A crafted file must not show DuckDB another codec than it shows here. So numbers are cut to their width, as Thrift's own
readers cut them; a list that says it holds something else than belongs in its place is refused; and of a field that is
there twice, both count.
"""

from __future__ import annotations

from pathlib import Path

from hetdp.errors import Fault, InputError

BROTLI = 4
NO_BROTLI = "no Parquet file compressed with Brotli is read, since a crafted one can run code"
BROTLI_HINT = "write it again with zstd or snappy"
MAGIC = b"PAR1"
DEEPEST = 64  # structures within each other; a footer has fewer than ten
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(1, 14)
WIDTHS = {BYTE: 1, DOUBLE: 8, UUID: 16}
CODEC = (4, 1, 3, 4)  # row groups, their columns, what is said of one, its codec: by the numbers of the fields
Fields = tuple[int, ...]
ITEMS: dict[Fields, int] = {  # of which kind the items of a list are: readers believe its place, not what it says
    **dict.fromkeys([(2,), (4,), (5,), (7,), (4, 1), (4, 4), (4, 1, 3, 8), (4, 1, 3, 13)], STRUCT),
    **dict.fromkeys([(4, 1, 3, 2), (4, 1, 3, 17, 2)], I32),
    **dict.fromkeys([(4, 1, 3, 16, 2), (4, 1, 3, 16, 3)], I64),
    **dict.fromkeys([(4, 1, 3, 3), (4, 1, 8, 2, 1)], BINARY),
}


def require_no_brotli(path: Path, name: str) -> None:
    """Refuses a Parquet file compressed with Brotli: what DuckDB unpacks it with trusts it (CVE-2026-111497).

    Args:
        path: the file.
        name: how messages name it.

    Raises:
        InputError: it is.
        ValueError: it is no Parquet file.
    """
    if BROTLI in codecs(path):
        raise InputError(name, [Fault("compressed with", name, "Brotli", NO_BROTLI, BROTLI_HINT)])


def codecs(path: Path) -> set[int]:
    """The numbers of the codecs by which columns of a Parquet file are compressed.

    Raises:
        ValueError: it is no Parquet file.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 8, 0))
        length, end = file.read(4), file.read(4)
        begin = size - 8 - int.from_bytes(length, "little")
        if end != MAGIC or begin < len(MAGIC):
            raise ValueError("no footer of a Parquet file")
        file.seek(begin)
        footer = file.read(size - 8 - begin)
    try:
        return _Footer(footer).codecs
    except IndexError:
        raise ValueError("a footer that ends too early") from None
    except RecursionError:
        raise ValueError("a footer that is too deep") from None


class _Footer:
    """Bytes in the compact protocol of Thrift, read from the first to the last.

    Attributes:
        codecs: those that were found.
    """

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self.codecs: set[int] = set()
        self._structure(())

    def _structure(self, path: Fields) -> None:
        if len(path) > DEEPEST:
            raise ValueError("a footer that is too deep")
        field = 0
        while header := self._byte():
            field = (field + (header >> 4) if header >> 4 else self._number(16)) & 0xFFFF
            if header & 15 not in (TRUE, FALSE):  # whose value is in the header
                self._value(header & 15, (*path, field))

    def _value(self, kind: int, path: Fields) -> None:
        """Goes behind a value."""
        if kind in WIDTHS:
            self._at += WIDTHS[kind]
        elif kind == I32 and path == CODEC:
            self.codecs.add(self._number(32))
        elif kind in (I16, I32, I64):
            self._varint()
        elif kind == BINARY:
            size = self._size()
            self._at += size
        elif kind == STRUCT:
            self._structure(path)
        elif kind in (LIST, SET):
            header = self._byte()
            size = self._size() if header >> 4 == 15 else header >> 4
            if size and ITEMS.get(path, header & 15) != header & 15:
                raise ValueError("a list of something else")
            self._items(size, (header & 15,), path)
        elif kind == MAP:
            size = self._size()
            kinds = self._byte() if size else 0
            self._items(size, (kinds >> 4, kinds & 15), path)
        else:
            raise ValueError("a kind of value that Thrift does not know")

    def _items(self, size: int, kinds: tuple[int, ...], path: Fields) -> None:
        for _ in range(size):
            for kind in kinds:
                self._value(BYTE if kind in (TRUE, FALSE) else kind, path)
            if self._at > len(self._data):
                raise IndexError

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number that is too long")

    def _number(self, width: int) -> int:
        """A number with a sign, as its lowest bits."""
        value = self._varint() & 0xFFFFFFFF
        return (value >> 1 ^ -(value & 1)) & ((1 << width) - 1)

    def _size(self) -> int:
        size = self._varint() & 0xFFFFFFFF
        if size >= 1 << 31:
            raise ValueError("a size below zero")
        return size
