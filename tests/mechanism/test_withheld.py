"""What cannot be proved is not returned; what is returned can be used like a mapping, and sent to another process."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import hetdp
from hetdp.engines import registry
from hetdp.engines.contract import Role
from hetdp.engines.reference.engine import ReferenceEngine
from hetdp.engines.registry import engine_for
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.theory.pure import PURE

GRAPH = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], [1.0, 0.5, 1.0])
PROBLEM = hetdp.Problem(GRAPH, {"a": 1, "b": 1, "c": 2, "d": 2})
PINS = {"b": 0.6, "c": 0.4}


class Overreaching(ReferenceEngine):
    """An engine with a bug: it promises a little too much."""

    def grow(self, space, notion, labels, roles=None, active=None):
        growth = super().grow(space, notion, labels, roles, active)
        return replace(growth, labels=np.where(growth.links >= 0, growth.labels + 0.01, growth.labels))


@pytest.mark.parametrize("verify", [True, False])
def test_a_mechanism_that_is_not_private_is_withheld(verify: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "_load", lambda name: Overreaching())
    with pytest.raises(hetdp.VerificationError, match="NOT PRIVATE") as caught:
        hetdp.extend(PROBLEM, PINS, engine="reference", verify=verify)
    assert not caught.value.certificate.private


@pytest.mark.parametrize("verify", [True, False])
def test_edges_that_are_not_all_seen_prove_nothing(verify: bool, monkeypatch: pytest.MonkeyPatch):
    problem = hetdp.Problem(GRAPH, {"a": 1, "b": 1, "c": 2, "d": 2})
    assert problem.boundary == ["b", "c"]
    monkeypatch.setattr(hetdp.DatasetGraph, "edge_blocks", lambda self: iter(()))
    with pytest.raises(hetdp.VerificationError):
        hetdp.extend(problem, {"b": 0.6, "c": 0.4}, verify=verify)


def test_coordinates_in_short_floats_are_judged_as_exactly_as_long_ones():
    graph = hetdp.DatasetGraph.from_edges([0], [1], [1.612798717611759])
    problem = hetdp.Problem(graph, [1, 2])
    z = np.array([1.189266324043274, -0.7493943572044373])
    short = LocalMechanism(problem, z.astype(np.float32), np.ones(2, bool), np.full(2, -1))
    long = LocalMechanism(problem, short.coordinates.astype(np.float64), np.ones(2, bool), np.full(2, -1))
    assert hetdp.verify(problem, short) == hetdp.verify(problem, long)
    assert not hetdp.verify(problem, short).private


def test_a_notion_that_the_verifier_does_not_know_is_not_certified():
    problem = hetdp.Problem(GRAPH, [1, 1, 2, 2])
    mechanism = hetdp.extend(problem, PINS)
    object.__setattr__(problem, "notion", replace(PURE, name="gauss"))
    with pytest.raises(hetdp.UsageError, match="no proof is known for the notion 'gauss'"):
        hetdp.verify(problem, mechanism)


def test_two_searches_share_no_dataset_even_if_a_pin_has_neighbours_in_both():
    size = 20_001
    steps = np.arange(size - 1)
    graph = hetdp.DatasetGraph.from_edges(steps, steps + 1, 1.0, datasets=range(size))
    middle = size // 2
    roles = np.where(np.arange(size) < middle, Role.FREE_1, Role.FREE_2).astype(np.uint8)
    roles[[0, middle, size - 1]] = Role.PINNED
    start = np.full(size, math.inf)
    start[[0, middle, size - 1]] = 5.0, 3.0, 0.0
    grown = [engine_for(name, graph, PURE, "grow").grow(graph, PURE, start, roles) for name in ("reference", "cpu")]
    np.testing.assert_array_equal(grown[0].labels, grown[1].labels)


def test_a_repair_keeps_values_far_out_in_the_tails():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [900.0, 1.0])
    problem = hetdp.Problem(graph, {"a": 2, "b": 2, "c": 1})
    verdict = hetdp.check(problem, hetdp.PartialMechanism(z={"a": -800.0}, p={"b": 0.1, "c": 0.9}))
    assert verdict.repair is not None
    repaired = verdict.repair.pins.z
    assert all(math.isfinite(z) for z in repaired.values())
    assert repaired["a"] == pytest.approx(-800.0)
    assert hetdp.extend(problem, verdict.repair.pins).certificate.private


def test_the_gap_of_a_crossing_next_to_its_pin_is_small_whatever_else_there_is():
    graph = hetdp.DatasetGraph.from_edges([0, 0], [1, 2], [700.6931471805599, 0.3])
    mechanism = hetdp.extend(hetdp.Problem(graph, [1, 1, 1]), hetdp.PartialMechanism(z={0: -700.0}))
    assert mechanism.certificate is not None
    assert mechanism.certificate.gap < 1e-9


def test_errors_survive_the_way_back_from_another_process():
    with pytest.raises(hetdp.NoExtensionError) as refused:
        hetdp.extend(PROBLEM, {"b": 0.95, "c": 0.05})
    with pytest.raises(hetdp.InputError) as faulty:
        hetdp.extend(PROBLEM, {"b": 2.0})
    others = [hetdp.UsageError("a", "b"), hetdp.UnknownDatasetError("x"), hetdp.VerificationError("certificate")]
    for error in [refused.value, faulty.value, *others]:
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy)) == (type(error), str(error))


def test_a_mechanism_is_a_mapping_from_labels_to_probabilities():
    mechanism = hetdp.extend(PROBLEM, PINS)
    assert dict(mechanism) == dict(zip("abcd", mechanism.probabilities.tolist(), strict=True))
    assert list(mechanism) == ["a", "b", "c", "d"]
    assert len(mechanism) == 4
    assert "a" in mechanism
    assert "z" not in mechanism


def test_verdicts_and_repairs_can_be_printed():
    verdict = hetdp.check(PROBLEM, {"b": 0.95, "c": 0.05})
    assert str(verdict).startswith("no private extension exists: p(c) = 0.05 allows at most")
    assert str(hetdp.check(PROBLEM, PINS)) == "a private extension exists"
    assert repr(verdict.repair).startswith("Repair(2 pins;")
