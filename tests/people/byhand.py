"""Votes as a graph built edge by edge from the definitions, for every kind of question and rule."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import product
from typing import Any

import hetdp
from hetdp.problem.decimals import round_down_to_grid
from hetdp.problem.product import ProductSpace

questions, privacy = hetdp.questions, hetdp.privacy
ABSTAIN = ("yes", "no", "abstain")
QUESTIONS: dict[str, tuple[tuple[str, ...], Any, Any]] = {  # values, question, and the same as a function
    "count": (("yes", "no"), questions.count("yes", 3), lambda v: v.count("yes") >= 3),
    "count of some": (
        ("yes", "no"),
        questions.count("no", 2, ["1", "2", "4"]),
        lambda v: (v[:2] + v[3:4]).count("no") > 1,
    ),
    "share": (ABSTAIN, questions.share("yes", "60%"), lambda v: 5 * v.count("yes") >= 3 * len(v)),
    "respondents": (
        ABSTAIN,
        questions.share("yes", "1/2", of="respondents", blank="abstain"),
        lambda v: v.count("yes") >= v.count("no"),
    ),
    "majority": (("yes", "no"), questions.majority(), lambda v: 2 * v.count("yes") > len(v)),
    "versus": (ABSTAIN, questions.versus("yes", "no"), lambda v: v.count("yes") > v.count("no")),
    "weighted sum": (
        ("yes", "no"),
        questions.weighted_sum({"1": 2, "2": 1, "3": 0.5, "4": -1}, 1.5),
        lambda v: sum(w for w, x in zip((2, 1, 0.5, -1), v, strict=True) if x == "yes") >= 1.5,
    ),
    "all of": (("yes", "no"), questions.all_of(["1", "3"]), lambda v: v[0] == v[2] == "yes"),
    "ratio": (
        ("yes", "no"),
        questions.ratio_of_shares("yes", "1", "2"),
        lambda v: 5 * (v[0] == "yes") >= 4 * (v[1] == "yes"),
    ),
    "joined": (
        ("yes", "no"),
        (questions.count("yes", 2) & ~questions.all_of("1")) | questions.all_of("4"),
        lambda v: (v.count("yes") >= 2 and v[0] != "yes") or v[3] == "yes",
    ),
    "function": (
        ("yes", "no"),
        questions.function(lambda c: (c["1"]["yes"] + c["3"]["no"]) % 2 == 1, "odd"),
        lambda v: ((v[0] == "yes") + (v[2] == "no")) % 2 == 1,
    ),
    "never": (("yes", "no"), questions.count("yes", 9), lambda v: False),
}


def always(*_: Any) -> bool:
    return True


RULES: dict[
    str, tuple[Any, list[tuple[Any, Any, Any]]]
] = {  # rules, and for each its ε, whom it protects and when it applies
    "one": (0.5, [(0.5, None, always)]),
    "by person": (
        {"1": 0.1, "2": "0.2", "3": Decimal("0.7"), "4": math.inf},
        [(0.1, "1", always), (0.2, "2", always), (0.7, "3", always)],
    ),
    "deciding": (
        privacy.rules(1, deciding={"1": 0.3, "2": 0.1}),
        [(1, None, always), (0.3, "1", lambda u, v: u[1] != v[1]), (0.1, "2", lambda u, v: u[1] != v[1])],
    ),
    "within": (
        privacy.rules(2, within={1: 0.3, 2: {"1": 0.5, "3": 0.6}}),
        [
            (2, None, always),
            (0.3, None, lambda u, v: min(u[2], v[2]) <= 1),
            (0.5, "1", lambda u, v: min(u[2], v[2]) <= 2),
            (0.6, "3", lambda u, v: min(u[2], v[2]) <= 2),
        ],
    ),
    "by answer": (
        privacy.rules(1, answer={2: 0.4}),
        [(1, None, always), (0.4, None, lambda u, v: 2 in (u[1], v[1]))],
    ),
    "by change": (
        privacy.rules(1, change={"no": 0.2}),
        [
            (1, None, always),
            (
                0.2,
                None,
                lambda u, v: (
                    "no"
                    in {a for a, b in zip(u[0], v[0], strict=True) if a != b}
                    | {b for a, b in zip(u[0], v[0], strict=True) if a != b}
                ),
            ),
        ],
    ),
    "nothing but deciding": (
        privacy.rules(math.inf, deciding=0.25),
        [(0.25, None, lambda u, v: u[1] != v[1])],
    ),
}


def votes_by_definition(
    people: int, values: tuple[str, ...], holds: Any, rules: list[tuple[Any, Any, Any]]
) -> tuple[Any, Any]:
    """By the definitions: the answer of every table, and every edge with its ε on the grid and its person."""
    tables = list(product(values, repeat=people))
    answers = {table: 1 if holds(table) else 2 for table in tables}
    margins = {
        table: min((_steps(table, other) for other in tables if answers[other] != answers[table]), default=math.inf)
        for table in tables
    }
    edges = set()
    for u in tables:
        for who in range(people):
            for value in values[values.index(u[who]) + 1 :]:
                v = (*u[:who], value, *u[who + 1 :])
                situation = (u, answers[u], margins[u]), (v, answers[v], margins[v])
                found = [e for e, whom, when in rules if whom in (None, str(who + 1)) and when(*situation)]
                if found:
                    edges.add((u, v, round_down_to_grid(min(found)), str(who + 1)))
    return answers, edges


def _steps(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def edges_of(problem: hetdp.Problem) -> set[tuple[Any, ...]]:
    """Every edge of votes once, with its ε as used and its person."""
    names, found = problem.labels.names, set()
    assert isinstance(problem.graph, ProductSpace)
    for at, axis in enumerate(problem.graph.axes):
        for source, target, (epsilon,) in problem.graph.blocks_along(at):
            rows = zip(source.tolist(), target.tolist(), epsilon.tolist(), strict=True)
            found |= {(names[u], names[v], e, axis.name) for u, v, e in rows if u < v}
    return found
