"""Baselines that need people, from their definitions; and accuracy where one of a class decides."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.errors import VerificationError
from hetdp.mechanism.accuracy import baselines
from hetdp.mechanism.accuracy import baselines as people
from hetdp.problem.product import as_graph
from hetdp.theory.coordinate import LAPLACE
from tests.people.questions_to_ask import A_RULE, LINEAR, SIZES, VALUES

questions, privacy, spaces = hetdp.questions, hetdp.privacy, hetdp.spaces
EPSILONS = st.sampled_from(["0", "0.1", "0.3", "0.300000000001", "1.5", "20", "900", "4096", "inf"])
PERSONALISED = "personalised exponential"
NAMES = ["weighted-vote", "dropping", "sampling"]
EPSILON = [0.1, 0.5, 0.3, 1.0, 2.0]
MEAN = sum(math.floor(one * 2**40) for one in EPSILON) // len(EPSILON) / 2**40


def sampling_probability(votes: list[bool], needed: int) -> float:
    """Pr[answer 1] of the baseline Sampling, summed over all samples of people."""
    part, found = (needed - 0.5) / len(votes), 0.0
    chances = [1.0 if one >= MEAN else math.expm1(one) / math.expm1(MEAN) for one in EPSILON]
    for sample in product([True, False], repeat=len(votes)):
        chance = math.prod(one if k else 1 - one for one, k in zip(chances, sample, strict=True))
        total = sum(yes - part for yes, k in zip(votes, sample, strict=True) if k)
        found += chance * float(LAPLACE.probability(MEAN * total))
    return found


@pytest.mark.parametrize("values", [("yes", "no"), ("yes", "no", "blank")])
@pytest.mark.parametrize("needed", [2, 4])
def test_baselines_on_votes_follow_their_definitions(values, needed):
    rules = {str(at + 1): one for at, one in enumerate(EPSILON)}
    problem = spaces.votes(5, questions.count("yes", needed), rules, values)
    result = hetdp.accuracy(problem, objectives="balanced")
    assert [method.name for method in result.methods][-5:] == [
        "personalised exponential",
        "randomised response",
        *NAMES,
    ]
    for at in range(0, problem.graph.size, 1 if len(values) == 2 else 19):
        votes = [value == "yes" for value in problem.labels.names[at]]
        dropped = sum(yes - (needed - 0.5) / 5 for yes, one in zip(votes, EPSILON, strict=True) if one >= MEAN)
        p = {"sampling": sampling_probability(votes, needed), "dropping": float(LAPLACE.probability(MEAN * dropped))}
        for name, expected in p.items():
            assert result[name].mechanism.probabilities[at] == pytest.approx(expected, rel=1e-9)
        change = sorted(one for yes, one in zip(votes, EPSILON, strict=True) if yes == (problem.answers[at] == 1))
        least = sum(change[: abs(sum(votes) - needed) + (problem.answers[at] == 1)])
        assert result[PERSONALISED].mechanism.errors[at] == pytest.approx(1 / (1 + math.exp(least / 2)), rel=1e-9)
    voted = hetdp.design(problem, "weighted-vote")
    assert result["weighted-vote"].mechanism.coordinates.tolist() == voted.coordinates.tolist()
    for method in result.methods:
        assert method.mechanism.certificate.private


@pytest.mark.parametrize("needed", [3, 6])
def test_tallies_have_the_baselines_of_their_votes(needed):
    members = {"A": ["1", "2", "3"], "B": ["4", "5"], "C": ["6", "7"]}
    epsilon, sizes = {"A": 0.2, "B": 0.7, "C": math.inf}, {name: len(each) for name, each in members.items()}
    folded = spaces.tallies(sizes, questions.count("yes", needed), epsilon)
    votes = spaces.votes(
        7, questions.count("yes", needed), {one: epsilon[name] for name, each in members.items() for one in each}
    )
    ours, theirs = (hetdp.accuracy(one, objectives="balanced") for one in (folded, votes))
    parts = [slice(0, 3), slice(3, 5), slice(5, 7)]
    at = [folded.graph.index(tuple(label[part].count("yes") for part in parts)) for label in votes.labels.names]
    for name in [*NAMES, PERSONALISED]:
        coordinates = ours[name].mechanism.coordinates[at]
        np.testing.assert_allclose(theirs[name].mechanism.coordinates, coordinates, rtol=0, atol=1e-9)


def test_the_worst_accuracy_is_that_of_the_population():
    groups, epsilon = {"a": 5, "b": 4, "c": 2}, {"a": 0.1, "b": 0.5, "c": 1}
    result = hetdp.accuracy(spaces.tallies(groups, questions.majority(), epsilon), objectives="balanced")
    everybody = [epsilon[name] for name, size in groups.items() for _ in range(size)]
    for margin in (1, 3, 6):
        found = spaces.population(questions.majority(), everybody).baselines(margin)
        for name in [*NAMES, PERSONALISED]:
            assert 1 - result[name].by_steps[margin - 1].worst_error == pytest.approx(found[name], rel=1e-9)


def test_with_one_epsilon_nobody_is_dropped():
    result = hetdp.accuracy(spaces.tallies({"all": 10}, questions.count("yes", 3), 0.1), objectives="balanced")
    noise = result["Laplace noise"].mechanism.coordinates
    for name in NAMES[1:]:
        np.testing.assert_allclose(result[name].mechanism.coordinates, noise, rtol=1e-10)


@pytest.mark.parametrize(
    ("rules", "epsilon"),
    [
        (privacy.rules(1, within={2: {"A": 0.2}}), {"A": 0.2, "B": 1}),
        (privacy.rules({"A": 700, "B": 0}), {"A": 700, "B": 0}),
        (privacy.rules({"A": 3000, "B": "0.5"}, deciding={"B": 0.1}), {"A": 3000, "B": 0.1}),
    ],
)
def test_any_epsilon_has_baselines_that_are_proved(rules, epsilon):
    sizes = {"A": 4, "B": 3}
    result = hetdp.accuracy(spaces.tallies(sizes, questions.majority(), rules), objectives="balanced")
    same = hetdp.accuracy(spaces.tallies(sizes, questions.majority(), epsilon), objectives="balanced")
    for name in NAMES:
        z, other = result[name].mechanism.coordinates, same[name].mechanism.coordinates
        np.testing.assert_allclose(z, other, rtol=0, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(question=LINEAR, epsilon=st.lists(EPSILONS, min_size=2, max_size=2), rules=st.lists(A_RULE, max_size=2))
def test_the_baselines_of_people_are_proved_for_every_question_and_rule(question, epsilon, rules):
    promised = privacy.rules(dict(zip(SIZES, epsilon, strict=True)), also=rules)
    problem = spaces.tallies(SIZES, question, promised, VALUES)
    missing = 0
    for name, coordinates in people.PEOPLE_BASELINES:
        z = coordinates(problem)
        if z is None:
            missing += 1
            continue
        labels = np.where(problem.answers == 1, z, -z)
        found = baselines.prove_labels(
            baselines.BaselineSetting(problem, np.zeros(0, dtype=np.int64), "auto"), labels, name
        )
        assert found.certificate is not None
        assert found.certificate.private
        assert found.moved < 1e-9
    assert missing < len(NAMES)  # LINEAR has questions that at least one baseline can answer


@pytest.mark.parametrize(
    ("question", "names"),
    [
        (questions.weighted_sum({"A": 2, "B": 1}, 3), NAMES[:1]),
        (questions.ratio_of_shares("yes", "A", "B"), []),
        (questions.count("yes", 9), NAMES[:1]),
        (questions.count("yes", 2, "A"), NAMES),
    ],
)
def test_baselines_are_there_where_the_question_allows(question, names):
    result = hetdp.accuracy(spaces.tallies({"A": 3, "B": 2}, question, {"A": 0.3, "B": 1}), objectives="balanced")
    assert [method.name for method in result.methods if method.name in NAMES] == names


def test_sampling_is_left_out_where_it_would_take_too_long(monkeypatch):
    problem = spaces.tallies({"A": 3, "B": 2}, questions.majority(), {"A": 0.3, "B": 1})
    voters: Any = people._voters(problem)
    most = 2 * (4 * 4 * 6 * 3 + 12 * 3 * 3 * 1)
    assert people._additions(voters.axes) == most
    for limit, is_there in ((most, True), (most - 1, False)):
        monkeypatch.setattr(people, "MOST_SAMPLED", limit)
        assert (people.sample_people(problem) is not None) == is_there


@pytest.mark.parametrize("at", range(3))
def test_a_baseline_that_is_too_accurate_is_never_shown(at, monkeypatch):
    name, coordinates = people.PEOPLE_BASELINES[at]
    wrong = (name, lambda problem: 1.2 * coordinates(problem))
    monkeypatch.setattr(baselines, "PEOPLE_BASELINES", (*people.PEOPLE_BASELINES[:at], wrong))
    problem = spaces.tallies({"A": 3}, questions.majority(), 1)
    with pytest.raises(VerificationError, match="NOT PRIVATE"):
        hetdp.accuracy(problem, objectives="balanced")


def test_an_objective_of_people_can_be_compared():
    problem = spaces.votes(3, questions.majority(), 1)
    assert hetdp.accuracy(problem, objectives="weighted-vote", baselines=False).methods[0].name == "weighted-vote"
    stored = hetdp.Problem(as_graph(problem.graph), problem.answers)
    with pytest.raises(hetdp.UsageError, match="on a problem without people"):
        hetdp.accuracy(stored, objectives="weighted-vote")


# Where one decides ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stored", [False, True])
def test_the_accuracy_where_one_person_of_a_class_decides_is_computed_by_hand(stored):
    question = questions.count("yes", 2) & questions.all_of("Ann")
    problem = spaces.votes(["Ann", "Bob", "Cyd"], question, {"Ann": 0.5, "Bob": 1, "Cyd": math.inf})
    if stored:
        source, target, epsilon = problem.graph.edges()
        graph = hetdp.DatasetGraph.from_edges(
            source, target, epsilon, datasets=range(8), classes=problem.graph.edge_classes()
        )
        problem = hetdp.Problem(graph, problem.answers)
    weights = np.arange(1.0, 9.0)
    result = hetdp.accuracy(problem, prior=weights, objectives="fair")
    method = result["fair"]
    errors, answers = method.mechanism.errors, problem.answers.reshape(2, 2, 2)
    expected = {
        "Ann": answers != answers[::-1],
        "Bob": answers != answers[:, ::-1],
    }
    found = {one.edge_class: one for one in method.by_class if one.datasets}
    assert sorted(found) == list(expected)
    for name, where in expected.items():
        at = where.ravel()
        assert found[name].datasets == at.sum()
        assert found[name].worst_error == errors[at].max()
        assert found[name].mean_error == pytest.approx((errors * weights)[at].sum() / weights[at].sum())
    document = {one["class"]: one for one in result.to_dict()["methods"][0]["by_class"]}
    assert document["Ann"]["worst_error"] == found["Ann"].worst_error
    header, counts, row, *_ = str(result).splitlines()
    start = header.index("Ann decides")
    assert counts[start:].split()[0] == str(found["Ann"].datasets)
    assert float(row[start:].split()[0]) == pytest.approx(1 - found["Ann"].mean_error, abs=1e-6)


def test_many_classes_are_only_in_the_document():
    problem = spaces.votes(6, questions.majority(), 1)
    result = hetdp.accuracy(problem, objectives="fair", baselines=False)
    assert "decides" not in str(result).splitlines()[0]
    assert len(result.to_dict()["methods"][0]["by_class"]) == 6
    assert len(result["fair"].by_class) == 6


def test_without_classes_the_report_has_none():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0), [1, 1, 2])
    result = hetdp.accuracy(problem, objectives="fair", baselines=False)
    assert result["fair"].by_class == []
    assert "decides" not in str(result)
    with_weight = spaces.tallies({"A": 1, "B": 1}, questions.all_of("A"), 1, prior={"yes": 1, "no": 0})
    report = hetdp.accuracy(with_weight, objectives="fair", baselines=False)["fair"].by_class
    assert [(one.edge_class, one.datasets, one.mean_error is None) for one in report] == [
        ("A", 4, False),
        ("B", 0, True),
    ]
