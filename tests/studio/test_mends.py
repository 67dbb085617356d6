"""The page in unusual conditions: a server that has ended, narrow windows, fast typing."""

from __future__ import annotations

import threading
from itertools import pairwise

import hetdp
from hetdp.studio.gallery import GALLERY
from hetdp.studio.server import create_server
from hetdp.studio.session import Session, new_document

RANGES = """() => { const all = document.querySelector('#chart-box .js-plotly-plot')._fullLayout;
    return [...all.xaxis.range, ...all.yaxis.range]; }"""
OUTSIDE = """(cy) => cy.nodes().filter((one) => { const box = one.renderedBoundingBox({includeLabels: false});
    return box.x1 < 0 || box.y1 < 0 || box.x2 > cy.width() || box.y2 > cy.height(); }).length"""

FILLED = """(cy) => { const box = cy.elements().renderedBoundingBox(), all = document.getElementById('graph');
    return Math.max(box.w / all.clientWidth, box.h / all.clientHeight); }"""


def test_a_studio_that_has_ended_is_reported_and_its_dialog_has_the_focus(browser):
    place = create_server(Session(GALLERY["contradiction"].make()), start=True)
    threading.Thread(target=place.serve, daemon=True).start()
    page = browser.new_page()
    try:
        page.goto(place.address)
        page.wait_for_function("() => document.activeElement.classList.contains('entry')")
        page.keyboard.press("Escape")
        page.wait_for_selector("#shade", state="hidden")
        assert page.is_hidden("#trouble")
        place.stop()
        page.click("#repair")
        page.wait_for_selector("#trouble:not([hidden])")
        assert "The studio has ended" in page.inner_text("#trouble")
    finally:
        page.close()
        place.stop()


def test_numbers_have_names_and_fields_keep_what_is_typed(studio):
    opened = studio(GALLERY["contradiction"].make())
    page = opened.page
    page.locator("header").click()
    page.keyboard.press("/")
    page.keyboard.type("two")
    page.evaluate("() => document.getElementById('find').setSelectionRange(1, 1)")  # as Dash does, a moment too late
    page.keyboard.type(" ill")
    assert page.input_value("#find") == "two ill"
    page.keyboard.press("Enter")
    opened.wait("two ill", "#inspect-words")
    assert page.get_by_label("Set p").get_attribute("type") == "range"
    field = page.get_by_label("p as text")
    for odd, report in (("1,000", "two numbers"), ("1_0", "not a number")):
        opened.type_number("p", odd)
        opened.wait(report)
        assert field.input_value() == "0.8"
    opened.type_number("p", "")
    page.wait_for_function("() => document.querySelector('#mover-p input[type=text]').value === '0.8'")
    assert not opened.session.past


def test_the_whole_network_is_visible_in_every_window(studio):
    names = [f"a rather long name {at}" for at in range(12)]
    graph = hetdp.DatasetGraph.from_edges(names[:-1], names[1:], 1.0, datasets=names)
    opened = studio(new_document("long names", hetdp.Problem(graph, [1] * 6 + [2] * 6)))
    try:
        for wide in (700, 390):
            opened.resize(wide, 800)
            opened.until(OUTSIDE, 0)
            box = opened.page.locator("#night").bounding_box()
            assert box["x"] + box["width"] <= wide
            opened.save_screenshot(f"window-{wide}")
    finally:
        opened.resize(1440, 900)
    opened.until(OUTSIDE, 0)
    boxes = opened.in_graph("(cy) => cy.nodes().map((one) => one.boundingBox()).map((box) => [box.x1, box.x2])")
    assert all(one[1] <= other[0] + 1 for one, other in pairwise(sorted(boxes))), "names do not overlap"


TEXT = "(cy) => cy.nodes()[0].numericStyle('font-size')"
SMALLEST = "(cy) => Math.min(...cy.elements().map((one) => one.numericStyle('font-size'))) * cy.zoom()"
SHOWN = """(cy) => cy.elements().filter((one) => one.data("label") && one.numericStyle("text-opacity") > 0)
    .map((one) => [one.id(), one.boundingBox({ includeNodes: false, includeEdges: false, includeOverlays: false })])"""
SMALL_TARGETS = """() => [...document.querySelectorAll("button, input, .segments label")].filter((one) =>
    one.offsetParent && !one.closest(".dash-input-stepper, [hidden]") && one.type !== "radio"
    && one.getBoundingClientRect().height < 40).map((one) => one.outerHTML.slice(0, 120))"""


def test_a_phone_shows_legible_names_and_what_is_tapped(studio):
    opened = studio(GALLERY["three-voters"].make())
    page = opened.page
    assert opened.in_graph(TEXT) == 11
    wide = opened.in_graph("(cy) => cy.nodes().map((one) => [one.position('x'), one.position('y')])")
    try:
        opened.resize(390, 844)
        opened.until(f"(cy) => ({OUTSIDE})(cy) === 0 && ({SMALLEST})(cy) > 11.99", True)
        turned = opened.in_graph("(cy) => cy.nodes().map((one) => [one.position('y'), one.position('x')])")
        assert turned == wide, "answer 2 is at the top, since the window is higher than wide"
        shown = opened.in_graph(SHOWN)
        assert len(shown) > 8
        for at, (_, one) in enumerate(shown):
            for _, other in shown[:at]:
                apart = one["x1"] >= other["x2"] or other["x1"] >= one["x2"]
                assert apart or one["y1"] >= other["y2"] or other["y1"] >= one["y2"]
        opened.press("dataset", 0)
        assert opened.in_graph("(cy) => cy.nodes().map((one) => [one.position('y'), one.position('x')])") == wide
        caption = page.locator("#announcement")
        assert "Dataset yes,yes,yes, Ann yes, Bob yes, Cyd yes, true answer: yes, p = 0.834" in caption.inner_text()
        box = caption.bounding_box()
        assert box["y"] + box["height"] < 844, "it is seen without scrolling"
        page.click("text=Details >> visible=true >> nth=0")
        page.wait_for_function(
            "() => { const { top } = document.getElementById('selected-p').getBoundingClientRect(); return top < 844; }"
        )
        assert page.evaluate(SMALL_TARGETS) == []
        assert page.evaluate("() => [document.documentElement.scrollHeight, document.documentElement.scrollWidth]") == [
            844,
            390,
        ]
    finally:
        opened.resize(1440, 900)
    opened.until(TEXT, 11)
    assert opened.in_graph("(cy) => cy.nodes().map((one) => [one.position('x'), one.position('y')])") == wide
    assert page.locator("#announcement").evaluate("one => one.parentElement.offsetHeight") == 1  # for screen readers


def test_names_that_do_not_fit_on_a_phone_are_left_out_unless_they_are_selected(studio):
    opened = studio(GALLERY["five-voters"].make())
    try:
        opened.resize(390, 844)
        shown = "(cy) => cy.nodes().filter((one) => one.numericStyle('text-opacity') > 0).map((one) => one.data('at'))"
        hidden = next(at for at in range(32) if at not in opened.in_graph(shown))
        opened.page.evaluate("(at) => hetdp.act('dataset', at)", hidden)
        opened.page.wait_for_function(
            f"(at) => ({shown})(document.getElementById('graph')._cyreg.cy).includes(at)", arg=hidden
        )
    finally:
        opened.resize(1440, 900)
    opened.until("(cy) => cy.nodes().every((one) => one.numericStyle('text-opacity') === 1)", True)


def test_the_whole_network_is_visible_after_a_resize_behind_another_view(studio):
    opened = studio(GALLERY["school"].make())
    opened.show_view("Network")
    page = opened.page
    before = opened.in_graph(FILLED)
    assert 0.5 < before <= 1
    try:
        for view, size in (("Map", (390, 800)), ("Summary", (1440, 900)), ("Map", (700, 500))):
            opened.show_view(view)
            assert page.locator("#graph-box.away").count() == 1
            opened.resize(size[0], size[1])
            opened.show_view("Network")
            assert page.locator("#graph-box:not(.away)").count() == 1
            opened.until(f"(cy) => ({OUTSIDE})(cy) === 0 && ({FILLED})(cy) > 0.5", True)
    finally:
        opened.resize(1440, 900)


def test_nothing_else_moves_the_network_once_it_is_fitted(studio):
    """Two resize events before the next drawing must not scale the network twice."""
    opened = studio(GALLERY["school"].make())
    opened.show_view("Network")
    filled = opened.in_graph(
        f"""(cy) => {{
            const box = document.getElementById("graph"), wide = box.style.width;
            box.style.width = "300px";
            cy.resize();
            cy.fit(undefined, 36);
            const before = ({FILLED})(cy);
            cy.resize();
            const after = [({OUTSIDE})(cy), before, ({FILLED})(cy)];
            box.style.width = wide;
            cy.resize();
            cy.fit(undefined, 36);
            return after;
        }}"""
    )
    assert filled[0] == 0
    assert 0.5 < filled[1] == filled[2] <= 1


def test_a_map_is_complete_again_after_another_view(studio):
    opened = studio(GALLERY["survey"].make())
    page = opened.page
    page.wait_for_selector("#chart-box:not(.away) .heatmaplayer image")
    opened.settle()
    before = page.evaluate(RANGES)
    assert before == [-0.5, 60.5, -0.5, 40.5]
    opened.show_view("Summary")
    assert page.evaluate(RANGES) != before
    opened.show_view("Map")
    page.wait_for_selector("#chart-box .heatmaplayer image")
    assert page.evaluate(RANGES) == before
