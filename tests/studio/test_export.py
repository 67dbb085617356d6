"""Exported files fit together: every exported problem accepts the mechanism exported with it."""

from __future__ import annotations

import itertools
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.problem.partial import pins_of
from hetdp.problem.spelling import spell_label
from hetdp.studio import export, session
from hetdp.studio import uploads as opening
from hetdp.studio.answers import GIVEN
from hetdp.studio.gallery import GALLERY, TALLIES, VOTES, document_from_form
from hetdp.studio.session import Session
from tests.stress import long
from tests.studio.sessions import path_of, session_of

FORMS = {
    "votes": lambda: document_from_form(VOTES, "Ann, Bob, Cyd", "", "0.3", "Ann=0.1"),
    "odd values": lambda: document_from_form(VOTES, "2", "1", "0.7", values="a b, [1]"),
    "tallies": lambda: document_from_form(TALLIES, "pupils=4, staff=2", "3", "pupils=0.1, staff=0.3"),
    "three values": lambda: document_from_form(TALLIES, "all=3", "2", "0.7", values="yes, no, blank"),
}
DOCUMENTS = {key: entry.make for key, entry in GALLERY.items()} | FORMS


def no_change(session):
    pass


def change_edge(session):
    session.set_parameter(0, "epsilon", 0.1234567)


def remove_constraint(session):
    session.set_parameter(len(session.edge_list.source) // 2, "epsilon", np.inf)


def change_value(session):
    session.set_pin(int(session.document.problem.boundary_mask.nonzero()[0][0]), 0.51)


def keep_values(session):
    session.keep_values()


def apply_repair(session):
    boundary = session.document.problem.boundary_mask.nonzero()[0].tolist()
    for at in boundary:
        session.set_pin(at, 0.95 if session.document.problem.answers[at] == 1 else 0.05)
    session.apply_repair()


CHANGES = [no_change, change_edge, remove_constraint, change_value, keep_values, apply_repair]


def export_both(session, folder: Path) -> tuple[Path, Path]:
    problem, mechanism = folder / export.PROBLEM, folder / export.MECHANISM
    problem.write_text(export.problem_text(session), encoding="utf-8")
    mechanism.write_text(export.mechanism_text(session), encoding="utf-8")
    return problem, mechanism


def check_export(session, folder: Path) -> None:
    problem, mechanism = export_both(session, folder)
    read, partial = hetdp.read_problem(problem)
    assert read.identity == session.document.problem.identity
    assert list(read.labels.names) == list(session.document.problem.labels.names)
    for problem_to_load in (read, session.document.problem):
        loaded = hetdp.read_mechanism(mechanism, problem_to_load)
        proof = hetdp.verify(problem_to_load, loaded)
        assert proof.private
        assert proof.optimal == session.answer.mechanism.certificate.optimal
        assert np.array_equal(loaded.coordinates, session.answer.mechanism.coordinates)
    assert np.flatnonzero(~np.isnan(pins_of(partial, read))).tolist() == sorted(session.document.pins)


CASES = [
    pytest.param(key, change, marks=long if at and (at + more) % 2 else ())  # others are much the same
    for more, key in enumerate(DOCUMENTS)
    for at, change in enumerate(CHANGES if key != "survey" else [no_change, change_edge])
]


@pytest.mark.parametrize(("key", "change"), CASES)
def test_every_exported_problem_accepts_the_mechanism_exported_with_it(key, change, tmp_path):
    session = Session(DOCUMENTS[key]())
    change(session)
    exported = 0
    for objective in (
        [session.document.objective, *session.objectives] if key != "survey" else [session.document.objective]
    ):
        session.set_objective(objective)
        if session.answer.mechanism is not None:
            exported += 1
            check_export(session, tmp_path)
    assert exported or session.document.pins  # only given values can leave no mechanism
    saved = [session.document.problem] if session.answer.mechanism is not None else []
    for problem, (name, tables) in itertools.product(saved, (("csv", "csv"), ("parquet", "parquet"))):
        hetdp.save(problem, tmp_path / name, tables=tables)  # as the page opens them again
        again = Session(opening.document_from_path(str(tmp_path / name)))
        assert again.document.problem.identity == problem.identity


@pytest.mark.parametrize("key", [key for key in DOCUMENTS if DOCUMENTS[key]().origin.python and key != "survey"])
def test_the_exported_code_makes_the_same_problem_and_the_command_line_accepts_the_files(
    key, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    session = Session(DOCUMENTS[key]())
    _, mechanism = export_both(session, tmp_path)
    lines = export.code_lines(session.document, session.answer)
    known: dict = {}
    exec(lines.python, known)
    assert known["problem"].identity == session.document.problem.identity
    export_both(session, tmp_path)
    line = shlex.split(lines.shell.splitlines()[0])
    assert main([*line[1:-1], "made.json"]) == 0
    names = [str(mechanism), "made.json", export.PROBLEM]
    for problem in names[1:]:
        assert main(["verify", problem, names[0]]) == 0
        assert main(["accuracy", problem, names[0], "--no-baselines"]) == 0
        assert main(["explain", problem, "--mechanism", names[0], *_first_name(session)]) == 0
    capsys.readouterr()


def _first_name(session):
    problem = session.document.problem
    return [spell_label(problem.labels.names[0], problem.labels)]


def test_the_search_box_finds_datasets_by_their_spelling():
    for make in DOCUMENTS.values():
        session = Session(make())
        labels = session.document.problem.labels
        for at in range(min(50, len(labels.names))):
            assert session.find_dataset(spell_label(labels.names[at], labels)) == at


def test_the_exported_code_names_what_was_chosen():
    found = session_of(path_of(4))
    made = replace(found.document, origin=session.Origin(("problem = make()",), "hetdp make x"))
    lines = export.code_lines(made, found.answer)
    assert lines.python.splitlines()[2:4] == ["problem = make()", 'mechanism = hetdp.design(problem, "fair")']
    assert lines.shell.splitlines()[0] == "hetdp make x"
    given = replace(made, pins={1: ("p", 0.6)})
    lines = export.code_lines(given, found.answer)
    assert lines.python.splitlines()[2].startswith('problem, partial = hetdp.read_problem("problem.json")')
    assert lines.python.splitlines()[3] == 'mechanism = hetdp.design(problem, "fair", partial)'
    assert "hetdp design problem.json --objective fair -o mechanism.json" in lines.shell
    only = export.code_lines(replace(given, objective=GIVEN), found.answer)
    assert "mechanism = hetdp.extend(problem, partial)" in only.python
    assert "hetdp extend problem.json -o mechanism.json" in only.shell
    assert "hetdp.extend(problem, {})" in export.code_lines(replace(made, objective=GIVEN), found.answer).python
    assert "use Python" in export.code_lines(replace(made, objective="weighted-vote"), found.answer).shell
