"""Tests of many cheap cases: one test for pytest, whose failure names every case that failed.

A parameter costs a few milliseconds, since each worker collects it, sets it up and reports it, whatever it tests.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def for_each(name: str, values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Calls a test with each of some values, as `parametrize` would, but as one test. Fixtures are shared by all."""
    cases = list(values)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*arguments: Any, **fixtures: Any) -> None:
            faults: list[Exception] = []
            for value in cases:
                try:
                    test(*arguments, **fixtures, **{name: value})
                except Exception as fault:
                    fault.add_note(f"with {name}={value!r}")
                    faults.append(fault)
            if faults:
                raise ExceptionGroup(f"{len(faults)} of {len(cases)} cases failed", faults)

        signature = inspect.signature(test)
        others = [one for one in signature.parameters.values() if one.name != name]
        run.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return decorate
