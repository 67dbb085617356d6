"""Pictures follow the settings of the user and of the program, never those in the working folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOSTILE_SETTINGS = "text.usetex: True\nfont.size: 40\naxes.facecolor: 000000\nsavefig.facecolor: ff0000\n"
DRAW = """
import hetdp
from hetdp.plots.plot import write_figure
from pathlib import Path
graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.5, 1.0])
axes = hetdp.plot(hetdp.design(hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})), title="a title")
write_figure(axes, Path("picture.svg"), ".svg")
import matplotlib
print(axes.title.get_usetex(), axes.xaxis.label.get_fontsize(), axes.get_facecolor()[0])
print(matplotlib.rcParams["text.usetex"], matplotlib.rcParams["font.size"])
"""
IMPORT_MATPLOTLIB = "import matplotlib\n"
SET_STYLE = IMPORT_MATPLOTLIB + 'matplotlib.rcParams["axes.facecolor"] = "grey"\n'


def run_and_draw(code: str, folder: Path, **more: str) -> tuple[list[str], bytes]:
    """Runs a program in a folder; returns its output and its picture. PATH is empty, so that using LaTeX would fail."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg", "PATH": "/nowhere", **more}
    environment.pop("MATPLOTLIBRC", None) if "MATPLOTLIBRC" not in more else None
    command = [sys.executable, "-P", "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split(), (folder / "picture.svg").read_bytes()


@pytest.fixture(scope="module")
def without_settings(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], bytes]:
    """The output and the picture without a settings file."""
    return run_and_draw(DRAW, tmp_path_factory.mktemp("plain"))


def test_a_file_in_the_working_folder_is_not_read(without_settings, tmp_path):
    (tmp_path / "matplotlibrc").write_text(HOSTILE_SETTINGS)
    output, picture = run_and_draw(DRAW, tmp_path)
    assert output == without_settings[0]
    assert picture == without_settings[1]


def test_a_file_in_the_working_folder_is_ignored_even_if_the_program_has_read_it(without_settings, tmp_path):
    (tmp_path / "matplotlibrc").write_text(HOSTILE_SETTINGS)
    output, picture = run_and_draw(IMPORT_MATPLOTLIB + DRAW, tmp_path)
    assert output[:3] == without_settings[0][:3]
    assert output[3:] == ["True", "40.0"], "what the program itself draws is up to the program"
    assert picture == without_settings[1]


def test_settings_made_by_the_program_are_obeyed(without_settings, tmp_path):
    (tmp_path / "matplotlibrc").write_text(HOSTILE_SETTINGS)
    output, picture = run_and_draw(SET_STYLE + DRAW, tmp_path)
    assert output[0] == "False"
    assert 0.4 < float(output[2]) < 0.6
    assert picture != without_settings[1]


@pytest.mark.parametrize("before", ["", IMPORT_MATPLOTLIB])
def test_the_users_own_file_is_obeyed(before, without_settings, tmp_path):
    (tmp_path / "own").write_text("axes.facecolor: 0.5\n")
    (tmp_path / "matplotlibrc").write_text(HOSTILE_SETTINGS)
    output, picture = run_and_draw(before + DRAW, tmp_path, MATPLOTLIBRC=str(tmp_path / "own"))
    assert output[:3] == [*without_settings[0][:2], "0.5"]
    assert picture != without_settings[1]
