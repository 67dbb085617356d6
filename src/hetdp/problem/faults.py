"""Collects all faults of one input before any is raised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, InputError

KEPT = 1000


class FaultCollector:
    """The faults of one input; past a thousand they are only counted."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.faults: list[Fault] = []
        self.total = 0

    def add(self, fault: Fault) -> None:
        """One more fault."""
        self.total += 1
        if len(self.faults) < KEPT:
            self.faults.append(fault)

    def add_where(self, mask: NDArray[np.bool_], fault_at: Callable[[int], Fault]) -> None:
        """A fault at every position where the mask is set."""
        self.add_at(np.flatnonzero(mask), fault_at)

    def add_at(self, positions: NDArray[Any], fault_at: Callable[[int], Fault]) -> None:
        """A fault at each of these positions."""
        room = max(0, KEPT - len(self.faults))
        self.faults.extend(fault_at(int(position)) for position in positions[:room])
        self.total += len(positions)

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Takes over the faults of an InputError raised within, and goes on."""
        try:
            yield
        except InputError as refusal:
            for fault in refusal.faults:
                self.add(fault)
            self.total += refusal.total - len(refusal.faults)

    def raise_if_any(self) -> None:
        """Ends the collection: raises InputError with everything found."""
        if self.total:
            raise InputError(self.subject, self.faults, self.total)
