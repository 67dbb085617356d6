"""Arguments that a population accepts and refuses, and the documents of its mechanisms."""

from __future__ import annotations

import hashlib
import json
import math
from decimal import Decimal
from itertools import product

import numpy as np
import pytest

import hetdp
from hetdp.people.populations.folding import EpsilonLevels
from hetdp.people.populations.mechanism import as_float
from hetdp.people.populations.scores import constant_answer, scores_of
from hetdp.people.privacy.epsilons import UNBOUNDED, epsilon_to_units
from hetdp.theory.coordinate import LAPLACE
from tests.loops import for_each

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


@for_each(
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
def test_inconsistent_arguments_are_refused(facts):
    with pytest.raises((hetdp.UsageError, hetdp.InputError)):
        hetdp.spaces.population(**{"question": Q.majority()} | facts)


@for_each("answers", [[0, 1], [0, 1, 2], [0, 1, -1], [0.0, 1.0, 1.0], [[0, 1, 1]]])
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
def test_groups_that_an_array_would_merge_are_refused(form):
    with pytest.raises(hetdp.UsageError, match="a NUL in its name"):
        hetdp.spaces.population(hetdp.questions.majority(), [1, 1, 2], groups=form(["a", "a\0", "b"]))


@for_each("objective", ["balanced", "weighted-vote"])
@for_each("threshold", [1, 2, 3])
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
        deciding_odds = odds[group].deciding
        assert (deciding_odds.people, deciding_odds.epsilon) == (1, pytest.approx(strict[person]))
        assert deciding_odds.loss <= strict[person]
        for answers in product([0, 1], repeat=4):
            other = [1 - answer if at == person else answer for at, answer in enumerate(answers)]
            if (answers.count(0) >= threshold) != (other.count(0) >= threshold):
                p, q = (1 - LAPLACE.error(mechanism.coordinate(list(table)), 1) for table in (answers, other))
                assert abs(p - q) <= deciding_odds.high - deciding_odds.low + 1e-12


def test_people_without_an_epsilon_are_counted():
    for epsilon, wrong in ((["x", "1", "-2", "y", "1"], 3), ([-1.0, 1.0, -2.0], 2), (["x", "1", "x"], 2)):
        with pytest.raises(hetdp.InputError, match=f"{wrong} of {len(epsilon)} people"):
            hetdp.spaces.population(hetdp.questions.count("yes", 2), epsilon=epsilon)


def test_the_digest_of_a_policy_is_that_of_its_bytes():
    """Plans are stored with it, so it stays the same on every machine and in every version."""
    question, columns = hetdp.questions.majority(), {"groups": ["b", "a", "b"], "deciding": [0.25, 2.0, 0.125]}
    people = hetdp.spaces.population(question, [0.5, 1.0, "inf"], **columns)
    facts = json.dumps([question.body(), ["yes", "no"], ["a", "b"], 3], sort_keys=True, ensure_ascii=False)
    one = 1 << 40
    numbers = [[one >> 1, one, UNBOUNDED], [one >> 2, one, one >> 3], [1, 0, 1]]
    found = hashlib.sha256(b"hetdp population 1\n" + facts.encode() + np.array(numbers, dtype="<i8").tobytes())
    assert people.digest == f"sha256:{found.hexdigest()}"


def test_a_label_is_a_float_up_to_a_ceiling():
    assert [as_float(label) for label in (0, 1 << 40, -(1 << 39), 1 << 53, (1 << 53) + 1, -(1 << 60))] == [
        0.0, 1.0, -0.5, 8192.0, 8192.0, -8192.0
    ]  # fmt: skip
    assert [as_float(label) for label in (math.inf, -math.inf)] == [math.inf, -math.inf]


def test_margins_are_from_one_to_the_farthest():
    people = hetdp.spaces.population(hetdp.questions.count("yes", 3), 0.5, size=7)
    mechanism = people.design()
    assert people.farthest() == 5
    assert [row.margin for row in mechanism.accuracy_by_margin()] == [1, 2, 5]
    assert mechanism.accuracy(5) == mechanism.accuracy_by_margin()[-1].accuracy
    for margin in (0, 6, 1.5, True):
        with pytest.raises(hetdp.UsageError):
            mechanism.accuracy(margin)
    with pytest.raises(hetdp.UsageError, match="no table has the margin 6; margins are from 1 to 5"):
        mechanism.accuracy(6)
    always = hetdp.spaces.population(hetdp.questions.count("yes", 0), 0.5, size=7).design()
    with pytest.raises(hetdp.UsageError, match="every table has the same answer"):
        always.accuracy(1)
    assert always.accuracy_by_margin() == []
    assert (always.certificate.optimal, always.certificate.gap, always.worse_than_coin_up_to()) == (True, 0.0, 0)


def test_margins_with_hardly_an_error_are_not_all_listed():
    rows = hetdp.spaces.population(hetdp.questions.majority(), 5.0, size=1001).design().accuracy_by_margin()
    assert [row.margin for row in rows] == [1, 2, 5]
    assert rows[-1].error < 1e-9 <= rows[-2].error


@for_each("epsilons", [[0.1] * 4 + [5.0], [0.1] * 9, [0.5, 0.5, 3.0], [1.0, 2.0], [0.0, 0.0, 0.0]])
def test_the_caution_names_the_margins_where_a_coin_does_better(epsilons):
    people = hetdp.spaces.population(hetdp.questions.majority(), epsilons)
    for objective in ("balanced", "weighted-vote"):
        mechanism = people.design(objective)
        worst = {}
        for answers in product((0, 1), repeat=len(epsilons)):
            yes = len(epsilons) - sum(answers)
            needed = len(epsilons) // 2 + 1
            margin = yes - needed + 1 if yes >= needed else needed - yes
            z = mechanism.coordinate(list(answers)) * (1 if yes >= needed else -1)
            worst[margin] = min(worst.get(margin, math.inf), z)
        up_to = max([margin for margin, z in worst.items() if z < 0.0], default=0)
        assert mechanism.worse_than_coin_up_to() == up_to
        caution = mechanism.certificate.caution
        assert bool(caution) == (up_to > 0 or worst[1] == 0.0)
        assert (" Caution: " in str(mechanism.certificate)) == bool(caution)
        assert ("wrong more often" in caution) == (up_to > 0)
        assert mechanism.certificate.optimal == (objective == "balanced")


def test_an_answer_that_every_table_has_is_seen_in_the_parts_of_a_question():
    asked, groups, sizes, values = hetdp.questions, ["all"], np.array([5]), ["yes", "no"]

    def found(question):
        return constant_answer(question, groups, sizes, values)

    always, never, open_ = asked.count("yes", 0), asked.count("yes", 6), asked.count("yes", 3)
    assert [found(one) for one in (always, never, open_, ~always, ~never, ~open_)] == [1, 2, 0, 2, 1, 0]
    assert [found(one) for one in (always & always, always & never, always & open_, never & open_)] == [1, 2, 0, 2]
    assert [found(one) for one in (never | never, always | never, always | open_, never | open_)] == [2, 1, 1, 0]


def test_answers_by_kind_add_up_to_the_people_of_each_kind():
    kinds = EpsilonLevels(np.array([0.5, 1.0, 0.5]), np.array([2, 3, 4]))
    people = hetdp.spaces.population(hetdp.questions.majority(), kinds)
    assert people.size == 9
    assert people.counts(np.array([[2, 0], [1, 2], [0, 4]])).tolist() == [[2, 4], [1, 2]]
    for wrong in (
        [[2, 0], [1, 2], [0, 3]],
        [[3, -1], [1, 2], [0, 4]],
        [[2, 0], [1, 2]],
        [[2.0, 0.0], [1.0, 2.0], [0.0, 4.0]],
    ):
        with pytest.raises(hetdp.UsageError, match="add up to the number of people of each kind"):
            people.counts(np.array(wrong))


def test_a_weighted_vote_with_one_answer_is_certain_and_needs_no_caution():
    found = hetdp.spaces.population(hetdp.questions.count("yes", 0), [0.5, 1.0]).design("weighted-vote").certificate
    assert (found.optimal, found.gap, found.caution) == (True, 0.0, "")
    scores = hetdp.questions.weighted_sum({"everybody": 1}, at_least=-3, scores={"yes": 2, "no": -1})
    always = hetdp.spaces.population(scores, [0.5, 1.0]).design("weighted-vote").certificate
    assert (always.optimal, always.caution) == (True, "")
    open_ = hetdp.questions.weighted_sum({"everybody": 1}, at_least=1, scores={"yes": 2, "no": -1, "blank": 0})
    caution = hetdp.spaces.population(open_, [0.5, 1.0, 1.0], ("yes", "no", "blank")).design("weighted-vote")
    assert "at which tables was not computed" in caution.certificate.caution


def test_a_question_that_no_formula_answers_is_refused():
    count = hetdp.questions.count
    question = (count("yes", 2) & count("no", 2)) | count("yes", 4)
    with pytest.raises(
        hetdp.UsageError, match="; a population answers a threshold question: a count, a share"
    ) as refused:
        hetdp.spaces.population(question, 0.5, ("yes", "no", "blank"), size=6)
    assert refused.value.hint == "other questions are for spaces whose tables are listed"


def test_scores_without_common_factors_have_a_limit():
    def ask(weight):
        question = hetdp.questions.weighted_sum({"a": weight, "b": 1}, at_least=weight)
        return hetdp.spaces.population(question, [0.5] * 3, groups=["a", "b", "b"])

    assert ask(2**31 - 1).scores.most.max() < 2**31
    nobody = hetdp.spaces.population(hetdp.questions.weighted_sum({"a": 0}, at_least=0), [0.5], groups=["a"])
    assert (nobody.constant, nobody.scores.most.tolist()) == (1, [0])
    common = hetdp.spaces.population(
        hetdp.questions.weighted_sum({"a": 6, "b": 4}, at_least=7), [1] * 4, groups=[*"aabb"]
    )
    assert (common.scores.most.tolist(), common.scores.threshold) == ([3, 2], 4)


def test_baselines_are_for_margins_that_some_table_has():
    people = hetdp.spaces.population(hetdp.questions.count("yes", 2), [0.5, 1.0, 2.0])
    assert people.farthest() == 2
    assert set(people.baselines(2)) == {
        "one ε",
        "dropping",
        "sampling",
        "personalised exponential",
        "weighted-vote",
        "balanced",
    }
    for margin in (0, 3):
        with pytest.raises(hetdp.UsageError):
            people.baselines(margin)
    other = hetdp.spaces.population(
        hetdp.questions.weighted_sum({"everybody": 1}, 2, {"yes": 2, "no": 0, "blank": 1}),
        [1.0] * 3,
        ("yes", "no", "blank"),
    )
    with pytest.raises(hetdp.UsageError, match="baselines are known for counts"):
        other.baselines(1)


def test_baselines_know_the_margins_that_only_one_answer_has(monkeypatch):
    for threshold in (2, 4):  # four people must change: from all who say yes, or from nobody
        people = hetdp.spaces.population(hetdp.questions.count("yes", threshold), [0.5] * 5)
        assert people.farthest() == 4
        found = people.baselines(4)
        assert 0.5 < found["personalised exponential"] < found["one ε"] == pytest.approx(found["balanced"])
    for limit, sampled in ((5, True), (4, False)):
        monkeypatch.setattr("hetdp.people.populations.baselines.MOST_SAMPLED", limit)
        assert ("sampling" in people.baselines(1)) == sampled


def test_a_group_without_people_has_no_scores():
    for at_least in (1, 2):
        question = hetdp.questions.weighted_sum({"a": 1, "b": 5}, at_least=at_least)
        assert scores_of(question, ["a", "b"], np.array([2, 0]), ["yes", "no"]).most.tolist() == [1, 0]
