"""What a release costs whom: the largest promise of each account, for every notion, against plain loops."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.errors import UsageError
from hetdp.people.privacy.epsilons import format_epsilon
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from hetdp.releases.charges import EVERYBODY, account_name, charge_of, costs_of
from hetdp.releases.record.facts import charged_accounts
from hetdp.tables.people_table import Payers
from hetdp.tables.policy import Names, Policy
from hetdp.tables.release import costs_of_people
from hetdp.theory.catalogue import NOTIONS
from tests.loops import for_each

CLASSES = [None, "a", "b", 7, ("x", 1)]


def random_edges(seed: int, size: int = 12) -> dict[str, list[Any]]:
    """Edges of a small graph, with every column that an edge may have."""
    rng = np.random.default_rng(seed)
    pairs = [(at, to) for at in range(size) for to in range(at + 1, size) if rng.random() < 0.4]
    written = [0.0, 0.1, 0.25, 0.3, 0.7, 1.0, 2.5, np.inf]
    columns = {name: rng.choice(written, len(pairs)).tolist() for name in ("epsilon", "epsilon_back", "mu")}
    columns |= {name: rng.choice([0.0, 1e-6, 0.1, 1.0], len(pairs)).tolist() for name in ("delta", "delta_back")}
    classes = [CLASSES[at] for at in rng.integers(0, len(CLASSES), len(pairs))]
    return {"source": [p[0] for p in pairs], "target": [p[1] for p in pairs], "classes": classes} | columns


def problem_of(notion: Any, edges: dict[str, list[Any]], with_classes: bool) -> hetdp.Problem:
    given: dict[str, Any] = {name: edges[name] for name in NOTIONS[notion].parameters}
    classes = edges["classes"] if with_classes else None
    size = max(edges["target"]) + 1
    graph = hetdp.DatasetGraph.from_edges(
        edges["source"], edges["target"], datasets=range(size), classes=classes, **given
    )
    return hetdp.Problem(graph, [1] * size, notion)


@for_each("notion", sorted(NOTIONS))
@for_each("with_classes", [False, True])
@for_each("seed", range(4))
def test_an_account_is_charged_the_largest_of_its_edges_in_either_direction(notion, with_classes, seed):
    edges = random_edges(seed)
    expected: dict[tuple[str, str], float] = {}
    for at in range(len(edges["source"])):
        account = account_name(edges["classes"][at]) if with_classes else EVERYBODY
        for name in NOTIONS[notion].parameters:
            key = account, name.removesuffix("_back")
            expected[key] = max(expected.get(key, 0.0), edges[name][at])
    found = costs_of(problem_of(notion, edges, with_classes))
    assert {
        (n, p): v for p, values in found.allowed.items() for n, v in zip(found.names, values, strict=True)
    } == expected
    assert found.currency == NOTIONS[notion].currency.name


EQUAL_CLASSES = {
    "7": [7, 7.0, np.int64(7), np.uint8(7), np.float32(7)],
    "0.5": [0.5, np.float64(0.5), np.float16(0.5)],
    "0": [0, -0.0, False, np.bool_(False)],
    "a": ["a", np.str_("a")],
    '[1, "a", [2]]': [(1, "a", (2,)), (1.0, np.str_("a"), (np.int32(2),))],
}


@for_each("account", EQUAL_CLASSES)
def test_equal_classes_have_one_account_whatever_their_type(account):
    for name in EQUAL_CLASSES[account]:
        graph = hetdp.DatasetGraph.from_edges("ab", "bc", [0.1, 0.3], classes=[name, "other"])
        assert set(costs_of(hetdp.Problem(graph, [1, 1, 2])).names) == {account, "other"}


NUMBERS = [(float("nan"),), float("inf"), 1j, 10**5000, Fraction(1, 2)]
UNSTABLE = [frozenset("ab"), object(), (1, None), ("a", b"b"), *NUMBERS]


@for_each("name", UNSTABLE)
def test_a_class_without_a_stable_name_has_no_account(name):
    graph = hetdp.DatasetGraph.from_edges("ab", "bc", [0.1, 0.3], classes=[name, "other"])
    with pytest.raises(
        UsageError, match=r"a class of edges has no account: it is a .*; it must be text, a finite number"
    ):
        costs_of(hetdp.Problem(graph, [1, 1, 2]))


def test_the_charge_is_the_written_decimal():
    graph = hetdp.DatasetGraph.from_edges("abc", "bcd", [0.1, 0.7, 1e-9], classes=["x", "y", "z"])
    charge = charge_of(costs_of(hetdp.Problem(graph, [1, 1, 2, 2])))
    assert dict(zip(charge.names, charge.amounts.tolist(), strict=True)) == {"x": 10**8, "y": 7 * 10**8, "z": 1}
    people = Policy(3, np.array([0.1, 0.7, 0.3]), None, None)
    assert charge_of(costs_of_people(people, Payers(["1", "2", "3"]))).amounts.tolist() == [10**8, 7 * 10**8, 3 * 10**8]


def test_an_edge_without_protection_costs_everything():
    graph = hetdp.DatasetGraph.from_edges("ab", "bc", [0.1, np.inf], classes=["x", "x"])
    found = costs_of(hetdp.Problem(graph, [1, 1, 2]))
    assert found.allowed["epsilon"].tolist() == [np.inf]
    assert charged_accounts(found) == [{"account": "x", "epsilon": "inf", "delta": None, "mu": None, "used": "inf"}]


def test_a_space_of_people_costs_the_same_as_its_stored_edges():
    situational = np.full((2, 2, 2, 2), 1.0)
    situational[..., 1, :] = situational[..., :, 1] = 0.25
    axes = [
        Axis.person("Ann", ["yes", "no"], situational),
        Axis.tally("others", 3, 0.5),
        Axis.person("Cyd", ["x", "y"], 2),
    ]
    states = np.zeros(16, dtype=np.uint8)
    for filled in (states, np.ones(16, dtype=np.uint8)):
        space = ProductSpace(axes, filled)
        source, target, epsilon = space.edges()
        by_name: dict[str, float] = {}
        for name, value in zip(space.edge_classes(), epsilon.tolist(), strict=True):
            by_name[name] = max(by_name.get(name, 0.0), value)
        found = costs_of(hetdp.Problem(space, [1, 2] * 8))
        assert dict(zip(found.names, found.allowed["epsilon"].tolist(), strict=True)) == by_name
        assert len(source) == len(target)


@pytest.mark.parametrize(("states", "expected"), [([1, 0, 0, 1], 1.0), ([1, 0, 1, 0], np.inf), ([0, 0, 0, 0], 1.0)])
def test_a_situation_without_protection_costs_everything_only_where_there_is_one(states, expected):
    table = np.full((2, 2, 2, 2), 1.0)
    table[..., 1, 1] = np.inf  # between two datasets of state 1
    space = ProductSpace([Axis.person("Ann", ["yes", "no"], table), Axis.tally("others", 1, 0.5)], states)
    found = costs_of(hetdp.Problem(space, [1, 2, 1, 2]))
    assert dict(zip(found.names, found.allowed["epsilon"].tolist(), strict=True)) == {"Ann": expected, "others": 0.5}


def test_axes_of_one_account_cost_the_largest_of_both():
    for first, second in ((0.5, 0.1), (0.1, 0.5)):
        axes = [Axis.person("7", ["yes", "no"], first), Axis.person(7, ["yes", "no"], second)]
        problem = hetdp.Problem(ProductSpace(axes), [1, 2, 2, 2])
        found = costs_of(problem, hetdp.design(problem).coordinates)
        assert (found.names, found.allowed["epsilon"].tolist()) == (("7",), [0.5])
        assert 0.1 < found.used["epsilon"][0] <= 0.5


def test_without_edges_nothing_is_released():
    graph = hetdp.DatasetGraph.from_edges([], [], [], datasets=["a", "b"])
    with pytest.raises(UsageError, match="nobody is protected"):
        costs_of(hetdp.Problem(graph, [1, 2]))


def test_people_pay_one_by_one_or_by_group():
    groups = Names(("guests", "pupils", "staff"), np.array([1, 1, 2, 2], dtype=np.int32))
    policy = Policy(4, np.array([0.3, 0.5, 1.0, np.inf]), groups, None)
    each = costs_of_people(policy, Payers(["1", "2", "3", "4"]))
    assert (each.kind, each.groups) == ("person", ["pupils", "pupils", "staff", "staff"])
    assert each.allowed["epsilon"].tolist() == [0.3, 0.5, 1.0, np.inf]
    together = costs_of_people(policy, None)
    assert (together.kind, together.names) == ("class", ("pupils", "staff"))
    assert together.allowed["epsilon"].tolist() == [0.5, np.inf]
    assert charged_accounts(each) == []
    by_kind = costs_of_people(
        policy, Payers(["1", "2", "3"], np.array([2, 0, 2])), losses=np.array([0.25, 0.5, 0.75, 3.0])
    )
    assert (by_kind.groups, by_kind.allowed["epsilon"].tolist()) == (["staff", "pupils", "staff"], [1.0, 0.3, 1.0])
    assert by_kind.used["epsilon"].tolist() == [0.75, 0.25, 0.75]
    assert charge_of(each).classes == ("pupils", "pupils", "staff", "staff")


def test_decimals_are_shown_as_they_were_written():
    assert [format_epsilon(x) for x in (0.1, 1.0, np.inf, 0.30000000000000004)] == [
        "0.1",
        "1",
        "inf",
        "0.30000000000000004",
    ]
