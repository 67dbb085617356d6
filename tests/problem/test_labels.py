"""Any hashable label names a dataset; labels are compared exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetdp
from hetdp.errors import FaultCollector
from hetdp.problem import labels as lookup
from hetdp.problem.labels import Lookup, is_same, labels_of, union_of
from tests.loops import for_each

INTEGERS = st.one_of(
    st.integers(-12, 12), st.integers(-(2**63), 2**63 - 1), st.sampled_from([-(2**63), 2**63 - 1, 10**12, 0])
)
SIMILAR = [0, 1, 1.0, True, False, np.int64(1), np.float64(0.0), "1", "0", (1,), -1, 2, 2**70, 10**6, 10**6 + 0.5, b"1"]

LABELS = {
    "text": ["b", "a", "c"],
    "tuples": [(1, "x"), (0, "y"), (0, "x")],
    "mixed types": ["01", 1, (1,)],
    "text that looks like numbers": ["01", "1", "001"],
    "numbers and their text": [1, "1", 1.5],
    "integers with gaps": [10, 40, 99],
    "negative integers": [-3, 0, 7],
    "numpy text": list(np.array(["b", "a", "c"])),
    "frozen sets": [frozenset({1}), frozenset(), frozenset({1, 2})],
    "booleans among text": [True, False, "other"],
    "integers beyond 64 bits": [2**70, 2**80, 2**63],
}


@for_each("labels", LABELS.values())
@for_each("listed", [True, False])
def test_any_hashable_label_names_a_dataset(labels, listed):
    a, b, c = labels
    graph = hetdp.DatasetGraph.from_edges([a, b], [b, c], [0.5, 1.0], datasets=labels if listed else None)
    assert graph.size == 3
    assert set(graph.datasets) == set(labels)
    assert [graph.label(graph.index(label)) for label in labels] == labels
    problem = hetdp.Problem(graph, {a: 1, b: 1, c: 2})
    assert set(problem.boundary) == {b, c}
    mechanism = hetdp.extend(problem, {b: 0.6, c: 0.4})
    assert mechanism.explain(a).datasets == [b, a]
    assert (mechanism[b], mechanism[c]) == (pytest.approx(0.6), pytest.approx(0.4))


def test_labels_appear_in_the_order_in_which_they_are_listed():
    graph = hetdp.DatasetGraph.from_edges(["x"], ["y"], 1.0, datasets=["z", "y", "x"])
    assert list(graph.datasets) == ["z", "y", "x"]


def test_without_a_list_text_comes_as_it_first_appears_and_integers_in_their_order():
    assert list(hetdp.DatasetGraph.from_edges(["x", "b"], ["b", "a"], 1.0).datasets) == ["x", "b", "a"]
    assert list(hetdp.DatasetGraph.from_edges([9, 2], [2, 5], 1.0).datasets) == [2, 5, 9]
    assert list(hetdp.DatasetGraph.from_edges(np.array([9, 2]), np.array([2, 5]), 1.0).datasets) == [2, 5, 9]


def test_the_integers_from_zero_are_a_range_and_cost_nothing():
    graph = hetdp.DatasetGraph.from_edges([2, 1], [1, 0], 1.0)
    assert graph.datasets == range(3)
    assert hetdp.DatasetGraph.from_edges([0], [1], 1.0, datasets=np.arange(4)).datasets == range(4)
    assert hetdp.DatasetGraph.from_edges([0], [1], 1.0, datasets=range(4)).datasets == range(4)


@for_each("kind", [np.int8, np.int32, np.uint16, np.int64, np.uint64])
def test_integer_arrays_of_any_width_are_labels(kind):
    graph = hetdp.DatasetGraph.from_edges(np.array([3, 1], dtype=kind), np.array([1, 7], dtype=kind), 1.0)
    assert list(graph.datasets) == [1, 3, 7]
    assert graph.index(7) == graph.index(np.int64(7)) == 2


def test_large_unsigned_integers_keep_their_value():
    large = 2**63 + 5
    graph = hetdp.DatasetGraph.from_edges(np.array([large], np.uint64), np.array([1], np.uint64), 1.0)
    assert sorted(graph.datasets) == [1, large]


def test_numpy_text_is_the_same_label_as_plain_text():
    graph = hetdp.DatasetGraph.from_edges(np.array(["a", "b"]), np.array(["b", "c"]), 1.0)
    assert [type(label) for label in graph.datasets] == [str] * 3
    assert graph.index(np.str_("c")) == graph.index("c") == 2


def test_a_boolean_is_not_an_integer_label():
    graph = hetdp.DatasetGraph.from_edges([0], [1], 1.0)
    for label in (True, np.True_):
        with pytest.raises(hetdp.UnknownDatasetError):
            graph.index(label)
    with pytest.raises(hetdp.InputError, match="unknown dataset True"):
        hetdp.DatasetGraph.from_edges([True], [0], 1.0, datasets=[0, 1])


def test_text_and_numbers_are_different_labels():
    graph = hetdp.DatasetGraph.from_edges(["01"], ["1"], 1.0)
    assert graph.indices(["1", 1, "01", "001", 1.0]).tolist() == [1, -1, 0, -1, -1]


def test_many_labels_are_looked_up_at_once_and_unknown_ones_marked():
    integers = hetdp.DatasetGraph.from_edges([0], [1], 1.0, datasets=range(5))
    assert integers.indices(np.array([4, 5, -1, 0])).tolist() == [4, -1, -1, 0]
    assert integers.indices([4, "4", None, 2]).tolist() == [4, -1, -1, 2]
    assert integers.indices([]).tolist() == []


@for_each("datasets", [iter("abc"), (x for x in "abc"), dict.fromkeys("abc"), "abc", np.array(["a", "b", "c"])])
def test_any_iterable_lists_the_datasets(datasets):
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0, datasets=datasets)
    assert list(graph.datasets) == ["a", "b", "c"]


@pytest.mark.parametrize("column", [iter, tuple, np.array, dict.fromkeys])
def test_any_iterable_is_a_column_of_labels(column):
    graph = hetdp.DatasetGraph.from_edges(column(["a", "b"]), column(["b", "c"]), [0.5, 1.0])
    assert graph.edges()[2].tolist() == [0.5, 1.0]


@given(
    st.lists(
        st.one_of(st.integers(-(2**40), 2**40), st.text(max_size=3), st.tuples(st.booleans())),
        unique=True,
        min_size=2,
        max_size=8,
    )
)
def test_positions_and_labels_are_inverse(labels):
    graph = hetdp.DatasetGraph.from_edges(labels[:-1], labels[1:], 1.0, datasets=labels)
    assert list(graph.datasets) == labels
    assert graph.indices(labels).tolist() == list(range(len(labels)))
    assert [graph.index(graph.label(i)) for i in range(graph.size)] == list(range(graph.size))


def test_disconnected_graphs_are_accepted():
    graph = hetdp.DatasetGraph.from_edges(["a", "c"], ["b", "d"], [1.0, math.inf], datasets="abcde")
    assert (graph.size, graph.edge_count, graph.arc_count) == (5, 2, 2)


@given(st.lists(st.integers(-9, 9), unique=True, min_size=1), st.lists(st.sampled_from(SIMILAR)))
def test_labels_are_found_only_by_values_of_their_own_type(names, wanted):
    names = [*names, 1000]  # so that they are not the integers from 0, which have an index of their own
    labels = labels_of(names, FaultCollector("datasets"))
    numbers = {(int, name): at for at, name in enumerate(names)}
    wanted_keys = [(type(plain), plain) for plain in (x.item() if isinstance(x, np.generic) else x for x in wanted)]
    assert labels.indices(wanted).tolist() == [numbers.get(key, -1) for key in wanted_keys]
    for label, key in zip(wanted, wanted_keys, strict=True):
        if key in numbers:
            assert labels.index(label) == numbers[key]
        else:
            with pytest.raises(hetdp.UnknownDatasetError):
                labels.index(label)


@given(st.lists(INTEGERS, min_size=1), st.lists(INTEGERS), st.booleans())
def test_integers_in_any_order_are_found_as_a_dictionary_finds_them(integers, others, is_large):
    labels_to_find = [*others, *integers]
    first = {number: at for at, number in reversed(list(enumerate(integers)))}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "SMALL_SPACE", -1 if is_large else 10**9)
        table = Lookup(np.array(integers, dtype=np.int64))
        found = table.positions(np.array(labels_to_find, dtype=np.int64))
    assert found.tolist() == [first.get(number, -1) for number in labels_to_find]
    assert table.distinct == len(first)


@given(st.lists(INTEGERS), st.lists(INTEGERS))
def test_a_union_has_every_integer_once_and_in_order(first, second):
    known = union_of(np.array(first, dtype=np.int64), np.array(second, dtype=np.int64))
    assert known.tolist() == sorted({*first, *second})


@pytest.mark.parametrize("step", [1, 7, 10**12])
def test_shuffled_and_negative_integers_of_a_large_graph_keep_their_order(step):
    rng = np.random.default_rng(step)
    names = (rng.permutation(30_000) - 10_000) * step
    graph = hetdp.DatasetGraph.from_edges(names[:-1], names[1:], 0.5, datasets=names)
    assert list(graph.datasets) == names.tolist()
    assert [graph.neighbours(at)[0].tolist() for at in (0, 9, 29_999)] == [[1], [8, 10], [29_998]]


def test_a_dictionary_of_integers_is_made_when_the_first_single_one_is_asked_for():
    labels = labels_of(np.array([5, 3, 4]), FaultCollector("datasets"))
    assert labels.indices([4, 5, 6]).tolist() == [2, 0, -1]
    assert "_numbers" not in vars(labels)
    assert labels.index(4) == 2


def test_a_column_that_is_used_as_its_own_index_is_read_only():
    column = np.array([2, 0, 1])
    found = labels_of(range(3), FaultCollector("datasets")).indices(column)
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


def test_a_column_of_narrow_integers_is_looked_up_without_overflow():
    assert labels_of(range(1000), FaultCollector("datasets")).indices(np.array([-1, 127], np.int8)).tolist() == [
        -1,
        127,
    ]
    assert labels_of(range(3), FaultCollector("datasets")).indices(np.array([2**40, 1])).tolist() == [-1, 1]


@for_each(
    ("labels", "label", "close"),
    [
        (["north", "south"], "nroth", ("north",)),
        ([1, 2, 30], "30", (30,)),
        (range(10**7), "9999999", (9999999,)),
        (["1", "2"], 1, ("1",)),
        (range(10), 12, ()),
        ([("yes", 1), ("no", 2)], "yes,1", (("yes", 1),)),
    ],
)
def test_an_unknown_label_gets_similar_labels_as_a_hint(labels, label, close):
    graph = hetdp.DatasetGraph.from_edges([], [], [], datasets=labels)
    with pytest.raises(hetdp.UnknownDatasetError) as refused:
        graph.index(label)
    assert refused.value.close == close


def test_only_the_first_few_unknown_labels_get_a_hint_since_each_takes_a_search():
    graph = hetdp.DatasetGraph.from_edges([], [], [], datasets=["north", "south"])
    query = {f"north{at}": 1 for at in range(900)} | {"north": 1, "south": 2}
    with pytest.raises(hetdp.InputError) as refused:
        hetdp.Problem(graph, query)
    hints = [fault.hint for fault in refused.value.faults]
    assert hints == ["did you mean 'north'?"] * 5 + [""] * 895
    assert str(refused.value).splitlines()[1:3] == [
        "  unknown dataset, 900 times; the keys of a query are datasets of the graph.",
        "    query['north0'] Hint: did you mean 'north'?",
    ]


def test_labels_are_the_same_only_if_they_print_alike():
    assert not is_same(0.0, -0.0)
    assert is_same(0.5, 0.5)
    assert not is_same((1, 2), (1,))
    assert not is_same((1,), (1, 2))
    assert is_same((1, ("a", 0.5)), (1, ("a", 0.5)))


def test_the_first_label_is_suggested_too():
    graph = hetdp.DatasetGraph.from_edges([7], [8], 1.0)
    for label, close in (("7", 7), ("8", 8)):
        with pytest.raises(hetdp.UnknownDatasetError) as refused:
            graph.index(label)
        assert refused.value.close[0] == close
