"""How a ledger is told: balances, entries, and receipts from records."""

from __future__ import annotations

import json

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hetdp.release.ledger.entry import Entry
    from hetdp.release.ledger.status import Group, Status


DIGITS = 12  # of a digest, for people
SHOWN = 10  # answers of one entry
LONGEST = 40  # characters of what a file says of itself


def status_lines(one: Status) -> Iterator[str]:
    """How one source stands."""
    yield f"{_quoted(one.source)}: {one.currency}, every account may spend {_cap(one, one)}; {about(one)}"
    for each in one.classes:
        more = "" if each.cap_delta is None else f", δ {each.spent_delta} of {each.cap_delta}"
        yield f"  {_quoted(each.name)}: spent {one.unit} {each.spent} of {each.cap}{more}"
    if one.people:
        named = "" if one.named is None else f", named by {_quoted(one.named)}"
        yield f"  {one.people:,} people{named}: {_spent(one, one)}"
    for group in one.by_cap if len(one.by_cap) > 1 else ():
        names = f", as in {', '.join(map(_quoted, group.classes))}" if group.classes else ""
        yield f"    {group.people:,} of them may spend {_cap(one, group)}{names}: {_spent(one, group)}"


def about(one: Status) -> str:
    """What the losses of a source are about, in words."""
    unit, relation = ("not stated" if words is None else _quoted(words) for words in (one.privacy_unit, one.relation))
    return "unit and relation not stated" if unit == relation else f"unit {unit}, relation {relation}"


def _cap(one: Status, of: Status | Group) -> str:
    return f"{one.unit} {of.cap}" + ("" if of.cap_delta is None else f", δ {of.cap_delta}")


def _spent(one: Status, of: Status | Group) -> str:
    return f"spent at most {one.unit} {of.most_spent} each; {of.exhausted:,} have nothing left"


def _quoted(name: str) -> str:
    """A name, with its ends to be seen."""
    from hetdp.errors import printable

    return f"'{printable(name)}'"


def entry_line(entry: Entry, paid: dict[str, str]) -> str:
    """One entry, for people.

    Args:
        entry: the entry.
        paid: for each charge, what the one pays who pays most.
    """
    from hetdp.errors import counted, printable

    words = [f"{entry.number}", printable(entry.time), entry.kind, _quoted(entry.source) if entry.source else ""]
    words += [f"version {_quoted(entry.version)}"] * bool(entry.version)
    words += [f"question {printable(entry.request).removeprefix('sha256:')[:DIGITS]}"] * bool(entry.request)
    if entry.charge:
        words.append(f"{counted(entry.accounts, 'account')}, at most {paid[entry.charge]} each")
    words += [_answers(entry)] * bool(entry.answers)
    note, neighbours = entry.facts.get("note"), entry.facts.get("neighbours")
    words += [_quoted(note)] if isinstance(note, str) else []
    if entry.kind in ("declare", "state") and isinstance(neighbours, dict):
        words += [f"{printable(str(key))} {_quoted(str(told))}" for key, told in sorted(neighbours.items())[::-1]]
    return "  ".join(filter(None, words))


def _answers(entry: Entry) -> str:
    """What was answered, in the words that the release had for it."""
    from hetdp.errors import printable

    called = entry.facts.get("words")
    if not (isinstance(called, list) and len(called) == 2 and all(isinstance(word, str) for word in called)):
        called = ["1", "2"]
    told = [printable(called[not answer]) for answer in entry.answers[:SHOWN]]
    more = ", …" if len(entry.answers) > SHOWN else ""
    return f"{'answers' if len(told) > 1 else 'answer'} {', '.join(told)}{more}"


def entry_shape(entry: Entry) -> dict[str, Any]:
    """An entry as it is hashed, with its hash."""
    document: dict[str, Any] = json.loads(entry.body)
    return {"hash": entry.hash} | document


def receipt(path: str, ledger: str) -> dict[str, Any]:
    """The receipt in a record, or one by itself.

    Args:
        path: the file.
        ledger: which ledger it must be of.

    Raises:
        UsageError: it is something else, or of another ledger.
    """
    from pathlib import Path

    from hetdp.errors import UsageError, printable, shown
    from hetdp.spaces.documents import parsed_json

    rule = "with a ledger, the entries of its records are looked up"
    try:
        found = parsed_json(Path(path).read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as refusal:
        reason = getattr(refusal, "strerror", None) or "it is no UTF-8 text"
        raise UsageError(f"{path!r} cannot be read: {reason}", rule) from None
    if not isinstance(found, dict):
        raise UsageError(f"{path!r} is no record: it holds no JSON object", rule)
    inner = found.get("ledger")
    told = inner if isinstance(inner, dict) else found
    kinds = {"ledger": str, "entry": int, "hash": str}
    if any(type(told.get(key)) is not kind for key, kind in kinds.items()):
        kind = found.get("kind")
        what = f"a {printable(kind)[:LONGEST]}" if isinstance(kind, str) and kind else "something else"
        hint = "hetdp record verify RECORD --plan compares a record with a plan" if kind == "plan" else ""
        raise UsageError(f"{path!r} is no record: it is {what}", rule, hint)
    if told["ledger"] != ledger:
        raise UsageError(
            f"{path!r} is a record of another ledger", f"{rule}; this is {ledger}, that {shown(told['ledger'])}"
        )
    return told
