"""The boundary of a product is that of its graph, whatever its rows are like."""

from __future__ import annotations

import numpy as np
import pytest

from hetdp.problem import boundary
from hetdp.problem.axis import Axis
from hetdp.problem.boundary import boundary_of
from hetdp.problem.product import ProductSpace, as_graph
from tests.engines.products import random_answers, random_space
from tests.loops import for_each

INFINITE_TO_C = np.array([[0.0, 0.5, np.inf], [0.5, 0.0, 1.0], [np.inf, 1.0, 0.0]])


@pytest.fixture(params=["plain", "compiled"])
def kernels(request, monkeypatch):
    """Small spaces are marked by plain loops; with a lower limit they are marked by compiled ones."""
    if request.param == "compiled":
        monkeypatch.setattr(boundary, "SMALL_SPACE", 0)


@for_each("seed", range(40))
def test_random_products_have_the_boundary_of_their_graphs(kernels, seed):
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    answers = random_answers(rng, space.size)
    assert boundary_of(space, answers).tolist() == boundary_of(as_graph(space), answers).tolist()


@pytest.mark.parametrize("axes", [4, 7])
def test_short_rows_are_joined_and_moves_without_a_constraint_do_not_count(kernels, monkeypatch, axes):
    monkeypatch.setattr(boundary, "MOST_JOINED", 100)  # so that patterns end within the space and between its parts
    monkeypatch.setattr(boundary, "JOINED_PART", 130)
    people = [Axis.person(name, list("abc"), INFINITE_TO_C if name % 2 else 0.5) for name in range(axes)]
    space = ProductSpace(people)
    assert boundary._short_rows(space.lines(axes - 1), space.lines(axes - 1).epsilon < np.inf)
    answers = random_answers(np.random.default_rng(axes), space.size)
    assert boundary_of(space, answers).tolist() == boundary_of(as_graph(space), answers).tolist()


def test_states_matter_only_where_some_of_their_moves_have_no_constraint(kernels):
    table = np.full((2, 2, 2, 2), 0.5)
    table[:, :, 1, 1] = np.inf
    states = np.arange(64) % 2
    space = ProductSpace([Axis.tally(0, 7, table), Axis.tally(1, 7, 1.0)], states.astype(np.uint8))
    answers = random_answers(np.random.default_rng(3), space.size)
    found = boundary_of(space, answers)
    assert found.tolist() == boundary_of(as_graph(space), answers).tolist()
    assert found.tolist() != boundary_of(ProductSpace([Axis.tally(0, 7, 0.5), Axis.tally(1, 7, 1.0)]), answers).tolist()


@pytest.mark.parametrize("epsilon", [0.5, np.inf])
def test_long_lines_are_not_joined_and_moves_without_a_constraint_do_not_count(epsilon):
    space = ProductSpace([Axis.tally(0, 1200, epsilon), Axis.tally(1, 1, epsilon)])
    found = boundary_of(space, np.where(np.arange(space.size) < 800, 1, 2).astype(np.int8))
    assert np.flatnonzero(found).tolist() == ([798, 799, 800, 801] if epsilon < np.inf else [])
    assert not found.flags.writeable
