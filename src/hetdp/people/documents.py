"""Documents that people write, in JSON or TOML: nothing in them is ignored, nothing that is missing is assumed."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

from hetdp.errors import Fault, InputError, UsageError
from hetdp.text import format_value, suggest_name

VERSION = 1
TYPED = {"None": "null", "True": "true", "False": "false"}
DEEPEST = 50  # how far questions may stand within questions


def opened(document: Any, kind: str, content: str) -> Any:
    """What a document of ours holds, after its version and kind were looked at.

    Args:
        document: the document as Python objects.
        kind: what it must be.
        content: the key that holds it.

    Raises:
        InputError: it is another document, a newer one, or has other keys.
    """
    keys = ("schema_version", "kind", content)
    require_keys(document, keys, keys, kind)
    given = document["schema_version"]
    rule = f"this hetdp reads schema_version {VERSION}"
    if type(given) is not int or given < 1:
        refuse(kind, Fault("schema_version", kind, format_value(given), rule))
    if given > VERSION:
        refuse(kind, Fault("a newer schema_version:", kind, str(given), rule, "a newer hetdp reads it"))
    if document["kind"] != kind:
        refuse(kind, Fault("kind", kind, format_value(document["kind"]), f"a {kind} document says {kind!r} here"))
    return document[content]


def require_keys(found: Any, needed: Sequence[str], known: Sequence[str], where: str) -> None:
    """Refuses what is no object, lacks a key, or has one that would be ignored; all of it in one message.

    Raises:
        InputError: with a fault for each key.
    """
    rule = f"the keys are {', '.join(known)}"
    if not isinstance(found, Mapping):
        refuse(where, Fault("no object:", where, format_value(found), rule))
    unknown = [key for key in found if key not in known]
    faults = [Fault("unknown key", where, format_value(key), rule, suggest_name(key, known)) for key in unknown]
    missing = [key for key in needed if key not in found]
    faults += [Fault("missing key", where, key, f"{', '.join(needed)} must be there") for key in missing]
    if faults:
        raise InputError(where, faults)


def built(make: Callable[..., Any], keys: Mapping[str, Any], where: str, also_known: Sequence[str] = ()) -> Any:
    """Calls what makes an object with the keys of a document, which are its arguments.

    Raises:
        InputError: a key is unknown or missing, or its value is refused.
    """
    parameters = inspect.signature(make).parameters.values()
    needed = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
    known = [*also_known, *(parameter.name for parameter in parameters)]
    require_keys({**keys, **dict.fromkeys(also_known)}, [*also_known, *needed], known, where)
    try:
        return make(**keys)
    except UsageError as refusal:
        refuse(where, Fault(_as_typed(refusal.what), where, "", refusal.rule, refusal.hint))


def _as_typed(what: str) -> str:
    """What is wrong with a value as it stands in a document, instead of how Python writes it.

    >>> _as_typed("at_least is Decimal('1E+400')"), _as_typed("at_least is None")
    ('at_least is 1E+400', 'at_least is null')
    """
    found = re.sub(r"Decimal\('([^']*)'\)", r"\1", what)
    return re.sub(r"(?<= is )(None|True|False)$", lambda word: TYPED[word[0]], found)


def refuse(where: str, fault: Fault) -> NoReturn:
    """Raises one fault.

    Raises:
        InputError: always.
    """
    raise InputError(where, [fault])


def parsed_json(text: str, kind: str) -> Any:
    """A JSON text, with decimals as they are written; the same key twice is refused.

    Raises:
        InputError: it is no JSON.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(key for at, (key, _) in enumerate(pairs) if key in dict(pairs[:at]))
            refuse(kind, Fault("the key", kind, f"{format_value(twice)} twice", "a key stands once in an object"))
        return found

    try:
        return json.loads(text, parse_float=Decimal, object_pairs_hook=once)
    except (ValueError, RecursionError) as refusal:
        if isinstance(refusal, InputError):
            raise
        refuse(kind, Fault("no JSON:", kind, str(refusal), "the text must be one JSON document"))


def parsed_toml(text: str, kind: str) -> Any:
    """A TOML text, with decimals as they are written.

    Raises:
        InputError: it is no TOML.
    """
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as refusal:
        refuse(kind, Fault("no TOML:", kind, str(refusal), "the text must be one TOML document"))


def read_as(path: Any, readers: Mapping[str, Callable[[str], Any]]) -> Any:
    """What a file holds.

    Args:
        path: its name.
        readers: what reads the text, by the end of the name.

    Raises:
        UsageError: the file cannot be read, or its name says no format.
        InputError: the text is not what it must be.
    """
    place, known = Path(path), " or ".join(readers)
    if place.suffix.lower() not in readers:
        raise UsageError(f"no format is known for {str(path)!r}", f"the name of the file ends in {known}")
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as refusal:
        reason = getattr(refusal, "strerror", None) or "it is no UTF-8 text"
        raise UsageError(f"{str(path)!r} cannot be read: {reason}", f"it is a {known} file") from None
    try:
        return readers[place.suffix.lower()](text)
    except InputError as refusal:
        faults = [replace(fault, where=f"{place.name}, {fault.where}") for fault in refusal.faults]
        raise InputError(f"{place.name}, {refusal.subject}", faults, refusal.total) from None
