"""Rows and chunks of edge files."""

from __future__ import annotations

import numpy as np
import pytest

from hetdp.partitioned import edges
from hetdp.partitioned.edges import AssignedEdges, Chunk, chunks_of
from tests.partitioned.partitions import files_with


def test_rows_are_named_by_file_and_ranges_are_cut_by_file():
    several = files_with(3, 0, 2)
    assert (several.length, several.starts) == (5, [0, 3, 3, 5])
    assert several.row(2) == "edges/part-0.parquet row 3"
    assert several.row(3) == "edges/part-2.parquet row 1"
    assert files_with(3).row(0) == "edges row 1"
    names = [(path[-9:-8], low, high) for path, low, high in several.pieces(1, 4)]
    assert names == [("0", 1, 3), ("2", 0, 1)]
    assert several.pieces(2, 2) == []


@pytest.mark.parametrize("workers", [1, 3, 100])
def test_chunks_cover_each_row_once_and_span_no_two_files(workers, monkeypatch):
    monkeypatch.setattr(edges, "CHUNK", 5)
    files = files_with(17, 0, 4)
    found = chunks_of(files, workers)
    assert [row for chunk in found for row in range(chunk.start, chunk.stop)] == list(range(21))
    assert [chunk.number for chunk in found] == list(range(len(found)))
    assert all(chunk.stop <= 17 or chunk.start >= 17 for chunk in found)
    assert max(chunk.stop - chunk.start for chunk in found) <= 5
    assert len(found) <= 5 + 16
    assert chunks_of(files_with(0), workers) == []
    assert chunks_of(files_with(4), 1) == [Chunk(0, 0, 4)]


def test_the_row_of_an_edge_is_counted_over_chunks():
    assigned = AssignedEdges(*[np.zeros(3, np.int64)] * 2, (), [(10, np.array([2, 4])), (20, np.array([1]))])
    assert [assigned.row(at) for at in range(3)] == [12, 14, 21]
    with pytest.raises(IndexError):
        assigned.row(3)
