"""The picture by keyboard: Tab reaches it, arrows move in it, the selection is announced, and no key is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import hetdp
from hetdp.studio.gallery import GALLERY
from hetdp.studio.session import new_document
from tests.stress import STRESSED, stress

SELECTED = "(cy) => cy.$('.selected').map((one) => one.id())"


def focus_by_tab(page, name: str) -> None:
    """Moves the focus to a part of the page with Tab."""
    page.locator("#find").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == name


def test_arrows_go_from_dataset_to_dataset_and_e_through_edges(studio):
    hostile = "<img src=x onerror='window.hurt = 1'>"
    labels = ["none", "one", hostile, "three", "four"]
    graph = hetdp.DatasetGraph.from_edges(labels[:-1], labels[1:], [1.0, 0.5, 1.0, 1.0], datasets=labels)
    opened = studio(new_document("a path", hetdp.Problem(graph, [2, 2, 1, 1, 1])))
    page, drawn = opened.page, opened.session.document.opening
    focus_by_tab(page, "graph-box")
    assert page.get_attribute("#graph-box", "role") == "application"
    assert "Arrow keys" in page.get_attribute("#graph-box", "aria-label")
    ring = page.evaluate("getComputedStyle(document.getElementById('graph-box')).outlineStyle")
    assert ring == "solid"
    page.keyboard.press("Enter")  # nothing is chosen yet: the one in the middle
    opened.until(SELECTED, [f"n{drawn}-2"])
    opened.wait(f"Dataset {hostile}, true answer: answer 1", "#announcement")
    assert page.evaluate("window.hurt") is None
    for key, number in (("ArrowRight", 3), ("ArrowUp", 3), ("ArrowLeft", 2), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        opened.until(SELECTED, [f"n{drawn}-{number}"])
    opened.save_screenshot("keys")
    opened.wait("Dataset one", "#announcement")
    for key, number in (("e", 1), ("e", 0), ("Shift+E", 1)):
        page.keyboard.press(key)
        opened.until(SELECTED, [f"e{drawn}-{number}"])
    opened.wait("ε = 0.5", "#announcement")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.matches('#mover-epsilon input[type=range]')")
    page.keyboard.press("ArrowLeft")
    opened.wait("ε = 0.49", "#announcement")
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement.id === 'graph-box'")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.matches('#mover-epsilon input[type=range]')")
    page.locator("#mover-epsilon input[type=text]").focus()
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement.id === 'graph-box'")
    opened.until(SELECTED, [f"e{drawn}-1"])
    page.keyboard.press("Escape")
    opened.until(SELECTED, [f"n{drawn}-1"])
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement === document.body")
    assert not opened.session.document.pins, "what is only looked at is not given a value"


def test_keys_pressed_in_quick_succession_are_all_handled(studio):
    opened = studio(GALLERY["council"].make())
    opened.show_view("Network")
    page, at = opened.page, opened.session.document.problem.graph.index
    page.fill("#find", "5,5")
    page.locator("#find").press("Enter")
    opened.until(SELECTED, [f"n{opened.session.document.opening}-{at('5,5')}"])  # words may be there before it is drawn
    focus_by_tab(page, "graph-box")
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    opened.until(SELECTED, [f"n{opened.session.document.opening}-{at('1,5')}"])
    opened.settle()
    assert not opened.session.document.pins


def test_arrows_move_through_a_map_cell_by_cell(studio):
    opened = studio(GALLERY["survey"].make())
    page = opened.page
    page.fill("#find", "3,40")
    page.locator("#find").press("Enter")
    opened.wait("3,40", "#inspect-words")
    focus_by_tab(page, "chart-box")
    for key, name in (("ArrowRight", "4,40"), ("ArrowUp", "4,40"), ("ArrowDown", "4,39"), ("ArrowLeft", "3,39")):
        page.keyboard.press(key)
        opened.wait(f"Dataset {name},", "#announcement")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.matches('#mover-p input[type=range]')")
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement.id === 'chart-box'")


@contextmanager
def held_requests(page) -> Iterator[Callable[[], None]]:
    """Holds the requests of the page until the yielded function is called."""
    held: list[Any] = []
    released: list[bool] = []

    def hold(route) -> None:
        if released:
            route.continue_()
        else:
            held.append(route)

    def release() -> None:
        page.wait_for_selector("html[data-busy]", state="attached")  # a request is in flight
        assert len(held) <= 1, "one request at a time"
        released.append(True)
        for route in held:
            route.continue_()

    page.route("**/_dash-update-component*", hold)
    try:
        yield release
    finally:
        page.unroute("**/_dash-update-component*")


def test_keys_pressed_during_a_request_are_all_handled_in_order(studio):
    opened = studio(GALLERY["council"].make())
    opened.show_view("Network")
    page, at = opened.page, opened.session.document.problem.graph.index
    with held_requests(page) as release:
        page.fill("#find", "5,5")
        page.locator("#find").press("Enter")
        focus_by_tab(page, "graph-box")
        for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft", "Enter", "ArrowRight", "ArrowRight"):
            page.keyboard.press(key)
        assert page.get_attribute("#studio", "aria-busy") == "true"
        release()
        page.wait_for_function("() => document.activeElement.matches('#mover-p input[type=range]')")
        opened.settle()
    opened.until(SELECTED, [f"n{opened.session.document.opening}-{at('2,5')}"])
    fair = hetdp.design(opened.session.document.problem)["2,5"]
    assert opened.session.document.pins == {at("2,5"): ("p", pytest.approx(fair + 0.01, abs=0.006))}


def test_undo_is_handled_while_the_change_is_in_flight(studio):
    opened = studio(GALLERY["three-voters"].make())
    page = opened.page
    opened.press("dataset", 3)
    with held_requests(page) as release:
        field = page.locator("#mover-p input[type=text]")
        field.fill("0.5")
        field.press("Enter")
        page.locator("header").click()
        page.keyboard.press("Control+z")
        release()
        opened.settle()
    assert not opened.session.document.pins
    assert len(opened.session.future) == 1
    page.keyboard.press("Control+Shift+z")
    opened.settle()
    assert opened.session.document.pins == {3: ("p", 0.5)}


def test_keys_pressed_before_the_first_answer_are_handled(studio):
    opened = studio(GALLERY["five-voters"].make())
    page = opened.page.context.new_page()
    try:
        with held_requests(page) as release:
            page.goto(opened.place.address)
            page.locator("#graph-box").focus()
            page.keyboard.press("Enter")
            page.keyboard.press("e")
            assert page.get_attribute("#studio", "aria-busy") != "false"
            release()
            page.wait_for_function("() => document.querySelector('#studio[data-ready=yes][aria-busy=false]')")
    finally:
        page.close()
    assert opened.session.selection.kind == "edge"


@stress
def test_a_selection_made_at_any_moment_around_an_answer_is_shown(studio):
    opened = studio(GALLERY["five-voters"].make())
    for moment in range(0, 24, 1 if STRESSED else 3):
        opened.session.select("dataset", moment)  # by another page: the next answer fills the panels anew
        chosen = (7 * moment + 3) % 32
        opened.page.evaluate(
            """([moment, chosen]) => {
                dash_clientside.set_props("refresh", {data: "moment " + moment});
                setTimeout(() => hetdp.act("dataset", chosen), 5 * moment);
            }""",
            [moment, chosen],
        )
        opened.until(SELECTED, [f"n{opened.session.document.opening}-{chosen}"])


def test_an_action_that_is_sent_twice_is_handled_once(studio):
    opened = studio(GALLERY["council"].make())
    opened.show_view("Network")
    for _ in range(2):
        opened.page.evaluate("() => hetdp.act('keep', null)")
        opened.page.evaluate("() => hetdp.act('forget', null)")
    opened.settle()
    assert len(opened.session.past) == 4
    again = "() => dash_clientside.set_props('actions', {data: dash_component_api.getLayout('actions').props.data})"
    before = opened.session.revision
    opened.page.evaluate("() => { document.getElementById('studio').dataset.revision = '-1'; }")
    opened.page.evaluate(again)
    opened.settle(before)
    assert opened.session.revision == before
