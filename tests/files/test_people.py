"""A problem of people and its saved copy are the same problem and accept each other's mechanisms."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from hetdp.releases.proof import digest_of
from tests.stress import long

COUNT, RULES, MAJORITY = hetdp.questions.count, hetdp.privacy.rules, hetdp.questions.majority()
VOTES, TALLIES, THREE = hetdp.spaces.votes, hetdp.spaces.tallies, ["Ann", "Bob", "Cyd"]
PEOPLE = {
    "votes": lambda: VOTES(THREE, MAJORITY, {"Ann": 0.1, "Bob": 0.3, "Cyd": 0.7}),
    "deciding": lambda: VOTES(THREE, MAJORITY, RULES(0.7, deciding=0.1)),
    "a comma": lambda: VOTES(["Ann", "Bob"], COUNT("a,b", 1), 0.3, ["a,b", "1"]),
    "tallies": lambda: TALLIES({"old": 4, "young": 3}, COUNT("yes", 3), {"old": 0.1, "young": 0.3}),
    "one group": lambda: TALLIES({"all": 5}, COUNT("yes", 3), "0.1000000000001"),
    "three values": lambda: TALLIES({"a": 2, "b": 1}, COUNT("yes", 2), 0.7, ["yes", "no", "blank"]),
    "a prior": lambda: TALLIES({"a": 3}, COUNT("yes", 2), 0.1, prior={"yes": 0.1, "no": 0.9}),
    "no promise": lambda: VOTES(THREE, COUNT("yes", 1), {"Ann": math.inf, "Bob": 0.1, "Cyd": 0}),
    "nobody": lambda: VOTES(["Ann"], COUNT("yes", 1), math.inf),
    "bounded range": lambda: hetdp.Problem(VOTES(3, MAJORITY, 0.1).graph, [1, 1, 1, 2, 1, 2, 2, 2], "bounded-range"),
}
FORMS: dict[str, dict[str, Any]] = {"problem.json": {}, "csv": {"tables": "csv"}, "parquet": {"tables": "parquet"}}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PEOPLE)
def test_a_problem_of_people_and_its_file_are_the_same_problem(name, form, tmp_path: Path):
    people = PEOPLE[name]()
    hetdp.save(people, tmp_path / form, **FORMS[form])
    stored, _ = hetdp.read_problem(tmp_path / form)
    assert stored.identity == people.identity
    assert list(stored.labels.names) == list(people.labels.names)
    assert stored.notion is people.notion
    assert np.array_equal(stored.graph.edges()[2], people.graph.edges()[2][np.lexsort(people.graph.edges()[1::-1])])
    again = tmp_path / "again.json"
    hetdp.save(stored, again)
    assert hetdp.read_problem(again).problem.identity == people.identity


OBJECTIVES = ["fair", "balanced", "average", "extension", "polish", "weighted-vote"]
CASES = [
    pytest.param(name, objective, marks=long if (row + column) % 2 else ())
    for row, name in enumerate(PEOPLE)
    for column, objective in enumerate(OBJECTIVES)
    if (name, objective) != ("bounded range", "weighted-vote")  # which counts people by pure ε
]


@pytest.mark.parametrize(("name", "objective"), CASES)
def test_a_problem_of_people_and_its_file_accept_each_others_mechanisms(name, objective, tmp_path: Path):
    people = PEOPLE[name]()
    hetdp.save(people, tmp_path / "problem.json")
    stored, _ = hetdp.read_problem(tmp_path / "problem.json")

    def make_mechanism(problem):
        if objective == "extension":
            return hetdp.extend(problem, dict.fromkeys(problem.boundary, 0.5))
        if objective == "polish":
            return hetdp.polish(problem, dict.fromkeys(problem.labels.names, 0.5))
        return hetdp.design(problem, objective)

    sources = (people,) if objective == "weighted-vote" else (people, stored)
    for problem in sources:
        mechanism = make_mechanism(problem)
        explanations = (
            [str(mechanism.explain(label)) for label in people.labels.names] if mechanism.certificate.optimal else []
        )
        for form in ("json", "csv", "parquet"):
            hetdp.save(mechanism, tmp_path / f"m.{form}")
            for target in (people, stored):
                loaded = hetdp.read_mechanism(tmp_path / f"m.{form}", target)
                proof = hetdp.verify(target, loaded)
                assert proof.private
                assert proof.optimal == mechanism.certificate.optimal
                assert np.array_equal(loaded.coordinates, mechanism.coordinates)
                if proof.optimal:
                    assert [str(loaded.explain(label)) for label in people.labels.names] == explanations
                assert hetdp.accuracy(target, {"it": loaded}, baselines=False)["it"].worst_accuracy == pytest.approx(
                    1.0 - float(mechanism.errors.max())
                )


def test_both_are_charged_the_same_and_answered_once(tmp_path: Path):
    people = PEOPLE["tallies"]()
    mechanism = hetdp.design(people)
    hetdp.save(people, tmp_path / "problem.json")
    hetdp.save(mechanism, tmp_path / "m.csv")
    stored, _ = hetdp.read_problem(tmp_path / "problem.json")
    spent = []
    for number, problem in enumerate((people, stored)):
        ledger = hetdp.Ledger.create(tmp_path / f"ledger{number}", source="poll", cap=10)
        hetdp.release(hetdp.read_mechanism(tmp_path / "m.csv", problem), (1, 1), ledger=ledger, source="poll")
        spent.append([(one.name, one.spent) for one in ledger.status("poll")[0].classes])
    assert spent[0] == spent[1] != []
    assert digest_of(people, mechanism.coordinates) == digest_of(stored, mechanism.coordinates)


EPSILONS = [0.1, 0.3, 1e-9, 2.5, 4095.7, "0.49999999999999999999", Fraction(1, 3), Decimal("0.7")]


@pytest.mark.parametrize("epsilon", [*EPSILONS, 12345 * 2.0**-40, 1 / 3])
def test_the_used_epsilon_is_at_most_that_of_the_file_and_that_at_most_the_written_one(epsilon, tmp_path: Path):
    space = ProductSpace([Axis.person("Ann", ["yes", "no"], epsilon), Axis.person("Bob", ["yes", "no"], 5000)])
    people = hetdp.Problem(space, [1, 1, 2, 2])
    hetdp.save(people, tmp_path / "problem.json")
    stored, _ = hetdp.read_problem(tmp_path / "problem.json")
    as_written = Fraction(repr(epsilon)) if isinstance(epsilon, float) else Fraction(epsilon)
    in_file = Fraction(repr(float(stored.graph.edges()[2].min())))
    assert isinstance(stored.graph, hetdp.DatasetGraph)
    used = Fraction(float(stored.graph.epsilon.min()))
    assert used == Fraction(float(space.axes[0].epsilon[0, 0, 0]))
    assert used * 2**40 == int(used * 2**40)
    assert used <= in_file <= as_written
    assert as_written - used < Fraction(2, 2**40)
    assert stored.identity == people.identity
    mechanism = hetdp.design(people)
    assert hetdp.verify(stored, hetdp.PartialMechanism(z=mechanism.coordinates)).private


@pytest.mark.parametrize(("grid", "notion"), [("2^-30", "pure"), (40, "pure"), ("2^-40", "gaussian")])
def test_another_grid_is_refused(grid, notion, tmp_path: Path):
    path = tmp_path / "problem.json"
    number = "mu" if notion == "gaussian" else "epsilon"
    path.write_text(
        f'{{"schema_version": 1, "notion": "{notion}", "grid": {json.dumps(grid)},'
        '"datasets": [{"dataset": "a", "query": 1}, {"dataset": "b", "query": 2}],'
        f'"edges": [{{"source": "a", "target": "b", "{number}": 1}}]}}'
    )
    with pytest.raises(hetdp.InputError, match=r"unknown grid .*; the grid is '2\^-40', and it is for edges"):
        hetdp.read_problem(path)


def test_a_space_that_is_too_large_for_a_file_is_not_saved_as_another_problem(tmp_path: Path):
    people = hetdp.spaces.votes(17, hetdp.questions.majority(), 1)
    with pytest.raises(hetdp.UsageError, match=r"131,072 datasets .* at most 65,536 datasets of people are written"):
        hetdp.save(people, tmp_path / "problem.json")
    assert not list(tmp_path.iterdir())
