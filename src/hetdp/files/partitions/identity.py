"""The digest by which mechanism files know their problem, the same as on one machine, a piece for each task."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.files.formats.ranges import Files
from hetdp.files.partitions.naming import own_labels
from hetdp.files.partitions.numbering import ENCODED, RANGE
from hetdp.problem.identity import PIECE, PREFIX
from hetdp.problem.local import LocalGraph
from hetdp.problem.partitioned import Workers
from hetdp.problem.parts import Part
from hetdp.problem.spelling import of_json
from hetdp.theory.notion import Notion


class Piece(NamedTuple):
    """Some entries of one array of the whole problem.

    Attributes:
        name: which array.
        width: bytes of an entry.
        start: its first entry.
        stop: the entry after its last.
    """

    name: str
    width: int
    start: int
    stop: int


def identity_of_parts(
    parts: list[Part], arcs: tuple[int, ...], notion: Notion, datasets: Files, labels: str, workers: Workers
) -> str:
    """The identity of the problem that the partitions make together."""
    size, starts = datasets.length, tuple(np.concatenate([[0], np.cumsum(arcs)]).astype(np.int64).tolist())
    wide = 4 if size < 2**31 else 8
    title = f"hetdp problem 1\n{notion.name} {size} {starts[-1]}\n".encode()
    arrays = [("answers", 1, size), ("indptr", 8, size + 1), ("targets", wide, starts[-1])]
    arrays += [(f"rows_{column}", 8, starts[-1]) for column in range(len(notion.parameters))]
    pieces = [
        Piece(name, width, start, min(start + PIECE // width, length))
        for name, width, length in arrays
        for start in range(0, length, PIECE // width)
    ]
    first = workers.run(digest_labels, [(parts, datasets, labels, title)])
    digests = workers.run(digest_piece, [(parts, starts, piece) for piece in pieces])
    return PREFIX + hashlib.sha256(b"".join([*first, *digests])).hexdigest()


def digest_labels(parts: list[Part], datasets: Files, labels: str, title: bytes) -> bytes:
    """The digest of what stands before the arrays: the title, and all labels in their order."""
    digest = hashlib.sha256(title)
    if labels == RANGE and parts[0].offsets[-1]:  # no labels at all are none in order
        digest.update(b"0 to n - 1\n")
        return digest.digest()
    before = b"["
    for part in parts:
        if part.size:
            names = own_labels(part, datasets, labels).tolist()
            names = list(map(of_json, names)) if labels == ENCODED else names
            digest.update(before + json.dumps(names, ensure_ascii=False)[1:-1].encode())
            before = b", "
    digest.update((b"[" if before == b"[" else b"") + b"]\n")
    return digest.digest()


def digest_piece(parts: list[Part], starts: tuple[int, ...], piece: Piece) -> bytes:
    """The digest of one piece of an array, from the partitions that hold it."""
    digest = hashlib.sha256()
    by_dataset = piece.name in ("answers", "indptr")
    bounds: Any = parts[0].offsets if by_dataset else starts
    for part in parts:
        low, high = max(piece.start, bounds[part.number]), min(piece.stop, bounds[part.number + 1])
        if low < high:
            own = slice(low - bounds[part.number], high - bounds[part.number])
            digest.update(_bytes(part, piece, own, starts))
    if piece.name == "indptr" and piece.stop == bounds[-1] + 1:
        digest.update(np.array([starts[-1]], dtype="<i8").tobytes())
    return digest.digest()


def _bytes(part: Part, piece: Piece, own: slice, starts: tuple[int, ...]) -> Any:
    values: NDArray[Any]
    if piece.name == "indptr":
        values = part.load("rows_indptr")[own] + starts[part.number]
    elif piece.name == "targets":
        graph = LocalGraph(part)
        values = graph.numbers(graph.targets[own]).astype(f"<i{piece.width}")
    else:
        values = part.load(piece.name)[own]
    return np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False)).data.cast("B")
