"""Nothing covers anything else in any picture, in one column of a paper or in two."""

from __future__ import annotations

import pytest
from matplotlib import pyplot

import hetdp
from docs.pictures.drawn import PICTURES
from tests.plots.overlaps import overlaps
from tests.plots.scenes import SCENES, WIDTHS
from tests.plots.shown import voters
from tests.stress import long, mostly_long

DENSE = ("4 voters", "5 voters", "6 voters", "directed path", "metric grid", "64 datasets", "summary of components")
SLOW = ("groups", "many-votes")
GALLERY = sorted(PICTURES, key=SLOW.__contains__)  # the slow ones last


@pytest.mark.parametrize("scene", DENSE)
def test_nothing_overlaps_in_a_column(scene):
    assert overlaps(hetdp.plot(**SCENES[scene](), width="column")) == []


@long
@pytest.mark.parametrize("scene", SCENES)
def test_nothing_overlaps_at_any_width(scene):
    arguments = SCENES[scene]()
    for width in WIDTHS:
        assert overlaps(hetdp.plot(**arguments, width=width)) == [], width
        pyplot.close("all")


@pytest.mark.parametrize("name", mostly_long(GALLERY, len(GALLERY) - len(SLOW)))
def test_nothing_overlaps_in_the_gallery(name):
    assert overlaps(PICTURES[name]()) == []


def test_overlaps_are_found():
    axes = hetdp.plot(hetdp.design(voters()))
    axes.annotate("over a dataset", (1.5, 0.0), ha="center")
    axes.annotate("over the legend", (0.5, -0.45), xycoords="axes fraction")
    axes.annotate("at the edge", (1.0, 0.98), xycoords="figure fraction")
    axes.get_figure().set_layout_engine("none")
    found = " ".join(overlaps(axes))
    assert "over a dataset" in found
    assert "over the legend" in found
    assert "at the edge', " in found
    assert "sticks out of the page" in found


@pytest.mark.parametrize("count", mostly_long([5, 3], 1))
def test_values_are_written_inside_the_datasets(count):
    axes = hetdp.plot(**SCENES[f"{count} voters"]())
    labels = [text for text in axes.texts if len(text.get_text().split("\n")[0]) == count]
    assert len(labels) == 2**count
    places = {tuple(text.xy) for text in labels}
    painted = [each for each in axes.collections if each.get_array() is not None]
    dots = {tuple(place) for each in painted for place in each.get_offsets().tolist()}
    assert places == dots
    assert {tuple(text.xyann) for text in labels} == {(0.0, 0.0)}


def test_every_dataset_of_six_voters_is_named_on_a_page():
    axes = hetdp.plot(**SCENES["6 voters"](), width="page")
    assert len({text.get_text().split(" ")[0] for text in axes.texts}) == 64


@pytest.mark.parametrize("scene", mostly_long(["towns", "64 datasets", "hostile labels"], 1))
def test_labels_that_are_cut_stay_distinct(scene):
    texts = [text.get_text() for text in hetdp.plot(**SCENES[scene](), width="page").axes.texts]
    names = [text.rpartition("\n" if "\n" in text else " ")[0] for text in texts if text and "=" not in text]
    assert len(set(names)) == len(names) > 7
