"""hetdp demo: the story and its numbers."""

from __future__ import annotations

import math

import pytest

from hetdp.cli import demo as story


def test_the_story_has_three_parts(hetdp):
    result = hetdp("demo")
    assert (result.code, result.err) == (0, "")
    titles = [line for line in result.out.splitlines() if line[:2] in ("1.", "2.", "3.")]
    assert titles == [
        "1. Three voters, the paper's Figure 1",
        "2. Five voters, the same rule",
        "3. Asking for too much",
    ]


def test_the_story_has_a_binding_path_a_witness_and_a_repair_that_works(hetdp):
    printed = hetdp("demo").out
    assert "p(11111) at most" in printed
    assert "but p(112) is pinned at 0.95" in printed
    assert printed.strip().splitlines()[-1].strip().startswith("With them: private on all 12 edges")


def test_the_numbers_are_those_of_the_story(hetdp):
    document = hetdp("demo", "--json").document
    accuracy = document["three_voters"][0]["accuracy"]
    assert f"{math.floor(1_000 * accuracy['111']) / 10:.1f} %" in hetdp("demo").out
    assert document["five_voters"]["dataset"] == story.ALL_FIVE
    assert [pin["dataset"] for pin in document["too_much"]["repair"]["pins"]] == story.voters(3, "first").boundary


def test_it_takes_no_problem(hetdp):
    assert hetdp("demo", "poll.json").err.startswith("hetdp: got unexpected extra argument (poll.json).")


@pytest.mark.parametrize("protect", ["first", "everyone", story.DECIDING])
def test_the_voters_are_the_papers_graph(protect):
    problem = story.voters(3, protect)
    assert (problem.graph.size, problem.graph.edge_count) == (8, 12)
