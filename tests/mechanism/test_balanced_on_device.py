"""Balanced on a device: the same values, pins and certificate as on the CPU, in the ordinary type."""

from __future__ import annotations

import numpy as np
import pytest

import hetdp
from hetdp.certificate.certificate import verify
from hetdp.engines import registry
from hetdp.errors import DeviceError
from hetdp.mechanism import balanced
from hetdp.problem.partial import PartialMechanism
from tests.engines.double import DEVICE, NumpyDevice
from tests.engines.products import random_answers, random_space


@DEVICE
@pytest.mark.parametrize("seed", range(12))
def test_a_design_on_a_device_is_that_of_the_cpu(device, seed, monkeypatch):
    monkeypatch.setattr(registry, "find_device", lambda: device)
    rng = np.random.default_rng(seed)
    space = random_space(rng, 400)
    problem = hetdp.Problem(space, random_answers(rng, space.size))
    ours, theirs = (hetdp.design(problem, "balanced", engine=name) for name in ("gpu", "reference"))
    assert ours.coordinates.tobytes() == theirs.coordinates.tobytes()
    assert ours.pinned.tolist() == theirs.pinned.tolist()
    assert ours.certificate == theirs.certificate
    assert verify(problem, ours) == theirs.certificate, "its links hold on the host, too"
    assert ours.is_as_proved


@DEVICE
def test_rules_for_deciding_votes_are_designed_on_a_device(device, monkeypatch):
    monkeypatch.setattr(registry, "find_device", lambda: device)
    rules = hetdp.privacy.rules({"a": 1, "b": 0.5}, deciding=0.1)
    problem = hetdp.spaces.tallies({"a": 12, "b": 9}, hetdp.questions.majority(), rules)
    assert problem.graph.state_count > 1
    ours, theirs = (hetdp.design(problem, "balanced", engine=name) for name in ("gpu", "reference"))
    assert ours.coordinates.tobytes() == theirs.coordinates.tobytes()
    assert ours.certificate == theirs.certificate
    assert ours.explain((12, 9)).coordinates[-1] == theirs.explain((12, 9)).coordinates[-1] > 0.0


@DEVICE
def test_a_design_that_was_proved_on_a_device_is_not_searched_again(device, monkeypatch):
    monkeypatch.setattr(registry, "find_device", lambda: device)
    monkeypatch.setattr(balanced, "_grow", lambda *_: pytest.fail("the host searches"))
    problem = hetdp.spaces.votes(6, hetdp.questions.majority(), 0.5)
    assert hetdp.design(problem, "balanced", engine="gpu").certificate.optimal


def test_a_device_that_is_too_small_is_an_error_or_left_to_the_cpu_which_says_why(monkeypatch, caplog):
    device = NumpyDevice(memory=1000)
    monkeypatch.setattr(registry, "find_device", lambda: device)
    problem = hetdp.spaces.votes(14, hetdp.questions.majority(), 0.5)
    with pytest.raises(DeviceError, match="does not suffice"):
        hetdp.design(problem, "balanced", engine="gpu")
    monkeypatch.setattr(registry, "is_installed", lambda: True)
    monkeypatch.setattr(registry, "FEWEST_FOR_GPU", 1)
    assert hetdp.design(problem, "balanced").certificate.optimal
    (said,) = caplog.messages
    assert said.startswith("the CPU goes on without a GPU: the memory of the GPU (NumPy) does not suffice")


@DEVICE
def test_values_given_beforehand_are_extended_on_a_device(device, monkeypatch):
    monkeypatch.setattr(registry, "find_device", lambda: device)
    problem = hetdp.spaces.tallies({"a": 9}, hetdp.questions.count("yes", at_least=5), 0.5)
    partial = PartialMechanism(z={(4,): -0.25, (5,): 0.25})
    ours, theirs = (hetdp.extend(problem, partial, engine=name) for name in ("gpu", "reference"))
    assert ours.coordinates.tobytes() == theirs.coordinates.tobytes()
    with pytest.raises(hetdp.UsageError, match="cannot settle"):
        hetdp.design(problem, "fair", engine="gpu")
