"""Collects all faults of an input, so that one error names them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import SHOWN_ALIKE, Fault, InputError

MOST_LISTED = 1000


class FaultCollector:
    """The faults of one input. Past a thousand they are counted by kind, and only the first few of a kind are listed.

    Attributes:
        subject: what is at fault, such as the name of a file.
        faults: the faults that are listed.
        total: how many there are.
        more: how many there are of each kind beyond those that are listed.
    """

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.faults: list[Fault] = []
        self.total = 0
        self.more: Counter[tuple[str, str]] = Counter()

    def add(self, fault: Fault) -> None:
        """Adds one fault."""
        self.total += 1
        if len(self.faults) < MOST_LISTED:
            self.faults.append(fault)
        else:
            self._count(fault)

    def add_where(self, mask: NDArray[np.bool_], fault_at: Callable[[int], Fault]) -> None:
        """Adds a fault at every position where the mask is set, all of one kind."""
        self.add_at(np.flatnonzero(mask), fault_at)

    def add_at(self, positions: NDArray[Any], fault_at: Callable[[int], Fault]) -> None:
        """Adds a fault at each of these positions, all of one kind."""
        self.add_first(positions, len(positions), fault_at)

    def add_first(self, positions: Sequence[int] | NDArray[Any], total: int, fault_at: Callable[[int], Fault]) -> None:
        """Adds faults of one kind, of which only the first positions are known; there are `total` of them."""
        room = max(SHOWN_ALIKE, MOST_LISTED - len(self.faults))
        listed = [fault_at(int(position)) for position in positions[:room]]
        self.faults.extend(listed)
        self.total += total
        if total > len(listed):
            self.more[listed[-1].kind] += total - len(listed)

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Takes over the faults of an InputError that the block raises, and goes on."""
        try:
            yield
        except InputError as refusal:
            for fault in refusal.faults:
                self.add(fault)
            self.total += refusal.total - len(refusal.faults)
            self.more.update(refusal.more)

    def raise_if_any(self) -> None:
        """Raises an InputError with all faults, if there are any."""
        if self.total:
            raise InputError(self.subject, self.faults, self.total, self.more)

    def _count(self, fault: Fault) -> None:
        """Counts a fault; the first few of a kind are listed all the same."""
        if self.more[fault.kind] or len(self.faults) >= 2 * MOST_LISTED or self._is_shown(fault.kind):
            self.more[fault.kind] += 1
        else:
            self.faults.append(fault)

    def _is_shown(self, kind: tuple[str, str]) -> bool:
        return sum(fault.kind == kind for fault in self.faults) >= SHOWN_ALIKE
