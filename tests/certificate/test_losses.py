"""The largest loss of each class of edges, against plain loops over the definition: all notions, all spaces."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.certificate.losses import certain_answer, has_loss, largest_losses, losses_along
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from hetdp.releases.charges import account_name, costs_of
from hetdp.theory.catalogue import NOTIONS
from tests.loops import for_each
from tests.oracle.losses import loss_between

UNIT = Fraction(1, 10**9)
ROUNDED = Fraction(1, 2**200)  # more than the oracle's own enclosures
LEVELS = [0.0, 0.1, 0.25, 0.3, 0.7, 1.0, 2.5, 1e-10, 0.123456789123, 30.0]


def true_loss(notion: Any, one: float, other: float) -> Fraction | float:
    """The least parameter that an edge between these two coordinates satisfies."""
    if notion in ("pure", "directed"):
        return loss_between(one, other)
    if one == other:
        return Fraction(0)
    return math.inf if math.isinf(one) or math.isinf(other) else abs(Fraction(one) - Fraction(other))


def require_bound(true: Fraction | float, used: float, allowed: float, tight: bool = True) -> None:
    written = math.inf if math.isinf(used) else Fraction(repr(used))
    assert true <= written + ROUNDED
    assert used <= allowed
    if tight and used < allowed:
        assert written <= true + UNIT + ROUNDED


def random_problem(notion: Any, seed: int) -> hetdp.Problem:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 14))
    pairs = [(at, to) for at in range(size) for to in range(at + 1, size) if rng.random() < 0.4] or [(0, 1)]
    given: dict[str, Any] = {}
    for name in NOTIONS[notion].parameters:
        levels = [0.0, 1e-6, 0.1] if name.startswith("delta") else [*LEVELS, *([np.inf] if seed % 3 == 0 else [])]
        given[name] = rng.choice(levels, len(pairs)).tolist()
    classes = [["a", "b", None, "c"][at] for at in rng.integers(0, 4, len(pairs))] if seed % 2 else None
    source, target = (list(ends) for ends in zip(*pairs, strict=True))
    graph = hetdp.DatasetGraph.from_edges(source, target, datasets=range(size), classes=classes, **given)
    return hetdp.Problem(graph, rng.integers(1, 3, size).tolist(), notion)


@for_each("notion", sorted(NOTIONS))
@for_each("block", range(4))
def test_each_class_is_charged_its_largest_loss_and_no_more_than_it_was_promised(notion, block):
    less = 0
    for seed in range(block * 10, block * 10 + 10):
        problem = random_problem(notion, seed)
        z = hetdp.design(problem, "fair").coordinates
        costs = costs_of(problem, z)
        source, target, *_ = problem.graph.edges()
        classes = problem.graph.edge_classes() or [None] * len(source)
        true: dict[str, Fraction | float] = {}
        for u, v, name in zip(source.tolist(), target.tolist(), classes, strict=True):
            account = account_name(name)
            true[account] = max(true.get(account, Fraction(0)), true_loss(notion, float(z[u]), float(z[v])))
        assert set(true) == set(costs.names)
        for at, name in enumerate(costs.names):
            used, allowed = float(costs.used[costs.main][at]), float(costs.allowed[costs.main][at])
            if notion == "approximate":
                assert used == allowed
                assert costs.used["delta"][at] == costs.allowed["delta"][at]
            else:
                require_bound(true[name], used, allowed)
                less += used < allowed
    assert less > 0 or notion == "approximate"


@pytest.mark.parametrize("notion", ["pure", "directed", "bounded-range", "gaussian"])
@for_each("seed", range(30))
def test_the_losses_of_arbitrary_values_are_rounded_up_by_less_than_one_unit(notion, seed):
    rng = np.random.default_rng(seed)
    values = np.concatenate(
        [rng.choice([0.0, 0.1, -0.1, 0.3, 1.0, -2.5, np.inf, -np.inf, 700.0, -745.0, 1e-300, 5e-324], 30),
         np.round(rng.normal(0, 2, 30), 3), rng.normal(0, 1e-9, 10), 0.4 + rng.normal(0, 1e-16, 10)]
    )  # fmt: skip
    one, other = rng.choice(values, 120), rng.choice(values, 120)
    numbers, allowed = rng.integers(0, 40, 120), np.full(40, np.inf)
    found = largest_losses(one, other, numbers, allowed, NOTIONS[notion])
    for number in range(40):
        mine = np.flatnonzero(numbers == number)
        true = max((true_loss(notion, float(one[at]), float(other[at])) for at in mine), default=Fraction(0))
        require_bound(true, float(found[number]), math.inf)


def test_a_loss_that_is_a_decimal_is_charged_as_this_decimal():
    ends = np.array([0.5, 0.125]), np.array([0.25, -np.inf])
    assert largest_losses(*ends, np.array([0, 1]), np.array([1.0, np.inf]), NOTIONS["pure"]).tolist() == [0.25, np.inf]
    twice = np.array([0.1, 0.3]), np.array([0.4, 0.1])  # as floats 0.4 − 0.1 is above 0.3, and 0.3 − 0.1 below 0.2
    exact = [Fraction(0.4) - Fraction(0.1), Fraction(0.3) - Fraction(0.1)]
    found = largest_losses(*twice, np.array([0, 1]), np.array([1.0, 1.0]), NOTIONS["pure"])
    for bound, loss in zip(found.tolist(), exact, strict=True):
        require_bound(loss, bound, 1.0)


def test_only_values_that_are_certainly_equal_are_constant():
    certain = np.full(3, np.inf)
    assert [certain_answer(certain), certain_answer(-certain)] == [1, 2]
    assert certain_answer(np.array([np.inf, -np.inf])) == certain_answer(np.array([0.0])) == 0


def random_product(seed: int) -> ProductSpace:
    rng = np.random.default_rng(seed)
    axes: list[Axis] = []
    if seed % 2:
        table = np.full((2, 2, 2, 2), rng.choice([0.1, 0.5, 1.0]))
        table[..., 1, :] = table[..., :, 1] = np.inf
        axes.append(Axis.person("Ann", ["yes", "no"], table))
    axes.append(Axis.tally("others", int(rng.integers(1, 5)), float(rng.choice([0.3, 2.0, np.inf]))))
    axes.append(Axis.person("Cyd", ["x", "y", "z"], 2))
    axes.append(Axis.group("three", int(rng.integers(1, 4)), ["x", "y", "z"], 0.7))
    size = math.prod(axis.length for axis in axes)
    states = rng.integers(0, 2, size) if seed % 2 else None
    return ProductSpace(axes, states)


@for_each("seed", range(12))
def test_along_an_axis_every_change_counts_even_where_nothing_is_promised(seed):
    space = random_product(seed)
    rng = np.random.default_rng(seed)
    values = [-np.inf, -2.0, -0.3, -0.1, 0.0, 0.1, 0.4, 1.7, np.inf] if seed % 3 == 0 else [-0.3, 0.1, 0.9]
    z = rng.choice(values, space.size)
    found = losses_along(space, z, np.full(len(space.axes), np.inf), NOTIONS["pure"])
    labels = [space.label(at) for at in range(space.size)]
    place = {label: at for at, label in enumerate(labels)}
    true: list[Fraction | float] = [Fraction(0)] * len(space.axes)
    for label in labels:
        for axis, own in enumerate(space.axes):
            for other in neighbours_along(own, label[axis]):
                there = (*label[:axis], other, *label[axis + 1 :])
                true[axis] = max(true[axis], loss_between(float(z[place[label]]), float(z[place[there]])))
    for bound, loss in zip(found.tolist(), true, strict=True):
        require_bound(loss, bound, math.inf)


def neighbours_along(axis: Axis, position: Any) -> list[Any]:
    """The positions that one person's change can lead to, computed by hand."""
    if axis.shape == "value":
        return [value for value in axis.values if value != position]
    if axis.shape == "count":
        return [count for count in (position - 1, position + 1) if 0 <= count <= axis.people]
    found = []
    for given_up in range(len(position)):
        for taken in range(len(position)):
            if given_up != taken and position[given_up]:
                counts = list(position)
                counts[given_up] -= 1
                counts[taken] += 1
                found.append(tuple(counts))
    return found


@pytest.mark.parametrize("design", ["fair", "balanced"])
def test_votes_cost_the_same_with_and_without_stored_edges(design):
    sizes, privacy = {"few": 5, "open": 2}, {"few": 0.4, "open": 20}
    problem = hetdp.spaces.tallies(sizes, hetdp.questions.majority(), privacy)
    space, z = problem.graph, hetdp.design(problem, design).coordinates
    costs = costs_of(problem, z)
    stored = hetdp.DatasetGraph.from_edges(*space.edges(), datasets=range(space.size), classes=space.edge_classes())
    again = costs_of(hetdp.Problem(stored, problem.answers), z)
    used = dict(zip(costs.names, costs.used["epsilon"].tolist(), strict=True))
    assert used == dict(zip(again.names, again.used["epsilon"].tolist(), strict=True))
    assert costs.allowed["epsilon"].max() == 20
    assert used["open"] <= (0.4 if design == "balanced" else 20)


def test_along_an_axis_bounded_range_loses_the_difference_of_logits():
    space = ProductSpace([Axis.person("Ann", ["yes", "no"], 3.0)])
    notion = NOTIONS["bounded-range"]
    assert losses_along(space, np.array([-1.0, 1.0]), np.array([3.0]), notion).tolist() == [2.0]
    assert losses_along(space, np.array([-1.0, 1.0]), np.array([3.0]), NOTIONS["pure"])[0] < 1.5


def test_losses_too_large_for_nine_decimals_are_rounded_up_a_little():
    one, other, numbers = np.array([-5e4, -1.0, -6e3]), np.array([-0.25, -0.75, -1e3]), np.array([0, 1, 2])
    found = largest_losses(one, other, numbers, np.full(3, np.inf), NOTIONS["pure"]).tolist()
    assert 49999.75 < found[0] < 49999.75 * (1 + 1e-12)
    assert found[1:] == [0.25, 5e3]
    assert largest_losses(one, other, numbers, np.array([1e4, 0.125, 6e3]), NOTIONS["pure"]).tolist() == [
        1e4,
        0.125,
        5e3,
    ]


def test_a_loss_is_one_number_unless_an_edge_has_a_delta():
    assert {name for name in NOTIONS if has_loss(NOTIONS[name])} == {*NOTIONS} - {"approximate"}
