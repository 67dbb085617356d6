"""Which people decide at some table; nobody else enlarges the worst error of the balanced answer."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.people.populations import scores as scoring
from hetdp.people.populations.odds import PopulationOdds
from hetdp.people.products.tallied import tally_people

questions: Any = hetdp.questions
VALUES = ("yes", "no", "blank")
GROUPS = ("a", "b", "c")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_group_counts_exactly_if_its_people_decide_at_some_table(data: st.DataObject) -> None:
    score = st.integers(0, 9)
    groups = data.draw(st.integers(1, 4))
    rows = [[0, *data.draw(st.lists(score, min_size=1, max_size=2))] for _ in range(groups)]
    sizes = [data.draw(st.integers(1, 2)) for _ in range(groups)]
    total = sum(max(row) * size for row, size in zip(rows, sizes, strict=True))
    if total == 0:
        return
    threshold = data.draw(st.integers(1, total))
    found, known = scoring._deciding_groups(rows, sizes, threshold)
    assert known
    for group, (row, (_, counts)) in enumerate(zip(rows, found, strict=True)):
        others = [rows[at] for at in range(groups) for _ in range(sizes[at] - (at == group))]
        decides = any(sum(table) < threshold <= sum(table) + max(row) for table in product(*others))
        assert counts == decides or not any(row)


LINEAR = [
    questions.count("yes", 2),
    questions.count("yes", 1, group="a"),
    questions.share("yes", "50%"),
    questions.share("yes", "2/3", of="respondents", blank="blank"),
    questions.majority("yes", of="respondents", blank="blank"),
    questions.versus("yes", "no"),
    questions.all_of("b"),
    questions.weighted_sum({"a": 2, "b": 2, "c": 1}, at_least=4),
    questions.weighted_sum({"a": 3, "b": 1}, at_least=2),
    questions.weighted_sum({"a": 5, "b": 1}, at_least=4, scores={"yes": 3, "blank": 1}),
    ~questions.weighted_sum({"a": 4, "b": 5, "c": -1}, at_least=5),
]


@pytest.mark.parametrize("question", LINEAR, ids=str)
@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from([0.1, 0.3, 0.85, 1.0, 2.0]), min_size=3, max_size=3), st.sampled_from([None, 0.2]))
def test_no_private_mechanism_has_a_smaller_worst_error(question: Any, epsilon: Any, deciding: Any) -> None:
    closed = hetdp.spaces.population(question, epsilon, VALUES, GROUPS, deciding).design()
    fair = tally_people(question, epsilon, VALUES, GROUPS, deciding).design("fair")
    tables = [np.array(table) for table in product(range(3), repeat=3)]
    worst = [min(abs(one.coordinate(table)) for table in tables) for one in (closed, fair)]
    assert worst[0] == pytest.approx(worst[1], abs=1e-9)
    assert closed.certificate.optimal
    if not math.isinf(worst[0]):
        assert closed.accuracy(1) == pytest.approx(1.0 - 0.5 * math.exp(-worst[0]), abs=1e-9)


def test_a_person_who_never_decides_does_not_lower_the_accuracy() -> None:
    question = questions.weighted_sum({"a": 3, "b": 1}, at_least=2)
    people = hetdp.spaces.population(question, [2.0, 0.85], groups=["a", "b"])
    assert round(people.design().accuracy(1), 3) == 0.881  # 0.701 if b counted
    assert people.is_count
    odds = people.design().odds().by_class["b"]
    assert isinstance(odds, PopulationOdds)
    assert odds.loss == 0.0


def test_no_claim_is_made_where_finding_out_who_decides_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    question = questions.weighted_sum({"a": 3, "b": 1}, at_least=2)
    monkeypatch.setattr(scoring, "MOST_WORK", 0)
    people = hetdp.spaces.population(question, [2.0, 0.85], groups=["a", "b"])
    certificate = people.design().certificate
    assert certificate.private
    assert not certificate.optimal
    assert "not shown" in str(certificate)
    assert round(people.design().accuracy(1), 3) == 0.701


def test_the_odds_follow_from_the_loss_that_is_charged():
    epsilon, groups = np.array([0.3] * 3 + [1.0] * 3 + [2.0]), np.array(["pupil"] * 3 + ["staff"] * 3 + ["guest"])
    question = hetdp.questions.count("yes", 4)
    people = hetdp.spaces.population(question, epsilon, values=("yes", "no"), groups=groups, deciding=0.2)
    mechanism = people.design()
    odds, losses = mechanism.odds().by_class, mechanism.losses_by_group()
    for (name, found), loss in zip(odds.items(), losses, strict=True):
        assert found.loss == pytest.approx(loss, abs=1e-8), name
        assert np.log(found.high / found.low) == pytest.approx(loss, abs=1e-8), name
    assert odds["guest"].loss < 2, "more is allowed than used"
