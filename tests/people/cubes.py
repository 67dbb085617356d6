"""Small populations as explicit graphs of all tables, to check closed formulas."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import flint
import numpy as np

import hetdp
from hetdp.people.privacy.epsilons import UNBOUNDED

UNIT = 2**40


def tables_of(people) -> list[tuple[int, ...]]:
    return list(product(range(len(people.values)), repeat=people.size))


def answers_of(people, tables) -> list[int]:
    """The true answers, by the question itself."""
    names = [people.groups[at] for at in people.classes.group[people.classes.member]]
    sizes = {name: names.count(name) for name in people.groups}
    counts = {
        name: {
            value: np.array([sum(1 for who, v in enumerate(t) if names[who] == name and v == code) for t in tables])
            for code, value in enumerate(people.values)
        }
        for name in people.groups
    }
    holds = np.broadcast_to(people.question.holds(counts, sizes), len(tables))
    return [1 if yes else 2 for yes in holds]


def neighbouring_tables(people, tables):
    """Every pair of neighbouring tables by index, and the person whose value differs."""
    place = {table: at for at, table in enumerate(tables)}
    for at, table in enumerate(tables):
        for who in range(people.size):
            for other in range(table[who] + 1, len(people.values)):
                yield at, place[(*table[:who], other, *table[who + 1 :])], who


def units_of(people) -> tuple[list[int], list[int]]:
    """Each person's ε in units, and that of deciding steps."""
    classes = people.classes
    return classes.units[classes.member].tolist(), classes.deciding[classes.member].tolist()


def problem_of(people) -> hetdp.Problem:
    tables = tables_of(people)
    answers = answers_of(people, tables)
    units, deciding = units_of(people)
    edges = [
        (u, v, (units if answers[u] == answers[v] else deciding)[who], str(who))
        for u, v, who in neighbouring_tables(people, tables)
    ]
    sources, targets, epsilon, classes = zip(*edges, strict=True)
    epsilons = [np.inf if one == UNBOUNDED else one / UNIT for one in epsilon]
    graph = hetdp.DatasetGraph.from_edges(
        list(sources), list(targets), epsilons, classes=list(classes), datasets=range(len(tables))
    )
    return hetdp.Problem(graph, answers)


def margins_of(people, tables, answers) -> list[int]:
    """How many people must change before the answer does; 0 if it never does."""
    by_answer = {
        answer: np.array([t for t, a in zip(tables, answers, strict=True) if a == answer]) for answer in (1, 2)
    }
    return [
        int((by_answer[3 - answer] != np.array(table)).sum(axis=1).min()) if len(by_answer[3 - answer]) else 0
        for table, answer in zip(tables, answers, strict=True)
    ]


def holds_exactly(z: float, other: float, units: int) -> bool:
    """True if two values of z satisfy ε, in exact arithmetic."""
    if units == UNBOUNDED or z == other:
        return True
    if np.isinf(z) or np.isinf(other):
        return False
    if (z >= 0) == (other >= 0) or z == 0 or other == 0:
        return abs(Fraction(z) - Fraction(other)) <= Fraction(units, UNIT)
    flint.ctx.prec = 200
    below, above = sorted((z, other))
    tails = [flint.arb(below).exp() / 2, flint.arb(-above).exp() / 2]  # Pr[1] at the one, Pr[2] at the other
    ratio = (flint.arb(units) / UNIT).exp()
    return all(bool(1 - tails[at] <= ratio * tails[1 - at]) for at in (0, 1))


def coordinates_of(people, mechanism) -> list[float]:
    """z of every table."""
    return [mechanism.coordinate(np.array(table)) for table in tables_of(people)]


def count_violations(people, z) -> int:
    """The number of pairs of neighbouring tables that violate their ε."""
    tables = tables_of(people)
    answers = answers_of(people, tables)
    units, deciding = units_of(people)
    return sum(
        not holds_exactly(z[u], z[v], (units if answers[u] == answers[v] else deciding)[who])
        for u, v, who in neighbouring_tables(people, tables)
    )


def subsets(people):
    return [set(chosen) for size in range(len(people) + 1) for chosen in combinations(people, size)]
