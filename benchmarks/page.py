"""The page: a summary of targets and measurements, then one section for each claim."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks import pictures
from benchmarks.claims import Chart, Part, Section, Table
from benchmarks.libraries import versions
from benchmarks.measure import machine

PAGE, PICTURES = "RESULTS.md", "pictures"
BY_HAND = Path(__file__).with_name("by_hand.txt")  # results of runs that take too long to repeat every time
INTRODUCTION = """
To repeat all benchmarks, run `make bench`. To repeat one section, run the command below its heading. Machines are
noisy, so most targets are ratios within one run, or memory. Each time is the best of several calls that take turns.
"""


def write(sections: Sequence[Section], folder: Path) -> Path:
    """Writes the page and its pictures into a folder, and removes pictures that are no longer on it."""
    drawn = draw_all(sections, folder / PICTURES)
    (folder / PAGE).write_text(text(lines(sections, drawn)), encoding="utf-8")
    return folder / PAGE


def draw_all(sections: Iterable[Section], folder: Path) -> set[str]:
    """Draws every chart, and returns the names of those that were drawn."""
    if pictures.missing():
        return set()
    folder.mkdir(parents=True, exist_ok=True)
    charts = {part.name: part for section in sections for part in section.parts if isinstance(part, Chart)}
    for name, chart in charts.items():
        pictures.draw(chart, folder / f"{name}.svg")
    for old in folder.glob("*.svg"):
        if old.stem not in charts:
            old.unlink()
    return {*charts}


def lines(sections: Sequence[Section], drawn: set[str]) -> Iterator[str]:
    """The whole page."""
    yield from ("# Results", "")
    yield f"{datetime.date.today()}. {machine()}, {versions()}."
    yield INTRODUCTION
    if any(section.quick for section in sections):
        yield from ("The sizes of this run are tiny: it shows that everything runs, but its numbers mean nothing.", "")
    if pictures.missing():
        yield from (f"There are no pictures: {pictures.missing()}.", "")
    yield from summary(sections)
    for section in sections:
        yield ""
        yield from section_lines(section, drawn)
    yield from ("", BY_HAND.read_text(encoding="utf-8").rstrip("\n"))


def summary(sections: Sequence[Section]) -> Iterator[str]:
    """All targets in one table, with links to the sections."""
    yield from ("## Targets and measurements", "")
    rows = [
        (f"[{section.benchmark.title}](#{anchor(section.benchmark.title)})", *verdict)
        for section in sections
        for verdict in section.verdicts()
    ]
    yield from table_lines(Table(("section", "target", "measured", "met"), rows))


def section_lines(section: Section, drawn: set[str]) -> Iterator[str]:
    """One section: heading, description, command, targets and results."""
    benchmark = section.benchmark
    yield from (f"## {benchmark.title}", "", benchmark.about.strip(), "")
    yield from (f"Repeat: `.venv/bin/python -m benchmarks {benchmark.name}`", "")
    if benchmark.targets:
        yield from table_lines(Table(("target", "measured", "met"), list(section.verdicts())))
    else:
        yield "No target: this is a comparison only."
    yield ""
    if section.failure:
        yield from (f"**This benchmark failed**: {section.failure}", "")
    for part in section.parts:
        yield from part_lines(part, drawn)


def part_lines(part: Part, drawn: set[str]) -> Iterator[str]:
    """A line, a table, or a picture if it was drawn. Measured values are part of the verdicts instead."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, Table):
        yield ""
        yield from table_lines(part)
        yield ""
    elif isinstance(part, Chart) and part.name in drawn:
        yield from ("", f"![{part.title}]({PICTURES}/{part.name}.svg)", "")


def text(found: Iterable[str]) -> str:
    """Joins lines, with at most one blank line in a row and none at the end."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(found)).strip() + "\n"


def table_lines(table: Table) -> Iterator[str]:
    """A table in Markdown."""
    yield "| " + " | ".join(table.heads) + " |"
    yield "|---" * len(table.heads) + "|"
    for row in table.rows:
        yield "| " + " | ".join(row) + " |"


def anchor(heading: str) -> str:
    """The part after # in a link to a heading.

    >>> anchor("A table of people, `ask`")
    'a-table-of-people-ask'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
