"""Compiles kernels and theory functions from their Python source, with some callees replaced.

A kernel calls placeholders, such as `step`, which are replaced by the functions of a notion. So the code that runs is
compiled from the same source that states the theory. A function marked `noinline` is compiled separately; all others
are inlined into their callers, which runs faster but takes longer to compile.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from hetdp import jit
from hetdp.theory.notion import is_noinline

Function = Callable[..., Any]
Replacements = dict[Function, Function]

OPTIONS: Any = {"nogil": True, "_nrt": False}  # without reference counting of arrays, which took most of the time


def compiled(function: Function, name: str, replaced: Replacements) -> Function:
    """A function and all its callees, compiled, with some callees replaced; cached on disk if possible."""
    return jit.compile_cached(rebuilt(function, f"{name}_{digest(function, replaced)}", replaced, {}), **OPTIONS)


def rebuilt(function: Function, name: str, replaced: Replacements, done: Replacements) -> Function:
    """A copy of a function under a new name, whose callees are compiled copies; `done` has the copies made so far."""
    scope = dict(function.__globals__)
    for used, value in globals_of(function, replaced).items():
        if isinstance(value, FunctionType) and value not in done:
            plain = rebuilt(value, value.__name__, replaced, done)
            done[value] = jit.compile_uncached(plain, forceinline=not is_noinline(value), **OPTIONS)
        scope[used] = done[value] if isinstance(value, FunctionType) else value
    copy = FunctionType(function.__code__.replace(co_name=name), scope, name, function.__defaults__)
    copy.__qualname__ = name
    copy.__module__ = function.__module__
    return copy


def globals_of(function: Function, replaced: Replacements) -> dict[str, Any]:
    """The globals that a function uses, by name (module attributes that it uses must have other names)."""
    scope = function.__globals__
    used = {name: scope[name] for name in function.__code__.co_names if name in scope}
    return {name: replaced.get(value, value) if callable(value) else value for name, value in used.items()}


def digest(function: Function, replaced: Replacements) -> str:
    """A short digest of a function: its code and constants, and those of all its callees."""
    pending, seen, parts = [function], {function}, list[str]()
    while pending:
        latest = pending.pop()
        parts += code_parts(latest.__code__)
        for name, value in globals_of(latest, replaced).items():
            value = inspect.unwrap(value) if callable(value) else value
            if not isinstance(value, FunctionType):
                parts.append(f"{name} = {value!r}")
            elif value not in seen:
                seen.add(value)
                pending.append(value)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def code_parts(code: CodeType) -> Iterator[str]:
    """The parts of a code object that determine its behaviour, without memory addresses."""
    yield f"{code.co_code.hex()} {code.co_names}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_parts(constant)
        else:
            yield repr(constant)
