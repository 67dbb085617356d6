"""Tallies too large for memory: a partition is a slab of them, a range of their numbers, and its edges are implied.

No table is read: each worker makes the answers and edges of its slab from the axes and the question.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.problem.axis import Axis
from hetdp.problem.building.decimals import marks_of, unmarked
from hetdp.problem.building.parting import ghosts_among, placed, write_cut, write_rows
from hetdp.problem.classes import names_as_bytes
from hetdp.problem.identity import PIECE, PREFIX, identity_of_stored, product_facts
from hetdp.problem.partitioned import Workers
from hetdp.problem.parts import Part
from hetdp.problem.positions import TupleLabels
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.space import Floats
from hetdp.problem.spelling import in_json
from hetdp.problem.stored import explicit, is_written_down
from hetdp.spaces.questions.question import Question

Numbers = NDArray[np.int64]


class Tallied(NamedTuple):
    """What makes a slab: all that a task is told.

    Attributes:
        axes: the groups.
        sizes: how many people each has.
        question: what is asked.
    """

    axes: tuple[Axis, ...]
    sizes: Mapping[str, int]
    question: Question

    @property
    def space(self) -> ProductSpace:
        """The datasets by definition; nothing of their number is stored."""
        return ProductSpace(self.axes)


def answers_at(tallied: Tallied, numbers: Numbers) -> Answers:
    """The true answers of some datasets."""
    space, counts = tallied.space, {}
    for at, axis in enumerate(tallied.axes):
        positions = space.positions(at, numbers)
        columns = axis.counts().T
        counts[axis.name] = {value: one[positions] for value, one in zip(axis.values, columns, strict=True)}
    holds = np.broadcast_to(tallied.question.holds(counts, tallied.sizes), (len(numbers),))
    return np.where(holds, np.int8(1), np.int8(2))


def arcs_from(tallied: Tallied, numbers: Numbers) -> tuple[Numbers, Numbers, Floats, Floats, NDArray[np.int16]]:
    """All arcs that begin at some ascending datasets: source, target, ε on the grid and as written, and whose they are.

    They are in order of their ends. Whose an arc is, the number of its axis says.
    """
    space, found = tallied.space, []
    for at, axis in enumerate(tallied.axes):
        lines, positions = space.lines(at), space.positions(at, numbers)
        lengths = np.diff(lines.moves.indptr)[positions]
        ends = np.cumsum(lengths)
        within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        arc = np.repeat(np.asarray(lines.moves.indptr)[positions], lengths) + within
        source = np.repeat(numbers, lengths)
        target = source + (lines.moves.targets[arc] - np.repeat(positions, lengths)) * lines.low
        epsilon = axis.epsilon[lines.moves.kinds[arc], 0, 0]
        written = axis.written[lines.moves.kinds[arc], 0, 0]
        bound = epsilon < np.inf
        whose = np.full(int(np.count_nonzero(bound)), at, dtype=np.int16)
        found.append((source[bound], target[bound], epsilon[bound], written[bound], whose))
    source, target, epsilon, written, axes = (np.concatenate(columns) for columns in zip(*found, strict=True))
    order = np.lexsort((target, source))
    return source[order], target[order], epsilon[order], written[order], axes[order]


def lay_slab(part: Part, tallied: Tallied) -> int:
    """Writes the answers and the graph of one slab; returns how many arcs begin there."""
    numbers = np.arange(part.first, part.first + part.size, dtype=np.int64)
    source, target, epsilon, as_written, axes = arcs_from(tallied, numbers)
    ghosts = ghosts_among(part, target)
    before, size = int(np.searchsorted(ghosts, part.first)), part.size + len(ghosts)
    number = np.int32 if size < 2**31 else np.int64
    starts, ends = (placed(part, ghosts, end).astype(number) for end in (source, target))
    part.save("ghosts", ghosts)
    write_cut(part, source, target)
    counts = np.bincount(source - part.first, minlength=part.size)
    write_rows(part, "rows", np.concatenate([[0], np.cumsum(counts)]), ends, (epsilon,))
    floored, lowered = unmarked(marks_of(as_written))
    part.save("floored_0", floored)
    part.save("lowered_0", lowered)
    part.save("rows_class", axes)
    part.save("class_names", names_as_bytes([axis.name for axis in tallied.axes]))
    order = np.lexsort((starts, ends))  # every arc turned round: ε is the same both ways
    counts = np.bincount(ends, minlength=size)
    write_rows(part, "search", np.concatenate([[0], np.cumsum(counts)]), starts[order], (epsilon[order],))
    answers = answers_at(tallied, np.concatenate([ghosts[:before], numbers, ghosts[before:]]))
    part.save("answers", answers[before : before + part.size])
    part.save("pins", np.full(part.size, np.nan))
    boundary = np.zeros(part.size, dtype=np.bool_)
    boundary[(source - part.first)[answers[starts] != answers[ends]]] = True
    part.save("boundary", boundary)
    return len(source)


def identity_of_slabs(parts: list[Part], tallied: Tallied, notion: str, workers: Workers) -> str:
    """The identity of the problem, as one machine has it."""
    if is_written_down(tallied.space):
        answers = np.concatenate([np.empty(0, np.int8), *(part.load("answers") for part in parts)])
        return identity_of_stored(notion, explicit(tallied.space), answers)
    text, table = product_facts(notion, tallied.space)
    size = parts[0].offsets[-1]
    pieces = [(parts, start, min(start + PIECE, size)) for start in range(0, size, PIECE)]
    digests = [hashlib.sha256(text).digest(), *workers.run(digest_answers, pieces)]
    if len(table):
        digests.append(hashlib.sha256(table.astype("<f8").tobytes()).digest())
    return PREFIX + hashlib.sha256(b"".join(digests)).hexdigest()


def digest_answers(parts: list[Part], start: int, stop: int) -> bytes:
    """The digest of some answers, from the slabs that have them."""
    digest = hashlib.sha256()
    for part in parts:
        low, high = max(start, part.first), min(stop, part.first + part.size)
        if low < high:
            digest.update(np.ascontiguousarray(part.load("answers")[low - part.first : high - part.first]).tobytes())
    return digest.digest()


class SlabNames:
    """Labels both ways: tuples with an entry for each group."""

    def __init__(self, axes: tuple[Axis, ...]) -> None:
        self._axes, self._labels = axes, TupleLabels(axes)

    @property
    def written(self) -> SlabTexts:
        """How tasks write labels."""
        return SlabTexts(self._axes)

    def labels(self, numbers: list[int]) -> list[Any]:
        """The labels of some datasets."""
        return [self._labels.names[number] for number in numbers]

    def index(self, label: Hashable) -> int:
        """The number of a dataset; raises UnknownDatasetError."""
        return self._labels.index(label)

    def indices(self, labels: list[Any]) -> Any:
        """The numbers of some datasets, −1 where a label names none."""
        return self._labels.indices(labels)


class SlabTexts(NamedTuple):
    """Labels as JSON, as tables of tallies have them."""

    axes: tuple[Axis, ...]

    @property
    def words(self) -> dict[str, str]:
        """What a mechanism says of its labels beside its table."""
        return {"labels": "json"}

    def own(self, part: Part) -> Any:
        """Those of a slab."""
        return np.array(self.at(list(range(part.first, part.first + part.size))), dtype=object)

    def at(self, numbers: list[int]) -> list[Any]:
        """Those of some datasets."""
        names = TupleLabels(self.axes).names
        return [in_json(names[number]) for number in numbers]
