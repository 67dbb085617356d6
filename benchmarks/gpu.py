"""Spaces of people on a GPU: growth and proof on the device, and the whole design. Reports if there is no device.

``python -m benchmarks.gpu`` prints the section alone; it needs hetdp, NumPy, SciPy, python-flint and CuPy, and nothing
else. On an H200 it takes two minutes, most of which the host spends on listing the true answers. With ``--record`` it
also writes ``gpu.json`` beside this file, which is shown where there is no device.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import hetdp
from benchmarks.bar import BAR
from benchmarks.claims import AT_MOST, Benchmark, Chart, Measured, Part, Table, Target
from benchmarks.products import deciding, tallies, voters
from hetdp.certificate.device_survey import DeviceClaim, survey_on_device
from hetdp.device import Device, find_device
from hetdp.engines.gpu.engine import meet, sign, sweep, upload_states
from hetdp.errors import DeviceError
from hetdp.mechanism.resident import ResidentMechanism, resident_balanced
from hetdp.problem.decimals import round_labels_down
from hetdp.problem.product import ProductSpace

GROWN, PROVED, WHOLE = (
    "10⁹ tallies, ms of the growth",
    "10⁹ tallies, ms of the proof",
    "10⁹ tallies, seconds of the design",
)
LARGEST = "8·10⁹ tallies, ms of growth and proof"
VOTERS = "32 voters, ms of the growth"
WRONG = "random values that differ from the closed form"
ROUNDS = 3
COMPARED = 2000  # random values for each space
UNITS = 2.0**40
RECORD = Path(__file__).with_name("gpu.json")
KINDS: dict[str, Callable[..., Part]] = {"Measured": Measured, "Table": Table, "Chart": Chart, "str": str}


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


def closed_form(problem: hetdp.Problem, dataset: int) -> float:
    """z of the balanced majority of people with two values: the cheapest way to change it, one change across the edge.

    A change costs ε of its person, and that across the edge log((1 + e^ε)/2) of what it promises there. Cheap changes
    come first, as far as there are people to make them.
    """
    space = problem.graph
    assert isinstance(space, ProductSpace)
    yes = [int(space.positions(at, dataset)) for at in range(len(space.axes))]
    yes = [at if axis.shape == "count" else 1 - at for at, axis in zip(yes, space.axes, strict=True)]
    people, won = [axis.people for axis in space.axes], problem.answers[dataset] == 1
    most_no = sum(people) // 2  # so many yes are no majority
    steps = sum(yes) - most_no - 1 if won else most_no - sum(yes)
    able = yes if won else [all_people - own for all_people, own in zip(people, yes, strict=True)]
    costs = [round(float(axis.epsilon[0, 0, 0]) * UNITS) for axis in space.axes]
    found = []
    for last, axis in enumerate(space.axes):
        if able[last]:
            across = round_labels_down(np.array([problem.notion.meet(float(axis.epsilon[0, 0, -1]))]))[0]
            left, total = steps, round(float(across) * UNITS)
            for at in sorted(range(len(costs)), key=costs.__getitem__):
                taken = min(left, able[at] - (at == last))
                left, total = left - taken, total + taken * costs[at]
            found += [total] if not left else []
    return min(found) / UNITS * (1 if won else -1)


def differing(problem: hetdp.Problem, coordinate: Callable[[int], float]) -> int:
    """How many of some random values are not those of the closed form, bit for bit."""
    rng = np.random.default_rng(problem.graph.size)
    datasets = rng.integers(0, problem.graph.size, COMPARED).tolist()
    return sum(coordinate(at) != closed_form(problem, at) for at in datasets)


def reads(mechanism: ResidentMechanism) -> Iterator[tuple[str, float]]:
    """Seconds of what is read from a mechanism that stays on the device."""
    calls: dict[str, Callable[[], Any]] = {
        "worst dataset": lambda: mechanism.against_coin,
        "mean accuracy": lambda: hetdp.accuracy(mechanism, prior="uniform"),
        "odds": lambda: hetdp.odds(mechanism),
        "charges": lambda: mechanism.losses_along(np.full(len(mechanism.space.axes), np.inf)),
        "one explanation": lambda: mechanism.explain(mechanism.space.label(len(mechanism) // 3)),
        "proof": lambda: hetdp.verify(mechanism),
    }
    for name, call in calls.items():
        BAR.tell(name)
        begin = time.perf_counter()
        call()
        yield name, time.perf_counter() - begin


def sections(group: int, people: int, largest: int) -> Iterator[Part]:
    """One row for each space, or what was recorded on another machine."""
    try:
        device = find_device()
    except DeviceError as refusal:
        if (group, people, largest) != FULL:
            yield f"Not measured: no device. {refusal}"
        else:
            yield "This machine has no device. What follows was recorded on another one."
            yield from read_recorded()
        return
    rows, read, times = [], [], list[tuple[float, float, float]]()
    spaces: tuple[tuple[str, Callable[[int], hetdp.Problem], int], ...] = (
        ("three tallies", tallies, group),
        ("three tallies, deciding votes apart", deciding, group),
        ("voters", voters, people),
        ("three tallies that stay on the device", tallies, largest),
    )
    for name, make, size in spaces:
        BAR.tell(f"{name}: true answers")
        problem = make(size)
        BAR.tell(name)
        start, growth, proof = on_device(device, problem)
        sizes = f"{problem.graph.size:,}", f"{problem.graph.edge_count:,}"
        if name == "three tallies":
            yield Measured(GROWN, device.name, growth)
            yield Measured(PROVED, device.name, proof)
            took, wrong = [], 0
            for _ in range(ROUNDS):
                begin = time.perf_counter()
                local = hetdp.design(problem, "balanced", engine="gpu")
                took.append(time.perf_counter() - begin)
                wrong = differing(problem, local.coordinate)
                del local
            yield Measured(WHOLE, device.name, min(took))
            yield f"The {ROUNDS} designs took {', '.join(f'{one:.2f}' for one in took)} s."
        else:
            assert isinstance(problem.graph, ProductSpace)
            mechanism = resident_balanced(problem, problem.graph, "gpu")
            wrong = differing(problem, mechanism.coordinate)
            if size == largest:
                yield Measured(LARGEST, device.name, start + growth + proof)
                read = [(what, f"{seconds:.3f}") for what, seconds in reads(mechanism)]
            elif name == "voters":
                yield Measured(VOTERS, device.name, growth)
            del mechanism
        yield Measured(WRONG, name, wrong)
        times.append((start, growth, proof))
        rows.append((name, *sizes, f"{start:.1f}", f"{growth:.1f}", f"{proof:.1f}", f"{wrong} of {COMPARED:,}"))
        del problem
    yield f"Device: {device.name}, {time.strftime('%d %B %Y')}."
    yield Table(("space", "datasets", "edges", "start labels, ms", "growth, ms", "proof, ms", "wrong values"), rows)
    steps = dict(zip(("start labels", "growth", "proof of every edge"), zip(*times, strict=True), strict=True))
    places = ["10⁹ tallies", "the same, deciding\nvotes apart", "32 voters,\n4.3·10⁹ datasets", "8·10⁹ tallies"]
    yield Chart("gpu", f"Balanced mechanisms on one {device.name}", "milliseconds", places, steps, log=True)
    yield "Read from the mechanism that stays on the device:"
    yield Table(("what", "seconds"), read)


def read_recorded() -> Iterator[Part]:
    """The parts of a run that was recorded."""
    for kind, values in json.loads(RECORD.read_text(encoding="utf-8")):
        yield KINDS[kind](**values) if isinstance(values, dict) else KINDS[kind](values)


def record(parts: list[Part]) -> None:
    """Writes down the parts of a run."""
    found = []
    for part in parts:
        values = part if isinstance(part, str) else part._asdict()
        found.append((type(part).__name__, values))
    RECORD.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


FULL = 999, 32, 2000
BENCHMARKS = (
    Benchmark(
        "gpu",
        "Spaces of people on a GPU",
        """
The objective *balanced* on one GPU. The start labels, the growth and the proof of every edge stay on the device; the
whole design also copies its mechanism to the host. 2,000 random values of each space are compared with a closed form.
Times are the best of three, after all kernels are compiled. This needs the extra `gpu` and a device.
""",
        sections,
        full=FULL,
        quick=(5, 8, 6),
        targets=(
            Target(GROWN, AT_MOST, 30),
            Target(PROVED, AT_MOST, 16),
            Target(WHOLE, AT_MOST, 1),
            Target(LARGEST, AT_MOST, 400),
            Target(VOTERS, AT_MOST, 120),
            Target(WRONG, AT_MOST, 0),
        ),
    ),
)


def main() -> None:
    """Prints the section, without the other benchmarks and what they import."""
    benchmark, parts = BENCHMARKS[0], list[Part]()
    for part in benchmark.run(*(benchmark.quick if "--quick" in sys.argv else benchmark.full)):
        parts.append(part)
        BAR.erase()
        if isinstance(part, Table):
            for row in (part.heads, ["---"] * len(part.heads), *part.rows):
                print(f"| {' | '.join(row)} |")
        elif isinstance(part, Measured):
            (target,) = (target for target in benchmark.targets if target.what == part.what)
            met = "met" if target.is_met(part.value) else "NOT met"
            print(f"{part.what}, {part.case}: {part.value:.3g} ({target}: {met})")
        elif isinstance(part, str):
            print(part)
        sys.stdout.flush()
    if "--record" in sys.argv:
        record(parts)


if __name__ == "__main__":
    main()
