"""`hetdp studio`: starts, prints its address, stops on Ctrl-C, and says what is missing."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hetdp.cli import (
    studio,
)
from hetdp.cli.main import main
from tests.cli.heard import Heard
from tests.stress import mostly_long

PROBLEMS = Path(__file__).parent / "problems"


@pytest.mark.parametrize("number", mostly_long([signal.SIGINT, signal.SIGTERM], 1))  # test_writing sends SIGTERM
def test_it_prints_its_address_and_ends_quietly(number):
    command = [sys.executable, "-m", "hetdp", "studio", str(PROBLEMS / "poll.json"), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=540) as answer:
            assert answer.status == 200
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address.rsplit("/", 2)[0] + "/", timeout=540)
        running.send_signal(number)
        out, words = running.communicate(timeout=540)
    assert running.returncode == 0
    assert out == ""
    assert words == "starting the page; this takes a few seconds\npress Ctrl-C to stop\n"


def test_a_problem_that_cannot_be_read_is_reported_before_anything_is_served(capsys):
    assert main(["studio", "nowhere.json"]) == 3
    assert "there is no such file" in capsys.readouterr().err


def test_a_browser_is_opened_without_the_token_in_its_command_line(monkeypatch, capsys, tmp_path):
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\n{{ pwd; echo "$1"; stat -c %a studio.html; cat studio.html; }} > "{seen}.draft"\n')
    browser.write_text(browser.read_text() + f'mv "{seen}.draft" "{seen}"\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    from hetdp.studio import server

    def wait() -> None:
        end = time.monotonic() + 300
        while not seen.exists() and time.monotonic() < end:
            time.sleep(0.02)

    made = server.create_server
    monkeypatch.setattr(server, "create_server", lambda *args, **more: made(*args, **more)._replace(serve=wait))
    assert main(["studio", str(PROBLEMS / "poll.json")]) == 0
    address = capsys.readouterr().out.strip()
    folder, url, mode, text = seen.read_text().split("\n", 3)
    page = Path(urllib.parse.unquote(urllib.parse.urlsplit(url).path))
    assert address.rstrip("/").rpartition("/")[2] not in url
    assert page == Path(folder, "studio.html")
    assert mode == "600"
    assert f"url={address}" in text
    assert not page.exists(), "it is gone when the studio ends"


def test_an_address_that_cannot_be_used_is_reported_without_a_traceback(capfd):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["studio", "--no-browser", "--port", str(port)]) == 2
        result = capfd.readouterr()
        assert result.err.splitlines()[1].startswith(f"hetdp: port {port} is in use")
    assert main(["studio", "--no-browser", "--host", "192.0.2.1"]) == 2
    result = capfd.readouterr()
    assert result.out == ""
    assert "192.0.2.1" in result.err
    assert "another program" not in result.err
    assert len(result.err.splitlines()) == 2


@pytest.mark.parametrize("missing", ["dash", "dash_cytoscape"])
def test_a_missing_extra_is_named(missing, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["studio", "--no-browser"]) == 2
    assert "pip install '.[studio]'" in capsys.readouterr().err


def test_the_browser_gets_the_address_in_a_file_for_this_user_alone(monkeypatch):
    started: list[Any] = []

    def start(command: list[str], **given: Any) -> Any:
        page = Path(given["cwd"], "studio.html")
        started.append((command, page, page.stat().st_mode & 0o777, page.read_text()))
        return SimpleNamespace(wait=lambda: started.append("waited"), terminate=lambda: started.append("ended"))

    monkeypatch.setattr("subprocess.Popen", start)
    with contextlib.ExitStack() as cleanup:
        studio._browse("http://127.0.0.1:1/secret/", cleanup)
    command, page, mode, content = started[0]
    assert command[1:] == ["-P", "-m", "webbrowser", page.as_uri()]
    assert mode == 0o600
    assert "http://127.0.0.1:1/secret/" in content
    assert started[1:] == ["ended", "waited"]
    assert not page.exists()


@pytest.mark.parametrize(("host", "is_said"), [("127.0.0.1", False), ("192.0.2.1", True)])
def test_a_studio_that_others_can_reach_says_so(host, is_said, monkeypatch):
    stopped: list[str] = []
    served = SimpleNamespace(address="http://x/", serve=lambda: None, stop=lambda: stopped.append("stopped"))
    offered: list[bool] = []

    def create(session: Any, host: str, port: int, start: bool, *_: Any) -> Any:
        offered.append(start)
        return served

    monkeypatch.setattr("hetdp.studio.server.create_server", create)
    monkeypatch.setattr(studio, "_browse", lambda *_: stopped.append("browsed"))
    heard: Any = Heard()
    heard.emit = lambda lines: heard.words.extend(lines)
    studio.studio(heard, None, host, 0, True, "error", None)
    assert heard.words[:2] == ["starting the page; this takes a few seconds", "http://x/"]
    assert any("is not encrypted" in words for words in heard.words) is is_said
    assert stopped == ["stopped"]
    studio.studio(heard, str(PROBLEMS / "poll.json"), host, 0, False, "error", None)
    assert stopped == ["stopped", "browsed", "stopped"]
    assert offered == [True, False], "the examples are offered where nothing was opened"
