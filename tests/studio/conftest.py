"""The studio in a real browser: Debian's chromium, driven by Playwright; screenshots are saved in build/studio.

The page announces on #studio when it is ready, when it is busy, and which revision it shows. Tests wait for these
states, or for words and classes that the page shows, and never for time.
"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

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
        from hetdp.studio.server import create_server

        self.session = Session(GALLERY["three-voters"].make())
        self.place = create_server(self.session)
        threading.Thread(target=self.place.serve, daemon=True).start()
        self.page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        self.page.set_default_timeout(120_000)  # a busy machine may have to compile the search first
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.extend([said.text] * (said.type == "error")))
        self.page.on("request", lambda request: self.asked.append(request.url))

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
                timeout=60_000,
            )
        except Late:
            assert self.in_graph(expression) == expected

    def press(self, kind: str, number: int) -> None:
        """Clicks on a dataset or an edge in the picture, and waits for the answer."""
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
        """Types into the field of a number that can be moved, and waits for the answer."""
        field = self.page.locator(f"#mover-{name} input[type=text]")
        field.fill(value)
        field.press("Enter")
        self.settle()

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
    """Opens a document in the studio; afterwards, nothing may have been complained of, or asked of anybody else."""
    monkeypatch.setattr("hetdp.studio.answers.load_in_background", lambda: None)
    served.complaints.clear()
    served.asked.clear()
    yield served.open
    served.keep(request.node.name)
    assert served.complaints == []
    assert all(url.startswith((served.place.address, "data:", "blob:")) for url in served.asked), served.asked
