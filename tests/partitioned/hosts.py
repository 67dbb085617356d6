"""Several hosts on one machine: network namespaces joined by a bridge, with TLS between them and one shared folder.

A driver, a scheduler and workers have a network of their own each, and are started by the commands of
docs/how-to/cluster.md, with addresses and folders put in place. Where no namespaces can be made, the hosts are
addresses of loopback, and what would be cut off is stopped instead: it does not answer either. Names hold the number
of this process and random letters, so that test runs do not meet, and leftovers of one that was killed are found;
everything is removed at the end.
"""

from __future__ import annotations

import atexit
import datetime
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.partitioned.processes import TIMEOUT

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "cluster.md"
HOSTS = ("first", "second", "third", "me")  # as the page calls them: the scheduler's, two workers', the user's
PREFIX = "hetdp-"
SHORT_TIMEOUTS = {  # so that tests do not wait for the default timeouts of half a minute
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "11s",  # the least that Dask allows
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "6s",
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
}


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def can_make_namespaces() -> bool:
    """Whether hosts can have networks of their own here."""
    name = f"{PREFIX}{os.getpid()}-try-{os.urandom(4).hex()}"
    try:
        if os.environ.get("HETDP_TEST_LOOPBACK", "") not in ("", "0"):
            return False
        _ip("netns", "add", name)
        try:
            _ip("-n", name, "link", "add", "name", "bridge0", "type", "bridge")
            _ip("-n", name, "link", "add", "name", "here", "type", "veth", "peer", "name", "there")
        finally:
            _ip("netns", "del", name)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def page_commands(heading: str, page: Path = PAGE) -> str:
    """The commands that the page has below a heading, as one script."""
    text = page.read_text(encoding="utf-8")
    section = re.search(rf"^### {re.escape(heading)}\n(.*?)(?=^##)", text, re.MULTILINE | re.DOTALL)
    assert section is not None, heading
    return "".join(re.findall(r"^```text\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL))


class Hosts:
    """Four hosts, their certificates and a shared folder.

    Attributes:
        shared: the folder that all of them reach.
        keys: the folder with the certificates.
        has_namespaces: whether each host has its own network namespace.
    """

    def __init__(self, has_namespaces: bool) -> None:
        self.has_namespaces = has_namespaces
        self._sweep()
        self._base = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        atexit.register(self.close)
        self.shared, self.keys = self._base / "shared", self._base / "keys"
        self.shared.mkdir(0o700)
        self._names = {host: f"{self._base.name}-{host}" for host in (*HOSTS, "switch")}  # of this run alone
        self._address = {
            host: f"10.213.7.{at}" if has_namespaces else f"127.0.0.{at + 10}" for at, host in enumerate(HOSTS, 1)
        }
        self._ports = {port: str(port if has_namespaces else _free_port()) for port in (8786, 8788, 8789)}
        self._started: dict[str, list[subprocess.Popen[Any]]] = {host: [] for host in HOSTS}
        self._cut: set[str] = set()
        try:
            if has_namespaces:
                self._make_networks()
            self.make_keys(self.keys)
        except BaseException:
            self.close()
            raise

    def _make_networks(self) -> None:
        switch = self._names["switch"]
        _ip("netns", "add", switch)
        _ip("-n", switch, "link", "add", "name", "bridge0", "type", "bridge")
        _ip("-n", switch, "link", "set", "bridge0", "up")
        for host in HOSTS:
            name = self._names[host]
            _ip("netns", "add", name)
            _ip("-n", name, "link", "add", "name", "eth0", "type", "veth", "peer", "name", host, "netns", switch)
            _ip("-n", switch, "link", "set", host, "master", "bridge0", "up")
            _ip("-n", name, "address", "add", f"{self._address[host]}/24", "dev", "eth0")
            for device in ("eth0", "lo"):
                _ip("-n", name, "link", "set", device, "up")

    def _sweep(self) -> None:
        """Removes the leftovers of test runs that were killed."""
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}[0-9]*-*"):
            if not psutil.pid_exists(int(folder.name.split("-")[1])):
                shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError, subprocess.CalledProcessError):
            namespaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
            for name, number in re.findall(rf"^({PREFIX}(\d+)-\S+)", namespaces, re.MULTILINE):
                if not psutil.pid_exists(int(number)):
                    inside = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False)
                    for pid in map(int, inside.stdout.split()):
                        with suppress(OSError):
                            os.kill(pid, signal.SIGKILL)
                    subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    @property
    def scheduler(self) -> str:
        """The address of the scheduler."""
        return self.substitute("tls://first:8786")

    def substitute(self, text: str) -> str:
        """Replaces names, ports and folders of the page by those of these hosts."""
        for host, address in self._address.items():
            text = re.sub(rf"(://|--host ){host}\b", rf"\g<1>{address}", text)
        for port, here in self._ports.items():
            text = text.replace(str(port), here)
        return text.replace("/etc/hetdp", str(self.keys)).replace("/shared", str(self.shared))

    def command(self, host: str, words: list[str]) -> list[str]:
        """The command that runs `words` on a host."""
        return ["ip", "netns", "exec", self._names[host], *words] if self.has_namespaces else words

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of all processes: this source tree and short timeouts."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("DASK_", "HETDP_"))}
        inherited |= {"HETDP_COMPILE": "now", "HETDP_TEST_LONG": str(TIMEOUT)}
        path = os.pathsep.join([str(Path(sys.executable).parent), inherited.get("PATH", os.defpath)])
        return (
            inherited
            | SHORT_TIMEOUTS
            | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "PATH": path}
            | more
        )

    def make_keys(self, keys: Path) -> None:
        """Makes an authority and certificates as the page says, or the same without OpenSSL's program."""
        if shutil.which("openssl"):
            script = self.substitute(page_commands("Make certificates")).replace(str(self.keys), str(keys))
            subprocess.run(["bash", "-ec", script], check=True, capture_output=True)
            return
        keys.mkdir(mode=0o700)
        authority = _make_certificate("hetdp cluster", None, keys / "ca")
        for host in HOSTS:
            _make_certificate(host, authority, keys / host)

    def _run_page(
        self, heading: str, host: str, change: Callable[[str], str] = str, outer: str = ""
    ) -> subprocess.Popen[Any]:
        """Runs the commands below a heading of the page on a host; `outer` is a command that wraps them."""
        script = change(self.substitute(page_commands(heading)))
        log = (self._base / f"{heading}-{os.urandom(4).hex()}.log").open("wb")
        started = subprocess.Popen(
            self.command(host, [*outer.split(), "bash", "-ec", script]),
            env=self.environment(TMPDIR=str(self._base)),
            cwd=self._base,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        log.close()
        self._started[host].append(started)
        started.log = Path(log.name)  # type: ignore[attr-defined]
        return started

    def start_scheduler(self) -> subprocess.Popen[Any]:
        """Starts the scheduler, as the page says."""
        self._scheduler = self._run_page("Start the scheduler", "first")
        self.wait_for(self._scheduler, "Scheduler at:")
        return self._scheduler

    def start_worker(
        self, host: str = "second", wait: bool = True, change: Callable[[str], str] = str, outer: str = ""
    ) -> subprocess.Popen[Any]:
        """Starts a worker as the page says, optionally on another host or with a changed command.

        Several workers on one host choose their ports themselves.
        """

        def adapt(script: str) -> str:
            script = script.replace(f"--host {self._address['second']}", f"--host {self._address[host]}")
            script = script.replace("second.", f"{host}.")
            script = script.replace("--memory-limit 8GB", "--memory-limit 800MB")
            script = script.replace("--death-timeout 60", f"--death-timeout {TIMEOUT}")
            return change(re.sub(r" --(worker|nanny)-port \d+", "", script))

        started = self._run_page("Start the workers", host, change=adapt, outer=outer)
        if wait:
            self.wait_for(started, "Registered to:")
        return started

    @staticmethod
    def wait_for(started: subprocess.Popen[Any], words: str, times: int = 1) -> None:
        """Waits until the log of a process contains some words."""
        log, end = Path(started.log), time.monotonic() + TIMEOUT  # type: ignore[attr-defined]
        while (text := log.read_text(errors="replace")).count(words) < times:
            assert started.poll() is None, text
            assert time.monotonic() < end, text
            time.sleep(0.05)

    def registered(self) -> set[str]:
        """The hosts whose workers the scheduler knows, as its log says."""
        known = set[str]()
        log = self._scheduler.log.read_text(errors="replace")  # type: ignore[attr-defined]
        for change, worker in re.findall(r"(Register|Remove) worker addr: \w+://(\S+)", log):
            known = known | {worker} if change == "Register" else known - {worker}
        addresses = {worker.rpartition(":")[0] for worker in known}
        return {host for host, address in self._address.items() if address in addresses}

    @staticmethod
    def processes_of(started: subprocess.Popen[Any]) -> list[psutil.Process]:
        """The processes of a host's command, the innermost last: the nanny, and its worker."""
        try:
            top = psutil.Process(started.pid)
            return [top, *top.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def kill(self, started: subprocess.Popen[Any]) -> None:
        """Kills a command with all its processes, but for those that then remove its semaphores, and end."""
        for process in self.processes_of(started) if started.poll() is None else ():
            with suppress(psutil.NoSuchProcess):
                if not any("resource_tracker" in word for word in process.cmdline()):
                    process.kill()
        started.wait()
        for running in self._started.values():
            if started in running:
                running.remove(started)

    def cut(self, host: str) -> None:
        """Disconnects a host from the network."""
        self._cut.add(host)
        if self.has_namespaces:
            _ip("-n", self._names["switch"], "link", "set", host, "down")
        else:
            self._signal_others("first" if host == "me" else host, signal.SIGSTOP)

    def join(self, host: str) -> None:
        """Connects a host again."""
        self._cut.discard(host)
        if self.has_namespaces:
            _ip("-n", self._names["switch"], "link", "set", host, "up")
        else:
            self._signal_others("first" if host == "me" else host, signal.SIGCONT)

    def _signal_others(self, host: str, number: int) -> None:
        for started in self._started[host]:
            for process in self.processes_of(started):
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(number)

    def close(self) -> None:
        """Kills all processes and removes networks and folders."""
        for host in [*self._cut]:
            with suppress(Exception):
                self.join(host)
        for running in self._started.values():
            for started in [*running]:
                with suppress(Exception):
                    self.kill(started)
        if self.has_namespaces:
            for name in self._names.values():
                subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        shutil.rmtree(self._base, ignore_errors=True)
        atexit.unregister(self.close)


def _make_certificate(name: str, authority: Any, place: Path) -> Any:
    """Writes a certificate and its key, signed by an authority or self-signed."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    issuer, signing_key = authority or (subject, key)
    certificate = (
        x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), critical=True)
        .sign(signing_key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM
    secret = key.private_bytes(form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    place.with_suffix(".pem").write_bytes(certificate.public_bytes(form))
    place.with_suffix(".key").touch(0o600)
    place.with_suffix(".key").write_bytes(secret)
    return subject, key


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Driver:
    """A process on the user's host that runs hetdp commands and can stop at a task for the test to act."""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._start()

    def _start(self) -> None:
        hosts = self._hosts
        settings = dict(re.findall(r"^export (\w+)=(\S+)$", hosts.substitute(page_commands("Run hetdp")), re.MULTILINE))
        assert len(settings) == 4
        self._process = subprocess.Popen(
            hosts.command("me", [sys.executable, "-P", "-m", "tests.partitioned.driver"]),
            env=hosts.environment(**settings),
            cwd=hosts.shared,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.pid, self._unread = self._process.pid, b""
        assert self._read()["event"] == "ready"

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        while b"\n" not in self._unread:
            ready = select.select([self._process.stdout], [], [], TIMEOUT)[0]
            more = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            assert more, "the driver ended, or hangs"
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def _send(self, **facts: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(facts).encode() + b"\n")
        self._process.stdin.flush()

    def run(self, *arguments: str, **options: Any) -> tuple[int, str, str]:
        """Runs a command; returns its exit code, standard output and standard error."""
        with self.run_held(*arguments, **options) as finish:
            return finish()

    @contextmanager
    def run_held(self, *arguments: str, **options: Any) -> Iterator[Callable[..., tuple[int, str, str]]]:
        """Runs a command; with `stop_at`, the body of the `with` statement runs while workers are held at that task.

        Args:
            arguments: the words after ``hetdp``.
            options: ``stop_at``: the name of a task, which workers then begin and wait within; ``config``: settings of
                Dask; ``patience`` and ``still``: how long to wait for what was lost.
        """
        self._send(arguments=arguments, **options)
        self._gate = None
        if options.get("stop_at"):
            found = self._read()
            assert found["event"] == "stopped", found
            self._gate = Path(found["gate"])

        def finish(is_held: bool = False) -> tuple[int, str, str]:
            """Waits for the end of the command, during which workers may remain held."""
            if not is_held:
                self.open_gate()
            found = self._read()
            self.open_gate()
            assert found["event"] == "done", found
            return found["code"], found["output"], found["errors"]

        try:
            yield finish
        except BaseException:  # its state is unknown, so the next test gets a new one
            self.open_gate()
            self.close()
            self._start()
            raise

    def open_gate(self) -> None:
        """Lets the workers finish the task at which they are held."""
        if self._gate is not None:
            self._gate.touch()

    def interrupt(self) -> None:
        """Interrupts the command, like Ctrl-C."""
        os.kill(self.pid, signal.SIGINT)

    def close(self) -> None:
        """Kills the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
