"""Finds what overlaps in a picture: the boxes of texts, datasets, ticks, legends and axes, as Agg draws them."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.text import Text

TOUCHING = 0.75  # points by which boxes may meet: the air above and below letters


class Box(NamedTuple):
    """A rectangle in points, from left, bottom to right, top; and what is in it."""

    kind: str
    words: str
    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: Box) -> bool:
        """True if it covers more of another box than may touch."""
        across = min(self.right, other.right) - max(self.left, other.left)
        up = min(self.top, other.top) - max(self.bottom, other.bottom)
        return min(across, up) > TOUCHING

    def is_within(self, other: Box) -> bool:
        """True if it does not stick out of another box."""
        inside = other.left <= self.left + TOUCHING and self.right <= other.right + TOUCHING
        return inside and other.bottom <= self.bottom + TOUCHING and self.top <= other.top + TOUCHING


def overlaps(axes: Any) -> list[str]:
    """What overlaps in the figure of some axes, or sticks out of it, in words; empty if nothing does."""
    figure = axes.get_figure(root=True)
    if not isinstance(figure.canvas, FigureCanvasAgg):
        FigureCanvasAgg(figure)
    figure.canvas.draw()
    page = Box("page", "", 0.0, 0.0, *(72.0 * figure.get_size_inches()))
    texts, nodes = list(_texts(figure)), list(_nodes(figure))
    everything = [*texts, *nodes]
    found = [f"{box} sticks out of the page" for box in everything if not box.is_within(page)]
    for one, other in combinations(everything, 2):
        if one.meets(other) and not _is_label_in_its_node(one, other):
            found.append(f"{one} meets {other}")
    for each in figure.axes:
        frame = _box(figure, "axes", "", each.get_window_extent())
        outside = [box for box in texts if box.kind in ("label", "tick", "title", "legend")]
        found += [f"{box} meets the axes" for box in outside if box.meets(frame)]
        if each is axes:
            found += [f"{box} sticks out of its axes" for box in nodes if not box.is_within(frame)]
            notes = [box for box in texts if box.kind == "note" and len(nodes)]
            found += [f"{box} sticks out of its axes" for box in notes if not box.is_within(frame)]
    return found


def _is_label_in_its_node(one: Box, other: Box) -> bool:
    """True for a text whose box is in that of a dataset."""
    text, node = (one, other) if other.kind == "node" else (other, one)
    return text.kind == "note" and node.kind == "node" and text.is_within(node)


def _box(figure: Any, kind: str, words: str, extent: Any) -> Box:
    return Box(kind, words, *(float(value) * 72.0 / figure.dpi for value in extent.extents))


def _texts(figure: Any) -> Any:
    """All texts that are drawn."""
    for axes in figure.axes:
        yield from _texts_of(figure, axes)
        for inset in axes.child_axes:
            yield from _texts_of(figure, inset)


def _texts_of(figure: Any, axes: Any) -> Any:
    ticks = [each for axis in (axes.xaxis, axes.yaxis) for each in axis.get_ticklabels(which="both")]
    groups = {
        "tick": [*ticks, axes.xaxis.get_offset_text(), axes.yaxis.get_offset_text()],
        "label": [axes.xaxis.label, axes.yaxis.label],
        "title": [axes.title, axes._left_title, axes._right_title],
        "note": axes.texts,
        "legend": axes.get_legend().findobj(Text) if axes.get_legend() else [],
    }
    low, high = axes.get_window_extent().min - 1.0, axes.get_window_extent().max + 1.0
    for kind, texts in groups.items():
        for text in texts:
            if not text.get_text() or not text.get_visible() or not axes.axison:
                continue
            extent = text.get_window_extent()
            is_far = kind == "tick" and not _is_near(extent, low, high)
            if not is_far:
                yield _box(figure, kind, text.get_text(), extent)


def _is_near(extent: Any, low: Any, high: Any) -> bool:
    """True for a tick on the axes; matplotlib keeps some beyond, which it does not draw."""
    middle = (extent.min + extent.max) / 2.0
    return bool(low[0] <= middle[0] <= high[0] or low[1] <= middle[1] <= high[1])


def _nodes(figure: Any) -> Any:
    """The datasets: of each place, the largest mark."""
    for axes in figure.axes:
        found: dict[tuple[float, float], float] = {}
        for marks in axes.collections:
            if isinstance(marks, PathCollection) and len(marks.get_sizes()):
                places = marks.get_offset_transform().transform(marks.get_offsets())
                rims = np.broadcast_to(marks.get_linewidths(), len(places))
                sizes = np.broadcast_to(np.sqrt(marks.get_sizes()), len(places)) + rims
                for place, size in zip(places.round(3).tolist(), sizes.tolist(), strict=True):
                    found[tuple(place)] = max(found.get(tuple(place), 0.0), size)
        scale = 72.0 / figure.dpi
        for (x, y), size in found.items():
            across, up, half = x * scale, y * scale, size / 2.0
            yield Box("node", "", across - half, up - half, across + half, up + half)
