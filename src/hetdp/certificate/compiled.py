"""The verifier's loops, compiled; loaded only for large problems. Nothing here is shared with the engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hetdp.certificate import products, scan
from hetdp.jit import compile_cached


def _compiled(function: Callable[..., Any]) -> Any:
    return compile_cached(function, nogil=True)


scan_arcs = _compiled(scan.scan_arcs)
scan_links = _compiled(scan.scan_links)
sift_arcs = _compiled(scan.sift_arcs)
write_arcs = _compiled(products.write_arcs)
