"""polish: never worse at any dataset."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import hetdp
from hetdp.cli.demo import DECIDING, voters
from tests.mechanism.problems import cases, private_values, signed_z


@given(cases())
def test_polishing_never_worsens_a_private_mechanism_and_keeps_its_boundary(case):
    problem = case.problem
    z = private_values(problem.graph, np.linspace(-1.0, 1.0, problem.graph.size))
    polished = hetdp.polish(problem, hetdp.PartialMechanism(z=z))
    assert (signed_z(problem, polished.coordinates) >= signed_z(problem, z) - 1e-9).all()
    assert np.allclose(polished.coordinates[problem.boundary_mask], z[problem.boundary_mask], rtol=0.0, atol=1e-9)
    assert polished.certificate is not None
    assert polished.certificate.private
    assert polished.objective == "polish"


def test_randomised_response_is_improved_where_one_vote_does_not_decide():
    problem = voters(3, "everyone")
    coin = {votes: 0.54 if problem.answers[at] == 1 else 0.46 for at, votes in enumerate(problem.graph.datasets)}
    better = hetdp.polish(problem, coin)
    assert better["112"] == pytest.approx(0.54, abs=1e-12)
    assert better["111"] > 0.61


def test_an_optimal_mechanism_is_unchanged():
    problem = voters(3, "first")
    mechanism = hetdp.design(problem)
    assert hetdp.polish(problem, mechanism).coordinates.tobytes() == mechanism.coordinates.tobytes()


def test_values_that_are_not_private_are_refused():
    problem = voters(3, "everyone")
    with pytest.raises(hetdp.InputError, match=r"values: not private: .*; only a private mechanism can be"):
        hetdp.polish(
            problem,
            {votes: 0.9 if problem.answers[at] == 1 else 0.1 for at, votes in enumerate(problem.graph.datasets)},
        )


def test_values_rounded_by_a_table_are_refused_and_the_hint_leads_to_private_ones():
    problem = voters(3, DECIDING)
    table = {votes: 0.55 if problem.answers[at] == 1 else 0.45 for at, votes in enumerate(problem.graph.datasets)}
    with pytest.raises(hetdp.InputError, match=r"Hint: hetdp\.check\(problem, values\)\.repair\.pins"):
        hetdp.polish(problem, table)
    near = hetdp.check(problem, table).repair.pins
    mended = hetdp.polish(problem, near)
    assert mended.certificate.private
    assert mended.certificate.optimal
    assert mended["112"] == pytest.approx(0.55, abs=1e-3)
    assert mended["111"] > 0.8
