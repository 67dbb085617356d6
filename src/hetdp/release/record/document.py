"""A record as a document: put together, sealed with a digest over itself, written, read again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hetdp.errors import Fault, InputError, UsageError, shown
from hetdp.files.formats.json_form import read_json
from hetdp.release.record.shape import RECORD, misfits

VERSION = 2
KIND = "release"
DIGEST = "record_sha256"
LATER = ("schema_version", "kind", "released", "answers", "ledger", DIGEST)  # all else is known before the draw
LARGEST = 64 << 20  # bytes; a record is small

Document = dict[str, Any]


def completed(facts: Document, answers: Sequence[Document], entry: Any, receipt: Document) -> Document:
    """A whole record: what was known before the draw, then the answers and the place in the ledger.

    It is the same, byte for byte, whenever it is made again from the same facts and the same entry.

    Args:
        facts: all that does not depend on the data.
        answers: what is published.
        entry: the entry of the ledger.
        receipt: by which the entry is found again.
    """
    found = {"released": entry.time, "answers": list(answers), "ledger": receipt} | facts
    found |= {"schema_version": VERSION, "kind": KIND}
    ordered = {key: found[key] for key in RECORD if key != DIGEST}
    return ordered | {DIGEST: digest_of(ordered)}


def digest_of(document: Document) -> str:
    """A digest of everything in a record but its last key; the order of keys does not matter."""
    rest = {key: value for key, value in document.items() if key != DIGEST}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, allow_nan=False).encode()).hexdigest()


def facts_digest(document: Document) -> str:
    """A digest of what was known before the draw, which the ledger's entry keeps."""
    return digest_of({key: value for key, value in document.items() if key not in LATER})


def answers_of(bits: Sequence[bool], areas: Sequence[str | None], words: Sequence[str]) -> list[Document]:
    """Published answers as a record lists them: true is answer 1."""
    named = zip(areas, bits, strict=True)
    return [{"area": area, "answer": 1 if bit else 2, "words": words[0 if bit else 1]} for area, bit in named]


def is_whole(document: Document) -> bool:
    """Whether a record has the digest of its content; whoever changes both is found by the ledger only."""
    return bool(document[DIGEST] == digest_of(document))


def read_record(path: str | Path) -> Document:
    """A record from its file, as a document; whether anybody changed it is for `verify_record` to say.

    Args:
        path: the ``.json`` file.

    Raises:
        UsageError: the file cannot be read.
        InputError: it is no record, a newer one, or has keys and values that we never write.

    >>> import hetdp, pathlib, tempfile
    >>> mechanism = hetdp.design(hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 0.5), [1, 2]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = hetdp.Ledger.create(pathlib.Path(folder, "a.ledger"), source="data", cap=1)
    ...     released = hetdp.release(mechanism, "a", ledger=ledger, record=pathlib.Path(folder, "record.json"))
    ...     hetdp.read_record(pathlib.Path(folder, "record.json")) == released.record
    True
    """
    place, name = Path(path), Path(path).name
    try:
        if place.stat().st_size > LARGEST:
            raise InputError(name, [Fault("too large for a record", name, "", f"it has at most {LARGEST:,} bytes")])
        document = read_json(place, name)
    except OSError as refusal:
        reason = refusal.strerror or "the system refused it"
        raise UsageError(f"the record {str(path)!r} cannot be read: {reason}", "a record is a JSON file") from None
    return require_record(document, name)


def require_record(document: Document, name: str) -> Document:
    """The document itself, if it is a record.

    Raises:
        InputError: it is none, or a newer one.
    """
    kind, version = document.get("kind"), document.get("schema_version")
    if kind != KIND:
        raise InputError(name, [Fault("another kind of document:", name, shown(kind), f"its kind is {KIND!r}")])
    if version != VERSION or type(version) is not int:
        rule = f"this hetdp reads records of schema_version {VERSION}"
        raise InputError(name, [Fault("schema_version", name, shown(version), rule)])
    faults = misfits(document, RECORD, "record")
    if faults:
        raise InputError(name, faults[:1000], len(faults))
    return document
