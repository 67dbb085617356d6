"""Written questions, read back: strictly, so that no word of who wrote them is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hetdp.errors import Fault, instead_of, shown
from hetdp.spaces.documents import DEEPEST, built, opened, parsed_json, parsed_toml, refuse, require_keys
from hetdp.spaces.questions.constructors import all_of, count, majority, ratio_of_shares, share, versus, weighted_sum
from hetdp.spaces.questions.logic import And, Joined, Not, Or, joined
from hetdp.spaces.questions.question import Question

KIND, PLACE = "question", "question"
MADE_BY: dict[str, Callable[..., Question]] = {
    "count": count,
    "share": share,
    "majority": majority,
    "versus": versus,
    "weighted_sum": weighted_sum,
    "all_of": all_of,
    "ratio_of_shares": ratio_of_shares,
}
JOINED_BY: dict[str, type[Joined]] = {"and": And, "or": Or}
KINDS = (*MADE_BY, *JOINED_BY, "not")


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
    return part_of(opened(document, KIND, PLACE), PLACE)


def from_json(text: str) -> Question:
    """A question from a JSON text; decimals are taken as they are written.

    Args:
        text: the document.

    Raises:
        InputError: the text is no JSON, or no question.

    >>> import hetdp
    >>> print(hetdp.questions.from_json('''
    ... {"schema_version": 1, "kind": "question", "question": {"asks": "share", "value": "yes", "at_least": 0.6}}'''))
    at least 60% of all rows say yes; exactly 60% counts as yes; blank rows count as not yes
    """
    return from_document(parsed_json(text, KIND))


def from_toml(text: str) -> Question:
    """A question from a TOML text; decimals are taken as they are written.

    Args:
        text: the document.

    Raises:
        InputError: the text is no TOML, or no question.

    >>> import hetdp
    >>> print(hetdp.questions.from_toml('''
    ... schema_version = 1
    ... kind = "question"
    ... [question]
    ... asks = "and"
    ... parts = [{asks = "count", value = "yes", at_least = 9}, {asks = "all_of", group = "Permanent"}]
    ... '''))
    (at least 9 rows say yes) and (all rows of Permanent say yes; any other value, blank included, makes it no)
    """
    return from_document(parsed_toml(text, KIND))


def part_of(body: Any, where: str, depth: int = 0) -> Question:
    """A question, or a part of one, from its object in a document.

    Raises:
        InputError: it is none.
    """
    if depth > DEEPEST:
        refuse(where, Fault("questions within questions", where, "", f"they stand at most {DEEPEST} deep"))
    asks = body.get("asks") if isinstance(body, Mapping) else None
    if not isinstance(asks, str) or asks not in KINDS:
        rule = f"it has the key asks, which is one of {', '.join(KINDS)}"
        refuse(where, Fault("no question:", where, shown(asks or body), rule, instead_of(asks or "", KINDS)))
    keys = {key: value for key, value in body.items() if key != "asks"}
    if asks in MADE_BY:
        return built(MADE_BY[asks], keys, where, ("asks",))  # type: ignore[no-any-return]
    key = "part" if asks == "not" else "parts"
    require_keys(body, ("asks", key), ("asks", key), where)
    if asks == "not":
        return Not(part_of(keys[key], f"{where}.part", depth + 1))
    parts = keys[key]
    if not isinstance(parts, list) or len(parts) < 2:
        refuse(where, Fault("parts", where, shown(parts), f"{asks} joins a list of two questions or more"))
    return joined(JOINED_BY[asks], *(part_of(one, f"{where}.parts[{at}]", depth + 1) for at, one in enumerate(parts)))
