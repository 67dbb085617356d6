"""Compiles the kernels once, before several test processes start that would each compile them.

`make test` runs this beside the linters. It only saves time: a kernel that is missing here is compiled by the first
test that needs it. Every notion and the product engine take a process of their own, which sends a problem through the
engines and the verifier; numba stores what it compiled in the user's cache folder, where all later processes find it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import hetdp
from hetdp.compilation import SWITCH_VARIABLE
from hetdp.precompile import compile_for
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from hetdp.theory.catalogue import NOTIONS

PRODUCTS = "products"
MANY = 150  # people in each of two groups: more tallies than are searched in Python


def compile_sweeps() -> None:
    """Compiles the product engine for every notion that it supports."""
    for notion in NOTIONS.values():
        if notion.parameters == ("epsilon",):
            axes = [Axis.person("a", ["no", "yes"], 0.5), Axis.tally("b", 3, 0.5)]
            problem = hetdp.Problem(ProductSpace(axes), [1, 1, 1, 1, 2, 2, 2, 2], notion)
            hetdp.design(problem, "balanced", engine="product").explain(problem.graph.label(0))
    half = hetdp.questions.majority()
    many = hetdp.spaces.tallies({"a": MANY, "b": MANY}, half, {"a": 0.5, "b": 1.0}, prior="uniform")
    hetdp.verify(hetdp.design(many, "balanced"))


def compile_all(processes: int = 2) -> None:
    """Compiles everything, beginning with the notions with most parameters, which take longest."""
    names = sorted(NOTIONS, key=lambda name: -len(NOTIONS[name].parameters))
    commands = [[sys.executable, "-m", "tests.kernels", name] for name in (*names, PRODUCTS)]
    with ThreadPoolExecutor(processes) as pool:
        for _ in pool.map(lambda command: subprocess.run(command, check=True), commands):
            pass


if __name__ == "__main__":
    os.environ[SWITCH_VARIABLE] = "now"
    name = sys.argv[1] if sys.argv[1:] else None
    if name is None:
        compile_all()
    elif name == PRODUCTS:
        compile_sweeps()
    else:
        compile_for(NOTIONS[name])
