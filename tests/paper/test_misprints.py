"""The misprints of the paper: as printed each of these fails on a small example, as corrected it holds.

docs/paper-map.md lists them with their numbers.
"""

from __future__ import annotations

import math

import pytest

import hetdp
from tests.oracle import linear, literal
from tests.oracle.paths import along
from tests.oracle.random_problems import SmallProblem, compatible_problems, incompatible_problems, random_paths
from tests.paper.library import extension_of, induced_bounds_of, largest_difference, problem_of

ONE_FREE_DATASET = SmallProblem((("s", "v", 0.5),), {"s": 2, "v": 2}, {"s": 0.2})


# 1. Algorithm 2, the line for T(v) = 2 lacks "1 −" ------------------------------------------------------------------


def test_misprint_1_as_printed_the_line_for_answer_2_breaks_privacy_on_one_edge():
    printed = literal.algorithm_2(ONE_FREE_DATASET, as_printed=True)
    assert printed["v"] == pytest.approx(0.8786938680574733)  # 1 − 0.2/e^0.5, next to p(s) = 0.2
    assert literal.worst_violation(ONE_FREE_DATASET, printed) > 0.5


def test_misprint_1_corrected_the_same_edge_is_private_and_optimal():
    corrected = extension_of(ONE_FREE_DATASET)
    assert corrected["v"] == pytest.approx(0.2 * math.exp(-0.5))
    assert literal.worst_violation(ONE_FREE_DATASET, corrected) < 1e-12
    assert largest_difference(corrected, linear.optimum(ONE_FREE_DATASET)) < 1e-9


def test_misprint_1_as_printed_many_random_problems_are_not_private_and_corrected_none():
    problems = list(compatible_problems(seed=301, count=150))
    broken = [literal.worst_violation(s, literal.algorithm_2(s, as_printed=True)) > 1e-9 for s in problems]
    assert sum(broken) > 20
    assert not any(literal.worst_violation(s, extension_of(s)) > 1e-9 for s in problems)


# 2. "Compatible" takes the bound at u instead of v ------------------------------------------------------------------


def test_misprint_2_as_printed_a_private_mechanism_is_called_incompatible():
    pins = SmallProblem((("u", "v", 1.0),), {"u": 2, "v": 1}, {"u": 0.3, "v": 0.6})
    assert literal.worst_violation(pins, pins.pins) < 0
    assert not literal.compatible(pins, as_printed=True)  # 0.6 ≤ U(u) = 0.3 fails
    assert literal.compatible(pins)
    assert hetdp.check(problem_of(pins), pins.pins).compatible


def test_misprint_2_as_printed_only_equal_pins_are_ever_compatible():
    for small in compatible_problems(seed=302, count=100):
        assert literal.compatible(small, as_printed=True) == (len({round(p, 9) for p in small.pins.values()}) <= 1)
        assert literal.compatible(small)


def test_misprint_2_one_of_the_two_directions_alone_is_not_enough():
    pins = SmallProblem((("u", "v", 1.0),), {"u": 1, "v": 2}, {"u": 0.1, "v": 0.9})
    assert pins.pins["u"] <= along(pins.pins["v"], [1.0])
    assert pins.pins["v"] > along(pins.pins["u"], [1.0])
    assert not hetdp.check(problem_of(pins), pins.pins).compatible


# 3. The path theorem: τ from 0, n if none qualifies, α = 0 ----------------------------------------------------------


def test_misprint_3_as_printed_a_path_of_one_edge_exceeds_one():
    assert literal.path_as_printed(0.5, [1.0])[1] == pytest.approx(1.3591409142295225)
    assert hetdp.path_mechanism(0.5, [1.0])[1] == pytest.approx(0.8160602794142788)


def test_misprint_3_as_printed_the_first_turn_comes_one_edge_too_late():
    printed, corrected = literal.path_as_printed(0.4, [1.0, 1.0]), hetdp.path_mechanism(0.4, [1.0, 1.0])
    assert printed[1] == pytest.approx(1.0873127313836181)
    assert corrected[1] == pytest.approx(along(0.4, [1.0])) == pytest.approx(0.7792723352971347)


def test_misprint_3_as_printed_most_random_paths_are_wrong_and_corrected_none():
    wrong = beyond_one = 0
    for alpha, epsilons in random_paths(seed=303, count=500):
        exact = [along(alpha, epsilons[:i]) for i in range(len(epsilons) + 1)]
        printed = literal.path_as_printed(alpha, epsilons)
        wrong += printed != pytest.approx(exact, abs=1e-9)
        beyond_one += max(printed) > 1 + 1e-9
        assert hetdp.path_mechanism(alpha, epsilons).tolist() == pytest.approx(exact, abs=1e-12)
    assert wrong > 150
    assert beyond_one > 100


def test_misprint_3_as_printed_alpha_zero_divides_by_zero_and_corrected_it_stays_zero():
    with pytest.raises(ZeroDivisionError):
        literal.path_as_printed(0.0, [1.0, 1.0])
    assert hetdp.path_mechanism(0.0, [1.0, 1.0]).tolist() == [0.0, 0.0, 0.0]


def test_misprint_3_where_no_index_qualifies_the_turn_is_the_end_of_the_path():
    alpha, epsilons = 0.001, [0.5, 0.5]
    assert all(1 / alpha > math.exp(sum(epsilons[:i])) * (math.exp(epsilons[i]) + 1) for i in range(2))
    assert hetdp.path_mechanism(alpha, epsilons)[-1] == pytest.approx(alpha * math.e)


# 4. The corollary: sign of an exponent, τ ≥ 0 -----------------------------------------------------------------------


def test_misprint_4_as_printed_the_corollary_gives_a_negative_probability():
    printed = literal.corollary(0.25, 1.0, 3, as_printed=True)
    assert min(printed) < 0
    assert literal.corollary(0.25, 1.0, 3) == pytest.approx(hetdp.path_mechanism(0.25, [1.0] * 3).tolist())


def test_misprint_4_a_negative_turn_puts_the_head_itself_in_the_wrong_regime():
    alpha, epsilon = 0.9, 1.0
    turn = math.ceil(math.log(1 / (alpha * (1 + math.exp(epsilon)))) / epsilon)
    assert turn == -1
    assert literal.corollary(alpha, epsilon, 2, as_printed=True)[0] != pytest.approx(alpha)
    assert literal.corollary(alpha, epsilon, 2)[0] == pytest.approx(alpha)


# 5. Optimal among all; Algorithm 1 on disconnected graphs; the cap at 1 ---------------------------------------------


def test_misprint_5_among_all_private_mechanisms_none_is_best_where_both_answers_occur():
    edge = SmallProblem((("u", "v", 1.0),), {"u": 1, "v": 2})
    always_1, always_2 = {"u": 1.0, "v": 1.0}, {"u": 0.0, "v": 0.0}
    assert literal.worst_violation(edge, always_1) <= 0
    assert literal.worst_violation(edge, always_2) <= 0
    as_good_as_both = {"u": 1.0, "v": 0.0}  # what "better than every other" would ask for
    assert literal.worst_violation(edge, as_good_as_both) > 0


def test_misprint_5_as_printed_algorithm_1_has_nothing_to_choose_from_on_a_disconnected_graph():
    two_islands = SmallProblem((("a", "b", 1.0),), dict.fromkeys("abc", 1))
    with pytest.raises(ValueError, match="empty"):
        literal.algorithm_1(two_islands, "a", 0.3, as_printed=True)
    assert literal.algorithm_1(two_islands, "a", 0.3)["c"] == 1.0
    assert induced_bounds_of(two_islands, "a", 0.3)["c"] == 1.0


def test_misprint_5_the_cap_at_one_is_never_needed():
    for alpha, epsilons in random_paths(seed=305, count=300):
        assert along(alpha, epsilons) <= 1.0
        assert max(hetdp.path_mechanism(alpha, epsilons)) <= 1.0


# Beyond the five: two smaller slips -----------------------------------------------------------------------------------


def test_the_condition_of_lemma_3_is_not_necessary_where_epsilon_is_zero():
    x = 0.75
    assert min(math.exp(0) * x, (x - 1 + math.exp(0)) / math.exp(0)) == x
    assert not x <= 1 / (math.exp(0) + 1)


def test_bounds_do_not_grow_strictly_along_a_path_so_smaller_in_lemma_2_means_not_larger():
    assert along(0.3, [0.0]) == 0.3
    assert along(0.0, [1.0]) == 0.0


def test_corrected_compatibility_is_exactly_the_existence_of_an_extension():
    problems = [*compatible_problems(seed=306, count=60), *incompatible_problems(seed=307, count=60)]
    for small, move in zip(problems, linear.distances(problems), strict=True):
        assert literal.compatible(small) == (move < 1e-9)
