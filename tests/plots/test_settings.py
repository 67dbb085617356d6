"""Whose settings pictures follow: those of the user and of the program, never those of the working folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = "text.usetex: True\nfont.size: 40\naxes.facecolor: 000000\nsavefig.facecolor: ff0000\n"
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
EARLIER = "import matplotlib\n"
STYLED = EARLIER + 'matplotlib.rcParams["axes.facecolor"] = "grey"\n'


def drawn(code: str, folder: Path, **more: str) -> tuple[list[str], bytes]:
    """What a program says that runs in a folder, and its picture; PATH leads nowhere, so that LaTeX would be missed."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg", "PATH": "/nowhere", **more}
    environment.pop("MATPLOTLIBRC", None) if "MATPLOTLIBRC" not in more else None
    command = [sys.executable, "-P", "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split(), (folder / "picture.svg").read_bytes()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], bytes]:
    """What is drawn where there is no file."""
    return drawn(DRAW, tmp_path_factory.mktemp("plain"))


def test_a_file_in_the_working_folder_is_not_read(plain, tmp_path):
    (tmp_path / "matplotlibrc").write_text(HERE)
    said, picture = drawn(DRAW, tmp_path)
    assert said == plain[0]
    assert picture == plain[1]


def test_nor_is_it_obeyed_where_the_program_itself_has_read_it(plain, tmp_path):
    (tmp_path / "matplotlibrc").write_text(HERE)
    said, picture = drawn(EARLIER + DRAW, tmp_path)
    assert said[:3] == plain[0][:3]
    assert said[3:] == ["True", "40.0"], "what the program itself draws is up to the program"
    assert picture == plain[1]


def test_what_the_program_has_set_since_is_obeyed(plain, tmp_path):
    (tmp_path / "matplotlibrc").write_text(HERE)
    said, picture = drawn(STYLED + DRAW, tmp_path)
    assert said[0] == "False"
    assert 0.4 < float(said[2]) < 0.6
    assert picture != plain[1]


@pytest.mark.parametrize("before", ["", EARLIER])
def test_the_users_own_file_is_obeyed(before, plain, tmp_path):
    (tmp_path / "own").write_text("axes.facecolor: 0.5\n")
    (tmp_path / "matplotlibrc").write_text(HERE)
    said, picture = drawn(before + DRAW, tmp_path, MATPLOTLIBRC=str(tmp_path / "own"))
    assert said[:3] == [*plain[0][:2], "0.5"]
    assert picture != plain[1]
