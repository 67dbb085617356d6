"""Several edges of different classes between two datasets: the tightest binds, and every class counts."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from hetdp.mechanism.odds import edge_odds
from hetdp.mechanism.scaling import Pattern
from hetdp.releases.audit import arcs_between, worst_edges
from hetdp.releases.charges import account_name, costs_of
from tests.loops import for_each
from tests.problem.multigraphs import Multigraph, multigraphs
from tests.stress import times

TIGHTEST_IS_ONE_EDGE = ("pure", "bounded-range", "gaussian", "directed")  # the least of each parameter says it all
ALL_NOTIONS = (*TIGHTEST_IS_ONE_EDGE, "approximate")


def pair(**options) -> hetdp.Problem:
    """Two datasets of different answers, joined by an edge for Ann and a weaker one for Bob."""
    graph = hetdp.DatasetGraph.from_edges("aa", "bb", [0.5, 2.0], classes=["Ann", "Bob"], **options)
    return hetdp.Problem(graph, [1, 2])


@pytest.mark.parametrize("notion", TIGHTEST_IS_ONE_EDGE)
@settings(max_examples=times(20))  # of each notion
@given(st.data())
def test_values_are_those_of_the_graph_with_the_tightest_edges(notion, data):
    drawn = data.draw(multigraphs(notion))
    several, one = drawn.problem(), drawn.simple()
    for engine in ("reference", "cpu"):
        for objective in ("fair", "balanced"):
            here, there = (hetdp.design(problem, objective, engine=engine) for problem in (several, one))
            assert here.coordinates.tobytes() == there.coordinates.tobytes()
            assert hetdp.verify(several, here).private
    assert several.boundary == one.boundary


@settings(max_examples=times(15, stressed=50))
@given(multigraphs("approximate"))
def test_with_delta_every_promise_of_a_pair_holds_and_the_engines_agree(drawn):
    problem = drawn.problem()
    for objective in ("fair", "balanced"):
        here, there = (hetdp.design(problem, objective, engine=engine) for engine in ("reference", "cpu"))
        assert here.coordinates.tobytes() == there.coordinates.tobytes()
    for row in drawn.rows:  # each row alone is a problem on which the mechanism must be private
        assert hetdp.verify(drawn.problem([row]), hetdp.PartialMechanism(z=here.coordinates)).private


@pytest.mark.parametrize("notion", ALL_NOTIONS)
@settings(max_examples=times(20))  # of each notion
@given(st.data(), st.integers(0, 99))
def test_an_extension_is_proved_best_and_explained_by_edges_that_bind(notion, data, seed):
    drawn = data.draw(multigraphs(notion))
    problem, given_ = drawn.problem(), drawn.values(np.random.default_rng(seed))
    found = hetdp.extend(problem, hetdp.PartialMechanism(z=given_))
    certificate = hetdp.verify(problem, found)
    assert certificate.private
    assert certificate.optimal
    assert certificate.edges == problem.graph.arc_count // 2
    step = problem.notion.step
    for label in range(drawn.size):
        path = found.explain(label)
        sign = 1.0 if path.upper else -1.0
        for at, promised in enumerate(path.parameters):
            between = problem.graph.edges_between(*path.datasets[at : at + 2])
            assert (promised, path.classes[at]) in between
            bounds = [step(sign * path.coordinates[at], *edge.parameters.values()) for edge in between]
            here = step(sign * path.coordinates[at], *promised.values())
            assert here <= min(bounds) + 1e-12


@given(multigraphs())
def test_charges_are_the_largest_promise_of_every_class(drawn):
    costs = costs_of(drawn.problem())
    expected: dict[str, list[float]] = {}
    names = list(costs.allowed)
    for name, rows in drawn.by_class().items():
        by_letter = [[], []] if len(names) == 2 else [[]]
        for row in rows:
            for at, value in enumerate(row.parameters):
                by_letter[at // 2 if len(row.parameters) > 1 else 0].append(value)
        expected[account_name(name)] = [max(values) for values in by_letter]
    found = {name: [float(costs.allowed[letter][at]) for letter in names] for at, name in enumerate(costs.names)}
    assert found == expected


@given(multigraphs())
def test_odds_of_a_class_are_those_of_its_edges_alone(drawn):
    problem = drawn.problem()
    mechanism = hetdp.design(problem, "fair")
    report = edge_odds(problem, mechanism)
    assert report.keys() == drawn.by_class().keys()
    for name, rows in drawn.by_class().items():
        alone = drawn.problem(rows)
        other = edge_odds(alone, hetdp.PartialMechanism(z=mechanism.coordinates))[name]
        assert (report[name].edges, report[name].unprotected) == (len(rows), other.unprotected)
        assert (report[name].loss, report[name].high, report[name].low) == (other.loss, other.high, other.low)


@given(multigraphs(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(drawn: Multigraph, shuffle: random.Random):
    rows = [row if shuffle.random() < 0.5 else reversed_row(drawn, row) for row in drawn.rows]
    shuffle.shuffle(rows)
    one, other = drawn.problem(), drawn.problem([*rows, *rows[:2]])  # rows that are listed twice are one edge
    assert one.identity == other.identity
    assert one.graph.edge_classes() == other.graph.edge_classes()
    assert all(map(np.array_equal, one.graph.edges(), other.graph.edges()))


def reversed_row(drawn: Multigraph, row):
    low = min(row.source, row.target), max(row.source, row.target)
    seen = row.seen_from_first(drawn.notion)
    ends = low if row.source > row.target else low[::-1]
    other = row._replace(source=low[0], target=low[1], parameters=seen)
    return (
        other
        if ends == low
        else other._replace(
            source=ends[0],
            target=ends[1],
            parameters=row._replace(source=1, target=0, parameters=seen).seen_from_first(drawn.notion),
        )
    )


@given(multigraphs(), st.sampled_from([0.0, 0.5, 3.0]))
def test_a_multiple_of_every_epsilon_keeps_all_edges(drawn, multiple):
    pattern = Pattern(drawn.problem())
    for scaled in (pattern.times(multiple), pattern.times(multiple, with_classes=False), pattern.limit()):
        assert scaled.graph.edge_count == pattern.problem.graph.edge_count
        if pattern.problem.graph.is_parallel:  # else classes may be left out
            assert sorted(map(repr, scaled.graph.edge_classes())) == sorted(repr(row.edge_class) for row in drawn.rows)


def test_the_identity_distinguishes_parallel_edges_from_one_edge():
    once = hetdp.DatasetGraph.from_edges("a", "b", [0.5], classes=["Ann"])
    assert pair().identity != hetdp.Problem(once, [1, 2]).identity


def test_one_class_that_is_listed_twice_is_refused_or_merged_and_the_others_stay():
    columns = "aaa", "bbb", [0.5, 2.0, 1.0]
    with pytest.raises(hetdp.InputError, match=r"edge 2 .*contradictory duplicate edge, ε 1.0 here, 0.5 at edge 0"):
        hetdp.DatasetGraph.from_edges(*columns, classes=["Ann", "Bob", "Ann"])
    graph = hetdp.DatasetGraph.from_edges(*columns, classes=["Ann", "Bob", "Ann"], duplicates="min")
    assert (graph.edges()[2].tolist(), graph.edge_classes()) == ([0.5, 2.0], ["Ann", "Bob"])
    graph = hetdp.DatasetGraph.from_edges("aa", "bb", [0.5, 2.0], classes=["Ann", None])
    assert graph.edge_classes() == ["Ann", None]


def test_an_edge_that_promises_nothing_stays_beside_one_that_does():
    graph = hetdp.DatasetGraph.from_edges("aa", "bb", [0.5, math.inf], classes=["Ann", "Bob"])
    problem = hetdp.Problem(graph, [1, 2])
    assert (graph.edge_count, graph.arc_count, graph.edge_classes()) == (2, 2, ["Ann", "Bob"])
    assert costs_of(problem).allowed["epsilon"].tolist() == [0.5, math.inf]
    assert hetdp.odds(hetdp.design(problem)).by_class["Bob"].unprotected == 1


def test_several_epsilon_delta_promises_hold_together():
    graph = hetdp.DatasetGraph.from_edges("aa", "bb", [0.0, 1.0], delta=[0.3, 0.1], classes=["near", "far"])
    problem = hetdp.Problem(graph, [1, 2])
    p, q = (hetdp.design(problem)[name] for name in "ab")
    assert max(p - q - 0.3, p - math.e * q - 0.1, 1 - q - math.e * (1 - p) - 0.1) <= 1e-12
    assert max(p - q - 0.3, p - math.e * q - 0.1) == pytest.approx(0.0, abs=1e-9)  # and one of them is tight


def test_the_step_of_a_path_names_the_class_that_binds():
    graph = hetdp.DatasetGraph.from_edges("aaab", "bbbc", [0.5, 2.0, 1.0, 1.0], classes=["Ann", "Bob", None, "Ann"])
    found = hetdp.extend(hetdp.Problem(graph, [1, 1, 2]), {"b": 0.6, "c": 0.4})
    assert found.explain("a").classes == ["Ann"]
    assert "over ε = 0.5 (class 'Ann'): p(a) at most" in str(found.explain("a"))


def test_which_edge_binds_depends_on_the_value_where_there_is_delta():
    graph = hetdp.DatasetGraph.from_edges("aa", "bb", [0.1, 3.0], delta=[0.2, 0.0], classes=["sum", "factor"])
    problem = hetdp.Problem(graph, [1, 1])
    for p, name in ((0.4, "sum"), (0.002, "factor")):
        assert hetdp.extend(problem, {"b": p}).explain("a").classes == [name]


def test_an_audit_looks_at_the_promise_to_every_class():
    problem = pair()
    found = {(arc.source, arc.promised, arc.edge_class) for arc in arcs_between(problem, 0, 1)}
    assert found == {(0, 0.5, "Ann"), (0, 2.0, "Bob"), (1, 0.5, "Ann"), (1, 2.0, "Bob")}
    leaky = {"a": 0.8, "b": 0.2}  # Bob was promised 2, and loses 1.39; Ann was promised 0.5
    audit = hetdp.audit(problem, leaky, draws=3000)
    assert {edge.edge_class for edge in audit.contradictions} == {"Ann"}
    assert {edge.edge_class for edge in audit.edges} == {"Ann", "Bob"}
    assert "promised 0.5 to class 'Ann'" in str(audit)


def test_parallel_edges_do_not_crowd_out_other_pairs_in_an_audit():
    many = 30
    graph = hetdp.DatasetGraph.from_edges(["a"] * many + ["c"], ["b"] * many + ["d"], 0.5, classes=[*range(many), 0])
    problem = hetdp.Problem(graph, {"a": 1, "b": 2, "c": 1, "d": 2})
    assert len(worst_edges(problem, np.array([1.0, -1.0, 1.0, -1.0]), 2, 100)) == 2


def test_solve_epsilon_accepts_parallel_edges_of_different_classes():
    found = hetdp.solve_epsilon(pair(), 0.75)
    assert found.multiple * 0.5 == pytest.approx(math.log(3.0), rel=1e-6)


def test_accuracy_repairs_and_induced_bounds_accept_parallel_edges():
    problem = pair()
    assert hetdp.accuracy(problem, hetdp.design(problem)).methods
    verdict = hetdp.check(problem, {"a": 0.9, "b": 0.1})
    assert not verdict.compatible
    assert verdict.witness.path.classes == ["Ann"]
    assert verdict.repair.below["a"] == pytest.approx(0.1 * math.exp(0.5))
    assert hetdp.extend(problem, verdict.repair.pins)["a"] > 0.5
    assert hetdp.induced_bounds(problem.graph, "a", 0.1)[1] == pytest.approx(0.1 * math.exp(0.5))


@for_each("notion", ALL_NOTIONS)
def test_the_best_average_is_that_of_the_tightest_edges(notion):
    name = "mu" if notion == "gaussian" else "epsilon"
    kind = (
        {"delta": 0.01}
        if notion == "approximate"
        else {"epsilon_back": [0.5, 1.0, 0.3, 0.7]}
        if notion == "directed"
        else {}
    )
    ends, classes = ("aabb", "bbcc"), ["x", "y", "x", "y"]
    graph = hetdp.DatasetGraph.from_edges(*ends, **{name: [0.5, 1.0, 0.7, 0.3]}, classes=classes, **kind)
    kind = {key: [0.5, 0.3] if key == "epsilon_back" else value for key, value in kind.items()}
    least = hetdp.DatasetGraph.from_edges("ab", "bc", **{name: [0.5, 0.3]}, **kind)
    here, there = (hetdp.design(hetdp.Problem(one, [1, 1, 2], notion), "average") for one in (graph, least))
    assert np.mean(here.errors) == pytest.approx(np.mean(there.errors), abs=1e-6)
