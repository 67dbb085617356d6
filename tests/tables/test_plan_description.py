"""`describe_plan`: what the second person reads, who has the plan but not the table."""

from __future__ import annotations

import json
from typing import Any

import pandas
import pytest

import hetdp
from hetdp.tables.plan import _digest

PEOPLE = pandas.DataFrame(
    {
        "id": range(60),
        "eps": ["0.5", "1", "inf"] * 20,
        "town": ["A", "B"] * 30,
        "level": ["low", "high"] * 30,
        "vote": ["yes", "no", None] * 20,
    }
)
TERMS: dict[str, Any] = {"person": "id", "dry_run": True}
KINDS: dict[str, dict[str, Any]] = {
    "one ε": {"at_least": "60%", "epsilon": 0.5},
    "a column of ε, areas, words": {
        "more_than": "50%",
        "epsilon": "eps",
        "by": "town",
        "title": "Shall we?",
        "yes": "Go",
    },
    "levels": {"at_least": 10, "epsilon_by": {"low": 0.1, "high": 1}, "level": "level"},
    "a certain answer": {"at_least": 61, "epsilon": 1},
}


def make(tmp_path: Any, terms: dict[str, Any]) -> tuple[Any, Any]:
    """A plan in a file, and the result of the dry run that wrote it."""
    path = tmp_path / "plan.json"
    return path, hetdp.ask(PEOPLE, "vote = 'yes'", plan=path, **TERMS, **terms)


@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_in_words_repeats_the_promise_and_the_digest_without_the_table(kind, tmp_path):
    path, asked = make(tmp_path, KINDS[kind])
    words = hetdp.describe_plan(path).splitlines()
    assert words[-2] == f"sha256 {asked.digest}"
    promised = asked.promise.splitlines()
    shared = ("title:", "answers:", "question:", "yes means:", "people:", "design:", "area ", "The answer is the same")
    said = [line for line in promised if line.startswith(shared)]
    assert len(said) >= 4
    assert [line for line in words if line.startswith(shared)] == said
    runs = [line for line in promised if " of 100 runs " in line and "If you" not in line]
    assert set(runs) <= set(words)
    assert bool(runs) == (kind != "a certain answer")
    sentences = [line for line in promised if "If you answer differently" in line]
    if kind == "a column of ε, areas, words":  # the plan does not say who is promised nothing
        assert sentences[0].startswith("    If you answer differently, the published answer is “Go” in at most")
    else:
        assert sentences == [line for line in words if "If you answer differently" in line]
    for one in asked.plan["areas"]:
        for charge in one["charges"]:
            assert any(line.endswith(f"at most {charge['used']} charged") for line in words)


def test_a_plan_of_other_bytes_is_the_same_and_one_of_other_content_is_refused(tmp_path):
    path, asked = make(tmp_path, KINDS["one ε"])
    before, plan = hetdp.describe_plan(path), json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(plan, indent=8), encoding="utf-8")
    assert hetdp.describe_plan(path) == before
    plan["areas"][0]["charges"][0]["used"] = "0.1"
    path.write_text(json.dumps(plan), encoding="utf-8")
    with pytest.raises(hetdp.InputError, match="edited by hand"):
        hetdp.describe_plan(path)
    assert asked.digest in before


BROKEN: dict[str, Any] = {
    "no list": lambda plan: plan.update(areas=3),
    "no number": lambda plan: plan["areas"][0]["charges"][0].update(used="little"),
    "no margin": lambda plan: plan["areas"][0].update(accuracy_by_margin={"many": "0.9"}),
    "no promise": lambda plan: plan["areas"][0].update(accuracy_by_margin={"1": 2}),
    "no counts": lambda plan: plan.update(counts=None),
    "no table": lambda plan: plan.update(table="survey"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_plan_that_hetdp_would_not_write_is_refused_even_with_a_right_digest(broken, tmp_path):
    path, _ = make(tmp_path, KINDS["one ε"])
    plan = json.loads(path.read_text(encoding="utf-8"))
    BROKEN[broken](plan)
    del plan["plan_sha256"]
    path.write_text(json.dumps(plan | {"plan_sha256": _digest(plan)}), encoding="utf-8")
    with pytest.raises(hetdp.InputError):
        hetdp.describe_plan(path)


def test_several_questions_are_described_one_after_the_other(tmp_path):
    questions = [{"count": "vote = 'yes'", "at_least": 20}, {"count": "vote = 'no'", "at_least": 10}]
    path = tmp_path / "plan.json"
    asked = hetdp.ask(PEOPLE, questions=questions, epsilon=0.5, plan=path, **TERMS)
    words = hetdp.describe_plan(path)
    assert f"sha256 {asked.digest}" in words
    assert words.count("question: ") == 2
    assert "all answers together, each person is charged" in words
