"""What each picture of the gallery shows; each is a few lines that a reader could have written."""

from __future__ import annotations

import math
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

import hetdp
from examples import security_council, senate, three_voters
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.ledger import Ledger


def voters() -> Any:
    """Three voters, by the closed form that the README's table shows, with the path that binds 111."""
    mechanism = hetdp.design(three_voters.problem(three_voters.WAYS[0]), "balanced")
    return hetdp.plot(mechanism, explain="111")


def path() -> Any:
    """Ten tallies of nine votes: what decides is protected more, and so are votes far from that."""
    answers = [1 if ones >= 5 else 2 for ones in range(10)]
    epsilon = [0.5, 0.5, 1.0, 1.0, 0.25, 1.0, 1.0, 0.5, 0.5]
    graph = hetdp.DatasetGraph.from_edges(list(range(9)), list(range(1, 10)), epsilon)
    mechanism = hetdp.extend(hetdp.Problem(graph, answers), {4: 0.44, 5: 0.56})
    return hetdp.plot(mechanism, explain=9)


def witness() -> Any:
    """A wish that cannot be granted: values 95 % accurate at two neighbours, and the path between them."""
    problem = three_voters.problem(three_voters.WAYS[0])
    verdict = hetdp.check(problem, {"111": 0.95, "222": 0.05})
    return hetdp.plot(problem, explain=verdict.witness)


def council() -> Any:
    """The Security Council: tallies as a map."""
    return hetdp.plot(hetdp.design(security_council.problem(security_council.WAYS[0])))


def groups() -> Any:
    """90 careful people and 60 open ones: the same map, with more tallies than can be written into cells."""
    groups = {"careful": 90, "open": 60}
    problem = hetdp.spaces.tallies(groups, hetdp.questions.majority(), {"careful": 0.05, "open": 0.25})
    return hetdp.plot(hetdp.design(problem, "balanced"))


def many() -> Any:
    """All votes of 14 people, of whom five are protected more: too many to draw."""
    people = [f"voter {number}" for number in range(1, 15)]
    epsilon = {name: 0.1 if at < 5 else 0.5 for at, name in enumerate(people)}
    problem = hetdp.spaces.votes(people, hetdp.questions.majority(), epsilon)
    return hetdp.plot(hetdp.design(problem, "balanced"))


def baselines() -> Any:
    """The majority of 21 votes, beside what else could be done."""
    answers = [1 if ones > 10 else 2 for ones in range(22)]
    epsilon = [0.3 if answers[ones] != answers[ones + 1] else 1.0 for ones in range(21)]
    graph = hetdp.DatasetGraph.from_edges(list(range(21)), list(range(1, 22)), epsilon)
    problem = hetdp.Problem(graph, answers, weights=[math.comb(21, ones) for ones in range(22)])
    return hetdp.plot(hetdp.accuracy(problem))


def margins() -> Any:
    """The Senate, with other ε than in the example, too; the two roll calls are added to the picture."""
    question = hetdp.questions.count("yes", at_least=senate.ROLL_CALLS[0].needed)
    sizes = (1.0, 0.5, 0.25, 0.1)
    people = {f"ε = {size:g}": hetdp.spaces.population(question, size, size=senate.SENATORS) for size in sizes}
    axes = hetdp.plot({name: each.design() for name, each in people.items()}, baselines=False)
    for call, place in zip(senate.ROLL_CALLS, ((6, -2), (-6, 14)), strict=True):
        words, side = call.title.split(", ")[0], "left" if place[0] > 0 else "right"
        axes.axvline(call.margin, color="#6b7075", linewidth=0.8, linestyle=":")
        axes.annotate(
            words, (call.margin, 0.5), place, textcoords="offset points", ha=side, fontsize=7, color="#6b7075"
        )
    return axes


def ledger() -> Any:
    """What three groups have spent, after two answers about a school."""
    with TemporaryDirectory() as folder:
        kept = Ledger.create(f"{folder}/school.ledger", source="school 2026", cap=2, caps={"pupils": 1})
        for answer in ({"pupils": 0.2, "staff": 0.7, "visitors": 0.3}, {"pupils": 0.3, "staff": 0.5}):
            kept.record("school 2026", Charge.to_classes("epsilon", answer), "an answer given elsewhere")
        return hetdp.plot(kept)


PICTURES: dict[str, Callable[[], Any]] = {  # by the name of its file
    "three-voters": voters,
    "path": path,
    "witness": witness,
    "security-council": council,
    "groups": groups,
    "many-votes": many,
    "accuracy": baselines,
    "senate": margins,
    "ledger": ledger,
}
