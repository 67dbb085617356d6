"""The policy of a table: ε, groups and areas of its people, their digest, and what only a curator sees."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas
import pytest

import hetdp
from hetdp.errors import InputError
from hetdp.tables import formats, people_table, policy, sources
from hetdp.tables.people_table import PARTS, combine_digests, part_digests
from hetdp.tables.policy import Names, Policy, epsilon_at_most, read_epsilons
from tests.loops import for_each
from tests.tables.tables import PEOPLE, as_csv, request_of


def test_a_numeral_with_many_digits_is_lowered():
    assert epsilon_at_most("0.1") == 0.1
    assert epsilon_at_most("1.2345678901234") == 1.2345678901234  # 15 characters
    assert epsilon_at_most("1.23456789012345") == np.nextafter(1.23456789012345, 0)
    assert epsilon_at_most("Infinity".rjust(20)) == np.inf
    rows = {"epsilon": np.array([0.5, 0.5, np.inf, -1.0]), "epsilon long": np.array([False, True, True, False])}
    assert read_epsilons(rows, "epsilon").tolist() == [0.5, np.nextafter(0.5, 0), np.inf, -1.0]
    assert read_epsilons({"epsilon": [0.5]}, "epsilon").tolist() == [0.5]


def policy_of(epsilon: Any, groups: Any = None, areas: Any = None, deciding: Any = None, weights: Any = None) -> Policy:
    group_names, area_names = (
        None if codes is None else Names(("a", "b"), np.array(codes, np.int32)) for codes in (groups, areas)
    )
    size = len(epsilon) if weights is None else sum(weights)
    return Policy(
        size,
        np.array(epsilon, float),
        group_names,
        area_names,
        None if deciding is None else np.array(deciding, float),
        None if weights is None else np.array(weights, np.int64),
    )


def test_the_digest_of_a_policy_depends_on_people_and_not_on_their_order():
    base = policy_of([1, 2, 2], [0, 1, 1], [0, 0, 1], [0.5, 0.5, 0.1]).digest()
    assert policy_of([2, 1, 2], [1, 0, 1], [0, 0, 1], [0.5, 0.5, 0.1]).digest() == base
    assert policy_of([1, 2, 2], [0, 1, 1], [0, 0, 1], [0.5, 0.5, 0.1], [1, 1, 1]).digest() == base
    others = [
        policy_of([1, 2, 3], [0, 1, 1], [0, 0, 1], [0.5, 0.5, 0.1]),
        policy_of([1, 2, 2], [0, 0, 1], [0, 0, 1], [0.5, 0.5, 0.1]),
        policy_of([1, 2, 2], [0, 1, 1], [0, 1, 1], [0.5, 0.5, 0.1]),
        policy_of([1, 2, 2], [0, 1, 1], [0, 0, 1], [0.5, 0.1, 0.5]),
        policy_of([1, 2, 2], [0, 1, 1], [0, 0, 1]),
        policy_of([1, 2, 2], None, [0, 0, 1], [0.5, 0.5, 0.1]),
        policy_of([1, 2, 2], [0, 1, 1], None, [0.5, 0.5, 0.1]),
        policy_of([1, 2, 2], [0, 1, 1], [0, 0, 1], [0.5, 0.5, 0.1], [1, 1, 2]),
    ]
    assert len({base, *(other.digest() for other in others)}) == 9


def test_people_of_an_area_are_listed_by_group():
    found = policy_of([1, 2, 3, 4], [0, 1, 0, 0], [1, 1, 0, 1])
    assert {area: rows.tolist() for area, rows in found.parts()} == {"a": [2], "b": [0, 1, 3]}
    assert [(name, part.values.tolist()) for name, part in found.by_group("b")] == [("a", [1, 4]), ("b", [2])]
    assert [(name, part.people) for name, part in found.by_group("a")] == [("a", 1), ("b", 0)]


def test_the_digest_without_groups_is_that_of_the_people_by_epsilon_and_area():
    with_groups = policy_of([1, 2, 2], [0, 1, 1], [0, 0, 1], [0.5, 0.5, 0.1])
    plain = policy_of([1, 2, 2], None, [0, 0, 1], [0.5, 0.5, 0.1])
    assert with_groups.digest_without_groups() == plain.digest_without_groups() == plain.digest()
    assert with_groups.digest() != plain.digest()


def test_epsilon_is_not_sorted_again_for_the_digest_without_groups(monkeypatch):
    found = policy_of([1, 2, 2], [0, 1, 1], [0, 0, 1])
    digest = found.digest()
    monkeypatch.setattr(policy, "EpsilonLevels", None)
    assert found.digest_without_groups() != digest


@pytest.mark.parametrize(("columns", "times"), [({}, 1), ({"level": "group"}, 1), ({"group": "group"}, 2)])
def test_a_policy_is_hashed_once_with_groups_and_once_without_them(monkeypatch, columns, times):
    people, begun, plainly = {"id": [1, 2, 3], "eps": [0.5, 0.5, 1.0], "vote": ["yes", "no", "no"]}, [], Policy._digest
    monkeypatch.setattr(Policy, "_digest", lambda self: begun.append(self) or plainly(self))
    table = pandas.DataFrame(people | {"group": ["a", "b", "b"]})
    hetdp.ask(table, "vote = 'yes'", at_least="50%", epsilon="eps", person="id", dry_run=True, **columns)
    assert len(begun) == times


@pytest.mark.parametrize("epsilon", [[-1.0], [np.nan], [1.0, -0.5]])
def test_an_invalid_epsilon_is_refused_by_its_column(epsilon):
    faults = policy.Faults("t.csv", request_of())
    faults.require_all_epsilons(np.array([0.0, np.inf]), None, None)
    with pytest.raises(InputError, match=r"t\.csv, eps: missing or invalid ε"):
        faults.require_all_epsilons(np.array(epsilon), None, None)
    with pytest.raises(InputError, match=r"t\.csv, dec: missing or invalid ε"):
        policy.Faults("t.csv", request_of(deciding="dec")).require_all_epsilons(np.ones(1), np.array(epsilon), None)
    by_group = request_of(epsilon=None, by_group={"a": 1, "bb": 1}, group="role")
    roles = policy.Names(("a", "b"), np.array([0, 1]))
    with pytest.raises(InputError, match=r"a group without an ε \(and nobody is in 'bb'\);.*; epsilon_by= gives one"):
        policy.Faults("t.csv", by_group).require_all_epsilons(np.array(epsilon), None, roles)
    with pytest.raises(InputError, match="a table without rows"):
        faults.require_rows(0)


def test_the_digest_of_people_is_the_same_however_they_are_divided():
    rows = np.sort(np.random.default_rng(1).integers(0, 2**64, (4, 600), dtype=np.uint64), axis=1)
    whole = combine_digests(part_digests([rows], range(PARTS)))
    parts = [rows[:, :250], rows[:, 250:]]
    assert combine_digests(part_digests(parts, range(PARTS))) == whole
    assert combine_digests(part_digests([rows[:, :-1]], range(PARTS))) != whole
    edges = np.array([[0, (1 << 56) - 1, 1 << 56, 2**64 - 1]] * 4, dtype=np.uint64)
    found = part_digests([edges], range(PARTS))
    assert len(set(found)) == 4
    assert found[2] == found[254]


@for_each(
    "function",
    [
        hetdp.ask,
        policy.read_policy,
        sources.open_source,
        sources.QueriedSource.__init__,
        formats.open_folder,
        people_table.LocalTable.__init__,
    ],
)
def test_nobody_is_a_curator_by_default(function):
    assert inspect.signature(function).parameters["curator"].default is False


def test_only_a_curator_sees_who_appears_twice(tmp_path):
    table = as_csv(PEOPLE | {"id": [1, 2, 3, 4, 5, 6, 6]}, tmp_path)
    for curator, is_shown in ((False, False), (True, True)):
        with sources.open_source(table, curator=curator) as source, pytest.raises(InputError) as refusal:
            policy.read_policy(source, request_of(), curator)
        assert ("row 7" in str(refusal.value)) is is_shown
        assert ("'6'" in str(refusal.value)) is is_shown
