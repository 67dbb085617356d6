"""The proof on a device agrees with the proof on the host, for true and for false claims."""

from __future__ import annotations

import numpy as np
import pytest

import hetdp
from hetdp.certificate import device_survey
from hetdp.certificate.certificate import verify
from hetdp.certificate.device_survey import DeviceClaim, verify_on_device
from hetdp.errors import DeviceError
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from tests.engines.double import DEVICE, FAR, GRID, NumpyDevice
from tests.engines.products import random_answers, random_space


def claim_on(device, problem, z: np.ndarray, pinned: np.ndarray) -> DeviceClaim:
    finite = np.where(np.isinf(z), 0.0, z) * GRID
    units = np.where(np.isinf(z), np.where(z > 0, FAR, -FAR), finite.astype(np.int64))
    states = problem.graph.states if problem.graph.states is not None else np.zeros(1, np.uint8)
    columns = units, problem.answers.view(np.uint8), pinned.astype(np.uint8), states
    return DeviceClaim(*map(device.upload, columns))


def both_certificates(device, mechanism):
    problem = mechanism.problem
    claim = claim_on(device, problem, mechanism.coordinates, mechanism.pinned)
    return verify_on_device(problem, problem.graph, device, claim), verify(problem, mechanism)


@DEVICE
@pytest.mark.parametrize("seed", range(25))
def test_a_balanced_mechanism_gets_the_same_certificate(device, seed):
    rng = np.random.default_rng(seed)
    space = random_space(rng, 500)
    mechanism = hetdp.design(hetdp.Problem(space, random_answers(rng, space.size)), "balanced", engine="reference")
    ours, theirs = both_certificates(device, mechanism)
    if any((axis.epsilon == 0.0).any() for axis in space.axes) and not ours.optimal:
        assert ours.shortfall.startswith("a link is not tight"), "a chain of equal values needs links"
        assert (ours.private, ours.worst_edge, ours.enclosed) == (theirs.private, theirs.worst_edge, theirs.enclosed)
    elif np.max(mechanism.coordinates, initial=0.0, where=np.isfinite(mechanism.coordinates)) < 2.0**13:
        assert ours == theirs
    assert ours.private
    assert theirs.private


@DEVICE
@pytest.mark.parametrize("seed", range(25))
def test_false_claims_are_refuted_on_device_and_host_alike(device, seed):
    """Some values are moved by one unit or by much, some are made certain, or nothing is pinned."""
    rng = np.random.default_rng(100 + seed)
    space = random_space(rng, 300)
    found = hetdp.design(hetdp.Problem(space, random_answers(rng, space.size)), "balanced", engine="reference")
    z, pinned = found.coordinates.copy(), found.pinned.copy()
    if np.max(np.abs(z), initial=0.0, where=np.isfinite(z)) > 100.0:
        z = np.clip(z, -100.0, 100.0)
    for at in rng.integers(0, len(z), 3).tolist():
        z[at] = rng.choice([z[at] + 1 / GRID, z[at] - 1 / GRID, 0.0, 0.5, -0.5, np.inf, -np.inf])
    if seed % 5 == 0:
        pinned[:] = False
    ours, theirs = both_certificates(device, LocalMechanism(found.problem, z, pinned, found.links))
    counted = "private", "worst_edge", "slack", "edges", "enclosed", "violations"
    assert [getattr(ours, name) for name in counted] == [getattr(theirs, name) for name in counted]
    assert not ours.optimal or theirs.optimal


@DEVICE
def test_a_link_that_is_one_unit_loose_is_found(device):
    problem = hetdp.spaces.tallies({"a": 9}, hetdp.questions.count("yes", at_least=5), 0.5)
    found = hetdp.design(problem, "balanced", engine="reference")
    z = found.coordinates.copy()
    assert both_certificates(device, found)[0].optimal
    z[9] -= 1 / GRID
    ours = both_certificates(device, LocalMechanism(problem, z, found.pinned, found.links))[0]
    assert (ours.private, ours.optimal, ours.shortfall) == (True, False, "a link is not tight (dataset 9)")
    pinned = found.pinned.copy()
    pinned[5] = False
    ours = both_certificates(device, LocalMechanism(problem, found.coordinates, pinned, found.links))[0]
    assert (ours.private, ours.shortfall) == (True, "a boundary dataset is not pinned (dataset 5)")


@DEVICE
def test_bounded_range_has_no_special_place_at_one_half(device):
    space = ProductSpace([Axis.tally("a", 9, 0.5), Axis.person("b", "xy", 0.25)])
    problem = hetdp.Problem(space, np.where(np.arange(20) < 9, 1, 2), notion="bounded-range")
    ours, theirs = both_certificates(device, hetdp.design(problem, "balanced", engine="reference"))
    assert ours == theirs
    assert ours.optimal


def test_other_notions_are_left_to_the_host():
    problem = hetdp.Problem(ProductSpace([Axis.tally("a", 2, 0.5)]), [1, 2, 2], notion="renyi", alpha=2.0)
    device = NumpyDevice()
    with pytest.raises(DeviceError, match="a proof of the notion 'renyi' on a GPU"):
        verify_on_device(problem, problem.graph, device, claim_on(device, problem, np.zeros(3), np.ones(3, bool)))


def test_more_values_across_one_half_than_the_sets_hold_are_an_error(monkeypatch):
    monkeypatch.setattr(device_survey, "VALUES", 4)
    device, size = NumpyDevice(), 16
    problem = hetdp.Problem(ProductSpace([Axis.person(at, "xy", 9.0) for at in range(4)]), np.arange(size) % 2 + 1)
    z = np.where(np.arange(size) % 2, -1.0, 1.0) * (1 + np.arange(size)) / 16
    with pytest.raises(DeviceError, match="more than 4 different values"):
        verify_on_device(problem, problem.graph, device, claim_on(device, problem, z, np.ones(size, bool)))
