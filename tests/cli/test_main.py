"""How commands end: interrupted, with a closed pipe, or with nowhere to write."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

PYTHON = shlex.quote(sys.executable)
SLOW = """
import sys, time
from hetdp.files import problems
def read_problem(*_, **__):
    print("working", flush=True)
    time.sleep(60)
problems.read_problem = read_problem
from hetdp.cli.main import main
sys.exit(main(["boundary", "poll.json"]))
"""


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a bash command line in which `hetdp` is the command under test."""
    script = f'hetdp() {{ {PYTHON} -m hetdp "$@"; }}\n{command}'
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, encoding="utf-8", env=os.environ | environment
    )


def test_an_interrupt_is_one_line():
    with subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as working:
        assert working.stdout is not None
        assert working.stderr is not None
        assert working.stdout.readline() == b"working\n"
        working.send_signal(signal.SIGINT)
        assert working.wait() == 130
        assert working.stderr.read() == b"hetdp: interrupted\n"


def test_a_closed_pipe_is_not_an_error():
    datasets = [{"dataset": f"dataset number {at:06}", "query": 1 + at % 2} for at in range(6000)]
    names = [row["dataset"] for row in datasets]
    edges = [{"source": a, "target": b, "epsilon": 1} for a, b in pairwise(names)]
    Path("long.json").write_text(json.dumps({"schema_version": 1, "datasets": datasets, "edges": edges}))
    done = shell('hetdp boundary -q long.json | head -1; echo "${PIPESTATUS[0]}"')
    assert (done.stdout, done.stderr) == ("dataset number 000000\n0\n", "")


NOBODY_READS = """
import os, sys
reader, writer = os.pipe()
os.close(reader)
os.dup2(writer, 1)
from hetdp.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("json_option", [(), ("--json",)])
@pytest.mark.parametrize(
    ("code", "command"),
    [
        (0, "check poll.json"),
        (0, "extend poll.json -o -"),
        (0, "boundary --help"),
        (0, "--version"),
        (3, "check faulty.json"),
        (4, "check too-much.json"),
        (4, "check too-much.json --repair -"),
        (4, "extend too-much.json"),
        (5, "verify poll.json claim.csv"),
    ],
)
def test_the_exit_code_is_the_same_if_nobody_reads(code, command, json_option):
    Path("claim.csv").write_text("dataset,p\n1,0.9\n2,0.1\n0,0.9\n3,0.1\n4,0.1\n")
    if "-o -" in command or "repair" in command or command.startswith("-"):
        json_option = ()
    words = [sys.executable, "-c", NOBODY_READS, *command.split(), *json_option]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, "")
    assert "Broken pipe" not in done.stderr


def test_a_verdict_survives_if_nobody_reads_the_messages_either():
    done = shell('hetdp check too-much.json 2>&1 | true; echo "${PIPESTATUS[0]}"')
    assert (done.stdout, done.stderr) == ("4\n", "")


def test_a_pipe_to_another_program_that_breaks_is_a_failure(hetdp, monkeypatch):
    def lost(*_):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("hetdp.cli.group.run", lost)
    code, out, err = hetdp("demo")
    assert (code, out, err) == (2, "", "hetdp: Broken pipe; the operating system refused this.\n")


def test_a_closed_standard_output_is_an_error():
    done = shell("hetdp boundary -q poll.json >&-")
    assert (done.returncode, done.stderr) == (
        2,
        "hetdp: cannot write to standard output: it is closed; results go there.\n",
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_is_an_error():
    done = shell("hetdp extend -q poll.json -o - > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "hetdp: cannot write to standard output: No space left on device; results go there.\n"


def test_output_is_utf_8_whatever_the_locale():
    done = shell("hetdp check too-much.json", LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 4
    assert "over ε = 0.5" in done.stdout


def test_other_closed_streams_do_not_matter():
    done = shell("hetdp boundary poll.json 2>&- <&-")
    assert (done.returncode, done.stdout) == (0, "1\n2\n")


def test_a_closed_standard_input_is_an_error():
    done = shell("hetdp boundary - <&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "hetdp: standard input is closed; - reads from there. Hint: name a file\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("Query interrupted")])
def test_an_interrupt_on_a_terminal_ends_the_line(hetdp, monkeypatch, error):
    def raise_error(*_):
        raise error

    monkeypatch.setattr("hetdp.cli.group.run", raise_error)
    assert hetdp("demo") == (130, "", "hetdp: interrupted\n")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert hetdp("demo") == (130, "", "\nhetdp: interrupted\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("design poll.json --free --max-error 1e-5", "keeps to --max-error 1e-05;"),
        ("design poll.json --prior weight", "--prior together with --objective fair; only the objective average"),
        ("make votes --people 3 --majority --epsilon 1 --deciding-epsilon x -o -", "--deciding-epsilon x; ε is"),
        ("make tallies --group a=3 --majority --epsilon a=x -o -", "--epsilon x for 'a'; ε is"),
        ("ledger init new.ledger --source a --cap lots", "--cap lots; an amount of privacy is a number"),
        ("ledger init new.ledger --source a --cap 1 --class-cap b=-1", "--class-cap b=-1; an amount of privacy is"),
        ("make votes --people 3 --majority --epsilon", "requires an argument. Hint: see hetdp make --help."),
    ],
)
def test_a_wrong_value_is_named_with_its_option(hetdp, words, said):
    assert said in hetdp(*words.split()).err
