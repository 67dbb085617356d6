"""odds: against every edge one by one, the sentence word by word, and rounding that never understates."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import FrozenInstanceError, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetdp
from hetdp.cli import shapes
from hetdp.mechanism.odds import MOST_RUNS, edge_odds, runs_of
from tests.loops import for_each
from tests.mechanism.problems import cases

WORDS = {"answer_1": "yes", "answer_2": "no", "change": "you vote differently"}


def odds_of(problem: Any, values: Any, *edge_class: Any) -> Any:
    """The odds of one class, of all edges where none has a class, or of each class."""
    found = edge_odds(problem, values)
    return found[edge_class[0]] if edge_class else found[None] if [*found] == [None] else found


def edge_problem(epsilon: float, about: dict[str, str] | None = None, **columns) -> hetdp.Problem:
    return hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], epsilon, **columns), {"a": 1, "b": 2}, about=about)


def voters(about: dict[str, str] | None = None) -> hetdp.Problem:
    """Three voters and their majority; the first has ε = 0.2 when their vote decides. A class is a voter."""
    datasets = ["".join(votes) for votes in product("12", repeat=3)]
    majority = {votes: 1 if votes.count("1") > 1 else 2 for votes in datasets}
    pairs = [
        (u, v) for u in datasets for v in datasets if u < v and sum(a != b for a, b in zip(u, v, strict=True)) == 1
    ]
    who = [next(i for i in range(3) if u[i] != v[i]) + 1 for u, v in pairs]
    epsilon = [
        0.2 if voter == 1 and majority[u] != majority[v] else 1.0 for voter, (u, v) in zip(who, pairs, strict=True)
    ]
    ends = [u for u, _ in pairs], [v for _, v in pairs]
    return hetdp.Problem(
        hetdp.DatasetGraph.from_edges(*ends, epsilon, datasets=datasets, classes=who), majority, about=about
    )


def tails(z: float) -> tuple[float, float]:
    """p and 1 − p of a coordinate, neither rounded away."""
    small = 0.5 * math.exp(-abs(z))
    return (small, 1.0 - small) if z <= 0.0 else (1.0 - small, small)


def brute_force(problem: hetdp.Problem, z: np.ndarray, edge_class=None) -> tuple[float, float]:
    """The largest difference and the largest loss, over the edges with a finite ε, one by one."""
    classes = problem.graph.edge_classes() or [None] * problem.graph.edge_count
    difference = loss = 0.0
    for at, (u, v, epsilon) in enumerate(zip(*(column.tolist() for column in problem.graph.edges()), strict=True)):
        if epsilon == math.inf or (edge_class is not None and classes[at] != edge_class):
            continue
        for one, other in zip(tails(z[u]), tails(z[v]), strict=True):
            difference = max(difference, abs(one - other))
            if one != other:
                loss = max(loss, abs(math.log(one) - math.log(other)))
    return difference, loss


@given(cases(value=st.floats(-30.0, 30.0), epsilon=st.sampled_from([0.0, 0.1, 1.0, 3.0, math.inf])))
def test_odds_are_the_worst_over_all_edges(case):
    problem = case.problem
    if not problem.graph.edge_count:
        return
    mechanism = case.extend()
    found = odds_of(problem, mechanism)
    difference, loss = brute_force(problem, mechanism.coordinates)
    assert found.edges == problem.graph.edge_count
    if found.strongest is None:
        assert (found.unprotected, found.high, found.low, found.loss) == (found.edges, 1.0, 0.0, math.inf)
        return
    assert found.high - found.low == pytest.approx(difference, abs=1e-12)
    assert found.loss == pytest.approx(loss, abs=1e-9)
    assert found.loss <= found.epsilon


@given(cases(value=st.floats(-5.0, 5.0), epsilon=st.sampled_from([0.0, 0.1, 1.0, 3.0])))
def test_odds_are_the_values_of_the_mechanism_at_two_neighbours(case):
    problem, mechanism = case.problem, case.extend()
    if not problem.graph.edge_count:
        return
    found = odds_of(problem, mechanism)
    for change in (found, found.strongest):
        ones = mechanism[change.source], mechanism[change.target]
        before, after = ones if change.answer == 1 else (1.0 - ones[0], 1.0 - ones[1])
        assert (change.low, change.high) == pytest.approx((before, after), abs=1e-15)
        assert change.low <= change.high
        others = 1.0 - change.high, 1.0 - change.low
        assert change.low * others[1] <= others[0] * change.high + 1e-12  # the other answer changes less in proportion


def test_each_class_has_its_own_odds():
    problem = voters()
    mechanism = hetdp.design(problem)
    by_class = odds_of(problem, mechanism)
    assert sorted(by_class) == [1, 2, 3]
    for voter, found in by_class.items():
        assert found == odds_of(problem, mechanism, voter)
        assert (found.edge_class, found.edges, found.epsilon) == (voter, 4, 1.0)
        difference, loss = brute_force(problem, mechanism.coordinates, voter)
        assert (found.high - found.low, found.loss) == pytest.approx((difference, loss), abs=1e-12)
    assert by_class[1].loss == pytest.approx(0.2)  # where the first voter does not decide, ε = 1 is not used up


def test_an_unknown_class_is_named_with_those_there_are():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0, classes=["Ann", "Bob"])
    found = hetdp.odds(hetdp.design(hetdp.Problem(graph, [1, 1, 2])))
    message = "there is no class 'An'; the classes are 'Ann', 'Bob'. Hint: did you mean 'Ann'?"
    for look_up in (found.of, found.by_class.__getitem__):
        with pytest.raises(hetdp.UsageError) as refusal:
            look_up("An")
        assert isinstance(refusal.value, KeyError)
        assert str(refusal.value) == str(pickle.loads(pickle.dumps(refusal.value))) == message
    assert found.by_class.get("An") is None


def test_edges_without_a_class_are_listed_last_under_none():
    graph = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], [1.0, 0.5, 2.0], classes=[None, "x", "y"])
    problem = hetdp.Problem(graph, [1, 1, 2, 2])
    found = odds_of(problem, hetdp.design(problem))
    assert list(found) == ["x", "y", None]
    assert {name: each.epsilon for name, each in found.items()} == {"x": 0.5, "y": 2.0, None: 1.0}


def test_the_sentence_names_the_answer_that_changes_more_in_proportion():
    problem = edge_problem(2.0)
    found = odds_of(problem, {"a": 0.99, "b": 0.95})
    assert (found.answer, found.source, found.target) == (2, "a", "b")
    assert (found.low, found.high) == pytest.approx((0.01, 0.05))
    assert found.loss == pytest.approx(math.log(5.0))
    assert str(found).endswith("the published answer is 2 in at most 50 of 1,000 runs instead of 10.")


def test_swapping_the_answers_swaps_only_their_names():
    problem = edge_problem(1.0)
    found = odds_of(problem, {"a": 0.8, "b": 0.6})
    swapped = odds_of(hetdp.Problem(problem.graph, [2, 1]), {"a": 0.2, "b": 0.4})
    assert (found.answer, swapped.answer) == (2, 1)
    assert (found.low, found.high, found.source, found.loss) == pytest.approx(
        (swapped.low, swapped.high, swapped.source, swapped.loss)
    )


class TestSentence:
    def test_it_speaks_of_people_if_the_problem_describes_them(self):
        problem = edge_problem(0.5, WORDS)
        assert str(odds_of(problem, {"a": 0.62, "b": 0.38})) == (
            "If you vote differently, the published answer is yes in at most 62 of 100 runs instead of 38."
        )

    def test_it_names_the_datasets_otherwise(self):
        assert str(odds_of(edge_problem(0.5), {"a": 0.62, "b": 0.38})) == (
            "If the dataset is a instead of b, the published answer is 1 in at most 62 of 100 runs instead of 38."
        )

    def test_it_names_the_class(self):
        problem = voters(WORDS | {"change": "voter {class} changes sides"})
        assert str(odds_of(problem, hetdp.design(problem), 1)) == (
            "If voter 1 changes sides, the published answer is yes in at most 55 of 100 runs instead of 45."
            " No other change of class 1 makes a larger difference."
        )

    def test_it_says_somebody_where_an_edge_has_no_class(self):
        graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0, classes=["Ann", None])
        problem = hetdp.Problem(graph, [1, 2, 2], about=WORDS | {"change": "{class} changes sides"})
        found = odds_of(problem, hetdp.design(problem))
        assert str(found["Ann"]).startswith("If Ann changes sides, ")
        assert str(found[None]).startswith("If somebody changes sides, ")

    def test_it_names_the_largest_ratio_if_that_is_on_another_edge(self):
        graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.5, 4.0])
        problem = hetdp.Problem(graph, [1, 2, 2], about=WORDS)
        found = odds_of(problem, hetdp.PartialMechanism(p={"a": 0.15, "b": 0.1, "c": 0.07}))
        assert (found.source, found.target) == ("b", "a")
        assert (found.strongest.source, found.strongest.target) == ("b", "a")
        found = odds_of(problem, {"a": 0.15, "b": 0.1, "c": 0.06})
        assert (found.source, found.strongest.source) == ("b", "c")
        assert str(found) == (
            "If you vote differently, the published answer is yes in at most 15 of 100 runs instead of 10."
            " No other change makes a larger difference."
            " The largest ratio is at b instead of c: yes in at most 10 of 100 runs instead of 6."
        )

    def test_small_probabilities_are_counted_in_more_runs(self):
        problem = edge_problem(1.0)
        assert "in at most 30 of 10,000,000 runs instead of 11." in str(odds_of(problem, {"a": 3e-6, "b": 1.11e-6}))
        tiny = hetdp.PartialMechanism(z={"a": -50.0, "b": -50.5})
        assert "in at most 1 of 1,000,000,000 runs instead of less than 1." in str(odds_of(problem, tiny))

    @pytest.mark.parametrize(
        ("z", "told"),
        [(-50.0, "1 is at most 20.1 times as probable, and"), (-743.0, "1 is at most 20.1 times as probable, and")],
    )
    def test_a_ratio_of_what_never_happens_is_reported_without_runs(self, z, told):
        graph = hetdp.DatasetGraph.from_edges(["a", "c"], ["b", "d"], [1.0, 3.0])
        problem = hetdp.Problem(graph, [1, 2, 2, 2])
        found = odds_of(problem, hetdp.PartialMechanism(z={"a": 0.2, "b": 0.0, "c": z, "d": z - 3.0}))
        assert found.loss == 3.0
        end = f"The largest ratio is at c instead of d: {told} in less than 1 of 1,000,000,000 runs."
        assert str(found).endswith(end)

    def test_no_difference_is_described_as_such(self):
        message = "If the dataset is b instead of a, the published answer is 1 in at most 63 of 100 runs either way."
        assert str(odds_of(edge_problem(0.0), {"a": 0.625, "b": 0.625})) == message

    def test_where_nothing_is_promised_it_says_so(self):
        graph = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], [0.5, 1.0, math.inf])
        problem = hetdp.Problem(graph, [1, 2, 2, 1], about=WORDS)
        found = odds_of(problem, {"a": 0.62, "b": 0.38, "c": 0.3, "d": 1.0})
        assert (found.edges, found.unprotected, found.epsilon) == (3, 1, 1.0)
        assert str(found) == (
            "If you vote differently, the published answer is yes in at most 62 of 100 runs instead of 38."
            " No other protected change makes a larger difference."
            " No promise is made about 1 of 3 changes (ε = ∞): the published answer may reveal it with certainty."
        )

    def test_the_sentence_for_an_unprotected_class_says_only_that(self):
        graph = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], [1, *[math.inf] * 2], classes="xyy")
        problem = hetdp.Problem(graph, [1, 2, 2, 1])
        found = odds_of(problem, hetdp.design(problem), "y")
        assert (found.source, found.target, found.strongest, found.loss, found.epsilon) == (
            None,
            None,
            None,
            *[math.inf] * 2,
        )
        assert str(found) == (
            "No promise is made about all 2 changes of class y (ε = ∞): the published answer may reveal them with"
            " certainty."
        )


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_rounding_never_understates(one: float, other: float):
    low, high = sorted((one, other))
    runs, most, least = runs_of(low, high)
    assert 100 <= runs <= MOST_RUNS
    assert 0 <= least <= most <= runs
    assert most >= high * runs - 1e-6
    assert least <= low * runs + 1e-6
    assert most - least <= (high - low) * runs + 2.0
    if runs < MOST_RUNS:
        assert low == 0.0 or low * runs >= 4.99
        assert high == low or (high - low) * runs >= 1.99


class TestRefusals:
    def test_values_that_are_not_private_have_no_odds(self):
        with pytest.raises(hetdp.InputError, match=r"not private: .* odds are stated for private mechanisms only"):
            odds_of(edge_problem(0.5), {"a": 0.7, "b": 0.3})

    def test_a_changed_copy_is_proved_again(self):
        problem = edge_problem(0.5)
        mechanism = hetdp.design(problem)
        with pytest.raises(hetdp.InputError, match="not private"):
            odds_of(problem, replace(mechanism, coordinates=2.0 * mechanism.coordinates))
        less = replace(mechanism, coordinates=0.5 * mechanism.coordinates)
        assert odds_of(problem, less).loss < 0.5

    def test_a_proof_on_another_problem_does_not_count(self):
        generous, strict = edge_problem(2.0), edge_problem(0.5)
        with pytest.raises(hetdp.InputError, match="not private"):
            odds_of(strict, hetdp.design(generous))
        assert odds_of(generous, hetdp.design(strict)).loss == pytest.approx(0.5)

    def test_a_mechanism_of_other_datasets_is_refused(self):
        other = hetdp.Problem(hetdp.DatasetGraph.from_edges(["x"], ["y"], 0.5), [1, 2])
        with pytest.raises(hetdp.InputError, match="other datasets"):
            odds_of(edge_problem(0.5), hetdp.design(other))

    def test_an_unknown_class_is_refused(self):
        problem = voters()
        with pytest.raises(hetdp.UsageError, match=r"there is no class '1'; the classes are 3, 2, 1\."):
            hetdp.odds(hetdp.design(problem)).of("1")
        with pytest.raises(hetdp.UsageError, match=r"there is no class 'x'; no edge has a class\."):
            hetdp.odds(edge_problem(1.0), {"a": 0.5, "b": 0.5}).of("x")

    def test_without_edges_there_is_nothing_to_say(self):
        problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([], [], [], datasets=["a"]), [1])
        with pytest.raises(hetdp.UsageError, match="a problem without edges; odds compare two neighbours"):
            odds_of(problem, hetdp.design(problem))

    def test_an_argument_that_is_not_a_problem_is_refused(self):
        with pytest.raises(hetdp.UsageError, match="expected a Problem, got a"):
            odds_of("problem", None)


def test_every_kind_of_mechanism_has_odds_of_one_type():
    graph, people = hetdp.design(voters()), hetdp.spaces.population(hetdp.questions.majority(), [0.5, 0.5, 1.0])
    for mechanism in (graph, people.design()):
        found = hetdp.odds(mechanism)
        assert type(found) is hetdp.Odds
        assert all(isinstance(one, hetdp.ClassOdds) for one in found.by_class.values())
        assert found.largest in found.by_class.values()
    assert hetdp.odds(graph).by_class == odds_of(graph.problem, graph)
    assert str(hetdp.odds(graph)).count("\n") == len(hetdp.odds(graph).by_class) - 1
    assert hetdp.odds(graph).of(1) is not None
    assert hetdp.odds(graph).largest.high == max(one.high for one in odds_of(graph.problem, graph).values())


def test_a_mechanism_is_given_alone_and_values_with_their_problem(tmp_path):
    problem = edge_problem(0.5)
    mechanism = hetdp.design(problem)
    for verb in (hetdp.odds, hetdp.verify):
        with pytest.raises(hetdp.UsageError, match="values together with a mechanism"):
            verb(mechanism, mechanism)
        with pytest.raises(hetdp.UsageError, match="a problem without values; the argument is a mechanism, or"):
            verb(problem)
        with pytest.raises(hetdp.UsageError, match="expected a Mechanism, got an int; "):
            verb(3)
    hetdp.save(mechanism, tmp_path / "m.json")
    alone = hetdp.read_mechanism(tmp_path / "m.json")
    for verb in (hetdp.odds, hetdp.verify, hetdp.accuracy):
        with pytest.raises(hetdp.UsageError, match=r"this mechanism was read without its problem; .* joins them"):
            verb(alone)
        assert verb(hetdp.read_mechanism(tmp_path / "m.json", problem))


def test_odds_are_immutable():
    found = odds_of(edge_problem(1.0), {"a": 0.6, "b": 0.5})
    with pytest.raises(FrozenInstanceError):
        found.high = 0.5


def test_far_tails_keep_their_loss():
    problem = edge_problem(5.0)
    found = odds_of(problem, hetdp.PartialMechanism(z={"a": -1000.0, "b": -1004.0}))
    assert found.loss == 4.0
    assert found.strongest.answer == 1


def test_the_json_document_has_every_number_and_the_sentence():
    problem = voters()
    entries = [shapes.odds(each) for each in odds_of(problem, hetdp.design(problem)).values()]
    assert [entry["class"] for entry in json.loads(json.dumps(entries, allow_nan=False))] == [3, 2, 1]
    unprotected = edge_problem(math.inf)
    entry = shapes.odds(odds_of(unprotected, hetdp.design(unprotected)))
    assert json.loads(json.dumps(entry, allow_nan=False)) == {
        "class": None,
        "message": "No promise is made about the one change (ε = ∞):"
        " the published answer may reveal it with certainty.",
        "source": None,
        "target": None,
        "answer": 1,
        "low": 0.0,
        "high": 1.0,
        "loss": "inf",
        "strongest": None,
        "epsilon": "inf",
        "edges": 1,
        "unprotected": 1,
        "one_sided": 0,
    }


def test_an_edge_that_protects_one_way_is_reported_with_its_numbers():
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0, epsilon_back=[math.inf, 1.0])
    problem = hetdp.Problem(graph, [1, 2, 2])
    found = odds_of(problem, hetdp.design(problem))
    assert (found.unprotected, found.one_sided, found.edges) == (0, 1, 2)
    assert str(found).endswith("1 of 2 changes is protected in one direction only.")
    assert "no promise" not in str(found)


def test_a_delta_of_one_promises_nothing():
    graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0, delta=[1.0, 0.0])
    problem = hetdp.Problem(graph, [1, 2, 2])
    found = odds_of(problem, hetdp.design(problem))
    assert (found.unprotected, found.one_sided) == (1, 0)


@pytest.mark.parametrize("parameter", ["mu", "epsilon"])
def test_tails_too_small_for_a_float_have_odds_too(parameter):
    graph = hetdp.DatasetGraph.from_edges(range(900), range(1, 901), **{parameter: 1.0})
    problem = hetdp.Problem(graph, [1] * 450 + [2] * 451, "gaussian" if parameter == "mu" else "bounded-range")
    found = odds_of(problem, hetdp.design(problem))
    assert math.isfinite(found.loss)
    assert "The largest ratio is at" in str(found)


def test_control_characters_in_words_are_escaped():
    about = {"answer_1": "y\nes", "change": "you \x1b[2J\u202e vote"}
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges([0], [1], 1.0, classes=["\x1b[31m"]), [1, 2], about=about)
    assert all(str(each).isprintable() for each in odds_of(problem, hetdp.design(problem)).values())


def test_an_unknown_class_gets_the_names_of_the_first_ones():
    def message_with(count):
        graph = hetdp.DatasetGraph.from_edges(
            range(count), range(1, count + 1), 1.0, classes=[f"c{at}" for at in range(count)]
        )
        problem = hetdp.Problem(graph, [1] * count + [2])
        with pytest.raises(hetdp.UsageError) as refused:
            hetdp.odds(problem, [0.5] * (count + 1)).of("d")
        return str(refused.value)

    assert "there is no class 'd'; the classes are 'c0', 'c1'." in message_with(2)
    assert "'c9'." in message_with(10)
    assert "…" not in message_with(10)
    assert "'c9', …" in message_with(11)
    bare = hetdp.Problem(hetdp.DatasetGraph.from_edges([0], [1], 1.0), [1, 2])
    with pytest.raises(hetdp.UsageError, match="no edge has a class"):
        hetdp.odds(bare, [0.5, 0.5]).of("d")


def test_the_largest_odds_are_those_with_the_largest_difference():
    graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 5.0, classes=["small", "large"])
    found = hetdp.odds(hetdp.Problem(graph, [1, 1, 2]), [0.6, 0.5, 0.2])
    assert found.largest is found.of("large")
    assert [round(found.by_class[name].high - found.by_class[name].low, 9) for name in ("small", "large")] == [0.1, 0.3]


@for_each(
    ("low", "high", "expected"),
    [
        (0.5, 0.5, (100, 50, 50)),
        (0.0, 1.0, (100, 100, 0)),
        (0.05, 0.1, (100, 10, 5)),
        (0.049, 0.1, (1000, 100, 49)),
        (0.1, 0.149, (100, 15, 10)),
        (0.1, 0.119, (1000, 119, 100)),
        (0.5, 0.99, (100, 99, 50)),
        (0.5, 0.991, (1000, 991, 500)),
        (0.0, 1e-10, (10**9, 1, 0)),
        (0.0, 0.0, (100, 0, 0)),
    ],
)
def test_there_are_as_many_runs_as_it_takes_to_see_both_numbers(low, high, expected):
    assert runs_of(low, high) == expected
