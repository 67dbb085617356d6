"""`hetdp make`: people, a question and rules become an ordinary problem file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetdp as library
from hetdp.cli import (
    make,
)
from hetdp.errors import UsageError

VOTERS = ("make", "votes", "--people", "Ann,Bob,Cyd", "--majority", "--epsilon", "1", "--deciding-epsilon", "Ann=0.2")
SCHOOL = ("make", "tallies", "--group", "pupils=4", "--group", "staff=2", "--values", "ill,well", "--count", "ill")


def test_votes_become_a_file_that_other_verbs_read(hetdp):
    result = hetdp(*VOTERS, "-o", "voters.json")
    assert result == (
        0,
        "question: more than half of all rows count as yes; exactly half is not enough;"
        " blank rows do not count as yes\n"
        "privacy: Ann: 0.2 when deciding, else 1\n         everybody else: 1\n8 datasets, 12 edges\n",
        "wrote voters.json\n",
    )
    problem, _ = library.read_problem("voters.json")
    assert problem.graph.index(("yes", "no", "yes")) == 2
    edges = json.loads(Path("voters.json").read_text())["edges"]
    strict = [(edge["source"], edge["target"]) for edge in edges if edge["class"] == "Ann" and edge["epsilon"] == 0.2]
    assert sorted(strict) == [(["yes", *others], ["no", *others]) for others in (["no", "yes"], ["yes", "no"])]
    assert {edge["epsilon"] for edge in edges} == {0.2, 1}
    rules = library.privacy.rules(1, deciding={"Ann": 0.2})
    ours = library.design(library.spaces.votes(["Ann", "Bob", "Cyd"], library.questions.majority(), rules))
    assert np.array_equal(library.design(problem).coordinates, ours.coordinates)
    assert hetdp("design", "voters.json", "-q").code == 0


def test_tallies_become_tables_with_their_weights(hetdp):
    options = ("--at-least", "2", "--epsilon", "pupils=0.3,staff=1")
    assert hetdp(*SCHOOL, *options, "-o", "school").code == 0
    problem, _ = library.read_problem("school")
    assert problem.graph.datasets[:4] == ((0, 0), (0, 1), (0, 2), (1, 0))
    assert problem.weights is not None
    assert problem.weights[4] == pytest.approx(4 * 2 / 2**6)
    assert set(problem.graph.edge_classes() or ()) == {"pupils", "staff"}
    hetdp(*SCHOOL, *options, "--prior", "ill=0.1,well=0.9", "-o", "rare.json")
    rare = library.read_problem("rare.json").problem
    assert rare.weights is not None
    assert rare.weights[0] == pytest.approx(0.9**6)
    hetdp(*SCHOOL, *options, "--prior", "uniform", "-o", "uniform.json")
    assert library.read_problem("uniform.json").problem.weights is None


def test_three_values_are_counted_in_one_label(hetdp):
    options = ("--values", "yes,no,abstain", "--majority", "--epsilon", "0.5", "-o", "-")
    result = hetdp("make", "tallies", "--group", "all=2", *options)
    assert [row["dataset"] for row in result.document["datasets"]] == [
        [[0, 0, 2]],
        [[0, 1, 1]],
        [[0, 2, 0]],
        [[1, 0, 1]],
        [[1, 1, 0]],
        [[2, 0, 0]],
    ]
    assert result.err.endswith("6 datasets, 9 edges\n")


def test_a_question_and_rules_may_come_from_files(hetdp):
    question = library.questions.count("yes", 2) & library.questions.all_of("Ann")
    Path("question.json").write_text(json.dumps(question.document()))
    Path("rules.toml").write_text(
        'schema_version = 1\nkind = "privacy"\nrules = [{epsilon = 1}, {epsilon = 0.3, when = {within = 1}}]\n'
    )
    people = ("make", "votes", "--people", "Ann,Bob,Cyd")
    result = hetdp(*people, "--question", "question.json", "--rules", "rules.toml", "-o", "made.json", "--json")
    assert result.document == {
        "schema_version": 1,
        "verb": "make",
        "output": "made.json",
        "space": "votes",
        "counts": {"datasets": 8, "edges": 12},
        "question": str(question),
        "privacy": "everybody: 0.3 within 1 of the threshold, else 1",
    }


def test_a_share_is_distinguished_from_a_number(hetdp):
    people = ("make", "votes", "--people", "4", "--epsilon", "1", "-o", "four.json", "--count", "no")
    assert "at least half of all rows count as no" in hetdp(*people, "--at-least", "50%").out
    assert "at least 2 rows count as no" in hetdp(*people, "--at-least", "2").out
    assert "more than half of all rows count as no" in hetdp(*people, "--majority").out


def test_without_a_promise_there_is_no_edge(hetdp):
    result = hetdp("make", "votes", "--people", "2", "--majority", "--epsilon", "inf", "-o", "free.json")
    assert result.out.endswith("4 datasets, 0 edges\n")
    assert library.read_problem("free.json").problem.graph.edge_count == 0


OUTPUT = ("-o", "made.json")
THREE_PEOPLE = ("make", "votes", "--people", "3")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (VOTERS, "-o is missing"),
        ((*VOTERS, "-o", "made.csv"), "no format is known for 'made.csv'"),
        (("make", "votes", "--majority", "--epsilon", "1", *OUTPUT), "votes without people"),
        (("make", "tallies", "--majority", "--epsilon", "1", *OUTPUT), "tallies without people"),
        ((*VOTERS, "--group", "a=3", *OUTPUT), "--group for votes"),
        ((*VOTERS, "--prior", "uniform", *OUTPUT), "--prior for votes"),
        ((*SCHOOL, "--people", "3", "--at-least", "2", "--epsilon", "1", *OUTPUT), "--people for tallies"),
        ((*SCHOOL, "--group", "b", "--at-least", "2", "--epsilon", "1", *OUTPUT), "NAME=SIZE"),
        ((*SCHOOL, "--group", "b=x", "--at-least", "2", "--epsilon", "1", *OUTPUT), "the size of 'b' is 'x'"),
        ((*SCHOOL, "--group", "staff=1", "--at-least", "2", "--epsilon", "1", *OUTPUT), "--group has a name twice"),
        ((*SCHOOL, "--at-least", "2", "--epsilon", "1", "--prior", "ill", *OUTPUT), "VALUE=p"),
        ((*THREE_PEOPLE, "--epsilon", "1", *OUTPUT), "no question"),
        ((*THREE_PEOPLE, "--at-least", "1", "--epsilon", "1", *OUTPUT), "--at-least without --count"),
        ((*VOTERS, "--count", "yes", "--at-least", "1", *OUTPUT), "--at-least together with --majority"),
        (
            (*THREE_PEOPLE, "--question", "q.json", "--count", "yes", "--epsilon", "1", *OUTPUT),
            "--count together with --question",
        ),
        (
            (*THREE_PEOPLE, "--question", "nowhere.json", "--epsilon", "1", *OUTPUT),
            "'nowhere.json' cannot be read: there is no such file",
        ),
        ((*THREE_PEOPLE, "--question", "poll.txt", "--epsilon", "1", *OUTPUT), "ends in .json or .toml"),
        ((*THREE_PEOPLE, "--majority", *OUTPUT), "no ε"),
        ((*VOTERS, "--rules", "r.json", *OUTPUT), "ε together with --rules"),
        ((*THREE_PEOPLE, "--majority", "--epsilon", "x", *OUTPUT), "--epsilon x; ε is"),
        ((*THREE_PEOPLE, "--majority", "--epsilon", "1=1,2", *OUTPUT), "NAME=ε"),
        (
            (*THREE_PEOPLE, "--majority", "--epsilon", "1", "--values", "yes", *OUTPUT),
            "there must be at least two values",
        ),
        (
            ("make", "votes", "--people", "17", "--majority", "--epsilon", "1", *OUTPUT),
            "17 people make 131,072 datasets; at most 65,536 datasets of people are written to a file."
            " Hint: hetdp.spaces in Python stores no edges",
        ),
        (("make", "votes", "--people", "9" * 50, "--majority", "--epsilon", "1", *OUTPUT), "people make about 10^"),
        (
            ("make", "tallies", "--group", "a=999", "--group", "b=999", "--majority", "--epsilon", "1", *OUTPUT),
            "1,998 people make 1,000,000 datasets",
        ),
    ],
)
def test_wrong_usage_is_refused(hetdp, arguments, words):
    result = hetdp(*arguments)
    assert (result.code, result.out) == (2, "")
    assert words in result.err
    assert not Path("made.json").exists()


def test_standard_output_holds_one_document(hetdp):
    assert hetdp(*VOTERS, "-o", "-", "--json").document["error"]["message"].startswith("-o - together with --json;")


def test_bad_rules_are_bad_input(hetdp):
    result = hetdp("make", "votes", "--people", "a,b", "--majority", "--epsilon", "a=1", *OUTPUT)
    assert result.code == 3
    assert "missing ε" in result.err
    Path("rules.json").write_text("{}")
    assert hetdp(*THREE_PEOPLE, "--majority", "--rules", "rules.json", *OUTPUT).code == 3


NO_QUESTION: dict[str, Any] = {"count": None, "at_least": None, "majority": False, "question": None}


def test_a_question_is_asked_in_one_way():
    assert "half" in str(make._question(**NO_QUESTION | {"majority": True}))
    assert "at least 3" in str(make._question(**NO_QUESTION | {"count": "yes", "at_least": "3"}))
    assert "half" in str(make._question(**NO_QUESTION | {"count": "yes", "at_least": "0.5"}))
    for given, words in (
        ({}, "no question"),
        ({"majority": True, "at_least": "3"}, "--at-least together with --majority"),
        ({"question": "q.json", "count": "yes"}, "--count together with --question"),
        ({"at_least": "3"}, "--at-least without --count"),
    ):
        with pytest.raises(UsageError, match=words):
            make._question(**NO_QUESTION | given)


def test_privacy_is_given_in_one_way():
    for given, words in (
        ((None, None, None), "no ε"),
        (("1", None, "r.json"), "ε together with --rules"),
        ((None, "1", "r.json"), "ε together with --rules"),
        ((None, "1", None), "no ε"),
    ):
        with pytest.raises(UsageError, match=words):
            make._privacy(*given)
    assert make._privacy("Ann=1,Bob=2", None, None).document() != make._privacy("1", None, None).document()


@pytest.mark.parametrize(
    ("space", "people", "groups", "prior", "words"),
    [
        ("votes", None, (), None, "votes without people"),
        ("votes", "3", ("a=1",), None, "--group for votes"),
        ("votes", "3", (), "uniform", "--prior for votes"),
        ("tallies", "3", ("a=1",), None, "--people for tallies"),
        ("tallies", None, (), None, "tallies without people"),
    ],
)
def test_votes_have_people_and_tallies_groups(space, people, groups, prior, words):
    with pytest.raises(UsageError, match=words):
        make._make_problem(space, people, groups, ["yes", "no"], prior, {})
