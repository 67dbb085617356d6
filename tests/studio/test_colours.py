"""The colours of marks on the page, read from tokens.css: contrast, order, and what colour-blind readers see."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hetdp.plots import colours
from hetdp.studio import drawing, views
from hetdp.studio.drawing import INKS, SHADES, THEMES
from hetdp.studio.gallery import GALLERY
from hetdp.studio.screen import legend_of
from hetdp.studio.session import Session
from tests.plots.test_colours import COLOUR_BLINDNESS, contrast, linear, luminance

LEAST = 3.0  # of marks, by the Web Content Accessibility Guidelines (1.4.11)
P = np.linspace(0, 1, 21)  # steps that rounding to whole shades does not hide


def rgb(codes: list[str]) -> np.ndarray:
    return np.array([[int(code[at : at + 2], 16) / 255 for at in (1, 3, 5)] for code in codes])


def contrast_with_paper(codes: list[str], theme: str) -> np.ndarray:
    paper = luminance(rgb([INKS[theme]["paper"]]))[0]
    return np.array([contrast(one, paper) for one in luminance(rgb(codes))])


def test_both_rules_for_the_dark_page_have_the_same_colours_and_the_light_page_those_of_pictures():
    rules = re.findall(r"\{([^{}]*color-scheme: dark;)", drawing.TOKENS.read_text())
    assert len(rules) == 2
    assert len({" ".join(rule.split()) for rule in rules}) == 1
    assert tuple(SHADES["light"]) == colours.SHADES
    assert INKS["light"].keys() == INKS["dark"].keys() >= {"ink", "paper", "edge", "ring", "accent", "p50"}


@pytest.mark.parametrize("theme", THEMES)
def test_every_mark_is_seen_and_certain_answers_stand_out_most(theme):
    assert (contrast_with_paper([INKS[theme][name] for name in ("ink", "edge", "ring", "accent")], theme) > LEAST).all()
    seen = contrast_with_paper(drawing.colours_of(P, theme), theme)
    assert seen[10] == seen.min() < 4.5
    assert (np.diff(seen[:11]) < 0).all()
    assert (np.diff(seen[10:]) > 0).all()
    assert min(seen[0], seen[-1]) > 5
    if theme == "dark":
        assert seen.min() > LEAST
    else:  # a light grey, which each mark surrounds with the colour of edges
        assert contrast(*luminance(rgb([INKS[theme]["edge"], INKS[theme]["p50"]]))) > 2.8


@pytest.mark.parametrize("kind", COLOUR_BLINDNESS)
def test_opposite_answers_look_different_on_a_dark_page_to_colour_blind_readers(kind):
    p = np.array([0.0, 0.1, 0.2, 0.3])
    pairs = [
        linear(rgb(drawing.colours_of(each, "dark"))) @ np.transpose(COLOUR_BLINDNESS[kind]) for each in (p, 1 - p)
    ]
    assert (np.linalg.norm(np.clip(pairs[0], 0, 1) - np.clip(pairs[1], 0, 1), axis=1) > 0.15).all()


@pytest.mark.parametrize("theme", THEMES)
def test_network_and_charts_use_the_colours_of_their_theme(theme):
    survey = Session(GALLERY["survey"].make())
    cells = views.map_figure(survey, views.cells_of(survey), theme)["data"][0]
    *bands, dots = views.summary_figure(survey, theme)["data"]
    assert cells["colorscale"] == dots["marker"]["colorscale"] == SHADES[theme]
    assert {band["marker"]["line"]["color"] for band in bands} == {INKS[theme]["edge"]}
    assert dots["marker"]["line"]["color"] == INKS[theme]["ink"]
    node = next(rule["style"] for rule in drawing.stylesheet(theme, 8) if rule["selector"] == "node")
    assert (node["background-color"], node["border-color"]) == (f"data({theme})", INKS[theme]["edge"])
    style = (drawing.TOKENS.parent / "studio.css").read_text()
    scale = next(line for line in style.splitlines() if line.startswith(".key .scale"))
    assert re.findall(r"--p\d+", scale) == ["--p0", "--p20", "--p50", "--p80", "--p100"]


def test_every_symbol_of_a_legend_is_drawn():
    style = (drawing.TOKENS.parent / "studio.css").read_text()
    session = Session(GALLERY["survey"].make())
    session.select("edge", 0)
    for view in (views.NETWORK, views.MAP, views.SUMMARY):
        kinds = re.findall(r"I\(className='([^']+)'", str(legend_of(session, view)))
        assert len(kinds) > 2
        for kind in kinds:
            assert all(f".key .{name}" in style or f".{name} {{" in style for name in kind.split()), (view, kind)
