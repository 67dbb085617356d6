"""A cluster of several hosts, as the how-to says: the same bits as on one machine, or exit code 8 and nothing else.

The hosts are network namespaces where these can be created, and loopback addresses otherwise. Workers are killed, cut
off, stopped, starved and misled in the middle of a task; `tests.partitioned.stress` does some of it at random moments.
To start a worker takes seconds, so a test that ends workers leaves it to the next one to start those that it needs.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil  # type: ignore[import-untyped]
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.files.formats.parquet import write_parquet
from tests.partitioned.driver import GATE
from tests.partitioned.hosts import ROOT, Driver, Hosts, can_make_namespaces
from tests.partitioned.problems import random_problem
from tests.partitioned.processes import TIMEOUT
from tests.stress import long, mostly_long

PARTITIONS = 4
RETURN_TIMEOUT = TIMEOUT / 4  # seconds in which a nanny brings its worker back
ASK = [
    "--count",
    "vote = 'yes'",
    "--at-least",
    "50%",
    "--epsilon",
    "eps",
    "--person",
    "id",
    "--simulate",
    "--seed",
    "4",
]


class Cluster:
    """The hosts with a scheduler, two workers and a driver, and what one machine finds."""

    def __init__(self) -> None:
        self.hosts = Hosts(can_make_namespaces())
        self.shared = self.hosts.shared
        try:
            self.scheduler = self.hosts.start_scheduler()
            self.workers = {host: self.hosts.start_worker(host, wait=False) for host in ("second", "third")}
            self.driver = Driver(self.hosts)
            for started in self.workers.values():
                self.hosts.wait_for(started, "Registered to:")
        except BaseException:
            self.hosts.close()
            raise
        problem, pins = random_problem(7, "sparse", "text", 120)
        self.graph = self.shared / "graph"
        hetdp.save(problem, self.graph, pins)
        self.label = str(problem.labels.names[40])
        self.expected_extension = hetdp.extend(problem, pins, engine="reference").coordinates
        self.expected_design = hetdp.design(problem, "fair", engine="reference").coordinates
        self.people = self.shared / "people"
        self.people.mkdir()
        for part in range(3):
            columns = {
                "id": np.arange(40) + 40 * part,
                "eps": np.tile([0.5, 1.0], 20),
                "vote": np.array(["yes", "no", "yes", "yes"] * 10, dtype=object),
            }
            write_parquet(self.people / f"part-{part}.parquet", columns)

    def cluster_options(self, work: str = "work") -> list[str]:
        return ["--engine", "dask", "--cluster", self.hosts.scheduler, "--work", str(self.shared / work)]

    def extend(self, output: str, work: str = "work") -> list[str]:
        words = ["extend", str(self.graph), "-o", str(self.shared / output), "--partitions", str(PARTITIONS), "-q"]
        return [*words, *self.cluster_options(work)]

    def same_bits(self, output: str, values: Any = None) -> bool:
        """True if a saved mechanism has the values found on one machine; removes it."""
        problem, _ = hetdp.read_problem(self.graph)
        found = hetdp.read_mechanism(self.shared / output, problem).coordinates
        shutil.rmtree(self.shared / output)
        expected = self.expected_extension if values is None else values
        return bool(np.array_equal(found.view(np.int64), expected.view(np.int64)))

    def restart(self, *hosts: str) -> None:
        """Restarts workers on some hosts."""
        for host in hosts:
            self.hosts.kill(self.workers[host])
            self.workers[host] = self.hosts.start_worker(host, wait=False)
        for host in hosts:
            self.hosts.wait_for(self.workers[host], "Registered to:")

    def running(self) -> list[str]:
        """The hosts that have a worker."""
        return [host for host, worker in self.workers.items() if worker.poll() is None]

    def settle(self) -> None:
        """Waits until the scheduler knows a worker of each host that has one; restarts those that do not come back.

        Their nannies restart workers that were lost. A worker that was lost in the middle of a change of its own, such
        as for lack of memory, may stay without its scheduler for ever.
        """
        end = time.monotonic() + RETURN_TIMEOUT
        while (lost := {*self.running()} - self.hosts.registered()) and time.monotonic() < end:
            time.sleep(0.05)
        self.restart(*lost)
        if not self.running():
            self.restart("second")

    def start_missing(self) -> None:
        """Starts a worker on each host that has none."""
        self.restart(*(host for host in self.workers if host not in self.running()))

    def leftovers(self, work: str = "work") -> list[str]:
        """Files in the shared folder that should not be there: drafts, outputs and folders of runs."""
        found = [entry.name for entry in self.shared.iterdir() if entry.name.startswith((".", "out"))]
        found = [name for name in found if not name.startswith(GATE)]
        if (self.shared / work).is_dir():
            known = re.compile(r"hetdp-work|layout\.json|layout-[0-9a-f]{16}")
            found += [entry.name for entry in (self.shared / work).iterdir() if not known.fullmatch(entry.name)]
        return found

    def assert_refused(self, result: tuple[int, str, str], words: str, work: str = "work", code: int = 8) -> None:
        """Asserts that a command ended with a one-line message and left nothing behind."""
        assert result[0] == code, result
        assert re.search(words, result[2]), result
        assert result[2].startswith("hetdp: ")
        assert result[2].count("\n") == 1
        assert "Traceback" not in result[2]
        assert result[1] == ""
        assert self.leftovers(work) == []


@pytest.fixture(scope="module")
def bare_cluster():
    """The cluster, with the workers that the last test has left."""
    started_cluster = Cluster()
    yield started_cluster
    started_cluster.driver.close()
    started_cluster.hosts.close()


@pytest.fixture
def cluster(bare_cluster):
    """The cluster with a worker, or two."""
    bare_cluster.settle()
    return bare_cluster


def test_every_verb_finds_what_one_machine_finds(cluster, capsys):
    run, graph = cluster.driver.run, str(cluster.graph)
    there = [*cluster.cluster_options(), "--partitions", str(PARTITIONS), "--json", "-q"]
    code, output, _ = run("extend", graph, "-o", str(cluster.shared / "out"), *there)
    assert (code, json.loads(output)["certificate"]["optimal"]) == (0, True)
    for verb in (["check", graph], ["verify", graph, "out"], ["explain", graph, cluster.label, "--mechanism", "out"]):
        words = [str(cluster.shared / word) if word == "out" else word for word in verb]
        code, output, errors = run(*words, *there)
        assert code == 0, errors
        assert main([*words, "--json", "-q"]) == 0
        assert json.loads(output) == json.loads(capsys.readouterr().out)
    assert cluster.same_bits("out")
    code, _, errors = run("design", graph, "--free", "-o", str(cluster.shared / "out"), *there)
    assert code == 0, errors
    assert cluster.same_bits("out", cluster.expected_design)
    arguments = ["ask", str(cluster.people), *ASK, "--json", "-q"]
    code, output, errors = run(*arguments, *cluster.cluster_options())
    assert code == 0, errors
    assert main(arguments) == 0
    assert json.loads(output) == json.loads(capsys.readouterr().out)
    assert cluster.leftovers() == []


@pytest.mark.parametrize("moment", mostly_long(["run_round", "write_mechanism_rows"], 1))
def test_a_worker_that_is_killed_costs_only_its_work(cluster, moment):
    work = f"killed-{moment}"
    cluster.start_missing()
    with cluster.driver.run_held(*cluster.extend("out", work), stop_at=moment) as finished:
        cluster.hosts.kill(cluster.workers["third"])
        code, _, errors = finished()
    assert (code, errors) == (0, "")
    assert cluster.same_bits("out")
    assert cluster.leftovers(work) == []


def test_the_loss_of_all_workers_is_reported(cluster):
    with cluster.driver.run_held(*cluster.extend("out", "lost"), stop_at="build_graph", patience=2.0) as finished:
        for host in cluster.running():
            cluster.hosts.kill(cluster.workers[host])
        cluster.assert_refused(finished(), "all workers were lost; finished work is kept", "lost")
    asked = cluster.driver.run("ask", str(cluster.people), *ASK, "-q", *cluster.cluster_options(), start=1.0)
    cluster.assert_refused(asked, "the cluster has no workers; none came to the scheduler at tls://")
    cluster.restart("second")
    assert cluster.driver.run(*cluster.extend("out", "lost"))[0] == 0
    assert cluster.same_bits("out")


@long  # to the command, it is the same as one that is killed, some seconds later
def test_a_worker_that_is_cut_off_is_replaced_and_may_come_back(cluster):
    cluster.start_missing()
    with cluster.driver.run_held(*cluster.extend("out", "cut"), stop_at="run_round") as finished:
        cluster.hosts.cut("third")
        code, _, errors = finished()
    cluster.hosts.join("third")
    assert (code, errors) == (0, "")
    assert cluster.same_bits("out")
    cluster.restart("third")


@pytest.mark.parametrize("host", mostly_long(["me", "first"], 1))
def test_a_scheduler_or_a_driver_that_is_cut_off_ends_the_command(cluster, host):
    with cluster.driver.run_held(*cluster.extend("out"), stop_at="run_round", patience=1.0, answer=1.0) as finished:
        cluster.hosts.cut(host)
        cluster.assert_refused(finished(), "the scheduler was lost; finished work is kept in the work folder")
    nobody = cluster.driver.run(*cluster.extend("out"), connect=1.0, answer=1.0)
    cluster.hosts.join(host)
    if host == "first":  # workers that lost their scheduler end, sooner or later
        cluster.restart(*cluster.workers)
    cluster.assert_refused(
        nobody, "no scheduler answers at tls://.* Hint: is it running, and can this machine reach it"
    )
    assert cluster.driver.run(*cluster.extend("out"))[0] == 0
    assert cluster.same_bits("out")


def test_a_worker_that_hangs_is_given_up(cluster):
    """The scheduler gives its task to another worker, or the driver gives up."""
    cluster.start_missing()
    inner = cluster.hosts.processes_of(cluster.workers["third"])[-1]
    with cluster.driver.run_held(*cluster.extend("out"), stop_at="run_round", still=2.0) as finished:
        inner.send_signal(signal.SIGSTOP)
        cluster.assert_refused(finished(), "the worker tls://.* no longer responds")
    with cluster.driver.run_held(*cluster.extend("out", "stopped")) as finished:
        code, _, errors = finished()
    with suppress(psutil.NoSuchProcess):  # its nanny has ended it
        inner.send_signal(signal.SIGCONT)
    assert (code, errors) == (0, "")
    assert cluster.same_bits("out")
    cluster.hosts.wait_for(cluster.workers["third"], "Registered to:", times=2)  # of its nanny's next worker


def test_a_worker_without_memory_is_reported(cluster):
    """The system refuses more of it, and then the limit of its nanny, which starts another one."""
    starved = cluster.driver.run(*cluster.extend("out", "starved"), starved=64)
    cluster.assert_refused(starved, "a worker ran out of memory", "starved")
    assert cluster.driver.run(*cluster.extend("out", "starved"))[0] == 0
    assert cluster.same_bits("out")
    hungry = cluster.driver.run(*cluster.extend("out"), hungry=2000)
    cluster.assert_refused(hungry, "2 workers were ended while they did the same task; most likely it needs too much")


@long  # what a worker without any memory does takes minutes, and differs from run to run
def test_workers_that_get_no_memory_at_all_end_the_command_or_are_replaced(cluster):
    inner = [cluster.hosts.processes_of(cluster.workers[host])[-1] for host in cluster.running()]
    before = [resource.prlimit(process.pid, resource.RLIMIT_AS) for process in inner]
    try:
        for process in inner:
            used = process.memory_info().vms
            resource.prlimit(process.pid, resource.RLIMIT_AS, (used, resource.RLIM_INFINITY))
        result = cluster.driver.run(*cluster.extend("out", "exhausted"))
    finally:
        for process, limit in zip(inner, before, strict=True):
            with suppress(ProcessLookupError):
                resource.prlimit(process.pid, resource.RLIMIT_AS, limit)
    cluster.restart(*cluster.running())  # they may stay without their scheduler
    if result[0] != 0:  # it may suffice
        died = "most likely it needs too much memory|all workers were lost"  # if it died of it, or both did
        cluster.assert_refused(result, f"a worker ran out of memory|{died}", "exhausted")
        assert cluster.driver.run(*cluster.extend("out", "exhausted"))[0] == 0
    assert cluster.same_bits("out")


def test_ctrl_c_ends_the_command_and_leaves_nothing(cluster):
    with cluster.driver.run_held(*cluster.extend("out", "ended"), stop_at="build_graph") as finished:
        cluster.driver.interrupt()
        assert finished(is_held=True) == (130, "", "hetdp: interrupted\n")
    assert cluster.leftovers("ended") == []
    assert cluster.driver.run(*cluster.extend("out", "ended"))[0] == 0
    assert cluster.same_bits("out")


@contextmanager
def another_worker(cluster, **options: Any):
    """Another worker in place of the usual ones, which would otherwise take all tasks."""
    started = cluster.hosts.start_worker("third", **options)
    try:
        for host in cluster.running():
            cluster.hosts.kill(cluster.workers[host])
        yield started
    finally:
        cluster.hosts.kill(started)


def test_a_worker_that_sees_other_files_is_refused(cluster):
    """Its folders are others under the same names, as where a share is not mounted, or an old copy lies there."""
    assert cluster.driver.run(*cluster.extend("out"))[0] == 0
    assert cluster.same_bits("out")
    places = [(cluster.shared / name, cluster.shared / f"copy-{name}") for name in ("work", "graph", "people")]
    for place, copy in places:
        shutil.copytree(place, copy)
        for file in copy.rglob("*.parquet"):
            os.utime(file, (1, 1))
    hide = "".join(f"mount --bind '{copy}' '{place}'\n" for place, copy in places)
    can_hide = not subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode
    unseen = "sees no file '.*', or another one than at the beginning"
    commands = [
        (cluster.extend("out"), "does not share the folder"),
        (cluster.extend("out", "unseen"), unseen),
        (["ask", str(cluster.people), *ASK, "-q", *cluster.cluster_options("unseen")], unseen),
    ]
    options = {"change": lambda script: hide + script, "outer": "unshare -m"} if can_hide else {}
    try:
        with another_worker(cluster, **options):
            for command, words in commands:
                result = cluster.driver.run(*command)
                if can_hide:
                    cluster.assert_refused(
                        result, f"{words}.*all workers must find the same files under the same paths", "unseen"
                    )
                else:  # such a worker cannot be had here: it shares the folder, and nothing is refused
                    assert result[0] == 0
    finally:
        for _, copy in places:
            shutil.rmtree(copy)


def test_a_worker_of_another_version_is_refused(bare_cluster, tmp_path):
    cluster = bare_cluster  # a worker of its own is started here, and later a usual one
    shutil.copytree(ROOT / "src" / "hetdp", tmp_path / "hetdp", ignore=shutil.ignore_patterns("assets"))
    version = tmp_path / "hetdp" / "version.py"
    version.write_text(re.sub(r'VERSION = ".*?"', 'VERSION = "9.9"', version.read_text()))
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    with another_worker(cluster, change=lambda script: f"export PYTHONPATH='{path}'\n{script}"):
        result = cluster.driver.run(*cluster.extend("out", "versions"))
    cluster.assert_refused(
        result, r"a worker on \S+ runs hetdp 9\.9 with Python .*; all workers must run hetdp \d", "versions"
    )
    cluster.restart("second")
    result = cluster.driver.run(*cluster.extend("out", "versions"), software="hetdp 0 with Python 2.7")
    cluster.assert_refused(
        result, r"a worker on \S+ runs hetdp .*; all workers must run hetdp 0 with Python 2\.7", "versions"
    )


def test_unauthorised_hosts_are_refused_with_a_message(cluster, tmp_path):
    """Certificates of another authority, missing certificates, and addresses with another protocol."""
    others = tmp_path / "keys"
    cluster.hosts.make_keys(others)
    mine = {"distributed.comm.tls.client.cert": f"{cluster.hosts.keys}/me.pem"}
    mine |= {"distributed.comm.tls.client.key": f"{cluster.hosts.keys}/me.key"}
    foreign = {name: value.replace(str(cluster.hosts.keys), str(others)) for name, value in mine.items()}
    authority = {"distributed.comm.tls.ca-file": f"{others}/ca.pem"}
    tries = [
        (authority | mine, "its certificate is refused here: .*Hint: ca-file must name its authority"),
        (foreign, r"it refuses the certificate of this machine \(.*Hint: its authority must sign client\.cert"),
        (foreign | authority, "its certificate is refused here"),
    ]
    for config, words in tries:
        result = cluster.driver.run(*cluster.extend("out"), config=config, connect=2.0)
        cluster.assert_refused(result, f"no scheduler answers at tls://.*; {words}")
    plain = [word.replace("tls://", "tcp://") for word in cluster.extend("out")]
    result = cluster.driver.run(*plain, connect=2.0, config={"distributed.comm.require-encryption": None})
    cluster.assert_refused(
        result, "no scheduler answers at tcp://.*; it speaks TLS, .*Hint: its address begins with tls://"
    )
    change = lambda script: script.replace(str(cluster.hosts.keys), str(others))  # noqa: E731
    stranger = cluster.hosts.start_worker("third", wait=False, change=change)
    cluster.hosts.wait_for(stranger, "certificate verify failed")
    assert "Registered to" not in stranger.log.read_text()
    cluster.hosts.kill(stranger)


def victim_in(folder: Path) -> Path:
    folder.mkdir()
    np.save(folder / "answers.npy", np.zeros(3))
    (folder / "keep").write_text("mine")
    return folder


UNSAFE_WORK_FOLDERS = {
    "the folder is a link": "is a link or a file",
    "others may write there": "other users may write to the work folder",
    "somebody else's": "belongs to another user",
    "open to all above": "others may replace the work folder",
}


@pytest.mark.parametrize("case", UNSAFE_WORK_FOLDERS)
def test_a_work_folder_that_others_could_fill_is_refused(cluster, tmp_path, case):
    victim, work = victim_in(tmp_path / "victim"), cluster.shared / "planted"
    try:
        if case == "the folder is a link":
            work.symlink_to(victim)
        elif case == "open to all above":
            (tmp_path / "open").mkdir()
            (tmp_path / "open").chmod(0o777)
            work = tmp_path / "open" / "work"
        else:
            work.mkdir(0o700)
            work.chmod(0o775 if case == "others may write there" else 0o700)
            if case == "somebody else's":
                os.chown(work, 12345, 12345)
        words = [word.replace(str(cluster.shared / "planted"), str(work)) for word in cluster.extend("out", "planted")]
        cluster.assert_refused(cluster.driver.run(*words), UNSAFE_WORK_FOLDERS[case], "nowhere", code=2)
        assert sorted(entry.name for entry in victim.iterdir()) == ["answers.npy", "keep"]
    finally:
        work.unlink() if work.is_symlink() else shutil.rmtree(work, ignore_errors=True)


def plant(kind: str, place: Path, victim: Path) -> None:
    """Replaces a file or folder of a run."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    if kind == "link":
        place.symlink_to(victim)
    elif kind == "hard link":
        os.link(victim, place)
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.write_bytes(b"no array")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("link", "0/answers.npy"),
        ("link", "0"),
        ("hard link", "1/pins.npy"),
        ("pipe", "1/pins.npy"),
        ("text", "0/ghosts.npy"),
    ],
)
def test_files_planted_in_the_work_folder_are_not_read(cluster, tmp_path, kind, name):
    """The work folder holds the problem of an earlier run, which all cases share."""
    sown, pristine = cluster.shared / "sown", cluster.shared / "pristine"
    if not pristine.exists():
        assert cluster.driver.run(*cluster.extend("out", "sown"))[0] == 0
        assert cluster.same_bits("out")
        sown.rename(pristine)
    shutil.copytree(pristine, sown)
    victim = victim_in(cluster.shared / "victim")
    (layout,) = sown.glob("layout-*/")
    target = victim if name == "0" else victim / "answers.npy"
    before = {entry.name: entry.read_bytes() for entry in victim.iterdir()}
    try:
        plant(kind, layout / name, target)
        result = cluster.driver.run(*cluster.extend("out", "sown"))
        words = {
            "link": "is a link",
            "hard link": "has a second name",
            "pipe": "is not a plain file",
            "text": "no array",
        }
        cluster.assert_refused(result, f"in the work folder, '.*' {words[kind]}|holds no array", "sown")
        assert {entry.name: entry.read_bytes() for entry in victim.iterdir()} == before
    finally:
        shutil.rmtree(victim)
        shutil.rmtree(sown)


@pytest.mark.parametrize("moment", ["settle_datasets", "assign_edges", "write_mechanism_rows"])
def test_links_planted_during_a_run_are_not_followed(cluster, moment):
    """The links replace a folder or a file that workers are about to write."""
    victim = victim_in(cluster.shared / "victim")
    before = {entry.name: entry.read_bytes() for entry in victim.iterdir()}
    try:
        with cluster.driver.run_held(*cluster.extend("out", "raced"), stop_at=moment) as finished:
            if moment == "write_mechanism_rows":
                (draft,) = cluster.shared.glob(".out.*.draft")
                plant("link", draft / "mechanism" / "part-000000.parquet", victim / "keep")
            else:
                (layout,) = (cluster.shared / "raced").glob("layout-*/")
                plant("link", layout / ("0" if moment == "settle_datasets" else "edges"), victim)
            result = finished()
        assert {entry.name: entry.read_bytes() for entry in victim.iterdir()} == before
        if moment == "write_mechanism_rows":  # the link was replaced
            assert result[0] == 0
            assert cluster.same_bits("out")
        else:
            cluster.assert_refused(result, "in the work folder, '.*' is a link or not a folder", "raced")
    finally:
        shutil.rmtree(victim)
        shutil.rmtree(cluster.shared / "raced", ignore_errors=True)
