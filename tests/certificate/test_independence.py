"""The verifier shares no code with what it verifies."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import hetdp
from tests.loops import for_each

FOLDER = Path(hetdp.__file__).parent / "certificate"
MODULES = sorted(FOLDER.glob("*.py"))
FORBIDDEN = ("hetdp.theory", "hetdp.engines", "hetdp.mechanism", "hetdp.cli")


def imported_modules(path: Path) -> set[str]:
    """Every module that a file names in an import statement, wherever it stands."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_the_modules_of_the_verifier_are_found():
    assert {"additive.py", "certificate.py", "directed.py", "enclosure.py"} <= {path.name for path in MODULES}


@for_each("path", MODULES)
def test_no_module_of_the_verifier_names_theory_engines_or_mechanism(path):
    assert [name for name in imported_modules(path) if name.startswith(FORBIDDEN)] == []


@for_each("path", MODULES)
def test_the_verifier_imports_only_the_problem_and_shared_modules(path):
    functions = ("hetdp.jit.compile_cached", "hetdp.jit.compile_uncached", "hetdp.precision.restore_precision")
    shared = ("hetdp.compilation.", "hetdp.device.", "hetdp.interrupts.", "hetdp.text.", "hetdp.threads.", *functions)
    own = ("hetdp.problem.", "hetdp.errors.", "hetdp.certificate.", *shared)
    assert [name for name in imported_modules(path) if name.startswith("hetdp") and not name.startswith(own)] == []
    assert not any(name.startswith("importlib") for name in imported_modules(path) - {"importlib.resources.files"})
    named = re.findall(r"""["'](hetdp\.[\w.]+)["']""", path.read_text(encoding="utf-8"))
    assert set(named) <= {"hetdp.certificate.compiled"}, "a module named in a string is loaded later"
