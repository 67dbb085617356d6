"""Parts of pictures one by one, most of them without drawing: places, ticks, cells, widths, names and accounts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.plots import network, summary, tallies
from hetdp.plots.canvas import detached_axes, drawable_text, import_refusal, two_digits
from hetdp.plots.curves import Curve, merge_equal
from hetdp.plots.layout import Layout
from hetdp.plots.ledger import accounts_of, size_of_ledger
from hetdp.plots.network_labels import _widths, columns_of, size_of_picture
from hetdp.plots.plot import drawing_of
from hetdp.plots.summary import Summary, merge_far, position_of, positions_of, tick_labels, ticks_of
from tests.plots.shown import line


def make_summary(levels: list[int], answers: list[int] | None = None, followed: bool = True) -> Summary:
    found = np.array(levels)
    truth = np.where(found > 0, 1, 2) if answers is None else np.array(answers)
    nothing: Any = np.zeros(len(levels))
    return Summary(line(4), found, truth, 1, followed, nothing, nothing)


# Summaries ------------------------------------------------------------------------------------------------------------


def test_far_distances_share_places_only_if_there_are_too_many(monkeypatch):
    monkeypatch.setattr(summary, "MOST_PLACES", 6)
    assert merge_far(np.arange(7))[1] == 1
    steps = np.arange(1001)
    places, share = merge_far(steps)
    assert places[0] == 0
    assert (np.diff(places) >= 0).all()
    assert len(np.unique(places)) <= 7
    widest = max(np.bincount(places)[np.unique(places)])
    assert share == widest
    for place in np.unique(places[1:]):
        members = steps[places == place]
        assert members[0] <= place <= members[-1]
        assert abs(place - (members[0] + members[-1]) / 2) <= 0.5


def test_distances_are_even_up_to_sixty_and_closer_beyond():
    assert position_of([1, 2, 60], True).tolist() == [0.5, 1.5, 59.5]
    far = position_of([1, 3, 4, 100], False)
    assert far[:2].tolist() == [0.5, 2.5]
    assert far[2] == pytest.approx(3.0 * (1 + np.log(3.5 / 3)))
    assert far[3] < 20
    assert summary.is_even(make_summary([-60, 60]))
    assert not summary.is_even(make_summary([-61, 1]))
    assert summary.far_of(make_summary([0], [1])) == 0


def test_datasets_without_a_path_stand_outside_on_their_side():
    assert positions_of(make_summary([-2, -1, 1, 0, 0], [2, 2, 1, 1, 2])).tolist() == [-1.5, -0.5, 0.5, 2.5, -2.5]
    assert positions_of(make_summary([0, 0], [1, 2])).tolist() == [1.0, -1.0]
    assert summary.room_aside(make_summary([-20, 20])) == pytest.approx(0.22 * 19.5)
    assert tick_labels(make_summary([0, 0], [1, 2])) == [(-1.0, "no path"), (1.0, "no path")]
    named = tick_labels(make_summary([0, 0], [1, 2], followed=False))
    assert [words.partition("\n")[0] for _, words in named] == ["true answer:", "true answer:"]
    assert named[0][1] != named[1][1]


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ([-1, 1], ["1", "1"]),
        ([1, 2, 3], ["1", "2", "3"]),
        ([-9, 9], ["8", "6", "4", "2", "1", "1", "2", "4", "6", "8"]),
        ([-15, 15], ["15", "10", "5", "1", "1", "5", "10", "15"]),
        ([-15, 16], ["15", "10", "5", "5", "10", "15"]),
        ([-60, 60], ["60", "50", "40", "30", "20", "10", "10", "20", "30", "40", "50", "60"]),
    ],
)
def test_ticks_are_round_and_about_a_dozen(levels, words):
    assert [summary.steps_at(place) for place in ticks_of(np.array(levels))] == words


@pytest.mark.parametrize(
    ("far", "right"),
    [
        (99, ["1", "3", "10", "30"]),
        (999, ["1", "3", "10", "30", "100", "300"]),
        (9_999, ["10", "100", "1,000"]),
        (200_000, ["10", "1,000", "100,000"]),
    ],
)
def test_far_ticks_are_powers_of_ten(far, right):
    marks = tick_labels(make_summary([-5, far]))
    assert [words for place, words in marks if place > 0] == right
    assert [words for place, words in marks if place < 0] == (["3", "1"] if far < 1000 else [])
    assert [place for place, _ in marks] == sorted(place for place, _ in marks)


# Tallies --------------------------------------------------------------------------------------------------------------


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
    assert fix(("a", "", "c"), (2, 3, 4), {"c": 3}) == {2: 3}
    assert fix(("a", "", "c"), (2, 3, 4), {"count 2": 0}) == {1: 0}
    assert fix(("a", "b"), (2, 3), {}) == {}
    for at, words in (
        ({"c": 4}, "from 0 to 3"),
        ({"c": -1}, "from 0 to 3"),
        ({"c": True}, "from 0 to 3"),
        ({"c": 1.0}, "from 0 to 3"),
        ({"d": 1}, "there is no count of 'd'"),
        ({"a": 0, "c": 0}, "leave two out"),
    ):
        with pytest.raises(hetdp.UsageError, match=words):
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
        return tallies.Tallies(nothing, np.zeros((rows, columns)), nothing, nothing, ("", ""), nothing, {}, False).size

    assert size(1, 9) == (5.0, 2.6)
    assert size(2, 3) == pytest.approx((3.9, 2.6 * 2 / 3 + 0.9))
    assert size(10, 10) == pytest.approx((5.5, 5.1))
    assert size(2, 9) == pytest.approx((5.08, 3.78 / 2 + 0.9))
    assert size(100, 30) == pytest.approx((6.5, 5.9))


def test_the_line_between_answers_has_a_side_for_each_pair_of_cells():
    found = tallies.boundary_line(np.array([[1, 1], [1, 2]]))
    assert {tuple(map(tuple, side)) for side in found.tolist()} == {((0.5, 0.5), (0.5, 1.5)), ((0.5, 0.5), (1.5, 0.5))}
    assert len(tallies.boundary_line(np.ones((3, 3)))) == 0


# Networks -------------------------------------------------------------------------------------------------------------


def test_a_graph_is_drawn_as_a_network_up_to_its_limits(monkeypatch):
    problem = line(5)
    monkeypatch.setattr(network, "MOST_DATASETS", 5)
    monkeypatch.setattr(network, "MOST_EDGES", 4)
    assert network.is_small(problem)
    monkeypatch.setattr(network, "MOST_EDGES", 3)
    assert not network.is_small(problem)
    monkeypatch.setattr(network, "MOST_EDGES", 4)
    monkeypatch.setattr(network, "MOST_DATASETS", 4)
    assert not network.is_small(problem)


def test_edges_are_thinner_where_epsilon_is_larger():
    assert network.edge_widths(np.array([0.0, np.inf, 2.0])).tolist() == [4.2, 0.7, 1.5]
    assert network.edge_widths(np.array([0.1, 1.0, 10.0])).tolist() == pytest.approx([4.2, 2.45, 0.7])
    assert network.edge_widths(np.array([])).tolist() == []
    assert network.line_width(32.0) == 1.0
    assert network.line_width(64.0) == 1.0
    assert network.line_width(1.0) == pytest.approx(0.12**0.8)


def test_parameters_that_are_not_drawn_are_noted():
    def arrays(**known: list[float]) -> dict[str, Any]:
        return {name: np.array(values) for name, values in known.items()}

    assert network.other_parameters(arrays(epsilon=[1.0], epsilon_back=[1.0])) == []
    both = arrays(epsilon=[1.0], delta=[0.1], delta_back=[0.1])
    assert network.other_parameters(both) == ["δ = 0.1"]
    assert network.other_parameters(both | arrays(delta_back=[0.2])) == ["δ = 0.1 … 0.2"]
    assert network.other_parameters(arrays(epsilon=[], delta=[], delta_back=[])) == []


def test_bounds_along_a_path_have_their_direction():
    for upper, sign in ((True, "≤"), (False, "≥")):
        path: Any = SimpleNamespace(upper=upper, bounds=[0.5, 0.6], coordinates=[0.0, 0.2])
        assert network.bounds_of([3, 5], path) == {3: "= .50", 5: f"{sign} .60"}


def test_three_widths_are_in_the_legend_or_the_extremes():
    assert _widths(np.array([2.0, 1.0, 2.0]), np.array([5.0, 6.0, 5.0])) == ([(1.0, 6.0), (2.0, 5.0)], False)
    assert _widths(np.arange(3.0), np.arange(3.0))[1] is False
    assert _widths(np.arange(4.0), np.arange(4.0)) == ([(0.0, 0.0), (3.0, 3.0)], True)


def test_the_size_of_a_network_follows_its_columns():
    def layout(across: list[float], tallest: int) -> Layout:
        nothing = np.zeros(len(across), dtype=np.int64)
        return Layout(np.array(across), nothing.astype(float), nothing, 0, 1, tallest)

    assert columns_of(layout([], 1)) == 1.0
    assert columns_of(layout([-1.0, 2.0], 1)) == 4.0
    assert size_of_picture(layout([-1.0, 2.0], 4)) == pytest.approx((5.6, 3.98))
    assert size_of_picture(layout([0.0], 1)) == (4.2, 2.5)
    assert size_of_picture(layout([0.0, 20.0], 20)) == (6.6, 4.8)


# Texts, curves and ledgers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "words"),
    [(0.995, ".99"), (0.9951, ">.99"), (0.005, ".01"), (0.0049, "<.01"), (0.5, ".50"), (0.0, "0"), (1.0, "1")],
)
def test_two_digits_are_never_certain(p, words):
    assert two_digits(p) == words


def test_long_texts_are_cut_in_the_middle():
    assert drawable_text("a" * 24) == "a" * 24
    assert drawable_text("a" * 25) == "a" * 11 + "…" + "a" * 11
    assert drawable_text("") == '""'
    assert "not installed" in str(import_refusal(ImportError("x", name="matplotlib")))
    assert "does not load: x" in str(import_refusal(ImportError("x", name="numpy")))


def test_curves_coincide_if_kind_places_and_values_do():
    x, y = np.array([1.0, 2.0]), np.array([0.6, np.nan])
    same = Curve(("b",), False, x, y + 1e-10)
    others = [
        Curve(("c",), True, x, y),
        Curve(("d",), False, x + 1, y),
        Curve(("e",), False, x, y + 1e-6),
        Curve(("f",), False, x[:1], y[:1]),
    ]
    merged = merge_equal([Curve(("a",), False, x, y), same, *others, same])
    assert [curve.names for curve in merged] == [("a", "b", "b"), ("c",), ("d",), ("e",), ("f",)]
    assert Curve(tuple("abc"), False, x, y).words == "a / b / c"
    assert Curve(tuple("abcde"), False, x, y).words == "a / b / c and 2 more"


def test_accounts_have_their_source_where_there_are_several():
    one = SimpleNamespace(name="a", spent="0.5", cap="1")
    free = SimpleNamespace(name="b", spent="2", cap="inf")
    people = SimpleNamespace(classes=("x", "y"), most_spent="0.1", cap="1")
    row = SimpleNamespace(source="s", unit="ε", classes=[one, free], people=0, by_cap=[people])
    assert [(account.name, account.words) for account in accounts_of([row])] == [("a", "0.5 of 1 ε"), ("b", "2 ε")]
    other = SimpleNamespace(source="t", unit="ε", classes=[], people=3, by_cap=[people])
    assert [account.name for account in accounts_of([row, other])] == [
        "s: a",
        "s: b",
        "t: x, y: people (largest amount)",
    ]
    assert size_of_ledger([]) == size_of_ledger(accounts_of([row])) == (5.6, 1.6)
    assert size_of_ledger(accounts_of([row]) * 30) == (5.6, 13.0)


def test_a_title_stands_above_its_caution():
    drawn = drawing_of(line(4), "network", None, True, False)
    for title, caution, words in (
        ("T", "", "T"),
        (None, "c", "Caution: c"),
        ("T", "c", "T\nCaution: c"),
        (None, "", ""),
    ):
        axes = detached_axes()
        drawn._replace(caution=caution).draw_alone(axes, title)
        assert axes.get_title(loc="left") == words
        assert tuple(axes.get_figure().get_size_inches()) == pytest.approx(drawn.size)
