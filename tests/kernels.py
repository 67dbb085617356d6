"""Compiles the kernels once, before several test processes start that would each compile them.

`make test` runs this beside the linters. It only saves time: a kernel that is missing here is compiled by the first
test that needs it. Two processes send problems of every notion through the engines and the verifier. What kernels
share, such as the queue of the search, is compiled once in each process, so that fewer processes compile less. numba
stores what it compiled in the user's cache folder, where all later processes find it.
"""

from __future__ import annotations

import os
import subprocess
import sys

import hetdp
from hetdp.compilation import SWITCH_VARIABLE
from hetdp.precompile import compile_for
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from hetdp.theory.catalogue import NOTIONS, notion_of_key
from hetdp.theory.renyi import renyi

PRODUCTS = "products"
TOGETHER = ("approximate", PRODUCTS)  # take about as long as all others
ORDER_TWO = renyi(2.0)  # many tests search under this order
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


def compile_all() -> None:
    """Compiles everything, in two processes that take about the same time."""
    others = [name for name in (*NOTIONS, ORDER_TWO.key) if name not in TOGETHER]
    processes = [subprocess.Popen([sys.executable, "-m", "tests.kernels", *names]) for names in (TOGETHER, others)]
    codes = [process.wait() for process in processes]
    if any(codes):
        raise SystemExit("the kernels could not be compiled")


if __name__ == "__main__":
    os.environ[SWITCH_VARIABLE] = "now"
    for name in sys.argv[1:]:
        if name == PRODUCTS:
            compile_sweeps()
        else:
            compile_for(notion_of_key(name))
    if not sys.argv[1:]:
        compile_all()
