"""The error about a file of another kind names the right reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hetdp

GRAPH = hetdp.DatasetGraph.from_edges([("a", "b", 0.5)])
PROBLEM = hetdp.Problem(GRAPH, {"a": 1, "b": 2})
READERS = {
    "problem": hetdp.read_problem,
    "mechanism": hetdp.read_mechanism,
    "pins": hetdp.read_pins,
    "release": hetdp.read_record,
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    places = {kind: tmp_path / f"{kind}.json" for kind in READERS}
    hetdp.save(PROBLEM, places["problem"])
    hetdp.save(hetdp.design(PROBLEM), places["mechanism"])
    pins = {"schema_version": 1, "kind": "pins", "datasets": [{"dataset": "a", "p": 0.5}]}
    places["pins"].write_text(json.dumps(pins))
    places["release"].write_text('{"schema_version": 2, "kind": "release"}')
    return places


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("wanted", READERS)
def test_the_right_reader_is_named(kind, wanted, files):
    if kind == wanted:
        if kind != "release":
            assert READERS[kind](files[kind]) is not None
        return
    with pytest.raises(hetdp.InputError, match=f"wrong kind of document: '{kind}'; .*{READERS[kind].__name__} reads"):
        READERS[wanted](files[kind])


def test_a_problem_without_its_kind_is_recognised_by_its_edges(files):
    document = json.loads(files["problem"].read_text())
    del document["kind"]
    files["problem"].write_text(json.dumps(document))
    for read in (hetdp.read_mechanism, hetdp.read_pins):
        with pytest.raises(hetdp.InputError, match=r"'problem'.*hetdp\.read_problem reads it"):
            read(files["problem"])


def test_folders_and_tables_are_distinguished(tmp_path):
    hetdp.save(PROBLEM, tmp_path / "folder")
    with pytest.raises(hetdp.InputError, match=r"'problem'.*hetdp\.read_problem reads it"):
        hetdp.read_mechanism(tmp_path / "folder")
    hetdp.save(hetdp.design(PROBLEM), tmp_path / "m.csv")
    with pytest.raises(hetdp.InputError, match=r"hetdp\.read_mechanism reads the table of a mechanism"):
        hetdp.read_problem(tmp_path / "m.csv")
    with pytest.raises(hetdp.InputError, match=r"kind of document: 'mechanism'.*hetdp\.read_mechanism reads it"):
        hetdp.read_pins(tmp_path / "m.csv")
    with pytest.raises(hetdp.InputError, match=r"kind of document: 'problem'.*hetdp\.read_problem reads it"):
        hetdp.read_pins(tmp_path / "folder")


def test_a_wrong_problem_for_a_mechanism_is_refused(tmp_path):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 0.5), {"a": 1, "b": 2})
    mechanism = hetdp.design(problem)
    hetdp.save(mechanism, tmp_path / "m.json")
    for wrong in (mechanism, str(tmp_path / "p.json")):
        with pytest.raises(hetdp.UsageError, match="expected a Problem, got a"):
            hetdp.read_mechanism(tmp_path / "m.json", wrong)
