"""A digest of who is in a table with which ε, group and area, in no order of rows: a plan is about these people only.

Everybody's id, group and area make 256 bits; with these go the ε that a column says. They are sorted, in parts by
their first byte, so that workers can each take some, and the digest is of the sorted parts. Whoever finds other people
with the same digest has found two inputs of SHA-256 with the same output; sums of digests would be easier to meet. It
is one digest of all people, who are public: nobody can look up one of them in it without knowing all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from hetdp import progress
from hetdp.tables import kinds
from hetdp.tables.policy import epsilon_cells, read_epsilons
from hetdp.tables.request import AskRequest
from hetdp.tables.sources import Source

PARTS = 256  # by the first byte
WORDS = 4  # of 64 bits: an id, group and area
TITLE = b"hetdp people 1\n"

Rows = NDArray[np.uint64]


def people_digest(source: Source, request: AskRequest) -> str:
    """The digest, from one pass over the public columns; every id is there, and once.

    Args:
        source: the table.
        request: which columns are public.
    """
    progress.report_stage("reading who is there")
    return digest_of(part_digests([rows_of(source, request)], range(PARTS)))


def rows_of(source: Source, request: AskRequest) -> Rows:
    """Everybody's 256 bits in four rows, and their ε in more, as far as columns say it; people in increasing order."""
    told = ", ".join(f"strlen({text}), ':', {text}" for text in map(_text, _named(request)))
    roles = [
        (role, where.column)
        for role, where in (("epsilon", request.epsilon), ("deciding", request.deciding))
        if where is not None and where.column is not None
    ]
    wanted = {"who": f"unhex(sha256(concat({told})))"}
    for role, column in roles:
        wanted |= epsilon_cells(source, column, role)
    found = source.read(wanted, uses=request.public)
    rows = np.empty((WORDS + len(roles), len(found["who"])), dtype=np.uint64)
    rows[:WORDS] = np.frombuffer(b"".join(found.pop("who").tolist()), ">u8").reshape(-1, WORDS).T
    for at, (role, _) in enumerate(roles):
        rows[WORDS + at] = (read_epsilons(found, role) + 0.0).view(np.uint64)  # in which no zero has a sign
    return _ordered(rows)


def part_digests(files: Sequence[Rows], parts: Iterable[int]) -> list[bytes]:
    """The digest of each of some parts of all people, who are in order in each file, and may stay on the disk."""
    found = []
    for part in parts:
        first, last = np.uint64(part << 56), np.uint64((part << 56) + (1 << 56) - 1)
        ends = [(np.searchsorted(rows[0], first), np.searchsorted(rows[0], last, side="right")) for rows in files]
        together = np.concatenate([rows[:, low:high] for rows, (low, high) in zip(files, ends, strict=True)], axis=1)
        ordered = together if len(files) == 1 else _ordered(together)
        found.append(sha256(np.ascontiguousarray(ordered, dtype="<u8").tobytes()).digest())
    return found


def digest_of(parts: Iterable[bytes]) -> str:
    """The digest of a table from those of all its parts, in order."""
    return sha256(TITLE + b"".join(parts)).hexdigest()


def _named(request: AskRequest) -> list[str]:
    return [column for column in (request.person, request.group, request.area) if column is not None]


def _text(column: str) -> str:
    return f"coalesce({kinds.text(column)}, '')"


def _ordered(rows: Rows) -> Rows:
    """People in order: by their first word, which is faster, unless some begin alike."""
    order = np.argsort(rows[0])
    begins = rows[0, order]
    if bool((begins[1:] == begins[:-1]).any()):
        order = np.lexsort(rows[WORDS - 1 :: -1])
    return rows[:, order]
