"""Mutation check: changes the sources at random places and looks whether a test fails.

    .venv/bin/python -m tests.mutants 200 --seed 1

A mutant is a copy of the sources with one small change, such as `<=` for `<`, a negated condition or a deleted call. If
all tests pass, then nobody would notice this change: read the mutant, and write a test if it changes behaviour.

The first run traces the first case of every test, up to a second, and notes which functions it enters. Each mutant then
runs the tests that enter the changed function, the nearest and fastest first; after these come the tests of its module
and those in the same files, up to LIMIT seconds. Survivors of the nearest tests wait until every mutant has had its
turn. Functions that numba compiles are traced and tried with the JIT switched off; what survives there runs the tests
of its package. So a survivor may still be killed by one of the other tests: run those that should notice it before you
write a new one. A timeout counts as killed, but on a busy machine look at it, too.

All of this happens in FOLDER, on a copy of the repository for each process, with compiled functions of its own. A
server has imported everything and forks a child for each mutant, which replaces the code of the changed function; what
survives there, or changes what happens on import, is tried again in a new process. Results are lines of JSON in
FOLDER/results.jsonl. A run that was stopped goes on when it is started again with the same arguments.
`--only PATH` limits the mutants to a file or folder, `--again ID` tries one mutant again, `--patch ID` prints it.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import gc
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]
PACKAGE = "src/hetdp"
NOT_TRACED = (  # long, or about something else than one function
    "tests/documents",
    "tests/supply_chain",
    "tests/oracle",
    "tests/paper",
    "tests/partitioned/test_cluster.py",
    "tests/partitioned/test_hosts.py",
    "tests/studio/test_browser.py",
    "tests/studio/test_keys.py",
    "tests/studio/test_two_studios.py",
    "tests/test_benchmarks.py",
    "tests/test_packaging.py",
    "tests/test_repository.py",
    "tests/test_working_folder.py",
)
COMPILED = ("engines/cpu/", "engines/product/", "certificate/scan.py", "certificate/products.py", "problem/compiled.py")
WITHOUT_JIT = ("tests/engines", "tests/certificate/test_scan.py", "tests/certificate/test_products.py", "-m", "jit_off")
JIT_OFF = {"NUMBA_DISABLE_JIT": "1"}
LONGER = 10.0  # times the limit, for tests without the JIT
NEW_PROCESS = 0.3  # of the time for tests, where they run in a new process
NEAREST = 0.15  # of the time for tests, at first; survivors run the others when every mutant has had its turn
FIRST = 10.0  # seconds for these on the clock
TRACED = 1.0  # seconds of a test that are traced
MEMORY = 8 << 30
UNCHANGED = ".unchanged"  # the suffix of a file that a mutant replaces for a while

# Mutants --------------------------------------------------------------------------------------------------------------

COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "/",
    ast.Mod: "//",
    ast.Pow: "*",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.BitXor: "|",
}
DROPPED = re.compile(  # f(x, …) becomes x, and x.f(…) becomes x
    "abs|all|any|array|asarray|ascontiguousarray|bool|ceil|copy|dict|expm1|float|floor|int|isclose|list|log1p|lower|max"
    "|maximum|min|minimum|negative|nextafter|reversed|round|set|sorted|sqrt|str|strip|sum|tuple|unique|upper"
)


@dataclass(frozen=True)
class Mutant:
    """One change: bytes `start` to `end` of a file are replaced."""

    path: str
    line: int
    function: str
    kind: str
    start: int
    end: int
    before: str
    after: str

    @property
    def id(self) -> str:
        text = f"{self.path} {self.function} {self.kind} {self.start} {self.before} {self.after}"
        return hashlib.sha256(text.encode()).hexdigest()[:10]

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]


class Finder(ast.NodeVisitor):
    """Collects the mutants of one file, grouped by statement."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.scope: list[str] = []
        self.statements: list[list[Mutant]] = []
        self.visit_body(ast.parse(source).body)

    def span(self, node: Any) -> tuple[int, int]:
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.source[start:end].decode()

    def add(self, kind: str, node: Any, after: str) -> None:
        start, end = self.span(node)
        before, scope = self.text(node), ".".join(self.scope)
        self.statements[-1].append(Mutant(self.path, node.lineno, scope, kind, start, end, before, after))

    # statements

    def visit_body(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if not _is_skipped(statement):
                self.statements.append([])
                self.visit(statement)

    def visit_scope(self, node: Any) -> None:
        self.scope.append(node.name)
        if isinstance(node, ast.FunctionDef):
            for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                self.visit(default)
        self.visit_body(node.body)
        self.scope.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_scope  # noqa: N815

    def visit_blocks(self, node: Any) -> None:
        """A statement with blocks: its own expressions first, then each statement within."""
        for name, value in ast.iter_fields(node):
            if name not in ("body", "orelse", "finalbody", "handlers", "cases"):
                for part in value if isinstance(value, list) else [value]:
                    if isinstance(part, ast.AST):
                        self.visit(part)
        for name in ("body", "orelse", "finalbody"):
            self.visit_body(getattr(node, name, []))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self.visit_body(part.body)

    visit_For = visit_With = visit_Try = visit_Match = visit_blocks  # noqa: N815

    def visit_If(self, node: ast.If) -> None:
        self.negate(node.test)
        self.visit_blocks(node)

    def visit_While(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant):
            self.negate(node.test)
        self.visit_blocks(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call | ast.Await | ast.YieldFrom):
            self.add("deleted statement", node, "pass")
        elif isinstance(node.value, ast.Yield) and node.value.value is not None:
            self.add("deleted value", node, "yield")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self.add("deleted statement", node, "pass")
        self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.add("deleted statement", node, "pass")
        operator = ARITHMETIC.get(type(node.op))
        if operator:
            self.add("arithmetic", node, f"{self.text(node.target)} {operator}= {self.text(node.value)}")
        self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.add("deleted statement", node, "pass")  # what it says is not looked at

    def visit_Break(self, node: ast.Break) -> None:
        self.add("break", node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add("continue", node, "break")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            return
        if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self.add("returned value", node.value, "None")
        self.visit(node.value)

    # expressions

    def negate(self, test: ast.expr) -> None:
        self.add("negated condition", test, f"not ({self.text(test)})")

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self.negate(test)
            self.add("dropped filter", test, "True")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            between = self.source[self.span(left)[1] : self.span(right)[0]].decode()
            opened = between.partition(_spelling(op))
            for other in COMPARISONS[type(op)]:
                changed = _between(self, left, right, opened[0] + other + opened[2])
                self.add("comparison", _Pair(left, right), changed)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = " or " if isinstance(node.op, ast.And) else " and "
        self.add("boolean operator", node, "(" + other.join(f"({self.text(value)})" for value in node.values) + ")")
        for at, dropped in enumerate(node.values):
            rest = [value for value in node.values if value is not dropped]
            word = " and " if isinstance(node.op, ast.And) else " or "
            if at or len(rest) > 1 or not isinstance(dropped, ast.Name | ast.Compare):  # a guard that avoids an error
                self.add("dropped operand", node, "(" + word.join(f"({self.text(value)})" for value in rest) + ")")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            self.add(f"dropped {_word(node.op)}", node, f"({self.text(node.operand)})")
        if not isinstance(node.operand, ast.Constant):
            self.visit(node.operand)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        operator, sides = ARITHMETIC.get(type(node.op)), (node.left, node.right)
        if operator and not any(_is_words(side) for side in sides):
            self.add("arithmetic", node, f"(({self.text(node.left)}) {operator} ({self.text(node.right)}))")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add("constant", node, str(not node.value))
        elif isinstance(node.value, int):
            for other in (node.value + 1, node.value - 1):
                self.add("constant", node, f"({other})" if other < 0 else f" {other}")
        elif isinstance(node.value, float):
            self.add("constant", node, repr(node.value * 1.5 if node.value else 1.0))

    def visit_Call(self, node: ast.Call) -> None:
        name = _name(node.func)
        if name in ("isinstance", "issubclass", "callable", "hasattr"):
            self.add(f"dropped {name}", node, "True")
        if DROPPED.fullmatch(name):
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            is_method = owner is not None and not (isinstance(owner, ast.Name) and owner.id in ("np", "math"))
            kept = owner if is_method else node.args[0] if node.args else None
            if kept is not None and not isinstance(kept, ast.Starred | ast.GeneratorExp):
                self.add(f"dropped {name}", node, f"({self.text(kept)})")
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Words of a message are left alone."""

    def visit_arguments(self, node: ast.arguments) -> None:
        """Of lambdas: left alone."""


class _Pair(ast.AST):
    """From the beginning of one expression to the end of another."""

    def __init__(self, left: ast.expr, right: ast.expr) -> None:
        super().__init__()
        self.lineno, self.col_offset = left.lineno, left.col_offset
        self.end_lineno, self.end_col_offset = right.end_lineno, right.end_col_offset


def _between(finder: Finder, left: ast.expr, right: ast.expr, middle: str) -> str:
    return finder.text(left) + middle + finder.text(right)


def _spelling(op: ast.cmpop) -> str:
    text = ast.unparse(ast.Compare(ast.Name("a"), [op], [ast.Name("b")]))
    return text[2:-2]


def _word(op: ast.unaryop) -> str:
    return {ast.Not: "not", ast.USub: "minus", ast.Invert: "invert"}[type(op)]


def _name(function: ast.expr) -> str:
    return getattr(function, "id", getattr(function, "attr", ""))


def _is_words(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_skipped(node: ast.stmt) -> bool:
    """Docstrings, imports, blocks for type checkers, and functions that only make words."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return True
    if isinstance(node, ast.FunctionDef):
        return node.name == "__repr__" or any(_name(decorator) == "overload" for decorator in node.decorator_list)
    return isinstance(node, ast.ClassDef) and any(_name(base) == "Protocol" for base in node.bases)


def choose_mutants(root: Path, count: int, seed: int, only: str) -> list[Mutant]:
    """A random statement each, then a random change to it; at least two in every package."""
    chance = random.Random(seed)
    packages = defaultdict[str, list[list[Mutant]]](list)
    for path in sorted(root.glob(f"{PACKAGE}/**/*.py")):
        name = path.relative_to(root).as_posix()
        if name.startswith(only or PACKAGE):
            packages[str(Path(name).parent)] += filter(None, Finder(name, path.read_bytes()).statements)
    total = sum(map(len, packages.values()))
    chosen = []
    for _, statements in sorted(packages.items()):
        share = max(2, round(count * len(statements) / total))
        for statement in chance.sample(statements, min(share, len(statements))):
            changes = chance.sample(statement, len(statement))
            chosen.append(next(change for change in changes if _compiles(root, change)))
    chance.shuffle(chosen)
    return chosen


def _compiles(root: Path, mutant: Mutant) -> bool:
    try:
        ast.parse(mutant.apply((root / mutant.path).read_bytes()))
    except SyntaxError:
        return False
    return True


# Inside pytest: `-p tests.mutants` makes this module a plugin ---------------------------------------------------------

SERVE = "HETDP_MUTANTS_SERVE"  # set in a server
READY = "ready"
FAILED = pytest.StashKey[bool]()
Functions = dict[str, list[FunctionType]]


class TooLongError(BaseException):
    """A traced test has run long enough; Hypothesis does not take it for a failure that it should shrink."""


def _trace(item: pytest.Item, following: pytest.Item | None, cases: int) -> dict[str, Any]:
    """Runs a test, up to a second of processor time, and notes which functions of hetdp it enters."""
    entered, stopped, started = set[CodeType](), list[int](), time.process_time()

    def note(frame: FrameType, event: str, argument: object) -> None:
        entered.add(frame.f_code)

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.append(number)
        raise TooLongError

    signal.signal(signal.SIGPROF, stop)
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_PROF, TRACED, TRACED)
    signal.setitimer(signal.ITIMER_REAL, 20 * TRACED, 20 * TRACED)
    threading.settrace(note)
    sys.settrace(note)
    try:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    except TooLongError:
        pass
    finally:
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        places = [(code.co_filename.partition(f"{PACKAGE}/")[2], code.co_qualname) for code in list(entered)]
    seconds = time.process_time() - started
    return {
        "test": _without_case(item.nodeid),
        "seconds": round(max(seconds, 0.01) * cases * (10 if stopped else 1), 3),
        "failed": item.stash.get(FAILED, False) and not stopped,
        "functions": sorted({f"{PACKAGE}/{path}:{name.split('.<')[0]}" for path, name in places if path}),
    }


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed  # a case may be skipped, as without a server
    return report


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """A server: each request names tests and a mutant, and a forked child runs them; nothing is imported again."""
    if SERVE not in os.environ:
        return None
    items = defaultdict[str, list[pytest.Item]](list)
    for item in session.items:
        items[_without_case(item.nodeid)].append(item)
    functions = _find_functions()
    answers = os.fdopen(os.dup(1), "w")
    print(READY + json.dumps(list(items)), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        chosen = {name: items[name] for name in request["tests"]}
        work = partial(_trace_items, chosen, request["trace"])
        if not request["trace"]:
            work = partial(_run_items, chosen, request["mutant"], functions)
        result = _in_child(work, request["seconds"])
        print(json.dumps(result), file=answers, flush=True)
    return True


def _in_child(work: Callable[[], str], seconds: float) -> tuple[str, str]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nothing, stream)
            os.write(writing, work().encode()[:4000])
        finally:
            os._exit(0)
    os.close(writing)
    deadline = time.monotonic() + seconds
    try:
        while not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            time.sleep(0.02)
            if time.monotonic() > deadline:
                os.close(reading)
                return "timeout", ""
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)  # with what the tests have started
        os.waitpid(child, 0)
    with os.fdopen(reading) as output:
        result, _, by = output.read().partition(" ")
    return result or "crashed", by


def _trace_items(items: dict[str, list[pytest.Item]], path: str) -> str:
    settings.register_profile("traced", settings.default, max_examples=5)  # which functions it enters shows soon
    settings.load_profile("traced")
    with Path(path).open("a", encoding="utf-8") as file:
        firsts = [cases[0] for cases in items.values()]
        for item, following, cases in zip(firsts, [*firsts[1:], None], items.values(), strict=True):
            file.write(json.dumps(_trace(item, following, len(cases))) + "\n")
            file.flush()
    return "traced"


def _run_items(items: dict[str, list[pytest.Item]], mutant: dict[str, Any] | None, functions: Functions) -> str:
    if mutant and not _patch(Mutant(**mutant), functions):
        return "unknown"
    every = [item for cases in items.values() for item in cases]
    for item, following in zip(every, [*every[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.stash.get(FAILED, False):
            return f"killed {item.nodeid}"
    return "survived"


def _find_functions() -> Functions:
    """All functions by the file that defines them; found once, since the search takes as long as a few tests."""
    found = defaultdict[str, list[FunctionType]](list)
    gc.unfreeze()  # `conftest.py` hides what was collected
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            found[each.__code__.co_filename].append(each)
    gc.freeze()
    return found


def _patch(mutant: Mutant, functions: Functions) -> bool:
    """Replaces the code of all functions that the mutant changes; False if there are none."""
    source = Path(mutant.path).resolve()
    unchanged = source.with_name(source.name + UNCHANGED).read_bytes()
    before = list(_codes(compile(unchanged, source, "exec", dont_inherit=True)))
    after = list(_codes(compile(mutant.apply(unchanged), source, "exec", dont_inherit=True)))
    if len(before) != len(after):
        return False
    new = {(old.co_qualname, old.co_firstlineno): code for old, code in zip(before, after, strict=True) if old != code}
    patched = False
    for function in functions.get(str(source), ()):
        code = new.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if code and code.co_freevars == function.__code__.co_freevars:
            function.__code__ = code
            patched = True
    return patched


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _without_case(name: str) -> str:
    return re.sub(r"\[.*", "", name, flags=re.DOTALL)


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


# Which tests ----------------------------------------------------------------------------------------------------------


class Tests:
    """The traced tests: which functions each enters, and how long it takes."""

    def __init__(self, path: Path, limit: float) -> None:
        self.limit = limit
        self.seconds, self.functions, self.failed = dict[str, float](), defaultdict[str, set[str]](set), set[str]()
        for found in map(json.loads, _lines(path)):
            name = found["test"]
            self.seconds[name] = found["seconds"]
            if found["failed"]:
                self.failed.add(name)  # it fails, or is left out, without any mutant
            for function in found["functions"]:
                self.functions[function].add(name)
        for names in self.functions.values():
            names -= self.failed
        self.modules, self.packages = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for function, names in self.functions.items():
            path_of = Path(function.partition(":")[0])
            self.modules[str(path_of)] |= names
            self.packages[str(path_of.parent)] |= names

    def time(self, names: Sequence[str]) -> float:
        return sum(self.seconds[name] for name in names)

    def enters(self, mutant: Mutant) -> bool:
        """True if a test calls the function of the mutant, or the one that it is inside; else it may run on import."""
        names = mutant.function.split(".")
        return any(self.functions[f"{mutant.path}:{'.'.join(names[:end])}"] for end in range(len(names), 0, -1))

    def for_mutant(self, mutant: Mutant, share: float = 1.0) -> list[str]:
        """The tests of the function, then of its module, then of its package; the nearest and fastest first."""
        folder, module = mutant.path.removeprefix(f"{PACKAGE}/").split("/")[0], Path(mutant.path).stem
        near = re.compile(rf"{mutant.path}|tests/{folder}/|tests/.*test_{module}\b|test_{folder}")
        names = mutant.function.split(".")  # an inner function is noted by the name of the outer one
        circles = [self.functions[f"{mutant.path}:{'.'.join(names[:end])}"] for end in range(len(names), 0, -1)]
        circles.append(self.modules[mutant.path])
        if not any(circles):
            circles.append(self.packages[str(Path(mutant.path).parent)])
        fast = [sorted(circle, key=self.seconds.__getitem__) for circle in circles]
        nearest = dict.fromkeys(name for circle in fast for name in circle if near.match(name))
        files = {name.partition("::")[0] for name in nearest}  # cases that were not traced may enter it, too
        beside = (name for name in self.seconds if name.partition("::")[0] in files and name not in self.failed)
        ordered = nearest | dict.fromkeys(sorted(beside, key=self.seconds.__getitem__))
        ordered |= dict.fromkeys(name for circle in fast for name in circle)
        total, chosen = 0.0, list[str]()
        for name in ordered:
            total += self.seconds[name]
            if total > share * self.limit and chosen:
                break
            chosen.append(name)
        return chosen


# Running --------------------------------------------------------------------------------------------------------------


class Server:
    """A process that has collected tests, and runs them in forked children."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self.requests, self.answers = process.stdin, process.stdout
        self.sound: dict[str, bool] = {}  # whether a test passes on the unchanged sources
        ready = next((line for line in self.answers if line.startswith(READY)), None)
        if ready is None:
            raise RuntimeError("the server has ended")
        self.names: list[str] = json.loads(ready.removeprefix(READY))

    def ask(self, tests: list[str], mutant: Mutant | None, seconds: float, trace: str = "") -> tuple[str, str]:
        """Runs tests in a child of the server."""
        request = {"tests": tests, "mutant": mutant and vars(mutant), "seconds": seconds, "trace": trace}
        print(json.dumps(request), file=self.requests, flush=True)
        result, by = json.loads(self.answers.readline())
        return result, by

    def is_sound(self, name: str) -> bool:
        if name not in self.sound:
            self.sound[name] = self.ask([name], None, 600)[0] == "survived"
        return self.sound[name]


class Copy:
    """A copy of the repository, in which one mutant at a time is tried."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder.with_name(folder.name + "-cache")
        if not folder.exists():
            listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
            names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
            part = folder.with_name(folder.name + "-part")
            shutil.rmtree(part, ignore_errors=True)
            for name in filter(None, names.split("\0")):
                if (ROOT / name).is_file():
                    (part / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / name, part / name)
            part.rename(folder)
        self.cache.mkdir(mode=0o700, exist_ok=True)
        for stash in folder.glob(f"{PACKAGE}/**/*{UNCHANGED}"):  # of a run that was stopped
            stash.replace(stash.with_suffix(""))
        self.running: list[subprocess.Popen[str]] = []

    def start(self, arguments: Sequence[str], **environment: str) -> subprocess.Popen[str]:
        options = ["-q", "-p", "no:cacheprovider", "--no-header", "--tb=line", *arguments]
        environment = {"PYTHONPATH": f"{self.folder}/src", "NUMBA_CACHE_DIR": str(self.cache)} | environment
        environment["PYTHONDONTWRITEBYTECODE"] = ""  # else every process compiles every module again
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options],
            cwd=self.folder,
            env=os.environ | environment,
            stdin=subprocess.PIPE if SERVE in environment else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=_limit_memory,
        )
        self.running.append(process)
        return process

    def pytest(self, arguments: Sequence[str], seconds: float, **environment: str) -> tuple[int | None, str]:
        """Runs pytest; the exit status is None if it took too long."""
        process = self.start(arguments, **environment)
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            self.end(process)

    def serve(self, arguments: Sequence[str], **environment: str) -> Server:
        return Server(
            self.start(["-s", "-p", "tests.mutants", "-p", "no:xdist", *arguments], **environment, **{SERVE: "1"})
        )

    @cached_property
    def server(self) -> Server:
        return self.serve([f"--ignore={name}" for name in NOT_TRACED])

    @cached_property
    def server_without_jit(self) -> Server:
        """A server in which the functions that numba compiles are plain functions."""
        return self.serve(WITHOUT_JIT, **JIT_OFF)

    def attempt(self, mutant: Mutant, tests: Tests, tests_without_jit: Tests, share: float) -> dict[str, Any]:
        """Tries one mutant: whether a test fails, and which; a share of the tests only, unless it is 1."""
        started, result, by, is_compiled = time.monotonic(), "unknown", "", _is_compiled(mutant)
        traced = tests_without_jit if is_compiled else tests
        chosen = traced.for_mutant(mutant, share)
        if mutant.function and chosen:
            seconds = 60.0 + 5.0 * traced.time(chosen) if share == 1.0 else FIRST
            result, by = self.attempt_in_child(mutant, chosen, seconds)
        if share < 1.0:
            result = "killed" if result == "killed" else "survived"
        elif result == "unknown" or (result == "survived" and (is_compiled or not tests.enters(mutant))):
            with self.changed(mutant):
                result, by = self.attempt_anew(mutant, tests, is_compiled and result == "unknown")
        return {"result": result, "by": by, "tests": len(chosen), "seconds": round(time.monotonic() - started, 1)}

    def attempt_in_child(self, mutant: Mutant, chosen: list[str], seconds: float) -> tuple[str, str]:
        server = self.server_without_jit if _is_compiled(mutant) else self.server
        while True:
            with self.changed(mutant):
                result, by = server.ask(chosen, mutant, seconds)
                name = _without_case(by)
                alone = [name] == chosen[:1] or (
                    result == "killed" and server.ask([name], mutant, 600)[0] != "survived"
                )
            if result != "killed" or (alone and server.is_sound(name)):
                return result, by
            chosen = [other for other in chosen if other != name]  # it fails after others, or without any mutant

    def attempt_anew(self, mutant: Mutant, tests: Tests, without_jit: bool) -> tuple[str, str]:
        """Tries a mutant in new processes: one that changes what happens on import, or what numba compiles."""
        chosen = tests.for_mutant(mutant)
        cache = self.cache.with_name(self.cache.name + "-mutant")
        shutil.rmtree(cache, ignore_errors=True)
        shutil.copytree(self.cache, cache)  # so that no mutant leaves a compiled function behind
        cache.chmod(0o700)
        attempts: list[tuple[list[str], float, dict[str, str]]] = []
        if without_jit:
            attempts.append(([*WITHOUT_JIT], 900.0, JIT_OFF))
        nearest = [name for at, name in enumerate(chosen) if tests.time(chosen[: at + 1]) < NEW_PROCESS * tests.limit]
        attempts.append((nearest or chosen[:1], 600, {}))
        for arguments, seconds, environment in attempts:
            status, output = self.pytest(["-x", *arguments], seconds, NUMBA_CACHE_DIR=str(cache), **environment)
            if status not in (0, 5):
                return "timeout" if status is None else "killed", _failure(output)
        return "survived", ""

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Puts a mutant into this copy for a while."""
        source = self.folder / mutant.path
        stash = source.with_name(source.name + UNCHANGED)
        source.rename(stash)
        source.write_bytes(mutant.apply(stash.read_bytes()))
        try:
            yield
        finally:
            stash.replace(source)

    def end(self, process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGINT)  # a server ends its child
        with suppress(subprocess.TimeoutExpired):
            process.wait(3)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with what the tests have started
        process.wait()
        self.running.remove(process)

    def close(self) -> None:
        for process in list(self.running):
            self.end(process)


def _is_compiled(mutant: Mutant) -> bool:
    return any(part in mutant.path for part in COMPILED)


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _failure(output: str) -> str:
    failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (failed or output.splitlines()[-3:] or [""])[0][:300]


def trace_tests(server: Server, part: int, parts: int, path: Path) -> None:
    """Notes for each test which functions it enters; those that were noted before are left out."""
    done, files = {json.loads(line)["test"] for line in _lines(path)}, defaultdict[str, list[str]](list)
    for name in server.names:
        if name not in done:
            files[name.partition("::")[0]].append(name)
    for names in list(files.values())[part::parts]:
        server.ask(names, None, 600, str(path))


def run(arguments: argparse.Namespace) -> None:
    folder: Path = arguments.folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    copies = [Copy(folder / f"copy-{at}") for at in range(arguments.processes)]
    chosen = choose_mutants(copies[0].folder, arguments.count, arguments.seed, arguments.only)
    if arguments.patch or arguments.again:
        chosen = [mutant for mutant in chosen if mutant.id in (arguments.patch, arguments.again)]
    if arguments.patch:
        for mutant in chosen:
            print_patch(copies[0].folder, mutant)
        return
    try:
        attempt_all(copies, chosen, folder, arguments.limit, bool(arguments.again))
    finally:
        for copy in copies:
            copy.close()
    summarise(folder / "results.jsonl", {mutant.id for mutant in chosen})


def attempt_all(copies: list[Copy], chosen: list[Mutant], folder: Path, limit: float, again: bool) -> None:
    traced, traced_without_jit = folder / "tests.jsonl", folder / "tests-without-jit.jsonl"
    results, lock = folder / "results.jsonl", threading.Lock()
    done = set[str]() if again else {json.loads(line)["id"] for line in _lines(results)}
    waiting, survivors, barrier = SimpleQueue[Mutant](), SimpleQueue[Mutant](), threading.Barrier(len(copies))
    for mutant in chosen:
        if mutant.id not in done:
            waiting.put(mutant)

    def work(at: int, copy: Copy) -> None:
        trace_tests(copy.server, at, len(copies), traced)
        if any(map(_is_compiled, chosen)):
            trace_tests(copy.server_without_jit, at, len(copies), traced_without_jit)
        barrier.wait()
        tests, tests_without_jit = Tests(traced, limit), Tests(traced_without_jit, LONGER * limit)
        for share, queue in ((NEAREST, waiting), (1.0, survivors)):
            with suppress(Empty):
                while True:
                    mutant = queue.get_nowait()
                    found = {"id": mutant.id} | vars(mutant) | copy.attempt(mutant, tests, tests_without_jit, share)
                    if share < 1.0 and found["result"] == "survived":
                        found["result"] = "not yet killed"
                        survivors.put(mutant)
                    else:
                        with lock, results.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(found, ensure_ascii=False) + "\n")
                    sys.stdout.write(f"{found['result']} {describe(found)} {found['by']}\n")
                    sys.stdout.flush()

    threads = [threading.Thread(target=work, args=each, daemon=True) for each in enumerate(copies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def summarise(results: Path, ids: set[str]) -> None:
    latest = {found["id"]: found for found in map(json.loads, _lines(results)) if found["id"] in ids}
    counts = Counter(found["result"] for found in latest.values())
    lines = [describe(found) for found in latest.values() if found["result"] == "survived"]
    total = ", ".join(f"{count} {result}" for result, count in counts.items())
    sys.stdout.write("\n".join(["", *lines, f"{len(latest)} mutants: {total}"]) + "\n")


def describe(found: dict[str, Any]) -> str:
    place = f"{found['path']}:{found['line']} {found['function']}"
    return f"{found['id']} {place} {found['kind']}: {found['before']!r} → {found['after']!r}"


def print_patch(root: Path, mutant: Mutant) -> None:
    before = (root / mutant.path).read_bytes()
    old, new = (text.decode().splitlines(keepends=True) for text in (before, mutant.apply(before)))
    sys.stdout.writelines(difflib.unified_diff(old, new, f"a/{mutant.path}", f"b/{mutant.path}"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a file or folder, such as src/hetdp/theory")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds of tests for each mutant")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "hetdp-mutants")
    parser.add_argument("--again", default="", help="the id of a mutant to try again")
    parser.add_argument("--patch", default="", help="the id of a mutant to print")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run(parser.parse_args())
