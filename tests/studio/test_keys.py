"""The picture without a mouse: it is reached by Tab, gone through by arrows, and what is chosen is said."""

from __future__ import annotations

import hetdp
from hetdp.studio.gallery import GALLERY
from hetdp.studio.session import sheet_of

CHOSEN = "(cy) => cy.$('.chosen').map((one) => one.id())"


def reach(page, name: str) -> None:
    """Goes to a part of the page by Tab."""
    page.locator("#find").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == name


def test_arrows_go_from_dataset_to_dataset_and_e_through_edges(studio):
    hostile = "<img src=x onerror='window.hurt = 1'>"
    labels = ["none", "one", hostile, "three", "four"]
    graph = hetdp.DatasetGraph.from_edges(labels[:-1], labels[1:], [1.0, 0.5, 1.0, 1.0], datasets=labels)
    opened = studio(sheet_of("a path", hetdp.Problem(graph, [2, 2, 1, 1, 1])))
    page, drawn = opened.page, opened.session.sheet.drawn
    reach(page, "graph-box")
    assert page.get_attribute("#graph-box", "role") == "application"
    assert "Arrow keys" in page.get_attribute("#graph-box", "aria-label")
    ring = page.evaluate("getComputedStyle(document.getElementById('graph-box')).outlineStyle")
    assert ring == "solid"
    page.keyboard.press("Enter")  # nothing is chosen yet: the one in the middle
    opened.until(CHOSEN, [f"n{drawn}-2"])
    opened.wait(f"Dataset {hostile}: truly answer 1", "#spoken")
    assert page.evaluate("window.hurt") is None
    for key, number in (("ArrowRight", 3), ("ArrowUp", 3), ("ArrowLeft", 2), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        opened.until(CHOSEN, [f"n{drawn}-{number}"])
    opened.keep("keys")
    opened.wait("Dataset one", "#spoken")
    for key, number in (("e", 1), ("e", 0), ("Shift+E", 1)):
        page.keyboard.press(key)
        opened.until(CHOSEN, [f"e{drawn}-{number}"])
    opened.wait("ε = 0.5", "#spoken")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.matches('#mover-epsilon input[type=range]')")
    page.keyboard.press("ArrowLeft")
    opened.wait("ε = 0.49", "#spoken")
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement.id === 'graph-box'")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.matches('#mover-epsilon input[type=range]')")
    page.locator("#mover-epsilon input[type=text]").focus()
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement.id === 'graph-box'")
    opened.until(CHOSEN, [f"e{drawn}-1"])
    page.keyboard.press("Escape")
    opened.until(CHOSEN, [f"n{drawn}-1"])
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement === document.body")
    assert not opened.session.sheet.pins, "what is only looked at is not given a value"


def test_keys_that_follow_at_once_are_all_taken(studio):
    opened = studio(GALLERY["council"].make())
    page, at = opened.page, opened.session.sheet.problem.graph.index
    page.fill("#find", "5,5")
    page.locator("#find").press("Enter")
    opened.until(CHOSEN, [f"n{opened.session.sheet.drawn}-{at('5,5')}"])  # words may be there before it is drawn
    reach(page, "graph-box")
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    opened.until(CHOSEN, [f"n{opened.session.sheet.drawn}-{at('1,5')}"])
    page.wait_for_load_state("networkidle")
    assert not opened.session.sheet.pins


def test_a_map_is_gone_through_cell_by_cell(studio):
    opened = studio(GALLERY["survey"].make())
    page = opened.page
    page.fill("#find", "3,40")
    page.locator("#find").press("Enter")
    opened.wait("3,40", "#inspect-words")
    reach(page, "chart-box")
    for key, name in (("ArrowRight", "4,40"), ("ArrowUp", "4,40"), ("ArrowDown", "4,39"), ("ArrowLeft", "3,39")):
        page.keyboard.press(key)
        opened.wait(f"Dataset {name}:", "#spoken")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.matches('#mover-p input[type=range]')")
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement.id === 'chart-box'")


def test_a_key_that_follows_on_what_was_typed_is_not_lost(studio):
    opened = studio(GALLERY["three-voters"].make())
    label = opened.session.sheet.problem.graph.datasets[1]
    opened.page.evaluate(  # as a busy browser does, which then asks for both at once
        """(label) => {
            dash_clientside.set_props("find", {value: label});
            dash_clientside.set_props("pointed", {data: ["dataset", 5, 1000]});
        }""",
        label,
    )
    opened.until(CHOSEN, [f"n{opened.session.sheet.drawn}-5"])
