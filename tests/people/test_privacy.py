"""Privacy rules: which ε applies where, their descriptions and documents, and what is refused."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetdp import InputError, UsageError, privacy
from hetdp.people.privacy.epsilons import (
    LARGEST,
    UNBOUNDED,
    epsilon_to_units,
    parse_argument,
    parse_epsilon,
    units_to_floats,
)
from hetdp.privacy import Privacy, Rule, States, answer, rules, within
from tests.loops import for_each

ANY: Any = privacy  # what is refused has no right type
GROUPS, VALUES, MARGINS = ("Pupils", "Staff"), ("yes", "no", "blank"), range(1, 6)

EPSILONS = st.one_of(
    st.decimals(0, 20, places=3).map(str),
    st.integers(0, 9),
    st.floats(0, 9).map(lambda number: round(number, 4)),
    st.just("inf"),
)
SITUATIONS = st.one_of(
    st.none(), st.just("deciding"), st.integers(1, 4).map(within), st.sampled_from([1, 2]).map(answer)
)
CHANGES = st.sampled_from([None, "yes", ["blank"], ["yes", "no"], ["no", "yes"], ["no", "blank"]])
RULES = st.builds(
    Rule, EPSILONS, st.sampled_from([None, "Pupils", ["Staff"], ["Staff", "Pupils"]]), CHANGES, SITUATIONS
)
PRIVACIES = st.builds(lambda base, more: Privacy([Rule(base), *more]), EPSILONS, st.lists(RULES, max_size=5))


def rule_applies(rule: Rule, group, before, after, at_u, at_v) -> bool:
    """True if a rule applies, by its definition; at_u and at_v are (answer, margin)."""
    if rule.groups is not None and group not in rule.groups:
        return False
    if rule.change is not None and not set(rule.change) <= {before, after}:
        return False
    when = rule.when
    if when is None:
        return True
    if when.kind == "deciding":
        return at_u[0] != at_v[0]
    if when.kind == "answer":
        return when.number in (at_u[0], at_v[0])
    return min(at_u[1], at_v[1]) <= when.number


@given(PRIVACIES)
@settings(max_examples=20, deadline=None)
def test_the_smallest_epsilon_that_applies_counts_everywhere(found):
    table, states = found.table(GROUPS, VALUES), found.states()
    for group, (before, after) in product(GROUPS, permutations(VALUES, 2)):
        units = table.units_of(group, before, after)
        for at_u, at_v in product(product((1, 2), MARGINS), repeat=2):
            expected = min(
                epsilon_to_units(rule.epsilon)
                for rule in found.rules
                if rule_applies(rule, group, before, after, at_u, at_v)
            )
            assert units[states.state(*at_u), states.state(*at_v)] == expected


@given(PRIVACIES)
@settings(max_examples=60, deadline=None)
def test_a_table_is_the_same_from_both_sides(found):
    table = found.table(GROUPS, VALUES)
    for group, (before, after) in product(GROUPS, permutations(VALUES, 2)):
        there, back = table.of(group, before, after), table.of(group, after, before)
        assert np.array_equal(there, back.T)
        assert there.shape == (found.states().count,) * 2
    assert np.array_equal(table.epsilon[1, 2], table.of("Staff", "no", "blank"))


@given(PRIVACIES)
@settings(max_examples=100, deadline=None)
def test_rules_come_back_from_their_document_as_written(found):
    document = found.document()
    for back in (privacy.from_document(document), privacy.from_json(json.dumps(document))):
        assert back == found
        assert str(back) == str(found)
        assert [str(rule.epsilon) for rule in back.rules] == [str(rule.epsilon) for rule in found.rules]


@given(PRIVACIES)
@settings(max_examples=60, deadline=None)
def test_rules_are_described(found):
    lines = str(found).splitlines()
    assert lines[-1].startswith(("everybody: ", "everybody else: "))
    assert all(len(line.partition(": ")[2]) > 0 for line in lines)


@for_each(
    ("found", "words"),
    [
        (rules(1), "everybody: 1"),
        (rules("0.50"), "everybody: 0.50"),
        (rules(float("inf")), "everybody: no protection promised"),
        (rules({"Pupils": 1, "Staff": 2}, deciding={"Pupils": 0.3}), "Pupils: 0.3 when deciding, else 1\nStaff: 2"),
        (rules({"Pupils": 1, "Staff": "1.0"}), "Pupils: 1\nStaff: 1.0"),
        (rules({"Pupils": 1, "Staff": 1}), "Pupils, Staff: 1"),
        (rules("inf", deciding=0.3), "everybody: 0.3 when deciding, else no protection promised"),
        (rules(1, deciding=2), "everybody: 1"),
        (
            rules(1, deciding=0.1, within={2: 0.5}),
            "everybody: 0.1 when deciding, 0.5 within 2 of the threshold, else 1; where several apply, the smallest ε"
            " counts",
        ),
        (rules(1, answer={1: 0.5}), "everybody: 0.5 where the answer is 1, else 1"),
        (rules(1, change={("no", "yes"): 0.5}), "everybody: 0.5 for changes between no and yes, else 1"),
        (rules(1, change={"yes": 0.5}), "everybody: 0.5 for changes from or to yes, else 1"),
        (
            rules(2, also=[Rule(1, "Pupils", change="ill", when="deciding")]),
            "Pupils: 1 for changes from or to ill when deciding, else 2\neverybody else: 2",
        ),
        (
            Privacy([Rule(1, when=answer(1)), Rule(2, when=answer(2))]),
            "everybody: 1 where the answer is 1, 2 where the answer is 2; where several apply, the smallest ε counts",
        ),
        (Privacy([Rule(1, when="deciding")]), "everybody: 1 when deciding; any other change has no ε and is refused"),
        (rules({"A, B: 9; C": 1}), "'A, B: 9; C': 1"),
    ],
)
def test_rules_are_described_as_expected(found, words):
    assert str(found) == words


def test_knowing_the_answers_on_both_sides_is_enough():
    table = Privacy([Rule(1, when=answer(1)), Rule(2, when=answer(2))]).table(["All"])
    assert table.of("All", "yes", "no").tolist() == [[1, 1], [1, 2]]


@pytest.mark.parametrize(
    ("found", "faults"),
    [
        (rules({"Pupils": 1}), ["group 'Staff', changes between 'yes' and 'no'"]),
        (rules({"Pupils": 1}, deciding=0.3), ["group 'Staff', changes between 'yes' and 'no'"]),
        (Privacy([Rule(1, when=within(3))]), [f"group {g!r}, changes between 'yes' and 'no'" for g in GROUPS]),
        (Privacy([Rule(1, when=answer(1))]), [f"group {g!r}, changes between 'yes' and 'no'" for g in GROUPS]),
    ],
)
def test_an_epsilon_that_is_missing_is_never_assumed(found, faults):
    with pytest.raises(InputError) as refusal:
        found.table(GROUPS, ("yes", "no"))
    assert [fault.where for fault in refusal.value.faults] == faults
    assert "missing ε; every group must have an ε for every change" in str(refusal.value)


def test_a_change_without_an_epsilon_is_missing_too():
    with pytest.raises(InputError, match="changes between 'no' and 'blank'"):
        Privacy([Rule(1, change="yes")]).table(["All"], VALUES)


@pytest.mark.parametrize(
    ("found", "groups", "message"),
    [
        (
            rules(1, deciding={"Pupil": 1}),
            GROUPS,
            "unknown group 'Pupil'; the groups are Pupils, Staff. Hint: did you mean 'Pupils'?",
        ),
        (rules(1, change={"maybe": 1}), GROUPS, "unknown value 'maybe'; the values are yes, no"),
        (rules(1), ["A", "A"], "there must be at least one name"),
    ],
)
def test_unknown_names_are_refused(found, groups, message):
    with pytest.raises(UsageError) as refusal:
        found.table(groups, ("yes", "no"))
    assert message in str(refusal.value)


def test_a_table_lists_its_groups_and_values():
    table = rules(1).table(GROUPS, VALUES)
    for names in [("Guests", "yes", "no"), ("Pupils", "yes", "maybe"), ("Pupils", "yes", "yes")]:
        with pytest.raises(UsageError):
            table.of(*names)
    with pytest.raises(UsageError, match="there must be at least two values"):
        rules(1).table(GROUPS, ["yes"])


def test_many_people_may_have_an_epsilon_each():
    people = {f"person {number}": 1 + number % 3 for number in range(2000)}
    found = rules(people, deciding=0.5)
    assert len(found.rules) == 4
    table = found.table(list(people))
    assert table.epsilon[:, 0, 0, 0].tolist() == list(people.values())
    assert np.unique(table.epsilon[:, 0, 0, 1]).tolist() == [0.5]


@given(st.decimals(0, 4000, places=15))
def test_on_the_grid_an_epsilon_is_rounded_down_by_less_than_a_unit(epsilon):
    units = epsilon_to_units(epsilon)
    assert 0 <= Fraction(epsilon) * 2**40 - units < 1
    assert Fraction(float(units_to_floats(np.array(units)))) == Fraction(units, 2**40)


def test_epsilon_beyond_the_grid_becomes_its_smallest_or_largest_value():
    assert epsilon_to_units(0) == 0
    assert epsilon_to_units("inf") == UNBOUNDED
    assert epsilon_to_units(5000) == LARGEST < UNBOUNDED
    assert epsilon_to_units("1e-13") == 0
    assert epsilon_to_units(np.float32(0.3)) == epsilon_to_units("0.3") < epsilon_to_units(float(np.float32(0.3)))


@for_each("epsilon", [-1, "-0.1", "nan", float("nan"), "one", None, True, "1/3", [1], "-inf", "1e9999"])
def test_values_that_are_not_an_epsilon_are_refused(epsilon):
    with pytest.raises(UsageError, match="ε is a decimal number ≥ 0"):
        parse_epsilon(epsilon)


def test_an_epsilon_with_a_decimal_comma_is_refused_with_a_hint():
    with pytest.raises(UsageError, match=r"epsilon='0,5'; .* Hint: a number is written with a decimal point"):
        parse_argument("epsilon", "0,5")


@for_each(
    ("make", "message"),
    [
        (lambda: within(0), "the distance is 0; it must be a whole number ≥ 1"),
        (lambda: answer(3), "the answer is 3; answers are 1 and 2"),
        (lambda: Rule(1, when="sometimes"), "when is 'sometimes'; it is \"deciding\", within(d)"),
        (lambda: Rule(1, when={"within": 1, "answer": 1}), "when is {'within': 1, 'answer': 1}"),
        (lambda: Rule(1, change=["a", "b", "c"]), "it is from one value to another"),
        (lambda: Rule(1, groups=3), "the group is 3"),
        (lambda: Privacy([]), "the rules are []; there is one Rule or more"),
        (lambda: ANY.Privacy([1]), "the rules are [1]"),
        (lambda: rules({}), "it is given for one group or more"),
        (lambda: ANY.rules(1, within=2), "within is 2; within says for which case each ε is"),
        (lambda: rules(1, deciding={"A": "x"}), "deciding='x' for 'A'; ε is"),
        (lambda: States(tuple(range(1, 200))), "the rules name 199 distances"),
        (lambda: States((1,)).state([1]), "the margins are missing"),
    ],
)
def test_values_that_are_not_rules_are_refused(make, message):
    with pytest.raises(UsageError) as refusal:
        make()
    assert message in str(refusal.value)


def test_states_are_as_few_as_the_rules_need():
    assert rules(1, deciding=0.3).states().count == 2
    assert rules(1, within={3: 0.5, 1: 0.2}).states() == States((1, 3))
    assert States((1, 3)).farthest == 3
    assert States().state(np.array([[1], [2]])).tolist() == [[0], [1]]


def test_rules_can_be_written_in_toml():
    text = """
        schema_version = 1
        kind = "privacy"
        [[rules]]
        epsilon = 1
        [[rules]]
        epsilon = 0.30
        groups = ["Pupils"]
        when = "deciding"
        [[rules]]
        epsilon = "inf"
        change = ["no", "blank"]
        when = {answer = 2}
    """
    found = privacy.from_toml(text)
    assert found.rules[1] == Rule(Decimal("0.30"), "Pupils", when="deciding")
    assert str(found.rules[1].epsilon) == "0.30"
    assert found.rules[2] == Rule("inf", change=("no", "blank"), when=answer(2))


@for_each(
    ("found", "message"),
    [
        ([], "rules []; there is a list of one rule or more"),
        ([3], "rules[0]: not an object: 3"),
        ([{"epsilon": 1, "group": "A"}], "unknown key 'group'; the keys are epsilon, groups, change, when"),
        ([{"epsilon": 1, "group": "A"}], "Hint: did you mean 'groups'?"),
        ([{"groups": "A"}], "missing key epsilon"),
        ([{"epsilon": -1}], "ε is -1; ε is a decimal number ≥ 0"),
        ([{"epsilon": 1}, {"epsilon": 1, "when": {"within": 0}}], "rules[1]: the distance is 0"),
    ],
)
def test_a_document_is_read_strictly(found, message):
    with pytest.raises(InputError) as refusal:
        privacy.from_document({"schema_version": 1, "kind": "privacy", "rules": found})
    assert message in str(refusal.value)


def test_all_rules_that_are_wrong_are_reported_at_once():
    wrong = [{"epsilon": "x"}, {"epsilon": 1}, {"epsilon": 1, "when": "now"}]
    with pytest.raises(InputError) as refusal:
        privacy.from_document({"schema_version": 1, "kind": "privacy", "rules": wrong})
    assert [fault.where for fault in refusal.value.faults] == ["rules[0]", "rules[2]"]


def test_situations_have_their_limits():
    assert within(1).number == 1
    assert [answer(which).number for which in (1, 2)] == [1, 2]
    for wrong in (lambda: within(0), lambda: within(1.5), lambda: answer(0), lambda: answer(3), lambda: answer(True)):
        with pytest.raises(UsageError):
            wrong()
    for when in ("decides", {}, {"within": 1, "answer": 1}, {"deciding": 1}, ["deciding"], 3):
        with pytest.raises(UsageError, match="when is"):
            Rule(1, when=when)
    assert str(Rule(1, when={"within": 2}).when) == "within 2 of the threshold"


def test_a_state_fits_into_a_byte():
    most = States(tuple(range(1, 128)))
    assert most.count == 256
    assert most.state([2], [200]).tolist() == [255]
    with pytest.raises(UsageError, match="there are at most 127"):
        States(tuple(range(1, 129)))
    with pytest.raises(UsageError, match="the margins are missing"):
        States((1,)).state([1])
    assert States().state([1, 2]).tolist() == [0, 1]
    assert (States().farthest, States((1, 4)).farthest) == (0, 4)


def test_an_epsilon_is_neither_negative_nor_beyond_the_floats():
    for wrong in ("-0", -0.0, "-1", "1e400", "nan", "", None, True):
        with pytest.raises(UsageError):
            parse_epsilon(wrong)
    assert epsilon_to_units("4096") == epsilon_to_units("4096.1") == epsilon_to_units(1e300) == LARGEST
    assert epsilon_to_units("4095.9") < LARGEST
    assert units_to_floats(np.array([0, LARGEST, UNBOUNDED])).tolist() == [0.0, 4096.0, float("inf")]
