"""The benchmarks run at tiny sizes, and their page shows the targets and the results."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.__main__ import run_all
from benchmarks.claims import Benchmark, Chart, Measured, Section, Table, Target, verdict_of
from benchmarks.libraries import load_library, packages_to_install
from benchmarks.page import section_lines, text, write
from benchmarks.paths import difference
from benchmarks.registry import MODULES, benchmarks
from benchmarks.releases import LEAST, make_mechanism, one_epsilon
from tests.loops import for_each
from tests.stress import long

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "benchmarks"
NOT_BENCHMARKS = {
    "__init__",
    "__main__",
    "bar",
    "claims",
    "graphs",
    "libraries",
    "measure",
    "page",
    "pictures",
    "registry",
    "timing",  # by hand only
}
LONG = {  # which start many processes or a browser, compare many libraries or resemble another; `make stress` runs all
    *(
        "average-random",
        "distributed",
        "drag",
        "files",
        "growth",
        "memory",
        "paths",
        "products",
        "studio",
        "visits",
        "wait",
    ),
}


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def example(*parts: Any, run: Any = None, **more: Any) -> Benchmark:
    return Benchmark("name", "Title", "About.", run or (lambda: iter(parts)), (), (), **more)


def test_benchmarks_run_at_tiny_sizes():
    nearby = {name: one for name, one in benchmarks().items() if name not in LONG}
    done = command(*nearby, "--quick")
    assert done.returncode == 0, done.stderr
    for name, one in nearby.items():
        assert f"## {one.title}\n" in done.stdout
        assert f"`.venv/bin/python -m benchmarks {name}`" in done.stdout
        assert all(str(target) in done.stdout for target in one.targets)
    assert "not measured**" not in done.stdout, "a target is not measured by any run"
    assert "not judged at this size" in done.stdout


@long
def test_all_benchmarks_write_a_page_and_leave_the_repository_unchanged(tmp_path: Path):
    before = contents(FOLDER)
    done = command("--quick", "--into", tmp_path)
    assert done.returncode == 0, done.stderr
    assert contents(FOLDER) == before
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    for name, one in benchmarks().items():
        assert f"\n## {one.title}\n" in page
        assert f"`.venv/bin/python -m benchmarks {name}`" in page
        assert all(str(target) in page for target in one.targets)
    assert "not measured**" not in page, "a target is not measured by any run"
    assert "not judged at this size" in page
    shown = re.findall(r"!\[.*\]\((.*)\)", page)
    assert bool(shown) == (find_spec("matplotlib") is not None)
    assert all((tmp_path / picture).is_file() for picture in shown)


def test_every_module_that_measures_is_registered():
    assert {path.stem for path in FOLDER.glob("*.py")} - NOT_BENCHMARKS == {*MODULES}


def test_make_bench_quick_is_the_quick_run():
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^bench-quick:.*\n\t@\$\(BIN\)/python -m benchmarks --quick$", rules, re.MULTILINE)


def test_an_unknown_name_is_answered_by_the_known_ones():
    done = command("nonsense")
    assert done.returncode == 2
    assert "there is no 'nonsense'; there are speed, growth, paths" in done.stderr


@for_each(
    ("bound", "values", "verdict"),
    [
        ("≤", [1.9, 2.0], "yes"),
        ("≤", [2.1, 3.0], "**no**"),
        ("≤", [1.0, 2.1], "in part: case 0 yes; case 1 **no**"),
        ("≥", [2.0, 1.9], "in part: case 0 yes; case 1 **no**"),
        ("≥", [], "**not measured**"),
    ],
)
def test_a_verdict_is_stated_plainly(bound: Any, values: list[float], verdict: str):
    assert (
        verdict_of(Target("time", bound, 2), [Measured("time", f"case {at}", one) for at, one in enumerate(values)])
        == verdict
    )


def test_a_section_contains_its_targets_and_results():
    target = Target("time", "≤", 2)
    one = example(targets=(target,))
    parts = (Measured("time", "grid", 1.25), "A line.", Table(("a", "b"), [("1", "2")]))
    assert text(section_lines(Section(one, parts), set())) == (
        "## Title\n\nAbout.\n\nRepeat: `.venv/bin/python -m benchmarks name`\n\n"
        "| target | measured | met |\n|---|---|---|\n| time ≤ 2 | grid: 1.25 | yes |\n\n"
        "A line.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )


def test_a_failing_benchmark_is_reported_and_the_others_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def failing() -> Any:
        yield "A line."
        raise ValueError("too small")

    sections = run_all([example(run=failing, targets=(Target("time", "≤", 2),)), example("Another line.")], quick=False)
    page = write(sections, tmp_path).read_text(encoding="utf-8")
    assert "**This benchmark failed**: ValueError" in page
    assert "| time ≤ 2 |  | **not measured** |" in page
    assert "Another line." in page
    assert "too small" in capsys.readouterr().err


def test_a_picture_is_small_and_the_same_for_the_same_numbers(tmp_path: Path):
    pytest.importorskip("matplotlib")
    charts = [
        Chart("bars", "Bars", "ms", ("a", "b"), {"one": (1, 2), "two": (3, 4)}, limit=2),
        Chart("lines", "Lines", "ms", (1, 10), {"one": (1, 2)}, "lines", "size", log=True),
    ]
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "old.svg").touch()
    write([Section(example(), charts)], tmp_path)
    first = contents(tmp_path / "pictures")
    write([Section(example(), charts)], tmp_path)
    assert contents(tmp_path / "pictures") == first
    assert {path.name: len(picture) < 30_000 for path, picture in first.items()} == {
        "bars.svg": True,
        "lines.svg": True,
    }


def test_a_missing_library_is_reported_without_an_error():
    assert load_library("surely_not_there.at_all") == "surely_not_there is not installed here"
    assert any(one.startswith("igraph") for one in packages_to_install())


def test_distances_are_compared_where_there_is_a_path_and_where_there_is_none():
    right = np.array([0.0, 1.0, np.inf])
    assert difference(right, [0.0, 1.0, np.finfo(float).max]) == 0.0
    assert difference(right, [0.0, 1.5, np.inf]) == 0.5
    assert difference(right, [0.0, 1.0, 2.0]) == np.inf


def test_a_noisy_count_with_one_epsilon_is_what_balanced_gives_when_all_have_it():
    mechanism = make_mechanism(np.full(41, LEAST))
    for margin in (1, 5, 20):
        assert one_epsilon(margin) == pytest.approx(mechanism.accuracy(margin), abs=1e-9)
