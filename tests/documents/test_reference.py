"""The documentation is a site that is built without a warning, and describes everything that can be used."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
import pytest

import hetdp
from hetdp.cli.group import GROUP, NAME, VERBS
from hetdp.cli.main import BUG, INTERRUPTED, USAGE, main
from hetdp.partitioned import workspace
from tests.documents.pages import DOCS, ROOT, ConsoleCommand, run_commands
from tests.partitioned.inline import Inline

ERRORS = (DOCS / "reference" / "python" / "errors.md").read_text(encoding="utf-8")
COMMANDS = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
LOADED_FROM_ELSEWHERE = re.compile(r"""(?: src=|<link [^>]*href=|url\(|@import )["']?(?:https?:)?//""")
LIST_IN_PARAGRAPH = re.compile(r"<p>(?:(?!</p>).)*\n *(?:[-*+]|\d+\.) ", re.DOTALL)
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, which is built without a warning."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-P", "-m", "mkdocs", "build", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr  # with --quiet, it would not count warnings
    assert "WARNING" not in built.stdout + built.stderr
    return folder


def test_the_site_describes_every_name_verb_and_option(site: Path):
    texts = {page.relative_to(site): page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    python = "".join(text for page, text in texts.items() if page.parent == Path("reference/python"))
    assert [
        missing for name in dir(hetdp) for missing in undescribed(python, f"hetdp.{name}", getattr(hetdp, name))
    ] == []
    commands = texts[Path("reference/cli.html")]
    assert "Sentinel" not in commands
    for verb in ["", *VERBS]:
        words = entry(commands, f"hetdp-{verb}".removesuffix("-"))
        names = [name for found in command_of(verb).get_params(CONTEXT) for name in found.opts if name.startswith("-")]
        assert [name for name in names if f"<code>{name}</code>" not in words] == []


def test_lists_are_lists_on_the_site(site: Path):
    pages = list(site.rglob("*.html"))
    assert [page.name for page in pages if LIST_IN_PARAGRAPH.search(page.read_text(encoding="utf-8"))] == []


def test_the_site_shows_the_picture_of_a_notebook_below_the_lines_that_draw_it(site: Path):
    page = (site / "tutorials" / "researcher.html").read_text(encoding="utf-8")
    picture, following = page.index('src="data:image/png;base64,'), page.index("To find the scale that reaches")
    assert page.index("savefig") < picture < following
    assert (site / "tutorials" / "researcher.ipynb").exists()


def test_the_site_loads_nothing_from_elsewhere_and_its_search_works_without_a_server(site: Path, browser: Any):
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert [page for page in pages if LOADED_FROM_ELSEWHERE.search(page.read_text(encoding="utf-8"))] == []
    page, requested = browser.new_page(), []
    page.on("request", lambda request: requested.append(request.url))
    page.goto((site / "tutorials" / "researcher.html").as_uri())
    page.locator("input.md-search__input").click()
    page.keyboard.type("fair search")
    page.locator(".md-search-result__item").first.wait_for()
    found = page.locator(".md-search-result__link").evaluate_all("links => links.map(link => link.href)")
    assert any("/theory/fair-search.html" in link for link in found)
    assert [url for url in requested if not url.startswith(("file:", "data:", "blob:"))] == []
    page.close()


def command_of(verb: str) -> click.Command:
    """The command of a verb; without one, that of hetdp itself."""
    command = GROUP.get_command(CONTEXT, verb) if verb else GROUP
    assert command is not None
    return command


def entry(text: str, anchor: str) -> str:
    """What a page says about a name: from its heading to that of the next name that is not one of its members."""
    begin = text.find(f' id="{anchor}"')
    found = re.compile(rf'<h\d id="(?!{re.escape(anchor)}\.)').search(text, begin + 1)
    return "" if begin < 0 else text[begin : found.start() if found else None]


def undescribed(text: str, name: str, thing: Any) -> list[str]:
    """The names, members and parameters of something public that the pages do not describe."""
    words, thing = entry(text, name), inspect.unwrap(thing)
    if not words:
        return [name]
    if inspect.ismodule(thing):
        return [
            missing
            for member in thing.__all__
            for missing in undescribed(text, f"{name}.{member}", getattr(thing, member))
        ]
    if inspect.isclass(thing):
        offered = {member for member in [*vars(thing), *vars(thing).get("__annotations__", {})] if member[0] != "_"}
        offered -= {"arguments", "exit_code"}
    elif get_origin(thing) is Literal:
        return [value for value in get_args(thing) if f'"{value}"' not in words]
    else:
        offered = set(inspect.signature(thing).parameters) if callable(thing) else set()
    return [
        f"{name}.{member}"
        for member in sorted(offered)
        if f"<code>{member}</code>" not in words and f'"{name}.{member}"' not in words
    ]


def test_arguments_of_verbs_are_described():
    names = {
        parameter.metavar
        for verb in VERBS
        for parameter in command_of(verb).params
        if isinstance(parameter, click.Argument)
    }
    named = {word for name in names for word in re.findall(r"[A-Za-z]+", str(name))}
    assert [word for word in sorted(named) if f"`{word}`" not in COMMANDS] == []


def test_every_exit_code_is_described():
    errors = [getattr(hetdp, name) for name in dir(hetdp) if name.endswith("Error")]
    codes = {0, BUG, USAGE, INTERRUPTED} | {error.exit_code for error in errors}
    rows = re.findall(r"^\| (\d+) \| .+ \|$", COMMANDS, re.MULTILINE)
    assert sorted(map(int, rows)) == sorted(codes)


def test_the_exit_code_of_every_error_is_described():
    errors = [name for name in dir(hetdp) if name.endswith("Error") and "exit_code" in vars(getattr(hetdp, name))]
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|$", ERRORS, re.MULTILINE)
    assert dict(rows) == {name: str(getattr(hetdp, name).exit_code) for name in errors}


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
    helps = [str(command_of(verb).help) for verb in VERBS]
    shown = [re.sub(r"\A\x08\n", "", words).partition("\n\n")[0] for words in helps]
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
