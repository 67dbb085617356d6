"""The parameters of an arc, for notions of one, two or four: written out, since a compiled tuple has a fixed length."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hetdp import jit
from hetdp.engines.compiling import Function, Replacements, compiled
from hetdp.engines.contract import Growth, Operation, Role, Roles
from hetdp.engines.cpu import grow as kernels
from hetdp.engines.cpu import settle as meeting_kernels
from hetdp.engines.cpu import settle as offer_kernels
from hetdp.engines.cpu import settle as settle_kernels
from hetdp.engines.cpu.grow import IDLE, SETTLED, Columns
from hetdp.engines.cpu.queue import ANY_IDLE, DESK_SIZE, compiled_prefetch, pool_size, prefetch
from hetdp.engines.demands import demands
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.space import Floats, Indices, Mask, Space
from hetdp.theory.notion import Notion, reversed_places
from hetdp.threads import run_in_threads, slices


def one(columns: Columns, arc: int) -> tuple[float]:
    """The same in both directions."""
    return (float(columns[0][arc]),)


def two(columns: Columns, arc: int) -> tuple[float, float]:
    """One for each direction."""
    return float(columns[0][arc]), float(columns[1][arc])


def two_turned(columns: Columns, arc: int) -> tuple[float, float]:
    """The same, seen from the target."""
    return float(columns[1][arc]), float(columns[0][arc])


def four(columns: Columns, arc: int) -> tuple[float, float, float, float]:
    """Two for each direction."""
    return float(columns[0][arc]), float(columns[1][arc]), float(columns[2][arc]), float(columns[3][arc])


def four_turned(columns: Columns, arc: int) -> tuple[float, float, float, float]:
    """The same, seen from the target."""
    return float(columns[1][arc]), float(columns[0][arc]), float(columns[3][arc]), float(columns[2][arc])


BY_PLACES = {  # by where a parameter is found, seen from the target: how to read an arc, from the source and from there
    (0,): (one, one),
    (1, 0): (two, two_turned),
    (1, 0, 3, 2): (four, four_turned),
}


# The kernels of this engine, compiled for a notion.


@cache
def compiled_grow(notion: Notion) -> Function:
    """The search kernel with a notion's step in it."""
    return compiled(kernels.grow, f"grow_{_name(notion)}", searching(notion))


@cache
def compiled_settle(notion: Notion) -> tuple[Function, Function]:
    """What lists the meetings of the fair search, and its kernel."""
    replaced = searching(notion)
    return (
        compiled(meeting_kernels.meetings, f"meetings_{_name(notion)}", replaced),
        compiled(settle_kernels.settle, f"settle_{_name(notion)}", replaced),
    )


@cache
def compiled_offers(notion: Notion) -> Function:
    """What neighbours of the other answer offer."""
    return compiled(offer_kernels.offers, f"offers_{_name(notion)}", searching(notion))


def _name(notion: Notion) -> str:
    """The module of its formulas: notions that share them share what is compiled."""
    return notion.across.__module__.rpartition(".")[2]


def searching(notion: Notion) -> Replacements:
    """What a kernel runs in place of the functions that stand for a notion's."""
    edge_of, turned_edge_of = BY_PLACES[reversed_places(notion.parameters)]
    replaced: Replacements = {
        kernels.edge_of: edge_of,
        meeting_kernels.turned_edge_of: turned_edge_of,
        kernels.step: notion.step,
        kernels.quick: notion.quick,
        settle_kernels.across: notion.across,
        meeting_kernels.meet: notion.meet,
    }
    if not jit.is_off():
        replaced[prefetch] = compiled_prefetch
    return replaced


@cache
def compiled_mark() -> Function:
    """What marks the datasets that touch the other answer or a pin."""
    return compiled(meeting_kernels.mark, "mark", {})


@cache
def compiled_sides() -> Function:
    """The split of the starts."""
    return compiled(kernels.sides, "sides", {})


# The CPU engine: explicit graphs, any notion.


MARKED = 1 << 17  # datasets that a thread looks at, before it takes more
WORTH_A_THREAD = 1 << 12  # starting one costs as much as settling some thousand datasets


class CpuEngine:
    """Label-setting search, one thread for each answer."""

    name = "cpu"

    def supports(self, space: Space, notion: Notion, operation: Operation) -> bool:
        """Everything, but only on graphs that are stored."""
        return isinstance(space, DatasetGraph) and reversed_places(notion.parameters) in BY_PLACES

    def grow(
        self, space: Space, notion: Notion, labels: Floats, roles: Roles | None = None, active: Mask | None = None
    ) -> Growth:
        """The smallest labels reachable from the start labels; see the contract."""
        assert isinstance(space, DatasetGraph)
        labels = np.add(labels, 0.0, dtype=np.float64)  # a copy in which −0.0 is 0.0, as the order of keys needs
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
        return start.kept(labels, links)


class Stored(Protocol):
    """What the kernels need of a graph: its rows."""

    @property
    def size(self) -> int:
        """How many datasets there are."""

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Where the row of each dataset begins, and the last one ends."""

    @property
    def targets(self) -> Indices:
        """The other end of each arc."""

    @property
    def parameters(self) -> tuple[Floats, ...]:
        """What each arc allows."""


def grow_on(
    graph: Stored, notion: Notion, labels: Floats, links: Indices, roles: Roles | None, active: Mask | None
) -> None:
    """Lowers labels, in which no zero has a sign, to the fixed point where they stand, and notes the links."""
    flags = np.full(graph.size, Role.FREE_1, dtype=np.uint8) if roles is None else roles.astype(np.uint8)
    started = labels < np.inf
    starts = np.flatnonzero(started if active is None else started & active).astype(graph.targets.dtype)
    groups = [starts] if roles is None else split_by_answer(graph, flags, starts)
    if active is not None:
        flags[started & ~active] |= IDLE
    search_all(graph, notion, (labels, links, flags), groups)


def offers_on(graph: Stored, notion: Notion, labels: Floats, roles: Roles, start: Floats) -> None:
    """Lowers a start to what free neighbours of the other answer offer, if these are their labels."""
    compiled_offers(notion)(graph.indptr, graph.targets, graph.parameters, labels, roles, start)


def settle_mixed(space: DatasetGraph, notion: Notion, start: Floats, links: Indices, flags: Roles) -> Floats:
    """The labels once the answers no longer touch: what is settled by then says `flags`."""
    list_meetings, search = compiled_settle(notion)
    graph, room = (space.indptr, space.targets, space.parameters), len(space.targets) // 2
    number = np.int64 if space.size + room >= 2**31 else space.targets.dtype
    ends, points = np.empty(2 * room, dtype=space.targets.dtype), np.empty(room)  # pages never used cost nothing
    mark = compiled_mark()
    run_in_threads(
        lambda part: mark(space.indptr, space.targets, flags, part.start, part.stop),
        slices(space.size, MARKED),
        len(space.targets),
    )
    found = list_meetings(*graph, start, flags, bool((start < 0.0).any()), np.empty(space.size), ends, points)
    labels = np.concatenate([start, points[:found]])
    desk = np.zeros(DESK_SIZE, dtype=np.int64)
    pool = np.empty(pool_size(len(space.targets) + len(labels)), dtype=number)
    search(*graph, labels, labels.view(np.int64), flags, links, ends, desk, pool)
    return labels[: space.size].copy()


def split_by_answer(space: Stored, flags: Roles, starts: Indices) -> list[Indices]:
    """The starts of the search for each answer, or all in one if some dataset would be in both searches."""
    side = np.zeros(len(starts), dtype=np.uint8)
    compiled_sides()(space.indptr, space.targets, flags, starts, side)
    if space.size < WORTH_A_THREAD or (side == Role.FREE_1 | Role.FREE_2).any():
        return [starts[side != Role.PINNED]]
    return [starts[side == Role.FREE_1], starts[side == Role.FREE_2]]


def search_all(space: Stored, notion: Notion, found: tuple[Floats, Indices, Roles], groups: list[Indices]) -> None:
    """Runs one search for each group of starts, side by side."""
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
    if len(groups) < 2:
        for group in groups:
            search_from(group)
        return
    with ThreadPoolExecutor(len(groups)) as executor:
        list(executor.map(search_from, groups))
