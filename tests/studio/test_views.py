"""Maps of the studio: cells, lines and ticks."""

from __future__ import annotations

from hetdp.studio import views
from hetdp.studio.gallery import document_from_form
from hetdp.studio.session import Session


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
