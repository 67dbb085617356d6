"""The step, the meeting point and the bound across of every notion, compared with exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb

from hetdp.theory.catalogue import NOTIONS
from hetdp.theory.notion import reversed_places
from hetdp.theory.rounding import add_down, half_down
from tests.loops import for_each
from tests.theory import notion_points as points
from tests.theory.exact import precision
from tests.theory.notion_exact import bound_of, is_at_most, not_negative, shortfall
from tests.theory.step_points import nudge

NOTION = pytest.mark.parametrize("notion", NOTIONS.values(), ids=NOTIONS.keys())
DIRECTED = pytest.mark.parametrize("notion", [NOTIONS["directed"], NOTIONS["approximate"]], ids=lambda x: x.name)
ADDITIVE_NOTION = pytest.mark.parametrize(
    "notion", [NOTIONS["gaussian"], NOTIONS["bounded-range"]], ids=lambda x: x.name
)
NUDGES = (-1, 0, 1)


def seen_from_target(notion, edge):
    return tuple(edge[at] for at in reversed_places(notion.parameters))


def around_the_meeting(notion, edge):
    at = notion.meet(*edge)
    if at == math.inf:
        return [0.0, 1.0, 700.0, -1.0]
    near = [nudge(at, k) for k in range(-4, 5)]
    return [*near, *(at * share for share in (0.0, 0.5, 1 - 1e-9, 1 + 1e-9, 1.1, 3.0, -1.0, -3.0)), -math.inf]


@NOTION
def test_the_step_is_never_above_the_exact_bound_nor_below_its_argument(notion):
    tried = 0
    for edge in points.edges(notion.name):
        for z in points.labels(edge, NUDGES):
            bound = notion.step(z, *edge)
            assert bound >= z, (z, edge)
            assert is_at_most(notion.name, bound, z, edge), (z, edge, bound)
            tried += 1
    assert tried > 8_000


@NOTION
def test_a_notion_that_adds_adds_its_parameter_to_labels_of_one_half_and_more(notion):
    cases = [(z, edge) for edge in points.edges(notion.name, 300) for z in points.labels(edge) if z >= 0.0]
    is_sum = all(notion.step(z, *edge) == add_down(z, edge[0]) for z, edge in cases)
    assert (len(notion.parameters) == 1 and is_sum) == notion.adds


@NOTION
def test_the_step_grows_with_the_label_over_any_distance(notion):
    for edge in points.edges(notion.name, 300):
        values = points.labels(edge)
        bounds = [notion.step(z, *edge) for z in values]
        assert [(z, edge) for z, (a, b) in zip(values, pairwise(bounds), strict=False) if b < a] == []


@DIRECTED
def test_the_step_grows_with_each_parameter(notion):
    """Exactly so with δ and with ε of the rise; the fall adds two terms that go either way with ε, so it may round."""
    for edge in points.edges(notion.name, 90):
        for place, name in enumerate(notion.parameters):
            more = [nudge(edge[place], 1), nudge(edge[place], 64), edge[place] * (1 + 1e-9), edge[place] * 1.5]
            raised = [value for value in sorted(more) if edge[place] <= value <= (1.0 if place > 1 else math.inf)]
            for z in points.labels(edge, (0,)):
                ladder = [notion.step(z, *edge[:place], value, *edge[place + 1 :]) for value in (edge[place], *raised)]
                for lower, higher in pairwise(ladder):
                    fits = higher >= lower or (name == "epsilon" and lower - higher <= 1e-14 * abs(lower))
                    assert fits, (z, edge, name, lower, higher)


@DIRECTED
def test_the_step_is_close_to_the_exact_bound(notion):
    """In p: relative up to ½, absolute above. A float of size z gives p only to z·2⁻⁵², so deep tails have room."""
    for edge in points.edges(notion.name, 80):
        for z in points.labels(edge, (0,)):
            bound = notion.step(z, *edge)
            if any(0.0 < size < 1e-290 for size in edge) or (z < -700 and bound < -660):
                continue  # such ε and δ count as 0; and e^z is no longer a float
            assert shortfall(bound, z, edge) <= 1e-13 * (1.0 + max(0.0, -bound) / 4.0), (z, edge, bound)


@for_each("gap", [1e-6, 1e-9, 1e-12])
@for_each("delta", [0.9, 0.99, 1.0 - 2.0**-20])
def test_with_a_large_delta_the_step_is_close_even_where_almost_no_error_is_left(delta, gap):
    """The exact bound on p is 1 − (1 − δ)(1 − e^−gap); z of such a small error is right to eleven digits."""
    z, edge = math.log(2.0 * (1.0 - delta)) - 0.25 - gap, (math.inf, 0.25, 0.0, delta)
    with precision(400):
        exact = float(-(2 * (1 - bound_of(z, edge))).log())
    assert exact - 1e-11 <= NOTIONS["approximate"].step(z, *edge) <= exact


@NOTION
def test_certainty_that_needs_more_than_the_edge_allows_is_never_reached(notion):
    for edge in points.edges(notion.name):
        for z in (0.0, 10.0, 700.0):
            assert notion.step(z, *edge) < math.inf or is_at_most(notion.name, math.inf, z, edge)


@NOTION
def test_a_quick_guess_above_a_label_means_that_the_step_cannot_improve_it(notion):
    guesses = 0
    for edge in points.edges(notion.name):
        for z in points.labels(edge, NUDGES):
            guess = notion.quick(z, *edge)
            if guess > -math.inf:
                guesses += 1
                assert notion.step(z, *edge) >= math.nextafter(guess, -math.inf)
    assert guesses > 100


@NOTION
def test_two_meet_at_the_same_label_seen_from_either_end(notion):
    for edge in points.edges(notion.name, 600):
        assert notion.meet(*edge) == notion.meet(*seen_from_target(notion, edge)) >= 0.0


@NOTION
def test_two_that_meet_are_private_and_at_most_what_a_coin_allows(notion):
    for edge in points.edges(notion.name, 600):
        at, back = notion.meet(*edge), seen_from_target(notion, edge)
        assert is_at_most(notion.name, at, -at, edge)
        assert is_at_most(notion.name, at, -at, back)
        assert at <= notion.step(0.0, *edge)  # on which the pruning of meetings rests


@DIRECTED
def test_the_meeting_point_is_close_to_the_exact_one(notion):
    for edge in points.edges(notion.name, 600):
        epsilon, back, delta, delta_back = (*edge, 0.0, 0.0)[:4]
        ways = [(e, d) for e, d in ((epsilon, delta), (back, delta_back)) if e < math.inf and d < 1.0]
        at = notion.meet(*edge)
        if not ways:
            assert at == math.inf
            continue
        with precision(2400):
            exact = min(((1 + arb(e).exp()) / (2 * (1 - arb(d)))).log() for e, d in ways)
            assert float(abs(exact - arb(at)).upper()) <= 1e-14 * at + 1e-290


@ADDITIVE_NOTION
def test_two_that_add_share_the_edge_evenly(notion):
    for (shift,) in points.edges(notion.name, 600):
        half = Fraction(notion.meet(shift))
        assert half <= Fraction(shift) / 2 < Fraction(math.nextafter(float(half), math.inf))
        assert notion.meet is half_down


@NOTION
def test_the_bound_across_is_never_above_the_exact_one(notion):
    for edge in points.edges(notion.name):
        for label in around_the_meeting(notion, edge):
            assert is_at_most(notion.name, notion.across(label, *edge), -label, edge), (label, edge)


@NOTION
def test_a_search_across_never_turns_back_and_no_offer_exceeds_what_a_coin_allows(notion):
    for edge in points.edges(notion.name, 400):
        at = notion.meet(*edge)
        assert notion.across(at, *edge) == at
        for label in around_the_meeting(notion, edge):
            offer = notion.across(label, *edge)
            assert offer >= (at if label <= at else notion.step(-label, *edge))
            assert label < 0.0 or offer <= notion.step(0.0, *edge)


@NOTION
def test_a_quick_guess_from_the_other_side_shows_what_is_not_worth_computing(notion):
    for edge in points.edges(notion.name, 400):
        for label in around_the_meeting(notion, edge):
            guess = notion.quick(-label, *edge)
            below = math.nextafter(guess, -math.inf)
            assert not below > label or notion.across(label, *edge) >= below
            assert not guess > label or notion.meet(*edge) >= label


@NOTION
def test_no_step_returns_minus_zero(notion):
    for edge in points.edges(notion.name):
        for z in (0.0, *points.turning_points(edge)):
            assert notion.step(z, *edge) != 0.0 or math.copysign(1.0, notion.step(z, *edge) + 0.0) == 1.0


def test_directed_with_one_epsilon_is_pure():
    pure, directed = NOTIONS["pure"], NOTIONS["directed"]
    for (epsilon,) in points.edges("pure", 300):
        assert directed.meet(epsilon, epsilon) == pure.meet(epsilon)
        for z in points.labels((epsilon,), NUDGES):
            one, other = pure.step(z, epsilon), directed.step(z, epsilon, epsilon)
            if z >= 0.0:
                assert one == other
            elif epsilon >= 1e-290:
                assert other == pytest.approx(one, rel=1e-13, abs=2e-14)


def test_approximate_without_delta_is_directed():
    directed, approximate = NOTIONS["directed"], NOTIONS["approximate"]
    for edge in points.edges("directed", 300):
        assert approximate.meet(*edge, 0.0, 0.0) == directed.meet(*edge)
        for z in points.labels(edge, NUDGES):
            assert approximate.step(z, *edge, 0.0, 0.0) == directed.step(z, *edge)


def test_one_direction_alone_bounds_p_from_one_side_at_a_time():
    """ε(u→v) = ∞ leaves p(v) ≤ e^ε(v→u)·p(u): from certainty nothing follows, from p = 0 everything."""
    step = NOTIONS["directed"].step
    assert step(math.log(0.2), math.inf, 1.0) == pytest.approx(math.log(0.2) + 1.0)
    assert step(math.log(2), math.inf, 1.0) == math.inf
    assert step(math.log(2), 1.0, math.inf) == pytest.approx(math.log(2) + 1.0)
    assert step(-math.inf, 1.0, math.inf) == pytest.approx(-math.log(2 / math.e), abs=1e-12)
    assert step(-math.inf, math.inf, 1.0) == -math.inf


def test_the_exactness_test_detects_wrong_steps():
    assert not is_at_most("directed", 0.1 + 1e-15, 0.0, (0.1, 0.1))
    assert not is_at_most("approximate", math.log(0.02) + 1e-12, -math.inf, (1.0, 1.0, 0.01, 0.01))
    assert not is_at_most("gaussian", math.nextafter(0.75, 1), 0.5, (0.25,))
    assert not not_negative(lambda: arb(2).log() - arb(0.6931471805599454))
    assert shortfall(0.0, 0.0, (0.1, 0.1)) > 0.04
