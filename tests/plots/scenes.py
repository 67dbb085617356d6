"""Pictures that are checked for overlaps, at every width."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import hetdp
from hetdp.cli.demo import DECIDING, voters
from tests.plots.shown import HOSTILE, hostile, line, majority, senate, status

WIDTHS = ("column", None, "page")


def poll(count: int, explain: str | None = None) -> dict[str, Any]:
    return {"what": hetdp.design(voters(count, DECIDING)), "picture": "network", "explain": explain}


def directed_path() -> Any:
    """A path with other parameters in each direction."""
    epsilon, back = [0.5, 1, 0.25, 1, 0.5], [1, 0.5, 0.25, 2, 1]
    graph = hetdp.DatasetGraph.from_edges(
        list("abcde"), list("bcdef"), epsilon, epsilon_back=back, delta=[0.01, 0.001, 1e-5, 0.01, 0.001]
    )
    return hetdp.design(hetdp.Problem(graph, [2, 2, 2, 1, 1, 1]))


def metric_grid() -> Any:
    points = [(x, y) for x in range(6) for y in range(6)]
    graph = hetdp.spaces.metric(points, lambda u, v: abs(u[0] - v[0]) + abs(u[1] - v[1]), 0.3)
    return hetdp.design(hetdp.Problem(graph, lambda point: 1 if sum(point) > 5 else 2))


def cube() -> Any:
    """64 datasets with long labels."""
    graph = hetdp.spaces.hypercube(6, 0.5, values=["yes", "no"])
    return hetdp.design(hetdp.Problem(graph, lambda votes: 1 if votes.count("yes") > 3 else 2))


def towns() -> Any:
    """Labels of which the cut ones would be alike, under answers with long names."""
    names = [f"Town of Northfield, {part} district, number {at}" for at, part in enumerate("abcdefgh")]
    graph = hetdp.spaces.path(names, 0.5)
    about = {"answer_1": "the municipal merger is adopted", "answer_2": "the merger is rejected"}
    return hetdp.design(hetdp.Problem(graph, [2] * 4 + [1] * 4, about=about))


def apart() -> Any:
    """Two components, of which one has a single answer, and parallel and free edges."""
    graph = hetdp.DatasetGraph.from_edges(list("abcde"), list("bcdef"), [1.0, 0.5, math.inf, 1.0, 0.2])
    return hetdp.design(hetdp.Problem(graph, [2, 2, 1, 1, 1, 1]))


def ring(size: int) -> dict[Any, Any]:
    angle = [2 * math.pi * at / size for at in range(size)]
    return {at: (math.cos(each), math.sin(each)) for at, each in enumerate(angle)}


def many_groups() -> Any:
    sizes = {"careful people": 60, "open people": 40}
    space = hetdp.spaces.tallies(sizes, hetdp.questions.majority(), {"careful people": 0.05, "open people": 0.25})
    return hetdp.design(space, "balanced")


def ballots() -> Any:
    people = [f"voter {number}" for number in range(1, 13)]
    epsilon = {name: 0.1 if at < 5 else 0.5 for at, name in enumerate(people)}
    return hetdp.design(hetdp.spaces.votes(people, hetdp.questions.majority(), epsilon), "balanced")


def witness() -> dict[str, Any]:
    problem = voters(3, DECIDING)
    return {"what": problem, "explain": hetdp.check(problem, {"111": 0.95, "222": 0.05}).witness}


def swept() -> Any:
    graph = hetdp.spaces.path(12, 0.3)
    return hetdp.sweep(hetdp.Problem(graph, [2] * 6 + [1] * 6), [0.25, 0.5, 1, 2, 4])


SCENES: dict[str, Callable[[], dict[str, Any]]] = {
    **{f"{count} voters": partial(poll, count) for count in (3, 4, 5, 6)},
    **{f"{count} voters, path": partial(poll, count, "1" * count) for count in (3, 5, 6)},
    "3 voters, problem": lambda: {"what": voters(3, DECIDING), "title": "Three voters"},
    "witness": witness,
    "directed path": lambda: {"what": directed_path(), "explain": "f", "title": "A path with different δ"},
    "metric grid": lambda: {"what": metric_grid(), "picture": "network"},
    "metric grid, path": lambda: {"what": metric_grid(), "explain": (5, 5)},
    "metric grid, places": lambda: {
        "what": metric_grid(),
        "positions": {(x, y): (x, y) for x in range(6) for y in range(6)},
    },
    "ring, places": lambda: {"what": hetdp.design(line(12)), "positions": ring(12), "explain": 11},
    "64 datasets": lambda: {"what": cube(), "picture": "network"},
    "64 datasets, path": lambda: {"what": cube(), "explain": "yes,yes,yes,yes,yes,yes"},
    "towns": lambda: {"what": towns(), "title": "A title that is so long that it does not fit on a line of a column"},
    "components": lambda: {"what": apart()},
    "hostile labels": lambda: {"what": hetdp.design(hostile()), "explain": HOSTILE[0]},
    "long path": lambda: {"what": hetdp.design(line(50)), "explain": 49},
    "no path binds": lambda: {"what": hetdp.extend(line(8), {3: 0.4, 4: 0.6}), "explain": 4},
    "one dataset": lambda: {"what": hetdp.design(line(1), "balanced"), "picture": "network"},
    "map": lambda: {"what": metric_grid(), "picture": "tallies"},
    "large map": lambda: {"what": many_groups()},
    "map of a problem": lambda: {"what": metric_grid().problem, "picture": "tallies"},
    "dots": lambda: {"what": hetdp.design(hetdp.spaces.tallies({"pupils": 20}, hetdp.questions.majority(), 0.5))},
    "summary": lambda: {"what": ballots(), "picture": "summary"},
    "summary of a problem": lambda: {"what": ballots().problem, "picture": "summary"},
    "far summary": lambda: {"what": hetdp.design(line(3_000, 0.01), "balanced"), "picture": "summary"},
    "summary of components": lambda: {"what": apart(), "picture": "summary", "title": "Components"},
    "accuracy": lambda: {"what": hetdp.accuracy(majority())},
    "sweep": lambda: {"what": swept()},
    "population": lambda: {"what": senate().design()},
    "ledger": lambda: {"what": [status()]},
}
