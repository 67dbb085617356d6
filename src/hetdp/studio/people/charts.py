"""Two curves as SVG, and the same numbers as rows of a table: how often the published answer is right.

One curve is by the number of people who must change their minds before the true answer changes, one by the true share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from hetdp.mechanism.accuracy.baselines import GEOMETRIC, ONE_EPSILON
from hetdp.people.populations.shares import AccuracyCurves, AccuracyPoint
from hetdp.problem.answer_words import margin_words
from hetdp.studio.people.wording import runs_words
from hetdp.tables.request import plain_words

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 24, 14, 46
OURS = "this plan"
DRAWN = (ONE_EPSILON, GEOMETRIC)  # baselines
STYLES = {OURS: "ours", ONE_EPSILON: "uniform", GEOMETRIC: "noisy"}
MOST_ROWS = 12
INVISIBLE = 0.005  # differences of probabilities that a line does not show
LEAST_SHOWN = 0.4  # probability at the lower edge
SHARES = tuple(range(0, 101, 5))  # per cent, in the table
MARGINS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)


@dataclass(frozen=True)
class Line:
    """One line of a chart: its name, and the probability of the right answer at each place."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Chart:
    """A chart with its table.

    Attributes:
        key: its name in the page.
        title: what it shows.
        svg: the picture.
        head: the columns of the table.
        rows: the rows of the table.
        note: what the numbers assume, in words.
    """

    key: str
    title: str
    svg: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def charts_of(curves: AccuracyCurves) -> list[Chart]:
    """The charts of a promise; the chart by share only if that accuracy is known."""
    found = [_margin_chart(curves)] if curves.by_margin else []
    return [_share_chart(curves), *found] if curves.by_share else found


def _lines(points: Sequence[AccuracyPoint], place: Callable[[AccuracyPoint], float]) -> list[Line]:
    """The lines, ours first, so that thinner ones on top of it stay visible."""
    others = [
        Line(name, tuple((place(one), 1.0 - one.baselines[name]) for one in points if name in one.baselines))
        for name in DRAWN
    ]
    ours = Line(OURS, tuple((place(one), one.accuracy) for one in points))
    return [ours, *(line for line in others if line.points)]


def _share_chart(curves: AccuracyCurves) -> Chart:
    lines = _lines(curves.by_share, lambda one: (one.share or 0.0) * 100)
    what = "weight" if curves.weighted else "people"
    title = f"By true share of the {what} who count as yes"
    ticks = [(float(at), f"{at}%") for at in range(0, 101, 10)]
    wanted = {one.number: one for one in (_nearest(curves.by_share, percent / 100) for percent in SHARES)}
    rows = [_row(f"{(one.share or 0) * 100:.3g}%", one) for one in wanted.values()]
    assumed = f"The chart assumes that {plain_words(curves.assumption)}." if curves.assumption else ""
    note = f"{_same_words(curves.by_share)} {assumed}".strip()
    svg = _svg("share", title, lines, (0.0, 100.0), ticks, "people who truly count as yes", False)
    return Chart("share", title, svg, _head("true share", lines), tuple(rows), note)


def _margin_chart(curves: AccuracyCurves) -> Chart:
    points = [one for one in curves.by_margin if one.margin]
    lines = _lines(points, lambda one: float(one.margin or 1))
    title = "By how many people must change their minds before the true answer changes"
    last = float(max(one.margin or 1 for one in points))
    ticks = [(float(at), f"{at:,}") for at in _decades(int(last))]
    there = {one.margin: one for one in points}
    chosen = [there[at] for at in MARGINS if at in there] or points
    rows = [_row(margin_words(one.margin or 1), one) for one in chosen[:MOST_ROWS]]
    svg = _svg("margin", title, lines, (1.0, max(last, 2.0)), ticks, "people who must change their minds", True)
    return Chart("margin", title, svg, _head("situation", lines), tuple(rows), _same_words(points))


def _same_words(points: Sequence[AccuracyPoint]) -> str:
    """A sentence about the baselines whose lines cannot be told from ours; empty if there are none."""
    same = [
        name
        for name in DRAWN
        if any(name in one.baselines for one in points)
        and all(abs(one.baselines.get(name, one.error) - one.error) < INVISIBLE for one in points)
    ]
    if not same:
        return ""
    return f"Here {' and '.join(same)} {'is' if len(same) == 1 else 'are'} right as often as this plan."


def _head(first: str, lines: list[Line]) -> tuple[str, ...]:
    return (first, OURS, *(line.name for line in lines[1:]))


def _row(where: str, one: AccuracyPoint) -> tuple[str, ...]:
    return (where, *map(runs_words, (one.error, *(one.baselines[name] for name in DRAWN if name in one.baselines))))


def _nearest(points: Sequence[AccuracyPoint], share: float) -> AccuracyPoint:
    return min(points, key=lambda one: abs((one.share or 0.0) - share))


def _decades(last: int) -> list[int]:
    found = [
        base * 10**power for power in range(len(str(last))) for base in (1, 2, 5) if base * 10**power <= max(last, 2)
    ]
    return found if len(found) <= 9 else [at for at in found if str(at)[0] == "1"]


def _svg(
    key: str,
    title: str,
    lines: list[Line],
    bounds: tuple[float, float],
    ticks: list[tuple[float, str]],
    axis: str,
    logarithmic: bool,
) -> str:
    """The picture. It has no style of its own: the style sheet colours it, in light and dark."""

    def across(value: float) -> float:
        low, high = (math.log(bound) for bound in bounds) if logarithmic else bounds
        part = ((math.log(value) if logarithmic else value) - low) / (high - low)
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def up(probability: float) -> float:
        part = (max(probability, LEAST_SHOWN) - LEAST_SHOWN) / (1.0 - LEAST_SHOWN)
        return TOP + (1.0 - part) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{key}-title">',
        f'<title id="{key}-title">{escape(title)}; the table below has the numbers</title>',
    ]
    for percent in range(40, 101, 10):
        y = up(percent / 100)
        kind = "grid coin" if percent == 50 else "grid"
        parts.append(f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{percent}%</text>')
    for number, (value, words) in enumerate(ticks):
        x, kind = across(value), "tick odd" if number % 2 else "tick"
        parts.append(f'<text class="{kind}" x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{words}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text class="axis" x="{middle:.0f}" y="{HEIGHT - 6}" text-anchor="middle">{escape(axis)}</text>')
    for line in lines:
        places = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in line.points)
        parts.append(f'<polyline class="line {STYLES[line.name]}" points="{places}"/>')
    return "".join([*parts, "</svg>"])
