"""Faults of partitioned files are those that one machine finds, each with its file and row."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hetdp
from hetdp.cli import reading as cli_reading
from hetdp.cli.main import main
from hetdp.files.formats.parquet import write_parquet
from hetdp.partitioned import workspace
from hetdp.partitioned.mechanism_files import read_claim
from tests.partitioned.inline import Inline, read_inline
from tests.partitioned.processes import ROOT

NAN = float("nan")
WITH_SOURCES = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
UNCLOSED = """
import hetdp, numpy
from tests.partitioned.inline import coordinates
problem, _ = hetdp.read_partitioned("problem", workers=1, partitions=3)
mechanism = hetdp.design(problem, "balanced")
numpy.save("z.npy", coordinates(mechanism))
print(problem.work, problem.identity, mechanism.certificate.optimal, sep="\\n")
"""


def write_tables(folder: Path, datasets: list[dict], edges: list[dict], words: str | None = None) -> Path:
    """Writes tables in parts from columns."""
    for name, parts in (("datasets", datasets), ("edges", edges)):
        (folder / name).mkdir(parents=True)
        for number, columns in enumerate(parts):
            arrays = {column: _array(values) for column, values in columns.items()}
            write_parquet(folder / name / f"part-{number}.parquet", arrays)
    if words is not None:
        (folder / "problem.json").write_text(words)
    return folder


def _array(values: list) -> np.ndarray:
    texts = any(isinstance(value, str) for value in values)
    return np.array(values, dtype=object) if texts or None in values else np.array(values)


def faults_of(read, *arguments, **options) -> tuple[set[str], int]:
    with pytest.raises(hetdp.InputError) as refusal:
        read(*arguments, **options)
    return set(map(str, refusal.value.faults)), refusal.value.total


def without_hints(faults: set[str]) -> set[str]:
    return {fault.partition(" Hint:")[0] for fault in faults}


TEXTS = [
    {"dataset": ["a", "b", "c"], "query": [1, 1, 2], "p": [NAN, 0.6, 0.4]},
    {"dataset": ["d", "e"], "query": [2, 2], "p": [NAN, NAN]},
]
NUMBERS = [{"dataset": [0, 1, 2], "query": [1, 1, 2], "p": [NAN, 0.6, 0.4]}, {"dataset": [3], "query": [2], "p": [NAN]}]
GOOD = [{"source": ["a", "b"], "target": ["b", "c"], "epsilon": [1.0, 0.5]}]


def change_columns(parts: list[dict], part: int, **columns) -> list[dict]:
    return [one | columns if at == part else one for at, one in enumerate(parts)]


CASES = {
    "unknown datasets": (TEXTS, [*GOOD, {"source": ["x", "c"], "target": ["a", "y"], "epsilon": [1.0, 1.0]}]),
    "unknown numbers": (NUMBERS, [{"source": [0, 9], "target": [1, -1], "epsilon": [1.0, 1.0]}]),
    "numbers for texts": (TEXTS, [{"source": [0, 1], "target": [1, 2], "epsilon": [1.0, 1.0]}]),
    "texts for numbers": (NUMBERS, [{"source": ["0"], "target": ["1"], "epsilon": [1.0]}]),
    "bad epsilon": (
        TEXTS,
        [*GOOD, {"source": ["c", "d", "a"], "target": ["d", "e", "c"], "epsilon": [-1.0, NAN, 2.0]}],
    ),
    "contradictions": (
        TEXTS,
        [
            {"source": ["a", "d", "a"], "target": ["b", "e", "c"], "epsilon": [1.0, 0.5, 1.0]},
            {"source": ["b", "e", "c"], "target": ["a", "d", "a"], "epsilon": [2.0, 0.5, 3.0]},
        ],
    ),
    "directed contradictions": (
        NUMBERS,
        [
            {"source": [0, 1], "target": [3, 2], "epsilon": [1.0, 1.0], "epsilon_back": [2.0, 1.0]},
            {"source": [3, 1], "target": [0, 2], "epsilon": [2.0, 1.0], "epsilon_back": [1.5, 3.0]},
        ],
    ),
    "datasets twice": (change_columns(TEXTS, 1, dataset=["a", "c"]), GOOD),
    "a third answer": (change_columns(TEXTS, 1, query=[2, 3]), GOOD),
    "no such answers": (change_columns(change_columns(TEXTS, 0, query=[5, 5, 6]), 1, query=[6, 6]), GOOD),
    "no answer": (change_columns(change_columns(TEXTS, 0, query=["1", "1", "2"]), 1, query=["2", None]), GOOD),
    "bad pins": (change_columns(TEXTS, 1, p=[1.5, -2.0]), GOOD),
    "no label": (change_columns(TEXTS, 1, dataset=["d", None]), GOOD),
    "no end": (TEXTS, [*GOOD, {"source": ["a"], "target": [None], "epsilon": [1.0]}][1:] + GOOD),
    "several at once": (
        change_columns(TEXTS, 1, p=[1.5, NAN]),
        [*GOOD, {"source": ["x"], "target": ["a"], "epsilon": [-1.0]}],
    ),
    "an unknown column": (change_columns(change_columns(TEXTS, 0, colour=[1, 2, 3]), 1, colour=[1, 2]), GOOD),
    "a part that differs": (TEXTS, [*GOOD, {"source": ["a"], "target": ["b"], "mu": [1.0]}]),
    "weights": (change_columns(change_columns(TEXTS, 0, weight=[1.0, 2.0, -1.0]), 1, weight=[1.0, NAN]), GOOD),
}


@pytest.mark.parametrize("case", CASES)
def test_faults_are_those_of_one_machine(tmp_path, case):
    folder = write_tables(tmp_path / "problem", *CASES[case])
    alone, partitioned = faults_of(hetdp.read_problem, folder), faults_of(read_inline, folder, tmp_path / "work", 3)
    if case == "texts for numbers":  # no worker has all labels, so it suggests none
        alone, partitioned = ((without_hints(faults), total) for faults, total in (alone, partitioned))
    assert partitioned == alone
    assert alone[1] > 0


def test_invalid_metadata_is_refused_as_on_one_machine(tmp_path):
    folder = write_tables(tmp_path / "problem", TEXTS, GOOD, '{"schema_version": 1, "notion": "gaussian"}')
    assert faults_of(read_inline, folder, tmp_path / "work") == faults_of(hetdp.read_problem, folder)


@pytest.mark.parametrize("positive", ["yes", None])
def test_the_positive_answer_can_be_chosen(tmp_path, positive):
    datasets = change_columns(change_columns(TEXTS, 0, query=["yes", "yes", "no"]), 1, query=["no", "no"])
    folder = write_tables(tmp_path / "problem", datasets, GOOD, '{"schema_version": 1, "positive": "yes"}')
    problem, pins = hetdp.read_problem(folder, positive=positive)
    partitioned, given = read_inline(folder, tmp_path / "work", 2, positive=positive)
    assert partitioned.identity == problem.identity
    assert hetdp.extend(partitioned, given)["a"] == hetdp.extend(problem, pins)["a"]


def test_duplicates_min_keeps_the_smaller_epsilon(tmp_path):
    folder = write_tables(tmp_path / "problem", *CASES["contradictions"])
    problem, _ = hetdp.read_problem(folder, duplicates="min")
    assert read_inline(folder, tmp_path / "work", 3, duplicates="min").problem.identity == problem.identity


def test_only_folders_of_parquet_are_read(tmp_path):
    (tmp_path / "p").mkdir()
    for stem in ("datasets", "edges"):
        (tmp_path / "p" / f"{stem}.csv").write_text("a,b\n")
    with pytest.raises(hetdp.InputError, match="no table of datasets as Parquet"):
        hetdp.read_partitioned(tmp_path / "p")
    (tmp_path / "p" / "datasets.csv").rename(tmp_path / "p" / "datasets.parquet")
    with pytest.raises(hetdp.InputError, match="cannot be read"):
        hetdp.read_partitioned(tmp_path / "p")
    (tmp_path / "f").write_text("")
    with pytest.raises(hetdp.InputError, match="not a folder"):
        hetdp.read_partitioned(tmp_path / "f")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": 0}, "the number of workers is 0; it must be a whole number"),
        ({"partitions": "many"}, "invalid partitions 'many'; it must be a whole number, at least 1, or 'files'"),
        ({"memory": 3}, "invalid memory size 3; it must be a text such as '2GB'"),
        ({"duplicates": "max"}, "unknown duplicates='max'"),
        ({"work": "problem"}, "holds other files, such as 'datasets'"),
        ({"memory": "399MB"}, "invalid memory size '399MB'; a worker needs at least 400MB"),
        (
            {"cluster": "foo", "work": "w"},
            "invalid cluster address 'foo'; it is the address of a scheduler, tcp://HOST:PORT",
        ),
        ({"cluster": "tcp://127.0.0.1:9", "work": "w", "workers": 2}, "a cluster together with a number of workers"),
    ],
)
def test_meaningless_options_are_refused(tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path / "problem", TEXTS, GOOD)
    with pytest.raises(hetdp.UsageError) as refusal:
        hetdp.read_partitioned("problem", **options)
    assert words in str(refusal.value)


def test_an_existing_layout_is_reused_and_never_replaced(tmp_path, monkeypatch):
    folder, other = write_tables(tmp_path / "problem", TEXTS, GOOD), write_tables(tmp_path / "other", TEXTS, GOOD)
    ran = []
    monkeypatch.setattr(workspace, "start_runner", lambda *_: ran.append(Inline()) or ran[-1])

    def read(problem: Path = folder, **options):
        with hetdp.read_partitioned(problem, work=tmp_path / "work", **options) as (partitioned, _):
            return partitioned.offsets, ran[-1].ran

    assert read(partitions=2) == ((0, 2, 5), ran[-1].ran)
    assert ran[-1].ran["build_graph"] == 2
    for options in ({"partitions": 2}, {}, {"workers": 5}):
        assert read(**options) == ((0, 2, 5), {})
    refused = [
        ({"partitions": 3}, "this problem in other partitions; its files may have taken hours"),
        ({"duplicates": "min"}, "another problem, or this one from other files or options"),
        ({"by": "query"}, "another problem, or this one from other files or options"),
        ({"problem": other}, "another problem, or this one from other files or options"),
    ]
    for options, words in refused:
        with pytest.raises(hetdp.UsageError, match=words):
            read(**options)
    assert read() == ((0, 2, 5), {})
    assert hetdp.read_partitioned(other, partitions=1000).problem.offsets == (0, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(("order", "said"), [(1, False), (7, True)])
def test_an_order_that_separates_neighbours_is_reported(tmp_path, monkeypatch, capsys, order, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline(twice=False))
    monkeypatch.setattr(cli_reading, "MANY_DATASETS", 10)
    labels = [at * order % 100 for at in range(100)]
    graph = hetdp.DatasetGraph.from_edges(labels[:-1], labels[1:], 0.5, datasets=range(100))
    hetdp.save(hetdp.Problem(graph, [1] * 50 + [2] * 50), "row")
    assert main(["check", "row", "--engine", "dask", "--partitions", "20"]) == 0
    assert ("neighbours in others; fewer partitions, or an order in which" in capsys.readouterr().err) == said


def test_workers_support_renyi_privacy_and_unclosed_work_folders_are_removed_at_exit(tmp_path):
    """Both with the same worker, which takes seconds to start."""
    graph = hetdp.DatasetGraph.from_edges(range(59), range(1, 60), [0.1 + at % 7 / 10 for at in range(59)])
    whole = hetdp.Problem(graph, [1] * 30 + [2] * 30, "renyi", alpha=2)
    hetdp.save(whole, tmp_path / "problem", tables="parquet")
    done = subprocess.run(
        [sys.executable, "-c", UNCLOSED], cwd=tmp_path, capture_output=True, text=True, check=True, env=WITH_SOURCES
    )
    work, identity, is_optimal = done.stdout.splitlines()
    assert (identity, is_optimal) == (whole.identity, "True")
    assert np.array_equal(np.load(tmp_path / "z.npy"), hetdp.design(whole, "balanced").coordinates)
    assert "hetdp-" in work
    assert not Path(work).exists()
    assert done.stderr == ""


def test_a_mechanism_of_other_datasets_is_refused(tmp_path):
    folder = write_tables(tmp_path / "problem", TEXTS, GOOD)
    problem, pins = hetdp.read_problem(folder)
    hetdp.save(hetdp.extend(problem, pins), tmp_path / "m.parquet")
    other = write_tables(tmp_path / "other", change_columns(TEXTS, 1, dataset=["e", "d"]), GOOD)
    partitioned, _ = read_inline(other, tmp_path / "work")
    with pytest.raises(hetdp.InputError, match="not the problem's in this place: 'd'"):
        read_claim(tmp_path / "m.parquet", partitioned)
    with pytest.raises(hetdp.InputError, match=r"a folder, or a \.parquet file"):
        hetdp.read_mechanism(_touch(tmp_path / "m.csv"), partitioned)
    with pytest.raises(hetdp.InputError, match="not a mechanism"):
        hetdp.read_mechanism(folder, partitioned)


def _touch(path: Path) -> Path:
    path.touch()
    return path


def test_one_partition_for_each_file_of_datasets(tmp_path):
    folder = write_tables(tmp_path / "problem", TEXTS, GOOD)
    partitioned, _ = read_inline(folder, tmp_path / "work", "files")
    assert partitioned.offsets == (0, 3, 5)
    assert repr(partitioned) == "PartitionedProblem(5 datasets, 2 edges, 2 partitions)"


def test_datasets_with_the_same_entry_in_a_column_are_in_one_partition(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline())
    regions = change_columns(change_columns(TEXTS, 0, region=["n", "s", "n"]), 1, region=["s", "w"])
    folder = write_tables(tmp_path / "problem", regions, GOOD)
    with hetdp.read_partitioned(folder, partitions=3, by="region") as (partitioned, given):
        assert partitioned.offsets == (0, 2, 4, 5)
        assert partitioned.names.labels([0, 1, 2, 3, 4]) == ["a", "c", "b", "d", "e"]
        plain = write_tables(tmp_path / "plain", TEXTS, GOOD)
        problem, pins = hetdp.read_problem(plain)
        whole, mechanism = hetdp.extend(problem, pins), hetdp.extend(partitioned, given)
        assert [mechanism[label] for label in "abcde"] == [whole[label] for label in "abcde"]
    with pytest.raises(hetdp.InputError, match="missing column colour; partitions are made by a column"):
        hetdp.read_partitioned(plain, by="colour")
    wrong = write_tables(tmp_path / "wrong", change_columns(regions, 1, p=[NAN, 1.5], dataset=["d", "a"]), GOOD)
    with pytest.raises(hetdp.InputError) as refusal:
        hetdp.read_partitioned(wrong, by="region")
    assert any("datasets/part-1.parquet row 2" in str(fault) for fault in refusal.value.faults)


@pytest.mark.parametrize("first", [2**62, -(2**62), 2**64 - 9])
def test_labels_beyond_the_precision_of_floats_are_distinguished(tmp_path, first):
    kind = np.uint64 if first > 2**63 else np.int64
    names = np.array([first + at for at in range(8)], dtype=kind)
    datasets = [{"dataset": names, "query": [1] * 4 + [2] * 4, "p": [NAN] * 3 + [0.6, 0.4] + [NAN] * 3}]
    folder = write_tables(
        tmp_path / "problem", datasets, [{"source": names[:-1], "target": names[1:], "epsilon": [1.0] * 7}]
    )
    problem, pins = hetdp.read_problem(folder)
    partitioned, given = read_inline(folder, tmp_path / "work", 3)
    assert partitioned.identity == problem.identity
    mechanism = hetdp.extend(problem, pins)
    assert hetdp.extend(partitioned, given)[first + 7] == mechanism[first + 7]
    unknown = np.append(names[1:], kind(first - 1))
    other = write_tables(tmp_path / "other", datasets, [{"source": names, "target": unknown, "epsilon": [1.0] * 8}])
    alone = faults_of(hetdp.read_problem, other)
    assert faults_of(read_inline, other, tmp_path / "elsewhere", 3) == alone
    assert alone[1] == 1
