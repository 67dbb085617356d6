"""Every key and column of every file is described, and nothing is described that does not exist."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from pyarrow import parquet

import hetdp
from hetdp.files import schema
from hetdp.theory.catalogue import NOTIONS, find_notion
from tests.documents.keys import DescribedKeys, keys_of
from tests.documents.pages import DOCS

PAGE = DOCS / "reference" / "files.md"
ABOUT = {"title": "t", "privacy_unit": "u", "neighbour_relation": "r"}
PROBLEM, FOLDER = "Keys of the JSON file, or of problem.json in a folder", "A folder"
DATASETS, EDGES, MECHANISM, WORDS, PINS = (
    "Columns of datasets",
    "Columns of edges",
    "Columns",
    "Keys beside the table",
    "Pins",
)


@pytest.fixture
def page() -> DescribedKeys:
    return DescribedKeys(PAGE)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Files of every kind, with every key and column that they can have."""
    monkeypatch.chdir(tmp_path)
    graph = hetdp.DatasetGraph.from_edges([0, 1, 2], [1, 2, 3], 1.0, classes=["x", "y", "z"])
    problem = hetdp.Problem(graph, [1, 1, 2, 2], weights=[1, 1, 1, 1], about=ABOUT)
    partial = hetdp.PartialMechanism(p={1: 0.6}, z={2: 0.0}, error={3: 0.4})
    hetdp.save(problem, "problem.json", partial)
    hetdp.save(problem, "folder", partial, tables="csv")
    approximate = hetdp.DatasetGraph.from_edges([0], [1], 1.0, delta=0.1)
    gaussian = hetdp.DatasetGraph.from_edges([0], [1], mu=1.0)
    hetdp.save(hetdp.Problem(approximate, [1, 2]), "approximate", tables="csv")
    hetdp.save(hetdp.Problem(gaussian, [1, 2]), "gaussian", tables="csv")
    hetdp.save(hetdp.design(hetdp.Problem(graph, [1, 1, 2, 2], "renyi", alpha=2)), "renyi.json")
    for suffix in ("json", "csv", "parquet"):
        hetdp.save(hetdp.design(problem, "average", {1: 0.6, 2: 0.4}), f"mechanism.{suffix}")


def columns_of(path: str) -> list[str]:
    """The header of a CSV file."""
    with Path(path).open(encoding="utf-8", newline="") as lines:
        return next(csv.reader(lines))


def test_the_page_describes_exactly_the_keys_that_files_may_hold(page: DescribedKeys):
    assert [*page.tables[PROBLEM]] == [*schema.PROBLEM_KEYS]
    assert [*page.tables[DATASETS]] == [*schema.DATASET_COLUMNS]
    assert [*page.tables[EDGES]] == [*schema.EDGE_COLUMNS]
    assert [*page.tables[MECHANISM]] == [*schema.MECHANISM_COLUMNS]
    assert [*page.tables[PINS]] == [*schema.PIN_COLUMNS]


def test_every_notion_is_described_with_its_columns_and_its_coordinate():
    text = PAGE.read_text(encoding="utf-8")
    for notion in (*NOTIONS.values(), find_notion("renyi", {"alpha": 2})):
        row = next(line for line in text.splitlines() if line.startswith(f'| "{notion.name}" |'))
        _, _, columns, _, coordinate, *_ = (cell.strip() for cell in row.split("|"))
        assert tuple(re.findall(r"`(\w+)`", columns)) == notion.parameters
        assert coordinate == notion.coordinate.name


def test_every_key_of_a_problem_file_is_described(files, page: DescribedKeys):
    document = json.loads(Path("problem.json").read_text())
    rows = {"datasets": DATASETS, "edges": EDGES}
    for key in keys_of(document):
        outer, _, inner = key.partition(".")
        assert page.has(rows[outer], inner) if outer in rows else page.has(PROBLEM, outer), key
    assert set(columns_of("folder/datasets.csv")) == set(schema.DATASET_COLUMNS)
    assert columns_of("folder/edges.csv") == ["source", "target", "epsilon", "class"]
    both_ways = NOTIONS["approximate"].parameters
    assert columns_of("approximate/edges.csv") == ["source", "target", *both_ways]
    assert columns_of("gaussian/edges.csv") == ["source", "target", "mu"]
    assert {"source", "target", *both_ways, "mu", "class"} == set(schema.EDGE_COLUMNS)
    assert all(page.has(PROBLEM, key) for key in json.loads(Path("folder/problem.json").read_text()))


def test_a_mechanism_file_has_exactly_the_described_keys(files, page: DescribedKeys):
    assert columns_of("mechanism.csv") == [*schema.MECHANISM_COLUMNS]
    inside = json.loads(parquet.read_metadata("mechanism.parquet").metadata[b"hetdp"])
    beside = json.loads(Path("mechanism.csv.meta.json").read_text())
    document = json.loads(Path("mechanism.json").read_text())
    assert {column for row in document["datasets"] for column in row} == set(schema.MECHANISM_COLUMNS)
    ordered = json.loads(Path("renyi.json").read_text())
    for words in (inside, beside, document, ordered):
        for key in {key if key.startswith("counts.") else key.partition(".")[0] for key in keys_of(words)}:
            assert page.has(WORDS, key), key
    assert {row for heading, row in page.unused() if heading == WORDS} == set()
    assert "metadata entry `hetdp`" in PAGE.read_text(encoding="utf-8")


def test_the_version_is_the_one_that_is_described():
    assert f"`schema_version` is {schema.VERSION}" in PAGE.read_text(encoding="utf-8")


def test_the_names_of_files_are_those_that_are_read(page: DescribedKeys):
    text = " ".join(re.findall(r"`[^`]+`", " ".join(line for line in PAGE.read_text().splitlines() if "part-" in line)))
    assert "datasets/part-*.parquet" in text
    assert "edges/part-*.parquet" in text
    assert "problem.json" in page.tables[FOLDER]
