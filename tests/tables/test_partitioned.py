"""A folder on workers: the same promise, plan and answers as on one machine, bit for bit; the same refusals."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.partitioned import cluster as dask_cluster
from hetdp.partitioned import table_tasks as merging
from hetdp.partitioned import table_tasks as tasks
from hetdp.partitioned import tables as partitioned
from hetdp.partitioned import workspace
from hetdp.partitioned.tables import PartitionedTable
from hetdp.tables.people_table import LocalTable
from hetdp.tables.preparation import prepare
from hetdp.tables.request import build_request
from hetdp.tables.sources import QueriedSource, open_source
from tests.partitioned.inline import Inline
from tests.partitioned.processes import Processes
from tests.stress import mostly_long
from tests.tables.folders import random_people, write_parts
from tests.tables.tables import PEOPLE, as_parquet
from tests.tables.test_folders import CUTS, QUESTION, WAYS, break_folder

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
WORKERS = {"auto": None, "dask": hetdp.Workers()}
REQUEST: dict[str, Any] = {"counted": "vote = 'yes'", "at_least": "50%", "person": "id", "epsilon": "eps"}


@pytest.fixture
def inline(monkeypatch):
    """Runs tasks in this process."""
    found = Inline(twice=False)
    monkeypatch.setattr(workspace, "start_runner", lambda *_: found)
    monkeypatch.setattr(partitioned, "IDS", 60)  # so that several tasks compare ids
    return found


def reported_parts(result: hetdp.AskResult) -> tuple[Any, ...]:
    return result.plan, result.promise, result.promises[0].accuracy, result.promises[0].curves(), result.simulated


def coordinates(source: Any, **changed: Any) -> list[float]:
    return prepare(source, build_request(**(REQUEST | changed))).coordinates()


@pytest.mark.parametrize(
    ("cuts", "suffix"),
    mostly_long([("one", "csv"), *((cuts, "parquet") for cuts in ("two", "skewed", "empty", "one", "eight"))], 4),
)
def test_workers_give_the_same_promise_and_answer_as_one_machine(cuts, suffix, inline, tmp_path):
    folder = write_parts(random_people(len(cuts)), tmp_path / "people", CUTS[cuts], suffix)
    for way in [*WAYS, {"design": "weighted-vote", "by": "county"}] if cuts == "two" else WAYS[:1]:
        given = QUESTION | way | {"simulate": True, "seed": 3}
        assert reported_parts(hetdp.ask(folder, **given, workers=hetdp.Workers())) == reported_parts(
            hetdp.ask(folder, **given)
        )
        given = QUESTION | way | {"dry_run": True}
        assert hetdp.ask(folder, **given, workers=hetdp.Workers()).plan == hetdp.ask(folder, **given).plan
    assert inline.ran["find_repeated"] == 2 * 7 * (5 if cuts == "two" else 1)


@pytest.mark.parametrize("seed", [0, 3])
def test_every_coordinate_is_the_same_bit_for_bit(seed, tmp_path):
    people = random_people(seed, 300)
    if seed == 3:  # everybody has an ε of their own, and they are many: one machine then counts them otherwise
        people = random_people(seed, 6000)
        people["eps"] = np.random.default_rng(seed).random(6000).tolist()
    folder = write_parts(people, tmp_path / "people", [100, 101])
    for changed in ({}, {"deciding": "dec", "area": "county", "objective": ["weighted-vote", "balanced"][seed % 2]}):
        with open_source(folder) as source:
            expected = coordinates(LocalTable(source), **changed)
        assert coordinates(PartitionedTable(folder, Inline(twice=False), str(tmp_path), False), **changed) == expected
    assert not list(tmp_path.glob("ids-*"))


def test_the_counted_columns_are_read_once_after_everything_is_fixed(inline, tmp_path, monkeypatch):
    seen, counted = [], QueriedSource.count_rows
    inline._twice = True

    def record_columns(self: Any, keys: Any, flags: Any, parameters: Any, uses: Any, most: int) -> Any:
        seen.append((tuple(uses), "yes 0" in flags))
        return counted(self, keys, flags, parameters, uses, most)

    monkeypatch.setattr(QueriedSource, "count_rows", record_columns)
    folder, plan = write_parts(PEOPLE, tmp_path / "people", [3]), tmp_path / "plan.json"

    def announce(result: hetdp.AskResult) -> None:
        assert plan.exists()
        assert not result.simulated
        seen.append("announced")

    hetdp.ask(folder, **QUESTION, plan=plan, simulate=True, announce=announce, workers=hetdp.Workers())
    public, private = (("id", "eps"), False), (("id", "eps", "vote"), True)
    assert seen == [public] * 4 + ["announced"] + [private] * 4  # two files; here, every task runs twice
    seen.clear()
    hetdp.ask(folder, plan=plan, dry_run=True, workers=hetdp.Workers())  # the plan of one engine is that of the other
    assert seen == [public] * 4
    assert hetdp.ask(folder, plan=plan, dry_run=True).plan_file.startswith("this is exactly the plan in ")


@pytest.mark.parametrize(
    ("first", "way"),
    mostly_long(
        [("auto", 0), ("dask", 3), ("dask", 1), ("auto", 2), ("dask", 0), ("auto", 1), ("dask", 2), ("auto", 3)], 2
    ),
)
def test_a_release_charges_everybody_as_one_machine_does(way, first, inline, tmp_path):
    folder = write_parts(random_people(way), tmp_path / "people", [0, 100, 100])
    ledger = hetdp.Ledger.create(tmp_path / "people.ledger", source="people", cap=float("inf"))
    given, second = QUESTION | WAYS[way], "dask" if first == "auto" else "auto"
    places = [hetdp.Payment(ledger, record=tmp_path / name) for name in ("one.json", "two.json")]
    one = hetdp.ask(folder, **given, workers=WORKERS[first], payment=places[0]).release
    two = hetdp.ask(folder, **given, workers=WORKERS[second], payment=places[1]).release  # or refused, if others paid
    assert not one.repeated
    assert two.repeated
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert ledger.history()[-1].accounts == one.record["composition"]["accounts"] == 400
    result = hetdp.ask(folder, **QUESTION | WAYS[way], dry_run=True, workers=hetdp.Workers())
    assert hetdp.release(result, ledger=ledger, version="2").answers[0].words in ("yes", "no")


def test_nobody_pays_if_somebody_cannot_or_the_table_changes(inline, tmp_path, monkeypatch):
    folder = write_parts(PEOPLE, tmp_path / "people", [3])
    ledger = hetdp.Ledger.create(tmp_path / "people.ledger", source="people", cap=0.7)  # four of them use 0.76
    with pytest.raises(hetdp.BudgetError, match="4 of 7 accounts would exceed the cap"):
        hetdp.ask(folder, **QUESTION, payment=hetdp.Payment(ledger), workers=hetdp.Workers())
    read = PartitionedTable.read_payers

    def add_file(self: PartitionedTable, request: Any) -> Any:
        as_parquet(PEOPLE | {"id": list(range(11, 18))}, folder)
        return read(self, request)

    monkeypatch.setattr(PartitionedTable, "read_payers", add_file)
    with pytest.raises(hetdp.InputError, match="changed while it was read"):
        hetdp.ask(folder, **QUESTION, payment=hetdp.Payment(ledger), workers=hetdp.Workers())
    assert len(ledger.history()) == 2  # made, and declared


def rewrite(folder: Path, columns: dict[str, Any]) -> None:
    pyarrow.parquet.write_table(pa.table(columns), folder / "part-1.parquet")


LOSSES = {
    "id": lambda folder: rewrite(folder, PEOPLE | {"id": [None, *range(12, 18)]}),
    "column": lambda folder: rewrite(folder, {name: PEOPLE[name] for name in PEOPLE if name != "eps"}),
    "file": lambda folder: (folder / "part-1.parquet").unlink(missing_ok=True),
}


@pytest.mark.parametrize("what", LOSSES)
@pytest.mark.parametrize("after", ["describe", "tally_all", "write_people"])
def test_a_table_that_loses_something_at_any_moment_is_refused_with_a_message(
    what, after, inline, tmp_path, monkeypatch
):
    folder = write_parts(PEOPLE, tmp_path / "people", [3])
    ledger = hetdp.Ledger.create(tmp_path / "people.ledger", source="people", cap=9)
    run = inline.run

    def run_and_damage(task: Any, *items: Any) -> Any:
        found = run(task, *items)
        if task.__name__ == after:
            LOSSES[what](folder)
        return found

    monkeypatch.setattr(inline, "run", run_and_damage)
    with pytest.raises(hetdp.InputError):
        hetdp.ask(folder, **QUESTION, payment=hetdp.Payment(ledger), workers=hetdp.Workers())
    assert len(ledger.history()) == 2


@pytest.mark.parametrize("how", ["truncated", "damaged", "type"])
def test_a_file_that_does_not_fit_is_named_as_on_one_machine(how, inline, tmp_path):
    folder = write_parts(
        {name: PEOPLE[name] for name in ("id", "eps", "role", "county", "vote")}, tmp_path / "people", [3]
    )
    words = break_folder(folder, how)
    with pytest.raises(hetdp.InputError, match=words):
        hetdp.ask(folder, **QUESTION, by="county", dry_run=True, workers=hetdp.Workers())


FAULTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no id": ({"id": [1, 2, 3, 4, None, 6, 7]}, {}),
    "twice within a file": ({"id": [1, 2, 3, 4, 7, 6, 7]}, {}),
    "twice in two files": ({"id": [1, 2, 7, 4, 5, 6, 7]}, {}),
    "no ε": ({"eps": [0.3, 0.3, 1.0, 1.0, None, 1.0, 2.0]}, {}),
    "negative": ({"eps": [0.3, 0.3, 1.0, 1.0, -0.1, 1.0, 2.0]}, {}),
    "no number": ({"eps": [0.3, 0.3, 1.0, 1.0, float("nan"), 1.0, 2.0]}, {}),
    "no deciding ε": ({"dec": [1.0, 1, 1, 1, 1, 1, None]}, {"deciding_epsilon": "dec"}),
    "no area": ({"county": ["N", "N", "N", "S", None, "S", "S"]}, {"by": "county"}),
    "a NUL": ({"county": ["N", "N", "N", "S", "a\0b", "S", "S"]}, {"by": "county"}),
    "no group": ({}, {"group": "role", "epsilon": None, "epsilon_by": {"pupil": 1}}),
    "nobody's group": ({}, {"group": "role", "deciding_epsilon_by": {"pupils": 1}}),
    "no column": ({}, {"by": "country"}),
    "no comparison": ({}, {"count": "vote > 3.5 AND eps > 1"}),
    "no people": ({name: [] for name in PEOPLE}, {}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_reported_in_the_same_words(fault, inline, tmp_path):
    columns, way = FAULTS[fault]
    folder = write_parts(PEOPLE | columns, tmp_path / "people", [3])
    words = []
    for engine in ("auto", "dask"):
        with pytest.raises(hetdp.HetdpError) as caught:
            hetdp.ask(folder, **(QUESTION | way), simulate=True, workers=WORKERS[engine])
        words.append((type(caught.value), str(caught.value)))
    assert words[0] == words[1]


@pytest.mark.parametrize("fault", ["no id", "twice in two files", "no ε", "no group"])
def test_a_curator_sees_at_least_the_rows_of_one_file(fault, inline, tmp_path):
    columns, way = FAULTS[fault]
    folder = write_parts(PEOPLE | columns, tmp_path / "people", [0, 3])
    found = []
    for engine in ("auto", "dask"):
        with pytest.raises(hetdp.InputError) as caught:
            hetdp.ask(folder, **(QUESTION | way), simulate=True, workers=WORKERS[engine], curator=True)
        found.append([str(fault) for fault in caught.value.faults])
    assert found[1] == found[0][: len(found[1])]
    assert found[1]


@pytest.mark.parametrize("ids", [[1, 2, 7, 4, 5, 6, 7], list("abcdefc")])
def test_a_column_may_have_any_name_where_an_id_is_there_twice(ids, inline, tmp_path):
    people = {"Place" if name == "id" else name: cells for name, cells in (PEOPLE | {"id": ids}).items()}
    pieces = [{name: cells[rows] for name, cells in people.items()} for rows in (slice(3), slice(3, None))]
    (tmp_path / "people").mkdir()
    for number, piece in enumerate(pieces):
        pyarrow.parquet.write_table(pa.table(piece), tmp_path / "people" / f"{number}.parquet")
    report = []
    for engine in ("auto", "dask"):
        with pytest.raises(hetdp.InputError) as caught:
            hetdp.ask(
                tmp_path / "people",
                **QUESTION | {"person": "Place"},
                dry_run=True,
                workers=WORKERS[engine],
                curator=True,
            )
        report.append(str(caught.value))
    assert report[0] == report[1]
    assert "people/1.parquet row 4, Place" in report[0]


def test_two_ids_with_the_same_digest_are_two_people(inline, tmp_path, monkeypatch):
    def find_all(places: Any, low: int, high: int) -> list[int]:
        return np.unique(np.concatenate([np.load(place) for place in places])).tolist() if low == 0 else []

    monkeypatch.setattr(tasks, "find_repeated", find_all)
    monkeypatch.setattr(tasks, "DUPLICATES_AT_ONCE", 2)
    folder = write_parts(PEOPLE, tmp_path / "people", [3])
    assert hetdp.ask(folder, **QUESTION, dry_run=True, workers=hetdp.Workers()).plan["counts"]["people"] == 7
    assert inline.ran["find_ids"] == 4 * 2


def test_a_file_that_changes_before_the_answers_is_refused(inline, tmp_path):
    folder = write_parts(PEOPLE, tmp_path / "people", [3])
    file = folder / "part-1.parquet"
    stamp = file.stat()

    def change_people(_: hetdp.AskResult) -> None:
        table = pyarrow.parquet.read_table(file)
        eps = pa.array([2.0] * 4)
        pyarrow.parquet.write_table(table.set_column(3, "eps", eps), file)
        os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    def add_file(_: hetdp.AskResult) -> None:
        as_parquet(PEOPLE | {"id": list(range(11, 18))}, folder)

    for change in (change_people, add_file):
        with pytest.raises(hetdp.InputError, match="changed while it was read"):
            hetdp.ask(folder, **QUESTION, simulate=True, announce=change, workers=hetdp.Workers())


def test_unsupported_requests_are_refused_with_a_message(inline, tmp_path, monkeypatch):
    folder, single = write_parts(PEOPLE, tmp_path / "people", [3]), as_parquet(PEOPLE, tmp_path)
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (single, {}, "workers= for a table that is not a folder"),
        (folder, {"number": 0}, "the number of workers is 0"),
        (folder, {"work": folder / "w"}, "a folder that is a table may contain"),
        (folder, {"work": folder / "w" / "w"}, "a folder that is a table may contain"),
    ]
    for table, given, words in refused:
        with pytest.raises(hetdp.UsageError, match=words):
            hetdp.ask(table, **QUESTION, workers=hetdp.Workers(**given), dry_run=True)
    for engine in ("auto", "dask"):
        with pytest.raises(hetdp.InputError, match=r"nobody: does not exist; a table is a file, or a folder"):
            hetdp.ask(tmp_path / "nobody", **QUESTION, workers=WORKERS[engine], dry_run=True)
    monkeypatch.setattr(merging, "MOST_KINDS", 3)
    with pytest.raises(hetdp.UsageError, match="too many kinds of people; workers count people who have the same ε"):
        hetdp.ask(folder, **QUESTION, dry_run=True, workers=hetdp.Workers())


def test_workers_that_compute_other_digests_are_refused(inline, tmp_path, monkeypatch):
    def write_other_digests(file: Any, person: str, place: str, curator: bool) -> str:
        return f"DuckDB {Path(file.path).name}"

    monkeypatch.setattr(tasks, "write_digests", write_other_digests)
    with pytest.raises(hetdp.UsageError, match=r"workers have DuckDB part-0\.parquet and DuckDB part-1\.parquet; all"):
        hetdp.ask(write_parts(PEOPLE, tmp_path / "people", [3]), **QUESTION, dry_run=True, workers=hetdp.Workers())


def test_a_killed_worker_does_not_change_the_output_of_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_parts(random_people(8), tmp_path / "people", [1, 200, 200])
    words = ["ask", "people", "--count", "vote = 'yes'", "--at-least", "50%", "--epsilon", "eps", "--person", "id"]
    words += ["--by", "county", "--simulate", "--seed", "4", "--json"]
    (tmp_path / "cluster").mkdir()
    started = Processes(tmp_path / "cluster")
    victim, run = started.workers[-1], dask_cluster.Cluster.run

    def kill_before_the_answers(self: Any, task: Any, items: Any, words: str = "") -> Any:
        if words == "reading the answers" and victim.poll() is None:
            started.kill(victim)
        return run(self, task, items, words)

    monkeypatch.setattr(dask_cluster.Cluster, "run", kill_before_the_answers)
    try:
        found = []
        for engine in ([], ["--engine", "dask", "--cluster", started.address, "--work", "work"]):
            assert main([*words, *engine]) == 0
            found.append(capsys.readouterr())
        pyarrow.parquet.write_table(pyarrow.parquet.read_table("people/part-0.parquet"), "people/part-9.parquet")
        for engine in ([], ["--engine", "dask", "--cluster", started.address, "--work", "work"]):
            assert main([*words, *engine]) == hetdp.InputError.exit_code
            found.append(capsys.readouterr())
    finally:
        started.close()
    assert victim.returncode == -9
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert "a duplicate id" in found[3].out
    assert [path.name for path in Path("work").iterdir()] == ["hetdp-work"]
