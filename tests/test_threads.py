"""Pieces of work in threads: each is done once, and an error in any thread reaches the caller."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from hetdp import threads
from hetdp.threads import run_in_threads


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_every_piece_is_done_once(cores: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(threads, "CORES", cores)
    done: list[int] = []
    run_in_threads(done.append, range(1000))
    assert sorted(done) == list(range(1000))


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_an_error_in_a_thread_is_raised_in_the_callers(cores: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(threads, "CORES", cores)
    meeting, caller, before = threading.Barrier(cores), threading.get_ident(), threading.active_count()

    def work(piece: int) -> None:
        meeting.wait(60)  # every thread has a piece
        if threading.get_ident() != caller or cores == 1:
            raise ValueError(f"piece {piece}")

    with pytest.raises(ValueError, match="piece"):
        run_in_threads(work, range(cores))
    assert threading.active_count() == before


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_no_further_piece_is_begun_after_an_error(error: type[BaseException], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(threads, "CORES", 2)
    both, done = threading.Barrier(2), list[int]()

    def work(piece: int) -> None:
        done.append(piece)
        both.wait(60)
        if threading.current_thread() is threading.main_thread():
            raise error
        time.sleep(0.2)

    with pytest.raises(error):
        run_in_threads(work, range(100))
    assert len(done) == 2


def test_few_entries_are_left_to_the_callers_thread(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(threads, "CORES", 2)
    seen: set[int] = set()
    run_in_threads(lambda _: seen.add(threading.get_ident()), range(100), threads.FEWEST_FOR_THREADS - 1)
    assert seen == {threading.get_ident()}


def test_a_thread_that_has_not_begun_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    late, done = list[Callable[[], None]](), list[int]()
    monkeypatch.setattr(threads, "CORES", 3)
    monkeypatch.setattr(threads, "start_new_thread", lambda function, arguments: late.append(function))
    run_in_threads(done.append, iter(range(5)))
    assert (len(late), done) == (2, [0, 1, 2, 3, 4])
    late[0]()
    assert done == [0, 1, 2, 3, 4]
