"""partitioned_tallies: tallies that fit on no machine, on workers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hetdp import progress
from hetdp.engines.dask.starting import (
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
from hetdp.errors import UsageError, shown
from hetdp.problem.axis import Axis
from hetdp.problem.identity import product_facts
from hetdp.problem.partitioned import PartitionedGraph, PartitionedProblem, Workers
from hetdp.problem.parts import Part
from hetdp.problem.product import ProductSpace
from hetdp.problem.shared import fresh_folder
from hetdp.spaces.privacy.rules import ByGroup, Privacy
from hetdp.spaces.products.building import about_of, privacy_of, require_few, tables_of, values_of
from hetdp.spaces.products.slabs import SlabNames, Tallied, identity_of_slabs, lay_slab
from hetdp.spaces.products.tallies import CHANGE, sizes_of
from hetdp.spaces.questions.question import Question
from hetdp.theory.pure import PURE
from hetdp.version import VERSION

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
        raise UsageError(f"the question is {shown(question)}", "it is made by hetdp.questions, such as majority()")
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
    engine: Workers | None = None
    try:
        _claim(place, tallied, slabs)
        engine = workers_of(cluster, count, memory, place)
        about = about_of(question, promised, CHANGE)
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
    workers: Workers, tallied: Tallied, work: str, slabs: int, about: dict[str, str], end: Any
) -> PartitionedProblem:
    """The same with workers that are there already."""
    space: ProductSpace = tallied.space
    offsets = ranges(space.size, slabs)
    parts = [Part(work, number, offsets) for number in range(slabs)]
    progress.stage("building the graphs")
    arcs = sum(workers.run(lay_slab, [(part, tallied) for part in parts], "building the graphs"))
    graph = PartitionedGraph(space.size, arcs, arcs // 2, PURE.parameters)
    identity = partial(identity_of_slabs, parts, tallied, PURE.name, workers)
    names = SlabNames(tallied.axes)
    return PartitionedProblem(work, offsets, graph, PURE, about, identity, 0, workers, names, end, gridded=True)
