"""The GPU: finds a device, compiles kernels for it and moves arrays. No other module of hetdp imports CuPy.

CuPy is the extra `gpu`. It is imported when a device is first asked for. Whatever CuPy or the driver cannot do becomes
a `DeviceError` with one clear message. A `Device` is small, so that the tests can replace it by arrays of NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hetdp.errors import UsageError
from hetdp.interrupts import uninterrupted

OLDEST = 70  # compute capability 7.0: of 2017
RULE = "the engine gpu needs an NVIDIA GPU, its driver, and CuPy, the extra gpu"
INSTALL = "pip install '.[gpu]', in the folder of hetdp's sources"
CPU = "engine='product' needs no GPU"


class DeviceError(UsageError):
    """No GPU can be used, or it cannot run this operation."""


class DeviceMemoryError(DeviceError):
    """The memory of the GPU does not suffice."""


class Launch(NamedTuple):
    """One launch of a kernel.

    Attributes:
        kernel: the name of the kernel.
        blocks: the number of blocks.
        threads: the number of threads of a block.
        arguments: arrays on the device, and whole numbers, which kernels take as 64-bit integers.
        shared: bytes of shared memory of a block.
    """

    kernel: str
    blocks: int
    threads: int
    arguments: tuple[Any, ...]
    shared: int = 0


class Device(Protocol):
    """A GPU.

    Attributes:
        name: the name of its model.
        processors: the number of multiprocessors.
        shared: bytes of shared memory that a block may have.
    """

    name: str
    processors: int
    shared: int

    def free(self) -> int:
        """Bytes of memory that are free."""

    def empty(self, count: int, dtype: DTypeLike) -> Any:
        """An array on the device, uninitialised."""

    def upload(self, values: NDArray[Any]) -> Any:
        """A copy on the device."""

    def download(self, array: Any, begin: int = 0, end: int | None = None) -> NDArray[Any]:
        """A copy of a part of an array, in this process."""

    def launch(self, source: str, launch: Launch) -> None:
        """Runs a kernel from its source, which is compiled on first use."""


class CupyDevice:
    """The current device of CuPy."""

    def __init__(self, cupy: Any) -> None:
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self._cupy = cupy
        self.name: str = properties["name"].decode()
        self.processors = int(properties["multiProcessorCount"])
        self.shared = int(properties["sharedMemPerBlockOptin"])

    def free(self) -> int:
        """Bytes of memory that are free, those that CuPy holds for reuse included."""
        with self._in_words():
            return int(self._cupy.cuda.Device().mem_info[0] + self._cupy.get_default_memory_pool().free_bytes())

    def empty(self, count: int, dtype: DTypeLike) -> Any:
        """An array on the device, uninitialised."""
        with self._in_words(count * np.dtype(dtype).itemsize):
            return self._cupy.empty(count, dtype=dtype)

    def upload(self, values: NDArray[Any]) -> Any:
        """A copy on the device."""
        with self._in_words(values.nbytes):
            return self._cupy.asarray(np.ascontiguousarray(values))

    def download(self, array: Any, begin: int = 0, end: int | None = None) -> NDArray[Any]:
        """A copy of a part of an array, in this process."""
        with self._in_words():
            found: NDArray[Any] = array[begin:end].get()
            return found

    def launch(self, source: str, launch: Launch) -> None:
        """Runs a kernel from its source, which is compiled on first use."""
        with self._in_words():
            kernel = self._module(source).get_function(launch.kernel)
            if launch.shared > 0:
                kernel.max_dynamic_shared_size_bytes = launch.shared
            kernel((launch.blocks,), (launch.threads,), launch.arguments, shared_mem=launch.shared)

    @cache  # noqa: B019 — a device lives as long as the process
    def _module(self, source: str) -> Any:
        return self._cupy.RawModule(code=source, options=("-std=c++17",))

    @contextmanager
    def _in_words(self, wanted: int = 0) -> Iterator[None]:
        """Turns what CuPy raises into a `DeviceError`."""
        cuda = self._cupy.cuda
        try:
            yield
        except cuda.memory.OutOfMemoryError:
            what = f"the memory of the GPU ({self.name}) does not suffice"
            needed = f"{wanted / 2**30:.1f} GiB more are needed" if wanted else "the labels must fit into it"
            raise DeviceMemoryError(what, needed, CPU) from None
        except (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError, cuda.compiler.CompileException) as refusal:
            raise DeviceError(f"the GPU ({self.name}) failed: {_first_line(refusal)}", RULE, CPU) from None


def find_device() -> Device:
    """The GPU of this machine.

    Raises:
        DeviceError: there is none, or CuPy or its driver does not work.
    """
    found = _find_device()
    if isinstance(found, DeviceError):
        raise found
    return found


def is_installed() -> bool:
    """True if CuPy is installed, whether or not there is a device; it is not imported."""
    return find_spec("cupy") is not None


@cache
def _find_device() -> Device | DeviceError:
    """The device, or why there is none; looked for once."""
    try:
        with uninterrupted():
            import cupy
    except ImportError as refusal:
        if not is_installed():
            return DeviceError("CuPy is not installed", RULE, INSTALL)
        return DeviceError(f"CuPy cannot be loaded: {_first_line(refusal)}", RULE, CPU)
    try:
        if not cupy.cuda.is_available():
            return DeviceError("no GPU was found", RULE, CPU)
        capability = int(cupy.cuda.Device().compute_capability)
        if capability < OLDEST:
            what = f"the GPU is too old: its compute capability is {capability / 10}"
            return DeviceError(what, f"{OLDEST / 10} or newer is needed", CPU)
        return CupyDevice(cupy)
    except (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError) as refusal:
        return DeviceError(f"the driver of the GPU does not work: {_first_line(refusal)}", RULE, CPU)


def _first_line(refusal: BaseException) -> str:
    return (str(refusal).splitlines() or [type(refusal).__name__])[0]
