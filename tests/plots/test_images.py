"""Pictures compared with stored ones. HETDP_WRITE_GOLDEN=1 rewrites these after an intended change; look at them.

Each version of matplotlib draws letters a little differently, so the mean colours of squares of a few points are
compared.
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

GOLDEN = Path(__file__).parent / "stored"
DOTS, SQUARE = 50, 6
MOST_IN_A_SQUARE, MOST_ON_AVERAGE = 0.25, 0.02  # at most so far off in one square, and so far in the mean
PICTURES = {
    "network": lambda: hetdp.plot(hetdp.design(voters()), explain="111"),
    "problem": lambda: hetdp.plot(voters()),
    "tallies": lambda: hetdp.plot(hetdp.design(council())),
    "summary": lambda: hetdp.plot(hetdp.design(line(40)), "summary"),
    "accuracy": lambda: hetdp.plot(hetdp.accuracy(majority())),
    "population": lambda: hetdp.plot(senate().design(), baselines=False),
    "ledger": lambda: hetdp.plot([status()]),
}


def mean_colours(path: Path):
    """The mean colour of each square."""
    image = imread(path)[..., :3]
    rows, columns = (length // SQUARE for length in image.shape[:2])
    cut = image[: rows * SQUARE, : columns * SQUARE]
    return cut.reshape(rows, SQUARE, columns, SQUARE, 3).mean(axis=(1, 3))


def difference(one: Path, other: Path) -> tuple[float, float]:
    first, second = mean_colours(one), mean_colours(other)
    if first.shape != second.shape:
        return 1.0, 1.0
    apart = np.abs(first - second)
    return float(apart.max()), float(apart.mean())


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_matches_the_stored_one(name, tmp_path):
    place, stored = tmp_path / "drawn.png", GOLDEN / f"{name}.png"
    write_figure(PICTURES[name](), place, ".png", DOTS)
    if os.environ.get("HETDP_WRITE_GOLDEN"):
        stored.write_bytes(place.read_bytes())
    far, mean = difference(place, stored)
    assert far < MOST_IN_A_SQUARE
    assert mean < MOST_ON_AVERAGE


def test_a_different_picture_is_noticed(tmp_path):
    write_figure(hetdp.plot(hetdp.design(voters()), explain="222"), tmp_path / "a.png", ".png", DOTS)
    assert difference(tmp_path / "a.png", GOLDEN / "network.png")[0] > MOST_IN_A_SQUARE
    write_figure(hetdp.plot(hetdp.design(council(), "balanced")), tmp_path / "b.png", ".png", DOTS)
    assert difference(tmp_path / "b.png", GOLDEN / "problem.png")[0] > MOST_IN_A_SQUARE


def test_stored_pictures_are_small_and_all_used():
    assert {path.stem for path in GOLDEN.iterdir()} == set(PICTURES)
    assert max(path.stat().st_size for path in GOLDEN.iterdir()) < 25_000
