"""A folder of files is one table with the promise, plan, charge and answer of one file; other files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.tables.formats import Folder
from hetdp.tables.sources import open_source
from tests.tables.folders import SUFFIXES, random_people, write_parts
from tests.tables.tables import PEOPLE, as_parquet

QUESTION: dict[str, Any] = {"count": "vote = 'yes'", "person": "id", "at_least": "50%", "epsilon": "eps"}
WAYS: list[dict[str, Any]] = [
    {"group": "role", "by": "county"},
    {"deciding_epsilon": "dec", "of": "respondents"},
    {"group": "role", "epsilon": None, "epsilon_by": {"pupil": 0.3, "staff": 1, "guest": "inf"}},
    {"epsilon": 0.5, "design": "fair"},
]
CUTS = {"one": [], "two": [200], "eight": [50, 100, 150, 200, 250, 300, 350], "skewed": [1, 2, 399], "empty": [0, 400]}


def comparable_parts(one: hetdp.AskResult, other: hetdp.AskResult) -> bool:
    """Everything but the name of the table, and what depends on it."""
    plans = [{**asked.plan, "table": 0, "plan_sha256": 0} for asked in (one, other)]
    return (plans[0], one.promise, one.simulated) == (plans[1], other.promise, other.simulated)


@pytest.mark.parametrize(("cuts", "suffix"), [("one", "csv"), ("two", "csv"), *((cuts, "parquet") for cuts in CUTS)])
def test_files_of_a_folder_are_one_table(cuts, suffix, tmp_path):
    people = random_people(len(cuts))
    folder, single = write_parts(people, tmp_path / "people", CUTS[cuts], suffix), SUFFIXES[suffix](people, tmp_path)
    for way in WAYS[: 4 if cuts == "two" else 2]:
        given = QUESTION | way | {"simulate": True, "seed": 3}
        assert comparable_parts(hetdp.ask(folder, **given), hetdp.ask(single, **given))


def test_rows_come_in_the_order_of_the_names_in_every_pass(tmp_path):
    people = random_people(5, 5000)
    with open_source(write_parts(people, tmp_path / "people", [700, 1500, 3000])) as source:
        assert isinstance(source, Folder)
        for _ in range(3):
            assert source.read({"id": '"id"'}, uses=["id"])["id"].tolist() == people["id"]
        assert (source.row(0), source.row(1499)) == ("people/part-0.parquet row 1", "people/part-1.parquet row 800")


def test_files_of_other_programs_are_ignored_and_unknown_files_are_refused(tmp_path):
    folder = write_parts(PEOPLE, tmp_path / "people", [3])
    for name in ("_SUCCESS", ".part-0.parquet.crc", "_temporary.parquet"):
        (folder / name).write_text("no table")
    assert hetdp.ask(folder, **QUESTION, dry_run=True).plan["counts"]["people"] == 7
    for name in ("part-9.csv", "part-9.parquet.tmp", "notes"):
        (folder / name).write_text("id,eps,vote\n")
        with pytest.raises(
            hetdp.InputError, match=f"people: an unexpected entry: '{name}'; a folder holds the files of one"
        ):
            hetdp.ask(folder, **QUESTION, dry_run=True)
        (folder / name).unlink()
    (folder / "more.parquet").mkdir()
    with pytest.raises(hetdp.InputError, match=r"an unexpected entry: 'more\.parquet'"):
        hetdp.ask(folder, **QUESTION, dry_run=True)
    (tmp_path / "nothing").mkdir()
    with pytest.raises(hetdp.InputError, match="nothing: a folder without files"):
        hetdp.ask(tmp_path / "nothing", **QUESTION, dry_run=True)


def break_folder(folder: Path, how: str) -> str:
    """Damages a folder; returns the expected message."""
    last, table = folder / "part-1.parquet", pyarrow.parquet.read_table(folder / "part-1.parquet")
    if how == "truncated":
        last.write_bytes(last.read_bytes()[:-200])
        return r"^people/part-1\.parquet: cannot be read"
    if how == "damaged":
        data = bytearray(last.read_bytes())
        data[4:600] = bytes(596)
        last.write_bytes(data)
        return r"^people/part-1\.parquet: cannot be read"
    changed = {
        "fewer": (
            table.drop(["vote"]),
            "which has 'vote VARCHAR' there: 'nothing'; all files of a folder have the same",
        ),
        "type": (table.set_column(0, "id", table["id"].cast(pa.string())), "which has 'id BIGINT' there: 'id VARCHAR'"),
        "order": (table.select(["eps", "id", "role", "county", "vote"]), "which has 'id BIGINT' there: 'eps DOUBLE'"),
        "more": (table.append_column("x", table["id"]), "which has 'nothing' there: 'x BIGINT'"),
        "twice": (table.slice(0, 1), "people, id: a duplicate id; each person must appear once"),
    }
    found, words = changed[how]
    pyarrow.parquet.write_table(found, folder / ("part-2.parquet" if how == "twice" else last.name))
    return (
        words if how == "twice" else rf"^people/part-1\.parquet: column [1-6] differs from 'part-0\.parquet', {words}"
    )


@pytest.mark.parametrize("how", ["truncated", "damaged", "fewer", "type", "order", "more", "twice"])
def test_a_file_that_does_not_fit_is_named(how, tmp_path):
    folder = write_parts(
        {name: PEOPLE[name] for name in ("id", "eps", "role", "county", "vote")}, tmp_path / "people", [3]
    )
    words = break_folder(folder, how)
    with pytest.raises(hetdp.InputError, match=words):
        hetdp.ask(folder, **QUESTION, by="county", dry_run=True)


def test_a_file_that_is_not_text_is_named_with_its_folder(tmp_path):
    folder = write_parts(PEOPLE, tmp_path / "people", [3], "csv")
    (folder / "part-1.csv").write_bytes(b"id,eps,vote\n1,1,\xff\n")
    with pytest.raises(hetdp.InputError, match=r"^people/part-1\.csv: not UTF-8 text; "):
        hetdp.ask(folder, **QUESTION, dry_run=True)
    with pytest.raises(hetdp.InputError, match=r"^part-1\.csv: not UTF-8 text; "):
        hetdp.ask(folder / "part-1.csv", **QUESTION, dry_run=True)


def test_the_curator_is_shown_the_file_and_the_row(tmp_path):
    folder = write_parts(PEOPLE | {"eps": [0.3, 0.3, 1.0, 1.0, None, 1.0, -2.0]}, tmp_path / "people", [3])
    with pytest.raises(hetdp.InputError) as caught:
        hetdp.ask(folder, **QUESTION, dry_run=True, curator=True)
    where = [fault.where for fault in caught.value.faults]
    assert where == ["people/part-1.parquet row 2, eps", "people/part-1.parquet row 4, eps"]


def test_a_folder_that_changes_between_policy_and_answers_is_refused(tmp_path):
    folder = write_parts(PEOPLE, tmp_path / "people", [3])

    def add_file(_: hetdp.AskResult) -> None:
        as_parquet(PEOPLE | {"id": list(range(11, 18))}, folder)

    with pytest.raises(hetdp.InputError, match="changed while it was read"):
        hetdp.ask(folder, **QUESTION, simulate=True, announce=add_file)


def test_nothing_but_the_files_can_be_read(tmp_path):
    folder = write_parts(PEOPLE, tmp_path / "people", [3])
    (folder / "_other.parquet").write_bytes((folder / "part-0.parquet").read_bytes())
    with open_source(folder) as source:
        assert isinstance(source, Folder)
        for other in (folder / "_other.parquet", tmp_path / "x.parquet"):
            with pytest.raises(Exception, match="Permission"):
                source._database.execute(f"SELECT * FROM read_parquet('{other}')")
        with pytest.raises(Exception, match="locked"):
            source._database.execute("SET enable_external_access = true")


def test_a_plan_and_a_ledger_are_for_a_folder_as_for_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_parts(PEOPLE, tmp_path / "people", [3])
    hetdp.Ledger.create("people.ledger", source="people", cap=2)
    words = ["ask", "people", "--count", "vote = 'yes'", "--at-least", "50%", "--epsilon", "eps", "--person", "id"]
    words += ["--group", "role"]
    assert main([*words, "--plan", "plan.json", "--dry-run", "-q"]) == 0
    capsys.readouterr()
    assert main(["ask", "people", "--plan", "plan.json", "--ledger", "people.ledger", "--json", "-q"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["record"]["plan"]["table"] == {"file": "people", "table": None}
    as_parquet(PEOPLE, tmp_path)  # the same people in one file: the same question, so it is paid for already
    single = hetdp.ask("people.parquet", **QUESTION, group="role", payment=hetdp.Payment("people.ledger"))
    assert single.release is not None
    assert single.release.repeated
    for option in (
        {"plan": "people/plan.json", "dry_run": True},
        {"payment": hetdp.Payment("people.ledger", html="people/a.html")},
    ):
        with pytest.raises(hetdp.UsageError, match="lies in the folder 'people'; a folder that is a table may contain"):
            hetdp.ask("people", **QUESTION, **option)


def test_a_folder_of_csv_files_is_text(tmp_path):
    folder = write_parts(PEOPLE, tmp_path / "people", [3, 5], "csv")
    with open_source(folder) as source:
        assert set(source.columns.values()) == {"VARCHAR"}
    (folder / "part-1.csv").write_text("id,county,role,eps,vote\n4,South\n")
    with pytest.raises(hetdp.InputError, match=r"part-1\.csv: cannot be read"):
        hetdp.ask(folder, **QUESTION, dry_run=True)
