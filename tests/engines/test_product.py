"""The product engine: bit-equal to the reference engine on the same edges, stored; with links that prove it."""

from __future__ import annotations

import numpy as np
import pytest

import hetdp
from hetdp.engines.product.engine import relax, sweep_labels
from hetdp.engines.product.sweep import BLOCK, passes
from hetdp.engines.registry import engine_for
from hetdp.problem.axis import Axis
from hetdp.problem.decimals import round_labels_down
from hetdp.problem.product import ProductSpace, as_graph
from hetdp.theory.catalogue import find_notion
from hetdp.theory.pure import PURE
from tests.engines.growths import Search, assert_links_prove, bits, run_grow
from tests.engines.products import random_roles, random_space, random_start
from tests.loops import for_each

KINDS = ["grid", "positive", "any"]


def assert_as_reference(space: ProductSpace, labels: np.ndarray, roles: np.ndarray | None = None) -> None:
    before = bits(labels)
    engine = engine_for("product", space, PURE, "grow")
    growth, search = engine.grow(space, PURE, labels, roles), Search(as_graph(space), labels, roles)
    assert bits(growth.labels) == bits(run_grow("reference", search).labels)
    assert_links_prove(search, growth)
    assert bits(labels) == before


@for_each("kind", KINDS)
@for_each("seed", range(25))
def test_products_of_every_kind_give_the_same_bits(kind, seed):
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    assert_as_reference(space, random_start(rng, space.size, kind))


@for_each("kind", KINDS)
@for_each("seed", range(25))
def test_products_with_pins_give_the_same_bits(kind, seed):
    rng = np.random.default_rng(100 + seed)
    space = random_space(rng)
    roles = random_roles(rng, space)
    labels = random_start(rng, space.size, kind)
    assert_as_reference(space, np.where(roles == 0, np.where(np.isinf(labels), 0.0, labels), np.inf), roles)


@for_each("seed", range(6))
def test_bounded_range_gives_the_same_bits(seed):
    rng, notion = np.random.default_rng(200 + seed), find_notion("bounded-range")
    space = random_space(rng, 300)
    labels = random_start(rng, space.size, KINDS[seed % 3])
    ours = engine_for("product", space, notion, "grow").grow(space, notion, labels)
    assert bits(ours.labels) == bits(engine_for("reference", space, notion, "grow").grow(space, notion, labels).labels)


@pytest.mark.parametrize("values", [2, 3, 4])
def test_ten_people_are_swept_once(values):
    """One sweep is what `sweep_labels` makes; it declines where that would not be exact."""
    rng = np.random.default_rng(values)
    people = {2: 10, 3: 6, 4: 5}[values]
    names = [str(value) for value in range(values)]
    space = ProductSpace([Axis.person(at, names, round(rng.uniform(0.05, 1.0), 2)) for at in range(people)])
    labels = random_start(rng, space.size, "grid")
    assert sweep_labels(space, PURE, labels, None) is not None
    assert_as_reference(space, labels)
    labels[7] = -0.25
    assert sweep_labels(space, PURE, labels, None) is None
    assert_as_reference(space, labels)
    labels[7] = 0.1
    assert sweep_labels(space, PURE, labels, None) is None, "0.1 is not on the grid"
    assert_as_reference(space, labels)


def test_sums_that_leave_the_grid_are_not_swept():
    space = ProductSpace([Axis.tally("many", 100, 90.0), Axis.person("one", ["yes", "no"], 0.1)])
    labels = np.where(np.arange(space.size) == 0, round_labels_down(np.array([0.1]))[0], np.inf)
    assert sweep_labels(space, PURE, labels, None) is None
    assert_as_reference(space, labels)
    near = ProductSpace([Axis.person("one", ["yes", "no"], 0.1)])
    assert sweep_labels(near, PURE, np.array([0.0, 8191.0]), None) is not None
    assert sweep_labels(near, PURE, np.array([0.0, 8191.95]), None) is None


def test_a_pin_that_falls_is_not_swept():
    """The edge between two pins takes no part, but a sweep would use it."""
    space = ProductSpace([Axis.tally("group", 2, 0.5)])
    roles = np.array([0, 0, 1], dtype=np.uint8)
    labels = np.array([0.0, 9.0, np.inf])
    assert sweep_labels(space, PURE, labels, roles) is None
    assert engine_for("product", space, PURE, "grow").grow(space, PURE, labels, roles).labels.tolist() == [
        0.0,
        9.0,
        9.5,
    ]


@pytest.mark.jit_only
@pytest.mark.parametrize(
    "shape",
    [(2,) * 19, (3,) * 12, (40, 2, 2, 41, 2, 43), (700, 2, 900), (300_000, 2), (2, 300_000), (1, 5, 1, 2, 1)],
    ids=str,
)
def test_spaces_of_several_passes_give_the_same_labels_as_plain_arrays(shape):
    """Wide columns, narrow ones, and blocks with and without parts."""
    rng = np.random.default_rng(len(shape))
    axes = [
        Axis.person(at, range(length), round(rng.uniform(0.05, 1.0), 2))
        if length < 10
        else Axis.tally(at, length - 1, round(rng.uniform(0.001, 0.01), 4))
        for at, length in enumerate(shape)
    ]
    space = ProductSpace(axes)
    assert len(passes(space)) > 1 or space.size <= BLOCK
    labels = np.where(rng.random(space.size) < 0.01, random_start(rng, space.size, "grid"), np.inf)
    expected = labels.reshape(shape) + 0.0
    for at, axis in enumerate(axes):
        lines, epsilon = np.moveaxis(expected, at, 0), axis.epsilon[0, 0, 0] if axis.epsilon.size else 0.0
        if axis.shape == "value":
            np.minimum(lines, lines.min(axis=0) + epsilon, out=lines)
        else:
            climb = epsilon * np.arange(axis.length).reshape(-1, *[1] * (len(shape) - 1))
            up = np.minimum.accumulate(lines - climb) + climb
            down = np.minimum.accumulate((up + climb)[::-1])[::-1] - climb
            lines[...] = np.minimum(up, down)
    found = sweep_labels(space, PURE, labels, None)
    assert found is not None
    assert found.tobytes() == expected.tobytes()


@pytest.mark.jit_only
@pytest.mark.parametrize("states", [1, 2])
def test_threads_side_by_side_leave_the_fixed_point_and_links_that_hold(states):
    rng = np.random.default_rng(states)
    tables = [
        np.broadcast_to(np.array([[e, e / 3], [e / 3, e]])[:states, :states], (2, 2, states, states)) for e in (1, 2)
    ]
    axes = [Axis.tally("a", 99, tables[0]), Axis.tally("b", 180, tables[1]), Axis.group("c", 6, "xyz", 0.25)]
    space = ProductSpace(axes, np.arange(100 * 181 * 28) // (50 * 181 * 28) % states)
    start = np.full(space.size, np.inf)
    start[rng.integers(0, space.size, 30)] = round_labels_down(rng.random(30))
    growth = engine_for("product", space, PURE, "grow").grow(space, PURE, start)
    assert relax(space, PURE, start, None).tobytes() == growth.labels.tobytes()
    tight = 0
    for source, target, (epsilon,) in space.edge_blocks():
        bounds = growth.labels[source] + epsilon
        assert (growth.labels[target] <= bounds).all()
        linked = growth.links[target] == source
        assert (growth.labels[target][linked] == bounds[linked]).all()
        assert (growth.labels[target][linked] > growth.labels[source][linked]).all()
        tight += int(linked.sum())
    assert tight == int((growth.labels < start).sum()) > space.size // 2


def test_the_fair_search_is_left_to_others():
    space = ProductSpace([Axis.person("one", ["yes", "no"], 0.1)])
    assert engine_for("auto", space, PURE, "settle").name == "reference"
    with pytest.raises(hetdp.UsageError, match="engine 'product' cannot settle on a ProductSpace"):
        engine_for("product", space, PURE, "settle")
    with pytest.raises(hetdp.UsageError, match="cannot grow on a DatasetGraph"):
        engine_for("product", hetdp.DatasetGraph.from_edges([0], [1], 1.0), PURE, "grow")
