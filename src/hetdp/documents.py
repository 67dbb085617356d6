"""JSON and TOML documents: parsing without guessing, and the one validator of versions, kinds, keys and values.

Everything hetdp reads as a document (problems, mechanisms, questions, privacy rules, plans, records) passes through
here. Nothing in a document is ignored, and nothing that is missing is assumed. A reader takes these steps:

1. `parse_json` or `parse_toml` turns text into Python values. Repeated keys, ``NaN`` and broken characters are refused.
   Decimals become `Decimal`, exactly as written; files of numbers pass ``number=parse_number`` to get floats.
   `parse_object` also requires a JSON object at the top.
2. `require_kind` and `require_version` refuse another kind of document, and a newer one, before anything else.
3. `require_keys` refuses missing and unknown keys, with a suggestion for a misspelt one. `require_shape` does so for a
   whole nested document and checks the type of every value: a shape is a dict of shapes, a list with one shape, or a
   tuple of types such as `TEXT` or `MAYBE_TEXT`.

Each ``require_...`` raises one InputError that lists every fault; the functions that end in ``_faults`` return the
faults, for callers that collect more of them. `build_from` calls a constructor whose arguments are the keys of a
document, and `read_document` reads a file by its suffix.
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from hetdp.errors import Fault, InputError, UsageError
from hetdp.text import did_you_mean, format_type, format_value

SCHEMA_VERSION = 1
DEEPEST_NESTING = 50  # levels of nested questions
MOST_FAULTS = 1000  # listed in one error; the others are counted
MOST_HINTS = 40  # suggestions for misspelt keys, which take time

NOTHING = type(None)
TEXT, MAYBE_TEXT, COUNT, MAYBE_COUNT = (str,), (str, NOTHING), (int,), (int, NOTHING)
ANY: tuple[type, ...] = (dict, list, str, int, float, bool, NOTHING)
OBJECT, MAYBE_OBJECT = (dict,), (dict, NOTHING)
Shape = dict[str, Any] | list[Any] | tuple[type, ...]


class OptionalKey(NamedTuple):
    """The shape of a key that an object may leave out."""

    shape: Any


READERS = {  # what reads each kind of document, as a hint
    "mechanism": "hetdp.read_mechanism reads it",
    "pins": "hetdp.read_pins reads it",
    "plan": "hetdp.ask takes it as plan=",
    "plan bundle": "hetdp.ask takes it as plan=",
    "privacy": "hetdp.privacy.from_document reads it",
    "problem": "hetdp.read_problem reads it",
    "question": "hetdp.questions.from_document reads it",
    "questions": "hetdp.ask takes it as questions=",
    "release": "hetdp.read_record reads it",
    "release bundle": "hetdp.read_record reads it",
}
TYPE_NAMES = {str: "text", int: "a whole number", NOTHING: "null", dict: "an object", bool: "true or false"}
JSON_WORDS = {"None": "null", "True": "true", "False": "false"}
JSON_RULE = "it must be a JSON document in UTF-8"


# Parsing --------------------------------------------------------------------------------------------------------------


class _StrictJsonError(ValueError):
    """Something that JSON readers usually accept."""


def parse_json(text: str, subject: str, number: Callable[[str], Any] = Decimal, rule: str = JSON_RULE) -> Any:
    """The value of a JSON text.

    Args:
        text: the text.
        subject: what messages call the document.
        number: what makes a number of a numeral with a decimal point or an exponent.
        rule: what the text must be, for messages.

    Raises:
        InputError: it is not JSON, repeats a key, or has ``NaN`` or a lone surrogate in it.
    """
    _require_text(text, subject)
    try:
        document = json.loads(text, parse_float=number, object_pairs_hook=_distinct, parse_constant=_refuse_constant)
    except RecursionError:
        raise InputError(subject, [Fault("not JSON:", subject, "too deeply nested", rule)]) from None
    except ValueError as fault:
        reason = "a number with thousands of digits" if "int_max_str_digits" in str(fault) else str(fault)
        raise InputError(subject, [Fault("not JSON:", subject, reason, rule)]) from None
    if "\\ud" in text.lower() and not _is_unicode(document):
        raise InputError(subject, [Fault("not JSON:", subject, "a lone surrogate", rule)])
    return document


def parse_object(text: str, subject: str, number: Callable[[str], Any] = Decimal) -> dict[str, Any]:
    """The JSON object in a text; see `parse_json`.

    Raises:
        InputError: it is not a JSON object.
    """
    rule = "it must be a JSON object in UTF-8"
    document = parse_json(text, subject, number, rule)
    if not isinstance(document, dict):
        raise InputError(subject, [Fault("not a JSON object, but", subject, format_value(document), rule)])
    return document


def parse_toml(text: str, subject: str) -> Any:
    """The value of a TOML text, with decimals exactly as written.

    Raises:
        InputError: it is not TOML.
    """
    _require_text(text, subject)
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as refusal:
        hint = _hint_about_names(text, str(refusal))
        refuse(subject, Fault("not TOML:", subject, str(refusal), "the text must be one TOML document", hint))


def _hint_about_names(text: str, refusal: str) -> str:
    """The hint for a name that TOML takes only in quotation marks; empty if the text is wrong in another way."""
    place = re.search(r"\(at line (\d+), column (\d+)\)", refusal)
    if place is None:
        return ""
    rest = text.split("\n")[int(place[1]) - 1][int(place[2]) - 1 :]
    if rest[:1].isascii() and not ("Expected '='" in refusal and rest[:1].isalpha()):
        return ""
    return "put a name with spaces, or with letters such as ä, ö and ü, in quotation marks"


def _require_text(text: Any, subject: str) -> None:
    if not isinstance(text, str):
        raise UsageError(f"{subject}: expected text, got {format_type(text)}", "the document is given as text")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _StrictJsonError(f"the key {next(name for name in names if names.count(name) > 1)!r} appears twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise _StrictJsonError(f'{name} is not JSON; write infinity as "inf", and omit missing values')


def _is_unicode(document: Any) -> bool:
    """True if every text can be written again; an escape may stand for a lone surrogate."""
    try:
        return bool(json.dumps(document, ensure_ascii=False, default=str).encode())
    except UnicodeEncodeError:
        return False


def require_path(path: Any) -> Path:
    """The path, given as text or as a path object.

    Raises:
        UsageError: it is something else, or empty.
    """
    rule = "a path is text or a pathlib.Path"
    if not isinstance(path, str | PathLike) or not isinstance(text := fspath(path), str):
        raise UsageError(f"expected a path, got {format_type(path)}", rule)
    if not text:
        raise UsageError("an empty path", rule)
    return Path(text)


def read_text(place: Path, name: str, rule: str) -> str:
    """The text of a file in UTF-8.

    Args:
        place: the file.
        name: its name in messages.
        rule: what it must be.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return place.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    except OSError as refusal:
        reason = reason_of(refusal)
    raise UsageError(f"{name} cannot be read: {reason}", rule)


def reason_of(refusal: OSError) -> str:
    """The reason why a file cannot be read, for a message."""
    if isinstance(refusal, FileNotFoundError):
        return "there is no such file"
    return refusal.strerror or "the system refused it"


def read_document(path: Any, readers: Mapping[str, Callable[[str], Any]]) -> Any:
    """Reads the document in a file.

    Args:
        path: its name.
        readers: the function that reads the text, by the suffix of the name.

    Raises:
        UsageError: the file cannot be read, or no reader is known for its suffix.
        InputError: the text is not what it must be.
    """
    place, known = require_path(path), " or ".join(readers)
    if place.suffix.lower() not in readers:
        raise UsageError(f"no format is known for {str(path)!r}", f"the name of the file ends in {known}")
    text = read_text(place, repr(str(path)), f"it must be a {known} file")
    try:
        return readers[place.suffix.lower()](text)
    except InputError as refusal:
        faults = [replace(fault, where=f"{place.name}, {fault.where}") for fault in refusal.faults]
        raise InputError(f"{place.name}, {refusal.subject}", faults, refusal.total) from None


# Validation -----------------------------------------------------------------------------------------------------------


def require_kind(document: Any, kind: str, where: str, default: str | None = None) -> None:
    """Refuses a document whose key ``kind`` says something else; a hint names the function that reads it.

    Args:
        document: the document.
        kind: what it must be.
        where: how messages name it.
        default: what a document without that key is; by default, it must have one.

    Raises:
        InputError: it is another kind of document.
    """
    found = document.get("kind", default) if isinstance(document, Mapping) else None
    if found != kind:
        hint = READERS.get(found, "") if isinstance(found, str) else ""
        wrong = "no key 'kind'" if found is None else "wrong kind of document:"
        shown = "" if found is None else format_value(found)
        refuse(where, Fault(wrong, where, shown, f"expected the kind {kind!r}", hint))


def require_version(document: Mapping[str, Any], where: str, newest: int = SCHEMA_VERSION, oldest: int = 1) -> None:
    """Refuses a document of a version that is missing, malformed, too old or too new.

    Raises:
        InputError: it is.
    """
    given = document.get("schema_version")
    rule = f"this hetdp reads schema_version {newest}"
    if given is None:
        refuse(where, Fault("missing schema_version", where, "", rule))
    if type(given) is not int or given < oldest:
        refuse(where, Fault("schema_version", where, format_value(given), rule))
    if given > newest:
        refuse(where, Fault("a newer schema_version:", where, str(given), rule, "a newer hetdp reads it"))


def key_faults(found: Mapping[Any, Any], needed: Sequence[str], known: Sequence[str], where: str) -> list[Fault]:
    """A fault for each key that would be ignored, and for each that is missing."""
    rule = f"the keys are {', '.join(known)}"
    unknown = [key for key in found if key not in known]
    hints = [did_you_mean(key, known) for key in unknown[:MOST_HINTS]] + [""] * len(unknown[MOST_HINTS:])
    pairs = zip(unknown, hints, strict=True)
    faults = [Fault("unknown key", where, format_value(key), rule, hint) for key, hint in pairs]
    missing = [key for key in needed if key not in found]
    return faults + [
        Fault("missing key", where, key, f"{', '.join(needed)} {'is' if len(needed) == 1 else 'are'} required")
        for key in missing
    ]


def require_keys(found: Any, needed: Sequence[str], known: Sequence[str], where: str) -> None:
    """Refuses anything but an object that has the needed keys, and no unknown ones.

    Raises:
        InputError: with a fault for each key.
    """
    if not isinstance(found, Mapping):
        refuse(where, Fault("not an object:", where, format_value(found), f"the keys are {', '.join(known)}"))
    if faults := key_faults(found, needed, known, where):
        raise InputError(where, faults)


def shape_faults(found: Any, shape: Shape, where: str) -> list[Fault]:
    """Every place at which a value does not have its shape.

    All keys of an object are needed, except those marked as `OptionalKey`, and no other is known.

    >>> shape_faults({"a": 1, "b": True}, {"a": TEXT, "b": COUNT}, "record")[1].where
    'record.b'
    """
    if isinstance(shape, dict):
        if not isinstance(found, dict):
            return [Fault("not an object:", where, format_value(found), f"the keys are {', '.join(shape)}")]
        plain = {key: part.shape if isinstance(part, OptionalKey) else part for key, part in shape.items()}
        needed = [key for key, part in shape.items() if not isinstance(part, OptionalKey)]
        within = [
            fault for key in plain if key in found for fault in shape_faults(found[key], plain[key], f"{where}.{key}")
        ]
        return key_faults(found, needed, list(plain), where) + within
    if isinstance(shape, list):
        if not isinstance(found, list):
            return [Fault("not a list:", where, format_value(found), "it must be a list")]
        return [fault for at, entry in enumerate(found) for fault in shape_faults(entry, shape[0], f"{where}[{at}]")]
    if type(found) in shape:
        return []
    rule = f"it must be {' or '.join(TYPE_NAMES[kind] for kind in shape)}"
    return [Fault("wrong type:", where, format_value(found), rule)]


def require_shape(found: Any, shape: Shape, where: str, subject: str = "") -> None:
    """Refuses a value that does not have a shape; see `shape_faults`.

    Args:
        found: the value.
        shape: the shape.
        where: how messages name the place of the value.
        subject: what the error is about, if not the same.

    Raises:
        InputError: listing every fault.
    """
    if faults := shape_faults(found, shape, where):
        raise InputError(subject or where, faults[:MOST_FAULTS], len(faults))


def open_envelope(document: Any, kind: str, content: str) -> Any:
    """The content of a document that has exactly the keys ``schema_version``, ``kind`` and one more.

    Args:
        document: the document as Python objects.
        kind: what it must be.
        content: the key that holds the content.

    Raises:
        InputError: it is another document, a newer one, or has other keys.
    """
    keys = ("schema_version", "kind", content)
    if isinstance(document, Mapping) and document.get("kind", kind) != kind:
        require_kind(document, kind, kind)
    require_keys(document, keys, keys, kind)
    require_version(document, kind)
    return document[content]


def build_from(make: Callable[..., Any], keys: Mapping[str, Any], where: str, also_known: Sequence[str] = ()) -> Any:
    """Calls a function or class with the keys of a document as its arguments.

    Args:
        make: what to call.
        keys: its arguments.
        where: how messages name the object.
        also_known: keys that the document has for another purpose.

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
        refuse(where, Fault(_value_as_json(refusal.what), where, "", refusal.rule, refusal.hint))


def _value_as_json(what: str) -> str:
    """A message with its value as it stands in a document, instead of how Python writes it.

    >>> _value_as_json("at_least is Decimal('1E+400')"), _value_as_json("at_least is None")
    ('at_least is 1E+400', 'at_least is null')
    """
    found = re.sub(r"Decimal\('([^']*)'\)", r"\1", what)
    return re.sub(r"(?<= is )(None|True|False)$", lambda word: JSON_WORDS[word[0]], found)


def refuse(where: str, fault: Fault) -> NoReturn:
    """Raises one fault.

    Raises:
        InputError: always.
    """
    raise InputError(where, [fault])
