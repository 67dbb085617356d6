"""Accuracy by true share, against every table of small populations."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import hetdp
from hetdp.people.products.tallied import tally_people
from tests.loops import for_each
from tests.people.cubes import answers_of, coordinates_of, tables_of
from tests.people.test_population_balanced import random_count_population, random_epsilons

Q = hetdp.questions
VALUES = ("yes", "no", "blank")


def worst_by_number(people, mechanism, value="yes", without=()):
    """The least accuracy over all tables with each number of people who have a value, and their answers."""
    tables, code = tables_of(people), people.values.index(value)
    counts = people.scores.most[people.classes.group[people.classes.member]] > 0
    worst, answers = {}, {}
    barred = {people.values.index(other) for other in without}
    for table, answer, z in zip(tables, answers_of(people, tables), coordinates_of(people, mechanism), strict=True):
        if barred & set(np.array(table)[counts]):
            continue
        number = int((np.array(table)[counts] == code).sum())
        signed = z if answer == 1 else -z
        right = 1 - 0.5 * math.exp(-signed) if signed > 0 else 0.5 * math.exp(signed)
        worst[number] = min(right, worst.get(number, 1.0))
        answers[number] = "yes" if answer == 1 else "no"
    return worst, answers


@for_each("objective", ["balanced", "weighted-vote"])
@for_each("seed", range(5))
def test_the_accuracy_of_a_count_at_a_number_is_that_of_its_worst_table(objective, seed):
    people = random_count_population(seed)
    mechanism = people.design(objective)
    value = people.share_scale.value
    worst, answers = worst_by_number(people, mechanism, value)
    assert sorted(worst) == list(range(people.share_scale.of + 1))
    for number, accuracy in worst.items():
        point = mechanism.accuracy_at_number(number)
        assert point.accuracy == pytest.approx(accuracy, abs=1e-12)
        assert point.answer == answers[number]
        assert point.margin is None or point.accuracy >= mechanism.accuracy(point.margin) - 1e-12


@for_each("seed", range(3))
@for_each("objective", ["balanced", "weighted-vote"])
@for_each("question", [Q.versus("yes", "no"), Q.share("yes", "1/3", of="respondents"), ~Q.majority()])
def test_no_table_without_blanks_is_less_accurate_than_stated_for_its_number(question, objective, seed):
    epsilon, _ = random_epsilons(seed, 4)
    people = hetdp.spaces.population(question, epsilon, VALUES)
    mechanism, curves = people.design(objective), people.design(objective).curves()
    without = ("blank",) if curves.assumption else ()
    assert curves.assumption == ("" if question.values_used() == {"yes"} else "everybody answers")
    worst, answers = worst_by_number(people, mechanism, "yes", without)
    assert [point.number for point in curves.by_share] == sorted(worst)
    for point in curves.by_share:
        assert point.accuracy <= worst[point.number] + 1e-12
        assert point.answer == answers[point.number]
        if objective == "weighted-vote":
            assert point.accuracy == pytest.approx(worst[point.number], abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_no_table_is_less_accurate_than_stated_for_its_share_of_the_weight(seed):
    epsilon, rng = random_epsilons(seed, 6)
    groups = rng.choice(["a", "b"], 6)
    groups[:2] = ["a", "b"]
    people = hetdp.spaces.population(Q.weighted_sum({"a": 2, "b": 1}, 5), epsilon, groups=groups)
    mechanism = people.design()
    scale = people.share_scale
    assert scale.weighted
    weights = people.scores.scores[people.classes.group[people.classes.member], 0]
    tables = tables_of(people)
    for table, answer, z in zip(tables, answers_of(people, tables), coordinates_of(people, mechanism), strict=True):
        point = mechanism.accuracy_at_number(int(weights[np.array(table) == 0].sum()))
        assert point.answer == ("yes" if answer == 1 else "no")
        signed = z if answer == 1 else -z
        assert point.error >= (0.5 * math.exp(-signed) if signed > 0 else 1 - 0.5 * math.exp(signed)) - 1e-12


@for_each("design", ["balanced", "tallies"])
@for_each("seed", range(6))
@for_each(
    "question",
    [
        Q.majority(of="respondents"),
        Q.share("no", "1/3", of="respondents"),
        Q.share("yes", "30%", of="respondents", strict=True),
        Q.versus("no", "yes", ties="yes"),
        ~Q.share("yes", "60%", of="respondents"),
    ],
)
def test_no_table_with_enough_answers_is_less_accurate_than_stated_for_its_share(question, seed, design):
    epsilon, rng = random_epsilons(seed, 4)
    deciding = None if seed % 2 else rng.choice([0.1, 0.5, 1.0], 4)
    people = hetdp.spaces.population(question, epsilon, VALUES, deciding=deciding)
    mechanism = people.design()
    if design == "tallies":
        mechanism = tally_people(question, epsilon, VALUES, deciding=deciding).design("fair")
    place = VALUES.index(mechanism.share_scale.value)
    tables = tables_of(people)
    stated = {}
    for table, answer, z in zip(tables, answers_of(people, tables), coordinates_of(people, mechanism), strict=True):
        values = np.array(table)
        answered, signed = int((values < 2).sum()), z if answer == 1 else -z
        right = 1 - 0.5 * math.exp(-signed) if signed > 0 else 0.5 * math.exp(signed)
        for at_least in range(1, answered + 1):
            key = int((values == place).sum()), answered, at_least
            if key not in stated:
                stated[key] = mechanism.accuracy_at_share(Fraction(key[0], key[1]), answered=at_least)
            assert stated[key].accuracy <= right + 1e-12
            assert stated[key].answer == ("yes" if answer == 1 else "no")
            assert (stated[key].number, stated[key].answered) == (key[0], answered) or at_least < answered


def test_with_one_epsilon_the_accuracy_among_those_who_answer_is_that_of_some_table():
    people = hetdp.spaces.population(Q.majority(of="respondents"), 0.4, VALUES, size=5)
    mechanism, tables, worst = people.design(), tables_of(people), {}
    for table, answer, z in zip(tables, answers_of(people, tables), coordinates_of(people, mechanism), strict=True):
        key = table.count(0), table.count(0) + table.count(1)
        worst[key] = min(z if answer == 1 else -z, worst.get(key, math.inf))
    for (number, answered), z in worst.items():
        if answered:
            point = mechanism.accuracy_at_share(Fraction(number, answered), answered=answered)
            assert point.error == pytest.approx(0.5 * math.exp(-z), abs=1e-9)


def test_a_curve_lists_every_number_of_two_hundred_people_and_some_of_more():
    numbers = {}
    for size in (200, 201):
        curves = hetdp.spaces.population(Q.majority(), 0.1, size=size).design().curves()
        numbers[size] = [point.number for point in curves.by_share]
    assert numbers[200] == list(range(201))
    assert (numbers[201][0], numbers[201][-1]) == (0, 201)
    assert 50 < len(numbers[201]) < 201


def test_the_number_of_people_who_answer_is_checked():
    people = hetdp.spaces.population(Q.majority(of="respondents"), 0.4, VALUES, size=5)
    for wrong, words in ((0, "the number of people who answer is 0"), (6, "only 5 count"), ("few", "is 'few'")):
        with pytest.raises(hetdp.UsageError, match=words):
            people.design().accuracy_at_share("50%", answered=wrong)
    with pytest.raises(hetdp.UsageError, match="a weighted vote by true share is known where everybody answers"):
        people.design("weighted-vote").accuracy_at_share("50%", answered=5)
    of_all = hetdp.spaces.population(Q.majority(), 0.4, VALUES, size=5)
    with pytest.raises(hetdp.UsageError, match="matters for shares of respondents and A against B"):
        of_all.design().accuracy_at_share("50%", answered=5)


@pytest.mark.parametrize("question", [Q.majority(), Q.versus("no", "yes"), Q.majority(of="respondents")])
def test_the_accuracy_on_tallies_is_that_of_the_worst_tally(question):
    values = VALUES if len(question.values_used()) > 1 else ("yes", "not yes")
    epsilon = [0.2, 0.2, 0.7, 0.7, 1.5]
    people = hetdp.spaces.population(question, epsilon, values)
    for objective in ("fair", "balanced"):
        mechanism = tally_people(question, epsilon, values).design(objective)
        curves = mechanism.curves()
        worst, answers = worst_by_number(people, mechanism, "yes", ("blank",) if curves.assumption else ())
        assert [point.number for point in curves.by_share] == sorted(worst)
        for point in curves.by_share:
            assert point.accuracy == pytest.approx(worst[point.number], abs=1e-12)
            assert point.answer == answers[point.number]
        margins = {point.margin: point.error for point in curves.by_margin}
        assert margins[1] == max(point.error for point in curves.by_share)


def test_methods_are_compared_by_margin_only_where_the_share_assumes_nothing():
    """A margin counts tables with blank rows, too, and the share of respondents does not."""
    cases = ((Q.majority(), True), (Q.majority(of="respondents"), False), (Q.versus("yes", "no"), False))
    for question, compared in cases:
        curves = hetdp.spaces.population(question, [0.2] * 20 + [1.0] * 20, VALUES).design().curves()
        assert {bool(point.baselines) for point in curves.by_margin} == {compared}
        assert {bool(point.baselines) for point in curves.by_share} == {True}
    weights = Q.weighted_sum({"a": 3, "b": 1}, 40)
    curves = hetdp.spaces.population(weights, [0.2] * 20, groups=["a"] * 10 + ["b"] * 10).design().curves()
    assert {bool(point.baselines) for point in curves.by_margin} == {False}


@pytest.mark.parametrize("question", [Q.count("yes", 4), Q.share("yes", "60%", strict=True)])
def test_a_noisy_count_and_one_epsilon_for_all_are_as_accurate_as_the_least_epsilon_allows(question):
    epsilon = [0.3, 0.3, 0.9, 0.9, 0.9, 2.0, float("inf")]
    people = hetdp.spaces.population(question, epsilon)
    alike = hetdp.spaces.population(question, 0.3, size=7)
    worst, _ = worst_by_number(alike, alike.design())
    for point in people.design().curves().by_share:
        noise = math.exp(-0.3 * (point.margin - 1)) / (1 + math.exp(0.3))
        assert 1 - worst[point.number] == pytest.approx(point.baselines["one ε"], abs=1e-11)
        assert point.baselines["geometric noise"] == pytest.approx(noise, abs=1e-11)
        assert point.error <= noise + 1e-11


def test_the_noise_of_a_noisy_sum_is_scaled_to_the_largest_weight():
    people = hetdp.spaces.population(Q.weighted_sum({"a": 3, "b": 1}, 4), 0.6, groups=list("aabbb"), size=5)
    ratio = math.exp(-0.6 / 3)
    for point in people.design().curves().by_share:
        need = people.share_scale.distance(point.number).need
        tail = sum((1 - ratio) / (1 + ratio) * ratio**k for k in range(need, 2000))
        assert point.baselines["geometric noise"] == pytest.approx(tail, abs=1e-9)


def test_a_share_between_two_numbers_takes_the_one_nearer_to_the_other_answer():
    mechanism = hetdp.spaces.population(Q.share("yes", "50%"), 0.1, size=601).design()
    assert mechanism.accuracy_at_share("55%").number == 330
    assert mechanism.accuracy_at_share("45%").number == 271
    assert mechanism.accuracy_at_share(0).number == 0
    assert mechanism.accuracy_at_share(1).number == 601
    assert [mechanism.accuracy_at_share(share).number for share in ("49.95%", "50.05%")] == [300, 301]


def test_a_curve_of_many_people_has_few_points_that_are_densest_at_the_threshold():
    curves = hetdp.spaces.population(Q.share("yes", "1/3"), 0.01, size=1_000_000).design().curves()
    numbers = [point.number for point in curves.by_share]
    assert numbers == sorted(set(numbers))
    assert {0, 333_333, 333_334, 333_335, 340_000, 1_000_000} <= set(numbers)
    assert len(numbers) < 300
    assert curves.by_share[numbers.index(333_333)].answer == "no"
    assert curves.by_share[numbers.index(333_334)].margin == 1
    assert [point.margin for point in curves.by_margin][:3] == [1, 2, 3]


def test_baselines_by_margin_are_the_worse_of_the_two_numbers_with_the_margin():
    people = hetdp.spaces.population(Q.count("yes", 3), [0.1] * 4 + [1.0] * 3)
    curves = people.design().curves()
    for point in curves.by_margin:
        there = [one.baselines for one in curves.by_share if one.margin == point.margin]
        assert point.baselines == {name: max(one[name] for one in there) for name in curves.names}
    assert curves.names == ("one ε", "geometric noise", "weighted-vote")
    assert people.design("weighted-vote").curves().names == ("one ε", "geometric noise")
    assert people.design().curves(baselines=False).names == ()


def test_a_constant_answer_is_always_right():
    people = hetdp.spaces.population(Q.count("yes", 9), 0.5, size=5)
    point = people.design().accuracy_at_share("60%")
    assert (point.answer, point.accuracy, point.error, point.margin) == ("no", 1.0, 0.0, None)


def test_what_is_not_known_by_share_is_refused_in_words():
    mechanism = hetdp.spaces.population(Q.majority(), 0.5, size=5).design()
    for share in ("155%", -0.1, "many", True):
        with pytest.raises(hetdp.UsageError, match="a share is a number from 0 to 1"):
            mechanism.accuracy_at_share(share)
    with pytest.raises(hetdp.UsageError, match="only 5 count"):
        mechanism.accuracy_at_number(6)
    weights = Q.weighted_sum({"a": 1, "b": -1}, 0)
    opposed = hetdp.spaces.population(weights, 0.5, groups=list("aabb"), size=4).design()
    with pytest.raises(hetdp.UsageError, match="known for counts"):
        opposed.accuracy_at_share(0.5)
    assert opposed.curves().by_share == ()
    assert opposed.curves().document()["by_share"] is None
    assert "by margin" in opposed.curves().document()["not_offered"]
    assert opposed.curves().by_margin[0].margin == 1
    vote = hetdp.spaces.population(Q.weighted_sum({"a": 2, "b": 1}, 3), 0.5, groups=list("aabb"), size=4)
    with pytest.raises(hetdp.UsageError, match="everybody's answer counts the same"):
        vote.design("weighted-vote").accuracy_at_share(0.5)
    ratio = tally_people(Q.count("yes", 1) & Q.majority(), [0.5] * 3).design("fair")
    with pytest.raises(hetdp.UsageError, match="no threshold of a sum"):
        ratio.accuracy_at_share(0.5)
    assert ratio.curves().by_margin
