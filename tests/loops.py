"""Tests of many cheap cases: one test for pytest, whose failure names every case that failed.

A parameter costs a few milliseconds, since each worker collects it, sets it up and reports it, whatever it tests.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest


def for_each(names: str | Sequence[str], values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Calls a test with each of some values, as `parametrize` would, but as one test. Fixtures are shared by all."""
    one_name = isinstance(names, str)
    arguments = (names,) if isinstance(names, str) else tuple(names)
    cases = [dict(zip(arguments, (value,) if one_name else value, strict=True)) for value in values]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*own: Any, **fixtures: Any) -> None:  # a method has itself
            faults: list[BaseException] = []
            for case in cases:
                try:
                    test(*own, **fixtures, **case)
                except (Exception, pytest.fail.Exception, BaseExceptionGroup) as fault:
                    fault.add_note("with " + ", ".join(f"{name}={value!r}" for name, value in case.items()))
                    faults.append(fault)
            if faults:
                raise BaseExceptionGroup(f"{len(faults)} of {len(cases)} cases failed", faults)

        signature = inspect.signature(test)
        others = [one for one in signature.parameters.values() if one.name not in arguments]
        run.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return decorate
