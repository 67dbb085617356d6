"""Where the datasets and texts of a network stand, in points, so that nothing covers anything else.

It uses the first style in which all labels and values fit: inside the datasets, or in rows reserved below them. If
none fits, only a highlighted path is labelled, as far as there is room. Sizes are those of the drawn letters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hetdp.plots.canvas import LEAST_HEIGHT, SMALL, distinct_texts, text_size
from hetdp.problem.parameters import describe_parameters
from hetdp.problem.space import Floats

if TYPE_CHECKING:
    from hetdp.plots.network import Network


MOST_NAMES = 100  # datasets; of more, only those on a path are labelled
SMALLEST_DIAMETER, LARGEST_DIAMETER = 2.6, 32.0  # points
WIDEST_INSIDE = 40.0  # points: the diameter up to which labels are written inside
STEP = 6.5  # points: the size of letters at a step
ROW, TALLEST = 48.0, 500.0  # points: the usual distance of two rows, and the tallest picture
LONGEST_LABELS = (24, 16, 11, 8)  # characters: whole labels if possible
SPACING = 1.05  # the height of a line inside or below a dataset, divided by its size
GAP = 2.0  # points between any two things
RING = 4.0  # points that the ring of a given value adds to a diameter at most
FRAME = 7.0  # and the frame of a dataset that no path binds
USUAL_HEIGHT, ROOMY = 250.0, 270.0  # points: beyond these heights, datasets are only as large and far as they must be
LEVEL = 1e-9  # a difference in height that is none
EDGE_BEND = 0.28  # how far an edge within a column bends around the datasets between its ends


class Style(NamedTuple):
    """How datasets are labelled.

    Attributes:
        inside: whether labels are inside the datasets, or else below.
        points: the size of the letters.
        longest: the number of characters of the longest label.
        lines: whether label and value stand on lines of their own.
    """

    inside: bool
    points: float
    longest: int
    lines: bool = True


class Note(NamedTuple):
    """A text, and the place of its middle.

    Attributes:
        text: the text.
        x: the place across, in units of the layout.
        y: the place up.
        right: points that the middle of the text lies right of this place.
        above: points that it lies above it.
        points: the size of the letters.
        inside: the dataset in which it stands; −1 if it stands in none.
    """

    text: str
    x: float
    y: float
    right: float
    above: float
    points: float
    inside: int = -1


@dataclass
class Arrangement:
    """A network in points.

    Attributes:
        width: of the axes.
        height: of the axes.
        diameter: of the datasets.
        across: the limits of the axes from left to right, in units of the layout.
        up: the limits from bottom to top.
        names: the labels and values.
        steps: the parameters of the steps of the path, None where there is no room.
    """

    width: float
    height: float
    diameter: float
    across: tuple[float, float]
    up: tuple[float, float]
    names: list[Note] = field(default_factory=list)
    steps: list[Note | None] = field(default_factory=list)


class Room(NamedTuple):
    """The room for a network.

    Attributes:
        width: of the axes, in points.
        height: of the axes, or None if they are to be as tall as the network needs.
        low: how far the network reaches to the left, in units of the layout.
        high: how far it reaches to the right.
        head: points above and below for what is written at steps along the edge.
    """

    width: float
    height: float | None
    low: float
    high: float
    head: float

    @property
    def tallest(self) -> float:
        """The height that cannot be exceeded."""
        return min(TALLEST, 2.0 * self.width) if self.height is None else self.height


def arrange(shown: Network, width: float, height: float | None) -> Arrangement:
    """Arranges a network on axes of a size in points; without a height, it becomes as tall as it should be."""
    ends = np.concatenate([shown.layout.across, shown.strokes()[:, :, 0].ravel()])
    low, high = (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 0.0)
    head = max((text_size(_step_words(edge), STEP, SPACING)[1] + GAP for edge in shown.steps), default=0.0)
    room = Room(width, height, low, high, head)
    found = next(filter(None, _arrangements_with_labels(shown, room)), None)
    places = _Places(shown, found or _arrange_without_labels(shown, room))
    if found is None:
        places.name_path()
    places.name_steps()
    return places.result


def _styles(shown: Network) -> Iterator[tuple[Style, float]]:
    """Ways to label all datasets, and the diameter of datasets with labels below; the best first."""
    longest = max(map(len, shown.labels), default=0)
    for most in LONGEST_LABELS:
        if most == LONGEST_LABELS[0] or most < longest:
            yield from ((Style(True, points, most), LARGEST_DIAMETER) for points in (SMALL, 6.5, 6.0))
            for points, size in ((6.5, 14.0), (6.0, 11.0)):
                yield from ((Style(False, points, most, lines), size) for lines in (False, True))


def _arrangements_with_labels(shown: Network, room: Room) -> Iterator[Arrangement | None]:
    """The arrangement in each style, None where labels do not fit."""
    if not 0 < len(shown.p) <= MOST_NAMES:
        return
    for style, size in _styles(shown):
        names = distinct_texts(shown.labels, style.longest)
        texts = [_text(name, shown.value(at), style.lines) for at, name in enumerate(names)]
        sizes = np.array([text_size(text, style.points, SPACING) for text in texts])
        if not style.inside:
            drop = half_of(shown, size) + GAP / 2.0
            below = sizes[:, 0] / 2.0, -drop - sizes[:, 1], np.full(len(texts), -drop)
            yield _with_notes(
                _arrange_at_size(shown, room, size, below), shown, texts, style, -drop - sizes[:, 1] / 2.0
            )
            continue
        fitting = 2.0 + 0.92 * float(np.hypot(*sizes.T).max())
        if fitting > WIDEST_INSIDE:
            continue
        above = np.zeros(len(texts))
        if style.points == SMALL and fitting < size:
            roomy = _arrange_at_size(shown, room, size, None)
            if roomy is not None and roomy.height <= ROOMY:
                yield _with_notes(roomy, shown, texts, style, above)
        yield _with_notes(_arrange_at_size(shown, room, fitting, None), shown, texts, style, above)


def _with_notes(
    found: Arrangement | None, shown: Network, texts: list[str], style: Style, above: Floats
) -> Arrangement | None:
    if found is not None:
        for at, text in enumerate(texts):
            place = float(shown.layout.across[at]), float(shown.layout.up[at])
            note = Note(text, *place, 0.0, float(above[at]), style.points, at if style.inside else -1)
            found.names.append(note)
    return found


def half_of(shown: Network, size: float) -> float:
    """Half the width of a dataset with its ring or frame."""
    ring = ring_width(size) + 1.2 if shown.ringed.any() else 0.8
    return (size + max(ring, FRAME + 2.0 if shown.alone else 0.0)) / 2.0


def ring_width(size: float) -> float:
    """The points that a ring adds to a diameter."""
    return min(max(0.2 * size, 1.2), RING)


def _text(name: str, value: str, lines: bool) -> str:
    return f"{name}\n{value}".rstrip() if lines else f"{name} {value.replace(chr(10), ', ')}".rstrip()


def _arrange_at_size(shown: Network, room: Room, size: float, below: Any) -> Arrangement | None:
    """The arrangement for datasets of a size, with texts below: half their widths, lower and upper ends.

    None if something would cover something else.
    """
    x, y, half = shown.layout.across, shown.layout.up, half_of(shown, size)
    wide, drop = (half, half) if below is None else (max(half, float(below[0].max())), -float(below[1].min()))
    free, span, tall = room.width - 2.0 * (wide + GAP), room.high - room.low, float(np.ptp(y))
    edges = half + drop + 2.0 * (GAP + room.head)
    if free <= 0.0 or edges > room.tallest:
        return None
    right = free / span if span else 0.0
    upward = (room.tallest - edges) / tall if tall else 0.0
    if shown.layout.given:
        right = upward = min(each for each in (right, upward, np.inf) if each) if span or tall else 0.0
    needed = _least_scale(x * right, y, half, below)
    if room.height is None and not shown.layout.given and tall:
        upward = min(upward, max(needed, min(ROW * (shown.layout.tallest - 1), USUAL_HEIGHT) / tall))
    if needed > upward * (1.0 + 1e-9):
        return None
    return _limits(shown, room, size, right, upward, max(upward * tall + edges, LEAST_HEIGHT), (drop - half) / 2.0)


def _limits(
    shown: Network, room: Room, size: float, right: float, upward: float, height: float, lower: float
) -> Arrangement:
    """The limits of the axes at which the network has its scale, and stands in the middle; lower for texts below."""
    height = height if room.height is None else room.height
    y = shown.layout.up
    middle = (float(y.min(initial=np.inf)) + float(y.max(initial=-np.inf))) / 2.0 if len(y) else 0.0
    right, upward = right or room.width / 2.0, upward or height
    centre = (room.low + room.high) / 2.0, middle - lower / upward
    across = centre[0] - room.width / 2.0 / right, centre[0] + room.width / 2.0 / right
    up = centre[1] - height / 2.0 / upward, centre[1] + height / 2.0 / upward
    return Arrangement(room.width, height, size, across, up)


def _least_scale(x: Floats, y: Floats, half: float, below: Any) -> float:
    """The least scale from bottom to top at which no dataset or text covers another; infinite if there is none."""
    same = np.full(len(x), half)
    kinds = [(same, -same, same)] if below is None else [(same, -same, same), below]
    beside, rise = np.abs(x[:, None] - x[None, :]), y[:, None] - y[None, :]  # of the first above the second
    apart, found = ~np.eye(len(x), dtype=bool), 0.0
    for wide, bottom, _ in kinds:
        for other, _, top in kinds:
            needed = top[None, :] - bottom[:, None] + GAP
            meeting = apart & (beside < wide[:, None] + other[None, :] + GAP) & (needed > 0.0)
            if (meeting & (np.abs(rise) < LEVEL)).any():
                return float("inf")
            upper = meeting & (rise > 0.0)
            found = max(found, float((needed[upper] / rise[upper]).max(initial=0.0)))
    return found


def _arrange_without_labels(shown: Network, room: Room) -> Arrangement:
    """The arrangement without labels, with the largest datasets that do not touch."""
    x, y, span = shown.layout.across, shown.layout.up, room.high - room.low
    tall, size = float(np.ptp(y)) if len(y) else 0.0, LARGEST_DIAMETER
    right = upward = margin = 0.0
    for _ in range(3):  # the margin depends on the size, and the size on the margin
        margin = 2.0 * (half_of(shown, size) + GAP + room.head)
        right = max(room.width - 2.0 * (half_of(shown, size) + GAP), 1.0) / span if span else 0.0
        usual = min(ROW * (shown.layout.tallest - 1), USUAL_HEIGHT) if room.height is None else room.height - margin
        upward = max(usual, 1.0) / tall if tall else 0.0
        if shown.layout.given and (span or tall):
            upward = max(room.tallest - margin, 1.0) / tall if tall else 0.0
            right = upward = min(each for each in (right, upward) if each)
        size = float(np.clip(0.66 * _least_distance(x * right, y * upward), SMALLEST_DIAMETER, LARGEST_DIAMETER))
    return _limits(shown, room, size, right, upward, max(upward * tall + margin, LEAST_HEIGHT), 0.0)


def _least_distance(x: Floats, y: Floats) -> float:
    """The least distance of two datasets, across or up, whichever is larger."""
    found = float("inf")
    for start in range(0, len(x) - 1, 256):
        end = start + 256
        apart = np.maximum(np.abs(x[start:end, None] - x[None, start:]), np.abs(y[start:end, None] - y[None, start:]))
        ahead = np.arange(len(x) - start)[None, :] > np.arange(len(apart))[:, None]
        found = min(found, float(apart[ahead].min(initial=found)))
    return found


class _Places:
    """The places that are taken, in points from the lower left corner of the axes."""

    def __init__(self, shown: Network, result: Arrangement) -> None:
        self.shown, self.result = shown, result
        self.scale = np.array(
            [result.width / (result.across[1] - result.across[0]), result.height / (result.up[1] - result.up[0])]
        )
        layout = shown.layout
        middles = self._points(layout.across, layout.up)
        half = half_of(shown, result.diameter)
        self.boxes = np.concatenate([middles - half, middles + half], axis=1)
        written = [self._box(note) for note in result.names if note.inside < 0]
        self.boxes = np.vstack([self.boxes, *written]) if written else self.boxes

    def _points(self, x: Any, y: Any) -> Any:
        start = np.array([self.result.across[0], self.result.up[0]])
        return (np.stack([x, y], axis=-1) - start) * self.scale

    def _box(self, note: Note) -> Any:
        half = np.array(text_size(note.text, note.points, SPACING)) / 2.0
        middle = self._points(note.x, note.y) + np.array([note.right, note.above])
        return np.concatenate([middle - half, middle + half])

    def take(self, note: Note) -> bool:
        """True if a text fits on the axes and covers nothing; then its place is taken."""
        box = self._box(note)
        if box[0] < 0.0 or box[2] > self.result.width or box[1] < 0.0 or box[3] > self.result.height:
            return False
        near = (box[:2] < self.boxes[:, 2:] + 1.0) & (self.boxes[:, :2] < box[2:] + 1.0)
        if near.all(axis=1).any():
            return False
        self.boxes = np.vstack([self.boxes, box])
        return True

    def name_path(self) -> None:
        """Labels the datasets of the path, its ends first, beside them where there is room."""
        chain = self.shown.chain.tolist()
        chosen = list(dict.fromkeys([*chain[-1:], *chain[:1], *chain]))
        names = distinct_texts([self.shown.labels[at] for at in chosen], LONGEST_LABELS[1])
        half = half_of(self.shown, self.result.diameter) + GAP
        for at, name in zip(chosen, names, strict=True):
            for text in (_text(name, self.shown.value(at), True), _text(name, self.shown.value(at), False)):
                wide, tall = (each / 2.0 for each in text_size(text, STEP, SPACING))
                sides = [(0.0, -half - tall), (half + wide, 0.0), (-half - wide, 0.0), (0.0, half + tall)]
                sides += [(half + wide, -tall), (half + wide, tall), (-half - wide, -tall), (-half - wide, tall)]
                sides += [
                    (side * (wide - half + GAP), up * (half + tall)) for up in (-1.0, 1.0) for side in (1.0, -1.0)
                ]
                place = float(self.shown.layout.across[at]), float(self.shown.layout.up[at])
                note = next(filter(self.take, (Note(text, *place, *side, STEP) for side in sides)), None)
                if note is not None:
                    self.result.names.append(note)
                    break

    def name_steps(self) -> None:
        """Writes what each step of the path promises beside its arrow, or on it where there is room only there."""
        chain = self.shown.chain.tolist()
        for start, end, edge in zip(chain[:-1], chain[1:], self.shown.steps, strict=True):
            found = next(filter(self.take, self._notes_beside(start, end, _step_words(edge))), None)
            self.result.steps.append(found)

    def _notes_beside(self, start: int, end: int, words: str) -> Iterator[Note]:
        layout = self.shown.layout
        ends = np.array([[layout.across[at], layout.up[at]] for at in (start, end)])
        direction = (ends[1] - ends[0]) * self.scale
        length = float(np.hypot(*direction)) or 1.0
        normal = np.array([-direction[1], direction[0]]) / length
        normal = normal if normal[1] > 0 or (normal[1] == 0 and normal[0] > 0) else -normal
        bend = within_bend(layout, start, end)
        wide, tall = (each / 2.0 for each in text_size(words, STEP, SPACING))
        off = abs(normal[0]) * wide + abs(normal[1]) * tall + GAP
        further = half_of(self.shown, self.result.diameter) * abs(normal[1])
        for beyond in (0.0, 0.5 * further, further):
            for part in (0.5, 0.42, 0.58, 0.34, 0.66):
                x, y = ends[0] * (1.0 - part) + ends[1] * part
                for side in (1.0, -1.0):
                    right, above = side * (off + beyond) * normal
                    bent = float(x + bend * 4.0 * part * (1.0 - part))
                    yield Note(words, bent, float(y), float(right), float(above), STEP)
        if length > 4.0 * wide + self.result.diameter:
            x, y = (ends[0] + ends[1]) / 2.0
            yield Note(words, float(x + bend), float(y), 0.0, 0.0, STEP)


def _step_words(edge: dict[str, float]) -> str:
    return describe_parameters(tuple(edge), edge.values()).replace(", ", "\n")


def within_bend(layout: Any, start: int, end: int) -> float:
    """How far an edge within a column bends outward, in units of the layout; 0 for other edges."""
    if layout.given or layout.levels[start] != layout.levels[end]:
        return 0.0
    return float(EDGE_BEND * abs(layout.up[start] - layout.up[end]) * np.sign(layout.levels[start]))
