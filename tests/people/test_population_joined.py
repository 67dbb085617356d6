"""Counts of disjoint groups joined by and / or: labels, accuracy, odds and charges, against all tables."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from operator import and_

import numpy as np
import pytest

import hetdp
from hetdp.people.populations.scores import JoinedCounts, formula_scores
from hetdp.people.privacy.epsilons import units_to_floats
from hetdp.problem.scores import Scores
from tests.loops import for_each
from tests.people.cubes import (
    answers_of,
    coordinates_of,
    count_violations,
    margins_of,
    neighbouring_tables,
    problem_of,
    tables_of,
    units_of,
)
from tests.people.test_population_losses import ROUNDED, TINY, true_losses
from tests.stress import long

Q = hetdp.questions
LEVELS = [0.0, 0.1, 0.25, 0.3, 0.5, 1.0, 2.5, 7.0]


def random_part(rng, group, size: int):
    """A random count about some groups; perhaps the same for every table."""
    kinds = [
        Q.count("yes", int(rng.integers(1, size + 1)), group),
        Q.share("yes", rng.choice(["1/3", "50%", "2/3"]), group=group, strict=bool(rng.integers(2))),
        Q.all_of(group, "yes"),
        ~Q.count("yes", int(rng.integers(1, size + 1)), group),
        Q.count("yes", int(rng.integers(0, size + 2)), group),
    ]
    return kinds[int(rng.integers(len(kinds)))]


def random_people(seed: int, sizes=(3, 8)):
    """A random population, two or three of whose groups are asked about, with everybody's ε and deciding ε."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(sizes[0], sizes[1] + 1))
    names = ["a", "b", "c", "d"][: 2 + seed % 3]
    groups = rng.choice(names, size)
    groups[: len(names)] = names[:size]
    epsilon = np.where(rng.random(size) < 0.6, rng.choice(LEVELS, size), np.round(rng.exponential(0.7, size), 6))
    if seed % 5 == 0:
        epsilon[:] = 0.5
    if seed % 4 == 1:
        epsilon[rng.random(size) < 0.25] = np.inf
    deciding = [None, None, 0.2, rng.choice([0.1, 0.5, 2.0, np.inf], size)][seed // 2 % 4]
    there = {name: int((groups == name).sum()) for name in set(groups.tolist())}
    asked = [random_part(rng, name, there[name]) for name in ("a", "b", "c") if name in there]
    joined = asked[0]
    for part in asked[1:]:
        joined = joined & part if seed % 2 else joined | part
    return hetdp.spaces.population(~joined if seed % 3 == 0 else joined, epsilon, ("yes", "no"), groups, deciding)


def several(seeds, **options):
    """Random populations with a question that really joins several counts."""
    found = [random_people(seed, **options) for seed in seeds]
    return [people for people in found if isinstance(people.scores, JoinedCounts)]


PEOPLE = several(range(24), sizes=(3, 7))
MORE = several(range(24, 200), sizes=(3, 9))
FEW = several(range(200, 240), sizes=(3, 5))
each_population = pytest.mark.parametrize(
    "people", [*PEOPLE, *(pytest.param(people, marks=long) for people in MORE)], ids=lambda _: ""
)


def test_most_random_questions_join_several_counts():
    assert len(PEOPLE) > 12
    assert {people.scores.asks_all for people in PEOPLE} == {True, False}
    assert {len(people.scores.parts) for people in PEOPLE} == {2, 3}


@each_population
def test_labels_are_those_that_the_search_finds_on_all_tables(people):
    found = coordinates_of(people, people.design())
    np.testing.assert_allclose(found, hetdp.design(problem_of(people), "balanced").coordinates, rtol=0, atol=1e-9)


@each_population
def test_every_promise_is_kept_exactly(people):
    assert count_violations(people, coordinates_of(people, people.design())) == 0


@each_population
def test_worst_accuracy_and_margins_are_those_of_some_table(people):
    tables = tables_of(people)
    answers, z, worst = answers_of(people, tables), coordinates_of(people, people.design()), {}
    for answer, margin, label in zip(answers, margins_of(people, tables, answers), z, strict=True):
        label = label if answer == 1 else -label
        worst[margin] = min(label, worst.get(margin, math.inf))
    formula = people.design().formula
    assert people.farthest() == max(worst)
    assert {margin: formula.worst(margin) / 2**40 for margin in worst} == worst


@each_population
def test_odds_are_never_understated(people):
    tables, z = tables_of(people), np.array(coordinates_of(people, people.design()))
    error = 0.5 * np.exp(-np.abs(z))
    p, q = np.where(z > 0, 1 - error, error), np.where(z > 0, error, 1 - error)
    odds = people.design().odds().by_class
    assert list(odds) == list(people.groups)
    for source, target, who in neighbouring_tables(people, tables):
        found = odds[people.groups[people.classes.group[people.classes.member[who]]]]
        if found.unprotected == 0 and found.deciding is None:
            assert abs(p[source] - p[target]) <= found.high - found.low + 1e-12
            if np.isfinite(z[[source, target]]).all():
                assert abs(math.log(p[source] / p[target])) <= found.loss + 1e-9
                assert abs(math.log(q[source] / q[target])) <= found.loss + 1e-9


def test_nobody_is_charged_less_than_their_largest_loss():
    exact = less = plain = 0
    for people in FEW:
        mechanism, units = people.design(), units_to_floats(np.array(units_of(people)[0]))
        true = true_losses(mechanism, people.size, 2)
        for loss, charged, allowed in zip(true, mechanism.loss_of_each().tolist(), units.tolist(), strict=True):
            used = math.inf if math.isinf(charged) else Fraction(repr(charged))
            assert loss <= used + ROUNDED, (str(people), float(loss), charged)
            assert charged <= allowed + 1e-9
            less += charged < allowed - 1e-6
            if mechanism.formula.parts[0].formula.is_plain:
                plain += 1
                exact += used <= loss + TINY
    assert less > 5
    assert exact > 0.7 * plain


def test_charges_of_joined_counts_are_exact_where_other_parts_limit_or_raise_a_label():
    """Each bound of docs/theory/losses.md decides somewhere: without it, somebody pays too much or too little."""
    cases = [
        ("ABBCC", (1, 1, 1), [0.5, 3.0, 2.0, 6.0, 3.0]),  # the part that saves the most, of two others that fail
        ("AAAB", (2, 1), [2.0, 0.5, 1.0, 6.0]),  # somebody of the other part goes last
        ("ABB", (1, 1), [0.5, 0.5, 3.0]),  # the other part limits the label of yes, and its step
        ("ABB", (1, 1), [0.1, 1.0, 6.0]),  # the other part limits the label of no
        # chosen by a search: together they notice most changes of a single operator in losses.py
        ("AAAAB", (2, 1), [0.1, 2.0, 6.0, 3.0, 6.0]),
        ("ABBCC", (1, 1, 2), [0.5, 0.1, 3.0, 0.1, 3.0]),
        ("AB", (1, 1), [math.inf, 2.0]),
        ("ABBB", (1, 1), [0.5, 3.0, 0.1, 0.1]),
        ("AABBB", (2, 2), [3.0, math.inf, 6.0, 3.0, 6.0]),
    ]
    for groups, numbers, epsilon in cases:
        parts = [Q.count("yes", number, name) for name, number in zip("ABC", numbers, strict=False)]
        mechanism = hetdp.spaces.population(reduce(and_, parts), epsilon, groups=list(groups)).design()
        for loss, charged in zip(true_losses(mechanism, len(groups), 2), mechanism.loss_of_each(), strict=True):
            used = math.inf if math.isinf(charged) else Fraction(repr(float(charged)))
            assert loss <= used + ROUNDED, (groups, numbers, epsilon)
            assert used <= loss + TINY, (groups, numbers, epsilon)


# Which questions are of this kind -------------------------------------------------------------------------------------


A, B, C = (Q.count("yes", 2, group) for group in "abc")
SIZES = np.array([4, 4, 4])


def scores(question):
    return formula_scores(question, ["a", "b", "c"], SIZES, ("yes", "no"))


@for_each(
    ("question", "parts"),
    [
        (A & B, 2),
        (A & B & C, 3),
        (A & (B & ~~C), 3),
        (~(~A | ~B), 2),
        (~(A & B & ~C), 3),
        (A & A & B & Q.count("yes", 1, "a"), 2),
        (A & B & Q.count("yes", 0, "c"), 2),
        (A & B & Q.share("yes", "50%", group="c"), 3),
        (Q.all_of("a") & Q.all_of("b") & C, 2),
        (Q.count("yes", 1, "a") | Q.count("yes", 1, "b") | C, 2),
    ],
)
def test_questions_are_reduced_to_counts_of_disjoint_groups(question, parts):
    found = scores(question)
    assert isinstance(found, JoinedCounts)
    assert len(found.parts) == parts


@pytest.mark.parametrize(
    ("question", "same"),
    [
        (A & Q.count("yes", 3, "a"), Q.count("yes", 3, "a")),
        (A | Q.count("yes", 3, "a"), A),
        (A & Q.count("yes", 0, "b"), A),
        (Q.all_of("a") & Q.all_of("b"), Q.all_of(["a", "b"])),
        (~Q.all_of("a") | ~Q.all_of("b"), ~Q.all_of(["a", "b"])),
        (A & Q.count("yes", 5, "b"), Q.count("yes", 13)),
        (A | Q.count("yes", 0, "b"), Q.count("yes", 0)),
    ],
    ids=str,
)
def test_questions_with_a_single_threshold_are_asked_as_one(question, same):
    found, expected = scores(question), scores(same)
    assert isinstance(found, Scores)
    assert found.constant == expected.constant
    if not found.constant:
        assert (found.threshold, found.scores.tolist()) == (expected.threshold, expected.scores.tolist())


@for_each(
    "question",
    [
        A & Q.count("yes", 5),
        A & ~Q.count("yes", 3, "a"),
        (A & B) | C,
        A & Q.weighted_sum({"b": 2, "c": 1}, 3),
        Q.ratio_of_shares("yes", "a", "b") & C,
    ],
)
def test_other_questions_have_no_formula(question):
    assert scores(question) is None
    with pytest.raises(hetdp.UsageError, match="or counts of disjoint groups"):
        hetdp.spaces.population(question, 0.5, groups=["a", "b", "c"] * 3, size=9)


def test_requests_without_a_known_formula_are_refused():
    people = hetdp.spaces.population(A & B, [0.5, 0.2] * 4, groups=list("aaaabbbb"))
    with pytest.raises(hetdp.UsageError, match="a weighted vote is about a sum"):
        people.design("weighted-vote")
    with pytest.raises(hetdp.UsageError, match="baselines are known for counts"):
        people.baselines(1)
    with pytest.raises(hetdp.UsageError, match="unknown group 'z'"):
        hetdp.spaces.population(A & Q.count("yes", 1, "z"), 0.5, groups=list("aab"), size=3)
    assert people.design_from(people.design().document()).coordinate([0] * 8) > 0


def test_people_who_are_in_no_part_change_nothing():
    people = hetdp.spaces.population(
        A & B, [0.5] * 6 + [0.9, math.inf, math.inf], groups=list("aaabbbccd"), deciding=[9.0] * 8 + [0.2]
    )
    mechanism = people.design()
    assert mechanism.losses_by_group()[2:] == [0.0, 0.0]
    odds = mechanism.odds().by_class
    assert [(odds[name].people, odds[name].high, odds[name].unprotected) for name in "cd"] == [(2, 0.5, 0), (1, 0.5, 0)]
    assert odds["d"].deciding is not None
    assert mechanism.certificate.optimal
    assert mechanism.certificate.method == "theorem"


def test_two_sites_of_many_people_take_one_pass():
    rng = np.random.default_rng(1)
    size = 40_000
    epsilon, groups = rng.exponential(0.5, size), rng.choice(["Harbour", "Town"], size)
    asked = Q.count("yes", 9_000, "Town") & Q.share("yes", "50%", group="Harbour")
    mechanism = hetdp.spaces.population(asked, epsilon, groups=groups).design()
    alone = [
        hetdp.spaces.population(part, epsilon[groups == name], groups=groups[groups == name]).design()
        for part, name in zip(asked.parts, ["Town", "Harbour"], strict=True)
    ]
    for part in (0.2, 0.46, 0.7):  # of those of Harbour; all of Town
        table = np.where(groups == "Town", 0, rng.random(size) > part).astype(np.int64)
        each = [one.coordinate(table[groups == name]) for one, name in zip(alone, ["Town", "Harbour"], strict=True)]
        assert mechanism.coordinate(table) == min(each)  # Harbour alone fails, or one of the two must change
    everybody = hetdp.spaces.population(Q.majority(), epsilon).design()
    assert mechanism.accuracy(3) == everybody.accuracy(3)  # the three with the smallest ε, of either site
