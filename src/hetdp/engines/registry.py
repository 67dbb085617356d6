"""The registry of engines: finds an engine by name, or the best one for a space, a notion and an operation.

To add an engine, add its name to `ENGINES` and `EngineName`, and its import to `_load`. The engine `gpu` is tried
by "auto" for large spaces of people if CuPy is installed; without a working device, "auto" goes on with the CPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hetdp import progress
from hetdp.compilation import compile_later, use_compiled, uses_compiled
from hetdp.device import find_device, is_installed, log_fallback
from hetdp.engines.contract import Engine, Operation
from hetdp.errors import DeviceError, UsageError
from hetdp.interrupts import delay_interrupts
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.product import MOST_LOCAL, ProductSpace
from hetdp.problem.space import SMALL_SPACE, Space
from hetdp.text import did_you_mean
from hetdp.theory.notion import Notion

if TYPE_CHECKING:
    from hetdp.engines.gpu.engine import GpuEngine

ENGINES = ("cpu", "gpu", "product", "reference")  # in order of preference
EngineName = Literal["auto", "cpu", "gpu", "product", "reference", "dask"]  # as in ENGINES and PARTITIONED
PARTITIONED = "dask"  # the engine of partitioned problems, which have their own workers
UNCOMPILED_NOTE = "searching slowly while its code is compiled"
FEWEST_FOR_NOTE = 200_000  # arcs; fewer take less than a second on the plain path
FEWEST_FOR_GPU = 1 << 25  # datasets; with fewer, the CPU is done before a device is ready


def engine_for(name: str, space: Space, notion: Notion, operation: Operation) -> Engine:
    """The engine with a name, or for "auto" the preferred one that supports the operation on this space."""
    require_local(space)
    words = "searching"
    if name == "auto":
        names = [known for known in ENGINES if known != "gpu" or _is_worth_a_gpu(space)]
        if space.arc_count <= SMALL_SPACE or _takes_plain_path(space, notion, operation):
            names = sorted(names, key=lambda known: known != "reference")
            words = UNCOMPILED_NOTE if space.arc_count > FEWEST_FOR_NOTE else words
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
    for each in names:
        try:
            candidate = _load(each, insist=name != "auto")
        except DeviceError as refusal:
            if name != "auto":
                raise
            log_fallback(refusal)
            continue
        if candidate.supports(space, notion, operation):
            if each == "cpu":
                use_compiled(_functions(notion, operation))
            progress.explain_wait(words) if words == UNCOMPILED_NOTE else progress.report_stage(words)
            return candidate
    raise UsageError(
        f"engine {name!r} cannot {operation} on a {type(space).__name__} under the notion {notion.name!r}",
        "an engine must support the space, the notion and the operation",
        "engine='auto' chooses one that does",
    )


def gpu_engine(name: str, space: Space, notion: Notion) -> GpuEngine:
    """The engine gpu, for spaces whose labels stay on the device.

    Raises:
        UsageError: another engine is requested, or it does not support the space.
        DeviceError: there is no device.
    """
    if name not in ("auto", "gpu"):
        require_local(space)
    engine = _load_gpu()
    if not engine.supports(space, notion, "grow"):
        raise UsageError(f"engine 'gpu' cannot grow under the notion {notion.name!r}", "it adds one ε for each edge")
    return engine


def require_local(space: Space) -> None:
    """Refuses a space whose labels do not fit into this process.

    Raises:
        UsageError: it has more datasets.
    """
    if space.size > MOST_LOCAL:
        rule = f"labels of at most {MOST_LOCAL:,} datasets are held in this process"
        raise UsageError(f"{space.size:,} datasets", rule, "design(problem, 'balanced') keeps larger ones on a GPU")


def _takes_plain_path(space: Space, notion: Notion, operation: Operation) -> bool:
    """True for a stored graph while the compiled search is not ready; then a background process compiles it."""
    if not isinstance(space, DatasetGraph) or uses_compiled(
        _functions(notion, operation), space.arc_count * notion.effort
    ):
        return False
    compile_later(notion.key)
    return True


def _functions(notion: Notion, operation: Operation) -> str:
    return f"{operation} {notion.key}"


def _is_worth_a_gpu(space: Space) -> bool:
    return space.size >= FEWEST_FOR_GPU and isinstance(space, ProductSpace) and is_installed()


def _load(name: str, insist: bool = True) -> Engine:
    """Imports the engine with a name; this is done lazily, because compilers take long to load.

    Args:
        name: the name.
        insist: whether the engine must do all work itself, or fail.
    """
    progress.report_stage("loading the search")
    with delay_interrupts():
        if name == "cpu":
            from hetdp.engines.cpu.engine import CpuEngine

            return CpuEngine()
        if name == "product":
            from hetdp.engines.product.engine import ProductEngine

            return ProductEngine()
        if name == "gpu":
            return _load_gpu(insist)
        if name == "reference":
            from hetdp.engines.reference.engine import ReferenceEngine

            return ReferenceEngine()
    raise UsageError(f"engine {name!r} has no import", "every engine in ENGINES has one in `_load`")


def _load_gpu(insist: bool = True) -> GpuEngine:
    """The engine gpu; the engine for what it cannot do, which needs a compiler, is loaded when it is needed."""
    from hetdp.engines.gpu.engine import GpuEngine

    return GpuEngine(find_device(), lambda: _load("product"), insist)
