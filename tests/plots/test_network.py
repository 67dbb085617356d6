"""The picture of a graph: the data behind its colours, rings and widths, and the highlighted path."""

from __future__ import annotations

import math
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.plots import network
from hetdp.plots.layout import Layout
from hetdp.plots.network import THICK, THIN, edge_widths
from hetdp.plots.network_labels import _widths, columns_of, size_of_picture
from hetdp.plots.plot import drawing_of
from tests.plots.shown import HOSTILE, hostile, line, unwrapped, voters, words


def data_of(what, explain=None):
    drawing = drawing_of(what, "network", explain, True, True)
    assert drawing.name == "network"
    return drawing.data


def test_colours_rings_and_widths_are_those_of_the_mechanism():
    mechanism = hetdp.design(voters())
    found = data_of(mechanism)
    assert (found.p == mechanism.probabilities).all()
    assert (found.ringed == mechanism.pinned).all()
    epsilon = {frozenset(pair) for pair in (("112", "212"), ("121", "221"))}
    names = voters().graph.datasets
    for source, target, width in zip(found.source, found.target, found.widths, strict=True):
        assert width == (THICK if {names[source], names[target]} in epsilon else THIN)


def test_the_drawing_has_the_colours_of_the_probabilities():
    mechanism = hetdp.design(voters())
    axes = hetdp.plot(mechanism)
    painted = [each.get_array() for each in axes.collections if each.get_array() is not None]
    assert sorted(np.concatenate(painted).tolist()) == sorted(mechanism.probabilities.tolist())
    for each in axes.collections:
        if each.get_array() is not None:
            assert (each.norm.vmin, each.norm.vmax) == (0.0, 1.0)


def test_a_problem_shows_its_true_answers_and_its_boundary():
    found = data_of(voters())
    assert found.p.tolist() == [1, 1, 1, 0, 1, 0, 0, 0]
    assert (found.ringed == voters().boundary_mask).all()


def test_the_path_that_binds_a_dataset_is_highlighted():
    problem = line(8)
    mechanism = hetdp.extend(problem, {3: 0.4, 4: 0.6})
    assert data_of(mechanism, 7).chain.tolist() == [4, 5, 6, 7]
    assert data_of(mechanism, mechanism.explain(7)).chain.tolist() == [4, 5, 6, 7]
    axes = hetdp.plot(mechanism, explain=7)
    assert "path that binds 7" in words(axes)
    assert unwrapped(axes).count("ε = 0.5") == 5  # each step, and in the legend the edges and the path
    assert len(data_of(mechanism).chain) == 0


def test_a_witness_is_highlighted_with_its_bound():
    problem = voters()
    witness = hetdp.check(problem, {"111": 0.95, "222": 0.05}).witness
    found = data_of(problem, witness)
    assert [problem.graph.label(at) for at in found.chain.tolist()] == witness.path.datasets
    assert next(iter(found.bounds.values())) == "= .05"
    allowed = [f"≤ {bound:.2f}".replace("0.", ".") for bound in witness.path.bounds[1:]]
    assert list(found.bounds.values())[1:] == [*allowed[:-1], f"{allowed[-1]}\ngiven .95"]
    assert f"111\n{found.bounds[problem.graph.index('111')]}" in words(hetdp.plot(problem, explain=witness))


@pytest.mark.parametrize(("asked", "said"), [(0.8, "≤ .33\ngiven .80"), (0.33, "≤ 0.329744\ngiven 0.33")])
def test_a_contradiction_shows_the_given_and_the_allowed_value(asked, said):
    problem = line(2)
    witness = hetdp.check(problem, {0: 0.2, 1: asked}).witness
    assert f"1\n{said}" in words(hetdp.plot(problem, explain=witness))
    path = data_of(problem, witness.path)  # the given value is unknown
    assert path.bounds[1] == "≤ .33"


def test_smaller_epsilon_is_never_thinner():
    epsilon = np.array([0.0, 1e-9, 0.1, 0.5, 2.0, math.inf])
    assert (np.diff(edge_widths(epsilon)) <= 0).all()
    assert edge_widths(epsilon)[[0, -1]].tolist() == [THICK, THIN]
    assert len(set(edge_widths(np.full(3, 0.7)))) == 1
    assert edge_widths(np.array([0.0, math.inf])).tolist() == [THICK, THIN]
    assert len(edge_widths(np.zeros(0))) == 0


def test_the_more_private_of_two_directions_counts():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [2.0, 1.0], epsilon_back=[0.5, 3.0])
    assert data_of(hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})).epsilon.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(("column", "letter"), [({"mu": 0.5}, "μ"), ({"epsilon": 0.5, "delta": 0.01}, "ε")])
def test_other_notions_are_drawn_too(column, letter):
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], **column)
    mechanism = hetdp.design(hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2}))
    assert f"{letter} = 0.5" in words(hetdp.plot(mechanism, explain="a"))


def test_edges_within_a_column_go_around_what_lies_between():
    graph = hetdp.DatasetGraph.from_edges(["a", "b", "c", "a"], ["x", "x", "x", "c"], 1.0)
    found = data_of(hetdp.Problem(graph, {"a": 1, "b": 1, "c": 1, "x": 2}))
    (bent,) = np.flatnonzero(found.layout.levels[found.source] == found.layout.levels[found.target])
    lines = found.strokes()
    assert lines[bent, [0, -1], 0].tolist() == [0.5, 0.5]
    assert lines[bent, :, 0].max() > 0.6
    straight = np.delete(lines, bent, axis=0)
    middle = (straight[:, 0] + straight[:, -1]) / 2
    assert np.allclose(straight[:, straight.shape[1] // 2], middle)


def test_edges_without_a_constraint_are_dotted_and_in_the_legend():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [math.inf, 1.0])
    axes = hetdp.plot(hetdp.design(hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})))
    assert "ε = ∞" in words(axes)
    assert "no\npath" in words(axes)


def test_the_key_says_what_a_ring_means():
    problem = line(6)
    of_problem, of_mechanism = (words(hetdp.plot(one)) for one in (problem, hetdp.design(problem, "balanced")))
    assert ("on the boundary" in of_problem, "value given or chosen" in of_problem) == (True, False)
    assert ("on the boundary" in of_mechanism, "value given or chosen" in of_mechanism) == (False, True)


def test_hostile_labels_are_drawn_as_plain_text():
    mechanism = hetdp.design(hostile())
    axes = hetdp.plot(mechanism, explain=HOSTILE[0], title="$\\bad{ <b>")
    axes.get_figure().canvas.draw()
    seen = words(axes)  # no formula is tried, and no character is missing: either would be a warning, so an error
    assert "$\\frac{" in seen
    assert "_hidden" in seen
    assert "true answer: $x^$ </svg>" in seen
    assert "true answer: _no" in seen
    assert "\u202e" not in seen
    assert max(map(len, seen.split("\n"))) < 90


def test_with_many_datasets_only_those_on_the_path_are_named():
    mechanism = hetdp.design(line(200))
    assert not hetdp.plot(mechanism).texts
    names = {text.get_text().split("\n")[0] for text in hetdp.plot(mechanism, explain=199).texts}
    assert {"100", "199"} < names
    assert "99" not in names


@pytest.mark.parametrize("size", [50, 300])
def test_labels_along_a_long_path_do_not_overlap(size):
    axes = hetdp.plot(hetdp.design(line(size)), explain=size - 1)
    axes.get_figure().canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]
    assert len(boxes) > 4
    assert not [(one, other) for one, other in combinations(boxes, 2) if one.overlaps(other)]
    written = [text.get_text() for text in axes.texts]
    assert {str(size // 2), str(size - 1)} <= {text.split("\n")[0] for text in written}  # both ends
    assert f"path that binds {size - 1} ({size - size // 2 - 1} steps, ε = 0.5)" in unwrapped(axes)


def test_epsilon_that_is_not_written_at_a_step_is_in_the_legend_with_its_range():
    graph = hetdp.DatasetGraph.from_edges(list(range(49)), list(range(1, 50)), [1.0] * 48 + [0.25])
    problem = hetdp.Problem(graph, [2] * 25 + [1] * 25)
    assert "path that binds 49 (24 steps, ε = 0.25 … 1)" in unwrapped(hetdp.plot(hetdp.design(problem), explain=49))
    assert "path that binds 7 (3 steps, ε = 0.5)" in unwrapped(hetdp.plot(hetdp.design(line(8)), explain=7))


def test_a_dataset_that_no_path_binds_is_framed_with_a_note():
    mechanism = hetdp.extend(line(8), {3: 0.4, 4: 0.6})
    assert "the value of 4 is given" in words(hetdp.plot(mechanism, explain=4))
    assert "4 is given" in words(hetdp.plot(mechanism, explain=5))
    assert "the value of" not in words(hetdp.plot(mechanism, explain=5))
    assert "4 is chosen by fair, bound across ε = 0.5 from 3" in unwrapped(hetdp.plot(hetdp.design(line(8)), explain=7))
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0, datasets=["a", "b", "c"])
    free = hetdp.design(hetdp.Problem(graph, [1, 2, 1]))
    assert "no other value limits c" in words(hetdp.plot(free, explain="c"))


def test_delta_and_directions_are_in_the_legend_and_at_the_steps():
    both = {"epsilon_back": [2.0, 0.25], "delta": [0.01, 0.001]}
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.5, 0.25], **both)
    seen = words(hetdp.plot(hetdp.design(hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})), explain="a"))
    assert "ε: the smaller of two directions" in seen
    assert "δ = 0.001 … 0.01" in seen
    assert "ε = 2\nε back = 0.5\nδ = 0.01" in seen
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 0.5, delta=0.01)
    seen = words(hetdp.plot(hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})))
    assert "δ = 0.01" in seen
    assert "direction" not in seen
    assert "δ" not in words(hetdp.plot(voters()))


def test_the_legend_names_the_smallest_and_largest_of_many_epsilons():
    epsilon = [0.05, 0.1, 0.3, 2.0]
    seen = words(hetdp.plot(hetdp.Problem(line(5, epsilon).graph, [2, 2, 1, 1, 1])))
    assert "ε = 0.05, smallest" in seen
    assert "ε = 2, largest" in seen
    assert "smallest" not in words(hetdp.plot(voters()))


def test_the_tightest_of_parallel_edges_is_drawn_and_the_legend_says_so():
    graph = hetdp.DatasetGraph.from_edges(
        "aaab", "bbbc", [2.0, 0.5, math.inf, 1.0], classes=["Ann", "Bob", "Cem", "Ann"]
    )
    mechanism = hetdp.design(hetdp.Problem(graph, [1, 1, 2]))
    found = data_of(mechanism, "a")
    drawn = zip(found.source.tolist(), found.target.tolist(), found.epsilon.tolist(), strict=True)
    assert sorted(drawn) == [(0, 1, 0.5), (1, 2, 1.0)]
    assert found.beside == ["parallel edges: the smallest"]
    assert found.steps == [{"epsilon": 0.5}]
    assert "parallel edges: the smallest" in words(hetdp.plot(mechanism, explain="a"))


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
    assert size_of_picture(layout([-1.0, 2.0], 4))[0] == pytest.approx(5.6)
    assert size_of_picture(layout([0.0], 1))[0] == 4.2
    assert size_of_picture(layout([0.0, 20.0], 20))[0] == 6.6
    assert size_of_picture(layout([0.0, 20.0], 20), 3.3)[0] == 3.3


PLACES = {at: (at % 2, -at) for at in range(4)}


def refusal_of(positions, problem=None):
    with pytest.raises(hetdp.HetdpError) as error:
        hetdp.plot(problem or line(4), positions=positions)
    return str(error.value)


def test_datasets_stand_where_positions_say():
    axes = hetdp.plot(hetdp.design(line(4)), positions=PLACES | {3: np.array([5, 2.5])})
    drawn = {tuple(place) for each in axes.collections if each.get_array() is not None for place in each.get_offsets()}
    assert drawn == {(0, 0), (1, -1), (0, -2), (5, 2.5)}
    assert "steps to the other answer" not in words(axes)


def test_every_wrong_place_is_reported_at_once():
    message = refusal_of({0: (0, 0), 1: "12", 2: (1, math.nan), 7: (0, 0)})
    assert "positions[7]: unknown dataset" in message
    assert "positions[1]: not a place: '12'; a place is (x, y), two finite numbers" in message
    assert "positions[2]: not a place: (1, nan)" in message
    assert "dataset 3: no place; every dataset has a place" in message


@pytest.mark.parametrize("place", [3, None, (1,), (1, 2, 3), ("a", "b"), (1j, 2), (0, math.inf), (0, 10**400), "12"])
def test_positions_that_are_not_two_numbers_are_refused(place):
    assert "positions[3]: not a place" in refusal_of(PLACES | {3: place})


def test_two_datasets_in_one_place_are_refused():
    message = refusal_of(PLACES | {3: (0.0, 0)})
    assert "dataset 3: the same place as dataset 0; two datasets have different places" in message


@pytest.mark.parametrize("positions", [[(0, 0)] * 4, "circle", 3, {(0, 0)}])
def test_positions_are_a_mapping(positions):
    assert "positions is a mapping from each label to (x, y)" in refusal_of(positions)


def test_positions_are_for_the_network():
    for picture in ("tallies", "summary", "accuracy"):
        with pytest.raises(hetdp.UsageError, match=f"positions= in the picture '{picture}'; datasets have places in"):
            hetdp.plot(line(4), picture, positions=PLACES)
    with pytest.raises(hetdp.UsageError, match="positions= for 'Accuracy'; it is for a Mechanism or a Problem"):
        hetdp.plot(hetdp.accuracy(line(4)), positions=PLACES)
