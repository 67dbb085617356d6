"""All benchmarks, in the order of the page. To add one, list its module here; the module defines `BENCHMARKS`."""

from __future__ import annotations

from importlib import import_module

from benchmarks.claims import Benchmark

MODULES = (
    "speed",
    "paths",
    "memory",
    "programs",
    "average",
    "products",
    "gpu",
    "releases",
    "ask",
    "ledger",
    "start",
    "files",
    "distributed",
    "studio",
)


def benchmarks() -> dict[str, Benchmark]:
    """All benchmarks, by name."""
    every = [one for name in MODULES for one in import_module(f"benchmarks.{name}").BENCHMARKS]
    return {one.name: one for one in every}
