"""The session behind the page, without a page: changes, undo, witness and repair, and what is exported."""

from __future__ import annotations

import base64
import json
import shlex
from dataclasses import replace

import numpy as np
import pytest

import hetdp
from benchmarks.graphs import grid
from examples import security_council
from hetdp.cli.main import main
from hetdp.numbers import parse_typed
from hetdp.plots.summary import summary
from hetdp.studio import drawing, export, panels, views
from hetdp.studio import screen as legend
from hetdp.studio import uploads as bounds
from hetdp.studio import uploads as opening
from hetdp.studio.answers import GIVEN
from hetdp.studio.drawing import INKS, stylesheet
from hetdp.studio.gallery import GALLERY, document_from_form
from hetdp.studio.picture import Picture
from hetdp.studio.session import Session, new_document
from tests.loops import for_each

PATH = ["a", "b", "c", "d"]


@pytest.fixture
def session():
    graph = hetdp.DatasetGraph.from_edges(PATH[:-1], PATH[1:], [1.0, 0.5, 0.1], datasets=PATH, classes=["x", "y", "z"])
    problem = hetdp.Problem(graph, [1, 1, 2, 2], weights=[1, 2, 3, 4], about={"title": "t"})
    return Session(new_document("a path", problem, hetdp.PartialMechanism(p={"b": 0.6, "c": 0.4})))


def test_a_changed_edge_leaves_everything_else_as_it_was(session):
    before = session.document.problem
    after = before.with_parameter(1, "epsilon", 0.3)
    assert after.graph.edges()[2].tolist() == [1.0, 0.3, 0.1]
    assert after.graph.edge_classes() == before.graph.edge_classes()
    assert after.about == before.about
    assert np.array_equal(after.weights, before.weights)
    assert before.graph.edges()[2].tolist() == [1.0, 0.5, 0.1]


@pytest.mark.parametrize(("edge", "name", "value"), [(9, "epsilon", 1.0), (0, "mu", 1.0), (0, "epsilon", -1.0)])
def test_invalid_changes_are_refused_without_effect(session, edge, name, value):
    before = session.document
    session.set_parameter(edge, name, value)
    assert session.document is before
    assert session.notice
    assert not session.past


def test_numbers_of_every_notion_can_be_moved():
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0, epsilon_back=[0.5], delta=[0.1])
    session = Session(new_document("δ", hetdp.Problem(graph, [1, 2])))
    session.set_parameter(0, "delta_back", 0.2)
    assert {name: values.tolist() for name, values in session.edge_list.columns.items()} == {
        "epsilon": [1.0],
        "epsilon_back": [0.5],
        "delta": [0.1],
        "delta_back": [0.2],
    }
    session.set_parameter(0, "delta", 1.5)
    assert "δ" in session.notice


def test_an_edge_keeps_its_number_and_its_class_when_it_binds_no_longer():
    graph = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], 1.0, classes=["Ann", "Bob", "Cyd"])
    session = Session(new_document("∞", hetdp.Problem(graph, [1, 1, 2, 2])))
    session.select("edge", 0)
    session.set_parameter(0, "epsilon", float("inf"))
    assert session.edge_list.columns["epsilon"].tolist() == [float("inf"), 1.0, 1.0]
    assert session.edge_list.source.tolist() == [0, 1, 2]
    assert "Ann" in str(panels.edge_summary(session)[-1])
    session.set_parameter(0, "epsilon", 0.5)
    assert session.edge_list.columns["epsilon"].tolist() == [0.5, 1.0, 1.0]


def test_several_moves_of_one_thing_are_undone_together(session):
    before = session.answer.mechanism.probabilities.tolist()
    for value in (0.4, 0.3, 0.2):
        session.set_parameter(1, "epsilon", value, "slider-epsilon", drag=True)
    session.set_pin(1, 0.55)
    assert len(session.past) == 2
    session.undo()
    session.undo()
    assert session.answer.mechanism.probabilities.tolist() == before
    session.undo()
    session.redo()
    assert session.document.problem.graph.edges()[2].tolist() == [1.0, 0.2, 0.1]


def test_a_contradiction_has_a_witness_and_its_repair_is_the_library_s(session):
    session.set_pin(1, 0.9)
    assert session.answer.mechanism is None
    verdict = hetdp.check(session.document.problem, {"b": 0.9, "c": 0.4})
    assert session.answer.witness.path.datasets == verdict.witness.path.datasets
    session.apply_repair()
    expected = hetdp.extend(session.document.problem, verdict.repair.pins)
    assert session.answer.mechanism.coordinates.tolist() == expected.coordinates.tolist()


def test_without_a_mechanism_only_given_values_have_a_colour(session):
    session.set_pin(1, 0.9)
    given = drawing.probabilities_of(session)
    assert given.tolist() == [drawing.NO_VALUE, 0.9, 0.4, drawing.NO_VALUE]
    elements = Picture().update(session)
    for theme in drawing.THEMES:
        expected = drawing.colours_of(np.array([0.9, 0.4]), theme)
        assert [one["data"][theme] for one in elements[1:3]] == expected
        bare = next(rule["style"] for rule in stylesheet(theme, 4) if rule["selector"] == "node.bare")
        assert bare["background-color"] == INKS[theme]["paper"]
    assert ["bare" in one["classes"].split() for one in elements[:3]] == [True, False, False]
    assert "0.4" in elements[2]["data"]["label"] + elements[1]["data"]["label"]
    assert "no value" in str(legend.legend_of(session, views.NETWORK))
    assert "no mechanism" in str(views.summary_figure(session, "light")["layout"]["annotations"])
    session.apply_repair()
    assert "no value" not in str(legend.legend_of(session, views.NETWORK))
    assert views.summary_figure(session, "light")["data"]
    tallied = Session(document_from_form("tallies", "a=3, b=9", "", "1"))
    tallied.set_objective(GIVEN)
    tallied.set_pin(0, 0.25)
    rows = views.map_figure(tallied, views.cells_of(tallied), "light")["data"][0]["z"]
    assert [each for row in rows for each in row if each is not None] == [0.25]


def test_given_values_are_shown_as_p_however_they_were_written(session):
    partial = hetdp.PartialMechanism(error={"a": 0.1, "d": 0.2}, z={"b": 0.0})
    other = Session(new_document("errors", session.document.problem, partial))
    assert [other.given_probability(at) for at in (0, 1, 3)] == [0.9, 0.5, 0.2]


def test_the_common_epsilon_is_that_of_more_than_half_of_the_edges(session):
    assert "most" not in str(legend.legend_of(session, views.NETWORK))
    labels = [one["data"]["label"] for one in Picture().update(session)[4:]]
    assert sorted(labels) == ["x ε 1", "y ε 0.5", "z ε 0.1"]
    session.set_parameter(1, "epsilon", float("inf"))
    session.set_parameter(2, "epsilon", 1.0)
    assert "most edges: 1)" in str(legend.legend_of(session, views.NETWORK))
    labels = [one["data"]["label"] for one in Picture().update(session)[4:]]
    assert sorted(labels) == ["", "", "y ε ∞"]
    session.select("edge", 1)
    assert session.field_text("epsilon") == "∞"


@for_each(
    ("text", "number"), [("0,5", 0.5), (" 1e-3 ", 1e-3), (".5", 0.5), ("0,125", 0.125), ("Inf", np.inf), ("-1", -1.0)]
)
def test_numbers_are_read_as_people_write_them(text, number):
    assert parse_typed(text) == number


@for_each("text", ["1,000", "12,345,678", "1_0", "nan", "1.0.0", "0x10", "٣", "", "--1", "1 0"])
def test_invalid_and_ambiguous_numbers_are_refused(text):
    with pytest.raises(hetdp.UsageError, match="two numbers" if "," in text else "not a number"):
        parse_typed(text)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1" + 400 * "0"])
def test_a_finite_number_never_becomes_infinite(text):
    with pytest.raises(hetdp.UsageError, match="numbers go up to 1e308"):
        parse_typed(text)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chosen_edge_has_a_colour_and_a_key_of_its_own(session, theme):
    colour = {rule["selector"]: rule["style"].get("line-color") for rule in stylesheet(theme, 4)}
    assert len({colour["edge"], colour["edge.highlighted"], colour["edge.selected"]}) == 3
    session.select("dataset", 1)
    assert "'selected'" not in str(legend.legend_of(session, views.NETWORK))
    session.select("edge", 1)
    assert "'selected'" in str(legend.legend_of(session, views.NETWORK))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_charts_have_a_background_and_even_ticks(theme):
    session = Session(document_from_form("tallies", "a=12, b=14", "", "0.5"))
    for figure in (views.summary_figure(session, theme), views.map_figure(session, views.cells_of(session), theme)):
        assert figure["layout"]["paper_bgcolor"] == INKS[theme]["paper"]
    axis = views.summary_figure(session, theme)["layout"]["xaxis"]
    right = [place for place in axis["tickvals"] if place > 0]
    assert right[0] == 0.5
    assert len({*np.diff(right[1:]).tolist()}) == 1
    assert [-place for place in axis["tickvals"] if place < 0][::-1][: len(right)] == right


def test_a_summary_shows_where_the_answer_changes_and_marks_both_sides_of_it():
    layout = views.summary_figure(Session(GALLERY["school"].make()), "light")["layout"]
    assert [(line["x0"], line["x1"]) for line in layout["shapes"]] == [(0, 0)]
    assert layout["xaxis"]["ticktext"] == ["3", "1", "1", "5", "10", "15", "20"]
    apart = hetdp.DatasetGraph.from_edges([], [], [], datasets=["a", "b"])
    assert (
        "shapes"
        not in views.summary_figure(Session(new_document("apart", hetdp.Problem(apart, [1, 2]))), "light")["layout"]
    )


def test_datasets_without_a_path_are_drawn_outside():
    graph = hetdp.DatasetGraph.from_edges(["a", "c"], ["b", "d"], 1.0, datasets=list("abcd"))
    session = Session(new_document("two parts", hetdp.Problem(graph, [1, 2, 1, 1])))
    figure = views.summary_figure(session, "light")
    places = dict(zip(figure["layout"]["xaxis"]["ticktext"], figure["layout"]["xaxis"]["tickvals"], strict=True))
    assert places["no path"] > 1
    assert places["no path"] in figure["data"][-1]["x"]
    assert 0 not in figure["data"][-1]["x"]


def test_bars_that_are_too_low_to_be_seen_are_not_drawn(monkeypatch):
    monkeypatch.setattr(views, "LEAST_BAR", 0.1)
    session = Session(new_document("a grid", grid(8 * 900)))
    problem = session.document.problem
    *bars, dots = views.summary_figure(session, "light")["data"]
    low, quarter, _, upper, high = summary(problem, session.answer.mechanism.probabilities).quantiles.T
    for bar, height, share in zip(bars, (high - low, upper - quarter), (1.0, 0.4), strict=True):
        seen = height > 0.1
        assert 0 < seen.sum() < len(seen)
        assert bar["x"] == np.array(dots["x"])[seen].tolist()
        assert bar["y"] == height[seen].tolist()
        assert bar["width"] == 0.8 * np.diff(dots["x"]).min() * share


def test_a_missing_value_is_reported_and_filled_with_the_fair_one(session):
    session.clear_pin(1)
    assert session.answer.lacks_pins
    session.keep_values()
    assert session.document.objective == GIVEN
    assert session.answer.mechanism is not None
    assert session.document.pins[2] == ("p", 0.4)
    session.clear_pins()
    assert session.document.objective == "fair"


def test_edges_of_people_can_be_moved_and_their_datasets_found():
    session = Session(GALLERY["three-voters"].make())
    assert session.find_dataset("yes,no,no") == 3
    session.set_parameter(0, "epsilon", 0.125)
    assert session.find_dataset("yes,no,no") == 3
    assert session.document.origin.python[1:] == (
        "problem = problem.with_epsilon(edges={(('yes', 'yes', 'yes'), ('yes', 'yes', 'no')): 0.125})",
    )
    assert "weighted-vote" not in session.objectives
    assert session.find_dataset("no people") is None


def test_labels_of_more_than_120_characters_are_cut_beside_the_picture():
    graph = hetdp.DatasetGraph.from_edges(["a" * 120], ["b" * 121], 1.0)
    session = Session(new_document("long", hetdp.Problem(graph, [1, 2]), None))
    assert panels.full_label(session, 0) == "a" * 120
    assert panels.full_label(session, 1) == "b" * 119 + "…"


def test_odds_say_how_much_of_a_finite_epsilon_is_used():
    graph = hetdp.DatasetGraph.from_edges([0, 1, 1], [1, 2, 3], [0.5, 1.0, np.inf], classes=["a", "b", "c"])
    found = hetdp.odds(hetdp.extend(hetdp.Problem(graph, [1, 2, 2, 2]), {0: 0.6, 1: 0.5, 2: 0.5, 3: 0.0}))
    text = [str(one) for one in panels.odds_list(list(found.by_class.values()))[0].children]
    assert ["ε used: 0.2231 of 0.5" in text[0], "ε used: 0 of 1" in text[1]] == [True, True]
    assert "ε used" not in text[2]


def test_an_invalid_selection_is_empty(session):
    for kind, number in (("dataset", 4), ("edge", 3), ("edge", -1), ("window", 0)):
        session.select(kind, number)
        assert session.selection.kind == ""


@pytest.mark.parametrize("key", GALLERY)
def test_the_code_of_a_gallery_entry_gives_what_the_page_shows(key, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    session = Session(GALLERY[key].make())
    (tmp_path / export.PROBLEM).write_text(export.problem_text(session), encoding="utf-8")
    if session.answer.mechanism is None:
        session.apply_repair()
        (tmp_path / export.PROBLEM).write_text(export.problem_text(session), encoding="utf-8")
    names: dict = {}
    exec(export.code_lines(session.document, session.answer).python, names)
    assert names["mechanism"].coordinates.tolist() == session.answer.mechanism.coordinates.tolist()
    assert json.loads(export.mechanism_text(session))["kind"] == "mechanism"


def test_the_security_council_of_the_gallery_is_that_of_the_examples():
    shown, example = GALLERY["council"].make().problem, security_council.problem(security_council.WAYS[0])
    assert [f"{permanent},{elected}" for permanent, elected in example.graph.datasets] == list(shown.graph.datasets)
    assert shown.graph.edge_count == example.graph.edge_count == 5 * 11 + 6 * 10
    made = [hetdp.design(problem) for problem in (shown, example)]
    assert made[0].coordinates.tolist() == made[1].coordinates.tolist()
    assert [str(odds) for odds in hetdp.odds(made[0]).by_class.values()] == [
        str(odds) for odds in hetdp.odds(made[1]).by_class.values()
    ]


def test_the_code_runs_without_a_mechanism_and_says_why_there_is_none(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(session: Session) -> tuple[dict, str]:
        assert session.answer.mechanism is None
        (tmp_path / export.PROBLEM).write_text(export.problem_text(session), encoding="utf-8")
        found = export.code_lines(session.document, session.answer)
        names: dict = {}
        exec(found.python, names)
        assert "# there is no mechanism: " in found.python or "so there is no mechanism" in found.python
        for line in found.shell.splitlines():
            if not line.startswith(("#", "hetdp make")):
                assert main(shlex.split(line, comments=True)[1:]) == 4
        return names, found.python + found.shell

    voters = Session(GALLERY["three-voters"].make())
    voters.set_objective(GIVEN)
    names, report = run(voters)
    assert "problem" in names
    assert "no given value yet" in report
    assert "partial" not in report
    voters.set_objective("weighted-vote")
    voters.set_pin(0, 0.9)
    assert "weighted-vote" in run(voters)[1]
    run(Session(GALLERY["contradiction"].make()))
    assert "no private extension exists" in capsys.readouterr().out
    alike = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a\nb"], ["b"], 1.0), [1, 1])
    session = Session(replace(new_document("alike", alike), objective=GIVEN))
    assert session.answer.mechanism is not None
    (tmp_path / export.PROBLEM).write_text(export.problem_text(session), encoding="utf-8")
    exec(export.code_lines(session.document, session.answer).python, {})


def test_every_view_of_every_problem_has_its_own_axes():
    known = set()
    for entry in GALLERY.values():
        session = Session(replace(entry.make(), opening=0))
        session.open(entry.make())
        for figure in _charts(session):
            layout = figure["layout"]
            assert {len(layout[axis]["range"]) for axis in ("xaxis", "yaxis")} == {2}
            known.add((layout["uirevision"], session.document.opening, entry.title))
        session.open(GALLERY["survey"].make())
        assert {figure["layout"]["uirevision"] for figure in _charts(session)}.isdisjoint(
            words for words, _, title in known if title == entry.title
        )
    session.select("dataset", 5)
    assert views.map_figure(session, views.cells_of(session), "light")["layout"]["uirevision"] == "map 2 []"


def _charts(session: Session) -> list:
    cells = views.cells_of(session)
    return [views.summary_figure(session, "light"), *([views.map_figure(session, cells, "light")] if cells else [])]


def _address(text: str) -> str:
    return "data:text/plain;base64," + base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("name", ["../../up.json", "/etc/passwd.json", r"C:\windows\p.json", "..", "p.json"])
def test_a_dropped_file_is_not_stored_and_its_name_is_not_used_as_a_path(name, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    text = '{"schema_version": 1, "datasets": [{"dataset": "a", "query": 1}], "edges": []}'
    if name == "..":
        with pytest.raises(hetdp.UsageError):
            opening.document_from_files([name], [_address(text)])
    else:
        assert opening.document_from_files([name], [_address(text)]).problem.graph.size == 1
    assert list(tmp_path.rglob("*")) == []


def test_dropped_tables_are_recognised_with_upper_case_names():
    tables = ["source,target,epsilon\na,b,0.5\n", "dataset,query\na,1\nb,2\n"]
    for names in (["my-edges.csv", "my-datasets.csv"], ["EDGES.CSV", "Datasets.Csv"]):
        found = opening.document_from_files(names, list(map(_address, tables)))
        assert list(found.problem.graph.datasets) == ["a", "b"]


def test_dropped_files_are_limited_in_size_and_faults_are_reported(monkeypatch):
    with pytest.raises(hetdp.UsageError, match="cannot be read"):
        opening.document_from_files(["p.json"], ["data:,%%%"])
    with pytest.raises(hetdp.UsageError, match="neither edges nor datasets"):
        opening.document_from_files(["p.txt"], [_address("")])
    for table, other in (("edges", "datasets"), ("datasets", "edges")):
        with pytest.raises(hetdp.UsageError, match=f"the table of {other} is missing"):
            opening.document_from_files([f"my-{table}.csv"], [_address("")])
    with pytest.raises(hetdp.UsageError, match="two files for one table"):
        opening.document_from_files(["a.json", "b.json"], [_address("")] * 2)
    monkeypatch.setattr(opening, "MOST_BYTES", 10)
    with pytest.raises(hetdp.UsageError, match="too large"):
        opening.document_from_files(["p.json"], [_address("x" * 11)])


def _parquet(query: str, folder) -> str:
    duckdb = pytest.importorskip("duckdb")
    path = folder / "table.parquet"
    duckdb.sql(query).write_parquet(str(path), compression="zstd")
    return "data:;base64," + base64.b64encode(path.read_bytes()).decode()


def test_a_decompression_bomb_is_refused_before_it_is_read(tmp_path, monkeypatch):
    edges = _parquet("SELECT 'a' AS source, 'b' AS target, 0.5 AS epsilon", tmp_path)
    names = ["edges.parquet", "datasets.parquet"]
    fine = _parquet("SELECT unnest(['a', 'b']) AS dataset, unnest([1, 2]) AS query", tmp_path)
    assert opening.document_from_files(names, [edges, fine]).problem.graph.size == 2
    bomb = _parquet("SELECT repeat('x', 1000) AS dataset, 1 AS query FROM range(300000)", tmp_path)
    assert len(bomb) < 300_000
    monkeypatch.setattr(opening, "read_problem", lambda *_: pytest.fail("it was read"))
    with pytest.raises(hetdp.UsageError, match=r"300,000,000 bytes of labels.*opens any size"):
        opening.document_from_files(names, [edges, bomb])
    monkeypatch.setattr(bounds, "MOST_CELLS", 1_000)
    with pytest.raises(hetdp.UsageError, match="600,000 cells"):
        opening.document_from_files(names, [edges, bomb])


@for_each(
    ("words", "told"),
    [
        (("votes", "", "", "1"), "no people"),
        (("votes", "Ann, Bob", "", ""), "no ε"),
        (("votes", "40", "", "1"), "datasets"),
        (("tallies", "20", "", "1"), "NAME=SIZE"),
        (("tallies", "a=x", "", "1"), "size"),
        (("towns", "a", "", "1"), "votes and tallies"),
        (("votes", "Ann, Bob", "many", "1"), "how many"),
    ],
)
def test_an_invalid_form_is_refused(words, told):
    with pytest.raises(hetdp.HetdpError, match=told):
        document_from_form(*words)


def test_the_map_of_three_groups_is_the_selected_slice():
    session = Session(document_from_form("tallies", "pupils=6, staff=4, guests=3", "5", "1"))
    cells, index = views.cells_of(session), session.document.problem.graph.index
    assert cells.names == ("staff", "pupils")
    assert {*cells.fixed} == {"guests"}
    session.select("dataset", index((3, 2, 0)))
    cells = views.cells_of(session)
    assert cells.fixed == {"guests": 0}
    assert cells.dataset(5, 4) == index((5, 4, 0))
    assert cells.next_to(index((3, 2, 0)), 1, -1) == index((4, 1, 0))
    assert "guests = 0" in str(legend.legend_of(session, views.MAP)[0])
