"""The plain code path, which is used until functions are compiled, and the background process that compiles them."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import subprocess
import sys
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp import compilation, precompile, progress
from hetdp.cli import output
from hetdp.engines.registry import UNCOMPILED_NOTE, engine_for
from hetdp.problem.space import SMALL_SPACE
from hetdp.theory.catalogue import NOTIONS
from hetdp.theory.notion import Notion
from hetdp.theory.pure import PURE
from tests.stress import mostly_long

ROOT = Path(__file__).parents[1]
TIMEOUT = 500  # seconds, on a very busy machine
CACHE = os.environ.get("NUMBA_CACHE_DIR", "")
SIDE = 145  # of a grid with slightly more than SMALL_SPACE datasets


def grid_problem(notion: Notion = PURE) -> hetdp.Problem:
    """A grid whose two halves have different answers; a third of its edges is listed twice."""
    rng, cells = np.random.default_rng(5), np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    source = np.concatenate([cells[:, :-1].ravel(), cells[:-1].ravel()])
    target = np.concatenate([cells[:, 1:].ravel(), cells[1:].ravel()])
    again = rng.permutation(len(source))[: len(source) // 3]
    source, target = np.append(source, target[again]), np.append(target, source[again])
    columns: dict[str, Any] = {
        name: rng.uniform(0.0, 1e-3 if "delta" in name else 1.0, len(source)).round(5) for name in notion.parameters
    }
    graph = hetdp.DatasetGraph.from_edges(source * 1000, target * 1000, duplicates="min", **columns)
    assert graph.size > SMALL_SPACE
    return hetdp.Problem(graph, np.where(np.arange(graph.size) % SIDE < SIDE // 2, 1, 2), notion)


@pytest.fixture
def compiled_notions(tmp_path, monkeypatch):
    """Records the notions that would be compiled in the background, with an empty cache folder."""
    asked: list[str] = []

    def start(notion: str, folder: str) -> Any:
        asked.append(notion)
        return subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL)

    for name in ("certificate", "problem"):  # now, so that their functions are cached where other tests find them
        import_module(f"hetdp.{name}.compiled")
    monkeypatch.setenv(compilation.SWITCH_VARIABLE, "background")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compilation, "_start", start)
    for name, empty in {"_in_use": set(), "_processes": {}, "_refused": [], "_announced_notions": set()}.items():
        monkeypatch.setattr(compilation, name, empty)
    for cached in (compilation.cache_folder, compilation._notes):
        cached.cache_clear()
    yield asked
    for process in compilation._processes.values():
        process.wait(timeout=TIMEOUT)
    for cached in (compilation.cache_folder, compilation._notes):
        cached.cache_clear()


# The choice -----------------------------------------------------------------------------------------------------------


def test_only_large_problems_wait_for_compilation(compiled_notions):
    assert not compilation.uses_compiled("grow pure", compilation.MOST_UNCOMPILED)
    assert compilation.uses_compiled("grow pure", compilation.MOST_UNCOMPILED + 1)
    assert compilation.uses_compiled("grow pure", 30_000)  # they are loaded now
    assert not compilation.uses_compiled("settle pure", 30_000)


def test_compiled_functions_are_used_and_a_note_records_them(compiled_notions, monkeypatch):
    compilation.use_compiled("grow pure")
    compilation.note_compiled()
    monkeypatch.setattr(compilation, "_in_use", set())
    assert compilation.is_ready("grow pure")
    assert compilation.uses_compiled("grow pure", 30_000)
    assert not compilation.uses_compiled("settle pure", 30_000)


def test_a_note_is_invalid_for_other_sources_or_another_processor(compiled_notions, monkeypatch):
    compilation.use_compiled("grow pure")
    compilation.note_compiled()
    for name, value in {"_processor": lambda: "another", "COMPILED_IN": ("theory",)}.items():
        with monkeypatch.context() as patch:
            patch.setattr(compilation, name, value)
            compilation._notes.cache_clear()
            assert not compilation.is_ready("grow pure")
    compilation._notes.cache_clear()
    assert compilation.is_ready("grow pure")


def in_a_pool(queue: Any) -> None:
    os.environ[compilation.SWITCH_VARIABLE] = ""
    queue.put(compilation.may_compile_later())


def test_a_child_of_multiprocessing_starts_no_process():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=in_a_pool, args=(queue,))
    child.start()
    assert queue.get(timeout=TIMEOUT) is False
    child.join(TIMEOUT)


FORBIDDEN = {
    "switched off": lambda patch, _: patch.setenv(compilation.SWITCH_VARIABLE, "now"),
    "the compiler is off": lambda patch, _: patch.setenv("NUMBA_DISABLE_JIT", "1"),
    "a frozen program": lambda patch, _: patch.setattr(sys, "frozen", True, raising=False),
    "no interpreter": lambda patch, _: patch.setattr(sys, "executable", ""),
    "no cache folder": lambda patch, place: place.touch(),
}


@pytest.mark.parametrize("case", FORBIDDEN)
def test_where_no_process_may_be_started_the_search_is_compiled_at_once(case, compiled_notions, monkeypatch, tmp_path):
    assert compilation.may_compile_later()
    compilation.cache_folder.cache_clear()
    (tmp_path / "cache" / "hetdp").rmdir()
    (tmp_path / "cache").rmdir()
    FORBIDDEN[case](monkeypatch, tmp_path / "cache")
    assert engine_for("auto", grid_problem().graph, PURE, "grow").name == "cpu"
    assert compiled_notions == []


# The background process -----------------------------------------------------------------------------------------------


def test_a_search_starts_the_compiler_once_and_says_so(compiled_notions, caplog):
    problem = grid_problem()
    with caplog.at_level(logging.INFO, "hetdp"):
        for operation in ("settle", "grow", "grow"):
            assert engine_for("auto", problem.graph, PURE, operation).name == "reference"
    assert compiled_notions == ["pure"]
    words = "compiling the search for pure in the background, once; until it is ready, searches are slower"
    assert [record.getMessage() for record in caplog.records] == [words]


def test_building_and_proving_alone_start_nothing(compiled_notions):
    problem = grid_problem()
    assert hetdp.verify(problem, np.full(problem.graph.size, 0.5)).private
    assert compiled_notions == []


def test_while_another_process_compiles_none_is_started(compiled_notions):
    held = compilation.hold_lock()
    assert held is not None
    assert compilation.hold_lock() is None
    assert engine_for("auto", grid_problem().graph, PURE, "grow").name == "reference"
    assert compiled_notions == []
    os.close(held)
    assert engine_for("auto", grid_problem().graph, PURE, "grow").name == "reference"
    assert compiled_notions == ["pure"]


def test_where_a_process_cannot_be_started_the_next_search_is_compiled_at_once(compiled_notions, monkeypatch, caplog):
    def fail(*_: str) -> Any:
        raise OSError("no more processes")

    monkeypatch.setattr(compilation, "_start", fail)
    graph = grid_problem().graph
    with caplog.at_level(logging.INFO, "hetdp"):
        assert engine_for("auto", graph, PURE, "grow").name == "reference"
    assert "no background process can be started (no more processes)" in caplog.text
    assert engine_for("auto", graph, PURE, "grow").name == "cpu"


def test_an_engine_that_is_asked_for_by_name_is_taken_and_then_stays(compiled_notions):
    graph = grid_problem().graph
    assert engine_for("auto", graph, PURE, "grow").name == "reference"
    assert engine_for("cpu", graph, PURE, "grow").name == "cpu"
    assert engine_for("auto", graph, PURE, "grow").name == "cpu"
    assert engine_for("auto", graph, PURE, "settle").name == "reference"


def test_a_notion_whose_steps_take_long_in_python_is_compiled_at_once(compiled_notions):
    slow = replace(PURE, effort=100)
    assert engine_for("auto", grid_problem().graph, slow, "grow").name == "cpu"
    assert compiled_notions == []


def test_only_one_process_compiles_at_a_time(compiled_notions):
    held = compilation.hold_lock()
    assert held is not None
    command = [sys.executable, "-P", "-m", "hetdp.precompile", "pure"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    os.close(held)


COLD = """
import json, logging, sys
import numpy as np
import hetdp
from tests.test_compilation import grid_problem
logging.basicConfig(filename=sys.argv[1], level=logging.INFO, format="%(message)s")
problem = grid_problem()
found = hetdp.design(problem, engine="auto")
hetdp.verify(found)
hetdp.check(problem, dict(zip(problem.boundary, [0.5] * len(problem.boundary))))
print(json.dumps([found.certificate.optimal, found.coordinates.tolist(), "numba" in sys.modules]))
"""


def run_cold(folder: Path, **more: str) -> tuple[list[Any], list[str]]:
    """Runs a new process with this cache folder; returns its result and its log."""
    log, place = folder / "log", folder / "working-folder"
    log.unlink(missing_ok=True)
    place.mkdir(exist_ok=True)
    own = {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in (compilation.SWITCH_VARIABLE, "NUMBA_DISABLE_JIT")
    }
    command = [sys.executable, "-P", "-W", "error", "-c", COLD, str(log)]
    done = subprocess.run(command, cwd=place, env=environment | own | more, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert list(place.iterdir()) == []
    return json.loads(done.stdout), log.read_text(encoding="utf-8").splitlines()


def test_the_first_process_does_not_wait_and_the_next_one_uses_what_was_compiled(tmp_path):
    (optimal, values, has_numba), log = run_cold(tmp_path)
    assert optimal
    assert not has_numba
    assert log[0] == "compiling the search for pure in the background, once; until it is ready, searches are slower"
    end = time.monotonic() + TIMEOUT
    while not list(tmp_path.glob("cache/hetdp/compiled-*/settle-pure")):
        assert time.monotonic() < end, "the background process has not said that it is done"
        time.sleep(0.1)
    (optimal, again, has_numba), log = run_cold(tmp_path)
    assert optimal
    assert has_numba
    assert again == values
    assert log == []  # nothing is compiled any more


# The plain path -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", mostly_long(sorted(NOTIONS, key=["approximate", "pure", *NOTIONS].index), 2))
def test_the_plain_path_gives_the_same_bits_as_the_compiled_one(name, compiled_notions, monkeypatch):
    notion = NOTIONS[name]

    def everything() -> list[Any]:
        problem = grid_problem(notion)
        graph, half = problem.graph, dict.fromkeys(problem.boundary, 0.5)
        assert isinstance(graph, hetdp.DatasetGraph)
        fair, balanced = hetdp.design(problem, "fair"), hetdp.design(problem, "balanced")
        extended, given = hetdp.extend(problem, half), hetdp.design(problem, "fair", {problem.boundary[0]: 0.5})
        made = (fair, balanced, extended, given)
        arrays = (graph.indptr, graph.targets, *graph.parameters, problem.boundary_mask)
        return [
            *((array.dtype, array.tobytes()) for array in (*arrays, *(found.coordinates for found in made))),
            *(found.certificate for found in made),
            *map(hetdp.verify, made),
            [str(found.explain(0)) for found in made[1:3]],
            hetdp.check(problem, half).compatible,
            hetdp.check(problem, {problem.boundary[0]: 0.001, problem.boundary[1]: 0.999}).compatible,
            hetdp.verify(problem, np.where(problem.answers == 1, 0.9, 0.1)).violations,
        ]

    plain = everything()
    assert compiled_notions == [notion.key]
    monkeypatch.setenv(compilation.SWITCH_VARIABLE, "now")
    monkeypatch.setenv("NUMBA_CACHE_DIR", CACHE)  # where most functions are that would otherwise be compiled again
    compilation.cache_folder.cache_clear()
    assert everything() == plain


# Words ----------------------------------------------------------------------------------------------------------------


def test_a_notebook_shows_why_it_waits_once(compiled_notions, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setattr(progress, "_explained", set())
    monkeypatch.setattr("hetdp.engines.registry.FEWEST_FOR_NOTE", SMALL_SPACE)
    for _ in range(2):
        engine_for("auto", grid_problem().graph, PURE, "grow")
    assert capsys.readouterr().err == f"hetdp: {UNCOMPILED_NOTE}\n"


def test_words_about_waiting_fit_into_the_progress_bar_of_a_small_terminal():
    from hetdp import jit  # loads numba, which other processes that import this module must not

    compiling = [f"compiling {purpose} (only once)" for purpose in (*jit.PURPOSES.values(), "a calculation")]
    for words in (UNCOMPILED_NOTE, *compiling):
        assert len(output.line(0, 2, words, 99.0)) < 80


COMPILED = """
import logging
from hetdp import jit, progress
logging.basicConfig(level=logging.INFO, format="%(message)s")
heard = []
progress.set_listener(heard.append)
progress.report_stage("searching")
def callee(x): return x + 1
def kernel(x): return callee(x)
callee.__module__ = kernel.__module__ = "hetdp.engines.cpu.grow"
callee = jit.compile_uncached(callee)
kernel = jit.compile_uncached(kernel)
print(kernel(1), kernel(2), heard)
"""


def test_waiting_for_the_compiler_is_reported():
    done = subprocess.run(
        [sys.executable, "-P", "-c", COMPILED],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    waiting = "compiling the search (only once)"
    assert done.stdout == f"2 3 {['searching', waiting, 'searching']}\n"
    assert done.stderr == "compiling the search (kernel), which takes some seconds; later runs reuse it\n"


def test_the_program_compiles_only_for_notions_that_exist(compiled_notions):
    with pytest.raises(hetdp.UsageError, match="unknown notion 'none'"):
        precompile.main(["none"])
