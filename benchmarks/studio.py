"""The studio's page: how long an ε that is moved takes until the server has sent all that is seen and said then."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import hetdp
from benchmarks.claims import AT_MOST, Asked, Benchmark, Measured, Part, Table
from benchmarks.graphs import grid
from benchmarks.measure import in_turn
from hetdp.studio.answers import choose_engine, list_edges, load_compiled_search
from hetdp.studio.session import Session, new_document

LIMITS = {500: 50, 5_000: 500}  # milliseconds, by datasets
ALONE, ANSWERED = "design", "answer"
VIEWS = {500: ("network",), 5_000: ("summary", "around")}
SIZES = {500: 23**2, 5_000: 71**2}  # squares, not smaller than what was asked about
EDGE = 3


class Page:
    """What a browser asks and remembers, without a browser: one control of the page, moved again and again."""

    def __init__(self, address: str, session: Session, view: str) -> None:
        place = urlsplit(address)
        self._host, self._path = place.netloc, place.path
        self._known: dict[str, Any] = {"view.value": view, "theme.data": "light", "page.data": "measured"}
        self._values, self._numbers = count(1), count(1)
        found = json.loads(self._ask("GET", "_dash-dependencies"))
        self._answering = next(one for one in found if any(each["id"] == "actions" for each in one["inputs"]))
        self.bytes = 0
        self._known |= {
            "opening.data": session.document.opening,
            "subject.data": ["edge", EDGE],
            "shown.data": session.revision,
        }
        self.move()  # the first answer is the whole picture

    def move(self) -> None:
        """Moves ε of the chosen edge a little, and takes what comes back."""
        kind, at = self._known["subject.data"]
        value = str(0.2 + 0.001 * (next(self._values) % 500))
        self.act("enter", {"kind": kind, "at": at, "control": "slider", "name": "epsilon", "value": value})

    def act(self, name: str, details: Any) -> None:
        """Sends one action, and takes what comes back."""
        seen = {"revision": self._known["shown.data"], "opening": self._known["opening.data"]}
        action = {"number": next(self._numbers), "name": name, "details": details, "seen": seen}
        self._known["actions.data"] = [action]
        self.send()

    def send(self) -> None:
        """Asks with the actions that the page has, and takes what comes back."""
        body = {
            "output": self._answering["output"],
            "outputs": [self._place(one) for one in _outputs(self._answering["output"])],
            "inputs": [self._state(one) for one in self._answering["inputs"]],
            "changedPropIds": ["actions.data"],
            "state": [self._state(one) for one in self._answering["state"]],
        }
        answer = self._ask("POST", "_dash-update-component", json.dumps(body))
        self.bytes = len(answer)
        for name, props in json.loads(answer)["response"].items():
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
        sort = json.loads(name)["type"]
        return [{"id": {"type": sort, "name": "epsilon"}, "property": prop}]

    def _state(self, one: dict[str, str]) -> Any:
        if one["id"].startswith("{"):
            name = {"type": "slider", "name": "epsilon"}
            return [{"id": name, "property": one["property"], "value": name}]
        return {**one, "value": self._known.get(f"{one['id']}.{one['property']}")}


def _outputs(together: str) -> list[str]:
    """The places that one answer fills, without the marks that tell callbacks apart."""
    return [one.partition("@")[0] for one in together.strip(".").split("...")]


@contextmanager
def opened(datasets: int, view: str) -> Iterator[tuple[Session, Page]]:
    """A studio that answers, with a chosen edge."""
    from hetdp.studio.server import create_server

    session = Session(new_document("measured", grid(8 * datasets)))
    session.select("edge", EDGE)
    place = create_server(session)
    server = threading.Thread(target=place.serve, daemon=True)
    server.start()
    try:
        yield session, Page(place.address, session, view)
    finally:
        place.stop()


def sections(sizes: dict[int, int], rounds: int) -> Iterator[Part]:
    """One row for each size and view."""
    load_compiled_search()  # as it is after the first moments of a session
    rows = []
    for asked, datasets in sizes.items():
        for view in VIEWS[asked]:
            with opened(datasets, view) as (session, page):
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
            yield Measured(_what(asked), view, 1000 * answered)
    yield Table(("datasets", "picture", "`hetdp.design` alone, ms", "answer, ms", "ratio", "sent, KiB"), rows)


def _what(datasets: int) -> str:
    return f"ms, {datasets:,} datasets"


BENCHMARKS = (
    Benchmark(
        "studio",
        "The studio: an ε is moved",
        "From the request to the last byte of the answer, over HTTP on this machine: the edge is changed, the fair "
        "mechanism is designed and proved, and all that has changed in the picture and in the words is sent. "
        "`hetdp.design` of the same problem by the same engine = 1. A grid with eight neighbours, halves.",
        sections,
        full=(SIZES, 15),
        quick=({500: 25, 5_000: 36}, 1),
        asked=tuple(Asked(_what(datasets), AT_MOST, limit) for datasets, limit in LIMITS.items()),
    ),
)
