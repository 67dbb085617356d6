"""Votes: the same datasets, answers and edges as a graph that is built by hand from the definitions."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.problem.decimals import round_down_to_grid
from hetdp.problem.product import as_graph
from tests.loops import for_each
from tests.people.byhand import QUESTIONS, RULES, edges_of, votes_by_definition
from tests.people.questions_to_ask import A_RULE, NESTED, VALUES
from tests.stress import long, mostly_long

questions, privacy = hetdp.questions, hetdp.privacy
spaces: Any = hetdp.spaces  # typed as Any, since wrong arguments are tried too
PEOPLE = 4


@for_each("rule", RULES)
@for_each("kind", QUESTIONS)
def test_votes_are_the_graph_of_the_definitions(kind, rule):
    values, question, holds = QUESTIONS[kind]
    given, promised = RULES[rule]
    ours, (answers, edges) = (
        spaces.votes(PEOPLE, question, given, values),
        votes_by_definition(PEOPLE, values, holds, promised),
    )
    assert dict(zip(ours.labels.names, ours.answers.tolist(), strict=True)) == answers
    assert edges_of(ours) == edges
    assert ours.graph.edge_count == len(edges)
    assert ours.weights is None


@pytest.mark.parametrize(("people", "values"), [(6, ("yes", "no")), (4, ("a", "yes", "b", "no"))])
@pytest.mark.parametrize("rule", ["one", "deciding", "within", "by answer", "by change"])
def test_votes_of_any_number_of_people_and_values_follow_the_definition(people, values, rule):
    given, promised = RULES[rule]
    ours = spaces.votes(people, questions.count("yes", 1 + people // 2), given, values)
    answers, edges = votes_by_definition(people, values, lambda table: table.count("yes") > people // 2, promised)
    assert dict(zip(ours.labels.names, ours.answers.tolist(), strict=True)) == answers
    assert edges_of(ours) == edges


PEOPLE_AND_VALUES = [(4, 4), (6, 2), (4, 3)]  # one of them in turn, beside the smallest
NAMES = ("yes", "no", "abstain", "absent")


def compare_with_graph(problem_of_people: Any, seed: int) -> bool:
    """Compares all results on a problem of people with those on the same graph with stored edges, to the same bits.

    The pins lie on both sides of ½; returns whether some are worse than a coin.
    """
    rng = np.random.default_rng(seed)
    stored = hetdp.Problem(as_graph(problem_of_people.graph), problem_of_people.answers)
    for objective in ("fair", "balanced"):
        one, other = hetdp.design(problem_of_people, objective), hetdp.design(stored, objective)
        if objective == "fair":
            assert one.coordinates.tobytes() == other.coordinates.tobytes()
        np.testing.assert_allclose(one.coordinates, other.coordinates, rtol=0, atol=1e-11)
        _assert_proved(one, other)
    given = rng.normal(0.0, 1.0, problem_of_people.graph.size)
    pins = hetdp.PartialMechanism(
        z=np.where(problem_of_people.boundary_mask | (rng.random(len(given)) < 0.1), given, np.nan)
    )
    verdict: Any
    expected: Any
    verdict, expected = (
        hetdp.check(problem_of_people, pins, engine="product"),
        hetdp.check(stored, pins, engine="reference"),
    )
    assert (verdict.compatible, verdict.moved) == (expected.compatible, expected.moved)
    if not verdict.compatible:
        assert verdict.witness.path.bounds[-1] != verdict.witness.value  # any of several contradictions may be found
        pins = verdict.repair.pins
        assert pins.z == expected.repair.pins.z
    one, other = hetdp.extend(problem_of_people, pins, engine="product"), hetdp.extend(stored, pins, engine="reference")
    assert one.coordinates.tobytes() == other.coordinates.tobytes()
    _assert_proved(one, other)
    for at in rng.integers(problem_of_people.graph.size, size=3).tolist():
        _assert_explained(one, other, at)
    broken = hetdp.PartialMechanism(z=one.coordinates + rng.normal(0.0, 0.1, problem_of_people.graph.size))
    certificates = [hetdp.verify(problem, broken) for problem in (problem_of_people, stored)]
    assert len({(each.private, each.violations, each.slack, each.worst_edge) for each in certificates}) == 1
    return bool((np.where(problem_of_people.answers == 1, one.coordinates, -one.coordinates)[one.pinned] < 0).any())


def _assert_proved(one: Any, other: Any) -> None:
    assert one.pinned.tolist() == other.pinned.tolist()
    proofs = [mechanism.certificate for mechanism in (one, other)]
    assert {(proof.private, proof.optimal, proof.edges) for proof in proofs} == {
        (True, True, other.problem.graph.edge_count)
    }


def _assert_explained(one: Any, other: Any, at: int) -> None:
    """Asserts that both explain a dataset by a path from a pin; where several paths bind, they may differ."""
    label, stored = one.problem.labels.names[at], other.problem.graph
    ours, theirs = one.explain(label), other.explain(label)
    assert (ours.datasets[-1], ours.bounds[-1]) == (theirs.datasets[-1], theirs.bounds[-1])
    places = [stored.index(dataset) for dataset in ours.datasets]
    assert one.pinned[places[0]] or np.isinf(one.coordinates[at])
    for (here, there), epsilon in zip(pairwise(places), ours.epsilons, strict=True):
        assert stored.edges_between(here, there)[0].parameters["epsilon"] == round_down_to_grid(epsilon)


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        pytest.param(kind, rule, marks=long if (row + 2 * column) % 3 else ())
        for row, kind in enumerate(QUESTIONS)
        for column, rule in enumerate(RULES)
    ],
)
def test_votes_agree_with_the_graph_of_their_edges(kind, rule):
    values, question, _ = QUESTIONS[kind]
    turn = (list(QUESTIONS).index(kind) + list(RULES).index(rule)) % len(PEOPLE_AND_VALUES)
    worse = False
    for people, count in ((4, 2), PEOPLE_AND_VALUES[turn]):
        promised = RULES[rule][0]
        if rule == "by person":
            promised = promised | {str(at): 0.4 for at in range(5, people + 1)}
        known = NAMES[: max(count, len(values))]
        worse |= compare_with_graph(spaces.votes(people, question, promised, known), turn)
    assert worse or kind == "never"


@pytest.mark.parametrize(("people", "values"), mostly_long([(8, 2), (6, 3), (10, 2), (5, 4)], 2))
def test_votes_of_more_people_agree_with_the_graph_of_their_edges(people, values):
    rules = privacy.rules(
        {str(at): round(0.1 * at, 1) for at in range(1, people + 1)}, deciding={"1": 0.05}, within={2: 0.3}
    )
    question = questions.count("yes", people // 2) & ~questions.all_of("2", "no")
    assert compare_with_graph(spaces.votes(people, question, rules, NAMES[:values]), people)


@settings(max_examples=25, deadline=None)
@given(question=NESTED, rules=st.lists(A_RULE, max_size=3), seed=st.integers(0, 99))
def test_votes_under_any_question_and_rules_agree_with_the_graph(question, rules, seed):
    promised = privacy.Privacy([privacy.Rule(2), *rules])
    compare_with_graph(spaces.votes(["A", "B", "C"], question, promised, VALUES), seed)


def test_the_three_voters_of_the_paper_are_protected_only_when_the_first_decides():
    rules = privacy.rules({"first": math.inf, "second": 1, "third": 1}, deciding={"first": 0.2})
    problem = spaces.votes(["first", "second", "third"], questions.count("1", 2), rules, values=("1", "2"))
    source, target, epsilon = problem.graph.edges()
    first = {
        ("".join(problem.graph.label(u)), "".join(problem.graph.label(v)), e)
        for u, v, e, whom in zip(source, target, epsilon, problem.graph.edge_classes(), strict=True)
        if whom == "first"
    }
    assert first == {("121", "221", 0.2), ("112", "212", 0.2)}


def test_the_problem_is_described():
    problem = spaces.votes(["Ann", "Bob"], questions.majority(), privacy.rules(1, deciding={"Ann": 0.3}))
    assert problem.about == {
        "title": "more than half of all rows count as yes; exactly half is not enough; blank rows do not count as yes",
        "answer_1": "yes",
        "answer_2": "no",
        "privacy_unit": "one person's value",
        "neighbour_relation": "one person has another value; the people and every ε are public",
        "change": "{class} answers differently",
        "privacy": "Ann: 0.3 when deciding, else 1\neverybody else: 1",
    }
    sentences = [str(one) for one in hetdp.odds(hetdp.design(problem)).by_class.values()]
    assert sentences[0].startswith("If Ann answers differently, the published answer is yes in at most")
    assert problem.graph.edges_between(0, 1)[0].parameters == {"epsilon": 1.0}
    assert spaces.votes(2, questions.majority(), 1).about["change"] == "person {class} answers differently"


def test_epsilon_is_kept_as_written_and_used_on_the_grid():
    problem = spaces.votes(2, questions.count("yes", 1), {"1": "0.3", "2": 5000})
    assert problem.graph.edges_between(0, 2)[0].parameters == {"epsilon": 0.3}
    assert problem.graph.axes[0].epsilon.item() == math.floor(0.3 * 2**40) / 2**40
    assert problem.graph.axes[1].epsilon.item() == 4096.0
    assert problem.graph.states is None


@pytest.mark.parametrize("deciding", [None, 0.2])
def test_a_population_is_votes_in_closed_form(deciding):
    epsilon = [0.1, 0.5, 0.3, 1.0, 0.2]
    rules = privacy.rules({str(at + 1): one for at, one in enumerate(epsilon)}, deciding=deciding)
    found = hetdp.design(spaces.votes(5, questions.count("yes", 2), rules), "balanced")
    people = spaces.population(questions.count("yes", 2), epsilon, deciding=deciding).design()
    codes = np.array([[("yes", "no").index(value) for value in label] for label in found.problem.labels.names])
    np.testing.assert_allclose(found.coordinates, [people.coordinate(one) for one in codes], rtol=0, atol=1e-11)


@for_each(
    ("call", "words"),
    [
        (lambda: spaces.votes(0, questions.majority(), 1), "there are 0 people"),
        (lambda: spaces.votes(True, questions.majority(), 1), "the people are True"),
        (lambda: spaces.votes("Ann", questions.majority(), 1), "the people are 'Ann'"),
        (
            lambda: spaces.votes(["Ann", "Ann"], questions.majority(), 1),
            r"the people are \['Ann', 'Ann'\]; there must be at least one name",
        ),
        (lambda: spaces.votes(2, "majority", 1), "expected a question, got 'majority'; hetdp.questions"),
        (lambda: spaces.votes(2, questions.majority, 1), r"got a function; .* Hint: majority\(\) makes the question"),
        (lambda: spaces.votes(2, lambda _: 1, 1), r"Hint: hetdp.questions.function\(f, words\) makes a question"),
        (lambda: spaces.population(lambda _: 1, 1, size=2), "expected a question, got a function"),
        (lambda: spaces.votes(2, questions.majority(), 1, values=["yes"]), "there must be at least two values"),
        (lambda: spaces.votes(2, questions.majority("y"), 1, values="yn"), "there must be at least two values"),
        (lambda: spaces.votes(2, questions.majority("aye"), 1), "unknown value 'aye'"),
        (lambda: spaces.votes(2, questions.all_of("Ann"), 1), "unknown group 'Ann'"),
        (
            lambda: spaces.votes(2, questions.majority(), {"1": 1, "Bob": 2}),
            "unknown person 'Bob'; the people are 1, 2",
        ),
        (lambda: spaces.votes(2, questions.majority(), -1), "epsilon=-1; ε is a decimal number ≥ 0"),
        (lambda: spaces.votes(40, questions.majority(), 1), "40 people make 1,099,511,627,776 datasets"),
        (lambda: spaces.votes(10**9, questions.majority(), 1), r"make about 10\^301029995 datasets"),
        (
            lambda: spaces.votes(2, questions.function(lambda _: np.zeros(7, bool), "seven"), 1),
            r"gave an array of the shape \(7,\)",
        ),
    ],
)
def test_inconsistent_arguments_are_refused(call, words):
    with pytest.raises(hetdp.UsageError, match=words):
        call()


def test_values_may_be_any_iterable():
    listed, iterated = (
        spaces.votes(2, questions.majority(), 1, values=given) for given in (["yes", "no"], iter(["yes", "no"]))
    )
    assert (iterated.labels.names, edges_of(iterated)) == (listed.labels.names, edges_of(listed))


def test_a_person_without_epsilon_is_refused():
    with pytest.raises(hetdp.InputError, match="group '2', changes between 'yes' and 'no'"):
        spaces.votes(2, questions.majority(), {"1": 1})


@pytest.mark.parametrize("name", ["pupils=20", "pupils = 20", "=3"])
def test_a_group_with_its_size_is_no_person(name):
    with pytest.raises(hetdp.UsageError) as refusal:
        spaces.votes(["Ann", name], questions.majority(), 1)
    rule = "votes are of single people, each with a name"
    assert (
        str(refusal.value).rstrip(".")
        == f"a person is named {name!r}; {rule}. Hint: tallies have groups, such as {name}"
    )
    assert spaces.votes(["a=b", "Ann"], questions.majority(), 1).graph.size == 4
