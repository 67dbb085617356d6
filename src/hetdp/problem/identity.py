"""The identity of a problem: a digest of everything the verifier looks at, and of nothing else."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.product import ProductSpace, as_graph, is_listable
from hetdp.problem.query import Answers
from hetdp.problem.space import Floats
from hetdp.text import format_value
from hetdp.threads import run_in_threads

if TYPE_CHECKING:
    from hetdp.problem.problem import Problem

PREFIX = "sha256:"
PIECE = 1 << 23  # bytes


def identity_of(problem: Problem) -> str:
    """A digest of the notion, the datasets in order, their answers, and the edges with what they promise.

    Problems read from files of any format have the same identity if they state the same constraints on the same
    datasets in the same order; classes, weights and words do not matter. Nor does it matter whether a space of people
    computes its edges or a file lists them, as long as it is small enough for a file.
    """
    graph = problem.graph
    if isinstance(graph, ProductSpace):
        if is_listable(graph):
            return identity_of_stored(problem.notion.key, as_graph(graph), problem.answers)
        return _identity_of_product(problem, graph)
    return identity_of_stored(problem.notion.key, graph, problem.answers)


def identity_of_stored(notion: str, graph: DatasetGraph, answers: Answers) -> str:
    """The digest of a problem whose edges are stored."""
    title = f"hetdp problem 1\n{notion} {graph.size} {graph.arc_count}\n".encode()
    arrays: tuple[NDArray[Any], ...] = (answers, graph.indptr, graph.targets, *graph.parameters)
    return _digest(title + _text_of(graph.datasets), arrays)


def _identity_of_product(problem: Problem, space: ProductSpace) -> str:
    """The digest of a product, from its axes, tables and states, which define edges that are never stored."""
    text, table = product_facts(problem.notion.key, space)
    states = () if space.states is None else (space.states,)
    return _digest(text, (problem.answers, *states, table))


def product_facts(notion: str, space: ProductSpace) -> tuple[bytes, Floats]:
    """The definition of a product besides answers and states: a text, and all its ε."""
    title = f"hetdp product 1\n{notion} {space.size}\n".encode()
    shapes = json.dumps([[axis.shape, axis.people, len(axis.values), *axis.epsilon.shape] for axis in space.axes])
    names = b"".join(_text_of(axis.values) for axis in space.axes)
    return title + shapes.encode() + b"\n" + names, np.concatenate(
        [np.empty(0), *(axis.epsilon.ravel() for axis in space.axes)]
    )


def _digest(text: bytes, arrays: tuple[NDArray[Any], ...]) -> str:
    pieces = [memoryview(text), *(piece for array in arrays for piece in _pieces(array))]
    digests = [b""] * len(pieces)

    def digest(at: int) -> None:
        digests[at] = hashlib.sha256(pieces[at]).digest()

    run_in_threads(digest, range(len(pieces)), sum(len(array) for array in arrays))
    return PREFIX + hashlib.sha256(b"".join(digests)).hexdigest()


def _text_of(labels: Any) -> bytes:
    if isinstance(labels, range):
        return b"0 to n - 1\n"
    try:
        return json.dumps(list(labels), ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError, RecursionError):  # a lone surrogate is a ValueError too
        label = next(label for label in labels if not isinstance(label, int) and not _is_unicode(label))
        raise UsageError(
            f"the label {format_value(label)} cannot be saved",
            "labels must be text, numbers, or tuples of these",
        ) from None


def _is_unicode(label: Any) -> bool:
    return isinstance(label, str) and not any("\ud800" <= character <= "\udfff" for character in label)


def _pieces(array: NDArray[Any]) -> list[memoryview]:
    """The bytes of an array in blocks, the same on every machine, so that threads can digest them."""
    data = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).data.cast("B")
    return [data[start : start + PIECE] for start in range(0, len(data), PIECE)]
