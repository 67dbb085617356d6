"""explain: a chain from a pinned dataset, edge by edge, that ends at the value itself."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings

import hetdp
from hetdp.mechanism.explanation import Across, AdjacentDataset, BindingPath, find_across, tightest
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.theory.pure import PURE
from tests.loops import for_each
from tests.mechanism.problems import cases
from tests.oracle.literal import neighbourhoods
from tests.oracle.paths import along
from tests.oracle.random_problems import compatible_problems
from tests.paper.library import problem_of


def test_the_path_starts_at_a_pin_follows_edges_and_ends_at_the_value():
    explained = 0
    for small in compatible_problems(seed=61, count=120):
        mechanism, near = hetdp.extend(problem_of(small), small.pins), neighbourhoods(small)
        for v in small.free:
            path = mechanism.explain(v)
            assert path.datasets[-1] == v
            assert path.bounds[-1] == mechanism[v]
            assert path.upper == (small.answers[v] == 1)
            if len(path.datasets) > 1:
                explained += 1
                assert path.datasets[0] in small.pins
                assert not set(path.datasets[1:]) & small.pins.keys()
                assert path.epsilons == [near[u][w] for u, w in pairwise(path.datasets)]
                side = (lambda p: p) if path.upper else (lambda p: 1 - p)
                steps = [side(along(side(path.bounds[0]), path.epsilons[:i])) for i in range(len(path.datasets))]
                assert path.bounds == pytest.approx(steps, abs=1e-12)
            else:
                assert mechanism[v] in (0.0, 1.0)
    assert explained > 60


@given(cases())
@settings(max_examples=50)
def test_every_dataset_can_be_explained_and_the_bounds_never_get_worse(case):
    mechanism = case.extend()
    for dataset in range(len(case.answers)):
        path = mechanism.explain(dataset)
        assert len(path.datasets) == len(path.bounds) == len(path.coordinates) == len(path.epsilons) + 1
        assert path.coordinates == [mechanism.coordinates[v] for v in path.datasets]
        sign = 1 if path.upper else -1
        room = 1e-8 if path.ends_given else 0.0  # a given value that is tight only approximately
        assert all(sign * one <= sign * other + room for one, other in pairwise(path.coordinates))
        assert len(path.datasets) == 1 or not np.isnan(case.pins[path.datasets[0]])


def test_a_given_value_is_explained_by_what_would_have_to_change_before_it_could():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], 1.0), [1, 1, 2, 2])

    def explain(label, **pins):
        return hetdp.extend(problem, pins).explain(label)

    loose = explain("b", b=0.7, c=0.3)
    assert (loose.datasets, loose.epsilons, loose.bounds) == (["b"], [], [pytest.approx(0.7)])
    assert (loose.crossing, loose.ends_given) == (["c", "b"], False)
    across = "the nearest edge across, ε = 1 from p(c) = 0.3, which is given, allows at most 0.742484"
    assert str(loose) == f"p(b) = 0.7 is given; {across}"
    most = 1 - 0.7 / math.e
    tight = explain("b", b=most, c=0.3)
    words = f"p(b) = {most:.6g} is given: across ε = 1 from p(c) = 0.3, which is given, at most {most:.6g}"
    assert str(tight) == words
    assert explain("a", b=most, c=0.3).crossing == ["c", "b", "a"]
    assert explain("a", b=0.7, c=0.3).crossing == ["b", "a"]  # b would have room
    inner = explain("a", a=0.8, b=0.7, c=0.3)
    assert (str(inner), inner.crossing) == ("p(a) = 0.8 is given", ["a"])
    bound = 1 - 0.3 / math.e - 1e-13  # so that no value is moved
    own = explain("a", a=bound, b=0.7, c=0.3)
    assert (own.datasets, own.origin, own.ends_given) == (["b", "a"], "given", True)
    assert str(own) == f"p(b) = 0.7 is given\nover ε = 1: p(a) at most {bound:.6g}, as given"
    low = explain("d", b=0.7, c=0.3, d=0.3 / math.e + 1e-13)
    assert str(low).splitlines()[-1] == f"over ε = 1: p(d) at least {0.3 / math.e:.6g}, as given"


def test_an_unbound_dataset_does_not_claim_to_be_given():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], math.inf), [1, 2])
    mechanism = hetdp.extend(problem, {})
    for dataset, p in (("a", 1.0), ("b", 0.0)):
        path = mechanism.explain(dataset)
        assert (path.datasets, path.bounds) == ([dataset], [p])
        assert "given" not in str(path)


def test_upper_and_lower_bounds_read_differently():
    graph = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], [0.1, 1.0, 0.1])
    mechanism = hetdp.extend(hetdp.Problem(graph, [1, 1, 2, 2]), {"b": 0.6, "c": 0.4})
    assert str(mechanism.explain("a")) == "p(b) = 0.6 is given\nover ε = 0.1: p(a) at most 0.638065"
    assert str(mechanism.explain("d")) == "p(c) = 0.4 is given\nover ε = 0.1: p(d) at least 0.361935"


def test_the_strongest_path_is_not_the_one_with_the_least_sum():
    """ε 0.11 then 1 binds more than 1 then 0.1: order matters where a path crosses ½."""
    graph = hetdp.DatasetGraph.from_edges(["s", "x", "s", "y"], ["x", "v", "y", "v"], [0.11, 1.0, 1.0, 0.1])
    mechanism = hetdp.extend(hetdp.Problem(graph, dict.fromkeys("sxvy", 1)), {"s": 0.4})
    assert mechanism.explain("v").datasets == ["s", "x", "v"]
    assert mechanism.explain("v").epsilons == [0.11, 1.0]


def test_a_long_chain_is_explained_without_recursion():
    size = 30_000
    graph = hetdp.DatasetGraph.from_edges(np.arange(size - 1), np.arange(1, size), 0.001)
    path = hetdp.extend(hetdp.Problem(graph, np.full(size, 2)), {0: 0.9}).explain(size - 1)
    assert path.datasets == list(range(size))
    assert not path.upper


@pytest.mark.parametrize("links", [[1, 0, -1], [2, -1, -1], [0, -1, -1], [-1, -1, -1]])
def test_links_in_cycles_or_to_missing_datasets_explain_nothing(links):
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
    problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    claimed = LocalMechanism(problem, np.array([0.5, 0.1, -0.1]), np.array([False, True, True]), np.array(links))
    with pytest.raises(hetdp.InputError, match=r"not the best one: .*; only the best private mechanism is explained"):
        claimed.explain("a")


class TestChosenValues:
    """A value chosen by an objective is explained by the objective and by what binds the choice."""

    PROBLEM = hetdp.Problem(
        hetdp.DatasetGraph.from_edges(["a", "b", "c", "b"], ["b", "c", "d", "e"], [1.0, 0.2, 1.0, 0.1]),
        {"a": 1, "b": 1, "c": 2, "d": 2, "e": 1},
    )

    @pytest.mark.parametrize("objective", ["fair", "balanced", "average"])
    def test_the_objective_and_the_edge_across_are_named(self, objective):
        mechanism = hetdp.design(self.PROBLEM, objective)
        path = mechanism.explain("a")
        assert path.origin == objective
        assert (path.across.dataset, path.across.parameters) == ("c", {"epsilon": 0.2})
        assert path.across.tight
        assert path.across.p[0] == pytest.approx(mechanism["c"])
        assert path.across.bound[0] == pytest.approx(mechanism["b"])
        assert path.datasets == ["b", "a"]
        assert f"chosen by {objective}: across ε = 0.2 from p(c) = " in str(path)
        assert "given" not in str(path)
        low = mechanism.explain("c")
        value = f"{mechanism['c']:.6g}"
        assert str(low).startswith(f"p(c) = {value} is chosen by {objective}: across ε = 0.2 from p(b) = ")
        assert str(low).endswith(f"at least {value}")
        assert "chosen by" in path._repr_html_()

    def test_where_values_were_given_both_kinds_occur(self):
        graph = hetdp.DatasetGraph.from_edges(["a", "b", "c", "d"], ["b", "c", "d", "e"], [1.0, 0.2, 0.2, 1.0])
        problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2, "d": 1, "e": 1})
        mechanism = hetdp.design(problem, "fair", {"b": 0.52})
        assert str(mechanism.explain("a")).startswith("p(b) = 0.52 is given\n")
        assert "chosen by fair: across ε = 0.2 from p(d) = 0.549834, at least 0.450166" in str(mechanism.explain("c"))
        assert mechanism.explain("c").origin == "fair"
        assert mechanism.was_given.tolist() == [False, True, False, False, False]
        assert mechanism.columns()["given"].tolist() == mechanism.was_given.tolist()
        assert "given" not in hetdp.design(problem).columns()

    def test_the_neighbour_across_may_be_a_given_one(self):
        problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["b"], ["c"], 0.2), [1, 2])
        mechanism = hetdp.design(problem, "fair", {"c": 0.4})
        assert "across ε = 0.2 from p(c) = 0.4, which is given, at most" in str(mechanism.explain("b"))

    def test_a_chosen_value_that_its_own_side_binds_is_followed_to_the_edge_across(self):
        graph = hetdp.DatasetGraph.from_edges(["a", "a", "b"], ["x", "b", "y"], [0.1, 0.05, 5.0])
        problem = hetdp.Problem(graph, {"a": 1, "x": 2, "b": 1, "y": 2})
        path = hetdp.design(problem).explain("b")
        assert path.datasets == ["a", "b"]
        assert path.across.dataset == "x"
        assert [round(bound, 6) for bound in path.bounds] == [round(hetdp.design(problem)[one], 6) for one in "ab"]

    def test_an_unbound_chosen_value_is_explained_by_the_nearest_edge(self):
        graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["x", "x"], [0.1, 5.0])
        problem = hetdp.Problem(graph, {"a": 1, "b": 1, "x": 2})
        path = hetdp.design(problem, "balanced").explain("b")
        tight = hetdp.design(problem, "fair").explain("b")
        assert tight.across.tight
        assert not path.across.tight
        assert "is chosen by balanced; the nearest edge across, ε = 5 from p(x) = " in str(path)

    def test_kept_and_moved_values_are_mentioned(self):
        kept = hetdp.polish(self.PROBLEM, dict.fromkeys("abcde", 0.5)).explain("a")
        assert str(kept).startswith(
            "p(b) = 0.5 is kept from the polished values; the nearest edge across, ε = 0.2 from p(c)"
        )
        graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 0.1)
        problem = hetdp.Problem(graph, [1, 1, 2])
        exact = hetdp.design(problem)
        moved = hetdp.extend(
            problem, hetdp.PartialMechanism(z={"b": exact.coordinates[1] + 3e-10, "c": exact.coordinates[2]})
        )
        assert moved.moved > 0.0
        assert "is given, and moved by at most 3.0e-10 in z to be compatible" in str(moved.explain("a"))

    @for_each("seed", range(60))
    def test_explanations_on_random_graphs_are_true(self, seed):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 12))
        pairs = [(u, v) for u in range(size) for v in range(u) if rng.random() < 0.4] or [(0, 1)]
        epsilon = rng.choice([0.0, 0.1, 0.5, 2.0], len(pairs))
        graph = hetdp.DatasetGraph.from_edges(*zip(*pairs, strict=True), epsilon, datasets=range(size))
        problem = hetdp.Problem(graph, [1, 2, *rng.integers(1, 3, size - 2).tolist()])
        for objective in ("fair", "balanced", "average"):
            mechanism = hetdp.design(problem, objective)
            for label in range(size):
                path = mechanism.explain(label)
                first = path.datasets[0]
                assert path.datasets[-1] == label
                assert path.bounds[-1] == pytest.approx(mechanism[label])
                assert path.origin == (objective if mechanism.pinned[first] else "")
                if path.across is None:
                    assert not mechanism.pinned[first]
                    continue
                other = path.across.dataset
                assert problem.answers[other] != problem.answers[first]
                ratio = np.exp(path.across.parameters["epsilon"])
                p, q = mechanism[other], path.across.bound[0]
                allowed = min(ratio * p, 1 - (1 - p) / ratio) if path.upper else max(p / ratio, 1 - ratio * (1 - p))
                assert q == pytest.approx(allowed, abs=1e-9)
                assert path.across.tight == (abs(mechanism[first] - q) < 1e-7) or abs(mechanism[first] - q) < 1e-6
                if objective == "fair":
                    assert path.across.tight


def path(**facts):
    edge = {"epsilon": 0.5}
    values = {"origin": "given", "across": None, "moved": 0.0, "upper": True} | facts
    return BindingPath(["a", "b"], ["a", "b"], [edge], ["x"], [0.25, 0.4], [0.75, 0.6], [-0.7, -0.2], **values)


def test_a_path_says_where_its_first_value_comes_from():
    across = Across("c", "c", {"epsilon": 1.0}, None, (0.1, 0.9), (0.27, 0.73), True, False)
    assert path(origin="").beginning == "exactly; nothing binds it"
    assert path().beginning == "given"
    assert path(moved=1.5e-10).beginning == "given, and moved by at most 1.5e-10 in z to be compatible"
    assert path(origin="polish").beginning == "kept from the polished values"
    assert path(origin="fair").beginning == "chosen by fair"
    assert path(origin="fair", across=across).beginning == (
        "chosen by fair: across ε = 1 from p(c) = 0.1, at most 0.27"
    )
    loose = replace(across, tight=False, given=True, edge_class="y")
    assert path(origin="fair", across=loose, upper=False).beginning == (
        "chosen by fair; the nearest edge across, ε = 1 (class 'y') from p(c) = 0.1, which is given,"
        " allows at least 0.27"
    )
    assert str(path()) == "p(a) = 0.25 is given\nover ε = 0.5 (class 'x'): p(b) at most 0.4"
    assert str(path(origin="")).startswith("p(a) = 0.25, exactly")


@pytest.mark.parametrize("z", [0.0, PURE.meet(1.0), 0.5])
def test_of_neighbours_that_bind_alike_the_first_is_named_however_they_are_listed(z):
    """Dataset 0 has the neighbours 1 and 2 across the boundary, and 3 and 4 on its own side; both pairs are alike."""
    values = {0: z, 1: -z, 2: -z, 3: z + 1.0, 4: z + 1.0}

    def listed(order):
        def adjacent_datasets(at):
            ends = [other for other in order if other != at and 0 in (at, other)]
            return [
                AdjacentDataset(other, values[other], (other in (1, 2)) == (at in (1, 2)), True, other > 2, (1.0,))
                for other in ends
            ]

        return find_across(PURE, 0, 1.0, values.__getitem__, adjacent_datasets)

    found = listed([0, 1, 2, 3, 4])
    assert found.across is None or found.across.number == 1
    assert all(listed(order) == found for order in permutations(range(5)))


def test_of_parallel_edges_the_tightest_binds_and_of_equals_the_first():
    assert tightest(PURE, 0.0, [(1.0,), (0.5,), (0.5,), (2.0,)]) == 1
    assert tightest(PURE, 0.0, [(1.0,)]) == 0


def test_a_search_for_what_binds_follows_tight_edges_only_and_ends_at_a_given_value():
    """A path 0 – 1 – 2 of one answer and 3 across from 2; ε = 1 on all edges, and all values are the best ones."""
    met = PURE.meet(1.0)
    z = {0: met + 2.0, 1: met + 1.0, 2: met, 3: -met}

    def adjacent_datasets(at, given=()):
        return [
            AdjacentDataset(other, z[other], (other == 3) == (at == 3), True, other in given, (1.0,))
            for other in (at - 1, at + 1)
            if other in z
        ]

    found = find_across(PURE, 0, 1.0, z.__getitem__, adjacent_datasets)
    assert (found.chain, found.given, found.tight) == ([2, 1, 0], False, True)
    assert found.across is not None
    assert found.across.number == 3
    assert found.links() == [(-1, 2), (2, 1), (1, 0)]
    ended = find_across(PURE, 0, 1.0, z.__getitem__, lambda at: adjacent_datasets(at, given=(1,)))
    assert (ended.chain, ended.given, ended.across) == ([1, 0], True, None)
    z[0] = 2.0  # no edge binds it
    assert find_across(PURE, 0, 1.0, z.__getitem__, adjacent_datasets).chain == [0]
    z[2] = 0.25  # less than the edge across allows
    nearest = find_across(PURE, 2, 1.0, z.__getitem__, adjacent_datasets)
    assert (nearest.chain, nearest.tight) == ([2], False)
    assert nearest.bound == pytest.approx(met)
