"""Settings of the whole test run: Hypothesis profiles, strict mode, and the second run without the JIT."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.stress import STRESSED, times

os.environ.setdefault("HETDP_COMPILE", "now")  # no test starts a background compiler, unless it says so
STRICT = os.environ.get("HETDP_STRICT", "") not in ("", "0")
NOT_RUN = ("skipped", "xfailed", "xpassed")
FOLDER = Path(__file__).parent
ENGINE_TESTS = FOLDER / "engines"
GARBAGE = 10_000  # new objects after which the collector looks for cycles; Python's 700 cost a tenth of the run
BEGIN_WITH = (  # the longest, part of which is waiting: begun first, each by another worker
    "partitioned/test_hosts.py",
    "documents/test_pages.py",
    "partitioned/test_cluster.py",
    "test_working_folder.py",
    "studio/people/test_walk.py",
    "test_benchmarks.py",
    "test_packaging.py",
    "tables/test_partitioned.py",
    "releases/test_summary.py",  # by the worker that has started a browser for test_walk.py
    "documents/test_reference.py",  # by the worker that has loaded the commands for test_pages.py
)

EXAMPLES = times(20, stressed=50)  # of each property
settings.register_profile("dev", max_examples=EXAMPLES, deadline=None)
settings.register_profile(
    "ci",
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],  # says something about the machine, not about the code
)
settings.load_profile("ci" if STRICT else "dev")


def pytest_configure() -> None:
    """Lets tests be stopped where the run itself is not, as behind `&` or `nohup`: children inherit what is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Looks for doctests in src only: tests have none, and importing all of their helpers takes long."""
    found = yield
    return [one for one in found if isinstance(one, pytest.Module)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the engines' tests `jit_off`, so that one marker selects the second run; leaves long ones to the stress.

    Tests of Hypothesis are marked `stress`: there they try more examples, and other ones each time.
    """
    if not STRESSED and not config.option.markexpr:
        late = [item for item in items if item.get_closest_marker("long")]
        items[:] = [item for item in items if not item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=late)
    items[:] = _longest_first(items, getattr(config, "workerinput", {"workercount": 1})["workercount"])
    for item in items:
        if item.path.is_relative_to(ENGINE_TESTS) and not item.get_closest_marker("jit_only"):
            item.add_marker("jit_off")
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("stress")


def pytest_collection_finish() -> None:
    """Spares the garbage collector the many objects that belong to the collected tests, and lets it run less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE, *gc.get_threshold()[1:])


def _longest_first(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Puts the longest files at the beginning of each worker's share; shares are equal parts of the list."""
    files = [FOLDER / name for name in BEGIN_WITH]
    others = [item for item in items if item.path not in files]
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        share = len(items) * (worker + 1) // workers - len(items) * worker // workers
        first = [item for item in items if item.path in files[worker::workers]]
        fill = len(others) if worker == workers - 1 else max(share - len(first), 0)
        ordered += first + others[:fill]
        others = others[fill:]
    return ordered


# Limits: no test waits for ever ---------------------------------------------------------------------------------------

LONGEST = 600  # seconds for one test, on a very busy machine; most waits within tests have shorter limits
AGAIN = 60  # seconds after which a test that is still cleaning up is stopped again

_limited: list[str] = []  # the test that runs now


class TooLongError(BaseException):
    """A test has taken too long; Hypothesis does not take this for a failure that it should repeat and shrink."""


def _stop(*_: object) -> None:
    raise TooLongError(f"{_limited[0]} took more than {LONGEST} seconds")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Stops a test that hangs wherever it waits, so that it fails with a traceback and ends what it started."""
    if signal.getitimer(signal.ITIMER_REAL)[0]:  # `tests.mutants` has limits of its own
        return (yield)
    before = signal.signal(signal.SIGALRM, _stop)
    _limited.append(item.nodeid)
    signal.setitimer(signal.ITIMER_REAL, LONGEST, AGAIN)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _limited.clear()
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium, started once: a process can run one driver at a time. Its pages wait as long as tests may."""
    from benchmarks.studio import CHROMIUM
    from benchmarks.studio import browser as started_browser

    if shutil.which(CHROMIUM) is None:
        pytest.skip(f"tests in a browser: there is no {CHROMIUM} (Debian: apt-get install chromium)")
    with started_browser() as started, pytest.MonkeyPatch.context() as patch:
        for name in ("new_context", "new_page"):
            patch.setattr(started, name, partial(_open_patiently, getattr(started, name)))
        yield started


def _open_patiently(open_: Callable[..., Any], **options: Any) -> Any:
    """Opens a context or a page whose time-out is not Playwright's half a minute, which a busy machine exceeds."""
    opened = open_(**options)
    opened.set_default_timeout(1000 * LONGEST * 0.9)  # so that the test says what it has waited for
    return opened


def _limit_child() -> None:
    """Ends a forked child that hangs: it has copies of the pipes of its parent, and whoever reads these would wait."""
    if _limited:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LONGEST)


os.register_at_fork(after_in_child=_limit_child)


# The end of the run ---------------------------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In strict mode, fails a run that skipped anything; workers leave the judgement to the controller."""
    if not STRICT or hasattr(session.config, "workerinput") or session.exitstatus != pytest.ExitCode.OK:
        return
    if _not_run(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names what strict mode objects to; otherwise, says what was left out, and why."""
    if not STRICT:
        _say_what_was_left_out(terminalreporter)
    reports = _not_run(terminalreporter.config) if STRICT else []
    if reports:
        terminalreporter.section("strict mode: these tests did not run to a plain pass")
        for report in reports:
            terminalreporter.line(f"{report.outcome}: {report.nodeid}")


def _say_what_was_left_out(reporter: pytest.TerminalReporter) -> None:
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in reporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    )
    for reason, count in reasons.items():
        reporter.line(f"left out ({count}): {reason}")


def _not_run(config: pytest.Config) -> list[pytest.TestReport | pytest.CollectReport]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        raise pytest.UsageError("strict mode reads the terminal reporter; do not switch it off")
    return [report for outcome in NOT_RUN for report in reporter.stats.get(outcome, [])]
