"""The cache name of a compiled search: the same for the same code, different after any edit of code it calls."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import FunctionType

import pytest
from numba.core.dispatcher import Dispatcher

from hetdp.engines.compiling import compile_globals, compile_kernel, digest
from hetdp.engines.cpu import grow as kernels
from hetdp.engines.cpu import settle
from hetdp.engines.cpu.engine import compiled_grow, search_functions
from hetdp.theory.approximate import APPROXIMATE
from hetdp.theory.directed import DIRECTED
from hetdp.theory.pure import PURE
from hetdp.theory.renyi import renyi

SOURCE = """
SHIFT = 1.0

def inner(x):
    return x + SHIFT

def outer(x):
    return inner(x) * 2.0
"""
NAMES = (
    "from hetdp.engines.cpu.engine import compiled_grow, compiled_sides; from hetdp.theory.pure import PURE;"
    "print(compiled_grow(PURE).__name__, compiled_sides().__name__)"
)


def function(source: str) -> Callable[[float], float]:
    scope: dict[str, Callable[[float], float]] = {}
    exec(source, scope)
    return scope["outer"]


@pytest.mark.jit_only
def test_the_name_is_the_same_in_every_process():
    first, second = (
        subprocess.run([sys.executable, "-c", NAMES], capture_output=True, check=True, text=True).stdout for _ in "12"
    )
    assert first == second
    assert first.startswith("grow_pure_")


def test_the_same_source_has_the_same_name():
    assert digest(function(SOURCE), {}) == digest(function(SOURCE), {})


def test_an_edit_of_a_function_that_is_only_called_changes_the_name():
    edited = function(SOURCE.replace("x + SHIFT", "x - SHIFT"))
    assert digest(edited, {}) != digest(function(SOURCE), {})


def test_an_edit_of_a_constant_changes_the_name():
    for edit in (("SHIFT = 1.0", "SHIFT = 2.0"), ("2.0", "3.0")):
        assert digest(function(SOURCE.replace(*edit)), {}) != digest(function(SOURCE), {})


def test_another_notion_has_another_name():
    def other(label: float, epsilon: float) -> float:
        return label + epsilon

    steps = {kernels.step: PURE.step, kernels.quick: PURE.quick}
    assert digest(kernels.grow, steps) != digest(kernels.grow, {**steps, kernels.step: other})


def test_the_constants_of_the_step_are_part_of_the_name(monkeypatch):
    steps = {kernels.step: PURE.step, kernels.quick: PURE.quick}
    before = digest(kernels.grow, steps)
    assert isinstance(PURE.step, FunctionType)
    monkeypatch.setitem(PURE.step.__globals__, "LN2_LO", 0.0)
    assert digest(kernels.grow, steps) != before


def test_a_search_is_compiled_once_for_each_notion():
    assert compiled_grow(PURE) is compiled_grow(PURE)


def test_searches_share_the_functions_they_call_and_notions_share_what_does_not_depend_on_them():
    grow, fair = (
        compile_globals(kernels.grow, search_functions(PURE)),
        compile_globals(settle.settle, search_functions(PURE)),
    )
    assert grow["pop"] is fair["pop"]
    assert grow["relax"] is compile_globals(settle.lower_neighbours, search_functions(PURE))["relax"]
    other = compile_globals(kernels.grow, search_functions(DIRECTED))
    assert grow["pop"] is other["pop"]
    assert grow["relax"] is not other["relax"]


def test_functions_with_the_same_body_but_other_arguments_have_different_names():
    assert digest(DIRECTED.quick, {}) != digest(APPROXIMATE.quick, {})
    used = [compile_globals(kernels.relax, search_functions(notion)) for notion in (DIRECTED, APPROXIMATE)]
    assert used[0]["quick"] is not used[1]["quick"]


def test_compiled_functions_that_differ_have_different_names():
    """The cache holds callees by name: a process that loads two kernels would run the callees of the first in both."""
    for notions in ((renyi(2.0), renyi(3.0)), (PURE, DIRECTED)):
        first, second = (compile_globals(kernels.grow, search_functions(notion)) for notion in notions)
        shared = [name for name in first if isinstance(first[name], Dispatcher)]
        assert [first[name] is second[name] for name in shared] == [
            first[name].__name__ == second[name].__name__ for name in shared
        ]
        assert first["relax"].__name__ != second["relax"].__name__
    steps = [compile_kernel(renyi(alpha).step, "step", {}).__name__ for alpha in (2.0, 3.0)]
    assert steps[0] != steps[1]
