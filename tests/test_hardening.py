"""hetdp is hard to misuse: input is never executed, and the limits of its promises are documented."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.documents.pages import DOCS, ROOT
from tests.loops import for_each

SOURCES = sorted((ROOT / "src").rglob("*.py"))
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "code", "runpy"}
FORBIDDEN_WORDS = ("allow_pickle", "read_pickle", "to_pickle", "np.load", "numpy.load", "shell=True", "os.system")
GENERATORS = {"random"}  # `secrets`, by which the ledger makes its key, asks the system
NOT_PROMISED = ["hostile steward", "same machine", "wrong policy", "ε itself is public", "Constant time"]
NOT_PROMISED += ["It is not a login and does not encrypt anything"]


def names_of(path: Path) -> tuple[set[str], set[str]]:
    """The plain names that a source file calls, and the modules that it imports."""
    calls, modules = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            calls.add(node.func.id)
        elif isinstance(node, ast.Import):
            modules |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module.partition(".")[0])
    return calls, modules


def test_no_file_can_make_hetdp_run_code():
    assert len(SOURCES) > 200
    found = []
    for path in SOURCES:
        calls, modules = names_of(path)
        text = path.read_text(encoding="utf-8")
        found += [f"{path.name}: {name}" for name in (calls & FORBIDDEN_CALLS) | (modules & FORBIDDEN_MODULES)]
        found += [f"{path.name}: {word}" for word in FORBIDDEN_WORDS if word in text]
    assert found == []


def test_the_search_for_forbidden_calls_finds_them(tmp_path):
    place = tmp_path / "bad.py"
    place.write_text("import pickle\nfrom marshal import loads\neval('1')\n")
    calls, modules = names_of(place)
    assert calls & FORBIDDEN_CALLS == {"eval"}
    assert modules & FORBIDDEN_MODULES == {"pickle", "marshal"}


def test_no_release_uses_another_generator_than_the_systems():
    paths = list((ROOT / "src" / "hetdp" / "releases").rglob("*.py"))
    assert {"draw.py", "release.py", "simulation.py"} <= {path.name for path in paths}
    for path in paths:
        calls, modules = names_of(path)
        assert not modules & GENERATORS, path.name
        if path.name != "simulation.py":
            assert "np.random" not in path.read_text(encoding="utf-8"), path.name
        assert "random" not in calls


@for_each("words", NOT_PROMISED)
def test_the_page_of_limits_lists_what_is_not_promised(words):
    assert words in " ".join((DOCS / "limitations.md").read_text(encoding="utf-8").split())


def test_there_is_a_way_to_report_a_flaw():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "Report a vulnerability" in text
    assert "Do not send people's data" in text


PROMISE = re.compile(r"^## (\d)\. ", re.MULTILINE)
NAMED_TEST = re.compile(r"^- `(tests/[\w/]+\.py)::(\w+)`$", re.MULTILINE)


def test_every_promise_names_tests_and_every_test_that_is_named_exists():
    page = (DOCS / "promises.md").read_text(encoding="utf-8")
    assert PROMISE.findall(page) == list("1234567")
    for part in PROMISE.split(page)[2::2]:
        assert len(NAMED_TEST.findall(part)) >= 2, part[:60]
    listed = NAMED_TEST.findall(page)
    assert len(listed) == page.count("\n- `")
    for path, name in listed:
        assert re.search(rf"^ *def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), (path, name)
