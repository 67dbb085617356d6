"""The promise of `ask` by true share: in words, in Python and as JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas
import pytest

import hetdp
from hetdp.cli.main import main

STAFF: dict[str, Any] = {"count": "vote = 'yes'", "at_least": "50%", "person": "id", "dry_run": True}


def people(size: int, **columns: Any) -> pandas.DataFrame:
    return pandas.DataFrame({"id": range(size), "vote": ["yes"] * size, **columns})


def test_the_promise_states_the_accuracy_at_a_few_shares_and_never_rounds_it_up():
    asked = hetdp.ask(people(600), **STAFF, epsilon=0.1)
    found = re.findall(
        r"^  ([\d,]+) of ([\d,]+) runs if (\d+)% count as yes \((\d+) of 600; (?:yes|no) is right\)$",
        asked.promise,
        re.MULTILINE,
    )
    assert [(int(percent), int(number)) for *_, percent, number in found] == [
        (40, 240),
        (45, 270),
        (55, 330),
        (60, 360),
    ]
    answers = re.findall(r"of 600; (yes|no) is right", asked.promise)
    assert answers == ["no", "no", "yes", "yes"]
    for right, runs, percent, _ in found:
        point = asked.promises[0].at_share(f"{percent}%")
        right, runs = int(right.replace(",", "")), int(runs.replace(",", ""))
        assert right / runs <= point.accuracy < (right + 1) / runs
        assert point.error * runs >= 1


def test_shares_are_closer_to_the_threshold_where_more_people_answer():
    kind = {"eps": np.tile([0.1, 1.0], 50_000)}
    asked = hetdp.ask(people(100_000, **kind), **STAFF | {"at_least": "20%"}, epsilon="eps")
    percents = [float(one) for one in re.findall(r"runs if ([\d.]+)% count as yes", asked.promise)]
    assert percents == [19.96, 19.98, 20.02, 20.04]


def test_few_people_and_constant_answers_have_no_lines_by_share():
    for size, least in ((19, "50%"), (30, 31)):
        assert "count as yes (" not in hetdp.ask(people(size), **STAFF | {"at_least": least}, epsilon=0.1).promise


@pytest.mark.parametrize("design", ["balanced", "weighted-vote", "fair"])
def test_every_area_and_design_has_its_own_curve(design):
    table = people(50, area=["a"] * 30 + ["b"] * 20)
    asked = hetdp.ask(table, **STAFF, epsilon=0.3, by="area", design=design)
    assert [promise.curves().of for promise in asked.promises] == [30, 20]
    for promise in asked.promises:
        point = promise.at_share("60%")
        assert point == next(one for one in promise.by_share() if one.number == point.number)
        assert point.error == pytest.approx(
            {margin: error for margin, _, error in promise.accuracy}.get(point.margin, point.error)
        )


def test_shares_of_respondents_are_stated_for_all_and_for_half_of_the_people():
    asked = hetdp.ask(people(40), **STAFF, of="respondents", epsilon=0.3)
    assert "if 60% of those who answer count as yes, and all 40 people answer (yes is right)" in asked.promise
    assert "if 60% of those who answer count as yes, and at least 20 of 40 people answer" in asked.promise
    (promise,) = asked.promises
    assert promise.curves().assumption == "everybody answers"
    everybody, half = promise.at_share("60%", answered=40), promise.at_share("60%", answered=20)
    assert everybody.error == promise.at_share("60%").error < half.error
    assert (half.number, half.answered, half.document()["answered"]) == (12, 20, 20)
    counted = hetdp.ask(people(40), **STAFF, epsilon=0.3)
    assert "(22 of 40; yes is right)\n" in counted.promise


def test_a_share_of_respondents_with_too_many_sums_is_stated_if_everybody_answers(monkeypatch):
    monkeypatch.setattr("hetdp.people.products.tallied.MOST_SUMS", 40)
    asked = hetdp.ask(people(40), **STAFF, of="respondents", epsilon=0.3, design="fair")
    assert "(24 of 40) and everybody answers" in asked.promise
    with pytest.raises(hetdp.UsageError, match="known for at most 40 different sums"):
        asked.promises[0].at_share("60%", answered=20)


def test_a_question_without_a_share_says_what_is_not_offered():
    question = hetdp.questions.count("yes", 3) & ~hetdp.questions.majority()
    asked = hetdp.ask(people(20), "vote = 'yes'", question=question, person="id", epsilon=0.5, dry_run=True)
    with pytest.raises(hetdp.UsageError, match="accuracy by true share is known for counts"):
        asked.promises[0].at_share(0.5)
    assert asked.promises[0].by_share() == ()
    assert "count as yes (" not in asked.promise


def test_json_has_both_curves_with_their_baselines(tmp_path, capsys):
    path = tmp_path / "staff.csv"
    people(40, eps=[0.2] * 20 + [1.0] * 20).to_csv(path, index=False)
    argv = ["ask", str(path), "--count", "vote = 'yes'", "--at-least", "50%", "--epsilon", "eps", "--person", "id"]
    assert main([*argv, "--dry-run", "--json"]) == 0
    curves = json.loads(capsys.readouterr().out)["promises"][0]["curves"]
    points = curves["by_share"]["points"]
    assert [point["number"] for point in points] == list(range(41))
    assert {point["answer"] for point in points[:20]} == {"no"}
    assert curves["by_share"]["value"] == "yes"
    for point in (*points, *curves["by_margin"]["points"]):
        assert point["error"] <= point["baselines"]["geometric noise"]["error"] + 1e-9
        assert list(point["baselines"]) == ["one ε", "geometric noise", "weighted-vote"]
