"""The step of Rényi privacy: never above the exact bound, never below its argument, monotone, and close."""

from __future__ import annotations

import math
import pickle
import random
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import hetdp
from hetdp.engines.compiling import compile_kernel
from hetdp.theory.catalogue import find_currency, find_notion, notion_of_key
from hetdp.theory.notion import Notion
from hetdp.theory.pure import PURE
from hetdp.theory.renyi import renyi
from tests.loops import for_each
from tests.stress import long
from tests.theory.renyi_exact import EPSILONS, ORDERS, exact_bound, is_private, labels

ORDER = pytest.mark.parametrize("alpha", ORDERS)


def points(alpha: float, few: bool = False) -> list[tuple[Notion, float, list[float]]]:
    """The notion, an ε and labels: all ε that are odd, and random ones."""
    rng, notion = random.Random(repr(alpha)), renyi(alpha)
    sizes = [*EPSILONS, *(10 ** rng.uniform(-6, 2) for _ in range(2))]
    found = [(notion, epsilon, labels(rng, epsilon, notion.meet(epsilon))) for epsilon in sizes]
    return [(notion, epsilon, values[:: 7 if few else 1]) for _, epsilon, values in found]


@ORDER
def test_the_step_is_never_above_the_exact_bound_nor_below_its_argument(alpha):
    for notion, epsilon, values in points(alpha, few=True):
        for z in values:
            bound = notion.step(z, epsilon)
            assert bound >= max(z, PURE.step(z, epsilon))
            assert is_private(z, bound, epsilon, alpha), (z, epsilon, bound)


@ORDER
def test_the_step_grows_with_the_label_from_float_to_float(alpha):
    for notion, epsilon, values in points(alpha):
        bounds = [notion.step(z, epsilon) for z in values]
        assert [(z, epsilon) for z, (a, b) in zip(values, pairwise(bounds), strict=False) if b < a] == []


def run_steps(labels: np.ndarray, epsilon: float, bounds: np.ndarray) -> None:
    for at in range(len(labels)):
        bounds[at] = step_here(labels[at], epsilon)


def step_here(label: float, epsilon: float) -> float:
    """Stands for the step."""
    raise NotImplementedError


@pytest.mark.parametrize("alpha", [1.0001, pytest.param(2.0, marks=long), 40.0])  # each compiles for a second
def test_the_compiled_step_is_the_same_to_the_bit_and_grows_over_long_runs_of_floats(alpha):
    notion, rng = renyi(alpha), np.random.default_rng(3)
    run = compile_kernel(run_steps, "run_steps", {step_here: notion.step})
    for epsilon in (1e-6, 0.1, 1.0, 4.0):
        meeting = notion.meet(epsilon)
        for center in (-meeting, meeting, 1e-3, -1.0, 2.5, *rng.uniform(-20, 20, 3)):
            near = np.float64(center).view(np.int64) + np.arange(-300, 300)
            values = np.sort(np.concatenate([near.view(np.float64), center + rng.normal(0, 1e-11, 300)]))
            bounds = np.empty(len(values))
            run(values, epsilon, bounds)
            assert (np.diff(bounds) >= 0.0).all()
            for at in rng.integers(0, len(values), 6).tolist():
                assert notion.step(float(values[at]), epsilon) == bounds[at]


@for_each("alpha", [1.05, 1.5, 2.0, 3.0, 10.0, 1e6])
def test_the_step_is_close_to_the_exact_bound(alpha):
    """As an error of its argument: the bound of a label that is a little lower is not above it."""
    notion, rng = renyi(alpha), random.Random(4)
    for _ in range(60):
        epsilon, z = 10 ** rng.uniform(-5, 1.3), rng.choice([rng.uniform(-4, 4), rng.uniform(-60, 60)])
        bound = notion.step(z, epsilon)
        spare = 2.0**-40 * (1.0 + 1.0 / (alpha - 1.0))
        lowered = exact_bound(z - spare * (1.0 + abs(z)), epsilon, alpha)
        assert bound >= lowered - spare * (1.0 + abs(bound)), (z, epsilon)


@ORDER
def test_two_that_meet_are_private_and_nothing_much_better_is(alpha):
    notion = renyi(alpha)
    for epsilon in EPSILONS:
        at = notion.meet(epsilon)
        assert PURE.meet(epsilon) <= at <= notion.step(0.0, epsilon)
        assert is_private(-at, at, epsilon, alpha)
        if 1e-6 < epsilon < 100.0 and 1.01 < alpha < 1e9:
            better = at + 2.0**-40 * (1.0 + at) * (1.0 + 1.0 / (alpha - 1.0))
            assert not is_private(-better, better, epsilon, alpha)


@ORDER
def test_the_bound_across_leads_to_the_meeting_point_or_beyond(alpha):
    for notion, epsilon, values in points(alpha, few=True):
        meeting = notion.meet(epsilon)
        assert notion.across(meeting, epsilon) == meeting
        for label in values:
            bound = notion.across(label, epsilon)
            assert bound >= meeting or label > meeting
            assert is_private(-label, bound, epsilon, alpha)
            if notion.quick(-label, epsilon) > label:
                assert meeting >= label


@ORDER
def test_nothing_is_allowed_over_epsilon_0_and_certainty_stays_where_it_is(alpha):
    notion = renyi(alpha)
    for z in (-math.inf, -800.0, -1.0, 0.0, 0.5, 700.0, math.inf):
        assert notion.step(z, 0.0) == z
    assert notion.step(-math.inf, 1.0) == -math.inf
    assert notion.step(math.inf, 1.0) == math.inf
    assert notion.step(0.0, math.inf) == PURE.step(0.0, math.inf)  # such edges are never stored
    assert notion.meet(0.0) == 0.0


def test_larger_orders_allow_less_down_to_pure_privacy():
    for z in (-3.0, -0.2, 0.0, 1.0):
        bounds = [renyi(alpha).step(z, 0.7) for alpha in (1.1, 1.5, 2.0, 4.0, 16.0, 1e6)]
        assert bounds == sorted(bounds, reverse=True)
        assert bounds[-1] == pytest.approx(PURE.step(z, 0.7), abs=1e-5)


def test_the_curve_has_the_slope_that_differences_have():
    notion = renyi(2.5)
    assert notion.curve is not None
    z, epsilon = np.linspace(-4, 4, 9) + 0.01, np.full(9, 0.6)
    p, by = notion.coordinate.probability(z), 1e-6
    there = [notion.coordinate.probability(notion.curve.reach(notion.coordinate.from_probability(q), epsilon))
             for q in (p - by, p + by)]  # fmt: skip
    assert np.exp(notion.curve.log_slope(z, epsilon)) == pytest.approx((there[1] - there[0]) / (2 * by), rel=1e-4)
    assert notion.curve.log_slope(np.array([0.3]), np.array([0.0])) == pytest.approx(0.0, abs=1e-12)


def test_the_loss_is_the_divergence():
    loss = renyi(2.0).loss
    assert loss(0.5, 0.25, 0.0) == pytest.approx(math.log(0.25 / 0.25 + 0.25 / 0.75))
    assert loss(0.25, 0.5, 0.0) == loss(0.5, 0.5, 0.0) == 0.0
    assert loss(0.5, 0.0, 0.0) == math.inf
    assert loss(1.0, 0.25, 0.0) == pytest.approx(math.log(4.0))


def test_every_order_is_a_notion_of_its_own_with_its_own_currency():
    one, other = renyi(2.0), renyi(2.5)
    assert (one.key, other.key, one.name) == ("renyi-2", "renyi-2.5", "renyi")
    assert one is find_notion("renyi", {"alpha": 2}) is notion_of_key("renyi-2") is pickle.loads(pickle.dumps(one))
    assert one != other
    assert one.currency.name == "renyi-2"
    assert find_currency("renyi-2") == one.currency != other.currency
    assert "order α = 2.5" in other.description
    assert notion_of_key(renyi(1e12).key).settings == (("alpha", 1e12),)


@for_each("name", ["renyi", "renyi-", "renyi-1", "renyi-2.0", "renyi-x", "renyi-inf", "renyi-2-3", "rényi-2"])
def test_an_invalid_order_is_neither_a_currency_nor_a_key(name):
    assert find_currency(name) is None
    with pytest.raises(hetdp.UsageError, match="unknown notion"):
        notion_of_key(name)


RANGE = "alpha is a number from 1.000001 to 1e+12."
REFUSED = {
    "no order": ({}, f"the notion 'renyi' without alpha; {RANGE}"),
    "1": ({"alpha": 1}, f"the notion 'renyi' with alpha=1; {RANGE}"),
    "infinity": ({"alpha": math.inf}, f"the notion 'renyi' with alpha=inf; {RANGE}"),
    "next to 1": ({"alpha": 1.0 + 2.0**-52}, f"the notion 'renyi' with alpha=1.0000000000000002; {RANGE}"),
    "too large": ({"alpha": 1e100}, f"the notion 'renyi' with alpha=1e+100; {RANGE}"),
    "text": ({"alpha": "2"}, f"the notion 'renyi' with alpha='2'; {RANGE}"),
    "a truth value": ({"alpha": True}, f"the notion 'renyi' with alpha=True; {RANGE}"),
    "an unknown setting": ({"beta": 2}, "the notion 'renyi' with beta=2; it has the settings alpha."),
}


@for_each("order", [2, 2.0, np.int64(2), np.float32(2), Fraction(2), Decimal(2)])
def test_an_order_is_a_number_of_any_type(order):
    assert find_notion("renyi", {"alpha": order}) is find_notion("renyi", {"alpha": 2.0})


@for_each(("settings", "message"), REFUSED.values())
def test_an_order_out_of_range_is_refused(settings, message):
    with pytest.raises(hetdp.UsageError) as refused:
        find_notion("renyi", settings)
    assert str(refused.value) == message
    words = "the notion 'pure' with alpha=2; it has no settings; alpha belongs to the notion 'renyi'"
    with pytest.raises(hetdp.UsageError, match=words):
        find_notion("pure", {"alpha": 2})
