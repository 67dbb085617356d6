"""Options, work folders, and a cluster that is lost."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hetdp.errors import ClusterError, UsageError
from hetdp.partitioned import datasets, reading, workspace
from hetdp.partitioned.parquet_rows import Files
from hetdp.partitioned.shared_files import make_folder
from hetdp.partitioned.workspace import Mark, Workspace, mark_folder, run_guarded, work_folder, worker_count
from tests.loops import for_each
from tests.partitioned.partitions import files_with


@for_each(
    ("given", "words"),
    [
        ((None, 0, "2GB", None, None), "the number of workers is 0"),
        ((None, True, "2GB", None, None), "the number of workers is True"),
        ((None, 1.5, "2GB", None, None), "the number of workers is 1.5"),
        ((None, 1, "2GB", None, 0), "invalid partitions 0"),
        ((None, 1, "2GB", None, True), "invalid partitions True"),
        ((None, 1, "2GB", None, "many"), "invalid partitions 'many'"),
        ((None, 1, "", None, None), "invalid memory size ''"),
        ((None, 1, 2, None, None), "invalid memory size 2"),
        (("node:8786", None, "2GB", "/w", None), "invalid cluster address 'node:8786'"),
        (("tcp://node:8786", 2, "2GB", "/w", None), "a cluster together with a number of workers"),
        (("tcp://node:8786", None, "3GB", "/w", None), "a cluster together with a memory size"),
        (("tcp://node:8786", None, "2GB", None, None), "a cluster without a work folder"),
    ],
)
def test_impossible_options_are_refused(given, words):
    with pytest.raises(UsageError, match=words):
        worker_count(*given)


def test_the_number_of_workers_follows_from_the_options():
    assert worker_count(None, 1, "2GB", None, 1) == 1
    assert worker_count(None, np.int64(3), "2GB", None, "files") == 3
    assert worker_count(None, None, "2GB", None, None) == (os.cpu_count() or 1)
    assert worker_count("tls://node:8786/", None, "2GB", "/w", np.int64(1)) >= 1


def test_a_work_folder_is_new_empty_or_of_an_earlier_run(tmp_path):
    place = tmp_path / "work"
    assert work_folder(place) == (str(place), False)
    assert [one.name for one in place.iterdir()] == [workspace.MARK_FILE]
    assert place.stat().st_mode & 0o777 == 0o700
    (place / "more").write_text("")
    assert work_folder(str(place)) == (str(place), False)
    (place / workspace.MARK_FILE).unlink()
    with pytest.raises(UsageError, match="holds other files, such as 'more'"):
        work_folder(place)
    with pytest.raises(UsageError, match=r"there is no folder .* for the work folder 'b'"):
        work_folder(tmp_path / "a" / "b")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        work_folder(tmp_path / "file")


@pytest.mark.parametrize(("mode", "above", "words"), [(0o720, 0o700, "may write"), (0o702, 0o700, "may write")])
def test_a_work_folder_that_others_may_write_to_is_refused(tmp_path, mode, above, words):
    place = tmp_path / "above" / "work"
    place.mkdir(parents=True)
    place.parent.chmod(above)
    place.chmod(mode)
    with pytest.raises(UsageError, match=words):
        work_folder(place)


def test_a_work_folder_that_others_may_replace_is_refused(tmp_path):
    above = tmp_path / "above"
    (above / "work").mkdir(parents=True, mode=0o700)
    above.chmod(0o777)
    with pytest.raises(UsageError, match="others may replace"):
        work_folder(above / "work")
    above.chmod(0o1777)  # only owners may rename their entries
    assert not work_folder(above / "work")[1]
    (tmp_path / "link").symlink_to(above / "work")
    with pytest.raises(UsageError, match="is a link or a file"):
        work_folder(tmp_path / "link")


def test_a_note_says_what_a_work_folder_holds(tmp_path):
    assert workspace.read_note(str(tmp_path)) is None
    workspace.write_note(str(tmp_path), "ä")
    assert workspace.read_note(str(tmp_path)) == "ä"
    assert workspace.equal_ranges(10, 3) == (0, 3, 6, 10)
    tables = datasets.Tables("it", {}, files_with(), files_with(), "pure")
    (tmp_path / "t").write_text("")
    tables = tables._replace(datasets=Files("d", (str(tmp_path / "t"),), {}, (1,)))
    for note in ("null", "{}", "[]", "no json"):
        workspace.write_note(str(tmp_path), note)
        assert reading.find_layout(str(tmp_path), tables, "error", None) is None
    workspace.write_note(str(tmp_path), json.dumps({workspace.TALLIES: "x"}))
    with pytest.raises(UsageError, match="holds tallies"):
        reading.find_layout(str(tmp_path), tables, "error", None)


def test_the_work_folder_does_not_lie_in_the_problem(tmp_path):
    reading._require_apart(None, tmp_path)
    reading._require_apart(tmp_path, tmp_path / "problem")
    for work in (tmp_path / "problem" / "w", tmp_path / "problem" / "w" / "x"):
        with pytest.raises(UsageError, match="lies in"):
            reading._require_apart(work, tmp_path / "problem")


def test_a_task_runs_only_on_a_worker_with_the_same_software_and_folder(tmp_path):
    mark = mark_folder(str(tmp_path))
    assert Path(mark.path).stat().st_mode & 0o777 == 0o600
    assert run_guarded(mark, max, 1, 2) == 2
    with pytest.raises(ClusterError, match="all workers must run other"):
        run_guarded(mark._replace(software="other"), max, 1, 2)
    mark.remove()
    mark.remove()
    with pytest.raises(ClusterError, match="does not share the folder"):
        run_guarded(mark, max, 1, 2)
    with pytest.raises(ClusterError, match="does not share the folder"):
        run_guarded(Mark(str(tmp_path), mark.software), max, 1, 2)  # not a file


class Runner:
    """Workers that fail to end."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1
        raise OSError


def test_a_failure_ends_the_workers_and_removes_what_is_temporary(tmp_path, monkeypatch):
    runner = Runner()
    monkeypatch.setattr(workspace, "start_runner", lambda *given: [runner, given][0])
    space = Workspace(None, 3, "2GB", tmp_path / "work", None)
    place = space.make_folder()
    inner = make_folder(place, "layout")
    space.remove_at_end(inner)
    with space.end_on_failure():
        space.start(place)
    assert Path(inner).exists()
    with pytest.raises(KeyError), space.end_on_failure():
        raise KeyError
    assert (runner.closed, Path(inner).exists(), Path(place).exists()) == (1, False, True)
    temporary = Workspace(None, 1, "2GB", None, None)
    whole = temporary.make_folder()
    temporary.remove_at_end(make_folder(whole, "layout"))
    temporary.end()
    assert not Path(whole).exists()


cluster = pytest.importorskip("hetdp.partitioned.cluster")


class Heard:
    """A cluster as a `ClusterWatch` sees it."""

    def __init__(self) -> None:
        self.is_connected, self.found, self.alive = True, {"a": 1.0}, True

    def workers(self) -> Any:
        return self.found

    def is_alive(self) -> bool:
        return self.alive


def test_a_lost_cluster_is_noticed_after_some_patience(monkeypatch):
    now, heard = [100.0], Heard()
    monkeypatch.setattr(cluster.time, "monotonic", lambda: now[0])
    watch = cluster.ClusterWatch(heard)
    watch.look()
    heard.found = {}
    watch.look()
    now[0] += cluster.LOST_TIMEOUT
    watch.look()
    now[0] += 1
    with pytest.raises(ClusterError, match="all workers were lost"):
        watch.look()
    heard.found = {"a": 2.0}
    watch.look()  # one came back
    heard.is_connected = False
    watch.look()
    now[0] += cluster.LOST_TIMEOUT + 1
    with pytest.raises(ClusterError, match="the scheduler was lost"):
        watch.look()
    heard.alive, now[0] = False, 0.0
    with pytest.raises(ClusterError, match="the scheduler was lost"):
        cluster.ClusterWatch(heard).look()


def test_a_worker_without_a_heartbeat_is_given_up(monkeypatch):
    now, heard = [100.0], Heard()
    monkeypatch.setattr(cluster.time, "monotonic", lambda: now[0])
    watch = cluster.ClusterWatch(heard)
    watch.look()
    now[0] += cluster.HEARTBEAT_TIMEOUT
    heard.found = {"a": 1.0, "b": 5.0}
    watch.look()
    now[0] += 1
    heard.found = {"a": 1.0, "b": 6.0}
    with pytest.raises(ClusterError, match="the worker a no longer responds"):
        watch.look()


def test_failures_of_workers_have_their_own_words():
    full = cluster._system(OSError(errno.ENOMEM, "no"), "2GB")
    assert (full.what, full.why) == (
        "a worker ran out of memory",
        "a partition needs more than it has, more than the 2GB that it may take",
    )
    assert cluster._out_of_memory(MemoryError(), "").why == "a partition needs more than it has"
    assert cluster._system(OSError(errno.EACCES, "denied", "/w/a"), "").what == (
        "a worker could not use '/w/a': denied"
    )
    assert cluster._system(OSError("odd"), "").what == "a worker could not use a file: odd"
    killed = cluster._out_of_memory(ValueError(), "")
    assert killed.what == f"{cluster.RETRIES + 1} workers were ended while they did the same task"


def test_an_error_of_another_version_is_foreign():
    foreign = [
        ImportError("x"),
        AttributeError("Can't get attribute 'a'"),
        RuntimeError("Error during Deserialization"),
    ]
    assert all(map(cluster.is_foreign, foreign))
    assert not any(map(cluster.is_foreign, [AttributeError("no attribute"), RuntimeError("x")]))
    assert cluster.reason_at("inproc://a:1") is None


def test_a_worker_gets_memory_for_itself():
    assert cluster.parse_memory("400MB") == 400_000_000
    assert workspace.arcs_for(None, "4GB") == 2 * workspace.arcs_for(None, "2GB") == 2 * workspace.DEFAULT_ARCS
    assert workspace.arcs_for("tcp://a:1", "4GB") == workspace.DEFAULT_ARCS
    for wrong, words in (("399MB", "at least 400MB"), ("much", "a size such as 2GB")):
        with pytest.raises(UsageError, match=words):
            cluster.parse_memory(wrong)
