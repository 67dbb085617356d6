"""Everybody's id, as text, in little memory: what a release of a large table keeps until all have paid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray


class Ids(Sequence[str]):
    """Texts, kept as bytes, one after the other.

    >>> ids = Ids()
    >>> ids.add(["7", "ä"])
    >>> ids.add(["8"])
    >>> len(ids), ids[1], list(ids)
    (3, 'ä', ['7', 'ä', '8'])
    """

    def __init__(self) -> None:
        self._parts: list[tuple[bytes, NDArray[np.int64]]] = []
        self._ends = [0]  # how many there are up to the end of each part

    def add(self, texts: Sequence[str]) -> None:
        """Adds some more."""
        encoded = [text.encode() for text in texts]
        ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        self._parts.append((b"".join(encoded), ends))
        self._ends.append(self._ends[-1] + len(encoded))

    def __len__(self) -> int:
        return self._ends[-1]

    def __iter__(self) -> Iterator[str]:
        for texts, ends in self._parts:
            begin = 0
            for end in ends[1:].tolist():
                yield texts[begin:end].decode()
                begin = end

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        if not 0 <= at < len(self):
            raise IndexError(at)
        part = int(np.searchsorted(self._ends, at, side="right")) - 1
        (texts, ends), place = self._parts[part], at - self._ends[part]
        return texts[ends[place] : ends[place + 1]].decode()
