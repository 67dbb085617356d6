"""Definition 9: U_{ρ,α}(v), the upper bound that p(u) = α imposes on p(v) along the path ρ."""

from __future__ import annotations

from tests.oracle import linear
from tests.oracle.paths import along
from tests.oracle.random_problems import random_paths
from tests.paper.library import induced_bounds_of, path

PATHS = list(random_paths(seed=161, count=200, max_length=8))


def test_on_a_path_the_library_bounds_the_tail_by_one_edge_after_the_other():
    for alpha, epsilons in PATHS:
        bounds = induced_bounds_of(path(epsilons, alpha), 0, alpha)
        assert all(abs(bounds[i] - along(alpha, epsilons[:i])) < 1e-12 for i in bounds)


def test_the_bound_is_attained_by_a_private_mechanism_so_it_is_the_least():
    problems = [path(epsilons, alpha) for alpha, epsilons in PATHS]
    for (alpha, epsilons), best in zip(PATHS, linear.optima(problems), strict=True):
        assert abs(best[len(epsilons)] - along(alpha, epsilons)) < 1e-7


def test_the_order_of_the_edges_matters_where_a_path_crosses_one_half():
    """α = 0.4: the path with the *larger* Σε binds more, so distances alone do not give the bounds."""
    small_first, large_first = [0.11, 1.0], [1.0, 0.1]
    assert sum(small_first) > sum(large_first)
    ends = [induced_bounds_of(path(epsilons, 0.4), 0, 0.4)[2] for epsilons in (small_first, large_first)]
    assert ends[0] < ends[1] - 1e-3
    assert abs(ends[0] - along(0.4, small_first)) < 1e-12
