"""The exact draw in forked children and in threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import flint
import pytest

import hetdp
from hetdp import precision
from hetdp.releases.draw import Coin, draw, tail_bounds
from tests.releases import exact

SOURCES = str(Path(hetdp.__file__).parent.parent)
FORKING = """
import os, sys
from hetdp.releases.draw import Coin, draw

coin = Coin("Laplace", 0.0)
before = [coin.toss() for _ in range(8)]  # so that everything that could be kept is there already
places = [os.pipe() for _ in range(2)]
for _, end in places:
    if not os.fork():
        stream = [draw("Laplace", 0.0) for _ in range(128)] + [coin.toss() for _ in range(128)]
        os.write(end, "".join(map(str, map(int, stream))).encode())
        os._exit(0)
own = [draw("Laplace", 0.0) for _ in range(128)] + [coin.toss() for _ in range(128)]
print("".join(map(str, map(int, own))))
for start, end in places:
    os.close(end)
    print(os.read(start, 256).decode())
"""
LOCKED = """
import os, threading
from flint import ctx
from hetdp.precision import restore_precision
from hetdp.releases.draw import draw

held, done = threading.Event(), threading.Event()

def hold():
    with restore_precision(ctx):
        held.set()
        done.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if not child:
    draw("Laplace", 0.5)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done.set()
thread.join()
"""


def run(script: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": SOURCES, "PYTHONWARNINGS": "ignore"}  # that a fork with threads is risky
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, timeout=540, check=True
    )
    return result.stdout.split()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forked_children_and_their_parent_never_share_a_stream():
    streams = run(FORKING)
    assert [len(stream) for stream in streams] == [256] * 3
    halves = {stream[:128] for stream in streams} | {stream[128:] for stream in streams}
    assert len(halves) == 6


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_can_draw_although_a_thread_of_its_parent_was_computing():
    assert run(LOCKED) == ["0"]


def test_threads_draw_each_their_own_bits_and_leave_the_precision_as_it_was():
    before = flint.ctx.prec
    streams: list[list[bool]] = [[] for _ in range(6)]
    coin = Coin("logit", 0.0)

    def fill(stream: list[bool]) -> None:
        stream.extend(draw("Laplace", 0.0) for _ in range(300))
        stream.extend(coin.toss() for _ in range(300))

    threads = [threading.Thread(target=fill, args=(stream,)) for stream in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(stream) for stream in streams] == [600] * 6
    assert len({tuple(stream) for stream in streams}) == 6
    assert flint.ctx.prec == before


@pytest.mark.parametrize("coordinate", ["Laplace", "logit", "probit"])
def test_a_changed_precision_makes_bounds_wider_but_never_wrong(monkeypatch, coordinate):
    def compute_at_changed_precision(context, bits, compute, *arguments):
        return precision.compute_at_precision(context, found[-1], compute, *arguments)

    monkeypatch.setattr("hetdp.releases.draw.compute_at_precision", compute_at_changed_precision)
    tail = exact.tail(coordinate, 1.25)
    found, widths = [], []
    for meddling in (2, 10, 53, 127, 128, 1000):
        found.append(meddling)
        low, high = tail_bounds(coordinate, 1.25, 128)
        assert low << exact.SCALE - 128 <= tail.low
        assert high << exact.SCALE - 128 >= tail.high
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 2**100
    assert widths[-1] == 1


def test_a_draw_at_a_changed_precision_only_needs_more_bits(monkeypatch):
    asked = []

    def bits(count: int) -> int:
        asked.append(count)
        return int.from_bytes(os.urandom(count // 8), "big")

    monkeypatch.setattr(
        "hetdp.releases.draw.compute_at_precision",
        lambda context, bits, compute, *rest: precision.compute_at_precision(
            context, 4 if bits < 200 else bits, compute, *rest
        ),
    )
    draws = 2000
    ones = sum(draw("logit", -1.0, bits) for _ in range(draws))
    assert abs(ones - draws * 0.2689) < 8 * (draws * 0.2689 * 0.7311) ** 0.5
    assert draws < len(asked) < 2 * draws
