"""Algorithm 2, corrected: the extension of a partial mechanism, against the same algorithm taken literally."""

from __future__ import annotations

import pytest

import hetdp
from tests.oracle import shortest_paths
from tests.oracle.literal import IncompatibleError, algorithm_2
from tests.oracle.random_problems import SmallProblem, compatible_problems, incompatible_problems
from tests.paper.library import extension_of, largest_difference


@pytest.mark.parametrize("engine", ["reference", "cpu", "auto"])
def test_the_library_finds_what_the_literal_algorithm_finds(engine):
    for small in compatible_problems(seed=201, count=200, max_size=10):
        assert largest_difference(extension_of(small, engine), algorithm_2(small)) < 1e-12


def test_the_library_finds_what_plain_shortest_paths_find_on_larger_graphs():
    for small in compatible_problems(seed=202, count=25, max_size=40):
        assert largest_difference(extension_of(small), shortest_paths.extension(small)) < 1e-12


@pytest.mark.parametrize("engine", ["reference", "cpu", "auto"])
def test_both_refuse_the_same_partial_mechanisms(engine):
    for small in incompatible_problems(seed=203, count=100):
        with pytest.raises(IncompatibleError):
            algorithm_2(small)
        with pytest.raises(hetdp.NoExtensionError):
            extension_of(small, engine)


def test_swapping_the_two_answers_turns_p_into_its_complement():
    for small in compatible_problems(seed=204, count=60):
        swapped = SmallProblem(
            small.edges, {v: 3 - t for v, t in small.answers.items()}, {v: 1 - p for v, p in small.pins.items()}
        )
        complement = {v: 1 - p for v, p in extension_of(swapped).items()}
        assert largest_difference(extension_of(small), complement) < 1e-12


def test_relabelling_the_datasets_relabels_the_mechanism():
    for small in compatible_problems(seed=205, count=60):
        named = {v: f"dataset {v}" for v in reversed(small.datasets)}
        relabelled = SmallProblem(
            tuple((named[u], named[v], epsilon) for u, v, epsilon in reversed(small.edges)),
            {name: small.answers[v] for v, name in named.items()},
            {named[v]: p for v, p in small.pins.items()},
        )
        p = extension_of(relabelled)
        assert largest_difference(extension_of(small), {v: p[named[v]] for v in small.datasets}) < 1e-12


def test_a_larger_epsilon_never_lowers_the_probability_of_the_true_answer():
    for small in compatible_problems(seed=206, count=60):
        before = extension_of(small)
        for raised in range(len(small.edges)):
            edges = tuple((u, v, e + 0.5 if i == raised else e) for i, (u, v, e) in enumerate(small.edges))
            after = extension_of(SmallProblem(edges, small.answers, small.pins))
            for v, answer in small.answers.items():
                assert (after[v] - before[v]) * (1 if answer == 1 else -1) >= -1e-12
