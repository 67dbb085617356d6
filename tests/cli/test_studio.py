"""`hetdp studio`: starts, says where, ends by Ctrl-C, and says what is missing."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from hetdp.cli.main import main

PROBLEMS = Path(__file__).parent / "problems"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_is_and_ends_quietly(number):
    command = [sys.executable, "-m", "hetdp", "studio", str(PROBLEMS / "poll.json"), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert answer.status == 200
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address.rsplit("/", 2)[0] + "/", timeout=20)
        running.send_signal(number)
        out, words = running.communicate(timeout=20)
    assert running.returncode == 0
    assert out == ""
    assert words == "Ctrl-C ends it\n"


def test_a_problem_that_cannot_be_read_is_told_before_anything_is_served(capsys):
    assert main(["studio", "nowhere.json"]) == 3
    assert "there is no such file" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["dash", "dash_cytoscape"])
def test_a_missing_extra_is_named(missing, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["studio", "--no-browser"]) == 2
    assert "pip install '.[studio]'" in capsys.readouterr().err
