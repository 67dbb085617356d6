"""Problems with other ε: all scaled, by class, by edge, or by a rule."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetdp
from hetdp.problem import decimals
from hetdp.problem.decimals import multiply_down
from hetdp.problem.product import ProductSpace

WORDS = {"title": "words", "privacy": "ε = 0.1"}


def decimal(number):
    return Fraction(repr(float(number)))


def path_of(*epsilons, classes=None, **columns):
    ends = list(range(len(epsilons) + 1))
    graph = hetdp.DatasetGraph.from_edges(ends[:-1], ends[1:], list(epsilons), classes=classes, **columns)
    return hetdp.Problem(graph, [1, *[2] * len(epsilons)], about=WORDS, weights=[1.0 + end for end in ends])


def epsilons(problem):
    return problem.graph.edges()[2].tolist()


multiples = st.one_of(st.floats(0.0, 1e12), st.decimals(0, 100, places=3), st.fractions(0, 9), st.integers(0, 9))


@given(st.lists(st.floats(0.0, 1e308), min_size=1, max_size=9), multiples)
def test_a_product_is_the_largest_decimal_of_a_float_that_is_not_above_the_exact_one(values, multiple):
    exact = decimal(multiple) if isinstance(multiple, float) else Fraction(multiple)
    for value, product in zip(values, multiply_down(np.array(values), multiple).tolist(), strict=True):
        assert decimal(product) <= decimal(value) * exact
        assert product > 1e308 or decimal(value) * exact < decimal(math.nextafter(product, math.inf))


@pytest.mark.parametrize("limit", ["MOST_SORTED", "MOST_EXACT"])
@pytest.mark.parametrize("multiple", [0.1, 1 / 3, 3.0, 1e-9, 12345.678, 1e-20])
def test_products_of_very_many_numbers_stay_a_few_floats_below(limit, multiple, monkeypatch):
    monkeypatch.setattr(decimals, limit, 2)
    rng = np.random.default_rng(8)
    values = np.concatenate([10.0 ** rng.uniform(-300, 300, 400), [0.1, 0.3, 3e-320, 5e-324, 0.0, np.inf]])
    for value, product in zip(values.tolist(), multiply_down(values, multiple).tolist(), strict=True):
        if value == math.inf:
            assert product == math.inf
            continue
        exact = decimal(value) * decimal(multiple)
        assert decimal(product) <= exact
        assert exact < 1e-300 or decimal(product) >= exact * (1 - Fraction(1, 10**14))


def test_products_at_the_ends_of_the_floats_are_finite():
    largest = np.finfo(np.float64).max
    assert multiply_down(np.array([largest, 0.0, np.inf]), 2.0).tolist() == [largest, 0.0, np.inf]


def test_scaling_keeps_everything_but_epsilon_and_the_words_about_it():
    problem = path_of(0.1, 0.7, math.inf, 0.0, classes=["x", None, "x", "y"])
    scaled = problem.scaled(3)
    assert sorted(epsilons(scaled)) == [0.0, 0.3, 2.1, math.inf]
    assert scaled.labels is problem.labels
    assert scaled.graph.edge_classes() == problem.graph.edge_classes()
    assert scaled.answers.tolist() == problem.answers.tolist()
    assert (scaled.weights.tolist(), dict(scaled.about)) == (problem.weights.tolist(), {"title": "words"})
    assert problem.scaled(1) is problem
    assert problem.scaled(2).scaled(0.5).identity == problem.identity


def test_every_epsilon_and_mu_is_scaled_and_delta_is_not():
    graph = hetdp.DatasetGraph.from_edges([0], [1], 0.5, epsilon_back=1.0, delta=0.25)
    scaled = hetdp.Problem(graph, [1, 2]).scaled(2)
    assert [column.tolist() for column in scaled.graph.edges()[2:]] == [[1.0], [2.0], [0.25], [0.25]]
    gaussian = hetdp.Problem(hetdp.DatasetGraph.from_edges([0], [1], mu=0.5), [1, 2]).scaled(Decimal("0.2"))
    assert epsilons(gaussian) == [0.1]


def test_spaces_of_people_stay_spaces_and_are_those_of_the_scaled_epsilon():
    majority, groups = hetdp.questions.majority(), {"staff": 2, "pupils": 3}
    for make, who in ((hetdp.spaces.votes, ["Ann", "Bob", "Cyd"]), (hetdp.spaces.tallies, groups)):
        scaled = make(who, majority, 0.1).scaled(3)
        assert isinstance(scaled.graph, ProductSpace)
        assert scaled.identity == make(who, majority, 0.3).identity
        assert scaled.scores is not None
        assert "privacy" not in scaled.about
        assert hetdp.design(scaled, "weighted-vote").certificate.private


def voters():
    rules = hetdp.privacy.rules(1, deciding={"Ann": 0.2})
    return hetdp.spaces.votes(["Ann", "Bob", "Cyd"], hetdp.questions.majority(), rules)


def test_epsilon_that_depends_on_the_situation_is_scaled_in_every_situation():
    scaled = voters().scaled(2)
    assert isinstance(scaled.graph, ProductSpace)
    assert sorted(set(epsilons(voters()))) == [0.2, 1.0]
    assert sorted(set(epsilons(scaled))) == [0.4, 2.0]


def test_a_scaled_group_with_several_values_has_scaled_moves():
    question = hetdp.questions.majority()
    problem = hetdp.spaces.tallies({"staff": 2}, question, 0.1, values=["yes", "no", "abstain"])
    assert set(epsilons(problem.scaled(3))) == {0.3}


@pytest.mark.parametrize("multiple", [-1, math.inf, math.nan, True, "2", None])
def test_factors_that_are_not_finite_numbers_from_zero_on_are_refused(multiple):
    with pytest.raises(hetdp.UsageError, match="every ε is multiplied by a finite number ≥ 0"):
        path_of(1.0).scaled(multiple)


def test_one_epsilon_for_all_edges_then_classes_then_pairs():
    problem = path_of(1.0, 2.0, math.inf, classes=["Ann", "Bob", "Bob"])
    assert epsilons(problem.with_epsilon(0.5)) == [0.5, 0.5, 0.5]
    assert epsilons(problem.with_epsilon(classes={"Bob": Decimal("0.1")})) == [1.0, 0.1, 0.1]
    assert sorted(epsilons(problem.with_epsilon(edges={(0, 1): 0, (3, 2): 0.25}))) == [0.0, 0.25, 2.0]
    every = problem.with_epsilon(0.5, classes={"Ann": 0.1, "Bob": 0.2}, edges={(1, 2): 0.3})
    assert epsilons(every) == [0.1, 0.3, 0.2]
    assert every.graph.edge_classes() == ["Ann", "Bob", "Bob"]
    assert dict(every.about) == {"title": "words"}


def test_a_rule_gets_both_datasets_and_the_epsilon():
    asked = []

    def rule(one, other, epsilon):
        asked.append((one, other, epsilon))
        return 2 * epsilon

    assert epsilons(path_of(1.0, 2.0).with_epsilon(rule)) == [2.0, 4.0]
    assert asked == [(0, 1, 1.0), (1, 2, 2.0)]


def test_where_epsilon_differs_by_direction_pairs_and_rules_are_directed():
    problem = path_of(1.0, 2.0, epsilon_back=[3.0, 4.0])

    def ways(changed):
        return [column.tolist() for column in changed.graph.edges()[2:]]

    assert ways(problem.with_epsilon(edges={(0, 1): 0.5})) == [[0.5, 2.0], [3.0, 4.0]]
    assert ways(problem.with_epsilon(edges={(1, 0): 0.5})) == [[1.0, 2.0], [0.5, 4.0]]
    assert ways(problem.with_epsilon(lambda one, other, epsilon: one)) == [[0.0, 1.0], [1.0, 2.0]]
    assert ways(problem.with_epsilon(7)) == [[7.0, 7.0], [7.0, 7.0]]


def test_parallel_edges_of_a_pair_all_change():
    graph = hetdp.DatasetGraph.from_edges(["a", "a"], ["b", "b"], [1.0, 2.0], classes=["x", "y"])
    problem = hetdp.Problem(graph, [1, 2])
    assert epsilons(problem.with_epsilon(edges={("b", "a"): 0.5})) == [0.5, 0.5]
    changed = problem.with_epsilon(classes={"y": 0.5})
    assert dict(zip(changed.graph.edge_classes(), epsilons(changed), strict=True)) == {"x": 1.0, "y": 0.5}


def test_people_keep_their_space_unless_single_edges_change():
    problem = voters()
    assert isinstance(problem.with_epsilon(0.5).graph, ProductSpace)
    changed = problem.with_epsilon(1.0, classes={"Bob": 0.3})
    assert isinstance(changed.graph, ProductSpace)
    classes = dict(zip(changed.graph.edge_classes(), epsilons(changed), strict=True))
    assert classes == {"Ann": 1.0, "Bob": 0.3, "Cyd": 1.0}
    pair = (("yes", "yes", "yes"), ("no", "yes", "yes"))
    stored = problem.with_epsilon(edges={pair: 0.7})
    assert isinstance(stored.graph, hetdp.DatasetGraph)
    assert stored.graph.on_grid
    assert sorted(set(epsilons(stored))) == [0.2, 0.7, 1.0]
    same = problem.with_epsilon(lambda one, other, epsilon: epsilon)
    assert same.identity == problem.identity


def test_all_faults_are_listed_together():
    problem = path_of(1.0, 2.0, classes=["Ann", "Bob"])
    with pytest.raises(hetdp.InputError, match="5 faults") as refusal:
        problem.with_epsilon(-1, classes={"Anne": 1.0}, edges={(0, 2): 1.0, (0, 9): 1.0, 5: 1.0})
    lines = str(refusal.value)
    assert "not an ε: -1; ε is a number ≥ 0" in lines
    assert "classes['Anne']: unknown class; it takes classes of edges. Hint: did you mean 'Ann'?" in lines
    assert "edges[(0, 2)]: no edge; these two datasets are not neighbours" in lines
    assert "edges[(0, 9)]: unknown dataset 9; both are datasets of the problem" in lines
    assert "edges[5]: not a pair of datasets; the keys of edges= are pairs (u, v)" in lines
    with pytest.raises(hetdp.InputError, match="edge \\(1, 2\\): not an ε: None"):
        problem.with_epsilon(lambda one, other, epsilon: None if one else 1.0)
    with pytest.raises(hetdp.InputError, match="no edge has a class"):
        path_of(1.0).with_epsilon(classes={"Ann": 1.0})
    with pytest.raises(hetdp.InputError, match="classes\\['Dan'\\]: unknown class"):
        voters().with_epsilon(classes={"Dan": 1.0})


def test_a_rule_that_fails_names_the_edge():
    with pytest.raises(ZeroDivisionError) as refusal:
        path_of(1.0).with_epsilon(lambda one, other, epsilon: 1 / one)
    assert refusal.value.__notes__ == ["raised by epsilon at the edge (0, 1)"]


def test_edges_without_epsilon_and_calls_without_arguments_are_refused():
    gaussian = hetdp.Problem(hetdp.DatasetGraph.from_edges([0], [1], mu=0.5), [1, 2])
    with pytest.raises(hetdp.UsageError, match="with_epsilon on edges without ε"):
        gaussian.with_epsilon(1.0)
    with pytest.raises(hetdp.UsageError, match="it takes epsilon, classes= or edges="):
        path_of(1.0).with_epsilon()


def test_more_epsilon_for_all_never_lowers_an_accuracy():
    problem = path_of(0.5, 0.1, 1.0)
    accuracies = [1.0 - hetdp.design(problem.scaled(multiple)).errors for multiple in (0, 0.5, 1, 2, 10)]
    assert all((after >= before - 1e-12).all() for before, after in pairwise(accuracies))
