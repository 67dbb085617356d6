"""The picture of a network: names, colours, places and neighbourhoods."""

from __future__ import annotations

import numpy as np
import pytest

import hetdp
from hetdp.plots.layout import Layout
from hetdp.studio import drawing, picture, session, views
from hetdp.studio.gallery import document_from_form
from hetdp.studio.session import new_document
from tests.studio.sessions import path_of, session_of


def test_long_names_are_cut_in_the_middle_and_wrapped():
    assert drawing.shorten_label("a" * 18) == "a" * 18
    assert drawing.shorten_label("abcdefghijklmnopqrs") == "abcdefghi…lmnopqrs"
    assert drawing.wrap_label("a" * 13) == "a" * 13
    assert drawing.wrap_label("a" * 14) == "a" * 7 + "\n" + "a" * 7
    assert drawing.wrap_label("one,two-three/four") == "one,two-\nthree/four"
    assert drawing.wrap_label("a bcdefghijklmnopq") == "a bcdefgh\nijklmnopq"  # a blank too near to the beginning


def test_the_most_frequent_value_is_that_of_more_than_half():
    assert drawing.find_majority(np.array([])) is None
    assert drawing.find_majority(np.array([1.0, 2.0, 2.0, 1.0])) is None


def test_a_graph_is_drawn_up_to_a_number_of_datasets_and_edges(monkeypatch):
    found = session_of(path_of(5))
    monkeypatch.setattr(drawing, "MOST_DATASETS", 5)
    monkeypatch.setattr(drawing, "MOST_EDGES", 4)
    assert drawing.is_drawable(found)
    monkeypatch.setattr(drawing, "MOST_EDGES", 3)
    assert not drawing.is_drawable(found)
    monkeypatch.setattr(drawing, "MOST_EDGES", 4)
    monkeypatch.setattr(drawing, "MOST_DATASETS", 4)
    assert not drawing.is_drawable(found)
    assert views.views_of(found)[-1] == views.AROUND


def test_a_neighbourhood_grows_step_by_step_up_to_its_limit(monkeypatch):
    monkeypatch.setattr(drawing, "NEIGHBOURHOOD_SIZE", 5)
    assert drawing.find_neighbourhood(session_of(path_of(20)), 10).tolist() == [8, 9, 10, 11, 12]
    assert drawing.find_neighbourhood(session_of(path_of(20)), 0).tolist() == [0, 1, 2, 3, 4]
    assert drawing.find_neighbourhood(session_of(path_of(3)), 0).tolist() == [0, 1, 2]
    star = hetdp.DatasetGraph.from_edges([0] * 9, range(1, 10), 1.0)
    assert drawing.find_neighbourhood(session_of(hetdp.Problem(star, [1] * 10)), 0).tolist() == [0, 1, 2, 3, 4]


def test_a_neighbourhood_stays_while_an_edge_inside_it_is_selected(monkeypatch):
    monkeypatch.setattr(drawing, "MOST_DATASETS", 5)
    monkeypatch.setattr(drawing, "NEIGHBOURHOOD_SIZE", 5)
    found, drawn = session_of(path_of(20)), picture.Picture()

    def datasets() -> list[int]:
        return [one["data"]["at"] for one in drawn.update(found) if one["data"]["id"].startswith("n")]

    assert datasets() == [8, 9, 10, 11, 12]
    found.select("edge", 8)  # between 8 and 9
    assert datasets() == [8, 9, 10, 11, 12]
    assert drawn.frame_number == 1
    found.select("edge", 7)  # between 7 and 8
    assert datasets() == [5, 6, 7, 8, 9]
    found.select("dataset", 0)
    assert datasets() == [0, 1, 2, 3, 4]
    found.select()
    assert datasets() == [0, 1, 2, 3, 4]
    assert drawn.frame_number == 3
    found.open(new_document("another", path_of(20)))
    assert datasets() == [8, 9, 10, 11, 12]


def test_the_first_dataset_is_on_the_boundary_if_there_is_one():
    assert drawing.first_dataset(session_of(path_of(10))) == 5
    assert drawing.first_dataset(session_of(hetdp.Problem(path_of(4).graph, [1] * 4))) == 0


def test_edges_bend_around_datasets_between_their_ends():
    chosen = np.array([1, 3, 5, 7])
    places = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0, 2.0, 0.0])
    source, target = np.array([1, 1, 3, 1]), np.array([3, 5, 5, 7])
    assert drawing.find_bent_edges(chosen, places, source, target).tolist() == [False, True, False, False]


def test_a_picture_is_about_as_wide_as_a_screen():
    levels = np.zeros(20, dtype=np.int64)
    few = Layout(np.array([0.0, 1.0]), np.array([0.0, 0.0]), levels[:2], 0, 1, 1)
    assert [axis.tolist() for axis in drawing.scale_to_points(few)] == [[0.0, 340.0], [0.0, 0.0]]
    many = Layout(np.arange(20.0), np.linspace(0, 1, 20), levels, 0, 2, 30)
    across, down = drawing.scale_to_points(many)
    assert down[-1] == -66.0 * 30
    assert across[1] == pytest.approx(1.4 * 66.0 * 30 / 20)


def test_a_page_that_moves_nothing_shows_a_path_at_once():
    delays = [rule["selector"] for rule in drawing.stylesheet("light", 8) if "transition-delay" in rule["style"]]
    assert delays == [f".step{step}" for step in range(drawing.HIGHLIGHT_STEPS + 1)]
    still = drawing.stylesheet("light", 8, still=True)
    assert not any("transition-delay" in rule["style"] for rule in still)
    assert still[-1] == {"selector": "node, edge", "style": {"transition-duration": 0}}


def test_a_short_edge_has_no_name_that_would_hide_its_line():
    found = session.Session(document_from_form("tallies", "pupils=6, staff=3", "", "0.3", "staff=0.1"))
    found.select("dataset", found.document.problem.graph.index((0, 3)))
    drawn = [one["data"]["label"] for one in picture.Picture().update(found) if "source" in one["data"]]
    assert {label for label in drawn if label} == {"staff ε 0.1", "ε 0.3"}
