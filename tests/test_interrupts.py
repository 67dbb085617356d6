"""Ctrl-C, and readers that stop reading."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from hetdp import duck
from hetdp.interrupts import delay_interrupts


def test_an_interrupt_waits_until_a_module_is_loaded(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "slow_module.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\nloaded = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), delay_interrupts():
        import slow_module  # type: ignore[import-not-found]  # noqa: F401
    assert sys.modules["slow_module"].loaded
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupted_query_of_duckdb_is_an_interrupt_and_other_errors_are_unchanged():
    with pytest.raises(KeyboardInterrupt), duck.connection():
        raise RuntimeError("Query interrupted")
    with pytest.raises(RuntimeError, match="something else"), duck.connection():
        raise RuntimeError("something else")
    with pytest.raises(MemoryError), duck.connection():
        raise duck.load().OutOfMemoryException("too little")


def test_the_demo_is_quiet_when_its_pipe_is_closed():
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "hetdp.cli.demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as demo:
        assert demo.stdout is not None
        assert demo.stderr is not None
        demo.stdout.readline()
        demo.stdout.close()
        assert demo.stderr.read() == b""
        assert demo.wait() == 0
