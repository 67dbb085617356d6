"""Maps of the studio: cells, lines and ticks."""

from __future__ import annotations

from pathlib import Path

from hetdp.studio import views
from hetdp.studio.drawing import THEMES, stylesheet
from hetdp.studio.gallery import GALLERY, document_from_form
from hetdp.studio.picture import Picture
from hetdp.studio.screen import legend_of
from hetdp.studio.session import Session
from hetdp.studio.verdict import text_of


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


def test_a_map_is_the_first_view_of_two_counts_and_offered_beside_a_network_of_more_than_twelve_datasets():
    def list_views(groups: str) -> list[str]:
        return views.views_of(Session(document_from_form("tallies", groups, "", "1")))

    assert list_views("a=2, b=3") == [views.MAP, views.NETWORK, views.SUMMARY]
    assert list_views("a=11") == [views.NETWORK, views.SUMMARY]
    assert list_views("a=12") == [views.NETWORK, views.MAP, views.SUMMARY]


def test_a_selected_cell_has_a_ring_and_few_counts_have_whole_ticks():
    found = Session(document_from_form("tallies", "a=12, b=2", "", "1"))
    cells = views.cells_of(found)
    figure = views.map_figure(found, cells, "light")
    assert len(figure["data"]) == 3  # cells, and the line between the answers with its white edge
    assert [figure["layout"][axis].get("dtick") for axis in ("xaxis", "yaxis")] == [None, 1]
    assert figure["layout"]["xaxis"]["range"] == [-0.5, 12.5]
    found.select("dataset", cells.dataset(3, 1))
    ring = views.map_figure(found, cells, "light")["data"][-1]
    assert (ring["x"], ring["y"]) == ([3, 3], [1, 1])
    found.select("edge", 0)
    assert len(views.map_figure(found, cells, "light")["data"]) == 3


def test_the_text_of_a_cell_names_its_counts_in_the_order_of_the_label():
    texts = []
    for groups in ("a=12, b=2", "b=2, a=12", "c=3, a=12, b=2"):
        found = Session(document_from_form("tallies", groups, "", "1"))
        texts.append(views.map_figure(found, views.cells_of(found), "light")["data"][0]["hovertemplate"])
    assert texts[0].startswith("a %{x}, b %{y}<br>")
    assert texts[1].startswith("b %{y}, a %{x}<br>")
    assert texts[2].startswith("c %{y}, a %{x}, b ")


def test_the_line_between_answers_looks_the_same_on_the_map_and_in_its_legend_in_light_and_dark():
    found = Session(document_from_form("tallies", "a=12, b=2", "", "1"))
    drawn = [views.map_figure(found, views.cells_of(found), theme)["data"][1:] for theme in ("light", "dark")]
    assert drawn[0] == drawn[1]
    style = (Path(views.__file__).parent / "assets" / "studio.css").read_text()
    rule = next(line for line in style.splitlines() if line.startswith(".key .border"))
    assert all(trace["line"]["color"] in rule for trace in drawn[0])
    assert "classname='border'" in str(legend_of(found, views.MAP)).lower()


def test_the_summary_draws_the_middle_half_of_both_answers_and_says_where_all_are_alike():
    found = Session(document_from_form("votes", "5", "", "1", "1=0.2"))
    bands = views.summary_figure(found, "light")["data"]
    assert [sorted(trace["x"]) for trace in bands[:2]] == [[-1.5, -0.5, 0.5, 1.5], [-0.5, 0.5]]
    words = bands[2]["text"]
    assert all("middle half" in each for each in words[1:5])
    alike = Session(document_from_form("tallies", "a=4", "", "1"))
    assert all("<br>p = " in each for each in views.summary_figure(alike, "light")["data"][2]["text"])


def test_the_path_of_the_selection_is_drawn_on_charts_from_across_the_boundary():
    found = Session(document_from_form("tallies", "a=12, b=2", "", "1"))
    cells = views.cells_of(found)
    found.select("dataset", cells.dataset(12, 2))
    path = found.answer.mechanism.explain((12, 2)).crossing

    def path_of(figure):
        return [trace for trace in figure["data"] if trace.get("name") == views.PATH]

    traces = path_of(views.map_figure(found, cells, "dark"))
    assert [list(zip(trace["x"], trace["y"], strict=True)) for trace in traces] == [path] * 2  # and its white edge
    assert [len(trace["x"]) for trace in path_of(views.map_figure(found, cells, "dark", 1))] == [2, 2]
    assert path_of(views.map_figure(found, cells, "dark", 0)) == []
    p = found.answer.mechanism
    summary = path_of(views.summary_figure(found, "light"))
    assert summary[0]["y"] == [p[label] for label in path]
    assert summary[0]["x"] == [at - 0.5 for at in range(len(path))]
    assert "binding path" in str(legend_of(found, views.MAP))
    assert "leaves room" not in str(legend_of(found, views.SUMMARY))
    monitored = views.dataset_near(found, -0.4, 0.0)
    assert found.document.problem.answers[monitored] == 2
    assert found.document.problem.boundary_mask[monitored]


def test_an_edge_across_that_leaves_a_given_value_room_is_dashed():
    found = Session(document_from_form("tallies", "a=12, b=2", "", "1"))
    found.keep_values()
    at = found.document.problem.graph.index((8, 0))
    found.set_pin(at, 0.6)
    found.select("dataset", at)
    traces = [one for one in views.summary_figure(found, "light")["data"] if one.get("name") == views.PATH]
    assert [(trace["line"]["dash"], len(trace["x"])) for trace in traces] == [("dash", 2)] * 2 + [("solid", 1)] * 2
    assert "leaves room" in str(legend_of(found, views.NETWORK))
    picture = Picture()
    edges = [one for one in picture.update(found) if "source" in one["data"]]
    assert sum("loose" in one["classes"].split() for one in edges) == 1


def test_the_legend_of_the_first_example_explains_what_the_next_click_may_show():
    found = Session(GALLERY["three-voters"].make())
    words = "; ".join(text_of(one) for one in legend_of(found, views.NETWORK))
    for entry in ("published: noyes", "given value", "dashed: leaves room", "thicker: smaller ε, more privacy"):
        assert entry in words
    contradiction = Session(GALLERY["contradiction"].make())
    assert "value moved by the repair" in text_of(legend_of(contradiction, views.NETWORK))


def test_a_given_value_keeps_its_ring_on_a_path_and_when_it_is_selected():
    found = Session(GALLERY["three-voters"].make())
    found.keep_values()
    found.select("dataset", 0)
    given = [one["classes"].split() for one in Picture().update(found) if "pinned" in one.get("classes", "").split()]
    assert any("highlighted" in kinds for kinds in given)
    for theme in THEMES:
        rules = {one["selector"]: one["style"] for one in stylesheet(theme, 8)}
        order = list(rules)
        both = "node.pinned.highlighted, node.pinned.selected"
        assert order.index(both) > max(order.index(one) for one in ("node.pinned", "node.highlighted", "node.selected"))
        assert rules[both]["border-color"] == rules["node.pinned"]["border-color"] != rules[both]["outline-color"]
        assert rules[both]["outline-color"] == rules["node.highlighted"]["border-color"]
