"""From the edges that were dealt to a partition to its rows, its ghosts, and whom it tells what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, InputError
from hetdp.files.formats.ranges import Files
from hetdp.files.partitions.datasets import Known
from hetdp.files.partitions.edges import Chunk, Dealt, dealt_to
from hetdp.files.partitions.naming import labels_at
from hetdp.problem.boundary import boundary_of
from hetdp.problem.building.parting import ghosts_among, placed, write_cut, write_rows
from hetdp.problem.classes import names_as_bytes
from hetdp.problem.columns import distinct
from hetdp.problem.findings import Findings
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.labels import RangeLabels
from hetdp.problem.parameters import Parameters
from hetdp.problem.parts import Part
from hetdp.problem.validation import Edges


class Built(NamedTuple):
    """What became of a partition.

    Attributes:
        faults: edges that contradict each other.
        total: how many.
        arcs: how many arcs begin at its datasets.
        free: how many more do that constrain nothing.
        ghosts: how many neighbours others own.
    """

    faults: list[Fault]
    total: int
    arcs: int = 0
    free: int = 0
    ghosts: int = 0


class Numbers(NamedTuple):
    """Labels of numbers, looked up where a message needs one."""

    numbers: Any
    label: Callable[[int], Any]

    def __getitem__(self, at: Any) -> Any:
        return self.label(int(self.numbers[int(at)]))


def build(
    part: Part,
    chunks: list[Chunk],
    names: tuple[str, ...],
    duplicates: str,
    edges: Files,
    datasets: Files,
    labels: str,
    on_grid: bool,
) -> Built:
    """Builds the graph of a partition and writes it."""
    dealt = dealt_to(part, chunks, len(names))
    ghosts = ghosts_among(part, dealt.source, dealt.target)
    ends = placed(part, ghosts, dealt.source), placed(part, ghosts, dealt.target)
    size = part.size + len(ghosts)
    parameters = Parameters(names, dealt.columns)
    try:
        rows = Edges(dealt.source, dealt.target, parameters, dealt.classes)
        graph = DatasetGraph.from_ends(RangeLabels(size), ends, rows, duplicates, Findings("edges"), on_grid)
    except InputError:
        return _contradictions(part, dealt, names, edges, datasets, labels)
    write_cut(part, dealt.source, dealt.target)
    return _write(part, graph, ghosts)


def _write(part: Part, graph: DatasetGraph, ghosts: NDArray[np.int64]) -> Built:
    before = int(np.searchsorted(ghosts, part.first))
    own = slice(before, before + part.size)
    part.save("ghosts", ghosts)
    low, high = int(graph.indptr[own.start]), int(graph.indptr[own.stop])
    columns = tuple(column[low:high] for column in graph.parameters)
    write_rows(part, "rows", graph.indptr[own.start : own.stop + 1] - low, graph.targets[low:high], columns)
    for at, (column, lowered) in enumerate(graph.floored()):
        part.save(f"lowered_{at}", np.packbits(np.unpackbits(lowered, count=len(column))[low:high]))
        if graph.on_grid:
            part.save(f"floored_{at}", column[low:high])
    if (classes := graph.arc_classes()) is not None:
        part.save("rows_class", classes.numbers[low:high])
        part.save("class_names", names_as_bytes(classes.names))
    if len(ghosts):
        _write_search(part, graph, own)
    answers = np.concatenate(
        [
            part.everywhere("answers", ghosts[:before]),
            part.load("answers"),
            part.everywhere("answers", ghosts[before:]),
        ]
    )
    part.save("boundary", boundary_of(graph, answers)[own])
    return Built([], 0, high - low, graph.free_arcs(own.start, own.stop), len(ghosts))


def _write_search(part: Part, graph: DatasetGraph, own: slice) -> None:
    """The arcs that lead to own datasets: what a search goes along."""
    kept = (graph.targets >= own.start) & (graph.targets < own.stop)
    counts = np.zeros(len(kept) + 1, dtype=np.int64)
    np.cumsum(kept, out=counts[1:])
    columns = tuple(column[kept] for column in graph.parameters)
    write_rows(part, "search", counts[graph.indptr], graph.targets[kept], columns)


def _contradictions(
    part: Part, dealt: Dealt, names: tuple[str, ...], edges: Files, datasets: Files, labels: str
) -> Built:
    """The faults as one machine reports them, of those edges whose first end is here."""
    least = np.minimum(dealt.source, dealt.target)
    chosen = np.flatnonzero((least >= part.first) & (least < part.first + part.size))
    source, target = dealt.source[chosen], dealt.target[chosen]
    known = distinct(np.concatenate([source, target]))

    def label(number: int) -> Any:
        return labels_at(datasets, [number], labels)[0]

    findings = Findings("edges")
    table = Edges(
        Numbers(source, label),
        Numbers(target, label),
        Parameters(names, tuple(column[chosen] for column in dealt.columns)),
        dealt.classes and dealt.classes.take(chosen),
        row=lambda at: edges.row(dealt.row(int(chosen[at]))),
    )
    ends = np.searchsorted(known, source), np.searchsorted(known, target)
    with findings.collecting():
        DatasetGraph.from_ends(Known(_Names(known, label)), ends, table, "error", Findings("edges"))
    return Built(findings.faults, findings.total)


class _Names:
    """Labels of some numbers, found when a message wants them."""

    def __init__(self, numbers: NDArray[np.int64], label: Callable[[int], Any]) -> None:
        self._numbers, self._label = numbers, label

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, at: Any) -> Any:
        return self._label(int(self._numbers[int(at)]))
