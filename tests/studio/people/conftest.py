"""A table of a hundred people, and the pages for tables without a browser: Flask's own client sends their forms."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from flask import Flask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from hetdp.studio.guard import protect
from hetdp.studio.people.folder import OpenedFolder
from hetdp.studio.people.pages import connect_pages
from hetdp.studio.people.session import PeopleSession

SECRET = "SENTINEL"
TOKEN = "token"
FIRST = {"role-0": "person", "role-1": "public", "role-2": "public", "role-3": "counted"}
QUESTION = {"value": "move", "kind": "share", "direction": "more_than", "share": "50", "title": "Do we move?"}
LEVELS = {"protection": "levels", "level": "level"}
EPSILONS = {"epsilon-0": "1", "epsilon-1": "0,1"}
SECOND = {"value": "stay", "kind": "count", "direction": "at_least", "number": "20", "title": "Do 20 stay?"}


def write_table(place: Path, answers: tuple[str, ...] = ("move", "move", SECRET), people: int = 100) -> Path:
    """Writes a table whose counted column has certain answers in turn."""
    rows = ["id,site,level,answer"]
    for person in range(people):
        site, level = ("Town", "Harbour")[person % 5 == 0], ("open", "strict")[person % 3 == 0]
        rows.append(f"p{person},{site},{level},{answers[person % len(answers)]}")
    place.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return place


class CompiledTemplates(BytecodeCache):  # type: ignore[misc]
    """The templates as compiled for the first server, kept for the next ones: this took half of these tests' time."""

    def __init__(self) -> None:
        self.compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self.compiled:
            bucket.bytecode_from_string(self.compiled[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.compiled[bucket.key] = bucket.bytecode_to_string()


TEMPLATES = CompiledTemplates()


class Pages:
    """The pages of one session, as a browser without scripts uses them. It keeps every response."""

    def __init__(self, session: PeopleSession) -> None:
        self.session = session
        server = Flask("tests")
        server.jinja_options = {"bytecode_cache": TEMPLATES}
        connect_pages(server, TOKEN, session)
        protect(server, TOKEN, frozenset({"localhost"}), list)
        self.client = server.test_client()
        self.responses: list[str] = []

    def get(self, step: str) -> str:
        answer = self.client.get(f"/{TOKEN}/people/{step}")
        assert answer.status_code == 200, step
        return self._keep(answer)

    def post(self, step: str, **fields: str) -> str:
        """Sends a form and follows where it leads; the names of fields have _ for -. Returns the text of the page."""
        form = {"revision": str(self.session.revision)} | {
            name.replace("_", "-"): text for name, text in fields.items()
        }
        form |= {"epsilon_column": form.pop("epsilon-column")} if "epsilon-column" in form else {}
        if form.get("do", "").startswith("release") and self.session.saved is not None:
            form.setdefault("plan-sha256", self.session.saved.digest)  # as the page that was shown says
        answer = self.client.post(f"/{TOKEN}/people/{step}", data=form)
        assert answer.status_code == 303, (step, answer.status_code)
        self.responses.append(str(answer.headers))
        self.place = answer.headers["Location"].rpartition("/")[2]
        return self.get(self.place)

    def _keep(self, answer) -> str:
        text = answer.get_data(as_text=True)
        self.responses.append(f"{answer.headers}\n{text}")
        return unescape(re.sub(r"\s+", " ", text))

    def send(self, step: str, fields: dict[str, str]) -> str:
        return self.post(step, **{name.replace("-", "_"): text for name, text in fields.items()})

    def fill_in(self) -> None:
        """Walks to the step Plan."""
        self.send("table", FIRST | {"go": "next"})
        self.send("question", QUESTION | {"go": "next"})
        self.send("protection", LEVELS)
        self.send("protection", LEVELS | EPSILONS | {"go": "next"})
        self.send("promise", {"go": "next"})
        assert self.place == "plan"

    def add_second(self) -> None:
        """Adds a second question, on the step Question."""
        self.send("question", {"do": "add-question"})
        self.send("question", SECOND)

    def save(self, name: str = "plan.json") -> str:
        return self.send("plan", {"plan-name": name, "do": "save-plan"})

    def make_ledger(self, name: str = "staff.ledger", times: str = "2") -> str:
        fields = {"ledger-name": name, "ledger-source": "staff", "times": times}
        return self.send("release", fields | {"do": "make-ledger"})

    def release(self) -> str:
        return self.send("release", {"confirm": "yes", "do": "release"})


@pytest.fixture
def table(tmp_path) -> Path:
    return write_table(tmp_path / "people.csv")


@pytest.fixture
def session(table) -> PeopleSession:
    found = PeopleSession(OpenedFolder(table.parent))
    found.open(table)
    return found


@pytest.fixture
def pages(session) -> Pages:
    return Pages(session)
