"""What a population takes and refuses, and how its mechanisms are written down."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import product

import numpy as np
import pytest

import hetdp
from hetdp.people.privacy.epsilons import UNBOUNDED, epsilon_to_units
from hetdp.theory.coordinate import LAPLACE

Q = hetdp.questions


def majority(epsilon, **facts):
    return hetdp.spaces.population(Q.majority(), epsilon, **facts)


def test_epsilon_is_floored_to_the_grid_as_written():
    written = [0.1, 0.3, 0.5, 1.0, 2.0, float("inf"), 0.0, 5000.0, 0.7]
    people = majority(written)
    assert people.units.tolist() == [epsilon_to_units(one) for one in written]
    assert people.size == 9


@pytest.mark.parametrize("kind", [np.float32, str, Decimal, object])
def test_epsilon_may_come_in_other_forms(kind):
    written = np.array([kind("0.3") if kind in (str, Decimal) else 0.3, kind("1") if kind in (str, Decimal) else 1.0])
    assert majority(written if kind is not np.float32 else written.astype(kind)).units.tolist() == [
        epsilon_to_units("0.3"),
        epsilon_to_units("1"),
    ]


def test_long_decimals_are_never_raised():
    written = np.random.default_rng(1).exponential(1.0, 500)
    units = majority(written).units.tolist()
    assert all(
        epsilon_to_units(one) - 1 <= unit <= epsilon_to_units(one) for one, unit in zip(written, units, strict=True)
    )


def test_one_epsilon_for_all_needs_the_size():
    assert majority(0.5, size=4).units.tolist() == [2**39] * 4
    with pytest.raises(hetdp.UsageError, match="needs size="):
        majority(0.5)
    with pytest.raises(hetdp.UsageError, match="one ε for each person"):
        majority([0.5, 0.5], size=3)


def test_deciding_never_raises_an_epsilon():
    people = majority([0.1, 0.5, float("inf")], deciding=0.3)
    classes = people.classes
    assert classes.deciding[classes.member].tolist() == [
        epsilon_to_units(0.1),
        epsilon_to_units(0.3),
        epsilon_to_units(0.3),
    ]
    assert people.units.tolist()[2] == UNBOUNDED


@pytest.mark.parametrize(
    ("epsilon", "told"),
    [
        ([0.5, -1.0, np.nan], "2 of 3 people"),
        (["0.5", "much", None], "2 of 3 people"),
    ],
)
def test_an_invalid_epsilon_is_counted_and_nobody_is_named(epsilon, told):
    with pytest.raises(hetdp.InputError, match=told):
        majority(epsilon)


@pytest.mark.parametrize(
    "facts",
    [
        {"epsilon": [[0.5]]},
        {"epsilon": [True, False]},
        {"epsilon": []},
        {"epsilon": [0.5, 0.5], "groups": ["a"]},
        {"epsilon": [0.5, 0.5], "groups": [["a", "b"]]},
        {"epsilon": [0.5, 0.5], "deciding": [0.1]},
        {"epsilon": [0.5, 0.5], "values": ("yes",)},
        {"epsilon": [0.5, 0.5], "values": ("ja", "nein")},
        {"epsilon": [0.5, 0.5], "question": Q.count("yes", 1, group="absent")},
        {"epsilon": [0.5, 0.5], "question": Q.count("yes", 1) & Q.count("no", 1)},
        {"epsilon": [0.5, 0.5], "question": "majority"},
        {
            "epsilon": [0.5, 0.5],
            "values": ("yes", "no", "blank"),
            "question": Q.weighted_sum({"everybody": 1}, 1, {"yes": 1, "no": 2**40}),
        },
    ],
)
def test_what_does_not_fit_is_refused(facts):
    with pytest.raises((hetdp.UsageError, hetdp.InputError)):
        hetdp.spaces.population(**{"question": Q.majority()} | facts)


@pytest.mark.parametrize("answers", [[0, 1], [0, 1, 2], [0, 1, -1], [0.0, 1.0, 1.0], [[0, 1, 1]]])
def test_answers_that_do_not_fit_are_refused(answers):
    with pytest.raises(hetdp.UsageError):
        majority([0.1, 0.2, 0.3]).design().coordinate(answers)


def test_an_unknown_objective_is_refused():
    with pytest.raises(hetdp.UsageError, match="balanced, weighted-vote"):
        majority(0.5, size=3).design("best")


def test_groups_may_be_numbers_and_are_counted():
    people = majority([0.1, 0.1, 0.5], groups=np.array([7, 3, 7]))
    assert people.groups == ("3", "7")
    assert people.design().odds().by_class["7"].people == 2


def test_the_order_of_people_does_not_matter_for_the_answer():
    rng = np.random.default_rng(3)
    epsilon, groups, deciding = rng.choice([0.1, 0.4, 0.9], 40), rng.choice(["a", "b"], 40), rng.random(40)
    answers, order = rng.integers(0, 2, 40), rng.permutation(40)
    question = Q.weighted_sum({"a": 2, "b": 3}, 50)
    one = hetdp.spaces.population(question, epsilon, groups=groups, deciding=deciding)
    other = hetdp.spaces.population(question, epsilon[order], groups=groups[order], deciding=deciding[order])
    for objective in ("balanced", "weighted-vote"):
        assert one.design(objective).coordinate(answers) == other.design(objective).coordinate(answers[order])
    assert one.digest != other.digest


def test_a_mechanism_is_written_down_and_found_again():
    people = majority([0.1, 0.2, 0.3], groups=["a", "b", "a"])
    written = json.loads(json.dumps(people.design("weighted-vote").document()))
    again = hetdp.spaces.PopulationMechanism.from_document(written, majority([0.1, 0.2, 0.3], groups=["a", "b", "a"]))
    assert (again.objective, again.population.digest) == ("weighted-vote", people.digest)


@pytest.mark.parametrize(
    "other",
    [
        majority([0.1, 0.2, 0.4]),
        majority([0.1, 0.2, 0.3], deciding=0.1),
        majority([0.1, 0.2, 0.3], groups=["a", "a", "b"]),
        hetdp.spaces.population(Q.count("yes", 1), [0.1, 0.2, 0.3]),
    ],
)
def test_a_document_for_another_policy_is_refused(other):
    with pytest.raises(hetdp.InputError, match="another"):
        other.design_from(majority([0.1, 0.2, 0.3]).design().document())


def test_a_document_with_another_objective_is_refused():
    people = majority([0.1, 0.2])
    document = people.design().document()
    document["mechanism"]["objective"] = "luck"
    with pytest.raises(hetdp.InputError, match="objective 'luck'"):
        people.design_from(document)


def test_the_certificate_says_that_it_is_a_theorem():
    certificate = majority([0.1, 0.2]).design().certificate
    assert (certificate.private, certificate.optimal, certificate.gap, certificate.method) == (
        True,
        True,
        0.0,
        "theorem",
    )
    assert "private by theorem (docs/theory/population.md)" in str(certificate)
    assert not majority([0.1, 0.2]).design("weighted-vote").certificate.optimal


def test_importing_spaces_loads_no_library():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        hetdp.spaces.nonsense  # noqa: B018


@pytest.mark.parametrize("form", [list, lambda names: np.array(names, dtype=object)])
def test_groups_that_an_array_would_mix_up_are_refused(form):
    with pytest.raises(hetdp.UsageError, match="a NUL in its name"):
        hetdp.spaces.population(hetdp.questions.majority(), [1, 1, 2], groups=form(["a", "a\0", "b"]))


@pytest.mark.parametrize("objective", ["balanced", "weighted-vote"])
@pytest.mark.parametrize("threshold", [1, 2, 3])
def test_odds_where_people_decide_hold_for_every_table(objective, threshold):
    epsilon, strict = np.array([0.3, np.inf, np.inf, np.inf]), np.array([0.3, 0.2, 0.7, np.inf])
    people = hetdp.spaces.population(
        hetdp.questions.count("yes", threshold), epsilon, deciding=strict, groups=["a", "b", "c", "d"]
    )
    mechanism = people.design(objective)
    odds = mechanism.odds().by_class
    assert [(one.unprotected, one.deciding is None) for one in odds.values()] == [
        (0, True),
        (0, False),
        (0, False),
        (1, True),
    ]
    for person, group in ((1, "b"), (2, "c")):
        told = odds[group].deciding
        assert (told.people, told.epsilon) == (1, pytest.approx(strict[person]))
        assert told.loss <= strict[person]
        for answers in product([0, 1], repeat=4):
            other = [1 - answer if at == person else answer for at, answer in enumerate(answers)]
            if (answers.count(0) >= threshold) != (other.count(0) >= threshold):
                p, q = (1 - LAPLACE.error(mechanism.coordinate(list(table)), 1) for table in (answers, other))
                assert abs(p - q) <= told.high - told.low + 1e-12


def test_everybody_without_an_epsilon_is_counted():
    for epsilon, wrong in ((["x", "1", "-2", "y", "1"], 3), ([-1.0, 1.0, -2.0], 2), (["x", "1", "x"], 2)):
        with pytest.raises(hetdp.InputError, match=f"{wrong} of {len(epsilon)} people"):
            hetdp.spaces.population(hetdp.questions.count("yes", 2), epsilon=epsilon)
