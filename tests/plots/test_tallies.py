"""Tallies as a map: which problems consist of counts, what each cell shows, and where the line runs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.plots import tallies
from hetdp.plots.plot import drawing_of
from hetdp.plots.tallies import boundary_line, grid_of
from tests.plots.shown import council, line, voters, words

COUNT = hetdp.questions.count("yes", at_least=3)


def save_and_read(space):
    with tempfile.TemporaryDirectory() as folder:
        hetdp.save(space, Path(folder, "problem.json"))
        return hetdp.read_problem(Path(folder, "problem.json")).problem


def tallies_of(**sizes):
    return hetdp.spaces.tallies(sizes, COUNT, 0.5)


def test_each_cell_is_the_tally_of_its_row_and_column():
    mechanism = hetdp.design(council())
    drawing = drawing_of(mechanism, None, None, True, True)
    assert drawing.name == "tallies"
    found = drawing.data
    assert found.p.shape == (6, 11)
    assert found.names == ("permanent", "elected")
    for permanent in range(6):
        for elected in range(11):
            assert found.p[permanent, elected] == mechanism[permanent, elected]
            at = council().graph.index((permanent, elected))
            assert found.answers[permanent, elected] == council().answers[at]
            assert found.pinned[permanent, elected] == mechanism.pinned[at]


def test_the_line_runs_exactly_where_the_answer_changes():
    found = drawing_of(council(), None, None, True, True).data
    pieces = {frozenset(map(tuple, piece)) for piece in found.boundary.tolist()}
    level = {frozenset([(x - 0.5, 4.5), (x + 0.5, 4.5)]) for x in range(4, 11)}
    assert pieces == level | {frozenset([(3.5, 4.5), (3.5, 5.5)])}


def test_a_problem_with_one_answer_has_no_line():
    assert boundary_line(np.ones((3, 4))).shape == (0, 2, 2)


def test_spaces_and_their_files_make_the_same_map():
    space = tallies_of(pupils=4, staff=2)
    one, other = grid_of(space), grid_of(save_and_read(space))
    assert one is not None
    assert other is not None
    assert one.shape == other.shape == (3, 5)
    assert one.names == other.names == ("staff", "pupils")
    assert (one.order == other.order).all()
    assert one.of(space.graph.positions(1)).tolist() == [[0] * 5, [1] * 5, [2] * 5]


@pytest.mark.parametrize(
    "labels",
    [
        [(0, 0), (0, 1), (1, 0)],  # not all pairs
        [(0, 0), (0, 1), (1, 0), (1, "1")],
        [(0, 0), (0, 1), (1, 0), (1, -1)],
        [(0, 0), (0, 1), (1, 0), (True, True)],
        ["0,0", "0,1", "1,0", "1,x"],
        ["0,0", "0,1", "1,0", "1,1", "01,1"],
    ],
)
def test_other_labels_are_not_counts(labels):
    graph = hetdp.DatasetGraph.from_edges(labels[:-1], labels[1:], 1.0, datasets=labels)
    assert grid_of(hetdp.Problem(graph, [1] + [2] * (len(labels) - 1))) is None


def test_neighbours_that_differ_by_more_than_one_are_not_tallies():
    labels = [(0, 0), (0, 1), (1, 0), (1, 1)]
    graph = hetdp.DatasetGraph.from_edges(labels[:-1], labels[1:], 1.0, datasets=labels)
    assert grid_of(hetdp.Problem(graph, [1, 2, 1, 2])) is None  # (0, 1) and (1, 0) are neighbours


def test_groups_of_one_and_other_problems_are_refused():
    for problem in (tallies_of(a=1, b=1, c=1), voters()):
        with pytest.raises(hetdp.UsageError, match="no map of tallies; every dataset is one or more counts"):
            hetdp.plot(problem, "tallies")


def test_one_group_is_a_row_of_dots():
    problem = tallies_of(pupils=8)
    mechanism = hetdp.design(problem)
    axes = hetdp.plot(mechanism)
    dots = [place for each in axes.collections for place in each.get_offsets().tolist()]
    assert sorted(dots) == [[at, mechanism[(at,)]] for at in range(9)]
    assert [at.get_xdata()[0] for at in axes.lines] == [2.5]
    assert "pupils (how many “yes”)" in words(axes)


def test_cells_show_p_only_where_there_is_room():
    assert ".57" in words(hetdp.plot(hetdp.design(council())))
    many = hetdp.design(hetdp.spaces.tallies({"a": 40, "b": 30}, COUNT, 0.5), "balanced")
    axes = hetdp.plot(many)
    assert not axes.texts
    assert axes.images[0].get_array().shape == (31, 41)


def test_a_line_of_numbers_is_a_network():
    assert drawing_of(line(5), None, None, True, True).name == "network"


def test_names_are_not_guessed_where_classes_differ():
    labels = [(0, 0), (0, 1), (1, 0), (1, 1)]
    edges = [(0, 1, "x"), (2, 3, "y"), (0, 2, "$z{"), (1, 3, "$z{")]
    source, target, classes = zip(*edges, strict=True)
    ends = [labels[at] for at in source], [labels[at] for at in target]
    graph = hetdp.DatasetGraph.from_edges(*ends, 1.0, datasets=labels, classes=list(classes))
    axes = hetdp.plot(hetdp.Problem(graph, [1, 2, 1, 2]))
    axes.get_figure().canvas.draw()
    seen = words(axes)
    assert "$z{ (how many)" in seen
    assert ("coordinate 1" in seen, "coordinate 2" in seen) == (False, True)


def test_a_grid_names_its_axes_by_the_entries_of_the_labels():
    def labels(shape):
        axes = hetdp.plot(hetdp.Problem(hetdp.spaces.grid(shape, 1.0), lambda place: place[0] > 1))
        return axes.get_xlabel(), axes.get_ylabel()

    assert labels((4, 4)) == labels((6, 4)) == ("coordinate 1", "coordinate 2")
    assert labels((4, 6)) == ("coordinate 2", "coordinate 1")
    found = drawing_of(
        hetdp.Problem(hetdp.spaces.grid((4, 4), 1.0), lambda place: place[0] > 1), None, None, True, True
    )
    assert found.data.answers.tolist() == [[2, 2, 1, 1]] * 4


@pytest.mark.parametrize("size", [61, 141])
def test_given_values_are_marked_where_cells_are_small(size):
    problem = hetdp.Problem(hetdp.spaces.grid((size, size), 0.1), lambda place: place[0] >= size // 2)
    axes = hetdp.plot(hetdp.extend(problem, dict.fromkeys(problem.boundary, 0.5) | {(0, 0): 0.45}))
    assert "value given or chosen" in words(axes)
    marks = [each.get_offsets().tolist() for each in axes.collections if len(each.get_offsets()) > 1]
    assert [[0.0, 0.0] in marked and len(marked) == 2 * size + 1 for marked in marks] == [True]
    everywhere = hetdp.extend(problem, dict.fromkeys(problem.graph.datasets, 0.5))
    assert "value given or chosen" not in words(hetdp.plot(everywhere))  # marks would hide the colours


def test_a_slice_of_three_groups_has_the_values_of_its_tallies():
    space = tallies_of(pupils=4, staff=3, guests=2)
    mechanism = hetdp.design(space)
    for at, names, tally in (
        ({"guests": 1}, ("staff", "pupils"), lambda row, column: (column, row, 1)),
        ({"pupils": 2}, ("guests", "staff"), lambda row, column: (2, column, row)),
    ):
        found = drawing_of(mechanism, None, None, True, True, at).data
        assert found.names == names
        assert found.fixed == at
        for (row, column), p in np.ndenumerate(found.p):
            assert p == mechanism[tally(row, column)]
    assert "where pupils = 2" in words(hetdp.plot(mechanism, at={"pupils": 2}))


def test_the_default_slice_shows_the_largest_groups_and_both_answers():
    space = tallies_of(pupils=30, staff=3, guests=20)
    for problem in (space, save_and_read(space)):
        found = drawing_of(problem, "tallies", None, True, True).data
        assert found.names == ("guests", "pupils")
        assert {*np.unique(found.answers)} == {1, 2}
        assert drawing_of(problem, None, None, True, True).name == "network"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ({"visitors": 1}, "there are pupils, staff, guests"),
        ({"staff": 4}, "from 0 to 3"),
        ({"staff": 1.0}, "whole number"),
        ({"staff": 1, "pupils": 1}, "leave two out"),
    ],
)
def test_an_invalid_slice_is_refused(at, said):
    with pytest.raises(hetdp.UsageError, match=said):
        hetdp.plot(tallies_of(pupils=4, staff=3, guests=2), at=at)


def test_a_slice_is_accepted_for_maps_only():
    with pytest.raises(hetdp.UsageError, match="map of tallies"):
        hetdp.plot(tallies_of(pupils=4, staff=3, guests=2), "network", at={"staff": 1})
    with pytest.raises(hetdp.UsageError, match="no map"):
        hetdp.plot(voters(), at={"Ann": 1})


@pytest.mark.parametrize(
    ("labels", "is_box"),
    [
        ([(0, 0), (0, 1), (1, 0), (1, 1)], True),
        (["0,0", "0,1", "1,0", "1,1"], True),
        ([(0, 0), (0, 1), (1, 0), (1, 0)], False),
        ([(0, 0), (0, 1), (1, 0)], False),
        ([(0, 0), (0, 1), (1, 0), (1, 1, 0)], False),
        ([(0,), (1,)], False),
        ([(0, True), (0, 0), (1, 0), (1, 1)], False),
        ([(0, -1), (0, 0)], False),
        (["0,0", "0,x"], False),
        (["0", "1"], False),
    ],
)
def test_labels_are_counts_if_they_fill_a_box(labels, is_box):
    assert (tallies._counts(labels) is not None) is is_box


def test_counts_are_fixed_by_name_within_their_range():
    fix = tallies._fixed_counts
    assert fix(("a", "coordinate 2", "c"), (2, 3, 4), {"c": 3}) == {2: 3}
    assert fix(("a", "coordinate 2", "c"), (2, 3, 4), {"coordinate 2": 0}) == {1: 0}
    assert fix(("a", "b"), (2, 3), {}) == {}
    for at, expected in (
        ({"c": 4}, "from 0 to 3"),
        ({"c": -1}, "from 0 to 3"),
        ({"c": True}, "from 0 to 3"),
        ({"c": 1.0}, "from 0 to 3"),
        ({"d": 1}, "there is no count of 'd'"),
        ({"a": 0, "c": 0}, "leave two out"),
    ):
        with pytest.raises(hetdp.UsageError, match=expected):
            fix(("a", "", "c"), (2, 3, 4), at)


def test_a_slice_goes_through_a_dataset():
    problem = hetdp.spaces.tallies({"a": 3, "b": 2, "c": 4}, hetdp.questions.count("yes", 5), 1)
    found = tallies.by_counts(problem)
    assert found is not None
    for counts in ((0, 2, 1), (3, 0, 4), (1, 1, 0)):
        through = problem.graph.index(counts)
        grid = tallies.slice_of(problem, found, None, through)
        assert (grid.names, grid.shape, grid.fixed) == (("a", "c"), (4, 5), {"b": counts[1]})
        assert grid.of(np.arange(problem.graph.size))[counts[0], counts[2]] == through
    fixed = tallies.slice_of(problem, found, {"c": 2})
    assert (fixed.names, fixed.shape, fixed.fixed) == (("b", "a"), (3, 4), {"c": 2})


def test_tallies_with_too_few_counts_or_cells_are_no_map(monkeypatch):
    def is_map(**sizes: int) -> bool:
        return tallies.by_counts(hetdp.spaces.tallies(sizes, hetdp.questions.count("yes", 1), 1)) is not None

    assert is_map(a=2, b=2, c=1)
    assert not is_map(a=2, b=1, c=1)
    assert is_map(a=1, b=1)
    monkeypatch.setattr(tallies, "MOST_CELLS", 4)
    assert is_map(a=1, b=1)
    assert not is_map(a=1, b=2)


def test_the_size_of_a_map_follows_its_cells():
    def size(rows: int, columns: int) -> tuple[float, float]:
        nothing: Any = None
        return tallies.Tallies(
            nothing, np.zeros((rows, columns)), nothing, nothing, ("", ""), nothing, {}, False
        ).size()

    assert size(1, 9) == (5.0, 2.6)
    assert size(2, 3) == pytest.approx((3.9, 2.6 * 2 / 3 + 0.9))
    assert size(10, 10) == pytest.approx((5.5, 5.1))
    assert size(2, 9) == pytest.approx((5.08, 3.78 / 2 + 0.9))
    assert size(100, 30) == pytest.approx((6.5, 5.9))


def test_the_line_between_answers_has_a_side_for_each_pair_of_cells():
    found = tallies.boundary_line(np.array([[1, 1], [1, 2]]))
    assert {tuple(map(tuple, side)) for side in found.tolist()} == {((0.5, 0.5), (0.5, 1.5)), ((0.5, 0.5), (1.5, 0.5))}
    assert len(tallies.boundary_line(np.ones((3, 3)))) == 0


def hatched_cells(axes):
    """The cells (across, up) that are hatched."""
    hatches = [each.get_path() for each in axes.patches if each.get_hatch()]
    corners = [each.vertices.reshape(-1, 5, 2) for each in hatches]
    boxes = [(box.min(axis=0) + 0.5, box.max(axis=0) + 0.5) for each in corners for box in each]
    return {
        (x, y)
        for low, high in boxes
        for x in range(int(low[0]), int(high[0]))
        for y in range(int(low[1]), int(high[1]))
    }


def test_printed_in_grey_a_map_without_numbers_tells_the_answers_apart():
    space = hetdp.spaces.tallies({"a": 40, "b": 30}, hetdp.questions.majority(), 0.1)
    answers_2 = {(a, b) for a in range(41) for b in range(31) if a + b <= 35}
    for what in (space, hetdp.design(space, "balanced")):
        assert hatched_cells(hetdp.plot(what)) == answers_2
    written = hetdp.plot(hetdp.design(council()))
    assert hatched_cells(written) == set()
    assert ".57" in {text.get_text() for text in written.texts}
