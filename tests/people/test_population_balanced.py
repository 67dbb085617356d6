"""Balanced on populations: the closed form is the search's result on the explicit graph, private to the last bit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import hetdp
from hetdp.people.populations.classes import meetings
from hetdp.people.populations.mechanism import LARGEST_LABEL
from tests.loops import for_each
from tests.people.cubes import (
    UNIT,
    answers_of,
    coordinates_of,
    count_violations,
    holds_exactly,
    margins_of,
    problem_of,
    tables_of,
    units_of,
)

Q = hetdp.questions
THREE = ("yes", "no", "blank")
EPSILON = [0.0, 0.1, 0.25, 0.3, 0.5, 1.0, 2.5, 7.0]


def random_epsilons(seed: int, size: int):
    """Random ε, some of them equal."""
    rng = np.random.default_rng(seed)
    few, many = rng.choice(EPSILON, size), np.round(rng.exponential(0.7, size), 6)
    return np.where(rng.random(size) < 0.5, few, many), rng


def random_count_population(seed: int):
    """A random population with a count question."""
    size = 2 + seed % 6
    epsilon, rng = random_epsilons(seed, size)
    groups = rng.choice(["a", "b"], size)
    groups[0], groups[1] = "a", "b"
    deciding = [None, 0.2, rng.choice(EPSILON, size)][seed % 3]
    if size <= 4 and seed % 2:
        return hetdp.spaces.population(Q.count("no", int(rng.integers(1, size + 1))), epsilon, THREE, None, deciding)
    group = rng.choice([None, "a"])
    question = Q.count("yes", int(rng.integers(1, 3)), group) if seed % 4 else ~Q.majority(group=group)
    return hetdp.spaces.population(question, epsilon, groups=groups, deciding=deciding)


def random_other_population(seed: int):
    """A random population whose question is not a count."""
    size = 2 + seed % 3
    epsilon, rng = random_epsilons(seed, size)
    groups = rng.choice(["a", "b"], size)
    groups[:2] = "a", "b"
    weights = {"a": int(rng.integers(1, 6)), "b": int(rng.integers(-3, 4)) or 2}
    question = [
        Q.versus("yes", "no", ties=str(rng.choice(["yes", "no"]))),
        Q.share("yes", "2/3", of="respondents"),
        Q.weighted_sum(weights, int(rng.integers(0, 6)), {"yes": 1, "no": -2}),
        Q.weighted_sum({"a": 0.5, "b": 0.3}, 0.7, {"yes": 1}),
    ][seed % 4]
    deciding = [None, 0.2, rng.choice(EPSILON, size)][seed // 4 % 3]
    return hetdp.spaces.population(question, epsilon, THREE, groups, deciding)


def exact_labels(people):
    return hetdp.design(problem_of(people), "balanced").coordinates


@for_each("seed", range(36))
def test_a_count_has_the_labels_that_the_search_finds_on_all_tables(seed):
    people = random_count_population(seed)
    mechanism = people.design()
    found = coordinates_of(people, mechanism)
    assert people.is_count
    np.testing.assert_allclose(found, exact_labels(people), rtol=0, atol=1e-9)


@for_each("seed", range(36))
def test_a_count_keeps_every_promise_exactly(seed):
    people = random_count_population(seed)
    assert count_violations(people, coordinates_of(people, people.design())) == 0


def test_eight_people_keep_every_promise_exactly():
    epsilon, _ = random_epsilons(3, 8)
    people = hetdp.spaces.population(Q.count("yes", 3), epsilon, deciding=np.minimum(epsilon, 0.3))
    assert count_violations(people, coordinates_of(people, people.design())) == 0


def test_labels_cannot_be_higher():
    people = hetdp.spaces.population(Q.count("yes", 2), [0.1, 0.3, 0.7, 0.2])
    tables, z = tables_of(people), coordinates_of(people, people.design())
    margins = margins_of(people, tables, answers_of(people, tables))
    for at in [at for at, margin in enumerate(margins) if margin > 1]:
        raised = z.copy()
        raised[at] += math.copysign(1 / UNIT, z[at])
        assert count_violations(people, raised) > 0
    assert count_violations(people, [one + math.copysign(2 / UNIT, one) for one in z]) > 0


@for_each("seed", range(16))
def test_other_sums_keep_every_promise_exactly_and_stay_within_the_gap(seed):
    people = random_other_population(seed)
    mechanism = people.design()
    exact, found = exact_labels(people), np.array(coordinates_of(people, mechanism))
    assert count_violations(people, found.tolist()) == 0
    sign = np.where(np.array(answers_of(people, tables_of(people))) == 1, 1, -1)
    finite = np.isfinite(exact)
    assert (finite == np.isfinite(found)).all()
    short = (sign * (exact - np.where(finite, found, exact)))[finite]
    assert (short >= -1e-9).all()
    assert (short <= mechanism.certificate.gap + 1e-9).all()


def test_the_gap_of_other_sums_is_at_most_the_largest_epsilon():
    people = hetdp.spaces.population(Q.versus("yes", "no"), [0.2, 0.5, 0.9], THREE)
    assert not people.is_count
    assert people.design().certificate.gap == pytest.approx(0.9, abs=1e-9)


def test_people_without_protection_do_not_lead_to_the_other_answer():
    people = hetdp.spaces.population(Q.count("yes", 2), [math.inf, 0.5, math.inf, 0.25])
    mechanism = people.design()
    found = coordinates_of(people, mechanism)
    np.testing.assert_allclose(found, exact_labels(people), atol=1e-9)
    assert mechanism.coordinate([0, 0, 0, 0]) == pytest.approx(math.inf)
    assert count_violations(people, coordinates_of(people, mechanism)) == 0


@pytest.mark.parametrize("question", [Q.count("yes", 2), Q.majority(), Q.versus("yes", "no")])
@pytest.mark.parametrize("seed", range(4))
def test_epsilon_where_people_decide_is_kept_exactly(question, seed):
    rng = np.random.default_rng(seed)
    epsilon, deciding = rng.choice([math.inf, 0.5, 0.1], 4), rng.choice([0.2, 0.7, 3.0, math.inf], 4)
    people = hetdp.spaces.population(question, epsilon, THREE, deciding=deciding)
    mechanism = people.design()
    found, exact = np.array(coordinates_of(people, mechanism)), exact_labels(people)
    assert count_violations(people, found.tolist()) == 0
    assert count_violations(people, coordinates_of(people, people.design("weighted-vote"))) == 0
    if people.is_count:
        np.testing.assert_allclose(found, exact, atol=1e-9)
    finite = np.isfinite(exact)
    assert (np.isfinite(found) == finite).all()
    assert (np.abs(found[finite]) <= np.abs(exact[finite]) + 1e-9).all()


@pytest.mark.parametrize("question", [Q.count("yes", 0), Q.count("yes", 4)])
@pytest.mark.parametrize("objective", ["balanced", "weighted-vote"])
def test_an_answer_that_every_table_has_is_certain_in_the_odds(question, objective):
    people = hetdp.spaces.population(question, 0.5, size=3)
    expected = math.inf if people.constant == 1 else -math.inf
    assert people.design(objective).coordinate([0, 1, 1]) == expected


def test_meeting_labels_are_just_below_the_exact_ones():
    import flint

    flint.ctx.prec = 200
    rng = np.random.default_rng(5)
    units = np.unique(np.concatenate([np.arange(50), rng.integers(0, 2**44, 2000), 2 ** np.arange(53), [2**40 - 1]]))
    for one, label in zip(units.tolist(), meetings(units).tolist(), strict=True):
        exact = (((flint.arb(one) / UNIT).exp() + 1) / 2).log() * UNIT
        assert exact - 2 - exact / 2**45 < label
        assert not label > exact


@for_each("objective", ["balanced", "weighted-vote"])
@for_each("seed", range(4))
def test_neighbours_in_large_populations_keep_their_promises_exactly(objective, seed):
    rng = np.random.default_rng(seed)
    size = [17, 300, 2000, 10_000][seed]
    epsilon = rng.exponential(0.5, size) if seed % 2 else rng.choice([0.1, 0.3, 1.0], size)
    question = Q.majority() if seed < 3 else Q.versus("yes", "no")
    values = ("yes", "no") if seed < 3 else THREE
    people = hetdp.spaces.population(question, epsilon, values)
    mechanism, units = people.design(objective), units_of(people)[0]
    for _ in range(30 if seed < 3 else 12):
        table = (rng.random(size) < rng.choice([0.1, 0.49, 0.5, 0.6])).astype(np.int64)
        z = mechanism.coordinate(table)
        for who in rng.integers(0, size, 10).tolist():
            before = table[who]
            table[who] = (before + 1) % len(values)
            assert holds_exactly(z, mechanism.coordinate(table), units[who])
            table[who] = before


def test_labels_too_large_for_floats_are_lowered_together():
    people = hetdp.spaces.population(Q.count("yes", 1), [4000.1, 4096.0, 5000.0, 0.1])
    mechanism = people.design()
    assert mechanism.coordinate([0, 0, 0, 1]) == LARGEST_LABEL / UNIT == 8192.0
    assert count_violations(people, coordinates_of(people, mechanism)) == 0


def test_ten_thousand_large_epsilon_do_not_overflow():
    people = hetdp.spaces.population(Q.majority(), 4096.0, size=10_000)
    for objective in ("balanced", "weighted-vote"):
        assert people.design(objective).coordinate(np.zeros(10_000, dtype=np.int64)) == 8192.0
    assert Fraction(people.design().coordinate(np.arange(10_000) % 2)) < 0


def test_the_label_of_a_sum_is_also_right_when_computed_as_a_fractional_packing():
    """The dual over prices meets the fractional knapsack, solved greedily, for people who can each go one or two."""
    rng = np.random.default_rng(2)
    epsilon = rng.choice([0.1, 0.2, 0.4, 0.8], 200)
    people = hetdp.spaces.population(Q.versus("yes", "no"), epsilon, THREE)
    table = rng.choice(3, 200, p=[0.6, 0.2, 0.2])
    gains = np.array([2, 0, 1])[table]
    need, cost = int((table == 0).sum() - (table == 1).sum()), Fraction(0)
    units = units_of(people)[0]
    order = sorted(range(200), key=lambda who: Fraction(units[who], int(gains[who])) if gains[who] else 10**30)
    for who in order:
        if need > 0:
            part = min(Fraction(need, int(gains[who])), Fraction(1))
            need, cost = need - part * int(gains[who]), cost + part * units[who]
    saved = max(one - label for one, label in zip(units, meetings(np.array(units)).tolist(), strict=True))
    label = people.design().coordinate(table) * UNIT
    assert float(cost) - saved - 400 <= label <= float(cost)
