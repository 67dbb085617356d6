"""Questions from documents, JSON and TOML. Reading is strict: an unknown key or value is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hetdp.documents import DEEPEST_NESTING, build_from, open_envelope, parse_json, parse_toml, refuse, require_keys
from hetdp.errors import Fault
from hetdp.people.questions.logic import And, Combination, Not, Or, combine
from hetdp.people.questions.question import QUESTION_KINDS, Question
from hetdp.text import did_you_mean, format_value

KIND, PLACE = "question", "question"
COMBINATIONS: dict[str, type[Combination]] = {"and": And, "or": Or}


def kind_names() -> tuple[str, ...]:
    """The values of the key ``asks``: kinds in alphabetical order, then the combinations."""
    return (*sorted(QUESTION_KINDS), *COMBINATIONS, "not")


def from_document(document: Mapping[str, Any]) -> Question:
    """A question from a document, as `Question.document` gives it; its keys are the arguments of the functions here.

    Args:
        document: the document, as `json` or `tomllib` reads it.

    Raises:
        InputError: a key is unknown or missing, or a value is refused; with a hint.

    >>> import hetdp
    >>> question = ~hetdp.questions.count("yes", at_least=3)
    >>> hetdp.questions.from_document(question.document()) == question
    True
    """
    return read_part(open_envelope(document, KIND, PLACE), PLACE)


def from_json(text: str) -> Question:
    """Reads a question from a JSON text; decimals are taken as they are written.

    Args:
        text: the document.

    Raises:
        InputError: the text is not JSON, or not a question.

    >>> import hetdp
    >>> print(hetdp.questions.from_json('''
    ... {"schema_version": 1, "kind": "question", "question": {"asks": "share", "value": "yes", "at_least": 0.6}}'''))
    at least 60% of all rows count as yes; exactly 60% is enough; blank rows do not count as yes
    """
    return from_document(parse_json(text, KIND))


def from_toml(text: str) -> Question:
    """Reads a question from a TOML text; decimals are taken as they are written.

    Args:
        text: the document.

    Raises:
        InputError: the text is not TOML, or not a question.

    >>> import hetdp
    >>> print(hetdp.questions.from_toml('''
    ... schema_version = 1
    ... kind = "question"
    ... [question]
    ... asks = "and"
    ... parts = [{asks = "count", value = "yes", at_least = 9}, {asks = "all_of", group = "Chair"}]
    ... '''))
    (at least 9 rows count as yes) and (all rows of Chair count as yes; any other value, blank included, makes it no)
    """
    return from_document(parse_toml(text, KIND))


def read_part(body: Any, where: str, depth: int = 0) -> Question:
    """A question, or a part of one, from its object in a document.

    Raises:
        InputError: it is none.
    """
    if depth > DEEPEST_NESTING:
        refuse(where, Fault("questions nested too deeply", where, "", f"at most {DEEPEST_NESTING} levels are allowed"))
    asks = body.get("asks") if isinstance(body, Mapping) else None
    kinds = kind_names()
    if not isinstance(asks, str) or asks not in kinds:
        rule = f"it has the key asks, which is one of {', '.join(kinds)}"
        refuse(
            where, Fault("not a question:", where, format_value(asks or body), rule, did_you_mean(asks or "", kinds))
        )
    keys = {key: value for key, value in body.items() if key != "asks"}
    if asks in QUESTION_KINDS:
        return build_from(QUESTION_KINDS[asks], keys, where, ("asks",))  # type: ignore[no-any-return]
    key = "part" if asks == "not" else "parts"
    require_keys(body, ("asks", key), ("asks", key), where)
    if asks == "not":
        return Not(read_part(keys[key], f"{where}.part", depth + 1))
    parts = keys[key]
    if not isinstance(parts, list) or len(parts) < 2:
        refuse(where, Fault("parts", where, format_value(parts), f"{asks} joins a list of two questions or more"))
    return combine(
        COMBINATIONS[asks], *(read_part(one, f"{where}.parts[{at}]", depth + 1) for at, one in enumerate(parts))
    )
