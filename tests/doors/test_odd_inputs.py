"""Odd inputs through the Python API: each is either accepted as what it means or refused with one clear message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hetdp
from tests.loops import for_each

CHAIN = hetdp.DatasetGraph.from_edges([(0, 1, 1.0), (1, 2, 1.0)])
PROBLEM = hetdp.Problem(CHAIN, [1, 1, 2])
READERS = (hetdp.read_problem, hetdp.read_mechanism, hetdp.read_pins, hetdp.read_record, hetdp.read_partitioned)
RULES = hetdp.privacy.rules(1)
MAJORITY = hetdp.questions.majority("yes")
PEOPLE = pd.DataFrame({"id": ["a", "b", "c"], "vote": ["yes", "no", "yes"]})


def graph_with_labels(*labels: Any) -> hetdp.DatasetGraph:
    return hetdp.DatasetGraph.from_edges([(label, "other", 1.0) for label in labels])


PAIRS = [(1, True), (1, 1.0), (0, False), (0.0, -0.0), ((1, 2), (1.0, 2)), (True, np.int64(1))]


@for_each("pair", PAIRS)
def test_labels_that_are_equal_but_of_different_types_are_refused(pair):
    with pytest.raises(hetdp.InputError, match=r"ambiguous label .*, which Python takes to be equal to the label"):
        graph_with_labels(*pair)
    with pytest.raises(hetdp.InputError, match=r"ambiguous label .*, which Python takes to be equal to the label"):
        hetdp.DatasetGraph.from_edges([], [], [], datasets=list(pair))


def test_a_label_that_is_listed_twice_is_a_duplicate():
    with pytest.raises(hetdp.InputError, match="duplicate dataset 1; each dataset is listed once"):
        hetdp.DatasetGraph.from_edges([], [], [], datasets=["x", 1, np.int64(1)])
    assert graph_with_labels(1, np.int64(1), "a", np.str_("a")).datasets == (1, "other", "a")


INDEXES = {
    "integers from 0": (hetdp.DatasetGraph.from_edges([(0, 1, 1.0)]), 1),
    "other integers": (hetdp.DatasetGraph.from_edges([(1, 9, 1.0)]), 1),
    "mixed": (graph_with_labels(1), 1),
    "floats": (hetdp.DatasetGraph.from_edges([(1.0, 2.5, 1.0)]), 1.0),
    "truth values": (hetdp.DatasetGraph.from_edges([(True, False, 1.0)]), True),
}


@for_each("name", INDEXES)
def test_a_label_is_found_by_a_value_of_its_own_type_only(name):
    graph, own = INDEXES[name]
    assert graph.index(own) == graph.index(np.asarray(own)[()])
    for other in {int: 1, float: 1.0, bool: True}.values():
        if type(other) is not type(own):
            with pytest.raises(hetdp.UnknownDatasetError):
                graph.index(other)
            assert graph.labels.indices([other]).tolist() == [-1]


def test_entries_of_tuples_are_found_by_their_own_type_only():
    space = hetdp.spaces.tallies({"a": 2}, MAJORITY, RULES).graph
    label = next(iter(space.labels.names))
    assert space.index(label) == space.index(tuple(map(np.int64, label))) == 0
    for wrong in (tuple(map(float, label)), tuple(map(bool, label))):
        with pytest.raises(hetdp.UnknownDatasetError):
            space.index(wrong)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (pd.NA, "dataset 1: no answer; every dataset has a true answer."),
        (np.array([1, 2]), r"dataset 1: not one answer: array\(\[1, 2\]\); an answer is one number, text or truth"),
        ([1], r"dataset 1: not one answer: \[1\]; an answer is one number"),
    ],
)
def test_answers_that_are_missing_or_several_are_refused(answer, message):
    answers = [1, answer, 2]
    for query in (answers.__getitem__, answers, dict(enumerate(answers))):
        with pytest.raises(hetdp.InputError, match=message):
            hetdp.Problem(CHAIN, query)


@for_each("reader", READERS)
@for_each(
    ("path", "found"), [(None, "expected a path, got None"), (3, "got an int"), (b"x", "got a bytes"), ("", "an empty")]
)
def test_readers_refuse_arguments_that_are_not_paths(reader, path, found):
    with pytest.raises(hetdp.UsageError, match=rf"{found}.*; a path is text or a pathlib\.Path\."):
        reader(path)


def documents(folder: Path) -> dict[str, tuple[Path, str]]:
    """One document of every kind, and the hint of readers that read other kinds."""
    mechanism = hetdp.design(PROBLEM)
    ledger = hetdp.Ledger.create(folder / "a.ledger", source="s", cap=9)
    hetdp.save(PROBLEM, folder / "problem.json")
    hetdp.save(mechanism, folder / "mechanism.json")
    hetdp.release(mechanism, 0, ledger=ledger, record=folder / "release.json")
    asked: dict[str, Any] = {"at_least": 1, "epsilon": 1, "person": "id", "dry_run": True}
    hetdp.ask(PEOPLE, "vote = 'yes'", plan=folder / "plan.json", **asked)
    pins = {"schema_version": 1, "kind": "pins", "datasets": [{"dataset": 0, "p": 0.5}]}
    (folder / "pins.json").write_text(json.dumps(pins))
    (folder / "question.json").write_text(json.dumps(MAJORITY.document()))
    (folder / "privacy.json").write_text(json.dumps(RULES.document(), default=str))
    hints = {
        "problem": "hetdp.read_problem reads it",
        "mechanism": "hetdp.read_mechanism reads it",
        "pins": "hetdp.read_pins reads it",
        "release": "hetdp.read_record reads it",
        "plan": "hetdp.ask takes it as plan=",
        "question": "hetdp.questions.from_document reads it",
        "privacy": "hetdp.privacy.from_document reads it",
    }
    return {kind: (folder / f"{kind}.json", hint) for kind, hint in hints.items()}


def test_every_reader_names_the_kind_of_a_document_it_cannot_read(tmp_path):
    readers = {
        "problem": hetdp.read_problem,
        "mechanism": hetdp.read_mechanism,
        "pins": hetdp.read_pins,
        "release": hetdp.read_record,
        "plan": lambda path: hetdp.ask(PEOPLE, epsilon=1, person="id", dry_run=True, plan=path),
        "question": lambda path: hetdp.questions.from_json(path.read_text()),
        "privacy": lambda path: hetdp.privacy.from_json(path.read_text()),
    }
    for kind, (path, hint) in documents(tmp_path).items():
        for wanted, read in readers.items():
            if wanted == kind:
                continue
            with pytest.raises(hetdp.InputError) as refusal:
                read(path)
            assert f"wrong kind of document: {kind!r}; expected the kind {wanted!r}. Hint: {hint}" in str(refusal.value)


@pytest.mark.parametrize("number", [np.int64(2), np.float64(2.0), np.int8(2), np.float32(2.0)])
def test_numpy_numbers_are_numbers(number, tmp_path):
    assert hetdp.Problem(CHAIN, [1, 1, 2], "renyi", alpha=number).notion.key == "renyi-2"
    assert hetdp.DatasetGraph.from_edges([(0, 1, number)]).edges()[2].tolist() == [2.0]
    assert hetdp.questions.count("yes", at_least=number) == hetdp.questions.count("yes", at_least=2)
    assert hetdp.privacy.rules(number) == hetdp.privacy.rules(2)
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="s", cap=number, timeout=number)
    assert ledger.status("s")[0].cap == "2"
    half = number / type(number)(4)
    assert hetdp.induced_bounds(CHAIN, 0, half)[0] == hetdp.path_mechanism(half, [1.0])[0] == 0.5
    assert hetdp.solve_epsilon(PROBLEM, half).multiple == 0.0
    assert max(hetdp.design(PROBLEM, max_error=half).errors) <= 0.5


def test_numpy_integers_are_accepted_as_counts_and_seeds():
    three = np.int64(3)
    assert hetdp.spaces.votes(three, MAJORITY, RULES).graph.size == 8
    assert hetdp.spaces.population(MAJORITY, np.float64(0.5), size=three).size == 3
    mechanism = hetdp.design(PROBLEM)
    runs = (hetdp.simulate(mechanism, 0, seed=number, runs=number) for number in (three, 3))
    assert len(set(map(str, runs))) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ([(0, 1)], 1.0),
            "a number as target: 1.0; a graph is made of columns .* Hint: ε is the third",
        ),
        ((PEOPLE,), "a table as source: a DataFrame; .* Hint: hetdp.from_table reads a table"),
        ((PEOPLE, [1.0]), "a table as source: a DataFrame"),
        ((np.zeros(2, dtype=[("source", int), ("target", int)]),), "a table as source: a ndarray"),
    ],
)
def test_edges_that_are_not_columns_are_refused_with_a_message(given, message):
    with pytest.raises(hetdp.UsageError, match=message):
        hetdp.DatasetGraph.from_edges(*given)


def test_a_payment_checks_the_names_of_its_files():
    with pytest.raises(hetdp.UsageError, match=r"no format is known for 'x.txt'; the name of record= ends in .json"):
        hetdp.Payment(ledger="a.ledger", record="x.txt")
    with pytest.raises(hetdp.UsageError, match=r"no format is known for 'x.json'; the name of html= ends in .html"):
        hetdp.Payment(ledger="a.ledger", html="x.json")
    with pytest.raises(hetdp.UsageError, match="expected a path, got an int"):
        hetdp.Payment(ledger="a.ledger", record=3)


def test_a_release_checks_the_names_of_its_files(tmp_path):
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="s", cap=9)
    with pytest.raises(hetdp.UsageError, match=r"the name of record= ends in .json"):
        hetdp.release(hetdp.design(PROBLEM), 0, ledger=ledger, record=tmp_path / "record.txt")
    assert ledger.history()[-1].kind != "spend"


def test_a_dry_run_accepts_an_empty_list_of_earlier_records(tmp_path):
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="s", cap=9, unit="person")
    asked: dict[str, Any] = {"at_least": 1, "epsilon": 1, "person": "id", "dry_run": True}
    result = hetdp.ask(PEOPLE, "vote = 'yes'", payment=hetdp.Payment(ledger=ledger, after=[]), **asked)
    assert result.price is not None
    with pytest.raises(hetdp.UsageError, match=r"a record together with dry_run=True"):
        hetdp.ask(PEOPLE, "vote = 'yes'", payment=hetdp.Payment(ledger=ledger, after=["r.json"]), **asked)


ANY: Any = hetdp  # its arguments are not checked by type
ODD: dict[str, tuple[Any, str]] = {
    "a mechanism as a problem": (lambda: ANY.check(hetdp.design(PROBLEM), {}), "expected a Problem, got a Mechanism"),
    "no place to save": (lambda: ANY.save(PROBLEM, None), "expected a path, got None"),
    "bytes as JSON": (lambda: ANY.questions.from_json(b"{}"), "question: expected text, got a bytes"),
    "nothing as TOML": (lambda: ANY.privacy.from_toml(None), "privacy: expected text, got None"),
    "a truth value as p": (lambda: ANY.induced_bounds(CHAIN, 0, True), "alpha: out of range: True"),
    "a truth value on a path": (lambda: ANY.path_mechanism(True, [1.0]), "alpha: out of range: True"),
    "a number as values": (lambda: ANY.spaces.votes(3, MAJORITY, RULES, values=3), "the values is 3"),
    "a number as values of many": (lambda: ANY.spaces.population(MAJORITY, 1, values=3, size=3), "the values is 3"),
    "a time limit that is text": (
        lambda: ANY.Ledger("a.ledger", timeout="x"),
        "timeout='x'; it must be a number of seconds",
    ),
    "a column as a table": (
        lambda: ANY.ask(PEOPLE["vote"], "vote = 'yes'", at_least=1, epsilon=1, person="id", dry_run=True),
        "expected a table, got a Series",
    ),
    "no table": (
        lambda: ANY.ask("", "vote = 'yes'", at_least=1, epsilon=1, person="id", dry_run=True),
        "an empty path; a path is text or a pathlib.Path",
    ),
}


@for_each("name", ODD)
def test_odd_arguments_get_one_clear_message(name):
    call, message = ODD[name]
    with pytest.raises((hetdp.UsageError, hetdp.InputError)) as refusal:
        call()
    assert message in str(refusal.value)
