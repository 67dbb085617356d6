"""The forms of pins: p, z or error; mapping or array; all mean the same coordinate."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hetdp
from hetdp.problem.partial import convert_pins, pins_of
from tests.loops import for_each

NAN = math.nan
GRAPH = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], 1.0)
PROBLEM = hetdp.Problem(GRAPH, {"a": 1, "b": 1, "c": 2, "d": 2})
Z_QUARTER = math.log(0.5)


def equals_with_nan(found: np.ndarray, expected: list[float]) -> bool:
    return np.array_equal(found, np.array(expected), equal_nan=True)


FORMS = {
    "a mapping": {"b": 0.25, "c": 0.25},
    "an array": np.array([NAN, 0.25, 0.25, NAN]),
    "a list with None": [None, 0.25, 0.25, None],
    "a partial mechanism": hetdp.PartialMechanism(p={"c": 0.25, "b": 0.25}),
    "z in a mapping": hetdp.PartialMechanism(z={"b": Z_QUARTER, "c": Z_QUARTER}),
    "z in an array": hetdp.PartialMechanism(z=[NAN, Z_QUARTER, Z_QUARTER, NAN]),
    "error where the answer is 2": hetdp.PartialMechanism(p={"b": 0.25}, error={"c": 0.25}),
    "error where the answer is 1": hetdp.PartialMechanism(error={"b": 0.75}, p={"c": 0.25}),
    "one of each": hetdp.PartialMechanism(p=[NAN, 0.25, NAN, NAN], error=np.array([NAN, NAN, 0.25, NAN])),
    "single precision": np.array([NAN, 0.25, 0.25, NAN], dtype=np.float32),
}


@for_each("partial", FORMS.values())
def test_pins_are_accepted_in_every_form(partial):
    assert pins_of(partial, PROBLEM) == pytest.approx([NAN, Z_QUARTER, Z_QUARTER, NAN], rel=1e-15, nan_ok=True)


def test_certain_pins_are_infinite_in_z():
    partial = hetdp.PartialMechanism(p={"a": 0, "b": 1}, error={"c": 0}, z={"d": -math.inf})
    assert equals_with_nan(pins_of(partial, PROBLEM), [-math.inf, math.inf, -math.inf, -math.inf])


def test_an_error_keeps_the_tail_that_p_would_lose():
    pins = pins_of(hetdp.PartialMechanism(error={"a": 1e-30, "d": 1e-30}), PROBLEM)
    assert pins[0] == -pins[3] == pytest.approx(-math.log(2e-30), rel=1e-15)


def test_a_half_is_zero_and_never_minus_zero():
    pins = pins_of(hetdp.PartialMechanism(p={"a": 0.5}, z={"b": -0.0}, error={"c": 0.5, "d": 0.5}), PROBLEM)
    assert pins.tolist() == [0.0] * 4
    assert not np.signbit(pins).any()


def test_no_pins_mean_that_every_dataset_is_free():
    for partial in ({}, None, hetdp.PartialMechanism(), [NAN] * 4):
        assert np.isnan(pins_of(partial, PROBLEM)).all()


def test_z_may_be_any_number():
    assert equals_with_nan(
        pins_of(hetdp.PartialMechanism(z={"a": 800.0, "d": -1e300}), PROBLEM), [800.0, NAN, NAN, -1e300]
    )


def test_integers_are_numbers():
    assert equals_with_nan(pins_of({"a": 1, "d": np.int64(0)}, PROBLEM), [math.inf, NAN, NAN, -math.inf])


@for_each("value", [1e-320, math.nextafter(0, 1), math.nextafter(1.0, 0.0), 0.0, 1.0])
def test_p_may_be_any_number_from_zero_to_one(value):
    assert not np.isnan(pins_of({"a": value}, PROBLEM)[0])


@for_each("value", [math.nextafter(0, -1), math.nextafter(1.0, 2.0), -1.0, math.inf, -math.inf])
@for_each("name", ["p", "error"])
def test_a_probability_beyond_the_ends_is_refused(name, value):
    with pytest.raises(hetdp.InputError, match=f"{name} out of range"):
        pins_of(hetdp.PartialMechanism(**{name: {"a": value}}), PROBLEM)


def test_every_boundary_dataset_without_p_is_named():
    with pytest.raises(hetdp.InputError) as refused:
        hetdp.extend(PROBLEM, {"a": 0.5})
    assert [fault.where for fault in refused.value.faults] == ["dataset b", "dataset c"]


def test_check_does_not_require_pins_on_the_boundary():
    assert hetdp.check(PROBLEM, {"a": 0.5}).compatible
    assert hetdp.check(PROBLEM, {}).compatible


def test_given_arrays_are_not_modified():
    given = np.array([NAN, 0.9, 0.1, NAN])
    hetdp.check(PROBLEM, given)
    assert equals_with_nan(given, [NAN, 0.9, 0.1, NAN])


def test_a_table_in_place_of_a_column_of_pins_is_refused():
    with pytest.raises(hetdp.InputError):
        pins_of(np.full((4, 1), 0.5), PROBLEM)


def test_converted_pins_are_used_as_they_are_for_their_problem_only():
    pins = convert_pins(PROBLEM, {"b": 0.25, "c": 0.5})
    assert pins.count == 2
    assert pins_of(pins, PROBLEM) is pins.z
    other = hetdp.Problem(GRAPH, {"a": 1, "b": 2, "c": 2, "d": 2})
    again = pins_of(pins, other)
    assert again is not pins.z
    assert equals_with_nan(again, [NAN, Z_QUARTER, 0.0, NAN])


def test_a_mechanism_pins_every_dataset_at_its_coordinates():
    mechanism = hetdp.design(PROBLEM, "balanced")
    assert pins_of(mechanism, PROBLEM).tolist() == mechanism.coordinates.tolist()
