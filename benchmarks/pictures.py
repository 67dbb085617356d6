"""Charts as small SVG pictures, drawn by matplotlib if it is installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.claims import Chart, number
from benchmarks.libraries import load_library

COLOURS = ("#3465a4", "#cc6633", "#5a8f3c", "#8f5a9c", "#888888", "#b59b00")
SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "hetdp",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def missing() -> str:
    """The reason why no pictures can be drawn, or an empty text."""
    found = load_library("matplotlib.figure")
    return found if isinstance(found, str) else ""


def draw(chart: Chart, place: Path) -> None:
    """Writes one picture. The same numbers give the same bytes."""
    with import_module("matplotlib").rc_context(SETTINGS):
        figure = import_module("matplotlib.figure").Figure(figsize=(6.4, 3.0), layout="constrained")
        axes = figure.subplots()
        (_bars if chart.kind == "bars" else _lines)(axes, chart)
        if chart.limit is not None:
            axes.axhline(chart.limit, color="black", linestyle="--", linewidth=0.8, label="target")
        axes.set_ylabel(chart.measure)
        axes.set_title(chart.title, fontsize=10)
        axes.legend(frameon=False, fontsize=8)
        figure.savefig(place, format="svg", metadata={"Date": None, "Creator": None})


def _bars(axes: Any, chart: Chart) -> None:
    width, at = 0.8 / len(chart.series), np.arange(len(chart.places))
    for index, (name, values) in enumerate(chart.series.items()):
        bars = axes.bar(at - 0.4 + width * (index + 0.5), values, width, color=_colour(index), label=name)
        axes.bar_label(bars, fmt=number, fontsize=7)
    axes.set_xticks(at, [str(place) for place in chart.places])
    if chart.log:
        axes.set_yscale("log")


def _lines(axes: Any, chart: Chart) -> None:
    for index, (name, values) in enumerate(chart.series.items()):
        style = ("-", "--", ":", "-.")[index // len(COLOURS) % 4]
        axes.plot(chart.places, values, style, marker="o", markersize=3, color=_colour(index), label=name)
    axes.set_xlabel(chart.along)
    if chart.log:
        axes.set_xscale("log")
        axes.set_yscale("log")


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]
