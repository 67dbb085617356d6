"""Tallies in partitions: edges that no table stores, and the same values as on one machine."""

from __future__ import annotations

import numpy as np
import pytest

import hetdp
from hetdp.partitioned import workspace
from tests.partitioned.inline import Inline, coordinates
from tests.stress import mostly_long

GROUPS = {"Pupils": 12, "Staff": 5}
ALERT = hetdp.questions.count("ill", at_least=4)
TWO = ("ill", "well")
THREE = ("ill", "well", "away")


@pytest.fixture(autouse=True)
def inline(monkeypatch):
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline())


CASES = [  # the first three take each value once
    *((7, TWO, "fair"), (3, THREE, "balanced"), (1, THREE, "fair")),
    *((7, THREE, "fair"), (3, TWO, "fair"), (1, TWO, "fair"), (3, THREE, "fair")),
    *((7, THREE, "balanced"), (7, TWO, "balanced"), (3, TWO, "balanced"), (1, TWO, "balanced"), (1, THREE, "balanced")),
]


@pytest.mark.parametrize(("count", "values", "objective"), mostly_long(CASES, 3))
def test_tallies_in_partitions_are_those_of_one_machine(tmp_path, count, values, objective):
    privacy = {"Pupils": 0.3, "Staff": 1}
    groups = GROUPS if len(values) == 2 else {"Pupils": 4, "Staff": 3}
    problem = hetdp.spaces.tallies(groups, ALERT, privacy, values)
    partitioned = hetdp.spaces.partitioned_tallies(
        groups, ALERT, privacy, values, work=tmp_path / "work", partitions=count
    )
    assert partitioned.identity == problem.identity
    assert (partitioned.graph.size, partitioned.graph.edge_count) == (problem.graph.size, problem.graph.edge_count)
    whole, mechanism = hetdp.design(problem, objective), hetdp.design(partitioned, objective)
    assert np.array_equal(coordinates(mechanism).view(np.int64), whole.coordinates.view(np.int64))
    assert mechanism.certificate.optimal
    assert mechanism.certificate.worst_edge == whole.certificate.worst_edge
    label = problem.labels.names[-1]
    assert mechanism[label] == whole[label]
    for label in problem.labels.names[:: len(problem.labels.names) // 5]:
        assert str(mechanism.explain(label)).splitlines()[-1] == str(whole.explain(label)).splitlines()[-1]
        assert mechanism.explain(label).origin == whole.explain(label).origin


def test_values_may_be_given_and_the_mechanism_written(tmp_path):
    problem = hetdp.spaces.tallies({"All": 9}, hetdp.questions.count("yes", at_least=5), 0.5)
    partitioned = hetdp.spaces.partitioned_tallies(
        {"All": 9}, hetdp.questions.count("yes", at_least=5), 0.5, work=tmp_path / "work", partitions=3
    )
    pins = {(4,): 0.45, (5,): 0.55}
    mechanism, whole = hetdp.extend(partitioned, pins), hetdp.extend(problem, pins)
    assert np.array_equal(coordinates(mechanism), whole.coordinates)
    assert hetdp.check(partitioned, pins).compatible
    hetdp.save(mechanism, tmp_path / "saved")
    assert partitioned.identity == problem.identity
    for loaded in (hetdp.read_mechanism(tmp_path / "saved"), hetdp.read_mechanism(tmp_path / "saved", problem)):
        assert list(loaded.keys()) == [(count,) for count in range(10)]
        assert np.array_equal(loaded.coordinates, whole.coordinates)
    with pytest.raises(hetdp.UsageError, match="a problem that was read from files"):
        hetdp.read_mechanism(tmp_path / "saved", partitioned)


def test_unsupported_operations_are_refused(tmp_path):
    with pytest.raises(hetdp.UsageError, match="can be partitioned"):
        hetdp.spaces.partitioned_tallies({"a": 10**7, "b": 10**7}, ALERT, 1, TWO)
    with pytest.raises(hetdp.UsageError, match=r"expected a question, got 'who\?'"):
        hetdp.spaces.partitioned_tallies(GROUPS, "who?", 1)


def test_a_layout_made_from_files_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline(twice=False))
    graph = hetdp.DatasetGraph.from_edges(range(9), range(1, 10), 0.5)
    hetdp.save(hetdp.Problem(graph, [1] * 5 + [2] * 5), tmp_path / "row", {4: 0.55, 5: 0.45})
    question, options = hetdp.questions.count("yes", at_least=5), {"work": tmp_path / "work", "partitions": 2}
    with hetdp.read_partitioned(tmp_path / "row", **options) as (problem, given):
        assert hetdp.extend(problem, given)[4] == 0.55
    with pytest.raises(hetdp.UsageError, match="holds a problem that was read from files; its files may have"):
        hetdp.spaces.partitioned_tallies({"All": 9}, question, 0.5, **options)
    with hetdp.read_partitioned(tmp_path / "row", **options) as (problem, given):
        assert hetdp.extend(problem, given)[4] == 0.55
    with pytest.raises(hetdp.UsageError, match="tallies have no files"):
        hetdp.spaces.partitioned_tallies({"All": 9}, question, 0.5, partitions="files")


def test_tallies_that_are_in_use_are_not_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline(twice=False))
    graph = hetdp.DatasetGraph.from_edges(range(9), range(1, 10), 0.5)
    hetdp.save(hetdp.Problem(graph, [1] * 5 + [2] * 5), tmp_path / "row", {4: 0.55, 5: 0.45})
    options = {"work": tmp_path / "work", "partitions": 2}

    def make_tallies(least: int, epsilon: float, **changes):
        question = hetdp.questions.count("yes", at_least=least)
        return hetdp.spaces.partitioned_tallies({"All": 9}, question, epsilon, **options | changes)

    first = make_tallies(5, 0.5)
    expected = coordinates(hetdp.design(first, "balanced"))
    for given in (
        {"least": 3, "epsilon": 0.5},
        {"least": 5, "epsilon": 3},
        {"least": 5, "epsilon": 0.5, "partitions": 3},
    ):
        with pytest.raises(hetdp.UsageError, match="holds other tallies; its files may have"):
            make_tallies(**given)
    with pytest.raises(hetdp.UsageError, match="holds tallies; its files may have"):
        hetdp.read_partitioned(tmp_path / "row", **options)
    again = make_tallies(5, 0.5)  # the same, as after a run that was lost
    for problem in (first, again):
        assert np.array_equal(coordinates(hetdp.design(problem, "balanced")), expected)
