"""What `hetdp studio` opens: a problem, a table of people, or an approved plan; anything else is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.studio.opening import open_path
from tests.studio.people.conftest import write_table

ARGUMENTS = {"count": "answer = 'move'", "at_least": "50%", "epsilon": 1, "person": "id"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hetdp.studio.server.create_server", lambda *_: pytest.fail("it is served"))
    write_table(tmp_path / "people.csv")
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 0.5)
    problem = hetdp.Problem(graph, [1, 2])
    hetdp.save(problem, "problem.json")
    hetdp.save(hetdp.design(problem), "mechanism.csv")
    Path("edges.csv").write_text("source,target,epsilon\na,b,1\n")
    Path("both").mkdir()
    Path("both", "edges.csv").write_text("source,target,epsilon\na,b,1\n")
    Path("both", "datasets.csv").write_text("dataset,query\na,1\nb,2\n")
    Path("parts").mkdir()
    for at in (1, 2):
        Path("parts", f"part-{at}.csv").write_text(f"id,answer\n{at},move\n")
    return tmp_path


def test_a_table_opens_the_guided_page_in_its_folder(folder):
    found = open_path("people.csv")
    assert found.first == "people/"
    assert found.people.folder.path == folder
    assert found.people.require_table().rows == 100


def test_a_folder_of_files_is_one_table_and_its_plan_lies_beside_it(folder):
    people = open_path("parts").people
    assert people.require_table().rows == 2
    assert people.folder.path == folder


def test_a_folder_with_several_tables_lists_them(folder):
    write_table(folder / "both" / "datasets.csv").rename(folder / "both" / "staff.csv")
    (folder / "both" / "edges.csv").rename(folder / "both" / "other.csv")
    people = open_path("both").people
    assert people.table is None
    assert "both/staff.csv: column 1 differs from 'other.csv'" in people.shown_faults("table")["table"]
    assert people.folder.tables() == ["other.csv", "staff.csv"]


@pytest.mark.parametrize("name", ["problem.json", "both"])
def test_a_problem_opens_the_page_for_problems(name):
    found = open_path(name)
    assert found.first == ""
    assert found.session.document.problem.graph.size == 2
    assert found.people.table is None


def test_an_ending_in_capitals_is_that_of_a_problem(folder):
    (folder / "problem.json").rename(folder / "POLL.JSON")
    assert open_path("POLL.JSON").session.document.problem.graph.size == 2


def test_without_a_name_both_are_offered():
    found = open_path(None)
    assert found.first == ""
    assert "people.csv" in found.people.folder.tables()


def test_an_approved_plan_opens_the_step_release():
    hetdp.ask("people.csv", **ARGUMENTS, plan="plan.json", dry_run=True)
    found = open_path("plan.json")
    assert (found.first, found.people.step) == ("people/", "release")
    assert found.people.saved is not None
    assert found.people.saved.name == "plan.json"
    assert "plan.json" in found.people.folder.plans()
    assert "problem.json" not in found.people.folder.plans()


@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("mechanism.csv", "is a table of datasets, or a mechanism", 2),
        ("edges.csv", "is a table of edges", 2),
        ("notes.txt", "rename it to .csv: the delimiter is found in its header row", 2),
        ("nowhere.csv", "does not exist", 3),
    ],
)
def test_anything_else_is_refused_before_anything_is_served(name, words, code, capsys):
    Path("notes.txt").write_text("notes")
    assert main(["studio", name, "--no-browser"]) == code
    assert words in capsys.readouterr().err


def test_a_plan_whose_table_is_gone_or_changed_is_refused(capsys):
    hetdp.ask("people.csv", **ARGUMENTS, plan="plan.json", dry_run=True)
    write_table(Path("people.csv"), people=99)
    assert main(["studio", "plan.json", "--no-browser"]) == 3
    assert "differs" in capsys.readouterr().err
    Path("people.csv").unlink()
    assert main(["studio", "plan.json", "--no-browser"]) == 2
    words = "the table of plan.json is not there; 'people.csv' must be in the same folder. Hint: hetdp record plan"
    assert words in capsys.readouterr().err
