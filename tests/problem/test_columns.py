"""Columns of every type are read as intended or refused."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import hetdp
from hetdp.errors import FaultCollector
from hetdp.numbers import parse_exact
from hetdp.problem.columns import as_floats, as_integers, as_mapping, sort_distinct
from tests.loops import for_each


class Series:
    """A fake data-frame column: values with labels, in an order of their own."""

    def __init__(self, values: dict):
        self._values = values
        self.index = list(values)

    def to_dict(self) -> dict:
        return dict(self._values)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(list(self._values.values()), dtype=dtype)

    def __iter__(self):
        return iter(self._values.values())

    def __len__(self) -> int:
        return len(self._values)


def graph(epsilon=1.0) -> hetdp.DatasetGraph:
    return hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], epsilon)


def test_a_masked_epsilon_is_missing_whatever_number_lies_under_the_mask():
    with pytest.raises(hetdp.InputError, match=r"edge 1 \('b', 'c'\): missing ε"):
        graph(np.ma.array([0.5, 99.0], mask=[False, True]))


def test_a_masked_pin_is_not_given():
    problem = hetdp.Problem(graph(), [1, 1, 2])
    masked = np.ma.array([0.9, 0.6, 0.5], mask=[True, False, False])
    mechanism = hetdp.extend(problem, masked)
    assert mechanism.pinned.tolist() == [False, True, True]


def test_no_fraction_or_decimal_is_ever_rounded_up():
    draw = random.Random(5)
    exact = [Fraction(draw.randint(1, 99), draw.randint(1, 99)) for _ in range(500)]
    exact += [Fraction(Decimal(f"0.{draw.randint(1, 10**20):020d}")) for _ in range(500)]
    for given in (exact, [Decimal(value.numerator) / Decimal(value.denominator) for value in exact]):
        ends = list(range(len(given)))
        used = hetdp.DatasetGraph.from_edges(ends, [at + 1 for at in ends], given)
        for at, value in enumerate(given):
            assert Fraction(float(used.epsilon[used.indptr[at + 1] - 1])) <= Fraction(value)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble])
def test_a_short_or_long_float_is_the_decimal_it_prints_as(kind):
    used = graph(np.array([0.1, 0.7], dtype=kind)).epsilon
    assert Fraction(float(used[0])) <= Fraction(1, 10)
    assert used[0] == pytest.approx(0.1, abs=1e-4)


JUST_BELOW_1 = np.nextafter(np.longdouble(1), np.longdouble(0))
EXACTLY = {  # what an ε may be given as, and what it is at most
    "long double": (JUST_BELOW_1, Fraction(*JUST_BELOW_1.as_integer_ratio())),
    "long double as written": (np.longdouble("0.1"), Fraction(1, 10)),
    "half": (np.float16(0.1), Fraction(1, 10)),
    "single": (np.float32(0.7), Fraction(7, 10)),
    "decimal": (Decimal("0.99999999999999999999"), Fraction("0.99999999999999999999")),
    "fraction": (Fraction(2**60 - 1, 2**60), Fraction(2**60 - 1, 2**60)),
    "whole": (2**53 + 3, Fraction(2**53 + 3)),
    "whole of NumPy": (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
    "large": (10**30 + 1, Fraction(10**30 + 1)),
}


@pytest.mark.parametrize("kind", EXACTLY)
def test_an_epsilon_of_any_type_is_rounded_down_everywhere(kind):
    value, most = EXACTLY[kind]
    boxed = np.empty(1, dtype=object)
    boxed[0] = value
    for given in (value, [value], (value,), np.array([value]), np.array(value), boxed, [value, 0.5]):
        several = isinstance(given, list) and len(given) == 2
        ends = ([0, 1], [1, 2]) if several else ([0], [1])
        used = hetdp.DatasetGraph.from_edges(*ends, given, datasets=range(3)).epsilon
        assert most * (1 - Fraction(1, 10**12)) < Fraction(float(used[0])) <= most


def test_an_exact_number_is_not_above_a_long_double():
    for value in (JUST_BELOW_1, np.longdouble("0.1"), np.longdouble(1) / 3):
        assert parse_exact(value, "ε") <= min(Fraction(*value.as_integer_ratio()), Fraction(str(value)))
    assert parse_exact(np.longdouble("0.1"), "ε") == Fraction(1, 10)


@for_each("value", [True, 1j, 10**400, np.bool_(True), np.timedelta64(1), np.timedelta64(1, "s"), "0.5"])
def test_values_that_are_not_numbers_are_refused_as_epsilon(value):
    with pytest.raises(hetdp.InputError, match="non-numeric ε"):
        graph([1.0, value])


def test_all_faults_of_a_column_of_epsilon_are_reported_together():
    with pytest.raises(hetdp.InputError) as refused:
        hetdp.DatasetGraph.from_edges([0, 1, 5, 6, 7], [1, 2, 6, 7, 8], [1.0, math.nan, -1, "a", None])
    assert [(fault.what, fault.where) for fault in refused.value.faults] == [
        ("non-numeric ε", "edge 3"),
        ("missing ε", "edge 1 (1, 2)"),
        ("missing ε", "edge 4 (7, 8)"),
        ("negative ε", "edge 2 (5, 6)"),
    ]


@pytest.mark.parametrize("missing", [None, math.nan, np.nan])
def test_a_missing_end_of_an_edge_is_not_a_dataset(missing):
    with pytest.raises(hetdp.InputError, match=r"target\[1\]: missing label"):
        hetdp.DatasetGraph.from_edges(["a", "b"], ["b", missing], 1.0)


def test_a_series_with_labels_is_read_by_its_labels():
    backwards = Series({"c": 2, "b": 1, "a": 1})
    problem = hetdp.Problem(graph(), backwards)
    assert problem.answers.tolist() == [1, 1, 2]
    mechanism = hetdp.extend(problem, Series({"c": 0.3, "b": 0.7}))
    assert mechanism["b"] == pytest.approx(0.7)


def test_a_series_with_other_labels_is_refused():
    with pytest.raises(hetdp.InputError, match="unknown dataset"):
        hetdp.Problem(graph(), Series({0: 1, 1: 1, 2: 2}))


@pytest.mark.parametrize("column", [3, 0.5, {"a", "b"}, object()])
def test_values_that_are_not_columns_are_refused_in_one_line(column):
    for call in (
        lambda: hetdp.DatasetGraph.from_edges(column, ["b"], 1.0),
        lambda: hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0, datasets=column),
        lambda: hetdp.Problem(graph(), column),
        lambda: hetdp.check(hetdp.Problem(graph(), [1, 1, 2]), column),
    ):
        with pytest.raises(hetdp.InputError, match="not a column"):
            call()


@pytest.mark.parametrize("call", [hetdp.extend, hetdp.check, hetdp.verify])
def test_a_call_without_a_problem_is_refused(call):
    with pytest.raises(hetdp.UsageError, match="expected a Problem, got a"):
        call({"a": 0.5}, hetdp.Problem(graph(), [1, 1, 2]))


def test_a_problem_without_a_graph_is_refused():
    with pytest.raises(hetdp.UsageError, match="expected a graph, got"):
        hetdp.Problem({"a": ["b"]}, [1, 2])


def test_integers_with_gaps_keep_their_names():
    gaps = hetdp.DatasetGraph.from_edges(np.array([4, 7]), np.array([7, 100]), 1.0)
    assert list(gaps.datasets) == [4, 7, 100]
    assert gaps.indices(np.array([100, 5, 4, 101])).tolist() == [2, -1, 0, -1]


def test_parts_of_a_problem_and_of_a_graph_cannot_be_replaced():
    problem = hetdp.Problem(graph(), [1, 1, 2])
    for target, name in ((problem, "answers"), (problem.graph, "parameters")):
        with pytest.raises(AttributeError, match="does not change"):
            setattr(target, name, None)


def test_long_and_wrapped_values_are_shown_short_and_plain():
    with pytest.raises(hetdp.InputError) as caught:
        hetdp.DatasetGraph.from_edges(np.array([0, 1]), np.array([1, 2]), [-1.0, 1.0])
    assert "edge 0 (0, 1)" in str(caught.value)
    with pytest.raises(hetdp.InputError) as caught:
        hetdp.DatasetGraph.from_edges(["x" * 5000], ["b"], [-1.0])
    assert len(str(caught.value)) < 300


def test_integers_are_recognised_in_every_form():
    def list_whole(values):
        found = as_integers(values)
        return None if found is None else found.tolist()

    assert list_whole(range(3, 9, 2)) == [3, 5, 7]
    assert list_whole([1, -2]) == list_whole(np.array([1, -2], dtype=np.int8)) == [1, -2]
    assert list_whole(np.array([2**63 - 1], dtype=np.uint64)) == [2**63 - 1]
    assert list_whole(np.array([2**63], dtype=np.uint64)) is None
    assert list_whole(np.array([], dtype=np.uint64)) == []
    assert (
        list_whole([2**63])
        is list_whole([1, True])
        is list_whole([1, 1.0])
        is list_whole(["1"])
        is list_whole([])
        is None
    )
    assert list_whole(np.array([1.0])) is list_whole(np.array([True])) is list_whole(np.array([[1]])) is None
    assert list_whole(np.ma.masked_array([1, 2], [False, True])) is None
    assert list_whole(np.ma.masked_array([1, 2], [False, False])) == [1, 2]


def test_distinct_integers_are_sorted():
    assert sort_distinct(np.array([3, 1, 3, 2, 1])).tolist() == [1, 2, 3]
    assert sort_distinct(np.array([], dtype=np.int64)).tolist() == []
    assert sort_distinct(np.array([5])).tolist() == [5]


def test_an_index_that_repeats_a_label_is_refused():
    class Index(list):
        is_unique = False

    series = Series({"a": 1, "b": 1})
    assert as_mapping(series) == {"a": 1, "b": 1}
    series.index = Index(["a", "b"])
    with pytest.raises(hetdp.UsageError, match="an index that repeats a label"):
        as_mapping(series)
    assert as_mapping([1, 2]) is as_mapping(np.array([1])) is as_mapping("ab") is None


def test_exact_numbers_beyond_the_floats_stay_on_their_side():
    largest = np.finfo(np.float64).max
    numbers = [Decimal("1e400"), Decimal("-1e400"), Decimal("Infinity"), Fraction(1, 10**400), Decimal("0.1"), None]
    unread: list[int] = []
    found = as_floats(numbers, str, "", "", FaultCollector(""), unread)
    assert found[:5].tolist() == [largest, -largest, math.inf, 0.0, math.nextafter(0.1, 0)]
    assert math.isnan(found[5])
    assert unread == []


def test_values_that_cannot_be_read_are_zero_and_their_places_are_noted():
    collector, unread = FaultCollector("edges"), list[int]()
    values = [
        1,
        "1",
        True,
        2.5,
        b"1",
        1j,
        np.bool_(True),
        np.float32(0.1),
        np.int8(3),
        [1],
        Fraction(1, 2),
    ]
    found = as_floats(values, "edge {}".format, "non-numeric ε", "ε is a number ≥ 0", collector, unread)
    assert found.tolist() == [1.0, 0.0, 0.0, 2.5, 0.0, 0.0, 0.0, 0.1, 3.0, 0.0, 0.5]
    assert unread == [1, 2, 4, 5, 6, 9]
    assert [fault.where for fault in collector.faults] == [f"edge {at}" for at in unread]


def test_a_list_of_lists_is_not_a_column_of_numbers():
    collector = FaultCollector("edges")
    assert as_floats([[1.0], [2.0]], str, "non-numeric", "", collector).tolist() == [0.0, 0.0]
    assert collector.total == 2


def test_an_object_that_only_looks_like_a_series_is_read_as_a_sequence():
    class Listed(Series):
        def to_dict(self):
            return [1, 2]

    assert as_mapping(Listed({"a": 1})) is None
