"""Definition 7: heterogeneous ε(·)-differential privacy, one ε for each pair of neighbours."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np

import hetdp
from tests.oracle.literal import algorithm_2
from tests.oracle.random_problems import SmallProblem, compatible_problems, with_compatible_pins
from tests.paper.library import extension_of, largest_difference, mechanism_of, problem_of
from tests.paper.test_definition_differential_privacy import homogeneous_problems, is_private


def test_an_extension_keeps_the_epsilon_of_every_single_pair():
    for small in compatible_problems(seed=81, count=100):
        p = extension_of(small)
        for edge in small.finite_edges:
            assert is_private(p, [edge], edge[2])


def test_the_certificate_says_private_for_extensions():
    for small in compatible_problems(seed=82, count=40):
        assert hetdp.verify(problem_of(small), mechanism_of(small)).private


def test_a_constant_function_recovers_the_standard_definition():
    for small in homogeneous_problems(seed=83, count=20, epsilon=0.4):
        assert is_private(extension_of(small), small.edges, 0.4)


def test_personalised_privacy_is_the_case_where_epsilon_depends_on_the_person_alone():
    rng = random.Random(84)
    people = [0.1, 0.5, 1.0]
    votes = [format(i, "03b") for i in range(8)]
    differ = {(a, b): [k for k in range(3) if a[k] != b[k]] for a, b in combinations(votes, 2)}
    edges = tuple((a, b, people[who[0]]) for (a, b), who in differ.items() if len(who) == 1)
    assert len(edges) == 12
    for _ in range(10):
        answers = {v: 2 if v.count("1") > 1 else 1 for v in votes}
        small = with_compatible_pins(rng, SmallProblem(edges, answers))
        assert largest_difference(extension_of(small), algorithm_2(small)) < 1e-12


def test_epsilon_is_symmetric_so_the_direction_of_an_edge_does_not_matter():
    for small in compatible_problems(seed=85, count=40):
        turned = SmallProblem(tuple((v, u, e) for u, v, e in small.edges), small.answers, small.pins)
        same = mechanism_of(small).coordinates == mechanism_of(turned).coordinates
        assert np.all(same)
