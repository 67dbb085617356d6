"""Files are written completely or not at all, and files of other programs are never replaced."""

from __future__ import annotations

import math
import os
import pickle
import stat
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import hetdp
from hetdp.errors import UsageError
from hetdp.files import saving
from hetdp.files.formats import csv_files, parquet, writing
from hetdp.files.formats.writing import whole_file, whole_folder

GRAPH = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
PROBLEM = hetdp.Problem(GRAPH, {"a": 1, "b": 2})
MECHANISM = hetdp.extend(PROBLEM, {"a": 0.6, "b": 0.4})


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "fault", [RuntimeError(), KeyboardInterrupt(), BrokenPipeError(), hetdp.UsageError("x", "y")], ids=repr
)
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(fault, tmp_path: Path):
    place = tmp_path / "m.json"
    place.write_text("old")
    with pytest.raises(type(fault)) as raised, whole_file(place) as draft:  # noqa: PT012
        draft.write_text("new")
        raise fault
    assert raised.value is fault
    assert place.read_text() == "old"
    assert names_in(tmp_path) == ["m.json"]


def test_an_interrupted_write_of_a_folder_leaves_the_old_one_and_nothing_else(tmp_path: Path):
    place = tmp_path / "problem"
    hetdp.save(PROBLEM, place, tables="csv")
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    with pytest.raises(RuntimeError), whole_folder(place, frozenset(before)) as draft:  # noqa: PT012
        (draft / "edges.csv").write_text("new")
        raise RuntimeError
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before
    assert names_in(tmp_path) == ["problem"]


def test_saving_again_replaces_the_whole_folder(tmp_path: Path):
    place = tmp_path / "problem"
    hetdp.save(PROBLEM, place, tables="csv")
    hetdp.save(PROBLEM, place, tables="parquet")
    assert names_in(place) == ["datasets.parquet", "edges.parquet", "problem.json"]
    assert names_in(tmp_path) == ["problem"]


def test_a_folder_with_other_files_is_never_replaced(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(hetdp.UsageError, match=r"it holds other files, such as 'thesis.tex'"):
        hetdp.save(PROBLEM, tmp_path)
    assert names_in(tmp_path) == ["thesis.tex"]


def test_a_file_is_not_replaced_by_a_folder_nor_a_folder_by_a_file(tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(hetdp.UsageError, match="it is a file"):
        hetdp.save(PROBLEM, tmp_path / "file")
    (tmp_path / "m.json").mkdir()
    with pytest.raises(hetdp.UsageError, match="it is a folder"):
        hetdp.save(MECHANISM, tmp_path / "m.json")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path):
    with pytest.raises(hetdp.UsageError, match=r"cannot write .*No such file or directory; the output is a file or"):
        hetdp.save(MECHANISM, tmp_path / "nowhere" / "m.json")
    with pytest.raises(hetdp.UsageError, match=r"cannot write .*No such file or directory"):
        hetdp.save(MECHANISM, tmp_path / "nowhere" / "m.parquet")


@pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet"])
def test_a_full_disk_leaves_no_incomplete_file(suffix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    for module, writer in ((saving, "write_json"), (csv_files, "write_csv"), (parquet, "write_parquet")):
        monkeypatch.setattr(module, writer, full)
    with pytest.raises(hetdp.UsageError, match="No space left on device"):
        hetdp.save(MECHANISM, tmp_path / f"m{suffix}")
    assert names_in(tmp_path) == []


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    hetdp.save(MECHANISM, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert hetdp.read_mechanism(tmp_path / "real.json", PROBLEM)["a"] == 0.6


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path):
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    hetdp.save(MECHANISM, pipe)
    assert reader.communicate(timeout=540)[0].startswith('{\n  "schema_version": 1,')
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_standard_output_gets_the_same_document_as_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    hetdp.save(MECHANISM, "-")
    hetdp.save(MECHANISM, tmp_path / "m.json")
    assert capsys.readouterr().out == (tmp_path / "m.json").read_text()


@pytest.mark.parametrize("labels", [("a", 1), ((0, 1), (1, 1)), ("a", ""), (0.5, "0.5"), (("a", (1, "1")), "\u202e")])
def test_labels_that_are_neither_text_nor_integers_are_written_as_json(labels, tmp_path: Path):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([labels[0]], [labels[1]], 1.0), [1, 2])
    mechanism = hetdp.extend(problem, {labels[0]: 0.6, labels[1]: 0.4})
    for tables in ("csv", "parquet"):
        hetdp.save(problem, tmp_path / tables, tables=tables)
        again = hetdp.read_problem(tmp_path / tables).problem
        assert again.identity == problem.identity
        hetdp.save(mechanism, tmp_path / f"m.{tables}")
        for asked in (problem, again):
            assert dict(hetdp.read_mechanism(tmp_path / f"m.{tables}", asked)) == dict(mechanism)
        assert list(hetdp.read_mechanism(tmp_path / f"m.{tables}")) == list(labels)


def test_a_cell_that_is_not_json_is_named(tmp_path: Path):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([(0, 1)], [(1, 1)], 1.0), [1, 2])
    hetdp.save(problem, tmp_path / "p", tables="csv")
    table = tmp_path / "p" / "datasets.csv"
    table.write_text(table.read_text().replace('"[0, 1]"', "0-1").replace('"[1, 1]"', "null"))
    with pytest.raises(hetdp.InputError) as refused:
        hetdp.read_problem(tmp_path / "p")
    assert "row 1, dataset: not JSON: '0-1'; the file says that each of its labels is JSON." in str(refused.value)
    assert "row 2, dataset: missing label" in str(refused.value)


def test_only_problems_and_mechanisms_are_saved(tmp_path: Path):
    with pytest.raises(hetdp.UsageError, match="3 cannot be saved; only a Problem or a Mechanism can be saved"):
        hetdp.save(3, tmp_path / "m.json")  # type: ignore[arg-type]
    with pytest.raises(hetdp.UsageError, match=r"a problem cannot be saved to '.*p.csv'"):
        hetdp.save(PROBLEM, tmp_path / "p.csv")
    with pytest.raises(hetdp.UsageError, match="with tables='xml'"):
        hetdp.save(PROBLEM, tmp_path / "p", tables="xml")  # type: ignore[arg-type]
    with pytest.raises(hetdp.UsageError, match="did you mean 'parquet'"):
        hetdp.save(PROBLEM, tmp_path / "p", tables="parqet")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("typo.jsonn", " Hint: did you mean .json?"),
        ("p.JSN", " Hint: did you mean .json?"),
        ("p.parqet", ""),
        ("v1.2", ""),
    ],
)
def test_a_misspelt_suffix_does_not_make_a_folder(tmp_path: Path, name: str, hint: str):
    rule = "; the name ends in .json, or is that of a folder, which has no suffix."
    with pytest.raises(hetdp.UsageError) as refused:
        hetdp.save(PROBLEM, tmp_path / name)
    assert str(refused.value) == f"no format is known for {str(tmp_path / name)!r}{rule}{hint}"
    assert not list(tmp_path.iterdir())
    (tmp_path / name).mkdir()
    hetdp.save(PROBLEM, tmp_path / name)  # a folder that is there
    assert hetdp.read_problem(tmp_path / name).problem.identity == PROBLEM.identity


def test_a_misspelt_suffix_of_a_mechanism_gets_a_hint(tmp_path: Path):
    mechanism = hetdp.design(PROBLEM, "fair")
    for name, meant in (("m.jsonn", ".json"), ("m.parqet", ".parquet"), ("m.cvs", ".csv")):
        with pytest.raises(hetdp.UsageError, match=rf"no format is known for .* Hint: did you mean {meant}\?"):
            hetdp.save(mechanism, tmp_path / name)


def test_small_files_of_text_are_read_and_written_without_duckdb(tmp_path: Path):
    code = """
import sys, pathlib, hetdp
graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
problem = hetdp.Problem(graph, {"a": 1, "b": 2})
hetdp.save(problem, "p.json", {"a": 0.6, "b": 0.4})
hetdp.save(problem, "p", {"a": 0.6, "b": 0.4}, tables="csv")
hetdp.save(hetdp.extend(*hetdp.read_problem("p")), "m.csv")
hetdp.read_mechanism("m.csv", hetdp.read_problem("p.json").problem)
print(sorted({"duckdb", "numba", "pandas", "pyarrow"} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet"])
def test_a_lone_surrogate_cannot_be_written(suffix, tmp_path: Path):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["\ud800"], ["b"], 1.0), [1, 2])
    mechanism = hetdp.extend(problem, [0.6, 0.4])
    with pytest.raises(hetdp.UsageError, match=r"the label '.ud800' cannot be saved"):
        hetdp.save(mechanism, tmp_path / f"m{suffix}")
    assert names_in(tmp_path) == []
    for tables in ("csv", "parquet"):
        with pytest.raises(hetdp.UsageError, match=r"the label '.ud800' cannot be saved"):
            hetdp.save(problem, tmp_path / "problem", tables=tables)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("change", ["values", "problem", "pickle"])
def test_a_changed_copy_does_not_inherit_the_proof(change, tmp_path: Path):
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
    problem = hetdp.Problem(graph, [1, 1, 2])
    mechanism = hetdp.extend(problem, {"b": 0.6, "c": 0.4})
    if change == "values":
        mechanism = replace(mechanism, coordinates=np.array([30.0, 20.0, -20.0]))
    elif change == "problem":
        stricter = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 0.1), [1, 1, 2])
        mechanism = replace(mechanism, problem=stricter)
    else:
        mechanism = pickle.loads(pickle.dumps(mechanism))
        assert not mechanism.coordinates.flags.writeable
        mechanism.coordinates.flags.writeable = True
        mechanism.coordinates[0] = 30.0
    with pytest.raises(hetdp.VerificationError):
        hetdp.save(mechanism, tmp_path / "bad.json")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("classes", [[3, 4], [3, None], ["x", ""], ["ann", None]])
@pytest.mark.parametrize("form", ["problem.json", "csv", "parquet"])
def test_classes_of_either_kind_are_written_and_read_again_and_again(classes, form, tmp_path: Path):
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0, classes=np.array(classes, dtype=object))
    problem, expected = hetdp.Problem(graph, [1, 1, 2]), [None if name == "" else name for name in classes]
    for number in range(3):
        path = tmp_path / f"{number}{form}"
        hetdp.save(problem, path, tables=form if form == "csv" else "parquet")
        problem = hetdp.read_problem(path).problem
        assert problem.graph.edge_classes() == expected
        assert {*map(type, expected)} == {*map(type, problem.graph.edge_classes() or [])}


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_integers_that_no_column_of_integers_holds_are_written_as_json(form, tmp_path: Path):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([2**63], [0], 1.0), [1, 2])
    hetdp.save(hetdp.design(problem), tmp_path / f"m.{form}")
    assert dict(hetdp.read_mechanism(tmp_path / f"m.{form}", problem)).keys() == {2**63, 0}


@pytest.mark.parametrize(
    "label", [frozenset("a"), b"a", date(2026, 1, 1), True, (), ("a", None), ("a", (True,)), float("inf")]
)
def test_labels_that_no_file_holds_are_refused(label, tmp_path: Path):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([label], ["b"], 1.0), [1, 2])
    for name in ("p.json", "p"):
        with pytest.raises(hetdp.UsageError, match="cannot be saved"):
            hetdp.save(problem, tmp_path / name)
    for name in ("m.json", "m.csv", "m.parquet"):
        with pytest.raises(hetdp.UsageError, match="cannot be saved"):
            hetdp.save(hetdp.design(problem), tmp_path / name)


@pytest.mark.parametrize("name", [b"a", date(2026, 1, 1), True, (), ("a", (True,)), math.inf, (math.nan,), "\ud800"])
@pytest.mark.parametrize("form", ["p.json", "csv", "parquet"])
def test_classes_that_no_file_holds_are_refused(name, form, tmp_path: Path):
    graph = hetdp.DatasetGraph.from_edges("aa", "bb", [0.5, 1.0], classes=[name, 7])
    with pytest.raises(hetdp.UsageError, match=r"the class .* cannot be saved"):
        hetdp.save(hetdp.Problem(graph, [1, 2]), tmp_path / form, tables="csv" if form == "csv" else "parquet")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("form", ["p.json", "csv", "parquet"])
def test_numpy_numbers_as_classes_are_numbers(form, tmp_path: Path):
    given = [np.int64(1), np.float32(0.5), np.str_("a"), None]
    graph = hetdp.DatasetGraph.from_edges("aaaa", "bbbb", 1.0, classes=given)
    hetdp.save(hetdp.Problem(graph, [1, 2]), tmp_path / form, tables="csv" if form == "csv" else "parquet")
    for one in (graph, hetdp.read_problem(tmp_path / form).problem.graph):
        assert sorted(one.edge_classes() or [], key=str) == sorted([1, 0.5, "a", None], key=str)


def test_numpy_integers_as_labels_are_integers(tmp_path: Path):
    graph = hetdp.DatasetGraph.from_edges(["x"], [np.int64(7)], 1.0, datasets=["x", np.int64(7)])
    hetdp.save(hetdp.Problem(graph, [1, 2]), tmp_path / "p.json")
    assert list(hetdp.read_problem(tmp_path / "p.json").problem.graph.datasets) == ["x", 7]


def test_files_of_other_programs_are_not_deleted(tmp_path: Path):
    place = tmp_path / "problem"
    hetdp.save(PROBLEM, place)
    (place / "edges").mkdir()
    (place / "edges" / "precious.txt").write_text("mine")
    with pytest.raises(hetdp.UsageError, match=r"it holds other files, such as 'edges/precious.txt'"):
        hetdp.save(PROBLEM, place)


def test_permissions_are_kept(tmp_path: Path):
    place = tmp_path / "m.json"
    place.write_text("old")
    place.chmod(0o600)
    hetdp.save(MECHANISM, place)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_links_in_a_circle_are_named(tmp_path: Path):
    (tmp_path / "a.json").symlink_to(tmp_path / "b.json")
    (tmp_path / "b.json").symlink_to(tmp_path / "a.json")
    with pytest.raises(hetdp.UsageError, match="cannot write"):
        hetdp.save(MECHANISM, tmp_path / "a.json")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_can_read_and_exits_normally(tmp_path: Path):
    code = """
import os, hetdp
hetdp.read_problem("p")
child = os.fork()
if child == 0:
    hetdp.read_problem("p")
else:
    assert os.waitpid(child, 0)[1] == 0
    hetdp.read_problem("p")
"""
    hetdp.save(PROBLEM, tmp_path / "p")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=540)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_private_file_is_for_its_owner_whoever_could_read_the_old_one(tmp_path):
    place = tmp_path / "a"
    place.write_text("old")
    place.chmod(0o644)
    with writing.whole_file(place) as draft:
        draft.write_text("public")
    assert stat.S_IMODE(place.stat().st_mode) == 0o644
    with writing.whole_file(place, private=True) as draft:
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
        draft.write_text("private")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [place]


def test_a_place_where_no_file_can_be_is_refused_before(tmp_path):
    writing.require_writable(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
    os.mkfifo(tmp_path / "pipe")
    for path, words in ((tmp_path, "it is a folder"), (tmp_path / "pipe", "not a plain file")):
        with pytest.raises(UsageError, match=words):
            writing.require_writable(path)
    with pytest.raises(UsageError, match="cannot write"):
        writing.require_writable(tmp_path / "no" / "where")


def test_a_folder_of_ours_may_be_replaced_and_no_other(tmp_path):
    ours = frozenset({"a.json", "edges"})
    place = tmp_path / "p"
    assert writing.require_folder(place, ours) == place
    (place / "edges").mkdir(parents=True)
    (place / "edges" / "part-1").write_text("")
    (place / "a.json").write_text("")
    writing.require_folder(place, ours)
    (place / "edges" / "mine").write_text("")
    with pytest.raises(UsageError, match="it holds other files, such as 'edges/mine'"):
        writing.require_folder(place, ours)
    with pytest.raises(UsageError, match="it is a file, not a folder"):
        writing.require_folder(place / "a.json", ours)
    assert [one.name for one in tmp_path.iterdir()] == ["p"]
