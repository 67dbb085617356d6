"""One partition: its datasets, ghosts, cut edges and arrays."""

from __future__ import annotations

import numpy as np
import pytest

from hetdp.errors import ClusterError
from hetdp.partitioned.partition import LocalGraph, map_array, write_array, write_cut
from tests.partitioned.partitions import partition_in


def test_arrays_are_mapped_as_they_were_written_and_other_files_are_refused(tmp_path):
    for at, values in enumerate(
        (np.arange(6.0).reshape(2, 3), np.empty((0, 2), np.int8), np.asfortranarray(np.eye(3)))
    ):
        write_array(tmp_path, tmp_path / "in" / f"{at}.npy", values)
        found = map_array(tmp_path, tmp_path / "in" / f"{at}.npy")
        assert np.array_equal(found, values)
        assert found.dtype == values.dtype
        assert not found.flags.writeable
    for content in (b"", b"no array", (tmp_path / "in" / "0.npy").read_bytes()[:-1]):
        (tmp_path / "bad.npy").write_bytes(content)
        with pytest.raises(ClusterError, match="holds no array"):
            map_array(tmp_path, tmp_path / "bad.npy")
    np.save(tmp_path / "bad.npy", np.array([None]))
    with pytest.raises(ClusterError, match="holds no array"):
        map_array(tmp_path, tmp_path / "bad.npy")
    with (tmp_path / "bad.npy").open("wb") as file:
        np.lib.format.write_array(file, np.arange(3), (2, 0))  # not what `write_array` writes
    with pytest.raises(ClusterError, match="holds no array"):
        map_array(tmp_path, tmp_path / "bad.npy")


def test_each_dataset_has_one_owner_and_empty_partitions_own_none(tmp_path):
    parts = [partition_in(tmp_path, number) for number in range(4)]
    assert parts[0].owners(np.arange(7)).tolist() == [0, 0, 2, 2, 2, 3, 3]
    assert [(one.first, one.size) for one in parts] == [(0, 2), (2, 0), (2, 3), (5, 2)]
    for one in parts:
        one.save("values", np.arange(one.first, one.first + one.size) * 10)
    assert parts[1].gather_from_owners("values", np.array([0, 1, 4, 5])).tolist() == [0, 10, 40, 50]
    assert parts[1].gather_from_owners("values", np.empty(0, np.int64)).dtype == np.int64
    assert parts[0].path("run-1/x") == tmp_path / "run-1" / "0" / "x.npy"
    assert parts[0].path("x/y") == tmp_path / "0" / "x" / "y.npy"


def test_positions_of_own_datasets_and_ghosts_are_in_the_order_of_their_numbers(tmp_path):
    part = partition_in(tmp_path, 2)
    part.save("ghosts", np.array([1, 5, 6]))
    graph = LocalGraph(part)
    assert (graph.size, graph.before, graph.own) == (6, 1, slice(1, 4))
    numbers = [1, 2, 3, 4, 5, 6]
    assert graph.numbers(np.arange(6)).tolist() == numbers
    assert graph.numbers(np.array([-1, 2])).tolist() == [-1, 3]
    assert [graph.place(number) for number in numbers] == list(range(6))
    assert graph.places(np.array([*numbers, 0, -1, 7])).tolist() == [*range(6), -1, -1, -1]
    assert graph.with_ghosts(np.array([2, 3, 4]), np.array([1, 5, 6])).tolist() == numbers
    part.save("ghosts", np.empty(0, np.int64))
    assert LocalGraph(part).places(np.array([2, 5])).tolist() == [0, -1]


def test_changes_are_sent_to_the_owners_of_the_other_ends(tmp_path):
    part = partition_in(tmp_path, 2)
    write_cut(part, np.array([2, 6, 3, 4, 2]), np.array([0, 2, 4, 1, 1]))
    bounds, places = part.load("cut_bounds").tolist(), part.load("cut_places").tolist()
    told = {receiver: places[bounds[receiver] : bounds[receiver + 1]] for receiver in range(4)}
    assert told == {0: [0, 2], 1: [], 2: [], 3: [0]}
