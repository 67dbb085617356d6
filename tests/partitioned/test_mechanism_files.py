"""Mechanism files that workers write."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hetdp.errors import ClusterError
from hetdp.partitioned import mechanism_files
from tests.partitioned.partitions import partition_in


def test_the_driver_sees_the_files_that_workers_wrote(tmp_path):
    problem: Any = SimpleNamespace(partitions=[partition_in(tmp_path, number) for number in range(4)])
    folder = tmp_path / "mechanism"
    folder.mkdir()
    for number, size in ((0, 3), (2, 5)):
        (folder / f"part-{number:06}.parquet").write_bytes(b"x" * size)
    mechanism_files._require_files(problem, folder, [3, 0, 5, 0])
    for sizes in ([3, 0, 4, 0], [3, 0, 5, 1], [3, 0, 0, 0]):
        with pytest.raises(ClusterError, match="are not there as they wrote them"):
            mechanism_files._require_files(problem, folder, sizes)


@pytest.mark.parametrize("own", [np.array([20, 30, 40]), np.array(["c", "d", "e"], dtype=object)])
def test_links_are_written_as_labels_wherever_they_lead(own, tmp_path):
    part = partition_in(tmp_path, 2)  # datasets 2, 3 and 4
    every = [0, 10, *own.tolist(), 50, 60] if own.dtype != object else list("abcdefg")
    labels: Any = SimpleNamespace(at=lambda numbers: [every[number] for number in numbers])
    links = np.array([-1, 3, 6])
    found = mechanism_files._bound_by(part, links, own, labels)
    assert found.tolist() == [None, every[3], every[6]]
    assert mechanism_files._bound_by(part, np.array([2, 4, -1]), own, labels).tolist() == [every[2], every[4], None]
    assert mechanism_files._bound_by(part, np.array([0, 5, 1]), own, labels).tolist() == [every[0], every[5], every[1]]
