"""What a wanted accuracy takes, asked of a table: with areas, as text and as JSON, and typed back into `ask`."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.partitioned import workspace
from tests.partitioned.inline import Inline
from tests.tables.folders import random_people, write_parts

STAFF: dict[str, Any] = {"count": "vote = 'yes'", "at_least": "50%", "person": "id", "dry_run": True}
SHELL = ["--count", "vote = 'yes'", "--at-least", "50%", "--person", "id"]
WANT = ["--want", "95%", "--at-share", "60%"]


def people(size: int, **columns: Any) -> pandas.DataFrame:
    return pandas.DataFrame({"id": range(size), "vote": ["yes"] * size, **columns})


def printed(promise: str, share: str) -> float:
    """The accuracy that a promise prints for a share."""
    found = re.search(rf"([\d,]+) of ([\d,]+) runs if {share} count as yes", promise)
    assert found
    right, runs = found.groups()
    return int(right.replace(",", "")) / int(runs.replace(",", ""))


def test_the_epsilon_that_is_said_makes_the_promise_that_was_wanted_and_a_smaller_one_does_not():
    asked = hetdp.ask(people(600), **STAFF, epsilon=1)
    solved = hetdp.solve_epsilon(asked, "95%", at="55%")
    assert printed(hetdp.ask(people(600), **STAFF, epsilon=solved.epsilon).promise, "55%") >= 0.95
    less = solved.epsilon - Decimal(1).scaleb(solved.epsilon.adjusted() - 3)
    assert printed(hetdp.ask(people(600), **STAFF, epsilon=less).promise, "55%") < 0.95
    assert asked.promises[0].mechanism.solve_epsilon(0.95, 0.55).multiple == solved.multiple


@pytest.mark.parametrize("design", ["balanced", "weighted-vote"])
def test_levels_by_group_are_typed_back_into_ask(design):
    table = people(60, role=["pupil"] * 30 + ["staff"] * 30)
    by_role = {"pupil": "0.2", "staff": "0.45"}
    given: dict[str, Any] = {**STAFF, "group": "role", "design": design}
    solved = hetdp.solve_epsilon(hetdp.ask(table, **given, epsilon_by=by_role), "90%", "85%")
    after = {str(level.before): level.after for level in solved.levels}
    for multiple, is_enough in ((Decimal(repr(solved.multiple)), True), (Decimal(repr(solved.below)), False)):
        scaled = {role: Decimal(epsilon) * multiple for role, epsilon in by_role.items()}
        point = hetdp.ask(table, **given, epsilon_by=scaled).promises[0].at_share("85%")
        assert (point.accuracy >= 0.9) is is_enough
        if is_enough:
            assert scaled == {role: after[epsilon] for role, epsilon in by_role.items()}
            assert point.error == solved.error


def test_a_column_of_epsilons_and_deciding_ones_is_multiplied_by_one_factor():
    rng = np.random.default_rng(5)
    table = people(80, eps=np.round(rng.exponential(0.4, 80) + 0.01, 3), dec=0.2)
    given: dict[str, Any] = {**STAFF, "epsilon": "eps", "deciding_epsilon": "dec"}
    solved = hetdp.solve_epsilon(hetdp.ask(table, **given), 0.9, "75%")
    for factor, is_enough in ((solved.multiple, True), (solved.below, False)):
        exact = {
            name: [str(Decimal(repr(one)) * Decimal(repr(factor))) for one in table[name]] for name in ("eps", "dec")
        }
        asked = hetdp.ask(people(80, **exact), **given)
        assert (asked.promises[0].at_share("75%").accuracy >= 0.9) is is_enough


def test_each_area_has_its_need_and_the_largest_is_enough_for_all():
    table = people(75, area=["North"] * 50 + ["South"] * 20 + ["West"] * 5)
    solved = hetdp.solve_epsilon(hetdp.ask(table, **STAFF, epsilon=1, by="area"), "95%", "80%")
    assert [area.area for area in solved.areas] == ["North", "South", "West"]
    alone = {}
    for name, size in (("North", 50), ("South", 20), ("West", 5)):
        alone[name] = hetdp.solve_epsilon(hetdp.ask(people(size), **STAFF, epsilon=1), "95%", "80%").epsilon
    assert {area.area: area.epsilon for area in solved.areas} == alone
    assert solved.epsilon == max(alone.values()) == alone["West"]
    assert solved.area == "West"
    promises = hetdp.ask(table, **STAFF, epsilon=solved.epsilon, by="area").promises
    assert all(promise.at_share("80%").accuracy >= 0.95 for promise in promises)
    assert f"'North' needs ε = {alone['North']}, where 80% count as yes (40 of 50)" in str(solved)


def test_of_very_many_areas_the_first_are_listed_and_the_others_counted():
    table = people(46, area=[f"a{at // 2:02}" for at in range(46)])
    asked = hetdp.ask(table, **STAFF, epsilon=1, by="area")
    solved = asked.solve_epsilon("90%", "60%")
    lines = str(solved).splitlines()
    assert len(solved.areas) == 23
    assert [line.split()[0] for line in lines[-21:-1]] == [f"'a{at:02}'" for at in range(20)]
    assert lines[-1] == "  and 3 areas more"


def test_areas_with_different_levels_are_multiplied_together():
    table = people(60, area=["a"] * 30 + ["b"] * 30, eps=[0.1] * 30 + [0.4] * 30)
    solved = hetdp.solve_epsilon(hetdp.ask(table, **STAFF, epsilon="eps", by="area"), "95%", "80%")
    low, high = solved.areas
    assert solved.multiple == low.multiple
    assert low.multiple == pytest.approx(4 * high.multiple, rel=2e-3)
    assert [(str(level.before), level.people) for level in solved.levels] == [("0.1", 30), ("0.4", 30)]
    assert [len(area.levels) for area in solved.areas] == [1, 1]


def test_an_area_with_one_answer_needs_nothing_and_one_out_of_reach_is_named():
    table = people(24, area=["a"] * 20 + ["b"] * 4)
    asked = hetdp.ask(table, "vote = 'yes'", at_least=6, person="id", epsilon=1, by="area", dry_run=True)
    solved = asked.solve_epsilon("90%", "60%")
    assert solved.areas[1].multiple == 0
    assert "'b' needs nothing, since every table has the answer no" in str(solved)
    table = people(24, area=["a"] * 20 + ["b"] * 4, eps=[1.0] * 20 + [0.0] * 4)
    asked = hetdp.ask(table, **STAFF, epsilon="eps", by="area")
    with pytest.raises(hetdp.InputError, match="the wanted accuracy, area 'b': out of reach"):
        asked.solve_epsilon("90%", "75%")


def test_blank_rows_are_assumed_away_in_words():
    asked = hetdp.ask(people(40), **STAFF, of="respondents", epsilon=0.3)
    assert "(24 of 40) and everybody answers, whoever they are" in str(asked.solve_epsilon("90%", "60%"))
    asked = hetdp.ask(people(40, area=["a", "b"] * 20), **STAFF, of="respondents", epsilon=0.3, by="area")
    assert "where 60% of an area count as yes and everybody answers, whoever" in str(asked.solve_epsilon("90%", "60%"))


def test_of_different_weights_the_share_is_that_of_the_weight():
    table = people(40, area=["a", "b"] * 20, role=["chair"] * 10 + ["member"] * 30)
    question = hetdp.questions.weighted_sum({"chair": 3, "member": 1}, 15)
    given: dict[str, Any] = {"person": "id", "group": "role", "epsilon": 1, "question": question, "dry_run": True}
    found = hetdp.ask(table, "vote = 'yes'", by="area", **given).solve_epsilon("90%", "90%")
    assert "people with 90% of the weight of an area count as yes, whoever they are" in str(found)
    assert found.mechanism.accuracy_at_share("90%").accuracy >= 0.9


def test_workers_need_what_one_machine_does(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline(twice=False))
    folder = write_parts(random_people(2), tmp_path / "people", [150])
    for more in ({}, {"by": "county"}, {"deciding_epsilon": "dec"}):
        given = STAFF | {"epsilon": "eps", "more_than": "40%", "at_least": None, **more}
        here, there = (hetdp.ask(folder, **given, **way) for way in ({}, {"workers": hetdp.Workers()}))
        expected, found = (asked.solve_epsilon("75%", "80%") for asked in (here, there))
        assert str(found) == str(expected)
        assert (found.multiple, found.error, found.levels) == (expected.multiple, expected.error, expected.levels)


def test_questions_without_a_formula_or_a_share_say_so():
    for question, design in (
        (hetdp.questions.count("yes", 3) & ~hetdp.questions.majority(), "fair"),
        (hetdp.questions.majority(), "fair"),
    ):
        asked = hetdp.ask(
            people(9), "vote = 'yes'", question=question, person="id", epsilon=1, design=design, dry_run=True
        )
        with pytest.raises(hetdp.UsageError, match=r"known for (counts|formulas)"):
            asked.solve_epsilon("90%", "60%")


@pytest.fixture
def staff(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people(40, eps=[0.2] * 20 + [1.0] * 20, area=["a"] * 20 + ["b"] * 20).to_csv("staff.csv", index=False)
    return ["ask", "staff.csv", *SHELL]


def test_the_shell_needs_no_epsilon_and_never_reads_an_answer(staff, capsys):
    assert main([*staff, *WANT]) == 0
    shown = capsys.readouterr().out
    epsilon = re.search(r"^needed: ε = ([\d.]+), so that", shown, re.MULTILINE)[1]
    assert printed(hetdp.ask("staff.csv", **STAFF, epsilon=epsilon).promise, "60%") >= 0.95
    assert "Somebody who knows everybody else" in shown
    other = [one.replace("vote = 'yes'", "nothing = 'yes'") for one in staff]
    assert main([*other, *WANT]) == 2


def test_json_has_the_need_its_levels_and_those_of_areas(staff, capsys):
    assert main([*staff, *WANT, "--epsilon", "eps", "--by", "area", "--json"]) == 0
    captured = capsys.readouterr()
    needed = json.loads(captured.out)["needed"]
    assert captured.err == ""
    assert (needed["target"], needed["at_share"], needed["epsilon"]) == (0.95, "60%", None)
    assert needed["multiple"] == max(area["multiple"] for area in needed["areas"])
    assert [level["before"] for level in needed["levels"]] == ["0.2", "1"]
    assert all(level["questionnaire"].startswith("If you answer") for level in needed["levels"])
    assert needed["error"] <= 0.05 < 1 - needed["reached"] + 0.05


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--want", "95%"], "--want without --at-share"),
        (["--at-share", "60%", "--epsilon", "1", "--simulate"], "--simulate together with --at-share"),
        (["--at-share", "60%", "--epsilon", "1", "--ledger", "a.ledger"], "a ledger together with --at-share"),
        (["--at-share", "160%", "--epsilon", "1"], "the share is '160%'; a share is a number from 0 to 1"),
        (["--at-share", "60%"], "no ε"),
        (["--want", "100%", "--at-share", "60%"], "--want 100%; the wanted accuracy is more than 50%"),
        (["--want", "95%", "--at-share", "6"], "--at-share 6; the accuracy is wanted at a true share"),
        ([*WANT, "--plan", "plan.json"], "--plan together with --want"),
        ([*WANT, "--simulate"], "--simulate together with --want"),
        ([*WANT, "--ledger", "a.ledger"], "a ledger together with --want"),
        ([*WANT, "--deciding-epsilon", "1"], "no ε"),
        ([*WANT, "--design", "fair"], "--design balanced has it"),
    ],
)
def test_want_needs_a_share_and_no_option_that_uses_epsilon(staff, capsys, more, message):
    assert main([*staff, *more]) == 2
    assert message in capsys.readouterr().err


def test_the_accuracy_at_a_share_is_printed_for_each_question_and_area(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    rows = [f"{at},{'North' if at % 4 else 'South'},yes" for at in range(80)]
    (tmp_path / "people.csv").write_text("\n".join(["id,area,vote", *rows]) + "\n")
    (tmp_path / "two.json").write_text(
        """{"schema_version": 1, "kind": "questions", "questions": [
        {"count": "vote = 'yes'", "at_least": "50%"}, {"count": "vote = 'no'", "at_least": 81}]}"""
    )
    words = ["ask", "people.csv", "--person", "id", "--epsilon", "0.5", "--at-share", "60%"]
    assert main([*words, "--count", "vote = 'yes'", "--more-than", "60%", "--by", "area"]) == 0
    north, south = capsys.readouterr().out.splitlines()[1:]
    assert north.startswith("area 'North': if 60% count as yes (36 of 60; no is right), the published answer is right")
    assert south.startswith("area 'South': if 60% count as yes (12 of 20; no is right), ")
    assert main([*words, "--questions", "two.json", "--dry-run"]) == 0
    one, two = capsys.readouterr().out.splitlines()[1:]
    assert one.startswith("question 1: if 60% count as yes (48 of 80; yes is right), ")
    assert one.endswith(" runs, whoever these people are")
    assert two.startswith("question 2: The answer is the same for every table: no.")
