"""Actions of a page on the session, and what its tabs say."""

from __future__ import annotations

from typing import Any

import hetdp
from hetdp.studio import callbacks, drawing, views
from hetdp.studio.callbacks import take_action
from hetdp.studio.gallery import GALLERY, document_from_form
from hetdp.studio.screen import digest_of
from hetdp.studio.session import Selection, Session
from tests.loops import for_each
from tests.studio.sessions import path_of, session_of


def test_the_order_of_keys_does_not_make_a_part_of_an_answer_another_one():
    assert digest_of({"a": 1, "b": [2]}) == digest_of({"b": [2], "a": 1}) != digest_of({"a": 1, "b": [3]})


def test_every_action_does_what_its_name_says():
    found = session_of(path_of(4))
    take_action(found, "dataset", 2)
    assert found.selection == ("dataset", 2)
    take_action(found, "edge", 1)
    assert found.selection == ("edge", 1)
    take_action(found, "edge", "1")  # not a number
    assert found.selection == Selection()
    take_action(found, "find", "3")
    assert found.selection == ("dataset", 3)
    take_action(found, "find", "x" * 100)
    assert found.notice == f"There is no dataset “{'x' * 80}”."
    take_action(found, "objective", "balanced")
    assert found.document.objective == "balanced"
    take_action(found, "keep", None)
    assert set(found.document.pins) == {1, 2}
    take_action(found, "clear_pin", 1)
    assert set(found.document.pins) == {2}
    take_action(found, "forget", None)
    assert not found.document.pins
    take_action(found, "undo", None)
    assert set(found.document.pins) == {2}
    take_action(found, "redo", None)
    assert not found.document.pins
    before = found.document
    take_action(found, "cell", [0, 0])  # there is no map
    take_action(found, "nothing", None)
    assert found.document is before


def test_cells_of_a_map_are_selected_by_their_counts_and_by_steps():
    found = Session(document_from_form("tallies", "a=3, b=9", "", "1"))
    take_action(found, "next_cell", [1, 0])
    assert found.selection == ("dataset", drawing.first_dataset(found))
    take_action(found, "cell", [0.4, "2.6"])
    cells = views.cells_of(found)
    assert cells.place(found.selection.number) == (0, 3)
    take_action(found, "next_cell", [1, -1])
    assert cells.place(found.selection.number) == (1, 2)
    take_action(found, "next_cell", [-1, "2"])  # a text is no number: one down, to the edge of the map
    assert cells.place(found.selection.number) == (0, 1)


@for_each(
    ("entered", "pins"),
    [
        ({"value": "0,25"}, {0: ("p", 0.25)}),
        ({"value": "  "}, {}),
        ({"value": "many"}, {}),
        ({"at": 1, "value": "0.5"}, {1: ("p", 0.5)}),
        ({"name": "epsilon", "value": "0.5"}, {}),
    ],
)
def test_a_number_is_entered_for_the_dataset_that_is_shown(entered, pins):
    found = session_of(path_of(4))
    found.select("dataset", 0)
    take_action(found, "enter", {"kind": "dataset", "at": 0, "control": "number", "name": "p"} | entered)
    assert found.document.pins == pins
    assert bool(found.notice) is (entered["value"] == "many")


def test_only_the_slider_of_the_selection_counts_as_the_last_control():
    found = session_of(path_of(4))
    found.select("edge", 0)
    for at, control, last in ((0, "slider", "slider-epsilon"), (1, "slider", ""), (0, "number", "")):
        value = 0.5 + found.revision / 100
        entered = {"kind": "edge", "at": at, "control": control, "name": "epsilon", "value": value}
        take_action(found, "enter", entered)
        assert (found.edge_list.columns["epsilon"][at], found.last_control) == (value, last)


def test_tabs_say_that_there_is_no_mechanism():
    found = Session(GALLERY["contradiction"].make())
    assert "There is no mechanism." in str(callbacks._fill_tab(found, "accuracy"))
    assert "there is no mechanism" in callbacks._fill_tab(found, "export")["python"]
    found.apply_repair()
    assert set(callbacks._fill_tab(found, "odds")) == {"odds"}
    assert "extension of given values" in str(callbacks._fill_tab(found, "accuracy"))


def test_a_refused_problem_leaves_the_open_one_and_its_reason_is_short():
    found = session_of(path_of(4))
    before = found.document

    def refuse() -> Any:
        raise hetdp.UsageError("x" * 3000, "no")

    assert len(callbacks._open(found, refuse)[2]) == 2000
    assert found.document is before
    assert callbacks._open(found, lambda: before) == (found.revision, found.revision, "", "")
