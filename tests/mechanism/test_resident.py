"""Mechanisms that stay on a device: what is read from there equals what the CPU computes from its arrays."""

from __future__ import annotations

import numpy as np
import pytest

import hetdp
from hetdp.engines import registry
from hetdp.errors import DeviceError
from hetdp.mechanism import design as designing
from hetdp.mechanism.resident import ResidentMechanism
from hetdp.people.products import problems
from tests.engines.double import DEVICE, NumpyDevice
from tests.engines.products import random_answers, random_space

GROUPS = {"A": 7, "B": 5, "C": 3}
MAJORITY = hetdp.questions.majority()


def plain() -> hetdp.Problem:
    return hetdp.spaces.tallies(GROUPS, MAJORITY, {"A": 0.1, "B": 0.5, "C": 1})


def deciding() -> hetdp.Problem:
    rules = hetdp.privacy.rules({"A": 0.4, "B": 0.5, "C": 1}, deciding=0.1)
    return hetdp.spaces.tallies(GROUPS, MAJORITY, rules, prior="uniform")


def partly_free() -> hetdp.Problem:
    return hetdp.spaces.votes(["Ann", "Bob", "Cyd"], MAJORITY, {"Ann": 0.2, "Bob": float("inf"), "Cyd": 1})


PROBLEM = pytest.mark.parametrize("problem", [plain(), deciding(), partly_free()], ids=["plain", "deciding", "free"])


@pytest.fixture
def design_both(monkeypatch):
    """Designs a problem on the CPU, and on a device where it stays."""

    def design(problem, device):
        local = hetdp.design(problem, "balanced", engine="reference")
        monkeypatch.setattr(registry, "find_device", lambda: device)
        monkeypatch.setattr(designing, "MOST_LOCAL", 0)
        resident = hetdp.design(problem, "balanced")
        monkeypatch.undo()
        return resident, local

    return design


@DEVICE
@PROBLEM
def test_values_and_proof_are_those_of_the_cpu(device, problem, design_both):
    ours, theirs = design_both(problem, device)
    assert isinstance(ours, ResidentMechanism)
    assert (ours.certificate, ours.objective, ours.is_as_proved) == (theirs.certificate, "balanced", True)
    assert hetdp.verify(ours) == theirs.certificate
    assert np.concatenate([*ours.blocks()]).tobytes() == theirs.coordinates.tobytes()
    assert dict(ours) == dict(theirs)
    for label in problem.graph.datasets:
        assert ours.row(label) == theirs.row(label)
    assert (len(ours), ("no such",) in ours) == (problem.graph.size, False)
    assert str(ours.against_coin) == str(theirs.against_coin)
    assert ours.against_coin.error == theirs.against_coin.error


@DEVICE
@PROBLEM
def test_explanations_end_at_the_same_value_and_hold_step_by_step(device, problem, design_both):
    ours, theirs = design_both(problem, device)
    for label in problem.graph.datasets:
        one, other = ours.explain(label), theirs.explain(label)
        assert (one.coordinates[-1], one.origin) == (other.coordinates[-1], other.origin)
        gained = np.diff(np.abs(one.coordinates))
        assert gained == pytest.approx(one.epsilons, abs=1e-9)


@DEVICE
@PROBLEM
def test_accuracy_is_that_of_the_cpu(device, problem, design_both):
    ours, theirs = design_both(problem, device)
    found, expected = hetdp.accuracy(ours)["balanced"], hetdp.accuracy(theirs, baselines=False)["balanced"]
    assert (found.worst_error, found.worst_at) == (expected.worst_error, expected.worst_at)
    assert found.mean_error == pytest.approx(expected.mean_error, rel=1e-12)
    uniform = hetdp.accuracy(ours, prior="uniform")["balanced"].mean_error
    assert uniform == pytest.approx(float(theirs.errors.mean()), rel=1e-12)
    assert "worst" in str(hetdp.accuracy(ours))
    assert hetdp.accuracy(ours).to_dict()["methods"][0]["by_steps"] == []
    with pytest.raises(hetdp.UsageError, match="the mean on a GPU"):
        hetdp.accuracy(ours, prior=[1.0] * problem.graph.size)


@DEVICE
@PROBLEM
def test_odds_are_those_of_the_cpu(device, problem, design_both):
    ours, theirs = design_both(problem, device)
    found, expected = hetdp.odds(ours).by_class, hetdp.odds(theirs).by_class
    assert list(found) == list(expected)
    for name, one in expected.items():
        for attribute in ("answer", "edges", "unprotected", "epsilon"):
            assert getattr(found[name], attribute) == getattr(one, attribute), attribute
        for attribute in ("high", "low", "loss"):
            assert getattr(found[name], attribute) == pytest.approx(getattr(one, attribute), rel=1e-11), attribute
        assert str(found[name]) == str(one)


@DEVICE
@PROBLEM
def test_a_release_is_that_of_the_same_mechanism_in_memory(device, problem, design_both, tmp_path):
    ours, theirs = design_both(problem, device)
    ledger = hetdp.Ledger.create(tmp_path / "class.ledger", source="class", cap=100)
    truth = problem.graph.label(problem.graph.size // 2)
    assert hetdp.price(ours, ledger=ledger) == hetdp.price(theirs, ledger=ledger)
    first = hetdp.release(ours, truth, ledger=ledger)
    again = hetdp.release(theirs, truth, ledger=ledger)
    assert (again.repeated, again.answer) == (True, first.answer), "one digest, whether on a device or not"
    promises = [one.record["privacy"]["promises"] for one in (first, again)]
    assert [one["used"] for one in promises[0]] == [one["used"] for one in promises[1]]


@DEVICE
@pytest.mark.parametrize("seed", range(8))
def test_random_spaces_are_read_as_on_the_cpu(device, seed, design_both):
    rng = np.random.default_rng(seed)
    space = random_space(rng, 200)
    problem = hetdp.Problem(space, random_answers(rng, space.size))
    try:
        ours, theirs = design_both(problem, device)
    except hetdp.UsageError as refusal:
        assert "the sums of ε are too large" in str(refusal)  # noqa: PT017 — which spaces these are is random
        return
    except hetdp.VerificationError:
        assert any((axis.epsilon == 0.0).any() for axis in space.axes), "equal values need links"
        return
    assert np.concatenate([*ours.blocks()]).tobytes() == theirs.coordinates.tobytes()
    assert ours.against_coin == theirs.against_coin
    assert ours.mean_error(None) == pytest.approx(float(theirs.errors.mean()), rel=1e-12)
    if problem.graph.edge_count:
        assert str(hetdp.odds(ours)) == str(hetdp.odds(theirs))


def test_arrays_that_do_not_fit_into_this_process_are_refused(design_both, tmp_path):
    ours, _ = design_both(plain(), NumpyDevice())
    for read in (
        lambda: ours.coordinates,
        lambda: ours.pinned,
        lambda: ours.links,
        lambda: ours.probabilities,
        lambda: ours.errors,
        ours.columns,
        ours.node_attributes,
    ):
        with pytest.raises(hetdp.UsageError, match=r"all 192 values at once; .* stays on the GPU.*blocks\(\)"):
            read()
    with pytest.raises(hetdp.UsageError, match="cannot be saved"):
        hetdp.save(ours, tmp_path / "mechanism.csv")
    with pytest.raises(hetdp.UsageError, match="a mechanism on a GPU cannot be drawn"):
        hetdp.plot(ours)
    with pytest.raises(hetdp.UsageError, match="with another problem"):
        hetdp.verify(deciding(), ours)
    assert repr(ours) == "ResidentMechanism(192 datasets, on NumPy)"


def test_large_spaces_need_a_device_and_its_engine(monkeypatch):
    problem = plain()
    for module in (registry, designing):
        monkeypatch.setattr(module, "MOST_LOCAL", 100)
    for call in (
        lambda: hetdp.design(problem, "balanced", engine="product"),
        lambda: hetdp.design(problem, "weighted-vote"),
        lambda: hetdp.extend(problem, {(7, 5, 3): 0.9}),
    ):
        with pytest.raises(
            hetdp.UsageError, match=r"192 datasets; labels of at most 100 .* keeps larger ones on a GPU"
        ):
            call()

    def none():
        raise DeviceError("no GPU was found", "a rule")

    monkeypatch.setattr(registry, "find_device", none)
    with pytest.raises(DeviceError, match="no GPU was found"):
        hetdp.design(problem, "balanced")


def test_answers_of_a_space_beyond_this_process_are_found_in_blocks(monkeypatch):
    expected = [one().answers.tolist() for one in (plain, deciding, partly_free)]
    monkeypatch.setattr(problems, "MOST_LOCAL", 7)
    monkeypatch.setattr(problems, "is_installed", lambda: True)
    for most in (1, 4, 24, 1000):
        monkeypatch.setattr(problems, "BLOCK", most)
        assert [one().answers.tolist() for one in (plain, deciding, partly_free)] == expected


def test_how_many_datasets_there_may_be_depends_on_a_device(monkeypatch):
    monkeypatch.setattr(problems, "is_installed", lambda: False)
    with pytest.raises(hetdp.UsageError, match=r"at most 1,073,741,824 datasets can be searched without a GPU"):
        hetdp.spaces.votes(31, MAJORITY, 1)
    monkeypatch.setattr(problems, "is_installed", lambda: True)
    with pytest.raises(hetdp.UsageError, match=r"at most 8,589,934,592 datasets can be searched on a GPU"):
        hetdp.spaces.votes(34, MAJORITY, 1)
