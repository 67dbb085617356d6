"""A mechanism file is not trusted, and is read only with a problem that it fits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.errors import FaultCollector, InputError
from hetdp.files import mechanisms
from hetdp.files.mechanisms import read_claim
from hetdp.problem.partial import pins_of
from hetdp.theory.catalogue import NOTIONS
from tests.loops import for_each

GRAPH = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
PROBLEM = hetdp.Problem(GRAPH, {"a": 1, "b": 1, "c": 2})
MECHANISM = hetdp.extend(PROBLEM, {"b": 0.6, "c": 0.4})
SUFFIXES = (".json", ".csv", ".parquet")


def document(path: Path) -> dict:
    hetdp.save(MECHANISM, path)
    return json.loads(path.read_text())


def message_of(path: Path, problem: hetdp.Problem | None = PROBLEM) -> str:
    with pytest.raises(hetdp.InputError) as refusal:
        hetdp.read_mechanism(path, problem)
    return str(refusal.value).replace(str(path), "FILE")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_certificate_in_a_file_is_not_trusted(suffix, tmp_path: Path):
    path = tmp_path / f"m{suffix}"
    hetdp.save(MECHANISM, path)
    assert hetdp.read_mechanism(path, PROBLEM).certificate is None
    assert hetdp.read_mechanism(path).certificate is None


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_mechanism_is_not_loaded_with_another_problem(suffix, tmp_path: Path):
    path = tmp_path / f"m{suffix}"
    hetdp.save(MECHANISM, path)
    stricter = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 0.5), [1, 1, 2])
    assert "FILE: made for another problem, 'sha256:" in message_of(path, stricter)
    claim = read_claim(path, stricter)
    assert (claim.made_for_another, claim.column) == (True, "z")
    assert not hetdp.verify(stricter, claim.mechanism).private
    assert not read_claim(path, PROBLEM).made_for_another


def test_a_mechanism_without_its_problem_can_be_read_only(tmp_path: Path):
    path = tmp_path / "m.json"
    hetdp.save(MECHANISM, path)
    alone = hetdp.read_mechanism(path)
    assert alone["a"] == MECHANISM["a"]
    assert alone.problem.identity == PROBLEM.identity
    assert repr(alone.problem).startswith("EdgelessProblem(3 datasets, no edges, sha256:")
    with pytest.raises(hetdp.UsageError, match="read without its problem; only a mechanism that is proved"):
        hetdp.save(alone, tmp_path / "other.json")
    assert not (tmp_path / "other.json").exists()


def test_a_loaded_mechanism_is_proved_before_it_is_saved_again(tmp_path: Path):
    facts = document(tmp_path / "m.json")
    facts["datasets"] = [{"dataset": row["dataset"], "query": row["query"], "z": row["z"]} for row in facts["datasets"]]
    facts["datasets"][0]["z"] = 30.0
    (tmp_path / "m.json").write_text(json.dumps(facts))
    tampered = hetdp.read_mechanism(tmp_path / "m.json", PROBLEM)
    with pytest.raises(hetdp.VerificationError):
        hetdp.save(tampered, tmp_path / "again.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.json"]
    hetdp.save(replace(MECHANISM, certificate=None), tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text())["certificate"]["private"] is True


def test_one_float_upward_on_a_tight_edge_of_a_saved_mechanism_is_caught(tmp_path: Path):
    facts = document(tmp_path / "m.json")
    row = facts["datasets"][0]
    assert row["binding"] == "b"
    row["z"] = float(np.nextafter(row["z"], np.inf))
    (tmp_path / "m.json").write_text(json.dumps(facts))
    assert not hetdp.verify(PROBLEM, hetdp.read_mechanism(tmp_path / "m.json", PROBLEM)).private


@pytest.mark.parametrize("column", ["p", "z", "error"])
def test_a_table_from_another_source_needs_only_datasets_and_one_column_of_values(column, tmp_path: Path):
    values = np.asarray(MECHANISM.columns()[column]).tolist()
    path = tmp_path / "mine.csv"
    path.write_text("\n".join([f"dataset,{column}", *(f"{d},{x!r}" for d, x in zip("abc", values, strict=True))]))
    mine = hetdp.read_mechanism(path, PROBLEM)
    assert np.allclose(mine.probabilities, MECHANISM.probabilities, atol=1e-15)
    certificate = hetdp.verify(PROBLEM, mine)
    assert not certificate.optimal
    assert certificate.shortfall.startswith("nothing says which values were given") or not certificate.private
    if column != "error":
        assert "missing column query; without its problem a mechanism must have the answers itself" in message_of(
            path, None
        )


FAULTS = {
    "an unknown key": (
        lambda f: f.update(Problem="x"),
        "unknown key 'Problem'; the keys are schema_version, verb, kind",
    ),
    "a problem": (
        lambda f: f.update(kind="problem"),
        "wrong kind of document: 'problem'; expected",
    ),
    "another notion": (
        lambda f: f.update(notion=["x"]),
        "FILE, notion: unknown notion ['x']; a notion is one of approximate, bounded-range, directed, ",
    ),
    "a newer version": (lambda f: f.update(schema_version=9), "a newer schema_version: 9; this hetdp reads"),
    "no datasets": (lambda f: f.pop("datasets"), "missing key datasets; 'datasets' is a list of objects."),
    "no values": (
        lambda f: [row.pop(name) for row in f["datasets"] for name in ("p", "z", "error")],
        "datasets: no values; a mechanism has a column z, p or error.",
    ),
    "an unknown column": (lambda f: f["datasets"][0].update(x=1), "datasets: unknown column 'x'; the columns are"),
    "a value missing": (lambda f: f["datasets"][0].pop("z"), "datasets[0], z: no value; every dataset has a value."),
    "a value that is text": (
        lambda f: f["datasets"][0].update(z="1"),
        "z['a']: non-numeric pin '1'; a pin is a number",
    ),
    "a dataset missing": (lambda f: f["datasets"].pop(0), "dataset a: no row; it has one"),
    "a dataset too many": (
        lambda f: f["datasets"].append({"dataset": "x", "query": 1, "z": 0.0, "pinned": False}),
        "datasets[3]: not a dataset of the problem: 'x'; it has one row for each dataset of the problem.",
    ),
    "a dataset twice": (lambda f: f["datasets"].append(f["datasets"][0]), "datasets[3]: duplicate dataset 'a'"),
    "another answer": (
        lambda f: (f["datasets"][0].update(query=2), [row.pop("error") for row in f["datasets"]]),
        "datasets[0]: not the problem's answer; its query must agree with the problem's.",
    ),
    "neither true nor false": (
        lambda f: f["datasets"][0].update(pinned=2),
        "datasets[0], pinned: neither true nor false: 2; it must be true or false, yes or no, or 1 or 0.",
    ),
    "bound by a stranger": (
        lambda f: f["datasets"][0].update(binding="x"),
        "datasets[0], binding: unknown dataset; it is the label of a neighbour, or empty.",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_mechanism_file_is_named(name, tmp_path: Path):
    change, expected = FAULTS[name]
    path = tmp_path / "m.json"
    facts = document(path)
    change(facts)
    path.write_text(json.dumps(facts))
    assert expected in message_of(path)


def test_invalid_metadata_beside_the_table_is_refused(tmp_path: Path):
    path = tmp_path / "m.json"
    for moved in ('"x"', "[]", "-1.0", '"inf"', "true"):
        facts = document(path) | {"moved": json.loads(moved)}
        path.write_text(json.dumps(facts))
        assert "FILE, moved: not a distance:" in message_of(path)


def test_a_csv_table_that_was_changed_after_writing_is_refused(tmp_path: Path):
    path = tmp_path / "m.csv"
    hetdp.save(MECHANISM, path)
    path.write_text(path.read_text() + "\n")
    assert (
        "the table was changed after it was written; m.csv.meta.json describes the table as it was written."
        in message_of(path)
    )
    (tmp_path / "m.csv.meta.json").unlink()
    assert hetdp.read_mechanism(path, PROBLEM).certificate is None


@pytest.mark.parametrize("column", ["p", "error"])
def test_the_displayed_p_must_match_the_proved_z(column, tmp_path: Path):
    path = tmp_path / "m.json"
    facts = document(path)
    facts["datasets"][0][column] = 0.999
    path.write_text(json.dumps(facts))
    assert f"datasets[0]: {column} contradicts z: 0.999 where z means" in message_of(path)


def test_values_alone_can_be_verified():
    values = dict(MECHANISM)
    assert hetdp.verify(PROBLEM, values | {"a": 0.7}).private
    assert not hetdp.verify(PROBLEM, values | {"a": 0.99}).private
    assert (
        hetdp.verify(PROBLEM, values | {"a": 0.7}).method
        == "every edge checked, for z as rounded from the given values"
    )
    assert hetdp.verify(PROBLEM, hetdp.PartialMechanism(z=MECHANISM.coordinates)).method == "every edge checked"
    assert not hetdp.verify(PROBLEM, hetdp.PartialMechanism(z=MECHANISM.coordinates)).optimal
    with pytest.raises(hetdp.InputError, match="dataset c: no value; every dataset has a value"):
        hetdp.verify(PROBLEM, {"a": 0.5, "b": 0.5})
    with pytest.raises(hetdp.InputError, match=r"2 faults\n  dataset a: no value; .*\n  dataset c: no value;"):
        hetdp.verify(PROBLEM, {"b": 0.5})


def test_an_unknown_suffix_is_refused(tmp_path: Path):
    with pytest.raises(
        hetdp.UsageError, match=r"no format is known for '.*m.txt'; the name ends in .json, .csv, .parquet"
    ):
        hetdp.read_mechanism(tmp_path / "m.txt", PROBLEM)
    assert "there is no such file" in message_of(tmp_path / "m.csv")


def test_all_faults_of_a_file_of_pins_are_listed_together(tmp_path: Path):
    path = tmp_path / "pins.csv"
    path.write_text("dataset,p\na,0.5\n,0.6\nb,x\na,0.6\nd,1.5\n")
    with pytest.raises(hetdp.InputError) as refused:
        hetdp.read_pins(path)
    assert [(fault.what, fault.where.removeprefix(f"{tmp_path}/"), fault.value) for fault in refused.value.faults] == [
        ("missing label", "pins.csv row 2, dataset", ""),
        ("duplicate dataset", "pins.csv row 4", "'a'"),
        ("non-numeric p", "pins.csv row 3", "'x'"),
        ("p out of range:", "pins.csv row 5", "1.5"),
    ]


def test_pins_are_read_from_their_own_file(tmp_path: Path):
    path = tmp_path / "pins.json"
    path.write_text('{"schema_version": 1, "datasets": [{"dataset": "b", "p": 0.6}, {"dataset": "c", "error": 0.4}]}')
    assert hetdp.extend(PROBLEM, hetdp.read_pins(path))["a"] == MECHANISM["a"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dataset\nb\n", "no values; pins have a column p, z or error."),
        ("dataset,p,query\nb,1,1\n", "unknown column 'query'; the columns are dataset, p, z, error."),
        ("p\n1\n", "missing column dataset; dataset is required."),
        ("dataset,p\nb,x\n", "row 1: non-numeric p 'x'; a pin is a number."),
        ("dataset,p\nb,0.5\nb,0.6\n", "row 2: duplicate dataset 'b'; each dataset is listed once."),
        ("dataset,p\n,0.5\n", "row 1, dataset: missing label;"),
    ],
)
def test_a_fault_of_a_file_of_pins_is_named(text, expected, tmp_path: Path):
    path = tmp_path / "pins.csv"
    path.write_text(text)
    with pytest.raises(hetdp.InputError) as refusal:
        hetdp.read_pins(path)
    assert expected in str(refusal.value)


EDGES: dict[str, dict[str, Any]] = {
    "directed": {"epsilon": 1, "epsilon_back": 2},
    "approximate": {"epsilon": 1, "delta": 0.1},
    "gaussian": {"mu": 1},
}
P = [0.75, 0.6, 0.4]


def problem_of(notion: Any) -> hetdp.Problem:
    columns = EDGES.get(notion, {"epsilon": 1})
    return hetdp.Problem(hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], **columns), [1, 1, 2], notion)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("column", ["p", "z", "error"])
def test_a_table_from_another_source_is_read_by_the_notion_of_its_problem(notion, column, tmp_path: Path):
    problem = problem_of(notion)
    z = problem.notion.coordinate.from_probability(P)
    values = {"p": P, "z": z.tolist(), "error": problem.notion.coordinate.error(z, [1, 1, 2]).tolist()}[column]
    path = tmp_path / "m.csv"
    path.write_text(f"dataset,{column}\n" + "".join(f"{x},{v!r}\n" for x, v in zip("abc", values, strict=True)))
    assert hetdp.read_mechanism(path, problem).probabilities == pytest.approx(P)
    assert read_claim(path, problem).mechanism.coordinates == pytest.approx(z)


@pytest.mark.parametrize("notion", NOTIONS)
def test_without_its_problem_a_file_says_what_z_means(notion, tmp_path: Path):
    coordinate = NOTIONS[notion].coordinate
    rows = [
        {"dataset": x, "query": 1, "z": float(coordinate.from_probability(p))} for x, p in zip("abc", P, strict=True)
    ]
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"schema_version": 1, "notion": notion, "datasets": rows}))
    assert hetdp.read_mechanism(path).probabilities == pytest.approx(P)
    path.write_text(json.dumps({"schema_version": 1, "notion": notion, "coordinate": "x", "datasets": rows}))
    text = f"FILE, coordinate: another coordinate 'x'; the notion {notion!r} has the coordinate {coordinate.name!r}."
    assert text in message_of(path, None)


def test_z_of_another_coordinate_is_not_taken_for_that_of_the_problem(tmp_path: Path):
    path = tmp_path / "m.json"
    facts = document(path)
    gaussian = problem_of("gaussian")
    with pytest.raises(hetdp.InputError, match="z is another coordinate: 'Laplace'; the notion 'gaussian' has the"):
        read_claim(path, gaussian)
    assert read_claim(path, problem_of("directed")).mechanism.coordinates.tolist() == MECHANISM.coordinates.tolist()
    for row in facts["datasets"]:
        del row["z"]
    path.write_text(json.dumps(facts))
    assert read_claim(path, gaussian).mechanism.probabilities == pytest.approx(MECHANISM.probabilities)
    path.write_text('{"schema_version": 1, "coordinate": "probit", "datasets": [{"dataset": "a", "query": 1, "z": 1}]}')
    assert "FILE: z is another coordinate: 'probit'; the notion 'pure' has the coordinate" in message_of(path, None)


@pytest.mark.parametrize("notion", NOTIONS)
def test_pins_given_as_z_are_in_the_coordinate_of_the_notion(notion, tmp_path: Path):
    problem = problem_of(notion)
    z = float(problem.notion.coordinate.from_probability(0.6))
    hetdp.save(problem, tmp_path / "problem.json", hetdp.PartialMechanism(z={"b": z}, p={"c": 0.4}))
    again, partial = hetdp.read_problem(tmp_path / "problem.json")
    assert again.notion.coordinate.probability(pins_of(partial, again))[1:] == pytest.approx([0.6, 0.4])


def test_text_in_a_table_finds_integer_labels(tmp_path: Path):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0), [1, 1, 2])
    mechanism = hetdp.extend(problem, {1: 0.6, 2: 0.4})
    (tmp_path / "m.csv").write_text(
        "dataset,z\n" + "".join(f"{d},{float(mechanism.coordinates[d])!r}\n" for d in (2, 0, 1))
    )
    assert hetdp.read_mechanism(tmp_path / "m.csv", problem).coordinates.tolist() == mechanism.coordinates.tolist()


@for_each(
    ("key", "value", "is_fine"),
    [
        ("moved", 0, True),
        ("moved", 1.0, True),
        ("moved", 1.5, False),
        ("moved", -0.1, False),
        ("moved", True, False),
        ("objective_gap", "x", False),
    ],
)
def test_a_distance_in_a_file_is_a_small_number(key, value, is_fine):
    findings = FaultCollector("m")
    mechanisms.require_form({key: value, "schema_version": 1}, ["dataset", "z"], "m", "t", findings)
    assert (findings.total == 0) is is_fine


def test_a_mechanism_has_datasets_and_values():
    findings = FaultCollector("m")
    mechanisms.require_form({}, ["dataset", "query"], "m", "t", findings)
    assert [fault.what for fault in findings.faults] == ["no values"]
    mechanisms.require_form({"schema_version": 1, "labels": "odd"}, ["p"], "m", "t", findings)
    assert [fault.what for fault in findings.faults[1:]] == ["unknown kind of labels", "missing column"]


def test_columns_of_values_must_agree_up_to_their_rounding(tmp_path: Path):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0), {"a": 1, "b": 2})
    place = tmp_path / "m.csv"
    for p, is_fine in ((0.700009, True), (0.700011, False), (0.69999, True), (0.69998, False)):
        place.write_text(f"dataset,query,p,error\na,1,{p},0.3\nb,2,0.4,0.4\n")
        if is_fine:
            assert hetdp.read_mechanism(place, problem)["a"] == pytest.approx(0.7)
        else:
            with pytest.raises(InputError, match="p contradicts error"):
                hetdp.read_mechanism(place, problem)


def test_pins_of_a_problem_that_a_mechanism_does_not_have_are_counted(tmp_path: Path):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0), {"a": 1, "b": 2})
    found = hetdp.extend(problem, {"a": 0.6, "b": 0.4})
    near = found.coordinates + np.array([5e-10, 2e-9])

    class Pins:
        z = near

    assert mechanisms._count_differing(found, Pins()) == 1  # type: ignore[arg-type]
    Pins.z = np.array([np.nan, 5.0])
    assert mechanisms._count_differing(found, Pins()) == 1  # type: ignore[arg-type]


def test_integers_that_print_otherwise_stay_text():
    given = ["0", "-0", "00", "7", "-7", "+7", " 7", "1" + "0" * 40, "1" + "0" * 41]
    assert [type(one) for one in mechanisms.parse_integer_labels(given)] == [
        int,
        str,
        str,
        int,
        int,
        str,
        str,
        int,
        str,
    ]


def test_texts_among_integers_are_not_integers(tmp_path: Path) -> None:
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([1], [2], 0.5), {1: 1, 2: 2})
    place = tmp_path / "mechanism.json"
    hetdp.save(hetdp.design(problem), place)
    document = json.loads(place.read_text())
    document["datasets"][0]["dataset"] = "1"
    place.write_text(json.dumps(document))
    with pytest.raises(hetdp.InputError, match="not a dataset of the problem: '1'"):
        hetdp.read_mechanism(place, problem=problem)
