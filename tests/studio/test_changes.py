"""The list of changes in words, and undo in the steps that a person made."""

from __future__ import annotations

import hetdp
from hetdp.studio.callbacks import take_action
from hetdp.studio.gallery import GALLERY
from hetdp.studio.panels import change_list
from hetdp.studio.session import Session
from tests.studio.sessions import path_of, session_of


def words_of(session: Session) -> list[str]:
    return [str(change) for change in session.document.changes]


def enter(session: Session, kind: str, at: int, control: str, name: str, value: str) -> None:
    take_action(session, "enter", {"kind": kind, "at": at, "control": control, "name": name, "value": value})


def test_each_number_that_is_typed_is_a_step_and_the_moves_of_one_slider_are_one():
    session = Session(GALLERY["contradiction"].make())
    for value in ("0.3", "0.4", "0.35"):
        enter(session, "dataset", 1, "number", "p", value)
    for value in ("0.4", "0.45", "0.5"):
        enter(session, "edge", 2, "slider", "epsilon", value)
    assert len(session.past) == 4
    typed = ["p of one ill: 0.2 → 0.3", "p of one ill: 0.3 → 0.4", "p of one ill: 0.4 → 0.35"]
    assert words_of(session) == [*typed, "ε between two ill and three ill: 1 → 0.5"]
    session.undo()
    assert words_of(session) == typed
    session.undo()
    assert session.document.pins[1] == ("p", 0.4)
    session.redo()
    session.redo()
    assert words_of(session)[-1] == "ε between two ill and three ill: 1 → 0.5"
    enter(session, "edge", 2, "slider", "epsilon", "0.7")  # another drag, since an undo lies between
    enter(session, "edge", 2, "slider", "epsilon", "0.5")
    assert words_of(session)[-1] == "ε between two ill and three ill: 1 → 0.5", "a slider that was moved back"


def test_every_kind_of_change_is_listed_in_words_with_its_values():
    session = Session(GALLERY["contradiction"].make())
    session.apply_repair()
    session.clear_pin(1)
    session.set_objective("balanced")
    session.keep_values()
    session.clear_pins()
    assert words_of(session) == [
        "The repair moved 2 given values: p of one ill 0.2 → 0.435128, p of two ill 0.8 → 0.564872",
        "p of one ill: 0.435128 → not given",
        "Objective: Given only → Balanced",
        "2 values of Balanced became given ones",
        "Objective: Balanced → Given only",
        "All 2 given values were removed",
        "Objective: Given only → Fair",
    ]
    assert all(words in str(change_list(session)) for words in words_of(session))
    session.open(GALLERY["three-voters"].make())
    assert words_of(session) == []
    assert "Nothing was changed" in str(change_list(session))
    session.set_objective("weighted-vote")
    session.set_parameter(0, "epsilon", 0.5)
    assert words_of(session)[1:] == ["ε between yes,yes,yes and yes,yes,no, Cyd: 1 → 0.5", "Objective: Vote → Fair"]


def test_a_list_of_changes_is_complete_after_more_steps_than_can_be_undone(monkeypatch):
    monkeypatch.setattr("hetdp.studio.session.MOST_UNDO", 2)
    session = session_of(path_of(4), hetdp.PartialMechanism(p={1: 0.6}))
    for p in (0.7, 0.71, 0.72, 0.73):
        session.set_pin(1, p)
    assert [len(session.past), len(session.document.changes)] == [2, 4]
