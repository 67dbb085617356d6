"""The GPU: finds a device, compiles kernels for it and moves arrays. No other module of hetdp imports CuPy.

CuPy is the extra `gpu`. It is imported when a device is first asked for. Whatever CuPy or the driver cannot do becomes
a `DeviceError` with one clear message. A `Device` is small, so that the tests can replace it by arrays of NumPy.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hetdp.errors import DeviceError
from hetdp.interrupts import delay_interrupts
from hetdp.text import first_line
from hetdp.threads import run_in_threads, slices

LOG = logging.getLogger("hetdp")
OLDEST = 70  # compute capability 7.0: of 2017
RULE = "the engine gpu needs an NVIDIA GPU, its driver, and CuPy, the extra gpu"
INSTALL = "pip install '.[gpu]', in the folder of hetdp's sources"
CPU = "engine='product' needs no GPU"
PIECE = 1 << 23  # bytes that one thread copies at once, through a buffer that is never paged out


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

    def empty(self, count: int, dtype: DTypeLike) -> Any:
        """An array on the device, uninitialised."""

    def upload(self, values: NDArray[Any]) -> Any:
        """A copy on the device."""

    def download(self, array: Any, begin: int = 0, end: int | None = None) -> NDArray[Any]:
        """A copy of a part of an array, in this process."""

    def launch(self, source: str, launch: Launch) -> None:
        """Runs a kernel from its source, which is compiled on first use."""


class CupyDevice:
    """A device of CuPy.

    Args:
        cupy: the module.
        number: the number of the device.
    """

    def __init__(self, cupy: Any, number: int) -> None:
        properties = cupy.cuda.runtime.getDeviceProperties(number)
        self._cupy = cupy
        self._number = number
        self.name: str = properties["name"].decode()
        self.processors = int(properties["multiProcessorCount"])
        self.shared = int(properties["sharedMemPerBlockOptin"])

    def empty(self, count: int, dtype: DTypeLike) -> Any:
        """An array on the device, uninitialised."""
        with self._in_use(count * np.dtype(dtype).itemsize):
            return self._cupy.empty(count, dtype=dtype)

    def upload(self, values: NDArray[Any]) -> Any:
        """A copy on the device."""
        found, values = self.empty(len(values), values.dtype), np.ascontiguousarray(values)
        with self._in_use():
            if values.nbytes < 2 * PIECE:
                found.set(values)
            else:
                self._copy_in_pieces(found, values, to_device=True)
        return found

    def download(self, array: Any, begin: int = 0, end: int | None = None) -> NDArray[Any]:
        """A copy of a part of an array, in this process."""
        with self._in_use():
            part = array[begin:end]
            if part.nbytes < 2 * PIECE:
                small: NDArray[Any] = part.get()
                return small
            found = np.empty(len(part), dtype=part.dtype)
            self._copy_in_pieces(part, found, to_device=False)
            return found

    def _copy_in_pieces(self, array: Any, values: NDArray[Any], to_device: bool) -> None:
        """Copies between arrays of equal size, in several threads, since new memory of a process is slow to write."""
        self._cupy.cuda.get_current_stream().synchronize()
        pieces = slices(values.nbytes, PIECE)
        run_in_threads(lambda piece: self._copy(array, values.view(np.uint8)[piece], piece.start, to_device), pieces)

    def _copy(self, array: Any, values: NDArray[np.uint8], start: int, to_device: bool) -> None:
        """Copies some bytes, those of the array from `start` on."""
        cuda, size = self._cupy.cuda, len(values)
        with cuda.Device(self._number):
            stream, place = cuda.Stream(non_blocking=True), array.data.ptr + start
            buffer = np.frombuffer(cuda.alloc_pinned_memory(size), dtype=np.uint8, count=size)  # from CuPy's pool
            if to_device:
                buffer[:] = values
                cuda.runtime.memcpyAsync(place, buffer.ctypes.data, size, cuda.runtime.memcpyHostToDevice, stream.ptr)
                stream.synchronize()
            else:
                cuda.runtime.memcpyAsync(buffer.ctypes.data, place, size, cuda.runtime.memcpyDeviceToHost, stream.ptr)
                stream.synchronize()
                values[:] = buffer

    def launch(self, source: str, launch: Launch) -> None:
        """Runs a kernel from its source, which is compiled on first use."""
        with self._in_use():
            kernel = self._module(source).get_function(launch.kernel)
            if launch.shared > 0:
                kernel.max_dynamic_shared_size_bytes = launch.shared
            arguments = tuple(np.int64(one) if isinstance(one, int) else one for one in launch.arguments)
            kernel((launch.blocks,), (launch.threads,), arguments, shared_mem=launch.shared)

    @cache  # noqa: B019 — a device lives as long as the process
    def _module(self, source: str) -> Any:
        return self._cupy.RawModule(code=source, options=("-std=c++17",))

    @contextmanager
    def _in_use(self, wanted: int = 0) -> Iterator[None]:
        """Makes this the current device, and turns what CuPy raises into a `DeviceError`."""
        cuda = self._cupy.cuda
        try:
            with cuda.Device(self._number):
                yield
        except cuda.memory.OutOfMemoryError:
            what = f"the memory of the GPU ({self.name}) does not suffice"
            needed = f"{_format_size(wanted)} more are needed" if wanted else "the labels must fit into it"
            raise DeviceMemoryError(what, needed, CPU) from None
        except (RuntimeError, OSError, cuda.compiler.CompileException) as refusal:  # CUDA's errors are RuntimeErrors
            raise DeviceError(f"the GPU ({self.name}) failed: {first_line(refusal)}", RULE, CPU) from None


def _format_size(size: int) -> str:
    """A number of bytes in the largest unit of which there is at least one.

    >>> _format_size(24), _format_size(1 << 23), _format_size(1 << 33)
    ('24 bytes', '8.0 MiB', '8.0 GiB')
    """
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power:
            return f"{size / 2**power:.1f} {unit}"
    return f"{size} bytes"


def log_fallback(refusal: DeviceError) -> None:
    """Tells the logger why the CPU does what a GPU could not do."""
    LOG.warning("the CPU goes on without a GPU: %s", refusal)


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
        with delay_interrupts():
            import cupy
    except ImportError as refusal:
        if not is_installed():
            return DeviceError("CuPy is not installed", RULE, INSTALL)
        return DeviceError(f"CuPy cannot be loaded: {first_line(refusal)}", RULE, CPU)
    try:
        if not cupy.cuda.runtime.getDeviceCount():  # `is_available` would hide why there is none
            return DeviceError("no GPU was found", RULE, CPU)
        device = cupy.cuda.Device()
        capability = int(device.compute_capability)
        if capability < OLDEST:
            what = f"the GPU is too old: its compute capability is {capability / 10}"
            return DeviceError(what, f"{OLDEST / 10} or newer is needed", CPU)
        return CupyDevice(cupy, device.id)
    except RuntimeError as refusal:  # such as CUDARuntimeError
        return DeviceError(f"no GPU can be used: {first_line(refusal)}", RULE, CPU)
