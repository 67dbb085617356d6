"""Every output warns where a mechanism is no better than a coin."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.mechanism import mechanism as module
from hetdp.mechanism.coin import CoinComparison, CoinCounts, count_against_coin
from tests.oracle.random_problems import compatible_problems


def path(values: dict[str, float]) -> hetdp.Mechanism:
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
    return hetdp.extend(hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2}), values)


def test_given_values_that_are_worse_than_a_coin_are_counted_and_named() -> None:
    coin = path({"b": 0.3, "c": 0.2}).against_coin
    assert (coin.worse, coin.given, coin.even, coin.worst, coin.datasets) == (1, 1, 0, "b", 3)
    assert coin.right == pytest.approx(0.3)
    assert not coin.is_better
    assert str(coin) == (
        "1 of 3 datasets is answered worse than by a coin (it has a given value); the worst is b, right with"
        " probability 0.3; with the given values, no private mechanism answers any dataset better"
    )


@pytest.mark.parametrize("objective", ["fair", "balanced", "average"])
def test_values_that_were_given_beside_an_objective_are_counted_as_given(objective, tmp_path) -> None:
    graph = hetdp.DatasetGraph.from_edges([0, 0, 1], [1, 2, 3], 0.3)
    problem = hetdp.Problem(graph, [2, 1, 1, 1])
    mechanism = hetdp.design(problem, objective, partial={0: 0.7})
    hetdp.save(mechanism, tmp_path / "m.json")
    for one in (mechanism, hetdp.read_mechanism(tmp_path / "m.json", problem)):
        assert (one.against_coin.worse, one.against_coin.given, one.against_coin.worst) == (1, 1, 0)
        assert "worse than by a coin (it has a given value)" in str(one.against_coin)
    assert json.loads((tmp_path / "m.json").read_text("utf-8"))["worse_than_coin"]["given"] == 1


def test_a_good_mechanism_causes_no_warning() -> None:
    mechanism = path({"b": 0.7, "c": 0.3})
    assert mechanism.against_coin.is_better
    assert str(mechanism.against_coin) == mechanism.against_coin.short() == ""
    assert "coin" not in repr(mechanism)


def test_answers_as_good_as_a_coin_cause_a_warning_too() -> None:
    mechanism = path({"b": 0.5, "c": 0.5})
    assert mechanism.against_coin.is_better  # a is answered better
    assert str(mechanism.against_coin) == "2 of 3 datasets are answered as by a coin"
    everywhere = hetdp.extend(mechanism.problem, {"a": 0.5, "b": 0.5, "c": 0.5})  # type: ignore[call-overload]
    assert not everywhere.against_coin.is_better
    assert "no dataset is answered better than by a coin" in str(everywhere.against_coin)
    assert "no better than a coin" in repr(everywhere)


def test_probabilities_that_round_to_one_half_are_still_distinguished() -> None:
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
    problem = hetdp.Problem(graph, {"a": 1, "b": 2})
    tiny = 1e-17  # p is 0.5 as a float
    mechanism = hetdp.extend(problem, hetdp.PartialMechanism(z={"a": -tiny, "b": -tiny}))
    assert mechanism["a"] == 0.5
    assert (mechanism.against_coin.worse, mechanism.against_coin.worst) == (1, "a")


def test_a_constant_answer_is_reported_where_it_is_wrong() -> None:
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
    problem = hetdp.Problem(graph, {"a": 1, "b": 2})
    coin = hetdp.extend(problem, {"a": 1.0, "b": 1.0}).against_coin
    assert (coin.worse, coin.worst, coin.right, coin.error) == (1, "b", 0.0, 1.0)
    almost = hetdp.extend(problem, hetdp.PartialMechanism(z={"a": 900.0, "b": 900.0})).against_coin
    assert almost.right > 0.0
    assert "right with probability 4.94e-324" in str(almost)


@pytest.mark.parametrize("objective", ["fair", "balanced", "average"])
def test_counts_are_those_of_a_plain_loop(objective: Any) -> None:
    seen = 0
    for small in compatible_problems(15, 60):
        sources, targets, epsilons = ([edge[at] for edge in small.edges] for at in range(3))
        graph = hetdp.DatasetGraph.from_edges(sources, targets, epsilons, datasets=small.datasets)
        problem = hetdp.Problem(graph, small.answers)
        mechanism = hetdp.design(problem, objective)
        wrong = [Fraction(error) for error in mechanism.errors.tolist()]
        coin = mechanism.against_coin
        assert coin.worse == sum(error > Fraction(1, 2) for error in wrong)
        assert coin.error == max(mechanism.errors)
        if objective != "average":
            assert coin.worse == 0
        seen += coin.worse > 0
    assert seen > 0 or objective != "average"


def test_blocks_and_partitions_are_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    z, ones, pinned = rng.normal(size=101).round(1), rng.random(101) < 0.5, rng.random(101) < 0.3
    whole = count_against_coin(z, ones, pinned)
    parts = CoinCounts()
    for first in range(0, 101, 7):
        block = slice(first, first + 7)
        parts = parts.combine(count_against_coin(z[block], ones[block], pinned[block], first))
    assert parts == whole
    assert CoinCounts().combine(CoinCounts()).lowest == math.inf
    monkeypatch.setattr(module, "BLOCK", 1)
    assert path({"b": 0.3, "c": 0.2}).against_coin.worst == "b"


def test_the_warning_for_average_says_that_it_is_best_in_the_mean() -> None:
    graph = hetdp.DatasetGraph.from_edges(range(9), range(1, 10), 0.1)
    problem = hetdp.Problem(graph, {at: 1 if at < 9 else 2 for at in range(10)})
    mechanism = hetdp.design(problem, "average")
    assert mechanism.against_coin.worse
    assert str(mechanism.against_coin).endswith("; it maximises the mean accuracy, not the accuracy at each dataset")
    report = str(hetdp.accuracy(problem, mechanism))
    assert "average: worse than a coin at 1 of 10 datasets" in report
    assert "worse than a coin" in mechanism._repr_html_()


def test_a_file_contains_the_warning_and_a_loaded_mechanism_makes_no_claim(tmp_path: Any) -> None:
    mechanism = path({"b": 0.3, "c": 0.2})
    for name in ("m.json", "m.csv", "m.parquet"):
        hetdp.save(mechanism, tmp_path / name)
        loaded = hetdp.read_mechanism(tmp_path / name, mechanism.problem)  # type: ignore[call-overload]
        assert loaded.against_coin.worse == 1
        assert "no private mechanism" not in str(loaded.against_coin)  # nobody has proved it here
    report = json.loads((tmp_path / "m.json").read_text())["worse_than_coin"]
    assert report["count"] == 1
    assert report["worst"]["dataset"] == "b"


def test_a_picture_shows_the_warning() -> None:
    pytest.importorskip("matplotlib")
    bad, good = path({"b": 0.3, "c": 0.2}), path({"b": 0.7, "c": 0.3})
    assert hetdp.plot(bad).get_title(loc="left") == "Caution: worse than a coin at 1 of 3 datasets"
    assert hetdp.plot(bad, title="T").get_title(loc="left") == "T\nCaution: worse than a coin at 1 of 3 datasets"
    assert hetdp.plot(good).get_title(loc="left") == ""


def test_of_two_equally_bad_datasets_the_first_one_is_named() -> None:
    early, late = (CoinCounts(2, 1, 0, 0, -1.0, at) for at in (0, 7))
    assert early.combine(late) == late.combine(early) == CoinCounts(4, 2, 0, 0, -1.0, 0)
    worse = CoinCounts(1, 1, 1, 0, -2.0, 9)
    assert early.combine(worse) == CoinCounts(3, 2, 1, 0, -2.0, 9)
    assert CoinCounts().combine(late) == late.combine(CoinCounts()) == late
    assert CoinCounts().combine(CoinCounts()) == CoinCounts()


def test_datasets_are_counted_from_the_first_number_of_their_block() -> None:
    z, ones = np.array([0.5, -1.0, 0.0, 1.0]), np.array([True, True, False, False])
    given = np.array([True, False, True, True])
    assert count_against_coin(z, ones, given, 10) == CoinCounts(4, 2, 1, 1, -1.0, 11)
    assert count_against_coin(z[:0], ones[:0], given[:0], 10) == CoinCounts()


def test_the_comparison_is_said_in_the_right_number() -> None:
    fine = CoinComparison(3, 0, 0, 0, "a", "a", 0.75, 0.25, "fair", True)
    assert (str(fine), fine.short(), fine.is_better, fine.document()["worst"]) == ("", "", True, None)
    empty = CoinComparison(0, 0, 0, 0, None, "", 0.0, 0.0, "fair", True)
    assert (str(empty), empty.short(), empty.is_better) == ("", "", True)
    one = replace(fine, even=1)
    assert str(one) == "1 of 3 datasets is answered as by a coin"
    assert replace(fine, even=3).short() == "no better than a coin"
    bad = replace(fine, worse=2, right=0.25, error=0.75, is_best=False)
    assert str(bad) == "2 of 3 datasets are answered worse than by a coin; the worst is a, right with probability 0.25"
    assert "(1 of them has a given value)" in str(replace(bad, given=1))
    assert "(2 of them have a given value)" in str(replace(bad, given=2))
    assert bad.short() == "worse than a coin at 2 of 3 datasets"
    assert not bad.is_better
    assert not replace(bad, even=1).is_better
    assert bad.document() == {
        "count": 2, "given": 0, "as_a_coin": 0, "worst": {"dataset": "a", "p_right": 0.25, "error": 0.75}
    }  # fmt: skip
    assert str(replace(bad, is_best=True)).endswith("no private mechanism serves the worst-off datasets better")
    assert str(replace(bad, is_best=True, objective="mine")) == str(bad)
