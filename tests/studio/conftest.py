"""The studio in a real browser: Debian's chromium, driven by Playwright; screenshots are kept in build/studio."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hetdp.studio.drawing import is_drawable
from hetdp.studio.session import Session

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
KEPT = Path(__file__).parents[2] / "build" / "studio"
NO_BROWSER = f"the studio's tests in a browser: there is no {CHROMIUM} (Debian: apt-get install chromium)"


@pytest.fixture(scope="session")
def browser():
    if shutil.which(CHROMIUM) is None:
        pytest.skip(NO_BROWSER)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


class Studio:
    """A session, its address, and the page that shows it: one for all tests, so that the browser knows its scripts."""

    def __init__(self, browser: Any) -> None:
        from hetdp.studio.gallery import GALLERY
        from hetdp.studio.server import place_of

        self.session = Session(GALLERY["three-voters"].make())
        self.place = place_of(self.session)
        threading.Thread(target=self.place.serve, daemon=True).start()
        self.page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        self.page.set_default_timeout(120_000)  # a busy machine may have to compile the search first
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.extend([said.text] * (said.type == "error")))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self, sheet: Any) -> Studio:
        """Puts a sheet on the table, and shows it as on a page just loaded."""
        self.session.open(sheet)
        self.session.past.clear()
        if not self.page.url.startswith(self.place.address):
            self.page.goto(self.place.address)
            self.page.wait_for_selector("#status h2")
        else:
            self.page.evaluate(
                """(revision) => {
                    dash_clientside.set_props("tab", {value: "inspect"});
                    dash_clientside.set_props("way", {value: "gallery"});
                    dash_clientside.set_props("find", {value: ""});
                    dash_clientside.set_props("shade", {hidden: true});
                    dash_clientside.set_props("revision", {data: revision});
                }""",
                self.session.revision,
            )
        self.wait(sheet.name, "#title strong")
        self.page.wait_for_selector("#undo[disabled]")
        if is_drawable(self.session):
            self.until(
                f"(cy) => cy.nodes('[id ^= \"n{self.session.sheet.drawn}-\"]').length", len(sheet.problem.answers)
            )
        self.page.wait_for_function("() => !document.documentElement.dataset.busy")  # nothing is on its way any more
        return self

    def wait(self, words: str, where: str = "#status") -> None:
        """Until some words are shown."""
        self.page.wait_for_function(
            "([where, words]) => (document.querySelector(where) || {}).innerText?.includes(words)", arg=[where, words]
        )

    def in_graph(self, expression: str, argument: Any = None) -> Any:
        """What cytoscape says: `expression` is a function of it and an argument."""
        return self.page.evaluate(
            f"(argument) => ({expression})(document.getElementById('graph')._cyreg.cy, argument)", argument
        )

    def until(self, expression: str, expected: Any) -> None:
        """Until cytoscape says so."""
        end, found = time.monotonic() + 60, None
        while time.monotonic() < end:
            found = self.in_graph(expression)
            if found == expected:
                return
            self.page.wait_for_timeout(30)
        assert found == expected

    def press(self, kind: str, number: int) -> None:
        """Clicks on a dataset or an edge in the picture."""
        name = f"{'n' if kind == 'dataset' else 'e'}{self.session.sheet.drawn}-{number}"
        self.page.wait_for_function("(id) => document.getElementById('graph')._cyreg.cy.$id(id).length === 1", arg=name)
        place = self.in_graph(
            "(cy, id) => { const one = cy.$id(id); const at = one.isNode() ? one.renderedPosition()"
            " : one.renderedMidpoint(); return [at.x, at.y]; }",
            name,
        )
        box = self.page.locator("#graph").bounding_box()
        self.page.mouse.click(box["x"] + place[0], box["y"] + place[1])

    def type_number(self, name: str, value: str) -> None:
        """Types into the field of a number that can be moved."""
        field = self.page.locator(f"#mover-{name} input[type=text]")
        field.fill(value)
        field.press("Enter")

    def keep(self, name: str) -> None:
        """Keeps what is seen."""
        KEPT.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(KEPT / f"{name}.png"))


@pytest.fixture(scope="session")
def served(browser):
    one = Studio(browser)
    yield one
    one.page.context.close()
    one.place.stop()


@pytest.fixture
def studio(served, request, monkeypatch):
    """Opens a sheet in the studio; afterwards, nothing may have been complained of, or asked of anybody else."""
    monkeypatch.setattr("hetdp.studio.answers.load_meanwhile", lambda: None)
    served.complaints.clear()
    served.asked.clear()
    yield served.open
    served.keep(request.node.name)
    assert served.complaints == []
    assert all(url.startswith((served.place.address, "data:", "blob:")) for url in served.asked), served.asked
