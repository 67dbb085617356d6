"""How good a population's mechanism is: worst accuracies, odds and baselines, against every table of small ones."""

from __future__ import annotations

import math
from itertools import product

import flint
import numpy as np
import pytest

import hetdp
from hetdp.people.populations import baselines
from tests.loops import for_each
from tests.people.cubes import (
    UNIT,
    answers_of,
    coordinates_of,
    count_violations,
    margins_of,
    neighbouring_tables,
    problem_of,
    subsets,
    tables_of,
)
from tests.people.test_population_balanced import random_count_population, random_epsilons, random_other_population

Q = hetdp.questions


def accuracies(people, objective):
    """The worst accuracy at each margin, table by table."""
    tables = tables_of(people)
    answers = answers_of(people, tables)
    mechanism, worst = people.design(objective), {}
    for table, answer, margin in zip(tables, answers, margins_of(people, tables, answers), strict=True):
        z = mechanism.coordinate(np.array(table)) * (1 if answer == 1 else -1)
        right = 1 - 0.5 * math.exp(-z) if z > 0 else 0.5 * math.exp(z)
        if margin:
            worst[margin] = min(right, worst.get(margin, 1.0))
    return worst


@for_each("objective", ["balanced", "weighted-vote"])
@for_each("seed", range(12))
def test_the_worst_accuracy_of_a_count_is_that_of_some_table(objective, seed):
    people = random_count_population(seed)
    mechanism, worst = people.design(objective), accuracies(people, objective)
    assert people.farthest() == max(worst, default=0)
    for margin, accuracy in worst.items():
        assert mechanism.accuracy(margin) == pytest.approx(accuracy, abs=1e-12)
    listed = mechanism.accuracy_by_margin()
    assert [row.margin for row in listed] == [m for m in (1, 2, 5) if m in worst][: len(listed)]
    assert all(row.error == pytest.approx(1 - worst[row.margin], abs=1e-12) for row in listed)


@for_each("seed", range(12))
def test_no_table_of_another_sum_is_less_accurate_than_reported(seed):
    people = random_other_population(seed)
    worst = accuracies(people, "balanced")
    assert people.farthest() == max(worst, default=0)
    for margin, accuracy in worst.items():
        assert people.design().accuracy(margin) <= accuracy + 1e-12


def random_respondents_population(seed: int):
    """A random population with a question that blank values leave as it is; some people may be unprotected."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    epsilon = rng.choice([0.0, 0.05, 0.1, 0.3, 0.5, 1.0, 2.5, 7.0, math.inf], size)
    deciding = [None, 0.2, rng.choice([0.1, 0.5, 1.0, math.inf], size)][seed // 3 % 3]
    share = str(rng.choice(["50%", "30%", "2/3"]))
    question = [
        Q.share("yes", share, of="respondents", strict=bool(seed % 2)),
        Q.versus("yes", "no"),
        Q.weighted_sum({"a": int(rng.integers(1, 6)), "b": int(rng.integers(1, 4))}, 3, {"yes": 1, "blank": 0.5}),
    ][seed % 3]
    groups = np.array(["a", "b", *rng.choice(["a", "b"], size - 2)])
    return hetdp.spaces.population(question, epsilon, ("yes", "no", "blank"), groups, deciding)


@for_each("seed", range(36))
def test_no_table_with_blank_values_is_less_accurate_than_reported(seed):
    people = random_respondents_population(seed)
    worst, mechanism = accuracies(people, "balanced"), people.design()
    assert people.farthest() == max(worst, default=0)
    for margin, accuracy in worst.items():
        assert mechanism.accuracy(margin) <= accuracy + 1e-12


@pytest.mark.parametrize("size", [3, 4, 5])
def test_with_one_epsilon_some_table_of_respondents_is_as_inaccurate_as_reported(size):
    for question in (Q.majority(of="respondents"), Q.share("yes", "50%", of="respondents"), Q.versus("yes", "no")):
        people = hetdp.spaces.population(question, 0.4, ("yes", "no", "blank"), size=size)
        for margin, accuracy in accuracies(people, "balanced").items():
            assert people.design().accuracy(margin) == pytest.approx(accuracy, abs=1e-9)


def test_less_protection_for_some_is_never_reported_as_less_accurate_than_the_least_epsilon_for_all():
    of_respondents = Q.majority(of="respondents")
    epsilon, values = [0.1] * 30 + [1.0] * 20 + [7.0], ("yes", "no", "blank")
    least = hetdp.spaces.population(of_respondents, 0.1, values, size=51)
    for deciding in (None, [0.1] * 50 + [1.0]):
        people = hetdp.spaces.population(of_respondents, epsilon, values, deciding=deciding)
        for margin in range(1, people.farthest() + 1):
            assert people.design().accuracy(margin) >= least.design().accuracy(margin)
    assert hetdp.spaces.population(of_respondents, epsilon, values).design().accuracy(5) > 0.66


def test_accuracy_is_refused_where_no_table_is():
    people = hetdp.spaces.population(Q.majority(), 0.5, size=5)
    for margin in (0, 4, "many"):
        with pytest.raises(hetdp.UsageError):
            people.design().accuracy(margin)
    with pytest.raises(hetdp.UsageError, match="every table has the same answer"):
        hetdp.spaces.population(Q.count("yes", 9), 0.5, size=5).design().accuracy(1)
    versus = hetdp.spaces.population(Q.versus("yes", "no"), 0.5, ("yes", "no", "blank"), size=5)
    with pytest.raises(hetdp.UsageError, match="known for counts"):
        versus.design("weighted-vote").accuracy(1)


@for_each("seed", range(24))
def test_the_odds_of_a_count_are_those_of_its_worst_edge(seed):
    size = 1 + seed % 7
    epsilon, rng = random_epsilons(seed + 100, size)
    groups = rng.choice(["a", "b"], size)
    people = hetdp.spaces.population(Q.count("yes", int(rng.integers(1, size + 1))), epsilon, groups=groups)
    problem = problem_of(people)
    each = hetdp.odds(hetdp.design(problem, "balanced")).by_class
    for group, found in people.design().odds().by_class.items():
        mine = [each[str(who)] for who in range(size) if groups[who] == group]
        assert found.exact
        assert found.high - found.low == pytest.approx(max(one.high - one.low for one in mine), abs=1e-9)
        assert found.loss == pytest.approx(max(one.loss for one in mine), abs=1e-8)


@for_each("objective", ["balanced", "weighted-vote"])
@for_each("seed", range(12))
def test_odds_are_never_understated(objective, seed):
    people = (random_other_population if seed % 2 else random_count_population)(seed)
    mechanism, tables = people.design(objective), tables_of(people)
    z = np.array(coordinates_of(people, mechanism))
    p = np.where(z > 0, 1 - 0.5 * np.exp(-np.abs(z)), 0.5 * np.exp(-np.abs(z)))
    odds = mechanism.odds().by_class
    for source, target, who in neighbouring_tables(people, tables):
        found = odds[people.groups[people.classes.group[people.classes.member[who]]]]
        assert abs(p[source] - p[target]) <= found.high - found.low + 1e-12


@for_each("seed", range(48))
def test_odds_lie_between_those_of_any_table_and_the_charged_loss(seed):
    people = (random_other_population if seed % 2 else random_count_population)(seed)
    mechanism, tables = people.design(), tables_of(people)
    z = np.array(coordinates_of(people, mechanism))
    error = 0.5 * np.exp(-np.abs(z))
    p, q = np.where(z > 0, 1 - error, error), np.where(z > 0, error, 1 - error)
    odds = mechanism.odds().by_class
    for one in odds.values():
        if one.unprotected < one.people and one.deciding is None:
            assert max(math.log(one.high / one.low), math.log((1 - one.low) / (1 - one.high))) <= one.loss + 1e-9
    for source, target, who in neighbouring_tables(people, tables):
        found = odds[people.groups[people.classes.group[people.classes.member[who]]]]
        assert abs(p[source] - p[target]) <= found.high - found.low + 1e-12
        if found.unprotected == 0 and found.deciding is None and np.isfinite(z[[source, target]]).all():
            assert abs(math.log(p[source] / p[target])) <= found.loss + 1e-9
            assert abs(math.log(q[source] / q[target])) <= found.loss + 1e-9


def test_odds_are_described_in_a_sentence():
    people = hetdp.spaces.population(
        Q.count("yes", 2, group=["a", "c"]), [0.5, 0.5, math.inf, 0.1, math.inf], groups=["a", "a", "a", "b", "c"]
    )
    odds = people.design().odds().by_class
    assert str(odds["a"]) == (
        "If you answer differently, the published answer is yes in at most 63 of 100 runs instead of 37."
        " No promise is made to 1 of 3 people (ε = ∞): the published answer may reveal their answers with certainty."
    )
    assert str(odds["b"]) == "If you answer differently, the published answer is yes just as often."
    assert str(odds["c"]).startswith("No promise is made to these people")
    with pytest.raises(hetdp.UsageError, match="there is no class 'd'; the classes are 'a', 'b', 'c'"):
        people.design().odds().of("d")


# Weighted votes -------------------------------------------------------------------------------------------------------


@for_each("seed", range(16))
def test_a_weighted_vote_keeps_every_promise_exactly(seed):
    people = (random_other_population if seed % 2 else random_count_population)(seed)
    assert count_violations(people, coordinates_of(people, people.design("weighted-vote"))) == 0


def mean_accuracy(sizes, epsilon, objective):
    """The mean accuracy over independent voters who say yes with probability one half, summed by tally."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    people = hetdp.spaces.population(Q.majority(), np.array(epsilon)[groups], groups=groups)
    formula, total = people.design(objective).formula, 0.0
    for yes in product(*(range(size + 1) for size in sizes)):
        if 2 * sum(yes) < sum(sizes):
            continue  # with all votes turned round, the other half is the same
        z = formula.label(np.array([[y, n - y] for y, n in zip(yes, sizes, strict=True)])) / UNIT
        right = 1 - 0.5 * math.exp(-z) if z > 0 else 0.5 * math.exp(z)
        total += right * math.prod(map(math.comb, sizes, yes)) / 2 ** sum(sizes)
    return 2 * total


def test_weighted_vote_of_twenty_one_voters():
    assert mean_accuracy((11, 8, 2), (0.1, 0.5, 1.0), "weighted-vote") == pytest.approx(0.6730, abs=5e-5)


def test_weighted_vote_of_eighty_one_voters():
    assert mean_accuracy((27, 27, 27), (0.1, 0.5, 1.0), "weighted-vote") == pytest.approx(0.7714, abs=5e-5)


def test_two_votes_of_the_senate():
    table = np.repeat([0, 1], [49, 51])
    repeal = hetdp.spaces.population(Q.count("yes", 50), 0.5, size=100).design()
    assert 1 - 0.5 * math.exp(repeal.coordinate(table)) == pytest.approx(0.622, abs=5e-4)
    assert repeal.accuracy(1) == pytest.approx(1 - 0.5 * math.exp(repeal.coordinate(table)))
    impeachment = hetdp.spaces.population(Q.count("yes", 67), 0.5, size=100).design()
    assert 1 - 0.5 * math.exp(impeachment.coordinate(np.repeat([0, 1], [57, 43]))) == pytest.approx(0.996, abs=5e-4)


# Baselines ------------------------------------------------------------------------------------------------------------


def by_definition(name, epsilon, yes, threshold, limit):
    """Pr[answer 1] in exact enclosures, from the definition: every sample, every way to the other answer."""
    number, votes = len(epsilon), [who in yes for who in range(len(epsilon))]
    part = flint.arb(2 * threshold - 1) / (2 * number)

    def noisy_answer(sample):
        z = flint.arb(limit) * sum((flint.arb(int(votes[who])) - part for who in sample), flint.arb(0))
        return 1 - (-z).exp() / 2 if z > 0 else z.exp() / 2

    if name == "dropping":
        return noisy_answer([who for who in range(number) if epsilon[who] >= limit])
    if name == "sampling":
        chance = [
            flint.arb(1) if e >= limit else (flint.arb(e).exp() - 1) / (flint.arb(limit).exp() - 1) for e in epsilon
        ]
        return sum(
            math.prod((chance[w] if w in sample else 1 - chance[w] for w in range(number)), start=flint.arb(1))
            * noisy_answer(sample)
            for sample in subsets(range(number))
        )
    ways = [
        min(
            sum(epsilon[w] for w in yes ^ other)
            for other in subsets(range(number))
            if (len(other) >= threshold) == is_yes
        )
        for is_yes in (True, False)
    ]
    return 1 / (1 + (flint.arb(ways[0] - ways[1]) / 2).exp())


@for_each("limit", [0.25, 0.5, 1.0])
@for_each("threshold", [1, 2, 4])
def test_baselines_are_private_and_as_accurate_as_reported(threshold, limit):
    flint.ctx.prec = 150
    epsilon = [0.125, 0.25, 0.5, 0.5, 1.0]
    people = hetdp.spaces.population(Q.count("yes", threshold), epsilon)
    every = subsets(range(5))
    for name in ("dropping", "sampling", "personalised exponential"):
        p = {frozenset(yes): by_definition(name, epsilon, yes, threshold, limit) for yes in every}
        for yes, who in product(every, range(5)):
            one, other = p[frozenset(yes)], p[frozenset(yes ^ {who})]
            ratio = flint.arb(epsilon[who]).exp() * (1 + flint.arb(2) ** -100)
            assert one < ratio * other
            assert 1 - one < ratio * (1 - other)
        for margin in range(1, people.farthest() + 1):
            right = [
                p[frozenset(yes)] if len(yes) >= threshold else 1 - p[frozenset(yes)]
                for yes in every
                if margin == (len(yes) - threshold + 1 if len(yes) >= threshold else threshold - len(yes))
            ]
            reported_accuracy = people.baselines(margin, limit)[name]
            assert reported_accuracy == pytest.approx(min(float(one.mid()) for one in right), abs=1e-12)


def test_baselines_are_listed_beside_the_mechanism():
    people = hetdp.spaces.population(Q.majority(), 0.5, size=11)
    found = people.baselines(3)
    assert list(found) == ["one ε", "dropping", "sampling", "personalised exponential", "weighted-vote", "balanced"]
    assert found["balanced"] == pytest.approx(found["one ε"], abs=1e-11)
    assert "sampling" not in hetdp.spaces.population(Q.majority(), 0.5, size=2001).baselines(1)
    assert baselines.MOST_SAMPLED == 2000
    with pytest.raises(hetdp.UsageError, match="no table has the margin 99"):
        people.baselines(99)
    versus = hetdp.spaces.population(Q.versus("yes", "no"), 0.5, ("yes", "no", "blank"), size=5)
    with pytest.raises(hetdp.UsageError, match="known for counts"):
        versus.baselines(1)
