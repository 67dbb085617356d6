"""hetdp demo: the story, its numbers and its picture."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from hetdp.cli import demo as story

OWN = ["hetdp studio YOURTABLE.xlsx", "docs/tutorials/steward.md"]  # the last lines, about your own table


def test_the_story_has_three_parts_and_says_what_to_look_at(hetdp):
    result = hetdp("demo")
    assert (result.code, result.err) == (0, "")
    titles = [line for line in result.out.splitlines() if line[:2] in ("1.", "2.", "3.", "4.")]
    assert titles == [
        "1. Three voters, the paper's Figure 1",
        "2. Five voters, the same rule",
        "3. Asking for too much",
        "4. Something to look at",
    ]


def test_the_story_has_a_binding_path_a_witness_and_a_repair_that_works(hetdp):
    printed = hetdp("demo").out
    assert "p(11111) at most" in printed
    assert "but p(112) is pinned at 0.95" in printed
    assert "   With them: private on all 12 edges" in printed


def test_the_numbers_are_those_of_the_story(hetdp):
    document = hetdp("demo", "--json").document
    accuracy = document["three_voters"][0]["accuracy"]
    assert f"{math.floor(1_000 * accuracy['111']) / 10:.1f} %" in hetdp("demo").out
    assert document["five_voters"]["dataset"] == story.ALL_FIVE
    assert [pin["dataset"] for pin in document["too_much"]["repair"]["pins"]] == story.voters(3, "first").boundary


def last_lines(printed):
    return [line.split(":   ")[1].strip() for line in printed.splitlines()[-4:]]


def test_no_picture_is_drawn_unless_requested(hetdp, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    before = sorted(folder.iterdir())
    assert last_lines(hetdp("demo").out) == ["hetdp demo -o demo.svg", "hetdp studio", *OWN]
    assert sorted(folder.iterdir()) == before


def test_the_five_voters_are_drawn_with_the_path_that_the_story_explains(hetdp):
    result = hetdp("demo", "-o", "seen.svg")
    assert (result.code, result.err) == (0, "wrote seen.svg\n")
    assert last_lines(result.out) == ["seen.svg", "hetdp studio", *OWN]
    drawn = Path("seen.svg").read_text(encoding="utf-8")
    assert "path that binds 11111" in drawn
    assert drawn.count(">11122</") == 1
    assert hetdp("demo", "--json", "-o", "seen.svg").document["output"] == "seen.svg"


def test_without_matplotlib_the_demo_says_why_there_is_no_picture(hetdp, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = hetdp("demo", "-o", "seen.svg")
    assert result.code == 0
    assert result.err == (
        "no picture: pictures are drawn by matplotlib, which is not installed; it comes with the extra plots."
        " Hint: pip install '.[plots]', in the folder of hetdp's sources\n"
    )
    assert last_lines(result.out) == ["hetdp demo -o demo.svg", "hetdp studio", *OWN]
    assert not Path("seen.svg").exists()
    assert hetdp("demo", "--json", "-o", "seen.svg").document["output"] is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("poll.json", "hetdp: cannot write a picture to 'poll.json'; the file name must end in .svg, .png, .pdf.\n"),
        ("-", "hetdp: cannot write a picture to '-'; the file name must end in .svg, .png, .pdf.\n"),
        ("nowhere/a.svg", "hetdp: cannot write 'nowhere/a.svg'; 'nowhere' is not a folder.\n"),
    ],
)
def test_a_wrong_name_for_the_picture_is_refused_before_anything_is_printed(hetdp, name, message):
    assert hetdp("demo", "-o", name) == (2, "", message)


def test_commands_to_type_have_the_path_of_hetdp_if_the_shell_does_not_find_it(hetdp, monkeypatch):
    monkeypatch.setattr(sys, "argv", [".venv/bin/hetdp", "demo"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert last_lines(hetdp("demo").out) == [
        ".venv/bin/hetdp demo -o demo.svg",
        ".venv/bin/hetdp studio",
        ".venv/bin/hetdp studio YOURTABLE.xlsx",
        OWN[1],
    ]


def test_it_takes_no_problem(hetdp):
    assert hetdp("demo", "poll.json").err.startswith("hetdp: got unexpected extra argument (poll.json).")


@pytest.mark.parametrize("protect", ["first", "everyone", story.DECIDING])
def test_the_voters_are_the_papers_graph(protect):
    problem = story.voters(3, protect)
    assert (problem.graph.size, problem.graph.edge_count) == (8, 12)
