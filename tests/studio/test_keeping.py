"""What is kept: exports that fit each other, states that open as they were, links, and the verdict to print."""

from __future__ import annotations

import base64
import json
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.mechanism.formatting import format_percentage
from hetdp.releases.proof import digest_of
from hetdp.studio import export, uploads
from hetdp.studio.answers import GIVEN
from hetdp.studio.gallery import GALLERY
from hetdp.studio.panels import change_list
from hetdp.studio.session import MOST_CHANGES, Session
from hetdp.studio.state import LONGEST_CHANGE, STATE, state_text
from hetdp.studio.verdict import verdict_page
from hetdp.studio.what_if import ALL, CLASS, RULE, Scope
from tests.studio.sessions import path_of, session_of
from tests.studio.test_export import apply_repair, change_edge, change_value, keep_values, no_change


def digest(problem, mechanism) -> str:
    return digest_of(problem, mechanism.blocks())


def change_class(session):
    session.set_scope(Scope("class", 1), 0.25)
    session.set_scope(Scope("all"), 1.5)


def change_scopes(session) -> None:
    """Changes ε of a class, by a rule, and of all edges, and gives a value."""
    for scope, value in ((Scope(CLASS, 0), 0.3), (Scope(RULE, 1.0), 0.75), (Scope(ALL, 0), 2.0)):
        session.set_scope(scope, value)
    session.set_pin(int(session.document.problem.boundary_mask.nonzero()[0][0]), 0.55)
    session.clear_pins()


COMBINED = [
    ("three-voters", change_scopes),
    ("council", change_scopes),
    ("contradiction", apply_repair),
    ("contradiction", no_change),
    ("three-voters", no_change),
    ("three-voters", change_edge),
    ("three-voters", change_class),
    ("school", keep_values),
    ("council", change_value),
]


def session_with(key, change) -> Session:
    session = Session(GALLERY[key].make())
    change(session)
    if session.answer.mechanism is None:
        session.apply_repair()
    return session


@pytest.mark.parametrize(("key", "change"), COMBINED)
def test_all_exports_together_give_the_same_mechanism_and_digest(key, change, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    session = session_with(key, change)
    problem, mechanism = session.document.problem, session.answer.mechanism
    expected = digest(problem, mechanism)
    for name, text in (
        (export.PROBLEM, export.problem_text(session)),
        (export.SCRIPT, export.code_lines(session.document, session.answer).python),
        (STATE, state_text(session, export.problem_text(session))),
    ):
        Path(name).write_text(text, encoding="utf-8")
    script = Path(export.SCRIPT).read_text()
    assert problem.identity in script
    assert expected in script
    many = len(session.document.repaired)
    assert f"A repair has moved {many} of the {len(session.document.pins)} given value" in script or not many
    for name in (export.PROBLEM, STATE):  # a state is a problem like any other
        read, partial = hetdp.read_problem(name)
        if session.document.pins:
            Path(export.PINS).write_text(export.pins_text(session), encoding="utf-8")
            partial = hetdp.read_pins(export.PINS, read)
        given = session.document.objective == GIVEN
        made = hetdp.extend(read, partial) if given else hetdp.design(read, session.document.objective, partial)
        assert digest(read, made) == expected
    known: dict = {}
    exec(script, known)
    assert digest(known["problem"], known["mechanism"]) == expected
    lines = export.code_lines(session.document, session.answer).shell.splitlines()
    assert [main(shlex.split(line)[1:]) for line in lines if not line.startswith("#")][-2:] == [0, 0]
    read, _ = hetdp.read_problem(export.PROBLEM)
    assert digest(read, hetdp.read_mechanism(export.MECHANISM, read)) == expected
    capsys.readouterr()


@pytest.mark.parametrize(("key", "change"), COMBINED)
def test_a_saved_state_opens_as_it_was(key, change, tmp_path):
    session = session_with(key, change)
    session.set_objective("balanced")
    session.select("edge", 2)
    path = tmp_path / "mine.json"
    path.write_text(state_text(session, export.problem_text(session)), encoding="utf-8")
    again = Session(uploads.document_from_path(str(path)))
    dropped = "data:;base64," + base64.b64encode(path.read_bytes()).decode()
    for found in (again.document, uploads.document_from_files(["mine.json"], [dropped])):
        assert (found.name, found.objective) == (session.document.name, "balanced")
        assert (found.changes, found.repaired) == (session.document.changes, session.document.repaired)
        assert found.pins == session.document.pins
        assert found.origin == session.document.origin
    assert again.selection == session.selection
    assert again.objectives == session.objectives, "people are still people"
    before, after = session.answer.mechanism, again.answer.mechanism
    assert (before is None) == (after is None)
    assert before is None or digest(session.document.problem, before) == digest(again.document.problem, after)


BROKEN_STATES = [
    {"name": 3, "objective": "fair"},
    {"name": "a"},
    [],
    {"name": "a", "objective": "fair", "changes": [["only one"]], "selected": ["dataset", "x"]},
    {"name": "a", "objective": "fair", "repaired": [[99, "p", 0.5]]},
    {"name": "a", "objective": "fair", "form": ["votes"]},
    {"name": "a", "objective": None},
    {"name": "a", "objective": "fair", "changes": ["abc"]},
    *({"name": "a", "objective": "fair", "repaired": [[1, *pin]]} for pin in (("p", 7), ("p", -1e-300), ("error", 3))),
    {"name": "a", "objective": "fair", "repaired": [[True, "p", 0.5]]},
]


def test_a_state_that_the_studio_has_not_saved_is_refused_by_the_studio_alone(tmp_path):
    session = Session(GALLERY["contradiction"].make())
    path = tmp_path / "state.json"
    document = json.loads(state_text(session, export.problem_text(session)))
    for broken in BROKEN_STATES:
        path.write_text(json.dumps(document | {"studio": broken}), encoding="utf-8")
        with pytest.raises(hetdp.UsageError, match=r"^state\.json: a state of the studio that cannot be read: studio"):
            uploads.document_from_path(str(path))
        assert hetdp.read_problem(path).problem.identity == session.document.problem.identity
    for broken, words in (
        ({"changes": [["a"], ["only one", 3]]}, "studio.changes[1] is ['only one', 3]; "),
        ({"changes": [["x" * (LONGEST_CHANGE + 1)]]}, "studio.changes[0] is ['xxxxx"),
        ({"changes": [["a"]] * (MOST_CHANGES + 1)}, "studio.changes has 1,001 entries; it has at most 1,000"),
        ({"repaired": [[99, "p", 0.5]]}, "studio.repaired[0] is [99, 'p', 0.5]; "),
        ({"repaired": [[0, "p", 0.5]] * 6}, "studio.repaired has 6 entries; it has at most 5"),
    ):
        bad = {"studio": {"name": "a", "objective": "fair", **broken}}
        path.write_text(json.dumps(document | bad), encoding="utf-8")
        with pytest.raises(hetdp.UsageError, match=re.escape(words)):
            uploads.document_from_path(str(path))
    odd = {"name": "a", "objective": "none", "selected": ["dataset", 10**6], "form": ["votes", "x", "", "", "", ""]}
    path.write_text(json.dumps(document | {"studio": odd}), encoding="utf-8")
    found = Session(uploads.document_from_path(str(path)))
    assert (found.document.objective, found.selection.kind) == (GIVEN, "")


def test_a_link_returns_to_its_state_and_says_when_it_is_gone(monkeypatch):
    monkeypatch.setattr("hetdp.studio.session.MOST_BOOKMARKS", 1)
    found = Session(GALLERY["three-voters"].make())
    found.set_objective("balanced")
    found.select("dataset", 3)
    first = found.bookmark()
    found.open(GALLERY["contradiction"].make())
    found.reopen(first)
    assert (found.document.name, found.document.objective, found.selection.number) == ("Three voters", "balanced", 3)
    assert [str(change) for change in found.document.changes] == ["Objective: Fair → Balanced"]
    found.undo()
    assert found.document.name == "Contradictory values"
    found.show_step(0, "three-voters", GALLERY["three-voters"].make)
    found.reopen(first)
    assert (found.step, found.document.objective, found.notice) == (None, "balanced", ""), "the story ends"
    found.undo()
    found.bookmark()
    found.reopen(first)
    assert "no longer stored" in found.notice
    assert found.document.name == "Contradictory values"


def test_changes_that_only_a_file_states_are_called_so(tmp_path, monkeypatch):
    session, path = session_with("contradiction", apply_repair), tmp_path / "mine.json"
    path.write_text(state_text(session, export.problem_text(session)), encoding="utf-8")
    again = Session(uploads.document_from_path(str(path)))
    stated = len(again.document.changes)
    assert stated == again.document.stated > 0
    assert "moved by the repair; it was 0.05, as stated in the file that was opened" in verdict_page(again)
    assert "<h2>Changes as stated in the file that was opened</h2>" in verdict_page(again)
    assert "Changes since" not in verdict_page(again)
    assert f"The first {stated} are as stated in the file that was opened." in str(change_list(again))
    assert "as stated in the file" not in verdict_page(session) + str(change_list(session))
    again.set_objective("balanced")
    assert "<h2>Changes since the file was opened</h2><ol><li>Objective: " in verdict_page(again)
    monkeypatch.setattr("hetdp.studio.session.MOST_CHANGES", stated)
    again.set_objective("fair")
    assert (len(again.document.changes), again.document.stated) == (stated, max(0, stated - 2))
    again.undo()
    assert again.document.stated == stated


NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def test_the_verdict_to_print_states_what_is_proved_with_the_digests_of_other_doors():
    session = session_with("contradiction", no_change)
    page = verdict_page(session, NOW)
    problem, mechanism = session.document.problem, session.answer.mechanism
    worst = hetdp.accuracy(problem, mechanism, baselines=False).methods[0]
    for words in (
        "Are there at least two?",
        "Private, and as accurate as possible with the repaired values",
        "5 datasets, 4 edges",
        "pure; epsilon from 0.5 to 1",
        problem.identity,
        digest(problem, mechanism),
        str(mechanism.certificate),
        f"right in {format_percentage(worst.worst_error)} of 100 runs, at one ill",
        "one ill = 0.435128, moved by the repair; it was 0.2",
        "The repair moved 2 given values",
        "on 2026-11-20 09:30 UTC",
        hetdp.__version__,
    ):
        assert words in page, words
    assert page.count("<img") == 1
    assert not re.search(r"<script|https?://(?!www.w3.org)", page)


def test_the_verdict_to_print_shows_labels_as_text_and_contradictions_too():
    hostile = hetdp.DatasetGraph.from_edges(["<script>x</script>"], ["b"], 1.0)
    session = session_of(hetdp.Problem(hostile, [1, 2]), hetdp.PartialMechanism(p={"b": 0.25}))
    session.set_pin(0, 0.9)
    page = verdict_page(session, NOW)
    assert "No private mechanism has these values" in page
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "SHA-256 of the mechanism" not in page
    assert "Changes since the problem was opened" in page
    large = session_of(path_of(300))
    assert "right in" in verdict_page(large, NOW)
