"""The verdict of all partitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetdp.certificate.rule import MISSING, NOTHING_GIVEN, UNPINNED
from hetdp.partitioned.verification import PartitionSurvey, _follow_links, _merge


def survey(slack: float, worst: Any, **more: Any) -> PartitionSurvey:
    return PartitionSurvey(2, 1, 1, slack, worst, more.pop("free_boundary", -1), **more)


def test_the_worst_edge_of_all_partitions_is_the_first_of_the_worst():
    whole = _merge([survey(0.5, (3, 4)), survey(0.1, (5, 6)), survey(0.1, (1, 2)), survey(np.inf, None)])
    assert (whole.slack, whole.worst) == (0.1, (1, 2))
    assert (whole.arcs, whole.enclosed, whole.violations) == (8, 4, 4)


def test_the_first_fault_of_all_partitions_is_reported():
    problem: Any = None  # no chain is followed
    found = _follow_links(
        problem, "m", [survey(0, None, missing=9), survey(0, None, missing=4), survey(0, None, loose=1)]
    )
    assert (found.fault, found.dataset) == (MISSING, 4)
    for is_pinned, fault, dataset in ((True, UNPINNED, 7), (False, NOTHING_GIVEN, -1)):
        pieces = [survey(0, None, missing=0, is_pinned=is_pinned), survey(0, None, free_boundary=7)]
        free = _follow_links(problem, "m", pieces)
        assert (free.fault, free.dataset) == (fault, dataset)
