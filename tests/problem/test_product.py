"""Spaces of people: the same datasets, neighbours and ε as a graph that stores them."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.problem import product as product_module
from hetdp.problem import product as stored_module
from hetdp.problem.axis import BLOCK, Axis, Lines, cut_lines, runs_of
from hetdp.problem.decimals import UNIT, are_on_grid, round_down_to_grid, round_labels_down
from hetdp.problem.product import ProductSpace, as_graph, is_listable, require_listable
from tests.engines.products import random_answers, random_space
from tests.loops import for_each

YES_NO = ("yes", "no")


def epsilon_by_definition(space: ProductSpace) -> dict[tuple[int, int], float]:
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


@for_each("seed", range(30))
def test_edges_are_those_that_one_change_makes(seed):
    space = random_space(np.random.default_rng(seed), 120)
    expected = epsilon_by_definition(space)
    assert arcs(space) == expected
    assert space.arc_count == len(expected) == 2 * space.edge_count
    assert arcs(as_graph(space)) == expected
    for dataset in range(space.size):
        targets, (epsilon,) = space.neighbours(dataset)
        row = dict(zip(targets.tolist(), epsilon.tolist(), strict=True))
        assert list(row) == sorted(row)
        assert row == {v: e for (u, v), e in expected.items() if u == dataset}


@for_each("seed", range(20))
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


def test_labels_are_tuples_that_are_not_stored():
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


def test_positions_encode_the_values_of_people():
    space = ProductSpace([Axis.person("Ann", YES_NO, 1), Axis.tally("pupils", 2, 1)])
    assert space.positions(0).tolist() == [0, 0, 0, 1, 1, 1]
    assert space.positions(1, [4, 5]).tolist() == [1, 2]


@for_each("number", [0.1, 0.3, 1.0, 2.0**-41, 1e-30, 123.456, 9000.1, 1e300, 0])
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
    assert are_on_grid(np.array([-0.5, 2.0**13 - UNIT]))
    assert not any(are_on_grid(np.array([0.5, odd])) for odd in (-math.inf, math.nan, -(2.0**13), UNIT / 2))
    large = np.array([2.0**13, math.nextafter(2.0**13, 1e4), -(2.0**13)])
    assert round_labels_down(large).tolist() == large.tolist()
    assert round_labels_down(np.array([2.0**12 + UNIT / 2])).tolist() == [2.0**12]


def test_written_epsilons_are_stored():
    table = np.array([[9, 0.1, 0.2], [0.1, 9, 0.3], [0.2, 0.3, 9]])
    space = ProductSpace([Axis.person("Ann", "abc", table), Axis.tally("pupils", 1, 0.7)])
    assert space.edges_between(space.index(("c", 0)), space.index(("b", 0)))[0].parameters == {"epsilon": 0.3}
    assert space.edges_between(0, 1)[0].parameters == {"epsilon": 0.7}
    assert 0.3 - UNIT < space.neighbours(4)[1][0].tolist()[1] <= 0.3
    source, target, epsilon = space.edges()
    assert (source < target).all()
    assert sorted(epsilon.tolist()) == [0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.7, 0.7, 0.7]
    assert space.edge_classes() == ["Ann"] * 6 + ["pupils"] * 3
    with pytest.raises(hetdp.UsageError, match="are not neighbours"):
        space.edges_between(3, 3)


def test_the_identity_depends_on_the_definition():
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


def test_the_identity_of_large_spaces_uses_axes_and_of_small_ones_edges(monkeypatch):
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
    "ε that is not a number": (lambda: Axis.person("Ann", "ab", math.nan), "ε is a number ≥ 0"),
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
        "all axes that depend on states",
    ),
    "something else": (lambda: ProductSpace(["Ann"]), "made of Axis objects"),  # type: ignore[list-item]
}


@for_each(("make", "message"), REFUSED.values())
def test_invalid_spaces_are_refused(make, message):
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


SHAPES = [(1, 1, 1), (1, 3, 7), (5, 3, 1), (4, 2, 3), (2, 50, 2), (1, 0, 1), (3, 2, 0)]


@for_each("shape", SHAPES)
@for_each("most", [1, 4, 6, 12, 1000])
def test_parts_of_lines_are_small_and_share_no_dataset(shape, most):
    high, length, low = shape
    moves = Axis.tally("", 1, 1.0).moves()
    found: list[int] = []
    for first, last, begin, end in cut_lines(Lines(high, length, low, moves, np.ones((1, 1, 1))), most):
        part = [
            (line * length + at) * low + dataset
            for line in range(first, last)
            for at in range(length)
            for dataset in range(begin, end)
        ]
        assert len(part) <= max(most, length)
        found += part
    assert sorted(found) == list(range(high * length * low))


@pytest.mark.parametrize("axis", [Axis.person("", "abcd", 1), Axis.tally("", 5, 1), Axis.group("", 3, "abc", 1)])
def test_runs_are_the_moves_joined(axis):
    moves = axis.moves()
    starts = np.repeat(np.arange(axis.length), np.diff(moves.indptr))
    expected = sorted(zip(starts.tolist(), moves.targets.tolist(), moves.kinds.tolist(), strict=True))
    runs = runs_of(moves).tolist()
    assert sorted((at, at + hop, kind) for begin, end, hop, kind in runs for at in range(begin, end)) == expected
    follows = {(begin, hop, kind) for begin, _, hop, kind in runs} & {(end, hop, kind) for _, end, hop, kind in runs}
    assert not follows, "no run goes on where another one ends"


def test_people_are_counted_by_value_on_every_kind_of_axis():
    assert Axis.person("", "abc", 1).counts().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert Axis.tally("", 3, 1).counts().tolist() == [[0, 3], [1, 2], [2, 1], [3, 0]]
    assert Axis.group("", 2, "ab", 1).counts().tolist() == [[0, 2], [1, 1], [2, 0]]
    assert [Axis.group("", 2, "a", 1).positions, Axis.group("", 0, "ab", 1).positions] == [((2,),), ((0, 0),)]
    assert [axis.people for axis in (Axis.person("", "ab", 1), Axis.tally("", 3, 1), Axis.group("", 2, "ab", 1))] == [
        1,
        3,
        2,
    ]
    assert Axis.person("", "a", 1).moves().targets.tolist() == []


def test_a_group_has_at_most_a_million_counts(monkeypatch):
    monkeypatch.setattr("hetdp.problem.axis.MOST_POSITIONS", 6)
    assert Axis.tally("all", 5, 1).length == Axis.group("all", 2, "abc", 1).length == 6
    for make in (lambda: Axis.tally("all", 6, 1), lambda: Axis.group("all", 3, "abc", 1)):
        with pytest.raises(hetdp.UsageError, match="at most 6 different counts"):
            make()


def test_tables_of_epsilon_cannot_be_written_to_and_have_no_minus_zero():
    axis = Axis.person("Ann", "ab", -0.0)
    assert not np.signbit(axis.written).any()
    assert not np.signbit(axis.epsilon).any()
    for table in (axis.written, axis.epsilon):
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0, 0] = 1.0


def test_what_was_written_is_never_above_an_exact_epsilon():
    a_little_less = Fraction(1, 10) - Fraction(1, 10**30)
    assert Axis.person("Ann", "ab", a_little_less).written.item() == math.nextafter(0.1, 0.0)
    assert Axis.person("Ann", "ab", Fraction(1, 10)).written.item() == 0.1
    assert Axis.person("Ann", "ab", Fraction(1, 10) + Fraction(1, 10**30)).written.item() == 0.1
    assert Axis.person("Ann", "ab", math.inf).written.item() == math.inf


def test_states_are_whole_numbers_for_each_dataset():
    axis = Axis.person("Ann", "ab", np.ones((2, 2, 2, 2)))
    for wrong in ([0, -1], [0], [[0, 1]], [0.0, 1.0], [True, False]):
        with pytest.raises(hetdp.UsageError, match="one state for each dataset"):
            ProductSpace([axis], wrong)
    states = ProductSpace([axis], [0, 1]).states
    assert states is not None
    assert (states.tolist(), states.dtype, states.flags.writeable) == ([0, 1], np.uint8, False)
    assert ProductSpace([Axis.person("Ann", "ab", 1)], "no matter what").states is None


def test_spaces_are_listed_in_files_up_to_a_limit(monkeypatch):
    space = ProductSpace([Axis.person(at, YES_NO, 1) for at in range(3)])
    monkeypatch.setattr(stored_module, "MOST_WRITTEN", 8)
    monkeypatch.setattr(stored_module, "MOST_ARCS", 24)
    assert is_listable(space)
    require_listable(space)
    assert as_graph(space).arc_count == 24
    monkeypatch.setattr(stored_module, "MOST_ARCS", 23)
    assert not is_listable(space)
    with pytest.raises(hetdp.UsageError, match="12 edges to be stored"):
        require_listable(space)
    monkeypatch.setattr(stored_module, "MOST_WRITTEN", 7)
    assert not is_listable(space)
    with pytest.raises(hetdp.UsageError, match="8 datasets whose edges are computed"):
        require_listable(space)


def test_the_table_of_a_space_shows_the_range_of_each_epsilon():
    table = [[9, 0.25, 0.5], [0.25, 9, 0.5], [0.5, 0.5, 9]]
    space = ProductSpace([Axis.person("Ann", "abc", table), Axis.tally("pupils", 1, 0.75), Axis.person("one", "a", 1)])
    shown = re.sub("<[^>]*>", "|", space._repr_html_())
    assert "|Ann||1||3||0.25 to 0.5|" in shown
    assert "|pupils||1||2||0.75|" in shown
    assert "|one||1||1||0|" in shown


def test_moves_without_a_constraint_lead_to_no_neighbour():
    table = [[9, 0.5, math.inf], [0.5, 9, 1.0], [math.inf, 1.0, 9]]
    space = ProductSpace([Axis.person("Ann", "abc", table)])
    assert [space.neighbours(at)[0].tolist() for at in range(3)] == [[1], [0, 2], [1]]
    assert space.neighbours(1)[1][0].tolist() == [0.5, 1.0]
    assert (space.arc_count, len(space.edges()[0])) == (4, 2)


def test_entries_of_a_label_are_found_only_by_values_of_their_own_type():
    space = ProductSpace([Axis.person("Ann", [1, 0], 0.5), Axis.tally("others", 2, 0.5)])
    assert space.indices([(1, 0), (np.int64(1), np.int64(0)), (True, 0), (1.0, 0), (1, False)]).tolist() == [
        0,
        0,
        -1,
        -1,
        -1,
    ]
    with pytest.raises(hetdp.UnknownDatasetError) as refused:
        space.index(("qqqqqq", 0))
    assert refused.value.close == ()
