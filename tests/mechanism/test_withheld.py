"""Unproved mechanisms are not returned; returned ones are mappings that can be pickled."""

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
from hetdp.mechanism.mechanism import LocalMechanism, seal
from hetdp.theory.pure import PURE

GRAPH = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], [1.0, 0.5, 1.0])
PROBLEM = hetdp.Problem(GRAPH, {"a": 1, "b": 1, "c": 2, "d": 2})
PINS = {"b": 0.6, "c": 0.4}


class BuggyEngine(ReferenceEngine):
    """An engine with a bug: its labels are a little too large."""

    def grow(self, space, notion, labels, roles=None, active=None):
        growth = super().grow(space, notion, labels, roles, active)
        return replace(growth, labels=np.where(growth.links >= 0, growth.labels + 0.01, growth.labels))


@pytest.mark.parametrize("verify", [True, False])
def test_a_mechanism_that_is_not_private_is_withheld(verify: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "_load", lambda name, insist: BuggyEngine())
    with pytest.raises(hetdp.VerificationError, match="NOT PRIVATE") as caught:
        hetdp.extend(PROBLEM, PINS, engine="reference", verify=verify)
    assert not caught.value.certificate.private


@pytest.mark.parametrize("verify", [True, False])
def test_a_verifier_that_misses_edges_proves_nothing(verify: bool, monkeypatch: pytest.MonkeyPatch):
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


def test_the_searches_of_both_answers_are_independent_even_if_they_share_a_pin():
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


def test_a_repair_keeps_values_far_in_the_tails():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [900.0, 1.0])
    problem = hetdp.Problem(graph, {"a": 2, "b": 2, "c": 1})
    verdict = hetdp.check(problem, hetdp.PartialMechanism(z={"a": -800.0}, p={"b": 0.1, "c": 0.9}))
    assert verdict.repair is not None
    repaired = verdict.repair.pins.z
    assert all(math.isfinite(z) for z in repaired.values())
    assert repaired["a"] == pytest.approx(-800.0)
    assert hetdp.extend(problem, verdict.repair.pins).certificate.private


def test_the_gap_of_a_crossing_next_to_its_pin_is_always_small():
    graph = hetdp.DatasetGraph.from_edges([0, 0], [1, 2], [700.6931471805599, 0.3])
    mechanism = hetdp.extend(hetdp.Problem(graph, [1, 1, 1]), hetdp.PartialMechanism(z={0: -700.0}))
    assert mechanism.certificate is not None
    assert mechanism.certificate.gap < 1e-9


def test_errors_can_be_pickled():
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
    assert [1] not in mechanism
    assert (mechanism.get("a"), mechanism.get("z"), mechanism.get("z", 0.5)) == (mechanism["a"], None, 0.5)
    with pytest.raises(KeyError, match="did you mean 'a'"):
        mechanism["A"]


def test_a_mechanism_is_equal_to_a_mapping_with_the_same_labels_and_values():
    mechanism = hetdp.extend(PROBLEM, PINS)
    again, copy = hetdp.extend(PROBLEM, PINS), pickle.loads(pickle.dumps(mechanism))
    backwards = {label: mechanism[label] for label in reversed(list(mechanism))}
    for same in (mechanism, again, copy, dict(mechanism), backwards):
        assert mechanism == same
        assert same == mechanism
    assert len({mechanism, again, copy}) == 1
    other = hetdp.extend(PROBLEM, PINS | {"d": 0.2})
    elsewhere = hetdp.extend(hetdp.Problem(PROBLEM.graph, PROBLEM.answers), PINS | {"d": 0.2})
    renamed = {label.upper(): p for label, p in mechanism.items()}
    for different in (other, elsewhere, renamed, dict(mechanism) | {"a": 0.1}, {}, None, 1, list(mechanism)):
        assert mechanism != different
        assert different != mechanism
    assert other == elsewhere
    assert hash(other) == hash(elsewhere)


def test_verdicts_and_repairs_can_be_printed():
    verdict = hetdp.check(PROBLEM, {"b": 0.95, "c": 0.05})
    assert str(verdict).startswith("no private extension exists: p(c) = 0.05 allows at most")
    assert str(hetdp.check(PROBLEM, PINS)) == "a private extension exists"
    assert repr(verdict.repair).startswith("Repair(2 pins;")


def test_a_copy_of_a_proved_mechanism_is_not_taken_for_proved():
    mechanism = hetdp.extend(PROBLEM, PINS)
    assert mechanism.is_as_proved
    copy = pickle.loads(pickle.dumps(mechanism))
    assert not copy.is_as_proved
    assert not replace(mechanism, moved=0.5).is_as_proved
    assert not replace(seal(replace(mechanism, certificate=None))).is_as_proved
    assert not seal(replace(mechanism, certificate=None)).is_as_proved
    assert copy.coordinates.tolist() == mechanism.coordinates.tolist()
    for array in (copy.coordinates, copy.pinned, copy.links, mechanism.probabilities, mechanism.errors):
        assert not array.flags.writeable
    with pytest.raises(hetdp.UsageError, match="a mechanism without its arrays"):
        replace(mechanism, pinned=[True] * 4)


def test_the_table_of_a_mechanism_tells_what_was_given():
    mechanism = hetdp.extend(PROBLEM, PINS | {"d": 0.7})
    assert mechanism.row("d") == {
        "query": 2, "p": pytest.approx(0.7), "z": mechanism.coordinates[3], "error": pytest.approx(0.7),
        "worse_than_coin": True, "pinned": True, "given": True,
    }  # fmt: skip
    assert not mechanism.row("a")["worse_than_coin"]
    assert "given" not in mechanism.columns()
    assert ("a" in mechanism, "e" in mechanism) == (True, False)
    assert mechanism.node_attributes()["b"] == {
        "query": 1,
        "p": mechanism["b"],
        "error": 1 - mechanism["b"],
        "pinned": True,
    }
    designed = hetdp.design(PROBLEM, partial={"b": 0.6})
    assert designed.columns()["given"].tolist() == [False, True, False, False]
    assert designed.was_given.tolist() == [False, True, False, False]
    assert "given" not in hetdp.design(PROBLEM).columns()
