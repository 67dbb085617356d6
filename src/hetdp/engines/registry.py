"""The registry of engines: finds an engine by name, or the best one for a space, a notion and an operation.

To add an engine, add its name to `ENGINES` and `EngineName`, and its import to `_load`.
"""

from __future__ import annotations

from typing import Literal

from hetdp import progress
from hetdp.engines.contract import Engine, Operation
from hetdp.errors import UsageError
from hetdp.interrupts import uninterrupted
from hetdp.problem.space import SMALL, Space
from hetdp.text import did_you_mean
from hetdp.theory.notion import Notion

ENGINES = ("cpu", "product", "reference")  # in order of preference
EngineName = Literal["auto", "cpu", "product", "reference", "dask"]  # as in ENGINES and PARTITIONED
PARTITIONED = "dask"  # the engine of partitioned problems, which have their own workers
COMPILED = "searching (first time: compiling, some 10 s)"


def engine_for(name: str, space: Space, notion: Notion, operation: Operation) -> Engine:
    """The engine with a name, or for "auto" the preferred one that supports the operation on this space."""
    if name == "auto":
        names = sorted(ENGINES, key=lambda known: known != "reference") if space.arc_count <= SMALL else list(ENGINES)
    elif name in ENGINES:
        names = [name]
    elif name == PARTITIONED:
        rule, hint = (
            "it searches problems in partitions",
            "hetdp.read_partitioned reads one from a folder of Parquet files",
        )
        raise UsageError(f"engine {name!r} on a {type(space).__name__}", rule, hint)
    else:
        known = ("auto", *ENGINES, PARTITIONED)
        raise UsageError(
            f"unknown engine {name!r}", f"an engine is one of {', '.join(known)}", did_you_mean(name, known)
        )
    for candidate in map(_load, names):
        if candidate.supports(space, notion, operation):
            progress.report_stage("searching" if candidate.name == "reference" else COMPILED)
            return candidate
    raise UsageError(
        f"engine {name!r} cannot {operation} on a {type(space).__name__} under the notion {notion.name!r}",
        "an engine must support the space, the notion and the operation",
        "engine='auto' chooses one that does",
    )


def _load(name: str) -> Engine:
    """Imports the engine with a name; this is done lazily, because compilers take long to load."""
    progress.report_stage("loading the search")
    with uninterrupted():
        if name == "cpu":
            from hetdp.engines.cpu.engine import CpuEngine

            return CpuEngine()
        if name == "product":
            from hetdp.engines.product.engine import ProductEngine

            return ProductEngine()
        from hetdp.engines.reference.engine import ReferenceEngine

        return ReferenceEngine()
