"""Tallies: the same problem as votes, with equal people counted together."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.people.products.problems import require_few
from hetdp.problem.decimals import round_down_to_grid
from tests.loops import for_each
from tests.people.questions_to_ask import A_RULE, NESTED, VALUES, as_arrays, tables

questions, privacy, spaces = hetdp.questions, hetdp.privacy, hetdp.spaces
SIZES = {"A": 3, "B": 2}
TABLES = tables()
ABSTAIN = ("yes", "no", "abstain")
CASES: dict[str, tuple[Any, Any, Any]] = {
    "majority": (("yes", "no"), lambda a, b: questions.majority(), {}),
    "veto": (("yes", "no"), lambda a, b: questions.count("yes", 3) & questions.all_of(b), {}),
    "deciding": (("yes", "no"), lambda a, b: questions.count("yes", 2), {"deciding": True}),
    "within": (("yes", "no"), lambda a, b: questions.majority(), {"within": 2}),
    "three values": (ABSTAIN, lambda a, b: questions.versus("yes", "no"), {}),
    "three values, deciding": (
        ABSTAIN,
        lambda a, b: questions.share("yes", "2/3", of="respondents", blank="abstain"),
        {"deciding": True},
    ),
    "three values, within": (ABSTAIN, lambda a, b: questions.count("abstain", 2), {"within": 1}),
    "weighted": (
        ("yes", "no"),
        lambda a, b: questions.weighted_sum(dict.fromkeys(a, 1) | dict.fromkeys(b, 2.5), at_least=4),
        {},
    ),
}


def tallies_and_votes(case: str) -> tuple[hetdp.Problem, hetdp.Problem, np.ndarray]:
    """Tallies, votes, and for each vote its tally."""
    values, question, special = CASES[case]
    members = {group: [f"{group}{at}" for at in range(size)] for group, size in SIZES.items()}
    people = [one for several in members.values() for one in several]

    def rules_for(a: list[str], b: list[str]) -> hetdp.privacy.Privacy:
        rules = [privacy.Rule(0.75, a), privacy.Rule(0.5, b)]
        if "deciding" in special:
            rules += [privacy.Rule(0.3, b, when="deciding"), privacy.Rule(0.1, a, when="deciding")]
        if "within" in special:
            rules += [privacy.Rule(0.2, a, when=privacy.within(special["within"]))]
        return privacy.Privacy(rules)

    folded = spaces.tallies(SIZES, question(["A"], ["B"]), rules_for(["A"], ["B"]), values)
    votes = spaces.votes(people, question(*members.values()), rules_for(*members.values()), values)
    at = [folded.graph.index(tally_of(label, values)) for label in votes.labels.names]
    return folded, votes, np.array(at)


def tally_of(label: tuple[str, ...], values: tuple[str, ...]) -> tuple[object, ...]:
    parts = label[:3], label[3:]
    counts = [tuple(part.count(value) for value in values) for part in parts]
    return tuple(one[0] if len(values) == 2 else one for one in counts)


@for_each("objective", ["fair", "balanced"])
@for_each("case", CASES)
def test_tallies_agree_with_votes(case, objective):
    folded, votes, at = tallies_and_votes(case)
    assert votes.answers.tolist() == folded.answers[at].tolist()
    ours, theirs = hetdp.design(folded, objective), hetdp.design(votes, objective)
    np.testing.assert_allclose(theirs.coordinates, ours.coordinates[at], rtol=0, atol=1e-11)
    assert ours.certificate is not None
    assert ours.certificate.optimal
    assert folded.weights is not None
    np.testing.assert_allclose(folded.weights, np.bincount(at) / len(at), rtol=1e-14)


def test_21_voters_in_three_groups():
    problem = spaces.tallies({"a": 11, "b": 8, "c": 2}, questions.majority(), {"a": 0.1, "b": 0.5, "c": 1})
    found = hetdp.design(problem)
    assert problem.graph.size == 12 * 9 * 3
    assert np.sum((1 - found.errors) * problem.weights) == pytest.approx(0.581, abs=5e-4)
    average = hetdp.design(problem, "average")
    assert np.sum((1 - average.errors) * problem.weights) == pytest.approx(0.673, abs=5e-4)


@pytest.mark.parametrize(("needed", "yes", "right"), [(50, 49, 0.62), (67, 57, 0.996)])
def test_two_votes_of_the_senate(needed, yes, right):
    problem = spaces.tallies({"members": 100}, questions.count("yes", needed), 0.5)
    assert 1 - hetdp.design(problem)[(yes,)] == pytest.approx(right, abs=5e-3)


def test_the_security_council_has_66_tallies():
    question = questions.count("yes", at_least=9) & questions.all_of("permanent")
    problem = spaces.tallies({"permanent": 5, "elected": 10}, question, {"permanent": 0.5, "elected": 1})
    assert [label for label, answer in zip(problem.labels.names, problem.answers, strict=True) if answer == 1] == [
        (5, elected) for elected in range(4, 11)
    ]


@pytest.mark.parametrize(
    ("prior", "chances"),
    [
        (None, {"A": (1, 1, 1), "B": (1, 1, 1)}),
        ({"yes": "1/2", "no": 0.3, "abstain": "20%"}, {"A": (5, 3, 2), "B": (5, 3, 2)}),
        (
            {"A": {"yes": 1, "no": 0, "abstain": 0}, "B": {"yes": 0.25, "no": 0.25, "abstain": 0.5}},
            {"A": (1, 0, 0), "B": (1, 1, 2)},
        ),
    ],
)
def test_a_prior_is_that_of_independent_people(prior, chances):
    problem = spaces.tallies(SIZES, questions.versus("yes", "no"), 1, ABSTAIN, prior)
    expected: Counter[object] = Counter()
    for label in product(ABSTAIN, repeat=5):
        weights = [chances["A" if who < 3 else "B"] for who in range(5)]
        one = [Fraction(w[ABSTAIN.index(v)], sum(w)) for w, v in zip(weights, label, strict=True)]
        expected[tally_of(label, ABSTAIN)] += math.prod(one)
    assert problem.weights is not None
    np.testing.assert_allclose(problem.weights, [float(expected[label]) for label in problem.labels.names], rtol=1e-13)


def test_a_large_group_has_a_prior_that_adds_up():
    problem = spaces.tallies({"all": 10_000}, questions.majority(), 0.01)
    assert problem.weights is not None
    assert math.fsum(problem.weights) == pytest.approx(1.0, rel=1e-13)
    exact = math.comb(10_000, 4_990) / 2**10_000
    assert problem.weights[4_990] == pytest.approx(exact, rel=1e-9)


def test_weights_are_computed_only_when_needed():
    problem = spaces.tallies({"A": 3, "B": 2}, questions.majority(), 1)
    hetdp.verify(problem, hetdp.design(problem, "balanced"))
    hetdp.design(problem, "weighted-vote")
    assert "weights" not in vars(problem)
    again = pickle.loads(pickle.dumps(problem))
    assert again.weights.tolist() == problem.weights.tolist()
    assert again.weights is again.weights
    assert not again.weights.flags.writeable


def test_uniform_over_tallies_needs_no_weights():
    assert spaces.tallies({"all": 4}, questions.majority(), 1, prior="uniform").weights is None


def test_a_group_may_be_empty():
    problem = spaces.tallies({"all": 3, "guests": 0}, questions.majority(), 1)
    assert problem.labels.names[3] == (3, 0)
    assert hetdp.design(problem)[3, 0] > 0.9


@for_each(
    ("groups", "options", "words"),
    [
        ({}, {}, "name → how many people"),
        (["A"], {}, "name → how many people"),
        ({"A": -1}, {}, "the size of 'A' is -1"),
        ({"A": 1.5}, {}, "whole number"),
        ({"A": 100_000, "B": 100_000}, {}, "200,000 people make 10,000,200,001 datasets"),
        ({"A": 2}, {"prior": "even"}, "the prior is 'even'"),
        ({"A": 2}, {"prior": {"yes": 1}}, "unknown value with a probability 'no'"),
        ({"A": 2}, {"prior": {"yes": 0.5, "no": 0.6}}, "add up to 1"),
        ({"A": 2}, {"prior": {"yes": 1.5, "no": -0.5}}, "add up to 1"),
        ({"A": 2}, {"prior": {"B": {"yes": 1, "no": 0}}}, "unknown group 'B'"),
    ],
)
def test_inconsistent_arguments_are_refused(groups, options, words):
    with pytest.raises(hetdp.UsageError, match=words):
        spaces.tallies(groups, questions.majority(), 1, **options)


@settings(max_examples=40, deadline=None)
@given(question=NESTED, rules=st.lists(A_RULE, max_size=4))
def test_any_question_under_any_rules_has_the_edges_of_the_definitions(question, rules):
    promised = privacy.Privacy([privacy.Rule(2), *rules])
    problem = spaces.tallies(SIZES, question, promised, VALUES)
    labels, answers = list(problem.labels.names), problem.answers.tolist()
    holds = np.broadcast_to(question.holds(as_arrays(TABLES), SIZES), len(TABLES)).tolist()
    known = {tuple(tuple(one.values()) for one in table.values()): at for at, table in enumerate(TABLES)}
    assert answers == [1 if holds[known[label]] else 2 for label in labels]
    steps = _steps(labels)
    apart = np.array(answers)[:, None] != np.array(answers)[None]
    margins = np.where(apart, steps, 99).min(axis=1)
    expected = {}
    for u, v in zip(*np.nonzero(np.triu(steps == 1)), strict=True):
        at = next(at for at in (0, 1) if labels[u][at] != labels[v][at])
        change = {VALUES[k] for k in range(3) if labels[u][at][k] != labels[v][at][k]}
        situation = (apart[u, v], min(margins[u], margins[v]), {answers[u], answers[v]})
        fitting = [rule.epsilon for rule in promised.rules if _applies(rule, "AB"[at], change, *situation)]
        if min(fitting) < math.inf:
            expected[int(u), int(v)] = round_down_to_grid(min(fitting))
    found = {}
    for source, target, (epsilon,) in problem.graph.edge_blocks():
        found |= {
            (u, v): e for u, v, e in zip(source.tolist(), target.tolist(), epsilon.tolist(), strict=True) if u < v
        }
    assert found == expected


def _steps(labels: list[Any]) -> np.ndarray:
    """The number of people who must change to turn one tally into another."""
    counts = np.array(labels)
    return np.abs(counts[:, None] - counts[None]).sum(axis=(2, 3)) // 2


def _applies(rule: Any, group: str, change: set[str], deciding: bool, margin: int, sides: set[int]) -> bool:
    """True if a rule applies to a change, by its definition."""
    if not (group in (rule.groups or "AB") and set(rule.change or ()) <= change):
        return False
    if rule.when is None:
        return True
    meant = {"deciding": deciding, "within": margin <= rule.when.number, "answer": rule.when.number in sides}
    return bool(meant[rule.when.kind])


def test_too_many_datasets_are_counted_in_words():
    def refusal(*arguments):
        with pytest.raises(hetdp.UsageError) as refused:
            require_few(*arguments, "that is too many", "")
        return str(refused.value)

    require_few([3], 2, False, 8, "", "")
    require_few([3, 2], 2, True, 12, "", "")
    assert refusal([3], 2, False, 7) == "3 people make 8 datasets; that is too many."
    assert refusal([3, 2], 2, True, 11) == "5 people make 12 datasets; that is too many."
    assert refusal([1], 9, False, 8) == "1 person makes 9 datasets; that is too many."
    assert refusal([59], 2, False, 100) == "59 people make 576,460,752,303,423,488 datasets; that is too many."
    assert refusal([60], 2, False, 100) == "60 people make about 10^18 datasets; that is too many."
    assert refusal([10**6, 10**6, 10**6], 2, True, 100).startswith("3,000,000 people make about 10^18 datasets")


@for_each("wrong", [0, -1, True, "Ann", {"Ann": 1}, [], ["Ann", "Ann"], 2.5])
def test_voters_are_names_or_a_number(wrong):
    with pytest.raises(hetdp.UsageError):
        hetdp.spaces.votes(wrong, hetdp.questions.majority(), 0.5)
    assert (
        hetdp.spaces.votes(2, hetdp.questions.majority(), 0.5).about["change"] == "person {class} answers differently"
    )
    assert hetdp.spaces.votes(["Ann"], hetdp.questions.majority(), 0.5).about["change"] == "{class} answers differently"


def test_probabilities_may_miss_one_by_a_rounding_only():
    def weights(prior):
        problem = hetdp.spaces.tallies({"all": 2}, hetdp.questions.majority(), 0.5, prior=prior)
        return None if problem.weights is None else problem.weights.tolist()

    assert weights("uniform") is None
    assert weights({"yes": 0.25, "no": 0.75}) == pytest.approx([0.5625, 0.375, 0.0625])
    assert weights({"yes": 0, "no": 1}) == [1.0, 0.0, 0.0]
    assert sum(weights({"yes": "0.333333333", "no": "0.666666666"})) == pytest.approx(1.0, abs=1e-15)
    for wrong in ({"yes": 0.5, "no": 0.49}, {"yes": -0.5, "no": 1.5}, {"yes": "0.333333333", "no": "0.666666665"}):
        with pytest.raises(hetdp.UsageError, match="probabilities are ≥ 0 and add up to 1"):
            weights(wrong)
    for wrong in ({}, "even", 3, {"all": 3}):
        with pytest.raises(hetdp.UsageError):
            weights(wrong)
