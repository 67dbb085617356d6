"""Every kind of question, evaluated on all tables of small groups, agrees with its definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from hetdp import UsageError, questions
from hetdp.people.questions.question import width_for
from tests.loops import for_each
from tests.people.questions_to_ask import LINEAR, NESTED, SIZES, VALUES, as_arrays, tables

TABLES = tables()
COUNTS = as_arrays(TABLES)


def number(table, value: str, groups=("A", "B")) -> int:
    return sum(table[group][value] for group in groups)


def people(groups=("A", "B")) -> int:
    return sum(SIZES[group] for group in groups)


def rate(table, group: str, of: str):
    asked = SIZES[group] - (table[group]["blank"] if of == "respondents" else 0)
    return Fraction(table[group]["yes"], asked) if asked else None


def four_fifths(table, of: str) -> bool:
    a, b = rate(table, "A", of), rate(table, "B", of)
    return a is None or b is None or a >= Fraction(4, 5) * b


def half_of_respondents(table, is_strict: bool) -> bool:
    asked = people() - number(table, "blank")
    if not asked:
        return not is_strict
    share = Fraction(number(table, "yes"), asked)
    return share > Fraction(1, 2) if is_strict else share >= Fraction(1, 2)


MEANINGS = [
    (questions.count("yes", at_least=3), lambda t: number(t, "yes") >= 3),
    (questions.count("yes", at_least=0), lambda t: True),
    (questions.count("blank", 2, group="B"), lambda t: t["B"]["blank"] >= 2),
    (questions.share("yes", "40%"), lambda t: Fraction(number(t, "yes"), 5) >= Fraction(2, 5)),
    (questions.share("yes", 0.4, strict=True), lambda t: Fraction(number(t, "yes"), 5) > Fraction(2, 5)),
    (questions.share("no", "1/3", group="A"), lambda t: Fraction(t["A"]["no"], 3) >= Fraction(1, 3)),
    (questions.share("yes", 0.5, of="respondents"), lambda t: half_of_respondents(t, is_strict=False)),
    (questions.majority(of="respondents"), lambda t: half_of_respondents(t, is_strict=True)),
    (questions.majority(), lambda t: 2 * number(t, "yes") > 5),
    (questions.majority("no", group="B"), lambda t: t["B"]["no"] > 1),
    (questions.versus("yes", "no"), lambda t: number(t, "yes") > number(t, "no")),
    (questions.versus("yes", "no", ties="yes"), lambda t: number(t, "yes") >= number(t, "no")),
    (
        questions.weighted_sum({"A": 0.1, "B": "1/3"}, 0.3, scores={"yes": 1, "no": -1}),
        lambda t: (
            Fraction(t["A"]["yes"] - t["A"]["no"], 10) + Fraction(t["B"]["yes"] - t["B"]["no"], 3) >= Fraction(3, 10)
        ),
    ),
    (questions.weighted_sum({"A": 2}, at_least=4), lambda t: 2 * t["A"]["yes"] >= 4),
    (questions.all_of("A"), lambda t: t["A"]["yes"] == 3),
    (questions.all_of(["A", "B"], "no"), lambda t: number(t, "no") == 5),
    (questions.ratio_of_shares("yes", "A", "B"), lambda t: four_fifths(t, "all")),
    (questions.ratio_of_shares("yes", "A", "B", of="respondents"), lambda t: four_fifths(t, "respondents")),
    (
        questions.ratio_of_shares("yes", "A", "B", at_least=1, strict=True),
        lambda t: rate(t, "A", "all") > rate(t, "B", "all"),
    ),
    (questions.count("yes", 3) & questions.all_of("B"), lambda t: number(t, "yes") >= 3 and t["B"]["yes"] == 2),
    (questions.count("yes", 3) | questions.all_of("B"), lambda t: number(t, "yes") >= 3 or t["B"]["yes"] == 2),
    (~questions.count("yes", 3), lambda t: number(t, "yes") < 3),
]
WORDS = [str(question)[:60] for question, _ in MEANINGS]


@for_each(("question", "meant"), MEANINGS)
def test_a_question_holds_where_its_definition_says_so(question, meant):
    answers = np.broadcast_to(question.holds(COUNTS, SIZES), len(TABLES))
    assert answers.dtype == np.bool_
    assert answers.tolist() == [bool(meant(table)) for table in TABLES]


@for_each("question", [question for question, _ in MEANINGS])
def test_one_table_at_a_time_gives_the_same(question):
    answers = np.broadcast_to(question.holds(COUNTS, SIZES), len(TABLES))
    assert [bool(question.holds(table, SIZES)) for table in TABLES] == answers.tolist()


def test_votes_and_tallies_of_any_shape_fit_together():
    question = questions.majority() & questions.all_of("c")
    votes = {
        name: {"yes": np.array([0, 1]).reshape(shape), "no": np.array([1, 0]).reshape(shape)}
        for name, shape in {"a": (2, 1, 1), "b": (1, 2, 1), "c": (1, 1, 2)}.items()
    }
    answers = question.holds(votes, {"a": 1, "b": 1, "c": 1})
    assert answers.shape == (2, 2, 2)
    assert np.argwhere(answers).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 1]]


@given(NESTED)
@settings(max_examples=80, deadline=None)
def test_not_inverts_every_answer(question):
    answers = question.holds(COUNTS, SIZES)
    assert np.array_equal((~question).holds(COUNTS, SIZES), ~answers)
    assert ~~question == question


@given(NESTED, NESTED)
@settings(max_examples=40, deadline=None)
def test_and_and_or_join_the_answers(a, b):
    first, second = a.holds(COUNTS, SIZES), b.holds(COUNTS, SIZES)
    assert np.array_equal((a & b).holds(COUNTS, SIZES), first & second)
    assert np.array_equal((a | b).holds(COUNTS, SIZES), first | second)


@given(LINEAR)
@settings(max_examples=120, deadline=None)
def test_the_sum_of_scores_reaches_its_threshold_where_the_question_holds(question):
    form = question.linear()
    scores = {(group, value): form.score(group, value) for group in SIZES for value in VALUES}
    assert {type(score) for score in [*scores.values(), form.at_least]} == {int}
    sums = [sum(score * table[group][value] for (group, value), score in scores.items()) for table in TABLES]
    answers = np.broadcast_to(question.holds(COUNTS, SIZES), len(TABLES))
    assert [total >= form.at_least for total in sums] == answers.tolist()


@pytest.mark.parametrize(
    "question",
    [
        questions.ratio_of_shares("yes", "A", "B"),
        questions.count("yes", 1) & questions.count("no", 1),
        questions.count("yes", 1) | questions.count("no", 1),
        questions.function(lambda counts: np.array(True), "always"),
    ],
    ids=str,
)
def test_questions_that_are_not_sums_have_no_linear_form(question):
    assert question.linear() is None
    assert (~question).linear() is None


def test_a_question_names_its_groups_and_values():
    question = questions.count("ill", 3, group="Pupils") | ~questions.share("tired", 0.1, of="respondents")
    assert question.groups_used() == {"Pupils"}
    assert question.values_used() == {"ill", "tired", "blank"}
    assert questions.versus("a", "b").groups_used() == frozenset()
    assert questions.weighted_sum({"A": 1}, 1, {"x": 1}).groups_used() == {"A"}


@for_each("size", [10, 10**4, 10**9, 10**18, 2**62, 10**30])
def test_numbers_of_any_size_are_compared_exactly(size):
    """Sums and products that would overflow, or that a float would round, are neither."""
    groups = {"A": 2 * size, "B": 2 * size}
    counts = {
        "A": {"yes": np.array([size - 1, size, size + 1]), "no": np.array([size + 1, size, size - 1])},
        "B": {"yes": np.array(size), "no": np.array(size)},
    }
    half = questions.share("yes", "50%", group="A").holds(counts, groups)
    assert half.tolist() == [False, True, True]
    assert questions.majority(group=["A", "B"]).holds(counts, groups).tolist() == [False, False, True]
    ratio = questions.ratio_of_shares("yes", "A", "B", at_least=1)
    assert ratio.holds(counts, groups).tolist() == [False, True, True]
    tiny = questions.weighted_sum({"A": Fraction(1, 10**20), "B": 10**20}, Fraction(size, 10**20) + 10**20 * size)
    assert tiny.holds(counts, groups).tolist() == [False, True, True]


def test_unsigned_and_narrow_counts_do_not_wrap():
    counts = {"A": {"yes": np.array([0, 200], dtype=np.uint8), "no": np.array([200, 0], dtype=np.uint8)}}
    assert questions.versus("yes", "no").holds(counts, {"A": 200}).tolist() == [False, True]
    blank = {"A": counts["A"], "B": {"yes": np.uint64(1), "no": np.array([1, 0], dtype=np.uint64)}}
    ratio = questions.ratio_of_shares("yes", "A", "B", of="respondents", blank="no")
    assert ratio.holds(blank, {"A": 200, "B": 2}).tolist() == [True, True]


def test_the_weight_of_a_group_without_the_value_may_be_huge():
    counts = {"A": {"yes": np.array([0, 0]), "no": np.array([1, 1])}}
    assert questions.weighted_sum({"A": 10**30}, 0).holds(counts, {"A": 1}).tolist() == [True, True]


@pytest.mark.parametrize(("largest", "width"), [(127, np.int8), (128, np.int16), (2**31, np.int64), (2**63, object)])
def test_arrays_use_the_narrowest_possible_type(largest, width):
    assert width_for(largest) is width


@for_each(
    ("counts", "sizes", "message"),
    [
        ({"A": {"yes": 1.0, "no": 0}}, {"A": 1}, "'yes' in 'A' are of the type float64; counts are whole numbers ≥ 0"),
        ({"A": {"yes": True, "no": 0}}, {"A": 1}, "type bool"),
        ({"A": {"yes": -1, "no": 2}}, {"A": 1}, "a count of 'yes' in 'A' is -1"),
        ({"A": {"yes": 2, "no": 0}}, {"A": 1}, "2 people of 'A' have the value 'yes'; the group has 1 people"),
        ({"A": {"yes": 1}}, {"A": 1.5}, "the size of 'A' is 1.5; it must be a whole number ≥ 0"),
        ({"A": {"yes": 1}}, {}, "unknown group with a size 'A'"),
        ({"A": {"Yes": 1}}, {"A": 1}, "unknown value 'yes'; the values are Yes. Hint: did you mean 'Yes'?"),
    ],
)
def test_impossible_counts_are_refused(counts, sizes, message):
    with pytest.raises(UsageError) as refusal:
        questions.count("yes", at_least=1).holds(counts, sizes)
    assert message in str(refusal.value)


def test_an_unknown_group_is_refused_wherever_it_is_named():
    question = questions.count("yes", 1) & questions.all_of("Permanant")
    with pytest.raises(
        UsageError, match=r"unknown group 'Permanant'; the groups are Permanent. Hint: did you mean 'Permanent'"
    ):
        question.holds({"Permanent": {"yes": 1, "no": 0}}, {"Permanent": 1})


def test_respondents_need_a_value_that_is_blank():
    with pytest.raises(UsageError, match="unknown value 'blank'"):
        questions.majority(of="respondents").holds({"A": {"yes": 1, "no": 0}}, {"A": 1})


def test_a_function_gets_the_counts():
    odd = questions.function(lambda counts: counts["A"]["yes"] % 2 == 1, words="odd")
    assert (odd & questions.count("yes", 2)).holds(COUNTS, SIZES).tolist() == [
        table["A"]["yes"] % 2 == 1 and number(table, "yes") >= 2 for table in TABLES
    ]


def test_a_function_must_return_booleans():
    with pytest.raises(UsageError, match="gave values of the type int64; it returns booleans"):
        questions.function(lambda counts: counts["A"]["yes"], words="odd").holds(COUNTS, SIZES)


def test_questions_cannot_be_joined_by_the_words_and_and_or():
    with pytest.raises(TypeError, match=r"join questions by &, \| and ~"):
        questions.count("yes", 1) and questions.count("no", 1)
    with pytest.raises(TypeError):
        questions.count("yes", 1) & True
