"""The parameters of an arc, for notions of one, two or four: written out, since a compiled tuple has a fixed length."""

from __future__ import annotations

from hetdp.engines.cpu.grow import Columns


def one(columns: Columns, arc: int) -> tuple[float]:
    """The same in both directions."""
    return (float(columns[0][arc]),)


def two(columns: Columns, arc: int) -> tuple[float, float]:
    """One for each direction."""
    return float(columns[0][arc]), float(columns[1][arc])


def two_turned(columns: Columns, arc: int) -> tuple[float, float]:
    """The same, seen from the target."""
    return float(columns[1][arc]), float(columns[0][arc])


def four(columns: Columns, arc: int) -> tuple[float, float, float, float]:
    """Two for each direction."""
    return float(columns[0][arc]), float(columns[1][arc]), float(columns[2][arc]), float(columns[3][arc])


def four_turned(columns: Columns, arc: int) -> tuple[float, float, float, float]:
    """The same, seen from the target."""
    return float(columns[1][arc]), float(columns[0][arc]), float(columns[3][arc]), float(columns[2][arc])


BY_PLACES = {  # by where a parameter is found, seen from the target: how to read an arc, from the source and from there
    (0,): (one, one),
    (1, 0): (two, two_turned),
    (1, 0, 3, 2): (four, four_turned),
}
