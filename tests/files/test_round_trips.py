"""Problems and mechanisms are the same to the last bit after writing and reading, in every format."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings

import hetdp
from hetdp.files.formats import csv_files
from hetdp.mechanism.balanced import balanced_pins
from hetdp.theory.catalogue import NOTIONS
from tests.files.problems import ALL_NOTIONS, mechanism_facts, problem_facts, problems_with_pins

TABLES: tuple[Literal["csv", "parquet"], ...] = ("csv", "parquet")


@given(problems_with_pins(anything=True, notions=ALL_NOTIONS))
def test_a_problem_is_unchanged_by_json(state):
    problem, partial = state
    with TemporaryDirectory() as folder:
        path = Path(folder, "problem.json")
        hetdp.save(problem, path, partial)
        assert problem_facts(*hetdp.read_problem(path)) == problem_facts(problem, partial)


@settings(max_examples=40)
@given(problems_with_pins(notions=ALL_NOTIONS))
@pytest.mark.parametrize("tables", TABLES)
def test_a_problem_is_unchanged_by_a_folder_of_tables(tables, state):
    problem, partial = state
    with TemporaryDirectory() as folder:
        path = Path(folder, "problem")
        hetdp.save(problem, path, partial, tables=tables)
        assert problem_facts(*hetdp.read_problem(path)) == problem_facts(problem, partial)


@settings(max_examples=40)
@given(problems_with_pins(notions=ALL_NOTIONS))
@pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet"])
def test_a_mechanism_is_unchanged_by_every_format(suffix, state):
    problem, _ = state
    mechanism = hetdp.extend(problem, balanced_pins(problem))
    with TemporaryDirectory() as folder:
        path = Path(folder, f"mechanism{suffix}")
        hetdp.save(mechanism, path)
        assert mechanism_facts(hetdp.read_mechanism(path, problem)) == mechanism_facts(mechanism)
        assert mechanism_facts(hetdp.read_mechanism(path)) == mechanism_facts(mechanism)


@settings(max_examples=40)
@given(problems_with_pins(notions=ALL_NOTIONS))
def test_large_csv_files_are_read_and_written_as_small_ones_are(state):
    problem, partial = state
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        hetdp.save(problem, Path(folder, "small"), partial, tables="csv")
        patch.setattr(csv_files, "SMALL_TABLE", -1)
        patch.setattr(csv_files, "SMALL_FILE", -1)
        hetdp.save(problem, Path(folder, "large"), partial, tables="csv")
        for name in ("small", "large"):
            assert problem_facts(*hetdp.read_problem(Path(folder, name))) == problem_facts(problem, partial)
        patch.undo()
        assert problem_facts(*hetdp.read_problem(Path(folder, "large"))) == problem_facts(problem, partial)


@settings(max_examples=20)
@given(problems_with_pins(notions=ALL_NOTIONS))
@pytest.mark.parametrize("tables", ["json", *TABLES])
def test_without_the_key_the_columns_determine_the_notion(tables, state):
    problem, partial = state
    with TemporaryDirectory() as folder:
        path = Path(folder, "problem.json" if tables == "json" else "problem")
        hetdp.save(problem, path, partial, **({} if tables == "json" else {"tables": tables}))
        words = path if tables == "json" else path / "problem.json"
        document = json.loads(words.read_text())
        del document["notion"]
        words.write_text(json.dumps(document))
        again, _ = hetdp.read_problem(path)
    if tables == "json" and not problem.graph.edge_count:  # an empty list has no columns
        assert again.notion.name == "pure"
    else:
        expected = "pure" if problem.notion.name == "bounded-range" else problem.notion.name
        assert again.notion.name == expected
        assert [x.tolist() for x in again.graph.edges()] == [x.tolist() for x in problem.graph.edges()]


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("labels", [range(3), ["x", "y", "z"]])
def test_a_problem_without_edges_keeps_its_notion(notion, labels, tmp_path: Path):
    columns: dict[str, Any] = dict.fromkeys(NOTIONS[notion].parameters, ())
    graph = hetdp.DatasetGraph.from_edges([], [], datasets=labels, **columns)
    problem = hetdp.Problem(graph, [1, 2, 1], notion)
    hetdp.save(problem, tmp_path / "problem.json")
    for tables in TABLES:
        hetdp.save(problem, tmp_path / tables, tables=tables)
    for name in ("problem.json", *TABLES):
        again = hetdp.read_problem(tmp_path / name).problem
        assert (again.identity, again.graph.parameter_names) == (problem.identity, problem.graph.parameter_names)


@pytest.mark.parametrize("name", [*NOTIONS["approximate"].parameters, "mu"])
@pytest.mark.parametrize("number", ["0.1", "1e-10", "0.30000000000000004", "5e-324", "0", "1"])
def test_a_number_is_written_as_it_was_and_used_at_most_as_large(name, number, tmp_path: Path):
    kind = ("mu",) if name == "mu" else NOTIONS["approximate"].parameters
    written_as = {other: number if other == name else "0.5" for other in kind}
    folder = tmp_path / "problem"
    folder.mkdir()
    (folder / "datasets.csv").write_text("dataset,query\na,1\nb,2\n")
    (folder / "edges.csv").write_text(f"source,target,{','.join(kind)}\na,b,{','.join(written_as.values())}\n")
    problem, _ = hetdp.read_problem(folder)
    hetdp.save(problem, tmp_path / "again", tables="csv")
    cells = (tmp_path / "again" / "edges.csv").read_text().splitlines()[1].split(",")[2:]
    assert [Fraction(cell) for cell in cells] == [Fraction(text) for text in written_as.values()]
    assert isinstance(problem.graph, hetdp.DatasetGraph)
    assert Fraction(float(problem.graph.parameters[kind.index(name)][0])) <= Fraction(number)


def test_an_edge_is_the_same_from_either_end_and_a_missing_value_back_means_the_value_forth(tmp_path: Path):
    (tmp_path / "datasets.csv").write_text("dataset,query\na,1\nb,2\nc,2\n")
    header = "source,target,epsilon,epsilon_back,delta,delta_back\n"
    identities = set()
    for first in ("a,b,0.1,0.2,1e-10,0.3", "b,a,0.2,0.1,0.3,1e-10"):
        for second in ("b,c,0.5,,0.25,", "b,c,0.5,0.5,0.25,0.25", "c,b,0.5,,0.25,0.25"):
            (tmp_path / "edges.csv").write_text(f"{header}{first}\n{second}\n")
            identities.add(hetdp.read_problem(tmp_path).problem.identity)
    assert len(identities) == 1
    (tmp_path / "edges.csv").write_text(f"{header}a,b,0.2,0.1,0.3,1e-10\nb,c,0.5,,0.25,\n")
    assert hetdp.read_problem(tmp_path).problem.identity not in identities


def test_a_coordinate_is_kept_where_p_rounds_to_one(tmp_path: Path):
    graph = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], [60.0, 0.5, math.inf])
    problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2, "d": 2})
    mechanism = hetdp.extend(problem, {"b": 0.6, "c": 0.4})
    assert mechanism["a"] == 1.0
    for suffix in (".json", ".csv", ".parquet"):
        hetdp.save(mechanism, tmp_path / f"m{suffix}")
        again = hetdp.read_mechanism(tmp_path / f"m{suffix}", problem)
        assert again.coordinates.tolist() == mechanism.coordinates.tolist()
        assert again.coordinates[3] == -math.inf
        assert 0.0 < again.errors[0] < 1e-25


def test_a_mechanism_in_another_order_is_brought_into_the_problems_order(tmp_path: Path):
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
    problem = hetdp.Problem(graph, [1, 1, 2])
    mechanism = hetdp.extend(problem, {"b": 0.6, "c": 0.4})
    rows = list(zip(*(np.asarray(column).tolist() for column in mechanism.columns().values()), strict=True))
    lines = [
        ",".join("" if x is None else str(x).lower() if isinstance(x, bool) else str(x) for x in row) for row in rows
    ]
    path = tmp_path / "m.csv"
    path.write_text("\n".join([",".join(mechanism.columns()), *lines[::-1]]) + "\n")
    again = hetdp.read_mechanism(path, problem)
    assert again.coordinates.tolist() == mechanism.coordinates.tolist()
    assert again.links.tolist() == mechanism.links.tolist()


def test_thousands_of_rows_without_a_binding_come_before_the_first_with_one(tmp_path: Path):
    size = 5000
    graph = hetdp.DatasetGraph.from_edges(["x0"], [f"x{size - 1}"], 1.0, datasets=[f"x{at}" for at in range(size)])
    problem = hetdp.Problem(graph, [1] * size)
    mechanism = hetdp.extend(problem, {f"x{at}": 0.5 for at in range(size - 1)})
    assert mechanism.links[-1] == 0
    hetdp.save(mechanism, tmp_path / "m.parquet")
    assert hetdp.read_mechanism(tmp_path / "m.parquet", problem).links.tolist() == mechanism.links.tolist()
