"""Which keys a record has, and what kind of value each holds: a document that we would not have written is refused."""

from __future__ import annotations

from typing import Any

from hetdp.errors import Fault, shown

NOTHING = type(None)
TEXT, MAYBE_TEXT, COUNT, MAYBE_COUNT = (str,), (str, NOTHING), (int,), (int, NOTHING)
ANY: tuple[type, ...] = (dict, list, str, int, float, bool, NOTHING)
OBJECT, MAYBE_OBJECT = (dict,), (dict, NOTHING)
KIND_WORDS = {str: "text", int: "a whole number", NOTHING: "null", dict: "an object", bool: "true or false"}

PROMISE = {
    "area": MAYBE_TEXT,
    "whom": TEXT,
    "people": MAYBE_COUNT,
    "changes": MAYBE_COUNT,
    "unprotected": COUNT,
    "least_epsilon": MAYBE_TEXT,
    "epsilon": MAYBE_TEXT,
    "delta": MAYBE_TEXT,
    "mu": MAYBE_TEXT,
    "used": TEXT,
    "odds": MAYBE_TEXT,
}
RECORD: dict[str, Any] = {
    "schema_version": COUNT,
    "kind": TEXT,
    "software": TEXT,
    "released": TEXT,
    "question": TEXT,
    "answers": [{"area": MAYBE_TEXT, "answer": COUNT, "words": TEXT}],
    "privacy": {"notion": TEXT, "flavour": TEXT, "unit": TEXT, "neighbours": TEXT, "promises": [PROMISE]},
    "model": TEXT,
    "domain": {
        "words": TEXT,
        "datasets": MAYBE_COUNT,
        "edges": MAYBE_COUNT,
        "people": MAYBE_COUNT,
        "areas": MAYBE_COUNT,
    },
    "not_protected": [TEXT],
    "composition": {
        "source": TEXT,
        "version": TEXT,
        "currency": TEXT,
        "rule": TEXT,
        "kind": TEXT,
        "accounts": COUNT,
        "charged": [{"account": TEXT, "epsilon": MAYBE_TEXT, "delta": MAYBE_TEXT, "mu": MAYBE_TEXT, "used": TEXT}],
    },
    "constant": [{"area": MAYBE_TEXT, "answer": TEXT}],
    "accuracy": [{"area": MAYBE_TEXT, "where": TEXT, "probability": TEXT}],
    "cautions": [TEXT],
    "security": [TEXT],
    "mechanism": {
        "kind": TEXT,
        "sha256": TEXT,
        "objective": TEXT,
        "coordinate": TEXT,
        "problem": MAYBE_TEXT,
    },
    "certificates": [OBJECT],
    "plan": MAYBE_OBJECT,
    "ledger": {"ledger": TEXT, "entry": COUNT, "hash": TEXT},
    "record_sha256": TEXT,
}


def misfits(found: Any, shape: Any, where: str) -> list[Fault]:
    """What in a document is not of the shape that it must have.

    >>> misfits({"a": 1, "b": True}, {"a": TEXT, "b": COUNT}, "record")[1].where
    'record.b'
    """
    if isinstance(shape, dict):
        return _of_object(found, shape, where)
    if isinstance(shape, list):
        if not isinstance(found, list):
            return [Fault("no list:", where, shown(found), "it is a list")]
        return [fault for at, entry in enumerate(found) for fault in misfits(entry, shape[0], f"{where}[{at}]")]
    if type(found) in shape:
        return []
    rule = f"it is {' or '.join(KIND_WORDS[kind] for kind in shape)}"
    return [Fault("another kind of value:", where, shown(found), rule)]


def _of_object(found: Any, shape: dict[str, Any], where: str) -> list[Fault]:
    rule = f"the keys are {', '.join(shape)}"
    if not isinstance(found, dict):
        return [Fault("no object:", where, shown(found), rule)]
    faults = [Fault("unknown key", where, shown(key), rule) for key in found if key not in shape]
    faults += [Fault("missing key", where, key, rule) for key in shape if key not in found]
    for key, within in shape.items():
        if key in found:
            faults += misfits(found[key], within, f"{where}.{key}")
    return faults
