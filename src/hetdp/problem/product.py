"""ProductSpace: datasets made of people, with one axis for each person or group. Edges are computed, never stored.

A label is a tuple with one entry for each axis. Labels are computed too, so that 2^24 of them need no memory. A small
product can be turned into a `DatasetGraph`, for files and for searches that need rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from itertools import chain, product
from math import prod
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UnknownDatasetError, UsageError
from hetdp.problem.axis import BLOCK, Axis, Lines
from hetdp.problem.edges import group_by_source
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.labels import Labels, NamedLabels, is_same
from hetdp.problem.space import Constraint, EdgeBlock, Floats, Frozen, Indices
from hetdp.problem.spelling import possible_labels, spell_label
from hetdp.text import closest, format_value, html_table, pluralize


class Tuples(Sequence[Any]):
    """The sequence of all combinations of positions, the last axis changing fastest; no tuple is stored."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self._choices = tuple(axis.positions for axis in axes)
        self._size = prod(map(len, self._choices))

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._size))]
        rest = range(self._size)[index]
        found = []
        for choices in reversed(self._choices):
            rest, at = divmod(rest, len(choices))
            found.append(choices[at])
        return tuple(reversed(found))

    def __iter__(self) -> Iterator[Any]:
        return product(*self._choices)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Tuples):
            return self._choices == other._choices
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_is_same, self, other))

    def __hash__(self) -> int:
        return hash(self._choices)

    def __repr__(self) -> str:
        return f"Tuples({' × '.join(str(len(choices)) for choices in self._choices)})"


def _is_same(one: Any, other: Any) -> bool:
    return bool(one == other)


class TupleLabels(Frozen):
    """Maps positions of datasets to tuples and back, entry by entry."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.names: Sequence[Any] = Tuples(axes)
        self._places = [
            axis.positions
            if isinstance(axis.positions, range)
            else {name: (at, name) for at, name in enumerate(axis.positions)}
            for axis in axes
        ]

    def index(self, label: Hashable) -> int:
        """The position of one dataset; raises UnknownDatasetError."""
        found = self._find(label)
        if found < 0:
            raise UnknownDatasetError(label, chain(self._similar(label), [self.names[0]]))
        return found

    def indices(self, labels: Any) -> Indices:
        """The positions of many datasets, −1 where a label names none."""
        if labels is self.names:
            return np.arange(len(self.names))
        return np.fromiter(map(self._find, labels), np.int64, len(labels))

    def _similar(self, label: Any) -> Iterator[Any]:
        """Labels that may be meant by a misspelt one: entries that name no position are replaced by the closest."""
        for reading in possible_labels(label) if isinstance(label, str) else [label]:
            if isinstance(reading, tuple) and len(reading) == len(self._places):
                entries = [
                    [entry] if _place(entry, places) >= 0 else closest(entry, places)
                    for entry, places in zip(reading, self._places, strict=True)
                ]
                if all(entries):
                    yield tuple(one for (one,) in entries)

    def _find(self, label: Any) -> int:
        if not isinstance(label, tuple) or len(label) != len(self._places):
            return -1
        index = 0
        for entry, places in zip(label, self._places, strict=True):
            at = _place(entry, places)
            if at < 0:
                return -1
            index = index * len(places) + at
        return index


def _place(entry: Any, places: range | dict[Any, tuple[int, Any]]) -> int:
    entry = entry.item() if isinstance(entry, np.generic) else entry
    try:
        if isinstance(places, range):
            return entry if type(entry) is int and entry in places else -1
        at, name = places.get(entry, (-1, None))
        return at if is_same(entry, name) else -1
    except TypeError:
        return -1


States = NDArray[np.uint8]
MOST_LOCAL = 1 << 30  # datasets whose labels are held in this process; larger mechanisms stay on a GPU
MOST_ARCS = 1 << 26  # that can be stored: about 1 GB of arrays, and three times as much for a search
STATES_RULE = "there is one state for each dataset, a whole number below the states of the tables"


class ProductSpace(Frozen):
    """Every combination of positions on some axes is a dataset; neighbours differ by one move along one axis.

    ε of an edge is looked up in the table of its axis, by the kind of the move and by the *states* of both datasets:
    small numbers that stand for everything else that ε may depend on. All ε are multiples of 2^-40.

    Args:
        axes: the people, or groups of people.
        states: a state for each dataset, in the order of the datasets (the last axis changes fastest); needed if a
            table distinguishes states.

    >>> space = ProductSpace([Axis.person("Ann", ["yes", "no"], 0.5), Axis.tally("others", 2, 0.25)])
    >>> space
    ProductSpace(2 × 3 datasets, 7 edges)
    >>> space.label(4), space.index(("no", 1)), space.neighbours(4)[0]
    (('no', 1), 4, array([1, 3, 5]))
    """

    parameter_names = ("epsilon",)

    def __init__(self, axes: Sequence[Axis], states: Any = None) -> None:
        self.axes = tuple(axes)
        if not all(isinstance(axis, Axis) for axis in self.axes):
            raise UsageError(f"the axes {format_value(list(axes))}", "a ProductSpace is made of Axis objects")
        self.shape = tuple(axis.length for axis in self.axes)
        self.size = prod(self.shape)
        self.labels: Labels = TupleLabels(self.axes)
        self.state_count = max((axis.states for axis in self.axes), default=1)
        self.states: States | None = _states(states, self.size, self.state_count)
        if any(axis.states not in (1, self.state_count) for axis in self.axes):
            raise UsageError(
                "tables with different numbers of states",
                "all axes that depend on states must have the same number of states",
            )

    def lines(self, axis: int) -> Lines:
        """The datasets, seen along one axis."""
        return self._lines[axis]

    @cached_property
    def _lines(self) -> list[Lines]:
        shape = self.shape
        return [
            Lines(prod(shape[:at]), axis.length, prod(shape[at + 1 :]), axis.moves(), axis.epsilon)
            for at, axis in enumerate(self.axes)
        ]

    @cached_property
    def arc_count(self) -> int:
        """Twice the number of edges; in closed form, unless ε = ∞ depends on the state."""
        return sum(map(self.arcs_along, range(len(self.axes))))

    def arcs_along(self, axis: int) -> int:
        """Twice the number of edges along one axis; those without a constraint do not count."""
        lines, finite = self.lines(axis), np.isfinite(self.axes[axis].epsilon)
        if finite.all() or self.axes[axis].states == 1:
            return lines.high * lines.low * int(np.count_nonzero(finite[lines.moves.kinds, 0, 0]))
        return sum(len(block.source) for block in self.blocks_along(axis))

    @property
    def edge_count(self) -> int:
        """The number of edges; those without a constraint (ε = ∞) do not count."""
        return self.arc_count // 2

    @property
    def datasets(self) -> Sequence[Any]:
        """The labels, in order; each is computed when it is read."""
        return self.labels.names

    def label(self, index: int) -> Hashable:
        """The label of a dataset: a tuple with one entry for each axis."""
        name: Hashable = self.labels.names[index]
        return name

    def index(self, label: Hashable) -> int:
        """The position of a dataset; raises UnknownDatasetError."""
        return self.labels.index(label)

    def indices(self, labels: Any) -> Indices:
        """The positions of many datasets, −1 where a label names none."""
        return self.labels.indices(labels)

    def positions(self, axis: int, datasets: Any = None) -> Indices:
        """The position on one axis of some datasets, given by their numbers; of all if none are given."""
        lines = self.lines(axis)
        numbers = np.arange(self.size) if datasets is None else np.asarray(datasets)
        return np.asarray(numbers // lines.low % lines.length)

    def neighbours(self, index: int) -> tuple[Indices, tuple[Floats, ...]]:
        """The neighbours of one dataset, in their order, and the ε of the edges to them."""
        found, epsilons = [np.empty(0, dtype=np.int64)], [np.empty(0)]
        for axis in range(len(self.axes)):
            lines = self.lines(axis)
            at = index // lines.low % lines.length
            row = slice(lines.moves.indptr[at], lines.moves.indptr[at + 1])
            targets = index + (lines.moves.targets[row] - at) * lines.low
            found.append(targets)
            epsilons.append(self._look_up(axis, lines.moves.kinds[row], np.full_like(targets, index), targets))
        targets, epsilon = np.concatenate(found), np.concatenate(epsilons)
        order = np.argsort(targets)
        order = order[epsilon[order] < np.inf]
        return targets[order], (epsilon[order],)

    def edges_between(self, index: int, neighbour: int) -> list[Constraint]:
        """The edge from a dataset to a neighbour; there is one only, since the two datasets tell which axis changes."""
        for axis in range(len(self.axes)):
            lines = self.lines(axis)
            at, to = index // lines.low % lines.length, neighbour // lines.low % lines.length
            if at != to:
                moves = slice(lines.moves.indptr[at], lines.moves.indptr[at + 1])
                kinds = lines.moves.kinds[moves][lines.moves.targets[moves] == to]
                ends = np.array([index]), np.array([neighbour])
                epsilon = float(self._look_up(axis, kinds, *ends, written=True)[0])
                return [Constraint({"epsilon": epsilon}, self.axes[axis].name)]
        raise UsageError(f"{index} and {neighbour} are not neighbours", "an edge joins two neighbours")

    def edges(self) -> tuple[Any, ...]:
        """Source, target and ε of every edge once, as written, axis by axis; refused if there are too many to store."""
        return edges_once(self, written=True)[:3]

    def edge_classes(self) -> list[Any]:
        """The class of each edge, which is the name of its axis, in the order of `edges`."""
        return [self.axes[axis].name for axis in edges_once(self)[3].tolist()]

    def edge_blocks(self) -> Iterator[EdgeBlock]:
        """All edges in both directions, axis by axis, in blocks."""
        for axis in range(len(self.axes)):
            yield from self.blocks_along(axis)

    def blocks_along(self, axis: int, written: bool = False) -> Iterator[EdgeBlock]:
        """The edges of one axis in blocks, with ε as used or as written."""
        lines = self.lines(axis)
        starts = np.repeat(np.arange(lines.length), np.diff(lines.moves.indptr))
        arcs = len(starts)
        for first in range(0, lines.high * arcs * lines.low, BLOCK):
            rest, low = np.divmod(np.arange(first, min(first + BLOCK, lines.high * arcs * lines.low)), lines.low)
            high, arc = np.divmod(rest, arcs)
            base = high * (lines.length * lines.low) + low
            source, target = base + starts[arc] * lines.low, base + lines.moves.targets[arc] * lines.low
            epsilon = self._look_up(axis, lines.moves.kinds[arc], source, target, written)
            if np.isinf(epsilon).any():
                bound = epsilon < np.inf
                source, target, epsilon = source[bound], target[bound], epsilon[bound]
            yield EdgeBlock(source, target, (epsilon,))

    def _look_up(self, axis: int, kinds: Indices, source: Indices, target: Indices, written: bool = False) -> Floats:
        table = self.axes[axis].written if written else self.axes[axis].epsilon
        if table.shape[1] == 1 or self.states is None:
            return np.asarray(table[kinds, 0, 0])
        return np.asarray(table[kinds, self.states[source], self.states[target]])

    def map_epsilon(self, change: Callable[[Axis], Floats]) -> ProductSpace:
        """The space with other ε.

        Args:
            change: returns the ε of an axis as written, by kind of move, state and state.
        """
        return ProductSpace([axis.with_written(change(axis)) for axis in self.axes], self.states)

    def _repr_html_(self) -> str:
        """For notebooks: one row for each axis."""
        rows = ((spell_label(axis.name), axis.people, axis.length, _range(axis.written)) for axis in self.axes)
        header = ["who", "people", "positions", "ε"]
        title = f"{self.size:,} datasets, {self.edge_count:,} edges, none stored"
        return html_table(title, header, rows, len(self.axes))

    def __repr__(self) -> str:
        return f"ProductSpace({' × '.join(map(str, self.shape)) or 1} datasets, {pluralize(self.edge_count, 'edge')})"


def _states(given: Any, size: int, count: int) -> States | None:
    """The states, or None if ε does not depend on them."""
    if count == 1:
        return None
    states = np.asarray(given if given is not None else [])
    if (
        states.shape != (size,)
        or states.dtype.kind not in "iu"
        or (size and (states.min() < 0 or states.max() >= count))
    ):
        raise UsageError(f"states of type {states.dtype} and shape {states.shape} for {size} datasets", STATES_RULE)
    states = states.astype(np.uint8)
    states.flags.writeable = False
    return states


def edges_once(space: ProductSpace, written: bool = False) -> tuple[Indices, Indices, Floats, Indices]:
    """Source, target, ε and axis of every edge, each edge once.

    Raises:
        UsageError: there are too many edges to be stored.
    """
    require_few_edges(space)
    number = np.int32 if space.size < 2**31 else np.int64
    found: list[tuple[Any, ...]] = [(np.empty(0, number), np.empty(0, number), np.empty(0), np.empty(0, number))]
    for axis in range(len(space.axes)):
        for source, target, (epsilon,) in space.blocks_along(axis, written):
            once = source < target
            ends = source[once].astype(number), target[once].astype(number)
            found.append((*ends, epsilon[once], np.full(len(ends[0]), axis, dtype=number)))
    source, target, epsilon, axes = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return source, target, epsilon, axes


def require_few_edges(space: ProductSpace) -> None:
    """Refuses a space with too many edges to be stored.

    Raises:
        UsageError: there are too many.
    """
    if space.arc_count > MOST_ARCS:
        raise UsageError(
            f"{pluralize(space.edge_count, 'edge')} to be stored",
            f"at most {MOST_ARCS // 2:,} edges between people's datasets are stored",
            "balanced, check, extend and verify store none; tallies have fewer edges than votes",
        )


def _range(epsilon: Floats) -> str:
    """The smallest and the largest ε of an axis, as written."""
    least, most = epsilon.min(initial=np.inf), epsilon.max(initial=0.0)
    return f"{most:g}" if least >= most else f"{least:g} to {most:g}"


# Products small enough to list their edges.


MOST_WRITTEN = 1 << 16  # datasets
WRITTEN_RULE = f"at most {MOST_WRITTEN:,} datasets of people are written to a file"
INSTEAD_HINT = (
    "hetdp.spaces in Python stores no edges, so balanced, check, extend and verify work there; tallies have fewer"
    " datasets than votes; hetdp.ask needs none"
)


def is_listable(space: ProductSpace) -> bool:
    """True if a space of people is small enough for a file that lists its edges, which is then the same problem."""
    return space.size <= MOST_WRITTEN and space.arc_count <= MOST_ARCS


def require_listable(space: ProductSpace) -> None:
    """Refuses a space of people that is too large for a file.

    Raises:
        UsageError: it has too many datasets, or too many edges.
    """
    if space.size > MOST_WRITTEN:
        raise UsageError(f"{space.size:,} datasets whose edges are computed", WRITTEN_RULE, INSTEAD_HINT)
    require_few_edges(space)


def as_graph(space: ProductSpace) -> DatasetGraph:
    """The same datasets, neighbours and ε (as used, on the grid) as a graph that stores its edges.

    Raises:
        UsageError: there are too many edges.

    >>> from hetdp.problem.axis import Axis
    >>> as_graph(ProductSpace([Axis.person("Ann", ["yes", "no"], 0.5), Axis.person("Bob", ["yes", "no"], 0.25)]))
    DatasetGraph(4 datasets, 4 edges)
    """
    source, target, epsilon, _ = edges_once(space)
    marks = (epsilon + 0.0).view(np.uint64) << np.uint64(1)  # not lowered: they are on the grid, whatever was written
    return DatasetGraph(NamedLabels(space.datasets), group_by_source(source, target, marks, space.size))
