"""Sparse matrices of SciPy, read without importing it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import Fault, FaultCollector, UsageError
from hetdp.frames import plain_column
from hetdp.problem.columns import Integers, as_column
from hetdp.problem.edges import arcs_of
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.labels import Labels, labels_of
from hetdp.problem.parameters import EPSILON_RULE, Parameters, parameters_of
from hetdp.problem.space import Floats
from hetdp.text import format_type

EXACT_FORMATS = ("coo", "csr", "csc", "lil", "dok")  # they store the entries given, zeros included, and no others
SYMMETRY_RULE = "a pair of neighbours has one ε, so the matrix is symmetric"
REAL_KINDS = "iuf"
SPARSE_RULE = "in a sparse matrix every stored entry is the ε of an edge, zeros included"
SPARSE_HINT = "scipy.sparse.coo_array((epsilon, (row, column)), shape) stores every edge, ε = 0 included"


def from_scipy(matrix: Any, labels: Any = None) -> DatasetGraph:
    """A graph from a sparse matrix of SciPy: every stored entry is the ε of an edge, a stored zero included.

    Args:
        matrix: a symmetric sparse matrix or array in the format coo, csr, csc, lil or dok. An entry stored twice must
            be the same both times, since nothing is summed. The diagonal constrains nothing and is dropped.
        labels: the label of each row, in order. Default: 0 … n − 1.

    Raises:
        UsageError: if zeros cannot be told from absent edges (dense, dia and bsr), or entries are not real numbers.
        InputError: listing every entry that is wrong, contradicts another, or has no counterpart across the diagonal.

    >>> from scipy.sparse import coo_array
    >>> matrix = coo_array(([0.5, 0.5, 0.0, 0.0], ([0, 1, 1, 2], [1, 0, 2, 1])))
    >>> from_scipy(matrix, labels=["a", "b", "c"]).edges()[2].tolist()
    [0.5, 0.0]
    """
    _require_sparse(matrix)
    findings = FaultCollector("sparse matrix")
    names = _names(labels, matrix.shape, findings)
    stored = matrix.tocoo(copy=False)
    entries = _Entries.of(stored.row, stored.col, _values(stored, findings), matrix.shape[0])
    _require_agreement(entries, findings)
    findings.raise_if_any()
    source, target, epsilon = entries.edges()
    return DatasetGraph(names, arcs_of(source, target, Parameters(("epsilon",), (epsilon,))))


def _require_sparse(matrix: Any) -> None:
    layout = getattr(matrix, "format", None) if hasattr(matrix, "tocoo") else None
    if layout is None:
        if isinstance(matrix, (list, tuple)) or hasattr(matrix, "__array__"):
            rule = "a zero in a dense matrix may be ε = 0 or no edge at all"
            raise UsageError(f"{format_type(matrix)} is dense", rule, SPARSE_HINT)
        raise UsageError(f"expected a sparse matrix, got {format_type(matrix)}", SPARSE_RULE)
    if layout not in EXACT_FORMATS:
        rule = f"{', '.join(EXACT_FORMATS)} store the edges alone, others fill up with zeros that look like ε = 0"
        raise UsageError(f"the matrix has the format {layout}", rule, SPARSE_HINT)
    if matrix.dtype.kind not in REAL_KINDS:
        hint = "an adjacency matrix times a number gives every edge that ε" if matrix.dtype.kind == "b" else ""
        raise UsageError(f"the entries are of type {matrix.dtype}", "every entry is an ε, a real number ≥ 0", hint)


def _names(labels: Any, shape: tuple[int, ...], findings: FaultCollector) -> Labels:
    """The labels of the rows; the checks end at once if the matrix is not square or has too many or too few labels."""
    if len(shape) != 2 or shape[0] != shape[1]:
        findings.add(Fault("not square, of shape", "matrix", str(shape), "rows and columns are the same datasets"))
        findings.raise_if_any()
    if isinstance(labels, Mapping):
        raise UsageError(
            f"{type(labels).__name__} is not a list of labels", "labels has the label of each row, in order"
        )
    names = range(shape[0]) if labels is None else as_column("labels", plain_column(labels), findings)
    if len(names) != shape[0]:
        value = f"{len(names)} for {shape[0]} rows"
        findings.add(Fault("wrong number of labels", "labels", value, "each row has a label, in order"))
        findings.raise_if_any()
    return labels_of(names, findings)


def _values(stored: Any, findings: FaultCollector) -> Floats:
    def place(at: int) -> str:
        return f"row {stored.row[at]}, column {stored.col[at]}"

    values = parameters_of({"epsilon": stored.data}, place, findings).columns[0]
    findings.add_where(np.isnan(values), lambda at: Fault("missing ε", place(at), "", EPSILON_RULE))
    findings.add_where(values < 0.0, lambda at: Fault("negative ε", place(at), repr(float(values[at])), EPSILON_RULE))
    return values


class _Entries(NamedTuple):
    """Entries off the diagonal, ordered so that all entries of two datasets are adjacent.

    A spot is twice the number of the pair (lower index · size + higher index), plus one below the diagonal.
    """

    spots: Integers
    values: Floats
    size: int

    @classmethod
    def of(cls, row: Any, col: Any, values: Floats, size: int) -> _Entries:
        off = np.flatnonzero(row != col)
        row, col = row[off].astype(np.int64), col[off].astype(np.int64)
        spots = (np.minimum(row, col) * size + np.maximum(row, col)) * 2 + (row > col)
        order = np.argsort(spots, kind="stable")
        return cls(spots[order], values[off[order]], size)

    def place(self, at: int, across: int = 0) -> str:
        """Row and column of an entry, or of its counterpart across the diagonal."""
        pair, below = divmod(int(self.spots[at]) ^ across, 2)
        low, high = divmod(pair, self.size)
        return f"row {high}, column {low}" if below else f"row {low}, column {high}"

    def edges(self) -> tuple[Any, Any, Floats]:
        """Each pair once, with its ε, if all its entries agree."""
        number = np.int32 if self.size < 2**31 else np.int64
        first = np.flatnonzero(np.diff(self.spots // 2, prepend=-1))
        low, high = np.divmod(self.spots[first] // 2, self.size)
        return low.astype(number), high.astype(number), self.values[first]


def _require_agreement(entries: _Entries, findings: FaultCollector) -> None:
    """Checks that all entries of a pair are equal, and that there are some on each side of the diagonal."""
    spots, values = entries.spots, entries.values
    pairs = spots // 2
    starts = np.flatnonzero(np.diff(pairs, prepend=-1))
    ends = np.flatnonzero(np.diff(pairs, append=-1))
    findings.add_at(starts[spots[starts] == spots[ends]], lambda at: _one_sided_fault(entries, at))
    before, after = values[:-1], values[1:]
    differ = (pairs[1:] == pairs[:-1]) & (before != after) & ~np.isnan(before) & ~np.isnan(after)
    findings.add_at(np.flatnonzero(differ) + 1, lambda at: _contradiction(entries, at))


def _one_sided_fault(entries: _Entries, at: int) -> Fault:
    value = f"{float(entries.values[at])!r}, nothing at {entries.place(at, across=1)}"
    hint = "DatasetGraph.from_edges(A.row, A.col, A.data, range(n)) reads a coo matrix that stores each pair once"
    return Fault("one-sided entry", entries.place(at), value, SYMMETRY_RULE, hint)


def _contradiction(entries: _Entries, at: int) -> Fault:
    before, here = (repr(float(value)) for value in entries.values[at - 1 : at + 1])
    if entries.spots[at] == entries.spots[at - 1]:
        rule = "entries are never summed, and equal ones are one edge"
        return Fault("stored twice, as", entries.place(at), f"{before} and {here}", rule)
    return Fault("asymmetric entry", entries.place(at), f"{here}, {before} at {entries.place(at - 1)}", SYMMETRY_RULE)
