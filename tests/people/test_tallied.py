"""People folded into tallies: the same mechanism as on all their votes, and what is promised about it is exact."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.people.privacy.situations import margins_of
from hetdp.people.products.tallied import TalliedPeople, tally_people
from hetdp.problem.axis import Axis

q: Any = hetdp.questions
YES, NO, BLANK = 0, 1, 2
GRID = 8 * 2.0**-40  # everybody's ε is rounded down to a multiple of 2⁻⁴⁰, at each step
EPSILON = st.sampled_from([0.1, 0.25, 1.0, float("inf")])
QUESTIONS = [
    q.majority(),
    q.count("yes", 2),
    q.count("yes", 0),
    q.ratio_of_shares("yes", "a", "b"),
    q.count("yes", 2) & q.all_of("a"),
    q.count("yes", 4) | ~q.share("yes", "30%", group="b"),
]


def as_votes(people: TalliedPeople, epsilon: list[float], deciding: list[float], groups: list[str]) -> hetdp.Problem:
    """The same problem with an axis for each person: the slow way."""
    names = [str(at) for at in range(len(epsilon))]

    def holds(counts: Any) -> Any:
        merged = {
            group: {
                value: sum(counts[name][value] for name, one in zip(names, groups, strict=True) if one == group)
                for value in people.values
            }
            for group in sorted(set(groups))
        }
        return people.question.holds(merged, {group: groups.count(group) for group in merged})

    rules = hetdp.privacy.rules(
        dict(zip(names, epsilon, strict=True)), deciding=dict(zip(names, deciding, strict=True))
    )
    return hetdp.spaces.votes(names, q.function(holds, "the same"), rules, people.values)


def margins_by_hand(answers: dict[tuple, int]) -> dict[tuple, int]:
    """How many people differ from the nearest table of the other answer."""
    far = {}
    for table, answer in answers.items():
        others = [other for other in answers if answers[other] != answer]
        far[table] = min((sum(x != y for x, y in zip(table, other, strict=True)) for other in others), default=0)
    return far


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(EPSILON, EPSILON, st.sampled_from("ab")), min_size=3, max_size=5),
    st.sampled_from(QUESTIONS),
    st.sampled_from(["fair", "balanced"]),
)
def test_tallies_answer_and_promise_what_votes_do(people, question, objective):
    people = [(0.5, 0.2, "a"), (0.5, 0.2, "b"), *people]
    epsilon, deciding, groups = (list(column) for column in zip(*people, strict=True))
    found = tally_people(question, np.array(epsilon), ("yes", "no"), np.array(groups), np.array(deciding))
    mechanism = found.design(objective)
    problem = as_votes(found, epsilon, deciding, groups)
    slow = hetdp.design(problem, objective)
    tables = list(product((YES, NO), repeat=len(people)))
    z = {table: slow.coordinates[at] for at, table in enumerate(tables)}
    assert {table: mechanism.coordinate(list(table)) for table in tables} == pytest.approx(z, abs=GRID)
    p = dict(zip(tables, slow.probabilities.tolist(), strict=True))
    answers = dict(zip(tables, problem.answers.tolist(), strict=True))
    margins = margins_by_hand(answers)
    for row in mechanism.accuracy_by_margin():
        errors = [slow.errors[at] for at, table in enumerate(tables) if margins[table] == row.margin]
        assert row.error == pytest.approx(max(errors), abs=GRID)
    assert len(mechanism.accuracy_by_margin()) >= (max(margins.values()) > 0)
    for group, odds in mechanism.odds().by_class.items():
        mine = [at for at, one in enumerate(groups) if one == group]
        bounded = [at for at in mine if epsilon[at] < np.inf]
        only = [at for at in mine if epsilon[at] == np.inf and deciding[at] < np.inf]
        assert (odds.people, odds.unprotected) == (len(mine), len(mine) - len(bounded) - len(only))
        assert (odds.deciding is not None) == bool(only)
        for part, whose in ((odds, bounded), (odds.deciding, only)):
            if not whose:
                continue
            apart = [0.0]
            for table in tables:
                for at in whose:
                    other = (*table[:at], 1 - table[at], *table[at + 1 :])
                    if whose is bounded or answers[table] != answers[other]:
                        apart.append(abs(p[table] - p[other]))
            assert part.high - part.low == pytest.approx(max(apart), abs=1e-9)
            assert part.loss <= part.epsilon


@pytest.mark.parametrize("values", [2, 3])
def test_margins_are_numbers_of_people(values):
    names = ["yes", "no", "blank"][:values]
    axes = [
        Axis.tally("a", 5, 1, names) if values == 2 else Axis.group("a", 5, names, 1),
        Axis.person("b", names, 1),
        Axis.tally("c", 2, 1, names) if values == 2 else Axis.group("c", 2, names, 1),
    ]
    tables = list(product(*([range(axis.length) for axis in axes])))
    random = np.random.default_rng(3).choice(np.array([1, 2], dtype=np.int8), size=len(tables))
    moves = [axis.moves() for axis in axes]

    def neighbours(table: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [
            (*table[:at], int(to), *table[at + 1 :])
            for at, one in enumerate(moves)
            for to in one.targets[one.indptr[table[at]] : one.indptr[table[at] + 1]]
        ]

    beside = {table: neighbours(table) for table in tables}
    lonely = [np.where(np.arange(len(tables)) == at, 1, 2).astype(np.int8) for at in (0, 9, len(tables) - 1)]
    for answers in (random, *lonely):  # one table with an answer of its own is many steps from others
        answer_of = dict(zip(tables, answers.tolist(), strict=True))
        expected = dict.fromkeys(tables, 0)
        for answer in (1, 2):
            reached, steps = {table for table in tables if answer_of[table] == answer}, 0
            while len(reached) < len(tables):
                steps += 1
                news = {other for one in reached for other in beside[one]} - reached
                expected |= dict.fromkeys(news, steps)
                reached |= news
        assert margins_of(axes, answers).tolist() == [*expected.values()]


def test_people_with_equal_epsilon_are_counted_together():
    people = tally_people(q.majority(), [0.5] * 50 + [1.0] * 50, groups=["a", "b"] * 50)
    assert people.size == 51 * 51  # groups make no more of them, unless the question names some
    named = tally_people(q.ratio_of_shares("yes", "a", "b"), [0.5] * 50 + [1.0] * 50, groups=["a", "b"] * 50)
    assert named.size == 26**4


def test_blank_is_an_ordinary_value():
    question = q.share("yes", "50%", of="respondents")
    values = ("yes", "no", "blank")
    mechanism = tally_people(question, [0.3, 0.3, 1.0, 1.0], values).design("fair")
    problem = hetdp.spaces.votes(4, question, {"1": 0.3, "2": 0.3, "3": 1.0, "4": 1.0}, values)
    slow = hetdp.design(problem)
    for at, table in enumerate(product((YES, NO, BLANK), repeat=4)):
        assert mechanism.coordinate(list(table)) == pytest.approx(slow.coordinates[at], abs=GRID)


def test_too_many_tallies_are_refused_before_they_are_made():
    with pytest.raises(hetdp.UsageError) as refusal:
        tally_people(q.majority(), np.linspace(0.1, 1, 40)).design("fair")
    assert "40 people of 40 kinds, by their ε and what is asked, make 1,099,511,627,776 tallies" in str(refusal.value)
    assert "at most 838,860 here" in str(refusal.value)
    assert "design='balanced' and design='weighted-vote' need none" in str(refusal.value)
    with pytest.raises(hetdp.UsageError, match=r"about 10\^30 tallies.*by= asks each area by itself"):
        tally_people(q.count("yes", 3) & q.count("no", 3), np.linspace(0.1, 1, 100)).design("balanced")
    with pytest.raises(hetdp.UsageError, match=r"2,000,001 tallies.*1,048,576 from people of one kind"):
        tally_people(q.majority(), np.full(2_000_000, 0.5)).design("fair")


def test_the_digest_is_of_every_value():
    def digest(question: Any, epsilon: list[float], objective: Any = "fair") -> str:
        return tally_people(question, epsilon).design(objective).digest

    first = digest(q.majority(), [0.1, 0.5, 0.5])
    assert first == digest(q.majority(), [0.5, 0.1, 0.5])  # the order of people is no part of it
    others = [
        digest(q.count("yes", 1), [0.1, 0.5, 0.5]),
        digest(q.majority(), [0.1, 0.5, 0.6]),
        digest(q.majority(), [0.1, 0.5, 0.5], "balanced"),
    ]
    assert len({first, *others}) == 4


def test_groups_that_a_question_treats_alike_are_counted_together():
    """The question names them or not; a merged group has the people of all of them."""
    groups = ["a", "b", "c", "d"] * 3
    asked = q.count("yes", 5, ["a", "b"]) & q.count("yes", 2)
    people = tally_people(asked, [0.5] * 12, groups=groups)
    assert people.classes.names == ("a", "c")
    assert people.size == 7**2
    assert [name for name, _ in people.people] == ["a", "b", "c", "d"]
    mechanism = people.design("balanced")
    for yes in range(13):
        table = [YES if at < yes else NO for at in range(12)]
        holds = sum(1 for at in range(yes) if groups[at] in "ab") >= 5 and yes >= 2
        assert (mechanism.coordinate(table) > 0) == holds
    few = tally_people(q.ratio_of_shares("yes", "a", "b"), [0.5] * 12, groups=groups)
    assert few.classes.names == ("a", "b", "c")
