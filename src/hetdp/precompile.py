"""Compiles all functions that searches under some notions of privacy need, and stores them in the cache folder.

hetdp starts this program in the background where a search would have to wait for the compiler (`compilation.py`). It
can also be run by hand, for instance when an image of a machine is made::

    python -P -m hetdp.precompile pure directed renyi-2

It prints nothing. The exit code is 0, or 1 if another process of this user is compiling already.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from hetdp.compilation import SWITCH_VARIABLE, hold_lock, note_compiled
from hetdp.mechanism.compatibility import check
from hetdp.mechanism.design import design
from hetdp.mechanism.extension import extend
from hetdp.mechanism.verification import verify
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.problem import Problem
from hetdp.problem.space import SMALL_SPACE
from hetdp.theory.catalogue import notion_of_key
from hetdp.theory.notion import Notion

TIMEOUT_SECONDS = 1800  # seconds; on a busy machine compiling takes minutes
NICENESS = 5


def compile_for(notion: Notion) -> None:
    """Compiles everything by solving problems that are just large enough, and records what was compiled.

    The proof of a notion whose steps take long in Python takes long, too, and none of it is compiled: the searches of
    such a notion are compiled with a smaller problem.
    """
    problem, pins = _make_problem(notion, SMALL_SPACE + 1)
    if notion.effort > 1:
        problem, pins = _make_problem(notion, SMALL_SPACE // notion.effort)
    verify(extend(problem, pins, "cpu"))
    check(problem, pins, "cpu")
    note_compiled()
    for objective in ("fair", "balanced"):
        verify(design(problem, objective, engine="cpu"))
    design(problem, "fair", pins, engine="cpu")
    note_compiled()


def _make_problem(notion: Notion, size: int) -> tuple[Problem, dict[Any, float]]:
    """A path, one edge of which is repeated, and values for its boundary, which is in the middle."""
    labels = np.arange(size) * 1_000  # far apart, so that they are searched
    source, target = np.append(labels[:-1], labels[0]), np.append(labels[1:], labels[1])
    columns: dict[str, Any] = {
        name: np.full(len(source), 0.001 if "delta" in name else 0.5) for name in notion.parameters
    }
    graph = DatasetGraph.from_edges(source, target, **columns)
    problem = Problem(graph, np.where(labels < labels[size // 2], 1, 2), notion)
    return problem, dict.fromkeys(problem.boundary, 0.5)


def main(keys: Sequence[str]) -> int:
    """Compiles for the notions with these keys."""
    notions = list(map(notion_of_key, keys))
    os.environ[SWITCH_VARIABLE] = "now"
    if hold_lock() is None:
        return 1
    if sys.platform != "win32":
        os.nice(NICENESS)
        signal.alarm(TIMEOUT_SECONDS)  # ends this process, so that it does not hold the lock for ever
    for notion in notions:
        compile_for(notion)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
