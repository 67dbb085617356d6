"""Every engine, under every notion: the same bits, links that prove them, and privacy by the verifier.

A notion compiles for many seconds, so all that needs the compiled engine is in one test for each set of formulas.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hetdp
from hetdp.engines.contract import demands
from hetdp.engines.cpu.engine import compiled_grow
from hetdp.engines.reference.engine import ReferenceEngine
from hetdp.theory.catalogue import NOTIONS
from tests.engines import fairness, growths
from tests.engines.fairness import is_private, mechanism_of, random_fair_search, run_settle, with_pins
from tests.engines.growths import SHAPES, SIZES, Search, bits, fixed_point, random_search, run_grow

OTHER_NOTIONS = [notion for name, notion in NOTIONS.items() if name != "pure"]
NOTION = pytest.mark.parametrize("notion", OTHER_NOTIONS, ids=lambda notion: notion.name)
FORMULAS = [("directed",), ("approximate",), ("gaussian", "bounded-range")]


def tiny(rng: np.random.Generator, count: int) -> np.ndarray:
    """ε so small that 1 + ε is 1; a carelessly rounded step once left two neighbours there without a meeting point."""
    return 10.0 ** rng.uniform(-19, -13, count)


CASES = [(shape, sizes) for shape in SHAPES for sizes in (*SIZES, tiny)]


def resumed_search(search: Search) -> Search:
    """A finished search in which some labels fell."""
    rng = np.random.default_rng(8)
    first = run_grow("reference", search).labels
    fell = rng.random(len(first)) < 0.1
    lowered = np.where(fell, np.minimum(first, rng.normal(-1, 2, len(first))), first)
    return replace(search, labels=lowered, roles=None, active=fell)


@pytest.mark.parametrize("names", FORMULAS, ids=lambda names: names[0])
def test_both_engines_give_the_same_bits_and_links_that_prove_them(names):
    for number, (shape, sizes) in enumerate(CASES):
        notion = NOTIONS[names[number % len(names)]]
        for seed in (1, 2):
            search = random_search(seed, shape, sizes, 60, notion)
            again = resumed_search(replace(search, roles=None))
            for asked in (search, again):
                growth = run_grow("cpu", asked)
                assert bits(growth.labels) == bits(run_grow("reference", asked).labels)
                growths.assert_links_prove(asked, growth)
        free = random_fair_search(3, shape, sizes, 50, notion)
        for fair in (free, with_pins(free, 4)):
            one, other = run_settle("cpu", fair), run_settle("reference", fair)
            assert bits(one.labels) == bits(other.labels)
            if fair.pins is None:
                fairness.assert_links_prove(fair, one)
            assert (one.links[fair.pinned] == -1).all()
    for shape, sizes in ((growths.sparse, growths.every_size), (growths.star, growths.odd)):  # heaps spill
        search, fair = (mechanism(11, shape, sizes, 2000, notion) for mechanism in (random_search, random_fair_search))
        assert bits(run_grow("cpu", search).labels) == bits(run_grow("reference", search).labels)
        assert bits(run_settle("cpu", fair).labels) == bits(run_settle("reference", fair).labels)


@NOTION
@pytest.mark.jit_only
def test_the_reference_leaves_out_no_step_that_would_lower_a_label(notion):
    """It skips edges by the quick guess; without skipping any, it finds the same labels."""
    patient = replace(notion, quick=lambda *_: -np.inf)
    for shape, sizes in CASES:
        search, free = random_search(6, shape, sizes, 40, notion), random_fair_search(7, shape, sizes, 40, notion)
        for fair in (free, with_pins(free, 8)):
            again = run_settle("reference", replace(fair, notion=patient))
            assert bits(run_settle("reference", fair).labels) == bits(again.labels)
        assert bits(run_grow("reference", search).labels) == bits(
            run_grow("reference", replace(search, notion=patient)).labels
        )


@NOTION
@pytest.mark.jit_only
def test_a_search_ends_at_the_plainly_computed_fixed_point(notion):
    for shape, sizes in CASES:
        search = random_search(5, shape, sizes, 20, notion)
        assert bits(run_grow("reference", search).labels) == bits(fixed_point(search))


@NOTION
@pytest.mark.jit_only
def test_the_fair_search_is_private_with_pins_unless_they_miss_by_a_rounding(notion):
    for shape, sizes in CASES:
        free = random_fair_search(7, shape, sizes, 30, notion)
        assert is_private(free, run_settle("reference", free).labels)
        fair = with_pins(free, 8)
        demanded = demands(ReferenceEngine(), fair.graph, notion, fair.answers, fair.pins)
        missed = demanded.least is not None and (demanded.least > demanded.most).any()
        assert missed or is_private(fair, run_settle("reference", fair).labels)


@NOTION
@pytest.mark.jit_only
def test_swapping_the_answers_or_reversing_every_edge_changes_no_label(notion):
    for shape, sizes in CASES:
        fair = with_pins(random_fair_search(9, shape, sizes, 30, notion), 9)
        labels = run_settle("reference", fair).labels
        assert bits(labels) == bits(run_settle("reference", replace(fair, answers=3 - fair.answers)).labels)
        source, target, *columns = fair.graph.edges()
        named = dict(zip(notion.parameters, columns, strict=True))
        turned = {name: named[other] for name, other in zip(named, back_of(notion.parameters), strict=True)}
        graph = hetdp.DatasetGraph.from_edges(target, source, datasets=range(fair.graph.size), **turned)
        assert bits(labels) == bits(run_settle("reference", replace(fair, graph=graph)).labels)


def back_of(parameters: tuple[str, ...]) -> list[str]:
    """The names under which an edge's parameters go when it is listed from its other end."""
    if len(parameters) == 1:
        return list(parameters)
    return [name.removesuffix("_back") if name.endswith("_back") else name + "_back" for name in parameters]


@NOTION
@pytest.mark.jit_only
def test_no_dataset_is_worse_than_under_the_balanced_mechanism(notion):
    for shape, sizes in CASES:
        fair = random_fair_search(10, shape, sizes, 25, notion)
        problem = hetdp.Problem(fair.graph, fair.answers, notion.name)
        balanced = hetdp.design(problem, "balanced", engine="reference")
        worse = np.where(fair.answers == 1, balanced.coordinates, -balanced.coordinates)
        labels = run_settle("reference", fair).labels
        assert (labels >= worse - 1e-12 * (1.0 + np.where(np.isinf(worse), 0.0, np.abs(worse)))).all()
        assert mechanism_of(fair, labels).errors.max() <= balanced.errors.max() + 1e-13


def test_notions_that_share_their_formulas_share_what_is_compiled():
    names = [compiled_grow(NOTIONS[name]).__name__ for name in ("gaussian", "bounded-range", "pure")]
    assert names[0] == names[1] != names[2]
