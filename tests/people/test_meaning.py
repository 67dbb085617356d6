"""The strength of an ε in everyday terms: never understated, and said where it protects practically nobody."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import flint
import numpy as np
import pandas
import pytest

import hetdp
from tests.loops import for_each

strength = hetdp.privacy.strength
TABLE: dict[str, Any] = {"count": "vote = 'yes'", "at_least": "50%", "person": "id", "dry_run": True}


@for_each("epsilon", [0.01, 0.1, 0.3, 0.5, 1, 1.5, 2, math.log(3), 3, 4.5, 4.6, 5, 7.25, 10, 14])
def test_no_sentence_understates_what_an_epsilon_allows(epsilon):
    flint.ctx.prec = 100
    found, ratio = strength(epsilon), flint.arb(str(epsilon)).exp()
    sure = ratio / (1 + ratio)
    percent = Decimal(re.search(r"at most ([\d.]+)% sure", found.belief)[1])
    assert flint.arb(str(percent)) > 100 * sure - flint.arb("1e-6")
    step = Decimal(1).scaleb(percent.as_tuple().exponent)
    assert flint.arb(str(percent - step)) < 100 * sure
    assert percent < 100
    most, runs, least = (
        int(number.replace(",", ""))
        for number in re.search(r"at most ([\d,]+) of ([\d,]+) runs instead of ([\d,]+)", found.questionnaire).groups()
    )
    assert flint.arb(most) / runs > sure - flint.arb("1e-9")
    assert flint.arb(least) / runs < 1 - sure + flint.arb("1e-9")


def test_an_epsilon_protects_practically_nobody_where_even_odds_can_become_99_per_cent():
    assert [strength(epsilon).protects_practically_nobody for epsilon in (0, 1, 4.59, 4.6, 40, "inf")] == [
        False,
        False,
        False,
        True,
        True,
        True,
    ]
    assert strength(4.59).warning == ""
    assert "at most 99.0% sure" in strength(4.59).belief
    assert "at most 98.3% sure" in strength(4.05).belief  # not 99%, of which a warning would be expected
    assert strength("4.6").warning.startswith("ε = 4.6 protects practically nobody: ")
    assert strength(4.6).warning in str(strength(4.6))
    learns = "protects practically nobody: somebody who was 50% sure of an answer can become"
    assert strength(5).warning == f"ε = 5 {learns} 99.4% sure of it"
    assert strength("inf").warning == f"ε = inf {learns} certain of it"


def test_the_ends_of_the_scale_have_words_of_their_own():
    assert str(strength(0)) == (
        "If you answer differently, the published answer is yes just as often. Somebody who knows everybody else's"
        " answer learns nothing about yours from the published answer."
    )
    assert "may reveal your answer with certainty" in strength(math.inf).questionnaire
    assert "can become certain" in strength(math.inf).belief
    assert "nearly 100%" in strength(60).belief
    for wrong in (-1, "many", None, True):
        with pytest.raises(hetdp.UsageError):
            strength(wrong)


def test_a_promise_warns_of_a_loss_that_protects_practically_nobody():
    people = pandas.DataFrame({"id": range(9), "vote": ["yes"] * 9, "eps": [0.5] * 5 + [6.0] * 4})
    asked = hetdp.ask(people, **TABLE, epsilon=6)
    assert f"  caution: {strength(asked.promises[0].protections[0].used).warning}" in asked.promise.splitlines()
    lower = hetdp.ask(people, **TABLE, epsilon="eps")  # who allows more loses no more than the others allow
    assert lower.promises[0].protections[0].used < 4
    assert "practically nobody" not in lower.promise
    nothing = hetdp.ask(people, **TABLE, epsilon="inf")
    assert "practically nobody" not in nothing.promise
    assert "No promise is made" in nothing.promise


def test_somebody_who_knows_everybody_else_learns_no_more_than_stated():
    people = hetdp.spaces.population(hetdp.questions.majority(), [0.4, 0.4, 1.5, 1.5, 3.0])
    mechanism = people.design()
    found = strength(max(mechanism.losses))
    for others in range(16):
        table = [others >> at & 1 for at in range(4)]
        p = [
            0.5 * math.exp(z) if z < 0 else 1 - 0.5 * math.exp(-z)
            for z in (mechanism.coordinate(np.array([*table, own])) for own in (0, 1))
        ]
        for one, other in ((p[0], p[1]), (1 - p[0], 1 - p[1])):
            assert max(one, other) / (one + other) <= found.high + 1e-9


def test_no_change_of_an_answer_makes_a_larger_difference_than_stated():
    epsilon = 0.9
    found = strength(epsilon)
    for low in np.linspace(0.0, 1.0, 501):
        high = min(math.exp(epsilon) * low, 1 - math.exp(-epsilon) * (1 - low))  # the largest that ε allows
        assert high - low <= found.high - found.low + 1e-12
    assert found.questionnaire.endswith(" No change of your answer makes a larger difference.")
    assert "larger difference" not in strength(0).questionnaire


def test_the_page_of_a_record_warns_once_of_a_loss_that_protects_practically_nobody(tmp_path):
    people = pandas.DataFrame({"id": range(9), "vote": ["yes"] * 9, "role": ["a"] * 4 + ["b"] * 5})
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="people", cap=100)
    pages = []
    for name, epsilon in (("strict", 1), ("open", 6), ("none", "inf")):
        payment = hetdp.Payment(ledger, record=tmp_path / f"{name}.json", html=tmp_path / f"{name}.html")
        if epsilon == "inf":
            payment = hetdp.Payment(
                hetdp.Ledger.create(tmp_path / "b.ledger", source="people", cap="inf"),
                record=payment.record,
                html=payment.html,
            )
        hetdp.ask(people, **TABLE | {"dry_run": False}, epsilon=epsilon, payment=payment)
        pages.append((tmp_path / f"{name}.html").read_text())
    assert [page.count("protects practically nobody") for page in pages] == [0, 1, 0]
