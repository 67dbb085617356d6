"""Parts of partitioned problems one by one, without workers: files, folders, options, numbers, and a lost cluster."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hetdp.certificate.rule import MISSING
from hetdp.errors import ClusterError, Fault, InputError, UsageError
from hetdp.partitioned import datasets, edges, mechanism_files, reading, shared_files, table_tasks, workspace
from hetdp.partitioned.datasets import DatasetScan, first_answers
from hetdp.partitioned.edges import AssignedEdges, Chunk, chunks_of
from hetdp.partitioned.parquet_rows import Files
from hetdp.partitioned.partition import LocalGraph, Partition, map_array, write_array, write_cut
from hetdp.partitioned.shared_files import FileState, file_state, make_folder, open_plain, replace_file, require_real
from hetdp.partitioned.table_tasks import MergedTallies, Tally, find_repeated, merge_tallies
from hetdp.partitioned.tables import IdSequence, _KindIndex
from hetdp.partitioned.verification import FREE, PartitionSurvey, _follow_links, _merge
from hetdp.partitioned.workspace import Mark, Workspace, mark_folder, run_guarded, work_folder, worker_count
from hetdp.problem.faults import FaultCollector
from hetdp.tables.policy import Names, Policy
from hetdp.tables.request import build_request

# Files of the work folder ---------------------------------------------------------------------------------------------


def test_folders_below_the_root_are_made_for_the_owner_and_links_are_refused(tmp_path):
    require_real(tmp_path, tmp_path / "a" / "b", make=True)
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    require_real(tmp_path, tmp_path / "a" / "b")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "file").write_text("")
    for name in ("link", "link/b", "file"):
        for make in (False, True):
            with pytest.raises(ClusterError, match="is a link or not a folder"):
                require_real(tmp_path, tmp_path / name, make)
    with pytest.raises(OSError, match="nowhere"):
        require_real(tmp_path / "nowhere", tmp_path / "nowhere" / "a", make=True)
    assert not (tmp_path / "nowhere").exists()
    made = {make_folder(tmp_path, "run") for _ in range(2)}
    assert len(made) == 2
    assert all(Path(one).stat().st_mode & 0o777 == 0o700 for one in made)


def test_a_file_appears_whole_for_its_owner_or_not_at_all(tmp_path):
    place = tmp_path / "note"
    with replace_file(place) as draft:
        assert draft.stat().st_mode & 0o777 == 0o600
        draft.write_text("old")
        assert not place.exists()
    with pytest.raises(ZeroDivisionError), replace_file(place) as draft:
        draft.write_text(str(1 / 0))
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


def test_only_plain_files_with_one_name_are_read(tmp_path):
    (tmp_path / "a").write_text("x")
    with open_plain(tmp_path / "a") as file:
        assert file.read() == b"x"
    os.link(tmp_path / "a", tmp_path / "b")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    for name, words in (("a", "second name"), ("link", "is a link"), ("pipe", "not a plain file")):
        with pytest.raises(ClusterError, match=words):
            open_plain(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        open_plain(tmp_path / "nothing")


def test_another_file_than_at_the_beginning_is_noticed(tmp_path):
    place = tmp_path / "a"
    place.write_text("xy")
    os.utime(place, (1000.75, 1000.75))
    seen = file_state(place)
    assert seen == FileState(str(place), 2, 1000)
    os.utime(place, (1000.25, 1000.25))  # other machines may store whole seconds
    seen.require()
    os.utime(place, (1001, 1001))
    with pytest.raises(ClusterError, match="sees no file"):
        seen.require()
    place.unlink()
    with pytest.raises(ClusterError, match=shared_files.SEEN_RULE):
        seen.require()


def test_arrays_are_mapped_as_they_were_written_and_other_files_are_refused(tmp_path):
    for at, values in enumerate(
        (np.arange(6.0).reshape(2, 3), np.empty((0, 2), np.int8), np.asfortranarray(np.eye(3)))
    ):
        write_array(tmp_path, tmp_path / "in" / f"{at}.npy", values)
        found = map_array(tmp_path, tmp_path / "in" / f"{at}.npy")
        assert np.array_equal(found, values)
        assert found.dtype == values.dtype
        assert not found.flags.writeable
    for content in (b"", b"no array", (tmp_path / "in" / "0.npy").read_bytes()[:-1]):
        (tmp_path / "bad.npy").write_bytes(content)
        with pytest.raises(ClusterError, match="holds no array"):
            map_array(tmp_path, tmp_path / "bad.npy")
    np.save(tmp_path / "bad.npy", np.array([None]))
    with pytest.raises(ClusterError, match="holds no array"):
        map_array(tmp_path, tmp_path / "bad.npy")
    with (tmp_path / "bad.npy").open("wb") as file:
        np.lib.format.write_array(file, np.arange(3), (2, 0))  # not what `write_array` writes
    with pytest.raises(ClusterError, match="holds no array"):
        map_array(tmp_path, tmp_path / "bad.npy")


# Partitions -----------------------------------------------------------------------------------------------------------

OFFSETS = (0, 2, 2, 5, 7)


def partition_in(folder: Path, number: int) -> Partition:
    return Partition(str(folder), number, OFFSETS)


def test_each_dataset_has_one_owner_and_empty_partitions_own_none(tmp_path):
    parts = [partition_in(tmp_path, number) for number in range(4)]
    assert parts[0].owners(np.arange(7)).tolist() == [0, 0, 2, 2, 2, 3, 3]
    assert [(one.first, one.size) for one in parts] == [(0, 2), (2, 0), (2, 3), (5, 2)]
    for one in parts:
        one.save("values", np.arange(one.first, one.first + one.size) * 10)
    assert parts[1].gather_from_owners("values", np.array([0, 1, 4, 5])).tolist() == [0, 10, 40, 50]
    assert parts[1].gather_from_owners("values", np.empty(0, np.int64)).dtype == np.int64
    assert parts[0].path("run-1/x") == tmp_path / "run-1" / "0" / "x.npy"
    assert parts[0].path("x/y") == tmp_path / "0" / "x" / "y.npy"


def test_positions_of_own_datasets_and_ghosts_are_in_the_order_of_their_numbers(tmp_path):
    part = partition_in(tmp_path, 2)
    part.save("ghosts", np.array([1, 5, 6]))
    graph = LocalGraph(part)
    assert (graph.size, graph.before, graph.own) == (6, 1, slice(1, 4))
    numbers = [1, 2, 3, 4, 5, 6]
    assert graph.numbers(np.arange(6)).tolist() == numbers
    assert graph.numbers(np.array([-1, 2])).tolist() == [-1, 3]
    assert [graph.place(number) for number in numbers] == list(range(6))
    assert graph.places(np.array([*numbers, 0, -1, 7])).tolist() == [*range(6), -1, -1, -1]
    assert graph.with_ghosts(np.array([2, 3, 4]), np.array([1, 5, 6])).tolist() == numbers
    part.save("ghosts", np.empty(0, np.int64))
    assert LocalGraph(part).places(np.array([2, 5])).tolist() == [0, -1]


def test_changes_are_sent_to_the_owners_of_the_other_ends(tmp_path):
    part = partition_in(tmp_path, 2)
    write_cut(part, np.array([2, 6, 3, 4, 2]), np.array([0, 2, 4, 1, 1]))
    bounds, places = part.load("cut_bounds").tolist(), part.load("cut_places").tolist()
    told = {receiver: places[bounds[receiver] : bounds[receiver + 1]] for receiver in range(4)}
    assert told == {0: [0, 2], 1: [], 2: [], 3: [0]}


def files_with(*counts: int) -> Files:
    return Files("edges", tuple(f"/data/edges/part-{at}.parquet" for at in range(len(counts))), {}, counts)


def test_rows_are_named_by_file_and_ranges_are_cut_by_file():
    several = files_with(3, 0, 2)
    assert (several.length, several.starts) == (5, [0, 3, 3, 5])
    assert several.row(2) == "edges/part-0.parquet row 3"
    assert several.row(3) == "edges/part-2.parquet row 1"
    assert files_with(3).row(0) == "edges row 1"
    names = [(path[-9:-8], low, high) for path, low, high in several.pieces(1, 4)]
    assert names == [("0", 1, 3), ("2", 0, 1)]
    assert several.pieces(2, 2) == []


@pytest.mark.parametrize("workers", [1, 3, 100])
def test_chunks_cover_each_row_once_and_span_no_two_files(workers, monkeypatch):
    monkeypatch.setattr(edges, "CHUNK", 5)
    files = files_with(17, 0, 4)
    found = chunks_of(files, workers)
    assert [row for chunk in found for row in range(chunk.start, chunk.stop)] == list(range(21))
    assert [chunk.number for chunk in found] == list(range(len(found)))
    assert all(chunk.stop <= 17 or chunk.start >= 17 for chunk in found)
    assert max(chunk.stop - chunk.start for chunk in found) <= 5
    assert len(found) <= 5 + 16
    assert chunks_of(files_with(0), workers) == []
    assert chunks_of(files_with(4), 1) == [Chunk(0, 0, 4)]


def test_the_row_of_an_edge_is_counted_over_chunks():
    assigned = AssignedEdges(*[np.zeros(3, np.int64)] * 2, (), [(10, np.array([2, 4])), (20, np.array([1]))])
    assert [assigned.row(at) for at in range(3)] == [12, 14, 21]
    with pytest.raises(IndexError):
        assigned.row(3)


def test_partitions_are_equal_ranges_or_files():
    tables = datasets.Tables("it", {}, files_with(4, 6), files_with(50), "pure")
    assert reading.offsets_of(tables, "files", 2) == (0, 4, 10)
    assert reading.offsets_of(tables, 3, 2) == (0, 3, 6, 10)
    assert reading.offsets_of(tables, None, 2) == (0, 5, 10)
    assert reading.offsets_of(tables, None, 2, arcs=25) == (0, 2, 5, 7, 10)
    assert reading.offsets_of(tables, 99, 2) == tuple(range(11))
    empty = tables._replace(datasets=files_with(0))
    assert reading.offsets_of(empty, None, 2) == (0, 0)
    assert reading.snap_to_entries((0, 3, 6, 10), [4, 8, 10]) == (0, 4, 8, 10)
    assert reading.snap_to_entries((0, 4, 10), [4, 10]) == (0, 4, 10)


# Files of mechanisms --------------------------------------------------------------------------------------------------


def test_the_driver_sees_the_files_that_workers_wrote(tmp_path):
    problem: Any = SimpleNamespace(partitions=[partition_in(tmp_path, number) for number in range(4)])
    folder = tmp_path / "mechanism"
    folder.mkdir()
    for number, size in ((0, 3), (2, 5)):
        (folder / f"part-{number:06}.parquet").write_bytes(b"x" * size)
    mechanism_files._require_files(problem, folder, [3, 0, 5, 0])
    for sizes in ([3, 0, 4, 0], [3, 0, 5, 1], [3, 0, 0, 0]):
        with pytest.raises(ClusterError, match="are not there as they wrote them"):
            mechanism_files._require_files(problem, folder, sizes)


@pytest.mark.parametrize("own", [np.array([20, 30, 40]), np.array(["c", "d", "e"], dtype=object)])
def test_links_are_written_as_labels_wherever_they_lead(own, tmp_path):
    part = partition_in(tmp_path, 2)  # datasets 2, 3 and 4
    every = [0, 10, *own.tolist(), 50, 60] if own.dtype != object else list("abcdefg")
    labels: Any = SimpleNamespace(at=lambda numbers: [every[number] for number in numbers])
    links = np.array([-1, 3, 6])
    found = mechanism_files._bound_by(part, links, own, labels)
    assert found.tolist() == [None, every[3], every[6]]
    assert mechanism_files._bound_by(part, np.array([2, 4, -1]), own, labels).tolist() == [every[2], every[4], None]
    assert mechanism_files._bound_by(part, np.array([0, 5, 1]), own, labels).tolist() == [every[0], every[5], every[1]]


# Answers --------------------------------------------------------------------------------------------------------------


def test_the_first_distinct_answers_are_listed_with_their_rows(monkeypatch):
    monkeypatch.setattr(datasets, "MOST_ANSWERS", 2)
    plain = np.array([3, 1, 3, 2])
    assert datasets._different(plain, plain.tolist()) == ([3, 1], [0, 1])
    assert datasets._different(["b", None, "a", "b", "c"], ["b", None, "a", "b", "c"]) == (["b", "a"], [0, 2])


def scan_of(answers: list[Any], rows: list[Any], missing: int = 0) -> DatasetScan:
    return DatasetScan([], 0, False, answers, rows, ([Fault("no answer", "x", "", "")] * missing, missing))


def test_the_meaning_of_answers_depends_on_all_partitions():
    findings = FaultCollector("it")
    assert first_answers([scan_of(["1", "2"], ["a", "b"]), scan_of(["1.0"], ["c"])], None, findings) == ["1", "1.0"]
    assert first_answers([scan_of(["yes"], ["a"]), scan_of(["no"], ["c"])], "no", findings) == ["no"]
    assert first_answers([scan_of([True], [0]), scan_of([False], [1])], None, findings) == [True]
    assert findings.total == 0
    assert first_answers([scan_of(["1"], ["a"], 2), scan_of(["2", "3"], ["b", "c"])], None, findings) == []
    assert findings.total == 3


# Options and folders --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
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


def test_possible_options_give_the_number_of_workers():
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


# A cluster that is lost -----------------------------------------------------------------------------------------------

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


# Tables of people -----------------------------------------------------------------------------------------------------


def test_ids_are_found_by_their_places():
    ids = IdSequence()
    for texts in (["a", "", "ö"], [], ["b"]):
        ids.add(texts)
    assert [ids[at] for at in range(4)] == list(ids) == ["a", "", "ö", "b"]
    for wrong in (-1, 4):
        with pytest.raises(IndexError):
            ids[wrong]


def test_kinds_of_people_are_found_or_unknown():
    groups = Names(("a", "b"), np.array([0, 1, 1], np.int32))
    places = _KindIndex(Policy(3, np.array([1.0, 1.0, 2.0]), groups, None))
    asked = [np.array([2.0, 1.0, 1.0, 2.0, 3.0, 0.5]), np.array([1, 1, 0, 0, 1, 1])]
    assert places.of(asked).tolist() == [2, 1, 0, -1, -1, -1]


def test_repeated_hashes_are_found_in_their_range(tmp_path):
    places = []
    for at, values in enumerate(([1, 5, 5, 9], [2, 9, 2**64 - 1], [2**64 - 1])):
        places.append(str(tmp_path / f"{at}.npy"))
        np.save(places[-1], np.array(values, np.uint64))
    assert find_repeated(places, 0, 2**64 - 1) == [5, 9, 2**64 - 1]
    assert find_repeated(places, 5, 8) == [5]
    assert find_repeated(places, 6, 9) == [9]
    assert find_repeated(places, 0, 4) == []


ASKED = build_request("vote = 'yes'", at_least=1, person="id", epsilon="eps", group="role")


def tally(epsilon: list[float], groups: list[int], names: list[str], people: list[int], said: Any = None) -> Tally:
    columns = {"everybody": np.zeros(len(people)), "epsilon": np.array(epsilon), "group": np.array(groups)}
    answers = None if said is None else np.array(said)
    return Tally(0, columns, {"group": names}, {"no person": 0, "no group": 0}, np.array(people), answers)


def test_counts_of_several_files_are_added_by_kind(monkeypatch):
    told = [
        tally([0.5, 1.0], [0, 0], ["b"], [2, 3], [[1, 1], [3, 0]]),
        tally([1.0, 0.5], [0, 1], ["a", "b"], [4, 5], [[0, 4], [2, 3]]),
    ]
    found = merge_tallies("it", ASKED, told)
    assert found.policy.size == 14
    assert found.policy.groups.names == ("a", "b")
    rows = zip(
        found.policy.epsilon.tolist(), found.policy.groups.codes.tolist(), found.policy.weights.tolist(), strict=True
    )
    assert list(rows) == [(0.5, 1, 7), (1.0, 0, 4), (1.0, 1, 3)]
    assert found.answers.tolist() == [[3, 4], [0, 4], [3, 0]]
    assert found.entries.tolist() == [0, 2, 1, 0]
    assert found.is_same(merge_tallies("it", ASKED, told[::-1]))
    more = [told[0], tally([1.0, 0.5], [0, 1], ["a", "b"], [4, 6], [[0, 4], [2, 4]])]
    assert not found.is_same(merge_tallies("it", ASKED, more))
    renamed = replace(found.policy, groups=Names(("a", "c"), found.policy.groups.codes))
    assert not found.is_same(MergedTallies(renamed, found.answers, found.entries))
    monkeypatch.setattr(table_tasks, "MOST_KINDS", 4)
    merge_tallies("it", ASKED, told)
    monkeypatch.setattr(table_tasks, "MOST_KINDS", 3)
    with pytest.raises(UsageError, match="too many kinds of people"):
        merge_tallies("it", ASKED, told)
    nameless = told[0]._replace(missing={"no person": 0, "no group": 1})
    with pytest.raises(InputError, match="a person without a group"):
        merge_tallies("it", ASKED, [nameless])


# Surveys --------------------------------------------------------------------------------------------------------------


def survey(slack: float, worst: Any, **more: Any) -> PartitionSurvey:
    return PartitionSurvey(2, 1, 1, slack, worst, more.pop("free_boundary", -1), **more)


def test_the_worst_edge_of_all_partitions_is_the_first_of_the_worst():
    whole = _merge([survey(0.5, (3, 4)), survey(0.1, (5, 6)), survey(0.1, (1, 2)), survey(np.inf, None)])
    assert (whole.slack, whole.worst) == (0.1, (1, 2))
    assert (whole.arcs, whole.enclosed, whole.violations) == (8, 4, 4)


def test_the_first_fault_of_all_partitions_is_reported():
    problem: Any = None  # no chain is followed
    found = _follow_links(
        problem, "m", [survey(0, None, missing=9), survey(0, None, missing=4), survey(0, None, loose=1)]
    )
    assert (found.fault, found.dataset) == (MISSING, 4)
    free = _follow_links(problem, "m", [survey(0, None, missing=0), survey(0, None, free_boundary=7)])
    assert (free.fault, free.dataset) == (FREE, 7)
