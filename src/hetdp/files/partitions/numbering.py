"""From labels to numbers, in a distributed way: labels 0 … n − 1 are their own numbers, others meet in buckets.

Every partition writes its labels with their numbers, ordered by a hash; every chunk of edges writes the labels it
needs, each once, ordered by the same hash. One task for each bucket of the hash joins the two, and finds labels that
are there twice. Then each chunk reads the numbers that it asked for. DuckDB does all this, on disk where memory is
short.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hetdp.errors import ClusterError, InputError
from hetdp.files.formats.database import connection
from hetdp.files.formats.duck import INTEGERS, PARQUET_RULE, exactly, quoted_name, refusals
from hetdp.files.formats.ranges import ROWS, Files
from hetdp.interrupts import load_whole
from hetdp.problem.labels import RangeLabels
from hetdp.problem.parts import Part
from hetdp.problem.shared import fresh_file, open_plain, require_real
from hetdp.problem.space import Indices

RANGE, NAMED, STRANGE = "range", "named", "strange"  # labels that are numbers; that are looked up; of another kind
ENCODED = "encoded"  # labels that are looked up by their JSON
WIDE = "DECIMAL(20, 0)"  # holds integers of 64 bits, signed or not; Parquet would round a HUGEINT to a float
REPEATED = 1000  # labels that are there twice which are reported


def kind_of(files: Files, column: str) -> str:
    """What labels in a column are: integers, text, or nothing that a label may be."""
    kind = files.kinds.get(column, "")
    return "integer" if kind in INTEGERS else "text" if kind == "VARCHAR" or kind.startswith("ENUM") else kind


def _label(column: str, kind: str) -> str:
    """A label as it is compared: integers of any width alike, text as it is."""
    return f"CAST({quoted_name(column)} AS {WIDE if kind == 'integer' else 'VARCHAR'})"


def write_names(part: Part, files: Files, buckets: int) -> str:
    """Writes the labels of a partition with their numbers, by bucket; returns whose hash it is."""
    label, number = _label("dataset", kind_of(files, "dataset")), part.first
    queries = []
    for path, low, high in files.pieces(part.first, part.first + part.size):
        queries.append(
            f"SELECT {label} AS label, file_row_number - {low} + {number} AS number"
            f" FROM {rows_of_file(path)} WHERE file_row_number >= {low} AND file_row_number < {high}"
        )
        number += high - low
    if queries:
        query = f"SELECT label, number, hash(label) % {buckets} AS bucket FROM ({' UNION ALL '.join(queries)})"
        copy_to(f"{query} ORDER BY bucket", part.work, Path(part.work, "names", f"{part.number}.parquet"))
    return _maker()


def _maker() -> str:
    """Versions of DuckDB may hash otherwise: a label that is there twice would be in two buckets."""
    return f"DuckDB {load_whole('duckdb').__version__}"


def write_wanted(part: Part, chunk: int, files: Files, rows: tuple[int, int], buckets: int) -> str:
    """Writes the different labels that a chunk of edges speaks of, by bucket; returns whose hash it is."""
    queries = [
        f"SELECT {_label(end, kind_of(files, end))} AS label FROM {rows_of_file(path)}"
        f" WHERE file_row_number >= {low} AND file_row_number < {high}"
        for path, low, high in files.pieces(*rows)
        for end in ("source", "target")
    ]
    query = (
        f"SELECT DISTINCT label, {chunk} AS chunk, hash(label) % {buckets} AS bucket"
        f" FROM ({' UNION ALL '.join(queries)}) WHERE label IS NOT NULL ORDER BY bucket"
    )
    copy_to(query, part.work, Path(part.work, "wanted", f"{chunk}.parquet"))
    return _maker()


def join_bucket(part: Part, bucket: int, chunks: int) -> tuple[list[int], int]:
    """Finds the numbers of all labels that hash to a bucket; returns the datasets whose label was there before.

    Args:
        part: any partition.
        bucket: which bucket.
        chunks: how many chunks of edges ask for numbers.
    """
    names = f"SELECT label, number FROM {_table(part, 'names', len(part.offsets) - 1)} WHERE bucket = {bucket}"
    with _own_files(), connection() as database:
        again = f"SELECT number FROM ({names}) QUALIFY row_number() OVER (PARTITION BY label ORDER BY number) > 1"
        repeated = [number for (number,) in database.execute(f"{again} ORDER BY number").fetchall()]
    if chunks:
        wanted = f"SELECT label, chunk FROM {_table(part, 'wanted', chunks)} WHERE bucket = {bucket}"
        first = f"SELECT label, min(number) AS number FROM ({names}) GROUP BY label"
        query = f"SELECT chunk, label, number FROM ({wanted}) JOIN ({first}) USING (label) ORDER BY chunk"
        with _own_files():
            copy_to(query, part.work, Path(part.work, "found", f"{bucket}.parquet"))
    return repeated[:REPEATED], len(repeated)


def numbers_of_ends(
    part: Part, chunk: int, files: Files, rows: tuple[int, int], ends: list[Any], labels: str
) -> tuple[Indices, Indices]:
    """The numbers of both ends of a chunk's edges, −1 where a label names no dataset."""
    if labels == STRANGE:
        return np.full(rows[1] - rows[0], -1), np.full(rows[1] - rows[0], -1)
    if labels == RANGE:
        known = RangeLabels(part.offsets[-1])
        return known.indices(ends[0]), known.indices(ends[1])
    return _looked_up(part, chunk, files, rows, "source"), _looked_up(part, chunk, files, rows, "target")


def _looked_up(part: Part, chunk: int, files: Files, rows: tuple[int, int], end: str) -> Indices:
    found = f"(SELECT label, number FROM {_table(part, 'found', len(part.offsets) - 1)} WHERE chunk = {chunk})"
    numbers = []
    with _own_files(), connection() as database:
        for path, low, high in files.pieces(*rows):
            edges = (
                f"(SELECT file_row_number AS row, {_label(end, kind_of(files, end))} AS label FROM {rows_of_file(path)}"
            )
            edges += f" WHERE file_row_number >= {low} AND file_row_number < {high})"
            query = f"SELECT coalesce(number, -1) AS number FROM {edges} LEFT JOIN {found} USING (label) ORDER BY row"
            numbers.append(np.asarray(database.execute(query).fetchnumpy()["number"], dtype=np.int64))
    return np.concatenate(numbers)


def rows_of_file(path: str) -> str:
    """The rows of a file, with their numbers."""
    return ROWS.replace("?", _text(exactly(Path(path))))


def _table(part: Part, name: str, count: int) -> str:
    """All files of one step, and no others; a folder above them that is called ``number=1`` is no column."""
    folder = Path(part.work, name)
    require_real(part.work, folder)
    files = [path for path in (folder / f"{number}.parquet" for number in range(count)) if path.exists()]
    for path in files:
        open_plain(path).close()  # or a refusal
    return f"read_parquet([{', '.join(_text(exactly(path)) for path in files)}], hive_partitioning=false)"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


@contextmanager
def _own_files() -> Iterator[None]:
    """What DuckDB cannot read of the work folder was changed by somebody: nobody's input is at fault."""
    try:
        with refusals("labels", PARQUET_RULE):
            yield
    except InputError:
        rule = "a run leaves whole files there; one that was changed or cut short is not used"
        raise ClusterError("the labels in the work folder cannot be read", rule) from None


def copy_to(query: str, root: str, path: Path) -> None:
    """The rows of a query as a file, whole or not at all, in a folder below a root that is there."""
    require_real(root, path.parent, make=True)
    with fresh_file(path) as draft, refusals("labels", PARQUET_RULE), connection() as database:
        database.execute(f"COPY ({query}) TO {_text(str(draft))} (FORMAT parquet)")
