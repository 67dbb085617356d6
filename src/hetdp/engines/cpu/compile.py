"""From Python functions to compiled ones: a theory function runs compiled from the very source that states it.

numba compiles one function at a time, and keeps it on disk until the file of that function changes. Here a function is
compiled together with all plain functions it calls, and kept under a name that is a digest of all of them: an edit
anywhere, or another notion, gives another name, so nothing stale is ever run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import numba

from hetdp.engines.cpu import grow as kernels
from hetdp.engines.cpu.prefetch import compiled_prefetch
from hetdp.theory.notion import Notion

Function = Callable[..., Any]


@cache
def compiled_for(notion: Notion) -> Function:
    """The search kernel with a notion's step in it."""
    replaced = {"step": notion.step, "quick": notion.quick}
    if not numba.config.DISABLE_JIT:
        replaced["prefetch"] = compiled_prefetch
    return compiled(kernels.grow, f"grow_{notion.name}", replaced)


@cache
def compiled_sides() -> Function:
    """The split of the starts."""
    return compiled(kernels.sides, "sides", {})


def compiled(function: Function, name: str, replaced: dict[str, Function]) -> Function:
    """A function and all it calls, compiled, with some of the callees replaced; kept on disk where that is possible."""
    name = f"{name}_{digest(function, replaced)}"
    plain = rebuilt(function, replaced, {}, name)
    try:
        return numba.njit(cache=True, nogil=True, _nrt=False, error_model="numpy")(plain)
    except RuntimeError:  # numba finds no folder that it may write to
        return numba.njit(nogil=True, _nrt=False, error_model="numpy")(plain)


def callees(function: Function, replaced: dict[str, Function]) -> dict[str, Any]:
    """The globals a function uses, by name."""
    scope = {**function.__globals__, **replaced}
    return {name: scope[name] for name in function.__code__.co_names if name in scope}


def digest(function: Function, replaced: dict[str, Function]) -> str:
    """A short name for the meaning of a function: code and constants, of all that it calls as well."""
    pending, seen, parts = [function], {function}, []
    while pending:
        code = pending[-1].__code__
        parts += [code.co_code.hex(), repr(code.co_consts), repr(code.co_names)]
        for name, value in sorted(callees(pending.pop(), replaced).items()):
            if not isinstance(value, FunctionType):
                parts.append(f"{name} = {value!r}")
            elif value not in seen:
                seen.add(value)
                pending.append(value)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def rebuilt(function: Function, replaced: dict[str, Function], done: dict[Function, Function], name: str) -> Function:
    """A copy of a function, under a new name, whose callees are compiled copies."""
    scope = dict(function.__globals__)
    for callee_name, callee in callees(function, replaced).items():
        if isinstance(callee, FunctionType):
            if callee not in done:
                inline = not hasattr(callee, "apart")
                done[callee] = numba.njit(nogil=True, _nrt=False, error_model="numpy", forceinline=inline)(
                    rebuilt(callee, replaced, done, callee.__name__)
                )
        scope[callee_name] = done.get(callee, callee)
    code: CodeType = function.__code__.replace(co_name=name)
    copy = FunctionType(code, scope, name, function.__defaults__)
    copy.__qualname__ = name
    copy.__module__ = function.__module__
    return copy
