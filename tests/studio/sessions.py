"""Small sessions of the studio, without a page."""

from __future__ import annotations

from typing import Any

import hetdp
from hetdp.studio.session import Session, new_document


def path_of(count: int, epsilon: Any = 1.0, **more: Any) -> hetdp.Problem:
    graph = hetdp.DatasetGraph.from_edges(range(count - 1), range(1, count), epsilon, **more)
    return hetdp.Problem(graph, [1] * (count // 2) + [2] * (count - count // 2))


def session_of(problem: hetdp.Problem, partial: Any = None) -> Session:
    return Session(new_document("it", problem, partial))
