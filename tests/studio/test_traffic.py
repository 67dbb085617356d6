"""What the page loads and sends: scripts once, the chart when needed, and only the relevant slider values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from benchmarks.studio import SETTLED, serve, visit
from hetdp.studio.gallery import GALLERY
from hetdp.studio.session import Session

PLOTLY = "plotly.min.js"


@contextmanager
def open_visits(browser: Any, name: str) -> Iterator[Callable[[], tuple[Any, dict[str, int]]]]:
    """Yields a function that opens the studio in one browser context and returns the page and what it loaded."""
    context = browser.new_context()
    with serve(Session(GALLERY[name].make())) as address:
        yield lambda: visit(context, address)
    context.close()


@pytest.mark.parametrize(("name", "has_chart"), [("three-voters", False), ("survey", True)])
def test_a_second_visit_loads_no_script_again_and_the_first_only_what_it_shows(browser, name, has_chart):
    with open_visits(browser, name) as visit:
        first, second = visit()[1], visit()[1]
    assert any(PLOTLY in url for url in first) == has_chart
    assert sum(first.values()) < (2_500_000 if has_chart else 1_000_000)
    assert sum(second.values()) < 300_000
    scripts = [url for url in first if "_dash-component-suites" in url or "/assets/" in url]
    assert len(scripts) >= 15
    assert {second.get(url, 0) for url in scripts} == {0}


def test_the_chart_is_loaded_when_a_view_needs_it_and_the_page_is_busy_until_it_is_drawn(browser):
    with open_visits(browser, "three-voters") as visit:
        page = visit()[0]
        held: list[Any] = []
        page.route(f"**/{PLOTLY}", lambda route: held.append(route))
        with page.expect_request(f"**/{PLOTLY}"):
            page.click("#view label:has-text('Summary')")
        page.wait_for_selector("#chart-box:not(.away)", state="attached")
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.get_attribute("#studio", "aria-busy") == "true"
        held[0].continue_()
        page.wait_for_function(SETTLED)
        assert page.locator("#chart-box .scatterlayer").count() == 1


def test_a_script_that_cannot_be_loaded_is_reported(browser):
    with open_visits(browser, "three-voters") as visit:
        page = visit()[0]
        page.route(f"**/{PLOTLY}", lambda route: route.abort())
        page.click("#view label:has-text('Summary')")
        page.wait_for_selector("#trouble:not([hidden])")
        assert "could not be loaded" in page.inner_text("#trouble")


FRAMES_UNTIL_IDLE = """async () => {
    const request = window.requestAnimationFrame;
    let isAsked = true;
    window.requestAnimationFrame = function () { isAsked = true; return request.apply(window, arguments); };
    let frames = 0;
    for (let quiet = 0; quiet < 60 && frames < 1200; frames += 1) {
        quiet = isAsked ? 0 : quiet + 1;
        isAsked = false;
        await new Promise((done) => request.call(window, done));
    }
    window.requestAnimationFrame = request;
    return frames;
}"""


def test_an_idle_page_asks_for_no_frames_until_something_is_to_be_drawn(studio):
    opened = studio(GALLERY["three-voters"].make())
    assert opened.page.evaluate(FRAMES_UNTIL_IDLE) < 1200
    drawn = opened.in_graph("(cy) => cy.renderer().redrawCount")
    opened.press("dataset", 0)
    opened.page.wait_for_function(
        "(drawn) => document.getElementById('graph')._cyreg.cy.renderer().redrawCount > drawn", arg=drawn
    )
    opened.until("(cy) => cy.nodes('.highlighted').map((one) => one.style('border-width')).every(parseFloat)", True)
    assert opened.page.evaluate(FRAMES_UNTIL_IDLE) < 1200
    opened.in_graph("(cy) => { cy.nodes()[0].animate({ style: { opacity: 0.5 }, duration: 50 }); }")
    opened.until("(cy) => cy.nodes()[0].style('opacity')", "0.5")


DRAG = """async ([values, letGo]) => {
    const slider = document.querySelector("#mover-epsilon input[type=range]");
    for (const value of values) {
        slider.value = value;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    }
    if (letGo) { slider.dispatchEvent(new PointerEvent("pointerup", { bubbles: true })); }
}"""


def sent_values(requests: list[Any]) -> list[list[float]]:
    """The values of a slider in each request that holds actions."""
    bodies = [json.loads(one.post_data) for one in requests if "_dash-update-component" in one.url]
    actions = [
        part["value"]
        for body in bodies
        for part in body["inputs"]
        if isinstance(part, dict) and part["id"] == "actions"
    ]
    return [[float(each["details"]["value"]) for each in many if each["name"] == "enter"] for many in actions]


@pytest.mark.parametrize(("milliseconds", "expected"), [(0, [[0.01], [0.4]]), (60_000, [[0.4]])])
def test_only_a_few_of_forty_moves_are_sent_and_the_last_counts(studio, milliseconds, expected):
    """Fast answers are followed by the newest value; if they are slow, only the value at the end is sent."""
    opened = studio(GALLERY["three-voters"].make())
    opened.session.milliseconds = milliseconds  # that the last change took, as the next answer says
    opened.press("edge", 3)
    requests: list[Any] = []

    def record(request: Any) -> None:
        requests.append(request)

    opened.page.on("request", record)
    try:
        opened.page.evaluate(DRAG, [[round(0.01 * at, 2) for at in range(1, 41)], True])
        opened.settle()
    finally:
        opened.page.remove_listener("request", record)
    assert [many for many in sent_values(requests) if many] == expected
    assert opened.session.edge_list.columns["epsilon"][3] == 0.4
    assert opened.page.input_value("#mover-epsilon input[type=text]") == "0.4"
    assert len(opened.session.past) == 1, "one drag is undone at once"


def test_the_value_of_a_held_slider_is_sent_when_it_rests(studio):
    opened = studio(GALLERY["three-voters"].make())
    opened.session.milliseconds = 60_000
    opened.press("edge", 3)
    opened.page.evaluate(DRAG, [[0.2, 0.3], False])
    assert opened.page.get_attribute("#studio", "aria-busy") == "true"
    opened.settle()
    assert opened.session.edge_list.columns["epsilon"][3] == 0.3


def test_a_button_pressed_while_a_slider_moves_is_handled_afterwards(studio):
    opened = studio(GALLERY["three-voters"].make())
    opened.session.milliseconds = 60_000
    opened.press("edge", 3)
    opened.page.evaluate(DRAG, [[0.2, 0.3], False])
    opened.page.evaluate("() => hetdp.act('undo', null)")
    opened.page.evaluate(DRAG, [[0.6, 0.7], True])
    opened.settle()
    assert opened.session.edge_list.columns["epsilon"][3] == 0.7
    assert [len(many) for many in (opened.session.past, opened.session.future)] == [1, 0]


def test_an_open_tab_is_filled_by_one_request_at_a_time(studio):
    opened = studio(GALLERY["three-voters"].make())
    page = opened.page
    opened.press("edge", 3)
    held: list[Any] = []
    asked: list[str] = []

    def hold(route: Any) -> None:
        body = json.loads(route.request.post_data)
        if "tab-request.data" not in body["changedPropIds"]:
            route.continue_()
            return
        asked.append(body["inputs"][0]["value"][0])
        if len(asked) == 1:
            held.append(route)
        else:
            route.continue_()

    page.route("**/_dash-update-component*", hold)
    try:
        page.click("#tab label:has-text('Odds')")
        page.wait_for_function("() => document.querySelector('html[data-busy]')")
        for value in ("0.2", "0.3", "0.4"):
            page.evaluate(DRAG, [[value], True])
            page.wait_for_function(
                "(value) => document.querySelector('#mover-epsilon input[type=text]').value === value", arg=value
            )
        page.click("#tab label:has-text('Export')")
        assert page.get_attribute("#studio", "aria-busy") == "true"
        assert asked == ["odds"]
        held[0].continue_()
        opened.wait("hetdp.design", "#lines-python")
        opened.settle()
        for _ in range(600):  # the tab may be drawn from what was known before its request is sent
            if len(asked) > 1:
                break
            page.wait_for_timeout(100)
        opened.settle()
    finally:
        page.unroute("**/_dash-update-component*")
    assert asked == ["odds", "export"]
