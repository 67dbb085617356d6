"""The public surface: what `hetdp` offers, that all of it is explained, and that importing it costs next to nothing."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys

import pytest

import hetdp

NAMES = [name for name in hetdp.__all__ if not name.startswith("__")]
PROMISED = {  # the public surface that others build on, as far as this version goes
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
    "load",
    "read_problem",
    "save",
}
FUNCTIONS = [name for name in NAMES if inspect.isfunction(getattr(hetdp, name))]


def in_a_fresh_interpreter(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return done.stdout.strip()


def test_everything_promised_is_there():
    assert set(NAMES) >= PROMISED
    assert len(hetdp.__all__) == len(set(hetdp.__all__))
    assert hetdp.__all__ == sorted(hetdp.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_can_be_loaded_and_says_where_it_lives(name):
    found = getattr(hetdp, name)
    if inspect.ismodule(found):
        assert found.__name__ == f"hetdp.{name}"
    else:
        assert found.__name__ == name
        assert found.__module__.startswith("hetdp.")


def test_dir_lists_the_public_names():
    assert dir(hetdp) == sorted(hetdp.__all__)


def test_a_star_import_brings_exactly_these():
    code = "before = set(globals()); from hetdp import *; print(sorted(set(globals()) - before - {'before'}))"
    assert in_a_fresh_interpreter(code) == str(sorted(hetdp.__all__))


def test_an_unknown_name_is_an_ordinary_attribute_error():
    with pytest.raises(AttributeError, match="module 'hetdp' has no attribute 'nonsense'"):
        hetdp.nonsense  # noqa: B018


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_a_docstring(name):
    documentation = inspect.getdoc(getattr(hetdp, name))
    assert documentation
    assert documentation.splitlines()[0].endswith((".", ":", ";")) or "." in documentation


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_has_an_example(name):
    assert any(test.examples for test in doctest.DocTestFinder(recurse=False).find(getattr(hetdp, name), name))


@pytest.mark.parametrize("name", [name for name in NAMES if inspect.isclass(getattr(hetdp, name))])
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
