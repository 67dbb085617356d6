"""Parts of the studio one by one, without a page: limits, names, places, cells, actions and files."""

from __future__ import annotations

import base64
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.plots.layout import Layout
from hetdp.studio import answers, callbacks, drawing, export, panels, picture, session, uploads, views
from hetdp.studio.answers import GIVEN, list_edges
from hetdp.studio.callbacks import take_action
from hetdp.studio.gallery import GALLERY, document_from_form
from hetdp.studio.session import PageView, PageViews, Selection, Session, new_document


def path_of(count: int, epsilon: Any = 1.0, **more: Any) -> hetdp.Problem:
    graph = hetdp.DatasetGraph.from_edges(range(count - 1), range(1, count), epsilon, **more)
    return hetdp.Problem(graph, [1] * (count // 2) + [2] * (count - count // 2))


def session_of(problem: hetdp.Problem, partial: Any = None) -> Session:
    return Session(new_document("it", problem, partial))


# Edges and objectives -------------------------------------------------------------------------------------------------


def test_an_edge_is_found_by_both_ends_and_its_class():
    graph = hetdp.DatasetGraph.from_edges([0, 0, 1], [1, 1, 2], [1.0, 0.5, 2.0], classes=["b", "a", "a"])
    listed = list_edges(hetdp.Problem(graph, [1, 1, 2]))
    assert [listed.number(*ends, "a") for ends in ((0, 1), (1, 0), (2, 1), (0, 2))] == [0, 0, 2, -1]
    assert (listed.number(0, 1, "b"), listed.number(0, 1, "c"), listed.number(0, 1)) == (1, -1, -1)
    assert listed.columns["epsilon"].tolist() == [0.5, 1.0, 2.0]
    assert listed.parallel().tolist() == [True, True, False]
    assert list_edges(hetdp.Problem(hetdp.DatasetGraph.from_edges([], [], [], datasets=[0]), [1])).parallel().size == 0


def test_objectives_that_take_long_are_not_offered(monkeypatch):
    problem = path_of(6)
    monkeypatch.setattr(answers, "MOST_DATASETS_AVERAGE", 6)
    assert answers.list_objectives(problem) == ["fair", "balanced", "average", GIVEN]
    monkeypatch.setattr(answers, "MOST_DATASETS_AVERAGE", 5)
    assert answers.list_objectives(problem) == ["fair", "balanced", GIVEN]
    assert "weighted-vote" in answers.list_objectives(hetdp.spaces.votes(3, hetdp.questions.majority(), 1.0))


def test_a_problem_opens_with_its_given_values_if_they_cover_the_boundary(monkeypatch):
    problem = path_of(6)
    assert answers.first_objective(problem, {2: ("p", 0.6), 3: ("p", 0.4)}) == GIVEN
    assert answers.first_objective(problem, {2: ("p", 0.6)}) == "fair"
    alike = hetdp.Problem(problem.graph, [1] * 6)  # without a boundary
    assert (answers.first_objective(alike, {}), answers.first_objective(alike, {0: ("p", 1.0)})) == ("fair", GIVEN)
    monkeypatch.setattr(answers, "MOST_DATASETS_FAIR", 6)
    assert answers.first_objective(problem, {}) == "fair"
    monkeypatch.setattr(answers, "MOST_DATASETS_FAIR", 5)
    assert answers.first_objective(problem, {}) == "balanced"


def test_missing_values_are_counted_with_the_right_verb():
    assert answers.solve(path_of(4), {1: ("p", 0.6)}, GIVEN).reason == (
        "1 dataset on the boundary has no given value yet."
    )
    assert answers.solve(path_of(4), {}, GIVEN).reason == "2 datasets on the boundary have no given value yet."


def test_the_compiled_search_is_used_for_graphs_from_sixty_datasets_on_once_it_is_loaded(monkeypatch):
    begun: list[int] = []
    monkeypatch.setattr(answers, "load_in_background", lambda: begun.append(1))
    monkeypatch.setattr(answers, "_ready", threading.Event())
    assert (answers.choose_engine(path_of(60)), len(begun)) == ("auto", 1)
    answers._ready.set()
    assert answers.choose_engine(path_of(60)) == "cpu"
    assert answers.choose_engine(path_of(59)) == "auto"
    assert answers.choose_engine(hetdp.spaces.votes(6, hetdp.questions.majority(), 1.0)) == "auto"
    assert len(begun) == 1


# The session ----------------------------------------------------------------------------------------------------------


def test_the_actions_of_a_thousand_pages_are_remembered(monkeypatch):
    monkeypatch.setattr(session, "MOST_PAGES", 2)
    pages = PageViews()
    assert [pages.is_new(page, 1) for page in ("a", "b", "a", "c")] == [True, True, False, True]
    assert [pages.last_action(page) for page in "abc"] == [0, 1, 1]
    assert pages.is_new("b", 2)
    assert pages.is_new("d", 5)
    assert [pages.last_action(page) for page in "abcd"] == [0, 2, 0, 5]


def test_a_page_is_outdated_by_the_changes_of_others_only():
    pages = PageViews()
    pages.record("a", 3)
    assert not pages.is_stale(PageView("b", 3, 0))
    assert pages.is_stale(PageView("b", 2, 0))
    for revision, page in enumerate("bca", 4):
        pages.record(page, revision)
    assert pages.is_stale(PageView("a", 4, 0))  # c has acted at 5
    assert not pages.is_stale(PageView("a", 5, 0))


def test_undo_goes_back_a_limited_number_of_steps(monkeypatch):
    monkeypatch.setattr(session, "MOST_UNDO", 2)
    found = session_of(path_of(4))
    for p in (0.9, 0.8, 0.7):
        found.select()  # so that each counts alone
        found.set_pin(0, p)
    for _ in range(5):
        found.undo()
    assert found.document.pins == {0: ("p", 0.9)}
    for _ in range(5):
        found.redo()
    assert found.document.pins == {0: ("p", 0.7)}


@pytest.mark.parametrize(("p", "taken"), [(0.0, True), (1.0, True), (-0.001, False), (1.001, False), (np.nan, False)])
def test_a_given_value_is_a_probability(p, taken):
    found = session_of(path_of(4))
    found.set_pin(0, p)
    assert (0 in found.document.pins) is taken
    assert bool(found.notice) is not taken


def test_edges_of_very_large_graphs_are_not_listed(monkeypatch):
    monkeypatch.setattr(session, "MOST_LISTED_EDGES", 3)
    assert session_of(path_of(4)).edge_list is not None
    large = session_of(path_of(5))
    assert large.edge_list is None
    large.set_parameter(0, "epsilon", 0.5)
    assert "no edge 0" in large.notice
    large.select("edge", 0)
    assert large.selection == Selection()
    assert picture.Picture().update(large) == []


def test_an_action_that_changes_nothing_cannot_be_undone():
    found = session_of(path_of(4), hetdp.PartialMechanism(p={1: 0.6}))
    for action in (
        lambda: found.clear_pin(3),
        lambda: found.set_objective("fair"),
        lambda: found.set_objective("weighted-vote"),
        found.apply_repair,
        lambda: found.set_parameter(0, "epsilon", 1.0),
    ):
        action()
        assert not found.past
    found.clear_pin(1)
    assert (len(found.past), dict(found.document.pins)) == (1, {})


def test_fields_show_what_was_given_and_sliders_what_holds():
    found = session_of(path_of(4), hetdp.PartialMechanism(z={1: 0.25}, p={2: 0.5}))
    found.select("dataset", 0)
    assert (found.field_text("p"), found.field_text("epsilon")) == ("", "")
    assert found.editable_values()["p"] == found.answer.mechanism.probabilities[0]
    found.select("dataset", 1)
    assert found.field_text("p") == f"{1 - 0.5 * np.exp(-0.25):.6g}"
    found.select("dataset", 2)
    assert found.field_text("p") == "0.5"
    found.select("edge", 0)
    assert (found.field_text("epsilon"), found.field_text("p")) == ("1", "")
    found.select()
    assert found.editable_values() == {}


# Actions --------------------------------------------------------------------------------------------------------------


def test_every_action_does_what_its_name_says():
    found = session_of(path_of(4))
    take_action(found, "dataset", 2)
    assert found.selection == ("dataset", 2)
    take_action(found, "edge", 1)
    assert found.selection == ("edge", 1)
    take_action(found, "edge", "1")  # not a number
    assert found.selection == Selection()
    take_action(found, "find", "3")
    assert found.selection == ("dataset", 3)
    take_action(found, "find", "x" * 100)
    assert found.notice == f"There is no dataset “{'x' * 80}”."
    take_action(found, "objective", "balanced")
    assert found.document.objective == "balanced"
    take_action(found, "keep", None)
    assert set(found.document.pins) == {1, 2}
    take_action(found, "clear_pin", 1)
    assert set(found.document.pins) == {2}
    take_action(found, "forget", None)
    assert not found.document.pins
    take_action(found, "undo", None)
    assert set(found.document.pins) == {2}
    take_action(found, "redo", None)
    assert not found.document.pins
    before = found.document
    take_action(found, "cell", [0, 0])  # there is no map
    take_action(found, "nothing", None)
    assert found.document is before


def test_cells_of_a_map_are_selected_by_their_counts_and_by_steps():
    found = Session(document_from_form("tallies", "a=3, b=9", "", "1"))
    take_action(found, "next_cell", [1, 0])
    assert found.selection == ("dataset", drawing.first_dataset(found))
    take_action(found, "cell", [0.4, "2.6"])
    cells = views.cells_of(found)
    assert cells.place(found.selection.number) == (0, 3)
    take_action(found, "next_cell", [1, -1])
    assert cells.place(found.selection.number) == (1, 2)
    take_action(found, "next_cell", [-1, "2"])  # a text is no number: one down, to the edge of the map
    assert cells.place(found.selection.number) == (0, 1)


@pytest.mark.parametrize(
    ("entered", "pins"),
    [
        ({"value": "0,25"}, {0: ("p", 0.25)}),
        ({"value": "  "}, {}),
        ({"value": "many"}, {}),
        ({"at": 1, "value": "0.5"}, {1: ("p", 0.5)}),
        ({"name": "epsilon", "value": "0.5"}, {}),
    ],
)
def test_a_number_is_entered_for_the_dataset_that_is_shown(entered, pins):
    found = session_of(path_of(4))
    found.select("dataset", 0)
    take_action(found, "enter", {"kind": "dataset", "at": 0, "control": "number", "name": "p"} | entered)
    assert found.document.pins == pins
    assert bool(found.notice) is (entered["value"] == "many")


def test_only_the_slider_of_the_selection_counts_as_the_last_control():
    found = session_of(path_of(4))
    found.select("edge", 0)
    for at, control, last in ((0, "slider", "slider-epsilon"), (1, "slider", ""), (0, "number", "")):
        value = 0.5 + found.revision / 100
        entered = {"kind": "edge", "at": at, "control": control, "name": "epsilon", "value": value}
        take_action(found, "enter", entered)
        assert (found.edge_list.columns["epsilon"][at], found.last_control) == (value, last)


def test_tabs_say_that_there_is_no_mechanism():
    found = Session(GALLERY["contradiction"].make())
    assert "There is no mechanism." in str(callbacks._fill_tab(found, "accuracy"))
    assert "there is no mechanism" in callbacks._fill_tab(found, "export")["python"]
    found.apply_repair()
    assert set(callbacks._fill_tab(found, "odds")) == {"odds"}
    assert "extension of given values" in str(callbacks._fill_tab(found, "accuracy"))


def test_a_refused_problem_leaves_the_open_one_and_its_reason_is_short():
    found = session_of(path_of(4))
    before = found.document

    def refuse() -> Any:
        raise hetdp.UsageError("x" * 3000, "no")

    assert len(callbacks._open(found, refuse)[2]) == 2000
    assert found.document is before
    assert callbacks._open(found, lambda: before) == (found.revision, found.revision, "", "")


# Names, colours and places --------------------------------------------------------------------------------------------


def test_long_names_are_cut_in_the_middle_and_wrapped():
    assert drawing.shorten_label("a" * 18) == "a" * 18
    assert drawing.shorten_label("abcdefghijklmnopqrs") == "abcdefghi…lmnopqrs"
    assert drawing.wrap_label("a" * 13) == "a" * 13
    assert drawing.wrap_label("a" * 14) == "a" * 7 + "\n" + "a" * 7
    assert drawing.wrap_label("one,two-three/four") == "one,two-\nthree/four"
    assert drawing.wrap_label("a bcdefghijklmnopq") == "a bcdefgh\nijklmnopq"  # a blank too near to the beginning


def test_texts_are_legible_on_their_colours():
    assert drawing.text_colours(["#000000", "#ffffff", "#ff0000", "#00ff00", "#0000ff"]) == [
        "#ffffff",
        "#1a1a1a",
        "#1a1a1a",
        "#1a1a1a",
        "#ffffff",
    ]
    assert drawing.find_majority(np.array([])) is None
    assert drawing.find_majority(np.array([1.0, 2.0, 2.0, 1.0])) is None


def test_a_graph_is_drawn_up_to_a_number_of_datasets_and_edges(monkeypatch):
    found = session_of(path_of(5))
    monkeypatch.setattr(drawing, "MOST_DATASETS", 5)
    monkeypatch.setattr(drawing, "MOST_EDGES", 4)
    assert drawing.is_drawable(found)
    monkeypatch.setattr(drawing, "MOST_EDGES", 3)
    assert not drawing.is_drawable(found)
    monkeypatch.setattr(drawing, "MOST_EDGES", 4)
    monkeypatch.setattr(drawing, "MOST_DATASETS", 4)
    assert not drawing.is_drawable(found)
    assert views.views_of(found)[-1] == views.AROUND


def test_a_neighbourhood_grows_step_by_step_up_to_its_limit(monkeypatch):
    monkeypatch.setattr(drawing, "NEIGHBOURHOOD_SIZE", 5)
    assert drawing.find_neighbourhood(session_of(path_of(20)), 10).tolist() == [8, 9, 10, 11, 12]
    assert drawing.find_neighbourhood(session_of(path_of(20)), 0).tolist() == [0, 1, 2, 3, 4]
    assert drawing.find_neighbourhood(session_of(path_of(3)), 0).tolist() == [0, 1, 2]
    star = hetdp.DatasetGraph.from_edges([0] * 9, range(1, 10), 1.0)
    assert drawing.find_neighbourhood(session_of(hetdp.Problem(star, [1] * 10)), 0).tolist() == [0, 1, 2, 3, 4]


def test_a_neighbourhood_stays_while_an_edge_inside_it_is_selected(monkeypatch):
    monkeypatch.setattr(drawing, "MOST_DATASETS", 5)
    monkeypatch.setattr(drawing, "NEIGHBOURHOOD_SIZE", 5)
    found, drawn = session_of(path_of(20)), picture.Picture()

    def datasets() -> list[int]:
        return [one["data"]["at"] for one in drawn.update(found) if one["data"]["id"].startswith("n")]

    assert datasets() == [8, 9, 10, 11, 12]
    found.select("edge", 8)  # between 8 and 9
    assert datasets() == [8, 9, 10, 11, 12]
    assert drawn.frame_number == 1
    found.select("edge", 7)  # between 7 and 8
    assert datasets() == [5, 6, 7, 8, 9]
    found.select("dataset", 0)
    assert datasets() == [0, 1, 2, 3, 4]
    found.select()
    assert datasets() == [0, 1, 2, 3, 4]
    assert drawn.frame_number == 3
    found.open(new_document("another", path_of(20)))
    assert datasets() == [8, 9, 10, 11, 12]


def test_the_first_dataset_is_on_the_boundary_if_there_is_one():
    assert drawing.first_dataset(session_of(path_of(10))) == 5
    assert drawing.first_dataset(session_of(hetdp.Problem(path_of(4).graph, [1] * 4))) == 0


def test_edges_bend_around_datasets_between_their_ends():
    chosen = np.array([1, 3, 5, 7])
    places = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0, 2.0, 0.0])
    source, target = np.array([1, 1, 3, 1]), np.array([3, 5, 5, 7])
    assert drawing.find_bent_edges(chosen, places, source, target).tolist() == [False, True, False, False]


def test_a_picture_is_about_as_wide_as_a_screen():
    levels = np.zeros(20, dtype=np.int64)
    few = Layout(np.array([0.0, 1.0]), np.array([0.0, 0.0]), levels[:2], 0, 1, 1)
    assert [axis.tolist() for axis in drawing.scale_to_points(few)] == [[0.0, 340.0], [0.0, 0.0]]
    many = Layout(np.arange(20.0), np.linspace(0, 1, 20), levels, 0, 2, 30)
    across, down = drawing.scale_to_points(many)
    assert down[-1] == -66.0 * 30
    assert across[1] == pytest.approx(1.4 * 66.0 * 30 / 20)


# Maps and charts ------------------------------------------------------------------------------------------------------


def test_the_line_between_answers_follows_the_sides_of_cells():
    found = Session(document_from_form("tallies", "a=1, b=1", "2", "1"))
    cells = views.cells_of(found)
    answers_there = found.document.problem.answers[cells.datasets]
    across, up = views._borders(cells, answers_there)
    assert (answers_there == 1).sum() == 1
    pairs = {frozenset(zip(across[at : at + 2], up[at : at + 2], strict=True)) for at in range(0, len(across), 3)}
    assert pairs == {frozenset([(0.5, 0.5), (0.5, 1.5)]), frozenset([(0.5, 0.5), (1.5, 0.5)])}
    assert across[2::3] == [None, None]


def test_large_maps_leave_out_rows_and_columns(monkeypatch):
    monkeypatch.setattr(views, "MOST_CELLS", 3)
    assert views._thin_out(3).tolist() == [0, 1, 2]
    assert views._thin_out(9).tolist() == [0, 4, 8]
    assert views._thin_out(1).tolist() == [0]
    monkeypatch.setattr(views, "MOST_BORDERS", 5)
    found = Session(document_from_form("tallies", "a=1, b=1", "2", "1"))
    cells = views.cells_of(found)
    assert views._borders(cells, found.document.problem.answers[cells.datasets]) == ([], [])


def test_a_map_is_offered_beside_a_network_of_more_than_twelve_datasets():
    def list_views(groups: str) -> list[str]:
        return views.views_of(Session(document_from_form("tallies", groups, "", "1")))

    assert list_views("a=2, b=3") == [views.NETWORK, views.SUMMARY]
    assert list_views("a=12") == [views.NETWORK, views.MAP, views.SUMMARY]


def test_a_selected_cell_has_a_ring_and_few_counts_have_whole_ticks():
    found = Session(document_from_form("tallies", "a=12, b=2", "", "1"))
    cells = views.cells_of(found)
    figure = views.map_figure(found, cells, "light")
    assert len(figure["data"]) == 2
    assert [figure["layout"][axis].get("dtick") for axis in ("xaxis", "yaxis")] == [None, 1]
    assert figure["layout"]["xaxis"]["range"] == [-0.5, 12.5]
    found.select("dataset", cells.dataset(3, 1))
    ring = views.map_figure(found, cells, "light")["data"][-1]
    assert (ring["x"], ring["y"]) == ([3, 3], [1, 1])
    found.select("edge", 0)
    assert len(views.map_figure(found, cells, "light")["data"]) == 2


# Files and code -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "title"), [(["a/b/c.json"], "c.json"), ([r"C:\x\y.JSON"], "y.JSON"), (["x" * 100 + ".json"], "x" * 80)]
)
def test_a_dropped_file_gives_its_name(names, title):
    text = b'{"schema_version": 1, "datasets": [{"dataset": "a", "query": 1}], "edges": []}'
    content = "data:;base64," + base64.b64encode(text).decode()
    assert uploads.document_from_files(names, [content]).name == title


def test_a_refusal_does_not_show_where_the_file_was(tmp_path):
    for text in (b"[", b'{"schema_version": 1, "datasets": [{"a": 1}], "edges": [{"b": 1}]}'):
        content = "data:;base64," + base64.b64encode(text).decode()
        with pytest.raises(hetdp.UsageError) as refusal:
            uploads.document_from_files(["mine.json"], [content])
        assert "mine.json" in str(refusal.value)
        assert "hetdp-studio-" not in str(refusal.value)


@pytest.mark.parametrize("content", ["no comma", "data:,a", "data:,AAAA=AAA", "data:,é"])
def test_what_is_not_base64_is_refused(content):
    with pytest.raises(hetdp.UsageError, match="a file that cannot be read"):
        uploads.document_from_files(["a.json"], [content])


def test_dropped_files_may_be_exactly_as_large_as_allowed(monkeypatch):
    monkeypatch.setattr(uploads, "MOST_BYTES", 12)
    for size, words in ((12, "not JSON"), (13, "too large"), (30, "cannot be read")):
        content = "data:;base64," + base64.b64encode(b"x" * size).decode()
        with pytest.raises(hetdp.UsageError, match=words):
            uploads.document_from_files(["a.json"], [content])
    uploads._require(5, 5, "cells")
    with pytest.raises(hetdp.UsageError, match="a file that holds 6 cells"):
        uploads._require(6, 5, "cells")


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


# Texts beside the picture ---------------------------------------------------------------------------------------------


def texts(parts: Any) -> str:
    """All texts of components, in order."""
    if isinstance(parts, str):
        return parts
    if isinstance(parts, list | tuple):
        return "".join(map(texts, parts))
    return "" if parts is None else texts(getattr(parts, "children", ""))


def test_a_selection_is_described_in_one_sentence():
    found = session_of(path_of(4))
    assert panels.describe_selection(found) == ""
    found.select("dataset", 0)
    assert panels.describe_selection(found).startswith("Dataset 0, true answer: answer 1, p = ")
    assert panels.describe_selection(found).endswith(". 1 edge.")
    found.select("edge", 1)
    assert panels.describe_selection(found) == "Edge between 1 and 2: ε = 1."
    twice = hetdp.DatasetGraph.from_edges([0, 0], [1, 1], [1.0, 0.5], classes=["a", None])
    parallel = session_of(hetdp.Problem(twice, [1, 2]))
    words = set()
    for at in (0, 1):
        parallel.select("edge", at)
        words.add(panels.describe_selection(parallel))
    assert words == {"Edge between 0 and 1, class a: ε = 1.", "Edge between 0 and 1, without a class: ε = 0.5."}
    empty = session_of(path_of(4))
    empty.set_objective(GIVEN)
    empty.select("dataset", 3)
    assert panels.describe_selection(empty) == "Dataset 3, true answer: answer 2. 1 edge."


def test_a_changed_problem_of_people_is_remarked_once():
    found = Session(GALLERY["three-voters"].make())
    assert panels.remark(found) == ""
    found.set_objective("weighted-vote")
    assert panels.remark(found) == ""
    found.set_parameter(0, "epsilon", 0.5)
    assert panels.remark(found).startswith(panels.NO_LONGER_PEOPLE)
    assert panels.remark(found).endswith("instead of Vote, which counts people.")
    found.set_pin(0, 0.9)
    assert panels.remark(found) == ""
    found.open(GALLERY["council"].make())
    assert panels.remark(found) == ""


def test_the_title_names_the_question_only_if_it_is_another():
    problem = path_of(4)
    words = texts(panels.title(session_of(problem, hetdp.PartialMechanism(p={0: 0.9}))))
    assert words == "it4 datasets · 3 edges · pure privacy · 1 given value"
    same = hetdp.Problem(problem.graph, [1, 1, 2, 2], about={"title": "it"})
    assert texts(panels.title(session_of(same))).count("it") == 1
    asked = hetdp.Problem(problem.graph, [1, 1, 2, 2], about={"title": "Who?"})
    assert "Who?" in texts(panels.title(session_of(asked)))
    assert "given value" not in texts(panels.title(session_of(asked)))


def test_the_verdict_says_what_was_found():
    good = session_of(path_of(4))
    assert panels.status(good)[0] == "good"
    assert "Private, and as accurate as possible for the worst-off datasets" in texts(panels.status(good)[1])
    assert "Verified exactly on all 3 edges." in texts(panels.status(good)[1])
    assert "on its edge." in texts(panels.status(session_of(path_of(2)))[1])
    missing = session_of(path_of(4))
    missing.set_objective(GIVEN)
    assert panels.status(missing)[0] == "none"
    assert texts(panels.status(missing)[1]).startswith("Some values are missing")
    refused = Session(GALLERY["contradiction"].make())
    kind, words = panels.status(refused)
    assert kind == "none"
    assert "p(one ill) = 0.2 allows at most p(two ill) = 0.329744, 1 step away; but p(two ill) is" in texts(words)
    refused.refuse("no")
    assert texts(panels.status(refused)[1]).startswith("no")
    hardly = session_of(path_of(4, 0.01))
    kind, words = panels.status(hardly)
    assert kind == "caution"
    assert "Private, but hardly better than a coin" in texts(words)


def test_a_selected_dataset_shows_why_and_its_neighbours(monkeypatch):
    found = session_of(path_of(6))
    found.select("dataset", 0)
    words = texts(panels.dataset_details(found))
    assert words.startswith("Why p is not higher")
    assert "≤" in words
    found.select("dataset", 5)
    assert texts(panels.dataset_details(found)).startswith("Why p is not lower")
    star = hetdp.DatasetGraph.from_edges([0] * 4, range(1, 5), 1.0)
    many = session_of(hetdp.Problem(star, [1, 2, 2, 2, 2]))
    many.select("dataset", 0)
    monkeypatch.setattr(panels, "MOST_NEIGHBOURS", 4)
    assert "more" not in texts(panels.dataset_details(many))
    monkeypatch.setattr(panels, "MOST_NEIGHBOURS", 3)
    assert texts(panels.dataset_details(many)).endswith("and 1 more")


def test_a_dataset_that_a_coin_would_answer_better_is_marked():
    problem = path_of(2)
    assert [panels._is_worse(problem, 0, z) for z in (-0.1, 0.0, 0.1)] == [True, False, False]
    assert [panels._is_worse(problem, 1, z) for z in (-0.1, 0.0, 0.1)] == [False, False, True]
    assert (panels._all_edges(1), panels._all_edges(2000)) == ("its edge", "all 2,000 edges")


def test_thirty_classes_have_their_odds_and_the_others_are_counted():
    graph = hetdp.DatasetGraph.from_edges(range(31), range(1, 32), 1.0, classes=[f"c{at}" for at in range(31)])
    odds = list(hetdp.odds(hetdp.design(hetdp.Problem(graph, [1] * 16 + [2] * 16))).by_class.values())
    assert "more" not in texts(panels.odds_list(odds[:30])[1:])
    assert texts(panels.odds_list(odds)[1:]) == "and 1 more"
    assert len(panels.odds_list(odds)[0].children) == 30


# Forms ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "python", "shell"),
    [
        (
            ("votes", "Ann, Bob", "", "1"),
            "problem = hetdp.spaces.votes(['Ann', 'Bob'], hetdp.questions.majority('yes'), hetdp.privacy.rules('1'))",
            "hetdp make votes --people Ann,Bob --majority --count yes --epsilon 1 -o problem.json",
        ),
        (
            ("votes", " 3 ", "50%", "1", "1=0.2", "a, b"),
            "problem = hetdp.spaces.votes(3, hetdp.questions.share('a', '50%'),"
            " hetdp.privacy.rules('1', deciding={'1': '0.2'}), ['a', 'b'])",
            "hetdp make votes --people 3 --count a --at-least 50% --epsilon 1 --deciding-epsilon 1=0.2"
            " --values a,b -o problem.json",
        ),
        (
            ("tallies", "p=2, s=1", "2", "p=1, s=2"),
            "problem = hetdp.spaces.tallies({'p': 2, 's': 1}, hetdp.questions.count('yes', 2),"
            " hetdp.privacy.rules({'p': '1', 's': '2'}))",
            "hetdp make tallies --group p=2,s=1 --count yes --at-least 2 --epsilon p=1,s=2 -o problem.json",
        ),
    ],
)
def test_a_form_gives_its_problem_and_the_code_that_makes_it(form, python, shell):
    found = document_from_form(*form)
    assert found.origin.python == (python,)
    assert found.origin.shell == shell
