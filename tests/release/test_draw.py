"""The exact draw: every bit string, exact probabilities, and nothing but the operating system's bits."""

from __future__ import annotations

import math

import pytest

from hetdp.errors import UsageError
from hetdp.release.draw import bernoulli
from hetdp.release.draw.bernoulli import draw
from hetdp.release.draw.tails import TAILS

COORDINATES = sorted(TAILS)
PLACES = [0.0, -0.0, 1e-300, -1e-300, 0.3, -2.5, 700.0, -700.0, 1e308, -1e308, math.inf, -math.inf]


@pytest.mark.parametrize("coordinate", COORDINATES)
@pytest.mark.parametrize("z", PLACES)
def test_every_draw_is_one_call_for_sixteen_bytes(monkeypatch, coordinate, z):
    calls = []
    monkeypatch.setattr(bernoulli.os, "urandom", lambda count: calls.append(count) or b"\x5a" * count)
    draw(coordinate, z)
    assert calls == [16]


def test_not_a_number_is_refused_without_a_draw(monkeypatch):
    monkeypatch.setattr(bernoulli.os, "urandom", lambda count: pytest.fail("bits were drawn"))
    with pytest.raises(UsageError, match="a coordinate is not a number"):
        draw("Laplace", math.nan)


def test_an_unknown_coordinate_is_refused():
    with pytest.raises(UsageError, match="no draw is known for the coordinate 'p'; it is one of Laplace"):
        draw("p", 0.5)
