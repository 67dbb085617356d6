"""The working folder has no influence: every verb runs in a folder full of traps, and none of them is touched.

The traps are programs, settings of all libraries, and modules and packages named after the standard library and all
installed packages. Each leaves a mark outside the folder when it runs. Where strace works, the tests also check that
nothing in the folder is accessed except what the command names.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import pickle
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from py_compile import compile as compile_file
from typing import Any, NamedTuple

import duckdb
import pytest

import hetdp
from hetdp import compilation
from hetdp.certificate import compiled as certificate_compiled
from hetdp.cli.group import VERBS
from hetdp.partitioned.workspace import MARK_FILE
from hetdp.problem import compiled as building_compiled
from tests.releases.ledger.stress import new_address
from tests.stress import long

ROOT = Path(__file__).parents[1]
HETDP = str(Path(sys.executable).parent / "hetdp")
POSTGRES = os.environ.get("HETDP_TEST_POSTGRES", "")
TIMEOUT = 540  # seconds, on a very busy machine

# What is run: each verb, and each of its ways to read, search and write -----------------------------------------------

QUESTION = ["--count", "vote = 'yes'", "--at-least", "50%", "--epsilon", "eps", "--person", "id"]
DASK = ["--engine", "dask", "--workers", "1"]
RUNS: dict[str, list[str]] = {
    "demo": [],
    "boundary": ["poll.json"],
    "check": ["poll-folder"],
    "check, dask": ["poll-folder", *DASK],
    "extend": ["poll.json", "--engine", "cpu", "-o", "extended.csv"],
    "extend, dask": ["poll-folder", *DASK, "--work", "old-work-folder", "-o", "extended-folder"],
    "design": ["poll.json", "--free", "--objective", "average", "-o", "designed.parquet"],
    "design, dask": ["poll-folder", *DASK, "--free", "-o", "designed-folder"],
    "make": ["votes", "--people", "3", "--majority", "--epsilon", "1", "-o", "made-folder"],
    "ask, csv": ["survey.csv", *QUESTION, "--ledger", "asked.ledger", "-o", "asked.json", "--html", "asked.html"],
    "ask, parquet": ["survey.parquet", *QUESTION, "--simulate", "--plan", "plan.json"],
    "ask, sqlite": ["survey.sqlite", *QUESTION, "--dry-run"],
    "ask, dask": ["people-folder", *QUESTION, "--simulate", *DASK],
    "release": ["poll.json", "mechanism.csv", "--dataset", "3", "--ledger", "paid.ledger", "-o", "released.json"],
    "record": ["verify", "record.json", "--ledger", "old.ledger"],
    "record, proved": ["verify", "record.json", "--problem", "poll.json", "--mechanism", "mechanism.csv"],
    "accuracy": ["poll.json"],
    "odds": ["poll.json", "mechanism.csv"],
    "solve": ["poll.json", "0.9", "-o", "scaled.json"],
    "ledger": ["init", "new.ledger", "--source", "school", "--cap", "1"],
    "ledger, export": ["export", "old.ledger", "-o", "exported.jsonl"],
    "verify": ["poll.json", "mechanism.csv"],
    "verify, dask": ["poll-folder", "mechanism.parquet", *DASK],
    "audit": ["poll.json", "mechanism.csv", "--draws", "1000"],
    "explain": ["poll.json", "4"],
    "explain, dask": ["poll-folder", "4", "--mechanism", "mechanism.parquet", *DASK],
    "plot": ["poll.json", "mechanism.csv", "-o", "picture.svg"],
    "plot, png": ["poll.json", "--picture", "accuracy", "-o", "picture.png"],
    "plot, pdf": ["poll-folder", "--picture", "summary", "-o", "picture.pdf"],
    "completion": ["bash"],
} | ({"ledger, postgres": ["init", "POSTGRES", "--source", "school", "--cap", "1"]} if POSTGRES else {})
ALONE = {"studio"}  # verbs with a test of their own
LIKE_EXTEND = {f"{verb}, dask" for verb in ("ask", "check", "design", "explain", "verify")}  # which start workers alike
OWN_PROCESS = {
    "extend",
    "extend, dask",
    "ask, csv",
    "plot",
    "release",
    "ledger, postgres",
}  # the others in `make stress`

# A release from a table looks for another ledger that has the answer: at ledgers, and at the first bytes of documents.
LOOKED_AT = {"ask, csv": re.compile(r"getdents64 \.|(newfstatat|openat) [\w.-]+(\.ledger(-journal|-wal)?|\.json)")}

SCRIPT = """
import hetdp
asked = hetdp.read_problem("poll.json")
found = hetdp.extend(asked.problem, asked.partial, engine="cpu")
hetdp.save(found, "saved.json")
axes = hetdp.plot(hetdp.read_mechanism("saved.json", asked.problem))
axes.get_figure().canvas.draw()
hetdp.release(found, 3, ledger="called.ledger")
hetdp.ask("survey.csv", "vote = 'yes'", at_least="50%", epsilon="eps", person="id", simulate=True)
"""
WITH_WORKERS = """
import hetdp
with hetdp.read_partitioned("poll-folder", workers=1, work="old-work-folder") as (problem, pins):
    hetdp.save(hetdp.extend(problem, pins), "saved-folder")
"""


def make_inputs(folder: Path) -> None:
    """The files that commands name."""
    graph = hetdp.DatasetGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1.0, 0.5, 1.0, 1.0])
    problem, pins = hetdp.Problem(graph, {0: 2, 1: 2, 2: 1, 3: 1, 4: 1}), {1: 0.4, 2: 0.6}
    mechanism = hetdp.extend(problem, pins, engine="cpu")  # so that all of it is compiled
    hetdp.save(problem, folder / "poll.json", pins)
    hetdp.save(problem, folder / "poll-folder", pins)
    hetdp.save(mechanism, folder / "mechanism.csv")
    hetdp.save(mechanism, folder / "mechanism.parquet")
    for name in ("asked", "called", "paid", "old"):
        hetdp.Ledger.create(folder / f"{name}.ledger", source="school", cap=10)
    hetdp.release(mechanism, 3, ledger=folder / "old.ledger", record=folder / "record.json")
    rows = [("a", 1.0, "yes"), ("b", 0.5, "no"), ("c", 1.0, "yes")]
    (folder / "survey.csv").write_text("id,eps,vote\n" + "".join(f"{id_},{eps},{vote}\n" for id_, eps, vote in rows))
    (folder / "people-folder").mkdir()
    shutil.copy(folder / "survey.csv", folder / "people-folder")
    with sqlite3.connect(folder / "survey.sqlite") as database:
        database.execute("CREATE TABLE people (id TEXT, eps REAL, vote TEXT)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    database.close()
    table = f"read_csv('{folder}/survey.csv', types={{'vote': 'VARCHAR'}})"
    duckdb.sql(f"COPY (FROM {table}) TO '{folder}/survey.parquet'")


NAMED = re.compile(r".+\.(csv|html|json|jsonl|ledger|parquet|pdf|png|sqlite|svg)|.+-folder")  # how inputs are called

# Traps ----------------------------------------------------------------------------------------------------------------

OPTIONAL = """
IPython anywidget blosc bokeh brotli cuda cupy dask_expr dotenv flint gevent gi icc_rt ipykernel ipywidgets jupyter
kaleido lz4 numba_cuda numexpr opentelemetry orjson prometheus_client pynvml setproctitle sitecustomize snappy tbb
ujson usercustomize uvloop watchdog wx zmq zstandard evil
"""  # what libraries try to import, whether or not it is there
PROGRAMS = """
bash cc chromium clang dvipng dvisvgm fc-list firefox gcc google-chrome gs inkscape kpsewhich latex ldconfig lualatex
nvidia-smi objdump open pdflatex python python3 sensible-browser sh uname www-browser x-www-browser xdg-open
xdg-settings xelatex
"""
LIBRARIES = "libduckdb.so libgomp.so.1 libpq.so.5 libsqlite3.so.0 libssl.so.3 libsvml.so libtbb.so.12"
GROUPS = """
console_scripts dash_hooks dask.backends dask_cli distributed.http.routes flask.commands matplotlib.backend
numba_extensions sqlalchemy.dialects sqlalchemy.plugins
"""  # of entry points
PRELOAD = "distributed: {worker: {preload: [evil.py]}, scheduler: {preload: [evil.py]}, nanny: {preload: [evil.py]}}\n"
SETTINGS = {
    ".env": "PYTHONPATH=.\nFLASK_APP=evil.py\nDASH_DEBUG=1\n",
    ".flaskenv": "FLASK_APP=evil.py\n",
    "app.py": "import evil\n",
    "wsgi.py": "import evil\n",
    "matplotlibrc": "text.usetex: True\nfont.size: 40\nsavefig.format: pdf\n",
    "evil.mplstyle": "text.usetex: True\n",
    ".numba_config.yaml": "cache_dir: {folder}/numba_cache\n",
    "dask.yaml": PRELOAD,
    "distributed.yaml": PRELOAD,
    ".dask/config.yaml": PRELOAD,
    ".config/dask/dask.yaml": PRELOAD,
    "etc/dask/dask.yaml": PRELOAD,
    ".config/matplotlib/matplotlibrc": "text.usetex: True\n",
    ".matplotlib/matplotlibrc": "text.usetex: True\n",
    ".duckdbrc": ".shell touch {marks}/duckdbrc\n",
    ".duckdb/extensions/evil.duckdb_extension": "",
    ".tmp/duckdb_temp_storage.tmp": "",
    ".sqliterc": ".shell touch {marks}/sqliterc\n",
    ".pgpass": "*:*:*:*:evil\n",
    "pg_service.conf": "[evil]\nhost=192.0.2.1\n",
    ".pg_service.conf": "[evil]\nhost=192.0.2.1\n",
    ".postgresql/root.crt": "",
    "openssl.cnf": "openssl_conf = evil\n",
    "krb5.conf": "[libdefaults]\n",
    "fonts.conf": "<fontconfig/>\n",
    "texmf.cnf": "shell_escape = t\n",
    ".netrc": "machine evil\n",
    ".pdbrc": "import evil\n",
    ".pythonrc.py": "import evil\n",
    "pyvenv.cfg": "home = {folder}\n",
    "python311._pth": ".\nimport site\n",
    "pybuilddir.txt": ".\n",
    "evil.pth": "import evil\n",
    "pyproject.toml": "[tool.numba]\n",
    "setup.cfg": "[evil]\n",
    "conftest.py": "import evil\n",
    "logging.conf": "[loggers]\nkeys=evil\n",
    "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
    "evil.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
}


class PickleTrap:
    """An object that leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


SCRATCH = "dask-scratch-space"  # a folder that Dask makes, and in which it looks for modules


def set_modules(folder: Path, marks: Path) -> None:
    """Fills a folder with modules and packages."""
    names = {*sys.stdlib_module_names, *importlib.metadata.packages_distributions(), *OPTIONAL.split(), "hetdp"}
    for name in sorted(name for name in names if name.isidentifier()):
        trap = f"open({str(marks / name)!r}, 'w').close()\n"
        (folder / f"{name}.py").write_text(trap)
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(trap)


def set_traps(folder: Path, marks: Path) -> None:
    """Fills a folder with everything that an attacker could hope to have run."""
    set_modules(folder, marks)
    for name in ("lz4", "numpy", "site", "evil"):
        compile_file(str(folder / f"{name}.py"), doraise=True)
        compile_file(str(folder / f"{name}.py"), cfile=str(folder / f"{name}.pyc"), doraise=True)
    for name in PROGRAMS.split():
        (folder / name).write_text(f"#!/bin/sh\n: > {marks / name}\n")
        (folder / name).chmod(0o755)
    for name in LIBRARIES.split():
        (folder / name).write_bytes(b"\x7fELF")
    for name, text in SETTINGS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("{folder}", str(folder)).replace("{marks}", str(marks)))
    points = "".join(f"[{group}]\nevil = evil:run\n" for group in GROUPS.split())
    (folder / "evil-1.0.dist-info" / "entry_points.txt").write_text(points)
    (folder / "evil.egg-info" / "entry_points.txt").write_text(points)
    index = pickle.dumps(PickleTrap(marks / "unpickled"))
    for place in indexes():
        for base in (folder / "numba_cache", folder / "numba_cache" / compilation.FOLDER, folder / "__pycache__"):
            (base / place).parent.mkdir(parents=True, exist_ok=True)
            (base / place).write_bytes(index)


def indexes() -> Iterator[Path]:
    """The index files in a cache folder in which numba looks for compiled functions of hetdp."""
    cache = compilation.cache_folder()
    assert cache is not None, "tests that compile need a cache folder that is safe; the log says what is wrong with it"
    for function in [*vars(certificate_compiled).values(), *vars(building_compiled).values()]:
        if hasattr(function, "stats"):
            yield Path(Path(function.stats.cache_path).name, function._cache._cache_file._index_name)
    for place in Path(cache).rglob("*.nbi"):
        yield place.relative_to(cache)


def set_work_folder(folder: Path, marks: Path) -> None:
    """A work folder that somebody else has left, with modules wherever Python could look for them."""
    (folder / "workers" / SCRATCH).mkdir(parents=True)
    (folder / MARK_FILE).touch()
    for place in (folder, folder / "workers", folder / "workers" / SCRATCH):
        set_modules(place, marks)


# What is seen ---------------------------------------------------------------------------------------------------------

FOLLOW = ["strace", "-f", "-y", "--seccomp-bpf", "-e", "trace=%file,getdents,getdents64,execveat", "-e", "signal=none"]


def _strace_works() -> bool:
    try:
        return subprocess.run([*FOLLOW, "-o", os.devnull, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


STRACE = FOLLOW if _strace_works() else []
CALL = re.compile(r"^(\d+) +(\w+)\((?:(?:AT_FDCWD|\d+)<([^>]*)>(?:, )?)?(?:\"((?:[^\"\\]|\\.)*)\")?")


def touched_paths(trace: Path, folder: Path) -> list[str]:
    """The paths in a folder that a traced program and its children accessed, each once."""
    places: dict[str, str] = {}  # the working folder of each process, as far as it was said
    found: dict[str, None] = {}
    for line in trace.read_text(encoding="utf-8", errors="replace").splitlines():
        call = CALL.match(line)
        if call is None:
            continue
        process, name, base, path = call.groups()
        if name.startswith("getdents"):
            path = "."
        elif not path or name == "getcwd":
            continue
        if "(AT_FDCWD<" in line:
            places[process] = base
        full = os.path.normpath(os.path.join(base or places.get(process, str(folder)), path))  # noqa: PTH118
        if name == "chdir":
            places[process] = full
        if full.startswith(f"{folder}/") or (full == str(folder) and name.startswith("getdents")):
            found[f"{name} {os.path.relpath(full, folder)}"] = None
    return list(found)


class CommandResult(NamedTuple):
    """The exit code and output of a command, the traps that ran, and the paths it accessed without being told."""

    code: int
    words: str
    marks: list[str]
    touched: list[str]


class TrapFolder:
    """A folder received from somebody else, with useful inputs and with traps."""

    def __init__(self, place: Path) -> None:
        self.folder, self.marks, self.place = place / "received", place / "marks", place
        self.folder.mkdir()
        self.marks.mkdir()
        make_inputs(self.folder)
        set_work_folder(self.folder / "old-work-folder", self.marks)
        inputs = {entry.name for entry in self.folder.iterdir()}
        assert all(map(NAMED.fullmatch, inputs))
        set_traps(self.folder, self.marks)
        self.temporary = place / "temporary"  # which other users of the machine may write to
        for shared in (self.temporary / SCRATCH, self.temporary / f"{SCRATCH}-{os.geteuid()}"):
            shared.mkdir(parents=True)
            set_modules(shared, self.marks)
        self.traps = {entry.name for entry in self.folder.iterdir()} - inputs
        assert not any(map(NAMED.fullmatch, self.traps))

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of an ordinary user."""
        mine = {"PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(self.temporary)}
        return {name: value for name, value in os.environ.items() if name != "HETDP_DEBUG"} | mine | more

    def start(self, command: list[str], **more: Any) -> subprocess.Popen[str]:
        """Starts a command in the folder, followed by strace where that works."""
        followed = [*STRACE, "-o", str(self.place / "trace"), *command] if STRACE else command
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        alone = {"cwd": self.folder, "start_new_session": True, "env": self.environment()}
        return subprocess.Popen(followed, **{**alone, **pipes, **more})

    def wait_for(self, process: subprocess.Popen[str], words: list[str]) -> CommandResult:
        """Waits for a command to end and returns its result."""
        try:
            out, err = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        marks = sorted(mark.name for mark in self.marks.iterdir())
        for mark in self.marks.iterdir():
            mark.rmdir() if mark.is_dir() else mark.unlink()
        named = [word for word in words if NAMED.fullmatch(word)]
        looked = touched_paths(self.place / "trace", self.folder) if STRACE else []
        foreign = [each for each in looked if not _is_named(each.partition(" ")[2], named)]
        looked = touched_paths(self.place / "trace", self.temporary) if STRACE else []
        foreign += [each for each in looked if each.partition(" ")[2].startswith(SCRATCH)]
        return CommandResult(process.returncode, out + err, marks, foreign)

    def run(self, command: list[str], words: list[str], **more: Any) -> CommandResult:
        """Runs a command to its end; the words are those that name files."""
        return self.wait_for(self.start(command, **more), words)


def _is_named(path: str, named: list[str]) -> bool:
    """True if a path was named; drafts and journals of a file begin with its name, or with a dot and its name."""
    return any(path.partition("/")[0].removeprefix(".").startswith(name) for name in named)


@pytest.fixture(scope="module")
def trap_folder(tmp_path_factory: pytest.TempPathFactory) -> TrapFolder:
    return TrapFolder(tmp_path_factory.mktemp("working-folder").resolve())


# Tests ----------------------------------------------------------------------------------------------------------------


def test_every_verb_is_tested():
    assert {name.partition(",")[0] for name in RUNS} | ALONE == set(VERBS)


def test_every_verb_with_workers_is_tested_with_them():
    commands = {verb: import_module(f"hetdp.cli.{verb}").command for verb in VERBS}
    verbs = [verb for verb, command in commands.items() if any(option.name == "cluster" for option in command.params)]
    assert {f"{verb}, dask" for verb in verbs} == {name for name in RUNS if name.endswith(", dask")}


@pytest.mark.parametrize("name", [name if name in OWN_PROCESS else pytest.param(name, marks=long) for name in RUNS])
def test_no_verb_runs_or_reads_what_lies_in_the_working_folder(name, trap_folder):
    words = [new_address(POSTGRES) if word == "POSTGRES" else word for word in [name.partition(",")[0], *RUNS[name]]]
    seen = trap_folder.run([HETDP, *words], words)
    touched = [one for one in seen.touched if name not in LOOKED_AT or not LOOKED_AT[name].fullmatch(one)]
    assert (seen.code, seen.marks, touched) == (0, [], []), seen.words


ONE_AFTER_ANOTHER = """
import json, sys
from hetdp.cli.main import main
for words in json.loads(sys.argv[1]):
    code = main(words)
    if code:
        sys.exit(f"{words} ended with {code}")
"""


def test_verbs_that_run_one_after_another_in_one_process_do_not_either(trap_folder):
    """To start a process for each, as `make stress` does, takes longer than all they do."""
    program = trap_folder.place / "verbs" / "program.py"
    program.parent.mkdir()
    program.write_text(ONE_AFTER_ANOTHER)
    names = [name for name in RUNS if name not in OWN_PROCESS | LIKE_EXTEND]
    commands = [[name.partition(",")[0], *RUNS[name]] for name in names]
    seen = trap_folder.run(
        [sys.executable, str(program), json.dumps(commands)], [word for command in commands for word in command]
    )
    assert (seen.code, seen.marks, seen.touched) == (0, [], []), seen.words
    assert len(commands) >= 18


def test_neither_the_studio_nor_its_browser_runs_or_reads_anything_in_it(trap_folder):
    browser, where = trap_folder.place / "browser", trap_folder.place / "where"
    browser.write_text(f'#!/bin/sh\npwd > "{where}.draft"\nmv "{where}.draft" "{where}"\n')
    browser.chmod(0o755)
    words = ["studio", "poll.json"]
    running = trap_folder.start([HETDP, *words], env=trap_folder.environment(BROWSER=f"{browser} %s"))
    try:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        with urllib.request.urlopen(address, timeout=TIMEOUT) as page:
            assert page.status == 200
        assert "<svg" in press_button(address, "save-svg")["response"]["download-svg"]["data"]["content"]
        end = time.monotonic() + TIMEOUT
        while not where.exists() and time.monotonic() < end:
            time.sleep(0.05)
    finally:
        os.killpg(running.pid, signal.SIGINT)
    seen = trap_folder.wait_for(running, words)
    assert (seen.code, seen.marks, seen.touched) == (0, [], []), seen.words
    assert "hetdp-studio-" in where.read_text()
    assert not Path(where.read_text().strip()).exists()


LAST_REVISION = 10**6  # a revision that is newer than those of all other pages


def press_button(address: str, button: str) -> dict[str, Any]:
    """Presses a button of the studio that saves something, and returns the response."""
    with urllib.request.urlopen(f"{address}_dash-dependencies", timeout=TIMEOUT) as answer:
        dependencies = json.loads(answer.read())
    one = next(one for one in dependencies if f"download-{button.removeprefix('save-')}.data" in one["output"])
    outputs = [place.rpartition(".") for place in one["output"].strip(".").split("...")]
    request = {
        "output": one["output"],
        "outputs": [{"id": name, "property": part.split("@")[0]} for name, _, part in outputs],
        "inputs": [{**place, "value": int(place["id"] == button)} for place in one["inputs"]],
        "state": [
            {**place, "value": {"page": "a page", "shown": LAST_REVISION}[place["id"]]} for place in one["state"]
        ],
        "changedPropIds": [f"{button}.n_clicks"],
    }
    http_request = urllib.request.Request(f"{address}_dash-update-component", json.dumps(request).encode())
    http_request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(http_request, timeout=TIMEOUT) as answer:
        found: dict[str, Any] = json.loads(answer.read())
    return found


@pytest.mark.parametrize("script", [SCRIPT, pytest.param(WITH_WORKERS, marks=long)], ids=["here", "with workers"])
def test_a_program_in_another_folder_runs_nothing_in_it_either(script, trap_folder):
    program = trap_folder.place / "elsewhere" / "program.py"
    program.parent.mkdir(exist_ok=True)
    program.write_text(script)
    words = re.findall(r'"([^"]+)"', script)
    seen = trap_folder.run([sys.executable, str(program)], words, env=trap_folder.environment(MPLBACKEND="agg"))
    assert (seen.code, seen.marks, seen.touched) == (0, [], []), seen.words


def test_completing_words_runs_nothing_in_it_either(trap_folder):
    environment = trap_folder.environment(
        _HETDP_COMPLETE="bash_complete", COMP_WORDS="hetdp extend --eng", COMP_CWORD="2"
    )
    seen = trap_folder.run([HETDP], [], env=environment)
    assert (seen.code, seen.marks, seen.touched) == (0, [], []), seen.words
    assert "--engine" in seen.words


def test_python_m_removes_the_folder_from_the_path_at_once(tmp_path):
    """Modules that Python itself imports earlier may come from the folder; see `CARELESS_COMMANDS`."""
    for name in ("click", "gettext"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\n")
    command = [sys.executable, "-m", "hetdp", "--version"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("hetdp ")
    assert not (tmp_path / "mark").exists()


COMPILE_CACHED = """
import numba
from hetdp.certificate import scan
numba.njit(nogil=True, cache=True)(scan.scan_arcs).compile(())
"""
MARK_LARGE = "import matplotlib; open('../marks/large', 'w') if matplotlib.rcParams['font.size'] == 40 else None"
CARELESS_COMMANDS = {  # commands that hetdp avoids: arguments, the trap that runs, and the path that is touched
    "python -m": (["-m", "hetdp", "--version"], "", "getdents64 ."),  # something runs before hetdp itself is found
    "a worker": (["-m", "distributed.cli.dask_worker", "--help"], "", "getdents64 ."),
    "a module": (["-c", "import lz4"], "lz4", "openat lz4/__init__.py"),
    "numba": (["-P", "-c", COMPILE_CACHED], "unpickled", "openat .numba_config.yaml"),
    "matplotlib": (["-P", "-c", MARK_LARGE], "large", "openat matplotlibrc"),
    "a program": (["-P", "-c", "import subprocess; subprocess.run(['./latex'])"], "latex", "execve latex"),
}


@pytest.mark.parametrize("name", CARELESS_COMMANDS)
def test_the_traps_run_where_nothing_prevents_them(name, trap_folder):
    arguments, mark, path = CARELESS_COMMANDS[name]
    seen = trap_folder.run([sys.executable, *arguments], [])
    assert seen.marks, seen.words
    assert mark in [*seen.marks, ""]
    assert path in seen.touched or not STRACE, seen.touched
