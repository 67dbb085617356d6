"""Large files and all types of Parquet columns give the same problem without a loop over rows."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from decimal import Decimal
from itertools import pairwise, product
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as pa_csv
from pyarrow import parquet

import hetdp
from hetdp import duck
from hetdp.files.formats import csv_files
from hetdp.files.formats import parquet as parquet_files
from hetdp.files.formats.table import Categorical
from hetdp.files.schema import EDGE_COLUMNS
from hetdp.theory.catalogue import NOTIONS
from tests.files import random_tables
from tests.stress import long, stress, times

SIZE, EDGES = 30_000, 200_000


@pytest.fixture(scope="module")
def problem() -> hetdp.Problem:
    rng = np.random.default_rng(3)
    source, target = rng.integers(0, SIZE, (2, EDGES))
    graph = hetdp.DatasetGraph.from_edges(source, target, rng.random(EDGES), datasets=range(SIZE), duplicates="min")
    return hetdp.Problem(graph, np.where(np.arange(SIZE) < SIZE // 3, 1, 2))


def folder_of(place: Path, datasets: dict, edges: dict) -> Path:
    place.mkdir()
    parquet.write_table(pa.table(datasets), place / "datasets.parquet")
    parquet.write_table(pa.table(edges), place / "edges.parquet")
    return place


def message_of(path: Path) -> str:
    with pytest.raises(hetdp.InputError) as refusal:
        hetdp.read_problem(path)
    return str(refusal.value).replace(str(path), "FILE")


TWO = {"dataset": ["a", "b"], "query": [1, 2]}


def test_a_large_csv_file_is_read_by_duckdb_to_the_same_problem(problem, tmp_path: Path):
    hetdp.save(problem, tmp_path / "problem", tables="csv")
    assert (tmp_path / "problem" / "edges.csv").stat().st_size > csv_files.SMALL_FILE
    assert hetdp.read_problem(tmp_path / "problem").problem.identity == problem.identity
    (tmp_path / "problem" / "problem.json").unlink()
    again = hetdp.read_problem(tmp_path / "problem").problem
    assert list(again.graph.datasets[:3]) == ["0", "1", "2"]
    assert again.graph.edges()[2].tolist() == problem.graph.edges()[2].tolist()


@pytest.mark.parametrize(
    ("notion", "tables", "labels"),
    [
        pytest.param(notion, tables, labels, marks=long if (row + column) % 2 else ())
        for row, notion in enumerate(name for name in NOTIONS if name != "pure")
        for column, (tables, labels) in enumerate(
            [("csv", "integer"), ("csv", "text"), ("parquet", "text"), ("parquet", "integer")]
        )
    ],
)
def test_large_problems_of_every_notion_are_read_as_they_were_written(notion, tables, labels, tmp_path: Path):
    rng, edges, size = np.random.default_rng(4), csv_files.SMALL_TABLE + 10_000, 40_000
    source, target = rng.integers(0, size, (2, edges))
    names = np.arange(size) if labels == "integer" else np.char.add("x", np.arange(size).astype(str))
    columns = {name: rng.random(edges).round(rng.integers(1, 17)) for name in NOTIONS[notion].parameters}
    graph = hetdp.DatasetGraph.from_edges(names[source], names[target], datasets=names, duplicates="min", **columns)
    assert graph.edge_count > csv_files.SMALL_TABLE
    problem = hetdp.Problem(graph, np.where(np.arange(size) % 3, 1, 2), notion)
    hetdp.save(problem, tmp_path / "problem", tables=tables)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "SMALL_FILE", 1 << 10)
        again = hetdp.read_problem(tmp_path / "problem").problem
    assert again.identity == problem.identity
    assert all(one.tobytes() == other.tobytes() for one, other in zip(again.graph.edges(), graph.edges(), strict=True))


@pytest.mark.parametrize("name", ["epsilon_back", "delta", "delta_back", "mu"])
def test_faults_of_every_column_of_a_large_csv_file_are_named_with_their_row(name, tmp_path: Path):
    kind = ("mu",) if name == "mu" else NOTIONS["approximate"].parameters
    (tmp_path / "datasets.csv").write_text("dataset,query\na,1\nb,2\n")
    rows = [
        ",".join(["a", "b", *(value if other == name else "0.5" for other in kind)]) for value in ("0.5", "x", "-1")
    ]
    (tmp_path / "edges.csv").write_text("\n".join([",".join(["source", "target", *kind]), *rows]) + "\n")
    small = message_of(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "SMALL_FILE", -1)
        assert message_of(tmp_path) == small
    assert small.startswith("FILE: 2 faults\n  edges.csv row 2: non-numeric ")
    assert "  edges.csv row 3 ('a', 'b'): negative " in small


def test_faults_of_a_large_csv_file_are_named_as_those_of_a_small_one(problem, tmp_path: Path):
    hetdp.save(problem, tmp_path / "problem", tables="csv")
    edges = tmp_path / "problem" / "edges.csv"
    lines = edges.read_text().splitlines()
    pair = lines[5].rpartition(",")[0]
    lines[5] = f"{pair},1_0"
    lines[100_000] = "0,30000,1.0"
    lines[150_000] = f"{lines[150_000].rpartition(',')[0]},-0.5"
    edges.write_text("\n".join(lines) + "\n")
    message = message_of(tmp_path / "problem")
    assert message.startswith("FILE: 3 faults\n  edges.csv row 5: non-numeric ε '1_0'; ε is a number ≥ 0.\n")
    assert "edges.csv row 150000 (" in message
    assert "edges.csv row 100000 (0, 30000): unknown dataset 30000;" in message
    edges.write_text("\n".join([*lines[:7], "1,2", *lines[7:]]))
    assert "edges.csv row 7: cannot be read: Expected Number of Columns: 3 Found: 2; a CSV file" in message_of(
        tmp_path / "problem"
    )


@pytest.mark.parametrize("text", [" 1", "1_0", "nan", "0x1", "1e400", "-1", "inf", "", "0.29999999999999998", "1e-400"])
def test_large_and_small_files_agree_on_what_a_number_is(text, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "problem"
    folder.mkdir()
    (folder / "datasets.csv").write_text("dataset,query\na,1\nb,2\n")
    (folder / "edges.csv").write_text(f"source,target,epsilon\na,b,{text}\n")

    def outcome() -> object:
        try:
            return hetdp.read_problem(folder).problem.identity
        except hetdp.InputError as refusal:
            return str(refusal)

    small = outcome()
    monkeypatch.setattr(csv_files, "SMALL_FILE", -1)
    assert outcome() == small


def test_a_table_in_parts_is_one_table_and_faults_name_the_part(problem, tmp_path: Path):
    folder = tmp_path / "problem"
    hetdp.save(problem, folder)
    whole = parquet.read_table(folder / "edges.parquet")
    (folder / "edges.parquet").unlink()
    (folder / "edges").mkdir()
    cuts = [0, 1000, 1000, 150_000, len(whole)]
    for number, (start, stop) in enumerate(pairwise(cuts)):
        parquet.write_table(whole.slice(start, stop - start), folder / "edges" / f"part-{number:03}.parquet")
    assert hetdp.read_problem(folder).problem.identity == problem.identity
    bad = pa.table({"source": [0, 1], "target": [1, 99_999], "epsilon": [np.inf, 1.0]})
    parquet.write_table(bad, folder / "edges" / "part-004.parquet")
    assert "FILE: edges/part-004.parquet row 2 (1, 99999): unknown dataset 99999;" in message_of(folder)


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.uint64(), pa.string()])
def test_labels_of_every_width_are_read(kind, tmp_path: Path):
    names = ["5", "7"] if kind == pa.string() else [5, 7]
    column = pa.array(names, kind)
    edges = {"source": column[:1], "target": column[1:], "epsilon": [0.5]}
    folder = folder_of(tmp_path / "problem", {"dataset": column, "query": [1, 2]}, edges)
    assert list(hetdp.read_problem(folder).problem.graph.datasets) == names


def test_dictionary_columns_are_text(tmp_path: Path):
    column = pa.array(["a", "b"]).dictionary_encode()
    edges = {"source": column[:1], "target": column[1:], "epsilon": [0.5]}
    folder = folder_of(tmp_path / "problem", {"dataset": column, "query": [True, False]}, edges)
    assert list(hetdp.read_problem(folder).problem.graph.datasets) == ["a", "b"]


@pytest.mark.parametrize(
    ("column", "epsilon"),
    [
        (pa.array([0.1], pa.float32()), 0.1),
        (pa.array([0.1], pa.float64()), 0.1),
        (pa.array([Decimal("0.10")], pa.decimal128(9, 2)), 0.1),
        (pa.array([2], pa.int16()), 2.0),
        (pa.array([np.inf], pa.float32()), np.inf),
    ],
)
def test_an_epsilon_of_any_numeric_type_is_the_decimal_it_shows(column, epsilon, tmp_path: Path):
    folder = folder_of(tmp_path / "problem", TWO, {"source": ["a"], "target": ["b"], "epsilon": column})
    assert hetdp.read_problem(folder).problem.graph.edges()[2].tolist() == [epsilon]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array(["0.1"]), "edges.parquet row 1: non-numeric ε '0.1'; ε is a number ≥ 0."),
        (pa.array([True]), "edges.parquet row 1: non-numeric ε 'true'; ε is a number ≥ 0."),
        (pa.array([None], pa.float64()), "edges.parquet row 1 ('a', 'b'): missing ε; ε is a number ≥ 0."),
        (pa.array([np.nan]), "edges.parquet row 1 ('a', 'b'): missing ε; ε is a number ≥ 0."),
    ],
)
def test_an_epsilon_that_is_not_a_number_is_refused(column, expected, tmp_path: Path):
    folder = folder_of(tmp_path / "problem", TWO, {"source": ["a"], "target": ["b"], "epsilon": column})
    assert expected in message_of(folder)


@pytest.mark.parametrize("column", [pa.array([1.0, 2.0]), pa.array([[1], [2]]), pa.array([b"a", b"b"])])
def test_labels_of_other_types_are_refused(column, tmp_path: Path):
    edges = {"source": ["a"], "target": ["b"], "epsilon": [1.0]}
    folder = folder_of(tmp_path / "problem", {"dataset": column, "query": [1, 2]}, edges)
    assert "datasets.parquet, dataset: a column of type" in message_of(folder)


def test_missing_labels_in_parquet_are_refused(tmp_path: Path):
    edges = {"source": ["a"], "target": ["b"], "epsilon": [1.0]}
    folder = folder_of(tmp_path / "problem", {"dataset": ["a", None], "query": [1, 2]}, edges)
    assert "FILE: datasets.parquet row 2, dataset: missing label;" in message_of(folder)


def test_parts_that_do_not_fit_together_are_refused(tmp_path: Path):
    folder = tmp_path / "problem"
    (folder / "edges").mkdir(parents=True)
    parquet.write_table(pa.table(TWO), folder / "datasets.parquet")
    parquet.write_table(pa.table({"source": ["a"], "target": ["b"], "epsilon": [1.0]}), folder / "edges/part-0.parquet")
    parquet.write_table(pa.table({"source": [1], "colour": [2]}), folder / "edges/part-1.parquet")
    assert "FILE: edges/part-1.parquet: a part that differs: colour BIGINT, epsilon DOUBLE," in message_of(folder)


def test_a_missing_integer_label_is_not_a_dataset_in_any_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    datasets = {"dataset": [0, 1, 2, 3], "query": [1, 1, 2, 2]}
    source = pa.array([1, None], pa.int64())
    folder = folder_of(tmp_path / "parquet", datasets, {"source": source, "target": [2, 3], "epsilon": [0.5, 0.25]})
    assert "edges.parquet row 2, source: missing label;" in message_of(folder)
    folder = tmp_path / "csv"
    folder.mkdir()
    (folder / "problem.json").write_text('{"schema_version": 1, "labels": "integer"}')
    (folder / "datasets.csv").write_text("dataset,query\n0,1\n1,1\n2,2\n3,2\n")
    (folder / "edges.csv").write_text("source,target,epsilon\n1,2,0.5\n,3,0.25\n")
    assert "edges.csv row 2, source: missing label;" in message_of(folder)
    monkeypatch.setattr(csv_files, "SMALL_FILE", -1)
    assert "edges.csv row 2, source: missing label;" in message_of(folder)
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0)
    assert graph.indices(np.ma.MaskedArray([0, 1, 2], [True, False, False])).tolist() == [-1, 1, 2]


@pytest.mark.parametrize("name", ["p[1]", "p*", "p?", "epsilon=5", "class=alice", "it's", "a b"])
def test_special_characters_in_the_name_of_a_folder_have_no_meaning(
    name, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    edges = {"source": ["a"], "target": ["b"], "epsilon": [0.5]}
    folder_of(tmp_path / "p1", TWO, edges | {"epsilon": [50.0]})
    folder = folder_of(tmp_path / name, TWO, edges)
    problem = hetdp.read_problem(folder).problem
    assert problem.graph.edges()[2].tolist() == [0.5]
    assert problem.graph.edge_classes() is None
    mechanism = hetdp.extend(problem, {"a": 0.6, "b": 0.4})
    hetdp.save(mechanism, folder / "m.parquet")
    assert hetdp.read_mechanism(folder / "m.parquet", problem)["a"] == 0.6
    (folder / "edges.parquet").unlink()
    (folder / "edges.csv").write_text("source,target,epsilon\na,b,0.5\n")
    monkeypatch.setattr(csv_files, "SMALL_FILE", -1)
    assert hetdp.read_problem(folder).problem.identity == problem.identity


@pytest.mark.parametrize(
    "later", [pa.array([0.6]), pa.array([Decimal("0.26")], pa.decimal128(5, 2)), pa.array([0.6], pa.float32())]
)
def test_parts_of_different_types_are_refused(later, tmp_path: Path):
    folder = tmp_path / "problem"
    (folder / "edges").mkdir(parents=True)
    parquet.write_table(pa.table(TWO), folder / "datasets.parquet")
    for number, epsilon in enumerate([pa.array([1]), later]):
        part = pa.table({"source": ["a"], "target": ["b"], "epsilon": epsilon})
        parquet.write_table(part, folder / "edges" / f"part-{number}.parquet")
    assert "FILE: edges/part-1.parquet: a part that differs: epsilon BIGINT, epsilon" in message_of(folder)


@pytest.mark.parametrize("stranger", ["Part-1.parquet", "extra.parquet", "part-3.pq", "class=x"])
def test_a_file_that_would_be_ignored_is_refused(stranger, tmp_path: Path):
    folder = tmp_path / "problem"
    (folder / "edges").mkdir(parents=True)
    parquet.write_table(pa.table(TWO), folder / "datasets.parquet")
    edges = pa.table({"source": ["a"], "target": ["b"], "epsilon": [1.0]})
    parquet.write_table(edges, folder / "edges" / "part-0.parquet")
    (folder / "edges" / "_SUCCESS").write_text("")
    assert hetdp.read_problem(folder).problem.graph.edge_count == 1
    (folder / "edges" / stranger).mkdir() if "=" in stranger else parquet.write_table(
        edges, folder / "edges" / stranger
    )
    assert "edges/ holds files part-*.parquet, and nothing else" in message_of(folder)


def test_a_long_decimal_is_never_rounded_up(tmp_path: Path):
    column = pa.array([Decimal("0.29999999999999998000")], pa.decimal128(38, 20))
    folder = folder_of(tmp_path / "problem", TWO, {"source": ["a"], "target": ["b"], "epsilon": column})
    used = float(hetdp.read_problem(folder).problem.graph.neighbours(0)[1][0][0])
    assert Decimal(used) <= Decimal("0.29999999999999998")


def test_large_mechanisms_are_loaded_as_they_were_saved(problem, tmp_path: Path):
    mechanism = hetdp.design(problem, "balanced")
    for suffix in (".parquet", ".csv"):
        hetdp.save(mechanism, tmp_path / f"m{suffix}")
        again = hetdp.read_mechanism(tmp_path / f"m{suffix}", problem)
        assert again.coordinates.tobytes() == mechanism.coordinates.tobytes()
        assert again.links.tolist() == mechanism.links.tolist()


SPILLING = """
import os, stat
from hetdp.duck import connection
with connection() as database:
    place = database.execute("SELECT current_setting('temp_directory')").fetchone()[0]
    print(place, oct(stat.S_IMODE(os.stat(place).st_mode)), flush=True)
if os.fork() == 0:
    raise SystemExit  # a child that ends takes nothing away
os.wait()
print(os.path.isdir(place))
"""


def test_spilled_data_goes_to_a_private_folder_and_not_to_the_working_folder(tmp_path: Path):
    environment = os.environ | {"TMPDIR": str(tmp_path / "temporary"), "PYTHONPATH": os.pathsep.join(sys.path)}
    (tmp_path / "temporary").mkdir()
    command = [sys.executable, "-P", "-c", SPILLING]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    place, mode, is_there = done.stdout.split()
    assert Path(place).parent == tmp_path / "temporary"
    assert (mode, is_there) == ("0o700", "True")
    assert list((tmp_path / "temporary").iterdir()) == []


def outcome_of(folder: Path, duplicates: Literal["error", "min"]) -> object:
    """The content of a problem, or the message of the error."""
    try:
        problem = hetdp.read_problem(folder, duplicates=duplicates).problem
    except hetdp.InputError as refusal:
        return str(refusal)
    graph = problem.graph
    assert isinstance(graph, hetdp.DatasetGraph)
    columns = [column.tolist() for column in (problem.answers, *graph.edges(), *graph.parameters)]
    return (
        problem.identity,
        list(map(repr, graph.datasets)),
        columns,
        repr(graph.edge_classes()),
        repr(graph.identity_parts()),
    )


@stress
def test_faults_and_problems_are_the_same_however_large_the_tables_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    refused, count = 0, times(25, stressed=60)
    for seed in range(count):
        text, typed = tmp_path / f"csv-{seed}", tmp_path / f"parquet-{seed}"
        random_tables.write_folder(text, random.Random(seed))
        random_tables.copy_as_parquet(text, typed)
        rules: tuple[Literal["error", "min"], ...] = ("error", "min")
        for folder, duplicates in product((text, typed), rules):
            outcomes = []
            for size in (1 << 30, -1):
                monkeypatch.setattr(csv_files, "SMALL_FILE", size)
                monkeypatch.setattr(parquet_files, "SMALL_TABLE", size)
                outcomes.append(outcome_of(folder, duplicates))
            assert outcomes[0] == outcomes[1], f"seed {seed}, {folder.name}, {duplicates}"
            refused += isinstance(outcomes[0], str)
    assert count < refused < 4 * count


def test_a_large_table_makes_no_python_object_for_each_cell(problem, tmp_path: Path):
    hetdp.save(problem, tmp_path / "problem", tables="csv")
    (tmp_path / "problem" / "problem.json").unlink()
    labels = list(map(str, range(SIZE)))
    table = csv_files.read_large(tmp_path / "problem" / "edges.csv", "edges.csv", EDGE_COLUMNS, likely=labels)
    assert all(isinstance(table.columns[end], Categorical) for end in ("source", "target"))
    assert table.columns["source"].categories == labels
    assert table.columns["source"].codes.tolist() == problem.graph.edges()[0].tolist()


def test_texts_that_repeat_are_numbered_as_they_first_appear(tmp_path: Path):
    with duck.connection() as database:
        database.execute(
            "CREATE TEMP TABLE sheet AS SELECT * FROM (VALUES ('b'), (NULL), ('a'), ('b'), ('')) AS t(text)"
        )
        assert duck.distinct_texts(database, "text") == ["b", None, "a", ""]
        for texts in (["b", None, "a", ""], ["a", "a", "z"], []):
            ((numbers, every),) = duck.encode_texts(database, ["text"], texts)
            assert [every[number] for number in numbers] == ["b", None, "a", "b", ""]
            assert every[: len(texts)] == texts
            assert len(every) == len({*texts, "a", "b", "", None}) + texts.count("a") // 2


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_third_answer_and_an_unclear_one_are_named_in_the_order_of_the_table(suffix, tmp_path: Path):
    rows = csv_files.SMALL_TABLE + 10
    for answers, expected in (([2, 1, 3], "a third answer 3;"), ([5, 4], "unclear which answer is 1: 5, 4;")):
        folder = tmp_path / f"{len(answers)}"
        folder.mkdir()
        datasets = pa.table({"dataset": np.arange(rows), "query": np.resize(answers, rows)})
        edges = pa.table({"source": [0], "target": [1], "epsilon": [1.0]})
        for name, table in (("datasets", datasets), ("edges", edges)):
            if suffix == "csv":
                pa_csv.write_csv(table, folder / f"{name}.csv")
            else:
                parquet.write_table(table, folder / f"{name}.parquet")
        assert expected in message_of(folder)
