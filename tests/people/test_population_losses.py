"""What people are charged: never below the largest loss of any table, never above ε, and tight where claimed."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.people.products.tallied import tally_people
from tests.oracle.losses import loss_between

Q = hetdp.questions
TWO, THREE = ("yes", "no"), ("yes", "no", "blank")
LEVELS = [0.0, 0.1, 0.3, 0.4, 0.5, 1.0, 2.5, 20.0, 5000.0]
TINY = Fraction(2, 10**9)  # one unit of the ledger, and what labels are rounded by
ROUNDED = Fraction(1, 2**200)  # more than the oracle's own enclosures


def true_losses(mechanism, size: int, values: int) -> list[Fraction | float]:
    """For each person the largest loss over all tables and all changes of their value, by going through them."""
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


def drawn(rng, size: int, with_infinite: bool):
    """Everybody's ε, some alike."""
    epsilon = np.where(rng.random(size) < 0.7, rng.choice(LEVELS, size), np.round(rng.exponential(0.7, size), 6))
    if with_infinite and rng.random() < 0.4:
        epsilon[rng.random(size) < 0.3] = np.inf
    return epsilon


def asked(rng, size: int, groups):
    """A question of any kind that has a formula, and the values of its people."""
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


def population_of(seed: int):
    """A random population, and everybody's ε as written."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    groups = rng.choice(["a", "b"], size)
    groups[:2] = "a", "b"
    question, values = asked(rng, size, groups)
    epsilon = drawn(rng, size, with_infinite=True)
    deciding = [None, None, 0.2, rng.choice([0.1, 0.5, 2.0, np.inf], size)][seed % 4]
    return hetdp.spaces.population(question, epsilon, values, groups, deciding), epsilon, deciding


def require_charged(seed: int, objective: Any) -> tuple[int, int]:
    """Holds one population against all its tables; how many people were compared exactly, and how many pay less."""
    people, epsilon, deciding = population_of(seed)
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
def test_nobody_is_charged_less_than_any_table_can_reveal(objective, block):
    found = [require_charged(seed, objective) for seed in range(block * 14, block * 14 + 14)]
    exact, less = (sum(column) for column in zip(*found, strict=True))
    assert less > 0
    assert objective != "balanced" or exact > 0


def test_where_others_decide_the_mechanism_less_is_charged_than_was_allowed():
    charged = []
    for open_ in (0.4, 1.0, 20.0, np.inf):
        epsilon = [0.1] * 10 + [0.4] * 19 + [open_] * 11
        charged.append(hetdp.spaces.population(Q.majority(), epsilon).design().loss_of_each()[-1])
    assert charged == [0.4] * 4


def test_a_deciding_epsilon_is_all_that_a_weighted_vote_costs():
    people = hetdp.spaces.population(Q.majority(), 1.0, size=9, deciding=0.25)
    assert set(people.design("weighted-vote").loss_of_each()) == {0.25}


def test_who_does_not_count_and_who_is_asked_for_nothing_pay_nothing():
    groups = ["a", "a", "a", "b"]
    only = hetdp.spaces.population(Q.count("yes", 2, "a"), 1.0, groups=groups, size=4)
    never = hetdp.spaces.population(Q.count("yes", 5), 1.0, size=4)
    for objective in ("balanced", "weighted-vote"):
        assert only.design(objective).loss_of_each()[-1] == 0.0
        assert never.design(objective).constant == 2
        assert not never.design(objective).loss_of_each().any()


def tallied_of(seed: int):
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
    epsilon = drawn(rng, size, with_infinite=True)
    deciding = [None, 0.2, rng.choice([0.1, 0.5, np.inf], size)][seed // 3 % 3]
    objective: Any = "fair" if seed % 3 == 0 else "balanced"
    return tally_people(question, epsilon, values, groups, deciding).design(objective), epsilon, size, len(values)


@pytest.mark.parametrize("block", range(3))
def test_tallies_cost_exactly_what_their_tables_can_reveal(block):
    for seed in range(block * 12, block * 12 + 12):
        mechanism, epsilon, size, values = tallied_of(seed)
        true = true_losses(mechanism, size, values)
        for loss, charged, allowed in zip(true, mechanism.loss_of_each().tolist(), epsilon.tolist(), strict=True):
            used = math.inf if math.isinf(charged) else Fraction(repr(charged))
            place = seed, float(loss), charged, allowed
            assert loss <= used + ROUNDED, place
            assert charged <= allowed + 1e-9, place
            assert math.isinf(charged) == math.isinf(loss), place
            assert math.isinf(charged) or charged > 1e4 or used <= loss + TINY, place


def test_of_several_kinds_whose_loss_lies_next_to_a_decimal_nobody_is_charged_less():
    """The second and the third person can each lose 4095.9999990000014…, which is rounded up."""
    question = Q.ratio_of_shares("no", "a", "b", "4/5", of="respondents") | Q.count("no", 2)
    groups, deciding = np.array(["a", "b", "b"]), np.array([1e-6, 1e-6, 1e-12])
    mechanism = tally_people(question, np.full(3, 1e6), THREE, groups, deciding).design("fair")
    for loss, charged in zip(true_losses(mechanism, 3, 3), mechanism.loss_of_each().tolist(), strict=True):
        assert loss <= Fraction(repr(charged)) <= loss + TINY
