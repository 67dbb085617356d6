"""The studio's page: the time of an edit on the server, and what a browser loads and waits for."""

from __future__ import annotations

import json
import shutil
import statistics
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from itertools import count, pairwise
from typing import Any
from urllib.parse import urlsplit

import hetdp
from benchmarks.claims import AT_MOST, Benchmark, Measured, Part, Table, Target
from benchmarks.graphs import grid
from benchmarks.libraries import load_library
from benchmarks.measure import in_turn
from hetdp.studio.answers import choose_engine, list_edges, load_compiled_search
from hetdp.studio.gallery import GALLERY
from hetdp.studio.session import Session, new_document
from hetdp.studio.views import summary_figure

LIMITS = {500: 50, 5_000: 500}  # milliseconds, by datasets
ALONE, ANSWERED = "design", "answer"
VIEWS = {500: ("network",), 5_000: ("summary", "around")}
SIZES = {500: 23**2, 5_000: 71**2}  # squares, at least as large as the sizes of the targets
EDGE = 3


class Page:
    """Stands in for a browser: sends its requests and keeps its state while one control is moved again and again."""

    def __init__(self, address: str, session: Session, view: str) -> None:
        place = urlsplit(address)
        self._host, self._path = place.netloc, place.path
        self._known: dict[str, Any] = {"view.value": view, "theme.data": "light", "page.data": "measured"}
        self._values, self._numbers = count(1), count(1)
        found = json.loads(self._ask("GET", "_dash-dependencies"))
        self._answering = next(one for one in found if any(each["id"] == "actions" for each in one["inputs"]))
        self.bytes = 0
        self.answer: dict[str, dict[str, Any]] = {}  # the last one: properties by the part of the page
        self._known |= {
            "opening.data": session.document.opening,
            "subject.data": ["edge", EDGE],
            "shown.data": session.revision,
        }
        self.move()  # the first answer is the whole picture

    def move(self) -> None:
        """Moves the ε of the chosen edge a little, and reads the answer."""
        kind, at = self._known["subject.data"]
        value = str(0.2 + 0.001 * (next(self._values) % 500))
        self.act("enter", {"kind": kind, "at": at, "control": "slider", "name": "epsilon", "value": value})

    def act(self, name: str, details: Any) -> None:
        """Sends one action, and reads the answer."""
        seen = {"revision": self._known["shown.data"], "opening": self._known["opening.data"]}
        action = {"number": next(self._numbers), "name": name, "details": details, "seen": seen}
        self._known["actions.data"] = [action]
        self.send()

    def send(self) -> None:
        """Sends the actions of the page, and reads the answer."""
        body = {
            "output": self._answering["output"],
            "outputs": [self._place(one) for one in _outputs(self._answering["output"])],
            "inputs": [self._state(one) for one in self._answering["inputs"]],
            "changedPropIds": ["actions.data"],
            "state": [self._state(one) for one in self._answering["state"]],
        }
        answer = self._ask("POST", "_dash-update-component", json.dumps(body))
        self.bytes = len(answer)
        self.answer = json.loads(answer)["response"]
        for name, props in self.answer.items():
            self._known |= {f"{name}.{prop}": value for prop, value in props.items()}

    def _ask(self, method: str, path: str, body: str | None = None) -> bytes:
        connection = HTTPConnection(self._host)
        connection.request(method, self._path + path, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        assert answer.status == 200, f"{path}: {answer.status}"
        return content

    def _place(self, one: str) -> Any:
        name, _, prop = one.rpartition(".")
        if not name.startswith("{"):
            return {"id": name, "property": prop}
        return [{"id": each, "property": prop} for each in self._members(name)]

    def _state(self, one: dict[str, str]) -> Any:
        if one["id"].startswith("{"):
            return [{"id": each, "property": one["property"], "value": each} for each in self._members(one["id"])]
        return {**one, "value": self._known.get(f"{one['id']}.{one['property']}")}

    def _members(self, pattern: str) -> list[dict[str, str]]:
        """The parts of the page whose names match a pattern: the controls of ε, and the chart once it has been sent."""
        kind = json.loads(pattern)["type"]
        if kind == "chart":
            return [{"type": kind, "name": kind}] * ("chart-box.children" in self._known)
        return [{"type": kind, "name": "epsilon"}]


def _outputs(together: str) -> list[str]:
    """The places that one answer fills, without the marks that distinguish callbacks."""
    return [one.partition("@")[0] for one in together.strip(".").split("...")]


@contextmanager
def serve(session: Session) -> Iterator[str]:
    """Runs a studio and yields its address."""
    from hetdp.studio.server import create_server

    place = create_server(session)
    server = threading.Thread(target=place.serve, daemon=True)
    server.start()
    try:
        yield place.address
    finally:
        place.stop()


@contextmanager
def open_page(datasets: int, view: str) -> Iterator[tuple[Session, Page]]:
    """Runs a studio in which an edge is selected."""
    session = Session(new_document("measured", grid(8 * datasets)))
    session.select("edge", EDGE)
    with serve(session) as address:
        yield session, Page(address, session, view)


def sections(sizes: dict[int, int], rounds: int) -> Iterator[Part]:
    """One row for each size and view."""
    load_compiled_search()  # as after the first moments of a session
    rows = []
    for nominal, datasets in sizes.items():
        for view in VIEWS[nominal]:
            with open_page(datasets, view) as (session, page):
                edge_list = list_edges(session.document.problem)
                problem = session.document.problem.with_parameter(int(edge_list.places[EDGE]), "epsilon", 0.5)
                alone = partial(hetdp.design, problem, "fair", engine=choose_engine(problem))
                took = in_turn({ALONE: alone, ANSWERED: page.move}, rounds)
                answered, size = took[ANSWERED], session.document.problem.graph.size
                kibibytes = page.bytes / 1024
            rows.append(
                (
                    f"{size:,}",
                    view,
                    f"{1000 * took[ALONE]:.1f}",
                    f"{1000 * answered:.1f}",
                    f"{answered / took[ALONE]:.1f}",
                    f"{kibibytes:.0f}",
                )
            )
            yield Measured(_target_name(nominal), view, 1000 * answered)
    yield Table(("datasets", "picture", "`hetdp.design` alone, ms", "answer, ms", "ratio", "sent, KiB"), rows)


def _target_name(datasets: int) -> str:
    return f"ms, {datasets:,} datasets"


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
SETTLED = "() => document.querySelector('#studio[data-ready=yes][aria-busy=false]')"


@contextmanager
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


def visit(context: Any, address: str) -> tuple[Any, dict[str, int]]:
    """Opens a studio on a new page and waits until it is drawn.

    Returns:
        The page, and the bytes that came over the network for each address; 0 if the browser had stored them.
    """
    page = context.new_page()
    page.set_default_timeout(540_000)  # a busy machine may have to compile the search first
    names: dict[str, str] = {}
    found: dict[str, int] = {}
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    network.on("Network.requestWillBeSent", lambda one: names.update({one["requestId"]: one["request"]["url"]}))
    network.on(
        "Network.loadingFinished", lambda one: found.update({names[one["requestId"]]: int(one["encodedDataLength"])})
    )
    page.goto(address)
    page.wait_for_function(SETTLED)
    return page, found


NO_BROWSER = f"Not measured: there is no {CHROMIUM} here, or no Playwright."
SECOND = "MB, second visit"


def has_browser() -> bool:
    """True if pages can be measured on this machine."""
    return shutil.which(CHROMIUM) is not None and not isinstance(load_library("playwright"), str)


def loading(names: dict[str, str]) -> Iterator[Part]:
    """One row for each problem: the bytes that a first and a second visit load."""
    if not has_browser():
        yield NO_BROWSER
        return
    rows = []
    with browser() as chromium:
        for name, view in names.items():
            context = chromium.new_context()
            with serve(Session(GALLERY[name].make())) as address:
                first, second = (sum(visit(context, address)[1].values()) / 1e6 for _ in range(2))
            context.close()
            rows.append((GALLERY[name].title, view, f"{first:.2f}", f"{second:.2f}"))
            yield Measured(SECOND, view, second)
    yield Table(("problem", "first picture", "first visit, MB", "second visit, MB"), rows)


MOVES = 40
TIMES = "last move until drawn / server"
CHANGES, REMAINS = "summary, which changes", "summary, which remains"
DRAGGED = ((529, "network"), (71**2, CHANGES), (316**2, CHANGES), (316**2, REMAINS))  # datasets, and the picture
SHARES = 0.10, 0.15  # of the width of the slider, by which it is dragged in turn
SLOW = 50_000  # datasets; from this size on, the server takes much longer than a browser needs for two frames
WATCH = """() => {
    window.moves = []; window.rests = []; window.changes = [];
    document.addEventListener("change", () => window.changes.push(performance.now()), true);
    document.addEventListener("input", () => window.moves.push(performance.now()), true);
    const page = document.getElementById("studio");
    new MutationObserver(() => page.getAttribute("aria-busy") === "false" && window.rests.push(performance.now()))
        .observe(page, { attributes: true, attributeFilter: ["aria-busy"] });
}"""
TOOK = """() => {
    const asked = performance.getEntriesByType("resource").filter((one) => one.name.includes("_dash-update-component"));
    const last = asked[asked.length - 1];
    return [asked.length, last.responseEnd - last.requestStart, window.rests.at(-1) - window.moves.at(-1)];
}"""
EDITED = """() => {
    const asked = performance.getEntriesByType("resource").filter((one) => one.name.includes("_dash-update-component"));
    const last = asked[asked.length - 1];
    return [last.responseEnd - last.requestStart, window.rests.at(-1) - window.changes.at(-1)];
}"""
CLEAR = "() => { window.moves.length = 0; window.rests.length = 0; performance.clearResourceTimings(); }"


def drag(page: Any, share: float) -> tuple[int, float, float]:
    """Drags the slider of ε over a share of its width in forty moves.

    Returns:
        The number of requests, the milliseconds of the last one, and those from the last move until all was drawn.
    """
    slider = page.locator("#mover-epsilon input[type=range]")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.evaluate(CLEAR)
    at = box["x"] + 0.1 * box["width"], box["y"] + box["height"] / 2
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + share * box["width"], at[1], steps=MOVES)
    page.mouse.up()
    page.wait_for_function(SETTLED)
    requests, server, until = page.evaluate(TOOK)
    return requests, server, until


def find_shown_edge(session: Session) -> int:
    """An edge of the hardest dataset whose ε shows in the summary: each drag changes it.

    Raises:
        ValueError: there is none.
    """
    edge_list, found = session.edge_list, session.answer.mechanism
    assert edge_list is not None
    assert found is not None
    worst = int(found.errors.argmax())
    for edge in ((edge_list.source == worst) | (edge_list.target == worst)).nonzero()[0].tolist():
        seen = []
        for share in (0.0, *SHARES):
            session.set_parameter(edge, "epsilon", 3 * (0.1 + share))
            seen.append(summary_figure(session, "light"))
        session.undo()
        if all(one != other for one, other in pairwise([*seen, seen[1]])):
            return int(edge)
    raise ValueError("no edge of the hardest dataset shows in the summary")


def dragging(rows_to_measure: tuple[tuple[int, str], ...], rounds: int) -> Iterator[Part]:
    """One row for each size and picture."""
    if not has_browser():
        yield NO_BROWSER
        return
    load_compiled_search()
    rows = []
    with browser() as chromium:
        for datasets, view in rows_to_measure:
            session = Session(new_document("measured", grid(8 * datasets)))
            session.select("edge", find_shown_edge(session) if view == CHANGES else EDGE)
            context = chromium.new_context(viewport={"width": 1440, "height": 900})
            with serve(session) as address:
                page, _ = visit(context, address)
                page.evaluate(WATCH)
                found = [drag(page, SHARES[turn % 2]) for turn in range(rounds)]
            context.close()
            requests, server, until = (statistics.median(one) for one in zip(*found, strict=True))
            ratios = [one[2] / one[1] for one in found]
            ratio, spread = statistics.median(ratios), f"{min(ratios):.2f}–{max(ratios):.2f}"
            size = session.document.problem.graph.size
            rows.append((f"{size:,}", view, f"{requests:g}", f"{server:.0f}", f"{until:.0f}", f"{ratio:.2f}", spread))
            if datasets >= SLOW or rounds == 1:
                yield Measured(TIMES, f"{size:,} datasets, {view}", ratio)
    yield Table(
        ("datasets", "picture", "requests", "the last one, ms", "last move until drawn, ms", "ratio", "spread"), rows
    )


EDIT = "edit until drawn, ms"
VERDICT = "first verdict, ms"
VERDICT_SHOWN = """new MutationObserver(() => { if (!window.seen && document.querySelector("#status h2")) {
    window.seen = performance.now(); } }).observe(document, { childList: true, subtree: true });"""


def edit(page: Any, value: float) -> tuple[float, float]:
    """Types an ε into its field.

    Returns:
        The milliseconds of the request, and those from Enter until all was drawn.
    """
    field = page.locator("#mover-epsilon input[type=text]")
    page.evaluate(CLEAR)
    field.fill(str(value))
    field.press("Enter")
    page.wait_for_function(SETTLED)
    server, until = page.evaluate(EDITED)
    return server, until


def waiting(datasets: int, visited: int, rounds: int) -> Iterator[Part]:
    """One row for an edit and one for each of two visits, as a person at a browser waits for them.

    Args:
        datasets: of the problem that is edited.
        visited: datasets of the problem whose page is loaded.
        rounds: how often each is measured.
    """
    if not has_browser():
        yield NO_BROWSER
        return
    load_compiled_search()
    rows = []
    with browser() as chromium:
        session = Session(new_document("measured", grid(8 * datasets)))
        session.select("edge", EDGE)
        context = chromium.new_context(viewport={"width": 1440, "height": 900})
        with serve(session) as address:
            page, _ = visit(context, address)
            page.evaluate(WATCH)
            found = [edit(page, round(0.2 + 0.01 * turn, 2)) for turn in range(rounds)]
        context.close()
        server, until = (statistics.median(one) for one in zip(*found, strict=True))
        rows.append((f"{session.document.problem.graph.size:,}", "an edit", f"{server:.0f}", f"{until:.0f}"))
        yield Measured(EDIT, f"{session.document.problem.graph.size:,} datasets", until)
        session = Session(new_document("measured", grid(8 * visited)))
        size = f"{session.document.problem.graph.size:,}"
        times: dict[str, list[float]] = {"first visit": [], "second visit": []}
        with serve(session) as address:
            for _ in range(rounds):
                context = chromium.new_context(viewport={"width": 1440, "height": 900})
                context.add_init_script(VERDICT_SHOWN)
                for taken in times.values():
                    page, _ = visit(context, address)
                    taken.append(page.evaluate("() => window.seen"))
                    page.close()
                context.close()
        for name, taken in times.items():
            rows.append((size, f"the verdict, {name}", "", f"{statistics.median(taken):.0f}"))
            yield Measured(VERDICT, f"{size} datasets, {name}", statistics.median(taken))
    yield Table(("datasets", "what", "the request, ms", "until seen, ms"), rows)


BENCHMARKS = (
    Benchmark(
        "studio",
        "The studio: an ε is moved",
        "The time from the request to the last byte of the answer, over HTTP on this machine. The server changes the "
        "edge, designs and proves the fair mechanism, and sends everything that has changed in the picture and in the "
        "text. The unit is `hetdp.design` on the same problem with the same engine. The problem is a grid with eight "
        "neighbours, cut in half.",
        sections,
        full=(SIZES, 15),
        quick=({500: 25, 5_000: 36}, 1),
        targets=tuple(Target(_target_name(datasets), AT_MOST, limit) for datasets, limit in LIMITS.items()),
    ),
    Benchmark(
        "visits",
        "The studio: a page is loaded",
        "The bytes that a browser (Chromium) loads over the network until the page is drawn. Scripts are compressed, "
        "and the browser stores them. The script for charts is loaded when a picture needs it. Each start of the "
        "studio has a new address, so a second visit is a visit to the same running studio.",
        loading,
        full=({"three-voters": "network", "survey": "map"},),
        quick=({"three-voters": "network"},),
        targets=(Target(SECOND, AT_MOST, 1),),
    ),
    Benchmark(
        "drag",
        "The studio: an ε is dragged",
        "The slider of an edge is dragged in a browser (Chromium), in forty moves of the mouse. The time is measured "
        "from the last move to the moment when the page has drawn the answer. The unit is the last request, until its "
        "last byte. All numbers are medians. If answers are slow, values are sent when the slider rests or is let go. "
        "If they are fast, the newest value is sent after each answer; the page's own work and a frame of the screen "
        "(17 ms) then take longer than the server, and the ratio says little. In a large problem, most ε change "
        "nothing in the summary, which is then neither sent nor drawn again. One row drags such an edge. The other "
        "summaries change: there, the edge is one of the hardest dataset.",
        dragging,
        full=(DRAGGED, 5),
        quick=(((25, "network"),), 1),
        targets=(Target(TIMES, AT_MOST, 1.5),),
    ),
    Benchmark(
        "wait",
        "The studio: what a person waits for",
        "In a browser (Chromium). An ε is typed and Enter is pressed: the time until the page has drawn the answer. A "
        "page is loaded: the time from the start of loading until the verdict is on the page, at a first visit, which "
        "loads all scripts, and at a second one. The server runs already, and the mechanism is known.",
        waiting,
        full=(SIZES[500], SIZES[5_000], 5),
        quick=(25, 36, 1),
        targets=(Target(EDIT, AT_MOST, 100), Target(VERDICT, AT_MOST, 2000)),
    ),
)
