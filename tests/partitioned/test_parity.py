"""On partitions the verbs refuse, print and count the same as on one machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.partitioned import reading, workspace
from tests.partitioned.inline import Inline, read_inline

DASK = ["--engine", "dask", "--partitions", "2"]


@pytest.fixture(autouse=True)
def row(tmp_path, monkeypatch):
    """A row of six datasets in the working folder; tasks run in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline(twice=False))
    return save_row("row", {2: 0.55, 3: 0.45})


def save_row(name: str, pins: dict[int, float], epsilon: float = 0.5) -> hetdp.Problem:
    graph = hetdp.DatasetGraph.from_edges(range(5), range(1, 6), epsilon)
    problem = hetdp.Problem(graph, [1, 1, 1, 2, 2, 2])
    hetdp.save(problem, name, pins)
    return problem


def run_command(capsys, words: list[str], engine: list[str]) -> tuple[int, str, list[str]]:
    """The exit code, standard output and lines of standard error, without those about partitions."""
    code = main([*words, *engine])
    out, errors = capsys.readouterr()
    lines = [line.replace(", in 2 partitions", "") for line in errors.splitlines()]
    return code, out, [line for line in lines if "between partitions" not in line]


def run_with_both_engines(capsys, *words: str) -> tuple[int, str, list[str]]:
    """Runs a command with both engines, asserts that they agree, and returns the result."""
    alone, partitioned = (run_command(capsys, [*words], engine) for engine in ([], DASK))
    assert partitioned == alone
    return alone


def save_mechanism(problem: hetdp.Problem, changes: dict[str, Any], **columns: list[Any]) -> None:
    """Saves a mechanism as m.parquet with changed metadata and columns."""
    hetdp.save(hetdp.extend(problem, {2: 0.55, 3: 0.45}), "m.parquet")
    table = pyarrow.parquet.read_table("m.parquet")
    for name, values in columns.items():
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(values))
    metadata = json.dumps(json.loads(table.schema.metadata[b"hetdp"]) | changes)
    pyarrow.parquet.write_table(table.replace_schema_metadata({"hetdp": metadata}), "m.parquet")


INVALID_MECHANISMS: dict[str, tuple[dict[str, Any], dict[str, list[Any]], str]] = {
    "version": ({"schema_version": 2}, {}, "a newer schema_version: 2"),
    "kind": ({"kind": "problem"}, {}, "wrong kind of document: 'problem'"),
    "notion": ({"notion": "gaussian", "coordinate": "probit"}, {}, "z is another coordinate: 'probit'"),
    "coordinate": ({"coordinate": "probit"}, {}, "another coordinate 'probit'"),
    "moved": ({"moved": "far"}, {}, "not a distance: 'far'"),
    "key": ({"colour": 1}, {}, "unknown key 'colour'"),
    "label": ({}, {"dataset": [0, 1, None, 3, 4, 5]}, "row 3, dataset: missing label"),
    "binding": ({}, {"binding": [99, 2, None, None, 3, 4]}, "row 1, binding: unknown dataset"),
    "before the first": ({}, {"binding": [-1, 2, None, None, 3, 4]}, "row 1, binding: unknown dataset"),
}


@pytest.mark.parametrize("how", INVALID_MECHANISMS)
def test_an_invalid_mechanism_is_refused_as_on_one_machine(how, row, capsys):
    words, columns, fault = INVALID_MECHANISMS[how]
    save_mechanism(row, words, **columns)
    for verb in (["verify", "row", "m.parquet"], ["explain", "row", "0", "--mechanism", "m.parquet"]):
        alone, partitioned = (run_command(capsys, verb, engine) for engine in ([], DASK))
        assert alone[0] == partitioned[0] == hetdp.InputError.exit_code
        assert alone[2][-1] == partitioned[2][-1]
        assert fault in alone[2][-1]


def test_answers_may_be_written_as_text(row, capsys):
    save_mechanism(row, {}, query=["1", "1", "1", "2", "2", "2"])
    assert run_with_both_engines(capsys, "verify", "row", "m.parquet")[0] == 0


def test_a_mechanism_of_another_problem_is_verified_but_neither_loaded_nor_explained(row, tmp_path, capsys):
    save_row("other", {2: 0.55, 3: 0.45}, epsilon=0.7)
    save_mechanism(row, {})
    code, _, errors = run_with_both_engines(capsys, "verify", "other", "m.parquet")
    assert code == 0
    assert "made for another problem" in errors[1]
    partitioned = run_command(capsys, ["explain", "other", "0", "--mechanism", "m.parquet"], DASK)
    assert partitioned[0] == hetdp.InputError.exit_code
    assert "made for another problem, 'sha256:" in partitioned[2][-1]
    problem, _ = read_inline(Path("other"), tmp_path / "work")
    with pytest.raises(hetdp.InputError, match="a mechanism is loaded with the problem it was made for"):
        hetdp.read_mechanism("m.parquet", problem)


@pytest.mark.parametrize("name", ["m.csv", "-", "nowhere", "row"])
def test_a_file_without_a_mechanism_is_refused_before_workers_start(name, capsys, monkeypatch):
    monkeypatch.setattr(workspace, "start_runner", None)
    Path("m.csv").touch()
    for words in (["verify", "row", name], ["explain", "row", "0", "--mechanism", name]):
        code, _, errors = run_command(capsys, words, DASK)
        assert code == hetdp.InputError.exit_code
        assert len(errors) == 1


@pytest.mark.parametrize("labels", [range(6), [5, 3, 1, 0, 2, 9]])
def test_integers_in_a_file_of_values_are_found_though_they_are_text(labels, capsys):
    ends = list(labels)
    graph = hetdp.DatasetGraph.from_edges(ends[:-1], ends[1:], 0.5, datasets=ends)
    hetdp.save(hetdp.Problem(graph, [1, 1, 1, 2, 2, 2]), "wide")
    Path("pins.csv").write_text(f"dataset,p\n{ends[2]},0.55\n{ends[3]},0.45\n")
    code, _, errors = run_with_both_engines(capsys, "check", "wide", "--pins", "pins.csv")
    assert (code, errors) == (0, ["read wide: 6 datasets, 5 edges, 2 pinned by pins.csv"])
    assert run_with_both_engines(capsys, "explain", "wide", str(ends[0]), "--pins", "pins.csv")[0] == 0
    counts = [
        json.loads(run_command(capsys, ["design", "wide", "--pins", "pins.csv", "--json", "-o", output], engine)[1])[
            "counts"
        ]
        for output, engine in (("m.csv", []), ("m", DASK))
    ]
    assert counts == [{"datasets": 6, "edges": 5, "pinned": 2}] * 2
    Path("pins.csv").write_text(f"dataset,p\n{ends[2]},0.55\n77,0.45\n{ends[3]}.0,0.45\n")
    partitioned = run_command(capsys, ["check", "wide", "--pins", "pins.csv"], DASK)
    assert partitioned[2] == run_command(capsys, ["check", "wide", "--pins", "pins.csv"], [])[2]
    assert "2 faults" in partitioned[2][0]


def test_check_prints_and_counts_the_same_as_on_one_machine(capsys, monkeypatch):
    save_row("some", {2: 0.55})
    errors = run_with_both_engines(capsys, "check", "some")[2]
    assert errors[1:] == ["1 of 2 boundary datasets have no value; extend needs all of them"]
    Path("none.csv").write_text("dataset,p\n")
    assert (
        json.loads(run_with_both_engines(capsys, "check", "row", "--pins", "none.csv", "--json")[1])["counts"]["pinned"]
        == 0
    )
    graph = hetdp.DatasetGraph.from_edges([], [], [], datasets=range(3))
    hetdp.save(hetdp.Problem(graph, [1, 1, 2]), "loose")
    assert run_with_both_engines(capsys, "check", "loose")[2][1:] == [
        "warning: there are no edges, so nobody is protected"
    ]
    monkeypatch.setattr(workspace, "start_runner", None)
    refused = (["--repair", "r.json"], 2), (["--pins", "nowhere.csv"], 3)
    for words, code in refused:  # before anything is read
        assert run_command(capsys, ["check", "row", *words], DASK)[0] == code
    assert run_with_both_engines(capsys, "check", "-", "--pins", "-")[2][0].startswith(
        "hetdp: - is used for two inputs"
    )


def test_design_counts_given_values_and_says_where_a_coin_would_do_better(capsys):
    save_row("worse", {0: 0.1})
    code, out, errors = run_command(capsys, ["design", "worse", "--json", "-o", "m"], DASK)
    assert (code, json.loads(out)["counts"]["pinned"]) == (0, 1)
    assert errors[2].startswith("3 of 6 datasets are answered worse than by a coin")
    assert (
        json.loads(run_command(capsys, ["design", "row", "--free", "--json", "-o", "m"], DASK)[1])["counts"]["pinned"]
        == 0
    )


def test_an_unknown_dataset_is_refused_before_the_search(capsys):
    save_row("bad", {2: 0.9, 3: 0.1})
    assert "dataset '7': there is no such dataset" in run_with_both_engines(capsys, "explain", "bad", "7")[2][-1]


def test_impossible_options_are_refused_before_workers_start(capsys, monkeypatch):
    monkeypatch.setattr(workspace, "start_runner", None)
    Path("away").symlink_to("nowhere/else")
    shutil.copytree("row", "twice")
    Path("twice/datasets.csv").write_text("dataset,query\n")
    edges = pyarrow.parquet.read_table("row/edges.parquet")
    shutil.copytree("row", "floats")
    pyarrow.parquet.write_table(edges.set_column(0, "source", pa.array([0.5] * 5)), "floats/edges.parquet")
    refused = {
        ("extend", "row", "-o", "away"): (2, "cannot write 'away': No such file or directory"),
        ("extend", "row", "-o", "w", "--work", "w"): (2, "-o w would replace"),
        ("design", "row", "-o", "row/m", "--work", "w"): (2, "-o row/m would replace"),
        ("design", "row", "-o", "m", "--work", "m/w"): (2, "-o m would replace"),
        ("check", "row", "--work", "row/datasets"): (2, "the work folder 'row/datasets' lies in 'row'"),
        ("check", "row", "--by", "query", "--partitions", "files"): (2, "a column beside one for each file"),
        ("design", "row", "-o", "m", "--objective", "average"): (2, "the objective average on a partitioned problem"),
        ("check", "twice"): (3, "twice: two tables of one name: datasets"),
        ("check", "floats"): (3, "floats: edges.parquet, source: a column of type DOUBLE; it holds text or integers"),
    }
    for words, (code, fault) in refused.items():
        found = run_command(capsys, [*words], ["--engine", "dask"])
        assert found[0] == code
        assert fault in found[2][0]
    cluster = ["--cluster", "tcp://127.0.0.1:9", "--work", "w", "--memory", "3GB"]
    found = run_command(capsys, ["check", "row", *cluster], ["--engine", "dask"])
    assert found[0] == 2
    assert "a cluster together with a memory size for each worker" in found[2][0]
    assert sorted(path.name for path in Path().iterdir()) == ["away", "floats", "row", "twice"]


@pytest.mark.parametrize("labels", [[5, 3, 1, 0, 2, 9], list("abcdef")])
def test_labels_from_numpy_are_found(labels, tmp_path):
    graph = hetdp.DatasetGraph.from_edges(labels[:-1], labels[1:], 0.5)
    hetdp.save(hetdp.Problem(graph, dict(zip(labels, [1, 1, 1, 2, 2, 2], strict=True))), "named")
    partitioned, _ = read_inline(Path("named"), tmp_path / "work")
    third, fourth = np.array(labels)[2:4]
    mechanism = hetdp.extend(partitioned, {third: 0.55, fourth: 0.45})
    assert mechanism[third] == mechanism[labels[2]] == 0.55


def test_python_calls_are_refused_with_the_same_messages(row, tmp_path):
    partitioned, given = read_inline(Path("row"), tmp_path / "work")
    for values in (None, {}, {99: 0.5}, {2: 1.5}, hetdp.PartialMechanism(p={2: 0.5}, z={2: 0.0})):
        messages = []
        for problem in (row, partitioned):
            with pytest.raises(hetdp.InputError) as refusal:
                hetdp.extend(problem, values)
            messages.append(str(refusal.value))
        assert messages[0] == messages[1]
    with pytest.raises(hetdp.UsageError, match="it is saved to a folder"):
        hetdp.save(hetdp.extend(partitioned, given), "-")
    other, _ = read_inline(Path("row"), tmp_path / "another")
    with pytest.raises(hetdp.UsageError, match="the values belong to another problem"):
        hetdp.extend(other, given)


def test_a_closed_problem_is_refused():
    with hetdp.read_partitioned("row") as (problem, given):
        mechanism = hetdp.extend(problem, given)
        assert mechanism[2] == 0.55
    with pytest.raises(hetdp.UsageError, match="a partitioned problem that was closed"):
        mechanism[2]


def test_a_problem_without_datasets_has_a_mechanism_that_is_read_again(capsys):
    hetdp.save(hetdp.Problem(hetdp.DatasetGraph.from_edges([], [], [], datasets=[]), []), "nothing")
    assert run_command(capsys, ["extend", "nothing", "-o", "m"], DASK)[0] == 0
    for engine in ([], DASK):
        code, _, errors = run_command(capsys, ["verify", "nothing", "m"], engine)
        assert (code, len(errors)) == (0, 1)  # and no word of another problem


def replace_columns(folder: str, stem: str, **columns: Any) -> None:
    """Replaces columns of a table in a folder."""
    table = pyarrow.parquet.read_table(f"{folder}/{stem}.parquet")
    for name, values in columns.items():
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(values))
    pyarrow.parquet.write_table(table, f"{folder}/{stem}.parquet")


TEXT_ANSWERS: dict[str, tuple[list[Any], list[str], int]] = {
    "a digit beside a word": (["1", "1", "1", "yes", "1", "yes"], ["--positive", "1"], 0),
    "and the word is meant": (["yes", "yes", "yes", "0", "yes", "0"], ["--positive", "yes"], 0),
    "several ways to write it": (["1", "1.0", "1", "2", "2.0", "2"], [], 0),
    "a number among truth values": (["1", "1", "1", "false", "true", "true"], [], 3),
    "the same in each partition": (["1", "true", "true", "1", "true", "1"], [], 3),
}


@pytest.mark.parametrize("how", TEXT_ANSWERS)
def test_the_meaning_of_text_answers_depends_on_all_of_them(how, capsys):
    answers, words, code = TEXT_ANSWERS[how]
    replace_columns("row", "datasets", query=answers, p=[0.5] * 6)
    alone, partitioned = (run_command(capsys, ["check", "row", *words], engine) for engine in ([], DASK))
    assert (alone[0], partitioned[0]) == (code, code)
    if not code:
        assert partitioned == alone
        assert hetdp.read_partitioned("row", partitions=3, positive=words[-1] if words else None).problem.identity == (
            hetdp.read_problem("row", positive=words[-1] if words else None).problem.identity
        )


def test_labels_that_are_text_and_said_to_be_integers_are_refused(capsys):
    replace_columns("row", "datasets", dataset=list("012345"))
    Path("row/problem.json").write_text('{"schema_version": 1, "labels": "integer"}')
    assert run_command(capsys, ["check", "row"], [])[0] == 0
    code, _, errors = run_command(capsys, ["check", "row"], DASK)
    assert code == hetdp.InputError.exit_code
    assert (
        "datasets.parquet, dataset: a column of type VARCHAR; problem.json says that labels are 'integer'" in errors[0]
    )


@pytest.mark.parametrize("query", [[1, 1, 1, 0, 0, 0], [True, True, True, False, False, False]])
@pytest.mark.parametrize("labels", [list(range(6)), list("012345")])
def test_a_mechanism_from_another_source_is_verified_as_on_one_machine(labels, query, row, capsys):
    binding = [labels[at] if at is not None else None for at in (1, 2, None, None, 3, 4)]
    save_mechanism(row, {}, dataset=labels, query=query, binding=binding)
    code, out, _ = run_with_both_engines(capsys, "verify", "row", "m.parquet")
    assert code == 0
    assert "optimal (gap" in out
    save_mechanism(row, {}, dataset=labels, query=[1 - x for x in query], binding=binding)
    for engine in ([], DASK):
        assert run_command(capsys, ["verify", "row", "m.parquet"], engine)[0] == hetdp.InputError.exit_code


def test_labels_of_a_mechanism_are_compared_whole_and_must_be_known(capsys):
    labels = ["a", "a\0", "b", "b\0\0", "c", "c\0"]
    graph = hetdp.DatasetGraph.from_edges(labels[:-1], labels[1:], 0.5, datasets=labels)
    problem, given = hetdp.Problem(graph, [1, 1, 1, 2, 2, 2]), {"b": 0.55, "b\0\0": 0.45}
    hetdp.save(problem, "named", given)
    hetdp.save(hetdp.extend(problem, given), "m.parquet")
    assert run_with_both_engines(capsys, "verify", "named", "m.parquet")[0] == 0
    whole = pyarrow.parquet.read_table("m.parquet")
    for column, values in (
        ("dataset", ["a", "a", *labels[2:]]),
        ("binding", ["b\0", "b", "nobody", None, "b\0\0", "c"]),
    ):
        changed = whole.set_column(whole.schema.get_field_index(column), column, pa.array(values))
        pyarrow.parquet.write_table(changed, "m.parquet")
        codes = [run_command(capsys, ["verify", "named", "m.parquet"], engine)[0] for engine in ([], DASK)]
        assert codes == [hetdp.InputError.exit_code] * 2


@pytest.mark.parametrize("name", ["number=1", "label=a", "bucket=0", "chunk=7"])
def test_the_name_of_a_work_folder_is_not_a_column(name, tmp_path):
    labels = list("cbafed")
    graph = hetdp.DatasetGraph.from_edges(labels[:-1], labels[1:], 0.5, datasets=labels)
    problem = hetdp.Problem(graph, [1, 1, 1, 2, 2, 2])
    hetdp.save(problem, "named", {"a": 0.55, "f": 0.45})
    partitioned, _ = read_inline(Path("named"), tmp_path / name / "work", 3)
    assert partitioned.graph.edge_count == 5
    assert partitioned.identity == problem.identity


def test_workers_that_hash_labels_differently_are_refused(capsys, monkeypatch):
    graph = hetdp.DatasetGraph.from_edges("ab", "bc", 0.5)
    hetdp.save(hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2}), "named")
    monkeypatch.setattr(reading, "write_wanted_labels", lambda *_: "DuckDB 0.1")
    code, _, errors = run_command(capsys, ["check", "named"], DASK)
    assert code == hetdp.UsageError.exit_code
    assert "workers have DuckDB 0.1 and DuckDB" in errors[0]


def test_every_verb_says_where_given_values_are_worse_than_a_coin(capsys, tmp_path):
    problem = save_row("bad", {2: 0.2, 3: 0.3})
    alone = hetdp.extend(problem, {2: 0.2, 3: 0.3}).against_coin
    assert alone.worse > 0
    partitioned, given = read_inline(tmp_path / "bad", tmp_path / "work")
    found = hetdp.extend(partitioned, given).against_coin
    assert found == alone
    assert main(["extend", "bad", *DASK, "-o", "m", "--json"]) == 0
    errors = capsys.readouterr()
    assert json.loads(errors.out)["worse_than_coin"] == alone.document()
    assert str(alone) in errors.err
    for words in (["verify", "bad", "m"], ["explain", "bad", "1", "--mechanism", "m"]):
        assert main([*words, *DASK]) == 0
        assert f"{alone.worse} of 6 datasets" in capsys.readouterr().err
