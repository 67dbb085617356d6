"""The reference pages describe everything that can be used, and generated pages are up to date."""

from __future__ import annotations

import inspect
import re
import shlex
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
import pytest

import hetdp
from docs import generate
from hetdp.cli.group import GROUP, NAME, VERBS
from hetdp.cli.main import BUG, INTERRUPTED, USAGE, main
from hetdp.partitioned import workspace
from tests.documents.pages import DOCS, ConsoleCommand, name_of, run_commands
from tests.partitioned.inline import Inline

PYTHON = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
COMMANDS = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
CONTEXT = click.Context(GROUP, info_name=NAME, **GROUP.context_settings)
QUESTIONS = """
schema_version = 1
kind = "questions"
questions = [{count = "vote = 'yes'", at_least = "50%"}, {count = "vote = 'no'", at_least = 1}]
"""
VETO = 'schema_version = 1\nkind = "question"\n[question]\nasks = "all_of"\ngroup = "staff"\n'
POLL = """{"schema_version": 1, "datasets": [
  {"dataset": "111", "query": 1}, {"dataset": "112", "query": 1, "p": 0.6}, {"dataset": "122", "query": 2, "p": 0.4}],
 "edges": [{"source": "111", "target": "112", "epsilon": 1}, {"source": "112", "target": "122", "epsilon": 1}]}"""


def section(page: str, heading: str) -> str:
    """The text below a heading, up to the next heading of the same or a higher level."""
    level = heading.partition(" ")[0]
    found = re.search(rf"^{re.escape(heading)}$(.*?)(?=^#{{1,{len(level)}}} |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, f"there is no heading {heading}"
    return found[1]


@pytest.mark.parametrize("page", generate.PAGES, ids=name_of)
def test_generated_pages_are_up_to_date(page: Path):
    assert page.read_text(encoding="utf-8") == generate.PAGES[page](), "`make docs` writes the page anew"


def test_what_a_function_returns_is_described_from_its_first_line_on():
    assert "\nReturns for each source an object with `source`," in section(PYTHON, "#### Ledger.status")
    returned = re.search(r"^Returns (.*)$", section(PYTHON, "### hetdp.ask"), re.MULTILINE)
    assert returned
    assert returned[1].startswith("the plan, the promise in words, and the release")
    assert returned[1].endswith("what that would cost.")


@pytest.mark.parametrize("name", dir(hetdp))
def test_a_public_name_is_described_with_all_its_members(name: str):
    described_in(section(PYTHON, f"### hetdp.{name}"), name, inspect.unwrap(getattr(hetdp, name)))


def described_in(words: str, name: str, thing: Any) -> None:
    if inspect.ismodule(thing):
        for member in thing.__all__:
            described_in(section(words, f"#### {name}.{member}"), f"{name}.{member}", getattr(thing, member))
    elif inspect.isclass(thing):
        offered = [member for member in vars(thing) if not member.startswith("_") and member != "arguments"]
        offered += [member for member in getattr(thing, "__annotations__", {}) if not member.startswith("_")]
        missing = [member for member in offered if not re.search(rf"`{member}`|^####+ {name}\.{member}$", words, re.M)]
        assert set(missing) <= {"arguments"}
    elif get_origin(thing) is Literal:
        assert all(f"`{value!r}`" in words for value in get_args(thing))
    elif callable(thing):
        for parameter in inspect.signature(thing).parameters:
            assert re.search(rf"`{name}\(.*\b{parameter}\b.*\)`", words)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_described_with_its_arguments_and_options(verb: str):
    words, command = section(COMMANDS, f"## hetdp {verb}"), GROUP.get_command(CONTEXT, verb)
    assert command is not None
    for parameter in command.get_params(click.Context(command, CONTEXT)):
        names = parameter.opts if isinstance(parameter, click.Option) else [str(parameter.metavar).replace("|", r"\|")]
        for name in names:
            assert re.search(rf"^\| .*`{re.escape(name)}[` ].* \|$", words, re.MULTILINE), f"{name} is not described"


def test_options_of_the_command_itself_are_described():
    parameters = GROUP.get_params(CONTEXT)
    assert {"--version", "--help"} <= {name for parameter in parameters for name in parameter.opts}
    for parameter in parameters:
        assert all(f"| `{name}`" in COMMANDS or f", `{name}`" in COMMANDS for name in parameter.opts)


def test_every_exit_code_is_described():
    errors = [getattr(hetdp, name) for name in dir(hetdp) if name.endswith("Error")]
    codes = {0, BUG, USAGE, INTERRUPTED} | {error.exit_code for error in errors}
    rows = re.findall(r"^\| (\d+) \| .+ \|$", section(COMMANDS, "## Exit codes"), re.MULTILINE)
    assert sorted(map(int, rows)) == sorted(codes)


def test_the_examples_in_the_help_of_every_verb_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline(twice=False))  # docs/how-to/cluster.md starts some
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path.home() / ".cache"))  # compiled kernels and fonts are there already
    monkeypatch.setenv("HOME", str(tmp_path))
    Path("poll.json").write_text(POLL)
    Path("grid.json").write_text(POLL.replace('"111"', "[0, 1]"))
    Path("survey.csv").write_text("id,eps,role,vote\n1,0.5,staff,yes\n2,1,staff,no\n3,1,pupil,\n")
    Path("people").mkdir()
    Path("people/part-1.csv").write_text(Path("survey.csv").read_text())
    Path("veto.toml").write_text(VETO)
    Path("questions.toml").write_text(QUESTIONS)
    hetdp.Ledger.create("survey.ledger", source="people", cap=9)
    Path("pins.csv").write_text("dataset,p\n112,0.55\n122,0.45\n")
    Path(".config/fish/completions").mkdir(parents=True)
    hetdp.save(hetdp.read_problem("poll.json").problem, "folder", hetdp.read_problem("poll.json").partial)
    visit = hetdp.spaces.tallies({"pupils": 4, "staff": 3, "guests": 2}, hetdp.questions.count("yes", 3), 0.5)
    hetdp.save(visit, "visit.json")
    shown = re.findall(r"^```text\n(.*?)^```$", COMMANDS, re.MULTILINE | re.DOTALL)
    lines = [re.split(r" {2,}", line)[0] for block in shown for line in block.splitlines() if "zsh" not in line]
    lines = [line for line in lines if not line.startswith("hetdp studio")]  # which serves until it is told to stop
    assert len(lines) > 15
    plain = [line for line in lines if line.startswith("hetdp ") and not set("|<>$") & set(line)]
    plain.sort(
        key=lambda line: (" init " not in line, " -o " not in line)
    )  # commands that write files come before those that read them
    for line in plain:
        assert main(shlex.split(line)[1:]) == 0, line
    others = [ConsoleCommand(0, f"({line}) > printed 2>&1 || echo failed\n", "") for line in lines if line not in plain]
    assert set(run_commands(others, tmp_path)) == {""}
