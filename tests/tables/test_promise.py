"""The promise of a table in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetdp.tables import promise
from hetdp.tables.policy import Names, Policy
from hetdp.tables.promise import Promise, Protection
from tests.tables.tables import request_of


def words_of(**more: Any) -> str:
    given: dict[str, Any] = {"group": None, "people": 5, "least": 0.5, "largest": 0.5, "used": 0.25}
    given |= {"unprotected": 0, "only_deciding": 0, "odds": "odds"}
    return promise._protection_words(Protection(**(given | more)))


def test_a_promise_says_who_is_protected_how():
    assert words_of() == "5 people: up to ε = 0.5 allowed, 0.25 charged"
    assert words_of(group="pupil", people=1) == "1 person of 'pupil': up to ε = 0.5 allowed, 0.25 charged"
    assert words_of(least=0.1) == "5 people: ε from 0.1 to 0.5 allowed, at most 0.25 charged"
    assert words_of(unprotected=5).startswith("5 people: no protection promised (ε = inf)")
    assert words_of(only_deciding=5).startswith("5 people: protected only where the answer depends on one of them")
    assert words_of(only_deciding=4).endswith("; 4 of them are protected only where the answer depends on one of them")
    assert words_of(unprotected=4).endswith("; 4 of them are promised no protection")


class Made:
    """The mechanism of a promise, as far as its words need it."""

    constant, objective = 0, "balanced"
    certificate = type("Certificate", (), {"method": "theorem", "optimal": True})

    def facts(self) -> None:
        return None


def promise_with(groups: int, area: str | None = None, accuracy: Any = ((1, 0.9, 0.1),)) -> Promise:
    one = Protection(None, 5, 0.5, 0.5, 0.25, 0, 0, "odds")
    return Promise(area, 5, (one,) * groups, Made(), accuracy)


def test_twenty_groups_of_an_area_are_described_and_the_others_counted():
    for groups, more in ((20, 0), (21, 1), (22, 2)):
        lines = list(promise._area_lines(promise_with(groups)))
        assert sum(line.startswith("protected: ") for line in lines) == 20
        found = [line for line in lines if line.endswith("more, in the plan")]
        assert found == ([] if not more else [f"and {more} group{'s' * (more > 1)} more, in the plan"])
    assert list(promise._area_lines(promise_with(1, "North")))[:2] == [
        "area 'North': 5 people",
        "  protected: 5 people: up to ε = 0.5 allowed, 0.25 charged",
    ]


def test_twenty_areas_are_described_and_the_others_counted():
    request, people = request_of(area="county"), Policy(5, np.full(5, 0.5), None, None)
    for areas in (20, 21):
        lines = promise.promise_lines(request, people, [promise_with(1, "North")] * areas)
        assert sum(line.startswith("area ") for line in lines) == 20
        assert (lines[-1] == "and 1 area more, in the plan") is (areas == 21)
        assert promise.PARALLEL in lines
    assert promise.PARALLEL not in promise.promise_lines(request_of(), people, [promise_with(1)])


def test_groups_without_people_and_names_that_look_alike_are_announced():
    groups = Names(("Staff", "staff "), np.array([0, 1], dtype=np.int32))
    request = request_of(epsilon=None, by_group={"Staff": 1, "staff ": 1, "guest": 2}, group="role", deciding=0.5)
    lines = promise.promise_lines(request, Policy(2, np.ones(2), groups, None), [])
    assert "groups that are promised an ε but have no people: 'guest'" in lines
    assert any(
        line.startswith("groups that differ only in case") and line.endswith("'Staff', 'staff '") for line in lines
    )
    assert "where the answer depends on one person, ε is at most 0.5 for everybody" in lines


def test_the_largest_margin_without_an_advantage_over_a_coin():
    assert promise_with(1, accuracy=((1, 0.4, 0.6), (2, 0.5, 0.5), (3, 0.6, 0.4))).even_up_to == 2
    assert promise_with(1, accuracy=((1, 0.6, 0.4),)).even_up_to == promise_with(1).worse_up_to == 0
