"""The ε-weighted vote on votes and tallies: the population's formula, proved edge by edge."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.errors import VerificationError
from hetdp.mechanism import vote
from hetdp.problem.decimals import are_on_grid
from hetdp.problem.product import as_graph
from tests.loops import for_each
from tests.people.questions_to_ask import LINEAR, SIZES, VALUES

questions, privacy, spaces = hetdp.questions, hetdp.privacy, hetdp.spaces
EPSILON = st.sampled_from(["0", "0.1", "0.3", "0.7", "1.5", "3000", "inf"])


@settings(max_examples=60, deadline=None)
@given(question=LINEAR, epsilon=st.tuples(EPSILON, EPSILON), deciding=st.none() | EPSILON)
def test_tallies_have_the_weighted_vote_of_the_population(question, epsilon, deciding):
    by_group = dict(zip(SIZES, epsilon, strict=True))
    problem = spaces.tallies(SIZES, question, privacy.rules(by_group, deciding=deciding), VALUES)
    found = hetdp.design(problem, "weighted-vote")
    names = [name for name, size in SIZES.items() for _ in range(size)]
    people = spaces.population(question, [by_group[name] for name in names], VALUES, names, deciding)
    formula = people.design("weighted-vote")
    for label, z in zip(found, found.coordinates.tolist(), strict=True):
        table = [code for counts in label for code, many in enumerate(counts) for _ in range(many)]
        assert formula.coordinate(table) == z
    assert found.certificate is not None
    assert found.certificate.private
    assert (found.objective, found.pinned.all(), found.is_as_proved) == ("weighted-vote", True, True)


@pytest.mark.parametrize("values", [("yes", "no"), ("yes", "no", "blank")])
def test_votes_have_the_weighted_vote_of_the_population(values):
    epsilon = [0.1, 0.5, 0.3, 1.0, math.inf]
    rules = {str(at + 1): one for at, one in enumerate(epsilon)}
    for question in (questions.count("yes", 2), ~questions.share("yes", "60%"), questions.all_of(["2", "3"])):
        found = hetdp.design(spaces.votes(5, question, rules, values), "weighted-vote")
        people = spaces.population(question, epsilon, values, groups=list("12345")).design("weighted-vote")
        codes = [[values.index(value) for value in label] for label in found]
        assert found.coordinates.tolist() == [people.coordinate(one) for one in codes]


SITUATIONS = {
    "within": (privacy.rules(1, within={1: 0.2, 2: 0.6}), {"A": 0.2, "B": 0.2}),
    "by answer": (privacy.rules(1, answer={2: {"A": 0.3}}), {"A": 0.3, "B": 1}),
    "by change": (privacy.rules(1, change={("yes", "no"): {"B": 0.1}}), {"A": 1, "B": 0.1}),
    "a change that does not count": (privacy.rules(1, change={("no", "blank"): 0.1}), {"A": 1, "B": 1}),
    "nothing but deciding": (privacy.rules(math.inf, deciding={"A": 0.25}), {"A": 0.25, "B": math.inf}),
}


@for_each("situation", SITUATIONS)
def test_where_epsilon_depends_on_the_situation_the_smallest_counts(situation):
    rules, least = SITUATIONS[situation]
    question = questions.count("yes", 2)
    found = hetdp.design(spaces.tallies(SIZES, question, rules, VALUES), "weighted-vote")
    same = hetdp.design(spaces.tallies(SIZES, question, least, VALUES), "weighted-vote")
    assert found.coordinates.tolist() == same.coordinates.tolist()
    stored = hetdp.Problem(as_graph(found.problem.graph), found.problem.answers)
    assert hetdp.verify(stored, hetdp.PartialMechanism(z=found.coordinates)).private


def test_labels_too_large_for_a_float_are_clamped_and_stay_private():
    found = hetdp.design(spaces.tallies({"all": 10}, questions.majority(), 4000), "weighted-vote")
    assert (found.coordinates[10], found.coordinates[0]) == (8192.0, -8192.0)
    assert are_on_grid(np.abs(found.coordinates[1:-1][np.abs(found.coordinates[1:-1]) < 8192]))
    with pytest.raises(hetdp.UsageError, match="the weights of all people together are below 4,194,304"):
        hetdp.design(spaces.tallies({"all": 2000}, questions.majority(), 4000), "weighted-vote")


def test_a_question_with_one_answer_is_answered_with_certainty():
    found = hetdp.design(spaces.votes(3, questions.count("yes", 9), 1), "weighted-vote")
    assert found.coordinates.tolist() == [-math.inf] * 8


def test_a_vote_that_counts_too_much_is_never_returned(monkeypatch):
    whole = vote.person_weights
    monkeypatch.setattr(vote, "person_weights", lambda *given: whole(*given) + 1)
    with pytest.raises(VerificationError, match="NOT PRIVATE"):
        hetdp.design(spaces.votes(3, questions.majority(), 1), "weighted-vote")


def test_polish_is_nowhere_worse_and_the_objective_is_stored_in_files(tmp_path):
    problem = spaces.votes(5, questions.majority(), privacy.rules(1, deciding=0.2))
    found = hetdp.design(problem, "weighted-vote")
    better = hetdp.polish(problem, found)
    assert (better.errors <= found.errors).all()
    assert (better.errors < found.errors).any()
    hetdp.save(found, tmp_path / "m.json")
    assert hetdp.read_mechanism(tmp_path / "m.json").objective == "weighted-vote"


PEOPLE = spaces.votes(3, questions.majority(), 1)
RATIO = spaces.tallies({"A": 2, "B": 2}, questions.ratio_of_shares("yes", "A", "B"), 1)
LARGE = spaces.votes(2, questions.weighted_sum({"1": 1, "2": 2**40}, 1), 1)
TWO = spaces.votes(2, questions.majority(), 1)
GRAPH: Any = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0), [1, 2])


@for_each(
    ("problem", "options", "words"),
    [
        (GRAPH, {}, "weighted-vote on a problem without people; .* hetdp.spaces.votes or hetdp.spaces.tallies"),
        (RATIO, {}, "weighted-vote on a question that is not a threshold of a sum"),
        (LARGE, {}, "weighted-vote on a question that is not a threshold of a sum"),
        (PEOPLE, {"partial": {("yes",) * 3: 0.9}}, "given values, with the objective weighted-vote"),
        (PEOPLE, {"prior": "uniform"}, "prior= together with objective='weighted-vote'"),
        (PEOPLE, {"max_error": 2}, "max_error=2"),
    ],
)
def test_unsupported_arguments_are_refused(problem, options, words):
    with pytest.raises(hetdp.UsageError, match=words):
        hetdp.design(problem, "weighted-vote", **options)


def test_a_largest_error_is_kept_or_refused():
    assert hetdp.design(PEOPLE, "weighted-vote", max_error=0.4).errors.max() <= 0.4
    with pytest.raises(hetdp.InputError, match=r"the weighted vote's worst error is 0\.303266"):
        hetdp.design(PEOPLE, "weighted-vote", max_error=0.1)


@pytest.mark.parametrize(("sizes", "voted", "best"), [((11, 8, 2), 0.67301, 0.67318), ((27, 27, 27), 0.77144, 0.77497)])
def test_voters_in_three_groups(sizes, voted, best):
    """The figures: .6730 against .6732, and .7714 against .7750."""
    groups, epsilon = dict(zip("abc", sizes, strict=True)), {"a": 0.1, "b": 0.5, "c": 1}
    problem = spaces.tallies(groups, questions.majority(), epsilon)
    assert problem.weights is not None
    for objective, accuracy in (("weighted-vote", voted), ("average", best)):
        found = hetdp.design(problem, objective)
        assert problem.weights @ (1 - found.errors) == pytest.approx(accuracy, abs=1e-5)
        assert found.problem is problem
        assert found.certificate is not None
        assert found.certificate.private
    assert found.objective_gap is not None
    assert found.objective_gap < 1e-7


def test_the_best_average_is_that_of_the_stored_edges():
    problem = spaces.tallies({"a": 3, "b": 2}, questions.majority(), {"a": 0.2, "b": 1})
    stored = hetdp.Problem(as_graph(problem.graph), problem.answers, weights=problem.weights)
    for engine in ("auto", "reference"):
        found = hetdp.design(problem, "average", engine=engine)
        assert found.coordinates.tolist() == hetdp.design(stored, "average").coordinates.tolist()
        assert found.is_as_proved


def test_scores_are_one_for_each_axis_and_value():
    with pytest.raises(hetdp.UsageError, match="scores that do not fit the people"):
        hetdp.Problem(PEOPLE.graph, PEOPLE.answers, scores=TWO.scores)
    assert hetdp.Problem(PEOPLE.graph, PEOPLE.answers, scores=PEOPLE.scores).scores is PEOPLE.scores
