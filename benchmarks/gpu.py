"""Spaces of people on a GPU: growth and proof on the device, and the whole design. Reports if there is no device."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import hetdp
from benchmarks.bar import BAR
from benchmarks.claims import AT_MOST, Benchmark, Measured, Part, Table, Target
from benchmarks.products import deciding, tallies, voters
from hetdp.certificate.device_survey import DeviceClaim, survey_on_device
from hetdp.device import Device, DeviceError, find_device
from hetdp.engines.gpu.engine import meet, sign, sweep, upload_states
from hetdp.problem.product import ProductSpace

GROWN, PROVED, WHOLE = (
    "10⁹ tallies, ms of the growth",
    "10⁹ tallies, ms of the proof",
    "10⁹ tallies, seconds of the design",
)
VOTERS = "32 voters, ms of the growth"
ROUNDS = 3


def on_device(device: Device, problem: hetdp.Problem) -> tuple[float, float, float]:
    """Milliseconds for the start labels, the growth and the proof, each the best of several rounds."""
    space = problem.graph
    assert isinstance(space, ProductSpace)
    answers, states = device.upload(problem.answers.view(np.uint8)), upload_states(device, space)
    best: tuple[float, ...] = (np.inf, np.inf, np.inf)
    for _ in range(ROUNDS):
        times = [time.perf_counter()]
        labels, boundary, _ = meet(device, space, problem.notion, answers, states)
        times.append(_finished(device, labels))
        sweep(device, space, labels, states)
        times.append(_finished(device, labels))
        sign(device, labels, answers)
        before = _finished(device, labels)
        survey_on_device(space, device, DeviceClaim(labels, answers, boundary, states))
        took = times[1] - times[0], times[2] - times[1], _finished(device, labels) - before
        best = tuple(map(min, best, took))
        del labels, boundary
    start, growth, proof = (1000 * one for one in best)
    return start, growth, proof


def _finished(device: Device, labels: object) -> float:
    """The time when all launches are done: reading one label waits for them."""
    device.download(labels, 0, 1)
    return time.perf_counter()


def sections(group: int, people: int) -> Iterator[Part]:
    """One row for each space, if there is a device."""
    try:
        device = find_device()
    except DeviceError as refusal:
        yield f"Not measured: no device. {refusal}"
        return
    rows = []
    for name, problem in (
        ("three tallies", tallies(group)),
        ("three tallies, deciding votes apart", deciding(group)),
        (f"{people} voters", voters(people)),
    ):
        BAR.tell(name)
        start, growth, proof = on_device(device, problem)
        sizes = f"{problem.graph.size:,}", f"{problem.graph.edge_count:,}"
        rows.append((name, *sizes, f"{start:.1f}", f"{growth:.1f}", f"{proof:.1f}"))
        if name == "three tallies":
            yield Measured(GROWN, device.name, growth)
            yield Measured(PROVED, device.name, proof)
            begin = time.perf_counter()
            hetdp.design(problem, "balanced", engine="gpu")
            yield Measured(WHOLE, device.name, time.perf_counter() - begin)
        elif problem.graph.size == 1 << people:
            yield Measured(VOTERS, device.name, growth)
    yield f"Device: {device.name}, {time.strftime('%d %B %Y')}."
    yield Table(("space", "datasets", "edges", "start labels, ms", "growth, ms", "proof, ms"), rows)


BENCHMARKS = (
    Benchmark(
        "gpu",
        "Spaces of people on a GPU",
        """
The objective *balanced* on one GPU. The start labels, the growth and the proof of every edge stay on the device; the
whole design also copies its mechanism to the host. This needs the extra `gpu` and a device.
""",
        sections,
        full=(999, 32),
        quick=(5, 8),
        targets=(
            Target(GROWN, AT_MOST, 30),
            Target(PROVED, AT_MOST, 16),
            Target(WHOLE, AT_MOST, 1),
            Target(VOTERS, AT_MOST, 120),
        ),
    ),
)
