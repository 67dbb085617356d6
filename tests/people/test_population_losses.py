"""What people are charged: never below the largest loss of any table, never above ε, and tight where claimed."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.people.populations.losses import round_units_up
from hetdp.people.privacy.epsilons import UNBOUNDED
from hetdp.people.products.tallied import tally_people
from tests.loops import for_each
from tests.oracle.losses import loss_between

Q = hetdp.questions
TWO, THREE = ("yes", "no"), ("yes", "no", "blank")
LEVELS = [0.0, 0.1, 0.3, 0.4, 0.5, 1.0, 2.5, 20.0, 5000.0]
TINY = Fraction(2, 10**9)  # one unit of the ledger, and what labels are rounded by
ROUNDED = Fraction(1, 2**200)  # more than the oracle's own enclosures


def true_losses(mechanism, size: int, values: int) -> list[Fraction | float]:
    """Each person's largest loss over all tables and all changes of their value, by enumeration."""
    z = {table: mechanism.coordinate(np.array(table)) for table in itertools.product(range(values), repeat=size)}
    found: list[Fraction | float] = [Fraction(0)] * size
    known: dict[tuple[float, float], Fraction | float] = {}
    for table, here in z.items():
        for person, value in itertools.product(range(size), range(values)):
            if value > table[person]:
                there = z[(*table[:person], value, *table[person + 1 :])]
                pair = min(here, there), max(here, there)
                known[pair] = known[pair] if pair in known else loss_between(*pair)
                found[person] = max(found[person], known[pair])
    return found


def random_epsilons(rng, size: int, with_infinite: bool):
    """Random ε for each person, some of them equal."""
    epsilon = np.where(rng.random(size) < 0.7, rng.choice(LEVELS, size), np.round(rng.exponential(0.7, size), 6))
    if with_infinite and rng.random() < 0.4:
        epsilon[rng.random(size) < 0.3] = np.inf
    return epsilon


def random_question(rng, size: int, groups):
    """A random question that has a formula, and the values of its people."""
    values = THREE if rng.random() < 0.5 else TWO
    group = "a" if rng.random() < 0.3 else None
    people = int((groups == "a").sum()) if group else size
    number = int(rng.integers(0, people + 2))
    weights = {"a": int(rng.integers(1, 5)), "b": int(rng.integers(-3, 4))}
    kinds = [
        Q.count("yes", number, group),
        ~Q.count("no", number, group),
        Q.majority(group=group),
        Q.share("yes", "2/3", group=group),
        Q.share("yes", "40%", of="respondents", group=group) if values is THREE else Q.share("yes", "40%", group=group),
        Q.versus("yes", "no", ties="no"),
        Q.weighted_sum(weights, int(rng.integers(-4, 8)), {"yes": 1, "no": -2} if values is THREE else {"yes": 1}),
        Q.all_of("a", "yes"),
    ]
    return kinds[int(rng.integers(len(kinds)))], values


def random_population(seed: int):
    """A random population and each person's ε as written."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    groups = rng.choice(["a", "b"], size)
    groups[:2] = "a", "b"
    question, values = random_question(rng, size, groups)
    epsilon = random_epsilons(rng, size, with_infinite=True)
    deciding = [None, None, 0.2, rng.choice([0.1, 0.5, 2.0, np.inf], size)][seed % 4]
    return hetdp.spaces.population(question, epsilon, values, groups, deciding), epsilon, deciding


def check_charges(seed: int, objective: Any) -> tuple[int, int]:
    """Checks a population on all tables; returns how many people were compared exactly and how many pay less."""
    people, epsilon, deciding = random_population(seed)
    mechanism = people.design(objective)
    true = true_losses(mechanism, people.size, len(people.values))
    plain = objective == "balanced" and people.is_count and deciding is None and np.isfinite(epsilon).all()
    exact = less = 0
    for loss, charged, allowed in zip(true, mechanism.loss_of_each().tolist(), epsilon.tolist(), strict=True):
        place = seed, people.question, float(loss), charged, allowed
        used = math.inf if math.isinf(charged) else Fraction(repr(charged))
        assert loss <= used + ROUNDED, place
        assert charged <= allowed + 1e-9, place
        if plain and allowed <= 4096:
            assert used <= loss + TINY, place
            exact += 1
        less += charged < allowed - 1e-6
    return exact, less


@pytest.mark.parametrize("objective", ["balanced", "weighted-vote"])
@pytest.mark.parametrize("block", range(2))
def test_nobody_is_charged_less_than_their_largest_loss(objective, block):
    found = [check_charges(seed, objective) for seed in range(block * 14, block * 14 + 14)]
    exact, less = (sum(column) for column in zip(*found, strict=True))
    assert less > 0
    assert objective != "balanced" or exact > 0


def test_people_are_charged_less_than_allowed_where_others_determine_the_mechanism():
    charged = []
    for open_ in (0.4, 1.0, 20.0, np.inf):
        epsilon = [0.1] * 10 + [0.4] * 19 + [open_] * 11
        charged.append(hetdp.spaces.population(Q.majority(), epsilon).design().loss_of_each()[-1])
    assert charged == [0.4] * 4


def test_with_weights_nobody_is_charged_too_little_where_a_label_rises_by_several_prices():
    for weights, threshold, epsilon, groups in (
        ({"a": 2, "b": 3}, 5, [6.0, 3.0, 1.0], "abb"),
        ({"a": 1, "b": 2}, 2, [2.0, 0.1], "ab"),
        ({"a": 1, "b": 2}, 2, [np.inf, 2.0, 2.0], "aba"),  # the others can always change the answer
    ):
        question = Q.weighted_sum(weights, at_least=threshold)
        mechanism = hetdp.spaces.population(question, epsilon, groups=list(groups)).design()
        for loss, charged in zip(true_losses(mechanism, len(groups), 2), mechanism.loss_of_each(), strict=True):
            assert math.isfinite(charged), (weights, epsilon)
            assert loss <= Fraction(repr(float(charged))) + ROUNDED, (weights, epsilon)


def test_a_deciding_epsilon_is_all_that_a_weighted_vote_costs():
    people = hetdp.spaces.population(Q.majority(), 1.0, size=9, deciding=0.25)
    assert set(people.design("weighted-vote").loss_of_each()) == {0.25}


@for_each("seed", range(8))
@for_each("objective", ["balanced", "weighted-vote"])
def test_the_largest_loss_of_a_group_is_that_of_its_people(seed, objective):
    rng, size = np.random.default_rng(seed), [5, 900, 70_000][seed % 3]
    epsilon, groups = random_epsilons(rng, size, True), rng.choice(["a", "b"], size)
    groups[:2] = "a", "b"
    mechanism = hetdp.spaces.population(Q.majority(), epsilon, groups=groups).design(objective)
    each = mechanism.loss_of_each()
    assert mechanism.losses_by_group() == [each[groups == group].max() for group in ("a", "b")]
    alone = hetdp.spaces.population(Q.majority(), epsilon).design(objective)
    assert alone.losses_by_group() == [alone.loss_of_each().max()]


def test_people_who_cannot_change_the_answer_pay_nothing():
    groups = ["a", "a", "a", "b"]
    only = hetdp.spaces.population(Q.count("yes", 2, "a"), 1.0, groups=groups, size=4)
    never = hetdp.spaces.population(Q.count("yes", 5), 1.0, size=4)
    for objective in ("balanced", "weighted-vote"):
        assert only.design(objective).loss_of_each()[-1] == 0.0
        assert never.design(objective).constant == 2
        assert not never.design(objective).loss_of_each().any()


def random_tallied(seed: int):
    """A small population that is answered by tallies: fair, or a question without a formula."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 5))
    groups = rng.choice(["a", "b"], size)
    groups[:2] = "a", "b"
    values = THREE if seed % 2 else TWO
    question = [
        Q.count("yes", int(rng.integers(1, size + 1))),
        Q.count("yes", 1, "a") & ~Q.count("yes", 1, "b"),
        Q.majority() | Q.all_of("b", "yes"),
    ][seed % 3]
    epsilon = random_epsilons(rng, size, with_infinite=True)
    deciding = [None, 0.2, rng.choice([0.1, 0.5, np.inf], size)][seed // 3 % 3]
    objective: Any = "fair" if seed % 3 == 0 else "balanced"
    return tally_people(question, epsilon, values, groups, deciding).design(objective), epsilon, size, len(values)


@pytest.mark.parametrize("block", range(3))
def test_tallies_cost_exactly_the_largest_loss_of_their_tables(block):
    for seed in range(block * 12, block * 12 + 12):
        mechanism, epsilon, size, values = random_tallied(seed)
        true = true_losses(mechanism, size, values)
        for loss, charged, allowed in zip(true, mechanism.loss_of_each().tolist(), epsilon.tolist(), strict=True):
            used = math.inf if math.isinf(charged) else Fraction(repr(charged))
            place = seed, float(loss), charged, allowed
            assert loss <= used + ROUNDED, place
            assert charged <= allowed + 1e-9, place
            assert math.isinf(charged) == math.isinf(loss), place
            assert math.isinf(charged) or charged > 1e4 or used <= loss + TINY, place


def test_nobody_is_charged_less_where_losses_lie_next_to_a_decimal():
    """The second and the third person can each lose 4095.9999990000014…, which is rounded up."""
    question = Q.ratio_of_shares("no", "a", "b", "4/5", of="respondents") | Q.count("no", 2)
    groups, deciding = np.array(["a", "b", "b"]), np.array([1e-6, 1e-6, 1e-12])
    mechanism = tally_people(question, np.full(3, 1e6), THREE, groups, deciding).design("fair")
    for loss, charged in zip(true_losses(mechanism, 3, 3), mechanism.loss_of_each().tolist(), strict=True):
        assert loss <= Fraction(repr(charged)) <= loss + TINY


def test_units_are_rounded_up_to_nine_decimals():
    rng = np.random.default_rng(3)
    units = np.concatenate([rng.integers(0, 1 << 53, 300), rng.integers(0, 1 << 30, 300), [0, 1, 1 << 40, 1 << 53]])
    for whole, decimal in zip(units.tolist(), round_units_up(units).tolist(), strict=True):
        billionths = -(-(whole * 10**9) >> 40)
        assert decimal == billionths / 10**9
    large = np.array([(1 << 53) + 1, 1 << 58, UNBOUNDED - 1, UNBOUNDED])
    found = round_units_up(large).tolist()
    assert found[3] == math.inf
    for whole, decimal in zip(large[:3].tolist(), found, strict=False):
        assert Fraction(whole, 1 << 40) < Fraction(decimal) < Fraction(whole, 1 << 40) * (1 + Fraction(1, 10**12))
