"""The ε that a wanted accuracy takes: enough at the worst of all tables, and the next smaller number is not."""

from __future__ import annotations

import itertools
import math
from decimal import ROUND_UP, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.mechanism.formatting import promise_in_runs
from hetdp.people.populations.scaling import multiply_units, number_at, place_below
from hetdp.people.privacy.epsilons import epsilon_to_units, shortest_decimal
from hetdp.people.products.tallied import tally_people
from hetdp.releases.record.summary import chance
from tests.loops import for_each
from tests.people.cubes import answers_of, coordinates_of, problem_of, tables_of

Q = hetdp.questions
TWO, THREE = ("yes", "no"), ("yes", "no", "blank")
LEVELS = ["0", "0.05", "0.3", "0.3", "1", "2.5", "inf"]
QUESTIONS = [
    (Q.majority(), TWO, 8),
    (Q.share("yes", "1/3"), TWO, 8),
    (~Q.count("yes", 5), TWO, 8),
    (Q.versus("yes", "no", ties="yes"), THREE, 5),
    (Q.share("yes", "60%", of="respondents", strict=True), THREE, 5),
    (Q.weighted_sum({"a": 2, "b": 1}, 6), TWO, 7),
]
each_question = pytest.mark.parametrize(("question", "values", "size"), QUESTIONS, ids=lambda one: str(one)[:20])


def random_people(question: Any, values: Any, size: int, seed: int, scale: str = "1") -> Any:
    """People with several ε, some of whom may have no protection, all of whose ε are multiplied."""
    rng = np.random.default_rng(seed)
    epsilon = rng.choice(LEVELS[seed % 2 : 7 - seed % 3], size)
    deciding = [None, ["0.2"] * size, rng.choice(["0.1", "0.7"], size)][seed % 3]
    groups = np.array(["a", "b"] * size)[:size] if question.groups_used() else None
    scaled = [
        None if column is None else [str(Decimal(one) * Decimal(scale)) for one in column]
        for column in (epsilon, deciding)
    ]
    return hetdp.spaces.population(question, scaled[0], values, groups, scaled[1])


def numbers_of(people: Any) -> list[int | None]:
    """The number of each table on the share scale; None where somebody is blank and that is assumed away."""
    scale = people.share_scale
    code, most = people.values.index(scale.value), people.scores.most[people.classes.group[people.classes.member]]
    barred = people.values.index("blank") if scale.assumption else -1
    found: list[int | None] = []
    for table in tables_of(people):
        reached = sum(weight for value, weight in zip(table, most.tolist(), strict=True) if value == code)
        found.append(None if barred in table else reached // max(scale.unit, 1))
    return found


def worst_by_number(people: Any, z: Any) -> dict[int, float]:
    """The largest probability of the wrong answer over all tables with each number."""
    worst: dict[int, float] = {}
    rows = zip(answers_of(people, tables_of(people)), numbers_of(people), z, strict=True)
    for answer, number, label in rows:
        if number is not None:
            signed = label if answer == 1 else -label
            wrong = 0.5 * math.exp(-signed) if signed > 0 else 1 - 0.5 * math.exp(signed)
            worst[number] = max(wrong, worst.get(number, 0.0))
    return worst


@each_question
@pytest.mark.parametrize("seed", range(3))
def test_the_accuracy_at_every_number_is_that_of_its_worst_table(question, values, size, seed):
    people = random_people(question, values, size, seed)
    searched = worst_by_number(people, hetdp.design(problem_of(people), "balanced").coordinates)
    mechanism = people.design()
    own = worst_by_number(people, coordinates_of(people, mechanism))
    assert sorted(own) == list(range(people.share_scale.of + 1))
    for number in own:
        error = mechanism.accuracy_at_number(number).error
        assert error >= own[number] - 1e-12
        if people.is_count:
            assert error == pytest.approx(searched[number], abs=1e-9)


@each_question
@pytest.mark.parametrize(("seed", "wanted"), [(0, "60%"), (1, "90%"), (2, "97.5%")])
def test_the_number_is_enough_at_every_table_and_the_next_smaller_one_is_not(question, values, size, seed, wanted):
    people, found = random_people(question, values, size, seed), 0
    allowed = float(1 - Fraction(wanted.removesuffix("%")) / 100)
    for number in range(0, people.share_scale.of + 1, 3):
        try:
            solved = hetdp.solve_epsilon(people, wanted, at=Fraction(number, people.share_scale.of))
        except hetdp.InputError:
            huge = random_people(question, values, size, seed, "1600")
            assert huge.design().accuracy_at_number(number).error > allowed
            continue
        own = worst_by_number(solved.problem, coordinates_of(solved.problem, solved.mechanism))
        assert own[number] <= allowed
        assert own[number] <= solved.error + 1e-12
        if solved.below is None:
            assert solved.multiple == 0
            continue
        found += 1
        less = random_people(question, values, size, seed, repr(solved.below))
        assert less.design().accuracy_at_number(number).error > allowed
        if people.is_count:
            assert worst_by_number(less, coordinates_of(less, less.design()))[number] > allowed
        again = random_people(question, values, size, seed, repr(solved.multiple))
        assert again.design().accuracy_at_number(number).error == solved.error
    assert found


@pytest.mark.parametrize("objective", ["balanced", "weighted-vote"])
def test_no_smaller_number_of_a_fine_grid_is_enough(objective):
    epsilon = [0.1] * 5 + [0.35] * 4 + [1.0] * 2
    made = hetdp.spaces.population(Q.majority(), epsilon).design(objective)
    share = {"balanced": "90%", "weighted-vote": "100%"}[objective]
    solved = hetdp.solve_epsilon(made, "75%", at=share)
    assert solved.below is not None
    assert solved.multiple == pytest.approx(solved.below + 10.0 ** (math.floor(math.log10(solved.multiple)) - 3))
    for part in np.linspace(0.001, 1, 400):
        multiplied = np.array(epsilon) * part * solved.below
        less = hetdp.spaces.population(Q.majority(), multiplied).design(objective)
        assert less.accuracy_at_share(share).accuracy < 0.75
    assert solved.mechanism.objective == objective
    assert solved.reached >= 0.75


def test_one_epsilon_for_all_is_a_decimal_to_type():
    for target, share in itertools.product(("80%", 0.99), ("51%", "70%", 0.2)):
        solved = hetdp.spaces.population(Q.majority(), 3, size=200).solve_epsilon(target, share)
        epsilon = solved.epsilon
        assert len(epsilon.as_tuple().digits) <= 4
        assert solved.multiple == float(Fraction(epsilon) / 3)
        step = Decimal(1).scaleb(epsilon.adjusted() - 3)
        wanted = 0.8 if target == "80%" else target
        for one, is_enough in ((epsilon, True), (epsilon - step, False)):
            made = hetdp.spaces.population(Q.majority(), one, size=200).design()
            assert (made.accuracy_at_share(share).accuracy >= wanted) is is_enough
    assert f"ε = {epsilon}" in str(solved)
    assert f"{hetdp.privacy.strength(epsilon)}" in str(solved)


def test_the_worst_case_is_where_one_person_decides():
    solved = hetdp.solve_epsilon(hetdp.spaces.population(Q.majority(), 0.2, size=101), 0.9)
    assert solved.epsilon == Decimal("2.198")  # log 9 = 2.1972…
    assert solved.mechanism.accuracy(1) >= 0.9
    joined = Q.count("yes", 2, "a") & Q.count("yes", 1, "b")
    people = hetdp.spaces.population(joined, [0.5] * 4 + [1.0] * 3, groups=list("aaaabbb"))
    solved = hetdp.solve_epsilon(people, 0.9)
    assert solved.mechanism.accuracy(1) >= 0.9
    with pytest.raises(hetdp.UsageError, match="accuracy by true share is known for counts"):
        people.solve_epsilon(0.9, "60%")


def test_where_one_person_decides_the_result_says_so():
    people = hetdp.spaces.population(Q.share("yes", "50%"), 1, size=600)
    decided = people.solve_epsilon("95%", "50%")
    assert decided.epsilon == people.solve_epsilon("95%").epsilon == Decimal("2.945")  # log 19 = 2.9444…
    assert "where 50% count as yes (300 of 600), so that 1 person decides, whoever they are" in str(decided)
    assert "1 person decides" not in str(people.solve_epsilon("95%", "51%"))
    close = people.solve_epsilon(f"99.{'9' * 160}%", "60%")
    assert 0 < close.error <= 1e-162


def test_the_smallest_epsilon_of_all_is_a_level():
    people = hetdp.spaces.population(Q.majority(), ["1e-12"] * 3 + ["1"] * 40)
    assert people.classes.units.tolist() == [1, 1 << 40]
    assert [one.people for one in people.solve_epsilon("90%", "90%").levels] == [3, 40]


def test_every_level_is_multiplied_exactly_and_what_is_zero_or_infinite_stays():
    people = hetdp.spaces.population(
        Q.majority(), ["0.3"] * 30 + ["0.7"] * 20 + ["inf"] * 2 + ["0"], deciding=["0.2"] * 40 + ["9"] * 13
    )
    solved = people.solve_epsilon("70%", "65%")
    factor = Decimal(repr(solved.multiple))
    assert [(one.before, one.people, one.deciding) for one in solved.levels] == [
        (Decimal("0.2"), 40, True),
        (Decimal("0.3"), 30, False),
        (Decimal("0.7"), 20, False),
        (Decimal("9"), 2, True),
    ]
    assert all(one.after == one.before * factor for one in solved.levels)
    assert solved.epsilon is None
    units = solved.problem.units
    assert units[0] == epsilon_to_units(Decimal("0.3") * factor)
    assert (units[50:52] == people.units[50:52]).all()
    assert units[52] == 0


@for_each(
    ("arguments", "message"),
    [
        ({"target": 1.0}, "more than 50%, which a coin has, and less than 100%"),
        ({"target": "50%"}, "more than 50%"),
        ({"target": f"99.{'9' * 320}%"}, "less than 100%"),
        ({"target": "many"}, "target='many'; the wanted accuracy is"),
        ({"at": "mean"}, "at='mean'; the accuracy is wanted at a true share"),
        ({"at": "150%"}, "at='150%'"),
        ({"at": "55"}, "at='55'; .*Hint: a percentage has a percent sign: 55%"),
        ({"at": "55,5%"}, "a number is written with a decimal point"),
        ({"target": 95}, "target=95; .*Hint: a percentage has a percent sign: 95%"),
        ({"target": "95,5%"}, "a number is written with a decimal point"),
        ({"objective": "average"}, "only target= and at= can be given"),
    ],
)
def test_a_target_or_place_that_is_not_offered_is_refused(arguments, message):
    people = hetdp.spaces.population(Q.majority(), 0.5, size=9)
    with pytest.raises(hetdp.UsageError, match=message):
        hetdp.solve_epsilon(people, **({"target": 0.9, "at": "80%"} | arguments))


def test_an_accuracy_out_of_reach_says_why():
    zeros = hetdp.spaces.population(Q.majority(), [0, 0, 0, 1, 1])
    with pytest.raises(
        hetdp.InputError, match=r"out of reach: 90%; where 80% count as yes .4 of 5.*3 people have, stays 0"
    ):
        zeros.solve_epsilon("90%", "80%")
    vote = hetdp.spaces.population(Q.majority(), [0.1] * 6 + [9.0] * 5).design("weighted-vote")
    with pytest.raises(hetdp.InputError, match="people with large ε may outvote the others"):
        vote.solve_epsilon("90%", "60%")
    apart = hetdp.spaces.population(Q.majority(), [1e-9] * 6 + [9.0] * 5)
    with pytest.raises(hetdp.InputError, match="if the largest ε is 4,096"):
        apart.solve_epsilon("90%", "60%")
    with pytest.raises(hetdp.UsageError, match=r"every table has the answer no, .* whatever the ε"):
        hetdp.spaces.population(Q.count("yes", 9), 0.5, size=5).solve_epsilon("90%", "60%")
    with pytest.raises(hetdp.UsageError, match="balanced needs is enough for fair"):
        tally_people(Q.majority(), [0.5] * 3).design("fair").solve_epsilon("90%", "60%")
    with pytest.raises(hetdp.UsageError, match="no threshold of a sum"):
        tally_people(Q.count("yes", 1) & Q.majority(), [0.5] * 3).design("fair").solve_epsilon("90%", "60%")


def test_the_design_fair_is_never_less_accurate_with_the_epsilon_that_balanced_needs():
    for seed in range(4):
        epsilon = np.random.default_rng(seed).choice([0.1, 0.4, 1.0], 9)
        solved = hetdp.spaces.population(Q.majority(), epsilon).solve_epsilon("80%", "75%")
        fair = tally_people(Q.majority(), epsilon * solved.multiple).design("fair")
        assert fair.accuracy_at_share("75%").accuracy >= 0.8 - 1e-11


def test_nothing_is_needed_where_unprotected_people_decide_alone():
    people = hetdp.spaces.population(Q.majority(), [1.0, 0.1, math.inf, math.inf, math.inf])
    solved = people.solve_epsilon("90%", 1)
    assert (solved.multiple, solved.below, solved.error) == (0.0, None, 0.0)
    assert "no ε above 0" in str(solved)
    assert "no other ε" in str(hetdp.spaces.population(Q.majority(), math.inf, size=3).solve_epsilon("90%", 1))


def test_very_many_different_epsilons_are_multiplied_as_few_are():
    epsilon = np.random.default_rng(3).exponential(0.5, 12_000) + 0.001
    solved = hetdp.spaces.population(Q.majority(), epsilon).solve_epsilon("95%", "51%")
    for factor, is_enough in ((solved.multiple, True), (solved.below, False)):
        made = hetdp.spaces.population(Q.majority(), epsilon * factor).design()
        assert (made.accuracy_at_share("51%").accuracy >= 0.95 - 1e-9) is is_enough
    assert len(solved.levels) == 2
    assert "and others with an ε between these" in str(solved)


def test_units_are_multiplied_without_overflow():
    rng = np.random.default_rng(1)
    units = np.concatenate([rng.integers(0, 2**52, 300), rng.integers(0, 2**41, 300), [0, 1, 2**52 - 1, 2**52]])
    for place in range(-9000 * 13, 9000 * 15, 2777):
        factor = number_at(place)
        exact = Fraction(factor)
        expected = [min(one * exact.numerator // exact.denominator, 2**52) for one in units.tolist()]
        assert multiply_units(units, factor).tolist() == expected


def test_numbers_of_four_digits_are_listed_in_order():
    for place in (*range(-9003, -8997), *range(-3, 3), *range(8997, 9003)):
        assert number_at(place) < number_at(place + 1)
        assert place_below(Fraction(number_at(place))) == place
        assert place_below(Fraction(number_at(place + 1)) - Fraction(1, 10**9)) == place


def test_an_epsilon_is_shown_as_it_was_written():
    for written in ("0.1", "0.30000000001", "2", "4096", "1e-9", "12.5", "0.000001"):
        assert shortest_decimal(epsilon_to_units(written)) == Decimal(written)
    rng = np.random.default_rng(2)
    for units in rng.integers(1, 2**44, 50).tolist():
        assert epsilon_to_units(shortest_decimal(units)) == units


def test_the_decimal_context_of_the_caller_changes_no_number():
    """Two digits, rounded up, would make 0.13 of an ε of 0.1234567 and certainty of an accuracy of 0.999."""
    people = hetdp.spaces.population(Q.majority(), ["0.1234567"] * 30 + ["0.7654321"] * 20)
    found, chances = hetdp.solve_epsilon(people, 0.9, at="60%"), (chance("1 − 1e-9"), promise_in_runs("0.99912"))
    with localcontext(Context(prec=2, rounding=ROUND_UP)):
        assert shortest_decimal(epsilon_to_units("0.1234567")) == Decimal("0.1234567")
        assert multiply_units(np.array([2**40]), Decimal("0.1234")).tolist() == [2**40 * 1234 // 10_000]
        assert hetdp.solve_epsilon(people, 0.9, at="60%").levels == found.levels
        assert (chance("1 − 1e-9"), promise_in_runs("0.99912")) == chances
