"""`partitioned_tallies`: tallies too large for memory, on partitions.

A partition is a range of dataset numbers. No table is read: each worker computes the answers and edges of its range
from the groups and the question.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp import progress
from hetdp.errors import UsageError
from hetdp.partitioned.partition import Partition, ghosts_among, places_among, write_cut, write_rows
from hetdp.partitioned.problem import PartitionedGraph, PartitionedProblem, TaskRunner
from hetdp.partitioned.shared_files import make_folder
from hetdp.partitioned.workspace import (
    LAYOUT,
    MEMORY,
    TALLIES,
    Workspace,
    equal_ranges,
    read_note,
    refuse_folder,
    write_note,
)
from hetdp.people.names import require_values
from hetdp.people.privacy.rule import ByGroup, Privacy
from hetdp.people.products.problems import (
    TALLY_CHANGE,
    about_of,
    privacy_of,
    require_few,
    sizes_of,
    tables_of,
)
from hetdp.people.questions.question import Question, require_question
from hetdp.problem.axis import Axis
from hetdp.problem.classes import names_to_bytes
from hetdp.problem.decimals import marks_of, unpack_marks
from hetdp.problem.identity import PIECE, PREFIX, identity_of_stored, product_facts
from hetdp.problem.product import ProductSpace, TupleLabels, as_graph, is_listable
from hetdp.problem.query import Answers
from hetdp.problem.space import Floats
from hetdp.problem.spelling import label_to_json
from hetdp.theory.pure import PURE
from hetdp.version import VERSION

Numbers = NDArray[np.int64]


class TallyProblem(NamedTuple):
    """The definition of tallies, which is all that a task needs to know.

    Attributes:
        axes: one axis per group.
        sizes: number of people in each group.
        question: the question.
    """

    axes: tuple[Axis, ...]
    sizes: Mapping[str, int]
    question: Question

    @property
    def space(self) -> ProductSpace:
        """The space of datasets; its size in memory does not depend on their number."""
        return ProductSpace(self.axes)


def answers_at(tallied: TallyProblem, numbers: Numbers) -> Answers:
    """The true answers of some datasets."""
    space, counts = tallied.space, {}
    for at, axis in enumerate(tallied.axes):
        positions = space.positions(at, numbers)
        columns = axis.counts().T
        counts[axis.name] = {value: one[positions] for value, one in zip(axis.values, columns, strict=True)}
    holds = np.broadcast_to(tallied.question.holds(counts, tallied.sizes), (len(numbers),))
    return np.where(holds, np.int8(1), np.int8(2))


def arcs_from(tallied: TallyProblem, numbers: Numbers) -> tuple[Numbers, Numbers, Floats, Floats, NDArray[np.int16]]:
    """All arcs that begin at some ascending datasets, sorted by source and target.

    Returns arrays of sources, targets, ε on the grid, ε as written, and the number of the axis, which is the group.
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
        axis_numbers = np.full(int(np.count_nonzero(bound)), at, dtype=np.int16)
        found.append((source[bound], target[bound], epsilon[bound], written[bound], axis_numbers))
    source, target, epsilon, written, axes = (np.concatenate(columns) for columns in zip(*found, strict=True))
    order = np.lexsort((target, source))
    return source[order], target[order], epsilon[order], written[order], axes[order]


def build_range(partition: Partition, tallied: TallyProblem) -> int:
    """Writes the answers and the graph of one partition; returns the number of arcs that begin there."""
    numbers = np.arange(partition.first, partition.first + partition.size, dtype=np.int64)
    source, target, epsilon, as_written, axes = arcs_from(tallied, numbers)
    ghosts = ghosts_among(partition, target)
    before, size = int(np.searchsorted(ghosts, partition.first)), partition.size + len(ghosts)
    number = np.int32 if size < 2**31 else np.int64
    starts, ends = (places_among(partition, ghosts, end).astype(number) for end in (source, target))
    partition.save("ghosts", ghosts)
    write_cut(partition, source, target)
    counts = np.bincount(source - partition.first, minlength=partition.size)
    write_rows(partition, "rows", np.concatenate([[0], np.cumsum(counts)]), ends, (epsilon,))
    floored, lowered = unpack_marks(marks_of(as_written))
    partition.save("floored_0", floored)
    partition.save("lowered_0", lowered)
    partition.save("rows_class", axes)
    partition.save("class_names", names_to_bytes([axis.name for axis in tallied.axes]))
    order = np.lexsort((starts, ends))  # the reversed arcs: ε is the same in both directions
    counts = np.bincount(ends, minlength=size)
    write_rows(partition, "search", np.concatenate([[0], np.cumsum(counts)]), starts[order], (epsilon[order],))
    answers = answers_at(tallied, np.concatenate([ghosts[:before], numbers, ghosts[before:]]))
    partition.save("answers", answers[before : before + partition.size])
    partition.save("pins", np.full(partition.size, np.nan))
    boundary = np.zeros(partition.size, dtype=np.bool_)
    boundary[(source - partition.first)[answers[starts] != answers[ends]]] = True
    partition.save("boundary", boundary)
    return len(source)


def identity_of_tallies(partitions: list[Partition], tallied: TallyProblem, notion: str, workers: TaskRunner) -> str:
    """The identity of the problem, the same as on one machine."""
    if is_listable(tallied.space):
        answers = np.concatenate([np.empty(0, np.int8), *(partition.load("answers") for partition in partitions)])
        return identity_of_stored(notion, as_graph(tallied.space), answers)
    text, table = product_facts(notion, tallied.space)
    size = partitions[0].offsets[-1]
    pieces = [(partitions, start, min(start + PIECE, size)) for start in range(0, size, PIECE)]
    digests = [hashlib.sha256(text).digest(), *workers.run(digest_answers, pieces)]
    if len(table):
        digests.append(hashlib.sha256(table.astype("<f8").tobytes()).digest())
    return PREFIX + hashlib.sha256(b"".join(digests)).hexdigest()


def digest_answers(partitions: list[Partition], start: int, stop: int) -> bytes:
    """The digest of a range of answers, read from the partitions that hold them."""
    digest = hashlib.sha256()
    for partition in partitions:
        low, high = max(start, partition.first), min(stop, partition.first + partition.size)
        if low < high:
            digest.update(
                np.ascontiguousarray(
                    partition.load("answers")[low - partition.first : high - partition.first]
                ).tobytes()
            )
    return digest.digest()


class TallyNames:
    """Translates between labels, which are tuples with one entry per group, and numbers."""

    def __init__(self, axes: tuple[Axis, ...]) -> None:
        self._axes, self._labels = axes, TupleLabels(axes)

    @property
    def writer(self) -> TallyTexts:
        """The object with which tasks write labels."""
        return TallyTexts(self._axes)

    def labels(self, numbers: list[int]) -> list[Any]:
        """The labels of some datasets."""
        return [self._labels.names[number] for number in numbers]

    def indices(self, labels: list[Any]) -> Any:
        """The numbers of some datasets; −1 for an unknown label."""
        return self._labels.indices(labels)


class TallyTexts(NamedTuple):
    """Labels as JSON texts, as in tables of tallies."""

    axes: tuple[Axis, ...]

    @property
    def words(self) -> dict[str, str]:
        """Entries about labels for the metadata file of a mechanism."""
        return {"labels": "json"}

    def own(self, partition: Partition) -> Any:
        """The labels of a partition's datasets."""
        return np.array(self.at(list(range(partition.first, partition.first + partition.size))), dtype=object)

    def at(self, numbers: list[int]) -> list[Any]:
        """The labels of some datasets."""
        names = TupleLabels(self.axes).names
        return [label_to_json(names[number]) for number in numbers]


# Public function ------------------------------------------------------------------------------------------------------


MOST = 1 << 40
RULE = f"at most {MOST:,} tallies can be partitioned"


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
    """The problem of `tallies` on partitions: workers compute the edges of a range of datasets each; no file is read.

    `design` (fair and balanced), `check`, `extend`, `verify` and `save` take it. All values are the same as with
    `tallies`, bit for bit. Close it at the end, or use ``with contextlib.closing(...)``.

    Args:
        groups: name → number of people.
        question: from `hetdp.questions`.
        privacy: rules from `hetdp.privacy` that do not depend on the situation; or one ε for all; or group → ε.
        values: the values that a person may have.
        cluster: address of a Dask scheduler. By default workers are started on this machine.
        workers: number of workers to start on this machine.
        memory: memory limit of each started worker.
        work: a folder that all workers can access. With workers on this machine, the default is a temporary folder.
        partitions: number of partitions.

    Raises:
        UsageError: the arguments do not fit each other, or ε depends on the situation.
        ClusterError: no worker could be reached, or the last one was lost.
    """
    sizes, known = sizes_of(groups), require_values(values)
    require_question(question)
    require_few(list(sizes.values()), len(known), True, MOST, RULE, "a population, as in hetdp.ask, needs no datasets")
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
    tallied = TallyProblem(tuple(axes), sizes, question)
    space = Workspace(cluster, workers, memory, work, partitions)
    wanted: Any = partitions
    if wanted == "files":
        raise UsageError("invalid partitions 'files'", "tallies have no files; it is a whole number, at least 1")
    place = space.make_folder()
    folder = make_folder(place, LAYOUT)
    space.remove_at_end(folder)
    partitions = partitions or max(space.count, -(-tallied.space.arc_count // space.arcs))
    with space.end_on_failure():
        _claim(place, tallied, partitions)
        about = about_of(question, promised, TALLY_CHANGE)
        return partition_tallies(space.start(place), tallied, folder, partitions, about, space.end)


def _claim(work: str, tallied: TallyProblem, partitions: int) -> None:
    """Records these tallies in a work folder; the same tallies may be written again, other problems are not replaced.

    Raises:
        UsageError: the folder contains another problem, which may be in use.
    """
    text, table = product_facts(PURE.name, tallied.space)
    facts = json.dumps(
        [VERSION, partitions, dict(tallied.sizes), tallied.question.document()], sort_keys=True, default=str
    )
    claim = json.dumps({TALLIES: hashlib.sha256(facts.encode() + text + table.tobytes()).hexdigest()})
    found = read_note(work) or claim
    if found != claim:
        raise refuse_folder(work, "other tallies" if TALLIES in found else "a problem that was read from files")
    write_note(work, claim)


def partition_tallies(
    workers: TaskRunner, tallied: TallyProblem, work: str, count: int, about: dict[str, str], end: Any
) -> PartitionedProblem:
    """The problem of `partitioned_tallies` with running workers."""
    space: ProductSpace = tallied.space
    offsets = equal_ranges(space.size, count)
    partitions = [Partition(work, number, offsets) for number in range(count)]
    progress.report_stage("building the graphs")
    arcs = sum(workers.run(build_range, [(partition, tallied) for partition in partitions], "building the graphs"))
    graph = PartitionedGraph(space.size, arcs, arcs // 2, PURE.parameters)
    identity = partial(identity_of_tallies, partitions, tallied, PURE.name, workers)
    names = TallyNames(tallied.axes)
    return PartitionedProblem(work, offsets, graph, PURE, about, identity, workers, names, end, gridded=True)
