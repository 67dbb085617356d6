"""A NumPy substitute for a GPU: one function for each kernel of the engine and the verifier, on whole arrays.

A launch is checked before it runs: its blocks and threads cover all the work, and its shared memory fits. So the plan
of a sweep, the order of arguments and the transfers are tested on every machine. What is not tested here is the CUDA
source itself; where there is a device, the same tests run on it (`DEVICE`).
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from hetdp import device as devices
from hetdp.device import DeviceMemoryError, Launch
from hetdp.errors import DeviceError

FAR = 1 << 61
GRID = 2.0**40


class NumpyDevice:
    """A device whose memory is this process's.

    Args:
        shared: bytes of shared memory that a block may have.
        memory: bytes of memory.
        processors: the number of multiprocessors.
    """

    name = "NumPy"

    def __init__(self, shared: int = 232_448, memory: int = 1 << 40, processors: int = 3) -> None:
        self.shared, self.memory, self.processors = shared, memory, processors
        self.launches: list[Launch] = []

    def empty(self, count: int, dtype: Any) -> np.ndarray:
        if count * np.dtype(dtype).itemsize > self.memory:
            raise DeviceMemoryError("the memory of the GPU (NumPy) does not suffice", "more is needed")
        return np.full(count, 77, dtype=dtype)  # memory on a device is not initialised

    def upload(self, values: np.ndarray) -> np.ndarray:
        found = self.empty(len(values), values.dtype)
        found[:] = values
        return found

    def download(self, array: np.ndarray, begin: int = 0, end: int | None = None) -> np.ndarray:
        return array[begin:end].copy()

    def launch(self, source: str, launch: Launch) -> None:
        assert f" {launch.kernel}(" in source, "the source has no such kernel"
        assert 0 < launch.blocks < 2**31
        assert 0 < launch.threads <= 1024
        assert launch.shared <= self.shared
        assert all(isinstance(one, int | np.ndarray) for one in launch.arguments)
        declared = source[source.index(f" {launch.kernel}(") :].split("{")[0]
        assert declared.count(",") + 1 + 4 * ("SPACE" in declared) == len(launch.arguments), "SPACE stands for five"
        self.launches.append(launch)
        KERNELS[launch.kernel](launch, *launch.arguments)


def read_labels(launch, labels, size, notes):
    given = labels.view(np.float64)
    units = given * GRID
    infinite = units > 9e300
    with np.errstate(invalid="ignore"):
        strange = ~infinite & ~((units >= 0) & (units < 2.0**53) & (np.rint(units) == units))
    notes[0] = strange.any()
    labels[:] = np.where(infinite, FAR, np.where(strange | infinite, 0, units).astype(np.int64))
    notes[1] = labels[labels < FAR].max(initial=0)


def write_labels(launch, labels, size):
    assert len(labels) == size
    z = np.where(np.abs(labels) == FAR, np.copysign(np.inf, labels), labels / GRID)
    labels.view(np.float64)[:] = z


def sign_labels(launch, labels, answers, size):
    assert len(labels) == len(answers) == size
    np.negative(labels, out=labels, where=answers == 2)


def check_labels(launch, labels, start, roles, has_roles, size, notes):
    notes[0] |= ((labels >= 2**53) & (labels < FAR)).any()
    notes[1] |= has_roles and ((roles == 0) & (labels < start)).any()


def mark_own(launch, labels, start, own, size):
    own[:] = labels >= start


def _lines(array, high, length, low):
    assert array.size == high * length * low
    return array.reshape(high, length, low)


def _steps(states, table, count, shape):
    """ε between each position of a line and the next."""
    if count == 1:
        return np.broadcast_to(table[0], (shape[0], shape[1] - 1, shape[2]))
    states = _lines(states, *shape).astype(np.int64)
    return table[states[:, :-1] * count + states[:, 1:]]


def sweep_path(launch, labels, states, table, count, high, length, low, lanes, segments, staged, fell):
    assert count == 1
    sweep_watched_path(launch, labels, states, table, count, high, length, low, lanes, segments, staged, fell)


def sweep_watched_path(launch, labels, states, table, count, high, length, low, lanes, segments, staged, fell):
    span = 16
    assert launch.blocks * lanes >= high * low > (launch.blocks - 1) * lanes
    assert launch.threads == lanes * segments
    assert segments * span >= length > (segments - 1) * span
    assert launch.shared >= 8 * 8 * launch.threads, "for the scan over segments"
    if staged:
        assert lanes % low == 0, "groups of lines stay together"
        last = lanes * length - 1
        assert launch.shared >= 8 * (last + last // 32 + 1)
    else:
        assert lanes <= low
    lines, steps = _lines(labels, high, length, low), _steps(states, table, count, (high, length, low))
    before = lines.copy()
    for at in range(1, length):
        lines[:, at] = np.minimum(lines[:, at], lines[:, at - 1] + steps[:, at - 1])
    for at in range(length - 1, 0, -1):
        lines[:, at - 1] = np.minimum(lines[:, at - 1], lines[:, at] + steps[:, at - 1])
    fell[0] |= (before != lines).any()


def sweep_people(launch, labels, epsilon, people, low, column_bits, watch, fell):
    size = 1 << (people + column_bits)
    assert len(epsilon) == people
    assert launch.blocks * size >= labels.size > (launch.blocks - 1) * ((1 << people) * 1)
    assert launch.shared >= 8 * ((size - 1) + ((size - 1) >> 4) + ((size - 1) >> 8 << 3) + 1)
    assert 1 <= people <= 13
    before = labels.copy()
    for person in range(people):
        lines = labels.reshape(-1, 2, low << person)
        np.minimum(lines, lines.min(axis=1, keepdims=True) + epsilon[person], out=lines)
    if watch:
        fell[0] |= (before != labels).any()


def sweep_moves(launch, labels, states, table, count, high, length, low, sources, targets, kinds, moves, fell):
    lines = _lines(labels, high, length, low)
    kept = None if count == 1 else _lines(states, high, length, low).astype(np.int64)
    assert len(sources) == len(targets) == len(kinds) == moves
    before, again = lines.copy(), True
    while again:
        latest = lines.copy()
        for source, target, kind in zip(sources.tolist(), targets.tolist(), kinds.tolist(), strict=True):
            own = table[kind * count * count : (kind + 1) * count * count]
            step = own[0] if kept is None else own[kept[:, source] * count + kept[:, target]]
            lines[:, target] = np.minimum(lines[:, target], lines[:, source] + step)
        again = bool((latest != lines).any())
    fell[0] |= (before != lines).any()


def _neighbours(size, axes, rows, targets, kinds, axis_count):
    """All arcs: source, target, the start of the table, and its states."""
    assert axis_count <= 64
    datasets = np.arange(size)
    for length, low, row, table, count in axes.reshape(axis_count, 5).tolist():
        position = datasets // low % length
        if row < 0:
            for step in (-1, 1):
                there = datasets[(position + step >= 0) & (position + step < length)]
                yield there, there + step * low, np.full(len(there), table), count
            continue
        for at in range(length):
            for arc in range(rows[row + at], rows[row + at + 1]):
                there = datasets[position == at]
                yield (
                    there,
                    there + (targets[arc] - at) * low,
                    np.full(len(there), table + kinds[arc] * count**2),
                    count,
                )


def _cells(states, source, target, table, count):
    return table + (states[source].astype(np.int64) * count + states[target] if count > 1 else 0)


def meet_neighbours(launch, *arguments):
    *space, paths, along, span, size, answers, states, points, labels, boundary = arguments
    assert size == len(labels) == len(answers)
    if paths:
        assert (space[0].reshape(-1, 5)[:, 2] < 0).all()
        assert 0 <= along < space[-1]
        assert span >= 1
    labels[:] = FAR
    for source, target, table, count in _neighbours(size, *space):
        found = points[_cells(states, source, target, table, count)]
        np.minimum.at(labels, source, np.where(answers[source] != answers[target], found, FAR))
    boundary[:] = labels < FAR


def find_links(launch, *arguments):
    *space, size, labels, own, roles, has_roles, states, tables, links, tied, notes = arguments
    assert size == len(labels) == len(own)
    if not tied:
        links[:] = -1
    unlinked = (own == 0) & (labels < FAR) & (links < 0)
    rooted = (own != 0) | (links >= 0)
    for dataset, other, table, count in _neighbours(size, *space):
        step = tables[_cells(states, other, dataset, table, count)]
        fits = unlinked[dataset] & (links[dataset] < 0) & (step < FAR) & (labels[other] + step == labels[dataset])
        fits &= (rooted[other] & (labels[other] == labels[dataset])) if tied else labels[other] < labels[dataset]
        if has_roles:
            fits &= (roles[dataset] != 0) | (roles[other] != 0)
        links[dataset[fits]] = other[fits]
    notes[0] = (unlinked & (links < 0)).sum()


def survey_steps(
    launch, z, answers, pinned, states, tables, size, steps, step_count, span, states_matter, listed, room, notes
):
    """Lists what is not plain, and one dataset with the least slack of the others."""
    assert size == len(z) == len(answers) == len(pinned)
    assert len(steps) == 5 * step_count > 0
    assert step_count <= 4
    assert span >= 1
    datasets, quarter = np.arange(size), FAR // 2
    plain, neighbours, sign = np.abs(z) < quarter, np.zeros(size, int), np.where(answers == 1, 1, -1)
    slack, held = np.full(size, FAR), np.zeros(size, bool)
    assert bool(states_matter) == (steps.reshape(-1, 5)[:, 4] > 1).any()
    for length, stride, first, cell, count in steps.reshape(-1, 5).tolist():
        assert length > 1
        assert first == tables[cell]
        position = datasets // stride % length
        for step in (-1, 1):
            u = datasets[(position + step >= 0) & (position + step < length)]
            v = u + step * stride
            neighbours[u] += 1
            epsilon = tables[_cells(states, u, v, cell, count)]
            assert (epsilon > 0).all()
            plain[u] &= epsilon < FAR
            plain[u] &= (answers[u] == answers[v]) & (np.abs(z[v]) < quarter) & ((z[u] < 0) == (z[v] < 0))
            plain[u] &= np.abs(np.where(plain[u], z[u] - z[v], 0)) <= epsilon
            slack[u] = np.minimum(slack[u], np.where(plain[u], z[u] + epsilon - z[v], FAR))
            held[u] |= sign[u] * z[v] + epsilon == sign[u] * z[u]
    notes[0] += neighbours[plain].sum()
    found = datasets[~plain].tolist()
    if plain.any():
        best = int(np.argmin(np.where(plain, slack, FAR)))
        notes[0] -= neighbours[best]
        found.append(best)
    listed[: min(len(found), room)] = found[:room]
    notes[6] = len(found)
    loose = plain & ~held & (pinned == 0)
    notes[3] = np.argmax(loose) if loose.any() else -1


def survey_arcs(
    launch, z, answers, pinned, states, listed, is_listed, count, axes, axis_count, kinds, leads_to, starts, changes,
    tables, cells, values, value_places, triples, triple_places, first, failing, halved, notes, worst,
):  # fmt: skip
    assert len(z) == len(answers) == len(pinned)
    assert set(answers.tolist()) <= {1, 2}
    assert set(pinned.tolist()) <= {0, 1}
    datasets = listed[:count] if is_listed else np.arange(count)
    assert is_listed or count == len(z)
    looked_at = np.zeros(len(z), bool)
    looked_at[datasets] = True
    assert looked_at.sum() == count
    sign = np.where(answers == 1, 1, -1)
    on_boundary, held = np.zeros(len(z), bool), np.zeros(len(z), bool)
    plain = [(FAR, FAR, FAR, 0)]
    for positions, apart, begin, end, table, state_count in axes.reshape(axis_count, 6).tolist():
        for change in range(begin, end):
            u = datasets
            position = u // apart % positions
            to = leads_to[starts[change] + position]
            u, kind = u[to >= 0], kinds[starts[change] + position][to >= 0]
            v = u + (to - position)[to >= 0] * apart
            cell = table + kind.astype(np.int64) * state_count**2
            cell += states[u].astype(np.int64) * state_count + states[v] if state_count > 1 else 0
            u, v, cell = (column[tables[cell] < FAR] for column in (u, v, cell))
            epsilon = tables[cell]
            notes[0] += len(u)
            differ, better, beside = answers[u] != answers[v], sign[u] * z[u], sign[u] * z[v]
            on_boundary[u[differ]] = True
            tight = ~differ & (beside < better) & (beside + epsilon == better)
            held[u[tight & ~(bool(halved) & (beside < 0) & (better > 0))]] = True
            across = bool(halved) & (z[u] < 0) & (z[v] > 0)
            notes[1] += (across & (z[v] - z[u] >= epsilon)).sum()
            for at in np.flatnonzero(across).tolist():
                places = [_place(values, int(z[end][at]) + 2 * FAR) for end in (u, v)]
                if None in places:
                    notes[5] = 1
                    continue
                place = _place(triples, (places[0] * value_places + places[1]) * cells + int(cell[at]) + 1)
                first[place] = min(int(first[place]), int(u[at]) * changes + change)
                notes[2] += failing[place]
            kept = ~across & (z[u] != FAR) & (z[v] != -FAR)
            slack = np.where((z[u] == -FAR) | (z[v] == FAR), -FAR, z[u] + epsilon - z[v])
            notes[2] += (kept & (slack < 0)).sum()
            plain += list(zip(*(x[kept].tolist() for x in (slack, u, v, epsilon)), strict=True))
    loose = looked_at & (pinned == 0) & ~held & (sign * z < FAR)
    for note, found in ((4, on_boundary & (pinned == 0)), (3, loose)):
        if found.any():
            notes[note] = min(np.argmax(found), np.uint64(notes[note]))
    worst[:] = (FAR, FAR, FAR, 0) * launch.blocks
    worst[:4] = min(plain)


def largest_changes(
    launch, z, states, size, axis, kinds, leads_to, starts, changes, tables, unbound, values, value_places, pairs,
    pair_places, first, halved, notes, edges,
):  # fmt: skip
    assert len(z) == size
    positions, apart, begin, end, table, count = axis.tolist()
    found = []
    for change in range(begin, end):
        u = np.arange(size)
        position = u // apart % positions
        to = leads_to[starts[change] + position]
        u, v = u[to > position], (u + (to - position) * apart)[to > position]
        cell = table + kinds[starts[change] + position][to > position].astype(np.int64) * count**2
        cell += states[u].astype(np.int64) * count + states[v] if count > 1 else 0
        for source, target, epsilon in zip(u.tolist(), v.tolist(), tables[cell].tolist(), strict=True):
            before, after = int(z[source]), int(z[target])
            if epsilon == FAR and not unbound:
                continue
            if halved and before * after < 0:
                places = [_place(values, end + 2 * FAR) for end in (before, after)]
                if None in places:
                    notes[5] = 1
                    continue
                place = _place(pairs, places[0] * value_places + places[1] + 1)
                first[place] = min(int(first[place]), source * changes + change)
                continue
            difference = abs(_tail(before, halved) - _tail(after, halved))
            found.append((abs(before - after), difference, source, target, before, after))
    edges[:] = [-1, -1, 0, 0] * (2 * launch.blocks)
    if found:
        edges[:4] = max(found, key=lambda one: (one[0], one[1], -one[2]))[2:]
        edges[4:8] = max(found, key=lambda one: (one[1], one[0], -one[2]))[2:]


def _tail(units, halved):
    if abs(units) == FAR:
        return 0.0
    tail = np.exp(-abs(units) / GRID)
    return 0.5 * tail if halved else tail / (1.0 + tail)


def measure_values(launch, z, answers, size, axes, axis_count, factors, halved, notes, worst, sums):
    assert len(z) == len(answers) == size
    better, at = np.where(answers == 1, z, -z), np.arange(size)
    notes[:] = (better < 0).sum(), (better == 0).sum()
    errors = np.array([1 - _tail(one, halved) if one < 0 else _tail(one, halved) for one in better.tolist()])
    for positions, apart, begin in axes[: 3 * axis_count].reshape(-1, 3).tolist():
        errors = errors * factors[begin + at // apart % positions]
    worst[:] = [FAR, -1] * launch.blocks
    worst[:2] = better.min(), np.argmin(better)
    sums[:] = 0.0
    sums[-1] = errors.sum()


def _place(places, key):
    """The place of a key in a set; None if it is full."""
    found = np.flatnonzero(places == key)
    free = np.flatnonzero(places == 0)
    if not len(found) and not len(free):
        return None
    at = int(found[0] if len(found) else free[0])
    places[at] = key
    return at


KERNELS = {
    kernel.__name__: kernel
    for kernel in (
        read_labels,
        write_labels,
        sign_labels,
        check_labels,
        mark_own,
        sweep_path,
        sweep_watched_path,
        sweep_people,
        sweep_moves,
        meet_neighbours,
        find_links,
        survey_steps,
        survey_arcs,
        largest_changes,
        measure_values,
    )
}


def _all_devices() -> list[Any]:
    """The double, and the device of this machine if there is one, with the marker `gpu`."""
    found = [pytest.param(NumpyDevice(), id="double")]
    with suppress(DeviceError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of CuPy when it is imported
        found.append(pytest.param(devices.find_device(), id="device", marks=pytest.mark.gpu))
    return found


DEVICE = pytest.mark.parametrize("device", _all_devices())
