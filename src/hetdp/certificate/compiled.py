"""The verifier's loops, compiled; loaded only for large problems. Nothing here is shared with the engines."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from hetdp.certificate import products, scan
from hetdp.jit import compile_cached, compile_uncached

WITHOUT_COUNTING: Any = {"nogil": True, "_nrt": False}  # of references to arrays; for loops that cut many slices


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    return compile_cached(function, **({"nogil": True} | options))


def _with_compiled_callees(function: Callable[..., Any], *callees: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a function that calls compiled copies of functions of its own file; later ones may call earlier."""
    scope = dict(function.__globals__)
    for callee in callees:
        copy = FunctionType(callee.__code__, scope | {}, callee.__name__)
        copy.__module__ = callee.__module__
        scope[callee.__name__] = compile_uncached(copy, forceinline=True, **WITHOUT_COUNTING)
    copy = FunctionType(function.__code__, scope, function.__name__)
    copy.__module__ = function.__module__
    return copy


scan_arcs = _compile(_with_compiled_callees(scan.scan_arcs, scan.note_doubt, scan.scan_row))
scan_rows = _compile(_with_compiled_callees(scan.scan_rows, scan.note_doubt, scan.scan_row))
scan_links = _compile(scan.scan_links)
sift_arcs = _compile(scan.sift_arcs)
sift_rows = _compile(
    _with_compiled_callees(
        products.sift_rows,
        *(products.is_settled, products.first_run, products.look_up, products.count_links, products.note_links),
        *(products.count_close, products.count_doubts, products.list_doubts, products.sift_run),
    ),
    **WITHOUT_COUNTING,
)
write_arcs = _compile(products.write_arcs)
