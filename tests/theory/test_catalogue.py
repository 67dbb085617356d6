"""Notions by name."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hetdp
from hetdp.theory.catalogue import NOTIONS, currency_names, find_currency, find_notion, notion_of, notion_of_key
from hetdp.theory.pure import PURE, quick, step
from hetdp.theory.renyi import renyi


def test_the_papers_notion_is_called_pure():
    assert find_notion("pure") is PURE
    assert (PURE.name, PURE.parameters, PURE.step, PURE.quick) == ("pure", ("epsilon",), step, quick)


def test_every_notion_is_listed_under_its_own_name():
    assert all(notion.name == name for name, notion in NOTIONS.items())


def test_an_unknown_notion_is_refused():
    with pytest.raises(hetdp.UsageError) as refused:
        find_notion("gaussian?")
    known = "approximate, bounded-range, directed, gaussian, pure, renyi"
    assert (
        str(refused.value) == f"unknown notion 'gaussian?'; a notion is one of {known}. Hint: did you mean 'gaussian'?"
    )


def test_a_notion_is_found_by_its_key_and_by_its_parameters():
    assert all(notion_of_key(notion.key) is notion for notion in NOTIONS.values())
    assert [notion_of(notion.parameters).name for notion in NOTIONS.values()] == [
        "pure", "directed", "approximate", "gaussian", "pure"
    ]  # fmt: skip


def test_a_currency_is_found_by_its_own_name_only():
    for notion in (*NOTIONS.values(), renyi(2.0)):
        assert find_currency(notion.currency.name) is notion.currency
    assert [find_currency(name) for name in ("pure", "bounded-range", "", None, 3, ["epsilon"])] == [None] * 6
    assert currency_names() == ["epsilon", "epsilon-delta", "gaussian", "renyi-ALPHA"]


def test_an_order_that_no_float_can_hold_is_refused():
    with pytest.raises(hetdp.UsageError, match="alpha is a number from"):
        find_notion("renyi", {"alpha": 10**400})
    assert find_notion("renyi", {"alpha": 1e12}).settings == (("alpha", 1e12),)
    assert find_notion("renyi", {"alpha": 1.000001}).settings == (("alpha", 1.000001),)


def test_a_ratio_shows_the_epsilon_that_is_left_beside_delta():
    loss = PURE.loss
    assert loss(0.75, 0.25, 0.25) == pytest.approx(math.log(2.0))
    assert loss(0.25, 0.5, 0.25) == loss(0.1, 0.0, 0.2) == -math.inf
    assert loss(0.25, 0.0, 0.0) == math.inf
    assert NOTIONS["approximate"].loss(0.5, 0.25, 0.0) == pytest.approx(math.log(2.0))


@pytest.mark.parametrize("notion", [NOTIONS["gaussian"], NOTIONS["bounded-range"]], ids=str)
def test_a_loss_that_is_a_difference_of_coordinates_is_infinite_at_zero_and_one(notion):
    high, low = notion.coordinate.probability([0.75, -0.5]).tolist()
    assert notion.loss(high, low, 0.0) == pytest.approx(1.25)
    assert notion.loss(1.0, low, 0.0) == notion.loss(high, 0.0, 0.0) == notion.loss(1.0, 0.0, 0.0) == math.inf
    assert notion.loss(0.0, low, 0.0) == notion.loss(high, 1.0, 0.0) == -math.inf
    assert notion.loss(0.0, 0.0, 0.0) == notion.loss(1.0, 1.0, 0.0) == -math.inf


@pytest.mark.parametrize("notion", [NOTIONS["gaussian"], NOTIONS["bounded-range"]], ids=str)
def test_the_curve_has_the_slope_that_differences_have(notion):
    z, shift = np.linspace(-3, 3, 7) + 0.01, np.full(7, 0.6)
    assert notion.curve.reach(z, shift).tolist() == (z + 0.6).tolist()
    p, by = notion.coordinate.probability(z), 1e-6
    there = [notion.coordinate.probability(notion.coordinate.from_probability(q) + shift) for q in (p - by, p + by)]
    assert np.exp(notion.curve.log_slope(z, shift)) == pytest.approx((there[1] - there[0]) / (2 * by), rel=1e-4)


def test_the_flags_of_a_notion_state_what_it_promises():
    told = {str(notion): (notion.adds, notion.bounds_ratios, notion.fair_grows) for notion in NOTIONS.values()}
    assert told == {
        "pure": (True, True, True),
        "directed": (False, False, False),
        "approximate": (False, False, False),
        "gaussian": (True, False, True),
        "bounded-range": (True, True, True),
    }
    scales = {
        name: column.scales
        for notion in NOTIONS.values()
        for name, column in zip(notion.parameters, notion.columns, strict=True)
    }
    assert [name for name, value in scales.items() if not value] == ["delta", "delta_back"]
    assert [notion.currency.scale for notion in NOTIONS.values()] == [10**9, 10**9, 10**9, 10**12, 10**9]
    assert [notion.currency.squared for notion in NOTIONS.values()] == [False, False, False, True, False]
    assert [notion.currency.has_delta for notion in NOTIONS.values()] == [False, False, True, False, False]
