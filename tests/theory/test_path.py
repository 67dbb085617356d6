"""The closed forms on a path, against one edge at a time and at their corners."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import hetdp
from hetdp.theory.path import homogeneous_path_mechanism, path_mechanism
from tests.loops import for_each
from tests.oracle.paths import along
from tests.oracle.random_problems import random_paths


def test_the_closed_form_finds_what_one_edge_at_a_time_finds():
    for alpha, epsilons in random_paths(seed=31, count=400):
        steps = [along(alpha, epsilons[:i]) for i in range(len(epsilons) + 1)]
        assert path_mechanism(alpha, epsilons).tolist() == pytest.approx(steps, rel=1e-11, abs=1e-13)


def test_the_corollary_finds_what_the_theorem_finds():
    for alpha, epsilons in random_paths(seed=32, count=400):
        epsilon, length = epsilons[0], len(epsilons)
        theorem = path_mechanism(alpha, [epsilon] * length).tolist()
        assert homogeneous_path_mechanism(alpha, epsilon, length).tolist() == pytest.approx(theorem, rel=1e-11)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_certainty_at_the_head_is_certainty_everywhere(alpha):
    assert path_mechanism(alpha, [0.5, 2.0, 0.1]).tolist() == [alpha] * 4
    assert homogeneous_path_mechanism(alpha, 0.5, 3).tolist() == [alpha] * 4


def test_epsilon_zero_repeats_the_value():
    assert path_mechanism(0.3, [0.0, 0.0]).tolist() == pytest.approx([0.3] * 3)
    assert homogeneous_path_mechanism(0.3, 0.0, 2).tolist() == [0.3] * 3


def test_a_path_without_an_edge_is_its_head():
    assert path_mechanism(0.25, []).tolist() == [0.25]
    assert homogeneous_path_mechanism(0.25, 1.0, 0).tolist() == [0.25]


@pytest.mark.parametrize("alpha", [5e-324, 1e-310, 1e-200, 1e-16])
def test_however_small_the_head_the_path_ends_near_one_and_nothing_overflows(alpha):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heterogeneous = path_mechanism(alpha, np.full(900, 1.0))
        homogeneous = homogeneous_path_mechanism(alpha, 1.0, 900)
    for p in (heterogeneous, homogeneous):
        assert ((p >= 0.0) & (p <= 1.0)).all()
        assert p[-1] == 1.0
        assert (np.diff(p) >= 0.0).all()


def test_large_epsilons_do_not_overflow():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert path_mechanism(0.5, [800.0, 1e3, 1e300])[-1] == 1.0
        assert homogeneous_path_mechanism(0.5, 1e300, 3)[-1] == 1.0


MESSAGES = [
    (1.5, [1.0], "path: alpha: out of range: 1.5; a probability lies in [0, 1]."),
    (math.nan, [1.0], "path: alpha: out of range: nan; a probability lies in [0, 1]."),
    (0.5, [1.0, -1.0], "path: epsilons[1]: ε -1.0; ε on a path is a finite number ≥ 0."),
    (0.5, [math.inf], "path: epsilons[0]: ε inf; ε on a path is a finite number ≥ 0."),
    (
        -1.0,
        [math.nan],
        "path: 2 faults\n"
        "  alpha: out of range: -1.0; a probability lies in [0, 1].\n"
        "  epsilons[0]: ε nan; ε on a path is a finite number ≥ 0.",
    ),
]


@for_each(("alpha", "epsilons", "message"), MESSAGES)
def test_bad_values_are_refused_together(alpha, epsilons, message):
    with pytest.raises(hetdp.InputError) as refused:
        path_mechanism(alpha, epsilons)
    assert str(refused.value) == message


@pytest.mark.parametrize("alpha", [True, "0.5", None, 0.5j])
def test_a_head_that_is_not_a_number_is_refused(alpha):
    with pytest.raises(hetdp.InputError, match="alpha: out of range"):
        path_mechanism(alpha, [1.0])


@pytest.mark.parametrize("epsilons", [1.0, "x", [[1.0], [2.0]], [1.0, "x"], None])
def test_epsilons_that_are_not_a_list_of_numbers_are_refused(epsilons):
    with pytest.raises(hetdp.InputError, match="epsilons: not a list of numbers"):
        path_mechanism(0.5, epsilons)


@pytest.mark.parametrize("length", [-1, 1.5, -0.5])
def test_a_length_is_a_whole_number(length):
    with pytest.raises(hetdp.InputError, match="a length is a whole number"):
        homogeneous_path_mechanism(0.5, 1.0, length)
    with pytest.raises(hetdp.InputError, match="alpha: out of range"):
        homogeneous_path_mechanism(1.5, 1.0, length)


def test_where_the_second_bound_takes_over_is_found_to_the_edge():
    """1/α = e^ε + 1 at the first edge: both bounds agree there, and from the next edge on the second one binds."""
    epsilon = math.log(3.0)
    for alpha in (0.25, 0.25 * (1 - 1e-12), 0.25 * (1 + 1e-12)):
        for p in (path_mechanism(alpha, [epsilon] * 3), homogeneous_path_mechanism(alpha, epsilon, 3)):
            assert p.tolist() == pytest.approx([1 / 4, 3 / 4, 11 / 12, 35 / 36], rel=1e-9)
