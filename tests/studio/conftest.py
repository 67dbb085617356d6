"""The studio in a real browser: Debian's chromium, driven by Playwright.

A test that fails leaves a screenshot in build/studio; a few tests always do.

The page announces on #studio when it is ready, when it is busy, and which revision it shows. Tests wait for these
states, or for words and classes that the page shows, and never for time.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from hetdp.studio.session import Session

SCREENSHOTS = Path(__file__).parents[2] / "build" / "studio"


class Studio:
    """A session, its server and its page, shared by all tests so that the browser caches its scripts."""

    def __init__(self, browser: Any) -> None:
        from hetdp.studio.gallery import GALLERY
        from hetdp.studio.server import create_server

        self.session = Session(GALLERY["three-voters"].make())
        self.place = create_server(self.session)
        threading.Thread(target=self.place.serve, daemon=True).start()
        self.page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        self.complaints: list[str] = []
        self.requested_urls: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda message: self.complaints.extend([message.text] * (message.type == "error")))
        self.page.on("request", lambda request: self.requested_urls.append(request.url))

    def open(self, document: Any) -> Studio:
        """Opens a document, and shows it as on a page that was just loaded."""
        self.session.open(document)
        self.session.past.clear()
        if not self.page.url.startswith(self.place.address):
            self.page.goto(self.place.address)
        else:
            self.page.evaluate(
                """() => {
                    dash_clientside.set_props("tab", {value: "inspect"});
                    dash_clientside.set_props("way", {value: "gallery"});
                    dash_clientside.set_props("find", {value: ""});
                    dash_clientside.set_props("shade", {hidden: true});
                    dash_clientside.set_props("refresh", {data: "test " + Math.random()});
                }"""
            )
        self.settle(self.session.revision)
        return self

    def settle(self, revision: int = 0) -> None:
        """Waits until the page announces that nothing is pending and that it shows a revision, or a later one."""
        self.page.wait_for_function(
            """(revision) => {
                const page = document.getElementById("studio");
                return page && page.dataset.ready === "yes" && page.getAttribute("aria-busy") === "false"
                    && Number(page.dataset.revision) >= revision;
            }""",
            arg=revision,
        )

    def wait(self, words: str, where: str = "#status") -> None:
        """Waits until some words are shown."""
        self.page.wait_for_function(
            "([where, words]) => (document.querySelector(where) || {}).innerText?.includes(words)", arg=[where, words]
        )

    def in_graph(self, expression: str, argument: Any = None) -> Any:
        """The value of a function of cytoscape and an argument."""
        return self.page.evaluate(
            f"(argument) => ({expression})(document.getElementById('graph')._cyreg.cy, argument)", argument
        )

    def until(self, expression: str, expected: Any) -> None:
        """Waits until a function of cytoscape has a value."""
        from playwright.sync_api import TimeoutError as Late

        try:
            self.page.wait_for_function(
                f"""(expected) => JSON.stringify(({expression})(document.getElementById('graph')._cyreg.cy))
                    === JSON.stringify(expected)""",
                arg=expected,
            )
        except Late:
            assert self.in_graph(expression) == expected

    def show_view(self, name: str) -> None:
        """Changes to another view, and waits until the answer is drawn: marks of the view before may look the same."""
        self.settle()
        number = "() => Number(hetdp.read('acknowledged', 'children').split(' ')[1])"
        before = self.page.evaluate(number)
        self.page.click(f"#view label:has-text('{name}')")
        self.page.wait_for_function(f"(before) => ({number})() > before", arg=before)
        self.settle()

    def resize(self, width: int, height: int) -> None:
        """Changes the size of the window and waits until the page has followed."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_function("(size) => [innerWidth, innerHeight].join() === size.join()", arg=[width, height])
        self.wait_for_frames()
        self.settle()

    def wait_for_frames(self) -> None:
        """Waits until the page has begun what a change of sizes causes: the next frame calls its observers."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def place_of_cell(self, across: float, up: float) -> tuple[float, float]:
        """The middle of a cell of the map, in pixels of the window, once the page announces that nothing is pending."""
        self.settle()
        x, y = self.page.evaluate(
            """([across, up]) => { const plot = document.querySelector("#chart-box .js-plotly-plot");
            const box = plot.getBoundingClientRect(), { xaxis, yaxis } = plot._fullLayout;
            return [box.x + xaxis._offset + xaxis.d2p(across), box.y + yaxis._offset + yaxis.d2p(up)]; }""",
            [across, up],
        )
        return x, y

    def press(self, kind: str, number: int) -> None:
        """Clicks on a dataset or an edge in the picture, and waits for the answer."""
        self.settle()
        name = f"{'n' if kind == 'dataset' else 'e'}{self.session.document.opening}-{number}"
        self.page.wait_for_function("(id) => document.getElementById('graph')._cyreg.cy.$id(id).length === 1", arg=name)
        place = self.in_graph(
            "(cy, id) => { const one = cy.$id(id); const at = one.isNode() ? one.renderedPosition()"
            " : one.renderedMidpoint(); return [at.x, at.y]; }",
            name,
        )
        box = self.page.locator("#graph").bounding_box()
        self.page.mouse.click(box["x"] + place[0], box["y"] + place[1])
        self.settle()

    def type_number(self, name: str, value: str) -> None:
        """Types a number into the field of a slider and waits for the answer."""
        field = self.page.locator(f"#mover-{name} input[type=text]")
        field.fill(value)
        field.press("Enter")
        self.settle()

    def save_screenshot(self, name: str) -> None:
        """Saves a screenshot of the page."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(SCREENSHOTS / f"{name}.png"))


@pytest.fixture(scope="package")
def shared_studio(browser):
    """Closed after the last test of this folder: its page went on using processor time during the tests that follow."""
    one = Studio(browser)
    yield one
    one.page.context.close()
    one.place.stop()


@pytest.fixture
def studio(shared_studio, request, monkeypatch):
    """Opens a document in the studio; afterwards asserts that there were no errors and no requests to other hosts."""
    monkeypatch.setattr("hetdp.studio.answers.load_in_background", lambda: None)
    shared_studio.complaints.clear()
    shared_studio.requested_urls.clear()
    failed_before = request.session.testsfailed
    yield shared_studio.open
    if shared_studio.complaints or request.session.testsfailed > failed_before:
        shared_studio.save_screenshot(request.node.name)
    assert shared_studio.complaints == []
    assert all(
        url.startswith((shared_studio.place.address, "data:", "blob:")) for url in shared_studio.requested_urls
    ), shared_studio.requested_urls
