"""Two studios on one problem, and two pages of one studio, do not interfere; a page saves only what it shows."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
from typing import Any

import pytest

import hetdp
from hetdp.studio.callbacks import UNSEEN
from hetdp.studio.guard import CACHE_NEVER
from hetdp.studio.server import StudioServer, create_server
from hetdp.studio.session import PageView, Session
from hetdp.studio.uploads import document_from_path
from tests.documents.pages import ROOT

LABELS = ["a", "b", "c", "d"]


@pytest.fixture
def file(tmp_path):
    graph = hetdp.DatasetGraph.from_edges(LABELS[:-1], LABELS[1:], [1.0, 0.5, 0.1], datasets=LABELS)
    hetdp.save(hetdp.Problem(graph, [1, 1, 2, 2]), tmp_path / "problem.json")
    return tmp_path / "problem.json"


def port_and_token(place: StudioServer) -> tuple[int, str]:
    port, token = place.address.removeprefix("http://127.0.0.1:").rstrip("/").split("/")
    return int(port), token


def send_request(port: int, path: str, body: Any = None, **headers: str) -> tuple[int, str, list[tuple[str, str]]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=540)
    given = {"Content-Type": "application/json"} if body is not None else {}
    sent = None if body is None else json.dumps(body)
    connection.request("GET" if body is None else "POST", path, sent, given | headers)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode("utf-8", "replace"), answer.getheaders()
    connection.close()
    return found


def press_save(place: StudioServer, page: str, revision: int) -> dict[str, Any]:
    """Presses the button that saves the problem and returns the response."""
    port, token = port_and_token(place)
    dependencies = json.loads(send_request(port, f"/{token}/_dash-dependencies")[1])
    one = next(one for one in dependencies if "download-problem.data" in one["output"])
    names = [place["id"] for place in one["inputs"]]
    outputs = [text.rpartition(".") for text in one["output"].strip(".").split("...")]
    body = {
        "output": one["output"],
        "outputs": [{"id": name, "property": part.split("@")[0]} for name, _, part in outputs],
        "inputs": [{"id": name, "property": "n_clicks", "value": int(name == "save-problem")} for name in names],
        "changedPropIds": ["save-problem.n_clicks"],
        "state": [
            {"id": "page", "property": "data", "value": page},
            {"id": "shown", "property": "data", "value": revision},
        ],
    }
    assert len(outputs) == 3
    status, text, headers = send_request(port, f"/{token}/_dash-update-component", body)
    assert status == 200, text
    assert ("Cache-Control", CACHE_NEVER) in headers
    found: dict[str, Any] = json.loads(text)["response"]
    return found


@pytest.fixture
def two_studios(file):
    places = []
    for _ in range(2):
        session = Session(document_from_path(str(file)))
        place = create_server(session)
        threading.Thread(target=place.serve, daemon=True).start()
        places.append((session, place))
    yield places
    for _, place in places:
        place.stop()


def test_two_studios_share_neither_tokens_nor_work_and_leave_the_file_alone(two_studios, file):
    before = file.read_bytes(), file.stat().st_mtime_ns
    (one, first), (other, second) = two_studios
    one.set_parameter(0, "epsilon", 0.25)
    assert other.revision == 1
    texts = [
        json.loads(press_save(place, "p", session.revision)["download-problem"]["data"]["content"])
        for session, place in two_studios
    ]
    assert [text["edges"][0]["epsilon"] for text in texts] == [0.25, 1.0]
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert [entry.name for entry in file.parent.iterdir()] == ["problem.json"]
    for here, there in ((first, second), (second, first)):
        port, token = port_and_token(here)
        strange = port_and_token(there)[1]
        status, _, headers = send_request(port, f"/{token}/")
        assert status == 200
        assert not [name for name, _ in headers if name.lower() == "set-cookie"]  # they would be sent to all ports
        assert send_request(port, f"/{strange}/")[0] == 403
        assert send_request(port, f"/{strange}/_dash-layout", Cookie=f"token={token}")[0] == 403
        assert send_request(port, f"/{token}/_dash-layout", Cookie=f"token={strange}; session=x")[0] == 200
        assert (
            send_request(port, f"/{token}/_dash-layout", Origin=f"http://127.0.0.1:{port_and_token(there)[0]}")[0]
            == 403
        )


def test_a_page_saves_nothing_that_it_has_not_shown(two_studios):
    session, place = two_studios[0]
    seen = session.revision
    assert "content" in press_save(place, "one", seen)["download-problem"]["data"]
    with session.acting_for(PageView("two", seen, 0)):
        session.set_parameter(0, "epsilon", 0.25)
    refused = press_save(place, "one", seen)
    assert refused["saved"]["children"] == UNSEEN
    assert "download-problem" not in refused
    assert refused["refresh"]["data"] == session.revision  # by which the page shows what is there now
    for page, report in (("one", session.revision), ("two", seen)):
        content = json.loads(press_save(place, page, report)["download-problem"]["data"]["content"])
        assert content["edges"][0]["epsilon"] == 0.25


def test_two_pages_that_save_at_once_each_get_a_whole_file(two_studios):
    session, place = two_studios[0]
    found: list[Any] = []

    def press(page: str) -> None:
        report = (
            press_save(place, page, session.revision + 9)["download-problem"]["data"]["content"] for _ in range(5)
        )
        found.extend(map(json.loads, report))

    pages = [threading.Thread(target=press, args=(name,)) for name in ("one", "two")]
    for page in pages:
        page.start()
    for epsilon in (0.3, 0.4, 0.6, 0.7):
        session.set_parameter(0, "epsilon", epsilon)
    for page in pages:
        page.join()
    assert len(found) == 10
    assert {len(one["edges"]) for one in found} == {3}
    assert {one["edges"][0]["epsilon"] for one in found} <= {1.0, 0.3, 0.4, 0.6, 0.7}


def test_a_second_studio_finds_a_port_of_its_own_and_is_refused_one_that_is_taken(file):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "hetdp", "studio", str(file), "--no-browser"]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        free = taken.getsockname()[1]
    with subprocess.Popen(
        [*command, "--port", str(free)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as first:
        try:
            assert first.stdout is not None
            address = first.stdout.readline().strip()
            assert address.startswith(f"http://127.0.0.1:{free}/")
            done = subprocess.run([*command, "--port", str(free)], capture_output=True, text=True, env=environment)
            assert done.returncode == 2
            assert f"port {free} is in use" in done.stderr
            assert "without --port it finds a free one" in done.stderr
            assert done.stdout == ""
            assert (
                send_request(free, f"/{address.rstrip('/').rpartition('/')[2]}/")[0] == 200
            )  # the first is still there
        finally:
            first.terminate()
