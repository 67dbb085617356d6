"""The gpu engine: bit-equal to the reference engine, on a double of a device and, where there is one, on the device."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from contextlib import nullcontext
from itertools import product
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import hetdp
from hetdp import device as devices
from hetdp.device import CPU, RULE
from hetdp.engines import registry
from hetdp.engines.gpu import plan
from hetdp.engines.gpu.engine import GpuEngine, download_labels, grow_balanced, sign, upload_states
from hetdp.engines.product.sweep import reach
from hetdp.engines.reference.engine import ReferenceEngine
from hetdp.engines.registry import engine_for
from hetdp.errors import DeviceError
from hetdp.mechanism.balanced import start_labels
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace, as_graph
from hetdp.theory.catalogue import find_notion
from hetdp.theory.pure import PURE
from tests.engines.double import DEVICE, NumpyDevice
from tests.engines.growths import Search, assert_links_prove, bits, run_grow
from tests.engines.products import random_answers, random_roles, random_space, random_start

KINDS = ["grid", "positive", "any"]
pytestmark = pytest.mark.jit_only  # no engine here is compiled by numba


class UnusedEngine:
    """An engine that must not be called."""

    name = "nobody"

    def grow(self, *_):
        raise AssertionError("the device declined")


def assert_as_reference(engine: GpuEngine, space: ProductSpace, labels: np.ndarray, roles=None) -> None:
    before = bits(labels)
    growth, search = engine.grow(space, PURE, labels, roles), Search(as_graph(space), labels, roles)
    assert bits(growth.labels) == bits(run_grow("reference", search).labels)
    assert_links_prove(search, growth)
    assert bits(labels) == before


@DEVICE
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_products_of_every_kind_give_the_same_bits(device, kind, seed):
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    labels = random_start(rng, space.size, kind)
    assert_as_reference(GpuEngine(device, ReferenceEngine), space, labels)


@DEVICE
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_products_with_pins_give_the_same_bits(device, kind, seed):
    rng = np.random.default_rng(100 + seed)
    space = random_space(rng)
    roles = random_roles(rng, space)
    labels = random_start(rng, space.size, kind)
    labels = np.where(roles == 0, np.where(np.isinf(labels), 0.0, labels), np.inf)
    assert_as_reference(GpuEngine(device, ReferenceEngine), space, labels, roles)


@DEVICE
@pytest.mark.parametrize("seed", range(20))
def test_the_balanced_search_from_answers_alone_is_the_search_from_start_labels(device, seed):
    rng = np.random.default_rng(200 + seed)
    space = random_space(rng)
    answers = random_answers(rng, space.size)
    problem = hetdp.Problem(space, answers)
    expected = engine_for("reference", space, PURE, "grow").grow(space, PURE, start_labels(problem, space)).labels
    onboard = device.upload(answers.view(np.uint8))
    found = grow_balanced(device, space, PURE, onboard, upload_states(device, space))
    if found is None:
        assert np.max(expected, initial=0.0, where=expected < np.inf) >= 2.0**13
        return
    labels, boundary = found
    assert device.download(boundary).astype(bool).tolist() == problem.boundary_mask.tolist()
    sign(device, labels, onboard)
    assert bits(download_labels(device, labels)) == bits(np.where(answers == 1, expected, -expected) + 0.0)


@DEVICE
def test_large_tiles_of_people_and_long_lines_are_cut_and_joined(device):
    """Shapes beyond one tile: several passes, narrow columns, lines of several segments, and one behind the other."""
    rng = np.random.default_rng(7)
    for shape in [(2,) * 14, (2, 2, 5, 2, 2, 2), (2, 700, 3), (601, 12), (2, 1100), (9, 2, 2, 2, 11)]:
        axes = [
            Axis.person(at, range(length), round(rng.uniform(0.05, 1.0), 2))
            if length < 4
            else Axis.tally(at, length - 1, round(rng.uniform(0.001, 0.01), 4))
            for at, length in enumerate(shape)
        ]
        space = ProductSpace(axes)
        labels = np.where(rng.random(space.size) < 0.01, random_start(rng, space.size, "grid"), np.inf)
        ours = GpuEngine(device, UnusedEngine).grow(space, PURE, labels).labels
        assert ours.tobytes() == ReferenceEngine().grow(space, PURE, labels).labels.tobytes()


@DEVICE
def test_bounded_range_gives_the_same_bits(device):
    rng, notion = np.random.default_rng(3), find_notion("bounded-range")
    for _ in range(5):
        space = random_space(rng, 300)
        labels = random_start(rng, space.size, "grid")
        ours = GpuEngine(device, ReferenceEngine).grow(space, notion, labels).labels
        assert bits(ours) == bits(engine_for("reference", space, notion, "grow").grow(space, notion, labels).labels)


@DEVICE
def test_labels_that_grow_beyond_the_exact_ones_are_left_to_another_engine(device):
    space = ProductSpace([Axis.tally("a", 3, 0.7), Axis.tally("b", 2, 0.3)])
    labels = np.full(space.size, np.inf)
    labels[0] = 8191.75
    assert_as_reference(GpuEngine(device, ReferenceEngine), space, labels)
    with pytest.raises(AssertionError, match="the device declined"):
        GpuEngine(device, UnusedEngine).grow(space, PURE, labels)


# The plan -------------------------------------------------------------------------------------------------------------


def kernels_of(space: ProductSpace, shared: int = 232_448) -> list[tuple[str, list[int]]]:
    return [(one.kernel, list(one.axes)) for one in plan.passes(space, shared)]


def space_of_voters(people: int) -> ProductSpace:
    return ProductSpace([Axis.person(at, ("yes", "no"), 0.5) for at in range(people)])


def test_thirty_two_voters_take_three_passes():
    assert [len(axes) for _, axes in kernels_of(space_of_voters(32))] == [13, 10, 9]
    assert {kernel for kernel, _ in kernels_of(space_of_voters(32))} == {"sweep_people"}


def test_each_axis_of_counts_takes_one_pass_where_a_line_fits_into_a_block():
    space = ProductSpace([Axis.tally(at, 2000, 0.5) for at in range(3)])
    assert kernels_of(space) == [("sweep_path", [2]), ("sweep_path", [1]), ("sweep_path", [0])]
    assert kernels_of(space, 16_000) == [("sweep_moves", [2]), ("sweep_path", [1]), ("sweep_path", [0])]
    assert kernels_of(ProductSpace([Axis.tally("a", plan.SPAN * 1024, 0.5)])) == [("sweep_moves", [0])]


def test_people_beside_groups_share_a_pass_and_axes_without_a_constraint_none():
    axes = [
        Axis.person("a", ("yes", "no"), 0.5),
        Axis.person("b", ("yes", "no"), 0.25),
        Axis.tally("c", 10, 0.5),
        Axis.tally("d", 10, np.inf),
        Axis.person("e", "xyz", 0.5),
        Axis.person("f", "x", 0.5),
        Axis.tally("g", 1, 0.5),
    ]
    found = plan.passes(ProductSpace(axes), 100_000)
    assert [(one.kernel, list(one.axes)) for one in found] == [
        ("sweep_people", [6]),
        ("sweep_moves", [4]),
        ("sweep_path", [2]),
        ("sweep_people", [0, 1]),
    ]
    assert found[3].table.tolist() == [2**38, 2**39], "the last person first"


def test_a_launch_over_billions_of_datasets_stays_within_the_limits_of_a_device():
    device = NumpyDevice(processors=132)
    nothing = np.zeros(1, dtype=np.int64)
    for space in (space_of_voters(32), ProductSpace([Axis.tally(at, 2000, 0.5) for at in range(3)])):
        for one in plan.passes(space, device.shared):
            launch = plan.launch_of(one, device, nothing, nothing, nothing, False)
            assert launch.blocks < 2**31
            assert launch.threads <= 1024
            assert launch.shared <= device.shared
    path = plan.passes(ProductSpace([Axis.tally(at, 999, 0.5) for at in range(3)]), device.shared)[1]
    launch = plan.launch_of(path, device, nothing, nothing, nothing, False)
    assert (launch.kernel, launch.blocks, launch.threads) == ("sweep_path", 1000 * 1000 // 8, 8 * 63)
    assert launch.arguments[7:10] == (8, 63, 0), "lanes, segments, and lines beside each other"


def test_a_thread_goes_along_the_longest_axis_on_which_a_warp_reads_neighbours_together():
    def stretch(*people: int) -> tuple[int, int, int]:
        return plan.Neighbours.of(ProductSpace([Axis.tally(at, n, 0.5) for at, n in enumerate(people)])).stretch()

    assert stretch(999, 999, 999) == (1, 0, 476)
    assert stretch(9, 999, 999) == (1, 1, 8)
    assert stretch(9, 9, 9) == (1, 0, 8)
    assert stretch(2000, 2000, 2000) == (1, 0, 2001)
    assert stretch(5) == (1, 0, 6)
    assert plan.Neighbours.of(ProductSpace([Axis.person(0, "abc", 1.0)])).stretch() == (0, 0, 1)


# Searches that the device declines, and messages without a device -----------------------------------------------------


class FailingDevice(NumpyDevice):
    """A device that fails."""

    def launch(self, source, launch):
        raise DeviceError("the GPU (NumPy) failed: unspecified launch failure", RULE, CPU)


@pytest.mark.parametrize("device", [NumpyDevice(memory=100), FailingDevice()], ids=["too small", "broken"])
def test_a_device_that_fails_is_an_error_or_left_to_the_cpu(device):
    space = space_of_voters(5)
    labels = np.where(np.arange(32) == 3, 0.5, np.inf)
    with pytest.raises(DeviceError, match=r"the GPU \(NumPy\)"):
        GpuEngine(device, ReferenceEngine).grow(space, PURE, labels)
    assert_as_reference(GpuEngine(device, ReferenceEngine, insist=False), space, labels)


def test_a_device_that_fails_at_the_links_is_an_error_or_left_to_the_cpu_which_says_why(caplog):
    space = space_of_voters(5)
    labels = np.where(np.arange(32) == 3, 0.5, np.inf)
    for insist in (True, False):
        device = NumpyDevice()
        growth = GpuEngine(device, ReferenceEngine, insist).grow(space, PURE, labels)
        device.memory = 100
        if insist:
            with pytest.raises(DeviceError):
                _ = growth.links
        else:
            assert_links_prove(Search(as_graph(space), labels), growth)
    (said,) = caplog.messages
    assert said.startswith("the CPU goes on without a GPU: the memory of the GPU (NumPy) does not suffice")


@pytest.mark.parametrize(
    ("wanted", "words"), [(0, "the labels must fit into it"), (1 << 21, "2.0 MiB more are needed")]
)
def test_the_message_about_memory_says_what_was_wanted_if_that_is_known(wanted, words):
    class OutOfMemoryError(Exception):
        pass

    properties = {"name": b"small", "multiProcessorCount": 1, "sharedMemPerBlockOptin": 1}
    cuda = SimpleNamespace(
        runtime=SimpleNamespace(getDeviceProperties=lambda number: properties),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        Device=lambda number: nullcontext(),
    )

    def refuse(*_, **__):
        raise OutOfMemoryError

    device = devices.CupyDevice(SimpleNamespace(cuda=cuda, empty=refuse, RawModule=refuse), 0)
    with pytest.raises(DeviceError, match=rf"the memory of the GPU \(small\) does not suffice; {words}"):
        device.empty(wanted, np.uint8) if wanted else device.launch("", SimpleNamespace(kernel="sweep"))


def test_more_axes_than_kernels_hold_are_left_to_others():
    space = ProductSpace([Axis.person(at, "x", 1.0) for at in range(65)])
    assert not GpuEngine(NumpyDevice(), UnusedEngine).supports(space, PURE, "grow")
    assert not GpuEngine(NumpyDevice(), UnusedEngine).supports(
        space_of_voters(3), find_notion("renyi", {"alpha": 2.0}), "grow"
    )
    assert not GpuEngine(NumpyDevice(), UnusedEngine).supports(space_of_voters(3), PURE, "settle")
    with pytest.raises(hetdp.UsageError, match="the fair search on a GPU"):
        GpuEngine(NumpyDevice(), UnusedEngine).settle(space_of_voters(3), PURE, np.ones(8))


def test_the_registry_gives_the_engine_where_there_is_a_device(monkeypatch):
    monkeypatch.setattr(registry, "find_device", NumpyDevice)
    engine = engine_for("gpu", space_of_voters(3), PURE, "grow")
    assert (engine.name, engine.insists) == ("gpu", True)
    with pytest.raises(hetdp.UsageError, match="engine 'gpu' cannot grow on a DatasetGraph"):
        engine_for("gpu", as_graph(space_of_voters(3)), PURE, "grow")


def test_auto_uses_a_device_for_large_spaces(monkeypatch):
    monkeypatch.setattr(registry, "find_device", NumpyDevice)
    monkeypatch.setattr(registry, "is_installed", lambda: True)
    monkeypatch.setattr(registry, "FEWEST_FOR_GPU", 1 << 14)
    engine = engine_for("auto", space_of_voters(14), PURE, "grow")
    assert (engine.name, engine.insists) == ("gpu", False)
    assert engine_for("auto", space_of_voters(13), PURE, "grow").name == "product"
    monkeypatch.setattr(registry, "is_installed", lambda: False)
    assert engine_for("auto", space_of_voters(14), PURE, "grow").name == "product"


def test_auto_goes_on_with_the_cpu_and_says_why(monkeypatch, caplog):
    def none():
        raise DeviceError("no GPU was found", RULE, CPU)

    monkeypatch.setattr(registry, "find_device", none)
    monkeypatch.setattr(registry, "is_installed", lambda: True)
    monkeypatch.setattr(registry, "FEWEST_FOR_GPU", 1 << 14)
    assert engine_for("auto", space_of_voters(14), PURE, "grow").name == "product"
    assert caplog.messages == [f"the CPU goes on without a GPU: no GPU was found; {RULE}. Hint: {CPU}"]
    with pytest.raises(DeviceError, match="no GPU was found"):
        engine_for("gpu", space_of_voters(14), PURE, "grow")


class OutOfMemoryError(Exception):
    """The memory error of the fake CuPy."""


class FakeArray(np.ndarray):
    """An array of the fake CuPy, whose memory is this process's."""

    get = np.ndarray.copy

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)

    def set(self, values):
        assert values.flags.c_contiguous
        self[:] = values


def fake_cupy(count=1, capability="90", failure=None):
    """A fake module with the parts of CuPy that hetdp uses."""

    def fail(*_, **__):
        raise failure

    def memcpy(target, source, size, kind, stream):
        assert (kind, stream) in ((1, 7), (2, 7))
        ctypes.memmove(target, source, size)

    def one(number=0):
        return FakeDevice(number, capability)

    properties = {"name": b"H200", "multiProcessorCount": 132, "sharedMemPerBlockOptin": 232_448}
    stream = SimpleNamespace(ptr=7, synchronize=lambda: None)
    cuda = SimpleNamespace(
        Device=one,
        Stream=lambda non_blocking: stream,
        alloc_pinned_memory=lambda size: bytearray(size + 5),
        get_current_stream=lambda: stream,
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        runtime=SimpleNamespace(
            getDeviceCount=lambda: count,
            getDeviceProperties=lambda _: properties,
            memcpyAsync=memcpy,
            memcpyHostToDevice=1,
            memcpyDeviceToHost=2,
        ),
        compiler=SimpleNamespace(CompileException=KeyError),
    )
    made = SimpleNamespace(kernels=[])

    def module(code, options):
        made.kernels.append(SimpleNamespace(launched=[], code=code))
        kernel = made.kernels[-1]

        def function(name):
            def launch(*arguments, **options):
                kernel.launched.append((name, launch.max_dynamic_shared_size_bytes, *arguments, options))

            launch.max_dynamic_shared_size_bytes = None
            return launch

        return SimpleNamespace(get_function=function)

    empty = fail if failure else lambda size, dtype: np.empty(size, dtype).view(FakeArray)
    return SimpleNamespace(cuda=cuda, empty=empty, RawModule=module, made=made)


class FakeDevice(NamedTuple):
    """A device of the fake CuPy, which can be made the current one."""

    id: int
    compute_capability: str

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


@pytest.fixture
def find_device_with(monkeypatch):
    """Finds the device of a fake CuPy."""

    def find(cupy):
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        devices._find_device.cache_clear()
        return devices.find_device()

    yield find
    devices._find_device.cache_clear()


def test_a_device_is_described_and_its_failures_become_clear_errors(find_device_with):
    device = find_device_with(fake_cupy())
    assert (device.name, device.processors, device.shared) == ("H200", 132, 232_448)
    assert len(device.empty(3, np.int64)) == 3
    with pytest.raises(DeviceError, match=r"the memory of the GPU \(H200\) does not suffice; 8.0 GiB more are needed"):
        find_device_with(fake_cupy(failure=OutOfMemoryError())).empty(1 << 30, np.int64)
    with pytest.raises(DeviceError, match=r"; 24 bytes more are needed"):
        find_device_with(fake_cupy(failure=OutOfMemoryError())).empty(3, np.int64)
    for failure in (RuntimeError("lost\nand more"), OSError("lost"), KeyError("lost")):
        with pytest.raises(DeviceError, match=r"the GPU \(H200\) failed: '?lost'?; the engine gpu needs"):
            find_device_with(fake_cupy(failure=failure)).empty(1, np.int64)


def test_a_device_that_cannot_be_used_is_refused_with_the_reason(find_device_with):
    with pytest.raises(DeviceError, match="no GPU was found"):
        find_device_with(fake_cupy(count=0))
    with pytest.raises(DeviceError, match=r"compute capability is 6.1; 7.0 or newer is needed"):
        find_device_with(fake_cupy(capability="61"))
    broken = fake_cupy()
    broken.cuda.runtime.getDeviceCount = fake_cupy(failure=RuntimeError("insufficient driver")).empty
    with pytest.raises(DeviceError, match="no GPU can be used: insufficient driver"):
        find_device_with(broken)


def test_arrays_go_and_come_back_in_pieces_and_in_one(find_device_with, monkeypatch):
    monkeypatch.setattr(devices, "PIECE", 1 << 10)
    device = find_device_with(fake_cupy())
    values = np.random.default_rng(1).integers(0, 1 << 62, 10_001)
    array = device.upload(values[::-1])
    assert len(device.upload(values[:0])) == 0
    assert device.download(array).tolist() == values[::-1].tolist()
    assert device.download(array, 5, 9000).tolist() == values[::-1][5:9000].tolist()
    assert device.download(array, 5, 9).tolist() == values[::-1][5:9].tolist()


def test_whole_numbers_reach_a_kernel_as_64_bits_and_a_source_is_compiled_once(find_device_with):
    cupy = fake_cupy()
    device = find_device_with(cupy)
    for shared in (0, 100_000):
        device.launch("the source", devices.Launch("sweep", 5, 32, (7, "an array"), shared))
    (kernel,) = cupy.made.kernels
    assert [(name, most, options) for name, most, *_, options in kernel.launched] == [
        ("sweep", None, {"shared_mem": 0}),
        ("sweep", 100_000, {"shared_mem": 100_000}),
    ]
    blocks, threads, (number, array) = kernel.launched[0][2:5]
    assert (blocks, threads, number.dtype, array) == ((5,), (32,), np.int64, "an array")


def test_without_cupy_the_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    broken = "CuPy cannot be loaded: import of cupy halted"
    for installed, words in ((None, "CuPy is not installed; .*extra gpu"), (object(), broken)):
        monkeypatch.setattr(devices, "find_spec", lambda _, installed=installed: installed)
        devices._find_device.cache_clear()
        with pytest.raises(DeviceError, match=words):
            devices.find_device()
    devices._find_device.cache_clear()


def test_cupy_is_loaded_only_for_the_engine_gpu():
    code = (
        "import sys, hetdp;"
        "p = hetdp.spaces.votes(13, hetdp.questions.majority(), 1);"
        "hetdp.design(p, 'balanced');"
        "sys.exit('cupy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_epsilon_is_whole_units_and_infinity_is_far():
    units = plan.units_of(np.array([0.0, 2.0**-40, 1.0, 2.0**19, 2.0**20, 2.0**30, 1e300, np.inf])).tolist()
    assert units == [0, 1, 1 << 40, 1 << 59, 1 << 60, 1 << 60, 1 << 60, 1 << 61]


def test_no_dataset_is_further_than_all_moves_along_all_axes():
    table = [[9, 1, np.inf], [1, 9, 2], [np.inf, 2, 9]]
    space = ProductSpace([Axis.person(0, "abc", table), Axis.tally(1, 5, 0.5), Axis.group(2, 2, "abc", 0.25)])
    assert plan.reach_of(space) == 2.0 * 2 + 0.5 * 5 + 0.25 * 2 * 2
    assert sum(map(reach, space.axes)) == plan.reach_of(space)
    assert plan.reach_of(ProductSpace([Axis.person(0, "ab", np.inf)])) == 0.0


def test_blocks_of_lines_fit_into_threads_and_shared_memory():
    for shared in (48 << 10, 232_448):
        for length, threads in product((1, 2, 16, 17, 255, 1000, 5000, plan.SPAN * 512), (512, 1024)):
            for low in (1, 3, 5, 7, 31, 1000):
                lanes = plan.path_lanes(length, low, shared, threads)
                assert lanes * -(-length // plan.SPAN) <= threads
                if low > 1:
                    assert plan.path_shared(length, low, lanes) <= 64 << 10 or shared > 64 << 10
                    assert lanes % low == 0 if plan.is_staged(low, lanes) else lanes <= low
    assert [plan.path_lanes(length, 1000, 232_448, 1024) for length in (100, 1000, 2001, 4096, 7136)] == [
        64,
        8,
        8,
        2,
        1,
    ]
    assert [plan.path_lanes(length, 1, 232_448, 1024) for length in (100, 1000, 2001, 7136)] == [73, 8, 4, 1]
    assert plan.path_lanes(2001, 1000, 232_448, 512) == 4
    assert (plan.path_shared(1000, 1000, 8), plan.path_shared(1000, 1, 8)) == (8 * 8 * 504, 8 * (8000 + 8000 // 32 + 1))
    assert [plan.column_bits(low) for low in (1, 2, 3, 4, 5, 8, 9, 100)] == [0, 1, 2, 2, 3, 3, 3, 3]


def test_a_launch_has_a_thread_for_each_dataset_up_to_what_a_device_runs_at_once():
    device = NumpyDevice()
    most = plan.BLOCKS * device.processors
    blocks = [plan.each(device, "k", size, ()).blocks for size in (0, 1, 256, 257, 256 * most, 256 * most + 1)]
    assert blocks == [1, 1, 1, min(2, most), most, most]
