"""A verdict as text; tests/cli/test_check.py compares a complete one."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hetdp
from hetdp.cli import (
    writing,
)
from tests.cli.heard import Heard


def test_a_value_that_is_nearly_certain_is_not_shown_as_certain(hetdp):
    problem = json.loads(Path("certain.json").read_text())
    problem["edges"][1]["epsilon"] = 41
    Path("certain.json").write_text(json.dumps(problem))
    out = hetdp("check", "certain.json").out
    assert "  over ε = 41: p(near) at most 0.639843\n  but p(near) is pinned at 1 − 1e-18\n" in out
    assert out.endswith("  near   0.819922\n  other  0.180078\n")


def test_twenty_repaired_values_are_shown_and_the_others_counted():
    labels = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0).labels
    for count in (20, 21, 25):
        repair: Any = SimpleNamespace(probabilities={f"d{at}": 0.5 for at in range(count)}, labels=labels)
        lines = list(writing._pin_lines(repair))
        assert len(lines) == 20 + (count > 20)
        assert (lines[-1] == f"and {count - 20} more") is (count > 20)
        assert len({line.index("0.5") for line in lines[:20]}) == 1


def test_notes_about_pins_are_said_where_they_matter():
    def collect_words(free: int, compatible: bool, moved: float) -> list[str]:
        heard: Any = Heard()
        verdict: Any = SimpleNamespace(compatible=compatible, moved=moved)
        writing.say_pin_notes(heard, free, 3, verdict)
        return [words[:12] for words in heard.words]

    assert collect_words(0, True, 0.0) == collect_words(0, False, 1e-10) == []
    assert collect_words(2, True, 1e-10) == ["2 of 3 bound", "the given va"]


class Coin:
    """How a mechanism compares with a coin."""

    error, right, name = 0.25, None, "a"

    def __init__(self, datasets: int, worse: int, even: int, given: int) -> None:
        self.datasets, self.worse, self.even, self.given = datasets, worse, even, given

    def __str__(self) -> str:
        return "a coin is better"


@pytest.mark.parametrize(
    ("coin", "hint", "said"),
    [
        ((3, 0, 0, 0), "limit it", ["worst accuracy"]),
        ((3, 0, 0, 0), "", []),
        ((0, 0, 0, 0), "limit it", []),
        ((3, 1, 0, 0), "limit it", ["worst accuracy", "a coin is better; limit it"]),
        ((3, 1, 0, 1), "limit it", ["worst accuracy", "a coin is better"]),
        ((3, 0, 1, 0), "", ["a coin is better"]),
    ],
)
def test_a_coin_that_does_better_is_mentioned(coin, hint, said):
    heard: Any = Heard()
    writing.say_accuracy(heard, Coin(*coin), hint)
    assert len(heard.words) == len(said)
    assert all(
        words == wanted or words.startswith("worst accuracy 0.75")
        for words, wanted in zip(heard.words, said, strict=True)
    )
