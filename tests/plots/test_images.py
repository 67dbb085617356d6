"""Pictures compared with stored ones. HETDP_WRITE_GOLDEN=1 writes those anew, for a change that is meant; look at them.

Letters are drawn a little differently by each version of matplotlib, so what is compared is the mean colour of each
square of a few points.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import hetdp
from hetdp.plots.plot import write_figure
from tests.plots.shown import council, line, majority, senate, status, voters

STORED = Path(__file__).parent / "stored"
DOTS, SQUARE = 50, 6
FAR, NEAR = 0.25, 0.02  # at most so far off in one square, and so far in the mean
PICTURES = {
    "network": lambda: hetdp.plot(hetdp.design(voters()), explain="111"),
    "problem": lambda: hetdp.plot(voters()),
    "tallies": lambda: hetdp.plot(hetdp.design(council())),
    "summary": lambda: hetdp.plot(hetdp.design(line(40)), "summary"),
    "accuracy": lambda: hetdp.plot(hetdp.accuracy(majority())),
    "population": lambda: hetdp.plot(senate().design(), baselines=False),
    "ledger": lambda: hetdp.plot([status()]),
}


def squares(path: Path):
    """The mean colour of each square."""
    image = imread(path)[..., :3]
    rows, columns = (length // SQUARE for length in image.shape[:2])
    cut = image[: rows * SQUARE, : columns * SQUARE]
    return cut.reshape(rows, SQUARE, columns, SQUARE, 3).mean(axis=(1, 3))


def difference(one: Path, other: Path) -> tuple[float, float]:
    first, second = squares(one), squares(other)
    if first.shape != second.shape:
        return 1.0, 1.0
    apart = np.abs(first - second)
    return float(apart.max()), float(apart.mean())


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_looks_as_it_always_did(name, tmp_path):
    place, stored = tmp_path / "drawn.png", STORED / f"{name}.png"
    write_figure(PICTURES[name](), place, ".png", DOTS)
    if os.environ.get("HETDP_WRITE_GOLDEN"):
        stored.write_bytes(place.read_bytes())
    far, mean = difference(place, stored)
    assert far < FAR
    assert mean < NEAR


def test_another_picture_is_noticed(tmp_path):
    write_figure(hetdp.plot(hetdp.design(voters()), explain="222"), tmp_path / "a.png", ".png", DOTS)
    assert difference(tmp_path / "a.png", STORED / "network.png")[0] > FAR
    write_figure(hetdp.plot(hetdp.design(council(), "balanced")), tmp_path / "b.png", ".png", DOTS)
    assert difference(tmp_path / "b.png", STORED / "problem.png")[0] > FAR


def test_stored_pictures_are_small_and_all_used():
    assert {path.stem for path in STORED.iterdir()} == set(PICTURES)
    assert max(path.stat().st_size for path in STORED.iterdir()) < 25_000
