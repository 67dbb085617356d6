"""The product engine: growth on product spaces, whose edges are computed, for notions with one ε per edge.

If ε does not depend on states and all sums are exact, one sweep along each axis by plain addition suffices. Otherwise
labels are relaxed along one axis after the other until none falls. Links are found afterwards, on first access.
`meeting_labels` are the start labels of the balanced search.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import numpy as np

from hetdp.engines.compiling import Function, Replacements, compile_kernel
from hetdp.engines.contract import Growth, Operation, Role, Roles
from hetdp.engines.product import grow as kernels
from hetdp.engines.product import links as link_kernels
from hetdp.engines.product import rows as row_kernels
from hetdp.engines.product import sweep as sweep_kernels
from hetdp.engines.product.links import PIECE, flat
from hetdp.engines.product.rows import ROW, rows_of
from hetdp.engines.product.sweep import LARGEST, ON_GRID, Pass, passes, reach
from hetdp.errors import UsageError
from hetdp.problem.axis import BLOCK, Part, cut_lines
from hetdp.problem.decimals import LARGEST_EXACT, round_labels_down
from hetdp.problem.product import ProductSpace
from hetdp.problem.query import Answers
from hetdp.problem.space import Floats, Indices, Mask, Space
from hetdp.theory.notion import Notion
from hetdp.threads import run_in_threads, slices

# Compiled kernels -----------------------------------------------------------------------------------------------------


@cache
def compiled_sweeps() -> tuple[Function, Function]:
    """The kernels that sweep the last axes and the axes before them."""
    return (
        compile_kernel(sweep_kernels.sweep_blocks, "sweep_blocks", {}),
        compile_kernel(sweep_kernels.sweep_columns, "sweep_columns", {}),
    )


@cache
def compiled_copy() -> Function:
    """The kernel that copies start labels and checks them."""
    return compile_kernel(sweep_kernels.copy_and_look, "copy_and_look", {})


@cache
def compiled_relax(notion: Notion | None) -> Function:
    """The kernel that relaxes the lines along one axis; by plain addition if there is no notion."""
    if notion is None:
        return compile_kernel(kernels.relax_lines, "relax_lines_plain", {kernels.relax: kernels.relax_plain})
    return compile_kernel(kernels.relax_lines, f"relax_lines_{_name(notion)}", _replacements(notion))


@cache
def compiled_narrow_counts() -> Function:
    """The kernel that relaxes the lines along an axis of counts with short rows, by plain addition."""
    return compile_kernel(kernels.relax_narrow_counts, "relax_narrow_counts", {})


@cache
def compiled_links(notion: Notion) -> tuple[Function, Function]:
    """The kernels that find links to smaller labels and to equal ones."""
    return (
        compile_kernel(link_kernels.find_links, f"find_links_{_name(notion)}", _replacements(notion)),
        compile_kernel(link_kernels.link_ties, f"link_ties_{_name(notion)}", _replacements(notion)),
    )


@cache
def compiled_link_rows() -> Function:
    """The kernel that finds links to smaller labels, if labels were grown by plain addition."""
    own: Replacements = {
        row_kernels.prepare: link_kernels.mark_pending,
        row_kernels.concerns: link_kernels.lacks_links,
        row_kernels.treat: link_kernels.link_row,
        row_kernels.finish: link_kernels.count_missing,
    }
    return compile_kernel(row_kernels.visit_rows, "link_rows", own)


@cache
def compiled_sign() -> Function:
    """The kernel that turns labels into z."""
    return compile_kernel(link_kernels.sign_labels, "sign_labels", {})


def _replacements(notion: Notion) -> Replacements:
    return {kernels.step: notion.step, kernels.quick: notion.quick}


def _name(notion: Notion) -> str:
    return notion.name.replace("-", "_")


# Engine ---------------------------------------------------------------------------------------------------------------


NOBODY: Roles = np.empty(0, dtype=np.uint8)
PIECES = 64  # tasks of a pass; more than threads, to balance their load


class SweptGrowth(Growth):
    """A growth whose links are found on first access, since sweeps do not need them."""

    def __init__(self, labels: Floats, find: Callable[[], Indices]) -> None:
        self.__dict__["labels"], self.__dict__["_find"] = labels, find

    @cached_property
    def links(self) -> Indices:
        """For each dataset the neighbour that its label came from; see the contract."""
        find: Callable[[], Indices] = self.__dict__.pop("_find")  # also releases the start labels
        return find()


class ProductEngine:
    """Sweeps along the axes: once if that is exact, otherwise until nothing changes."""

    name = "product"

    def supports(self, space: Space, notion: Notion, operation: Operation) -> bool:
        """True for `grow` on product spaces with one ε per edge."""
        return isinstance(space, ProductSpace) and notion.parameters == ("epsilon",) and operation == "grow"

    def grow(
        self, space: Space, notion: Notion, labels: Floats, roles: Roles | None = None, active: Mask | None = None
    ) -> Growth:
        """See the contract. `active` is ignored: propagating the other labels again changes nothing.

        Links are found on first access; until then the start labels must not be modified.
        """
        assert isinstance(space, ProductSpace)
        start = np.ascontiguousarray(labels, dtype=np.float64)
        plain = sweep_labels(space, notion, start, roles)
        grown = relax(space, notion, start, roles) if plain is None else plain

        def find() -> Indices:
            return links_of(space, notion, grown, grown >= start, roles, plain is not None)

        return SweptGrowth(grown, find)

    def settle(self, space: Space, notion: Notion, answers: Indices, pins: Floats | None = None) -> Growth:
        """Not supported: the fair search needs rows."""
        raise UsageError("the fair search on a product", "the product engine grows", "engine='auto' chooses another")


def sweep_labels(space: ProductSpace, notion: Notion, start: Floats, roles: Roles | None) -> Floats | None:
    """The labels by plain addition, in one sweep if ε does not depend on states; None if that is not exact.

    The sweep also follows edges between pins, which take no part in the search. If it leaves all pins unchanged, this
    makes no difference: after the last pin on a chain, all edges take part.
    """
    if not notion.adds or not space.size:
        return None
    labels = np.empty(space.size)
    if not _sweep(space, start, labels, StartNotes()):
        return None
    if roles is not None and np.any((roles == Role.PINNED) & (labels < start)):
        return None
    return labels


def _sweep(space: ProductSpace, start: Floats, labels: Floats, notes: StartNotes) -> bool:
    """Sweeps by plain addition, once or until nothing changes; False if that is not exact.

    Args:
        space: the space.
        start: the start labels; empty if `labels` holds them.
        labels: where the labels are written.
        notes: what is known of the start labels. If they are copied, their properties are added.
    """
    if space.state_count == 1:
        return _sweep_once(space, start, labels, notes)
    _copy(start, labels, notes)
    if not notes.on_grid:
        return False
    relax_all(space, None, labels, NOBODY)
    return _largest(labels) < LARGEST_EXACT


def _sweep_once(space: ProductSpace, start: Floats, labels: Floats, notes: StartNotes) -> bool:
    """Sweeps once; False if a start label is below 0 or off the grid, or if sums may be inexact."""
    furthest = sum(map(reach, space.axes))
    if not notes.largest + furthest < LARGEST_EXACT:
        return False
    blocks, columns = compiled_sweeps()
    first, *others = passes(space)

    def sweep(piece: slice) -> None:
        own = notes.new_array()
        if notes.on_grid:
            steps = first.program, first.part_steps, first.weights, first.moves
            blocks(start, labels, labels.view(np.int64), piece.start, piece.stop, first.rows, first.part, *steps, own)

    run_in_threads(sweep, slices(first.high, -(-first.high // PIECES)), space.size)
    if not notes.on_grid or not notes.largest + furthest < LARGEST_EXACT:
        return False
    for one in others:
        _sweep_columns(columns, labels, one)
    return True


def _copy(start: Floats, labels: Floats, notes: StartNotes) -> None:
    """Copies start labels, if there are any, and notes their properties."""
    copy = compiled_copy()

    def look(piece: slice) -> None:
        copy(start[piece], labels[piece], labels[piece].view(np.int64), notes.new_array())

    run_in_threads(look, slices(len(start), BLOCK), len(start))


def _largest(labels: Floats) -> float:
    """The largest finite label."""
    found = list[float]()

    def look(piece: slice) -> None:
        own = labels[piece]
        most = float(np.max(own))
        found.append(most if most < np.inf else float(np.max(own, initial=0.0, where=own < np.inf)))

    run_in_threads(look, slices(len(labels), BLOCK), len(labels))
    return max(found)


class StartNotes:
    """Properties of the start labels: the largest known one, and what the threads that copy them collect."""

    def __init__(self, largest: float = 0.0) -> None:
        self._largest = largest
        self._notes: list[Indices] = []

    def new_array(self) -> Indices:
        """A new array for the notes of one task."""
        self._notes.append(np.array([1, 0], dtype=np.int64))
        return self._notes[-1]

    @property
    def on_grid(self) -> bool:
        """True if all labels are multiples of 2^-40 and not below 0."""
        return all(note[ON_GRID] for note in self._notes)

    @property
    def largest(self) -> float:
        """The largest finite label."""
        return max([self._largest, *(float(note[LARGEST:].view(np.float64)[0]) for note in self._notes)])


def _sweep_columns(columns: Any, labels: Floats, one: Pass) -> None:
    if not len(one.program):
        return
    total = one.high * -(-one.low // one.width)

    def sweep(piece: slice) -> None:
        buffer = np.full(one.rows * one.width, np.inf)
        steps = one.program, one.weights, one.moves
        columns(labels, piece.start, piece.stop, one.rows, one.low, one.width, *steps, buffer)

    run_in_threads(sweep, slices(total, -(-total // PIECES)), len(labels))


def relax(space: ProductSpace, notion: Notion, start: Floats, roles: Roles | None) -> Floats:
    """The labels after sweeping with the step of a notion until nothing changes, for any start labels."""
    labels = start + 0.0
    relax_all(space, notion, labels, NOBODY if roles is None else roles.astype(np.uint8))
    return labels


def relax_all(space: ProductSpace, notion: Notion | None, labels: Floats, roles: Roles) -> None:
    """Lowers labels along one axis after the other, until none falls along any axis; see `compiled_relax`."""
    quiet, axis = 0, 0
    while quiet < len(space.axes):
        quiet = 1 if _relax_axis(space, axis, notion, labels, roles) else quiet + 1
        axis = (axis + 1) % len(space.axes)


def _relax_axis(space: ProductSpace, axis: int, notion: Notion | None, labels: Floats, roles: Roles) -> bool:
    """Lowers labels along one axis; True if any fell."""
    lines, counts = space.lines(axis), space.axes[axis].shape == "count"
    states = NOBODY if space.states is None else space.states
    table, fell = (lines.epsilon.ravel(), lines.epsilon.shape[1]), list[bool]()
    if not len(lines.moves.targets):
        return False
    if notion is None and counts and lines.low < kernels.SHORTEST_VECTOR:
        relax_narrow = compiled_narrow_counts()

        def work_on_lines(part: slice) -> None:
            fell.append(bool(relax_narrow(labels, states, *table, lines.length, lines.low, part.start, part.stop)))

        run_in_threads(work_on_lines, slices(lines.high, -(-BLOCK // lines.length)), space.size)
        return any(fell)
    kernel, once = compiled_relax(notion), counts or lines.length == 2
    columns: Any = (labels, roles, states, *table, *lines.moves, lines.length, lines.low, once)

    def work(part: Part) -> None:
        fell.append(bool(kernel(*columns, *part)))

    run_in_threads(work, cut_lines(lines), space.size)
    return any(fell)


def links_of(
    space: ProductSpace, notion: Notion, labels: Floats, own: Mask, roles: Roles | None, plain: bool
) -> Indices:
    """For each dataset whose label is not its own start, a neighbour that it came from; the links form no cycle."""
    find, link_ties = compiled_links(notion)
    links: Indices = np.empty(space.size, dtype=np.int32 if space.size < 2**31 else np.int64)
    flags = NOBODY if roles is None else roles.astype(np.uint8)
    states = NOBODY if space.states is None else space.states
    own = own.view()
    own.flags.writeable = False  # so that there is one type of array to compile for
    columns: Any = (labels, own, flags, states, *flat(space), links)
    missing = list[int]()
    if plain:
        rows, visit = tuple(rows_of(space, [axis.epsilon for axis in space.axes])), compiled_link_rows()

        def work(piece: slice) -> None:
            missing.append(visit((labels, own, links), rows, states, np.empty(ROW), piece.start, piece.stop))

    else:

        def work(piece: slice) -> None:
            missing.append(find(*columns, piece.start, piece.stop))

    run_in_threads(work, slices(space.size, BLOCK if plain else PIECE), space.size)
    if any(missing):
        pending = np.flatnonzero((links < 0) & (labels < np.inf) & ~own)
        while len(pending):
            kept = link_ties(*columns, pending)
            assert kept < len(pending), "a label that fell has no neighbour that holds it down"
            pending = pending[:kept]
    return links


# The balanced search --------------------------------------------------------------------------------------------------


def grow_balanced(space: ProductSpace, notion: Notion, answers: Answers, boundary: Mask) -> Growth | None:
    """z of the balanced mechanism and its links, grown in place from its start labels; None if that is not exact.

    Args:
        space: the space.
        notion: the notion of privacy.
        answers: the answer at each dataset.
        boundary: the datasets with a neighbour of the other answer, which are those with a start label.
    """
    if not notion.adds or not space.size:
        return None
    labels, largest = meeting_labels(space, notion, answers)
    if not _sweep(space, np.empty(0), labels, StartNotes(largest)):
        return None
    links, sign = links_of(space, notion, labels, boundary, None, True), compiled_sign()

    def work(piece: slice) -> None:
        sign(labels[piece], answers[piece])

    run_in_threads(work, slices(space.size, BLOCK), space.size)
    return Growth(labels, links)


def meeting_labels(space: ProductSpace, notion: Notion, answers: Answers) -> tuple[Floats, float]:
    """For each dataset the smallest label, on the grid, at which it meets a neighbour of the other answer; or +inf.

    Also returns a bound on the finite ones.
    """
    start, visit = np.empty(space.size), _compiled_meet()
    points = [_points(notion, axis.epsilon) for axis in space.axes]
    rows = tuple(rows_of(space, points))
    states = np.empty(0, dtype=np.uint8) if space.states is None else space.states

    def work(piece: slice) -> None:
        visit((answers, start), rows, states, np.empty(ROW), piece.start, piece.stop)

    run_in_threads(work, slices(space.size, BLOCK), space.size)
    return start, max((float(np.max(each, initial=0.0, where=each < np.inf)) for each in points), default=0.0)


def _points(notion: Notion, epsilon: Floats) -> Floats:
    """The meeting points of a table of ε."""
    found = [notion.meet(each) if each < np.inf else np.inf for each in epsilon.ravel().tolist()]
    return round_labels_down(np.array(found)).reshape(epsilon.shape)


@cache
def _compiled_meet() -> Function:
    own: Replacements = {
        row_kernels.prepare: row_kernels.prepare_start,
        row_kernels.concerns: row_kernels.has_both_answers,
        row_kernels.treat: row_kernels.meet_row,
        row_kernels.finish: row_kernels.finish_start,
    }
    return compile_kernel(row_kernels.visit_rows, "meet_rows", own)
