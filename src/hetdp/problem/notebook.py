"""HTML tables for notebooks: every word escaped, no scripts, and a few rows at most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from html import escape
from itertools import islice
from typing import Any

from hetdp.text import escape_unprintable

MOST_ROWS = 10
LONGEST = 80  # characters of a cell
TABLE = "border-collapse: collapse; margin: 0.3em 0"
CAPTION = "caption-side: top; text-align: left; font-weight: bold; padding: 0.2em 0"
CELL = "text-align: left; padding: 0.1em 0.8em 0.1em 0"


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], total: int | None = None) -> str:
    """A table for a notebook.

    Args:
        title: the text above the table.
        header: the names of the columns; empty if the first cell of a row is its name.
        rows: the rows, of which the first few are shown.
        total: the number of rows; needed if `rows` has no length.

    >>> html_table("A <b>", [], [("size", 3)]).count("&lt;b&gt;")
    1
    """
    listed = list(islice(rows, MOST_ROWS))
    count = total if total is not None else len(rows) if isinstance(rows, Sized) else len(listed)
    lines = [f'<table style="{TABLE}"><caption style="{CAPTION}">{html_cell(title, 2 * LONGEST)}</caption>']
    if header:
        lines.append(f"<tr>{''.join(_tag('th', name) for name in header)}</tr>")
    for first, *others in listed:
        lines.append(f"<tr>{_tag('td' if header else 'th', first)}{''.join(_tag('td', x) for x in others)}</tr>")
    if count > len(listed):
        lines.append(f'<tr><td colspan="9" style="{CELL}">and {count - len(listed):,} more</td></tr>')
    return "\n".join([*lines, "</table>"])


def html_cell(value: Any, longest: int = LONGEST) -> str:
    r"""A value as the text of an HTML cell: escaped, on one line, and not too long.

    >>> tuple(map(html_cell, ("<script>", "a\nb", 0.1234567, True, ("yes", 1), 1000)))
    ('&lt;script&gt;', 'a\\nb', '0.123457', 'yes', 'yes, 1', '1,000')
    """
    if isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, float):
        text = f"{value:.6g}"
    elif isinstance(value, int):
        text = f"{value:,}"
    else:
        text = escape_unprintable(", ".join(map(str, value)) if isinstance(value, tuple) else str(value))
    return escape(text if len(text) <= longest else f"{text[: longest - 1]}…")


def _tag(tag: str, value: Any) -> str:
    return f'<{tag} style="{CELL}">{html_cell(value)}</{tag}>'
