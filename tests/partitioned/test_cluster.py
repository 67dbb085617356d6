"""A real scheduler with real workers gives the same bits, even when workers are lost, or a clear error."""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
import stat
import subprocess
import sys
import time
import types
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask
import distributed
import numpy as np
import psutil  # type: ignore[import-untyped]
import pytest
from distributed.security import Security
from distributed.utils import LoopRunner

import hetdp
from hetdp import progress
from hetdp.cli.main import main
from hetdp.partitioned import cluster as dask_cluster
from hetdp.partitioned.cluster import ClusterClient, start_retrying, start_scheduler, start_worker
from hetdp.partitioned.workspace import arcs_for, work_folder
from tests.partitioned.inline import coordinates
from tests.partitioned.problems import random_problem
from tests.partitioned.processes import QUIET, ROOT, Processes, fail_task, take_memory
from tests.stress import long

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    started = Processes(tmp_path_factory.mktemp("cluster"))
    yield started
    started.close()


def save_problem(folder: Path, seed: int, shape: str, labels: str, size: int = 200):
    problem, pins = random_problem(seed, shape, labels, size)
    hetdp.save(problem, folder / "problem", pins)
    return problem, hetdp.extend(problem, pins, engine="cpu")


@long  # `test_hosts` does so from the command line, with other partitions
@pytest.mark.parametrize(
    ("shape", "labels", "partitions"), [("sparse", "text", 5), ("grid", "range", 8), ("path", "shuffled", 2)]
)
def test_workers_find_what_the_cpu_engine_finds(processes, tmp_path, shape, labels, partitions):
    _, whole = save_problem(tmp_path, partitions, shape, labels)
    read = hetdp.read_partitioned(
        tmp_path / "problem", cluster=processes.address, work=tmp_path / "work", partitions=partitions
    )
    with read as (problem, given):
        mechanism = hetdp.extend(problem, given, engine="dask")
        hetdp.save(mechanism, tmp_path / "saved")
        assert np.array_equal(coordinates(mechanism).view(np.int64), whole.coordinates.view(np.int64))
        assert mechanism.certificate.optimal
    again = hetdp.read_partitioned(
        tmp_path / "problem", cluster=processes.address, work=tmp_path / "work", partitions=partitions
    )
    with again as (problem, _):
        assert hetdp.verify(problem, hetdp.read_mechanism(tmp_path / "saved", problem)).optimal


@long  # `test_hosts` kills one too
@pytest.mark.parametrize("moment", ["searching (round 2", "building the graphs", "proving every edge"])
def test_a_worker_that_is_killed_costs_only_its_work(processes, tmp_path, moment):
    _, whole = save_problem(tmp_path, 7, "sparse", "text")
    victim = processes.workers[-1]
    stages = []

    def kill_at_that_moment(words: str) -> None:
        stages.append(words)
        if words.startswith(moment) and victim.poll() is None:
            processes.kill(victim)

    before = progress.set_listener(kill_at_that_moment)
    try:
        read = hetdp.read_partitioned(
            tmp_path / "problem", cluster=processes.address, work=tmp_path / "work", partitions=4
        )
        with read as (problem, given):
            mechanism = hetdp.extend(problem, given)
            assert np.array_equal(coordinates(mechanism), whole.coordinates)
    finally:
        progress.set_listener(before)
        processes.workers.remove(victim)
        processes.add()
    assert victim.returncode == -9
    assert any(words.startswith("searching (round 1, ") for words in stages)


@long  # `test_hosts` ends all workers, and cuts off the scheduler
def test_a_lost_cluster_is_reported_and_finished_work_is_kept(processes, tmp_path, monkeypatch):
    save_problem(tmp_path, 3, "grid", "range")
    monkeypatch.setattr(dask_cluster, "LOST_TIMEOUT", 1.0)
    (tmp_path / "alone").mkdir()
    alone = Processes(tmp_path / "alone", workers=1)
    try:
        read = hetdp.read_partitioned(tmp_path / "problem", cluster=alone.address, work=tmp_path / "work")
        with read as (problem, given):
            alone.kill(alone.workers[0])
            with pytest.raises(hetdp.ClusterError, match="all workers were lost") as lost:
                hetdp.extend(problem, given)
            assert lost.value.exit_code == 8
            alone.kill(alone.scheduler)
            with pytest.raises(hetdp.ClusterError, match="the scheduler was lost; finished work is kept in the work"):
                hetdp.extend(problem, given)
    finally:
        alone.close()
    read = hetdp.read_partitioned(tmp_path / "problem", cluster=processes.address, work=tmp_path / "work")
    with read:
        assert json.loads((tmp_path / "work" / "layout.json").read_text())["pinned"] > 0


def connect(place: str, key: Security | None) -> ClusterClient:
    return start_retrying(lambda: ClusterClient(place, security=key, timeout=2, set_as_default=False))


def test_a_client_that_failed_to_connect_can_be_collected_while_dask_starts_an_event_loop(tmp_path, monkeypatch):
    """Dask's own client waits for ever there: it acquires a lock that the same thread holds."""
    started, start = [], LoopRunner._start_unlocked

    def collect_then_start(runner: LoopRunner) -> None:
        started.append(gc.collect())
        start(runner)

    gc.disable()  # else the client may be collected earlier
    try:
        with pytest.raises(TypeError, match="ssl_context"):
            connect("tls://127.0.0.1:9", None)
        monkeypatch.setattr(LoopRunner, "_start_unlocked", collect_then_start)
        start_scheduler(str(tmp_path), Security.temporary()).close()
    finally:
        gc.enable()
    assert started


def test_an_event_loop_that_does_not_start_in_time_is_started_again():
    calls = []

    def fail_until(last: int) -> str:
        calls.append(last)
        assert len(calls) >= last, "the thread did not start"
        return "started"

    assert start_retrying(lambda: fail_until(3)) == "started"
    assert calls == [3, 3, 3]
    with pytest.raises(AssertionError, match="the thread did not start"):
        start_retrying(lambda: fail_until(7))


def test_workers_with_more_memory_have_larger_partitions():
    assert [arcs_for(None, memory) for memory in ("2GB", "4GB", "1GB")] == [8_000_000, 16_000_000, 4_000_000]
    assert arcs_for("tcp://127.0.0.1:9", "4GB") == 8_000_000  # whatever those are


def test_an_interrupt_waits_until_workers_can_be_ended(tmp_path, monkeypatch):
    clients = []

    def interrupt_then_connect(*arguments: Any, **options: Any) -> ClusterClient:
        signal.raise_signal(signal.SIGINT)
        clients.append(ClusterClient(*arguments, **options))
        return clients[-1]

    monkeypatch.setattr(dask_cluster, "ClusterClient", interrupt_then_connect)
    with pytest.raises(KeyboardInterrupt):
        dask_cluster.Cluster(None, 1, "600MB", str(tmp_path))
    assert [client.status for client in clients] == ["closed"]


def state_of_dask() -> list[Any]:
    names = [*dask_cluster.SETTINGS, "distributed.scheduler.http.routes"]
    return [dask.config.get(name, None) for name in names] + [
        logging.getLogger(name).level for name in dask_cluster.LOGGERS
    ]


def test_local_workers_are_private_report_failures_and_leave_dask_as_it_was(tmp_path, monkeypatch):
    """All of it with one worker, which takes seconds to start."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setitem(dask_cluster.SETTINGS, "distributed.scheduler.allowed-failures", 0)
    with pytest.raises(hetdp.UsageError, match="invalid memory size 'much'; it must be a size such as 2GB"):
        dask_cluster.Cluster(None, 1, "much", str(tmp_path))
    before = state_of_dask()
    started = dask_cluster.Cluster(None, 1, "600MB", str(tmp_path))
    try:
        assert state_of_dask() != before
        assert_no_other_connections_are_accepted(started)
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "cryptography", None)
            with pytest.raises(hetdp.UsageError, match="cryptography is not installed"):
                dask_cluster.Cluster(None, 1, "600MB", str(tmp_path))
        place = folder_of_its_own(started, tmp_path)
        assert_failures_are_reported_clearly(started)
    finally:
        started.close()
        started.close()
    assert state_of_dask() == before
    assert not Path(place).exists()
    with pytest.raises(hetdp.UsageError, match="a partitioned problem that was closed; its workers have ended"):
        started.run(fail_task, [("memory",)])


def assert_no_other_connections_are_accepted(started: dask_cluster.Cluster) -> None:
    address = started._client.scheduler.address
    assert address.startswith("tls://127.0.0.1:")
    for place, key in ((address, Security.temporary()), (address, None), (address.replace("tls", "tcp"), None)):
        with pytest.raises((OSError, ValueError, TypeError, RuntimeError)):
            connect(place, key)
    running = [psutil.Process(process.pid) for process in started._processes]
    running += [child for process in running for child in process.children(recursive=True)]
    listening = [one.laddr.ip for process in running for one in process.net_connections() if one.status == "LISTEN"]
    assert set(listening) == {"127.0.0.1"}
    assert len(listening) >= 2  # a worker, and who watches it
    assert not any("KEY" in part for process in running for part in process.cmdline())


def folder_of_its_own(started: dask_cluster.Cluster, work: Path) -> str:
    """The folder in which a worker runs, and finds no modules."""
    (place,) = started.run(os.getcwd, [()])
    (paths, is_safe) = started.run(eval, [("__import__('sys').path",), ("__import__('sys').flags.safe_path",)])
    assert stat.S_IMODE(Path(place).stat().st_mode) == 0o700
    assert "hetdp-workers-" in place
    assert is_safe
    assert not {"", ".", str(Path.cwd()), str(work)} & {*paths} - {str(ROOT / "src"), str(ROOT)}
    assert [path for path in paths if path.startswith(str(work))] == []
    return str(place)


def assert_failures_are_reported_clearly(started: dask_cluster.Cluster) -> None:
    with pytest.raises(hetdp.ClusterError, match=r"a worker ran out of memory.*more partitions are smaller ones"):
        started.run(fail_task, [("memory",)])
    with pytest.raises(hetdp.ClusterError, match="needs too much memory, more than the 600MB that it may take"):
        started.run(take_memory, [(64,), (4000,)])  # the message names the worker that fails


def test_no_dashboard_is_served_and_other_dashboards_stay(monkeypatch, tmp_path):
    """Even if Bokeh is installed, with which Dask would serve a public dashboard."""
    shown: list[Any] = []
    pages = types.SimpleNamespace(connect=lambda *told, **_: shown.append(told))
    monkeypatch.setitem(sys.modules, "distributed.dashboard", types.SimpleNamespace(scheduler=pages))
    monkeypatch.setitem(sys.modules, "distributed.dashboard.scheduler", pages)
    monkeypatch.setattr(distributed, "dashboard", sys.modules["distributed.dashboard"], raising=False)
    names = ("distributed.scheduler.http.routes", "distributed.worker.http.routes")
    before = [list(dask.config.get(name)) for name in names]
    scheduler = start_scheduler(str(tmp_path), Security.temporary())
    try:
        port = scheduler.scheduler.http_server.port
        for page in ("/", "/status", "/info/main/workers.html", "/json/counts.json", "/metrics", "/health"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=540)
    finally:
        scheduler.close()
    assert not shown
    assert [dask.config.get(name) for name in names] == before


def test_a_missing_certificate_is_reported(tmp_path):
    save_problem(tmp_path, 3, "path", "range", 10)
    with pytest.raises(
        hetdp.UsageError, match=r"no certificate is configured for the cluster 'tls://127\.0\.0\.1:9'; Dask's own"
    ):
        hetdp.read_partitioned(tmp_path / "problem", cluster="tls://127.0.0.1:9", work=tmp_path / "work")


def test_an_address_without_a_scheduler_is_a_lost_cluster(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_TIMEOUT", 0.5)
    save_problem(tmp_path, 3, "path", "range", 10)
    with pytest.raises(hetdp.ClusterError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"):
        hetdp.read_partitioned(tmp_path / "problem", cluster="tcp://127.0.0.1:9", work=tmp_path / "work")
    with pytest.raises(hetdp.UsageError, match="name a folder that all of them can access: work="):
        hetdp.read_partitioned(tmp_path / "problem", cluster="tcp://127.0.0.1:9")
    with pytest.raises(
        hetdp.UsageError, match=r"invalid cluster address 'http://127.0.0.1:9'; it is the address of a scheduler"
    ):
        hetdp.read_partitioned(tmp_path / "problem", cluster="http://127.0.0.1:9", work=tmp_path / "work")


def test_a_work_folder_is_created_only_in_an_existing_folder(tmp_path):
    """A share that is not mounted or a mistyped name is not created on the local disk."""
    with pytest.raises(hetdp.UsageError, match=r"there is no folder .*nowhere' for the work folder 'work'"):
        work_folder(tmp_path / "nowhere" / "work")
    assert not (tmp_path / "nowhere").exists()


@long  # `test_hosts` runs the same verbs
def test_the_command_line_runs_on_partitions(processes, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _, whole = save_problem(tmp_path, 9, "grid", "text", 100)
    there = f"--engine dask --cluster {processes.address} --work work --partitions 3 --json".split()

    def run(*arguments: str) -> tuple[int, dict]:
        code = main([*arguments, *there])
        return code, json.loads(capsys.readouterr().out)

    code, found = run("extend", "problem", "-o", "result")
    assert (code, found["certificate"]["optimal"], found["counts"]["datasets"]) == (0, True, 100)
    code, found = run("verify", "problem", "result")
    assert (code, found["certificate"]["private"], found["made_for_another"]) == (0, True, False)
    label = whole.problem.labels.names[40]
    code, found = run("explain", "problem", label, "--mechanism", "result")
    assert (code, found["explanations"][0]["p"]) == (0, whole[label])
    assert run("check", "problem")[1]["compatible"]
    code, found = run("design", "problem", "--objective", "balanced", "--free", "-o", "designed")
    assert (code, found["objective"]) == (0, "balanced")
    assert main(["verify", "problem", "result"]) == 0
    assert "private on all" in capsys.readouterr().out


def test_written_mechanisms_always_have_a_proof(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["extend", "problem", "--engine", "dask", "--no-verify", "-o", "result"]) == 2
    errors = capsys.readouterr().err
    assert "--no-verify together with --engine dask; workers write the mechanism to a folder, and a written" in errors


def test_ctrl_c_ends_the_workers_and_leaves_nothing(tmp_path):
    save_problem(tmp_path, 4, "grid", "range")
    place = tmp_path / "temporary"
    place.mkdir()
    command = [sys.executable, "-m", "hetdp", "extend", "problem", "--engine", "dask", "--workers", "1", "-o", "out"]
    environment = os.environ | {"TMPDIR": str(place), "PYTHONPATH": str(ROOT / "src")}
    started = subprocess.Popen(command, cwd=tmp_path, env=environment, **QUIET)
    end = time.monotonic() + 300
    while not list(place.glob("hetdp-workers-*/dask-scratch-space/worker-*")) and time.monotonic() < end:
        time.sleep(0.05)
    workers = children_of(place)
    assert workers
    started.send_signal(signal.SIGINT)
    assert started.wait(timeout=540) == 130
    assert not list(place.glob("hetdp-*"))
    assert not (tmp_path / "out").exists()
    assert not children_of(place)


def children_of(place: Path) -> list[str]:
    """The processes whose command names a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += [entry.parent.name] if str(place) in entry.read_text().replace("\0", " ") else []
    return found


def test_data_is_not_spilled_through_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "workers").symlink_to("elsewhere")
    with pytest.raises(hetdp.ClusterError, match=r"'.*workers' is a link or not a folder"):
        start_worker("tls://127.0.0.1:1", "1GB", str(tmp_path), str(tmp_path), Security())
