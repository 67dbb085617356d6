"""A mechanism as a table."""

from __future__ import annotations


def test_columns_are_aligned_and_nothing_rounds_to_certainty(hetdp):
    assert hetdp("extend", "certain.json").out == (
        "dataset  query  p                error        pinned  binding\n"
        "far      1      1 − 1.35335e-19  1.35336e-19  no      near\n"
        "near     1      1 − 1e-18        1e-18        yes     -\n"
        "other    2      1e-18            1e-18        yes     -\n"
        "alone    2      0                0            no      -\n"
    )
