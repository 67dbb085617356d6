"""Other ledgers that have answered a question: a release with a new one would draw and charge as if nothing was asked.

hetdp looks at the ledgers and records that lie beside the files of a release: the ledger, the plan, the table and the
record. It reads no answers there. A ledger elsewhere is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hetdp.errors import HetdpError, UsageError
from hetdp.releases.ledger.chain import Entry, normalize_version
from hetdp.releases.ledger.ledger import core_of
from hetdp.releases.ledger.ledger_core import LedgerCore
from hetdp.releases.record.document import read_record
from hetdp.releases.request import PEOPLE, PLAN, DrawRequest
from hetdp.text import format_value

LEDGER_SUFFIX, RECORD_SUFFIX = ".ledger", ".json"
MOST_FILES = 1000  # of each kind in a folder
FIRST_BYTES = 200  # of a document, which say whether it is a record
RULE = "the same people have one ledger: another one would draw and charge as if nothing had been asked"
_is_record = re.compile(r'"kind":\s*"release( bundle)?"').search


class EarlierRelease(NamedTuple):
    """A release of the same question.

    Attributes:
        ledger: the id of its ledger.
        version: the version of the data.
        day: when it was released.
        found: the ledger or the record that says so.
    """

    ledger: str
    version: str
    day: str
    found: Path


def require_known_ledger(
    core: LedgerCore | None, requests: Sequence[DrawRequest], version: str, files: Iterable[Any] = ()
) -> None:
    """Refuses questions that another ledger has answered, unless this one has answered them as well.

    Args:
        core: the ledger that is to pay; None if it is yet to be made.
        requests: the questions.
        version: the version of the data.
        files: the files of the release; other values are ignored.

    Raises:
        UsageError: a ledger or a record beside these files has the answer.
    """
    given = [file for file in files if isinstance(file, str | Path)]
    given += [] if core is None or core.database.file is None else [core.database.file]
    for request in requests:
        if request.folders is None:
            continue
        folders = dict.fromkeys([*request.folders, *(Path(file).absolute().parent for file in given)])
        answered = [] if core is None else core.answers_to(request.digest)
        versions = {normalize_version(entry.version) for entry in answered}
        for earlier in _earlier_releases(request, folders, None if core is None else core.database.file):
            is_copy = core is not None and earlier.ledger == core.id  # an older or a newer copy of the same ledger
            is_version = normalize_version(earlier.version) == normalize_version(version)
            if (is_version and normalize_version(version) not in versions) if is_copy else not versions:
                raise _refusal(earlier, is_version)


def _refusal(earlier: EarlierRelease, is_version: bool) -> UsageError:
    """The error that names the ledger to use."""
    name, is_ledger = earlier.found.name, earlier.found.suffix.lower() == LEDGER_SUFFIX
    ledger = f"the ledger {format_value(name)}" if is_ledger else f"the ledger of the record {format_value(name)}"
    when = f"on {earlier.day}, of version {format_value(earlier.version)} of the data"
    gain = "the same answer, and nothing is charged" if is_version else "it knows what these people have spent"
    return UsageError(f"this was released before, {when}, with {ledger}", RULE, f"use {ledger}: {gain}")


def _earlier_releases(request: DrawRequest, folders: Iterable[Path], own: Path | None) -> Iterator[EarlierRelease]:
    """The releases of a question that the ledgers and records of some folders have; ledgers first."""
    known = list(folders)
    for place in _files(known, LEDGER_SUFFIX):
        try:
            if own is not None and place.samefile(own):
                continue
            other = core_of(place)
            entries: list[Entry] = other.answers_to(request.digest)
        except (HetdpError, OSError):  # it is no ledger, or of somebody else
            continue
        for entry in entries:
            if request.is_about(entry.facts.get(PLAN), entry.facts.get(PEOPLE)):
                yield EarlierRelease(other.id, entry.version, entry.time[:10], place)
    for place in _files(known, RECORD_SUFFIX):
        for record in _records(place):
            if record["mechanism"]["sha256"] == request.digest and request.is_about(record["plan"], None):
                paid = record["composition"]
                yield EarlierRelease(record["ledger"]["ledger"], paid["version"], record["released"][:10], place)


def _files(folders: Iterable[Path], suffix: str) -> list[Path]:
    """The plain files with a suffix."""
    found: list[Path] = []
    for folder in folders:
        try:
            named = sorted(one for one in folder.iterdir() if one.suffix.lower() == suffix and one.is_file())
        except OSError:
            continue
        found += named[:MOST_FILES]
    return found


def _records(place: Path) -> list[dict[str, Any]]:
    """The records of the questions in a file; none if it is no record."""
    try:
        with place.open("rb") as file:
            if _is_record(file.read(FIRST_BYTES).decode("utf-8", "replace")) is None:
                return []
        record = read_record(place)
    except (HetdpError, OSError):
        return []
    return list(record.get("releases", [record]))
