"""Edges of a graph: validated as columns, then turned into arcs or rows.

An edge becomes two arcs, one for each direction. Edges of different classes that join the same two datasets are
parallel: each has arcs of its own. `Arcs` know the edge that they come from; contradictions, classes and edges with
several parameters need that. Large graphs without these go straight from columns to `Rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.compilation import BUILDING, uses_compiled
from hetdp.errors import Fault, FaultCollector, UsageError
from hetdp.frames import is_frame
from hetdp.interrupts import delay_interrupts
from hetdp.problem.classes import Classes, classes_of
from hetdp.problem.columns import as_column
from hetdp.problem.decimals import MARK_OF_ONE, UNBOUNDED, Marks
from hetdp.problem.labels import LabelHints, Labels, check_labels
from hetdp.problem.parameters import LETTERS, Parameters, given_parameters, parameters_of, report_faulty_parameters
from hetdp.problem.space import SMALL_SPACE, Floats, Indices, Mask
from hetdp.text import did_you_mean, format_type, format_value
from hetdp.theory.catalogue import PARAMETERS
from hetdp.theory.notion import BACK, directions
from hetdp.threads import CORES, run_in_threads, slices


class Arcs(NamedTuple):
    """Arcs ordered by source, then target. `sort_parallel_arcs` orders parallel ones by their parameters.

    Attributes:
        source: where each arc begins.
        target: where it ends.
        columns: its parameters as written, seen from its source.
        edge: the position of its edge.
    """

    source: Indices
    target: Indices
    columns: tuple[Floats, ...]
    edge: NDArray[np.int64]

    def take(self, chosen: Any) -> Arcs:
        """The arcs at some positions."""
        columns = tuple(column[chosen] for column in self.columns)
        return Arcs(self.source[chosen], self.target[chosen], columns, self.edge[chosen])

    def indptr(self, size: int) -> NDArray[np.int64]:
        """The start of each dataset's arcs, and the end of the last one's."""
        indptr = np.zeros(size + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.source, minlength=size), out=indptr[1:])
        return indptr


def arcs_of(source: Indices, target: Indices, parameters: Parameters, usable: Mask | None = None) -> Arcs:
    """The arcs of all edges, or of the usable ones. Self-loops constrain nothing and are dropped."""
    proper = source != target
    edges = np.flatnonzero(proper if usable is None else proper & usable)
    forth, back = source[edges], target[edges]
    rows = group_by_source(
        forth, back, edges.view(np.uint64), int(max(forth.max(initial=-1), back.max(initial=-1))) + 1
    )
    edge, ends = rows.loads.view(np.int64), (rows.sources, rows.targets)
    columns = parameters.take(edge).reverse_where(source[edge] != ends[0])
    return Arcs(*ends, columns, edge)


def find_repeats(arcs: Arcs) -> Mask:
    """Marks arcs that join the same two datasets as the arc before them."""
    same = np.zeros(len(arcs.source), dtype=np.bool_)
    same[1:] = (arcs.source[1:] == arcs.source[:-1]) & (arcs.target[1:] == arcs.target[:-1])
    return same


def group_by_class(arcs: Arcs, repeated: Mask, classes: Classes | None) -> tuple[Arcs, Mask]:
    """Groups the arcs of each pair by class; also marks those with the ends and class of the arc before."""
    if classes is None:
        return arcs, repeated
    arcs = _sort_within_pairs(arcs, repeated, classes.numbers[arcs.edge])
    numbers, again = classes.numbers[arcs.edge], repeated.copy()
    again[1:] &= numbers[1:] == numbers[:-1]
    return arcs, again


def merge_repeats(arcs: Arcs, repeated: Mask) -> Arcs:
    """Merges each run of repeats into one arc, with the smallest value of each parameter."""
    if not repeated.any():
        return arcs
    starts = np.flatnonzero(~repeated)
    columns = tuple(np.minimum.reduceat(column, starts) for column in arcs.columns)
    return arcs.take(starts)._replace(columns=columns)


def sort_parallel_arcs(arcs: Arcs, classes: Classes | None) -> Arcs:
    """Sorts the arcs of each pair by parameters, then by class, so that the order of the input does not matter."""
    repeated = find_repeats(arcs)
    if classes is None or not repeated.any():
        return arcs
    return _sort_within_pairs(arcs, repeated, *arcs.columns, classes.ranks()[arcs.edge])


def _sort_within_pairs(arcs: Arcs, repeated: Mask, *keys: NDArray[Any]) -> Arcs:
    """Sorts the arcs of each pair by some keys, the first of which counts most; all others stay in place."""
    several = np.flatnonzero(repeated | np.append(repeated[1:], False))
    pair = np.cumsum(~repeated)[several]
    order = np.lexsort((*(key[several] for key in reversed(keys)), pair))
    places = np.arange(len(repeated))
    places[several] = several[order]
    return arcs.take(places)


def find_unconstrained(names: tuple[str, ...], marks: tuple[Marks, ...]) -> NDArray[np.int64]:
    """The positions of arcs that constrain neither direction: in each, some parameter has its largest value."""
    if len(marks) == 1 and marks[0].max(initial=0) != UNBOUNDED:
        return np.empty(0, dtype=np.int64)
    of = dict(zip(names, marks, strict=True))
    free = np.ones(len(marks[0]), dtype=np.bool_)
    for way in directions(names):
        free &= np.logical_or.reduce(
            [of[name] == (MARK_OF_ONE if PARAMETERS[name].most == 1.0 else UNBOUNDED) for name in way]
        )
    return np.flatnonzero(free)


# Rows of a large graph: arcs are distributed to buckets of consecutive datasets, then each bucket is sorted.


Loads = NDArray[np.uint64]
ArcColumns = tuple[Indices, Indices, Loads]

BUCKET = 1 << 14  # arcs in a bucket, on average
BUCKETS = 1 << 12  # at most: more would be slower than sorting larger ones


class Rows(NamedTuple):
    """Arcs grouped by source: the row of dataset i is ``indptr[i]:indptr[i + 1]``, ordered by target.

    Attributes:
        indptr: where each row begins, and where the last one ends.
        targets: the other end of each arc.
        loads: the mark of the ε of each arc, or the position of its edge.
        repeated: the number of arcs that join the same two datasets as the arc before them.
    """

    indptr: NDArray[np.int64]
    targets: Indices
    loads: Loads
    repeated: int = 0

    @property
    def sources(self) -> Indices:
        """The source of each arc."""
        return np.repeat(np.arange(len(self.indptr) - 1, dtype=self.targets.dtype), np.diff(self.indptr))

    def take(self, chosen: NDArray[np.int64]) -> Rows:
        """The arcs at some positions, which ascend."""
        return Rows(np.searchsorted(chosen, self.indptr), self.targets[chosen], self.loads[chosen])


def group_by_source(source: Indices, target: Indices, loads: Loads, size: int) -> Rows:
    """The rows of all edges, in both directions; of equal arcs, those from source to target come first."""
    arcs = 2 * len(source)
    if arcs <= SMALL_SPACE or not uses_compiled(BUILDING, arcs):
        return _sort(source, target, loads, size)
    shift = max((size * BUCKET // max(arcs, 1)).bit_length() - 1, (size // BUCKETS).bit_length(), 0)
    part = max(-(-arcs // CORES), 1)
    pieces = [
        (heads[piece], tails[piece], loads[piece])
        for heads, tails in ((source, target), (target, source))
        for piece in slices(max(len(source), 1), part)
    ]
    buckets, bounds = _distribute(pieces, shift, (max(size - 1, 0) >> shift) + 1)
    return _order(buckets, bounds, shift, size)


def _sort(source: Indices, target: Indices, loads: Loads, size: int) -> Rows:
    """Does the same as `_distribute` and `_order`, with NumPy."""
    proper = source != target
    forth, back, loads = source[proper], target[proper], loads[proper]
    heads, tails = np.concatenate([forth, back]), np.concatenate([back, forth])
    pairs = heads.astype(np.int64) * size + tails
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    indptr = np.searchsorted(pairs, np.arange(size + 1, dtype=np.int64) * size).astype(np.int64)
    repeated = int(np.count_nonzero(pairs[1:] == pairs[:-1]))
    return Rows(indptr, tails[order], np.concatenate([loads, loads])[order], repeated)


def merge_rows(rows: Rows) -> tuple[Rows, bool]:
    """Keeps the arc with the smallest load of each run of repeats; also returns whether all loads of a run were equal.

    The given rows are overwritten.
    """
    if not rows.repeated:
        return rows, True
    if not uses_compiled(BUILDING, len(rows.targets)):
        sources, again = rows.sources, np.zeros(len(rows.targets), dtype=np.bool_)
        again[1:] = (sources[1:] == sources[:-1]) & (rows.targets[1:] == rows.targets[:-1])
        starts = np.flatnonzero(~again)
        least = np.minimum.reduceat(rows.loads, starts)
        return rows.take(starts)._replace(loads=least), np.array_equal(least, np.maximum.reduceat(rows.loads, starts))
    with delay_interrupts():
        from hetdp.problem.compiled import merge_arcs

    left, agree = merge_arcs(rows.indptr, rows.targets, rows.loads)
    for column in (rows.targets, rows.loads):
        column.resize(left, refcheck=False)  # frees the rest; no other object refers to these arrays
    return rows._replace(repeated=0), agree


def _distribute(pieces: list[ArcColumns], shift: int, buckets: int) -> tuple[ArcColumns, NDArray[np.int64]]:
    """Distributes arcs to buckets, and returns these with their bounds. Each piece has its own part of every bucket."""
    with delay_interrupts():
        from hetdp.problem.compiled import count_arcs, distribute_arcs

    counts = np.zeros((len(pieces), buckets), dtype=np.int64)
    run_in_threads(lambda at: count_arcs(*pieces[at][:2], shift, counts[at]), range(len(pieces)))
    ends = np.cumsum(counts.T).reshape(counts.T.shape)
    bounds = np.concatenate([[0], ends[:, -1]])
    places = np.ascontiguousarray(ends.T) - counts
    columns: Any = tuple(np.empty(bounds[-1], dtype=column.dtype) for column in pieces[0])
    run_in_threads(lambda at: distribute_arcs(*pieces[at], shift, places[at], columns), range(len(pieces)))
    return columns, bounds


def _order(columns: ArcColumns, bounds: NDArray[np.int64], shift: int, size: int) -> Rows:
    """Sorts every bucket and finds its rows."""
    with delay_interrupts():
        from hetdp.problem.compiled import order_arcs

    indptr, repeated = np.zeros(size + 1, dtype=np.int64), list[int]()

    def work(buckets: slice) -> None:
        longest = int(np.diff(bounds[buckets.start : buckets.stop + 1]).max())
        room = tuple(np.empty(longest, dtype=column.dtype) for column in columns)
        for bucket in range(buckets.start, buckets.stop):
            arcs = tuple(column[bounds[bucket] : bounds[bucket + 1]] for column in columns)
            ends = indptr[1:][bucket << shift : (bucket + 1) << shift]
            repeated.append(order_arcs(arcs, room, ends, bucket << shift, int(bounds[bucket])))

    run_in_threads(work, slices(len(bounds) - 1, -(-len(bounds) // (8 * CORES))))
    return Rows(indptr, columns[1], columns[2], sum(repeated))


# Validation of edges; `columns.py` validates columns of any kind.


PROBABILITY_RULE = "a probability lies in [0, 1]"


def percentage_hint(value: float) -> str:
    """For a value that is no probability, but may be a percentage: what to write instead; otherwise empty."""
    return f"{value:.12g} % is written {value / 100:.12g}" if 2.0 <= value <= 100.0 else ""


class Edges(NamedTuple):
    """Edges as the caller gave them.

    Attributes:
        source: the label of one end of each edge; only messages read it.
        target: the label of the other end.
        parameters: its parameters, as written.
        classes: the class of each, if classes were given.
        row: how messages name an edge, such as ``edge 4`` or ``edges.csv row 6``.
        unread: positions where a parameter is not a number, which is reported already.
    """

    source: Any
    target: Any
    parameters: Parameters
    classes: Classes | None = None
    row: Callable[[int], str] = "edge {}".format
    unread: Sequence[int] = ()

    def place(self, at: int) -> str:
        """An edge as messages name it."""
        return f"{self.row(at)} ({format_value(self.source[at])}, {format_value(self.target[at])})"


EDGES_RULE = "a graph is made of columns (source, target, epsilon), or of triples (u, v, ε)"


def require_edges(source: Any, target: Any, has_parameter: bool) -> None:
    """Refuses a table as the first argument, a number as the second one, and two triples that are not in a list.

    Raises:
        UsageError: one of them is given.
    """
    if is_frame(source):
        raise UsageError(f"a table as source: {format_type(source)}", EDGES_RULE, "hetdp.from_table reads a table")
    if isinstance(target, Real):
        hint = "ε is the third column, or the third entry of each triple"
        raise UsageError(f"a number as target: {format_value(target)}", EDGES_RULE, hint)
    if not has_parameter and all(isinstance(one, tuple) and len(one) == 3 for one in (source, target)):
        raise UsageError("edges with no parameter", EDGES_RULE, "triples are one list: [(u, v, ε), ...]")


def split_triples(triples: Any, collector: FaultCollector) -> tuple[list[Any], list[Any], list[Any]]:
    """The columns source, target and ε of a sequence of triples; entries that are not triples are refused at once."""
    rule = "without target=, the first argument is a sequence of triples (u, v, ε)"
    if isinstance(triples, str | Mapping) or not isinstance(triples, Iterable):
        raise UsageError(f"{format_value(triples)} is not a sequence of edges", rule)
    listed = [tuple(one) if isinstance(one, list | np.ndarray) else one for one in triples]
    wrong = np.fromiter((not isinstance(one, tuple) or len(one) != 3 for one in listed), np.bool_, len(listed))
    collector.add_where(wrong, lambda at: Fault("not a triple:", f"edge {at}", format_value(listed[at]), rule))
    collector.raise_if_any()
    return [one[0] for one in listed], [one[1] for one in listed], [one[2] for one in listed]


def edge_columns(source: Any, target: Any, given: Mapping[str, Any], classes: Any, collector: FaultCollector) -> Edges:
    """Converts the columns of edges. Columns of different lengths are refused at once, before any other check."""
    source, target = as_column("source", source, collector), as_column("target", target, collector)
    known = given_parameters(given, len(source), collector)
    named = classes_of(classes, collector)
    columns = {"source": source, "target": target, **known}
    lengths = {name: len(values) for name, values in columns.items()}
    lengths |= {} if named is None else {"classes": len(named.numbers)}
    if len(set(lengths.values())) > 1:
        value = ", ".join(map(str, lengths.values()))
        collector.add(Fault("columns of different lengths", ", ".join(lengths), value, "one entry per edge"))
        collector.raise_if_any()
    for name, ends in (("source", source), ("target", target)):
        check_labels(name, ends, collector)
    collector.raise_if_any()
    unread: list[int] = []
    parameters = parameters_of(known, "edge {}".format, collector, unread)
    return Edges(source, target, parameters, named, unread=unread)


def usable_edges(
    edges: Edges, ends: tuple[Indices, Indices], collector: FaultCollector, labels: Labels | None = None
) -> Mask | None:
    """The edges that have no fault of their own; None if that is all of them. Hints suggest known labels."""
    faulty = report_faulty_parameters(edges.parameters, edges.place, collector)
    if faulty is None and not edges.unread and (not len(ends[0]) or min(ends[0].min(), ends[1].min()) >= 0):
        return None
    unknown = (ends[0] < 0) | (ends[1] < 0)
    suggest = None if labels is None else LabelHints(labels)

    def unknown_labels(at: int) -> list[Any]:
        """The unknown labels of an edge; a missing one is reported by the reader of the file."""
        both = zip(ends, (edges.source, edges.target), strict=True)
        return [column[at] for numbers, column in both if numbers[at] < 0 and column[at] is not None]

    def fault_at(at: int) -> Fault:
        label = unknown_labels(at)[0]
        hint = "" if suggest is None else suggest(label)
        return Fault(
            "unknown dataset", edges.place(at), format_value(label), "both ends of an edge are among datasets", hint
        )

    named = np.flatnonzero(unknown)
    if collector.total:  # some labels may be missing
        named = np.array([at for at in named.tolist() if unknown_labels(at)], dtype=np.int64)
    collector.add_at(named, fault_at)
    faulty = unknown if faulty is None else faulty | unknown
    faulty[list(edges.unread)] = True
    return np.asarray(~faulty)


def require_duplicates(duplicates: Any) -> None:
    """Refuses a value of ``duplicates=`` other than 'error' and 'min'."""
    if duplicates not in ("error", "min"):
        rule = "it must be 'error' or 'min'"
        raise UsageError(f"unknown duplicates={duplicates!r}", rule, did_you_mean(duplicates, ("error", "min")))


def report_contradictions(
    arcs: Arcs, repeated: Mask, edges: Edges, datasets: Sequence[Any], collector: FaultCollector
) -> None:
    """Reports edges of one class that are listed twice, in either direction, with different parameters."""
    again = np.flatnonzero(repeated & (arcs.source < arcs.target))
    this, other = arcs.edge[again], arcs.edge[again - 1]

    def report(letter: str, way: Callable[[int], str], here: Floats, there: Floats) -> None:
        def fault_at(at: int) -> Fault:
            what, place = f"contradictory duplicate edge, {letter}{way(at)}", edges.place(int(this[at]))
            value = f"{float(here[at])!r} here, {float(there[at])!r} at {edges.row(int(other[at]))}"
            rule = f"a pair of neighbours has one {letter}{way(at)} for each class"
            return Fault(what, place, value, rule, duplicates_hint(letter))

        collector.add_where(here != there, fault_at)

    def forth(at: int, back: bool = False) -> str:
        """The direction of an edge, in words; the two rows may have the ends in different order."""
        ends = [format_value(datasets[side[again[at]]]) for side in (arcs.source, arcs.target)]
        return " from {} to {}".format(*ends[:: -1 if back else 1])

    def both_ways(_: int) -> str:
        return ""

    has_directions = len(edges.parameters.names) > 1
    for name, values in zip(edges.parameters.names, arcs.columns, strict=True):
        way = partial(forth, back=name.endswith(BACK)) if has_directions else both_ways
        report(LETTERS[name.removesuffix(BACK)], way, values[again], values[again - 1])


def duplicates_hint(letter: str) -> str:
    """The hint for an edge of one class that is listed twice with different parameters."""
    return (
        f"edges about different people have different classes; duplicates='min' keeps the smallest {letter} of a class"
    )
