"""A mark for kernel functions that are called rarely."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Kept = TypeVar("Kept", bound=Callable[..., object])


def apart(function: Kept) -> Kept:
    """Compiled as a function of its own; all others become part of their callers, faster but longer to compile."""
    function.apart = True  # type: ignore[attr-defined]
    return function
