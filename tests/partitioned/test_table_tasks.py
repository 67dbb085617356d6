"""A table of people in parts: ids, kinds, repeated ids and counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hetdp.errors import InputError, UsageError
from hetdp.partitioned import table_tasks
from hetdp.partitioned.table_tasks import MergedTallies, Tally, find_repeated, merge_tallies
from hetdp.partitioned.tables import IdSequence, _KindIndex
from hetdp.tables.policy import Names, Policy
from hetdp.tables.request import build_request


def test_ids_are_found_by_their_places():
    ids = IdSequence()
    for texts in (["a", "", "ö"], [], ["b"]):
        ids.add(texts)
    assert [ids[at] for at in range(4)] == list(ids) == ["a", "", "ö", "b"]
    for wrong in (-1, 4):
        with pytest.raises(IndexError):
            ids[wrong]


def test_kinds_of_people_are_found_or_unknown():
    groups = Names(("a", "b"), np.array([0, 1, 1], np.int32))
    places = _KindIndex(Policy(3, np.array([1.0, 1.0, 2.0]), groups, None))
    asked = [np.array([2.0, 1.0, 1.0, 2.0, 3.0, 0.5]), np.array([1, 1, 0, 0, 1, 1])]
    assert places.of(asked).tolist() == [2, 1, 0, -1, -1, -1]


def test_repeated_hashes_are_found_in_their_range(tmp_path):
    places = []
    for at, values in enumerate(([1, 5, 5, 9], [2, 9, 2**64 - 1], [2**64 - 1])):
        places.append(str(tmp_path / f"{at}.npy"))
        np.save(places[-1], np.array(values, np.uint64))
    assert find_repeated(places, 0, 2**64 - 1) == [5, 9, 2**64 - 1]
    assert find_repeated(places, 5, 8) == [5]
    assert find_repeated(places, 6, 9) == [9]
    assert find_repeated(places, 0, 4) == []


ASKED = build_request("vote = 'yes'", at_least=1, person="id", epsilon="eps", group="role")


def tally(epsilon: list[float], groups: list[int], names: list[str], people: list[int], said: Any = None) -> Tally:
    columns = {"everybody": np.zeros(len(people)), "epsilon": np.array(epsilon), "group": np.array(groups)}
    answers = None if said is None else np.array(said)
    return Tally(0, columns, {"group": names}, {"no person": 0, "no group": 0}, np.array(people), answers)


def test_counts_of_several_files_are_added_by_kind(monkeypatch):
    told = [
        tally([0.5, 1.0], [0, 0], ["b"], [2, 3], [[1, 1], [3, 0]]),
        tally([1.0, 0.5], [0, 1], ["a", "b"], [4, 5], [[0, 4], [2, 3]]),
    ]
    found = merge_tallies("it", ASKED, told)
    assert found.policy.size == 14
    assert found.policy.groups.names == ("a", "b")
    rows = zip(
        found.policy.epsilon.tolist(), found.policy.groups.codes.tolist(), found.policy.weights.tolist(), strict=True
    )
    assert list(rows) == [(0.5, 1, 7), (1.0, 0, 4), (1.0, 1, 3)]
    assert found.answers.tolist() == [[3, 4], [0, 4], [3, 0]]
    assert found.entries.tolist() == [0, 2, 1, 0]
    assert found.is_same(merge_tallies("it", ASKED, told[::-1]))
    more = [told[0], tally([1.0, 0.5], [0, 1], ["a", "b"], [4, 6], [[0, 4], [2, 4]])]
    assert not found.is_same(merge_tallies("it", ASKED, more))
    renamed = replace(found.policy, groups=Names(("a", "c"), found.policy.groups.codes))
    assert not found.is_same(MergedTallies(renamed, found.answers, found.entries))
    monkeypatch.setattr(table_tasks, "MOST_KINDS", 4)
    merge_tallies("it", ASKED, told)
    monkeypatch.setattr(table_tasks, "MOST_KINDS", 3)
    with pytest.raises(UsageError, match="too many kinds of people"):
        merge_tallies("it", ASKED, told)
    nameless = told[0]._replace(missing={"no person": 0, "no group": 1})
    with pytest.raises(InputError, match="a person without a group"):
        merge_tallies("it", ASKED, [nameless])
