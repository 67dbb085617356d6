"""Spaces of people: the same datasets, neighbours and ε as a graph that stores them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.problem import product as product_module
from hetdp.problem import product as stored_module
from hetdp.problem.axis import BLOCK, Axis
from hetdp.problem.grid import UNIT, are_on_grid, round_down_to_grid, round_labels_down
from hetdp.problem.product import ProductSpace, as_graph
from tests.engines.products import random_answers, random_space

YES_NO = ("yes", "no")


def by_hand(space: ProductSpace) -> dict[tuple[int, int], float]:
    """ε of every pair of neighbours, from counts: one person's change makes one dataset of the other."""

    def people(axis: Axis, entry: Any) -> list[int]:
        """How many have each value."""
        if axis.shape == "value":
            return [int(entry == value) for value in axis.values]
        return [entry, axis.people - entry] if axis.shape == "count" else list(entry)

    found = {}
    labels = list(product(*(axis.positions for axis in space.axes)))
    for (at, one), (to, other) in product(enumerate(labels), enumerate(labels)):
        differ = [place for place in range(len(one)) if one[place] != other[place]]
        if len(differ) != 1:
            continue
        axis = space.axes[differ[0]]
        shift = np.array(people(axis, other[differ[0]])) - np.array(people(axis, one[differ[0]]))
        if np.abs(shift).sum() == 2:
            low, high = np.flatnonzero(shift)
            kind = [(a, b) for a in range(len(shift)) for b in range(a + 1, len(shift))].index((int(low), int(high)))
            assert axis.states == 1 or space.states is not None
            states: Any = (0, 0) if space.states is None or axis.states == 1 else (space.states[at], space.states[to])
            found[at, to] = float(axis.epsilon[kind][states])
    return {pair: epsilon for pair, epsilon in found.items() if epsilon < math.inf}


def arcs(space: hetdp.DatasetGraph | ProductSpace) -> dict[tuple[int, int], float]:
    found = {}
    for source, target, (epsilon,) in space.edge_blocks():
        assert len(source) <= BLOCK
        for u, v, e in zip(source.tolist(), target.tolist(), epsilon.tolist(), strict=True):
            assert (u, v) not in found
            found[u, v] = e
    return found


@pytest.mark.parametrize("seed", range(30))
def test_edges_are_those_that_one_change_makes(seed):
    space = random_space(np.random.default_rng(seed), 120)
    expected = by_hand(space)
    assert arcs(space) == expected
    assert space.arc_count == len(expected) == 2 * space.edge_count
    assert arcs(as_graph(space)) == expected
    for dataset in range(space.size):
        targets, (epsilon,) = space.neighbours(dataset)
        row = dict(zip(targets.tolist(), epsilon.tolist(), strict=True))
        assert list(row) == sorted(row)
        assert row == {v: e for (u, v), e in expected.items() if u == dataset}


@pytest.mark.parametrize("seed", range(20))
def test_the_boundary_is_that_of_the_stored_graph(seed):
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    answers = random_answers(rng, space.size)
    ours, stored = hetdp.Problem(space, answers), hetdp.Problem(as_graph(space), answers)
    assert ours.boundary_mask.tolist() == stored.boundary_mask.tolist()
    assert ours.boundary == stored.boundary
    assert repr(ours) == repr(stored)


@pytest.mark.parametrize("states", [1, 2])
def test_the_boundary_of_many_datasets_is_found_by_the_compiled_loop(states):
    rng = np.random.default_rng(states)
    table = np.array([[0.5, math.inf], [math.inf, 1.0]])[:states, :states]
    axes = [Axis.person(at, YES_NO, np.broadcast_to(table, (2, 2, states, states))) for at in range(15)]
    space = ProductSpace(axes, rng.integers(0, states, 2**15))
    answers = np.where(rng.random(space.size) < 0.05, 1, 2)
    expected = np.zeros(space.size, dtype=np.bool_)
    for source, target, _ in space.edge_blocks():
        expected[source[answers[source] != answers[target]]] = True
    assert 0 < expected.sum() < space.size
    assert hetdp.Problem(space, answers).boundary_mask.tolist() == expected.tolist()


def test_labels_are_tuples_that_nobody_stores():
    axes = [Axis.person("Ann", ["yes", "no", None], 1), Axis.tally("pupils", 3, 1), Axis.group("staff", 2, "abc", 1)]
    space = ProductSpace(axes)
    assert space.size == 3 * 4 * 6
    assert list(space.datasets) == [space.label(at) for at in range(space.size)]
    assert [space.index(label) for label in space.datasets] == list(range(space.size))
    assert space.label(0) == ("yes", 0, (0, 0, 2))
    assert space.datasets[-1] == space.datasets[70:72][1] == (None, 3, (2, 0, 0))
    strange = [("yes", 0), ("yes", 4, (0, 0, 2)), ("yes", True, (0, 0, 2)), ("yes", [], (0, 0, 2)), "yes", ([], 0, 0)]
    assert space.indices([*strange, ("no", 1, (1, 1, 0))]).tolist() == [-1] * 6 + [space.index(("no", 1, (1, 1, 0)))]
    with pytest.raises(hetdp.UnknownDatasetError):
        space.index(("yes", 0, (0, 0, 3)))
    with pytest.raises(IndexError):
        space.label(space.size)
    assert space.datasets == ProductSpace(axes).datasets == list(space.datasets)
    assert space.datasets != ProductSpace(axes[:2]).datasets
    assert space.datasets != [*[*space.datasets][:-1], ("yes", 0, (0, 0, 2))], "as many, but not the same"
    assert space.datasets != ProductSpace([Axis.person("Ann", ["yes", "no", "?"], 1), *axes[1:]]).datasets
    huge = ProductSpace([Axis.person(at, YES_NO, 1) for at in range(60)])
    assert huge.index(huge.label(2**59 + 5)) == 2**59 + 5
    assert huge.arc_count == 60 * 2**60


def test_positions_say_who_has_what():
    space = ProductSpace([Axis.person("Ann", YES_NO, 1), Axis.tally("pupils", 2, 1)])
    assert space.positions(0).tolist() == [0, 0, 0, 1, 1, 1]
    assert space.positions(1, [4, 5]).tolist() == [1, 2]


@pytest.mark.parametrize("number", [0.1, 0.3, 1.0, 2.0**-41, 1e-30, 123.456, 9000.1, 1e300, 0])
def test_epsilon_is_floored_to_the_grid(number):
    used = Fraction(round_down_to_grid(number))
    written = Fraction(repr(number))
    assert (used * 2**40).denominator == 1
    assert used <= written
    assert written - used < max(Fraction(1, 2**40), written / 2**51)


def test_exact_numbers_are_floored_as_they_are():
    assert round_down_to_grid(Fraction(1, 3)) == math.floor(2**40 / 3) * UNIT
    assert round_down_to_grid(Fraction(2**40 * 5 - 1, 2**41)) == 2.5 - UNIT
    assert round_down_to_grid(math.inf) == math.inf
    assert round_labels_down(np.array([0.1, -0.1, math.inf, 1e9])).tolist() == [
        round_down_to_grid(0.1),
        -round_down_to_grid(0.1) - UNIT,
        math.inf,
        1e9,
    ]
    assert are_on_grid(np.array([0.5, round_down_to_grid(0.1), math.inf]))
    assert not are_on_grid(np.array([0.1]))
    assert not are_on_grid(np.array([2.0**13]))


def test_what_was_written_is_remembered():
    table = np.array([[9, 0.1, 0.2], [0.1, 9, 0.3], [0.2, 0.3, 9]])
    space = ProductSpace([Axis.person("Ann", "abc", table), Axis.tally("pupils", 1, 0.7)])
    assert space.edges_between(space.index(("c", 0)), space.index(("b", 0)))[0].parameters == {"epsilon": 0.3}
    assert space.edges_between(0, 1)[0].parameters == {"epsilon": 0.7}
    assert 0.3 - UNIT < space.neighbours(4)[1][0].tolist()[1] <= 0.3
    source, target, epsilon = space.edges()
    assert (source < target).all()
    assert sorted(epsilon.tolist()) == [0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.7, 0.7, 0.7]
    assert space.edge_classes() == ["Ann"] * 6 + ["pupils"] * 3
    with pytest.raises(hetdp.UsageError, match="no neighbours"):
        space.edges_between(3, 3)


def test_problems_are_known_by_their_definition():
    def identity(epsilon=0.5, values=YES_NO, answers=(1, 1, 2, 2), states=None):
        return hetdp.Problem(
            ProductSpace([Axis.person(at, values, epsilon) for at in "ab"], states), list(answers)
        ).identity

    same, table = np.full((2, 2, 2, 2), 0.5), np.full((2, 2, 2, 2), 0.5)
    table[:, :, 1, 1] = 0.25
    others = [
        identity(0.25),
        identity(values=("y", "n")),
        identity(answers=(1, 2, 2, 2)),
        identity(table, states=[1, 1, 0, 0]),
        identity(table, states=[1, 0, 1, 0]),
    ]
    assert identity() == identity()
    assert identity() == identity(same, states=[0, 0, 0, 1])  # which states there are makes no difference to any edge
    assert len({identity(), *others}) == 6


def test_large_spaces_are_known_by_their_axes_and_small_ones_by_their_edges(monkeypatch):
    def identity(epsilon):
        return hetdp.Problem(ProductSpace([Axis.person(at, YES_NO, epsilon) for at in "ab"]), [1, 1, 2, 2]).identity

    stored = hetdp.Problem(as_graph(ProductSpace([Axis.person(at, YES_NO, 0.1) for at in "ab"])), [1, 1, 2, 2])
    assert identity(0.1) == stored.identity
    assert stored.identity != identity(0.3)
    monkeypatch.setattr(stored_module, "MOST_WRITTEN", 3)
    assert identity(0.1) != stored.identity
    assert len({identity(0.1), identity(0.1), identity(0.3)}) == 2


def test_edges_are_stored_only_where_they_fit(monkeypatch):
    monkeypatch.setattr(product_module, "MOST_ARCS", 23)
    cube = ProductSpace([Axis.person(at, YES_NO, 1) for at in range(3)])
    with pytest.raises(hetdp.UsageError) as refused:
        as_graph(cube)
    assert str(refused.value) == (
        "12 edges to be stored; at most 11 edges between people's datasets are stored."
        " Hint: balanced, check, extend and verify store none; tallies have fewer edges than votes"
    )


REFUSED = {
    "no values": (lambda: Axis.person("Ann", [], 1), "several different values"),
    "a value twice": (lambda: Axis.person("Ann", "aa", 1), "several different values"),
    "a negative size": (lambda: Axis.tally("all", -1, 1), "0 people or more"),
    "too many counts": (lambda: Axis.group("all", 10**6, "abc", 1), "at most 1,048,576 different counts"),
    "one count for three values": (lambda: Axis.tally("all", 3, 1, "abc"), "for more, use group"),
    "a table of another size": (lambda: Axis.person("Ann", "ab", np.ones((3, 3))), "shape \\(3, 3\\)"),
    "a table that is no square": (lambda: Axis.person("Ann", "ab", np.ones((2, 2, 1, 2))), "shape \\(2, 2, 1, 2\\)"),
    "negative ε": (lambda: Axis.person("Ann", "ab", -0.5), "ε is a number ≥ 0"),
    "ε that is no number": (lambda: Axis.person("Ann", "ab", math.nan), "ε is a number ≥ 0"),
    "ε by direction": (lambda: Axis.person("Ann", "ab", [[0, 1], [2, 0]]), "the same both ways"),
    "states by direction": (
        lambda: Axis.person("Ann", "ab", np.broadcast_to([[0, 1], [2, 0]], (2, 2, 2, 2))),
        "the same both ways",
    ),
    "states missing": (lambda: ProductSpace([Axis.person("Ann", "ab", np.ones((2, 2, 2, 2)))]), "one state for each"),
    "a state too large": (
        lambda: ProductSpace([Axis.person("Ann", "ab", np.ones((2, 2, 2, 2)))], [0, 2]),
        "one state for each",
    ),
    "tables that differ in states": (
        lambda: ProductSpace([Axis.person("Ann", "ab", np.ones((2, 2, n, n))) for n in (2, 3)], [0, 1, 0, 1]),
        "all that tell states apart",
    ),
    "something else": (lambda: ProductSpace(["Ann"]), "made of Axis objects"),  # type: ignore[list-item]
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_makes_no_space_is_refused(make, message):
    with pytest.raises((hetdp.UsageError, hetdp.InputError), match=message):
        make()


def test_the_labels_of_a_product_are_equal_to_any_sequence_of_the_same_labels_only():
    names = ProductSpace([Axis.person("Ann", ["yes", "no"], 0.5), Axis.tally("others", 2, 0.25)]).datasets
    listed = [("yes", 0), ("yes", 1), ("yes", 2), ("no", 0), ("no", 1), ("no", 2)]
    assert names == listed
    assert names == tuple(listed)
    assert names[1:4] == listed[1:4]
    for at in range(len(listed)):
        assert names != [*listed[:at], ("maybe", 0), *listed[at + 1 :]]
    assert names != listed[:-1]
    assert names != [*listed, ("no", 3)]
    assert names != 6


def test_the_labels_of_two_products_are_equal_if_all_positions_are():
    def names(values, people):
        return ProductSpace([Axis.person("Ann", values, 0.5), Axis.tally("others", people, 0.25)]).datasets

    assert names(["yes", "no"], 2) == names(["yes", "no"], 2)
    assert hash(names(["yes", "no"], 2)) == hash(names(["yes", "no"], 2))
    assert names(["yes", "no"], 2) != names(["yes", "nay"], 2)
    assert names(["yes", "no"], 2) != names(["no", "yes"], 2)
    assert names(["yes", "no"], 2) != names(["yes", "no"], 3)


def test_a_misspelt_entry_of_a_label_is_replaced_in_the_hint():
    space = ProductSpace([Axis.person(f"person {at}", ["yes", "no"], 0.5) for at in range(24)])
    label = ("no",) * 23
    with pytest.raises(hetdp.UnknownDatasetError) as refused:
        space.index((*label, "yess"))
    assert refused.value.close == ((*label, "yes"),)
    with pytest.raises(hetdp.UnknownDatasetError) as refused:
        space.index(",".join([*label, "yes"]))
    assert refused.value.close == ((*label, "yes"),)
    with pytest.raises(hetdp.UnknownDatasetError) as refused:
        space.index(label)
    assert refused.value.close == ()
