"""Sparse matrices are read unchanged: no ε is dropped, summed or assumed."""

from __future__ import annotations

import math
from fractions import Fraction

import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import hetdp
from hetdp.files.matrices import from_scipy
from hetdp.text import format_type
from tests.files.graphs import PAIRS, edges_of, error_message, graph_from_pairs
from tests.loops import for_each

FORMATS = ["coo", "csr", "csc", "lil", "dok"]
KINDS = ["array", "matrix"]
SYMMETRIC = "a pair of neighbours has one ε, so the matrix is symmetric."
ONCE = "Hint: DatasetGraph.from_edges(A.row, A.col, A.data, range(n)) reads a coo matrix that stores each pair once"
STORED = "Hint: scipy.sparse.coo_array((epsilon, (row, column)), shape) stores every edge, ε = 0 included"


def coo(*entries, size=3, kind="array", dtype=np.float64):
    row, col, values = ([entry[at] for entry in entries] for at in range(3))
    make = getattr(scipy.sparse, f"coo_{kind}")
    return make((np.array(values, dtype=dtype), (np.array(row, dtype=int), np.array(col, dtype=int))), (size, size))


def symmetric_coo(*entries, **options):
    return coo(*[way for u, v, e in entries for way in ((u, v, e), (v, u, e))], **options)


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
@given(PAIRS)
def test_a_sparse_matrix_is_read_unchanged(kind, layout, pairs):
    matrix = symmetric_coo(*[(u, v, e) for (u, v), e in pairs.items() if u != v], size=10, kind=kind).asformat(layout)
    assert edges_of(from_scipy(matrix)) == edges_of(graph_from_pairs(pairs))


@given(PAIRS, st.randoms())
def test_entries_may_be_stored_in_any_order_and_several_times(pairs, random):
    entries = [way for (u, v), e in pairs.items() for way in ((u, v, e), (v, u, e), (u, v, e))]
    random.shuffle(entries)
    assert edges_of(from_scipy(coo(*entries, size=10))) == edges_of(graph_from_pairs(pairs))


@for_each("layout", FORMATS)
@for_each("kind", KINDS)
def test_a_stored_zero_is_an_edge(kind, layout):
    matrix = symmetric_coo((0, 1, 0.0), (1, 2, 0.5), kind=kind).asformat(layout)
    assert matrix.count_nonzero() == 2  # for most of SciPy the stored zeros are no entries
    used = from_scipy(matrix)
    assert edges_of(used) == [[0, 1], [1, 2], [0.0, 0.5]]


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_entries_stored_twice_are_never_summed(layout):
    twice = {
        "coo": lambda: symmetric_coo((0, 1, 0.5), (0, 1, 0.5)),
        "csr": lambda: scipy.sparse.csr_array(([0.5] * 4, [1, 1, 0, 0], [0, 2, 4, 4]), shape=(3, 3)),
        "csc": lambda: scipy.sparse.csc_array(([0.5] * 4, [1, 1, 0, 0], [0, 2, 4, 4]), shape=(3, 3)),
    }[layout]()
    assert twice.toarray()[0, 1] == 1.0  # the trap
    assert edges_of(from_scipy(twice)) == [[0], [1], [0.5]]


def test_entries_stored_twice_that_contradict_each_other_are_refused():
    matrix = coo((0, 1, 0.5), (0, 1, 0.25), (1, 0, 0.25))
    assert error_message(from_scipy, matrix) == (
        "sparse matrix: row 0, column 1: stored twice, as 0.5 and 0.25;"
        " entries are never summed, and equal ones are one edge."
    )


def test_a_matrix_without_symmetric_pattern_is_refused():
    matrix = coo((0, 1, 0.5), (1, 0, 0.5), (2, 0, 0.0))
    assert error_message(from_scipy, matrix) == (
        f"sparse matrix: row 2, column 0: one-sided entry 0.0, nothing at row 0, column 2; {SYMMETRIC} {ONCE}"
    )


def test_a_matrix_without_symmetric_values_is_refused():
    matrix = coo((0, 1, 0.5), (1, 0, 0.0), (1, 2, 1.0), (2, 1, 1.0))
    assert error_message(from_scipy, matrix) == (
        f"sparse matrix: row 1, column 0: asymmetric entry 0.0, 0.5 at row 0, column 1; {SYMMETRIC}"
    )


def test_the_suggested_call_for_a_matrix_that_stores_each_pair_once_works():
    upper = coo((0, 1, 0.5), (0, 2, 0.0), size=4)
    used = hetdp.DatasetGraph.from_edges(upper.row, upper.col, upper.data, range(4))
    assert (edges_of(used), used.size) == ([[0, 0], [1, 2], [0.5, 0.0]], 4)


@pytest.mark.parametrize(
    ("value", "fault"), [(math.nan, "missing ε"), (-0.5, "negative ε -0.5"), (-math.inf, "negative ε -inf")]
)
def test_a_wrong_entry_names_its_row_and_column(value, fault):
    with pytest.raises(hetdp.InputError) as caught:
        from_scipy(symmetric_coo((0, 2, value), (0, 1, 1.0)))
    assert [str(found) for found in caught.value.faults] == [
        f"row 0, column 2: {fault}; ε is a number ≥ 0.",
        f"row 2, column 0: {fault}; ε is a number ≥ 0.",
    ]


def test_all_faults_of_a_matrix_are_listed_together():
    matrix = coo(
        (0, 1, -1.0), (1, 0, -1.0), (0, 2, 1.0), (0, 2, 2.0), (2, 0, 2.0), (1, 2, 1.0), (2, 1, 3.0), (3, 1, 1.0), size=4
    )
    with pytest.raises(hetdp.InputError) as caught:
        from_scipy(matrix, labels=["a", "b", "a", "c"])
    assert [fault.what for fault in caught.value.faults] == [
        "duplicate dataset",
        "negative ε",
        "negative ε",
        "one-sided entry",
        "stored twice, as",
        "asymmetric entry",
    ]


def test_every_faulty_pair_of_a_large_matrix_is_counted():
    with pytest.raises(hetdp.InputError) as caught:
        from_scipy(coo(*[(at, at + 1, 1.0) for at in range(1500)], size=1501))
    assert (caught.value.total, len(caught.value.faults)) == (1500, 1000)


def test_the_diagonal_is_ignored_whatever_its_values():
    matrix = coo((0, 0, 1.0), (0, 0, 2.0), (0, 1, 0.5), (1, 0, 0.5))
    assert edges_of(from_scipy(matrix)) == [[0], [1], [0.5]]


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("make", [np.asarray, np.asmatrix, list, pandas.DataFrame])
def test_a_dense_matrix_is_refused_because_its_zeros_are_ambiguous(make):
    dense = make([[0.0, 1.0], [1.0, 0.0]])
    text = error_message(from_scipy, dense, error=hetdp.UsageError)
    assert text == (f"{format_type(dense)} is dense; a zero in a dense matrix may be ε = 0 or no edge at all. {STORED}")


@pytest.mark.parametrize("layout", ["bsr", "dia"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_format_that_fills_up_with_zeros_is_refused(kind, layout):
    matrix = symmetric_coo((0, 1, 0.0), (1, 2, 1.0), kind=kind).asformat(layout)
    assert error_message(from_scipy, matrix, error=hetdp.UsageError) == (
        f"the matrix has the format {layout}; coo, csr, csc, lil, dok store the edges alone,"
        f" others fill up with zeros that look like ε = 0. {STORED}"
    )


def test_dia_drops_stored_zeros_and_bsr_adds_some():
    assert symmetric_coo((0, 1, 0.0), (1, 2, 1.0)).todia().tocoo().nnz == 2
    assert symmetric_coo((0, 1, 1.0), size=2).tobsr(blocksize=(2, 2)).tocoo().nnz == 4


@for_each("wrong", [None, "matrix", 3, {(0, 1): 0.5}, networkx.path_graph(2)])
def test_arguments_that_are_not_matrices_are_refused(wrong):
    assert error_message(from_scipy, wrong, error=hetdp.UsageError) == (
        f"expected a sparse matrix, got {format_type(wrong)};"
        " in a sparse matrix every stored entry is the ε of an edge, zeros included."
    )


@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
def test_a_matrix_that_is_not_square_is_refused(shape):
    text = error_message(from_scipy, scipy.sparse.csr_array(shape))
    assert text == f"sparse matrix: matrix: not square, of shape {shape}; rows and columns are the same datasets."


def test_a_sparse_vector_is_refused():
    assert "not square, of shape (2,)" in error_message(from_scipy, scipy.sparse.coo_array(np.array([0.0, 1.0])))


def test_integers_are_epsilons_too():
    matrix = symmetric_coo((0, 1, 0), (1, 2, 3), dtype=np.int8)
    assert edges_of(from_scipy(matrix)) == [[0, 1], [1, 2], [0.0, 3.0]]


@pytest.mark.parametrize("kind", [np.float32, np.longdouble])
def test_short_and_long_floats_are_never_rounded_up(kind):
    used = from_scipy(symmetric_coo((0, 1, 0.1), dtype=kind)).epsilon
    assert Fraction(float(used[0])) <= Fraction(1, 10)
    assert used[0] == pytest.approx(0.1)


def test_a_matrix_of_truth_values_is_refused():
    assert error_message(from_scipy, symmetric_coo((0, 1, True), dtype=bool), error=hetdp.UsageError) == (
        "the entries are of type bool; every entry is an ε, a real number ≥ 0."
        " Hint: an adjacency matrix times a number gives every edge that ε"
    )


def test_a_matrix_of_complex_numbers_is_refused():
    text = error_message(from_scipy, symmetric_coo((0, 1, 1.0), dtype=complex), error=hetdp.UsageError)
    assert text == "the entries are of type complex128; every entry is an ε, a real number ≥ 0."


@for_each(
    "labels",
    [["x", "y", "z"], ("x", "y", "z"), "xyz", np.array(["x", "y", "z"]), pandas.Index(["x", "y", "z"]), iter("xyz")],
)
def test_labels_name_the_rows_in_order(labels):
    used = from_scipy(symmetric_coo((0, 2, 0.5)), labels=labels)
    assert list(used.datasets) == ["x", "y", "z"]
    assert [used.label(int(end)) for end in (used.edges()[0][0], used.edges()[1][0])] == ["x", "z"]


@for_each(
    ("labels", "said"),
    [
        (["x", "y"], "labels: wrong number of labels 2 for 3 rows; each row has a label, in order."),
        (["x", "y", "x"], "datasets[2]: duplicate dataset 'x'; each dataset is listed once."),
        (["x", None, "z"], "datasets[1]: missing label None; a label is never missing."),
        (pandas.Series(["x", pandas.NA, "z"]), "datasets[1]: missing label None; a label is never missing."),
        ({"x", "y"}, "labels: not a column: "),
        (3, "labels: not a column: 3; a column is a list, an array or another sequence."),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels, said):
    assert error_message(from_scipy, symmetric_coo((0, 2, 0.5)), labels=labels).startswith(f"sparse matrix: {said}")


def test_a_mapping_of_labels_is_refused():
    text = error_message(
        from_scipy, symmetric_coo((0, 2, 0.5)), labels={0: "x", 1: "y", 2: "z"}, error=hetdp.UsageError
    )
    assert text == "dict is not a list of labels; labels has the label of each row, in order."


def test_the_empty_matrix_is_a_graph_and_so_is_one_without_entries():
    assert from_scipy(scipy.sparse.coo_array((0, 0))).size == 0
    assert repr(from_scipy(scipy.sparse.csr_array((4, 4)))) == "DatasetGraph(4 datasets, 0 edges)"


def test_the_matrix_is_not_modified_and_may_change_later():
    matrix = symmetric_coo((0, 1, 0.5), (0, 1, 0.5))
    used = from_scipy(matrix)
    assert matrix.nnz == 4
    matrix.data[:] = 9.0
    assert edges_of(used)[2] == [0.5]
