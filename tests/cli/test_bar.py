"""The progress bar, on a pseudo terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest

from hetdp import progress
from hetdp.cli import (
    output,
)
from hetdp.cli import output as bar
from hetdp.cli.output import Bar, Output, line

TIMEOUT = 540.0  # seconds after which a test has failed
SCRIPT = """
import sys, time
from hetdp import progress
from hetdp.files import problems
def read_problem(*_, **__):
    progress.report_stage("reading the problem")
    {what}
problems.read_problem = read_problem
from hetdp.cli.main import main
sys.exit(main(["boundary", "poll.json"]))
"""


class Terminal:
    """The controlling end of a pseudo terminal, with the output written to it so far."""

    def __init__(self, columns: int = 80) -> None:
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.seen = ""

    def close(self) -> None:
        os.close(self.ours)
        os.close(self.theirs)

    def read_until(self, words: str) -> None:
        while words not in self.seen:
            self.read_some()

    def read_some(self) -> None:
        assert select.select([self.ours], [], [], TIMEOUT)[0], f"nothing more was written than {self.seen!r}"
        self.seen += os.read(self.ours, 4096).decode()

    def read_all(self) -> None:
        os.write(self.theirs, b"the end")
        self.read_until("the end")
        self.seen = self.seen.removesuffix("the end")

    def screen(self) -> list[str]:
        """The lines on the screen, without trailing blanks."""
        lines, at = list[list[str]]([[]]), 0
        for character in self.seen:
            if character == "\n":
                lines.append([])
            elif character == "\r":
                at = 0
            else:
                lines[-1][at : at + 1] = [character]
                at += 1
        return ["".join(cells).rstrip() for cells in lines]


class InProcessTerminal(Terminal):
    """A terminal that becomes standard error of this process when a bar is created."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.monkeypatch = monkeypatch
        self.stream = open(self.theirs, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (closed by the fixture)

    def bar(self, *stages: str, shown: bool = True) -> Bar:
        self.monkeypatch.setattr(sys, "stderr", self.stream)  # not sooner: pytest sets its own when a test begins
        return Bar(stages, shown)


@pytest.fixture
def terminal(monkeypatch):
    """A terminal on which the bar appears at once."""
    monkeypatch.setattr(bar, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(bar, "REDRAW_SECONDS", 0.001)
    monkeypatch.setenv("TERM", "xterm")
    end = InProcessTerminal(monkeypatch)
    yield end
    end.close()


def test_it_shows_the_stage_and_leaves_nothing_behind(terminal):
    with terminal.bar("reading", "searching"):
        progress.report_stage("reading the problem")
        terminal.read_until("reading the problem")
        progress.report_stage("searching far and wide")
        terminal.read_until("[############")
        terminal.read_until("s, searching far and wide")
    terminal.read_all()
    assert terminal.screen() == [""]


def test_it_is_redrawn_while_another_thread_works(terminal):
    with terminal.bar("searching"):
        progress.report_stage("searching")
        first = len(terminal.seen)
        while terminal.seen.count("\r") < 5:  # this thread calls nothing of the bar
            terminal.read_some()
    assert len(terminal.seen) > first


def test_it_makes_room_for_messages_and_returns(terminal):
    with terminal.bar("searching") as shown:
        terminal.read_until("working")
        Output(shown, quiet=False).say("found something")
        terminal.read_until("found something")
        terminal.seen = terminal.seen.partition("found something")[2]
        terminal.read_until("working")
    terminal.read_all()
    assert terminal.screen()[-1] == ""


def test_it_disappears_when_data_is_printed(terminal, capsys):
    with terminal.bar("searching") as shown:
        terminal.read_until("working")
        Output(shown, quiet=False).emit(["data"])
        terminal.read_all()
        assert terminal.screen() == [""]
        time.sleep(0.01)
        terminal.read_all()
        assert terminal.screen() == [""]
    assert capsys.readouterr().out == "data\n"


def test_an_error_leaves_nothing_behind(terminal):
    def fail() -> None:
        with terminal.bar("searching"):
            terminal.read_until("working")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    terminal.read_all()
    assert terminal.screen() == [""]


def test_it_fits_into_a_narrow_terminal(terminal):
    fcntl.ioctl(terminal.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    with terminal.bar("searching"):
        progress.report_stage("searching for a very long time indeed, with many words")
        terminal.read_until("s, se")
    terminal.read_all()
    assert max(map(len, terminal.seen.split("\r"))) <= 39


@pytest.mark.parametrize("reason", ["quiet", "no terminal", "a terminal that cannot"])
def test_it_is_not_drawn(terminal, monkeypatch, reason):
    if reason == "no terminal":
        terminal.stream = io.StringIO()
    if reason == "a terminal that cannot":
        monkeypatch.setenv("TERM", "dumb")
    with terminal.bar("searching", shown=reason != "quiet"):
        progress.report_stage("searching")
        time.sleep(0.02)
    terminal.read_all()
    assert terminal.seen == ""


def test_a_short_command_shows_no_progress_bar(terminal, monkeypatch):
    monkeypatch.setattr(bar, "DELAY_SECONDS", 60.0)
    with terminal.bar("searching"):
        progress.report_stage("searching")
    terminal.read_all()
    assert terminal.seen == ""


def test_a_repeated_stage_does_not_move_the_bar_back(terminal):
    with terminal.bar("searching", "proving"):
        for words in ("searching", "proving every edge", "searching again"):
            progress.report_stage(words)
        terminal.read_until("searching again")
        assert "[############" in terminal.seen.rpartition("\r")[2]


@pytest.mark.parametrize("stages", range(1, 7))
def test_its_length_is_constant(stages):
    for place in range(stages):
        drawn = line(place, stages, "", 12.3)
        assert drawn.index("]") == bar.BAR_LENGTH + 1


def run_on_terminal(what: str) -> tuple[Terminal, subprocess.Popen[bytes]]:
    end = Terminal()
    command = [sys.executable, "-c", SCRIPT.format(what=what)]
    environment, pipe = os.environ | {"TERM": "xterm"}, subprocess.PIPE
    return end, subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=end.theirs, env=environment)


def test_a_failing_command_leaves_only_its_message():
    end, process = run_on_terminal("sys.stdin.readline(); raise MemoryError")
    with process:
        end.read_until(" s, reading the problem")
        process.stdin.write(b"go on\n")
        process.stdin.flush()
        assert process.wait() == 1
    end.read_all()
    assert end.screen() == ["hetdp: there is not enough free memory for this problem.", ""]


def test_an_interrupt_leaves_nothing_behind():
    end, process = run_on_terminal("sys.stdin.readline()")
    with process:
        end.read_until(" s, reading the problem")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    end.read_all()
    assert end.screen() == ["", "hetdp: interrupted", ""]


def test_the_mark_of_a_bar_moves_through_its_stage():
    marks = [output.line(1, 3, "x", elapsed).index("]") for elapsed in (0.0, 5.0)]
    assert marks == [25, 25]
    assert output.line(0, 2, "reading", 0.0) == "[#.......................] 0 s, reading"
    cells = {output.line(1, 2, "x", at / 10 + 0.05)[1:25] for at in range(12)}
    assert len(cells) == 12
    assert all(one.startswith("#" * 12) for one in cells)
