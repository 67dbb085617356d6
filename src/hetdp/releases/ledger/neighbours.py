"""The meaning of a source's losses: the privacy unit and the relation between neighbouring datasets.

Losses add up only if they are about the same change. "One person's answer changes" is worth up to two of "one person
joins or leaves", so a source has one unit and one relation (docs/decisions/0012-one-relation-per-source.md).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from hetdp.errors import UsageError
from hetdp.releases.ledger.chain import normalize_name
from hetdp.releases.ledger.charge import is_name
from hetdp.text import escape_unprintable, format_value

REPLACE_ONE, ADD_REMOVE, PERSON = "replace-one", "add-remove", "person"
NOT_STATED = "not stated"
UNSTATED = (  # the words of a record if the problem states nothing
    "one change between neighbouring datasets",
    "Neighbouring datasets are the pairs that the problem lists as edges.",
)
# Other words for the two usual relations; the longer ones are what hetdp's own problems and plans say.
RELATIONS: dict[str, tuple[str, ...]] = {
    REPLACE_ONE: (
        "replace one",
        "replacement",
        "change one",
        "substitution",
        "bounded",
        "bounded differential privacy",
        "one person's answer changes",
        "one person's data changes",
        "one person has another value",
        "one person has another value; the people and every ε are public",
        "one person has another value; who there is, and every ε, are public",  # of files from before 0.1.0
        "neighbouring tables differ in one person's answer",
        "the promise compares tables that differ in one person's answer; the number of people, and everybody's ε, group"
        " and area, are public",
        "neighbouring tables differ in one person's answer; the number of people, and everybody's ε, group and area,"
        " are public",
    ),
    ADD_REMOVE: (
        "add remove",
        "add or remove one",
        "addition or removal",
        "unbounded",
        "unbounded differential privacy",
        "one person joins or leaves",
        "one person is added or removed",
    ),
}
UNITS: dict[str, tuple[str, ...]] = {
    PERSON: ("people", "individual", "person's value", "person's answer", "person's data", "person's row"),
}
ARTICLES = re.compile(r"^(one|a|an|each|every|single)\s+", re.IGNORECASE)
KEYS = ("unit", "relation")
NEIGHBOURS = "neighbours"  # their key in the facts of an entry


class Neighbours(NamedTuple):
    """A unit and a relation; None for what is not stated.

    Attributes:
        unit: whose data changes between neighbours, such as ``person`` or ``household``.
        relation: how: ``replace-one``, ``add-remove``, or any other text.
    """

    unit: str | None = None
    relation: str | None = None

    def __str__(self) -> str:
        return ", ".join(f"{key} {_words_for(one)}" for key, one in zip(KEYS, self, strict=True))

    def document(self) -> dict[str, str]:
        """The stated unit and relation, for an entry of the ledger."""
        return {key: one for key, one in zip(KEYS, self, strict=True) if one is not None}


NOTHING = Neighbours()


def parse_neighbours(unit: Any = None, relation: Any = None) -> Neighbours:
    """A unit and a relation from their descriptions; the usual ones get their short names.

    Args:
        unit: such as ``person`` or ``one household``; None or empty if it is not stated.
        relation: such as ``replace-one`` or ``one person joins or leaves``; likewise.

    Raises:
        UsageError: one of them is not text on one line.

    >>> parse_neighbours("one person", "One person joins  or leaves.")
    Neighbours(unit='person', relation='add-remove')
    >>> parse_neighbours("one household", "")
    Neighbours(unit='household', relation=None)
    """
    bare = ARTICLES.sub("", unit.strip()) if isinstance(unit, str) and unit != UNSTATED[0] else unit
    return Neighbours(_canonical_name(bare, UNITS, "unit"), _canonical_name(relation, RELATIONS, "relation"))


def read_neighbours(document: Any) -> Neighbours:
    """A unit and a relation from the facts of an entry; ValueError if they are invalid."""
    if document is None:
        return NOTHING
    if not isinstance(document, dict) or not document or not document.keys() <= set(KEYS):
        raise ValueError("no unit and relation")
    found = Neighbours(document.get("unit"), document.get("relation"))
    if not all(isinstance(one, str) for one in document.values()) or parse_neighbours(*found) != found:
        raise ValueError("no unit and relation")
    return found


def combine_neighbours(known: Neighbours, given: Neighbours, is_charged: bool, source: str) -> Neighbours:
    """The unit and relation of a source after a charge: the earlier ones, completed by its first charge.

    Args:
        known: the unit and relation of the source.
        given: those of the charge.
        is_charged: whether something was charged before; then what is not stated stays unstated.
        source: the source, for the message.

    Raises:
        UsageError: the charge is about something else.
    """
    for before, now in zip(known, given, strict=True):
        if not is_same(before, now) and (before is not None or is_charged):
            raise _refusal(known, given, source)
    return Neighbours(*(before or now for before, now in zip(known, given, strict=True)))


def state_neighbours(known: Neighbours, given: Neighbours, source: str) -> Neighbours:
    """The unit and relation of a source after a statement completes them.

    Raises:
        UsageError: it was stated otherwise.
    """
    for before, now in zip(known, given, strict=True):
        if before is not None and now is not None and not is_same(before, now):
            rule = f"the source {format_value(source)} has {known}; that is stated once, and not changed"
            raise UsageError(f"another statement: {given}", rule, "new data has a new name")
    return Neighbours(*(before or now for before, now in zip(known, given, strict=True)))


def is_same(one: str | None, other: str | None) -> bool:
    """True if two units, or two relations, differ at most in capitals, blanks and a full stop."""
    return one is other is None or (one is not None and other is not None and _comparable(one) == _comparable(other))


def _refusal(known: Neighbours, given: Neighbours, source: str) -> UsageError:
    missing = [key for key, one, other in zip(KEYS, given, known, strict=True) if one is None and other is not None]
    unstated = [key for key, one, other in zip(KEYS, given, known, strict=True) if one is not None and other is None]
    rule = f"the source {format_value(source)} has {known}; losses about different changes do not add up in one account"
    hint = "data that is asked about in another way is another source, with its own cap"
    if missing:
        hint = (
            "if it is the same, say so: privacy_unit and neighbour_relation under about in the problem, or unit= and"
            " relation= for a charge"
        )
    elif unstated:
        options = " ".join(f"{key}={_words_for(one)}" for key, one in zip(KEYS, given, strict=True) if key in unstated)
        hint = f"if all that was charged so far was about the same, state it once: hetdp.Ledger.declare with {options}"
    return UsageError(f"a charge about {given}", rule, hint)


def _canonical_name(words: Any, names: dict[str, tuple[str, ...]], what: str) -> str | None:
    if words is None or words in UNSTATED or (isinstance(words, str) and not words.strip()):
        return None
    text = escape_unprintable(words).strip() if isinstance(words, str) else words
    if not is_name(text):
        raise UsageError(
            f"the {what} {format_value(words)}", "it must be text on one line, such as person or replace-one"
        )
    return next(
        (name for name, others in names.items() if _comparable(text) in map(_comparable, (name, *others))), str(text)
    )


def _comparable(text: str) -> str:
    """The text without capitals, blanks, hyphens, apostrophes and a full stop."""
    return re.sub(r"[-_/‐‑–’']", "", normalize_name(text)).rstrip(".")


def _words_for(one: str | None) -> str:
    return NOT_STATED if one is None else format_value(one)
