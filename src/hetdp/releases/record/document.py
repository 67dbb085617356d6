"""A record as a document: its keys, its digest, and the files that it is read from and written to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hetdp.documents import (
    COUNT,
    MAYBE_COUNT,
    MAYBE_OBJECT,
    MAYBE_TEXT,
    OBJECT,
    TEXT,
    OptionalKey,
    reason_of,
    refuse,
    require_kind,
    require_path,
    require_shape,
    require_version,
)
from hetdp.errors import Fault, HetdpError, InputError, UsageError
from hetdp.files.formats.json_files import read_json
from hetdp.files.formats.writing import require_writable
from hetdp.releases.ledger.chain import TITLE, Entry, normalize_version

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
RECEIPT = {"ledger": TEXT, "entry": COUNT, "hash": TEXT}
RECORD: dict[str, Any] = {
    "schema_version": COUNT,
    "kind": TEXT,
    "software": TEXT,
    "released": TEXT,
    "title": OptionalKey(TEXT),
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
    "accuracy": [{"area": MAYBE_TEXT, "by": TEXT, "where": TEXT, "probability": TEXT}],
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
    "ledger": RECEIPT,
    "record_sha256": TEXT,
}
TOGETHER = "together"  # the key of what holds for several questions; entries of a ledger keep it, too
BUNDLE: dict[str, Any] = {
    "schema_version": COUNT,
    "kind": TEXT,
    "released": TEXT,
    TOGETHER: {
        TITLE: OptionalKey(TEXT),
        "questions": [TEXT],
        "charges": [{"whom": TEXT, "people": COUNT, "used": TEXT, "odds": TEXT}],
        "plan_sha256": TEXT,
    },
    "releases": [RECORD],
    "ledger": RECEIPT,
    "record_sha256": TEXT,
}


SQLITE_SUFFIXES = ("", "-journal", "-wal", "-shm")  # the files of an SQLite database
HEAD_BYTES = 1 << 12  # bytes of a page, in which its mark stands
HINT = "choose another name"
TAKEN_HINT = "move or rename that file, or choose another name"


def require_file_names(record: Any, html: Any) -> None:
    """Refuses file names whose suffix is not that of a record, or of its page.

    Raises:
        UsageError: one does not, or is not a path.
    """
    for name, path, suffix in (("record", record, ".json"), ("html", html, ".html")):
        if path is not None and require_path(path).suffix.lower() != suffix:
            raise UsageError(f"no format is known for {str(path)!r}", f"the name of {name}= ends in {suffix}")


def require_places(record: Any, html: Any, ledger: Path | None, facts: Document) -> list[Document]:
    """Refuses files that cannot be written, or that exist and are not the record or the page of this release.

    Args:
        record: the file of the record, if any.
        html: the page, if any.
        ledger: the file of the ledger, if it is in one.
        facts: the facts of the record, with the id of the ledger.

    Returns:
        the receipt of the record, if the file exists already

    Raises:
        UsageError: a file cannot be written, or another file exists there.
    """
    given = [require_path(path) for path in (record, html) if path is not None]
    for path in given:
        require_writable(path)
    if not given:
        return []
    places = [path.resolve() for path in given]
    taken = () if ledger is None else [Path(f"{ledger.resolve()}{ending}") for ending in SQLITE_SUFFIXES]
    for path, place in zip(given, places, strict=True):
        if place in taken:
            raise UsageError(f"{str(path)!r} is the ledger itself", "a ledger is never overwritten", HINT)
    if len(set(places)) < len(places):
        raise UsageError("the record and its page have the same file name", "each needs its own file", HINT)
    if html is not None and Path(html).exists() and not _is_page(Path(html), facts):
        rule = "a page may replace only an earlier copy of itself"
        raise UsageError(f"{str(html)!r} exists and is not a page of this release", rule, TAKEN_HINT)
    earlier = [] if record is None or not Path(record).exists() else [_earlier_receipt(record, facts)]
    require_file_names(record, html)
    return earlier


def mark_of(record: dict[str, Any]) -> str:
    """The tag that identifies a page of this release: a digest of the ledger, source, version and questions."""
    named: list[Any] = [record["ledger"]["ledger"]]
    for one in record.get("releases", [record]):
        paid = one["composition"]
        named += [paid["source"], normalize_version(paid["version"]), one["mechanism"]["sha256"]]
    return f'<meta name="hetdp-release" content="{hashlib.sha256(json.dumps(named).encode()).hexdigest()}">'


def _earlier_receipt(path: Any, facts: Document) -> Document:
    """The receipt of the record that is already there, if it is one of this release."""
    try:
        found = read_record(path)
    except HetdpError:
        found = None
    if found is None:
        raise UsageError(
            f"{str(path)!r} exists and is not a record",
            "a record may replace only an earlier copy of itself",
            TAKEN_HINT,
        )
    if mark_of(found | {"ledger": facts["ledger"]}) != mark_of(facts):
        raise UsageError(f"{str(path)!r} is the record of another release", "a record is never replaced", TAKEN_HINT)
    receipt: Document = found["ledger"]
    return receipt


def _is_page(path: Path, facts: Document) -> bool:
    try:
        with path.open("rb") as file:
            return mark_of(facts).encode() in file.read(HEAD_BYTES)
    except OSError:
        return False


VERSION, BUNDLE_VERSION = 2, 1
KIND, BUNDLE_KIND = "release", "release bundle"
DIGEST = "record_sha256"
KEYS_AFTER_DRAW = (
    "schema_version",
    "kind",
    "released",
    "answers",
    "ledger",
    DIGEST,
)  # all else is known before the draw
LARGEST_RECORD = 64 << 20  # bytes; a record is small

Document = dict[str, Any]


def complete_record(facts: Document, answers: Sequence[Document], entry: Entry, receipt: Document) -> Document:
    """A whole record: the facts, the answers and the entry in the ledger.

    It is the same, byte for byte, whenever it is made from the same facts and the same entry.

    Args:
        facts: all that does not depend on the data.
        answers: the published answers.
        entry: the entry of the ledger.
        receipt: what identifies the entry.
    """
    found: Document = {"released": entry.time, "answers": list(answers), "ledger": receipt} | facts
    found |= {"schema_version": VERSION, "kind": KIND}
    ordered = {key: found[key] for key in RECORD if key != DIGEST and key in found}
    return ordered | {DIGEST: digest_of(ordered)}


def complete_bundle(head: Document, records: Sequence[Document], entry: Entry) -> Document:
    """The record of several questions that were released together.

    Args:
        head: what holds for all of them.
        records: the record of each.
        entry: the last entry of them in the ledger.
    """
    found: Document = {"schema_version": BUNDLE_VERSION, "kind": BUNDLE_KIND, "released": entry.time, TOGETHER: head}
    found |= {"releases": list(records), "ledger": entry.receipt()}
    return found | {DIGEST: digest_of(found)}


def head_of_entries(entries: Iterable[Entry], head: Document) -> Document:
    """What holds for several questions, as their entries keep it.

    If they were all released before, but not together, it is the present one, without a title, since no entry could
    confirm one.

    Args:
        entries: the entries of the questions.
        head: what holds for them now.
    """
    found = kept_head(entries, head["questions"])
    return {key: value for key, value in head.items() if key != TITLE} if found is None else found


def kept_head(entries: Iterable[Entry], questions: Sequence[str]) -> Document | None:
    """What entries keep about exactly these questions together; None if they keep nothing about them."""
    kept = (entry.facts.get(TOGETHER) for entry in entries)
    same = (one for one in kept if isinstance(one, dict) and one.get("questions") == list(questions))
    return next(same, None)


def digest_of(document: Document) -> str:
    """A digest of everything in a record except the digest itself; the order of keys does not matter."""
    rest = {key: value for key, value in document.items() if key != DIGEST}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, allow_nan=False).encode()).hexdigest()


def facts_digest(document: Document) -> str:
    """A digest of what was known before the draw; the entry in the ledger has it."""
    return digest_of({key: value for key, value in document.items() if key not in KEYS_AFTER_DRAW})


def answers_of(bits: Sequence[bool], areas: Sequence[str | None], words: Sequence[str]) -> list[Document]:
    """Published answers as a record lists them: true is answer 1."""
    named = zip(areas, bits, strict=True)
    return [{"area": area, "answer": 1 if bit else 2, "words": words[0 if bit else 1]} for area, bit in named]


def has_valid_digest(document: Document) -> bool:
    """True if the digest of a record matches its content; only the ledger detects a change of both."""
    return bool(document[DIGEST] == digest_of(document))


def read_record(path: str | Path) -> Document:
    """A record from its file, as a document; `verify_record` says whether it was changed.

    Args:
        path: the ``.json`` file.

    Raises:
        UsageError: the file cannot be read.
        InputError: it is not a record, a newer one, or has unknown keys or values.

    >>> import hetdp, pathlib, tempfile
    >>> mechanism = hetdp.design(hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 0.5), [1, 2]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = hetdp.Ledger.create(pathlib.Path(folder, "a.ledger"), source="data", cap=1)
    ...     released = hetdp.release(mechanism, "a", ledger=ledger, record=pathlib.Path(folder, "record.json"))
    ...     hetdp.read_record(pathlib.Path(folder, "record.json")) == released.record
    True
    """
    place = require_path(path)
    name = place.name
    try:
        if place.stat().st_size > LARGEST_RECORD:
            raise InputError(
                name, [Fault("too large for a record", name, "", f"it has at most {LARGEST_RECORD:,} bytes")]
            )
        document = read_json(place, name)
    except OSError as refusal:
        reason = reason_of(refusal)
        raise UsageError(f"the record {str(path)!r} cannot be read: {reason}", "a record is a JSON file") from None
    return require_record(document, name)


def require_record(document: Document, name: str) -> Document:
    """The document itself, if it is a record of one question, or of several.

    Raises:
        InputError: it is not a record, or a newer one.
    """
    if is_bundle(document):
        require_version(document, name, BUNDLE_VERSION, BUNDLE_VERSION)
        require_shape(document, BUNDLE, "record", name)
        if not document["releases"]:
            refuse(name, Fault("no releases", name, "", "a record of several questions has one for each"))
        for one in document["releases"]:
            require_record(one, name)
        return document
    require_kind(document, KIND, name)
    require_version(document, name, VERSION, VERSION)
    require_shape(document, RECORD, "record", name)
    return document


def is_bundle(document: Any) -> bool:
    """True if a document claims to be a record of several questions."""
    return isinstance(document, dict) and document.get("kind") == BUNDLE_KIND
