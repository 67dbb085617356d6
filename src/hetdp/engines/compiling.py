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
CALLEE_OPTIONS: Any = OPTIONS | {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}  # only compiled functions call these

_shared: dict[tuple[Any, ...], Function] = {}  # a function and what it calls → its compiled copy


def compile_kernel(function: Function, name: str, replaced: Replacements) -> Function:
    """A function and all its callees, compiled, with some callees replaced; cached on disk if possible."""
    scope = compile_globals(function, replaced)
    return jit.compile_cached(copy_function(function, unique_name(function, replaced, name), scope), **OPTIONS)


def compile_globals(function: Function, replaced: Replacements) -> dict[str, Any]:
    """The globals that a function uses, with functions compiled; callers share them, since compiling takes long."""
    found = globals_of(function, replaced)
    for name, value in found.items():
        if isinstance(value, FunctionType):
            scope = compile_globals(value, replaced)
            key = value, *filter(callable, scope.values())
            if key not in _shared:
                plain = copy_function(value, unique_name(value, replaced), scope)
                _shared[key] = jit.compile_uncached(plain, forceinline=not is_noinline(value), **CALLEE_OPTIONS)
            found[name] = _shared[key]
    return found


def unique_name(function: Function, replaced: Replacements, name: str = "") -> str:
    """A name that no other compiled code has, not even in another process.

    The cache on disk holds callees, too, each as a symbol made of its name and a number that is unique in one process
    only. Where a process loads two kernels whose callees have the same symbol, both run the first one.
    """
    return f"{name or function.__name__}_{digest(function, replaced)}"


def copy_function(function: Function, name: str, scope: dict[str, Any]) -> Function:
    """A copy of a function under a new name, with some globals replaced."""
    code = function.__code__.replace(co_name=name)
    copy = FunctionType(code, function.__globals__ | scope, name, function.__defaults__)
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
    yield f"{code.co_argcount} {code.co_code.hex()} {code.co_names}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_parts(constant)
        else:
            yield repr(constant)
