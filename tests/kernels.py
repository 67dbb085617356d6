"""Compiles the kernels once, before several test processes start that would each compile them.

`make test` runs this beside the linters. It only saves time: a kernel that is missing here is compiled by the first
test that needs it. Every notion and the product engine take a process of their own, which sends a small and a large
problem through the engines and the verifier; numba stores what it compiled in the user's cache folder, where all later
processes find it.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import hetdp
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import SMALL
from hetdp.theory.catalogue import NOTIONS
from hetdp.theory.notion import Notion

PRODUCTS = "products"


def compile_searches(notion: Notion) -> None:
    """The searches of the CPU engine and, on a large graph, building and proving."""
    for edges in (4, SMALL):
        ends = np.arange(edges, dtype=np.int32), np.arange(1, edges + 1, dtype=np.int32)
        columns: dict[str, Any] = {
            name: np.full(edges, 0.001 if "delta" in name else 0.5) for name in notion.parameters
        }
        graph = hetdp.DatasetGraph.from_edges(*ends, **columns, datasets=range(edges + 1))
        half = edges // 2
        problem = hetdp.Problem(graph, [1] * half + [2] * (edges + 1 - half), notion)
        for objective in ("fair", "balanced"):
            hetdp.verify(problem, hetdp.design(problem, objective, engine="cpu"))
        hetdp.extend(problem, {half - 1: 0.5, half: 0.5}, engine="cpu").explain(0)


def compile_sweeps() -> None:
    """The product engine, for every notion that it supports."""
    for notion in NOTIONS.values():
        if notion.parameters == ("epsilon",):
            axes = [Axis.person("a", ["no", "yes"], 0.5), Axis.tally("b", 3, 0.5)]
            problem = hetdp.Problem(ProductSpace(axes), [1, 1, 1, 1, 2, 2, 2, 2], notion)
            hetdp.design(problem, "balanced", engine="product").explain(problem.graph.label(0))


def compile_all(processes: int = 2) -> None:
    """Everything, the notions with most parameters first: they take longest."""
    names = sorted(NOTIONS, key=lambda name: -len(NOTIONS[name].parameters))
    commands = [[sys.executable, "-m", "tests.kernels", name] for name in (*names, PRODUCTS)]
    with ThreadPoolExecutor(processes) as pool:
        for _ in pool.map(lambda command: subprocess.run(command, check=True), commands):
            pass


if __name__ == "__main__":
    name = sys.argv[1] if sys.argv[1:] else None
    if name is None:
        compile_all()
    elif name == PRODUCTS:
        compile_sweeps()
    else:
        compile_searches(NOTIONS[name])
