"""The command `hetdp` itself: help, version and unknown verbs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from hetdp.cli import (
    group,
)
from hetdp.cli.group import GROUP, VERBS
from hetdp.version import VERSION

FOLDER = Path(group.__file__).parent
LIGHT_COMMANDS = """
import sys
from hetdp.cli.main import main
for words in ("--help", "--version", "extend --help", "extnd", "extend", "check --nope a --json", "completion bash"):
    main(words.split())
print(sorted({"duckdb", "flint", "numba", "numpy"} & sys.modules.keys()), file=sys.stderr)
"""


def test_every_verb_is_a_file(hetdp):
    assert [name for name in VERBS if not (FOLDER / f"{name}.py").is_file()] == []


QUOTES = "a name or value with spaces needs quotation marks around it"


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_help_begins_with_examples(hetdp, verb):
    result = hetdp(*([verb] if verb else []), "--help")
    assert (result.code, result.err) == (0, "")
    usage, blank, first, *_ = result.out.splitlines()
    assert usage.startswith("Usage: hetdp ")
    assert blank == ""
    assert first.startswith(("  hetdp ", '  eval "$(hetdp '))


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_says_what_it_does(verb):
    command = GROUP.get_command(click.Context(GROUP), verb)
    assert command is not None
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert [option.name for option in options if not option.help] == []


def test_help_lists_every_verb_and_every_exit_code(hetdp):
    out = hetdp("--help").out
    for name, summary in VERBS.items():
        assert f"  {name:<10}  {summary}\n" in out
    for code in ("0", "1", "2", "3", "4", "5", "130"):
        assert f"\n    {code:<4} " in out


def test_without_a_verb_help_is_shown_and_nothing_is_done(hetdp):
    result = hetdp()
    assert (result.code, result.out) == (2, "")
    assert result.err == hetdp("--help").out


def test_help_is_as_wide_as_the_terminal(hetdp, monkeypatch):
    monkeypatch.setattr(group, "width", lambda: 60)
    assert max(len(line) for line in hetdp("extend", "--help").out.splitlines() if "hetdp" not in line) <= 60


def test_the_version_output_contains_what_a_bug_report_needs(hetdp):
    assert hetdp("--version") == (
        0,
        f"hetdp {VERSION} (Python {'.'.join(map(str, sys.version_info[:3]))}, {sys.platform})\n",
        "",
    )


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("extnd poll.json", "there is no verb 'extnd'; did you mean extend?"),
        ("xyz", f"there is no verb 'xyz'; the verbs are {', '.join(VERBS)}."),
        ("extend --enginee cpu poll.json", "there is no option --enginee; did you mean --engine?"),
        ("extend", "missing argument 'PROBLEM'."),
        ("extend a b", f"got unexpected extra argument (b); {QUOTES}."),
        ("studio Umfrage Umzug.xlsx", f"got unexpected extra argument (Umzug.xlsx); {QUOTES}."),
        (
            "ask a --more-than 50 % --epsilon 1",
            "got unexpected extra argument (%); a percentage is written without a space, such as 50%.",
        ),
        (
            "extend a --engine gpu",
            "--engine gpu is not for a command; it searches the votes and tallies of hetdp.spaces, in Python"
            " (docs/how-to/gpu.md); a problem file has only edges.",
        ),
        (
            "extend a --engine cpus",
            "invalid value for '--engine': 'cpus' is not one of 'auto', 'cpu', 'reference', 'dask'; did you mean cpu?",
        ),
        ("extend a --workers two", "--workers two; it must be a whole number ≥ 1."),
        ("extend a --workers 0", "--workers 0; it must be a whole number ≥ 1."),
        ("studio --port 99999", "--port 99999; it must be a whole number from 0 to 65535."),
        ("design a --max-error two", "--max-error two; it must be a number."),
        ("make", "missing argument 'votes|tallies'; it is votes or tallies."),
        ("completion", "missing argument 'bash|zsh|fish'; it is bash, zsh or fish."),
        (
            "ledger",
            "missing argument 'ACTION'; it is init, declare, status, history, person, verify, export or record.",
        ),
        (
            "ledger make",
            "invalid value for 'ACTION': 'make' is not one of 'init', 'declare', 'status', 'history', 'person',"
            " 'verify', 'export', 'record'; did you mean init?",
        ),
        (
            "record vrify a",
            "invalid value for 'ACTION': 'vrify' is not one of 'verify', 'statement', 'plan'; did you mean verify?",
        ),
        ("ask a --majority", "there is no option --majority; did you mean --more-than 50%?"),
        ("ask a --at-most 10%", "there is no option --at-most; ask for --more-than instead: its no is your yes."),
        (
            "ask a --less-than-by A=3",
            "there is no option --less-than-by; ask for --at-least-by instead: its no is your yes.",
        ),
        ("ask a --sheet X", "there is no option --sheet; did you mean --table?"),
        ("ask a --id X", "there is no option --id; did you mean --person?"),
        (
            "make vote",
            "invalid value for 'votes|tallies': 'vote' is not one of 'votes', 'tallies'; did you mean votes?",
        ),
        ("extend a -o", "option '-o' requires an argument."),
        ("--nope", "there is no option --nope."),
        ("-- --nope", "there is no option --nope."),
    ],
)
def test_wrong_usage_is_answered_in_one_line_with_a_hint(hetdp, words, answer):
    result = hetdp(*words.split())
    assert (result.code, result.out) == (2, "")
    verb = f"{words.split()[0]} " if words.split()[0] in VERBS else ""
    assert result.err == f"hetdp: {answer} Hint: see hetdp {verb}--help.\n"
    assert result.err.count("\n") == 1


def test_commands_that_need_no_numbers_load_no_heavy_library():
    done = subprocess.run([sys.executable, "-c", LIGHT_COMMANDS], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"


def test_help_is_at_most_110_characters_wide(monkeypatch):
    for columns, wide in ((200, 110), (110, 110), (60, 60), (0, 110)):
        monkeypatch.setattr("os.get_terminal_size", lambda _, columns=columns: SimpleNamespace(columns=columns))
        assert group.width() == wide
    monkeypatch.setattr("os.get_terminal_size", lambda _: exec("raise OSError"))
    assert group.width() == 80
