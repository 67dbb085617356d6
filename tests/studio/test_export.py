"""What the studio exports belongs together: every exported problem accepts every mechanism exported beside it."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path

import numpy as np
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.problem.partial import pins_of
from hetdp.problem.spelling import spell_label
from hetdp.studio import export
from hetdp.studio import uploads as opening
from hetdp.studio.gallery import GALLERY, TALLIES, VOTES, document_from_form
from hetdp.studio.session import Session

FORMS = {
    "votes": lambda: document_from_form(VOTES, "Ann, Bob, Cyd", "", "0.3", "Ann=0.1"),
    "odd values": lambda: document_from_form(VOTES, "2", "1", "0.7", values="a b, [1]"),
    "tallies": lambda: document_from_form(TALLIES, "pupils=4, staff=2", "3", "pupils=0.1, staff=0.3"),
    "three values": lambda: document_from_form(TALLIES, "all=3", "2", "0.7", values="yes, no, blank"),
}
DOCUMENTS = {key: entry.make for key, entry in GALLERY.items()} | FORMS


def nothing(session):
    pass


def edge(session):
    session.set_parameter(0, "epsilon", 0.1234567)


def no_promise(session):
    session.set_parameter(len(session.edge_list.source) // 2, "epsilon", np.inf)


def value(session):
    session.set_pin(int(session.document.problem.boundary_mask.nonzero()[0][0]), 0.51)


def keep(session):
    session.keep_values()


def repair(session):
    boundary = session.document.problem.boundary_mask.nonzero()[0].tolist()
    for at in boundary:
        session.set_pin(at, 0.95 if session.document.problem.answers[at] == 1 else 0.05)
    session.apply_repair()


CHANGES = [nothing, edge, no_promise, value, keep, repair]


def exported(session, folder: Path) -> tuple[Path, Path]:
    problem, mechanism = folder / export.PROBLEM, folder / export.MECHANISM
    problem.write_text(export.problem_text(session), encoding="utf-8")
    mechanism.write_text(export.mechanism_text(session), encoding="utf-8")
    return problem, mechanism


def accepted(session, folder: Path) -> None:
    problem, mechanism = exported(session, folder)
    read, partial = hetdp.read_problem(problem)
    assert read.identity == session.document.problem.identity
    assert list(read.labels.names) == list(session.document.problem.labels.names)
    for asked in (read, session.document.problem):
        loaded = hetdp.read_mechanism(mechanism, asked)
        proof = hetdp.verify(asked, loaded)
        assert proof.private
        assert proof.optimal == session.answer.mechanism.certificate.optimal
        assert np.array_equal(loaded.coordinates, session.answer.mechanism.coordinates)
    assert np.flatnonzero(~np.isnan(pins_of(partial, read))).tolist() == sorted(session.document.pins)


TRIED = [(key, change) for key in DOCUMENTS for change in (CHANGES if key != "survey" else [nothing, edge])]


@pytest.mark.parametrize(("key", "change"), TRIED)
def test_every_exported_problem_accepts_the_mechanism_exported_beside_it(key, change, tmp_path):
    session = Session(DOCUMENTS[key]())
    change(session)
    for objective in (
        [session.document.objective, *session.objectives] if key != "survey" else [session.document.objective]
    ):
        session.set_objective(objective)
        if session.answer.mechanism is not None:
            accepted(session, tmp_path)
    saved = [session.document.problem] if session.answer.mechanism is not None else []
    for problem, (name, tables) in itertools.product(saved, (("csv", "csv"), ("parquet", "parquet"))):
        hetdp.save(problem, tmp_path / name, tables=tables)  # as the page opens them again
        again = Session(opening.document_from_path(str(tmp_path / name)))
        assert again.document.problem.identity == problem.identity


@pytest.mark.parametrize("key", [key for key in DOCUMENTS if DOCUMENTS[key]().origin.python and key != "survey"])
def test_the_lines_make_the_same_problem_and_the_shell_accepts_what_is_exported(key, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    session = Session(DOCUMENTS[key]())
    _, mechanism = exported(session, tmp_path)
    lines = export.code_lines(session.document, session.answer)
    known: dict = {}
    exec(lines.python, known)
    assert known["problem"].identity == session.document.problem.identity
    exported(session, tmp_path)
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


def test_what_is_found_in_the_box_is_what_is_spelled():
    for make in DOCUMENTS.values():
        session = Session(make())
        labels = session.document.problem.labels
        for at in range(min(50, len(labels.names))):
            assert session.find_dataset(spell_label(labels.names[at], labels)) == at
