"""Incremental updates lead to the same picture as a complete one."""

from __future__ import annotations

import numpy as np
import pytest

import hetdp
from hetdp.studio import drawing
from hetdp.studio.gallery import GALLERY
from hetdp.studio.picture import Picture
from hetdp.studio.session import Session, new_document


def ladder(length: int) -> hetdp.Problem:
    names = [f"{row}:{at}" for row in "ab" for at in range(length)]
    source = [*range(length - 1), *range(length, 2 * length - 1), *range(length)]
    target = [*range(1, length), *range(length + 1, 2 * length), *range(length, 2 * length)]
    epsilon = 0.1 + 0.1 * (np.arange(len(source)) % 7)
    graph = hetdp.DatasetGraph.from_edges(
        [names[at] for at in source], [names[at] for at in target], epsilon, datasets=names
    )
    return hetdp.Problem(graph, [1 if at % length >= length // 2 else 2 for at in range(2 * length)])


ACTIONS = (
    lambda session: session.select("edge", 3),
    lambda session: session.set_parameter(3, "epsilon", 0.05),
    lambda session: session.set_parameter(3, "epsilon", 9.0),
    lambda session: session.select("dataset", 2),
    lambda session: session.set_pin(2, 0.99),
    lambda session: session.apply_repair(),
    lambda session: session.select("dataset", 5),
    lambda session: session.set_parameter(0, "epsilon", float("inf")),
    lambda session: session.set_objective("balanced"),
    lambda session: session.keep_values(),
    lambda session: session.set_pin(session.answer.mechanism.pinned.argmax(), 1.0),
    lambda session: session.undo(),
    lambda session: session.clear_pins(),
    lambda session: session.undo(),
    lambda session: session.redo(),
)


@pytest.mark.parametrize("late", [1, 3])
@pytest.mark.parametrize("most", [1_200, 30])
def test_incremental_changes_lead_to_the_complete_picture(monkeypatch, late, most):
    monkeypatch.setattr(drawing, "MOST_DATASETS", most)
    session, picture = Session(new_document("ladder", ladder(40))), Picture()
    page = list(picture.update(session))
    frame, version, sent, refused = picture.frame_number, picture.version, 0, 0
    for turn, act in enumerate(ACTIONS):
        act(session)
        picture.update(session)
        refused += session.answer.mechanism is None
        if turn % late:  # an answer that the page never took
            continue
        if frame == picture.frame_number:
            changed = picture.changes_since(version)
            sent += len(changed)
            for at in changed:
                page[at] = picture.elements[at]
        else:
            page = list(picture.elements)
        frame, version = picture.frame_number, picture.version
        anew = Picture()
        anew._frame, anew._centre = picture._frame, picture._centre  # no edit moves a dataset
        assert page == anew.update(session)
    assert refused > 0
    assert most == 30 or 0 < sent < len(page) * len(ACTIONS) / late


def test_a_path_is_highlighted_step_by_step_and_cleared_again():
    session, picture = Session(GALLERY["three-voters"].make()), Picture()
    session.select("dataset", 0)
    whole = list(picture.update(session))
    first = list(picture.update(session, 0))
    assert sum("highlighted" in one["classes"].split() for one in first) == 1
    assert picture.update(session) == whole
    session.select()
    assert not any("highlighted" in one["classes"].split() for one in picture.update(session))


def test_nothing_is_sent_if_nothing_changes():
    session, picture = Session(GALLERY["council"].make()), Picture()
    picture.update(session)
    version = picture.version
    picture.update(session)
    assert picture.changes_since(version) == []
    assert picture.frame_number == 1


def test_a_long_name_is_broken_where_its_lines_are_most_alike():
    assert drawing.wrap_label("abcd ef gh ijklmn") == "abcd ef\ngh ijklmn"
