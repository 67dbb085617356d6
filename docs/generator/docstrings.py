"""Docstrings in Google's form, taken apart and set as Markdown."""

from __future__ import annotations

import inspect
import re
from typing import Any, NamedTuple

SECTIONS = ("Args", "Attributes", "Raises", "Returns")


class Docstring(NamedTuple):
    """A docstring in parts.

    Attributes:
        prose: paragraphs of plain words.
        sections: for Args, Attributes and Raises, names with their meaning; Returns has an empty name and is one text.
        paper: what the docstring names of the paper.
        examples: lines to be typed, with what they print.
    """

    prose: list[str]
    sections: dict[str, dict[str, str]]
    paper: str
    examples: str


def docstring_of(thing: Any) -> Docstring:
    """The docstring of a class, function or property."""
    prose, sections, paper, examples = [], {}, "", list[str]()
    for paragraph in re.split(r"\n\s*\n", inspect.getdoc(thing) or ""):
        heading, _, rest = paragraph.partition(":")
        if paragraph.startswith(">>>"):
            examples.append(paragraph)
        elif heading in SECTIONS and rest.startswith("\n"):
            sections[heading] = {"": _joined(rest)} if heading == "Returns" else _items(rest)
        elif heading == "Paper":
            paper = _joined(rest)
        else:
            prose.append(_joined(paragraph))
    return Docstring(prose, sections, paper, "\n".join(examples))


def _items(text: str) -> dict[str, str]:
    """Entries such as ``name: meaning``, whose meaning may go on in lines that stand further in."""
    entries = re.split(r"\n {4}(?=\S)", text)[1:]
    found = {}
    for entry in entries:
        name, colon, meaning = _joined(entry).partition(": ")
        found[name if colon and " " not in name else ""] = meaning if colon and " " not in name else _joined(entry)
    return found


def _joined(text: str) -> str:
    """One line, with single backticks."""
    return " ".join(text.split()).replace("``", "`")


def cell(text: str) -> str:
    """A sentence as it stands in a table: it begins small, unless with a name, and one alone has no full stop."""
    if re.match(r"[A-Z][a-z]+ ", text):
        text = text[0].lower() + text[1:]
    return text.removesuffix(".") if text.count(". ") == 0 else text


def table(*rows: tuple[str, ...]) -> list[str]:
    """A Markdown table whose first row is its head."""
    head, *body = [" | ".join(cell.replace("|", r"\|") for cell in row) for row in rows]
    return [f"| {head} |", "|" + "---|" * len(rows[0]), *(f"| {row} |" for row in body), ""]


def code(name: str) -> str:
    """A name as code."""
    return f"`{name}`"
