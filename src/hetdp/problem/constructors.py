"""Graphs that papers use: hypercubes, paths, grids, and privacy by distance. `hetdp.spaces` has their public names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, product
from math import prod
from numbers import Integral
from typing import Any, Literal

import numpy as np

from hetdp.errors import Fault, FaultCollector, UsageError
from hetdp.problem.columns import as_list, require_arguments
from hetdp.problem.decimals import LARGEST, exact_amount, lower_to_written
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.space import Floats
from hetdp.problem.spelling import shorten_label
from hetdp.text import format_value, pluralize

MOST_EDGES = 1 << 23  # the largest graph, whose labels are made one by one
TWO_DATASETS = ("a dataset", "another dataset")
EPSILON_RULE = "ε is one number for all edges, one for each {place}, or a function of the two datasets of an edge"
Step = tuple[Any, Any, int]  # the two ends of an edge, and its coordinate, axis or place on the path


def hypercube(
    n: int, epsilon: Any, values: Sequence[Any] = "01", labels: Literal["text", "tuples"] = "text"
) -> DatasetGraph:
    """The graph of all combinations of n coordinates; neighbours differ in one coordinate.

    `votes` gives the same datasets with people, questions and privacy rules, and stores no edges.

    Args:
        n: the number of coordinates.
        epsilon: ε of an edge: one number, one for each coordinate, or a function of the two datasets.
        values: the values that a coordinate may have; with more than two, neighbours differ by any change of one
            coordinate.
        labels: the form of the labels: "text", such as "011" (with commas if a value has several characters), or
            "tuples".

    >>> import hetdp
    >>> hetdp.spaces.hypercube(3, 0.5, labels="tuples").datasets[3]
    ('0', '1', '1')
    >>> hetdp.spaces.hypercube(3, [0.1, 0.5, 1.0]).epsilon.max()
    np.float64(1.0)
    """
    chosen = as_list(values)
    _require_count("n", n, 0)
    if len(chosen) < 1 or len(set(chosen)) < len(chosen):
        raise UsageError(f"values={format_value(values)}", "a coordinate has one of several different values")
    if labels not in ("text", "tuples"):
        raise UsageError(f"labels={format_value(labels)}", "labels are 'text' or 'tuples'")
    _require_few(len(chosen) ** n * n * (len(chosen) - 1) // 2, "hetdp.spaces.votes stores no edges")
    texts = [str(value) for value in chosen]
    comma = "" if all(len(text) == 1 for text in texts) else ","
    if comma and any(comma in text for text in texts):
        rule = "values in a text are separated by commas, so none may have one"
        raise UsageError(f"values={format_value(values)}", rule, "labels='tuples' allows any value")

    def name(one: tuple[Any, ...]) -> Any:
        return comma.join(map(str, one)) if labels == "text" else one

    def edges() -> Iterator[Step]:
        for at in range(len(names)):
            for coordinate in range(n):
                stride = len(chosen) ** (n - 1 - coordinate)
                place = at // stride % len(chosen)
                for further in range(1, len(chosen) - place):
                    yield names[at], names[at + further * stride], coordinate

    names = list(map(name, product(chosen, repeat=n)))
    return _graph(names, edges(), epsilon, n, "coordinate")


def path(datasets: int | Sequence[Any], epsilon: Any) -> DatasetGraph:
    """A path: the neighbours of each dataset are the previous and the next one.

    Args:
        datasets: the labels in their order, or a number of datasets, which are then 0, 1, 2, ….
        epsilon: ε of an edge: one number, one for each step, or a function of the two datasets.

    >>> import hetdp
    >>> hetdp.spaces.path(["none", "one", "many"], [0.1, 1.0])
    DatasetGraph(3 datasets, 2 edges)
    >>> hetdp.spaces.path(22, lambda ones, more: 0.3 if more == 11 else 1.0).edge_count
    21
    """
    if isinstance(datasets, Integral):
        _require_count("datasets", datasets, 0)
        names: Sequence[Any] = range(int(datasets))
    elif _is_listing(datasets):
        names = as_list(datasets)
    else:
        rule = "datasets is a number, or a list of labels in their order"
        raise UsageError(f"datasets={format_value(datasets)}", rule)
    steps = max(len(names) - 1, 0)
    _require_few(steps)
    return _graph(names, zip(names[:-1], names[1:], range(steps), strict=True), epsilon, steps, "step")


def grid(shape: Sequence[int], epsilon: Any) -> DatasetGraph:
    """A grid: datasets are tuples such as (0, 3), and neighbours differ by 1 in one entry.

    Args:
        shape: the number of places along each axis; the entries of a label count from 0.
        epsilon: ε of an edge: one number, one for each axis, or a function of the two datasets.

    >>> import hetdp
    >>> hetdp.spaces.grid((6, 6), 0.5)
    DatasetGraph(36 datasets, 60 edges)
    """
    if not _is_listing(shape):
        raise UsageError(f"shape={format_value(shape)}", "a shape has one number for each axis, such as (6, 6)")
    lengths = tuple(shape)
    for axis, length in enumerate(lengths):
        _require_count(f"shape[{axis}]", length, 0)
    _require_few(sum(prod(lengths) // length * (length - 1) for length in lengths if length))
    names = list(product(*map(range, lengths)))

    def edges() -> Iterator[Step]:
        for one in names:
            for axis, length in enumerate(lengths):
                if one[axis] + 1 < length:
                    yield one, (*one[:axis], one[axis] + 1, *one[axis + 1 :]), axis

    return _graph(names, edges(), epsilon, len(lengths), "axis")


def metric(
    points: Iterable[Any], distance: Any, scale: Any = 1.0, pairs: Literal["needed", "all"] = "needed"
) -> DatasetGraph:
    """Privacy by distance: any two datasets u and v are protected by ε = scale · distance(u, v).

    Products and sums are computed exactly from the decimals that the numbers were written as, and ε is rounded down.

    Args:
        points: the datasets: any labels, such as texts, or tuples of coordinates.
        distance: a function of two datasets, called once for each pair; or a symmetric matrix with a row for each
            dataset, in their order. Infinity is no constraint.
        scale: the ε of distance 1.
        pairs: "all" makes every pair neighbours. "needed" leaves out each pair (u, v) with a third dataset w between:
            distance(u, w) + distance(w, v) ≤ distance(u, v), both above 0. The remaining edges imply its protection, as
            on a graph whose distance is the length of the shortest path. A pair without such a w always stays. Under
            the notion renyi, use "all": there, a path does not imply the sum of its ε.

    >>> import hetdp, math
    >>> line = hetdp.spaces.metric([0, 1, 2, 3], lambda u, v: abs(u - v), 0.1)
    >>> line, line.edges()[2].tolist()
    (DatasetGraph(4 datasets, 3 edges), [0.1, 0.1, 0.1])
    >>> hetdp.spaces.metric([(0, 0), (0, 1), (1, 0), (1, 1)], math.dist, 0.5)
    DatasetGraph(4 datasets, 6 edges)

    Paper: Section II; a metric for all pairs is a privacy function.
    """
    if not isinstance(points, Iterable):
        raise UsageError(f"points={format_value(points)}", "points are the labels of the datasets, such as range(6)")
    names = as_list(points)
    if pairs not in ("needed", "all"):
        raise UsageError(f"pairs={format_value(pairs)}", "pairs are 'needed' or 'all'")
    size = len(names)
    _require_few(size * (size - 1) // 2)
    factor = exact_amount(scale)
    if factor is None or factor == math.inf:
        raise UsageError(f"scale={format_value(scale)}", "a scale is a finite number ≥ 0")
    exact = _distances(names, distance)
    kept = [pair for pair in exact if exact[pair] < math.inf] if pairs == "needed" else list(exact)
    if pairs == "needed":
        matrix = np.full((size, size), np.inf)
        for (one, other), length in exact.items():
            matrix[one, other] = matrix[other, one] = _nearest_float(length)
        kept = [pair for pair in kept if not _is_between(pair, matrix, exact)]
    epsilon = [
        math.inf if exact[pair] == math.inf else lower_to_written(min(factor * exact[pair], LARGEST)) for pair in kept
    ]
    ends = ([names[one] for one, _ in kept], [names[other] for _, other in kept])
    return DatasetGraph.from_edges(*ends, epsilon, datasets=names)


def _distances(names: Sequence[Any], distance: Any) -> dict[tuple[int, int], Any]:
    """The exact distance of each pair, as a Fraction or infinity."""
    collector, found = FaultCollector("distance"), {}
    given: Callable[[int, int], Any] = _by_call(names, distance) if callable(distance) else _by_row(names, distance)
    for one, other in combinations(range(len(names)), 2):
        value = given(one, other)
        length = exact_amount(value)
        if length is None:
            where = f"distance of {shorten_label(names[one])} and {shorten_label(names[other])}"
            collector.add(Fault("not a distance:", where, format_value(value), "a distance is a number ≥ 0"))
        found[one, other] = length
    collector.raise_if_any()
    return found


def _by_call(names: Sequence[Any], distance: Callable[[Any, Any], Any]) -> Callable[[int, int], Any]:
    require_arguments("distance", distance, TWO_DATASETS)
    return lambda one, other: _call("distance", distance, names[one], names[other])


def _by_row(names: Sequence[Any], distance: Any) -> Callable[[int, int], Any]:
    """Distances from a matrix, which must be square and symmetric."""
    rule = "distance is a function of two datasets, or a symmetric matrix with a row for each dataset"
    rows = np.asarray(distance)
    if rows.shape != (len(names), len(names)):
        raise UsageError(f"distance={format_value(distance)}", rule)
    if not np.array_equal(rows, rows.T):
        raise UsageError("a matrix of distances that is not symmetric", rule)
    return lambda one, other: rows[one, other]


def _nearest_float(exact: Any) -> float:
    """The float nearest to a Fraction, at most the largest one; infinity stays."""
    return math.inf if exact == math.inf else float(min(exact, LARGEST))


def _is_between(pair: tuple[int, int], matrix: Floats, exact: dict[tuple[int, int], Any]) -> bool:
    """True if some dataset lies between two others, by exact sums; rounded sums only choose which to try."""
    one, other = pair
    apart = exact[pair]
    near = (matrix[one] > 0.0) & (matrix[other] > 0.0)
    tried = np.flatnonzero(near & (matrix[one] + matrix[other] <= matrix[one, other] * (1.0 + 1e-9)))
    for third in tried.tolist():
        first, second = (min(one, third), max(one, third)), (min(third, other), max(third, other))
        if min(exact[first], exact[second]) > 0 and exact[first] + exact[second] <= apart:
            return True
    return False


def _graph(names: Sequence[Any], edges: Iterable[Step], epsilon: Any, places: int, place: str) -> DatasetGraph:
    """A graph with ε from one number, one for each place (coordinate, step or axis), or a function."""
    listed = list(edges)
    source, target = [one for one, _, _ in listed], [other for _, other, _ in listed]
    if callable(epsilon):
        require_arguments("epsilon", epsilon, TWO_DATASETS)
        column: Any = [_call("epsilon", epsilon, one, other) for one, other in zip(source, target, strict=True)]
    elif _is_listing(epsilon):
        by_place = as_list(epsilon)
        if len(by_place) != places:
            counts = f"{len(by_place)} for {pluralize(places, place) if place != 'axis' else f'{places} axes'}"
            raise UsageError(f"wrong number of ε: {counts}", EPSILON_RULE.format(place=place))
        column = [by_place[at] for _, _, at in listed]
    elif isinstance(epsilon, str):
        raise UsageError(f"epsilon={format_value(epsilon)}", EPSILON_RULE.format(place=place))
    else:
        column = epsilon
    return DatasetGraph.from_edges(source, target, column, datasets=names)


def _call(name: str, function: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """Calls a function with two datasets; an exception gets a note that names them."""
    try:
        return function(one, other)
    except Exception as refusal:
        refusal.add_note(f"raised by {name} at the datasets {shorten_label(one)} and {shorten_label(other)}")
        raise


def _is_listing(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)


def _require_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise UsageError(f"{name}={format_value(value)}", f"it is a whole number ≥ {least}")


def _require_few(edges: int, hint: str = "") -> None:
    """Refuses graphs whose labels alone would take minutes."""
    if edges > MOST_EDGES:
        raise UsageError(f"{edges:,} edges", f"at most {MOST_EDGES:,} are made here", hint)
