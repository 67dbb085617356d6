"""The public surface: what `hetdp` offers, that all of it is explained, and that importing it costs next to nothing."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from typing import get_args

import pytest

import hetdp
from hetdp.engines import registry
from hetdp.mechanism.design import OBJECTIVES
from hetdp.mechanism.vote import WEIGHTED_VOTE
from hetdp.theory import catalogue
from tests.loops import for_each

TYPES = {"EngineName", "NotionName", "ObjectiveName"}  # Literal types, which have neither name nor docstring
NAMES = [name for name in dir(hetdp) if not name.startswith("__") and name not in TYPES]
MODULES = ("privacy", "questions", "spaces")
PUBLIC_SURFACE = {  # the public surface that others build on, as far as this version goes
    "DatasetGraph",
    "Problem",
    "check",
    "extend",
    "induced_bounds",
    "path_mechanism",
    "verify",
    "Mechanism",
    "NoExtensionError",
    "from_networkx",
    "from_scipy",
    "from_table",
    "read_mechanism",
    "read_pins",
    "read_record",
    "read_problem",
    "save",
}
FUNCTIONS = [name for name in NAMES if inspect.isfunction(getattr(hetdp, name))]


def in_a_fresh_interpreter(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return done.stdout.strip()


def test_every_promised_name_exists():
    assert set(NAMES) >= PUBLIC_SURFACE
    assert len(hetdp.__dict__["__all__"]) == len(set(dir(hetdp)))


@for_each("name", NAMES)
def test_a_public_name_can_be_loaded_and_names_its_module(name):
    found = getattr(hetdp, name)
    if inspect.ismodule(found):
        assert found.__name__ == f"hetdp.{name}"
    else:
        assert found.__name__ == name
        assert found.__module__.startswith("hetdp.")


def test_dir_lists_the_public_names():
    assert dir(hetdp) == hetdp.__dict__["__all__"] == sorted([*NAMES, *TYPES, "__version__"])


@pytest.mark.parametrize("name", MODULES)
def test_dir_of_a_public_module_lists_its_public_names(name):
    module = getattr(hetdp, name)
    assert dir(module) == sorted(module.__all__)
    assert not [member for member in dir(module) if member.startswith("_")]
    assert all(hasattr(module, member) for member in dir(module))


@pytest.mark.parametrize("name", ["hetdp", "hetdp.spaces"])
def test_type_checkers_see_the_names_that_exist_at_run_time(name):
    module = importlib.import_module(name)
    seen = {
        alias.name: statement.module
        for block in ast.parse(inspect.getsource(module)).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert sorted(seen) == sorted({*module.__all__} - {"__version__"})
    for member, home in seen.items():
        defined = importlib.import_module(f"hetdp.{member}" if home == "hetdp" else str(home))
        assert module.__getattr__(member) is (defined if home == "hetdp" else getattr(defined, member))


def test_no_module_hides_a_public_name():
    modules = {module.name for module in pkgutil.iter_modules(hetdp.__path__)}
    assert modules & set(dir(hetdp)) == set(MODULES)


def test_release_stays_a_function_whatever_is_imported():
    code = "import hetdp, hetdp.releases.release, hetdp.releases; from hetdp.releases import release as module; "
    assert in_a_fresh_interpreter(code + "print(type(hetdp.release).__name__, type(module).__name__)") == (
        "function module"
    )


def test_the_types_of_names_list_what_is_accepted():
    assert set(get_args(hetdp.NotionName)) == set(catalogue.NAMES)
    assert set(get_args(hetdp.EngineName)) == {"auto", *registry.ENGINES, registry.PARTITIONED}
    assert set(get_args(hetdp.ObjectiveName)) == {*OBJECTIVES, WEIGHTED_VOTE}


def test_results_are_one_short_line_in_an_interpreter(tmp_path):
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0), {"a": 1, "b": 1, "c": 2})
    mechanism = hetdp.extend(problem, {"b": 0.6, "c": 0.4})
    assert repr(mechanism.explain("a")) == "BindingPath(b to a, 1 step, at most 0.852848)"
    assert repr(hetdp.odds(mechanism)) == "Odds(1 class, largest change from 0.1472 to 0.4)"
    assert repr(problem.notion) == "Notion('pure')"
    ledger = hetdp.Ledger.create(tmp_path / "school.ledger", source="survey", cap=1)
    assert repr(ledger) == f"Ledger({str(tmp_path / 'school.ledger')!r})"


def test_a_problem_file_in_place_of_its_problem_is_refused_with_a_hint():
    problem = hetdp.Problem(hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0), {"a": 1, "b": 2})
    with pytest.raises(hetdp.UsageError, match=r"got a ProblemFile; .* Hint: its \.problem is one"):
        hetdp.design(hetdp.ProblemFile(problem, hetdp.PartialMechanism()))


def test_a_star_import_brings_exactly_these():
    code = "before = set(globals()); from hetdp import *; print(sorted(set(globals()) - before - {'before'}))"
    assert in_a_fresh_interpreter(code) == str(sorted(dir(hetdp)))


def test_an_unknown_name_is_an_ordinary_attribute_error():
    with pytest.raises(AttributeError, match="module 'hetdp' has no attribute 'nonsense'"):
        hetdp.nonsense  # noqa: B018


@pytest.mark.parametrize(("line", "meant"), [("hetdp.extnd", "extend"), ("hetdp.spaces.vote", "votes")])
def test_python_suggests_a_public_name_for_a_misspelt_one(line, meant):
    done = subprocess.run([sys.executable, "-c", f"import hetdp; {line}"], capture_output=True, check=False, text=True)
    assert done.stderr.endswith(f"Did you mean: '{meant}'?\n")


@for_each("name", NAMES)
def test_every_public_name_has_a_docstring(name):
    documentation = inspect.getdoc(getattr(hetdp, name))
    assert documentation
    assert documentation.splitlines()[0].endswith((".", ":", ";")) or "." in documentation


@for_each("name", FUNCTIONS)
def test_every_public_function_has_an_example(name):
    assert any(test.examples for test in doctest.DocTestFinder(recurse=False).find(getattr(hetdp, name), name))


@for_each("name", [name for name in NAMES if inspect.isclass(getattr(hetdp, name))])
def test_every_public_method_has_a_docstring(name):
    members = vars(getattr(hetdp, name)).items()
    methods = [(n, m) for n, m in members if not n.startswith("_") and (callable(m) or hasattr(m, "__get__"))]
    assert [n for n, m in methods if not inspect.getdoc(getattr(m, "func", m))] == []


def test_importing_hetdp_loads_no_library():
    heavy = "{'numpy', 'numba', 'flint', 'llvmlite', 'matplotlib', 'dataclasses', 'typing'}"
    code = f"import sys; before = set(sys.modules); import hetdp; print(sorted(({heavy} & set(sys.modules)) - before))"
    assert in_a_fresh_interpreter(code) == "[]"


def test_errors_can_be_caught_without_loading_numpy():
    code = "import sys, hetdp; hetdp.InputError, hetdp.NoExtensionError, hetdp.Fault; print('numpy' in sys.modules)"
    assert in_a_fresh_interpreter(code) == "False"


def test_the_version_is_text():
    assert isinstance(hetdp.__version__, str)
    assert hetdp.__version__.count(".") == 2
