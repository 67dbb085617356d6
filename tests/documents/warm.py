"""A process that has already loaded hetdp and runs each `hetdp` command and example of a page in a forked copy.

Loading everything that `hetdp ask` needs takes longer than most commands on the pages. `programs` returns a folder for
the path. Its `hetdp` passes its arguments, working folder, environment and standard streams to the loaded process,
which forks and runs the command line's own `main`. Its `python` does the same for `python -m examples.NAME` and is
Python otherwise. Output and exit code are those of a real command; `tests/cli/test_main.py` and
`tests/test_packaging.py` start real ones.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from hetdp.cli.main import main as hetdp_main

SOCKET = "socket"
LARGEST = 1 << 20  # of a request, in bytes
CLIENT = """\
#!{python} -IS
import json, os, socket, sys
if {is_python} and (sys.argv[1:2] != ["-m"] or not sys.argv[2].startswith("examples.")):
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
    server.connect({address!r})
    words = sys.argv[2:] if {is_python} else ["hetdp", *sys.argv[1:]]
    asked = {{"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}}
    socket.send_fds(server, [json.dumps(asked).encode()], [0, 1, 2])
    code = int(server.recv(16) or 99)
os._exit(code)
"""


_started: list[Path] = []


def programs(environment: dict[str, str]) -> Path:
    """A folder with a `hetdp` that runs in the loaded process, which is started at the first call."""
    if not _started:
        _started.append(_start(environment))
    return _started[0]


def _start(environment: dict[str, str]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="hetdp-"))
    command = [sys.executable, "-m", "tests.documents.warm", str(folder / SOCKET)]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    atexit.register(_end, process, folder)
    assert process.stdout is not None
    assert process.stdout.readline() == b"listening\n"
    for name in ("hetdp", "python"):
        client, address = folder / name, str(folder / SOCKET)
        client.write_text(CLIENT.format(python=sys.executable, address=address, is_python=name == "python"))
        client.chmod(0o700)
    return folder


def _end(process: subprocess.Popen[bytes], folder: Path) -> None:
    process.kill()
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def serve(address: str) -> None:
    """Loads what commands need and runs each requested command in a process of its own."""
    _load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the copies are not waited for
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(address)
        listening.listen()
        os.write(1, b"listening\n")
        while True:
            client, _ = listening.accept()
            if not os.fork():
                listening.close()
                _answer(client)
            client.close()


def _load() -> None:
    """Loads what most commands need; a copy loads the rest."""
    import_module("duckdb")
    for name in ("engines.registry", "engines.cpu", "engines.reference", "tables.ask", "releases.ledger.ledger"):
        import_module(f"hetdp.{name}")
    for verb in ("ask", "audit", "check", "design", "explain", "extend", "ledger", "record", "release", "verify"):
        import_module(f"hetdp.cli.{verb}")


def _answer(client: socket.socket) -> None:
    """Runs the command of a client and sends it the exit code."""
    code = 99
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        request, streams, *_ = socket.recv_fds(client, LARGEST, 3)
        command = os.fork()
        if not command:
            client.close()
            code = _run(json.loads(request), streams)
        else:
            for stream in streams:
                os.close(stream)
            code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
            client.send(str(code if code >= 0 else 128 - code).encode())
    finally:
        os._exit(code)


def _run(request: dict[str, Any], streams: list[int]) -> int:
    """Runs a command with these streams; returns its exit code."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115 - by number
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv, code = request["words"], 0
    if sys.argv[0] == "hetdp":
        code = hetdp_main()
    else:
        try:
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        except SystemExit as end:
            code = int(end.code or 0)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    serve(sys.argv[1])
