"""Words, counts and escaping for messages, and HTML tables for notebooks.

Every text that a person reads is put together with these functions: values are quoted as Python writes them, counts
agree with their nouns, a misspelt name gets "did you mean", and no character of an input can break a line or the
terminal. The module imports nothing of hetdp, so that every other module may import it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PUBLIC_NAMES = {"LocalMechanism": "Mechanism", "PartitionedMechanism": "Mechanism"}  # as users know these types
LONGEST_VALUE = 80  # characters of a value in a message or a cell
SEARCHED_NAMES = 100_000  # known names among which a misspelt one is searched for; so many take a fraction of a second
COMPARED_NAMES = 500  # candidates compared letter by letter: those with the longest common beginning and end
COMPARED_LENGTH = 100  # characters compared of each name
SIMILARITY = 0.5  # least similarity of a suggestion, from 0 to 1
MARGIN = 0.1  # how much less similar than the best match further suggestions may be


def format_value(value: object) -> str:
    """Formats a value for a message: as Python writes it, without NumPy's wrapping, and at most 80 characters long."""
    try:
        text = repr(value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value)
    except ValueError:  # an integer of more digits than Python writes
        text = f"<{type(value).__name__} too long to write>"
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def format_type(value: object) -> str:
    """The type of a value with its article, for messages about arguments of a wrong type.

    >>> f"expected a Problem, got {format_type([])}", format_type(1), format_type(None)
    ('expected a Problem, got a list', 'an int', 'None')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    name = PUBLIC_NAMES.get(name, name)
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def first_line(error: BaseException) -> str:
    """The first line of what an error of another library says; the name of its type if it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def escape_unprintable(text: str) -> str:
    r"""Escapes characters that would break a line or the terminal, as Python does; any space becomes a plain one.

    >>> print(escape_unprintable("«\xa0a\x1b[2Jb\xa0»"))
    « a\x1b[2Jb »
    """
    if text.isprintable():
        return text
    from unicodedata import category

    def escape(one: str) -> str:
        if one.isprintable():
            return one
        return " " if category(one) == "Zs" else one.encode("unicode_escape").decode()

    return "".join(map(escape, text))


def escape_json(text: str) -> str:
    r"""Escapes unprintable characters of a JSON text, so that it still means the same; line breaks stay.

    >>> print(escape_json('{"«\x9b2J»": "\u202e"}'))
    {"«\u009b2J»": "\u202e"}
    """
    if text.isprintable():
        return text

    def escape(one: str) -> str:
        from json import dumps

        return one if one.isprintable() or one == "\n" else dumps(one)[1:-1]

    return "".join(map(escape, text))


def pluralize(number: int, noun: str) -> str:
    """A count with its noun, in the plural where it belongs.

    >>> pluralize(1, "edge"), pluralize(2000, "edge")
    ('1 edge', '2,000 edges')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def count_people(number: int) -> str:
    """A number of people.

    >>> count_people(1), count_people(2000)
    ('1 person', '2,000 people')
    """
    return "1 person" if number == 1 else f"{number:,} people"


def round_up(number: float, digits: int) -> float:
    """Rounds up to so many decimal digits, so that a bound is never printed too small.

    >>> f"{round_up(1.21e-16, 2):.1e}", f"{round_up(2.0000000001, 9):.9g}", round_up(0.0, 2)
    ('1.3e-16', '2.00000001', 0.0)
    """
    from decimal import ROUND_CEILING, Context

    return float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(repr(float(number))))


def closest(name: object, known: Iterable[Any], most: int = 1) -> list[Any]:
    """The known names that look most like a given one, the closest first.

    Names are compared as texts, without regard to case. A number is never taken for another number. Of very many known
    names, the first 100,000 are searched.

    >>> closest("epsilom", ["source", "target", "epsilon"]), closest("1", [0, 1, 2]), closest(5, [0, 1, 50])
    (['epsilon'], [1], [])
    """
    from difflib import SequenceMatcher, get_close_matches
    from heapq import nlargest
    from itertools import islice

    wanted, is_text = _comparable(name), isinstance(name, (str, tuple))
    texts: dict[str, Any] = {}
    for one in islice(known, SEARCHED_NAMES):
        if is_text or isinstance(one, (str, tuple)):
            texts.setdefault(_comparable(one), one)
    likely: Iterable[str] = texts
    if len(texts) > COMPARED_NAMES:
        likely = nlargest(COMPARED_NAMES, texts, key=lambda text: _share_of_ends(wanted, text))
    found = get_close_matches(wanted, likely, most, SIMILARITY)
    scores = [SequenceMatcher(None, text, wanted).ratio() for text in found]
    return [texts[text] for text, score in zip(found, scores, strict=True) if score > scores[0] - MARGIN]


def did_you_mean(name: object, known: Iterable[Any], most: int = 1) -> str:
    """A hint for a misspelt name; empty if no known name looks like it.

    >>> did_you_mean("epsilom", ["source", "target", "epsilon"]), did_you_mean("1", [0, 1, 2]), did_you_mean("x", [])
    ("did you mean 'epsilon'?", 'did you mean 1?', '')
    >>> did_you_mean("at_most", ["at_least", "more_than"])
    "ask for 'more_than' instead: its no is your yes"
    """
    return ask_for_opposite(name, known) or ask_if_meant(map(format_value, closest(name, known, most)))


OPPOSITES = {  # limits from above, which no question has, and the limit from below that asks the opposite
    **dict.fromkeys(("at_most", "no_more_than", "not_more_than", "up_to"), "more_than"),
    **dict.fromkeys(("less_than", "fewer_than", "below", "under"), "at_least"),
}


def ask_for_opposite(name: object, known: Iterable[Any]) -> str:
    """The hint for a limit from above: to ask for the opposite, since a similar name would invert the question.

    >>> ask_for_opposite("--fewer-than", ["--at-least", "--more-than"]), ask_for_opposite("at_leest", ["at_least"])
    ('ask for --at-least instead: its no is your yes', '')
    >>> ask_for_opposite("at_most", ["at_least"])
    "ask for 'at_least' with the next larger number instead: its no is your yes"
    """
    plain = name.lstrip("-").replace("-", "_") if isinstance(name, str) else ""
    base, by = plain.removesuffix("_by"), "_by" if plain.endswith("_by") else ""
    if base not in OPPOSITES:
        return ""
    options = {str(one).lstrip("-").replace("-", "_"): one for one in known}
    wanted, least = options.get(OPPOSITES[base] + by), options.get("at_least")
    if wanted is None and least is None:
        return ""
    larger = "" if wanted is not None else " with the next larger number"
    one = str(least if wanted is None else wanted)
    return f"ask for {one if one[:1] == '-' else format_value(one)}{larger} instead: its no is your yes"


def ask_if_meant(names: Iterable[str]) -> str:
    """The question whether one of these names was meant; empty if there are none.

    >>> ask_if_meant(["extend"]), ask_if_meant(["0,1", "0,0"]), ask_if_meant([])
    ('did you mean extend?', 'did you mean 0,1 or 0,0?', '')
    """
    listed = " or ".join(names)
    return f"did you mean {listed}?" if listed else ""


def _comparable(name: object) -> str:
    text = name if isinstance(name, str) else ",".join(map(str, name)) if isinstance(name, tuple) else str(name)
    return text[:COMPARED_LENGTH].casefold()


def _share_of_ends(one: str, other: str) -> float:
    """The share of two texts that their common beginning and end make up, from 0 to 1."""
    shorter = min(len(one), len(other))
    start = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    end = next((at for at in range(shorter - start) if one[-1 - at] != other[-1 - at]), shorter - start)
    return (start + end) / max(len(one), len(other), 1)


# HTML tables for notebooks: every word escaped, no scripts, and a few rows at most ------------------------------------


MOST_ROWS = 10
LONGEST_NOTE = 1000  # characters of a sentence below a table
TABLE = "border-collapse: collapse; margin: 0.3em 0; color: inherit"
CAPTION = "caption-side: top; text-align: left; font-weight: bold; padding: 0.2em 0; white-space: nowrap"
NOTE = "margin: 0.3em 0; max-width: 60em"
CELL = "text-align: left; padding: 0.1em 0.8em 0.1em 0; white-space: nowrap"


def html_table(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    total: int | None = None,
    most: int = MOST_ROWS,
    note: str = "",
) -> str:
    """A table for a notebook.

    Args:
        title: the text above the table.
        header: the names of the columns; empty if the first cell of a row is its name.
        rows: the rows, of which the first few are shown.
        total: the number of rows; needed if `rows` has no length.
        most: the most rows that are shown.
        note: sentences below the table, a paragraph for each line; empty for none.

    >>> html_table("A <b>", [], [("size", 3)]).count("&lt;b&gt;")
    1
    """
    from collections.abc import Sized
    from itertools import islice

    listed = list(islice(rows, most))
    count = total if total is not None else len(rows) if isinstance(rows, Sized) else len(listed)
    lines = [f'<table style="{TABLE}"><caption style="{CAPTION}">{html_cell(title, 2 * LONGEST_VALUE)}</caption>']
    if header:
        lines.append(f"<tr>{''.join(_tag('th', name) for name in header)}</tr>")
    for first, *others in listed:
        lines.append(f"<tr>{_tag('td' if header else 'th', first)}{''.join(_tag('td', x) for x in others)}</tr>")
    if count > len(listed):
        lines.append(f'<tr><td colspan="9" style="{CELL}">and {count - len(listed):,} more</td></tr>')
    below = [f'<p style="{NOTE}">{html_cell(line, LONGEST_NOTE)}</p>' for line in note.splitlines()]
    return "\n".join([*lines, "</table>", *below])


def html_cell(value: Any, longest: int = LONGEST_VALUE) -> str:
    r"""A value as the text of an HTML cell: escaped, on one line, and not too long.

    >>> tuple(map(html_cell, ("<script>", "a\nb", 0.1234567, True, ("yes", 1), 1000)))
    ('&lt;script&gt;', 'a\\nb', '0.123457', 'yes', 'yes, 1', '1,000')
    """
    from html import escape

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
