"""Errors in the shell: words, JSON document, exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

import hetdp as library
from hetdp.cli import main as failure
from hetdp.errors import Fault, InputError, UnknownDatasetError, UsageError

SOURCES = Path(library.__file__).parent


def raise_instead(error: Exception):
    def read_problem(*_, **__):
        raise error

    return read_problem


@pytest.fixture
def run_failing(hetdp, monkeypatch):
    """Runs a command in which reading the problem raises an error."""

    def run(error: Exception, *arguments: str):
        monkeypatch.setattr("hetdp.files.problems.read_problem", raise_instead(error))
        return hetdp("boundary", "poll.json", *arguments)

    return run


def test_a_bug_asks_for_a_report_and_shows_no_traceback(run_failing):
    result = run_failing(ZeroDivisionError("division\nby zero"))
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "hetdp: unexpected ZeroDivisionError: division by zero. This is a bug in hetdp. Please report it with this"
        " line, hetdp --version, the command, and the problem if you may share it."
        " (HETDP_DEBUG=1 shows where it occurred.)\n"
    )


def test_debug_mode_shows_the_traceback(run_failing, monkeypatch):
    monkeypatch.setenv("HETDP_DEBUG", "1")
    err = run_failing(ZeroDivisionError()).err
    assert err.startswith("Traceback (most recent call last):")
    assert err.splitlines()[-1].startswith("hetdp: unexpected ZeroDivisionError. This is a bug")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (MemoryError(), 1, "there is not enough free memory for this problem."),
        (
            OSError(5, "Input/output error", "poll.json"),
            2,
            "poll.json: Input/output error; the operating system refused this.",
        ),
        (OSError("odd"), 2, "odd; the operating system refused this."),
        (UsageError("a", "b", "duplicates='min' does"), 2, "a; b. Hint: --duplicates min does"),
        (UnknownDatasetError(3), 3, "there is no dataset 3; the label must be that of a dataset of the problem."),
    ],
)
def test_every_error_is_one_sentence_with_its_exit_code(run_failing, error, code, words):
    result = run_failing(error)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(f"hetdp: {words}")


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (ZeroDivisionError(), "bug", 1),
        (MemoryError(), "memory", 1),
        (OSError(5, "no"), "system", 2),
        (UsageError("a", "b"), "usage", 2),
        (UnknownDatasetError(3), "input", 3),
    ],
)
def test_as_json_an_error_is_a_document_and_a_message(run_failing, error, kind, code):
    result = run_failing(error, "--json")
    report = result.document["error"]
    assert (result.document["verb"], report["kind"], report["exit_code"], result.code) == ("boundary", kind, code, code)
    assert result.err == f"hetdp: {report['message']}\n"


def test_faults_are_reported_in_the_words_of_the_command_line(run_failing):
    faults = [Fault("what", "where", "value", "with positive=", "duplicates='min' does")] * 3
    report = run_failing(InputError("poll.json", faults, total=5), "--json").document["error"]
    assert report["total"] == 5
    assert report["faults"][2] == {
        "what": "what",
        "where": "where",
        "value": "value",
        "rule": "with --positive",
        "hint": "--duplicates min does",
    }
    assert "duplicates='min'" not in report["message"]


def test_a_value_that_looks_like_an_argument_stays_as_it_is(run_failing):
    result = run_failing(UsageError("the column 'positive=1' is not \"positive=\"", "people's positive='ja' does"))
    assert result.err == "hetdp: the column 'positive=1' is not \"positive=\"; people's --positive ja does.\n"


def test_the_options_are_those_of_the_verb_and_of_its_own_verb():
    assert failure.options_of(["ask", "t.csv", "--sheet", "design"])["by"] == "--by"
    assert failure.options_of(["ledger", "create", "l.ledger"])["cap"] == "--cap"
    assert failure.options_of(["--help"]) == failure.OPTIONS


def test_python_functions_in_messages_become_verbs(run_failing):
    result = run_failing(
        UsageError("nothing is given", "hetdp.design chooses values, hetdp.ask needs none of 'hetdp.ask'")
    )
    assert result.err == (
        "hetdp: nothing is given; hetdp design PROBLEM chooses values, hetdp ask TABLE needs none of 'hetdp.ask'.\n"
    )
