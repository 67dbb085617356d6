"""Definition 1: P(u, v), all the (u, v)-paths."""

from __future__ import annotations

from itertools import pairwise

from tests.oracle.literal import neighbourhoods
from tests.oracle.paths import along, simple_paths
from tests.oracle.random_problems import SmallProblem, compatible_problems
from tests.paper.library import extension_of, mechanism_of


def test_the_oracle_lists_every_path_of_a_square_with_one_diagonal():
    edges = (("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0), ("d", "a", 1.0), ("a", "c", 1.0))
    near = neighbourhoods(SmallProblem(edges, dict.fromkeys("abcd", 1)))
    from_a_to_c = {path for path in simple_paths(near, ("a",)) if path[-1] == "c"}
    assert from_a_to_c == {("a", "c"), ("a", "b", "c"), ("a", "d", "c")}


def test_an_explanation_is_a_path_from_a_pinned_dataset_whose_bound_is_the_value():
    explained = 0
    for small in compatible_problems(seed=21, count=60):
        mechanism, p, near = mechanism_of(small), extension_of(small), neighbourhoods(small)
        reached = [c for c in small.components() if c & small.pins.keys()]
        for v in small.free:
            if any(v in component for component in reached):
                why = mechanism.explain(v)
                head, *_, tail = datasets = list(why.datasets)
                assert head in small.pins
                assert tail == v
                assert all(y in near[x] for x, y in pairwise(datasets))
                epsilons = [near[x][y] for x, y in pairwise(datasets)]
                assert list(why.epsilons) == epsilons
                start = small.pins[head] if small.answers[v] == 1 else 1 - small.pins[head]
                value = p[v] if small.answers[v] == 1 else 1 - p[v]
                assert abs(along(start, epsilons) - value) < 1e-12
                explained += 1
    assert explained > 50


def test_the_bounds_of_an_explanation_begin_at_the_pin_and_end_at_the_value():
    for small in compatible_problems(seed=22, count=60):
        mechanism, p = mechanism_of(small), extension_of(small)
        for component in small.components():
            for v in component & set(small.free):
                if component & small.pins.keys():
                    why = mechanism.explain(v)
                    assert abs(why.bounds[0] - small.pins[why.datasets[0]]) < 1e-12
                    assert abs(why.bounds[-1] - p[v]) < 1e-12
                    rising = 1 if small.answers[v] == 1 else -1
                    assert all(rising * (y - x) >= -1e-12 for x, y in pairwise(why.bounds))
