"""The network: datasets coloured by probability, given values ringed, and smaller ε as thicker edges, as in the paper.

A binding path or the path of a witness can be highlighted, with the bounds along it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, FaultCollector, UsageError
from hetdp.mechanism.accuracy.measures import steps_to_the_other_answer
from hetdp.mechanism.compatibility import Witness
from hetdp.mechanism.explanation import GIVEN, BindingPath
from hetdp.mechanism.formatting import clip_uncertain, format_apart
from hetdp.plots.arrangement import EDGE_BEND, FRAME, LARGEST_DIAMETER, arrange, ring_width, within_bend
from hetdp.plots.canvas import drawable_text, fit_height, lay_out, size_in_points, two_digits
from hetdp.plots.colours import INK, SOFT
from hetdp.plots.layout import Layout, layered_layout
from hetdp.problem.labels import LabelHints
from hetdp.problem.parameters import describe_parameters
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.problem.spelling import shorten_label, spell_label
from hetdp.text import format_value
from hetdp.theory.catalogue import PARAMETERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bounds_of(chain: list[int], path: BindingPath) -> dict[int, str]:
    """The bound at each dataset of a path."""
    signs = ["= ", *["≤ " if path.upper else "≥ "] * (len(chain) - 1)]
    bounds = clip_uncertain(path.bounds, path.coordinates).tolist()
    return {at: sign + two_digits(bound) for at, sign, bound in zip(chain, signs, bounds, strict=True)}


def contradiction_of(witness: Witness) -> str:
    """The bound and the given value at the end of a witness, with enough digits to tell them apart."""
    path = witness.path
    allowed, asked = two_digits(path.bounds[-1]), two_digits(witness.value)
    if allowed == asked:
        ends = (path.bounds[-1], path.complements[-1]), (witness.value, witness.complement)
        allowed, asked = format_apart(*ends)
    return f"≤ {allowed}\ngiven {asked}"


def other_parameters(known: dict[str, Floats]) -> list[str]:
    """Notes about parameters of edges that are not drawn.

    >>> other_parameters({"epsilon": np.array([1.0]), "epsilon_back": np.array([2.0])})
    ['ε: the smaller of two directions']
    """
    words = []
    if "epsilon_back" in known and (known["epsilon"] != known["epsilon_back"]).any():
        words.append("ε: the smaller of two directions")
    if "delta" in known and len(known["delta"]):
        deltas = np.concatenate([known["delta"], known["delta_back"]])
        least, most = float(deltas.min()), float(deltas.max())
        words.append(f"δ = {most:g}" if least == most else f"δ = {least:g} … {most:g}")
    return words


def single_dataset_caption(path: BindingPath | None) -> str:
    """Why a path has no steps; empty if it has some."""
    if path is None or len(path.datasets) > 1:
        return ""
    name = drawable_text(path.names[0])
    return f"the value of {name} is {origin_of(path)}" if path.origin else f"no other value limits {name}"


def origin_of(path: BindingPath | None) -> str:
    """The origin of the first value of a path: given, or chosen by an objective, and across which edge."""
    if path is None or not path.origin or path.across is None:
        return "" if path is None else path.beginning
    edge = describe_parameters(tuple(path.across.parameters), path.across.parameters.values())
    how = "bound across" if path.across.tight else "next to"
    origin = path.origin if path.origin == GIVEN else f"chosen by {path.origin}"
    return f"{origin}, {how} {edge} from {drawable_text(path.across.name)}"


MOST_DATASETS, MOST_EDGES = 4_000, 40_000
THIN, THICK, SAME = 0.7, 4.2, 1.5  # points: for the largest ε, the smallest, and if all are equal
SINGLE_SPAN = 10.0  # the largest ε of the scale divided by the smallest, if all are equal
CURVE_POINTS = 9  # points along such an edge


@dataclass(frozen=True, eq=False)
class Network:
    """The data of the picture.

    Attributes:
        problem: the problem.
        layout: where each dataset stands.
        p: the probability of answer 1 at each.
        ringed: which values were given; for a problem without a mechanism, its boundary.
        source: one end of each edge that is drawn; of parallel edges the one with the smallest ε is.
        target: the other end.
        epsilon: the ε of each edge as written, in the direction where it is smaller; for Gaussian privacy μ.
        beside: notes about parameters of edges that are not drawn.
        widths: how thick each edge is, in points, before all of them are thinned for lack of space.
        chain: the datasets of the path that is highlighted, from the pinned one on; empty if there is none.
        steps: what the edge of each step of that path promises, by name; of parallel edges, the one that binds.
        bounds: what a given path allows at each of its datasets, in a few characters; where that is less than what was
            asked for, this too.
        alone: why the highlighted path has no steps; empty if it has some.
        bare: whether p are true answers only.
        origin: the origin of the first value of the path.
    """

    problem: Problem
    layout: Layout
    p: Floats
    ringed: Mask
    source: Indices
    target: Indices
    epsilon: Floats
    beside: list[str]
    widths: Floats
    chain: NDArray[np.int64]
    steps: list[dict[str, float]]
    bounds: dict[int, str]
    alone: str
    bare: bool
    origin: str = ""

    @cached_property
    def labels(self) -> Sequence[str]:
        """The label of each dataset, as it is typed."""
        return [spell_label(self.problem.graph.label(at), self.problem.labels) for at in range(len(self.p))]

    def value(self, at: int) -> str:
        """What is written with the label of a dataset: p, or what a path allows."""
        return self.bounds.get(at, "") if self.bare else two_digits(float(self.p[at]))

    def strokes(self, edges: Any = slice(None)) -> Floats:
        """The lines of some edges, as points: edge, point, direction; those within a column bend outward."""
        layout, source, target = self.layout, self.source[edges], self.target[edges]
        at = np.linspace(0.0, 1.0, CURVE_POINTS)[None, :, None]
        ends = np.stack([layout.across, layout.up], axis=1)
        lines = ends[source][:, None, :] * (1.0 - at) + ends[target][:, None, :] * at
        within = (layout.levels[source] == layout.levels[target]) & (not layout.given)
        outward = (
            np.where(within, np.sign(layout.levels[source]), 0)
            * EDGE_BEND
            * np.abs(np.diff(lines[:, [0, -1], 1]))[:, 0]
        )
        lines[:, :, 0] += (outward[:, None] * 4.0) * (at * (1.0 - at))[:, :, 0]
        return np.asarray(lines)


def is_small(problem: Problem) -> bool:
    """True if the graph is small enough to be drawn legibly."""
    return problem.graph.size <= MOST_DATASETS and problem.graph.arc_count <= 2 * MOST_EDGES


def require_small(problem: Problem) -> None:
    """Refuses a graph that is too large."""
    if not is_small(problem):
        rule = f"a network has at most {MOST_DATASETS:,} datasets and {MOST_EDGES:,} edges"
        raise UsageError("the problem is too large for a network", rule, "the picture summary is for any size")


def places_of(positions: Any, problem: Problem) -> Floats:
    """The positions that the caller chose, across and up for each dataset.

    Raises:
        InputError: listing every dataset without a place, every label without a dataset, and every wrong place.
        UsageError: it is not a mapping.
    """
    if not isinstance(positions, Mapping):
        raise UsageError(f"positions={format_value(positions)}", "positions is a mapping from each label to (x, y)")
    labels, collector = problem.labels, FaultCollector("positions")
    given = list(positions)
    where, hint = labels.indices(given), LabelHints(labels)
    places = np.full((problem.graph.size, 2), np.nan)
    for at, label in zip(where.tolist(), given, strict=True):
        name, place = f"positions[{format_value(label)}]", _place(positions[label])
        if at < 0:
            collector.add(Fault("unknown dataset", name, "", "each label is that of a dataset", hint(label)))
        elif place is None:
            collector.add(Fault("not a place:", name, format_value(positions[label]), PLACE_RULE))
            places[at] = 0.0, at + 0.5  # it has been reported
        else:
            places[at] = place
    missing = np.isnan(places[:, 0])
    rule = "every dataset has a place"
    collector.add_where(missing, lambda at: Fault("no place", f"dataset {shorten_label(labels.names[at])}", "", rule))
    if not collector.total:
        _, first, group = np.unique(places, axis=0, return_index=True, return_inverse=True)
        twin = first[group.ravel()]
        shared = twin != np.arange(len(places))
        rule = "two datasets have different places"

        def fault(at: int) -> Fault:
            other = shorten_label(labels.names[int(twin[at])])
            return Fault("the same place as", f"dataset {shorten_label(labels.names[at])}", f"dataset {other}", rule)

        collector.add_where(shared, fault)
    collector.raise_if_any()
    return places


def _place(value: Any) -> tuple[float, float] | None:
    """A pair of finite numbers; None for anything else."""
    try:
        x, y = (float(each) for each in value)
    except (TypeError, ValueError, OverflowError):
        return None
    small = abs(x) <= FARTHEST and abs(y) <= FARTHEST  # not so for nan
    return (x, y) if small and not isinstance(value, str) else None


PLACE_RULE, FARTHEST = "a place is (x, y), two finite numbers", 1e100


def network(
    problem: Problem,
    p: Floats,
    ringed: Mask,
    highlighted: BindingPath | Witness | None,
    bare: bool,
    places: Floats | None = None,
) -> Network:
    """Collects the data of the picture.

    Args:
        problem: the problem.
        p: the probability of answer 1 at each dataset.
        ringed: which datasets get a ring.
        highlighted: the path that is highlighted, if any.
        bare: whether p are true answers only.
        places: where each dataset is to stand, across and up; by default in columns by distance.
    """
    graph = problem.graph
    source, target, *columns = graph.edges()
    known = dict(zip(graph.parameter_names, columns, strict=True))
    epsilon = np.minimum.reduce([column for name, column in known.items() if PARAMETERS[name].scales])
    beside = other_parameters(known)
    order = np.lexsort((epsilon, target, source))
    first = np.sort(order[(np.diff(source[order], prepend=-1) != 0) | (np.diff(target[order], prepend=-1) != 0)])
    if len(first) < len(source):
        beside.append("parallel edges: the smallest")
        source, target, epsilon = source[first], target[first], epsilon[first]
    layout = layered_layout(source, target, steps_to_the_other_answer(problem), problem.answers)
    if places is not None:
        layout = replace(layout, across=places[:, 0], up=places[:, 1], given=True)
    path = highlighted.path if isinstance(highlighted, Witness) else highlighted
    chain = np.array([graph.index(label) for label in path.datasets] if path else [], dtype=np.int64)
    steps = [] if path is None else path.parameters
    bounds = {} if path is None else bounds_of(chain.tolist(), path)
    if isinstance(highlighted, Witness):
        bounds[int(chain[-1])] = contradiction_of(highlighted)
    edges = source, target, epsilon, beside, edge_widths(epsilon)
    return Network(
        problem, layout, p, ringed, *edges, chain, steps, bounds, single_dataset_caption(path), bare, origin_of(path)
    )


class WidthScale(NamedTuple):
    """The ε of the thickest and of the thinnest line."""

    least: float
    most: float


def width_scale(epsilon: Floats) -> WidthScale:
    """The scale from the smallest to the largest positive ε; around a single one, so that others can be told from it.

    >>> width_scale(np.array([0.0, 0.1, 1.0, np.inf]))
    WidthScale(least=0.1, most=1.0)
    """
    usual = epsilon[(epsilon > 0.0) & np.isfinite(epsilon)]
    if not len(usual):
        return WidthScale(0.1, 1.0)
    least, most = float(usual.min()), float(usual.max())
    if least < most:
        return WidthScale(least, most)
    share = (THICK - SAME) / (THICK - THIN)
    return WidthScale(least * SINGLE_SPAN**-share, least * SINGLE_SPAN ** (1.0 - share))


def edge_widths(epsilon: Floats, scale: WidthScale | None = None) -> Floats:
    """Thicker where ε is smaller, by its logarithm; no ε is drawn thinner than ∞.

    Args:
        epsilon: the ε of the edges.
        scale: the ε of the thickest and thinnest line; by default the smallest and largest.

    >>> edge_widths(np.array([0.0, 0.1, 1.0, np.inf])).tolist()
    [4.2, 4.2, 0.7, 0.7]
    >>> edge_widths(np.array([0.2, 1e308])).tolist()
    [4.2, 0.7]
    """
    least, most = width_scale(epsilon) if scale is None else scale
    with np.errstate(divide="ignore"):
        above, whole = np.log(epsilon) - np.log(least), np.log(most) - np.log(least)  # quotients could overflow
        weak = np.clip(above / whole, 0.0, 1.0)
    return np.asarray(THIN * weak + THICK * (1.0 - weak)).round(9)


def draw_network(axes: Axes, shown: Network, key: bool, alone: bool) -> None:
    """Draws the network; on axes that are alone in their figure, with the height that it needs."""
    from hetdp.plots.network_labels import add_distances, add_legend, add_notes, thin_legend

    add_distances(axes, shown)
    add_legend(axes, shown, key)
    lay_out(axes)
    width, height = size_in_points(axes)
    found = arrange(shown, width, None if alone else height)
    axes.set(xlim=found.across, ylim=found.up)
    if alone:
        fit_height(axes, found.height)
    thin_legend(axes, line_width(found.diameter))
    _draw_edges(axes, shown, found.diameter)
    _draw_datasets(axes, shown, found.diameter)
    _draw_path(axes, shown, found.diameter)
    add_notes(axes, shown, found)


def line_width(size: float) -> float:
    """A factor that makes edges thinner where datasets are small."""
    return float(min(1.0, max(size / LARGEST_DIAMETER, 0.12) ** 0.8))


def _draw_edges(axes: Axes, shown: Network, size: float) -> None:
    from matplotlib.collections import LineCollection

    free = np.isinf(shown.epsilon)
    for mask, style in ((~free, "-"), (free, (0, (1.0, 2.0)))):
        edges = np.flatnonzero(mask)
        if len(edges):
            strength = min(1.0, 0.12 + 2_000.0 / len(shown.source)) if len(shown.source) > 300 else 1.0
            lines = LineCollection(
                list(shown.strokes(edges)),
                linewidths=shown.widths[edges] * line_width(size),
                colors=SOFT,
                alpha=0.75 * strength,
                linestyles=style,
                capstyle="round",
                zorder=1,
                rasterized=len(edges) > 2_000,
            )
            axes.add_collection(lines)


def _draw_datasets(axes: Axes, shown: Network, size: float) -> None:
    from hetdp.plots.colours import colour_map

    layout, rim = shown.layout, min(0.8, size / 12.0)
    for answer, mark in ((2, "s"), (1, "o")):
        for ring in (False, True):
            chosen = (shown.problem.answers == answer) & (shown.ringed == ring)
            area = (size * (0.88 if mark == "s" else 1.0)) ** 2
            where = layout.across[chosen], layout.up[chosen]
            if ring and chosen.any():
                outer = {"facecolors": "white", "edgecolors": INK, "linewidths": max(0.5, 1.7 * rim)}
                axes.scatter(*where, s=area * (1.0 + ring_width(size) / size) ** 2, marker=mark, zorder=3, **outer)
            if chosen.any():
                inner = {"cmap": colour_map(), "vmin": 0.0, "vmax": 1.0, "edgecolors": INK, "linewidths": rim}
                axes.scatter(*where, s=area, c=shown.p[chosen], marker=mark, zorder=4, **inner)


def _draw_path(axes: Axes, shown: Network, size: float) -> None:
    layout = shown.layout
    if shown.alone:
        place = shown.chain[:1]
        frame: dict[str, Any] = {"facecolors": "none", "edgecolors": INK, "linewidths": 2.0}
        mark = "o" if shown.problem.answers[place[0]] == 1 else "s"
        area = (size * (1.0 if mark == "o" else 0.88) + FRAME) ** 2
        axes.scatter(layout.across[place], layout.up[place], s=area, zorder=2, marker=mark, **frame)
    for start, end in zip(shown.chain[:-1], shown.chain[1:], strict=True):
        bend = 0.0
        if within_bend(layout, start, end):
            bend = 2.0 * EDGE_BEND * float(np.sign(layout.levels[start]) * np.sign(layout.up[start] - layout.up[end]))
        axes.annotate(
            "",
            (layout.across[end], layout.up[end]),
            (layout.across[start], layout.up[start]),
            arrowprops={
                "arrowstyle": "-|>",
                "color": INK,
                "linewidth": float(np.clip(0.15 * size, 0.8, 1.8)),
                "mutation_scale": float(np.clip(size, 3.0, 11.0)),
                "shrinkA": size / 2 + 1,
                "shrinkB": size / 2 + 2,
                "connectionstyle": f"arc3,rad={bend}",
            },
            zorder=5,
        )
