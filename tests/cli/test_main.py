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

import click
import pytest

from hetdp.cli import (
    group,
)
from hetdp.cli.main import describe_click_error, describe_error, in_options

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


def test_an_error_of_the_system_names_its_file():
    refused = describe_error(OSError(13, "Permission denied", "a.json"))
    assert (refused.kind, refused.exit_code) == ("system", 2)
    assert refused.message == "a.json: Permission denied; the operating system refused this."
    assert describe_error(OSError("odd")).message == "odd; the operating system refused this."
    full = describe_error(MemoryError())
    assert (full.kind, full.exit_code) == ("memory", 1)
    bug = describe_error(KeyError("a\nb: "))
    assert (bug.kind, bug.exit_code, "\n" in bug.message) == ("bug", 1, False)


def context(verb: str) -> click.Context:
    return click.Context(click.Command(verb), click.Context(group.GROUP, info_name="hetdp"), verb)


def test_a_surplus_word_of_release_is_not_shown_since_it_may_belong_to_the_dataset():
    error = click.UsageError("Got unexpected extra argument (secret)", context("release"))
    assert describe_click_error(error) == (
        "an option or argument is unknown; it is not shown, since it may be part of the dataset."
        " Hint: see hetdp release --help."
    )
    error = click.UsageError("Got unexpected extra argument (x)", context("design"))
    assert describe_click_error(error) == "got unexpected extra argument (x). Hint: see hetdp design --help."
    missing = click.MissingParameter("Missing it?", ctx=context("release"))
    assert "too many" not in describe_click_error(missing)


def test_a_dataset_that_begins_with_a_minus_gets_its_own_hint():
    assert describe_click_error(click.NoSuchOption("-1", ctx=context("explain"))) == (
        "there is no option -1. Hint: put -- before a dataset whose name begins with -."
    )
    close = click.NoSuchOption("--jsn", possibilities=["--json"], ctx=context("design"))
    assert describe_click_error(close).startswith("there is no option --jsn; did you mean --json? Hint: see hetdp")
    assert describe_click_error(click.NoSuchOption("-x", ctx=context("explain"))) == (
        "there is no option -x. Hint: see hetdp explain --help."
    )


def test_arguments_become_options_and_values_stay():
    options = {"design": "--design", "plan": "--plan"}
    assert in_options("design='fair' or plan=", options) == "--design fair or --plan"
    assert in_options("design='two words'", options) == "--design 'two words'"
    assert in_options("other=3 and 'plan='", options) == "other=3 and 'plan='"
    assert in_options("plan=3.5.", options) == "--plan 3.5."
    assert in_options("hetdp.Ledger.create makes one", options) == "hetdp ledger init makes one"
    assert in_options("hetdp.ask and hetdp.read_problem", options) == "hetdp ask TABLE and hetdp check PROBLEM"
    assert in_options("hetdp.questions.from_document and hetdp.from_table", options) == (
        "hetdp make --question FILE and hetdp.from_table"
    )
