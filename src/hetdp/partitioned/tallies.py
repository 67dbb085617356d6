"""Tallies too large for memory: a partition is a slab of them, a range of their numbers, and its edges are implied.

No table is read: each worker makes the answers and edges of its slab from the axes and the question.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp import progress
from hetdp.errors import UsageError
from hetdp.partitioned.partition import Part, ghosts_among, placed, write_cut, write_rows
from hetdp.partitioned.problem import PartitionedGraph, PartitionedProblem, TaskRunner
from hetdp.partitioned.shared_files import fresh_folder
from hetdp.partitioned.workspace import (
    LAID,
    MEMORY,
    TALLIES,
    arcs_for,
    end_of,
    leave_note,
    note_in,
    ranges,
    refused,
    work_folder,
    worker_count,
    workers_of,
)
from hetdp.people.privacy.rules import ByGroup, Privacy
from hetdp.people.products.problems import (
    TALLY_CHANGE,
    about_of,
    privacy_of,
    require_few,
    sizes_of,
    tables_of,
    values_of,
)
from hetdp.people.questions.question import Question
from hetdp.problem.axis import Axis
from hetdp.problem.classes import names_to_bytes
from hetdp.problem.decimals import marks_of, unpack_marks
from hetdp.problem.identity import PIECE, PREFIX, identity_of_stored, product_facts
from hetdp.problem.product import ProductSpace, TupleLabels, as_graph, is_listable
from hetdp.problem.query import Answers
from hetdp.problem.space import Floats
from hetdp.problem.spelling import label_to_json
from hetdp.text import format_value
from hetdp.theory.pure import PURE
from hetdp.version import VERSION

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
    floored, lowered = unpack_marks(marks_of(as_written))
    part.save("floored_0", floored)
    part.save("lowered_0", lowered)
    part.save("rows_class", axes)
    part.save("class_names", names_to_bytes([axis.name for axis in tallied.axes]))
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


def identity_of_slabs(parts: list[Part], tallied: Tallied, notion: str, workers: TaskRunner) -> str:
    """The identity of the problem, as one machine has it."""
    if is_listable(tallied.space):
        answers = np.concatenate([np.empty(0, np.int8), *(part.load("answers") for part in parts)])
        return identity_of_stored(notion, as_graph(tallied.space), answers)
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
        return [label_to_json(names[number]) for number in numbers]


# partitioned_tallies: tallies that fit on no machine, on workers.


MOST = 1 << 40
RULE = f"at most {MOST:,} tallies can be dealt to partitions"


def partitioned_tallies(
    groups: Mapping[str, int],
    question: Question,
    privacy: Privacy | ByGroup,
    values: Sequence[str] = ("yes", "no"),
    cluster: str | None = None,
    workers: int | None = None,
    memory: str = MEMORY,
    work: str | Path | None = None,
    partitions: int | None = None,
) -> PartitionedProblem:
    """The problem of `tallies` on partitions, each a slab of datasets whose edges workers make; no file is read.

    `design` (fair and balanced), `check`, `extend`, `verify` and `save` take it; its values are those of
    `tallies`, bit for bit. Close it at the end, or use ``with contextlib.closing(...)``.

    Args:
        groups: name → how many people.
        question: from `hetdp.questions`.
        privacy: rules from `hetdp.privacy` that do not depend on the situation; or one ε for all; or group → ε.
        values: the values that a person may have.
        cluster: the address of a Dask scheduler. Default: workers on this machine.
        workers: how many to start on this machine.
        memory: how much memory each of these may take.
        work: a folder that all workers reach. Default, for workers on this machine: a temporary one.
        partitions: how many slabs there are.

    Raises:
        UsageError: the arguments do not fit each other, or ε depends on the situation.
        ClusterError: no worker could be reached, or the last one was lost.
    """
    sizes, known = sizes_of(groups), values_of(values)
    if not isinstance(question, Question):
        raise UsageError(
            f"the question is {format_value(question)}", "it is made by hetdp.questions, such as majority()"
        )
    require_few(list(sizes.values()), len(known), True, MOST, RULE, "a population, as in hetdp ask, needs no datasets")
    promised = privacy_of(privacy)
    axes = []
    for (group, size), epsilon in zip(
        sizes.items(), tables_of(promised.table(list(sizes), known), promised), strict=True
    ):
        two = len(known) == 2
        axes.append(Axis.tally(group, size, epsilon, known) if two else Axis.group(group, size, known, epsilon))
    if any(axis.states > 1 for axis in axes):
        rule = "on partitions ε depends on who changes what, not on the situation"
        raise UsageError("privacy rules with situations, on partitions", rule)
    tallied = Tallied(tuple(axes), sizes, question)
    count = worker_count(cluster, workers, memory, work, partitions)
    wanted: Any = partitions
    if wanted == "files":
        raise UsageError("the partitions 'files'", "tallies have no files; it is a whole number, at least 1")
    place, remove = work_folder(work)
    folder = fresh_folder(place, LAID)
    slabs = partitions or max(count, -(-tallied.space.arc_count // arcs_for(cluster, memory)))
    engine: TaskRunner | None = None
    try:
        _claim(place, tallied, slabs)
        engine = workers_of(cluster, count, memory, place)
        about = about_of(question, promised, TALLY_CHANGE)
        return laid_in_slabs(engine, tallied, folder, slabs, about, end_of(engine, place if remove else folder))
    except BaseException:
        end_of(engine, place if remove else folder)()
        raise


def _claim(work: str, tallied: Tallied, slabs: int) -> None:
    """Says what lies in a folder from now on; tallies are laid out there again, and nothing else is replaced.

    Raises:
        UsageError: another problem lies there, which somebody may be using.
    """
    text, table = product_facts(PURE.name, tallied.space)
    facts = json.dumps([VERSION, slabs, dict(tallied.sizes), tallied.question.document()], sort_keys=True, default=str)
    said = json.dumps({TALLIES: hashlib.sha256(facts.encode() + text + table.tobytes()).hexdigest()})
    found = note_in(work) or said
    if found != said:
        raise refused(work, "other tallies" if TALLIES in found else "a problem that was read from files")
    leave_note(work, said)


def laid_in_slabs(
    workers: TaskRunner, tallied: Tallied, work: str, slabs: int, about: dict[str, str], end: Any
) -> PartitionedProblem:
    """The same with workers that are there already."""
    space: ProductSpace = tallied.space
    offsets = ranges(space.size, slabs)
    parts = [Part(work, number, offsets) for number in range(slabs)]
    progress.report_stage("building the graphs")
    arcs = sum(workers.run(lay_slab, [(part, tallied) for part in parts], "building the graphs"))
    graph = PartitionedGraph(space.size, arcs, arcs // 2, PURE.parameters)
    identity = partial(identity_of_slabs, parts, tallied, PURE.name, workers)
    names = SlabNames(tallied.axes)
    return PartitionedProblem(work, offsets, graph, PURE, about, identity, 0, workers, names, end, gridded=True)
