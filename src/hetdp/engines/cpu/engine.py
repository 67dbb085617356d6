"""The CPU engine: compiled label-setting searches on stored graphs, for any notion.

It compiles the kernels in `grow` and `settle` for a notion, splits a search by answer, and runs the two halves in
threads. Compiled tuples have a fixed length, so the functions that read the parameters of an arc are written out for
notions with one, two and four parameters.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hetdp import jit
from hetdp.engines.compiling import Function, Replacements, compile_kernel
from hetdp.engines.contract import Growth, Operation, Role, Roles, demands
from hetdp.engines.cpu import grow as kernels
from hetdp.engines.cpu import settle as settle_kernels
from hetdp.engines.cpu.grow import IDLE, ROLE, SETTLED, Columns
from hetdp.engines.cpu.queue import ANY_IDLE, DESK_SIZE, compiled_prefetch, pool_size, prefetch
from hetdp.engines.cpu.settle import MIXED_FLAG
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.space import Floats, Indices, Mask, Space
from hetdp.theory.notion import Notion, reversed_places
from hetdp.threads import FEWEST_FOR_THREADS, run_in_threads, slices

# Parameters of an arc -------------------------------------------------------------------------------------------------


def one_parameter(columns: Columns, arc: int) -> tuple[float]:
    """One parameter, the same in both directions."""
    return (float(columns[0][arc]),)


def two_parameters(columns: Columns, arc: int) -> tuple[float, float]:
    """One parameter for each direction."""
    return float(columns[0][arc]), float(columns[1][arc])


def reverse_pair(columns: Columns, arc: int) -> tuple[float, float]:
    """One parameter for each direction, seen from the target."""
    return float(columns[1][arc]), float(columns[0][arc])


def four_parameters(columns: Columns, arc: int) -> tuple[float, float, float, float]:
    """Two parameters for each direction."""
    return float(columns[0][arc]), float(columns[1][arc]), float(columns[2][arc]), float(columns[3][arc])


def reverse_quadruple(columns: Columns, arc: int) -> tuple[float, float, float, float]:
    """Two parameters for each direction, seen from the target."""
    return float(columns[1][arc]), float(columns[0][arc]), float(columns[3][arc]), float(columns[2][arc])


BY_PLACES = {  # order of parameters seen from the target → functions that read an arc from the source and the target
    (0,): (one_parameter, one_parameter),
    (1, 0): (two_parameters, reverse_pair),
    (1, 0, 3, 2): (four_parameters, reverse_quadruple),
}


# Compiled kernels -----------------------------------------------------------------------------------------------------


@cache
def compiled_grow(notion: Notion) -> Function:
    """The search kernel, compiled with the step of a notion."""
    return compile_kernel(kernels.grow, f"grow_{_name(notion)}", search_functions(notion))


@cache
def compiled_settle(notion: Notion) -> Function:
    """The kernel that runs the fair search."""
    return compile_kernel(settle_kernels.settle, f"settle_{_name(notion)}", search_functions(notion))


@cache
def compiled_meetings(notion: Notion) -> Function:
    """The kernel that lists the meetings of the fair search."""
    return compile_kernel(settle_kernels.meetings, f"meetings_{_name(notion)}", search_functions(notion))


@cache
def compiled_offers(notion: Notion) -> Function:
    """The kernel that computes offers from neighbours of the other answer."""
    return compile_kernel(settle_kernels.lower_to_offers, f"offers_{_name(notion)}", search_functions(notion))


def _name(notion: Notion) -> str:
    """The module of a notion's formulas: notions that share them also share the compiled code."""
    return notion.across.__module__.rpartition(".")[2]


def search_functions(notion: Notion) -> Replacements:
    """Maps the placeholders in kernels to the functions of a notion."""
    edge_of, turned_edge_of = BY_PLACES[reversed_places(notion.parameters)]
    replaced: Replacements = {
        kernels.edge_of: edge_of,
        settle_kernels.turned_edge_of: turned_edge_of,
        kernels.step: notion.step,
        kernels.quick: notion.quick,
        settle_kernels.across: notion.across,
        settle_kernels.meet: notion.meet,
    }
    if not jit.is_off():
        replaced[prefetch] = compiled_prefetch
    return replaced


@cache
def compiled_mark() -> Function:
    """The kernel that marks mixed datasets, with a neighbour of the other answer or a pinned one."""
    return compile_kernel(settle_kernels.mark, "mark", {})


@cache
def compiled_sides() -> Function:
    """The kernel that assigns starts to the searches for the two answers."""
    return compile_kernel(kernels.sides, "sides", {})


@cache
def compiled_prefetch_arcs() -> Function:
    """The kernel that loads arcs into the cache."""
    return compile_kernel(kernels.prefetch_arcs, "prefetch_arcs", {} if jit.is_off() else {prefetch: compiled_prefetch})


# Engine ---------------------------------------------------------------------------------------------------------------


STARTS_PER_TASK = 1 << 11  # starts per task of the threads that look at the sides of starts
MOST_WARMED = 1 << 20  # arcs, of 12 bytes or more, that fit into the cache which cores share
MARKED_PER_TASK = 1 << 17  # datasets per task of the threads that mark mixed datasets
FEWEST_PER_THREAD = 1 << 12  # starting a thread costs as much as settling some thousand datasets


class CpuEngine:
    """Label-setting search with one thread for each answer."""

    name = "cpu"

    def supports(self, space: Space, notion: Notion, operation: Operation) -> bool:
        """True for all operations on stored graphs."""
        return isinstance(space, DatasetGraph) and reversed_places(notion.parameters) in BY_PLACES

    def grow(
        self, space: Space, notion: Notion, labels: Floats, roles: Roles | None = None, active: Mask | None = None
    ) -> Growth:
        """The smallest labels reachable from the start labels; see the contract."""
        assert isinstance(space, DatasetGraph)
        labels = np.add(labels, 0.0, dtype=np.float64)  # a copy with 0.0 for −0.0: keys order floats by their bits
        links = np.full(space.size, -1, dtype=space.targets.dtype)
        grow_on(space, notion, labels, links, roles, active)
        return Growth(labels, links)

    def settle(self, space: Space, notion: Notion, answers: Indices, pins: Floats | None = None) -> Growth:
        """The fair labels; see the contract."""
        assert isinstance(space, DatasetGraph)
        start = demands(self, space, notion, answers, pins)
        links, flags = start.links.astype(space.targets.dtype), start.roles
        labels = settle_mixed(space, notion, start.most, links, flags)
        waiting = (labels < np.inf) & (flags & SETTLED == 0)
        groups = [np.flatnonzero(waiting & (flags == role)) for role in (Role.FREE_1, Role.FREE_2)]
        groups = [group.astype(space.targets.dtype) for group in groups]
        search_all(space, notion, (labels, links, flags), groups)
        return start.finish(labels, links)


class StoredRows(Protocol):
    """The rows of a graph, as kernels need them."""

    @property
    def size(self) -> int:
        """Number of datasets."""

    @property
    def indptr(self) -> NDArray[np.int64]:
        """The start of each dataset's row, followed by the end of the last row."""

    @property
    def targets(self) -> Indices:
        """The other end of each arc."""

    @property
    def parameters(self) -> tuple[Floats, ...]:
        """The parameters of each arc."""


def grow_on(
    graph: StoredRows, notion: Notion, labels: Floats, links: Indices, roles: Roles | None, active: Mask | None
) -> None:
    """Lowers labels in place to the fixed point and sets the links; the labels must not contain −0.0."""
    flags = np.full(graph.size, Role.FREE_1, dtype=np.uint8) if roles is None else roles.astype(np.uint8)
    started = labels < np.inf
    starts = np.flatnonzero(started if active is None else started & active).astype(graph.targets.dtype)
    groups = [starts] if roles is None else split_by_answer(graph, flags, starts)
    if active is not None:
        flags[started & ~active] |= IDLE
    search_all(graph, notion, (labels, links, flags), groups)


def offers_on(graph: StoredRows, notion: Notion, labels: Floats, roles: Roles, start: Floats) -> None:
    """Lowers start labels in place to the offers of free neighbours of the other answer, given their labels."""
    compiled_offers(notion)(graph.indptr, graph.targets, graph.parameters, labels, roles, start)


def settle_mixed(space: DatasetGraph, notion: Notion, start: Floats, links: Indices, flags: Roles) -> Floats:
    """Runs the fair search until all mixed datasets are settled; returns the labels and updates `flags` and `links`."""
    mixed, ends, points = list_meetings(space, notion, start, flags)
    size, count = space.size, space.size + len(points)
    number = np.int64 if count >= 2**31 else space.targets.dtype
    bounded = np.flatnonzero((start < np.inf) & (flags & ROLE != Role.PINNED))
    starts = np.concatenate([bounded, np.arange(size, count)]).astype(number)
    labels = np.concatenate([start, points])
    desk = np.zeros(DESK_SIZE, dtype=np.int64)
    pool = np.empty(pool_size(len(space.targets) + len(starts)), dtype=number)
    graph = space.indptr, space.targets, space.parameters
    compiled_settle(notion)(*graph, labels, labels.view(np.int64), flags, links, ends, starts, mixed, desk, pool)
    labels.resize(size, refcheck=False)  # in place: only compiled code had a view of it
    return labels


def list_meetings(space: DatasetGraph, notion: Notion, start: Floats, flags: Roles) -> tuple[int, Indices, Floats]:
    """Marks the mixed datasets; returns their number, and the ends and points of all possible meetings."""
    ones, twos = (np.count_nonzero(flags == role) for role in (Role.FREE_1, Role.FREE_2))
    rows = np.flatnonzero(flags != (Role.FREE_2 if ones < twos else Role.FREE_1))
    number = np.int32 if len(space.targets) < 2**31 else np.int64
    nothing = np.empty(0, dtype=number)
    mark, pieces = compiled_mark(), slices(len(rows), MARKED_PER_TASK)
    listed: list[tuple[Indices, Indices]] = [(nothing, nothing)] * len(pieces)

    def look(at: int) -> None:
        first, last = pieces[at].start, pieces[at].stop
        room = int(np.sum(space.indptr[rows[first:last] + 1] - space.indptr[rows[first:last]]))
        sources, arcs = np.empty((2, room), dtype=number)  # unused pages cost nothing
        found = mark(space.indptr, space.targets, flags, rows, first, last, sources, arcs)
        listed[at] = sources[:found], arcs[:found]

    run_in_threads(look, range(len(pieces)), len(space.targets) * len(rows) // max(1, space.size))
    sources, arcs = (np.concatenate(column) for column in zip((nothing, nothing), *listed, strict=True))
    ends, points = np.empty(2 * len(arcs), dtype=space.targets.dtype), np.empty(len(arcs))
    any_worse = bool((start < 0.0).any())
    edges = space.targets, space.parameters, start, any_worse, start.copy(), sources, arcs
    found = compiled_meetings(notion)(*edges, ends, points)
    return int(np.count_nonzero(flags & MIXED_FLAG)), ends[: 2 * found], points[:found]


def split_by_answer(space: StoredRows, flags: Roles, starts: Indices) -> list[Indices]:
    """The starts of the search for each answer; or one group, if a dataset belongs to both or the graph is small.

    The threads that look at the starts also load a graph into the cache that fits there.
    """
    side, arcs = np.zeros(len(starts), dtype=np.uint8), len(space.targets)
    sides, prefetch_arcs, rest = compiled_sides(), compiled_prefetch_arcs(), arcs if arcs <= MOST_WARMED else 0
    count = -(-len(starts) // STARTS_PER_TASK)

    def look(task: int) -> None:
        own = slice(task * STARTS_PER_TASK, (task + 1) * STARTS_PER_TASK)
        prefetch_arcs(space.targets, space.parameters, rest * task // count, rest * (task + 1) // count)
        sides(space.indptr, space.targets, flags, starts[own], side[own])

    run_in_threads(look, range(count), arcs * len(starts) // max(1, space.size) + rest)
    if space.size < FEWEST_PER_THREAD or (side == Role.FREE_1 | Role.FREE_2).any():
        return [starts.compress(side != Role.PINNED)]
    return [starts.compress(side == role) for role in (Role.FREE_1, Role.FREE_2)]


def search_all(space: StoredRows, notion: Notion, found: tuple[Floats, Indices, Roles], groups: list[Indices]) -> None:
    """Runs one search per group of starts, in parallel."""
    search = compiled_grow(notion)
    labels, links, flags = found
    any_idle = bool(np.any(flags & IDLE))

    def search_from(starts: Indices) -> None:
        desk = np.zeros(DESK_SIZE, dtype=np.int64)
        desk[ANY_IDLE] = any_idle
        pool = np.empty(pool_size(len(space.targets) + len(starts)), dtype=space.targets.dtype)
        graph = space.indptr, space.targets, space.parameters
        search(*graph, labels, labels.view(np.int64), flags, links, starts, desk, pool)

    groups = [group for group in groups if len(group)]
    run_in_threads(search_from, groups, FEWEST_FOR_THREADS if len(groups) > 1 else 0)
