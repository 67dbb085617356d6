"""One ε for all edges of a class or rule, and mechanisms side by side: as in the library, and as the export says."""

from __future__ import annotations

import numpy as np
import pytest

import hetdp
from hetdp.mechanism.formatting import format_compact, format_percentage
from hetdp.plots.network import THICK, THIN, edge_widths, width_scale
from hetdp.studio import panels, views
from hetdp.studio.callbacks import take_action
from hetdp.studio.export import code_lines
from hetdp.studio.gallery import GALLERY, document_from_form
from hetdp.studio.picture import Picture
from hetdp.studio.screen import legend_of
from hetdp.studio.session import OPENED, Session
from hetdp.studio.what_if import ALL, CLASS, MOST_CLASSES, RULE, Scope
from tests.studio.sessions import path_of, session_of
from tests.studio.test_panels import texts


def voters() -> Session:
    return Session(GALLERY["three-voters"].make())


def drag(session: Session, kind: str, at: float, *values: float) -> None:
    for value in values:
        details = {"kind": kind, "at": at, "control": "slider", "value": str(value)}
        take_action(session, "scope", details)
        assert not session.notice


def words_of(session: Session) -> list[tuple[str, str, str]]:
    return [(row["words"], row["edges"], row["text"]) for row in panels.scope_rows(session)["rows"]]


@pytest.mark.parametrize(
    ("scope", "values", "change"),
    [
        ((ALL, 0), (2.5, 0.5), lambda problem: problem.scaled(0.5)),
        ((CLASS, 0), (0.1, 0.7), lambda problem: problem.with_epsilon(classes={"Ann": 0.7})),
        ((RULE, 0.2), (1.0, 0.6), lambda problem: problem.with_epsilon(lambda _u, _v, e: 0.6 if e == 0.2 else e)),
    ],
)
def test_a_drag_sets_what_the_library_sets_from_where_it_began_and_the_exported_code_does_the_same(
    scope, values, change
):
    session = voters()
    expected = change(session.document.problem)
    drag(session, *scope, *values)
    assert session.document.problem.identity == expected.identity
    assert session.answer.mechanism.probabilities.tolist() == hetdp.design(expected).probabilities.tolist()
    assert len(session.past) == len(session.document.changes) == 1
    lines = code_lines(session.document, session.answer)
    namespace: dict[str, object] = {}
    exec(lines.python.split("mechanism =")[0], namespace)
    assert namespace["problem"].identity == expected.identity
    assert lines.shell.startswith("# problem.json is exported")
    session.undo()
    assert session.document.problem.identity == voters().document.problem.identity


def test_the_code_for_a_single_edge_names_it_by_its_datasets():
    session = voters()
    session.set_parameter(0, "epsilon", 0.5, drag=True)
    session.set_parameter(0, "epsilon", float("inf"), drag=True)
    namespace: dict[str, object] = {}
    exec(code_lines(session.document, session.answer).python.split("mechanism =")[0], namespace)
    assert namespace["problem"].identity == session.document.problem.identity
    assert "inf" in str(session.document.origin.python[-1])
    assert len(session.document.origin.python) == 2


def test_rows_name_classes_and_rules_and_stay_while_one_is_dragged():
    session = voters()
    rows = [
        ("Every ε", "", "1"),
        ("Ann", "4 edges", "0.2–1"),
        ("Bob", "4 edges", "1"),
        ("Cyd", "4 edges", "1"),
        ("ε = 0.2", "2 edges", "0.2"),
        ("ε = 1", "10 edges", "1"),
    ]
    assert words_of(session) == rows
    drag(session, RULE, 0.2, 0.5, 1.0)  # now it is the same as the other rule
    assert [row[:2] for row in words_of(session)] == [row[:2] for row in rows]
    assert [row[2] for row in words_of(session)] == ["1", "1", "1", "1", "1", "1"]
    session.select("dataset", 0)
    assert [row[0] for row in words_of(session)] == ["Every ε", "Ann", "Bob", "Cyd"]
    drag(session, ALL, 0, 0.5)
    assert words_of(session)[0] == ("Every ε", "", "0.5")
    session.select("dataset", 1)
    assert words_of(session)[0] == ("Every ε", "", "1")
    count = MOST_CLASSES + 3
    many = hetdp.DatasetGraph.from_edges(
        range(count), range(1, count + 1), 1.0, classes=[f"c{n:02}" for n in range(count)]
    )
    crowd = session_of(hetdp.Problem(many, [1] + [2] * count))
    assert panels.scope_rows(crowd)["more"].startswith("3 more without a slider")
    assert f"c{count - 1}" not in str(words_of(crowd))
    crowd.select("edge", count - 1)
    assert f"c{count - 1}" in str(words_of(crowd))


def test_numbers_that_are_not_allowed_are_refused_and_change_nothing():
    session = voters()
    before = session.document
    for kind, at, value, words in (
        (ALL, 0, "inf", "every ε is multiplied by a finite number"),
        (CLASS, 0, "-1", "-1"),
        (CLASS, 9, "1", "no class 9"),
        (RULE, 0.2, "x", "not a number"),
        (RULE, None, "1", "NoneType"),
    ):
        take_action(session, "scope", {"kind": kind, "at": at, "control": "number", "value": value})
        assert words in session.notice, (kind, value, session.notice)
        assert session.document is before
    take_action(session, "scope", {"kind": ALL, "at": 0, "control": "number", "value": " "})
    assert (session.notice, session.document) == ("", before)


def test_the_table_compares_with_the_last_change_the_opened_problem_and_other_objectives():
    session = Session(document_from_form("tallies", "pupils=6, staff=3", "", "0.3", "staff=0.1"))
    problem = session.document.problem
    at = problem.graph.index((0, 3))
    assert "––" in texts(panels.comparison_table(session))
    session.select("dataset", at)
    opened = f"{session.answer.mechanism[0, 3]:.6g}"
    session.set_scope(Scope(ALL), 0.5)
    half = f"{session.answer.mechanism[0, 3]:.6g}"
    assert f"beforenowp of 0,3{opened}{half}" in texts(panels.comparison_table(session))
    session.set_scope(Scope(ALL), 4.0)
    double = f"{session.answer.mechanism[0, 3]:.6g}"
    assert f"p of 0,3{half}{double}" in texts(panels.comparison_table(session))
    session.set_comparison(OPENED)
    assert f"as openednowp of 0,3{opened}{double}" in texts(panels.comparison_table(session))
    session.set_comparison("balanced")
    other = hetdp.design(session.document.problem, "balanced")
    words = texts(panels.comparison_table(session))
    assert f"BalancedFairp of 0,3{other[0, 3]:.6g}{double}" in words
    worst = [format_percentage(float(one.errors.max())) for one in (other, session.answer.mechanism)]
    assert f"right in the worst case{worst[0]}{worst[1]}right on average" in words
    rows = panels.comparison_table(session)[0].children[1].children
    session.select("edge", 0)
    assert len(panels.comparison_table(session)[0].children[1].children) == len(rows) == 4
    assert session.reference().answer is session.reference().answer


def test_pictures_show_both_values_where_they_differ():
    session, picture = Session(document_from_form("tallies", "a=12, b=3", "", "0.3", "b=0.1")), Picture()
    picture.update(session)
    session.set_comparison("balanced")
    fair, balanced = (hetdp.design(session.document.problem, name) for name in ("fair", "balanced"))
    labels = [one["data"]["label"] for one in picture.update(session) if "source" not in one["data"]]
    both = zip(fair.probabilities.tolist(), balanced.probabilities.tolist(), strict=True)
    differ = [format_compact(one) != format_compact(other) for one, other in both]
    assert ["\n→ " in label for label in labels] == differ
    assert 0 < sum(differ) < len(differ)
    cells = views.cells_of(session)
    assert "<br>Balanced: " in views.map_figure(session, cells, "light")["data"][0]["text"][0][0]
    traces = [one for one in views.summary_figure(session, "light")["data"] if one.get("name") == views.COMPARED]
    assert len(traces) == 1
    assert "median: Balanced" in str(legend_of(session, views.SUMMARY))
    assert "Balanced → Fair" in str(legend_of(session, views.NETWORK))
    session.set_comparison(OPENED)
    session.set_comparison("before")
    assert not any("→" in one["data"].get("label", "") for one in picture.update(session))


def test_edges_keep_their_width_while_another_one_is_edited():
    session, picture = session_of(path_of(6)), Picture()

    def widths() -> list[float]:
        return [one["data"]["width"] for one in picture.update(session) if "source" in one["data"]]

    before = widths()
    session.set_parameter(0, "epsilon", 0.3)
    session.set_parameter(1, "epsilon", 1.5)
    after = widths()
    assert after[2:] == before[2:]
    assert after[0] > before[0]
    assert after[1] < before[1]
    scale = width_scale(np.array([0.2, 1.0]))
    assert edge_widths(np.array([0.01, 0.2, 1.0, 5.0]), scale).tolist() == [THICK, THICK, THIN, THIN]


def test_a_comparison_ends_with_the_problem_or_the_objective_that_it_is_about():
    session = voters()
    session.set_comparison("weighted-vote")
    assert session.reference().answer.mechanism is not None
    session.set_parameter(0, "epsilon", 0.5)  # no longer a problem of people
    assert session.comparison == "before"
    session.set_comparison("balanced")
    session.open(GALLERY["council"].make())
    assert session.comparison == "before"
    assert session.reference() is None
