"""Everybody can distinguish the colours of the two answers, also in print."""

from __future__ import annotations

import numpy as np
import pytest

from hetdp.plots.colours import LINES, colour_map, text_colour_on

COLOUR_BLINDNESS = {  # what people with each kind of colour blindness see of red, green and blue light (linear)
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colours):
    values = np.asarray(colours)[..., :3]
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def luminance(colours):
    return linear(colours) @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    high, low = max(one, other), min(one, other)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("kind", COLOUR_BLINDNESS)
def test_opposite_answers_look_different_to_colour_blind_readers(kind):
    p = np.array([0.0, 0.1, 0.2, 0.3])
    seen = [np.clip(linear(colour_map()(each)) @ np.transpose(COLOUR_BLINDNESS[kind]), 0, 1) for each in (p, 1 - p)]
    assert (np.linalg.norm(seen[0] - seen[1], axis=1) > 0.2).all()


def test_the_colour_of_one_half_is_the_lightest():
    light = luminance(colour_map()(np.linspace(0, 1, 101)))
    assert np.argmax(light) == 50
    assert (np.diff(light[:51]) > 0).all()
    assert (np.diff(light[50:]) < 0).all()
    red, green, blue, _ = colour_map()(0.5)
    assert max(red, green, blue) - min(red, green, blue) < 0.02


def test_printed_in_grey_the_two_answers_still_differ():
    p = np.linspace(0.0, 0.25, 6)
    assert (luminance(colour_map()(p)) > 1.5 * luminance(colour_map()(1 - p))).all()


def test_text_on_every_colour_is_legible():
    from matplotlib.colors import to_rgb

    for p in np.linspace(0, 1, 51):
        assert contrast(luminance(colour_map()(p)), luminance(to_rgb(text_colour_on(p)))) > 3.5, p


def test_curves_differ_by_their_dashes_too():
    from hetdp.plots.colours import DASHES, MARKS

    assert len(set(LINES)) == len(LINES)
    assert len(set(map(str, DASHES))) == len(DASHES) > 3
    assert len(set(MARKS)) == len(MARKS)
